// Walk: the pass of specialise.h at work: from the entry function down through calls and regions,
// each operation once per set of shapes that it gets, into a new module. Internal to this folder.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "millrace/core/base/error.h"
#include "millrace/devices/stablehlo/ir/module.h"
#include "millrace/devices/stablehlo/specialise/known.h"
#include "millrace/devices/stablehlo/specialise/static_form.h"

namespace millrace::devices::stablehlo::specialise {

// Thread-safety: confined.
class Walk {
 public:
  // from is verified and stays as it is; into is over it (ir::Module::over).
  Walk(const ir::Module& from, ir::Module& into, Evaluate evaluate);

  // Makes `function` with arguments of these types, and all that it calls.
  Status entry(const ir::Function& function, std::span<const ir::Type> inputs);

 private:
  using Values = std::vector<ir::Value*>;
  // What stands for the values of one function.
  using Scope = std::unordered_map<const ir::Value*, ir::Value*>;
  // A function for one set of argument types and known arguments.
  struct Instance {
    const ir::Function* function = nullptr;
    std::vector<KnownRef> known;  // per result
    std::vector<int> passed;      // per result: the argument that it is, -1: none
    bool effect = false;          // it does more than compute its results
  };

  Result<const Instance*> instance(const ir::Function& function, std::vector<ir::Type> inputs,
                                   std::vector<KnownRef> known, const std::string& name);
  // The operations of `from` at the end of `to`; gives what stands for the terminator's operands.
  Result<Values> block(const ir::Block& from, ir::Block& to, Scope& scope);
  Status op(const ir::Op& op, ir::Block& to, Scope& scope);
  Status plain(const ir::Op& op, ir::Block& to, Scope& scope);
  Status infer_types(const ir::Op& op, ir::Op& made);
  Status regions(const ir::Op& op, const StaticForm& form, ir::Op& made, Scope& scope);
  Status call(const ir::Op& op, ir::Block& to, Scope& scope);
  Status assertion(const ir::Op& op, Scope& scope);

  // walk_control.cc
  Status branch(const ir::Op& op, ir::Block& to, Scope& scope);
  Status loop(const ir::Op& op, ir::Block& to, Scope& scope);
  Result<ir::Op*> try_loop(const ir::Op& op, const Values& operands, const std::vector<bool>& fixed,
                           Scope& scope);
  // nullptr if no guess comes out right; else `fixed` becomes the guess.
  ir::Op* guessed_loop(const ir::Op& op, const Values& operands, std::vector<bool>& fixed,
                       Scope& scope);
  // A block with arguments of these types, of which this is known; they stand for those of `from`.
  ir::Block* block_like(const ir::Block& from, std::span<const ir::Type> arguments,
                        std::span<const KnownRef> known, Scope& scope);
  // A region of one block that does what `from` does; gives what the block returns.
  Result<Values> region(const ir::Block& from, std::span<const ir::Type> arguments,
                        std::span<const KnownRef> known, ir::Region& to, Scope& scope);
  void end_block(const ir::Op& terminator, std::span<ir::Value* const> values, ir::Block& to);

  static Values mapped(const ir::Op& op, const Scope& scope);
  static void set_results(const ir::Op& op, std::span<ir::Value* const> values, Scope& scope);
  static void set_results(const ir::Op& op, const ir::Op& made, Scope& scope);
  ir::Op* create(const ir::Op& like, ir::OpKind kind, std::span<ir::Value* const> operands,
                 std::span<const ir::Type> results, std::span<const ir::NamedAttribute> attributes,
                 int regions);
  std::string unused_name(std::string_view like);

  const ir::Module& from_;
  ir::Module& into_;
  const Evaluate evaluate_;
  KnownValues known_;
  std::unordered_map<std::string, std::unique_ptr<Instance>> instances_;
  std::int64_t budget_;  // of operations that are still made
  int guesses_ = 0;      // loops that were tried with more than what is plain to see
  int depth_ = 0;        // of blocks in blocks and functions
  int name_counter_ = 0;
  bool effect_ = false;  // of the function at hand
};

// type with these dimensions in place of those that are dynamic, and without bounds if none is
// left.
ir::Type with_dims(ir::TypeTable& types, ir::Type type, std::span<const std::int64_t> dims);

}  // namespace millrace::devices::stablehlo::specialise
