// Lowers one operation that is neither a call nor control flow to nodes of the graph.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "millrace/core/error.h"
#include "millrace/devices/cpu/ir/module.h"
#include "millrace/devices/cpu/plan/graph.h"

namespace millrace::devices::cpu::plan {

struct OpLowering {
  const ir::Module& module;
  Graph& graph;
  const ir::Op& op;
  std::vector<ValueId> inputs = {};  // what the operands became
  std::vector<Shape> shapes = {};    // of the results
  // What an array of the surroundings became, which the op's bodies may read.
  std::function<ValueId(const ir::Value*)> outer = {};

  // Appends nodes to `to` and gives the values of the results. What no faster kernel does becomes
  // one reference node.
  Result<std::vector<ValueId>> run(Block& to);

 private:
  Node base(NodeKind kind) const;
  std::vector<ValueId> add(Block& to, Node node);
  ValueId add_one(Block& to, Node node, const Shape& shape);
  std::unexpected<Error> unsupported(const std::string& why) const;
  std::vector<std::int64_t> ints(std::string_view name) const;
  std::vector<std::int64_t> ints_or(std::string_view name, std::size_t n,
                                    std::int64_t otherwise) const;

  // Converts the inputs that a body combines to the body's types, which may be wider.
  void promote(Block& to);
  std::optional<DType> body_type(std::size_t i) const;
  bool arrays_fit_body() const;
  Result<std::vector<ValueId>> run_fast(Block& to);
  Result<std::vector<ValueId>> reference(Block& to);
  Result<std::vector<ValueId>> elementwise(Block& to, TileOp what, std::uint32_t param);
  Result<std::vector<ValueId>> bitcast(Block& to);
  Result<std::vector<ValueId>> constant(Block& to);
  Result<std::vector<ValueId>> gather(Block& to);
  Result<std::vector<ValueId>> scatter(Block& to);
  Result<std::vector<ValueId>> reduce(Block& to);
  Result<std::vector<ValueId>> reduce_window(Block& to);
  Result<std::vector<ValueId>> select_and_scatter(Block& to);
  Result<std::vector<ValueId>> sort(Block& to);
  Result<std::vector<ValueId>> dot(Block& to);
  Result<std::vector<ValueId>> convolution(Block& to);
  Result<Window> window() const;
};

}  // namespace millrace::devices::cpu::plan
