#include "load/plan.h"

#include <violet/base/ascii.h>
#include <violet/net/socket.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <netdb.h>
#include <netinet/in.h>
#include <optional>
#include <sstream>
#include <string_view>

namespace violet::load {
namespace {

using Failure = std::unexpected<std::string>;
constexpr std::uint32_t kWeightMax = 100'000;

struct Url {
  std::string scheme;
  std::string host;
  std::string port;
  std::string authority;
  std::string target;
};

std::optional<Url> parse_url(std::string_view text) {
  const std::size_t scheme_end = text.find("://");
  if (scheme_end == std::string_view::npos) return std::nullopt;
  Url url;
  url.scheme = text.substr(0, scheme_end);
  const bool is_secure = url.scheme == "https" || url.scheme == "wss";
  if (!is_secure && url.scheme != "http" && url.scheme != "ws") return std::nullopt;
  text.remove_prefix(scheme_end + 3);
  const std::size_t slash = std::min(text.find_first_of("/?"), text.size());
  url.authority = text.substr(0, slash);
  url.target = slash == text.size() ? "/" : std::string(text.substr(slash));
  if (url.target.front() == '?') url.target.insert(0, "/");
  std::string_view host = url.authority;
  url.port = is_secure ? "443" : "80";
  const std::size_t colon = host.rfind(':');
  if (colon != std::string_view::npos && host.find(']', colon) == std::string_view::npos) {
    url.port = host.substr(colon + 1);
    host = host.substr(0, colon);
  }
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  url.host = host;
  const bool is_good = !url.host.empty() && !url.port.empty() && ascii::all_are(url.target, ascii::kTarget);
  return is_good ? std::optional(std::move(url)) : std::nullopt;
}

std::optional<Address> resolve(const Url& url) {
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (::getaddrinfo(url.host.c_str(), url.port.c_str(), &wanted, &found) != 0) return std::nullopt;
  const Address address = net::address_of(found->ai_addr);
  ::freeaddrinfo(found);
  return address;
}

std::optional<std::string> read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream bytes;
  bytes << file.rdbuf();
  return file.good() ? std::optional(std::move(bytes).str()) : std::nullopt;
}

Request make_request(const Options& options, const Url& url, std::string_view method, std::string_view target,
                     std::string_view body) {
  Request request;
  request.method_text = method;
  request.target = target;
  request.scheme = url.scheme;
  request.authority = url.authority;
  request.body = body;
  std::string& text = request.bytes;
  text.append(method).append(" ").append(target).append(" HTTP/1.1\r\n");
  const auto is_set = [&](std::string_view name) {
    return std::any_of(options.headers.begin(), options.headers.end(),
                       [&](const auto& header) { return ascii::equal_folded(header.first, name); });
  };
  if (!is_set("Host")) text.append("Host: ").append(url.authority).append("\r\n");
  for (const auto& [name, value] : options.headers) {
    text.append(name).append(": ").append(value).append("\r\n");
    if (ascii::equal_folded(name, "Host")) {
      request.authority = value;
    } else {
      request.fields.emplace_back(name, value);
    }
  }
  const bool has_framing = is_set("Content-Length") || is_set("Transfer-Encoding");
  const bool expects_body = method == "POST" || method == "PUT" || method == "PATCH";
  if (!has_framing && (!body.empty() || expects_body)) {
    text.append("Content-Length: ").append(std::to_string(body.size())).append("\r\n");
  }
  text.append("\r\n").append(body);
  request.method = http::find_method(method);
  return request;
}

// The messages are the body. RFC 6455 §4.1.
Request make_socket_request(const Options& options, const Url& url) {
  Request request;
  request.body = options.body;
  for (std::size_t i = 0; i < options.size; ++i) request.body += static_cast<char>('a' + i % 26);
  if (request.body.empty()) request.body = "hello";
  request.kind = options.is_binary ? ws::Kind::Binary : ws::Kind::Text;
  Options fields_only = options;
  fields_only.body.clear();
  request.bytes = make_request(fields_only, url, "GET", url.target, "").bytes;
  request.bytes.resize(request.bytes.size() - 2);  // the empty line
  request.bytes += "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n";
  return request;
}

// The first word decides how the answer is read.
Request make_raw(std::string bytes) {
  Request request;
  request.method = http::find_method(std::string_view(bytes).substr(0, bytes.find(' ')));
  request.bytes = std::move(bytes);
  request.is_raw = true;
  return request;
}

struct MixLine {
  std::uint32_t weight = 0;
  Request request;
};

// "3 GET /path body", "1 raw file"
std::expected<MixLine, std::string> parse_mix_line(const Options& options, const Url& url, const std::string& line) {
  std::istringstream words(line);
  MixLine result;
  std::string method;
  std::string target;
  if (!(words >> result.weight >> method >> target) || result.weight == 0 || result.weight > kWeightMax) {
    return Failure("not WEIGHT METHOD TARGET [BODY]: " + line);
  }
  if (method == "raw") {
    auto bytes = read_file(target);
    if (!bytes) return Failure("cannot read " + target);
    result.request = make_raw(*std::move(bytes));
    return result;
  }
  std::string body;
  std::getline(words >> std::ws, body);
  if (body.starts_with('@')) {
    auto bytes = read_file(body.substr(1));
    if (!bytes) return Failure("cannot read " + body.substr(1));
    body = *std::move(bytes);
  }
  if (!ascii::is_token(method) || !ascii::all_are(target, ascii::kTarget)) return Failure("not a request: " + line);
  result.request = make_request(options, url, method, target, body);
  return result;
}

std::expected<std::vector<MixLine>, std::string> read_mix(const Options& options, const Url& url) {
  std::vector<MixLine> lines;
  const auto text = read_file(options.mix);
  if (!text) return Failure("cannot read " + options.mix);
  std::istringstream file(*text);
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line.front() == '#') continue;
    auto parsed = parse_mix_line(options, url, line);
    if (!parsed) return Failure(parsed.error());
    lines.push_back(*std::move(parsed));
  }
  if (lines.empty()) return Failure("no request in " + options.mix);
  return lines;
}

}  // namespace

std::vector<std::uint32_t> spread(const std::vector<std::uint32_t>& weights) {
  std::int64_t total = 0;
  for (const std::uint32_t weight : weights) total += weight;
  // The one that is furthest behind its share comes next.
  std::vector<std::int64_t> behind(weights.size());
  std::vector<std::uint32_t> order;
  for (std::int64_t n = 0; n < total; ++n) {
    for (std::size_t i = 0; i < weights.size(); ++i) behind[i] += weights[i];
    const auto next = std::max_element(behind.begin(), behind.end()) - behind.begin();
    behind[static_cast<std::size_t>(next)] -= total;
    order.push_back(static_cast<std::uint32_t>(next));
  }
  return order;
}

std::expected<Plan, std::string> make_plan(const Options& options) {
  const auto url = parse_url(options.url);
  if (!url) return Failure(options.url + " is not http[s]://HOST[:PORT]/PATH, or ws[s]://…");
  const auto address = resolve(*url);
  if (!address) return Failure("no address for " + url->host);
  Plan plan{.address = *address,
            .host = url->host,
            .is_secure = url->scheme == "https" || url->scheme == "wss",
            .is_socket = is_socket(options),
            .requests = {},
            .order = {}};
  if (plan.is_socket) {
    plan.requests.push_back(make_socket_request(options, *url));
    plan.order = {0};
    return plan;
  }
  std::vector<std::uint32_t> weights;
  if (!options.mix.empty()) {
    auto lines = read_mix(options, *url);
    if (!lines) return Failure(lines.error());
    for (MixLine& line : *lines) {
      plan.requests.push_back(std::move(line.request));
      weights.push_back(line.weight);
    }
  }
  for (const std::string& path : options.raw) {
    auto bytes = read_file(path);
    if (!bytes) return Failure("cannot read " + path);
    plan.requests.push_back(make_raw(*std::move(bytes)));
    weights.push_back(1);
  }
  if (plan.requests.empty()) {
    const std::string method = !options.method.empty() ? options.method : options.body.empty() ? "GET" : "POST";
    plan.requests.push_back(make_request(options, *url, method, url->target, options.body));
    weights.push_back(1);
  }
  const bool has_raw =
      std::any_of(plan.requests.begin(), plan.requests.end(), [](const auto& one) { return one.is_raw; });
  if (has_raw && options.protocol == Protocol::Http2) return Failure("HTTP/2 has no raw requests");
  plan.order = spread(weights);
  return plan;
}

}  // namespace violet::load
