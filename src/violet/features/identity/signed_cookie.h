#pragma once

// SignedCookies: small values that a client keeps and cannot change, where a session would be too much. Whoever holds
// the cookie can read it; nothing that is secret belongs there.
//
//   auto cookies = SignedCookies::create({"a secret of thirty-two bytes or m"});
//   cookie.value = cookies->sign("theme", "dark", now + 30 * 86'400);
//   if (auto theme = cookies->read("theme", *request.cookie("theme"), now)) … *theme …
//
// A value is signed together with its cookie's name and the second in which it ends, by HMAC with SHA-256: it is good
// for no other cookie, and no later. The first key signs, all of them verify: to rotate, put a new key before the old
// one, and take that away when what it has signed has ended. A constant once made: any thread may use it.
//
//   BASE64URL(value) "." seconds since 1970 "." BASE64URL(signature)

#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace violet {

class SignedCookies {
 public:
  static constexpr std::size_t kKeyBytesMin = 32;
  // What browsers keep of a cookie (RFC 6265 §6.1).
  static constexpr std::size_t kBytesMax = 4'096;

  // At least one key; each has 32 bytes at least, from a generator. Why not otherwise, in a sentence.
  [[nodiscard]] static std::expected<SignedCookies, std::string> create(std::vector<std::string> keys);

  // The cookie's value, good until the second `expires`.
  [[nodiscard]] std::string sign(std::string_view name, std::string_view value, std::int64_t expires) const;
  // What was signed; nothing where it was not signed so, or has ended by `now`.
  [[nodiscard]] std::optional<std::string> read(std::string_view name, std::string_view text, std::int64_t now) const;

 private:
  explicit SignedCookies(std::vector<std::string> keys) noexcept : keys_(std::move(keys)) {}

  std::vector<std::string> keys_;
};

}  // namespace violet
