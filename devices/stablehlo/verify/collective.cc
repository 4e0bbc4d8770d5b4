// Operations among processes, on tokens, and on what other dialects say of where arrays lie: the
// types of their operands, results and bodies. How many processes there are is not known here.
#include <algorithm>
#include <limits>
#include <vector>

#include "millrace/devices/stablehlo/verify/rules.h"

#include "millrace/devices/stablehlo/sharding/manual.h"

namespace millrace::devices::stablehlo::verify {
namespace {

// As many results as operands, at least one.
bool pairs(Check& c) { return c.at_least_operands(1) && c.results(c.op.operand_count()); }

bool token(Check& c, ir::Type type, std::string_view what) {
  return c.is_kind(type, ir::TypeKind::kToken, what, "a token");
}

// Result i is operand i, but for the dimension, where the larger is some times the smaller: as many
// as there are processes in a group.
bool some_times(Check& c, int i, std::int64_t dimension, bool grows) {
  const auto d = static_cast<std::size_t>(dimension);
  const auto from = c.operand(i).dims(), to = c.result(i).dims();
  Dims expected = dims_of(c.operand(i));
  if (d >= from.size())
    return c.fail("operand ", i, " is ", c.operand(i), ", expected a dimension ", dimension);
  expected[d] = ir::kDynamic;
  if (!c.result_dims(i, expected)) return false;
  const std::int64_t less = grows ? from[d] : to[d], more = grows ? to[d] : from[d];
  if (less == ir::kDynamic || more == ir::kDynamic || less == more) return true;
  return (less != 0 && more != 0 && more % less == 0) ||
         c.fail("dimension ", dimension, " of result ", i, " is ", to[d], ", of the operand ",
                from[d], ": expected a multiple of the smaller");
}

bool each_element(Check& c) {
  return all(c.op.operand_count(),
             [&](int i) { return c.same_element(c.result(i), c.operand(i), result_name(i)); });
}

// The operands and results of what has roots: as `pairs`, but for the roots, one for each array, if
// they are an operand.
bool pairs_and_roots(Check& c) {
  if (!c.op.bool_or("has_dynamic_root", false)) return pairs(c);
  if (!c.at_least_operands(2)) return false;
  const int arrays = c.op.operand_count() - 1;
  const ir::Type roots = c.operand(arrays);
  if (roots.dtype() != DType::kI32)
    return c.fail("the list of roots is ", roots, ", expected elements of i32");
  return c.results(arrays) && c.same_dims(roots.dims(), Dims{arrays}, "the list of roots");
}

// One body for all results: of two elements one.
bool combines(Check& c) {
  return c.regions(1) && all(c.op.result_count(), [&](int i) {
           const ir::Type element[] = {c.result(i)}, array[] = {c.operand(i)};
           return c.reducer(0, element, array);
         });
}

bool keeps_shapes(Check& c) {
  return all(c.op.result_count(), [&](int i) { return c.result_dims(i, c.operand(i).dims()); });
}

enum class Groups {
  kEqual,   // each process in one of them, all of one length
  kFilled,  // shorter ones are filled with -1
  kSome,    // of some of the processes
};

// The groups of processes where they are listed; axes of a mesh are not seen through here.
bool replica_groups(Check& c, Groups kind) {
  const auto* dense = c.op.attr<ir::DenseAttr>("replica_groups");
  if (!c.table_of_i64("replica_groups")) return false;
  if (dense == nullptr || !dense->type.is_tensor()) return true;
  if (dense->type.rank() != 2)
    return c.fail("replica_groups is ", dense->type, ", expected two dimensions");
  auto listed = c.op.ints("replica_groups");
  if (!listed) return true;
  std::erase_if(*listed, [&](std::int64_t p) { return p == -1 && kind == Groups::kFilled; });
  std::ranges::sort(*listed);
  for (std::size_t i = 0; i < listed->size(); ++i) {
    const std::int64_t process = (*listed)[i];
    const std::string found = ir::message("replica_groups name process ", process);
    if (process < 0) return c.fail(found, ", expected none below 0");
    if (i > 0 && process == (*listed)[i - 1]) return c.fail(found, " twice");
    if (kind != Groups::kSome && process != static_cast<std::int64_t>(i))
      return c.fail(found, " but not ", i, ", expected each up to the last");
  }
  return true;
}

}  // namespace

bool check_all_gather(Check& c) {
  std::int64_t dimension = 0;
  return replica_groups(c, Groups::kEqual) && pairs(c) && each_element(c) &&
         c.integer("all_gather_dim", 0, c.operand(0).rank() - 1, &dimension) &&
         all(c.op.operand_count(), [&](int i) { return some_times(c, i, dimension, true); });
}

bool check_all_reduce(Check& c) {
  return replica_groups(c, Groups::kFilled) && pairs(c) && combines(c) && keeps_shapes(c);
}

bool check_collective_reduce(Check& c) {
  return pairs_and_roots(c) && combines(c) && keeps_shapes(c);
}

bool check_collective_broadcast(Check& c) {
  return replica_groups(c, Groups::kSome) && pairs_and_roots(c) &&
         all(c.op.result_count(), [&](int i) { return c.result_like(i, c.operand(i)); });
}

bool check_reduce_scatter(Check& c) {
  std::int64_t dimension = 0;
  return replica_groups(c, Groups::kEqual) && c.counts(1, 1) && combines(c) &&
         c.integer("scatter_dimension", 0, c.operand(0).rank() - 1, &dimension) &&
         some_times(c, 0, dimension, false);
}

bool check_all_to_all(Check& c) {
  constexpr std::int64_t kMost = std::int64_t{1} << 32;
  std::int64_t split = 0, concat = 0, count = 0;
  if (!replica_groups(c, Groups::kEqual) || !pairs(c) || !each_element(c) ||
      !c.integer("split_dimension", 0, c.operand(0).rank() - 1, &split) ||
      !c.integer("concat_dimension", 0, c.operand(0).rank() - 1, &concat) ||
      !c.integer("split_count", 1, kMost, &count)) {
    return false;
  }
  for (int i = 0; i < c.op.operand_count(); ++i) {
    Dims expected = dims_of(c.operand(i));
    if (expected.size() != c.operand(0).dims().size())
      return c.fail("the operands have different ranks");
    std::int64_t& parts = expected[static_cast<std::size_t>(split)];
    if (parts != ir::kDynamic && parts % count != 0) {
      return c.fail("dimension ", split, " of operand ", i, " is ", parts,
                    ", expected a multiple of split_count = ", count);
    }
    if (parts != ir::kDynamic) parts /= count;
    std::int64_t& whole = expected[static_cast<std::size_t>(concat)];
    const Wide extent = Wide{whole} * count;
    if (whole != ir::kDynamic && extent > std::numeric_limits<std::int64_t>::max())
      return c.fail("dimension ", concat, " would not fit in 64 bits");
    if (whole != ir::kDynamic) whole = static_cast<std::int64_t>(extent);
    if (!c.result_dims(i, expected)) return false;
  }
  return true;
}

bool check_same_types(Check& c) {
  return same_list(c, c.result_types(), c.operand_types(), "result") &&
         all(c.op.result_count(), [&](int i) {
           const bool ranked = c.result(i).is_tensor() && c.operand(i).is_tensor();
           return !ranked || c.result_dims(i, c.operand(i).dims());
         });
}

// Each process sends to one at most, and gets from one at most.
bool check_collective_permute(Check& c) {
  if (!c.table_of_i64("source_target_pairs")) return false;
  const auto pairs = c.op.ints("source_target_pairs");
  for (std::size_t side = 0; pairs && side < 2; ++side) {
    std::vector<std::int64_t> ends;
    for (std::size_t i = side; i < pairs->size(); i += 2) ends.push_back((*pairs)[i]);
    std::ranges::sort(ends);
    if (!ends.empty() && ends.front() < 0)
      return c.fail("source_target_pairs name process ", ends.front(), ", expected none below 0");
    if (const auto twice = std::ranges::adjacent_find(ends); twice != ends.end())
      return c.fail("source_target_pairs have process ", *twice, " twice as a ",
                    side == 0 ? "source" : "target");
  }
  return check_same_types(c);
}

bool check_process_id(Check& c) {
  return c.counts(0, 1) && c.scalar(c.result(), "the result") &&
         (c.result().dtype() == DType::kU32 ||
          c.fail("the result is ", c.result(), ", expected tensor<ui32>"));
}

bool check_tokens(Check& c) {
  const int operands = c.op.kind() == ir::OpKind::kCreateToken ? 0 : c.op.operand_count();
  return c.counts(operands, 1) &&
         all(operands, [&](int i) { return token(c, c.operand(i), operand_name(i)); }) &&
         token(c, c.result(), "the result");
}

bool check_takes_token(Check& c) {
  return c.at_least_operands(1) && c.results(1) &&
         token(c, c.operand(c.op.operand_count() - 1), "the last operand") &&
         token(c, c.result(), "the result");
}

bool check_gives_token(Check& c) {
  if (!c.counts(1, c.op.result_count()) || !token(c, c.operand(0), "the operand")) return false;
  if (c.op.result_count() == 0) return c.fail("found no results, expected a token at least");
  return token(c, c.result(c.op.result_count() - 1), "the last result");
}

bool check_async_start(Check& c) {
  return c.results(1) && c.regions(1) &&
         c.is_kind(c.result(), ir::TypeKind::kFuture, "the result", "a future") &&
         c.region_types(0, c.operand_types(), c.result().members());
}

bool check_async_done(Check& c) {
  return c.counts(1, c.op.result_count()) &&
         c.is_kind(c.operand(0), ir::TypeKind::kFuture, "operand 0", "a future") &&
         same_list(c, c.result_types(), c.operand(0).members(), "result");
}

// The body has parts of the operands and results, by the manual axes. Without attributes, as on one
// device, the part is the whole.
bool check_manual_computation(Check& c) {
  if (!c.regions(1)) return false;
  const ir::Region& body = c.op.region();
  if (body.blocks().size() != 1 || body.block().empty() ||
      body.block().terminator()->name() != "sdy.return")
    return c.fail("its body is not one block that ends in sdy.return");
  std::vector<ir::Type> in = c.operand_types(), out = c.result_types();
  if (!c.op.attr("manual_axes")) return c.region_types(0, in, out);
  const auto meshes = sharding::Meshes::of(c.module);
  if (!meshes) return c.fail(meshes.error().message());
  const auto manual = sharding::read_manual(c.op, *meshes);
  if (!manual) return c.passes_on(manual.error());
  in = sharding::local_types(c.module, in, manual->in, manual->axes);
  out = sharding::local_types(c.module, out, manual->out, manual->axes);
  return c.region_types(0, in, out);
}

}  // namespace millrace::devices::stablehlo::verify
