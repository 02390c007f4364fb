// mixed_load [-s SECONDS] [-i INTERVAL] [-x SCALE] [-r SEED] [-f FOLDER] http://ADDRESS:PORT
//
// Everything at once, against an arena entry: clients that keep their connection, that pipeline, that come and go, that
// read or write slowly, that talk by WebSocket, that fetch the files of FOLDER from /static, and clients that leave in
// the middle of a request or of an answer. The well-behaved ones check every answer to the byte. Prints a line every
// INTERVAL seconds and one JSON object at the end. Exit status 1 when a well-behaved client was served wrongly.
//
// "little" of the result are two independent figures for the mean number of requests under way: one looked at again and
// again, one as answers a second times mean latency. By Little's law they are the same, or something is counted
// wrongly.
//
// One thread a client, blocking sockets, nothing of violet: 62 clients at SCALE 1.

#include "client.h"

#include <atomic>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <mutex>
#include <netinet/tcp.h>
#include <poll.h>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

namespace {

using Random = std::mt19937_64;

std::atomic<bool> is_over = false;
std::mutex print_mutex;
Url server;

struct Wrong : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// For Little's law.
std::atomic<std::int64_t> under_way = 0;
std::atomic<std::uint64_t> latency_sum_us = 0, measured_count = 0;

struct UnderWay {
  UnderWay() { ++under_way; }
  UnderWay(const UnderWay&) = delete;
  UnderWay& operator=(const UnderWay&) = delete;
  ~UnderWay() {
    latency_sum_us += clock_us() - began;
    ++measured_count;
    --under_way;
  }
  const std::uint64_t began = clock_us();
};

// Of FOLDER: name and content.
std::vector<std::pair<std::string, std::string>> files;

std::uint64_t below(Random& random, std::uint64_t n) { return random() % n; }

std::string random_bytes(Random& random, std::size_t size) {
  std::string bytes(size, '\0');
  for (std::size_t i = 0; i < size; i += 8) {
    const std::uint64_t word = random();
    std::memcpy(bytes.data() + i, &word, std::min<std::size_t>(8, size - i));
  }
  return bytes;
}

std::string with_length(std::string_view target, std::string_view body, std::string_view field = "") {
  std::string text = "POST ";
  text.append(target).append(" HTTP/1.1\r\nHost: localhost\r\n").append(field);
  text.append("Content-Length: ").append(std::to_string(body.size())).append("\r\n\r\n").append(body);
  return text;
}

std::string with_chunks(Random& random, std::string_view target, std::string_view body) {
  std::string text = "POST ";
  text.append(target).append(" HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n");
  while (!body.empty()) {
    const std::size_t size = 1 + below(random, std::min<std::size_t>(body.size(), 16384));
    char line[24];
    std::snprintf(line, sizeof line, "%zx\r\n", size);
    text.append(line).append(body.substr(0, size)).append("\r\n");
    body.remove_prefix(size);
  }
  return text.append("0\r\n\r\n");
}

// A request and the body that its answer has to have.
struct Question {
  std::string request;
  std::string answer;
};

Question sum_question(Random& random) {
  const std::uint64_t a = below(random, 1000), b = below(random, 1000), c = below(random, 1000);
  const std::string target = "/baseline11?a=" + std::to_string(a) + "&b=" + std::to_string(b);
  switch (below(random, 3)) {
    case 0: return {"GET " + target + " HTTP/1.1\r\nHost: localhost\r\n\r\n", std::to_string(a + b)};
    case 1: return {with_length(target, std::to_string(c)), std::to_string(a + b + c)};
    default: return {with_chunks(random, target, std::to_string(c)), std::to_string(a + b + c)};
  }
}

Question any_question(Random& random) {
  switch (below(random, 8)) {
    case 0: {
      const std::string ms = std::to_string(below(random, 20));
      return {"GET /delay/" + ms + " HTTP/1.1\r\nHost: localhost\r\n\r\n", ms};
    }
    case 1: {
      std::string body = random_bytes(random, below(random, 65536));
      return {with_length("/echo", body), body};
    }
    case 2: {
      std::string body = random_bytes(random, 1 + below(random, 65536));
      return {with_chunks(random, "/echo", body), body};
    }
    case 3: {
      const std::string body = random_bytes(random, below(random, 262144));
      return {with_length("/upload", body), std::to_string(body.size())};
    }
    default: return sum_question(random);
  }
}

// One connection. Blocking with time limits; throws Wrong.
class Client {
 public:
  Client() : fd_(connect_from(&server.address, 0)) {
    if (fd_ < 0) throw Wrong(std::string("connect: ") + std::strerror(errno));
  }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  ~Client() { ::close(fd_); }

  [[nodiscard]] int fd() const noexcept { return fd_; }

  void send(std::string_view text) {
    while (!text.empty()) {
      const ssize_t sent = ::send(fd_, text.data(), text.size(), MSG_NOSIGNAL);
      if (sent < 0 && errno == EINTR) continue;
      if (sent <= 0) throw Wrong(std::string("send: ") + std::strerror(errno));
      text.remove_prefix(static_cast<std::size_t>(sent));
    }
  }

  // The next answer has to be a 200 with this body.
  void expect(std::string_view body) {
    std::size_t end;
    while ((end = input_.find("\r\n\r\n", begin_)) == std::string::npos) read();
    const std::string_view head = std::string_view(input_).substr(begin_, end + 4 - begin_);
    if (!head.starts_with("HTTP/1.1 200")) throw Wrong("answered " + std::string(head.substr(0, 40)));
    const std::size_t length = length_of(head);
    begin_ = end + 4;
    while (input_.size() - begin_ < length) read();
    if (std::string_view(input_).substr(begin_, length) != body) throw Wrong("a wrong body");
    begin_ += length;
    if (begin_ == input_.size()) input_.clear(), begin_ = 0;
  }

  void ask(const Question& question) {
    const UnderWay counted;
    send(question.request);
    expect(question.answer);
  }

  // The next `size` bytes, whatever they are.
  std::string take(std::size_t size) {
    while (input_.size() - begin_ < size) read();
    std::string taken = input_.substr(begin_, size);
    begin_ += size;
    if (begin_ == input_.size()) input_.clear(), begin_ = 0;
    return taken;
  }
  // The next head, to its empty line.
  std::string take_head() {
    std::size_t end;
    while ((end = input_.find("\r\n\r\n", begin_)) == std::string::npos) read();
    return take(end + 4 - begin_);
  }

  void expect_end() {
    char byte;
    if (begin_ != input_.size() || ::recv(fd_, &byte, 1, 0) != 0) throw Wrong("no end after Connection: close");
  }

  // Sends and receives at once, at most `piece` bytes each 2 ms, until `size` bytes of answers are there.
  void ask_slowly(std::string_view text, std::size_t size, std::size_t piece) {
    while (input_.size() < size) {
      pollfd wait = {.fd = fd_, .events = static_cast<short>(POLLIN | (text.empty() ? 0 : POLLOUT)), .revents = 0};
      if (::poll(&wait, 1, 10000) <= 0) throw Wrong("a slow reader waited in vain");
      if ((wait.revents & POLLOUT) != 0) {
        const ssize_t sent = ::send(fd_, text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent < 0 && errno != EAGAIN) throw Wrong(std::string("send: ") + std::strerror(errno));
        if (sent > 0) text.remove_prefix(static_cast<std::size_t>(sent));
      }
      if ((wait.revents & (POLLIN | POLLHUP | POLLERR)) != 0) read(piece);
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
  }

  // Leaves without a word: the other side gets a reset.
  void set_reset_on_close() {
    const linger now = {.l_onoff = 1, .l_linger = 0};
    ::setsockopt(fd_, SOL_SOCKET, SO_LINGER, &now, sizeof now);
  }

  void read(std::size_t most = 65536) {
    const std::size_t size = input_.size();
    input_.resize(size + most);
    const ssize_t got = ::recv(fd_, input_.data() + size, most, 0);
    input_.resize(size + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    if (got == 0) throw Wrong("the connection was closed");
    if (got < 0 && errno != EINTR) throw Wrong(std::string("recv: ") + std::strerror(errno));
  }

 private:
  static std::size_t length_of(std::string_view head) {
    constexpr std::string_view kName = "\r\ncontent-length: ";
    std::string lower(head);
    for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
    const std::size_t at = lower.find(kName);
    std::size_t length = 0;
    if (at == std::string::npos) throw Wrong("an answer without Content-Length");
    const char* digits = lower.data() + at + kName.size();
    if (std::from_chars(digits, lower.data() + lower.size(), length).ec != std::errc()) throw Wrong("a bad length");
    return length;
  }

  int fd_;
  std::string input_;
  std::size_t begin_ = 0;
};

// --- the kinds of clients: one visit each, returning how many requests were answered

std::uint64_t keep_alive(Random& random) {
  Client client;
  const std::uint64_t count = 50 + below(random, 1000);
  std::uint64_t done = 0;
  for (; done < count && !is_over; ++done) client.ask(any_question(random));
  return done;
}

std::uint64_t pipelined(Random& random) {
  constexpr std::uint64_t kBatches = 50, kDepth = 16;
  Client client;
  for (std::uint64_t i = 0; i < kBatches; ++i) {
    std::string batch;
    std::vector<std::string> answers;
    for (std::uint64_t k = 0; k < kDepth; ++k) {
      Question question = sum_question(random);
      batch += question.request;
      answers.push_back(std::move(question.answer));
    }
    client.send(batch);
    for (const std::string& answer : answers) client.expect(answer);
  }
  return kBatches * kDepth;
}

std::uint64_t churn(Random& random) {
  Client client;
  const std::uint64_t count = 1 + below(random, 10);
  for (std::uint64_t i = 1; i < count; ++i) client.ask(sum_question(random));
  if (below(random, 2) == 0) {
    client.ask(sum_question(random));
  } else {
    client.send("GET /pipeline HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    client.expect("ok");
    client.expect_end();
  }
  return count;
}

std::uint64_t static_files(Random& random) {
  if (files.empty()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    return 0;
  }
  Client client;
  const std::uint64_t count = 1 + below(random, 100);
  for (std::uint64_t i = 0; i < count && !is_over; ++i) {
    const auto& [name, content] = files[below(random, files.size())];
    client.ask({"GET /static/" + name + " HTTP/1.1\r\nHost: localhost\r\n\r\n", content});
  }
  return count;
}

// A frame of a client (RFC 6455 §5.2), whole.
std::string frame(Random& random, unsigned char opcode, std::string_view payload) {
  std::string text(1, static_cast<char>(0x80 | opcode));
  const std::size_t size = payload.size();
  const int length_bytes = size < 126 ? 0 : size < 65536 ? 2 : 8;
  text += static_cast<char>(0x80 | (length_bytes == 0 ? size : length_bytes == 2 ? 126 : 127));
  for (int shift = 8 * length_bytes - 8; shift >= 0; shift -= 8) text += static_cast<char>(size >> shift);
  const std::string mask = random_bytes(random, 4);
  text += mask;
  for (std::size_t i = 0; i < size; ++i) text += static_cast<char>(payload[i] ^ mask[i % 4]);
  return text;
}

// The next message of the server, joined from its frames; "" with `opcode` 8 for a close.
std::string take_message(Client& client, unsigned char& opcode) {
  std::string message;
  for (opcode = 0;;) {
    const std::string head = client.take(2);
    const unsigned char first = static_cast<unsigned char>(head[0]), second = static_cast<unsigned char>(head[1]);
    if ((second & 0x80) != 0 || (first & 0x70) != 0) throw Wrong("a frame that a server may not send");
    std::size_t size = second;
    if (size > 125) {
      const std::string more = client.take(size == 126 ? 2 : 8);
      size = 0;
      for (const char byte : more) size = size << 8 | static_cast<unsigned char>(byte);
    }
    message += client.take(size);
    if ((first & 0x0f) != 0) opcode = first & 0x0f;
    if ((first & 0x80) != 0) return message;
  }
}

std::uint64_t web_sockets(Random& random) {
  Client client;
  client.send(
      "GET /ws HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
      "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n");
  if (!client.take_head().starts_with("HTTP/1.1 101 ")) throw Wrong("no WebSocket");
  const std::uint64_t count = 1 + below(random, 200);
  unsigned char opcode = 0;
  for (std::uint64_t i = 0; i < count && !is_over; ++i) {
    const std::string payload = random_bytes(random, below(random, below(random, 10) == 0 ? 200'000 : 300));
    const UnderWay counted;
    client.send(frame(random, 2, payload));
    if (take_message(client, opcode) != payload || opcode != 2) throw Wrong("a wrong echo");
  }
  client.send(frame(random, 8, {"\x03\xe8", 2}));
  take_message(client, opcode);
  if (opcode != 8) throw Wrong("no close for a close");
  client.expect_end();
  return count;
}

std::uint64_t slow_reader(Random& random) {
  constexpr std::uint64_t kAnswers = 1000;
  Client client;
  const int small = 4096;
  ::setsockopt(client.fd(), SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
  if (below(random, 2) == 0) {
    const Question question = {{}, random_bytes(random, 200000 + below(random, 200000))};
    client.ask_slowly(with_length("/echo", question.answer), question.answer.size(), 4096);
    client.expect(question.answer);
    return 1;
  }
  std::string batch;
  for (std::uint64_t i = 0; i < kAnswers; ++i) batch += "GET /pipeline HTTP/1.1\r\nHost: localhost\r\n\r\n";
  client.ask_slowly(batch, kAnswers * 40, 2048);
  for (std::uint64_t i = 0; i < kAnswers; ++i) client.expect("ok");
  return kAnswers;
}

std::uint64_t slow_writer(Random& random) {
  Client client;
  const Question question = sum_question(random);
  for (const char& c : question.request) {
    client.send({&c, 1});
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  client.expect(question.answer);
  return 1;
}

// These two leave; whatever the server does to them is right as long as it does it to nobody else.
std::uint64_t abort_in_request(Random& random) {
  Client client;
  const Question question = any_question(random);
  if (below(random, 2) == 0) client.set_reset_on_close();
  client.send(std::string_view(question.request).substr(0, 1 + below(random, question.request.size() - 1)));
  if (below(random, 2) == 0) std::this_thread::sleep_for(std::chrono::milliseconds(below(random, 10)));
  return 1;
}

std::uint64_t abort_in_answer(Random& random) {
  Client client;
  if (below(random, 2) == 0) client.set_reset_on_close();
  if (below(random, 2) == 0) {
    client.send("GET /delay/50 HTTP/1.1\r\nHost: localhost\r\n\r\n");
    std::this_thread::sleep_for(std::chrono::milliseconds(below(random, 60)));
  } else {
    const std::string body = random_bytes(random, 300000);
    client.send(with_length("/echo", body));
    client.read(1 + below(random, 65536));
  }
  return 1;
}

struct Kind {
  const char* name;
  int clients;
  bool is_well_behaved;
  std::uint64_t (*visit)(Random&);
  std::atomic<std::uint64_t> visits = 0, answers = 0, wrong = 0;
};

Kind kinds[] = {
    {"keep_alive", 16, true, keep_alive},
    {"pipelined", 8, true, pipelined},
    {"churn", 8, true, churn},
    {"static_files", 6, true, static_files},
    {"web_sockets", 6, true, web_sockets},
    {"slow_reader", 8, true, slow_reader},
    {"slow_writer", 4, true, slow_writer},
    {"abort_in_request", 3, false, abort_in_request},
    {"abort_in_answer", 3, false, abort_in_answer},
};

void run_client(Kind& kind, std::uint64_t seed) {
  Random random(seed);
  while (!is_over) {
    try {
      kind.answers += kind.visit(random);
      ++kind.visits;
    } catch (const Wrong& wrong) {
      if (!kind.is_well_behaved) continue;
      if (kind.wrong++ < 5) {
        const std::lock_guard lock(print_mutex);
        std::printf("WRONG %s: %s\n", kind.name, wrong.what());
      }
      // A server that is gone is not asked in a busy loop.
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
  }
}

std::uint64_t wrong_count() {
  std::uint64_t sum = 0;
  for (const Kind& kind : kinds) sum += kind.wrong;
  return sum;
}

void print_line(double seconds) {
  const std::lock_guard lock(print_mutex);
  std::printf("%7.1f s ", seconds);
  for (const Kind& kind : kinds) std::printf(" %s %llu", kind.name, static_cast<unsigned long long>(kind.answers));
  std::printf("  wrong %llu\n", static_cast<unsigned long long>(wrong_count()));
  std::fflush(stdout);
}

void print_json(double seconds, double sampled) {
  std::printf("{\"seconds\": %.1f, \"wrong\": %llu", seconds, static_cast<unsigned long long>(wrong_count()));
  std::printf(", \"little\": {\"sampled\": %.4f, \"computed\": %.4f, \"measured\": %llu}", sampled,
              static_cast<double>(latency_sum_us) / 1e6 / seconds, static_cast<unsigned long long>(measured_count));
  for (const Kind& kind : kinds) {
    std::printf(", \"%s\": {\"visits\": %llu, \"answers\": %llu, \"wrong\": %llu}", kind.name,
                static_cast<unsigned long long>(kind.visits), static_cast<unsigned long long>(kind.answers),
                static_cast<unsigned long long>(kind.wrong));
  }
  std::printf("}\n");
}

void read_files(const char* folder) {
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    std::ifstream file(entry.path(), std::ios::binary);
    files.emplace_back(entry.path().filename(),
                       std::string(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()));
  }
}

}  // namespace

int main(int argc, char** argv) {
  double seconds = 60, interval = 10;
  unsigned scale = 1;
  std::uint64_t seed = 1;
  const char* folder = nullptr;
  const Option options[] = {{'s', kOptionReal, &seconds},
                            {'i', kOptionReal, &interval},
                            {'x', kOptionCount, &scale},
                            {'r', kOptionSize, &seed},
                            {'f', kOptionText, &folder}};
  const char* usage = "mixed_load [-s SECONDS] [-i INTERVAL] [-x SCALE] [-r SEED] [-f FOLDER] http://ADDRESS:PORT";
  url_parse(read_options(argc, argv, options, std::size(options), usage), &server);
  if (interval <= 0 || scale == 0) print_usage(usage);
  raise_limits();
  if (folder != nullptr) read_files(folder);
  std::vector<std::thread> threads;
  for (Kind& kind : kinds) {
    for (unsigned i = 0; i < static_cast<unsigned>(kind.clients) * scale; ++i)
      threads.emplace_back(run_client, std::ref(kind), seed++);
  }
  const std::uint64_t began = clock_us();
  const auto elapsed = [began] { return static_cast<double>(clock_us() - began) / 1e6; };
  double next = interval, sum = 0;
  std::uint64_t looks = 0;
  while (elapsed() < seconds) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    sum += static_cast<double>(under_way);
    ++looks;
    if (elapsed() >= next) {
      print_line(elapsed());
      next += interval;
    }
  }
  is_over = true;
  const double measured = elapsed();
  for (std::thread& thread : threads) thread.join();
  print_json(measured, sum / static_cast<double>(looks));
  return wrong_count() > 0 ? 1 : 0;
}
