// A small JSON API in memory: GET, POST, PUT and DELETE of /notes. Try it:
//   curl -s http://127.0.0.1:8080/notes -H 'Content-Type: application/json' -d '{"title":"milk"}'
#include <violet/violet.h>

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

using namespace violet;

struct NewNote {
  text<1, 80> title;
  std::optional<std::string> body;
  std::vector<std::string> tags = {};
  static constexpr Note describe[] = {{.member = "tags", .optional = true}};
};
struct StoredNote {
  int id;
  std::string title;
  std::string body;
  std::vector<std::string> tags;
};

// Handlers are called by all loops at once.
class Notes {
 public:
  StoredNote put(int id, const NewNote& in) {
    const std::lock_guard lock(mutex_);
    if (id == 0) id = ++last_id_;
    return notes_[id] = StoredNote{id, *in.title, in.body.value_or(""), in.tags};
  }
  std::optional<StoredNote> find(int id) {
    const std::lock_guard lock(mutex_);
    const auto at = notes_.find(id);
    if (at == notes_.end()) return std::nullopt;
    return at->second;
  }
  std::vector<StoredNote> list(std::size_t limit) {
    const std::lock_guard lock(mutex_);
    std::vector<StoredNote> found;
    for (const auto& [id, note] : notes_) {
      if (found.size() < limit) found.push_back(note);
    }
    return found;
  }
  bool remove(int id) {
    const std::lock_guard lock(mutex_);
    return notes_.erase(id) > 0;
  }

 private:
  std::mutex mutex_;
  std::map<int, StoredNote> notes_;
  int last_id_ = 0;
};

struct Page {
  range<int, 1, 100> limit = {20};
};

int main(int argc, char** argv) {
  App app;
  app.provide(std::make_unique<Notes>());
  app.get("/notes", [](Query<Page> page, Notes& notes) { return notes.list(static_cast<std::size_t>(*page->limit)); });
  app.get("/notes/{id}", [](Path<int> id, Notes& notes) { return notes.find(*id); });
  app.post("/notes", [](Json<NewNote> in, Notes& notes) {
    StoredNote note = notes.put(0, *in);
    return Created{"/notes/" + std::to_string(note.id), note};
  });
  app.put("/notes/{id}", [](Path<int> id, Json<NewNote> in, Notes& notes) { return notes.put(*id, *in); });
  app.del("/notes/{id}",
          [](Path<int> id, Notes& notes) { return notes.remove(*id) ? Status::NoContent : Status::NotFound; });
  return app.listen(argc > 1 ? argv[1] : "http://127.0.0.1:8080").run();
}
