#include "millrace/devices/cpu/linalg/lapack.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <mutex>
#include <optional>
#include <span>
#include <string_view>

#include "millrace/devices/cpu/kernels/base/dim_vector.h"
#include "millrace/devices/cpu/linalg/lapack_call.h"

namespace millrace::devices::cpu::linalg {
namespace {

thread_local int calls_running = 0;

// Held during a call where the library can run but one: a serial build of OpenBLAS shares the
// memory that it works in between threads, without a lock (of 3,200 calls on 16 threads 54 gave
// wrong numbers). Of those that Debian's alternatives choose from, only it says that it is serial.
std::unique_lock<std::mutex> turn() {
  static std::mutex mutex;
  static const bool one_at_a_time = [] {
    void* const library = ::dlopen("liblapack.so.3", RTLD_LAZY | RTLD_NOLOAD);
    if (library == nullptr) return true;  // another one, of which nothing is known
    auto* const parallel = reinterpret_cast<int (*)()>(::dlsym(library, "openblas_get_parallel"));
    return parallel != nullptr && parallel() == 0;
  }();
  return one_at_a_time ? std::unique_lock(mutex) : std::unique_lock<std::mutex>();
}

class LapackKernel final : public definition::ScratchKernel {
 public:
  LapackKernel(Run run, Options options) : run_(run), options_(options) {}

 private:
  Status call(std::span<const ConstArray> operands, std::span<const MutableArray> results,
              Scratch& scratch) const override {
    std::optional<LibraryCall> library;
    if (!scratch.measures()) library.emplace();
    const Status status = run_({options_, operands, results, scratch});
    if (scratch.measures()) scratch.take<std::byte>(overread_bytes(operands));
    return status;
  }
  // Kernels of BLIS read past the end of a matrix, up to a column and a vector (0.9, of f32; its
  // issues 635 and 821 on GitHub). The last piece must not end where the process's memory does.
  static std::int64_t overread_bytes(std::span<const ConstArray> operands) {
    std::int64_t longest = 0;  // extent of a matrix or vector; those before it count the batch
    for (const ConstArray& a : operands)
      for (int d = std::max(a.shape.rank() - 2, 0); d < a.shape.rank(); ++d)
        longest = std::max(longest, a.shape.dim(d));
    return longest * std::int64_t{sizeof(Complex128)} + 64;
  }

  const Run run_;
  const Options options_;
};

Options options_of(const ir::DictAttr* config) {
  Options o;
  const std::pair<std::string_view, char*> letters[] = {{"side", &o.side},
                                                        {"uplo", &o.triangle},
                                                        {"trans_x", &o.transposed},
                                                        {"diag", &o.diagonal},
                                                        {"mode", &o.mode},
                                                        {"sort", &o.sort},
                                                        {"compute_left", &o.left_vectors},
                                                        {"compute_right", &o.right_vectors}};
  const std::pair<std::string_view, bool*> flags[] = {{"left", &o.left},
                                                      {"transpose", &o.transpose}};
  const std::pair<std::string_view, Integer*> numbers[] = {{"low", &o.low}, {"high", &o.high}};
  const auto set = [](const auto& fields, std::string_view name, auto value) {
    for (const auto& [field, to] : fields) {
      if (field == name) *to = static_cast<std::remove_pointer_t<decltype(to)>>(value);
    }
  };
  if (config == nullptr) return o;
  for (const ir::NamedAttribute& a : config->values) {
    if (const auto* integer = a.value.as<ir::IntegerAttr>()) {
      set(letters, a.name, integer->value);
      set(numbers, a.name, integer->value);
    } else if (const auto* flag = a.value.as<ir::BoolAttr>()) {
      set(flags, a.name, flag->value);
    }
  }
  return o;
}

DType real_of(DType type) {
  return type == DType::kC64 ? DType::kF32 : type == DType::kC128 ? DType::kF64 : type;
}
DType complex_of(DType type) {
  return type == DType::kF32 ? DType::kC64 : type == DType::kF64 ? DType::kC128 : type;
}
// The place among f32, f64 and their complex numbers; nullopt for others.
std::optional<std::size_t> index_of(DType type) {
  constexpr DType kTypes[] = {DType::kF32, DType::kF64, DType::kC64, DType::kC128};
  const auto* const found = std::ranges::find(kTypes, type);
  if (found == std::end(kTypes)) return std::nullopt;
  return static_cast<std::size_t>(found - kTypes);
}

// Reads a rule (lapack_call.h) beside the types of a call. The first operand says what the
// dimensions of the batch are.
class Rule {
 public:
  Rule(const Row& row, const ir::Op& op, const Options& options) {
    const std::string_view rule = row.rule;
    const std::size_t arrow = rule.find(" -> ");
    std::vector<ir::Type> operands, results;
    for (const ir::Value* v : op.operands()) operands.push_back(v->type());
    for (const ir::Value& v : op.results()) results.push_back(v.type());
    extents_.fill(-1);
    fits_ = side(rule.substr(0, arrow), operands) && side(rule.substr(arrow + 4), results) &&
            (row.fits == nullptr || row.fits(extents_, options));
  }
  bool fits() const { return fits_; }

 private:
  bool side(std::string_view rule, std::span<const ir::Type> types) {
    for (const ir::Type type : types) {
      const std::size_t end = rule.find(' ');
      if (rule.empty() || !array(rule.substr(0, end), type)) return false;
      rule.remove_prefix(end == std::string_view::npos ? rule.size() : end + 1);
    }
    return rule.empty();
  }

  // Such as T[m,n].
  bool array(std::string_view rule, ir::Type type) {
    const std::optional<Shape> shape = ir::memory_shape(type);
    if (!shape) return false;
    const std::size_t open = rule.find('[');
    const std::string_view names = rule.substr(open + 1, rule.size() - open - 2);
    const int tail = static_cast<int>((names.size() + 1) / 2);
    if (shape->rank() < tail) return false;
    const std::span<const std::int64_t> dims(shape->dims());
    const auto batch = dims.first(dims.size() - static_cast<std::size_t>(tail));
    if (!known_) {
      known_ = true;
      type_ = shape->dtype();
      batch_.assign(batch.begin(), batch.end());
      if (!index_of(type_)) return false;
    }
    const DType wanted = rule[0] == 'T'   ? type_
                         : rule[0] == 'R' ? real_of(type_)
                         : rule[0] == 'C' ? complex_of(type_)
                                          : DType::kI32;
    if (shape->dtype() != wanted || !std::ranges::equal(batch, batch_)) return false;
    for (std::size_t i = 0; i < names.size(); i += 2) {
      if (!extent(names[i], dims[batch.size() + i / 2])) return false;
    }
    return true;
  }

  // Whether a name stands for this number.
  bool extent(char name, std::int64_t value) {
    const auto at = [&](char c) -> std::int64_t& {
      return extents_[static_cast<std::size_t>(c - 'a')];
    };
    if (value > std::numeric_limits<Integer>::max()) return false;
    if (name == 'k' && at('m') >= 0) at('k') = std::min(at('m'), at('n'));
    if (name == 'p') at('p') = std::max<std::int64_t>(at('n') - 1, 0);
    if (at(name) < 0) at(name) = value;
    return at(name) == value;
  }

  bool fits_ = false, known_ = false;
  DType type_ = DType::kF32;
  std::vector<std::int64_t> batch_;
  Extents extents_{};
};

// The row of the call's name; nullptr for others.
const Row* row_of(const ir::Op& op) {
  std::string_view name = op.callee();
  constexpr std::string_view kPrefix = "lapack_", kSuffix = "_ffi", kLetters = "sdcz";
  std::size_t type = 0;
  if (name.starts_with(kPrefix) && name.ends_with(kSuffix) &&
      name.size() > kPrefix.size() + kSuffix.size()) {
    name.remove_prefix(kPrefix.size());
    name.remove_suffix(kSuffix.size());
    type = kLetters.find(name.front());
    name.remove_prefix(1);
  } else if (name == "tridiagonal_solve_perturbed_ffi" && op.operand_count() > 0) {
    const auto shape = ir::memory_shape(op.operand(0)->type());
    type = shape ? index_of(shape->dtype()).value_or(0) : 0;
  }
  if (type == std::string_view::npos) return nullptr;
  for (const auto rows : {factor_rows(), eigen_rows()}) {
    for (const Row& row : rows) {
      const bool complex = type >= 2;
      if ((complex ? row.complex_name : row.name) == name && row.runs[type] != nullptr) return &row;
    }
  }
  return nullptr;
}

}  // namespace

LibraryCall::LibraryCall() : turn_(turn()) { ++calls_running; }
LibraryCall::~LibraryCall() { --calls_running; }

bool inside_lapack() { return calls_running > 0; }

std::string lapack_fault(const ir::Op& op) {
  const Row* row = row_of(op);
  if (row == nullptr) return "";
  const auto* config = op.attr<ir::DictAttr>("mhlo.backend_config");
  if (config == nullptr && op.callee().starts_with("lapack_"))
    return "the attribute mhlo.backend_config with its options is missing";
  if (Rule(*row, op, options_of(config)).fits()) return "";
  std::string found;
  for (const ir::Value* v : op.operands())
    found += (found.empty() ? "" : ", ") + v->type().to_string();
  found += " ->";
  for (const ir::Value& v : op.results()) found += " " + v.type().to_string();
  return "found " + found + ", expected " + std::string(row->rule) +
         " after the dimensions of the batch, with T one of f32, f64 and complex numbers of them, "
         "R real and C complex ones of T, k = min(m, n), p = n - 1" +
         std::string(row->otherwise);
}

std::shared_ptr<const Kernel> make_lapack_kernel(const ir::Op& op) {
  const Row* row = row_of(op);
  if (row == nullptr || !lapack_fault(op).empty()) return nullptr;
  const auto type = index_of(op.operand(0)->type().dtype());
  if (!type || row->runs[*type] == nullptr) return nullptr;
  return std::make_shared<const LapackKernel>(
      row->runs[*type], options_of(op.attr<ir::DictAttr>("mhlo.backend_config")));
}

}  // namespace millrace::devices::cpu::linalg
