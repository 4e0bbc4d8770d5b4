// Handshake: how two processes of a job prove to each other, over TCP, that they hold its secret.
// A pure state machine: frames in, frames out; random bytes and time are its user's. Over Unix
// sockets the other end's uid is enough, and there is no handshake. Read next: entrance.h.
//
//   connector                                        acceptor
//   kHello {nonce, job's digest, rank, incarnation} ->
//                                                 <- kChallenge {nonce, MAC("A")}
//   kProof {MAC("C")}                               ->
//                                                 <- kWelcome, or kRefusal at any point
//
// MAC(role) is HMAC-SHA256 by the secret over role, frame version and both messages so far: job,
// rank, incarnation and both nonces. The role stops a MAC from being sent back to its maker. The
// connector speaks 248 bytes in all, which fit the 256 that a stranger has.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "millrace/core/base/error.h"
#include "millrace/core/net/frame.h"

namespace millrace::net {

inline constexpr std::size_t kStrangerBytes = 256;
inline constexpr std::size_t kStrangerPayload = kStrangerBytes - kHeaderBytes;

using Secret = std::array<std::byte, 32>;
using Nonce = std::array<std::byte, 32>;
using Digest = std::array<std::byte, 32>;
using Incarnation = std::array<std::byte, 16>;  // drawn by each process as it starts

// The system's random bytes. Thread-safe.
void draw_random(std::span<std::byte> bytes);

// Who a process says that it is.
struct Identity {
  std::uint32_t rank = 0;
  Incarnation incarnation = {};
  bool operator==(const Identity&) const = default;
};

// Why a handshake failed: detail of its error, which is kUnauthenticated.
enum class HandshakeFault : std::uint8_t {
  kUnexpected,  // a frame that has no place here, or another length
  kJob,         // another job
  kProof,       // the other end does not hold the secret, or repeats what it has heard
  kRefused,     // the other end said kRefusal
};

class Handshake {
 public:
  enum class State : std::uint8_t {
    kSaysHello,        // -> kAwaitsChallenge | kFailed
    kAwaitsChallenge,  // -> kAwaitsWelcome | kFailed
    kAwaitsWelcome,    // -> kDone | kFailed
    kAwaitsHello,      // -> kAwaitsProof | kFailed
    kAwaitsProof,      // -> kDone | kFailed
    kDone,             // final
    kFailed,           // final
  };

  // nonce: drawn for this handshake alone.
  static Handshake make_connector(const Secret& secret, std::string_view job, const Identity& self,
                                  const Nonce& nonce);
  static Handshake make_acceptor(const Secret& secret, std::string_view job, const Nonce& nonce);

  // The connector's first frame. Once, before take().
  Frame hello();
  // What is to be sent in answer, if anything. After an error the connection ends; an acceptor
  // sends refusal() first. Nothing is taken in a final state (kUnexpected).
  Result<std::optional<Frame>> take(const Frame& frame);
  static Frame refusal(const Error& error);

  State state() const { return state_; }
  bool done() const { return state_ == State::kDone; }
  // The acceptor's, once it is done: who the connector is.
  const Identity& other() const { return other_; }

 private:
  Handshake(State state, const Secret& secret, std::string_view job, const Nonce& nonce);
  void move(State to);
  std::unexpected<Error> failed(HandshakeFault fault, const std::string& words);
  Digest mac(std::string_view role) const;
  Result<std::optional<Frame>> take_hello(const Frame& frame);
  Result<std::optional<Frame>> take_challenge(const Frame& frame);
  Result<std::optional<Frame>> take_proof(const Frame& frame);

  State state_;
  Secret secret_;
  Digest job_;
  Nonce nonce_;
  Identity other_;
  Bytes hello_;       // the payload, as it was sent
  Nonce answered_{};  // the acceptor's
};

}  // namespace millrace::net
