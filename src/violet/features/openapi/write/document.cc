#include "violet/features/openapi/write/document.h"

#include "violet/base/ascii.h"
#include "violet/features/openapi/write/answers.h"
#include "violet/features/openapi/write/json_text.h"
#include "violet/features/openapi/write/operation.h"
#include "violet/features/openapi/write/path.h"
#include "violet/features/openapi/write/schemas.h"
#include "violet/http/status.h"
#include "violet/web/endpoint.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

namespace violet::openapi {
namespace {

using Scheme = DocsOptions::Scheme;

// What problems are made of (web/content/problem.cc).
constexpr std::string_view kProblemSchema =
    R"({"type":"object","description":"An error, as RFC 9457 has it","required":["type","title","status"],"properties":{)"
    R"("type":{"type":"string","format":"uri-reference"},"title":{"type":"string"},)"
    R"("status":{"type":"integer","format":"int32"},"detail":{"type":"string"},)"
    R"("errors":{"type":"array","description":"Each value of the request that is wrong","items":{"type":"object",)"
    R"("required":["in","detail"],"properties":{"in":{"type":"string","enum":["path","query","header","cookie","body"]},)"
    R"("name":{"type":"string"},"pointer":{"type":"string","description":"A JSON pointer into the body"},)"
    R"("detail":{"type":"string"}}}},"omitted":{"type":"integer","format":"int64"},)"
    R"("limit":{"type":"string","description":"The limit that was passed"},)"
    R"("limit_value":{"type":"integer","format":"int64"},)"
    R"("id":{"type":"string","description":"Names the line in the server's log"}}})";

// The methods that OpenAPI knows.
std::string_view key_of(http::Method method) noexcept {
  switch (method) {
    case http::Method::Get: return "get";
    case http::Method::Put: return "put";
    case http::Method::Post: return "post";
    case http::Method::Delete: return "delete";
    case http::Method::Options: return "options";
    case http::Method::Head: return "head";
    case http::Method::Patch: return "patch";
    case http::Method::Trace: return "trace";
    default: return {};
  }
}

bool is_shown(const web::RouteInfo& route) {
  // Handlers that say nothing of themselves, such as those of folders, only where somebody has said it for them.
  const bool is_told = route.shape != nullptr || !route.docs.summary.empty() || !route.docs.about.empty();
  return !route.docs.is_hidden && is_told && (route.is_any || !key_of(route.method).empty());
}

class Document {
 public:
  Document(const DocsOptions& options, std::vector<std::string>& errors) noexcept
      : options_(options), errors_(errors) {}

  std::string write(std::span<const web::RouteInfo> routes) {
    gather(routes);
    out_.open('{').key("openapi").text("3.1.1");
    write_info();
    write_servers();
    write_tags();
    if (!options_.security.empty()) write_security();
    write_paths();
    write_components();
    out_.close('}');
    return std::move(out_).take();
  }

 private:
  struct Entry {
    const web::RouteInfo* route;
    Path path;
  };
  struct Item {
    Path path;
    std::map<std::string_view, Entry> operations;
  };

  // Routes by path, in the order in which the paths were registered first.
  void gather(std::span<const web::RouteInfo> routes) {
    std::map<std::string, std::size_t> index;
    for (const bool is_any : {false, true}) {
      for (const web::RouteInfo& route : routes) {
        if (!is_shown(route) || route.is_any != is_any) continue;
        Path path = Path::of(route.pattern);
        const auto [at, is_new] = index.try_emplace(path.key, items_.size());
        if (is_new) items_.push_back({path, {}});
        const std::string_view method = is_any ? "get" : key_of(route.method);
        items_[at->second].operations.try_emplace(method, Entry{&route, std::move(path)});
        check_security(route);
      }
    }
  }

  void check_security(const web::RouteInfo& route) {
    // Middleware and parameters name what violet knows.
    for (const auto& hook : route.hooks) used_schemes_.emplace(hook.security);
    if (route.shape != nullptr) {
      each_input(route.shape->inputs, [&](const web::Input& input) {
        if (input.kind == web::Input::Kind::Security) used_schemes_.emplace(input.name);
      });
    }
    for (const std::string& name : route.docs.security) {
      if (name == "none" || knows_scheme(name)) continue;
      errors_.push_back(web::to_string(route.where) + ": " + std::string(route.pattern) + ": the security scheme \"" +
                        name + "\" is none of DocsOptions::schemes");
    }
  }

  [[nodiscard]] bool knows_scheme(std::string_view name) {
    used_schemes_.insert(std::string(name));
    if (name == "bearer" || name == "basic") return true;
    return std::any_of(options_.schemes.begin(), options_.schemes.end(),
                       [&](const Scheme& scheme) { return scheme.name == name; });
  }

  void write_info() {
    out_.key("info").open('{').key("title").text(options_.title).key("version").text(options_.version);
    out_.note("description", options_.about).close('}');
  }

  void write_servers() {
    if (options_.servers.empty()) return;
    out_.key("servers").open('[');
    for (const auto& server : options_.servers) {
      out_.open('{').key("url").text(server.url).note("description", server.about).close('}');
    }
    out_.close(']');
  }

  void write_tags() {
    if (options_.tags.empty()) return;
    out_.key("tags").open('[');
    for (const auto& tag : options_.tags) {
      out_.open('{').key("name").text(tag.name).note("description", tag.about).close('}');
    }
    out_.close(']');
  }

  void write_security() {
    out_.key("security").open('[');
    for (const std::string& name : options_.security) {
      if (!knows_scheme(name)) {
        errors_.push_back("app.docs(): the security scheme \"" + name + "\" is none of DocsOptions::schemes");
      }
      out_.open('{').key(name).open('[').close(']').close('}');
    }
    out_.close(']');
  }

  void write_paths() {
    out_.key("paths").open('{');
    for (const Item& item : items_) {
      out_.key(item.path.text).open('{');
      for (const auto& [method, entry] : item.operations) {
        const std::string id = free_id(method, entry);
        Operation(*entry.route, entry.path, item.path).write(out_.key(method), schemas_, id, problems_);
      }
      out_.close('}');
    }
    out_.close('}');
  }

  std::string free_id(std::string_view method, const Entry& entry) {
    const std::string& wanted = entry.route->docs.operation_id;
    const std::string base = wanted.empty() ? operation_id(method, entry.path) : wanted;
    std::string id = base;
    for (int number = 2; !ids_.insert(id).second; ++number) id = base + std::to_string(number);
    if (!wanted.empty() && id != wanted) {
      errors_.push_back(web::to_string(entry.route->where) + ": the operation id \"" + wanted + "\" is taken already");
    }
    return id;
  }

  void write_components() {
    out_.key("components").open('{').key("schemas").open('{');
    out_.key("Problem").raw(kProblemSchema);
    schemas_.write_components(out_);
    out_.close('}').key("responses").open('{');
    for (const int status : problems_) write_problem(problem_name(status), http::reason(status));
    write_problem("Error", "Any other error");
    out_.close('}');
    write_schemes();
    out_.close('}');
  }

  void write_problem(std::string_view name, std::string_view about) {
    out_.key(name).open('{').key("description").text(about.empty() ? name : about).key("content").open('{');
    out_.key("application/problem+json").open('{').key("schema").reference("#/components/schemas/Problem");
    out_.close('}').close('}').close('}');
  }

  void write_schemes() {
    std::vector<Scheme> schemes = options_.schemes;
    for (const auto& [name, kind] :
         {std::pair{"bearer", Scheme::Kind::Bearer}, std::pair{"basic", Scheme::Kind::Basic}}) {
      const bool is_own =
          std::any_of(schemes.begin(), schemes.end(), [&](const Scheme& one) { return one.name == name; });
      if (used_schemes_.contains(name) && !is_own) schemes.push_back({.name = name, .kind = kind});
    }
    if (schemes.empty()) return;
    out_.key("securitySchemes").open('{');
    for (const Scheme& scheme : schemes) write_scheme(scheme);
    out_.close('}');
  }

  void write_scheme(const Scheme& scheme) {
    out_.key(scheme.name).open('{').note("description", scheme.about);
    if (scheme.kind == Scheme::Kind::Bearer || scheme.kind == Scheme::Kind::Basic) {
      out_.key("type").text("http").key("scheme").text(scheme.kind == Scheme::Kind::Bearer ? "bearer" : "basic");
      out_.note("bearerFormat", scheme.format);
    } else {
      const bool is_cookie = scheme.kind == Scheme::Kind::Cookie;
      out_.key("type").text("apiKey").key("name").text(scheme.field).key("in");
      out_.text(is_cookie ? "cookie" : scheme.kind == Scheme::Kind::Header ? "header" : "query");
    }
    out_.close('}');
  }

  const DocsOptions& options_;
  std::vector<std::string>& errors_;
  JsonText out_;
  Schemas schemas_;
  std::vector<Item> items_;
  std::set<std::string> ids_;
  std::set<int> problems_;
  std::set<std::string, std::less<>> used_schemes_;
};

}  // namespace

std::string write_document(std::span<const web::RouteInfo> routes, const DocsOptions& options,
                           std::vector<std::string>& errors) {
  return Document(options, errors).write(routes);
}

}  // namespace violet::openapi
