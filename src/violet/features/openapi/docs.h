#pragma once

// Docs: the document of an API below a path, and the page that shows it.
//
//   app.docs("/docs", {.title = "Notes"});       // /docs is the page, /docs/openapi.json the document
//
// The page is violet's own: no CDN, nothing inline, so that it works offline and under its own strict
// Content-Security-Policy. Both are made when listening starts, and served by all loops. Owned by the App.

#include "violet/features/openapi/options.h"
#include "violet/web/router.h"

#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace violet {

class Docs {
 public:
  // Registers its routes, which the document leaves out.
  Docs(Routes& routes, std::string_view prefix, DocsOptions options, const web::Where& where);
  Docs(const Docs&) = delete;
  Docs& operator=(const Docs&) = delete;

  // Makes everything anew. Returns what is wrong. REQUIRES: nobody serves.
  [[nodiscard]] std::vector<std::string> build(std::span<const web::RouteInfo> routes);
  [[nodiscard]] const std::string& document() const noexcept { return document_.text; }

 private:
  struct Page {
    std::string text;
    std::string etag;
    std::string_view type;
  };
  class PageHandler;
  class SlashHandler;

  void add(Routes& routes, const std::string& path, Page& page, const web::Where& where);
  void add_viewer(Routes& routes, const std::string& prefix, const web::Where& where);
  void fill(Page& page, std::string text);
  [[nodiscard]] std::string policy() const;

  DocsOptions options_;
  std::string policy_;  // Content-Security-Policy
  Page document_;
  std::deque<Page> pages_;
};

}  // namespace violet
