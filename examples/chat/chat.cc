// chat [PORT]: a chat with rooms. Open http://127.0.0.1:8080 in two
// windows: what one says reaches all who are in the same room, on
// whatever loop. http://127.0.0.1:8080/#tea is another room.
#include <violet/violet.h>

#include <string>
#include <string_view>

using namespace violet;

namespace {

constexpr std::string_view kPage = R"(<!doctype html>
<meta charset="utf-8"><title>violet chat</title>
<form><input name="text" autofocus autocomplete="off"></form>
<ul></ul>
<script>
const room = location.hash.slice(1) || "lobby";
const socket = new WebSocket(
  `ws://${location.host}/chat/${encodeURIComponent(room)}`);
const say = (text) => {
  const line = document.createElement("li");
  line.textContent = text;
  document.querySelector("ul").prepend(line);
};
socket.onmessage = (event) => say(event.data);
socket.onclose = (event) => say(`closed: ${event.code}`);
document.forms[0].onsubmit = (event) => {
  event.preventDefault();
  socket.send(document.forms[0].text.value);
  document.forms[0].reset();
};
</script>)";

struct Guest {
  App& app;
  std::string room;

  void on_open(WebSocket& socket) {
    socket.subscribe(room);
    app.publish(room, "somebody came into " + room);
  }
  void on_message(WebSocket&, ws::Message message) {
    if (message.is_text()) app.publish(room, message.text());
  }
  void on_close(WebSocket&) { app.publish(room, "somebody left"); }
};

}  // namespace

int main(int argc, char** argv) {
  App app;
  app.get("/", [] { return Reply(std::string(kPage)).content_type("text/html; charset=utf-8"); });
  app.websocket("/chat/{room}", [&app](Path<std::string> room) { return Guest{app, *room}; });
  const std::string port = argc > 1 ? argv[1] : "8080";
  return app.listen("http://127.0.0.1:" + port).run();
}
