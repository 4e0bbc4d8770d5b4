// libFuzzer target: whatever the bytes, a module that reads and verifies is planned or refused with
// an error; one that is small runs as well, its loops for a second at most. So the rooms behind
// verify find only what they may rely on. Text is changed word by word (text_mutator.h). A good
// corpus are small programs, as text and as bytecode: tests/fuzz/make_corpus.py.
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <stop_token>
#include <string_view>
#include <thread>
#include <vector>

#include "millrace/core/async/parallel_for.h"
#include "millrace/devices/cpu/compile/make_plan.h"
#include "millrace/devices/cpu/compile/native_ops.h"
#include "millrace/devices/cpu/compile/run_context.h"
#include "millrace/devices/stablehlo/bytecode/read_bytecode.h"
#include "millrace/devices/stablehlo/read_program.h"
#include "millrace/devices/stablehlo/specialise/specialise.h"
#include "millrace/devices/stablehlo/verify/verify.h"
#include "tests/fuzz/text_mutator.h"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

namespace {

using namespace millrace;                // NOLINT(google-build-using-namespace)
using namespace millrace::devices;       // NOLINT(google-build-using-namespace)
using namespace millrace::devices::cpu;  // NOLINT(google-build-using-namespace)

// Time is for finding, not for counting: of one value, of one window, of all values together.
constexpr std::int64_t kMostElements = 1 << 12;
constexpr std::size_t kMostBytes = 1 << 24;

bool is_small(ir::Type type) {
  if (!type.is_tensor()) return true;  // tuples: what is in them is made by some operation
  const auto elements = type.elements();
  return elements && *elements <= kMostElements;
}

// The work of a window is not in its types.
bool has_small_window(const ir::Op& op) {
  std::int64_t size = 1;
  for (const std::int64_t n : op.ints("window_dimensions").value_or(std::vector<std::int64_t>())) {
    if (n > kMostElements || (size *= n) > kMostElements) return false;
  }
  return true;
}

// What a program asks for. A loop in the body of a reduction cannot be stopped.
struct Census {
  int ops = 0;
  bool loops = false, small = true;

  void add(const ir::Block& block, bool in_body) {
    for (const ir::Op& op : block) {
      using K = ir::OpKind;
      const K kind = op.kind();
      loops = loops || kind == K::kWhile;
      small = small && ++ops <= 1000 && has_small_window(op) && !(in_body && kind == K::kWhile);
      for (const ir::Value& v : op.results()) small = small && is_small(v.type());
      const bool control = kind == K::kWhile || kind == K::kIf || kind == K::kCase;
      for (const ir::Region& region : op.regions()) {
        for (const ir::Block* inner : region.blocks()) add(*inner, in_body || !control);
      }
    }
  }
};

// Asks for a stop after a second. A function that loops may be called from a body.
class Limit {
 public:
  Limit() : thread_([this](const std::stop_token& over) { wait(over); }) {}
  std::stop_token token() const { return stop_.get_token(); }

 private:
  void wait(const std::stop_token& over) {
    std::unique_lock lock(mutex_);
    if (!ended_.wait_for(lock, over, std::chrono::seconds(1),
                         [&] { return over.stop_requested(); }))
      stop_.request_stop();
  }
  std::stop_source stop_;
  std::mutex mutex_;
  std::condition_variable_any ended_;
  std::jthread thread_;
};

void run_once(const Plan& plan, bool loops) {
  if (plan.peak_bytes() > kMostBytes) return;
  const auto context = RunContext::create(plan);
  if (!context) return;
  // Each array in memory of its own, so that a byte too far is seen.
  std::vector<std::unique_ptr<std::byte, decltype(&std::free)>> arrays;
  const auto room = [&](const devices::Shape& shape) {
    const std::size_t bytes = shape.size_bytes();
    auto& array = arrays.emplace_back(
        static_cast<std::byte*>(std::aligned_alloc(64, (bytes + 63) / 64 * 64)), &std::free);
    // Zeros and ones, which are booleans too, and small integers of any width.
    for (std::size_t i = 0; i < bytes; ++i) array.get()[i] = static_cast<std::byte>(i % 3 == 1);
    return array.get();
  };
  std::vector<const void*> inputs;
  std::vector<void*> outputs;
  for (const devices::Shape& shape : plan.inputs()) inputs.push_back(room(shape));
  for (const devices::Shape& shape : plan.outputs()) outputs.push_back(room(shape));
  const auto serial = make_serial_parallel();
  const std::unique_ptr<Limit> limit(loops ? new Limit : nullptr);
  static_cast<void>((*context)->run(
      inputs, outputs, *serial, [](int) {}, limit != nullptr ? limit->token() : std::stop_token()));
}

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned seed) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (seed % 8 == 0 || stablehlo::bytecode::is_bytecode(bytes))
    return LLVMFuzzerMutate(data, size, max_size);
  const std::string text = millrace::testing::mutate_text(bytes, seed);
  if (text.size() > max_size) return size;
  std::copy(text.begin(), text.end(), data);
  return text.size();
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  auto module = stablehlo::read_program({reinterpret_cast<const char*>(data), size});
  if (!module) return 0;
  if (!stablehlo::verify::verify(*module) ||
      (use_native_ops(*module) && !stablehlo::verify::verify(*module)))
    return 0;
  if (stablehlo::specialise::is_needed(*module)) return 0;
  Census census;
  for (const ir::Function& function : module->functions()) {
    for (const ir::Type type : function.inputs()) census.small = census.small && is_small(type);
    if (!function.is_declaration()) census.add(function.body().block(), false);
  }
  if (census.ops > 1000) return 0;
  const auto plan = make_plan(*module, {.deterministic = true});
  if (plan && census.small) run_once(**plan, census.loops);
  return 0;
}
