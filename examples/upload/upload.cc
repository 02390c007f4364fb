// Files from clients: a page with a form, uploads of any size to the disk as they come, and a profile with a picture
// as one typed form.
//
//   upload [URL] [FOLDER]                                     http://127.0.0.1:8080, the system's folder for such files
//   curl -F picture=@cat.png http://127.0.0.1:8080/files      [{"field":"picture","name":"cat.png",…}]

#include <violet/violet.h>

#include <filesystem>
#include <string>
#include <vector>

using namespace violet;

namespace {

constexpr std::string_view kPage = R"(<!doctype html><title>Upload</title>
<form method="post" action="/files" enctype="multipart/form-data">
  <input type="file" name="files" multiple> <button>Upload</button>
</form>)";

struct Uploads {
  std::string folder;
};
struct Stored {
  std::string field;
  std::string name;  // what the client calls it: shown, never used as a path
  std::uint64_t size;
  std::string path;
};
struct Profile {
  text<1, 40> name;
  std::optional<UploadedFile> picture;
};

// Nothing of a file stays in memory, and nothing on the disk unless it was kept.
Task<Result<std::vector<Stored>>> store(Multipart form, State<Uploads> uploads) {
  std::vector<Stored> all;
  while (auto part = co_await form.next()) {
    if (!part->is_file()) continue;
    Result<SavedFile> file = co_await part->save(uploads->folder);
    if (!file) co_return fail(file.error());
    Result<std::string> path = co_await file->keep();
    if (!path) co_return fail(path.error());
    all.push_back(Stored{part->name(), part->file_name(), file->size(), *path});
  }
  if (form.error()) co_return fail(form.error());
  co_return all;
}

}  // namespace

int main(int argc, char** argv) {
  App app;
  const std::string url = argc > 1 ? argv[1] : "http://127.0.0.1:8080";
  app.provide(Uploads{argc > 2 ? argv[2] : std::filesystem::temp_directory_path().string()});
  app.get("/", [] { return Reply(kPage).content_type("text/html; charset=utf-8"); });
  app.post("/files", store).body_max(std::uint64_t{1} << 30);
  // Small forms in one piece, with the rules of their types.
  app.post("/profile",
           [](Form<Profile> form) {
             const std::size_t size = form->picture ? form->picture->size() : 0;
             return *form->name + ": " + std::to_string(size) + " bytes";
           })
      .body_max(4 << 20);
  return app.listen(url).run();
}
