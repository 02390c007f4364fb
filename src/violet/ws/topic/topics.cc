#include "violet/ws/topic/topics.h"

#include "violet/memory/pool.h"
#include "violet/ws/session.h"
#include "violet/ws/topic/published.h"

#include <algorithm>
#include <functional>
#include <string>
#include <unordered_map>

namespace violet::ws {
namespace {

std::uint64_t next_id() noexcept {
  static std::atomic<std::uint64_t> last = 0;
  return ++last;
}

struct Hash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const noexcept { return std::hash<std::string_view>()(text); }
};

}  // namespace

// One topic of one loop: those who are subscribed there.
struct Topic {
  List<Subscription, Subscription> subscribers;
  std::size_t count = 0;
  TopicsOfLoop* home = nullptr;
  std::string_view name;  // the map's
};

// A socket's place in one topic.
struct Subscription : ListNode<Subscription> {
  Session* session = nullptr;
  Topic* topic = nullptr;
  Subscription* next = nullptr;  // of the same socket
};

// What one loop knows of one Topics. Its thread only.
class TopicsOfLoop {
 public:
  TopicsOfLoop(std::uint64_t id, Loop& loop) noexcept : id_(id), loop_(loop) {}

  [[nodiscard]] std::uint64_t id() const noexcept { return id_; }
  [[nodiscard]] Topic* find(std::string_view name) {
    const auto at = topics_.find(name);
    return at != topics_.end() ? &at->second : nullptr;
  }
  void add(Session& session, std::string_view name);
  void remove(Subscription& subscription) noexcept;
  void deliver(Published& published);

 private:
  std::uint64_t id_;
  Loop& loop_;
  std::unordered_map<std::string, Topic, Hash, std::equal_to<>> topics_;
  Pool<Subscription> subscriptions_{1024};
};

void TopicsOfLoop::add(Session& session, std::string_view name) {
  auto at = topics_.find(name);
  if (at == topics_.end()) {
    at = topics_.try_emplace(std::string(name)).first;
    at->second.home = this;
    at->second.name = at->first;
  }
  Subscription& subscription = *subscriptions_.take();
  subscription.session = &session;
  subscription.topic = &at->second;
  subscription.next = std::exchange(session.extras().subscriptions, &subscription);
  at->second.subscribers.push_back(subscription);
  ++at->second.count;
}

// REQUIRES: the socket's list does not know it any more.
void TopicsOfLoop::remove(Subscription& subscription) noexcept {
  Topic& topic = *subscription.topic;
  subscription.unlink();
  subscriptions_.give(&subscription);
  if (--topic.count == 0) topics_.erase(topics_.find(topic.name));
}

void TopicsOfLoop::deliver(Published& published) {
  Topic* topic = find(published.topic());
  if (topic == nullptr) return;
  // Whoever hears of an end meanwhile runs afterwards: the list stays as it is.
  const ResumeBatch batch;
  PublishedHere here(published, loop_.local<Shared>());
  for (Subscription* one = topic->subscribers.front(); one != nullptr; one = topic->subscribers.next(*one)) {
    one->session->send_published(here);
  }
}

namespace {

// All Topics that a loop's sockets use: one, but for processes with several Apps on a loop.
struct AllOfLoop {
  explicit AllOfLoop(Loop& on) noexcept : loop(on) {}

  TopicsOfLoop* find(std::uint64_t id) noexcept {
    for (const auto& one : all) {
      if (one->id() == id) return one.get();
    }
    return nullptr;
  }
  Loop& loop;
  std::vector<std::unique_ptr<TopicsOfLoop>> all;
};

void deliver_here(std::uint64_t id, Published& published) {
  TopicsOfLoop* topics = Loop::current()->local<AllOfLoop>().find(id);
  if (topics != nullptr) topics->deliver(published);
}

}  // namespace

Topics::Topics() noexcept : id_(next_id()) {}
Topics::~Topics() = default;

TopicsOfLoop& Topics::of(Loop& loop) {
  AllOfLoop& all = loop.local<AllOfLoop>();
  if (TopicsOfLoop* known = all.find(id_); known != nullptr) return *known;
  all.all.push_back(std::make_unique<TopicsOfLoop>(id_, loop));
  const std::lock_guard lock(mutex_);
  // A loop that is gone may have had this one's address.
  std::erase_if(members_, [&](const Member& member) { return member.loop == &loop; });
  members_.push_back({&loop, loop.ref()});
  return *all.all.back();
}

bool Topics::subscribe(Session& session, std::string_view topic) {
  if (!session.is_open()) return false;
  for (Subscription* one = session.extras().subscriptions; one != nullptr; one = one->next) {
    if (one->topic->name == topic) return false;
  }
  of(session.loop()).add(session, topic);
  return true;
}

bool Topics::unsubscribe(Session& session, std::string_view topic) {
  Subscription** place = &session.extras().subscriptions;
  while (*place != nullptr && (*place)->topic->name != topic) place = &(*place)->next;
  Subscription* found = *place;
  if (found == nullptr) return false;
  *place = found->next;
  found->topic->home->remove(*found);
  return true;
}

void Topics::unsubscribe_all(Subscription* first) noexcept {
  while (first != nullptr) {
    Subscription* next = first->next;
    first->topic->home->remove(*first);
    first = next;
  }
}

std::size_t Topics::subscriber_count(Loop& loop, std::string_view topic) const {
  TopicsOfLoop* here = loop.local<AllOfLoop>().find(id_);
  const Topic* found = here != nullptr ? here->find(topic) : nullptr;
  return found != nullptr ? found->count : 0;
}

void Topics::set_bus(std::unique_ptr<Bus> bus) {
  bus_ = std::move(bus);
  if (bus_ != nullptr) bus_->attach(*this);
}

void Topics::publish(std::string_view topic, Kind kind, std::string_view payload) {
  deliver(topic, kind, payload);
  if (bus_ != nullptr) bus_->publish(topic, kind, payload);
}

void Topics::deliver(std::string_view topic, Kind kind, std::string_view payload) {
  const auto published = Ref<Published>::adopt(new Published(topic, kind, payload));
  bool is_here = false;
  {
    const std::lock_guard lock(mutex_);
    std::erase_if(members_, [&](Member& member) {
      if (member.loop == Loop::current()) {
        is_here = true;
        return false;
      }
      return !member.ref.post([id = id_, published] { deliver_here(id, *published); });
    });
  }
  if (is_here) deliver_here(id_, *published);
}

}  // namespace violet::ws
