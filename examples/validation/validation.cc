// Rules: as types of members, and across members. What breaks one never reaches the handler. Try it:
//   curl -s http://127.0.0.1:8080/bookings -H 'Content-Type: application/json' -d '{"guests":0,"mail":"x"}'
#include <violet/violet.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

using namespace violet;

enum class Room : std::uint8_t { Single, Double, Suite };

struct Guest {
  text<1, 60> name;
  std::optional<range<int, 0, 120>> age;
};
struct Booking {
  email mail;
  pattern<"^\\+?[0-9 ]{5,20}$"> phone;
  std::optional<url> site;
  Room room;
  std::chrono::sys_days from;
  std::chrono::sys_days until;
  non_empty<std::vector<Guest>> guests;
  unique<std::vector<std::string>> wishes;

  static constexpr Note describe[] = {
      {.member = "until", .about = "The day of departure"},
      {.member = "wishes", .optional = true},
  };
  void rules(Rules& rules) const {
    rules.check(from < until, "until", "has to be after from");
    rules.check(room != Room::Single || guests->size() == 1, "room", "is too small for more than one guest");
  }
};
struct Receipt {
  std::int64_t nights;
  std::size_t guests;
};

int main(int argc, char** argv) {
  App app;
  const auto book = [](const Booking& booking) {
    return Receipt{(booking.until - booking.from).count(), booking.guests->size()};
  };
  app.post("/bookings",
           [book](Json<Booking> in) { return Answer<Receipt>{.status = Status::Created, .body = book(*in)}; });

  // The same rules for what a form sends, and for a query.
  struct Search {
    range<int, 1, 12> guests = {1};
    Room room = Room::Double;
  };
  app.get("/search", [](Query<Search> search) { return *search; });
  app.post("/search", [](Form<Search> search) { return *search; });
  return app.listen(argc > 1 ? argv[1] : "http://127.0.0.1:8080").run();
}
