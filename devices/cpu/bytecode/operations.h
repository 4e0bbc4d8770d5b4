// The operations of a bytecode file: regions, blocks, values and ops, made in the module as they
// are read.
#pragma once

#include <deque>
#include <vector>

#include "millrace/devices/cpu/bytecode/entries.h"
#include "millrace/devices/cpu/bytecode/to_stablehlo.h"

namespace millrace::devices::cpu::bytecode {

// Thread-safety: confined.
class Operations {
 public:
  Operations(Problem& problem, const Container& container, ir::Module& module)
      : problem_(problem),
        container_(container),
        module_(module),
        entries_(problem, container, module),
        to_stablehlo_(problem, module) {}

  bool read();

 private:
  // What stands around an op.
  enum class Place { kFile, kModule, kFunction, kRegion };

  // An op up to its regions. Kept and reused for each depth.
  struct Draft {
    std::size_t offset = 0;
    const OpName* name = nullptr;
    const VhloOp* vhlo = nullptr;  // nullptr for other dialects
    std::uint64_t parts = 0;
    Attributes encoded;
    Attributes attributes;
    std::vector<ir::Type> results;
    std::vector<ir::Value*> operands;
    std::uint64_t regions = 0;
    bool isolated = false;

    void clear();
  };

  // The values of one region that is being read: numbers from `first` on, in order of definition.
  struct Scope {
    std::uint64_t first = 0;
    std::uint64_t size = 0;
    bool isolated = false;  // what stands around it is not seen
    std::vector<ir::Value*> values;
  };

  bool read_block_ops(ByteCursor& in, std::uint64_t n, Place place, ir::Block* to);
  bool read_op(ByteCursor& in, Place place, ir::Block* to);
  bool read_head(ByteCursor& in, Draft& d);
  bool read_attributes(ByteCursor& in, Draft& d);
  bool read_properties(ByteCursor& in, Draft& d);
  bool read_operands(ByteCursor& in, Draft& d);
  bool finish_op(ByteCursor& in, Draft& d, Place place, ir::Block* to);
  bool read_module(ByteCursor& in, Draft& d);
  bool read_function(ByteCursor& in, Draft& d);
  bool read_regions(ByteCursor& in, const Draft& d, Place inside,
                    std::vector<std::vector<ir::Block*>>* out);
  bool read_region(ByteCursor& in, bool isolated, Place inside, std::vector<ir::Block*>* out);
  bool read_block(ByteCursor& in, Place inside, std::vector<ir::Block*>* out);
  bool read_block_arguments(ByteCursor& in, std::vector<ir::Type>* types);
  bool skip_use_orders(ByteCursor& in, std::size_t values);
  bool define(ByteCursor& in, std::span<ir::Value> values);
  bool value(ByteCursor& in, ir::Value** out);
  std::string full_name(const OpName& name) const;

  Problem& problem_;
  const Container& container_;
  ir::Module& module_;
  Entries entries_;
  ToStablehlo to_stablehlo_;
  std::deque<Draft> drafts_;
  std::vector<Scope> scopes_;
  int depth_ = 0;
  bool module_seen_ = false;
};

}  // namespace millrace::devices::cpu::bytecode
