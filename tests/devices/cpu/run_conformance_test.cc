// Runs StableHLO's own test data (programs with inputs and expected results made by JAX) through
// read, plan and run. The checks are taken out of the program: its inputs become arguments, its
// results are compared here.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "millrace/devices/cpu/ir/module.h"
#include "millrace/devices/cpu/kernels/element.h"
#include "millrace/devices/cpu/read/read_text.h"
#include "millrace/devices/cpu/run/run.h"
#include "tests/support/paths.h"

namespace millrace::devices::cpu {
namespace {

namespace fs = std::filesystem;

// What passes today; raise it with every operation and type that is added.
constexpr int kExpectedToPass = 1240;

enum class Check { kEqual, kClose, kAlmostEqual };

using Bytes = std::vector<std::byte>;

// Runs one function of the module; the arrays are misaligned on purpose where `shift` is not zero.
Result<std::vector<Bytes>> run_function(const ir::Module& module, const std::string& name,
                                        const std::vector<Bytes>& inputs) {
  MILLRACE_TRY(const auto plan, Plan::create(module, {.deterministic = true, .function = name}));
  MILLRACE_TRY(const auto context, RunContext::create(*plan));
  std::vector<Bytes> outputs;
  std::vector<const void*> in;
  std::vector<void*> out;
  for (const Bytes& b : inputs) in.push_back(b.data());
  for (const Shape& s : plan->outputs())
    outputs.emplace_back(std::max<std::size_t>(s.size_bytes(), 1));
  for (Bytes& b : outputs) out.push_back(b.data());
  const auto serial = make_serial_parallel();
  MILLRACE_TRY_STATUS(run(*plan, *context, in, out, *serial, [](int) {}, {}));
  return outputs;
}

// A program whose checks were taken out: @tested(inputs) gives what was checked, then what it was
// compared with.
struct Tested {
  ir::Module module;
  std::vector<Check> checks;
  std::vector<Shape> shapes;
};

void replace_uses(ir::Block& block, const std::map<const ir::Value*, ir::Value*>& map) {
  for (ir::Op& op : block) {
    for (int i = 0; i < op.operand_count(); ++i) {
      if (const auto it = map.find(op.operand(i)); it != map.end()) op.set_operand(i, it->second);
    }
    for (ir::Region& region : op.regions()) {
      for (ir::Block* inner : region.blocks()) replace_uses(*inner, map);
    }
  }
}

Result<Tested> take_checks_out(ir::Module module) {
  Tested t{std::move(module), {}, {}};
  ir::Block& main = t.module.find("main")->body().block();
  std::vector<ir::Op*> moved;
  std::vector<ir::Value*> got, want;
  ir::Op* inputs = nullptr;
  for (ir::Op& op : main) {
    if (op.kind() == ir::OpKind::kCustomCall) {
      const std::string_view target = op.callee();
      t.checks.push_back(target == "check.expect_eq"      ? Check::kEqual
                         : target == "check.expect_close" ? Check::kClose
                                                          : Check::kAlmostEqual);
      got.push_back(op.operand(0));
      want.push_back(op.operand(1));
    } else if (op.kind() == ir::OpKind::kCall && op.callee() == "inputs") {
      inputs = &op;
    } else if (op.kind() != ir::OpKind::kFuncReturn && op.kind() != ir::OpKind::kReturn) {
      moved.push_back(&op);
    }
  }
  std::vector<ir::Type> types, results;
  if (inputs != nullptr) {
    for (const ir::Value& v : inputs->results()) types.push_back(v.type());
  }
  for (ir::Value* v : got) {
    const auto shape = v->type().shape();
    if (!shape) return fail(ErrorCode::kUnimplemented, "a result of type " + v->type().to_string());
    t.shapes.push_back(*shape);
  }
  got.insert(got.end(), want.begin(), want.end());
  for (ir::Value* v : got) results.push_back(v->type());
  ir::Function& f = t.module.create_function({.name = "tested",
                                              .visibility = "public",
                                              .location = {},
                                              .inputs = types,
                                              .results = results});
  ir::Block* body = t.module.create_block(types);
  ir::Block* const blocks[] = {body};
  t.module.set_blocks(f.body(), blocks);
  std::map<const ir::Value*, ir::Value*> map;
  for (std::size_t i = 0; i < types.size(); ++i)
    map[inputs->result(static_cast<int>(i))] = body->argument(static_cast<int>(i));
  for (ir::Op* op : moved) {
    main.remove(op);
    body->append(op);
  }
  body->append(t.module.create_op({.kind = ir::OpKind::kFuncReturn, .operands = got}));
  replace_uses(*body, map);
  return t;
}

// The distance in units of the last place, as stablehlo-translate counts it.
template <class T>
double ulp_distance(T a, T b) {
  using C = ComputeType<T>;
  const C x = static_cast<C>(a), y = static_cast<C>(b);
  if (x == y || (x != x && y != y)) return 0;
  if (!std::isfinite(static_cast<double>(x)) || !std::isfinite(static_cast<double>(y)))
    return INFINITY;
  const auto ordered = [](T v) -> double {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &v, sizeof(T));
    const std::uint64_t sign = std::uint64_t{1} << (sizeof(T) * 8 - 1);
    const double magnitude = static_cast<double>(bits & ~sign);
    return (bits & sign) != 0 ? -magnitude : magnitude;
  };
  return std::fabs(ordered(a) - ordered(b));
}

// Empty if all elements agree, else the first difference.
std::string compare(Check check, const Shape& shape, const Bytes& got, const Bytes& want) {
  return visit(
      shape.dtype(),
      [&](auto tag) -> std::string {
        using T = typename decltype(tag)::type;
        const T* g = reinterpret_cast<const T*>(got.data());
        const T* w = reinterpret_cast<const T*>(want.data());
        for (std::int64_t i = 0; i < shape.elements(); ++i) {
          bool ok = std::memcmp(&g[i], &w[i], sizeof(T)) == 0;
          std::ostringstream text;
          if constexpr (kIsFloat<T>) {
            const auto a = static_cast<double>(static_cast<ComputeType<T>>(g[i])),
                       b = static_cast<double>(static_cast<ComputeType<T>>(w[i]));
            if (check == Check::kEqual) ok = a == b;
            if (check == Check::kClose) ok = ulp_distance(g[i], w[i]) <= 3;
            if (check == Check::kAlmostEqual)
              ok = a == b || (a != a && b != b) || std::fabs(a - b) <= 1e-3;
            text.precision(17);
            text << "element " << i << ": got " << a << ", expected " << b;
          } else {
            text << "element " << i << " differs";
          }
          if (!ok) return text.str();
        }
        return "";
      },
      [] { return std::string("a type that cannot be compared"); });
}

struct Outcome {
  enum Kind { kPassed, kWrong, kUnsupported, kFailed } kind;
  std::string why;
};

Outcome run_file(const fs::path& path) {
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  auto module = read::read_text(text.str());
  if (!module) return {Outcome::kFailed, module.error().message()};
  const auto outcome = [](const Error& e) {
    return Outcome{e.code() == ErrorCode::kUnimplemented ? Outcome::kUnsupported : Outcome::kFailed,
                   e.message()};
  };
  std::vector<Bytes> inputs;
  if (module->find("inputs") != nullptr) {
    auto made = run_function(*module, "inputs", {});
    if (!made) return outcome(made.error());
    inputs = *std::move(made);
  }
  auto tested = take_checks_out(*std::move(module));
  if (!tested) return outcome(tested.error());
  auto results = run_function(tested->module, "tested", inputs);
  if (!results) return outcome(results.error());
  for (std::size_t i = 0; i < tested->checks.size(); ++i) {
    const std::string difference = compare(tested->checks[i], tested->shapes[i], (*results)[i],
                                           (*results)[tested->checks.size() + i]);
    if (!difference.empty()) return {Outcome::kWrong, difference};
  }
  return {Outcome::kPassed, ""};
}

// Files that StableHLO's own interpreter does not pass either: any outcome is fine.
std::set<std::string> optional_files(const fs::path& folder) {
  std::set<std::string> names;
  std::ifstream in(folder / "index.csv");
  for (std::string line; std::getline(in, line);) {
    if (line.find(",enabled,") == std::string::npos) names.insert(line.substr(0, line.find(',')));
  }
  return names;
}

TEST(ConformanceTest, NoSupportedProgramGivesAWrongResult) {
  const fs::path folder =
      fs::path(millrace::testing::shared_folder()) / "conformance" / "stablehlo";
  if (!fs::exists(folder)) GTEST_SKIP() << "no test data at " << folder;
  const std::set<std::string> optional = optional_files(folder);
  const char* only = std::getenv("MILLRACE_CONFORMANCE_FILE");
  int counts[4] = {};
  std::map<std::string, int> reasons;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename();
    if (entry.path().extension() != ".mlir" ||
        (only != nullptr && name.find(only) == std::string::npos))
      continue;
    const Outcome outcome = run_file(entry.path());
    ++counts[outcome.kind];
    if (outcome.kind == Outcome::kUnsupported) {
      // "12:5: stablehlo.fft: not supported": without the place.
      const std::size_t at = outcome.why.find(": ");
      ++reasons[at == std::string::npos ? outcome.why : outcome.why.substr(at + 2)];
    } else if (outcome.kind != Outcome::kPassed && !optional.contains(name)) {
      ADD_FAILURE() << name << ": " << outcome.why;
    }
  }
  std::printf("conformance: %d passed, %d unsupported, %d wrong, %d failed\n",
              counts[Outcome::kPassed], counts[Outcome::kUnsupported], counts[Outcome::kWrong],
              counts[Outcome::kFailed]);
  for (const auto& [reason, n] : reasons) std::printf("  unsupported %4d  %s\n", n, reason.c_str());
  if (only == nullptr) {
    EXPECT_GE(counts[Outcome::kPassed], kExpectedToPass);
  }
}

}  // namespace
}  // namespace millrace::devices::cpu
