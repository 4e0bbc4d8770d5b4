#include "millrace/collectives/make_schedule.h"

#include <string>

#include "millrace/collectives/schedule_builder.h"

namespace millrace::collectives {
namespace {

using Kind = CollectiveCall::Kind;
using Add = void (*)(ScheduleBuilder&, const ScheduleParts&);

struct Form {
  Kind kind;
  Algorithm algorithm;
  Add add;
};

constexpr Form kForms[] = {
    {Kind::kAllReduce, Algorithm::kDirect, add_direct_reduce},
    {Kind::kAllReduce, Algorithm::kRing, add_ring_reduce},
    {Kind::kAllReduce, Algorithm::kRecursiveDoubling, add_doubling_reduce},
    {Kind::kAllReduce, Algorithm::kTree, add_tree_reduce},
    {Kind::kReduceScatter, Algorithm::kDirect, add_direct_reduce},
    {Kind::kReduceScatter, Algorithm::kRing, add_ring_reduce},
    {Kind::kAllGather, Algorithm::kDirect, add_direct_moves},
    {Kind::kAllGather, Algorithm::kRing, add_ring_gather},
    {Kind::kAllGather, Algorithm::kRecursiveDoubling, add_doubling_gather},
    {Kind::kBroadcast, Algorithm::kDirect, add_direct_moves},
    {Kind::kBroadcast, Algorithm::kRing, add_ring_broadcast},
    {Kind::kBroadcast, Algorithm::kTree, add_tree_broadcast},
    {Kind::kGather, Algorithm::kDirect, add_direct_moves},
    {Kind::kScatter, Algorithm::kDirect, add_direct_moves},
    {Kind::kAllToAll, Algorithm::kDirect, add_direct_moves},
    {Kind::kCollectivePermute, Algorithm::kDirect, add_direct_moves},
    {Kind::kBarrier, Algorithm::kDirect, add_direct_barrier},
    {Kind::kBarrier, Algorithm::kRecursiveDoubling, add_doubling_barrier},
    {Kind::kBarrier, Algorithm::kTree, add_tree_barrier},
};

Add find_form(Kind kind, Algorithm algorithm) {
  for (const Form& form : kForms) {
    if (form.kind == kind && form.algorithm == algorithm) return form.add;
  }
  return nullptr;
}

}  // namespace

bool has_form(Kind kind, Algorithm algorithm) { return find_form(kind, algorithm) != nullptr; }

Result<Schedule> make_schedule(const ScheduleRequest& request, const Spread& spread, int process) {
  Add add = find_form(request.kind, request.algorithm);
  if (add == nullptr) {
    return fail(ErrorCode::kUnimplemented,
                std::string(to_string(request.kind)) + " has no form by the algorithm " +
                    std::string(to_string(request.algorithm)) + "; every call has one by direct");
  }
  // The others are of the steps between processes.
  if (spread.processes() == 1) add = find_form(request.kind, Algorithm::kDirect);
  ScheduleBuilder builder;
  add(builder, {request, spread, process});
  return builder.take();
}

}  // namespace millrace::collectives
