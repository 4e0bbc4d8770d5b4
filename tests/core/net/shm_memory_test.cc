// Descriptors and mappings of the real system.
#include "millrace/core/net/shm_memory.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "millrace/core/net/frame.h"

namespace millrace::net {
namespace {

constexpr std::size_t kRing = kLeastRingBytes;
constexpr std::uint64_t kFile = kShmPageBytes + 2 * kRing;
constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

std::array<Descriptor, 2> make_pair() {
  int both[2] = {};
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, both), 0);
  return {Descriptor(both[0]), Descriptor(both[1])};
}

std::ptrdiff_t count_descriptors() {
  using Entries = std::filesystem::directory_iterator;
  return std::distance(Entries("/proc/self/fd"), Entries());
}

// nullopt: none.
using Code = std::optional<ErrorCode>;
constexpr Code kGood = std::nullopt;

Code code_of(std::span<const std::byte> message, const ShmFile& file) {
  const auto read = read_offer(message, file);
  return read ? kGood : Code(read.error().code());
}

TEST(ShmMemoryTest, AnOfferIsReadIfItsFileFits) {
  const ShmFile good{true, kFile, kSeals};
  const ShmOffer offer = encode_offer(kRing);
  EXPECT_EQ(read_offer(offer, good).value(), kRing);
  EXPECT_EQ(read_offer(offer, {true, kFile, kSeals | 0x20}).value(), kRing) << "a seal of others";
  for (const ShmFile& file :
       {ShmFile{}, ShmFile{false, kFile, kSeals}, ShmFile{true, kFile - 1, kSeals},
        ShmFile{true, kFile + 1, kSeals}, ShmFile{true, kFile, -1}, ShmFile{true, kFile, 0},
        ShmFile{true, kFile, F_SEAL_GROW | F_SEAL_SEAL},
        ShmFile{true, kFile, F_SEAL_SHRINK | F_SEAL_SEAL},
        ShmFile{true, kFile, F_SEAL_SHRINK | F_SEAL_GROW},
        ShmFile{true, kFile, kSeals | F_SEAL_WRITE},
        ShmFile{true, kFile, kSeals | F_SEAL_FUTURE_WRITE}})
    EXPECT_EQ(code_of(offer, file), ErrorCode::kInvalidArgument);
}

TEST(ShmMemoryTest, AMessageThatIsNoOfferIsRefused) {
  const ShmFile good{true, kFile, kSeals};
  const ShmOffer offer = encode_offer(kRing);
  for (std::size_t size = 0; size < offer.size(); ++size)
    EXPECT_EQ(code_of(std::span(offer).first(size), good), ErrorCode::kInvalidArgument);
  for (std::size_t at = 0; at < offer.size(); ++at) {
    ShmOffer changed = offer;
    changed[at] ^= std::byte{0x41};
    const bool version = at >= 4 && at < 8;
    EXPECT_EQ(code_of(changed, good),
              version ? ErrorCode::kUnimplemented : ErrorCode::kInvalidArgument)
        << at;
  }
  for (const std::size_t ring :
       {std::size_t{0}, kRing / 2, kRing + 1, 3 * kRing, 2 * kMostRingBytes, ~std::size_t{0}}) {
    const ShmFile file{true, kShmPageBytes + 2 * ring, kSeals};
    EXPECT_EQ(code_of(encode_offer(ring), file), ErrorCode::kInvalidArgument) << ring;
  }
}

TEST(ShmMemoryTest, BothEndsSeeTheSameBytesAndNoDescriptorIsLeft) {
  const auto before = count_descriptors();
  {
    auto [here, there] = make_pair();
    auto made = ShmMemory::create(kRing);
    ASSERT_TRUE(made.has_value()) << made.error().message();
    ASSERT_TRUE(send_offer(here, kRing, made->file).has_value());
    made->file = Descriptor();
    auto taken = receive_offer(there);
    ASSERT_TRUE(taken.has_value()) << taken.error().message();
    ASSERT_TRUE(taken->has_value());
    EXPECT_EQ(count_descriptors(), before + 2) << "the mapping needs none";
    for (const std::size_t ring : {0u, 1u}) {
      made->memory.words(ring).written.store(5 + ring);
      made->memory.bytes(ring)[kRing - 1] = static_cast<std::byte>(7 + ring);
    }
    for (const std::size_t ring : {0u, 1u}) {
      EXPECT_EQ((*taken)->words(ring).written.load(), 5 + ring);
      EXPECT_EQ((*taken)->words(ring).read.load(), 0u);
      EXPECT_EQ((*taken)->bytes(ring)[kRing - 1], static_cast<std::byte>(7 + ring));
    }
  }
  EXPECT_EQ(count_descriptors(), before);
}

TEST(ShmMemoryTest, ARingGoesOnBehindItsEndWhereItBegins) {
  const auto made = ShmMemory::create(kRing).value();
  for (const std::size_t ring : {0u, 1u}) {
    std::byte* const bytes = made.memory.bytes(ring);
    bytes[0] = static_cast<std::byte>(20 + ring);
    bytes[2 * kRing - 1] = static_cast<std::byte>(30 + ring);
  }
  for (const std::size_t ring : {0u, 1u}) {
    const std::byte* const bytes = made.memory.bytes(ring);
    EXPECT_EQ(bytes[kRing], static_cast<std::byte>(20 + ring));
    EXPECT_EQ(bytes[kRing - 1], static_cast<std::byte>(30 + ring));
  }
}

TEST(ShmMemoryTest, TheSizeOfWhatWasMadeCannotBeChanged) {
  const auto made = ShmMemory::create(kRing).value();
  EXPECT_NE(::ftruncate(made.file.get(), 0), 0);
  EXPECT_NE(::ftruncate(made.file.get(), 1 << 20), 0);
  EXPECT_NE(::fcntl(made.file.get(), F_ADD_SEALS, F_SEAL_WRITE), 0);
  EXPECT_NE(::fcntl(made.file.get(), F_GETFD) & FD_CLOEXEC, 0);
}

// What comes of a peer that sends these bytes with these descriptors, and ends.
Code taken_from(std::span<const std::byte> bytes, const std::vector<int>& files) {
  auto [here, there] = make_pair();
  iovec part{const_cast<std::byte*>(bytes.data()), bytes.size()};
  alignas(cmsghdr) std::array<std::byte, CMSG_SPACE(8 * sizeof(int))> control = {};
  msghdr message = {};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (!files.empty()) {
    message.msg_control = control.data();
    message.msg_controllen = CMSG_SPACE(files.size() * sizeof(int));
    cmsghdr* const first = CMSG_FIRSTHDR(&message);
    first->cmsg_level = SOL_SOCKET;
    first->cmsg_type = SCM_RIGHTS;
    first->cmsg_len = CMSG_LEN(files.size() * sizeof(int));
    std::memcpy(CMSG_DATA(first), files.data(), files.size() * sizeof(int));
  }
  EXPECT_EQ(::sendmsg(here.get(), &message, 0), static_cast<ssize_t>(bytes.size()));
  here = Descriptor();
  const auto taken = receive_offer(there);
  return taken ? kGood : Code(taken.error().code());
}

TEST(ShmMemoryTest, AHostilePeerGetsAnErrorAndLeavesNoDescriptor) {
  const auto before = count_descriptors();
  {
    const auto made = ShmMemory::create(kRing).value();
    const Descriptor unsealed(::memfd_create("millrace", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    ASSERT_EQ(::ftruncate(unsealed.get(), static_cast<off_t>(kFile)), 0);
    const Descriptor pipe(::open("/dev/null", O_RDWR | O_CLOEXEC));
    const int good = made.file.get();
    const ShmOffer offer = encode_offer(kRing);
    EXPECT_EQ(taken_from(offer, {good}), kGood);
    EXPECT_EQ(taken_from(offer, {}), ErrorCode::kInvalidArgument);
    EXPECT_EQ(taken_from(offer, {unsealed.get()}), ErrorCode::kInvalidArgument);
    EXPECT_EQ(taken_from(offer, {pipe.get()}), ErrorCode::kInvalidArgument);
    EXPECT_EQ(taken_from(encode_offer(2 * kRing), {good}), ErrorCode::kInvalidArgument);
    EXPECT_EQ(taken_from(std::span(offer).first(8), {good}), ErrorCode::kInvalidArgument);
    EXPECT_EQ(taken_from(offer, {good, pipe.get(), pipe.get()}), kGood) << "the first";
    auto [here, there] = make_pair();
    EXPECT_FALSE(receive_offer(there).value().has_value()) << "nothing came yet";
    here = Descriptor();
    EXPECT_EQ(receive_offer(there).error().code(), ErrorCode::kUnavailable);
  }
  EXPECT_EQ(count_descriptors(), before);
}

TEST(ShmMemoryTest, WithoutDescriptorsLeftBothEndsSaySo) {
#ifdef MILLRACE_SANITIZED
  GTEST_SKIP() << "a sanitizer asks the system about addresses through a pipe, and takes it badly "
                  "if there is none";
#endif
  auto [here, there] = make_pair();
  const auto made = ShmMemory::create(kRing).value();
  ASSERT_TRUE(send_offer(here, kRing, made.file).has_value());
  rlimit limit = {};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &limit), 0);
  const rlimit none{3, limit.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  const auto other = ShmMemory::create(kRing);
  const auto taken = receive_offer(there);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &limit), 0);
  for (const ErrorCode code : {other.error().code(), taken.error().code()})
    EXPECT_EQ(code, ErrorCode::kResourceExhausted);
  EXPECT_NE(std::string(other.error().message()).find("ulimit -n"), std::string::npos);
  EXPECT_NE(std::string(taken.error().message()).find("ulimit -n"), std::string::npos);
}

}  // namespace
}  // namespace millrace::net
