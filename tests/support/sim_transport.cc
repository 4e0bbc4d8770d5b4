#include "tests/support/sim_transport.h"

#include <algorithm>
#include <array>
#include <deque>
#include <optional>
#include <utility>

#include "millrace/core/async/combinators.h"
#include "millrace/core/base/ref.h"

namespace millrace::testing {

namespace {

constexpr Duration kLongestConnect = std::chrono::minutes(2);

}  // namespace

// One direction of a link.
struct SimNetwork::Pipe {
  struct Piece {
    std::optional<TimerQueue::Id> timer;  // none: it is held
    net::Bytes bytes;                     // empty: the end
  };
  std::deque<Piece> under_way;
  std::deque<std::byte> arrived;
  std::size_t room = 0;
  pid_t from = 0, to = 0;
  TimePoint last = {};
  bool reader_gone = false, ended = false, cut = false;
  std::optional<Promise<unsigned>> reads, writes;

  // Later: what waits may destroy the stream.
  static void wake(Executor& executor, std::optional<Promise<unsigned>>& waiting) {
    if (!waiting) return;
    post(executor,
         [promise = *std::exchange(waiting, std::nullopt)]() mutable { promise.set(1u); });
  }
  static void cancel(std::optional<Promise<unsigned>>& waiting) {
    if (waiting)
      std::exchange(waiting, std::nullopt)->set_error(Error(ErrorCode::kCancelled, "closed"));
  }
  std::size_t held() const {
    std::size_t bytes = arrived.size();
    for (const Piece& piece : under_way) bytes += piece.bytes.size();
    return bytes;
  }
};

class SimNetwork::Link final : public RefCounted {
 public:
  // The first one has connected: its side is 0.
  Link(SimNetwork& network, pid_t first, pid_t second) : network(network) {
    pipes[0].from = pipes[1].to = first;
    pipes[0].to = pipes[1].from = second;
    for (Pipe& pipe : pipes) pipe.room = 256 + network.sim_.below(network.faults_.most_room);
  }

  void send(Pipe& pipe, net::Bytes bytes) {
    const bool held = !pipe.under_way.empty() && !pipe.under_way.back().timer;
    pipe.under_way.push_back({{}, std::move(bytes)});
    if (!held && !network.holds(pipe.from, pipe.to)) set_out(pipe, pipe.under_way.back());
  }
  void set_out(Pipe& pipe, Pipe::Piece& piece) {
    pipe.last = std::max(pipe.last, network.sim_.now() + network.delay());
    piece.timer = network.sim_.timers().schedule(
        pipe.last, [link = Ref<Link>::share(this), &pipe] { link->arrive(pipe); });
  }
  bool is_between(pid_t from, pid_t to) const { return pipes[0].from == from && pipes[0].to == to; }
  void send_held() {
    for (Pipe& pipe : pipes) {
      for (Pipe::Piece& piece : pipe.under_way)
        if (!piece.timer) set_out(pipe, piece);
      Pipe::wake(network.sim_.executor(), pipe.writes);
    }
  }
  // The news goes the other way.
  bool hears_end_of_reader(const Pipe& pipe) const {
    return pipe.reader_gone && !network.holds(pipe.to, pipe.from);
  }
  void arrive(Pipe& pipe) {
    const net::Bytes bytes = std::move(pipe.under_way.front().bytes);
    pipe.under_way.pop_front();
    if (bytes.empty()) pipe.ended = true;
    pipe.arrived.insert(pipe.arrived.end(), bytes.begin(), bytes.end());
    Pipe::wake(network.sim_.executor(), pipe.reads);
  }
  void lose(Pipe& pipe) {
    auto lost = std::exchange(pipe.under_way, {});
    for (const Pipe::Piece& piece : lost)
      if (piece.timer) network.sim_.timers().cancel(*piece.timer);
  }
  void cut() {
    for (Pipe& pipe : pipes) {
      pipe.cut = true;
      lose(pipe);
      Pipe::wake(network.sim_.executor(), pipe.reads);
      Pipe::wake(network.sim_.executor(), pipe.writes);
    }
  }

  SimNetwork& network;
  std::array<Pipe, 2> pipes;
  int ends = 2;
};

class SimStream final : public net::ByteStream {
 public:
  SimStream(Ref<SimNetwork::Link> link, int side, net::Peer peer)
      : link_(std::move(link)),
        out_(link_->pipes[static_cast<std::size_t>(side)]),
        in_(link_->pipes[static_cast<std::size_t>(1 - side)]),
        peer_(std::move(peer)) {}
  ~SimStream() override {
    in_.reader_gone = true;
    link_->lose(in_);
    SimNetwork::Pipe::wake(link_->network.sim_.executor(), in_.writes);
    if (!out_.cut && !link_->hears_end_of_reader(out_)) link_->send(out_, {});
    SimNetwork::Pipe::cancel(in_.reads);
    SimNetwork::Pipe::cancel(out_.writes);
    if (--link_->ends == 0) link_->network.links_.remove(link_.get());
  }

  const net::Peer& peer() const override { return peer_; }

  Result<std::optional<std::span<const std::byte>>> try_read(std::size_t most) override {
    if (!unread_.empty()) return unread_.first(std::min(unread_.size(), most));
    if (in_.arrived.empty()) {
      if (in_.ended) return std::span<const std::byte>();
      if (in_.cut) return fail(ErrorCode::kUnavailable, "the link is cut");
      return std::nullopt;
    }
    const std::size_t all = std::min(most, in_.arrived.size());
    const bool whole = link_->network.sim_.chance(0.5);
    const std::size_t taken = whole ? all : 1 + link_->network.sim_.below(all);
    const auto end = in_.arrived.begin() + static_cast<long>(taken);
    given_.assign(in_.arrived.begin(), end);
    unread_ = given_;
    in_.arrived.erase(in_.arrived.begin(), end);
    SimNetwork::Pipe::wake(link_->network.sim_.executor(), in_.writes);
    return unread_;
  }
  void release(std::size_t bytes) override { unread_ = unread_.subspan(bytes); }

  Result<std::size_t> try_write(std::span<const std::byte> head,
                                std::span<const std::byte> body) override {
    SimNetwork& network = link_->network;
    if (network.sim_.chance(network.faults_.cuts)) link_->cut();
    if (out_.cut) return fail(ErrorCode::kUnavailable, "the link is cut");
    if (link_->hears_end_of_reader(out_))
      return fail(ErrorCode::kUnavailable, "the other end is gone");
    const std::size_t left = out_.room - out_.held();
    const std::size_t most = std::min(left, head.size() + body.size());
    if (most == 0) return 0;
    const std::size_t taken = network.sim_.chance(0.5) ? most : 1 + network.sim_.below(most);
    const auto of_head = head.first(std::min(taken, head.size()));
    const auto of_body = body.first(taken - of_head.size());
    net::Bytes bytes(of_head.begin(), of_head.end());
    bytes.insert(bytes.end(), of_body.begin(), of_body.end());
    link_->send(out_, std::move(bytes));
    return taken;
  }

  Future<unsigned> wait_readable() override {
    if (!in_.arrived.empty() || in_.ended || in_.cut) return make_ready(1u);
    return in_.reads.emplace().future();
  }
  Future<unsigned> wait_writable() override {
    if (out_.cut || link_->hears_end_of_reader(out_) || out_.held() < out_.room)
      return make_ready(1u);
    return out_.writes.emplace().future();
  }

 private:
  const Ref<SimNetwork::Link> link_;
  SimNetwork::Pipe& out_;
  SimNetwork::Pipe& in_;
  const net::Peer peer_;
  net::Bytes given_;
  std::span<const std::byte> unread_;  // of it
};

class SimListener final : public net::StreamListener {
 public:
  SimListener(SimNetwork& network, std::string address, uid_t uid, pid_t pid,
              net::Transport::Accept accept)
      : uid(uid),
        pid(pid),
        accept(std::move(accept)),
        network_(network),
        address_(std::move(address)) {
    network_.listeners_[address_] = this;
  }
  ~SimListener() override { network_.listeners_.erase(address_); }
  const std::string& address() const override { return address_; }

  const uid_t uid;
  const pid_t pid;
  const net::Transport::Accept accept;

 private:
  SimNetwork& network_;
  const std::string address_;
};

class SimTransport final : public net::Transport {
 public:
  SimTransport(SimNetwork& network, uid_t uid, pid_t pid)
      : network_(network), uid_(uid), pid_(pid) {}

  Executor& home() override { return network_.sim_.executor(); }
  TimerQueue& timers() override { return network_.sim_.timers(); }

  Result<std::unique_ptr<net::StreamListener>> listen(std::string_view address,
                                                      Accept accept) override {
    if (network_.listeners_.contains(address))
      return fail(ErrorCode::kAlreadyExists, "it is in use");
    return std::make_unique<SimListener>(network_, std::string(address), uid_, pid_,
                                         std::move(accept));
  }

  Future<std::unique_ptr<net::ByteStream>> connect(std::string_view address,
                                                   CallOptions call) override {
    const auto at = network_.listeners_.find(address);
    const bool held = at != network_.listeners_.end() && (network_.holds(pid_, at->second->pid) ||
                                                          network_.holds(at->second->pid, pid_));
    const TimePoint there =
        held ? network_.sim_.now() + kLongestConnect : network_.sim_.now() + network_.delay();
    const TimePoint until = std::min(there, call.deadline);
    const bool late = until < there;
    return sleep_until(until, timers(), call.stop)
        .then(
            home(),
            [&network = network_, uid = uid_, pid = pid_, address = std::string(address),
             late = late || held](Result<void> slept) -> Result<std::unique_ptr<net::ByteStream>> {
              if (!slept) return std::unexpected(slept.error());
              if (late) return fail(ErrorCode::kDeadlineExceeded, "connecting to " + address);
              const auto found = network.listeners_.find(address);
              if (found == network.listeners_.end() || network.killed_.contains(pid) ||
                  network.killed_.contains(found->second->pid))
                return fail(ErrorCode::kUnavailable, "none listens at " + address);
              const SimListener& listener = *found->second;
              auto link = make_ref<SimNetwork::Link>(network, pid, listener.pid);
              network.links_.push_back(link.get());
              auto ours = std::make_unique<SimStream>(
                  link, 0, net::Peer{address, listener.uid, listener.pid});
              const Accept accept = listener.accept;
              accept(std::make_unique<SimStream>(link, 1, net::Peer{address, uid, pid}));
              return ours;
            });
  }

 private:
  SimNetwork& network_;
  const uid_t uid_;
  const pid_t pid_;
};

std::unique_ptr<net::Transport> SimNetwork::make_transport(uid_t uid, pid_t pid) {
  return std::make_unique<SimTransport>(*this, uid, pid);
}

void SimNetwork::release() {
  held_.clear();
  for (Link* const link : links_) link->send_held();
}

void SimNetwork::cut_all() {
  for (Link* const link : links_) link->cut();
}

void SimNetwork::cut(pid_t one, pid_t other) {
  for (Link* const link : links_)
    if (link->is_between(one, other) || link->is_between(other, one)) link->cut();
}

void SimNetwork::kill(pid_t pid) {
  killed_.insert(pid);
  for (Link* const link : links_)
    if (link->pipes[0].from == pid || link->pipes[0].to == pid) link->cut();
}

Duration SimNetwork::delay() {
  const Duration most =
      sim_.chance(faults_.stalls) ? std::chrono::seconds(1) : Duration(faults_.most_delay);
  return Duration(static_cast<Duration::rep>(
      sim_.below(static_cast<std::uint64_t>(std::max<Duration::rep>(most.count(), 1)))));
}

}  // namespace millrace::testing
