#include "tests/conformance/http1_rig.h"

#include "violet/base/log.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <arpa/inet.h>
#include <cerrno>
#include <chrono>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

namespace violet::test {
namespace {

constexpr std::string_view kAfter = "GET /after HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
constexpr std::string_view kAfterAnswer = "200 GET /after a\n";

std::int64_t now_ms() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// Bytes as a failure message can show them.
std::string shown(std::string_view bytes) {
  std::string text;
  for (const char c : bytes.substr(0, 300)) {
    if (c == '\r')
      text += "␍";
    else if (c == '\n')
      text += "␊";
    else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
      text += "\\x" + std::to_string(static_cast<int>(c));
    else
      text += c;
  }
  return bytes.size() > 300 ? text + "… (" + std::to_string(bytes.size()) + " bytes)" : text;
}

// One server for all cases of a process.
LiveServer& shared_server() {
  static LiveServer server;
  return server;
}

// What one way of sending a case brought.
struct Seen {
  std::string how;
  std::vector<std::string> answers;
  bool is_closed = false;
  std::uint64_t served = 0;
  std::uint64_t bodies = 0;
};

Seen see_live(const std::string& bytes, const std::vector<std::string>& methods, bool is_bytewise) {
  LiveServer& live = shared_server();
  const std::uint64_t served = live.service.served_count;
  const std::uint64_t bodies = live.service.body_count;
  RawClient client(live.port());
  // A connection that was closed while we send is no failure here: what counts is what can be read.
  static_cast<void>(is_bytewise ? client.send_bytewise(bytes) : client.send(bytes));
  Seen seen;
  seen.how = is_bytewise ? "over a socket, byte by byte" : "over a socket, in one piece";
  seen.is_closed = client.read_all() == RawClient::End::Fin;
  seen.answers = answers_of(client.received(), methods);
  seen.served = live.service.served_count - served;
  seen.bodies = live.service.body_count - bodies;
  return seen;
}

Seen see_memory(const std::string& bytes, const std::vector<std::string>& methods, std::size_t split) {
  fuzz::Wire wire(fuzz::limits_without_time());
  wire.open();
  wire.send(std::string_view(bytes).substr(0, split));
  wire.finish();
  wire.send(std::string_view(bytes).substr(split));
  wire.finish();
  Seen seen;
  seen.how = "over memory, split behind byte " + std::to_string(split);
  seen.is_closed = wire.was_closed_by_session();
  seen.answers = answers_of(wire.received(), methods);
  seen.served = wire.service.served_count;
  seen.bodies = wire.service.body_count;
  return seen;
}

// Calls check(seen) for each way of sending; stops at the first that fails.
template <class Check>
void see_all(std::string_view label, const std::string& bytes, const std::vector<std::string>& methods, Check check) {
  const auto failed = [&](const Seen& seen) {
    if (check(seen)) return false;
    std::string answers;
    for (const std::string& answer : seen.answers) answers += "\n    " + shown(answer);
    ADD_FAILURE() << label << ": " << shown(bytes) << "\n  " << seen.how
                  << (seen.is_closed ? ", closed" : ", left open") << ", handlers run: " << seen.served << answers;
    return true;
  };
  if (failed(see_live(bytes, methods, false))) return;
  if (bytes.size() <= 600 && failed(see_live(bytes, methods, true))) return;
  const std::size_t step = bytes.size() <= 400 ? 1 : bytes.size() / 40;
  for (std::size_t split = 0; split < bytes.size(); split += step) {
    if (failed(see_memory(bytes, methods, split))) return;
  }
}

bool is_refusal(const Seen& seen, Statuses statuses) {
  return seen.answers.size() == 1 && seen.is_closed && seen.bodies == 0 &&
         std::ranges::any_of(statuses, [&](int status) { return seen.answers[0].starts_with(std::to_string(status)); });
}

}  // namespace

LiveServer::LiveServer(const Limits& limits, std::uint64_t late_ms) {
  set_log_level(LogLevel::Off);
  service.late_ms = late_ms;
  server_ = std::make_unique<Server>(service, ServerOptions{.limits = limits, .loops = 1});
  const auto endpoint = server_->listen("http://127.0.0.1:0");
  if (!endpoint || !server_->start()) throw std::runtime_error("the server does not start");
  port_ = endpoint->address.port;
}

LiveServer::~LiveServer() {
  server_->stop(std::chrono::milliseconds(0));
  server_->wait();
  service.forget();
}

RawClient::RawClient(std::uint16_t port, int receive_bytes, When when) : port_(port) {
  descriptor_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (receive_bytes > 0) ::setsockopt(descriptor_, SOL_SOCKET, SO_RCVBUF, &receive_bytes, sizeof receive_bytes);
  const int on = 1;
  ::setsockopt(descriptor_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  if (when == When::Now) connect();
}

void RawClient::connect() {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port_);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(descriptor_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) end_ = End::Reset;
  ::fcntl(descriptor_, F_SETFL, O_NONBLOCK);
}

RawClient::~RawClient() { close(); }

void RawClient::close() {
  if (descriptor_ >= 0) ::close(descriptor_);
  descriptor_ = -1;
}

void RawClient::reset() {
  const linger now{.l_onoff = 1, .l_linger = 0};
  ::setsockopt(descriptor_, SOL_SOCKET, SO_LINGER, &now, sizeof now);
  close();
}

void RawClient::end_sending() { ::shutdown(descriptor_, SHUT_WR); }

bool RawClient::send(std::string_view bytes) {
  const std::int64_t due = now_ms() + 5000;
  while (!bytes.empty() && now_ms() < due) {
    const ssize_t n = ::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (n > 0) {
      bytes.remove_prefix(static_cast<std::size_t>(n));
    } else if (errno != EAGAIN) {
      return false;
    } else {
      pollfd wait{descriptor_, static_cast<short>(POLLOUT | (end_ == End::Open ? POLLIN : 0)), 0};
      ::poll(&wait, 1, 1000);
      if (end_ == End::Open) read_some(0);
    }
  }
  return bytes.empty();
}

bool RawClient::send_bytewise(std::string_view bytes) {
  for (const char c : bytes) {
    if (!send({&c, 1})) return false;
  }
  return true;
}

bool RawClient::read_some(int wait_ms) {
  pollfd wait{descriptor_, POLLIN, 0};
  if (::poll(&wait, 1, wait_ms) <= 0) return false;
  char bytes[65536];
  const ssize_t n = ::recv(descriptor_, bytes, sizeof bytes, 0);
  if (n > 0) {
    received_.append(bytes, static_cast<std::size_t>(n));
  } else if (n == 0) {
    end_ = End::Fin;
  } else if (errno != EAGAIN) {
    end_ = End::Reset;
  }
  return n > 0 || (n < 0 && errno == EAGAIN);
}

RawClient::End RawClient::read_all(int quiet_ms) {
  while (end_ == End::Open && read_some(quiet_ms)) {
  }
  return end_;
}

bool RawClient::read_until(std::string_view text, int most_ms) {
  const std::int64_t due = now_ms() + most_ms;
  while (received_.find(text) == std::string::npos) {
    const std::int64_t left = due - now_ms();
    if (end_ != End::Open || left <= 0) return false;
    read_some(static_cast<int>(left));
  }
  return true;
}

std::string get(std::string_view lines, std::string_view target) {
  return std::string("GET ").append(target).append(" HTTP/1.1\r\nHost: a\r\n").append(lines).append("\r\n");
}
std::string post(std::string_view lines, std::string_view body, std::string_view target) {
  return std::string("POST ")
      .append(target)
      .append(" HTTP/1.1\r\nHost: a\r\n")
      .append(lines)
      .append("\r\n")
      .append(body);
}
std::string chunked(std::string_view body, std::string_view target) {
  return post("Transfer-Encoding: chunked\r\n", body, target);
}

std::vector<std::string> answers_of(std::string_view bytes, const std::vector<std::string>& methods) {
  std::vector<fuzz::Answer> answers;
  if (!fuzz::read_answers(bytes, methods, false, answers)) return {"malformed: " + std::string(bytes)};
  std::vector<std::string> texts;
  for (const fuzz::Answer& answer : answers) texts.push_back(std::to_string(answer.status) + " " + answer.body);
  return texts;
}

void refused(std::string_view label, const std::string& bytes, Statuses statuses) {
  // What follows would be the smuggled request.
  see_all(label, bytes + std::string(kAfter), {}, [&](const Seen& seen) { return is_refusal(seen, statuses); });
}

void accepted(std::string_view label, const std::string& bytes, const std::vector<std::string>& answers,
              const std::vector<std::string>& methods) {
  std::vector<std::string> expected = answers;
  expected.emplace_back(kAfterAnswer);
  see_all(label, bytes + std::string(kAfter), methods,
          [&](const Seen& seen) { return seen.is_closed && seen.answers == expected; });
}

void accepted(std::string_view label, const std::string& bytes) { accepted(label, bytes, {"200 GET /t a\n"}); }

void accepted_or_refused(std::string_view label, const std::string& bytes, const std::string& answer,
                         Statuses statuses) {
  const std::vector<std::string> expected{answer, std::string(kAfterAnswer)};
  see_all(label, bytes + std::string(kAfter), {},
          [&](const Seen& seen) { return is_refusal(seen, statuses) || (seen.is_closed && seen.answers == expected); });
}

}  // namespace violet::test
