// Encoded bodies of requests.

#include "violet/features/compress/decompress.h"

#include "tests/compress/decode.h"
#include "tests/web/fake_wire.h"
#include "violet/event/wait.h"
#include "violet/features/compress/codec/decoder.h"
#include "violet/features/compress/codec/encoder.h"
#include "violet/web/input/body.h"
#include "violet/web/request.h"

#include <gtest/gtest.h>

#include <string>

namespace violet::encoding {
namespace {

using http::Coding;
using http::Method;
using web::FakeAnswer;
using web::FakeCall;
using web::FakeRequest;
using web::FakeServer;

std::string encode(Coding coding, std::string_view text) {
  std::string out(text.size() + 1024, 0);
  out.resize(make_encoder(coding, 5)->encode(text, out.data(), out.size()));
  return out;
}

struct Server : FakeServer {
  Server() {
    router.use(decompress);
    router.post("/", [](const Request& request, Text body) {
      return std::string(request.header("Content-Encoding")) + std::string(*body);
    });
    router.post("/stream", [](BodyStream body) -> Task<std::string> {
      std::size_t size = 0;
      for (;;) {
        const Result<Slice> piece = co_await body.read();
        if (!piece) co_return "failed: " + std::string(name(piece.error().kind()));
        if (piece->is_empty()) break;
        size += piece->size();
      }
      co_return std::to_string(size);
    });
    router.post("/ignore", [] { return "ignored"; });
  }
  FakeAnswer post(std::string target, std::string coding, std::string body, std::size_t piece = 0) {
    return send({.method = Method::Post,
                 .target = std::move(target),
                 .fields = {{"Content-Encoding", std::move(coding)}},
                 .body = std::move(body),
                 .body_piece = piece});
  }
};

TEST(Decompress, GivesHandlersWhatTheClientMeant) {
  Server server;
  const std::string text = sample(100'000);
  for (const char* coding : {"gzip", "x-gzip", "deflate", "br", "zstd"}) {
    const std::string encoded = encode(*http::find_coding(coding), text);
    for (const std::size_t piece : {std::size_t{0}, std::size_t{1}, std::size_t{1000}}) {
      const FakeAnswer answer = server.post("/", coding, encoded, piece);
      EXPECT_EQ(answer.body, text) << coding << " " << piece;
      EXPECT_EQ(answer.credit, encoded.size()) << coding << " " << piece;
      EXPECT_EQ(server.post("/stream", coding, encoded, piece).body, "100000") << coding << " " << piece;
    }
  }
  EXPECT_EQ(server.post("/", "identity", "text").body, "identitytext");
  EXPECT_EQ(server.send({.method = Method::Post, .body = "text"}).body, "text");
}

TEST(Decompress, SaysWhichCodingsItKnows) {
  Server server;
  for (const char* coding : {"compress", "gzip, br", "", "gzip;q=1"}) {
    const FakeAnswer answer = server.post("/", coding, "x");
    EXPECT_EQ(answer.status, 415) << coding;
    EXPECT_EQ(answer.header("Accept-Encoding"), "gzip, deflate, br, zstd") << coding;
  }
}

TEST(Decompress, RefusesWhatIsMalformedCutOffOrFollowedByMore) {
  Server server;
  for (const char* coding : {"gzip", "deflate", "br", "zstd"}) {
    const std::string encoded = encode(*http::find_coding(coding), sample(5000));
    EXPECT_EQ(server.post("/", coding, "no such thing, not at all").status, 400) << coding;
    EXPECT_EQ(server.post("/", coding, encoded + "x").status, 400) << coding;
    for (std::size_t size = 1; size < encoded.size(); size += 37) {
      EXPECT_EQ(server.post("/", coding, encoded.substr(0, size)).status, 400) << coding << " " << size;
    }
    // Who reads piece by piece is told, and answers for itself.
    EXPECT_EQ(server.post("/stream", coding, encoded.substr(0, 100)).body.substr(0, 6), "failed") << coding;
  }
}

TEST(Decompress, NoBytesAreNoBody) {
  Server server;
  for (const char* coding : {"gzip", "deflate", "br", "zstd"}) {
    const FakeAnswer answer = server.post("/", coding, "");
    EXPECT_EQ(answer.status, 200) << coding;
    EXPECT_EQ(answer.body, "") << coding;
    EXPECT_EQ(server.post("/stream", coding, "").body, "0") << coding;
  }
}

TEST(Decompress, TakesSeveralMembers) {
  Server server;
  for (const Coding coding : {Coding::Gzip, Coding::Zstd}) {
    const std::string two = encode(coding, "one ") + encode(coding, "two");
    EXPECT_EQ(server.post("/", std::string(http::name(coding)), two).body, "one two");
  }
}

TEST(Decompress, CountsDecodedBytesAgainstTheLimit) {
  Server server;
  server.limits.body_bytes_max = 10'000;
  for (const char* coding : {"gzip", "deflate", "br", "zstd"}) {
    const Coding which = *http::find_coding(coding);
    EXPECT_EQ(server.post("/", coding, encode(which, sample(10'000))).status, 200) << coding;
    EXPECT_EQ(server.post("/", coding, encode(which, sample(10'001))).status, 413) << coding;
    EXPECT_EQ(server.post("/stream", coding, encode(which, sample(10'001))).body.substr(0, 6), "failed") << coding;
  }
}

TEST(Decompress, RefusesBombs) {
  Server server;
  server.limits.body_bytes_max = 1 << 30;
  for (const char* coding : {"gzip", "deflate", "br", "zstd"}) {
    const std::string bomb = encode(*http::find_coding(coding), std::string(20 << 20, 'a'));
    const FakeAnswer answer = server.post("/", coding, bomb);
    EXPECT_EQ(answer.status, 413) << coding;
    EXPECT_NE(answer.body.find("body_ratio_max"), std::string::npos) << answer.body;
  }
}

// A handler that does not read holds back what is decoded, and then the wire.
TEST(Decompress, WaitsForTheReader) {
  Server server;
  server.router.post("/wait", [](BodyStream body) -> Task<std::string> {
    std::size_t size = 0;
    for (;;) {
      const Result<Slice> piece = co_await body.read();
      if (!piece || piece->is_empty()) break;
      size += piece->size();
      static_cast<void>(co_await sleep_ms(1));
    }
    co_return std::to_string(size);
  });
  const Loop::Scope scope(server.loop);
  std::string encoded = encode(Coding::Gzip, sample(900'000));
  FakeCall call(server.site(), server.connection,
                {.method = Method::Post, .target = "/wait", .fields = {{"Content-Encoding", "gzip"}}, .body = ""});
  call.send_data(encoded.substr(0, 5000));
  call.send_data(encoded.substr(5000));
  call.send_end();
  EXPECT_LT(call.stream.answer.credit, encoded.size());
  EXPECT_EQ(call.wait().body, "900000");
  EXPECT_EQ(call.stream.answer.credit, encoded.size());
}

TEST(Decompress, AClientMayLeaveInTheMiddle) {
  Server server;
  const Loop::Scope scope(server.loop);
  const std::string encoded = encode(Coding::Gzip, sample(900'000));
  for (const char* target : {"/", "/stream", "/ignore"}) {
    FakeCall call(server.site(), server.connection,
                  {.method = Method::Post, .target = target, .fields = {{"Content-Encoding", "gzip"}}, .body = ""});
    call.send_data(encoded.substr(0, encoded.size() / 2));
    call.close(Error(ErrorKind::Closed));
    server.loop.step();
  }
  EXPECT_EQ(server.site().exchanges.used_count(), 0u);
}

TEST(Decompress, ReadsAwayWhatNobodyWants) {
  Server server;
  const std::string encoded = encode(Coding::Gzip, sample(300'000));
  const FakeAnswer answer = server.post("/ignore", "gzip", encoded, 100);
  EXPECT_EQ(answer.body, "ignored");
}

// Byte by byte the library alone would take it for whole.
TEST(Decompress, RefusesAZstdFrameOfAnotherSizeThanItDeclares) {
  const std::string frame("\x28\xb5\x2f\xfd\x40\x04\x58\x2b\x01\x00\x00", 11);
  for (std::size_t piece = 1; piece <= frame.size(); ++piece) {
    const auto decoder = encoding::make_decoder(http::Coding::Zstd);
    bool has_failed = false;
    for (std::size_t at = 0; at < frame.size() && !has_failed; at += piece) {
      char out[64];
      has_failed = decoder->step(std::string_view(frame).substr(at, piece), out, sizeof out).has_failed;
    }
    EXPECT_TRUE(has_failed) << piece;
  }
}

}  // namespace
}  // namespace violet::encoding
