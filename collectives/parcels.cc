#include "millrace/collectives/parcels.h"

#include <cstring>
#include <string>
#include <utility>

#include "millrace/collectives/make_schedule.h"

namespace millrace::collectives {

using devices::HostArray;
using devices::Shape;
using Kind = CollectiveCall::Kind;

namespace {

constexpr std::size_t kAlignment = 64;  // of each array in a bundle, as of arrays of the host

std::size_t aligned(std::size_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

Kind moves_as(Kind kind) {
  return kind == Kind::kAgree ? Kind::kAllReduce : kind == Kind::kSplit ? Kind::kAllGather : kind;
}

Shape bytes_shape(devices::DType dtype, std::size_t bytes) {
  return Shape(dtype, {static_cast<std::int64_t>(bytes / devices::byte_width(dtype))});
}

class ParcelMaker {
 public:
  ParcelMaker(const CollectiveCall& call, const Spread& spread, int process, ParcelInputs inputs)
      : call_(call),
        spread_(spread),
        process_(process),
        inputs_(inputs),
        ranks_(static_cast<std::size_t>(spread.count(process))) {}

  Result<Parcels> run() {
    if (call_.kind == Kind::kBarrier) MILLRACE_TRY_STATUS(add_run({}, Shape()));
    for (std::size_t i = 0; i < call_.shapes.size();) {
      const std::size_t end = end_of_bundle(i);
      if (end - i > 1) {
        MILLRACE_TRY_STATUS(add_bundle(i, end));
      } else {
        MILLRACE_TRY_STATUS(add_array(i));
      }
      i = end;
    }
    return std::move(parcels_);
  }

 private:
  std::size_t end_of_bundle(std::size_t i) const {
    std::size_t end = i + 1;
    while (call_.kind == Kind::kAllReduce && end < call_.shapes.size() &&
           call_.shapes[end].dtype() == call_.shapes[i].dtype())
      ++end;
    return end;
  }
  const HostArray& input(std::size_t array, std::size_t rank) const {
    return inputs_[array * ranks_ + rank];
  }

  Status add_array(std::size_t i) {
    ScheduleArrays arrays;
    for (std::size_t d = 0; d < ranks_; ++d) arrays.inputs.push_back(input(i, d).bytes());
    Outcome outcome = outcome_of(call_, call_.shapes[i], static_cast<std::size_t>(spread_.ranks()));
    const bool root_here = spread_.process_of(call_.root) == process_;
    if (call_.kind == Kind::kBroadcast && root_here) {
      outcome.whole = input(i, at(call_.root) - static_cast<std::size_t>(spread_.first(process_)));
    } else if (call_.kind != Kind::kGather || root_here) {
      make_room(outcome, arrays);
    }
    parcels_.outcomes.push_back(std::move(outcome));
    return add_run(std::move(arrays), call_.shapes[i]);
  }
  void make_room(Outcome& outcome, ScheduleArrays& arrays) const {
    const Shape all = outcome.in_parts ? repeated(outcome.shape, ranks_) : outcome.shape;
    const bool may_have_gaps = call_.kind == Kind::kCollectivePermute;
    outcome.whole = may_have_gaps ? HostArray::make(all) : HostArray::make_unwritten(all);
    const auto bytes = outcome.whole.mutable_bytes();
    const std::size_t parts = outcome.in_parts ? ranks_ : 1;
    for (std::size_t d = 0; d < parts; ++d)
      arrays.outputs.push_back(bytes.subspan(outcome.begin_of(d), outcome.shape.size_bytes()));
  }

  // The arrays of each rank as one array, in which each begins where arrays of the host may.
  Status add_bundle(std::size_t begin, std::size_t end) {
    std::size_t bytes = 0;
    for (std::size_t i = begin; i < end; ++i) bytes += aligned(call_.shapes[i].size_bytes());
    const Shape bundle = bytes_shape(call_.shapes[begin].dtype(), bytes);
    ScheduleArrays arrays;
    for (std::size_t d = 0; d < ranks_; ++d) {
      HostArray& packed = parcels_.kept.emplace_back(HostArray::make(bundle));
      std::size_t at = 0;
      for (std::size_t i = begin; i < end; ++i) {
        const auto from = input(i, d).bytes();
        if (!from.empty())
          std::memcpy(packed.mutable_bytes().data() + at, from.data(), from.size());
        at += aligned(from.size());
      }
      arrays.inputs.push_back(packed.bytes());
    }
    HostArray whole = HostArray::make_unwritten(bundle);
    arrays.outputs.push_back(whole.mutable_bytes());
    std::size_t at = 0;
    for (std::size_t i = begin; i < end; ++i) {
      parcels_.outcomes.push_back({whole, at, false, call_.shapes[i]});
      at += aligned(call_.shapes[i].size_bytes());
    }
    return add_run(std::move(arrays), bundle);
  }

  // shape: of what a rank gives; a barrier's has no type.
  Status add_run(ScheduleArrays arrays, const Shape& shape) {
    Folding folding;
    const bool typed = shape.dtype() != devices::DType::kInvalid;
    if (typed) folding.dtype = shape.dtype();
    folding.op = call_.op;
    folding.ranks = static_cast<std::size_t>(spread_.ranks());
    const std::size_t width = typed ? devices::byte_width(shape.dtype()) : 1;
    ScheduleRequest request;
    request.kind = moves_as(call_.kind);
    request.algorithm =
        call_.algorithm.value_or(default_algorithm(call_.kind, spread_.processes()));
    request.elements = typed ? shape.size_bytes() / width : 0;
    request.element_bytes = width;
    request.exact_folds = call_.reduces() && folds_exactly(call_.op, folding.dtype);
    request.root = call_.root;
    request.pairs = call_.pairs;
    MILLRACE_TRY(Schedule schedule, make_schedule(request, spread_, process_));
    parcels_.runs.push_back(ScheduleRun(std::move(schedule), std::move(arrays), folding));
    return {};
  }

  const CollectiveCall& call_;
  const Spread& spread_;
  const int process_;
  const ParcelInputs inputs_;
  const std::size_t ranks_;  // of the process
  Parcels parcels_;
};

}  // namespace

Result<Parcels> make_parcels(const CollectiveCall& call, const Spread& spread, int process,
                             ParcelInputs inputs) {
  return ParcelMaker(call, spread, process, inputs).run();
}

Algorithm default_algorithm(Kind kind, int processes) {
  // Beyond four the tree has no more rounds than doubling, and fewer messages by far: each wakes a
  // process.
  constexpr int kMostDoubling = 4;
  switch (kind) {
    case Kind::kBarrier:
      return processes > kMostDoubling ? Algorithm::kTree : Algorithm::kRecursiveDoubling;
    case Kind::kSplit:
      return Algorithm::kRecursiveDoubling;
    case Kind::kAgree:
      return Algorithm::kTree;
    default:
      return Algorithm::kDirect;
  }
}

Status check_algorithm(const CollectiveCall& call) {
  if (!call.algorithm || has_form(moves_as(call.kind), *call.algorithm)) return {};
  return fail(ErrorCode::kUnimplemented,
              std::string(to_string(call.kind)) + " has no form by the algorithm " +
                  std::string(to_string(*call.algorithm)) + "; every call has one by direct");
}

}  // namespace millrace::collectives
