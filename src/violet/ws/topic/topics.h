#pragma once

// Topics: messages for many sockets at once. A socket subscribes to names; what is published under a name reaches each
// of its sockets, on whatever loop it lives.
//
//   socket.subscribe("room/7");
//   app.publish("room/7", "hello");             // any thread
//
// A message becomes one frame, and one compressed frame for each set of parameters that its subscribers have agreed
// upon; all sockets of all loops share its bytes by count. Each socket writes once a turn, however many messages
// a turn has brought. A socket that is too slow loses the message (or as its policy says), and the others do not wait.
//
// What one thread publishes arrives in that order. A Topics belongs to an App, or to whoever makes one, and outlives
// the sockets that use it.

#include "violet/event/loop.h"
#include "violet/memory/slice.h"
#include "violet/ws/message.h"

#include <cstdint>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

namespace violet::ws {

class Session;
class Published;
class TopicsOfLoop;
struct Subscription;

// Where published messages go beside this process's own sockets: to other machines. publish() is called on the thread
// that publishes; what comes from elsewhere is handed to Topics::deliver().
class Bus {
 public:
  virtual ~Bus() = default;
  // Once, before the first publish(). `topics` outlives the bus.
  virtual void attach(class Topics& topics) = 0;
  virtual void publish(std::string_view topic, Kind kind, std::string_view payload) = 0;
};

class Topics {
 public:
  Topics() noexcept;
  Topics(const Topics&) = delete;
  Topics& operator=(const Topics&) = delete;
  ~Topics();

  // Any thread: to this process's sockets, and to the bus where there is one. A text has to be UTF-8.
  void publish(std::string_view topic, Kind kind, std::string_view payload);
  // Any thread: to this process's sockets only.
  void deliver(std::string_view topic, Kind kind, std::string_view payload);
  // Before anything is published.
  void set_bus(std::unique_ptr<Bus> bus);

  // On the socket's loop. False when it was subscribed already, or is not open.
  bool subscribe(Session& session, std::string_view topic);
  // False when it was not.
  bool unsubscribe(Session& session, std::string_view topic);
  // From the session's end.
  static void unsubscribe_all(Subscription* first) noexcept;
  // Sockets of one loop, on its thread.
  [[nodiscard]] std::size_t subscriber_count(Loop& loop, std::string_view topic) const;

 private:
  struct Member {
    Loop* loop;  // to know it again, never to be used
    LoopRef ref;
  };
  TopicsOfLoop& of(Loop& loop);

  const std::uint64_t id_;  // loops know us by it: an address could be used again
  std::mutex mutex_;        // taken once for each publish, and once for each loop's first socket
  std::vector<Member> members_;
  std::unique_ptr<Bus> bus_;
};

}  // namespace violet::ws
