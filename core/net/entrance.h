// Entrance: where processes of a job come in, and enter(), how they do. Over Unix sockets the other
// end's uid decides, over TCP a handshake. Strangers get 256 bytes, a few seconds and one of few
// places; they are counted, and disturb none that is in. Read next: handshake.h, connection.h.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "millrace/core/async/scope.h"
#include "millrace/core/net/connection.h"

namespace millrace::net {

struct EntranceOptions {
  std::optional<Secret> secret = {};  // nullopt: the uid decides, which the transport must know
  std::string job = {};
  ConnectionOptions member = {};  // of connections that are in
  std::size_t places = 64;        // of strangers; one more, and the oldest goes
  Duration patience = std::chrono::seconds(5);
};

struct EntranceCounts {
  std::uint64_t came = 0;
  std::uint64_t admitted = 0;
  std::uint64_t other_user = 0;  // by uid
  std::uint64_t no_proof = 0;    // another secret, another job
  std::uint64_t garbage = 0;     // no frames, or too much of it
  std::uint64_t silent = 0;      // not done in time
  std::uint64_t crowded = 0;     // gave its place to one that came later
  std::uint64_t left = 0;        // ended before it was in
  std::uint64_t refused() const {
    return other_user + no_proof + garbage + silent + crowded + left;
  }
};

// Called on the home executor with a connection that is in; gives its sink.
using Admit = std::function<FrameSink(const Ref<Connection>&)>;

// States: open -> closing (close was called, strangers end) -> closed. Thread-safety: confined to
// the transport's home; closed before its last reference goes.
class Entrance final : public RefCounted {
 public:
  // The errors of Transport::listen().
  static Result<Ref<Entrance>> open(Transport& transport, std::string_view address,
                                    EntranceOptions options, Admit admit);

  const std::string& address() const { return address_; }
  const EntranceCounts& counts() const { return counts_; }
  // Stops listening and ends the strangers; those who are in stay. Any call gives the same end.
  Future<void> close();

 private:
  struct Stranger {
    Ref<Connection> connection;
    Handshake handshake;
    TimerQueue::Id timer;
    std::uint64_t* why = nullptr;  // the count of its refusal, once that is decided
    bool in = false;
    Scope::Hold hold;
  };
  using Strangers = std::list<Stranger>;

  Entrance(Transport& transport, EntranceOptions options, Admit admit);
  void take(std::unique_ptr<ByteStream> stream);
  void take_member(std::unique_ptr<ByteStream> stream);
  void take_stranger(std::unique_ptr<ByteStream> stream, Scope::Hold hold);
  Future<void> hear(Strangers::iterator stranger, const Frame& frame);
  void refuse(Stranger& stranger, std::uint64_t& why, std::string_view words);
  void take_end(Strangers::iterator stranger, const ConnectionEnd& end);

  Transport& transport_;
  const EntranceOptions options_;
  Admit admit_;  // until close()
  std::string address_;
  std::unique_ptr<StreamListener> listener_;
  Strangers strangers_;  // the oldest first
  Strangers members_;    // who were strangers, until their connections end
  EntranceCounts counts_;
  Scope scope_{"the entrance"};
};

struct EnterOptions {
  std::optional<Secret> secret = {};
  std::string job = {};
  Identity self = {};
  ConnectionOptions member = {};
  Duration patience = std::chrono::seconds(5);  // after the connect
};

// Connects and comes in; then admit gives the sink, and the connection is there. Completes on the
// home executor; called there. The errors of Transport::connect(); kUnauthenticated, with
// HandshakeFault; kPermissionDenied if another user listens; kUnavailable if it ends meanwhile.
Future<Ref<Connection>> enter(Transport& transport, std::string_view address, EnterOptions options,
                              Admit admit, CallOptions call = {});

}  // namespace millrace::net
