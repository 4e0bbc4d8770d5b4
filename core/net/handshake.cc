#include "millrace/core/net/handshake.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <sys/random.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "millrace/core/base/check.h"

namespace millrace::net {
namespace {

using State = Handshake::State;

// A hello begins with the nonce.
constexpr std::size_t kJobAt = 32, kRankAt = 64, kIncarnationAt = 68, kHelloBytes = 84;
constexpr std::size_t kMacBytes = sizeof(Digest);
static_assert(2 * kHeaderBytes + kHelloBytes + kMacBytes <= kStrangerBytes);

bool may_move(State from, State to) {
  if (to == State::kFailed) return from != State::kDone && from != State::kFailed;
  switch (from) {
    case State::kSaysHello:
      return to == State::kAwaitsChallenge;
    case State::kAwaitsChallenge:
      return to == State::kAwaitsWelcome;
    case State::kAwaitsHello:
      return to == State::kAwaitsProof;
    case State::kAwaitsWelcome:
    case State::kAwaitsProof:
      return to == State::kDone;
    case State::kDone:
    case State::kFailed:
      return false;
  }
  return false;
}

Digest digest_of(std::string_view text) {
  Digest digest;
  unsigned size = 0;
  const int ok =
      EVP_Digest(text.data(), text.size(), reinterpret_cast<unsigned char*>(digest.data()), &size,
                 EVP_sha256(), nullptr);
  MILLRACE_CHECK(ok == 1 && size == digest.size(), "SHA-256 of libcrypto");
  return digest;
}

bool equal(std::span<const std::byte> a, std::span<const std::byte> b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

void append(Bytes& bytes, std::span<const std::byte> more) {
  bytes.insert(bytes.end(), more.begin(), more.end());
}

Frame frame_of(FrameKind kind, Bytes payload = {}) { return {{.kind = kind}, std::move(payload)}; }

}  // namespace

void draw_random(std::span<std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t drawn = ::getrandom(bytes.data(), bytes.size(), 0);
    if (drawn < 0 && errno == EINTR) continue;
    MILLRACE_CHECK(drawn > 0, "getrandom");
    bytes = bytes.subspan(static_cast<std::size_t>(drawn));
  }
}

Handshake::Handshake(State state, const Secret& secret, std::string_view job, const Nonce& nonce)
    : state_(state), secret_(secret), job_(digest_of(job)), nonce_(nonce) {}

Handshake Handshake::make_connector(const Secret& secret, std::string_view job,
                                    const Identity& self, const Nonce& nonce) {
  Handshake made(State::kSaysHello, secret, job, nonce);
  append(made.hello_, nonce);
  append(made.hello_, made.job_);
  made.hello_.resize(kIncarnationAt);
  store_number(made.hello_.data() + kRankAt, self.rank);
  append(made.hello_, self.incarnation);
  return made;
}

Handshake Handshake::make_acceptor(const Secret& secret, std::string_view job, const Nonce& nonce) {
  Handshake made(State::kAwaitsHello, secret, job, nonce);
  made.answered_ = nonce;
  return made;
}

void Handshake::move(State to) {
  MILLRACE_CHECK(may_move(state_, to), "a handshake takes no such step");
  state_ = to;
}

std::unexpected<Error> Handshake::failed(HandshakeFault fault, const std::string& words) {
  if (may_move(state_, State::kFailed)) move(State::kFailed);
  return std::unexpected(
      Error(ErrorCode::kUnauthenticated, "shaking hands: " + words).with_detail(fault));
}

Digest Handshake::mac(std::string_view role) const {
  Bytes text;
  for (const char c : role) text.push_back(static_cast<std::byte>(c));
  text.push_back(static_cast<std::byte>(kFrameVersion));
  append(text, hello_);
  append(text, answered_);
  Digest digest;
  unsigned size = 0;
  const auto* made = HMAC(EVP_sha256(), secret_.data(), static_cast<int>(secret_.size()),
                          reinterpret_cast<const unsigned char*>(text.data()), text.size(),
                          reinterpret_cast<unsigned char*>(digest.data()), &size);
  MILLRACE_CHECK(made != nullptr && size == digest.size(), "HMAC-SHA256 of libcrypto");
  return digest;
}

Frame Handshake::hello() {
  move(State::kAwaitsChallenge);
  return frame_of(FrameKind::kHello, hello_);
}

Frame Handshake::refusal(const Error& error) {
  const HandshakeFault* fault = error.detail<HandshakeFault>();
  Frame frame = frame_of(FrameKind::kRefusal);
  frame.header.flags = std::to_underlying(fault != nullptr ? *fault : HandshakeFault::kUnexpected);
  return frame;
}

Result<std::optional<Frame>> Handshake::take(const Frame& frame) {
  const FrameKind kind = frame.header.kind;
  const bool connects = state_ == State::kAwaitsChallenge || state_ == State::kAwaitsWelcome;
  if (kind == FrameKind::kRefusal && connects) {
    const bool job = frame.header.flags == std::to_underlying(HandshakeFault::kJob);
    return failed(HandshakeFault::kRefused,
                  job ? "the other end serves another job"
                      : "the other end refused; does this process have the secret of its job?");
  }
  if (state_ == State::kAwaitsHello && kind == FrameKind::kHello) return take_hello(frame);
  if (state_ == State::kAwaitsChallenge && kind == FrameKind::kChallenge)
    return take_challenge(frame);
  if (state_ == State::kAwaitsProof && kind == FrameKind::kProof) return take_proof(frame);
  if (state_ == State::kAwaitsWelcome && kind == FrameKind::kWelcome) {
    move(State::kDone);
    return std::nullopt;
  }
  return failed(HandshakeFault::kUnexpected, "a frame came that has no place here");
}

Result<std::optional<Frame>> Handshake::take_hello(const Frame& frame) {
  const std::span<const std::byte> hello = frame.payload;
  if (hello.size() != kHelloBytes)
    return failed(HandshakeFault::kUnexpected, "a hello of another length");
  if (!equal(hello.subspan(kJobAt, sizeof job_), job_))
    return failed(HandshakeFault::kJob, "the other end belongs to another job");
  hello_ = frame.payload;
  other_.rank = load_number<std::uint32_t>(hello.data() + kRankAt);
  std::ranges::copy(hello.subspan(kIncarnationAt), other_.incarnation.begin());
  Bytes answer;
  append(answer, nonce_);
  append(answer, mac("A"));
  move(State::kAwaitsProof);
  return frame_of(FrameKind::kChallenge, std::move(answer));
}

Result<std::optional<Frame>> Handshake::take_challenge(const Frame& frame) {
  const std::span<const std::byte> challenge = frame.payload;
  if (challenge.size() != sizeof answered_ + kMacBytes)
    return failed(HandshakeFault::kUnexpected, "a challenge of another length");
  std::ranges::copy(challenge.first(sizeof answered_), answered_.begin());
  if (!equal(challenge.subspan(sizeof answered_), mac("A")))
    return failed(HandshakeFault::kProof, "the other end does not hold the secret of this job");
  Bytes proof;
  append(proof, mac("C"));
  move(State::kAwaitsWelcome);
  return frame_of(FrameKind::kProof, std::move(proof));
}

Result<std::optional<Frame>> Handshake::take_proof(const Frame& frame) {
  if (!equal(frame.payload, mac("C")))
    return failed(HandshakeFault::kProof, "the other end does not hold the secret of this job");
  move(State::kDone);
  return frame_of(FrameKind::kWelcome);
}

}  // namespace millrace::net
