// Multipart and Form<T> with files, through an App; clients that leave, through a wire that is none.

#include "violet/web/upload/multipart.h"

#include "tests/upload/folder.h"
#include "tests/web/fake_wire.h"
#include "violet/app/app.h"
#include "violet/app/test_client.h"
#include "violet/data/rule/checked.h"
#include "violet/event/wait.h"
#include "violet/web/content/form.h"
#include "violet/web/content/json.h"
#include "violet/web/upload/uploaded_file.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

namespace violet {
namespace {

constexpr std::string_view kType = "multipart/form-data; boundary=XyZ";

std::string field(std::string_view name, std::string_view value) {
  return "--XyZ\r\nContent-Disposition: form-data; name=\"" + std::string(name) + "\"\r\n\r\n" + std::string(value) +
         "\r\n";
}
std::string file(std::string_view name, std::string_view file_name, std::string_view content) {
  return "--XyZ\r\nContent-Disposition: form-data; name=\"" + std::string(name) + "\"; filename=\"" +
         std::string(file_name) + "\"\r\nContent-Type: image/png\r\n\r\n" + std::string(content) + "\r\n";
}
const std::string kEnd = "--XyZ--\r\n";

TestReply send(App& app, std::string_view target, std::string body, std::string_view type = kType) {
  TestClient client = app.test();
  return client.request(http::Method::Post, target).header("Content-Type", type).body(std::move(body)).send();
}

// What came, and what the handler was told.
Task<std::string> list(Multipart form) {
  std::string text;
  while (auto part = co_await form.next()) {
    Result<std::string> content = co_await part->text();
    text += part->name() + "=" + (content ? *content : "failed") +
            (part->is_file() ? " file " + part->file_name() : "") + ";";
  }
  co_return text + (form.error() ? "failed" : "end");
}

TEST(MultipartHandler, GetsPartsAsTheyCome) {
  App app;
  app.post("/", list);
  EXPECT_EQ(send(app, "/", field("a", "1") + file("f", "x.png", "\x89PNG") + kEnd).text(),
            "a=1;f=\x89PNG file x.png;end");
  EXPECT_EQ(send(app, "/", kEnd).text(), "end");
}

TEST(MultipartHandler, PassesOverWhatItDoesNotRead) {
  App app;
  app.post("/", [](Multipart form) -> Task<std::string> {
    std::string names;
    std::optional<Part> first;
    while (auto part = co_await form.next()) {
      names += part->name();
      if (!first) {
        first = *part;
        Result<Slice> piece = co_await part->read();
        if (piece) names += "(" + std::string(piece->text().substr(0, 1)) + ")";
      }
    }
    // What is over gives nothing more.
    Result<Slice> late = co_await first->read();
    co_return names + (late && late->is_empty() ? "." : "?");
  });
  EXPECT_EQ(send(app, "/", field("a", "123") + field("b", "4") + field("c", "") + kEnd).text(), "a(1)bc.");
}

TEST(MultipartHandler, IsNotCalledForOtherTypes) {
  App app;
  app.post("/", list);
  EXPECT_EQ(send(app, "/", "{}", "application/json").status(), 415);
  EXPECT_EQ(send(app, "/", "a", "text/plain").header("Content-Type"), "application/problem+json");
  EXPECT_EQ(send(app, "/", kEnd, "multipart/mixed; boundary=XyZ").status(), 415);
  const TestReply none = send(app, "/", kEnd, "multipart/form-data");
  EXPECT_EQ(none.status(), 400);
  EXPECT_NE(none.text().find("no boundary"), std::string::npos);
}

TEST(MultipartHandler, AnswersWhatIsMalformedByItself) {
  App app;
  Limits limits;
  limits.multipart_parts_max = 2;
  app.limits(limits);
  std::string told;
  app.post("/", [&told](Multipart form) -> Task<std::string> {
    told = co_await list(std::move(form));
    co_return "fine";
  });
  const TestReply cut = send(app, "/", field("a", "1") + "--XyZ\r\n");
  EXPECT_EQ(cut.status(), 400);
  EXPECT_NE(cut.text().find("the body ends before its last boundary"), std::string::npos);
  EXPECT_EQ(told, "a=1;failed");
  const TestReply many = send(app, "/", field("a", "1") + field("b", "2") + field("c", "3") + kEnd);
  EXPECT_EQ(many.status(), 413);
  EXPECT_NE(many.text().find("\"multipart_parts_max\",\"limit_value\":2"), std::string::npos);
  EXPECT_EQ(told, "a=1;b=2;failed");
}

TEST(MultipartHandler, HoldsTheLimitOfTheWholeBody) {
  App app;
  std::string told;
  app.post("/",
           [&told](Multipart form) -> Task<std::string> {
             told = co_await list(std::move(form));
             co_return "fine";
           })
      .body_max(100);
  const TestReply reply = send(app, "/", field("a", std::string(200, 'x')) + kEnd);
  EXPECT_EQ(reply.status(), 413);
  EXPECT_NE(reply.text().find("body_bytes_max = 100"), std::string::npos);
  EXPECT_EQ(told, "failed");
}

TEST(MultipartHandler, TakesNoFileIntoMemoryBeyondTheLimitOfFields) {
  App app;
  Limits limits;
  limits.multipart_field_bytes_max = 10;
  app.limits(limits);
  app.post("/", list);
  EXPECT_EQ(send(app, "/", file("f", "x", "1234567890") + kEnd).text(), "f=1234567890 file x;end");
  const TestReply reply = send(app, "/", file("f", "x", "12345678901") + kEnd);
  EXPECT_EQ(reply.status(), 413);
  EXPECT_NE(reply.text().find("multipart_field_bytes_max"), std::string::npos);
}

// Saves everything, keeps what is called keep.
Task<Result<std::string>> store(Multipart form, std::string folder) {
  std::string paths;
  while (auto part = co_await form.next()) {
    Result<SavedFile> saved = co_await part->save(folder);
    if (!saved) co_return fail(saved.error());
    paths += std::to_string(saved->size()) + " ";
    if (part->name() != "keep") continue;
    Result<std::string> path = co_await saved->keep(".bin");
    if (!path) co_return fail(path.error());
    paths += *path + " ";
  }
  if (form.error()) co_return fail(form.error());
  co_return paths;
}

TEST(MultipartHandler, SavesFilesUnderRandomNames) {
  Folder folder;
  App app;
  app.post("/",
           [&folder](Multipart form) -> Task<Result<std::string>> { return store(std::move(form), folder.path()); })
      .body_max(8 << 20);
  std::string content(1 << 20, '\0');
  for (std::size_t i = 0; i < content.size(); ++i) content[i] = static_cast<char>(i * 7 + i / 251);
  const TestReply reply = send(app, "/", file("keep", "../../evil.sh", content) + file("drop", "b", "x") + kEnd);
  ASSERT_EQ(reply.status(), 200) << reply.text();
  ASSERT_EQ(folder.names().size(), 1U);
  const std::string name = folder.names()[0];
  EXPECT_EQ(name.size(), 36U);
  EXPECT_EQ(name.find("evil"), std::string::npos);
  EXPECT_EQ(reply.text(), "1048576 " + folder.path() + "/" + name + " 1 ");
  EXPECT_EQ(folder.read(name), content);
}

TEST(MultipartHandler, LeavesNothingBehindWhenTheBodyIsBad) {
  Folder folder;
  App app;
  app.post("/",
           [&folder](Multipart form) -> Task<Result<std::string>> { return store(std::move(form), folder.path()); });
  EXPECT_EQ(send(app, "/", file("drop", "a", "content") + "--XyZ\r\n").status(), 400);
  EXPECT_TRUE(folder.names().empty());
}

TEST(MultipartHandler, SaysThatAFolderIsNotThere) {
  App app;
  app.post("/", [](Multipart form) -> Task<Result<std::string>> { return store(std::move(form), "/nowhere/at/all"); });
  EXPECT_EQ(send(app, "/", file("drop", "a", "content") + kEnd).status(), 500);
}

TEST(MultipartHandler, LeavesNothingBehindWhenTheClientLeaves) {
  Folder folder;
  web::FakeServer server;
  std::string told;
  server.router.post("/", [&](Multipart form) -> Task<void> {
    auto part = co_await form.next();
    Result<SavedFile> saved = co_await part->save(folder.path());
    told = saved ? "saved" : message(saved.error());
  });
  const Loop::Scope scope(server.loop);
  web::FakeRequest request{.method = http::Method::Post, .fields = {{"Content-Type", std::string(kType)}}, .body = ""};
  web::FakeCall call(server.site(), server.connection, request);
  call.send_data(file("f", "x", std::string(100'000, 'x')).substr(0, 90'000));
  // Until what has come has been read, and more is waited for.
  for (int i = 0; i < 500 && call.stream.answer.credit < 90'000; ++i) server.loop.step(2);
  EXPECT_EQ(call.stream.answer.credit, 90'000U);
  call.close(Error(ErrorKind::Closed));
  for (int i = 0; i < 500 && told.empty(); ++i) server.loop.step(2);
  EXPECT_EQ(told, message(Error(ErrorKind::Closed)));
  EXPECT_TRUE(folder.names().empty());
}

TEST(MultipartHandler, AsksForNoMoreThanItWrites) {
  web::FakeServer server;
  server.router.post("/", [](Multipart form) -> Task<void> {
    auto part = co_await form.next();
    static_cast<void>(co_await part->read());
    static_cast<void>(co_await sleep_ms(1));
    static_cast<void>(co_await part->read());
  });
  const Loop::Scope scope(server.loop);
  web::FakeRequest request{.method = http::Method::Post, .fields = {{"Content-Type", std::string(kType)}}, .body = ""};
  web::FakeCall call(server.site(), server.connection, request);
  const std::string first = field("f", std::string(1000, 'x')).substr(0, 500);
  call.send_data(first);
  call.send_data("more");
  EXPECT_EQ(call.stream.answer.credit, 0U);  // it still looks at the first piece
  for (int i = 0; i < 500 && call.stream.answer.credit < first.size(); ++i) server.loop.step(2);
  EXPECT_GE(call.stream.answer.credit, first.size());
}

// --- Form<T>

struct Order {
  text<1, 10> name;
  int count = 1;
  std::vector<std::string> tags;
  std::optional<UploadedFile> picture;
  std::vector<UploadedFile> more;
};
std::string describe(const Order& order) {
  std::string all = *order.name + " " + std::to_string(order.count);
  for (const std::string& tag : order.tags) all += " #" + tag;
  const auto add = [&all](const UploadedFile& each) {
    all.append(" [")
        .append(each.file_name())
        .append(" ")
        .append(each.content_type())
        .append(" ")
        .append(each.bytes())
        .append("]");
  };
  if (order.picture) add(*order.picture);
  for (const UploadedFile& each : order.more) add(each);
  return all;
}

TEST(MultipartForm, ReadsFieldsAndFiles) {
  App app;
  app.post("/", [](Form<Order> form) { return describe(*form); });
  EXPECT_EQ(send(app, "/",
                 field("name", "ada") + field("count", "3") + field("tags", "a") + field("tags", "--Xy") +
                     field("other", "x") + file("picture", "p.png", "\r\n--Xy") + file("more", "1", "one") +
                     file("more", "2", "") + kEnd)
                .text(),
            "ada 3 #a #--Xy [p.png image/png \r\n--Xy] [1 image/png one] [2 image/png ]");
  // The same struct from a form without files.
  EXPECT_EQ(send(app, "/", "name=bea&count=2&tags=x", "application/x-www-form-urlencoded").text(), "bea 2 #x");
}

TEST(MultipartForm, TakesAFileFieldThatWasLeftEmptyForNone) {
  App app;
  app.post("/", [](Form<Order> form) { return describe(*form); });
  EXPECT_EQ(send(app, "/", field("name", "ada") + file("picture", "", "") + kEnd).text(), "ada 1");
}

TEST(MultipartForm, ListsEverythingThatIsWrong) {
  struct Strict {
    text<1, 3> name;
    int count;
    UploadedFile picture;
    std::optional<UploadedFile> extra;
  };
  App app;
  app.post("/", [](Form<Strict>) { return "fine"; });
  const TestReply reply =
      send(app, "/", field("name", "long") + file("count", "x", "1") + field("extra", "text") + kEnd);
  EXPECT_EQ(reply.status(), 422);
  for (const char* pointer : {"/name", "/count", "/picture", "/extra"}) {
    EXPECT_NE(reply.text().find(pointer), std::string::npos) << pointer << reply.text();
  }
  EXPECT_EQ(send(app, "/", field("name", "ada") + field("count", "1") + file("picture", "", "x") + kEnd).text(),
            "fine");
  EXPECT_EQ(send(app, "/", "name=a&count=1&picture=x", "application/x-www-form-urlencoded").status(), 422);
}

TEST(MultipartForm, RefusesWhatIsMalformed) {
  App app;
  app.post("/", [](Form<Order> form) { return describe(*form); });
  EXPECT_EQ(send(app, "/", field("name", "ada")).status(), 400);
  EXPECT_EQ(send(app, "/", field("name", "ada") + kEnd, "multipart/form-data").status(), 400);
  Limits limits;
  limits.multipart_field_bytes_max = 2;
  app.limits(limits);
  EXPECT_EQ(send(app, "/", field("name", "ada") + kEnd).status(), 413);
}

TEST(MultipartForm, SavesItsFiles) {
  Folder folder;
  App app;
  app.post("/", [&folder](Form<Order> form) -> Task<Result<std::string>> {
    Result<SavedFile> saved = co_await form->picture->save(folder.path());
    if (!saved) co_return fail(saved.error());
    co_return co_await saved->keep(".png");
  });
  const TestReply reply = send(app, "/", field("name", "ada") + file("picture", "p.png", "bytes") + kEnd);
  ASSERT_EQ(reply.status(), 200) << reply.text();
  ASSERT_EQ(folder.names().size(), 1U);
  EXPECT_EQ(folder.read(folder.names()[0]), "bytes");
}

// --- 415 comes before the body

TEST(ContentType, IsCheckedBeforeTheBodyIsAskedFor) {
  struct Note {
    std::string text;
  };
  web::FakeServer server;
  server.router.post("/json", [](Json<Note> note) { return note->text; });
  server.router.post("/form", [](Form<Note> note) { return note->text; });
  for (const char* target : {"/json", "/form"}) {
    const Loop::Scope scope(server.loop);
    web::FakeRequest request{.method = http::Method::Post,
                             .target = target,
                             .fields = {{"Content-Type", "text/plain"}, {"Expect", "100-continue"}},
                             .body = ""};
    web::FakeCall call(server.site(), server.connection, request);
    EXPECT_EQ(call.stream.answer.status, 415) << target;
    EXPECT_TRUE(call.stream.answer.informed.empty()) << target;
  }
}

}  // namespace
}  // namespace violet
