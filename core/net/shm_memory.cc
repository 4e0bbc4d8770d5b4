#include "millrace/core/net/shm_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <new>
#include <string>
#include <utility>

#include "millrace/core/base/check.h"
#include "millrace/core/base/errno_code.h"
#include "millrace/core/net/frame.h"

namespace millrace::net {
namespace {

constexpr std::uint32_t kMagic = 0x3153524d;  // "MRS1"
constexpr std::uint32_t kVersion = 2;
constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
constexpr int kSealedBytes = F_SEAL_WRITE | F_SEAL_FUTURE_WRITE;
constexpr const char* kMoreDescriptors =
    "; close descriptors, allow more of them (ulimit -n), or use unix: in place of shm:";

static_assert(2 * sizeof(RingWords<ShmWord>) <= kShmPageBytes);

bool is_ring_size(std::uint64_t bytes) {
  return std::has_single_bit(bytes) && bytes >= kLeastRingBytes && bytes <= kMostRingBytes;
}

std::size_t file_bytes(std::size_t ring_bytes) { return kShmPageBytes + 2 * ring_bytes; }
std::size_t mapped_bytes(std::size_t ring_bytes) { return kShmPageBytes + 4 * ring_bytes; }

std::unexpected<Error> refused(const std::string& why) {
  return fail(ErrorCode::kInvalidArgument, "taking shared memory that was offered: " + why);
}

std::unexpected<Error> no_memory(const std::string& what, int number) {
  const bool descriptors = number == EMFILE || number == ENFILE;
  return fail(ErrorCode::kResourceExhausted, "making shared memory: " + what + ": " +
                                                 errno_text(number) +
                                                 (descriptors ? kMoreDescriptors : ""));
}

// Room for one descriptor, so that the kernel hands over no more.
union ControlBytes {
  cmsghdr first;
  std::array<std::byte, CMSG_SPACE(sizeof(int))> bytes;
};

msghdr message_of(iovec& part, ControlBytes& control) {
  msghdr message = {};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.bytes.data();
  message.msg_controllen = CMSG_LEN(sizeof(int));
  return message;
}

}  // namespace

ShmOffer encode_offer(std::size_t ring_bytes) {
  ShmOffer offer = {};
  store_number(offer.data(), kMagic);
  store_number(offer.data() + 4, kVersion);
  store_number<std::uint64_t>(offer.data() + 8, ring_bytes);
  return offer;
}

ShmFile look_at_file(const Descriptor& file) {
  struct stat found = {};
  if (::fstat(file.get(), &found) != 0) return {};
  return {S_ISREG(found.st_mode), static_cast<std::uint64_t>(found.st_size),
          ::fcntl(file.get(), F_GET_SEALS)};
}

Result<std::size_t> read_offer(std::span<const std::byte> message, const ShmFile& file) {
  if (message.size() != sizeof(ShmOffer) || load_number<std::uint32_t>(message.data()) != kMagic)
    return refused("the message is no offer; the other end speaks another protocol");
  if (const auto version = load_number<std::uint32_t>(message.data() + 4); version != kVersion) {
    return fail(ErrorCode::kUnimplemented,
                "taking shared memory that was offered: its version is " + std::to_string(version) +
                    ", here it is " + std::to_string(kVersion) +
                    "; run the same release in all processes");
  }
  const auto ring_bytes = load_number<std::uint64_t>(message.data() + 8);
  if (!is_ring_size(ring_bytes))
    return refused("a ring of " + std::to_string(ring_bytes) + " bytes cannot be");
  if (!file.regular || file.bytes != file_bytes(ring_bytes))
    return refused("the file is not as large as the offer says");
  if (file.seals < 0 || (file.seals & kSeals) != kSeals || (file.seals & kSealedBytes) != 0)
    return refused("the file's size is not sealed, or its bytes are");
  return static_cast<std::size_t>(ring_bytes);
}

Result<ShmMemory::Made> ShmMemory::create(std::size_t ring_bytes) {
  MILLRACE_CHECK(is_ring_size(ring_bytes), "a ring has a power of two of bytes, within limits");
  Descriptor file(::memfd_create("millrace", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!file) return no_memory("memfd_create", errno);
  if (::ftruncate(file.get(), static_cast<off_t>(file_bytes(ring_bytes))) != 0)
    return no_memory("setting its size", errno);
  if (::fcntl(file.get(), F_ADD_SEALS, kSeals) != 0) return no_memory("sealing it", errno);
  MILLRACE_TRY(ShmMemory memory, map_file(file, ring_bytes));
  return Made{std::move(memory), std::move(file)};
}

Result<ShmMemory> ShmMemory::map(std::span<const std::byte> message, const Descriptor& file) {
  MILLRACE_TRY(const std::size_t ring_bytes, read_offer(message, look_at_file(file)));
  return map_file(file, ring_bytes);
}

Result<ShmMemory> ShmMemory::map_file(const Descriptor& file, std::size_t ring_bytes) {
  // Addresses first, then the parts of the file at them.
  void* const base = ::mmap(nullptr, mapped_bytes(ring_bytes), PROT_NONE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED) return no_memory("mapping it", errno);
  ShmMemory memory(static_cast<std::byte*>(base), ring_bytes);
  const auto map_part = [&](std::byte* to, std::size_t bytes, std::size_t from) {
    return ::mmap(to, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file.get(),
                  static_cast<off_t>(from)) != MAP_FAILED;
  };
  bool mapped = map_part(memory.base_, kShmPageBytes, 0);
  for (const std::size_t ring : {0, 1}) {
    for (const std::size_t again : {0, 1}) {
      mapped = mapped && map_part(memory.bytes(ring) + again * ring_bytes, ring_bytes,
                                  kShmPageBytes + ring * ring_bytes);
    }
  }
  if (!mapped) return no_memory("mapping it", errno);
  return memory;
}

ShmMemory::ShmMemory(ShmMemory&& other) noexcept
    : base_(std::exchange(other.base_, nullptr)), ring_bytes_(other.ring_bytes_) {}

ShmMemory::~ShmMemory() {
  if (base_ != nullptr) ::munmap(base_, mapped_bytes(ring_bytes_));
}

RingWords<ShmWord>& ShmMemory::words(std::size_t ring) const {
  // New memory is zero, which is how atomic words start; the other process may use them already.
  return *std::launder(
      reinterpret_cast<RingWords<ShmWord>*>(base_ + ring * sizeof(RingWords<ShmWord>)));
}

Status send_offer(const Descriptor& socket, std::size_t ring_bytes, const Descriptor& file) {
  ShmOffer offer = encode_offer(ring_bytes);
  iovec part{offer.data(), offer.size()};
  ControlBytes control = {};
  msghdr message = message_of(part, control);
  control.first.cmsg_level = SOL_SOCKET;
  control.first.cmsg_type = SCM_RIGHTS;
  control.first.cmsg_len = CMSG_LEN(sizeof(int));
  const int number = file.get();
  std::memcpy(CMSG_DATA(&control.first), &number, sizeof number);
  ssize_t sent = -1;
  do {
    sent = ::sendmsg(socket.get(), &message, MSG_NOSIGNAL | MSG_DONTWAIT);
  } while (sent < 0 && errno == EINTR);
  if (sent == static_cast<ssize_t>(offer.size())) return {};
  return fail(ErrorCode::kUnavailable,
              "offering shared memory: " + (sent < 0 ? errno_text(errno) : "it was not taken"));
}

Result<std::optional<ShmMemory>> receive_offer(const Descriptor& socket) {
  ShmOffer offer = {};
  iovec part{offer.data(), offer.size()};
  ControlBytes control = {};
  msghdr message = message_of(part, control);
  ssize_t got = -1;
  do {
    got = ::recvmsg(socket.get(), &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
  } while (got < 0 && errno == EINTR);
  if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return std::nullopt;
  if (got <= 0) {
    return fail(ErrorCode::kUnavailable, "the other end ended before it offered shared memory" +
                                             (got < 0 ? ": " + errno_text(errno) : std::string()));
  }
  Descriptor file;
  if (const cmsghdr* const first = CMSG_FIRSTHDR(&message);
      first != nullptr && first->cmsg_level == SOL_SOCKET && first->cmsg_type == SCM_RIGHTS &&
      first->cmsg_len == CMSG_LEN(sizeof(int))) {
    int number = -1;
    std::memcpy(&number, CMSG_DATA(first), sizeof number);
    file = Descriptor(number);
  }
  if (!file && (message.msg_flags & MSG_CTRUNC) != 0) {
    return fail(ErrorCode::kResourceExhausted,
                std::string("taking shared memory that was offered: this process may open no more "
                            "descriptors") +
                    kMoreDescriptors);
  }
  if (!file) return refused("no descriptor came with it");
  auto memory = ShmMemory::map(std::span(offer).first(static_cast<std::size_t>(got)), file);
  if (!memory) return std::unexpected(std::move(memory).error());
  return std::optional<ShmMemory>(*std::move(memory));
}

}  // namespace millrace::net
