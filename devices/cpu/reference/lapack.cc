#include "millrace/devices/cpu/reference/lapack.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <span>
#include <string_view>

#include "millrace/devices/cpu/reference/lapack_call.h"

namespace millrace::devices::cpu::reference {
namespace {

using Run = Status (*)(const lapack::Call&);
struct Row {
  std::string_view name;
  Run real, complex;
  std::size_t operands, results;
  std::string_view expected;
};
constexpr Row kRows[] = {
    {"potrf", lapack::potrf<double>, lapack::potrf<lapack::Complex>, 1, 2,
     "square matrices; of the results the first like them, the second an i32 for each"},
    {"getrf", lapack::getrf<double>, lapack::getrf<lapack::Complex>, 1, 3,
     "matrices of m rows and n columns; results like them, min(m, n) pivots of i32 and an i32 "
     "each"},
    {"trsm", lapack::trsm<double>, lapack::trsm<lapack::Complex>, 2, 1,
     "square matrices, and right sides that they can be solved for; a result like these"},
    {"geqrf", lapack::geqrf<double>, lapack::geqrf<lapack::Complex>, 1, 2,
     "matrices of m rows and n columns; results like them and min(m, n) factors each"},
    {"orgqr", lapack::orgqr<double>, lapack::orgqr<lapack::Complex>, 2, 1,
     "matrices of m rows and n columns, and at most min(m, n) factors each; a result like the "
     "first"},
    {"ungqr", lapack::orgqr<double>, lapack::orgqr<lapack::Complex>, 2, 1,
     "matrices of m rows and n columns, and at most min(m, n) factors each; a result like the "
     "first"},
    {"syevd", lapack::syevd<double>, lapack::syevd<lapack::Complex>, 1, 3,
     "square matrices of n rows; results like them, n real values and an i32 each"},
    {"heevd", lapack::syevd<double>, lapack::syevd<lapack::Complex>, 1, 3,
     "square matrices of n rows; results like them, n real values and an i32 each"},
    {"gesdd", lapack::gesdd<double>, lapack::gesdd<lapack::Complex>, 1, 5,
     "matrices of m rows and n columns; results like them, min(m, n) real values, two matrices of "
     "vectors and an i32 each"}};

class LapackKernel final : public Kernel {
 public:
  LapackKernel(Run run, lapack::Options options) : run_(run), options_(options) {}
  std::size_t scratch_bytes(std::span<const ConstArray> operands,
                            std::span<const MutableArray> results) const override {
    Scratch scratch;
    static_cast<void>(run_({options_, operands, results, scratch}));
    return scratch.taken_bytes();
  }
  Status run(std::span<const ConstArray> operands, std::span<const MutableArray> results,
             std::span<std::byte> memory) const override {
    Scratch scratch(memory);
    return run_({options_, operands, results, scratch});
  }

 private:
  const Run run_;
  const lapack::Options options_;
};

char letter(const ir::DictAttr& config, std::string_view name, char otherwise) {
  for (const ir::NamedAttribute& a : config.values) {
    const auto* value = a.value.as<ir::IntegerAttr>();
    if (a.name == name && value != nullptr) return static_cast<char>(value->value);
  }
  return otherwise;
}

// That shapes are those that the functions count on.
bool fits(const Row& row, const ir::Op& op) {
  if (static_cast<std::size_t>(op.operand_count()) != row.operands ||
      static_cast<std::size_t>(op.result_count()) != row.results)
    return false;
  const auto tensor = [](ir::Type type) { return memory_shape(type).has_value(); };
  for (const ir::Value* v : op.operands()) {
    if (!tensor(v->type())) return false;
  }
  for (const ir::Value& v : op.results()) {
    if (!tensor(v.type())) return false;
  }
  const Shape a = *memory_shape(op.operand(0)->type());
  const DType type = a.dtype(), part = type == DType::kC64    ? DType::kF32
                                       : type == DType::kC128 ? DType::kF64
                                                              : type;
  if (a.rank() < 2 || (part != DType::kF32 && part != DType::kF64)) return false;
  const std::int64_t m = lapack::rows_of(a), n = lapack::columns_of(a), least = std::min(m, n);
  const DimVector batch(
      std::span<const std::int64_t>(a.dims()).first(static_cast<std::size_t>(a.rank() - 2)));
  const auto like = [&](ir::Type found, DType element, std::initializer_list<std::int64_t> tail) {
    DimVector dims = batch;
    for (const std::int64_t d : tail) dims.push_back(d);
    return *memory_shape(found) == Shape(element, dims);
  };
  const auto result = [&](int i) { return op.result(i)->type(); };
  const bool square = m == n;
  if (row.name == "potrf")
    return square && like(result(0), type, {m, n}) && like(result(1), DType::kI32, {});
  if (row.name == "getrf")
    return like(result(0), type, {m, n}) && like(result(1), DType::kI32, {least}) &&
           like(result(2), DType::kI32, {});
  if (row.name == "geqrf") return like(result(0), type, {m, n}) && like(result(1), type, {least});
  if (row.name == "orgqr" || row.name == "ungqr") {
    const Shape taus = *memory_shape(op.operand(1)->type());
    return taus.rank() == a.rank() - 1 && taus.dim(taus.rank() - 1) <= least &&
           like(op.operand(1)->type(), type, {taus.dim(taus.rank() - 1)}) &&
           like(result(0), type, {m, n});
  }
  if (row.name == "trsm") {
    const Shape b = *memory_shape(op.operand(1)->type());
    const auto* config = op.attr<ir::DictAttr>("mhlo.backend_config");
    return square && b.rank() == a.rank() &&
           (letter(*config, "side", 'L') == 'L' ? lapack::rows_of(b) : lapack::columns_of(b)) ==
               m &&
           like(op.operand(1)->type(), type, {lapack::rows_of(b), lapack::columns_of(b)}) &&
           like(result(0), type, {lapack::rows_of(b), lapack::columns_of(b)});
  }
  if (row.name == "gesdd") {
    const auto factors = [&](std::int64_t left, std::int64_t right) {
      return like(result(2), type, {m, left}) && like(result(3), type, {right, n});
    };
    return like(result(0), type, {m, n}) && like(result(1), part, {least}) &&
           (factors(m, n) || factors(least, least)) && like(result(4), DType::kI32, {});
  }
  return square && like(result(0), type, {m, n}) && like(result(1), part, {n}) &&
         like(result(2), DType::kI32, {});
}

// The row of the call's name; nullptr for others.
const Row* row_of(const ir::Op& op) {
  std::string_view name = op.callee();
  constexpr std::string_view kPrefix = "lapack_", kSuffix = "_ffi";
  if (!name.starts_with(kPrefix) || !name.ends_with(kSuffix) ||
      name.size() <= kPrefix.size() + kSuffix.size()) {
    return nullptr;
  }
  name.remove_prefix(kPrefix.size());
  name.remove_suffix(kSuffix.size());
  if (!std::string_view("sdcz").contains(name.front())) return nullptr;
  const auto* row = std::ranges::find(kRows, name.substr(1), &Row::name);
  return row == std::end(kRows) ? nullptr : row;
}

}  // namespace

std::string lapack_fault(const ir::Op& op) {
  const Row* row = row_of(op);
  if (row == nullptr) return "";
  if (op.attr<ir::DictAttr>("mhlo.backend_config") == nullptr)
    return "the attribute mhlo.backend_config with its options is missing";
  if (fits(*row, op)) return "";
  std::string found;
  for (const ir::Value* v : op.operands())
    found += (found.empty() ? "" : ", ") + v->type().to_string();
  found += " ->";
  for (const ir::Value& v : op.results()) found += " " + v.type().to_string();
  return "found " + found + ", expected, of f32, f64 or complex numbers of them, " +
         std::string(row->expected);
}

std::shared_ptr<const Kernel> make_lapack_kernel(const ir::Op& op) {
  const Row* row = row_of(op);
  if (row == nullptr || !lapack_fault(op).empty()) return nullptr;
  const auto* config = op.attr<ir::DictAttr>("mhlo.backend_config");
  const lapack::Options options{.side = letter(*config, "side", 'L'),
                                .triangle = letter(*config, "uplo", 'L'),
                                .transposed = letter(*config, "trans_x", 'N'),
                                .diagonal = letter(*config, "diag", 'N'),
                                .mode = letter(*config, "mode", 'V')};
  const bool complex = is_complex(op.operand(0)->type().dtype());
  return std::make_shared<const LapackKernel>(complex ? row->complex : row->real, options);
}

}  // namespace millrace::devices::cpu::reference
