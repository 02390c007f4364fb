#include "violet/features/forwarded/trusted_proxies.h"

#include "violet/base/ascii.h"
#include "violet/core/limits.h"
#include "violet/features/forwarded/hops.h"
#include "violet/features/forwarded/network.h"
#include "violet/http/target.h"

#include <algorithm>
#include <span>
#include <string_view>
#include <utility>

namespace violet {

struct TrustedProxies::Trust {
  TrustedProxyOptions options;
  std::vector<forwarded::Network> networks;
  std::vector<std::string> wrong;  // what is no network

  [[nodiscard]] bool has(const Address& address) const noexcept {
    return std::ranges::any_of(networks, [&](const forwarded::Network& network) { return network.contains(address); });
  }
};

namespace {

using http::FieldId;

constexpr FieldId kFields[] = {FieldId::Forwarded, FieldId::XForwardedFor, FieldId::XForwardedProto,
                               FieldId::XForwardedHost};

bool is_one(FieldId id) noexcept { return std::ranges::find(kFields, id) != std::end(kFields); }

bool has_any(const http::Fields& fields) noexcept {
  return std::ranges::any_of(fields, [](const http::Field& field) { return is_one(field.id); });
}

bool is_believed(FieldId id, const TrustedProxyOptions& options) noexcept {
  if (options.by == ForwardedBy::Forwarded) return id == FieldId::Forwarded;
  if (id == FieldId::XForwardedHost) return options.x_forwarded_host;
  return id != FieldId::Forwarded;
}

// What belongs to the hop at `index` of `count`. A list of another length was not kept by all proxies: the nearest one
// has spoken last.
std::string_view word_of(std::span<const std::string_view> words, std::size_t index, std::size_t count) noexcept {
  if (words.empty()) return {};
  return words.size() == count ? words[index] : words.back();
}

void take_scheme(Exchange& exchange, std::string_view proto, Client& client) noexcept {
  const bool is_https = ascii::equal_folded(proto, "https") || ascii::equal_folded(proto, "wss");
  if (!is_https && !ascii::equal_folded(proto, "http") && !ascii::equal_folded(proto, "ws")) return;
  client.is_secure = is_https;
  exchange.request().scheme = is_https ? "https" : "http";
}

}  // namespace

TrustedProxies::TrustedProxies(TrustedProxyOptions options) {
  auto trust = std::make_shared<Trust>();
  for (const std::string& text : options.networks) {
    if (auto network = forwarded::Network::parse(text)) {
      trust->networks.push_back(*network);
    } else {
      trust->wrong.push_back(text);
    }
  }
  trust->options = std::move(options);
  trust_ = std::move(trust);
}

void TrustedProxies::bind(web::Binding& binding) const {
  for (const std::string& text : trust_->wrong) {
    binding.fail("trusted_proxies: \"" + text + "\" is no network: \"10.0.0.0/8\", \"2001:db8::/32\", \"unix\"");
  }
  if (trust_->options.networks.empty()) binding.fail("trusted_proxies: no network is given");
}

void TrustedProxies::on_request(Exchange& exchange) const {
  http::Fields& fields = exchange.request().fields;
  if (!has_any(fields)) return;
  const Trust& trust = *trust_;
  const bool is_trusted = trust.has(exchange.connection().peer);
  for (const FieldId id : kFields) {
    if (!is_trusted || !is_believed(id, trust.options)) fields.remove(id);
  }
  if (!is_trusted || !has_any(fields)) return;
  const auto read =
      trust.options.by == ForwardedBy::Forwarded ? forwarded::read_forwarded : forwarded::read_x_forwarded;
  const forwarded::Hops hops = read(fields, exchange.arena(), exchange.limits().forwarded_hops_max);

  Client client{.address = exchange.connection().peer.plain(), .is_secure = exchange.is_secure()};
  const std::size_t count = hops.nodes.size();
  std::size_t at = count;      // the hop that names the client so far
  std::size_t spoken = count;  // the hop that says how the client came
  while (at > 0 && trust.has(client.address)) {
    spoken = at - 1;
    const auto named = forwarded::address_of(hops.nodes[at - 1]);
    if (!named) break;
    client.address = named->plain();
    --at;
  }
  take_scheme(exchange, word_of(hops.protos, spoken, count), client);
  if (const auto host = word_of(hops.hosts, spoken, count); !host.empty() && http::is_authority(host, false)) {
    exchange.request().authority = host;
  }
  exchange.set_client(client);
}

}  // namespace violet
