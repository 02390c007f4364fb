#include "tests/support/h1_client_wire.h"

#include "violet/base/check.h"

#include <tuple>

namespace violet::test {
namespace {

std::vector<std::pair<std::string, std::string>> lines_of(const http::Fields& fields) {
  std::vector<std::pair<std::string, std::string>> lines;
  for (const http::Field& field : fields) lines.emplace_back(field.name, field.value);
  return lines;
}

}  // namespace

void Answers::on_head(http::Head& head, bool with_body) {
  VIOLET_CHECK(end_count + close_count == 0);
  VIOLET_CHECK(status == 0);  // nothing but 1xx comes before the final head, and no head behind it
  if (head.status < 200 && head.status != 101) {
    informational.push_back(head.status);
  } else {
    status = head.status;
    has_body = with_body;
    fields = lines_of(head.fields);
  }
  if (on_event) on_event();
}

void Answers::on_data(Slice data) {
  VIOLET_CHECK(has_body && end_count + close_count == 0);
  VIOLET_CHECK(!data.is_empty());
  body += data.text();
  if (gives_credit) {
    stream->credit(data.size());
  } else {
    owed += data.size();
  }
  if (on_event) on_event();
}

void Answers::on_end(const http::Fields* with) {
  VIOLET_CHECK(++end_count == 1);
  VIOLET_CHECK(status != 0);
  if (with != nullptr) trailers = lines_of(*with);
  if (on_event) on_event();
}

void Answers::on_close(Error reason) noexcept {
  VIOLET_CHECK(++close_count == 1);
  why = reason;
  stream = nullptr;
  if (on_event) on_event();
  if (then) then();
}

std::string Answers::story() const {
  std::string text;
  for (const int head : informational) text += std::to_string(head) + " ";
  text += std::to_string(status) + "\n";
  for (const auto& [name, value] : fields) text += name + "=" + value + "\n";
  text += body + "\n";
  for (const auto& [name, value] : trailers) text += name + "=" + value + "\n";
  return text + std::to_string(end_count) + std::to_string(close_count);
}

H1ClientWire::~H1ClientWire() {
  if (session != nullptr) session->abort(Error(ErrorKind::ShuttingDown));
  settle();
  VIOLET_CHECK(session == nullptr);
}

void H1ClientWire::connect() {
  if (session != nullptr) {
    session->abort(Error(ErrorKind::Cancelled));
    settle();
  }
  wire = net::MemoryTransport::make(loop);
  session = new h1::client::Session(shared, *this, *wire, Connection());
  session->open();
}

h1::client::Stream* H1ClientWire::get(Answers& answers, std::string_view target, std::string_view method, Body body,
                                      const std::vector<std::pair<std::string, std::string>>& fields) {
  answers.stream = session->open_stream(answers);
  if (answers.stream == nullptr || method.empty()) return answers.stream;
  Arena arena;
  http::Head head(arena);
  head.method_text = method;
  head.method = http::find_method(method);
  head.target = target;
  head.authority = "a";
  for (const auto& [name, value] : fields) VIOLET_CHECK(head.fields.add(name, value).has_value());
  answers.stream->start(head, std::move(body));
  return answers.stream;
}

void H1ClientWire::settle() {
  const auto state = [this] {
    return std::tuple(wire->unread_bytes(), wire->written().size(), wire->read_count(), wire->write_count(),
                      wire->is_closed(), session == nullptr);
  };
  // Two turns without a change: one may only have queued work for the next.
  for (int quiet = 0, turns = 0; quiet < 3 && turns < 1'000'000; ++turns) {
    const auto before = state();
    loop.step(0);
    quiet = before == state() ? quiet + 1 : 0;
  }
}

void H1ClientWire::on_session_closed(h1::client::Session& closed, Error why) noexcept {
  VIOLET_CHECK(&closed == session);
  closed_why = why;
  session = nullptr;
  delete &closed;
}

}  // namespace violet::test
