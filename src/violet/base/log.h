#pragma once

// The process's log: levels, one sink, no format of its own. Writing is thread-safe as far as the sink is; the
// default sink writes one line to stderr with one write(2).
//
//   log(LogLevel::Warn, "listener 127.0.0.1:8080: accept failed");

#include <cstdint>
#include <string_view>

namespace violet {

enum class LogLevel : std::uint8_t { Debug, Info, Warn, Error, Off };

// Called from any thread. `text` has no newline and lives until the call returns.
using LogSink = void (*)(LogLevel level, std::string_view text) noexcept;

void set_log_level(LogLevel level) noexcept;  // default: Info
[[nodiscard]] LogLevel log_level() noexcept;
void set_log_sink(LogSink sink) noexcept;  // nullptr brings the default back

void log(LogLevel level, std::string_view text) noexcept;

std::string_view name(LogLevel level) noexcept;

}  // namespace violet
