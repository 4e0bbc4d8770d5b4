#include "millrace/devices/cache/sha256.h"

#include <gtest/gtest.h>

#include <string>

namespace millrace::devices {
namespace {

// FIPS 180-4's examples, and the lengths around a block, which only the padding tells apart
// (sha256sum gave the sums of the latter).
TEST(Sha256Test, KnownSums) {
  struct Row {
    std::string bytes, sum;
  };
  for (const Row& row :
       {Row{"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
        Row{"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
        Row{"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
        Row{std::string(55, 'a'),
            "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318"},
        Row{std::string(56, 'a'),
            "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a"},
        Row{std::string(64, 'a'),
            "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb"},
        Row{std::string(1'000'000, 'a'),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"}}) {
    EXPECT_EQ(to_hex(sha256(row.bytes)), row.sum) << row.bytes.size();
  }
}

TEST(Sha256Test, PiecesOfAnySizeGiveTheSumOfTheWhole) {
  std::string bytes;
  for (int i = 0; i < 1000; ++i) bytes.push_back(static_cast<char>(i * 7));
  for (std::size_t piece = 1; piece <= 200; ++piece) {
    Sha256 hash;
    for (std::size_t at = 0; at < bytes.size(); at += piece)
      hash.add(std::string_view(bytes).substr(at, piece));
    EXPECT_EQ(hash.finish(), sha256(bytes)) << piece;
  }
}

}  // namespace
}  // namespace millrace::devices
