#include "violet/base/log.h"

#include <atomic>
#include <cstring>
#include <ctime>
#include <unistd.h>

namespace violet {
namespace {

// "2026-01-31T23:59:59Z warn  text\n", cut at the buffer's end, in one write so that threads do not interleave.
void write_to_stderr(LogLevel level, std::string_view text) noexcept {
  char line[2048];
  std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  std::size_t size = std::strftime(line, sizeof line, "%Y-%m-%dT%H:%M:%SZ ", &utc);
  const std::string_view label = name(level);
  std::memcpy(line + size, label.data(), label.size());
  size += label.size();
  line[size++] = ' ';
  const std::size_t room = sizeof line - size - 1;
  const std::size_t count = text.size() < room ? text.size() : room;
  std::memcpy(line + size, text.data(), count);
  size += count;
  line[size++] = '\n';
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, line, size);
}

std::atomic<LogLevel> current_level{LogLevel::Info};
std::atomic<LogSink> current_sink{&write_to_stderr};

}  // namespace

void set_log_level(LogLevel level) noexcept { current_level.store(level, std::memory_order_relaxed); }
LogLevel log_level() noexcept { return current_level.load(std::memory_order_relaxed); }
void set_log_sink(LogSink sink) noexcept { current_sink.store(sink != nullptr ? sink : &write_to_stderr); }

void log(LogLevel level, std::string_view text) noexcept {
  if (level < log_level() || level == LogLevel::Off) return;
  current_sink.load(std::memory_order_relaxed)(level, text);
}

std::string_view name(LogLevel level) noexcept {
  switch (level) {
    case LogLevel::Debug: return "debug";
    case LogLevel::Info: return "info";
    case LogLevel::Warn: return "warn";
    case LogLevel::Error: return "error";
    case LogLevel::Off: return "off";
  }
  return "?";
}

}  // namespace violet
