#pragma once

// FieldId: a small number for each field name that violet or its users meet often. Parsers find the id once; everything
// above compares numbers. Names outside the list are FieldId::Other and keep their text.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace violet::http {

// X(enumerator, canonical spelling)
#define VIOLET_FIELD_NAMES(X)                                          \
  X(Accept, "Accept")                                                  \
  X(AcceptCharset, "Accept-Charset")                                   \
  X(AcceptEncoding, "Accept-Encoding")                                 \
  X(AcceptLanguage, "Accept-Language")                                 \
  X(AcceptRanges, "Accept-Ranges")                                     \
  X(AccessControlAllowCredentials, "Access-Control-Allow-Credentials") \
  X(AccessControlAllowHeaders, "Access-Control-Allow-Headers")         \
  X(AccessControlAllowMethods, "Access-Control-Allow-Methods")         \
  X(AccessControlAllowOrigin, "Access-Control-Allow-Origin")           \
  X(AccessControlExposeHeaders, "Access-Control-Expose-Headers")       \
  X(AccessControlMaxAge, "Access-Control-Max-Age")                     \
  X(AccessControlRequestHeaders, "Access-Control-Request-Headers")     \
  X(AccessControlRequestMethod, "Access-Control-Request-Method")       \
  X(Age, "Age")                                                        \
  X(Allow, "Allow")                                                    \
  X(AltSvc, "Alt-Svc")                                                 \
  X(Authorization, "Authorization")                                    \
  X(CacheControl, "Cache-Control")                                     \
  X(Connection, "Connection")                                          \
  X(ContentDisposition, "Content-Disposition")                         \
  X(ContentEncoding, "Content-Encoding")                               \
  X(ContentLanguage, "Content-Language")                               \
  X(ContentLength, "Content-Length")                                   \
  X(ContentLocation, "Content-Location")                               \
  X(ContentRange, "Content-Range")                                     \
  X(ContentSecurityPolicy, "Content-Security-Policy")                  \
  X(ContentType, "Content-Type")                                       \
  X(Cookie, "Cookie")                                                  \
  X(Date, "Date")                                                      \
  X(ETag, "ETag")                                                      \
  X(Expect, "Expect")                                                  \
  X(Expires, "Expires")                                                \
  X(Forwarded, "Forwarded")                                            \
  X(From, "From")                                                      \
  X(Host, "Host")                                                      \
  X(Http2Settings, "HTTP2-Settings")                                   \
  X(IfMatch, "If-Match")                                               \
  X(IfModifiedSince, "If-Modified-Since")                              \
  X(IfNoneMatch, "If-None-Match")                                      \
  X(IfRange, "If-Range")                                               \
  X(IfUnmodifiedSince, "If-Unmodified-Since")                          \
  X(KeepAlive, "Keep-Alive")                                           \
  X(LastEventId, "Last-Event-ID")                                      \
  X(LastModified, "Last-Modified")                                     \
  X(Link, "Link")                                                      \
  X(Location, "Location")                                              \
  X(MaxForwards, "Max-Forwards")                                       \
  X(Origin, "Origin")                                                  \
  X(Pragma, "Pragma")                                                  \
  X(Priority, "Priority")                                              \
  X(ProxyAuthenticate, "Proxy-Authenticate")                           \
  X(ProxyAuthorization, "Proxy-Authorization")                         \
  X(ProxyConnection, "Proxy-Connection")                               \
  X(Range, "Range")                                                    \
  X(Referer, "Referer")                                                \
  X(RetryAfter, "Retry-After")                                         \
  X(SecFetchMode, "Sec-Fetch-Mode")                                    \
  X(SecFetchSite, "Sec-Fetch-Site")                                    \
  X(SecWebSocketAccept, "Sec-WebSocket-Accept")                        \
  X(SecWebSocketExtensions, "Sec-WebSocket-Extensions")                \
  X(SecWebSocketKey, "Sec-WebSocket-Key")                              \
  X(SecWebSocketProtocol, "Sec-WebSocket-Protocol")                    \
  X(SecWebSocketVersion, "Sec-WebSocket-Version")                      \
  X(Server, "Server")                                                  \
  X(SetCookie, "Set-Cookie")                                           \
  X(StrictTransportSecurity, "Strict-Transport-Security")              \
  X(Te, "TE")                                                          \
  X(Trailer, "Trailer")                                                \
  X(TransferEncoding, "Transfer-Encoding")                             \
  X(Upgrade, "Upgrade")                                                \
  X(UpgradeInsecureRequests, "Upgrade-Insecure-Requests")              \
  X(UserAgent, "User-Agent")                                           \
  X(Vary, "Vary")                                                      \
  X(Via, "Via")                                                        \
  X(WwwAuthenticate, "WWW-Authenticate")                               \
  X(XContentTypeOptions, "X-Content-Type-Options")                     \
  X(XForwardedFor, "X-Forwarded-For")                                  \
  X(XForwardedHost, "X-Forwarded-Host")                                \
  X(XForwardedProto, "X-Forwarded-Proto")                              \
  X(XFrameOptions, "X-Frame-Options")                                  \
  X(XRequestId, "X-Request-ID")                                        \
  X(Traceparent, "traceparent")                                        \
  X(Tracestate, "tracestate")                                          \
  X(GrpcStatus, "grpc-status")                                         \
  X(GrpcMessage, "grpc-message")                                       \
  X(GrpcTimeout, "grpc-timeout")

enum class FieldId : std::uint8_t {
  Other = 0,
#define VIOLET_FIELD_ENUM(id, text) id,
  VIOLET_FIELD_NAMES(VIOLET_FIELD_ENUM)
#undef VIOLET_FIELD_ENUM
};
#define VIOLET_FIELD_COUNT(id, text) +1
inline constexpr std::size_t kFieldIdCount = 1 VIOLET_FIELD_NAMES(VIOLET_FIELD_COUNT);  // Other included
#undef VIOLET_FIELD_COUNT

// The spelling HTTP/1.1 writes, "Content-Type"; "" for Other.
std::string_view name(FieldId id) noexcept;
// "Content-Type: ", with kWireNameMax readable bytes from its start; "" for Other.
std::string_view wire_name(FieldId id) noexcept;
inline constexpr std::size_t kWireNameMax = 40;

// The spelling HTTP/2 and HTTP/3 write, "content-type".
std::string_view lower_name(FieldId id) noexcept;

// Case-insensitive. A text that is no token is Other.
FieldId find_field(std::string_view text) noexcept;
// The same for parsers, inline. REQUIRES: not empty, only bytes from 0x21 to 0x7e, eight readable bytes from its start.
FieldId find_padded_field(std::string_view text) noexcept;

// ---- inline parts

namespace detail {

// A name's first and last eight bytes (the same ones when it is shorter) with bit 0x20 set, which folds case, and its
// size; only the middle of names of more than 16 bytes is left out. Hashed with linear probing.
struct FieldSlot {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  std::uint8_t size = 0;
  std::uint8_t id = 0;
};
inline constexpr std::uint64_t kFieldCase = 0x2020202020202020u;
inline constexpr std::size_t kFieldSlotCount = 512;
struct FieldSlots {
  FieldSlot at[kFieldSlotCount + 32];  // room to probe past the last hash
};
extern const FieldSlots kFieldSlots;

constexpr std::size_t field_slot_of(std::uint64_t first, std::uint64_t last, std::size_t size) noexcept {
  const std::uint64_t mixed = (first ^ (last << 7 | last >> 57) ^ size) * 0x9e3779b97f4a7c15u;
  return static_cast<std::size_t>(mixed >> 55);
}
static_assert(kFieldSlotCount == std::size_t{1} << (64 - 55));

bool is_middle_equal(std::string_view text, std::uint8_t id) noexcept;

inline FieldId find_field(std::string_view text, std::uint64_t first, std::uint64_t last) noexcept {
  first |= kFieldCase;
  last |= kFieldCase;
  for (const FieldSlot* slot = kFieldSlots.at + field_slot_of(first, last, text.size()); slot->id != 0; ++slot) {
    if (slot->first == first && slot->last == last && slot->size == text.size() &&
        (text.size() <= 16 || is_middle_equal(text, slot->id))) {
      return static_cast<FieldId>(slot->id);
    }
  }
  return FieldId::Other;
}

}  // namespace detail

inline FieldId find_padded_field(std::string_view text) noexcept {
  std::uint64_t first;
  std::memcpy(&first, text.data(), 8);
  if (text.size() < 8) {
    first &= ~std::uint64_t{0} >> (64 - text.size() * 8);
    return detail::find_field(text, first, first);
  }
  std::uint64_t last;
  std::memcpy(&last, text.data() + text.size() - 8, 8);
  return detail::find_field(text, first, last);
}

}  // namespace violet::http
