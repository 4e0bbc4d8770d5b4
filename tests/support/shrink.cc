#include "tests/support/shrink.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "millrace/devices/stablehlo/text/read_text.h"
#include "millrace/devices/stablehlo/verify/verify.h"

namespace millrace::testing {
namespace {

// Calls f for each step of the block and of the blocks in it.
void for_each_step(ProgramBlock& block, const std::function<void(ProgramStep&)>& f) {
  for (ProgramStep& step : block.steps) {
    f(step);
    for (ProgramBlock& inner : step.blocks) for_each_step(inner, f);
  }
}

void replace_uses(ProgramBlock& block, int from, int to) {
  std::ranges::replace(block.results, from, to);
  for (ProgramStep& step : block.steps) {
    std::ranges::replace(step.operands, from, to);
    for (ProgramBlock& inner : step.blocks) replace_uses(inner, from, to);
  }
}

void add_uses(const ProgramStep& step, std::set<int>& used) {
  used.insert(step.operands.begin(), step.operands.end());
  for (const ProgramBlock& block : step.blocks) {
    used.insert(block.results.begin(), block.results.end());
    for (const ProgramStep& inner : block.steps) add_uses(inner, used);
  }
}

// Removes the steps whose results no step reads; operations have no effects.
void remove_unused(ProgramBlock& block) {
  std::set<int> used(block.results.begin(), block.results.end());
  std::vector<ProgramStep> kept;
  for (auto step = block.steps.rbegin(); step != block.steps.rend(); ++step) {
    if (std::ranges::none_of(step->results, [&](int v) { return used.contains(v); })) continue;
    for (ProgramBlock& inner : step->blocks) remove_unused(inner);
    add_uses(*step, used);
    kept.push_back(std::move(*step));
  }
  std::ranges::reverse(kept);
  block.steps = std::move(kept);
}

void tidy(RandomProgram& program) {
  remove_unused(program.main);
  std::set<int> used(program.main.results.begin(), program.main.results.end());
  for (const ProgramStep& step : program.main.steps) add_uses(step, used);
  std::erase_if(program.main.parameters, [&](int v) { return !used.contains(v); });
  std::erase_if(program.special, [&](int v) { return !used.contains(v); });
}

class Shrinker {
 public:
  Shrinker(RandomProgram program, const std::function<bool(const RandomProgram&)>& fails, int most)
      : best_(std::move(program)), fails_(fails), most_(most) {}

  Shrunk run() {
    take(best_);  // without the unread steps
    for (bool smaller = true; smaller && tries_ < most_;)
      smaller =
          fewer_results() || earlier() || cut() || forward() || smaller_sizes() || plain_inputs();
    return {std::move(best_), tries_};
  }

 private:
  // Takes a candidate that is valid and still fails.
  bool take(RandomProgram candidate) {
    tidy(candidate);
    if (tries_ >= most_ || !is_valid(candidate)) return false;
    ++tries_;
    if (!fails_(candidate)) return false;
    best_ = std::move(candidate);
    return true;
  }

  bool fewer_results() {
    const std::vector<int> results = best_.main.results;
    if (results.size() < 2) return false;
    for (const int result : results) {
      RandomProgram one = best_;
      one.main.results = {result};
      if (take(std::move(one))) return true;
    }
    // Not one alone: without one of them.
    for (std::size_t i = 0; i < results.size(); ++i) {
      RandomProgram less = best_;
      less.main.results.erase(less.main.results.begin() + static_cast<std::ptrdiff_t>(i));
      if (take(std::move(less))) return true;
    }
    return false;
  }

  // What the step of a result reads is the result.
  bool earlier() {
    for (std::size_t r = 0; r < best_.main.results.size(); ++r) {
      const auto step = std::ranges::find_if(best_.main.steps, [&](const ProgramStep& s) {
        return std::ranges::find(s.results, best_.main.results[r]) != s.results.end();
      });
      if (step == best_.main.steps.end()) continue;
      for (const int operand : std::vector<int>(step->operands)) {
        RandomProgram candidate = best_;
        candidate.main.results[r] = operand;
        tidy(candidate);
        if (candidate.size() < best_.size() && take(std::move(candidate))) return true;
      }
    }
    return false;
  }

  // What a step gives comes in as a parameter. Constants stay: a sum from any other start than the
  // one that changes nothing is not defined.
  bool cut() {
    for (std::size_t i = 0; i < best_.main.steps.size(); ++i) {
      if (best_.main.steps[i].op == "constant") continue;
      const std::vector<int> results = best_.main.steps[i].results;
      if (std::ranges::any_of(results, [this](int v) { return is_result(v); })) continue;
      RandomProgram candidate = best_;
      candidate.main.steps.erase(candidate.main.steps.begin() + static_cast<std::ptrdiff_t>(i));
      for (const int v : results) candidate.main.parameters.push_back(v);
      if (take(std::move(candidate))) return true;
    }
    return false;
  }
  bool is_result(int v) const {
    return std::ranges::find(best_.main.results, v) != best_.main.results.end();
  }

  // A step is left out: who read its result reads its operand. Within the blocks of control flow
  // too, where a parameter of the block does as well; what adds up or compares stays as it is.
  bool forward() {
    std::vector<std::pair<int, int>> swaps;
    const auto add = [&](int from, const std::vector<int>& to) {
      for (const int v : to) {
        if (best_.type(v) == best_.type(from)) swaps.emplace_back(from, v);
      }
    };
    const std::function<void(const ProgramBlock&)> visit = [&](const ProgramBlock& block) {
      for (const ProgramStep& step : block.steps) {
        for (const int result : step.results) {
          add(result, step.operands);
          if (&block != &best_.main) add(result, block.parameters);
        }
        if (step.op != "while" && step.op != "if" && step.op != "case") continue;
        for (const ProgramBlock& inner : step.blocks) visit(inner);
      }
    };
    visit(best_.main);
    for (const auto& [from, to] : swaps) {
      RandomProgram candidate = best_;
      replace_uses(candidate.main, from, to);
      tidy(candidate);
      if (candidate.size() < best_.size() && take(std::move(candidate))) return true;
    }
    return false;
  }

  bool smaller_sizes() {
    std::set<std::int64_t> sizes;
    for (const std::int64_t size : all_sizes()) {
      if (size > 1) sizes.insert(size);
    }
    for (auto size = sizes.rbegin(); size != sizes.rend(); ++size) {
      for (const std::int64_t smaller : {std::int64_t{1}, *size / 2, *size - 1}) {
        RandomProgram candidate = best_;
        resize(candidate, *size, smaller);
        if (take(std::move(candidate))) return true;
      }
    }
    return one_dimension_smaller();
  }
  std::vector<std::int64_t> all_sizes() const {
    std::vector<std::int64_t> sizes;
    std::set<int> used(best_.main.parameters.begin(), best_.main.parameters.end());
    for (const ProgramStep& step : best_.main.steps) {
      add_uses(step, used);
      used.insert(step.results.begin(), step.results.end());
    }
    for (const int v : used) {
      const auto& dims = best_.type(v).dims;
      sizes.insert(sizes.end(), dims.begin(), dims.end());
    }
    return sizes;
  }
  static void resize(RandomProgram& program, std::int64_t from, std::int64_t to) {
    for (TensorType& type : program.types) std::ranges::replace(type.dims, from, to);
    for_each_step(program.main, [&](ProgramStep& step) {
      for (ProgramAttribute& a : step.attributes) {
        if (a.sizes) std::ranges::replace(a.numbers, from, to);
      }
    });
  }
  // The same dimension of every value that has this type.
  bool one_dimension_smaller() {
    std::vector<TensorType> types;
    for (const int p : best_.main.parameters) types.push_back(best_.type(p));
    for (const TensorType& type : types) {
      for (std::size_t d = 0; d < type.dims.size(); ++d) {
        if (type.dims[d] <= 1) continue;
        RandomProgram candidate = best_;
        for (TensorType& other : candidate.types) {
          if (other.dims == type.dims) --other.dims[d];
        }
        if (take(std::move(candidate))) return true;
      }
    }
    return false;
  }

  bool plain_inputs() {
    for (const int v : best_.special) {
      RandomProgram candidate = best_;
      candidate.special.erase(v);
      if (take(std::move(candidate))) return true;
    }
    return false;
  }

  RandomProgram best_;
  const std::function<bool(const RandomProgram&)>& fails_;
  const int most_;
  int tries_ = 0;
};

}  // namespace

bool is_valid(const RandomProgram& program) {
  const std::string text = program.to_text();
  const auto module = devices::stablehlo::text::read_text(text);
  return module && devices::stablehlo::verify::verify(*module);
}

Shrunk shrink(RandomProgram program, const std::function<bool(const RandomProgram&)>& fails,
              int most_tries) {
  return Shrinker(std::move(program), fails, most_tries).run();
}

}  // namespace millrace::testing
