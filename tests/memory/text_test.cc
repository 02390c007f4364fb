// Short texts: copied, compared, hashed, searched.

#include "violet/memory/text.h"

#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>

namespace violet {
namespace {

// A text that ends where its memory does, so that a sanitizer sees who reads on.
struct Tight {
  explicit Tight(std::string_view text) : bytes(new char[text.size()]), view(bytes.get(), text.size()) {
    text.copy(bytes.get(), text.size());
  }
  std::unique_ptr<char[]> bytes;
  std::string_view view;
};

std::string text_of(std::size_t size) {
  std::string text;
  for (std::size_t i = 0; i < size; ++i) text += static_cast<char>('a' + i % 26);
  return text;
}

TEST(Text, FindsTheFirstOfAByteAtEveryPlace) {
  for (std::size_t size = 0; size < 40; ++size) {
    std::string text = text_of(size);
    EXPECT_EQ(find_byte(Tight(text).view, '/'), size);
    for (std::size_t at = 0; at < size; ++at) {
      std::string changed = text;
      changed[at] = '/';
      EXPECT_EQ(find_byte(Tight(changed).view, '/'), at) << size;
      changed.back() = '/';
      EXPECT_EQ(find_byte(Tight(changed).view, '/'), at) << size;
      // Neighbours of the byte that differ in one bit, and bytes beyond ASCII, are others.
      for (const char other : {'.', '0', '\xaf', '\0', '\xff'}) {
        changed[at] = other;
        EXPECT_EQ(find_byte(Tight(changed).view, '/'), at + 1 == size ? size : size - 1) << size;
      }
    }
  }
}

TEST(Text, HashesDifferWithEveryByteSizeAndSeed) {
  std::set<std::uint64_t> hashes;
  std::size_t count = 0;
  for (std::size_t size = 0; size < 40; ++size) {
    const std::string text = text_of(size);
    EXPECT_EQ(hash_text(Tight(text).view), hash_text(text));
    hashes.insert(hash_text(text));
    hashes.insert(hash_text(text, 42));
    count += 2;
    for (std::size_t at = 0; at < size; ++at, ++count) {
      std::string changed = text;
      changed[at] ^= 1;
      hashes.insert(hash_text(Tight(changed).view));
    }
  }
  EXPECT_EQ(hashes.size(), count);
}

TEST(Text, CopiesAndComparesEverySize) {
  for (std::size_t size = 0; size < 70; ++size) {
    const std::string text = text_of(size);
    const Tight from(text);
    const Tight to(std::string(size, '-'));
    EXPECT_EQ(put_text(to.bytes.get(), from.view), to.bytes.get() + size);
    EXPECT_EQ(to.view, text);
    EXPECT_TRUE(are_equal(from.view, to.view));
    for (std::size_t at = 0; at < size; ++at) {
      std::string changed = text;
      changed[at] ^= 1;
      EXPECT_FALSE(are_equal(from.view, Tight(changed).view));
    }
  }
}

}  // namespace
}  // namespace violet
