#pragma once

// TestClient: requests to an App through its whole pipeline, HTTP/1.1 included, over a transport in memory: no socket,
// no port, no thread.
//
//   TestClient client = app.test();
//   TestReply reply = client.get("/users/7");
//   EXPECT_EQ(reply.status(), 200);
//   reply = client.request(http::Method::Put, "/notes/1").header("If-Match", "\"a\"").body("text").send();
//
// Each request has a loop's turns until its answer is complete, at most timeout_ms; handlers that wait do so in real
// time. An answer that did not come, or an app that cannot start, has status 0 and says why in text(). Use it while the
// App lives; not while routes are being registered.

#include "violet/http/method.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace violet {

class App;

class TestReply {
 public:
  struct Field {
    std::string name;
    std::string value;
  };

  [[nodiscard]] int status() const noexcept { return status_; }
  // The body, with the framing taken off; what went wrong when status() is 0.
  [[nodiscard]] const std::string& text() const noexcept { return text_; }
  // The value of the first field of that name, "" when there is none.
  [[nodiscard]] std::string_view header(std::string_view name) const noexcept;
  [[nodiscard]] const std::vector<Field>& fields() const noexcept { return fields_; }
  [[nodiscard]] const std::vector<Field>& trailers() const noexcept { return trailers_; }
  // The statuses of what came before the answer: 100, 103.
  [[nodiscard]] const std::vector<int>& informed() const noexcept { return informed_; }

 private:
  friend class TestReader;
  int status_ = 0;
  std::string text_;
  std::vector<Field> fields_;
  std::vector<Field> trailers_;
  std::vector<int> informed_;
};

class TestClient;

class TestRequest {
 public:
  TestRequest& header(std::string_view name, std::string_view value);
  TestRequest& body(std::string text);
  TestReply send();

 private:
  friend class TestClient;
  TestRequest(TestClient& client, std::string_view method, std::string_view target);

  TestClient& client_;
  std::string method_;
  std::string target_;
  std::string fields_;
  std::string body_;
  bool has_host_ = false;
  bool has_body_ = false;
  bool has_length_ = false;
};

class TestClient {
 public:
  explicit TestClient(App& app);
  TestClient(TestClient&&) noexcept;
  TestClient& operator=(TestClient&&) = delete;
  ~TestClient();

  TestReply get(std::string_view target) { return request(http::Method::Get, target).send(); }
  TestReply head(std::string_view target) { return request(http::Method::Head, target).send(); }
  TestReply post(std::string_view target, std::string body) {
    return request(http::Method::Post, target).body(std::move(body)).send();
  }
  TestReply put(std::string_view target, std::string body) {
    return request(http::Method::Put, target).body(std::move(body)).send();
  }
  TestReply patch(std::string_view target, std::string body) {
    return request(http::Method::Patch, target).body(std::move(body)).send();
  }
  TestReply del(std::string_view target) { return request(http::Method::Delete, target).send(); }
  TestReply options(std::string_view target) { return request(http::Method::Options, target).send(); }
  TestRequest request(http::Method method, std::string_view target) {
    return TestRequest(*this, http::name(method), target);
  }
  TestRequest request(std::string_view method, std::string_view target) { return TestRequest(*this, method, target); }

  // Bytes as they are, and everything that comes back until the connection closes or nothing is expected any more.
  std::string raw(std::string_view bytes);

  TestClient& timeout_ms(std::uint64_t ms) noexcept;

 private:
  friend class TestRequest;
  struct State;
  TestReply send(std::string_view bytes, bool is_head);
  std::unique_ptr<State> state_;
};

}  // namespace violet
