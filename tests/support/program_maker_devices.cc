// Collectives: what devices give each other. Bodies and types are those that XLA's CPU client
// takes.
#include <algorithm>
#include <numeric>

#include "tests/support/program_maker.h"

namespace millrace::testing {

using devices::DType;
using Kind = ProgramAttribute::Kind;
using Numbers = std::vector<std::int64_t>;

namespace {

ProgramAttribute integer(std::string name, std::int64_t value) {
  return {std::move(name), Kind::kInteger, {value}};
}

}  // namespace

void ProgramMaker::collective() {
  switch (below(8)) {
    case 0:
    case 1:
      return reduce_over_devices(false);
    case 2:
      return reduce_over_devices(true);
    case 3:
      return gather_from_devices();
    case 4:
      return exchange_with_devices();
    case 5:
    case 6:
      return move_between_devices();
    default:
      return device_id();
  }
}

std::int64_t ProgramMaker::group_size() {
  std::vector<std::int64_t> sizes = {program_.devices, program_.devices};
  if (program_.devices > 2) sizes.push_back(program_.devices / 2);
  return one_of(sizes);
}

// Those that take part, in any order; global: the operation may number devices as a whole.
std::vector<ProgramAttribute> ProgramMaker::grouped(std::int64_t size, bool global) {
  Numbers devices(static_cast<std::size_t>(program_.devices));
  std::iota(devices.begin(), devices.end(), 0);
  for (std::size_t i = devices.size(); i > 1; --i)
    std::swap(devices[i - 1],
              devices[static_cast<std::size_t>(below(static_cast<std::int64_t>(i)))]);
  std::string text;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    const bool first = static_cast<std::int64_t>(i) % size == 0;
    text += (i == 0 ? "[" : first ? "], [" : ", ") + std::to_string(devices[i]);
  }
  std::vector<ProgramAttribute> attributes = {{"replica_groups",
                                               Kind::kText,
                                               {},
                                               "dense<[" + text + "]]> : tensor<" +
                                                   std::to_string(program_.devices / size) + "x" +
                                                   std::to_string(size) + "xi64>"}};
  if (program_.is_manual || (global && chance(30))) {
    attributes.push_back(
        {"channel_handle",
         Kind::kText,
         {},
         "#stablehlo.channel_handle<handle = " + std::to_string(++channels_) + ", type = 1>"});
    if (global) attributes.push_back({"use_global_device_ids", Kind::kText, {}, "unit"});
  }
  return attributes;
}

int ProgramMaker::over_devices(int v, const Body& body, std::int64_t size) {
  const TensorType scalar{type(v).dtype, {}};
  const int a = program_.add_value(scalar);
  const int b = program_.add_value(scalar);
  const int c = program_.add_value(scalar);
  facts_.resize(program_.types.size());
  ProgramBlock block{.parameters = {a, b}, .steps = {{body.op, {a, b}, {c}}}, .results = {c}};
  return emit("all_reduce", {v}, type(v), summed(v, body, static_cast<double>(size)),
              grouped(size, true), {block});
}

int ProgramMaker::agreed(int selector) {
  const bool flag = type(selector).dtype == DType::kI1;
  return over_devices(selector, {flag ? "and" : "maximum", ""}, program_.devices);
}

void ProgramMaker::reduce_over_devices(bool scatters) {
  const std::int64_t size = group_size();
  const auto divides = [&](int v) {
    return rank(v) > 0 && type(v).dims[0] % size == 0 && type(v).dims[0] > 0;
  };
  const auto found = pick([&](int v) {
    return !devices::is_complex(type(v).dtype) && facts(v).clean && facts(v).bound < 1e6 &&
           (!scatters || divides(v));
  });
  if (!found) return;
  const DType dtype = type(*found).dtype;
  const bool narrow = dtype == DType::kF16 || dtype == DType::kBF16;
  Body body{one_of<std::string>({"maximum", "minimum", "add"}), ""};
  if (narrow && body.op == "add") body.op = "maximum";
  if (dtype == DType::kI1) body.op = chance(50) ? "and" : "or";
  if (!scatters) {
    over_devices(*found, body, size);
    return;
  }
  TensorType part = type(*found);
  part.dims[0] /= size;
  const TensorType scalar{dtype, {}};
  const int a = program_.add_value(scalar);
  const int b = program_.add_value(scalar);
  const int c = program_.add_value(scalar);
  facts_.resize(program_.types.size());
  ProgramBlock block{.parameters = {a, b}, .steps = {{body.op, {a, b}, {c}}}, .results = {c}};
  auto attributes = grouped(size, true);
  attributes.push_back(integer("scatter_dimension", 0));
  emit("reduce_scatter", {*found}, part, summed(*found, body, static_cast<double>(size)),
       std::move(attributes), {block});
}

void ProgramMaker::gather_from_devices() {
  const std::int64_t size = group_size();
  const auto found = pick([&](int v) { return rank(v) > 0 && type(v).elements() <= 512; });
  if (!found) return;
  const std::int64_t dimension = below(rank(*found));
  TensorType whole = type(*found);
  whole.dims[static_cast<std::size_t>(dimension)] *= size;
  auto attributes = grouped(size, true);
  attributes.push_back(integer("all_gather_dim", dimension));
  emit("all_gather", {*found}, whole, facts(*found), std::move(attributes));
}

void ProgramMaker::exchange_with_devices() {
  const std::int64_t size = group_size();
  const auto found = pick([&](int v) {
    return rank(v) > 0 && std::ranges::any_of(
                              type(v).dims, [&](std::int64_t d) { return d > 0 && d % size == 0; });
  });
  if (!found) return;
  TensorType made = type(*found);
  std::size_t split = 0;
  while (made.dims[split] == 0 || made.dims[split] % size != 0) ++split;
  const std::int64_t concat = below(rank(*found));
  made.dims[split] /= size;
  made.dims[static_cast<std::size_t>(concat)] *= size;
  auto attributes = grouped(size, false);
  attributes.push_back(integer("split_dimension", static_cast<std::int64_t>(split)));
  attributes.push_back(integer("concat_dimension", concat));
  attributes.push_back(integer("split_count", size));
  emit("all_to_all", {*found}, made, facts(*found), std::move(attributes));
}

void ProgramMaker::move_between_devices() {
  const auto found = pick_any();
  if (!found) return;
  Numbers targets(static_cast<std::size_t>(program_.devices)), pairs;
  std::iota(targets.begin(), targets.end(), 0);
  for (std::size_t i = targets.size(); i > 1; --i)
    std::swap(targets[i - 1],
              targets[static_cast<std::size_t>(below(static_cast<std::int64_t>(i)))]);
  for (int d = 0; d < program_.devices; ++d) {
    if (chance(80)) pairs.insert(pairs.end(), {d, targets[static_cast<std::size_t>(d)]});
  }
  std::vector<ProgramAttribute> attributes = {{"source_target_pairs", Kind::kPairs, pairs}};
  if (program_.is_manual) {
    attributes.push_back(
        {"channel_handle",
         Kind::kText,
         {},
         "#stablehlo.channel_handle<handle = " + std::to_string(++channels_) + ", type = 1>"});
  }
  emit("collective_permute", {*found}, type(*found), facts(*found), std::move(attributes));
}

void ProgramMaker::device_id() {
  emit(program_.is_manual ? "partition_id" : "replica_id", {}, {DType::kU32, {}}, {.bound = 8});
}

}  // namespace millrace::testing
