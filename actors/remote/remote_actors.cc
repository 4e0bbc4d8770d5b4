#include "millrace/actors/remote/remote_actors.h"

#include "millrace/core/async/combinators.h"

namespace millrace::actors {

RemoteActors::RemoteActors(Ref<net::Mesh> mesh, ActorSystem& system, const Environment& environment)
    : node_(make_ref<RemoteNode>(std::move(mesh), system, environment)) {
  node_->start();
}

RemoteActors::~RemoteActors() {
  MILLRACE_CHECK(node_->is_closed(),
                 "remote actors were destroyed before their close() had completed");
}

RemoteActors::Load RemoteActors::load(std::uint32_t rank) const {
  const Result<Ref<Caller>> caller = node_->caller(rank);
  if (!caller) return {};
  return {(*caller)->waiting_bytes(), (*caller)->under_way_bytes()};
}

Status RemoteActors::check_ranks(const CastRanks& ranks) const {
  if (ranks.size() == 0) return fail(ErrorCode::kInvalidArgument, "a cast to no rank");
  const std::uint32_t last = ranks.at(ranks.size() - 1), size = node_->mesh().size();
  if (last < size) return {};
  return fail(ErrorCode::kInvalidArgument,
              "a cast to rank " + std::to_string(last) + " in a job of " + std::to_string(size));
}

void RemoteActors::start_cast(const RemoteNode::CastPlan& plan, const Ref<PendingCall>& call,
                              const Ref<AsyncValue>& answer, const CallOptions& options) {
  auto run = make_ref<CastRun>(*plan.message, plan.request.name,
                               [call](const Result<net::Bytes>& reduced) { call->take(reduced); });
  const Future<void> accepted = node_->cast(run, plan);
  if (accepted.valid()) accepted.ignore();
  if (!options.stop.stop_possible()) return;
  // The deadline is the run's, which knows what is missing.
  millrace::detail::limit_wait({.stop = options.stop}, nullptr, answer, Ref<RefCounted>(run),
                               [](RefCounted& target, millrace::detail::WaitEnd) {
                                 static_cast<CastRun&>(target).cancel(Error(
                                     ErrorCode::kCancelled, "the cast was stopped on request"));
                               });
}

void detail::link_remote(const Ref<ActorCell>& here, const Ref<RemoteTarget>& there) {
  Caller& caller = there->caller();
  caller.notify(*there, {{.kind = kActorLink, .channel = there->id(), .sequence = here->id()},
                         net::bytes_of(here->name())});
  there->down()
      .then(inline_executor(),
            [here](const Result<Down>& down) {
              if (!down || !down->exit.failure()) return;
              const Error& why = *down->exit.error;
              here->stop(
                  Exit{ExitReason::kKilled, why.with_context("it was linked to actor '" +
                                                             down->name + "', which failed")},
                  StopMode::kNow);
            })
      .ignore();
  here->down()
      .then(inline_executor(),
            [there](const Result<Down>& down) {
              if (!down) return;
              there->caller().notify(
                  *there, {{.kind = kActorLinkEnd, .channel = there->id(), .sequence = down->id},
                           encode(down->exit)});
            })
      .ignore();
}

}  // namespace millrace::actors
