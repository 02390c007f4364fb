#pragma once

// FieldId: a small number for each field name that violet or its users meet often. Parsers find the id once; everything
// above compares numbers. Names outside the list are FieldId::Other and keep their text.

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace violet::http {

// X(enumerator, canonical spelling)
#define VIOLET_FIELD_NAMES(X)                                     \
  X(Accept, "Accept")                                             \
  X(AcceptCharset, "Accept-Charset")                              \
  X(AcceptEncoding, "Accept-Encoding")                            \
  X(AcceptLanguage, "Accept-Language")                            \
  X(AcceptRanges, "Accept-Ranges")                                \
  X(AccessControlAllowCredentials, "Access-Control-Allow-Credentials") \
  X(AccessControlAllowHeaders, "Access-Control-Allow-Headers")    \
  X(AccessControlAllowMethods, "Access-Control-Allow-Methods")    \
  X(AccessControlAllowOrigin, "Access-Control-Allow-Origin")      \
  X(AccessControlExposeHeaders, "Access-Control-Expose-Headers")  \
  X(AccessControlMaxAge, "Access-Control-Max-Age")                \
  X(AccessControlRequestHeaders, "Access-Control-Request-Headers") \
  X(AccessControlRequestMethod, "Access-Control-Request-Method")  \
  X(Age, "Age")                                                   \
  X(Allow, "Allow")                                               \
  X(AltSvc, "Alt-Svc")                                            \
  X(Authorization, "Authorization")                               \
  X(CacheControl, "Cache-Control")                                \
  X(Connection, "Connection")                                     \
  X(ContentDisposition, "Content-Disposition")                    \
  X(ContentEncoding, "Content-Encoding")                          \
  X(ContentLanguage, "Content-Language")                          \
  X(ContentLength, "Content-Length")                              \
  X(ContentLocation, "Content-Location")                          \
  X(ContentRange, "Content-Range")                                \
  X(ContentSecurityPolicy, "Content-Security-Policy")             \
  X(ContentType, "Content-Type")                                  \
  X(Cookie, "Cookie")                                             \
  X(Date, "Date")                                                 \
  X(ETag, "ETag")                                                 \
  X(Expect, "Expect")                                             \
  X(Expires, "Expires")                                           \
  X(Forwarded, "Forwarded")                                       \
  X(From, "From")                                                 \
  X(Host, "Host")                                                 \
  X(Http2Settings, "HTTP2-Settings")                              \
  X(IfMatch, "If-Match")                                          \
  X(IfModifiedSince, "If-Modified-Since")                         \
  X(IfNoneMatch, "If-None-Match")                                 \
  X(IfRange, "If-Range")                                          \
  X(IfUnmodifiedSince, "If-Unmodified-Since")                     \
  X(KeepAlive, "Keep-Alive")                                      \
  X(LastEventId, "Last-Event-ID")                                 \
  X(LastModified, "Last-Modified")                                \
  X(Link, "Link")                                                 \
  X(Location, "Location")                                         \
  X(MaxForwards, "Max-Forwards")                                  \
  X(Origin, "Origin")                                             \
  X(Pragma, "Pragma")                                             \
  X(Priority, "Priority")                                         \
  X(ProxyAuthenticate, "Proxy-Authenticate")                      \
  X(ProxyAuthorization, "Proxy-Authorization")                    \
  X(ProxyConnection, "Proxy-Connection")                          \
  X(Range, "Range")                                               \
  X(Referer, "Referer")                                           \
  X(RetryAfter, "Retry-After")                                    \
  X(SecFetchMode, "Sec-Fetch-Mode")                               \
  X(SecFetchSite, "Sec-Fetch-Site")                               \
  X(SecWebSocketAccept, "Sec-WebSocket-Accept")                   \
  X(SecWebSocketExtensions, "Sec-WebSocket-Extensions")           \
  X(SecWebSocketKey, "Sec-WebSocket-Key")                         \
  X(SecWebSocketProtocol, "Sec-WebSocket-Protocol")               \
  X(SecWebSocketVersion, "Sec-WebSocket-Version")                 \
  X(Server, "Server")                                             \
  X(SetCookie, "Set-Cookie")                                      \
  X(StrictTransportSecurity, "Strict-Transport-Security")         \
  X(Te, "TE")                                                     \
  X(Trailer, "Trailer")                                           \
  X(TransferEncoding, "Transfer-Encoding")                        \
  X(Upgrade, "Upgrade")                                           \
  X(UpgradeInsecureRequests, "Upgrade-Insecure-Requests")         \
  X(UserAgent, "User-Agent")                                      \
  X(Vary, "Vary")                                                 \
  X(Via, "Via")                                                   \
  X(WwwAuthenticate, "WWW-Authenticate")                          \
  X(XContentTypeOptions, "X-Content-Type-Options")                \
  X(XForwardedFor, "X-Forwarded-For")                             \
  X(XForwardedHost, "X-Forwarded-Host")                           \
  X(XForwardedProto, "X-Forwarded-Proto")                         \
  X(XFrameOptions, "X-Frame-Options")                             \
  X(XRequestId, "X-Request-ID")                                   \
  X(Traceparent, "traceparent")                                   \
  X(Tracestate, "tracestate")                                     \
  X(GrpcStatus, "grpc-status")                                    \
  X(GrpcMessage, "grpc-message")                                  \
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

// Case-insensitive. A text that holds anything but the letters, digits and hyphens of a known name is Other.
FieldId find_field(std::string_view text) noexcept;

}  // namespace violet::http
