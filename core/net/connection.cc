#include "millrace/core/net/connection.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "millrace/core/base/check.h"
#include "millrace/core/net/spare_bytes.h"

namespace millrace::net {
namespace {

constexpr std::size_t kReadBytes = std::size_t{256} << 10;
constexpr int kReadsInARow = 8;  // then others of the home executor have their turn
constexpr std::size_t kMostWords = 160;

}  // namespace

std::string_view to_string(EndCause cause) {
  switch (cause) {
    case EndCause::kClosedHere:
      return "closed by this process";
    case EndCause::kClosedThere:
      return "closed by the other end";
    case EndCause::kReset:
      return "ended without a goodbye";
    case EndCause::kProtocolError:
      return "ended for what the other end sent";
    case EndCause::kAbandoned:
      return "abandoned";
  }
  return "ended";
}

Error ConnectionEnd::error(const Peer& peer) const {
  std::string text = "the connection to " + peer.address;
  if (peer.pid) text += " (pid " + std::to_string(*peer.pid) + ")";
  text += " was " + std::string(to_string(cause));
  if (!words.empty()) text += ": " + words;
  return Error(ErrorCode::kUnavailable, text).with_detail(cause);
}

Ref<Connection> Connection::make(std::unique_ptr<ByteStream> stream, Transport& transport,
                                 const ConnectionOptions& options) {
  return Ref<Connection>::adopt(new Connection(std::move(stream), transport, options));
}

Connection::Connection(std::unique_ptr<ByteStream> stream, Transport& transport,
                       const ConnectionOptions& options)
    : home_(transport.home()),
      timers_(transport.timers()),
      peer_(stream->peer()),
      stream_(std::move(stream)),
      parser_(options.max_payload),
      may_read_(options.most_read),
      farewell_(options.farewell),
      most_queued_(options.most_queued) {}

Connection::~Connection() = default;

void Connection::move(State to) {
  const State from = state_;
  MILLRACE_CHECK(from != State::kEnded && (to == State::kEnded || from == State::kOpen),
                 "a connection takes no such step");
  state_ = to;
}

void Connection::start(FrameSink sink) {
  set_sink(std::move(sink));
  post(home_, [self = self()] { self->read(); });
}

void Connection::set_limits(std::size_t max_payload, std::size_t most_queued) {
  parser_.set_max_payload(max_payload);
  may_read_.reset();
  MutexLock lock(mutex_);
  most_queued_ = most_queued;
}

void Connection::set_sink(FrameSink sink) {
  sink_ = std::make_shared<const FrameSink>(std::move(sink));
}

void Connection::set_error_of_end(ErrorOfEnd error_of_end) {
  MutexLock lock(mutex_);
  error_of_end_ = std::move(error_of_end);
}

Error Connection::error_of(const ConnectionEnd& end) const {
  return error_of_end_ ? error_of_end_(end) : end.error(peer_);
}

Future<void> Connection::send(Frame frame) {
  MutexLock lock(mutex_);
  if (state_ != State::kOpen) return error_of(*end_);
  const std::size_t bytes = kHeaderBytes + frame.payload.size();
  if (!queue_.empty() && bytes > most_queued_ - std::min(queued_, most_queued_)) {
    return fail(ErrorCode::kResourceExhausted,
                std::to_string(queued_) + " bytes wait already for " + peer_.address +
                    ", which does not take them; await earlier sends");
  }
  return push(std::move(frame));
}

Future<void> Connection::send_now(const FrameHeader& header, std::span<const std::byte> payload) {
  write();  // what was sent before
  const HeaderBytes head = encode_header(header, payload.size());
  std::size_t taken = 0;
  bool is_first = false;
  {
    MutexLock lock(mutex_);
    is_first = state_ == State::kOpen && queue_.empty();
  }
  if (is_first && stream_ && !waits_writable_ && !write_failed_) {
    const Result<std::size_t> wrote = stream_->try_write(head, payload);
    write_failed_ = !wrote;
    taken = wrote.value_or(0);
    if (taken == head.size() + payload.size()) return make_ready();
  }
  const auto copy = [&] {
    Bytes bytes = take_spare_bytes(payload.size());
    bytes.assign(payload.begin(), payload.end());
    return bytes;
  };
  if (taken == 0) return send({header, copy()});
  write_failed_ = true;  // where there is no memory for the rest, nothing may follow
  Bytes rest = copy();
  // The front of it is gone: it comes before what other threads have sent meanwhile, a goodbye too.
  MutexLock lock(mutex_);
  queue_.push_front({head, std::move(rest), {}});
  written_ = taken;
  write_failed_ = false;
  queued_ += queue_.front().bytes();
  post_write();
  return queue_.front().sent.future();
}

Future<void> Connection::push(Frame frame) {
  const HeaderBytes header = encode_header(frame.header, frame.payload.size());
  queue_.push_back({header, std::move(frame.payload), {}});
  queued_ += queue_.back().bytes();
  post_write();
  return queue_.back().sent.future();
}

void Connection::post_write() {
  if (reader_ == std::this_thread::get_id()) return;  // read() writes before it returns
  if (std::exchange(write_posted_, true)) return;
  post(home_, [self = self()] { self->write(); });
}

// Writes what the stream takes. Each turn works on the first of the queue, outside the lock: it is
// home alone that takes from the queue, and a deque's elements stay where they are.
void Connection::write() {
  {
    MutexLock lock(mutex_);
    write_posted_ = false;
  }
  while (stream_ && !waits_writable_ && !write_failed_) {
    const Outgoing* first = nullptr;
    {
      MutexLock lock(mutex_);
      if (!queue_.empty()) first = &queue_.front();
    }
    if (first == nullptr) {
      if (other_left_) finish(EndCause::kReset, {});
      return;
    }
    const std::span<const std::byte> head = first->header, body = first->payload;
    const std::size_t of_head = std::min(written_, head.size());
    const Result<std::size_t> taken =
        stream_->try_write(head.subspan(of_head), body.subspan(written_ - of_head));
    if (!taken) {
      // What the other end said last may still be there: its end is found by reading.
      write_failed_ = true;
      if (other_left_) return finish(EndCause::kReset, {});
      break;
    }
    if (*taken == 0) {
      waits_writable_ = true;
      when_ready(stream_->wait_writable(), [this] {
        waits_writable_ = false;
        write();
      });
      return;
    }
    written_ += *taken;
    if (written_ < first->bytes()) continue;
    written_ = 0;
    std::optional<Outgoing> sent;
    {
      MutexLock lock(mutex_);
      queued_ -= queue_.front().bytes();
      sent.emplace(std::move(queue_.front()));
      queue_.pop_front();
    }
    give_spare_bytes(std::move(sent->payload));
    sent->sent.set_value();
  }
  // The sink may wait for one of these, and until it is done no end is found.
  if (stream_ && write_failed_ && sink_busy_) fail_unsent();
}

void Connection::fail_unsent() {
  Queue unsent;
  std::optional<Error> error;
  {
    MutexLock lock(mutex_);
    error = error_of({EndCause::kReset, "it takes no more"});
    unsent.swap(queue_);
    queued_ = 0;
  }
  for (Outgoing& outgoing : unsent) outgoing.sent.set_error(*error);
}

void Connection::read() {
  for (int reads = 0; reads < kReadsInARow;) {
    const Next next = read_and_answer(reads);
    if (next == Next::kRead) break;
    if (next == Next::kStop || !stream_) return;
    const Future<unsigned> ready = stream_->wait_readable();
    if (!ready.ready() || !ready.result()) return when_ready(ready, [this] { read(); });
  }
  post(home_, [self = self()] { self->read(); });
}

// Until nothing is there, or others have their turn. reads: how many of its row were made.
Connection::Next Connection::read_and_answer(int& reads) {
  {
    MutexLock lock(mutex_);
    reader_ = std::this_thread::get_id();
  }
  Next next = Next::kRead;
  for (; next == Next::kRead && reads < kReadsInARow; ++reads)
    next = stream_ && parse() ? read_some() : Next::kStop;
  bool answers = false;
  {
    MutexLock lock(mutex_);
    reader_ = {};
    answers = !queue_.empty();
  }
  if (answers) write();
  return next;
}

// A transport completes its waits on the home executor: work goes on in the same turn.
void Connection::when_ready(const Future<unsigned>& ready, std::function<void()> work) {
  Executor& executor = ready.ready() ? home_ : inline_executor();
  ready
      .then(executor,
            [self = self(), work = std::move(work)](const Result<unsigned>& found) {
              if (!found) return self->finish(EndCause::kReset, found.error().message());
              work();
            })
      .ignore();
}

Connection::Next Connection::read_some() {
  const std::size_t most = std::min(kReadBytes, may_read_.value_or(kReadBytes));
  if (most == 0) {
    finish(EndCause::kProtocolError, "it says more than a stranger may");
    return Next::kStop;
  }
  const auto got = stream_->try_read(most);
  if (!got) {
    finish(EndCause::kReset, got.error().message());
    return Next::kStop;
  }
  if (!*got) return Next::kWait;
  if ((*got)->empty()) {
    finish(EndCause::kReset, parser_.between_frames() ? "" : "in the middle of a frame");
    return Next::kStop;
  }
  unread_ = **got;
  heard_ = true;
  if (may_read_) *may_read_ -= unread_.size();
  return Next::kRead;
}

// Gives frames of what was read to the sink. False: the sink is busy, or the connection has ended.
// The parser copies payloads out of where the stream has them, once, or lends them to the sink.
bool Connection::parse() {
  for (bool more = true; more && stream_;) {
    const std::size_t held = unread_.size();
    auto next = parser_.next(unread_);
    if (!next) {
      finish(EndCause::kProtocolError, next.error().message());
      return false;
    }
    const bool is_frame = next->has_value();
    if (is_frame) more = take(**std::move(next));  // which may read what is lent of these bytes
    if (held > unread_.size() && stream_) stream_->release(held - unread_.size());
    if (!is_frame) return true;
  }
  return false;
}

bool Connection::take(Frame frame) {
  if (frame.header.kind == FrameKind::kGoodbye || frame.header.kind == FrameKind::kGoodbyeAnswer) {
    take_goodbye(frame);
    return stream_ != nullptr;
  }
  if (other_left_) {
    finish(EndCause::kProtocolError, "a frame came after the goodbye");
    return false;
  }
  const auto sink = sink_;  // which may set another
  const Future<void> taken = (*sink)(std::move(frame));
  if (!stream_) return false;
  if (!taken.valid()) return true;
  if (taken.ready() && taken.result()) return true;
  sink_busy_ = true;
  taken
      .then(home_,
            [self = self()](const Result<void>& result) {
              self->sink_busy_ = false;
              if (result) return self->read();
              const bool cut = self->write_failed_;  // see write()
              self->finish(cut ? EndCause::kReset : EndCause::kProtocolError,
                           result.error().message());
            })
      .ignore();
  return false;
}

void Connection::take_goodbye(const Frame& frame) {
  const std::span<const std::byte> words = frame.bytes();
  const std::span<const std::byte> kept = words.first(std::min(words.size(), kMostWords));
  std::string text(reinterpret_cast<const char*>(kept.data()), kept.size());
  const bool answer = frame.header.kind == FrameKind::kGoodbyeAnswer;
  bool in_place = true, all_sent = false;
  {
    MutexLock lock(mutex_);
    in_place = !other_left_ && (state_ == State::kLeaving || (state_ == State::kOpen && !answer));
    if (in_place && state_ == State::kOpen) {
      move(State::kAnswering);
      end_ = {EndCause::kClosedThere, text};
      push({{.kind = FrameKind::kGoodbyeAnswer}, {}}).ignore();
    }
    all_sent = queue_.empty();
  }
  if (!in_place) return finish(EndCause::kProtocolError, "a goodbye came that has no place");
  other_left_ = true;
  last_words_ = std::move(text);
  if (all_sent) finish(EndCause::kReset, {});  // the other end has heard it all: see finish()
}

Future<void> Connection::close(std::string_view words) {
  {
    MutexLock lock(mutex_);
    if (state_ == State::kOpen) {
      move(State::kLeaving);
      end_ = {EndCause::kClosedHere, std::string(words)};
      push({{.kind = FrameKind::kGoodbye}, bytes_of(words.substr(0, kMostWords))}).ignore();
    }
    // Also where the other end has left first: it may not take the answer.
    if (state_ != State::kEnded) post(home_, [self = self()] { self->limit_farewell(); });
  }
  return ended_.then(inline_executor(), [](const Result<ConnectionEnd>&) {});
}

void Connection::limit_farewell() {
  if (!stream_ || farewell_timer_) return;
  const TimePoint until = timers_.clock().now() + farewell_;
  farewell_timer_ = timers_.schedule(until, [self = self()] {
    if (self->other_left_) return self->finish(EndCause::kReset, {});  // in order: see finish()
    self->finish(EndCause::kClosedHere, "no goodbye came back");
  });
}

void Connection::abandon(std::string_view words, EndCause cause) {
  post(home_, [self = self(), words = std::string(words), cause] { self->finish(cause, words); });
}

void Connection::finish(EndCause cause, std::string words) {
  if (!stream_) return;
  const Ref<Connection> keep = self();
  stream_.reset();
  auto sink = std::exchange(sink_, {});
  ConnectionEnd end{cause, std::move(words)};
  Queue unsent;
  std::optional<Error> error;
  {
    MutexLock lock(mutex_);
    if (cause == EndCause::kReset && other_left_) {  // whose goodbye was heard has not been lost
      const bool first = state_ == State::kLeaving;
      end = {first ? EndCause::kClosedHere : EndCause::kClosedThere, last_words_};
    }
    move(State::kEnded);
    end_ = end;
    error = error_of(end);
    unsent.swap(queue_);
    queued_ = 0;
  }
  if (farewell_timer_) timers_.cancel(*farewell_timer_);
  for (Outgoing& outgoing : unsent) outgoing.sent.set_error(*error);
  sink = nullptr;
  promise_.set(std::move(end));
}

}  // namespace millrace::net
