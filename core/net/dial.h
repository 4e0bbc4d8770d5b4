// Dial: finds a process of the job by the store, connects to it, and says hello until it is
// welcome, or will not be. Read next: mesh.h, its user; link_hello.h, what is said.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "millrace/core/async/key_value_store.h"
#include "millrace/core/base/ref.h"
#include "millrace/core/net/connection.h"
#include "millrace/core/net/entrance.h"
#include "millrace/core/net/link_hello.h"
#include "millrace/core/net/mesh_record.h"

namespace millrace::net {

struct DialPlan {
  Transport& transport;
  KeyValueStore& store;
  std::string mesh;  // what its keys begin with
  std::optional<Secret> secret;
  LinkHello hello;
  ConnectionOptions member;
  TimePoint deadline;  // of all tries together
};

struct DialEnd {
  enum class Kind : std::uint8_t {
    kFailed,     // there is no link for now; another dial may try
    kEnded,      // it has left the epoch, or closed its mesh
    kLost,       // it listens no more, and has not said that it ends
    kHeldLost,   // it holds this process for ended or lost
    kAbandoned,  // abandon()
  };
  Kind kind = Kind::kFailed;
  Error error;                            // what was last in the way
  std::optional<MeshRecord> record = {};  // of the other end, once it was found
};

// Nothing is said twice: a try ends by its answer or its stream alone, never by a clock of its own,
// so that the other end, which may be slow, does not take a second try for a lost link.
//
// States: see State. Kept by what it waits for. Thread-safety: confined to the transport's home.
class Dial final : public RefCounted {
 public:
  // Gives the sink of a link that is there; or, instead, is called with the end. One of them, once,
  // never in start().
  using Linked = std::function<FrameSink(const Ref<Connection>&, const MeshRecord&)>;
  using Ended = std::function<void(const DialEnd&)>;

  explicit Dial(DialPlan plan) : plan_(std::move(plan)) {}

  void start(Linked linked, Ended ended);
  // Ends with kAbandoned, unless it has ended.
  void abandon();
  // A hello is under way, or may be.
  bool calls() const { return state_ == State::kCalls; }

 private:
  enum class State : std::uint8_t {
    kLooks,   // asks the store for the address -> kCalls | kDone
    kCalls,   // until its hello is answered -> kPauses | kAsks | kDone
    kPauses,  // -> kCalls | kDone
    kAsks,    // nothing listens: asks the store whether it has ended -> kDone
    kDone,    // final
  };

  Ref<Dial> self() { return Ref<Dial>::share(this); }
  void move(State to);
  CallOptions call_options() const;
  void take_record(const Result<std::string>& found);
  void call();
  FrameSink come_in(const Ref<Connection>& connection);
  void take_refused_entry(const Error& error);
  Future<void> hear(const Frame& frame);
  void take_end(const ConnectionEnd& end);
  void leave(std::string_view words);
  void pause(Error why);
  void ask_for_end(Error why);
  void done(DialEnd::Kind kind, Error error);
  void finish();

  const DialPlan plan_;
  State state_ = State::kLooks;
  std::stop_source stop_;
  Linked linked_;
  Ended ended_;
  std::optional<MeshRecord> record_;
  Ref<Connection> connection_;  // which has said hello
  std::optional<LinkAnswer> answer_;
  std::optional<Error> failure_;  // of what was answered
  std::optional<TimerQueue::Id> limit_;
  bool left_ = false;  // it waits for no answer any more
  int tries_ = 0;
};

}  // namespace millrace::net
