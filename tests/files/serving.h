#pragma once

// Serving: a folder mounted at /static, asked through the whole pipeline without a socket.

#include "tests/files/tree.h"
#include "violet/violet.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace violet::files {

class Serving : public testing::Test {
 protected:
  using Lines = std::vector<std::pair<std::string, std::string>>;

  Files& mount(FileOptions options = {}) { return app.files("/static", tree.path(), std::move(options)); }

  TestReply ask(http::Method method, std::string_view target, const Lines& fields = {}) {
    if (!client) client = std::make_unique<TestClient>(app.test());
    TestRequest request = client->request(method, target);
    for (const auto& [name, value] : fields) request.header(name, value);
    return request.send();
  }
  TestReply get(std::string_view target, const Lines& fields = {}) { return ask(http::Method::Get, target, fields); }
  TestReply head(std::string_view target, const Lines& fields = {}) { return ask(http::Method::Head, target, fields); }
  // The body, or the status of what is no success.
  std::string text(std::string_view target, const Lines& fields = {}) {
    const TestReply reply = get(target, fields);
    return reply.status() == 200 || reply.status() == 206 ? reply.text() : std::to_string(reply.status());
  }

  Tree tree;
  App app;
  std::unique_ptr<TestClient> client;
};

}  // namespace violet::files
