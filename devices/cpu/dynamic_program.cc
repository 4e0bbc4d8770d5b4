#include "millrace/devices/cpu/dynamic_program.h"

#include <atomic>
#include <optional>
#include <utility>
#include <vector>

#include "millrace/core/check.h"
#include "millrace/core/mutex.h"
#include "millrace/devices/cpu/planned_program.h"
#include "millrace/devices/cpu/refine/refine.h"

namespace millrace::devices::cpu {
namespace {

// What a program takes, gives and takes away.
struct Signature {
  std::vector<Shape> inputs, outputs;
  std::vector<int> donated;
};

Result<Signature> signature_of(const ir::Module& module) {
  const ir::Function* main = refine::entry(module);
  if (main == nullptr)
    return fail(ErrorCode::kInvalidArgument, "the program has no function @main");
  Signature s;
  MILLRACE_TRY(s.inputs, refine::shapes_of(main->inputs(), "argument"));
  MILLRACE_TRY(s.outputs, refine::shapes_of(main->results(), "result"));
  s.donated = donated_arguments(module);
  return s;
}

// For the shapes of one call, or of many. The plan is made when it is first needed: by the device's
// threads, not by the call.
class RefinedProgram final : public Compiled {
 public:
  RefinedProgram(ir::Module module, Signature signature, PlanOptions options)
      : signature_(std::move(signature)),
        options_(std::move(options)),
        module_(std::move(module)) {}

  std::span<const Shape> inputs() const override { return signature_.inputs; }
  std::span<const Shape> outputs() const override { return signature_.outputs; }
  std::span<const int> donated() const override { return signature_.donated; }
  Status prepare() const override {
    if (ready_.load() != nullptr) return {};
    MutexLock lock(mutex_);
    if (!planned_) {
      planned_ = plan_program(*module_, options_);
      module_.reset();
      if (*planned_) ready_.store(planned_->value().get());
    }
    return *planned_ ? Status() : Status(std::unexpected(planned_->error()));
  }
  std::span<const OutputAlias> aliases() const override { return plan().aliases(); }
  std::size_t temporary_bytes() const override { return plan().temporary_bytes(); }
  Result<std::unique_ptr<CompiledRun>> make_run() const override { return plan().make_run(); }

 private:
  const Compiled& plan() const {
    const Compiled* plan = ready_.load();
    MILLRACE_CHECK(plan != nullptr, "a refined program is used after prepare()");
    return *plan;
  }

  const Signature signature_;
  const PlanOptions options_;
  mutable Mutex mutex_;
  mutable std::optional<ir::Module> module_ MILLRACE_GUARDED_BY(mutex_);
  mutable std::optional<Result<std::shared_ptr<const Compiled>>> planned_
      MILLRACE_GUARDED_BY(mutex_);
  mutable std::atomic<const Compiled*> ready_{nullptr};
};

class DynamicProgram final : public Compiled {
 public:
  DynamicProgram(ir::Module module, Signature signature, PlanOptions options)
      : module_(std::move(module)),
        signature_(std::move(signature)),
        options_(std::move(options)) {}

  std::span<const Shape> inputs() const override { return signature_.inputs; }
  std::span<const Shape> outputs() const override { return signature_.outputs; }
  std::span<const int> donated() const override { return signature_.donated; }
  std::span<const OutputAlias> aliases() const override { return {}; }
  std::size_t temporary_bytes() const override { return 0; }
  Result<std::unique_ptr<CompiledRun>> make_run() const override {
    return fail(ErrorCode::kFailedPrecondition,
                "a program of dynamic shapes runs for the shapes of a call only");
  }
  Result<std::shared_ptr<const Compiled>> refined(std::span<const Shape> inputs) const override {
    MILLRACE_TRY(ir::Module module, refine::refine(module_, inputs));
    MILLRACE_TRY(Signature signature, signature_of(module));
    return std::make_shared<const RefinedProgram>(std::move(module), std::move(signature),
                                                  options_);
  }

 private:
  const ir::Module module_;
  const Signature signature_;
  const PlanOptions options_;
};

}  // namespace

Result<std::shared_ptr<const Compiled>> make_dynamic_program(ir::Module module,
                                                             const PlanOptions& options) {
  MILLRACE_TRY(Signature signature, signature_of(module));
  PlanOptions anew = options;
  anew.chosen.reset();
  return std::make_shared<const DynamicProgram>(std::move(module), std::move(signature),
                                                std::move(anew));
}

}  // namespace millrace::devices::cpu
