// Mesh: one process's end of the links to the others of its job. A link is made when a frame is
// first sent to a rank, and lasts for an epoch. Read next: tests/core/net/mesh_test.cc, how it is
// used; inside: peer_state.h (who dials, what a hello gets), dial.h, inbox.h, mesh_record.h.
//
//  - ME-1 frames to a rank arrive in the order in which their send() calls were made, each once, or
//    not; also those to oneself, which use no wire.
//  - ME-2 every send() completes once: when the stream has taken its bytes, or with an error.
//  - ME-3 two processes have one link at most: where both dial, the lower rank's stays.
//  - ME-4 frames of another epoch reach no sink; they are counted.
//  - ME-5 a goodbye is no loss. Every other end is, and peer_lost() says so once in an epoch.
//  - ME-6 what waits is bounded: most_queued bytes to a rank, most_stashed from it. Beyond that the
//    rank's link is not read, so that its own sends wait.
//  - ME-7 once close() is complete no sink is called, and no stream and no listener is left.
//  - ME-8 with silent_after, a process that is linked is lost once nothing has come from it for a
//    tenth longer: a host that does not hear it either has ended it by then. What this process was
//    held up itself does not count, nor what it did not read (ME-6).
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "millrace/core/async/key_value_store.h"
#include "millrace/core/async/scope.h"
#include "millrace/core/net/dial.h"
#include "millrace/core/net/entrance.h"
#include "millrace/core/net/inbox.h"
#include "millrace/core/net/later.h"
#include "millrace/core/net/peer_loss.h"
#include "millrace/core/net/peer_state.h"
#include "millrace/core/net/sink_table.h"

namespace millrace::net {

struct MeshOptions {
  std::uint32_t rank = 0;
  std::uint32_t size = 1;
  Incarnation incarnation = {};  // draw_random(), for this mesh alone
  std::string job = {};
  std::string host = {};
  std::int32_t pid = 0;
  std::optional<Secret> secret = {};  // nullopt: the uid decides, which the transport must know
  std::uint32_t epoch = 0;            // the first
  std::string name = "mesh";          // what its keys in the store begin with

  std::size_t max_payload = std::size_t{1} << 20;   // of a frame
  std::size_t most_queued = std::size_t{32} << 20;  // bytes that wait to go to a rank
  std::size_t most_stashed = std::size_t{4} << 20;  // bytes that wait for their sinks, of a rank
  Duration patience = std::chrono::seconds(30);     // how long frames wait for a link
  Duration farewell = std::chrono::seconds(1);      // how long close() waits for another end
  Duration silent_after{0};                         // of a link; 0: never
};

struct MeshCounts {
  std::uint64_t other_epoch = 0;  // frames that were dropped for their epoch
  std::uint64_t no_sink = 0;      // frames that were dropped with an epoch's end, or the mesh's
  std::uint64_t refused = 0;      // hellos
  std::uint64_t garbage = 0;      // what came in and said no hello, or none in time
};

// States: see State. Everything happens on the transport's home, and all futures complete there or
// on the thread of the call that ends them. Closed before its last other reference goes.
// Thread-safety: thread-safe.
class Mesh final : public RefCounted {
 public:
  // Both outlive the mesh. kInvalidArgument for options that fit no job.
  static Result<Ref<Mesh>> make(Transport& transport, KeyValueStore& store, MeshOptions options);

  // Once: listens, and says so in the store. The errors of Transport::listen() and of the store;
  // kAlreadyExists, with the JobMember of the holder as detail, if another process has this rank in
  // this epoch. Frames may be sent before it is complete. After an error close() is left to do.
  Future<void> start(std::string_view address);
  // Links of the epoch so far end with a goodbye, what waits for one fails with kAborted, and ranks
  // that were lost may come again. Completes once no frame of an earlier epoch reaches a sink any
  // more, and others find this process in the new one; errors as of start(), which it may come
  // before. kInvalidArgument for an epoch that is not later.
  Future<void> set_epoch(std::uint32_t epoch);
  // Goodbyes on all links, then nothing is left. Any call gives the same end.
  Future<void> close();

  // Stamps the frame with the epoch. Completes when the stream took its bytes; to oneself, when the
  // sink or the stash has it. kUnavailable with PeerLoss or PeerEnded as detail, and after close();
  // kDeadlineExceeded if there was no link within patience; kResourceExhausted if too much waits
  // (await earlier sends); kInvalidArgument for a rank, kind or length that cannot be; kAborted.
  Future<void> send(std::uint32_t rank, Frame frame);
  // The same, confined to home(): what the link takes at once is not copied before, and the payload
  // is needed until the call returns. For long payloads.
  Future<void> send_now(std::uint32_t rank, FrameHeader header, std::span<const std::byte> payload);
  // In place of an earlier one. It gets the frames that came before it, too.
  void set_sink(const Route& route, MeshSink sink, Payloads payloads = Payloads::kOwn);
  // Completes on the home executor once no call of it runs.
  Future<void> erase_sink(const Route& route);

  // Completes when this rank is lost, in this epoch. Frames that have come already may still go to
  // their sinks afterwards. An error once that cannot be any more: PeerEnded if it said goodbye,
  // kAborted with the epoch, kCancelled with the mesh. It sees what it has a link to, or dials.
  Future<PeerLoss> peer_lost(std::uint32_t rank);
  // News from outside, such as the launcher's; its words go into the loss, and the JobMember that
  // may be its detail. Nothing for a rank that has ended or is lost.
  void declare_lost(std::uint32_t rank, const Error& why);

  // Where sinks are called, and what times they have.
  Executor& home() const { return home_; }
  TimerQueue& timers() const { return transport_.timers(); }
  std::uint32_t rank() const { return options_.rank; }
  std::int32_t pid() const { return options_.pid; }
  std::uint32_t size() const { return options_.size; }
  std::uint32_t epoch() const;
  MeshCounts counts() const;
  std::size_t max_payload() const { return options_.max_payload; }
  // The process of that rank in this epoch; of one with which there was no link, the rank alone.
  JobMember member(std::uint32_t rank) const;

 private:
  enum class State : std::uint8_t {
    kMade,      // -> kStarting | kClosing
    kStarting,  // -> kOpen | kClosing
    kOpen,      // it listens -> kClosing
    kClosing,   // -> kClosed
    kClosed,    // final
  };
  using SharedHold = std::shared_ptr<Scope::Hold>;
  struct Outgoing {
    Frame frame;
    Promise<void> sent;
  };
  using Outgoings = PooledDeque<Outgoing>;
  // Its link, the stages before, and the end. Those of other epochs end by themselves.
  struct Peer {
    JobMember name = {};
    PeerState state = PeerState::kUnlinked;
    std::optional<Incarnation> incarnation = {};
    Ref<Connection> connection = {};  // kLinked
    Ref<Dial> dial = {};              // kDialling, once it has begun
    Outgoings waiting = {};           // kDialling
    std::size_t waiting_bytes = 0;
    std::optional<Error> end = {};      // kEnded, kLost
    std::optional<PeerLoss> loss = {};  // kLost
    std::vector<Promise<PeerLoss>> watchers = {};
    int silent_beats = 0;  // kLinked
  };
  // A process that came in and is no link yet.
  struct Arrival {
    Ref<Connection> connection;
    TimerQueue::Id timer;  // until it has said hello
    SharedHold hold;
    bool ends = false;  // it is refused
  };
  using Arrivals = std::list<Arrival>;
  struct EpochInbox {
    std::uint32_t epoch = 0;
    Ref<Inbox> inbox = {};
  };

  Mesh(Transport& transport, KeyValueStore& store, MeshOptions options);
  ~Mesh() override;
  Ref<Mesh> self() { return Ref<Mesh>::share(this); }
  ConnectionOptions stranger_options() const;

  static Error closed_error() { return Error(ErrorCode::kUnavailable, "the mesh is closed"); }
  void move(State to) MILLRACE_REQUIRES(mutex_);
  bool closing() const MILLRACE_REQUIRES(mutex_) { return state_ >= State::kClosing; }
  SharedHold hold() { return std::make_shared<Scope::Hold>(scope_.hold()); }
  Peer& peer_of(std::uint32_t rank) MILLRACE_REQUIRES(mutex_);
  static void step(Peer& peer, PeerState to);

  // mesh.cc: what users send and get.
  std::optional<Error> refusal(std::uint32_t rank) const MILLRACE_REQUIRES(mutex_);
  Future<void> queue(Outgoings& line, std::size_t& bytes, std::uint32_t rank, Frame frame)
      MILLRACE_REQUIRES(mutex_);
  void feed_self(const SharedHold& hold);
  Inbox& own_inbox(std::uint32_t epoch);
  void close_inbox(const Ref<Inbox>& inbox);
  void close_own_inbox();

  // mesh_life.cc: its start, its epochs and its end.
  void open(const std::string& address, Promise<void> started, const SharedHold& hold);
  Future<void> publish(std::uint32_t epoch, const SharedHold& hold);
  Future<void> name_holder(std::uint32_t epoch, const Error& error);
  void take_published(std::uint32_t epoch, const Result<void>& published);
  void reset_peers(std::uint32_t epoch, Later& later) MILLRACE_REQUIRES(mutex_);
  void enter_epoch(std::uint32_t epoch);
  void begin_close();
  void end_links();
  void end_close();

  // mesh_beat.cc: signs of life.
  void set_beat();
  void beat();

  // mesh_links.cc: how links begin and end.
  void begin_dial(std::uint32_t rank);
  void take_dial_end(std::uint32_t rank, const Ref<Dial>& dial, const DialEnd& end);
  FrameSink admit(const Ref<Connection>& connection);
  Arrivals::iterator find_arrival(const Connection* connection);
  Future<void> hear(const Connection* connection, const Frame& frame);
  LinkVerdict judge(const LinkHello& hello, const Arrival& arrival);
  void drop_garbage(Arrival& arrival, const std::string& words);
  // Gives the sink of what is a link from now on, or ends.
  FrameSink link(std::uint32_t epoch, const JobMember& name, const Incarnation& incarnation,
                 const Ref<Connection>& connection, bool welcome, const SharedHold& hold);
  Future<void> take(std::uint32_t epoch, Inbox& inbox, Frame frame);
  void take_link_end(std::uint32_t rank, const Ref<Connection>& connection,
                     const ConnectionEnd& end);
  void lose(Peer& peer, LossCause cause, const std::string& words, Later& later)
      MILLRACE_REQUIRES(mutex_);
  void end_peer(Peer& peer, const std::string& words, Later& later) MILLRACE_REQUIRES(mutex_);
  void leave(Peer& peer, PeerState to, const Error& why, Later& later) MILLRACE_REQUIRES(mutex_);
  static void fail_all(Outgoings& line, std::size_t& bytes, const Error& why, Later& later);

  Transport& transport_;
  Executor&
      home_;  // outlives the transport (EX-3): a group that is held longer than its job asks for it
  KeyValueStore& store_;
  const MeshOptions options_;
  SinkTable sinks_;
  Scope scope_{"the mesh"};  // held by all that is under way

  // Confined to home.
  Ref<Entrance> entrance_;
  std::string address_;
  Arrivals arrivals_;
  std::vector<EpochInbox> inboxes_;
  EpochInbox own_inbox_;
  std::optional<TimerQueue::Id> beat_timer_;
  std::stop_source links_end_;  // ends the waits for the store

  mutable Mutex mutex_;
  State state_ MILLRACE_GUARDED_BY(mutex_) = State::kMade;
  std::uint32_t epoch_ MILLRACE_GUARDED_BY(mutex_);
  bool published_ MILLRACE_GUARDED_BY(mutex_) = false;        // in this epoch
  std::optional<Error> outcast_ MILLRACE_GUARDED_BY(mutex_);  // why it is not, for good
  std::map<std::uint32_t, Peer> peers_ MILLRACE_GUARDED_BY(mutex_);
  Outgoings to_self_ MILLRACE_GUARDED_BY(mutex_);
  std::size_t to_self_bytes_ MILLRACE_GUARDED_BY(mutex_) = 0;
  bool self_posted_ MILLRACE_GUARDED_BY(mutex_) = false;
  MeshCounts counts_ MILLRACE_GUARDED_BY(mutex_);

  Promise<void> promise_;
  const Future<void> closed_ = promise_.future();
};

}  // namespace millrace::net
