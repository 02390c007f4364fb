#include "report.h"

#include <string_view>

namespace showcase {
namespace {

// All names and texts are our own and need no escapes.
void add(std::string& json, std::string_view name,
         std::uint64_t value) {
  json.append(json.back() == '{' ? "\"" : ",\"")
      .append(name)
      .append("\":")
      .append(std::to_string(value));
}
void add(std::string& json, std::string_view name,
         std::string_view text) {
  json.append(json.back() == '{' ? "\"" : ",\"")
      .append(name)
      .append("\":\"")
      .append(text)
      .append("\"");
}

std::string escape(std::string_view text) {
  std::string html;
  for (const char c : text) {
    switch (c) {
      case '<': html += "&lt;"; break;
      case '>': html += "&gt;"; break;
      case '&': html += "&amp;"; break;
      default: html += c;
    }
  }
  return html;
}

}  // namespace

std::string limits_json(const violet::Limits& limits) {
  std::string json = "[";
  std::int32_t id = 0;
  for (const violet::LimitRow& row : violet::limit_table()) {
    json += json.size() > 1 ? ",{" : "{";
    add(json, "name", row.name);
    add(json, "value", violet::value(limits, violet::LimitId{++id}));
    add(json, "unit", row.unit);
    add(json, "status", static_cast<std::uint64_t>(row.status));
    add(json, "stops", row.stops);
    json += "}";
  }
  return json + "]";
}

std::string live_json(const violet::Counters& counters,
                      const Board& board) {
  std::string json = "{";
  add(json, "connections_opened", counters.connections_opened);
  add(json, "connections_closed", counters.connections_closed);
  add(json, "requests", counters.requests);
  add(json, "refused", counters.refused);
  add(json, "handler_errors", counters.handler_errors);
  add(json, "protocol_errors", counters.protocol_errors);
  add(json, "timeouts", counters.timeouts);
  add(json, "waiting",
      static_cast<std::uint64_t>(board.waiting.load()));
  add(json, "left", board.left.load());
  add(json, "overdue", board.overdue.load());
  add(json, "upload_bytes", board.upload_bytes.load());
  return json + "}";
}

std::string error_html(const violet::ErrorInfo& error) {
  std::string html =
      "<!doctype html><html lang=en><meta charset=utf-8>";
  html +=
      "<meta name=viewport content='width=device-width'><link "
      "rel=stylesheet href=/style.css><title>";
  html.append(std::to_string(error.status()))
      .append(" ")
      .append(error.reason());
  html += "</title><main class=alone><pre>" +
          escape(error.to_string()) +
          "</pre><p><a href=/>To the page</a></main></html>\n";
  return html;
}

}  // namespace showcase
