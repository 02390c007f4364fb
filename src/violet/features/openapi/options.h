#pragma once

// DocsOptions: what the document of an API says beside its routes.
//
//   app.docs("/docs", {.title = "Notes", .version = "2.1", .servers = {{"https://api.example.org", "production"}}});

#include <string>
#include <vector>

namespace violet {

struct DocsOptions {
  struct Server {
    std::string url;
    std::string about = {};
  };
  // What a tag stands for; the order is the one in which readers see them.
  struct Tag {
    std::string name;
    std::string about = {};
  };
  struct Scheme {
    enum class Kind : unsigned char { Bearer, Basic, Header, Cookie, Query };
    std::string name;  // as Route::security() calls it
    Kind kind = Kind::Bearer;
    std::string field = {};  // Header, Cookie, Query: where the key stands
    std::string about = {};
    std::string format = {};  // Bearer: "JWT"
  };

  std::string title = "API";
  std::string version = "1.0.0";
  std::string about = {};  // Markdown
  // "": the one that serves the document.
  std::vector<Server> servers = {};
  std::vector<Tag> tags = {};
  // "bearer" and "basic" need not stand here.
  std::vector<Scheme> schemes = {};
  // What every route wants that does not say otherwise by security(); "none" there takes it back.
  std::vector<std::string> security = {};
  // The page beside the document.
  bool has_viewer = true;
};

}  // namespace violet
