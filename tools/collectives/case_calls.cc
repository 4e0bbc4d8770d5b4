#include "millrace/tools/collectives/case_calls.h"

#include <algorithm>
#include <array>
#include <string>

#include "millrace/core/async/blocking.h"

namespace millrace::tools {

using collectives::AgreeOp;
using collectives::CollectiveOptions;
using collectives::ProcessGroup;
using collectives::Rank;
using devices::Buffers;
using devices::DType;
using Kind = collectives::CollectiveCall::Kind;

namespace {

constexpr std::array<std::string_view, 5> kMistakes = {"skip", "op", "dtype", "shape", "root"};

Future<void> agree(const ProcessGroup& group, std::int64_t value, std::int64_t expected,
                   const CollectiveOptions& options) {
  return group.agree(AgreeOp::kMax, value, options)
      .then(inline_executor(), [expected](const Result<std::int64_t>& most) -> Status {
        if (!most) return std::unexpected(most.error());
        if (*most == expected) return {};
        return fail(ErrorCode::kInternal, "the highest number is " + std::to_string(*most));
      });
}

// A part with every other rank, in the opposite order, which meets once.
Future<void> split(const ProcessGroup& group, const CollectiveOptions& options) {
  const int rank = index(group.rank());
  return group.split(rank % 2, -rank, options)
      .then(inline_executor(), [](const Result<ProcessGroup>& part) -> Future<void> {
        if (!part) return part.error();
        const Future<void> met = part->barrier();
        return met.then(inline_executor(), [part = *part](const Result<void>& all) -> Status {
          part.close().ignore();
          if (!all) return std::unexpected(all.error());
          return {};
        });
      });
}

// All give their number, and get those of all.
Future<void> meet(const ProcessGroup& group, const CollectiveOptions& options) {
  return group.rendezvous("case", std::to_string(index(group.rank())), {}, options.call)
      .then(inline_executor(),
            [size = group.size()](const Result<collectives::Payloads>& all) -> Status {
              if (!all) return std::unexpected(all.error());
              for (int rank = 0; rank < size; ++rank) {
                const std::string& given = (**all)[static_cast<std::size_t>(rank)];
                if (given != std::to_string(rank))
                  return fail(ErrorCode::kInternal,
                              to_string(Rank{rank}) + " has given '" + given + "'");
              }
              return {};
            });
}

Future<Buffers> call_arrays(const CollectiveOp& op, const ProcessGroup& group, const Buffers& in,
                            Rank root, const CollectiveOptions& options) {
  switch (*op.kind) {
    case Kind::kAllReduce:
      return group.all_reduce(in, op.reduce, options);
    case Kind::kReduceScatter:
      return group.reduce_scatter(in, op.reduce, options);
    case Kind::kAllGather:
      return group.all_gather(in, options);
    case Kind::kAllToAll:
      return group.all_to_all(in, options);
    case Kind::kCollectivePermute:
      return group.collective_permute(in, ring_of(group.size()), options);
    case Kind::kBroadcast:
      return group.broadcast(in, root, options);
    case Kind::kGather:
      return group.gather(in, root, options);
    default:
      return group.scatter(in, root, options);
  }
}

}  // namespace

CaseCall call_case(const CollectiveCase& one, const ProcessGroup& group, const Buffers& in,
                   const CollectiveOptions& options) {
  const int size = group.size();
  if (!one.op.kind) return {.done = meet(group, options)};
  switch (*one.op.kind) {
    case Kind::kBarrier:
      return {.done = group.barrier(options)};
    case Kind::kAgree:
      return {.done = agree(group, index(group.rank()), size - 1, options)};
    case Kind::kSplit:
      return {.done = split(group, options)};
    default:
      return {.arrays = call_arrays(one.op, group, in, root_of(size), options)};
  }
}

std::optional<Mistake> mistake_of(std::string_view word) {
  const auto found = std::ranges::find(kMistakes, word);
  if (found == kMistakes.end()) return std::nullopt;
  return static_cast<Mistake>(found - kMistakes.begin());
}

bool may_have(const CollectiveCase& one, Mistake mistake) {
  const std::optional<Kind> kind = one.op.kind;
  if (mistake == Mistake::kRoot)
    return kind == Kind::kBroadcast || kind == Kind::kGather || kind == Kind::kScatter;
  return one.has_arrays() || mistake == Mistake::kSkip || (kind && mistake == Mistake::kOp);
}

CaseCall call_wrong(const CollectiveCase& one, Mistake mistake, const ProcessGroup& group,
                    const Buffers& in, const CollectiveOptions& options) {
  CollectiveOptions plain;  // by no algorithm
  plain.call = options.call;
  if (mistake == Mistake::kSkip) {
    // Its number is taken, so that the next call meets the others'.
    static_cast<void>(group.reserve(1));
    return {};
  }
  if (mistake == Mistake::kOp) {
    if (one.op.kind == Kind::kBarrier) return {.done = agree(group, 0, 0, plain)};
    return {.done = group.barrier(plain)};
  }
  if (mistake == Mistake::kRoot)
    return {.arrays = call_arrays(one.op, group, in, Rank{0}, options)};
  CollectiveCase other = one;
  if (mistake == Mistake::kDType)
    other.dtype = one.dtype == DType::kF32 ? DType::kI32 : DType::kF32;
  if (mistake == Mistake::kShape) other.bytes = 2 * one.bytes + 64;
  const auto array = input_of(other, index(group.rank()), group.size());
  const auto put =
      wait_blocking(group.device().put({array.bytes().data(), array.shape(), {}, array.owner()}));
  if (!put) return {.arrays = Future<Buffers>(put.error())};
  return call_case(other, group, Buffers({*put}), options);
}

}  // namespace millrace::tools
