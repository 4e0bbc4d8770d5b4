// Connection: frames over a ByteStream, with back-pressure and an orderly end. Read next:
// entrance.h, which makes them; frame.h.
//
//  - CN-1 frames arrive in the order in which their send() calls were made, each once, or not.
//  - CN-2 every send() completes once: when the stream has taken its bytes, or with the end; where
//    the stream takes no more while the sink is busy, before it.
//  - CN-3 end() completes once, after the last frame was given to the sink and the sink is gone.
//  - CN-4 two-phase goodbye: close() says goodbye behind what was sent; the other end answers and
//    ends too. So neither takes the end for a failure, whichever process exits first.
//  - CN-5 nothing is called, and no stream is left, once end() is complete.
//
// Reading holds its own reference; what starts a connection sees to its close() or abandon().
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "millrace/core/async/future.h"
#include "millrace/core/base/mutex.h"
#include "millrace/core/base/pool.h"
#include "millrace/core/base/ref.h"
#include "millrace/core/net/frame.h"
#include "millrace/core/net/handshake.h"
#include "millrace/core/net/spare_bytes.h"
#include "millrace/core/net/transport.h"

namespace millrace::net {

enum class EndCause : std::uint8_t {
  kClosedHere,     // close()
  kClosedThere,    // the other end said goodbye
  kReset,          // the stream ended without a goodbye, or was cut: a process is gone
  kProtocolError,  // the other end sent what is no frame, or has no place
  kAbandoned,      // abandon()
};
std::string_view to_string(EndCause cause);

struct ConnectionEnd {
  EndCause cause = EndCause::kReset;
  std::string words = {};
  // For what waited for the connection: kUnavailable, with the EndCause as detail.
  Error error(const Peer& peer) const;
};

struct ConnectionOptions {
  std::size_t max_payload = std::size_t{1} << 20;       // of frames that come
  std::size_t most_queued = std::size_t{32} << 20;      // bytes sent, that the stream did not take
  Duration farewell = std::chrono::seconds(1);          // how long close() waits for the other end
  std::optional<std::size_t> most_read = std::nullopt;  // in all, until set_limits()
};

// Called on the home executor for each frame, one at a time: the next is read once the future that
// it returns is complete (an error abandons the connection); an empty future: at once.
using FrameSink = std::function<Future<void>(Frame)>;

// The error for what waited for the connection, in place of ConnectionEnd::error(). Called under a
// lock, on any thread: it makes an error and calls nothing.
using ErrorOfEnd = std::function<Error(const ConnectionEnd&)>;

// States: see State. Thread-safety: thread-safe, but start() and set_...() are confined to home.
class Connection final : public RefCounted {
 public:
  static Ref<Connection> make(std::unique_ptr<ByteStream> stream, Transport& transport,
                              const ConnectionOptions& options);

  // Once: begins to read.
  void start(FrameSink sink);
  // For headers from now on, and no limit of bytes in all: after a handshake.
  void set_limits(std::size_t max_payload, std::size_t most_queued);
  // The sink that runs ends after its call.
  void set_sink(FrameSink sink);
  // From now on long payloads may be lent to the sink (Frame::lent).
  void lend_payloads() { parser_.lend(kLeastSpare); }
  void set_identity(const Identity& identity) { identity_ = identity; }
  void set_error_of_end(ErrorOfEnd error_of_end);

  // kUnavailable after close() and after the end; kResourceExhausted if so much waits already
  // (await earlier sends). A frame that was accepted is not withdrawn.
  Future<void> send(Frame frame);
  // The same, confined to home: what the stream takes at once is not copied before, and the payload
  // is needed until the call returns. For long payloads.
  Future<void> send_now(const FrameHeader& header, std::span<const std::byte> payload);
  // Says goodbye with these words; completes with end(), in any case after options.farewell.
  Future<void> close(std::string_view words);
  // Ends at once, without a goodbye: for others than members.
  void abandon(std::string_view words, EndCause cause = EndCause::kAbandoned);
  Future<ConnectionEnd> end() const { return ended_; }

  // Whether bytes have come since the call before, or may wait to be read, because the sink is
  // busy. Confined to home.
  bool take_sign_of_life() { return std::exchange(heard_, false) || sink_busy_; }

  const Peer& peer() const { return peer_; }
  // The connector's, once it was let in over TCP.
  const std::optional<Identity>& identity() const { return identity_; }

 private:
  enum class State : std::uint8_t {
    kOpen,       // -> kLeaving | kAnswering | kEnded
    kLeaving,    // goodbye is queued -> kEnded
    kAnswering,  // goodbye came, the answer is queued -> kEnded
    kEnded,      // final
  };
  // After a part of the stream was read, or was not.
  enum class Next : std::uint8_t {
    kRead,  // there may be more
    kWait,  // until there is
    kStop,  // the sink is busy, or the connection has ended
  };
  struct Outgoing {
    HeaderBytes header;
    Bytes payload;
    Promise<void> sent;
    std::size_t bytes() const { return header.size() + payload.size(); }
  };
  using Queue = PooledDeque<Outgoing>;

  Connection(std::unique_ptr<ByteStream> stream, Transport& transport,
             const ConnectionOptions& options);
  ~Connection() override;

  Ref<Connection> self() { return Ref<Connection>::share(this); }
  void move(State to) MILLRACE_REQUIRES(mutex_);
  Future<void> push(Frame frame) MILLRACE_REQUIRES(mutex_);
  Error error_of(const ConnectionEnd& end) const MILLRACE_REQUIRES(mutex_);
  void post_write() MILLRACE_REQUIRES(mutex_);
  void write();
  void fail_unsent();
  void read();
  Next read_and_answer(int& reads);
  void when_ready(const Future<unsigned>& ready, std::function<void()> work);
  Next read_some();
  bool parse();
  bool take(Frame frame);
  void take_goodbye(const Frame& frame);
  void limit_farewell();
  void finish(EndCause cause, std::string words);

  Executor& home_;
  TimerQueue& timers_;
  const Peer peer_;
  std::optional<Identity> identity_;

  // Confined to home.
  std::unique_ptr<ByteStream> stream_;  // until the end
  FrameParser parser_;
  std::shared_ptr<const FrameSink> sink_;
  std::optional<std::size_t> may_read_;
  const Duration farewell_;
  std::span<const std::byte> unread_;  // of what the stream gave
  std::size_t written_ = 0;            // of the first in the queue
  bool heard_ = false;                 // bytes have come: take_sign_of_life()
  bool sink_busy_ = false;
  bool waits_writable_ = false;
  bool write_failed_ = false;
  bool other_left_ = false;  // its goodbye has come, or its answer to ours
  std::string last_words_;   // of its goodbye
  std::optional<TimerQueue::Id> farewell_timer_;

  mutable Mutex mutex_;
  State state_ MILLRACE_GUARDED_BY(mutex_) = State::kOpen;
  Queue queue_ MILLRACE_GUARDED_BY(mutex_);
  std::size_t queued_ MILLRACE_GUARDED_BY(mutex_) = 0;
  std::size_t most_queued_ MILLRACE_GUARDED_BY(mutex_);
  bool write_posted_ MILLRACE_GUARDED_BY(mutex_) = false;
  std::thread::id reader_ MILLRACE_GUARDED_BY(mutex_);            // the thread that is in read()
  std::optional<ConnectionEnd> end_ MILLRACE_GUARDED_BY(mutex_);  // of kAnswering and kEnded
  ErrorOfEnd error_of_end_ MILLRACE_GUARDED_BY(mutex_);

  Promise<ConnectionEnd> promise_;
  const Future<ConnectionEnd> ended_ = promise_.future();
};

}  // namespace millrace::net
