#include "tests/support/h2_pair.h"

#include "violet/base/check.h"

namespace violet::test {

void Call::on_head(http::Head& head, bool) {
  if (head.status < 200) {
    reply.informational.push_back(head.status);
    return;
  }
  reply.status = head.status;
  for (const http::Field& field : head.fields) {
    reply.fields.emplace_back(field.id != http::FieldId::Other ? http::lower_name(field.id) : field.name, field.value);
  }
}

void Call::on_data(Slice data) {
  VIOLET_CHECK(close_count == 0 && !data.is_empty());
  reply.body += data.text();
  if (gives_credit) {
    stream->credit(data.size());
  } else {
    owed += data.size();
  }
}

void Call::on_end(const http::Fields* trailers) {
  VIOLET_CHECK(close_count == 0 && !reply.is_ended);
  reply.is_ended = true;
  if (trailers == nullptr) return;
  for (const http::Field& field : *trailers) reply.trailers.emplace_back(field.name, field.value);
}

void Call::on_close(Error reason) noexcept {
  ++close_count;
  why = reason;
  stream = nullptr;
}

H2Pair::H2Pair(const Limits& with)
    : server(with), limits(with), shared(server.loop, limits, buffers), wire(net::MemoryTransport::make(server.loop)) {
  server.connect_silently();
  client = new h2::Session(shared, *this, *wire, Connection(), h2::Role::Client);
  client->open();
  settle();
}

H2Pair::~H2Pair() {
  server.service.held.clear();
  if (client != nullptr) client->abort(Error(ErrorKind::ShuttingDown));
  server.settle();
  VIOLET_CHECK(client == nullptr);
}

void H2Pair::on_session_closed(h2::Session& closed) noexcept {
  VIOLET_CHECK(&closed == client);
  client = nullptr;
  delete &closed;
}

Call* H2Pair::open(std::string_view method, std::string_view target, const FieldList& fields, bool has_body,
                   std::string_view protocol, std::optional<std::uint64_t> length) {
  auto call = std::make_unique<Call>();
  h2::Stream* const stream = client->request(*call);
  if (stream == nullptr) return nullptr;
  call->stream = stream;
  Arena arena;
  http::Head head(arena);
  head.method_text = method;
  head.method = http::find_method(method);
  head.scheme = "http";
  head.authority = "a";
  head.target = target;
  head.protocol = protocol;
  for (const auto& [name, value] : fields) VIOLET_CHECK(head.fields.add(name, value).has_value());
  Body body;
  if (has_body) body = Body(SourcePtr(new PushSource(call->upload)), length);
  stream->start(head, std::move(body));
  calls.push_back(std::move(call));
  return calls.back().get();
}

void H2Pair::settle() {
  for (int quiet = 0, turns = 0; quiet < 3 && turns < 1'000'000; ++turns) {
    server.loop.step(0);
    const std::string up = wire->take();
    const std::string down = server.wire->take();
    carried_ += down;
    if (!server.wire->is_closed() && !up.empty()) server.wire->feed(up);
    if (!wire->is_closed() && !down.empty()) wire->feed(down);
    // A close reaches the other side when everything before it has.
    if (server.has_hung_up() && !wire->is_closed() && down.empty()) wire->feed_end();
    if ((wire->is_closed() || wire->is_shut_down()) && !server.wire->is_closed() && up.empty()) server.wire->feed_end();
    quiet = up.empty() && down.empty() && wire->unread_bytes() + server.wire->unread_bytes() == 0 ? quiet + 1 : 0;
    // Bytes that a side does not want to read stay where they are.
    if (up.empty() && down.empty() && turns > 100'000) return;
  }
}

}  // namespace violet::test
