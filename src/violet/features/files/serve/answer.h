#pragma once

// From an entry to the answer: conditions, ranges, fields, body.

#include "violet/core/exchange.h"
#include "violet/features/files/load/entry.h"
#include "violet/features/files/serve/front.h"

namespace violet::files {

// `variant` is nullptr when the client accepts no form that there is. The entry outlives the call, its bytes are
// counted.
void send_file(Front& front, Exchange& exchange, Entry& entry, const Variant* variant, Purpose purpose);

// Everything that is neither a file nor missing.
void send_other(Exchange& exchange, const Entry& entry);

// To the path that was asked for, with a slash behind it.
void send_redirect(Exchange& exchange);

// A browser that goes to a page, as opposed to what a page loads, programs, and whoever tries paths out: it says so
// (Sec-Fetch-Mode), or asks for HTML by name, at a path that looks like no file.
[[nodiscard]] bool is_navigation(const Exchange& exchange) noexcept;

// Whether it would be one, had the request other fields: kSpaVary is what its answers depend on.
[[nodiscard]] bool may_be_navigation(const Exchange& exchange) noexcept;
inline constexpr std::string_view kSpaVary = "Accept, Sec-Fetch-Mode";

}  // namespace violet::files
