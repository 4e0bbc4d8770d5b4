#include "millrace/collectives/collective_call.h"

#include <algorithm>
#include <cstdio>
#include <vector>

#include "millrace/collectives/fingerprint.h"

namespace millrace::collectives {
namespace {

using Kind = CollectiveCall::Kind;

Status check_root(const CollectiveCall& call, Rank caller, bool has_arrays, int size) {
  if (index(call.root) < 0 || index(call.root) >= size) {
    return fail(ErrorCode::kInvalidArgument, "there is no " +
                                                 millrace::collectives::to_string(call.root) +
                                                 ", the group has " + std::to_string(size));
  }
  if (call.kind != Kind::kGather && caller == call.root && !has_arrays && !call.shapes.empty()) {
    return fail(ErrorCode::kInvalidArgument,
                "the root gives shapes but no arrays; only the others may receive without arrays");
  }
  return {};
}

// Each rank gets its part of the first dimension.
Status check_parts(const CollectiveCall& call, int size) {
  for (std::size_t i = 0; i < call.shapes.size(); ++i) {
    const devices::Shape& shape = call.shapes[i];
    if (shape.rank() > 0 && shape.dim(0) % size == 0) continue;
    return fail(ErrorCode::kInvalidArgument,
                "array " + std::to_string(i) + " is " + shape.to_string() +
                    ": its first dimension must be a multiple of the group's size, " +
                    std::to_string(size));
  }
  return {};
}

Status check_pairs(const CollectiveCall& call, int size) {
  std::vector<bool> sources(static_cast<std::size_t>(size)), targets(sources);
  const auto take = [&](std::vector<bool>& taken, Rank rank, const char* role) -> Status {
    const bool there = index(rank) >= 0 && index(rank) < size;
    if (there && !taken[at(rank)]) {
      taken[at(rank)] = true;
      return {};
    }
    return fail(ErrorCode::kInvalidArgument,
                millrace::collectives::to_string(rank) +
                    (there ? std::string(" is twice a ") + role
                           : " is no rank of the group, which has " + std::to_string(size)));
  };
  for (const RankPair& pair : call.pairs) {
    MILLRACE_TRY_STATUS(take(sources, pair.source, "source"));
    MILLRACE_TRY_STATUS(take(targets, pair.target, "target"));
  }
  return {};
}

}  // namespace

std::string_view to_string(Kind kind) {
  constexpr std::string_view kNames[CollectiveCall::kKinds] = {
      "all_reduce",         "all_gather", "broadcast", "barrier", "reduce_scatter", "all_to_all",
      "collective_permute", "gather",     "scatter",   "split",   "agree"};
  return kNames[static_cast<std::size_t>(kind)];
}

bool CollectiveCall::reads(Rank rank) const {
  switch (kind) {
    case Kind::kBarrier:
      return false;
    case Kind::kBroadcast:
    case Kind::kScatter:
      return rank == root;
    case Kind::kCollectivePermute:
      return std::ranges::find(pairs, rank, &RankPair::source) != pairs.end();
    default:
      return true;
  }
}

bool CollectiveCall::gives(Rank rank) const { return kind != Kind::kGather || rank == root; }

std::string CollectiveCall::to_string() const {
  constexpr std::size_t kListed = 4;
  std::string text(millrace::collectives::to_string(kind));
  text += "(";
  const auto add = [&text](const std::string& word) {
    if (text.back() != '(') text += ", ";
    text += word;
  };
  // The bits of a number are booleans (numbers.h).
  const bool bits = kind == Kind::kAgree && shapes[0].dtype() == devices::DType::kI1;
  if (reduces()) add(bits ? "and" : std::string(millrace::collectives::to_string(op)));
  if (has_root()) add("root " + std::to_string(index(root)));
  for (std::size_t i = 0; i < pairs.size() && i < kListed; ++i)
    add(std::to_string(index(pairs[i].source)) + "->" + std::to_string(index(pairs[i].target)));
  if (pairs.size() > kListed) add("... " + std::to_string(pairs.size()) + " pairs");
  for (std::size_t i = 0; i < shapes.size() && i < kListed && !is_about_numbers(); ++i)
    add(shapes[i].to_string());
  if (shapes.size() > kListed) add("... " + std::to_string(shapes.size()) + " arrays");
  if (algorithm) add("by " + std::string(millrace::collectives::to_string(*algorithm)));
  if (std::max(shapes.size(), pairs.size()) > kListed) {
    char number[20];
    std::snprintf(number, sizeof number, "#%016llx",
                  static_cast<unsigned long long>(fingerprint(*this)));
    add(number);
  }
  return text + ")";
}

std::uint64_t fingerprint(const CollectiveCall& call) {
  Fingerprint print;
  print.add(static_cast<std::uint64_t>(call.kind));
  print.add(static_cast<std::uint64_t>(call.op));
  print.add(static_cast<std::uint32_t>(call.root));
  print.add(call.algorithm ? 1 + static_cast<std::uint64_t>(*call.algorithm) : 0);
  print.add(call.pairs.size());
  for (const RankPair& pair : call.pairs) {
    print.add(static_cast<std::uint32_t>(pair.source));
    print.add(static_cast<std::uint32_t>(pair.target));
  }
  print.add(call.shapes.size());
  for (const devices::Shape& shape : call.shapes) {
    print.add(static_cast<std::uint64_t>(shape.dtype()));
    print.add(static_cast<std::uint64_t>(shape.rank()));
    for (const std::int64_t dim : shape.dims()) print.add(static_cast<std::uint64_t>(dim));
  }
  return print.value();
}

Status check_call(const CollectiveCall& call, Rank caller, bool has_arrays, int size) {
  for (std::size_t i = 0; i < call.shapes.size(); ++i) {
    if (call.shapes[i].dtype() != devices::DType::kInvalid) continue;
    return fail(ErrorCode::kInvalidArgument,
                "array " + std::to_string(i) +
                    (has_arrays ? " is an empty Buffer" : " has a Shape of no element type"));
  }
  if (call.reduces()) {
    for (const devices::Shape& shape : call.shapes)
      MILLRACE_TRY_STATUS(check_reducible(call.op, shape.dtype()));
  }
  if (call.has_root()) MILLRACE_TRY_STATUS(check_root(call, caller, has_arrays, size));
  switch (call.kind) {
    case Kind::kReduceScatter:
    case Kind::kAllToAll:
    case Kind::kScatter:
      return check_parts(call, size);
    case Kind::kCollectivePermute:
      return check_pairs(call, size);
    default:
      return {};
  }
}

Error difference_error(std::string_view where, Rank one, std::string_view call, Rank other,
                       std::string_view other_call) {
  std::string text(where);
  text += ": " + to_string(one) + " called ";
  text += call;
  text += ", " + to_string(other) + " called ";
  text += other_call;
  text += "; all ranks must make the same calls in the same order";
  return Error(ErrorCode::kFailedPrecondition, std::move(text))
      .with_detail(Culprits{Culprits::Kind::kMismatch, {one, other}});
}

}  // namespace millrace::collectives
