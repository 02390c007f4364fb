#include "load/result/report.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>

namespace violet::load {
namespace {

[[gnu::format(printf, 1, 2)]] std::string format(const char* shape, ...) {
  char text[512];
  std::va_list arguments;
  va_start(arguments, shape);
  std::vsnprintf(text, sizeof text, shape, arguments);
  va_end(arguments);
  return text;
}

using Count = unsigned long long;

constexpr struct {
  const char* name;
  double share;
} kQuantiles[] = {{"p50", 0.5}, {"p90", 0.9}, {"p99", 0.99}, {"p99.9", 0.999}, {"p99.99", 0.9999}};

constexpr struct {
  const char* name;
  std::uint64_t Tally::* count;
} kFailures[] = {{"connect", &Tally::connect_errors}, {"handshake", &Tally::handshake_errors},
                 {"broken", &Tally::broken},          {"timeout", &Tally::timeouts},
                 {"malformed", &Tally::malformed},    {"wrong body", &Tally::wrong_bodies}};

double us(std::uint64_t ns) { return static_cast<double>(ns) / 1000; }

std::string latency_line(const Histogram& latency) {
  std::string line = format("latency us   mean %.1f", latency.mean() / 1000);
  for (const auto& [name, share] : kQuantiles) line += format("  %s %.1f", name, us(latency.quantile(share)));
  return line + format("  max %.1f\n", us(latency.most()));
}

std::string status_line(const Tally& tally) {
  std::string line = "status      ";
  for (int i = 1; i < 6; ++i) {
    if (tally.status[i] != 0) line += format(" %dxx %llu", i, static_cast<Count>(tally.status[i]));
  }
  if (tally.status[0] != 0) line += format(" other %llu", static_cast<Count>(tally.status[0]));
  return tally.answers > 0 && std::ranges::all_of(tally.status, [](std::uint64_t n) { return n == 0; }) ? ""
                                                                                                        : line + "\n";
}

std::string failure_line(const Tally& tally) {
  if (tally.failure_count() == 0) return "errors       none\n";
  std::string line = "errors      ";
  for (const auto& [name, count] : kFailures) {
    if (tally.*count != 0) line += format(" %s %llu", name, static_cast<Count>(tally.*count));
  }
  return line + "\n";
}

std::string server_line(const Result& result) {
  const ProcessUse& use = *result.server;
  return format(
      "server       CPU us an answer %.3f (user %.3f, system %.3f)  %.2f busy  RSS %.2f MiB  switches %.3f + %.3f\n",
      result.per_answer(use.user_us + use.system_us), result.per_answer(use.user_us), result.per_answer(use.system_us),
      (use.user_us + use.system_us) / 1e6 / result.seconds, static_cast<double>(use.resident_bytes) / 1048576,
      result.per_answer(static_cast<double>(use.voluntary_switches)),
      result.per_answer(static_cast<double>(use.involuntary_switches)));
}

// As a JSON string, quotes included.
std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      result += '\\';
      result += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      result += format("\\u%04x", static_cast<unsigned>(c));
    } else {
      result += c;
    }
  }
  return result + "\"";
}

std::string use_as_json(const Result& result, const ProcessUse& use) {
  return format(
      "{\"cpu_us\": %.4f, \"user_us\": %.4f, \"system_us\": %.4f, \"busy\": %.4f, \"resident_bytes\": %llu, "
      "\"voluntary_switches\": %llu, \"involuntary_switches\": %llu}",
      result.per_answer(use.user_us + use.system_us), result.per_answer(use.user_us), result.per_answer(use.system_us),
      (use.user_us + use.system_us) / 1e6 / result.seconds, static_cast<Count>(use.resident_bytes),
      static_cast<Count>(use.voluntary_switches), static_cast<Count>(use.involuntary_switches));
}

}  // namespace

std::string describe(const Options& options) {
  std::string text = format("%d connection%s, %d thread%s", options.connections, options.connections == 1 ? "" : "s",
                            options.threads, options.threads == 1 ? "" : "s");
  const bool is_h2 = options.protocol == Protocol::Http2;
  if (is_h2) text += ", HTTP/2";
  if (is_socket(options)) text += options.is_binary ? ", WebSocket, binary" : ", WebSocket, text";
  if (options.depth > 1) {
    text += format(", %d", options.depth) + (is_h2                ? " streams each"
                                             : is_socket(options) ? " in flight each"
                                                                  : " pipelined");
  }
  if (options.per_connection != 0) text += format(", %llu a connection", static_cast<Count>(options.per_connection));
  text += options.rate > 0 ? format(", open loop at %g a second", options.rate) : std::string(", closed loop");
  text += options.count != 0 ? format(", %llu requests", static_cast<Count>(options.count))
                             : format(", %g s", options.seconds);
  if (options.warm_up > 0) text += format(" after %g s", options.warm_up);
  return text;
}

std::string summary(const Options& options, const Result& result) {
  const Tally& tally = result.tally;
  std::string text = options.url + "\n" + describe(options) + "\n";
  text +=
      format("answers      %llu in %.3f s  %.0f a second  %.2f MB/s\n", static_cast<Count>(tally.answers),
             result.seconds, result.rate(), static_cast<double>(tally.bytes) / 1e6 / std::max(result.seconds, 1e-9));
  text += latency_line(tally.latency);
  if (!is_socket(options)) text += status_line(tally);
  text += failure_line(tally);
  text += format("connections  %llu made while it was measured, %llu TLS handshakes\n",
                 static_cast<Count>(tally.connects), static_cast<Count>(tally.handshakes));
  if (result.server) text += server_line(result);
  text += format("load         CPU us an answer %.3f (user %.3f, system %.3f)\n",
                 result.per_answer(result.own.user_us + result.own.system_us), result.per_answer(result.own.user_us),
                 result.per_answer(result.own.system_us));
  return text;
}

std::string as_json(const Options& options, const Result& result) {
  const Tally& tally = result.tally;
  std::string text = "{\"url\": " + quoted(options.url) + ", \"load\": " + quoted(describe(options));
  text += format(
      ", \"seconds\": %.6f, \"answers\": %llu, \"rate\": %.3f, \"bytes\": %llu, \"connects\": %llu, \"handshakes\": "
      "%llu",
      result.seconds, static_cast<Count>(tally.answers), result.rate(), static_cast<Count>(tally.bytes),
      static_cast<Count>(tally.connects), static_cast<Count>(tally.handshakes));
  text += format(", \"latency_us\": {\"mean\": %.3f, \"min\": %.3f", tally.latency.mean() / 1000,
                 us(tally.latency.least()));
  for (const auto& [name, share] : kQuantiles)
    text += format(", \"%s\": %.3f", name, us(tally.latency.quantile(share)));
  text += format(", \"max\": %.3f}, \"status\": {", us(tally.latency.most()));
  for (int i = 1; i < 6; ++i)
    text += format("%s\"%dxx\": %llu", i > 1 ? ", " : "", i, static_cast<Count>(tally.status[i]));
  text += format(", \"other\": %llu}, \"errors\": {", static_cast<Count>(tally.status[0]));
  const char* separator = "";
  for (const auto& [name, count] : kFailures) {
    text += format("%s\"%s\": %llu", separator, name, static_cast<Count>(tally.*count));
    separator = ", ";
  }
  text += "}, \"own\": " + use_as_json(result, result.own);
  if (result.server) text += ", \"server\": " + use_as_json(result, *result.server);
  return text + "}\n";
}

std::string as_csv(const Result& result) {
  std::string text = "second,answers,errors,bytes,mean_us\n";
  for (const Second& second : result.timeline) {
    text += format("%.0f,%llu,%llu,%llu,%.3f\n", second.at, static_cast<Count>(second.answers),
                   static_cast<Count>(second.errors), static_cast<Count>(second.bytes), second.mean_ns / 1000);
  }
  return text;
}

}  // namespace violet::load
