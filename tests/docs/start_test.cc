// The code of docs/guide/start.md, compiled and run; the first test compares the two word by word.

#include <violet/violet.h>

#include <gtest/gtest.h>

#include <fstream>
#include <memory>
#include <mutex>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

using namespace violet;

class Notes {
 public:
  std::size_t add(std::string text) {
    const std::lock_guard lock(mutex_);
    notes_.push_back(std::move(text));
    return notes_.size() - 1;
  }
  std::optional<std::string> find(std::size_t id) {
    const std::lock_guard lock(mutex_);
    if (id >= notes_.size()) return {};
    return notes_[id];
  }

 private:
  std::mutex mutex_;
  std::vector<std::string> notes_;
};

App make_app() {
  App app;
  app.provide(std::make_unique<Notes>());

  app.get("/notes/{id}", [](Path<std::size_t> id, Notes& notes) { return notes.find(*id); });

  app.post("/notes",
           [](Text text, Notes& notes) {
             const std::size_t id = notes.add(std::string(*text));
             return Reply(Status::Created).field("Location", "/notes/" + std::to_string(id));
           })
      .body_max(10'000);
  return app;
}

void add_more(App& app) {
  app.get("/notes/{id}/later", [](Path<std::size_t> id, Notes& notes) -> Task<std::optional<std::string>> {
    co_await sleep_ms(100);
    co_return notes.find(*id);
  });

  app.get("/countdown", []() -> Generator<std::string> {
    for (int i = 3; i > 0; --i) {
      co_yield std::to_string(i) + "\n";
      co_await sleep_ms(10);
    }
  });
}

namespace program {
int main() { return make_app().listen("http://127.0.0.1:8080").run(); }
}  // namespace program

TEST(Notes, AreKept) {
  App app = make_app();
  TestClient client = app.test();
  TestReply saved = client.post("/notes", "buy tea");
  EXPECT_EQ(saved.status(), 201);
  EXPECT_EQ(client.get(saved.header("Location")).text(), "buy tea");
  EXPECT_EQ(client.get("/notes/7").status(), 404);
  EXPECT_EQ(client.post("/notes", std::string(20'000, 'x')).status(), 413);
}

TEST(Notes, ComeLaterAndPieceByPiece) {
  App app = make_app();
  add_more(app);
  TestClient client = app.test();
  client.post("/notes", "buy tea");
  EXPECT_EQ(client.get("/notes/0/later").text(), "buy tea");
  EXPECT_EQ(client.get("/countdown").text(), "3\n2\n1\n");
}

// Not to be called: it would take a port of the machine.
TEST(Notes, HaveAProgram) { EXPECT_NE(&program::main, nullptr); }

namespace {

std::string without_spaces(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c != ' ' && c != '\n') out += c;
  }
  return out;
}

std::string read_file(const std::string& name) {
  std::ifstream file(std::string(VIOLET_SOURCE_DIR "/") + name);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// The includes of a block stand among others here.
std::string without_includes(const std::string& block) {
  std::istringstream lines(block);
  std::string out;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("#include")) out += line + "\n";
  }
  return out;
}

TEST(StartGuide, ShowsTheCodeThatIsCompiledHere) {
  const std::string code = without_spaces(read_file("tests/docs/start_test.cc"));
  const std::string guide = read_file("docs/guide/start.md");
  const std::string begin = "```cpp\n";
  int block_count = 0;
  for (std::size_t at = guide.find(begin); at != std::string::npos; at = guide.find(begin, at)) {
    at += begin.size();
    const std::string block = guide.substr(at, guide.find("```", at) - at);
    EXPECT_NE(code.find(without_spaces(without_includes(block))), std::string::npos) << block;
    ++block_count;
  }
  EXPECT_EQ(block_count, 5);
}

}  // namespace
