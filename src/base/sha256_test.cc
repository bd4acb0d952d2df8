#include "src/base/sha256.h"

#include <gtest/gtest.h>

#include "src/base/hex.h"

namespace hyper::base {
namespace {

// The examples of FIPS 180-4.
TEST(Sha256, HashesAsTheStandardSays) {
  EXPECT_EQ(Sha256Of(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(Sha256Of("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(Sha256Of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}

TEST(Sha256, PiecesHashAsTheWhole) {
  Sha256 hash;
  std::string all;
  for (int i = 0; i < 200; ++i) {
    const std::string piece(static_cast<size_t>(i), static_cast<char>(i));
    hash.Add(piece);
    all += piece;
  }
  EXPECT_EQ(hash.Hex(), Sha256Of(all));
}

TEST(Hex, WritesTwoDigitsForEachByte) {
  EXPECT_EQ(Hex(std::string_view("\x00\x0f\xf0\xff", 4)), "000ff0ff");
  EXPECT_EQ(Hex(""), "");
}

}  // namespace
}  // namespace hyper::base
