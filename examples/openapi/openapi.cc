// An API that describes itself: open http://127.0.0.1:8080/docs, or: violet openapi ./openapi > openapi.json
#include <violet/violet.h>

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <variant>
#include <vector>

using namespace violet;

struct Card {
  pattern<"^[0-9]{12,19}$"> number;
  secret<std::string> code;
};
struct Transfer {
  text<5, 34> iban;
};
struct NewOrder {
  static constexpr std::string_view about = "What somebody wants to buy";
  email customer;
  non_empty<std::vector<std::string>> items;
  std::variant<Card, Transfer> payment;
  bool is_gift = false;
  static constexpr Note describe[] = {
      {.member = "items", .about = "Numbers of articles", .example = R"(["tea-17", "cup-3"])"},
      {.member = "is_gift", .name = "isGift", .about = "Without a bill"},
  };
};
enum class Progress : std::uint8_t { Open, Paid, Sent };
struct Order {
  std::int64_t id;
  Progress progress;
  std::vector<std::string> items;
};
struct Filter {
  std::optional<Progress> progress;
};

class Orders {
 public:
  Order add(const NewOrder& in) {
    const std::lock_guard lock(mutex_);
    const std::int64_t id = static_cast<std::int64_t>(orders_.size()) + 1;
    return orders_[id] = {.id = id, .progress = Progress::Open, .items = *in.items};
  }
  std::optional<Order> find(std::int64_t id) {
    const std::lock_guard lock(mutex_);
    return orders_.contains(id) ? std::optional(orders_[id]) : std::nullopt;
  }
  std::vector<Order> list(std::optional<Progress> progress) {
    const std::lock_guard lock(mutex_);
    std::vector<Order> found;
    for (const auto& [id, order] : orders_) {
      if (!progress || *progress == order.progress) found.push_back(order);
    }
    return found;
  }

 private:
  std::mutex mutex_;
  std::map<std::int64_t, Order> orders_;
};

int main(int argc, char** argv) {
  App app;
  app.provide(std::make_unique<Orders>());
  Group api = app.group("/orders").tag("orders");
  api.get("", [](Query<Filter> filter, Orders& all) { return all.list(filter->progress); }).summary("List orders");
  api.get("/{id}", [](Path<std::int64_t> id, Orders& all) { return all.find(*id); }).summary("One order");
  auto order = [](Json<NewOrder> in, Orders& all) { return Created{"/orders", all.add(*in)}; };
  api.post("", order).summary("Order something").describe("It is **open** until it is paid.");
  app.docs("/docs", {.title = "Orders", .tags = {{"orders", "What was ordered"}}});
  return app.listen(argc > 1 ? argv[1] : "http://127.0.0.1:8080").run();
}
