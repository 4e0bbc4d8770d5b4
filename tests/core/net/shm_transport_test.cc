// Streams through shared memory, one end by one: ends, waits, and peers that are killed or lie.
// Nothing sleeps, and no test depends on how long.
#include "millrace/core/net/shm_transport.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "millrace/core/net/frame.h"
#include "millrace/core/net/shm_memory.h"
#include "tests/support/temp_folder.h"

namespace millrace::net {
namespace {

std::ptrdiff_t count_descriptors() {
  using Entries = std::filesystem::directory_iterator;
  return std::distance(Entries("/proc/self/fd"), Entries());
}

template <class T>
Result<T> run_until(EventLoop& loop, const Future<T>& future) {
  const Future<T> end = future.then(loop, [&loop](Result<T> result) {
    loop.stop();
    return result;
  });
  while (!end.ready()) loop.run();  // a stop may have been another's
  return end.take();
}

Bytes numbered(std::size_t bytes) {
  Bytes made(bytes);
  for (std::size_t i = 0; i < bytes; ++i) made[i] = static_cast<std::byte>(i * 31 + i / 251);
  return made;
}

class ShmTransportTest : public ::testing::Test {
 protected:
  ShmTransportTest() { listen(); }

  void listen() {
    listener = transport
                   ->listen(address,
                            [this](std::unique_ptr<ByteStream> stream) {
                              came = std::move(stream);
                              loop->stop();
                            })
                   .value();
  }
  // Both ends of a stream, in this process.
  void connect() {
    here = run_until(*loop, transport->connect(address)).value();
    while (!came) loop->run();
  }
  // The listener's end of a stream whose other end is in the hands of a test.
  void connect_bare() {
    bare = Descriptor(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un to = {};
    to.sun_family = AF_UNIX;
    std::memcpy(to.sun_path, path.c_str(), path.size() + 1);
    ASSERT_EQ(::connect(bare.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to), 0);
    while (!came) loop->run();
  }
  void offer_bare() {
    connect_bare();
    auto made = ShmMemory::create(kLeastRingBytes).value();
    ASSERT_TRUE(send_offer(bare, kLeastRingBytes, made.file).has_value());
    memory = std::make_unique<ShmMemory>(std::move(made.memory));
    EXPECT_FALSE(came->try_read(1).value().has_value());
  }
  Result<unsigned> wait(const Future<unsigned>& ready) { return run_until(*loop, ready); }
  // All bytes until the end of the stream.
  Result<Bytes> read_all(ByteStream& stream) {
    for (Bytes all;;) {
      const auto some = stream.try_read(std::size_t{1} << 20);
      if (!some) return std::unexpected(some.error());
      if (!*some) {
        EXPECT_TRUE(wait(stream.wait_readable()).has_value());
        continue;
      }
      if ((*some)->empty()) return all;
      all.insert(all.end(), (*some)->begin(), (*some)->end());
      stream.release((*some)->size());
    }
  }
  // Writes until the ring is full; how many bytes that were.
  static std::size_t fill(ByteStream& stream, std::span<const std::byte> bytes) {
    return stream.try_write({}, bytes).value();
  }

  // What the library of the loops keeps for the process is there from its first loop on.
  const bool had_loop = create_uv_event_loop().has_value();
  std::ptrdiff_t before = count_descriptors();
  std::unique_ptr<EventLoop> loop = create_uv_event_loop().value();
  std::unique_ptr<Transport> transport = make_shm_transport(*loop);
  testing::TempFolder folder;
  const std::string path = folder.file("door");
  const std::string address = "shm:" + path;
  std::unique_ptr<StreamListener> listener;
  std::unique_ptr<ByteStream> here, came;
  Descriptor bare;
  std::unique_ptr<ShmMemory> memory;
};

TEST_F(ShmTransportTest, BytesOfManyRingsComeInTheirOrderAndAllBeforeTheEnd) {
  connect();
  const Bytes bytes = numbered(3 << 20);
  Bytes read;
  for (std::span<const std::byte> left = bytes; read.size() < bytes.size();) {
    if (!left.empty()) left = left.subspan(here->try_write(left.first(1), left.subspan(1)).value());
    while (const auto some = came->try_read(50'000).value()) {
      read.insert(read.end(), some->begin(), some->end());
      came->release(some->size());
    }
  }
  EXPECT_EQ(read, bytes);
  EXPECT_EQ(fill(*here, std::span(bytes).first(5000)), 5000u);
  here.reset();
  EXPECT_EQ(read_all(*came).value(), Bytes(bytes.begin(), bytes.begin() + 5000));
  EXPECT_EQ(came->try_write({}, bytes).error().code(), ErrorCode::kUnavailable);
}

TEST_F(ShmTransportTest, WhatIsNotReleasedComesAgain) {
  connect();
  const Bytes bytes = numbered(10);
  EXPECT_EQ(fill(*here, bytes), 10u);
  EXPECT_EQ(came->try_read(4).value()->size(), 4u);
  EXPECT_EQ(came->try_read(20).value()->size(), 10u);
  came->release(9);
  EXPECT_EQ(came->try_read(20).value()->front(), bytes[9]);
}

TEST_F(ShmTransportTest, WaitsCompleteOnceThereIsSomething) {
  connect();
  const Future<unsigned> bytes = came->wait_readable();
  EXPECT_EQ(came->wait_readable().result().error().code(), ErrorCode::kFailedPrecondition);
  loop->poll();
  EXPECT_FALSE(bytes.ready());
  const Bytes many = numbered(2 << 20);
  const std::size_t taken = fill(*here, many);
  EXPECT_TRUE(wait(bytes).has_value());
  EXPECT_EQ(fill(*here, many), 0u) << "it is full";
  const Future<unsigned> room = here->wait_writable();
  const Future<unsigned> answer = here->wait_readable();
  loop->poll();
  EXPECT_FALSE(room.ready());
  for (std::size_t read = 0; read < taken;) {
    const std::size_t some = came->try_read(taken).value()->size();
    came->release(some);
    read += some;
  }
  EXPECT_TRUE(wait(room).has_value());
  EXPECT_FALSE(answer.ready()) << "both wait at the same socket";
  EXPECT_EQ(fill(*came, std::span(many).first(1)), 1u);
  EXPECT_TRUE(wait(answer).has_value());
}

TEST_F(ShmTransportTest, TheEndOfAStreamCancelsItsWaits) {
  connect();
  const Bytes many = numbered(2 << 20);
  fill(*here, many);
  const Future<unsigned> bytes = here->wait_readable(), room = here->wait_writable();
  here.reset();
  EXPECT_EQ(wait(bytes).error().code(), ErrorCode::kCancelled);
  EXPECT_EQ(wait(room).error().code(), ErrorCode::kCancelled);
}

TEST_F(ShmTransportTest, NoDescriptorIsLeftOfManyStreams) {
  for (int i = 0; i < 20; ++i) {
    connect();
    here.reset();
    EXPECT_TRUE(read_all(*came).value().empty());
    came.reset();
  }
  listener.reset();
  transport.reset();
  loop.reset();
  EXPECT_EQ(count_descriptors(), before);
}

TEST_F(ShmTransportTest, WhatAProcessWroteBeforeItWasKilledIsRead) {
  const Bytes bytes = numbered(100'000);
  const pid_t child = ::fork();
  if (child == 0) {
    auto own_loop = create_uv_event_loop().value();
    auto own = make_shm_transport(*own_loop);
    auto stream = run_until(*own_loop, own->connect(address)).value();
    if (fill(*stream, bytes) != bytes.size()) ::_exit(1);
    ::kill(::getpid(), SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  while (!came) loop->run();
  EXPECT_EQ(read_all(*came).value(), bytes);
}

TEST_F(ShmTransportTest, AnEndThatWaitsHearsOfTheKillOfTheOther) {
  const pid_t child = ::fork();
  if (child == 0) {
    auto own_loop = create_uv_event_loop().value();
    auto own = make_shm_transport(*own_loop);
    auto stream = run_until(*own_loop, own->connect(address)).value();
    fill(*stream, numbered(1));
    own_loop->run();
  }
  while (!came) loop->run();
  EXPECT_TRUE(wait(came->wait_readable()).has_value());
  EXPECT_EQ(came->try_read(9).value()->size(), 1u) << "it has made its offer, and written";
  came->release(1);
  const Future<unsigned> bytes = came->wait_readable();
  ASSERT_EQ(::kill(child, SIGKILL), 0);
  EXPECT_TRUE(wait(bytes).has_value());
  EXPECT_TRUE(read_all(*came).value().empty());
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
}

TEST_F(ShmTransportTest, AListenersEndCanBeUsedBeforeTheOffer) {
  connect_bare();
  EXPECT_FALSE(came->try_read(1).value().has_value());
  EXPECT_EQ(fill(*came, numbered(1)), 0u);
  const Future<unsigned> room = came->wait_writable(), bytes = came->wait_readable();
  loop->poll();
  EXPECT_FALSE(room.ready());
  auto made = ShmMemory::create(kLeastRingBytes).value();
  ASSERT_TRUE(send_offer(bare, kLeastRingBytes, made.file).has_value());
  EXPECT_TRUE(wait(room).has_value());
  EXPECT_EQ(fill(*came, numbered(1)), 1u);
  EXPECT_EQ(made.memory.words(1).written.load(), 1u);
  bare = Descriptor();
  EXPECT_TRUE(wait(bytes).has_value());
}

TEST_F(ShmTransportTest, AStrangerWhoOffersNothingEndsWithAnError) {
  connect_bare();
  const Future<unsigned> bytes = came->wait_readable();
  constexpr std::string_view kHttp = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
  ASSERT_GT(::send(bare.get(), kHttp.data(), kHttp.size(), 0), 0);
  EXPECT_TRUE(wait(bytes).has_value());
  EXPECT_EQ(came->try_read(1).error().code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(came->try_write({}, numbered(1)).error().code(), ErrorCode::kInvalidArgument);
  came.reset();
  connect_bare();
  bare = Descriptor();
  EXPECT_EQ(read_all(*came).error().code(), ErrorCode::kUnavailable);
}

TEST_F(ShmTransportTest, AFalsePositionEndsTheStream) {
  offer_bare();
  memory->words(0).written.store(std::uint64_t{1} << 40);
  EXPECT_EQ(came->try_read(1).error().code(), ErrorCode::kUnavailable);
  EXPECT_EQ(came->try_write({}, numbered(1)).error().code(), ErrorCode::kUnavailable);
  came.reset();
  offer_bare();
  fill(*came, numbered(2 * kLeastRingBytes));
  memory->words(1).read.store(kLeastRingBytes + 1);
  EXPECT_EQ(came->try_write({}, numbered(1)).error().code(), ErrorCode::kUnavailable);
}

TEST_F(ShmTransportTest, AFalsePositionEndsAWaitToo) {
  offer_bare();
  const Future<unsigned> bytes = came->wait_readable();
  EXPECT_FALSE(bytes.ready());
  memory->words(0).written.store(std::uint64_t{1} << 40);
  ASSERT_EQ(::send(bare.get(), "", 1, 0), 1);
  EXPECT_TRUE(wait(bytes).has_value());
  EXPECT_EQ(came->try_read(1).error().code(), ErrorCode::kUnavailable);
}

TEST_F(ShmTransportTest, WakeUpsThatWereNotAskedForEndTheStream) {
  offer_bare();
  const Future<unsigned> bytes = came->wait_readable();
  ASSERT_EQ(::send(bare.get(), "ab", 2, 0), 2);
  EXPECT_TRUE(wait(bytes).has_value());
  EXPECT_EQ(came->try_read(1).error().code(), ErrorCode::kUnavailable);
}

TEST_F(ShmTransportTest, AConnectWithoutDescriptorsLeftSaysSo) {
#ifdef MILLRACE_SANITIZED
  GTEST_SKIP() << "a sanitizer asks the system about addresses through a pipe, and takes it badly "
                  "if there is none";
#endif
  rlimit limit = {};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &limit), 0);
  const int next = Descriptor(::dup(0)).get();  // it is free again: the socket gets it
  const rlimit one{static_cast<rlim_t>(next) + 1, limit.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &one), 0);
  const auto without = transport->connect(address);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &limit), 0);
  EXPECT_EQ(without.result().error().code(), ErrorCode::kResourceExhausted);
}

}  // namespace
}  // namespace millrace::net
