#include "tests/support/drop_nans.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace millrace::testing {
namespace {

using devices::DType;
using Kind = ProgramAttribute::Kind;

class Dropper {
 public:
  Dropper(RandomProgram program, std::uint64_t dropping)
      : program_(std::move(program)), dropping_(dropping) {}
  RandomProgram drop() {
    visit(program_.main);
    return std::move(program_);
  }
  int places() const { return places_; }

 private:
  void visit(ProgramBlock& block) {
    std::vector<ProgramStep> made;
    steps_ = &made;
    for (ProgramStep& step : block.steps) {
      for (ProgramBlock& inner : step.blocks) visit(inner);
      steps_ = &made;
      add(std::move(step));
    }
    block.steps = std::move(made);
  }

  void add(ProgramStep step) {
    const bool extreme = step.op == "minimum" || step.op == "maximum" || step.op == "clamp";
    if (!extreme || !devices::is_floating(program_.type(step.results[0]).dtype)) {
      steps_->push_back(std::move(step));
      return;
    }
    const std::vector<int>& of = step.operands;
    if (step.op != "clamp") return extremum(step.op, of[0], of[1], step.results[0]);
    const int raised = program_.add_value(program_.type(of[1]));
    extremum("maximum", of[0], of[1], raised);
    extremum("minimum", raised, of[2], step.results[0]);
  }

  // result = is_nan(a) ? b : is_nan(b) ? a : op(a, b)
  void extremum(const std::string& op, int a, int b, int result) {
    if ((dropping_ >> std::min(places_++, 63) & 1) == 0) {
      steps_->push_back({op, {a, b}, {result}});
      return;
    }
    const TensorType type = program_.type(result);
    const int both = program_.add_value(type), mine = program_.add_value(type);
    steps_->push_back({op, {a, b}, {both}});
    steps_->push_back({"select", {is_nan(b), a, both}, {mine}});
    steps_->push_back({"select", {is_nan(a), b, mine}, {result}});
  }

  int is_nan(int v) {
    const int made = program_.add_value({DType::kI1, program_.type(v).dims});
    steps_->push_back(
        {"compare",
         {v, v},
         {made},
         {{"comparison_direction", Kind::kText, {}, "#stablehlo<comparison_direction NE>"},
          {"compare_type", Kind::kText, {}, "#stablehlo<comparison_type FLOAT>"}}});
    return made;
  }

  RandomProgram program_;
  const std::uint64_t dropping_;
  int places_ = 0;                             // seen
  std::vector<ProgramStep>* steps_ = nullptr;  // of the block that is being made
};

}  // namespace

int nan_droppers(const RandomProgram& program) {
  Dropper dropper(program, 0);
  static_cast<void>(dropper.drop());
  return dropper.places();
}

RandomProgram drop_nans(const RandomProgram& program, std::uint64_t dropping) {
  return Dropper(program, dropping).drop();
}

}  // namespace millrace::testing
