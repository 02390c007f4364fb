#include "violet/features/files/load/listing.h"

#include "violet/base/ascii.h"
#include "violet/http/target.h"
#include "violet/web/page/html.h"

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <dirent.h>
#include <fcntl.h>
#include <memory>
#include <sys/stat.h>
#include <vector>

namespace violet::files {
namespace {

struct Row {
  std::string name;
  bool is_folder = false;
  std::uint64_t size = 0;
  std::int64_t modified_s = 0;
};

// No script, nothing from elsewhere, both colour schemes.
constexpr std::string_view kStyle = R"(
:root{color-scheme:light dark;--ink:#1d1b26;--soft:#6f6a80;--line:#e4e1ec;--paper:#fbfafd;--sheet:#fff;--mark:#6d3bd1}
@media(prefers-color-scheme:dark){:root{--ink:#ece9f5;--soft:#9d97b0;--line:#332f42;--paper:#16141d;--sheet:#1d1a27;--mark:#b796ff}}
*{box-sizing:border-box}
body{margin:0;padding:2.5rem 1rem;background:var(--paper);color:var(--ink);font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
main{max-width:56rem;margin:0 auto}
h1{margin:0 0 1rem;font-size:1.35rem;font-weight:600;overflow-wrap:anywhere}
h1 span{color:var(--soft);font-weight:400}
table{width:100%;border-collapse:collapse;background:var(--sheet);border:1px solid var(--line);border-radius:10px;border-spacing:0;overflow:hidden}
th{padding:.55rem 1rem;text-align:left;font-size:.8rem;font-weight:500;color:var(--soft);border-bottom:1px solid var(--line)}
td{padding:0 1rem;border-top:1px solid var(--line);white-space:nowrap;color:var(--soft);font-variant-numeric:tabular-nums}
tbody tr:first-child td{border-top:0}
tbody tr:hover{background:color-mix(in srgb,var(--mark) 7%,transparent)}
td:first-child{width:100%;max-width:0}
.size,.time{text-align:right}
a{display:block;padding:.5rem 0;color:var(--ink);text-decoration:none;overflow:hidden;text-overflow:ellipsis}
a:hover,a:focus-visible{color:var(--mark);text-decoration:underline}
a.folder{color:var(--mark);font-weight:500}
a::before{content:"";display:inline-block;width:.8em;height:.8em;margin-right:.7em;vertical-align:-.05em;border:1.5px solid currentColor;border-radius:2px;opacity:.55}
a.folder::before{background:currentColor;border-radius:2px 4px 2px 2px;height:.65em}
a.up::before{border:0;background:none;content:"↑";width:.8em;height:auto;opacity:1}
p{color:var(--soft);font-size:.85rem}
@media(max-width:34rem){.time{display:none}}
)";

// "img9" before "img10", case aside; equal texts by their bytes.
bool is_before(std::string_view a, std::string_view b) noexcept {
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < a.size() && j < b.size()) {
    if (ascii::is(a[i], ascii::kDigit) && ascii::is(b[j], ascii::kDigit)) {
      while (i < a.size() && a[i] == '0') ++i;
      while (j < b.size() && b[j] == '0') ++j;
      const std::size_t i_end = std::min(a.find_first_not_of("0123456789", i), a.size());
      const std::size_t j_end = std::min(b.find_first_not_of("0123456789", j), b.size());
      if (i_end - i != j_end - j) return i_end - i < j_end - j;
      if (const int order = a.substr(i, i_end - i).compare(b.substr(j, j_end - j)); order != 0) return order < 0;
      i = i_end;
      j = j_end;
      continue;
    }
    const auto left = static_cast<unsigned char>(ascii::lower(a[i++]));
    const auto right = static_cast<unsigned char>(ascii::lower(b[j++]));
    if (left != right) return left < right;
  }
  if ((i < a.size()) != (j < b.size())) return j < b.size();
  return a < b;
}

std::string size_text(std::uint64_t size) {
  constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  auto value = static_cast<double>(size);
  std::size_t unit = 0;
  for (; value >= 1024 && unit + 1 < std::size(kUnits); ++unit) value /= 1024;
  char text[32];
  std::snprintf(text, sizeof text, unit == 0 || value >= 100 ? "%.0f %s" : "%.1f %s", value, kUnits[unit]);
  return text;
}

std::string time_text(std::int64_t seconds) {
  const auto time = static_cast<std::time_t>(seconds);
  std::tm parts{};
  ::gmtime_r(&time, &parts);
  char text[32];
  return {text, std::strftime(text, sizeof text, "%Y-%m-%d %H:%M", &parts)};
}

// A link is shown as what it leads to, if that could be asked for.
bool follow(const Root& root, std::string_view folder, Row& row) {
  const Result<Opened> opened = root.open(folder.empty() ? row.name : std::string(folder) + "/" + row.name);
  if (!opened || !opened->descriptor) return false;
  row.is_folder = opened->status.kind == FileKind::Folder;
  row.size = opened->status.version.size;
  row.modified_s = opened->status.version.modified_ns / 1'000'000'000;
  return true;
}

bool describe(const Root& root, std::string_view path, int folder, Row& row) {
  struct stat seen;
  if (::fstatat(folder, row.name.c_str(), &seen, AT_SYMLINK_NOFOLLOW) != 0) return false;
  if (S_ISLNK(seen.st_mode)) return root.follows_links() && follow(root, path, row);
  row.is_folder = S_ISDIR(seen.st_mode);
  row.size = static_cast<std::uint64_t>(seen.st_size);
  row.modified_s = seen.st_mtime;
  return row.is_folder || S_ISREG(seen.st_mode);
}

// False: there are more than may be shown.
bool read_rows(const Root& root, DIR* folder, const ListingOptions& options, std::vector<Row>& rows) {
  while (const dirent* entry = ::readdir(folder)) {
    const std::string_view name = entry->d_name;
    if (name == "." || name == ".." || name.find('\\') != std::string_view::npos) continue;
    if (name.front() == '.' && !options.shows_dotfiles) continue;
    Row row{.name = std::string(name)};
    if (!describe(root, options.title, ::dirfd(folder), row)) continue;
    if (rows.size() == options.names_max) return false;
    rows.push_back(std::move(row));
  }
  return true;
}

void append_row(std::string& page, const Row& row) {
  Arena arena;
  page += "<tr><td><a";
  if (row.is_folder) page += " class=\"folder\"";
  // Everything but letters, digits and -._~ is percent-encoded, so that no name is a scheme, a path or an attribute.
  page.append(" href=\"./").append(http::encode(row.name, arena)).append(row.is_folder ? "/\">" : "\">");
  web::append_html(page, row.name);
  page.append(row.is_folder ? "/" : "").append("</a></td><td class=\"size\">");
  page.append(row.is_folder ? "–" : size_text(row.size)).append("</td><td class=\"time\">");
  page.append(time_text(row.modified_s)).append("</td></tr>\n");
}

}  // namespace

std::string listing_page(const Root& root, Descriptor folder, const ListingOptions& options) {
  std::vector<Row> rows;
  bool is_whole = true;
  if (const std::unique_ptr<DIR, decltype([](DIR* open) { ::closedir(open); })> open(::fdopendir(folder.get())); open) {
    static_cast<void>(folder.detach());
    is_whole = read_rows(root, open.get(), options, rows);
  }
  std::sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
    return a.is_folder != b.is_folder ? a.is_folder : is_before(a.name, b.name);
  });
  std::string title;
  web::append_html(title, options.title);
  std::string page = "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n";
  page += "<meta name=\"viewport\" content=\"width=device-width\">\n<title>" + title + "/</title>\n<style>";
  page.append(kStyle).append("</style>\n<main>\n<h1><span>Index of</span> " + title + "/</h1>\n<table>\n");
  page += "<thead><tr><th>Name</th><th class=\"size\">Size</th><th class=\"time\">Changed (UTC)</th></tr></thead>\n";
  page += "<tbody>\n";
  if (!options.title.empty())
    page += "<tr><td><a class=\"up\" href=\"../\">..</a></td><td class=\"size\"></td><td class=\"time\"></td></tr>\n";
  for (const Row& row : rows) append_row(page, row);
  page += "</tbody>\n</table>\n";
  if (rows.empty()) page += "<p>Nothing is here.</p>\n";
  if (!is_whole) page += "<p>There is more: the first " + std::to_string(rows.size()) + " names found are shown.</p>\n";
  return page + "</main>\n</html>\n";
}

}  // namespace violet::files
