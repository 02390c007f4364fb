// Ten typed routes as a program has them: what run.py compiles and times.
#include <violet/violet.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

using namespace violet;

enum class Plan : std::uint8_t { Free, Paid };
struct NewUser {
  text<1, 80> name;
  email mail;
  std::optional<range<int, 0, 150>> age;
  Plan plan = Plan::Free;
};
struct User {
  std::int64_t id;
  std::string name;
  std::string mail;
  Plan plan;
};
struct NewOrder {
  std::int64_t user;
  non_empty<std::vector<std::string>> items;
  std::optional<std::string> remark;
};
struct Order {
  std::int64_t id;
  std::int64_t user;
  std::vector<std::string> items;
};
struct Page {
  range<int, 1, 100> limit = {20};
  int offset = 0;
};
struct Db {
  std::vector<User> users(int limit, int offset);
  std::optional<User> user(std::int64_t id);
  User add(const NewUser& user);
  std::vector<Order> orders(int limit, int offset);
  std::optional<Order> order(std::int64_t id);
  Order add(const NewOrder& order);
  bool remove(std::int64_t id);
};

void add_routes(App& app) {
  app.get("/users", [](Query<Page> page, Db& db) { return db.users(*page->limit, page->offset); });
  app.get("/users/{id}", [](Path<std::int64_t> id, Db& db) { return db.user(*id); });
  app.post("/users", [](Json<NewUser> in, Db& db) { return Created{"/users/1", db.add(*in)}; });
  app.put("/users/{id}", [](Path<std::int64_t>, Json<NewUser> in, Db& db) { return db.add(*in); });
  app.del("/users/{id}",
          [](Path<std::int64_t> id, Db& db) { return db.remove(*id) ? Status::NoContent : Status::NotFound; });
  app.get("/orders", [](Query<Page> page, Db& db) { return db.orders(*page->limit, page->offset); });
  app.get("/orders/{id}", [](Path<std::int64_t> id, Db& db) -> Task<std::optional<Order>> { co_return db.order(*id); });
  app.post("/orders", [](Json<NewOrder> in, Db& db) -> Task<Created<Order>> {
    co_return Created<Order>{"/orders/1", db.add(*in)};
  });
  app.put("/orders/{id}", [](Path<std::int64_t>, Json<NewOrder> in, Db& db) { return db.add(*in); });
  app.del("/orders/{id}", [](Path<std::int64_t> id, Header<"X-Reason"> reason, Db& db) {
    return !reason->empty() && db.remove(*id) ? Status::NoContent : Status::NotFound;
  });
}
