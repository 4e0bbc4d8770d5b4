#include "millrace/tools/inspect/op_times.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <unordered_map>
#include <utility>

#include "millrace/core/base/check.h"
#include "millrace/core/base/json_text.h"
#include "millrace/core/base/philox.h"
#include "millrace/devices/cpu/compile.h"
#include "millrace/devices/cpu/compile/plan.h"
#include "millrace/devices/cpu/compile/run_context.h"
#include "millrace/tools/inspect/program_facts.h"

namespace millrace::inspect {
namespace {

namespace cpu = devices::cpu;
namespace stablehlo = devices::stablehlo;
using devices::DType;
using devices::Shape;

constexpr int kWarmUps = 2;

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

template <class T, class Make>
void fill(std::vector<std::byte>& bytes, Make make) {
  for (std::size_t at = 0; at + sizeof(T) <= bytes.size(); at += sizeof(T)) {
    const T value = static_cast<T>(make());
    std::memcpy(bytes.data() + at, &value, sizeof value);
  }
}

std::string row(const std::string& name, const std::string& count, const std::string& time,
                const std::string& share, const std::string& bytes, const std::string& rate,
                const std::string& speed) {
  char text[256];
  std::snprintf(text, sizeof text, "%-42s %6s %11s %7s %12s %9s %9s\n", name.c_str(), count.c_str(),
                time.c_str(), share.c_str(), bytes.c_str(), rate.c_str(), speed.c_str());
  return text;
}

std::string format(const char* pattern, double value) {
  char text[64];
  std::snprintf(text, sizeof text, pattern, value);
  return text;
}

}  // namespace

std::vector<std::byte> random_bytes(const Shape& shape, std::uint32_t argument) {
  std::vector<std::byte> bytes(shape.size_bytes());
  RandomStream stream(1, argument, 0);
  const auto real = [&stream] { return stream.next_float() * 2 - 1; };
  const auto whole = [&stream] { return stream.next() % 10; };
  switch (shape.dtype()) {
    case DType::kF32:
      fill<float>(bytes, real);
      break;
    case DType::kF64:
      fill<double>(bytes, real);
      break;
    case DType::kBF16:  // the upper half of a float
      fill<std::uint16_t>(bytes, [&] {
        const float value = real();
        std::uint32_t bits = 0;
        std::memcpy(&bits, &value, sizeof bits);
        return bits >> 16;
      });
      break;
    case DType::kI1:
      fill<std::uint8_t>(bytes, [&] { return stream.next() % 2; });
      break;
    case DType::kI64:
    case DType::kU64:
      fill<std::uint64_t>(bytes, whole);
      break;
    case DType::kI32:
    case DType::kU32:
      fill<std::uint32_t>(bytes, whole);
      break;
    case DType::kI16:
    case DType::kU16:
      fill<std::uint16_t>(bytes, whole);
      break;
    case DType::kI8:
    case DType::kU8:
      fill<std::uint8_t>(bytes, whole);
      break;
    default:
      break;  // zeros
  }
  return bytes;
}

TimedProgram::TimedProgram(std::unique_ptr<cpu::Plan> plan) : plan_(std::move(plan)) {}
TimedProgram::TimedProgram(TimedProgram&&) noexcept = default;
TimedProgram::~TimedProgram() = default;

Result<TimedProgram> TimedProgram::create(const devices::Program& program, bool deterministic,
                                          std::span<const Shape> shapes) {
  MILLRACE_TRY(const stablehlo::ir::Module module, cpu::read_to_run(program, shapes));
  MILLRACE_TRY(auto plan, cpu::Plan::create(module, {.deterministic = deterministic}));
  return TimedProgram(std::move(plan));
}

std::span<const Shape> TimedProgram::inputs() const { return plan_->inputs(); }

Result<OpTimes> TimedProgram::run(std::span<const void* const> inputs, int runs, Parallel& parallel,
                                  const std::stop_token& stop) const {
  MILLRACE_CHECK(runs > 0, "times are those of one run at least");
  const cpu::Plan& plan = *plan_;
  MILLRACE_TRY(const std::unique_ptr<cpu::RunContext> context, cpu::RunContext::create(plan));
  std::vector<devices::SystemMemory> blocks;
  std::vector<void*> outputs;
  for (const Shape& shape : plan.outputs()) {
    MILLRACE_TRY(devices::SystemMemory block,
                 devices::allocate_memory(shape.size_bytes(), "a result of a run"));
    outputs.push_back(blocks.emplace_back(std::move(block)).get());
  }
  struct Seen {
    std::vector<double> ms;  // of each run
    std::uint64_t count = 0;
  };
  std::unordered_map<const cpu::Step*, Seen> seen;
  std::vector<double> totals;
  const auto add = [&](const cpu::Step& step, double ms) {
    Seen& one = seen[&step];
    one.ms.resize(totals.size());
    one.ms.back() += ms;
    ++one.count;
    totals.back() += ms;
  };
  const cpu::RunContext::Timed timed = add;
  for (int i = 0; i < kWarmUps + runs; ++i) {
    if (stop.stop_requested())
      return fail(ErrorCode::kCancelled, "stopped before the program had run often enough");
    if (i == kWarmUps) {
      seen.clear();
      totals.clear();
    }
    totals.push_back(0);
    MILLRACE_TRY_STATUS(context->run(inputs, outputs, parallel, [](int) {}, {}, &timed));
  }
  std::map<std::string, OpTime> kinds;
  for (auto& [step, one] : seen) {
    const cpu::StepInfo& info = step->info;
    const auto times = static_cast<double>(one.count) / runs;  // in a run
    OpTime& kind = kinds[step_kind(info.name)];
    kind.name = step_kind(info.name);
    kind.count += one.count / static_cast<std::uint64_t>(runs);
    one.ms.resize(totals.size());
    kind.ms += median(one.ms);
    kind.bytes += static_cast<std::size_t>(times * static_cast<double>(info.bytes));
    kind.operations += times * info.operations;
  }
  OpTimes result{.run_ms = median(totals), .runs = runs};
  for (auto& [name, kind] : kinds) result.kinds.push_back(std::move(kind));
  std::ranges::stable_sort(result.kinds, std::greater(), &OpTime::ms);
  return result;
}

std::string OpTimes::to_text() const {
  double total = 0;
  for (const OpTime& kind : kinds) total += kind.ms;
  std::string text = row("step", "count", "time", "share", "bytes", "GB/s", "GFLOP/s");
  for (const OpTime& k : kinds) {
    const bool timed = k.ms > 0;
    text +=
        row(k.name, std::to_string(k.count), format("%.3f ms", k.ms),
            format("%.1f %%", total > 0 ? 100 * k.ms / total : 0), bytes_text(k.bytes),
            timed && k.bytes > 0 ? format("%.1f", static_cast<double>(k.bytes) / k.ms / 1e6) : "-",
            timed && k.operations > 0 ? format("%.1f", k.operations / k.ms / 1e6) : "-");
  }
  return text + format("one run: %.3f ms", run_ms) + ", median of " + std::to_string(runs) + "\n";
}

std::string OpTimes::to_json() const {
  using Json = nlohmann::ordered_json;
  double total = 0;
  for (const OpTime& kind : kinds) total += kind.ms;
  Json list = Json::array();
  for (const OpTime& k : kinds) {
    list.push_back({{"name", k.name},
                    {"count", k.count},
                    {"ms", k.ms},
                    {"share", total > 0 ? k.ms / total : 0},
                    {"bytes", k.bytes},
                    {"operations", k.operations},
                    {"gflops_per_s", k.ms > 0 ? k.operations / k.ms / 1e6 : 0}});
  }
  const Json json = {{"schema", 1}, {"runs", runs}, {"run_ms", run_ms}, {"ops", list}};
  return json_text(json);
}

}  // namespace millrace::inspect
