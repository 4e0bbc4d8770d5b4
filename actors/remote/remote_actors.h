// RemoteActors: how a process reaches the actors of the other processes of its job, and lets them
// reach its own. One for each process, over its mesh and its actor system:
//
//   RemoteActors remote(mesh, system, environment);
//   remote.serve<Store>();                                         // others may find a Store here
//   Result<RemoteRef<Store>> store = co_await remote.find<Store>(3, "store");
//   if (!store) co_return store.error();
//   Status sent = co_await store->tell(put);
//   Result<std::uint64_t> rows = co_await remote.cast<Store>("store", Count{});    // of all ranks
//
// Read next: remote_ref.h, what a reference does; remote_class.h, what a class says of itself;
// inside: remote_node.h.
#pragma once

#include <string>
#include <typeinfo>
#include <utility>
#include <vector>

#include "millrace/actors/remote/remote_node.h"
#include "millrace/actors/remote/remote_ref.h"

namespace millrace::actors {

// Owned by what owns the mesh and the actor system, which outlive it; its close() has completed
// before it is destroyed (CHECKed), and before the system closes or after, and before the mesh is
// destroyed. Thread-safety: thread-safe.
class RemoteActors {
 public:
  RemoteActors(Ref<net::Mesh> mesh, ActorSystem& system, const Environment& environment);
  ~RemoteActors();
  RemoteActors(const RemoteActors&) = delete;
  RemoteActors& operator=(const RemoteActors&) = delete;

  // From now on others find actors of exactly this class here.
  template <class A>
  void serve() {
    node_->serve(typeid(A), remote_class<A>());
  }

  // The actor of that name in the process of that rank, which may be this one. kNotFound names
  // both: there is no such actor, or its class is not served; kInvalidArgument: it is of another
  // class; kUnavailable: the process is gone; kDeadlineExceeded if it never comes.
  template <class A>
  Future<RemoteRef<A>> find(std::uint32_t rank, std::string name, const CallOptions& options = {}) {
    MILLRACE_TRY_STATUS(check_in_time(options, *node_->environment().clock, "the search"));
    MILLRACE_TRY(const Ref<Caller> caller, node_->caller(rank));
    auto call = make_ref<FindCall<A>>(caller, std::move(name));
    Future<RemoteRef<A>> found(call->cell);
    const std::uint64_t number = caller->call(call->frame(), call);
    caller->limit(number, call, call->cell, options);
    return found;
  }

  // Asks the actor of that name of each rank, and gives the answers reduced in the order of the
  // ranks, by M::reduce. An error is the first that came; it names its rank. ranks: distinct; by
  // default all. A cast to a slow actor waits for room here, as an ask does; kResourceExhausted:
  // too much waits already.
  template <class A, class M>
  Future<AnswerTo<A, M>> cast(std::string name, const M& message, const CallOptions& options = {}) {
    return cast<A, M>(std::move(name), message, CastRanks::all(node_->mesh().size()), options);
  }
  template <class A, class M>
  Future<AnswerTo<A, M>> cast(std::string name, const M& message, const CastRanks& ranks,
                              const CallOptions& options = {}) {
    static_assert(Casts<A, M>, "a message that is cast has M::reduce(R& into, R&& next)");
    MILLRACE_TRY_STATUS(check_in_time(options, *node_->environment().clock, kMessageType<M>.name));
    MILLRACE_TRY_STATUS(check_ranks(ranks));
    const RemoteMessage& served = remote_class<A>().messages[A::Remote::template place<M>()];
    auto call = make_ref<AskCall<AnswerTo<A, M>>>(kMessageType<M>, name);
    Future<AnswerTo<A, M>> answer(call->cell);
    start_cast({.request = {.name = std::move(name),
                            .type = std::string(remote_class<A>().type),
                            .schema = served.schema.text(),
                            .ranks = ranks,
                            .message = to_wire(message)},
                .message = &served,
                .type = &typeid(A),
                .deadline = options.deadline},
               call, call->cell, options);
    return answer;
  }

  // Refuses new calls, ends those that wait and those that it serves, on both sides, and says to
  // others that its actors are out of reach. Any call gives the same end.
  Future<void> close() { return node_->close(); }

  // For tests and for reports: what waits here for actors of a rank, and what is under way to them.
  struct Load {
    std::size_t waiting_bytes = 0;
    std::size_t under_way_bytes = 0;
  };
  Load load(std::uint32_t rank) const;

 private:
  template <class A>
  class FindCall;

  Status check_ranks(const CastRanks& ranks) const;
  void start_cast(const RemoteNode::CastPlan& plan, const Ref<PendingCall>& call,
                  const Ref<AsyncValue>& answer, const CallOptions& options);

  const Ref<RemoteNode> node_;
};

template <class A>
class RemoteActors::FindCall final : public PendingCall {
 public:
  FindCall(Ref<Caller> caller, std::string name)
      : caller_(std::move(caller)), name_(std::move(name)) {}

  net::Frame frame() const {
    const RemoteClass& served = remote_class<A>();
    FindRequest request{name_, std::string(served.type), {}};
    for (const RemoteMessage& message : served.messages)
      request.schemas.push_back(message.schema.text());
    return {{.kind = kActorFind}, encode(request)};
  }
  void take(const Result<net::Bytes>& answer) noexcept override {
    if (cell->unique()) cell->ignore_error();
    cell->try_set(read(answer));
  }
  std::string what() const override { return "the search for actor '" + name_ + "'"; }
  bool ended() const override { return cell->complete(); }

  const Ref<Cell<RemoteRef<A>>> cell = make_ref<Cell<RemoteRef<A>>>();

 private:
  Result<RemoteRef<A>> read(const Result<net::Bytes>& answer) const {
    if (!answer) return std::unexpected(answer.error());
    MILLRACE_TRY(FindAnswer found, read_find_answer(*answer));
    return RemoteRef<A>(caller_->adopt(std::move(found), name_));
  }

  const Ref<Caller> caller_;
  const std::string name_;
};

}  // namespace millrace::actors
