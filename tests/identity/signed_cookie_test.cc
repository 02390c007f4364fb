// Values that clients keep and cannot change.

#include "violet/features/identity/signed_cookie.h"

#include "violet/features/identity/secret.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <string_view>

namespace violet {
namespace {

const std::string kOld(32, 'o');
const std::string kNew(32, 'n');

TEST(SignedCookies, GiveBackWhatWasSigned) {
  const SignedCookies cookies = *SignedCookies::create({kNew});
  for (const std::string& value : {std::string("dark"), std::string(), std::string("a.b;c=\0\xff", 8)}) {
    const std::string text = cookies.sign("theme", value, 1'000);
    EXPECT_EQ(text.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_."),
              std::string::npos)
        << "no character that a cookie could not have";
    EXPECT_EQ(cookies.read("theme", text, 999), value);
  }
}

TEST(SignedCookies, EndInTheSecondThatIsPartOfTheSignature) {
  const SignedCookies cookies = *SignedCookies::create({kNew});
  const std::string text = cookies.sign("theme", "dark", 1'000);
  EXPECT_FALSE(cookies.read("theme", text, 1'000));
  std::string longer = text;
  longer.replace(longer.find(".1000."), 6, ".9000.");
  EXPECT_FALSE(cookies.read("theme", longer, 0));
}

TEST(SignedCookies, AreGoodForNoOtherName) {
  const SignedCookies cookies = *SignedCookies::create({kNew});
  EXPECT_FALSE(cookies.read("role", cookies.sign("theme", "admin", 1'000), 0));
  EXPECT_FALSE(cookies.read("them", cookies.sign("theme", "x", 1'000), 0));
  EXPECT_FALSE(cookies.read("themex", cookies.sign("theme", "x", 1'000), 0)) << "where the name ends is signed, too";
}

TEST(SignedCookies, NoBitOfThemMayChange) {
  const SignedCookies cookies = *SignedCookies::create({kNew});
  const std::string text = cookies.sign("theme", "dark", 1'000);
  for (std::size_t bit = 0; bit < text.size() * 8; ++bit) {
    std::string other = text;
    other[bit / 8] = static_cast<char>(other[bit / 8] ^ (1 << bit % 8));
    EXPECT_FALSE(cookies.read("theme", other, 0)) << bit;
  }
  for (std::size_t size = 0; size < text.size(); ++size) EXPECT_FALSE(cookies.read("theme", text.substr(0, size), 0));
  for (const char* bad : {"", ".", "..", "...", "a.b.c", ".1000.", "ZGFyaw.1000"})
    EXPECT_FALSE(cookies.read("theme", bad, 0));
  EXPECT_FALSE(cookies.read("theme", cookies.sign("theme", std::string(5'000, 'x'), 1'000), 0));
}

// RFC 2104 with SHA-256 over the message that the header of the format describes, so that others can make and read
// them.
TEST(SignedCookies, HaveOneForm) {
  const SignedCookies cookies = *SignedCookies::create({kNew});
  const std::string signature = identity::base64url(identity::hmac_sha256(kNew, "violet cookie 1.5.1000.themedark"));
  EXPECT_EQ(cookies.sign("theme", "dark", 1'000), "ZGFyaw.1000." + signature);
}

TEST(SignedCookies, KeysAreRotated) {
  const std::string before = SignedCookies::create({kOld})->sign("theme", "dark", 1'000);
  const SignedCookies both = *SignedCookies::create({kNew, kOld});
  EXPECT_EQ(both.read("theme", before, 0), "dark");
  EXPECT_FALSE(SignedCookies::create({kNew})->read("theme", before, 0));
  EXPECT_EQ(SignedCookies::create({kNew})->read("theme", both.sign("theme", "dark", 1'000), 0), "dark");
}

TEST(SignedCookies, TakeNoKeyThatCouldBeGuessed) {
  EXPECT_FALSE(SignedCookies::create({}));
  EXPECT_FALSE(SignedCookies::create({kNew, "short"}));
}

}  // namespace
}  // namespace violet
