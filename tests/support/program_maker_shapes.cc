// What moves elements: nothing is computed, so what is known of the operand holds for the result.
#include <algorithm>
#include <numeric>

#include "tests/support/program_maker.h"

namespace millrace::testing {

using devices::DType;
using Kind = ProgramAttribute::Kind;
using Numbers = std::vector<std::int64_t>;

namespace {

// Numbers of the list at these places.
std::string text_of(const Numbers& numbers) {
  std::string text = "[";
  for (const std::int64_t n : numbers) text += (text == "[" ? "" : ", ") + std::to_string(n);
  return text + "]";
}

// "a = [1, 2], " or nothing where the list is empty.
std::string field(const std::string& name, const Numbers& numbers) {
  return numbers.empty() ? "" : name + " = " + text_of(numbers) + ", ";
}

}  // namespace

void ProgramMaker::reshape_or_transpose() {
  const auto found = pick_any();
  if (!found) return;
  const int x = *found;
  Numbers dims = type(x).dims;
  if (chance(50) && !dims.empty()) {
    Numbers order(dims.size());
    std::iota(order.begin(), order.end(), 0);
    for (std::size_t i = order.size(); i > 1; --i)
      std::swap(order[i - 1], order[static_cast<std::size_t>(below(static_cast<std::int64_t>(i)))]);
    Numbers result;
    for (const std::int64_t d : order) result.push_back(dims[static_cast<std::size_t>(d)]);
    emit("transpose", {x}, {type(x).dtype, result}, facts(x),
         {{"permutation", Kind::kArray, order}});
    return;
  }
  // Two dimensions become one, one becomes two, or one of size 1 comes or goes.
  const std::int64_t way = below(3);
  if (way == 0 && dims.size() >= 2) {
    const auto at = below(static_cast<std::int64_t>(dims.size()) - 1);
    dims[static_cast<std::size_t>(at)] *= dims[static_cast<std::size_t>(at) + 1];
    dims.erase(dims.begin() + at + 1);
  } else if (way == 1 && !dims.empty()) {
    const auto at = below(static_cast<std::int64_t>(dims.size()));
    std::int64_t& d = dims[static_cast<std::size_t>(at)];
    const std::int64_t factor = d % 2 == 0 && d > 0 ? 2 : d % 3 == 0 && d > 0 ? 3 : 1;
    d /= factor;
    dims.insert(dims.begin() + at, factor);
  } else if (std::ranges::find(dims, 1) != dims.end()) {
    dims.erase(std::ranges::find(dims, 1));
  } else {
    dims.insert(dims.begin() + below(static_cast<std::int64_t>(dims.size()) + 1), 1);
  }
  if (dims.size() > 5) return;
  emit("reshape", {x}, {type(x).dtype, dims}, facts(x));
}

void ProgramMaker::broadcast_or_iota() {
  if (chance(25)) {
    TensorType made{random_type(), random_dims(3)};
    if (made.dims.empty() || made.dtype == DType::kI1) return;
    emit(
        "iota", {}, made, {.bound = 6},
        {{"iota_dimension", Kind::kInteger, {below(static_cast<std::int64_t>(made.dims.size()))}}});
    return;
  }
  const auto found = pick([this](int v) { return rank(v) <= 3 && type(v).elements() <= 200; });
  if (!found) return;
  // The operand's dimensions in any order, those of size 1 perhaps stretched, and new ones.
  Numbers result(static_cast<std::size_t>(rank(*found) + below(2)));
  Numbers places(result.size());
  std::iota(places.begin(), places.end(), 0);
  for (std::size_t i = places.size(); i > 1; --i)
    std::swap(places[i - 1], places[static_cast<std::size_t>(below(static_cast<std::int64_t>(i)))]);
  if (chance(70)) std::sort(places.begin(), places.begin() + rank(*found));
  for (std::int64_t& d : result) d = 1 + below(5);
  const Numbers& dims = type(*found).dims;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] != 1 || chance(50)) result[static_cast<std::size_t>(places[i])] = dims[i];
  }
  places.resize(dims.size());
  emit("broadcast_in_dim", {*found}, {type(*found).dtype, result}, facts(*found),
       {{"broadcast_dimensions", Kind::kArray, places}});
}

void ProgramMaker::slice_or_reverse() {
  const auto found = pick([this](int v) { return rank(v) > 0; });
  if (!found) return;
  const Numbers dims = type(*found).dims;
  if (chance(35)) {
    Numbers reversed;
    for (std::size_t d = 0; d < dims.size(); ++d) {
      if (chance(60)) reversed.push_back(static_cast<std::int64_t>(d));
    }
    emit("reverse", {*found}, type(*found), facts(*found),
         {{"dimensions", Kind::kArray, reversed}});
    return;
  }
  Numbers start, limit, stride, result;
  for (const std::int64_t d : dims) {
    start.push_back(d == 0 || chance(50) ? 0 : below(d));
    limit.push_back(chance(50) ? d : start.back() + below(d - start.back() + 1));
    stride.push_back(1 + (chance(30) ? below(3) : 0));
    result.push_back((limit.back() - start.back() + stride.back() - 1) / stride.back());
  }
  emit("slice", {*found}, {type(*found).dtype, result}, facts(*found),
       {{"start_indices", Kind::kArray, start},
        {"limit_indices", Kind::kArray, limit, {}, true},
        {"strides", Kind::kArray, stride}});
}

void ProgramMaker::pad_or_concatenate() {
  const auto found = pick([this](int v) { return rank(v) > 0 && type(v).elements() <= 300; });
  if (!found) return;
  const int x = *found;
  Numbers dims = type(x).dims;
  if (chance(50)) {
    const auto at = static_cast<std::size_t>(below(static_cast<std::int64_t>(dims.size())));
    std::vector<int> operands = {x};
    Facts f = facts(x);
    for (std::int64_t i = 0, more = 1 + below(2); i < more; ++i) {
      // Another array of the same size but for one dimension.
      const auto other = pick([&](int v) {
        Numbers theirs = type(v).dims;
        if (theirs.size() != dims.size() || type(v).dtype != type(x).dtype) return false;
        theirs[at] = type(x).dims[at];
        return theirs == type(x).dims;
      });
      operands.push_back(other.value_or(x));
      f = joined({operands[0], operands.back()});
      dims[at] += type(operands.back()).dims[at];
    }
    for (const int v : operands) {
      f.exact = f.exact && facts(v).exact;
      f.clean = f.clean && facts(v).clean;
      f.bound = std::max(f.bound, facts(v).bound);
    }
    emit("concatenate", operands, {type(x).dtype, dims}, f,
         {{"dimension", Kind::kInteger, {static_cast<std::int64_t>(at)}}});
    return;
  }
  const TensorType scalar{type(x).dtype, {}};
  auto value = pick([&](int v) { return type(v) == scalar; });
  if (!value && depth_ == 0) value = parameter(scalar);
  if (!value) return;
  Numbers low, high, inner;
  for (std::int64_t& d : dims) {
    low.push_back(chance(50) ? 0 : below(5) - 2);
    high.push_back(chance(50) ? 0 : below(5) - 2);
    inner.push_back(chance(70) ? 0 : below(3));
    d = std::max<std::int64_t>(d - 1, 0) * inner.back() + d + low.back() + high.back();
    if (d < 0) return;
  }
  emit("pad", {x, *value}, {type(x).dtype, dims}, joined({x, *value}),
       {{"edge_padding_low", Kind::kArray, low},
        {"edge_padding_high", Kind::kArray, high},
        {"interior_padding", Kind::kArray, inner}});
}

void ProgramMaker::dynamic_slices() {
  const auto found = pick([this](int v) { return rank(v) > 0; });
  if (!found) return;
  const int x = *found;
  // A negative start is not always clamped by XLA, where it fuses the slice.
  const TensorType index{one_of<DType>({DType::kU8, DType::kU32}), {}};
  Numbers sizes;
  for (const std::int64_t d : type(x).dims) sizes.push_back(d == 0 ? 0 : 1 + below(d));
  std::vector<int> operands = {x};
  const bool update = chance(50);
  const TensorType part{type(x).dtype, sizes};
  if (update) {
    auto source = pick([&](int v) { return type(v) == part; });
    if (!source)
      source = depth_ == 0 ? parameter(part)
                           : splat(part,
                                   part.dtype == DType::kI1           ? "true"
                                   : devices::is_complex(part.dtype)  ? "(1.0, 2.0)"
                                   : devices::is_floating(part.dtype) ? "1.5"
                                                                      : "3",
                                   3);
    operands.push_back(*source);
  }
  for (int d = 0; d < rank(x); ++d) {
    auto start = pick([&](int v) { return type(v) == index; });
    if (!start) start = depth_ == 0 ? parameter(index) : splat(index, "1", 1);
    operands.push_back(*start);
  }
  if (update) {
    emit("dynamic_update_slice", operands, type(x), joined({operands[0], operands[1]}));
  } else {
    emit("dynamic_slice", operands, part, facts(x),
         {{"slice_sizes", Kind::kArray, sizes, {}, true}});
  }
}

int ProgramMaker::index_array(const Numbers& dims) {
  return parameter({one_of<DType>({DType::kI32, DType::kI32, DType::kI64, DType::kU8}), dims});
}

// Which dimensions the indices name, which of those vanish, and where the others stand in the
// result, all in random order; likewise for scatter, whose updates are a gather's result.
void ProgramMaker::gather() {
  if (depth_ > 0) return;
  const auto found = pick([this](int v) {
    return rank(v) > 0 && std::ranges::find(type(v).dims, 0) == type(v).dims.end();
  });
  if (!found) return;
  const int x = *found;
  Numbers named, sizes, collapsed;
  for (int d = 0; d < rank(x); ++d) {
    const std::int64_t size = type(x).dims[static_cast<std::size_t>(d)];
    sizes.push_back(chance(40) ? 1 : 1 + below(size));
    if (chance(60))
      named.insert(named.begin() + below(static_cast<std::int64_t>(named.size()) + 1), d);
    if (sizes.back() == 1 && chance(60)) collapsed.push_back(d);
  }
  const Numbers batch = random_dims(2);
  Numbers index_dims = batch;
  const std::int64_t vector_dim = below(static_cast<std::int64_t>(batch.size()) + 1);
  index_dims.insert(index_dims.begin() + vector_dim, static_cast<std::int64_t>(named.size()));
  const std::size_t kept = sizes.size() - collapsed.size();
  Numbers offset;
  for (std::size_t place = 0; place < batch.size() + kept; ++place) {
    const std::size_t left = batch.size() + kept - place, wanted = kept - offset.size();
    if (wanted > 0 && (wanted == left || chance(50)))
      offset.push_back(static_cast<std::int64_t>(place));
  }
  Numbers result;
  std::size_t next_batch = 0, next_kept = 0;
  for (std::size_t place = 0; place < batch.size() + kept; ++place) {
    if (std::ranges::find(offset, static_cast<std::int64_t>(place)) == offset.end()) {
      result.push_back(batch[next_batch++]);
      continue;
    }
    while (std::ranges::find(collapsed, static_cast<std::int64_t>(next_kept)) != collapsed.end())
      ++next_kept;
    result.push_back(sizes[next_kept++]);
  }
  const int indices = index_array(index_dims);
  const std::string numbers = "#stablehlo.gather<" + field("offset_dims", offset) +
                              field("collapsed_slice_dims", collapsed) +
                              field("start_index_map", named) +
                              "index_vector_dim = " + std::to_string(vector_dim) + ">";
  emit("gather", {x, indices}, {type(x).dtype, result}, facts(x),
       {{"dimension_numbers", Kind::kText, {}, numbers},
        {"slice_sizes", Kind::kArray, sizes, {}, true},
        {"indices_are_sorted", Kind::kText, {}, "false"}});
}

void ProgramMaker::scatter() {
  if (depth_ > 0) return;
  const auto found = pick([this](int v) {
    return rank(v) > 0 && facts(v).bound < 1e5 && !devices::is_complex(type(v).dtype) &&
           std::ranges::find(type(v).dims, 0) == type(v).dims.end();
  });
  if (!found) return;
  const int x = *found;
  const auto body = random_body(x);
  if (!body) return;
  Numbers named, inserted, window;
  for (int d = 0; d < rank(x); ++d) {
    const std::int64_t size = type(x).dims[static_cast<std::size_t>(d)];
    if (chance(60))
      named.insert(named.begin() + below(static_cast<std::int64_t>(named.size()) + 1), d);
    if (chance(40))
      inserted.push_back(d);
    else
      window.push_back(1 + below(size));
  }
  if (named.empty()) return;  // XLA then takes one update of a batch
  const Numbers batch = random_dims(2);
  Numbers index_dims = batch;
  const std::int64_t vector_dim = below(static_cast<std::int64_t>(batch.size()) + 1);
  index_dims.insert(index_dims.begin() + vector_dim, static_cast<std::int64_t>(named.size()));
  Numbers places, updates;
  std::size_t next_batch = 0;
  const std::size_t total = batch.size() + window.size();
  for (std::size_t place = 0; place < total; ++place) {
    const std::size_t left = total - place, wanted = window.size() - places.size();
    if (wanted > 0 && (wanted == left || chance(50))) {
      updates.push_back(window[places.size()]);
      places.push_back(static_cast<std::int64_t>(place));
    } else {
      updates.push_back(batch[next_batch++]);
    }
  }
  const TensorType update_type{type(x).dtype, updates};
  const int indices = index_array(index_dims);
  auto source = pick([&](int v) { return type(v) == update_type && facts(v).bound < 1e5; });
  const int from = source ? *source : parameter(update_type);
  const std::string numbers = "#stablehlo.scatter<" + field("update_window_dims", places) +
                              field("inserted_window_dims", inserted) +
                              field("scatter_dims_to_operand_dims", named) +
                              "index_vector_dim = " + std::to_string(vector_dim) + ">";
  Facts f = summed(x, *body, static_cast<double>(update_type.elements() + 1));
  f.exact = f.exact && facts(from).exact;
  f.clean = f.clean && facts(from).clean;
  f.bound =
      std::max(f.bound, summed(from, *body, static_cast<double>(update_type.elements() + 1)).bound);
  emit("scatter", {x, indices, from}, type(x), f,
       {{"scatter_dimension_numbers", Kind::kText, {}, numbers},
        {"indices_are_sorted", Kind::kText, {}, "false"},
        {"unique_indices", Kind::kText, {}, "false"}},
       {body_block(*body, type(x).dtype)});
}

}  // namespace millrace::testing
