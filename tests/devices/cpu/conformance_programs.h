// StableHLO's own test data (programs with inputs and expected results that JAX made), where it is
// beside the source tree: its files, and each program with its checks taken out.
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "millrace/core/base/error.h"
#include "millrace/devices/stablehlo/ir/module.h"
#include "tests/support/paths.h"

namespace millrace::devices::cpu::testing {

namespace ir = stablehlo::ir;

enum class Check { kEqual, kClose, kAlmostEqual };

// A program whose checks were taken out: @tested(inputs) gives what was checked, then what it was
// compared with.
struct Tested {
  ir::Module module;
  std::vector<Check> checks;
  std::vector<Shape> shapes;
};

inline void replace_uses(ir::Block& block, const std::map<const ir::Value*, ir::Value*>& map) {
  for (ir::Op& op : block) {
    for (int i = 0; i < op.operand_count(); ++i) {
      if (const auto it = map.find(op.operand(i)); it != map.end()) op.set_operand(i, it->second);
    }
    for (ir::Region& region : op.regions()) {
      for (ir::Block* inner : region.blocks()) replace_uses(*inner, map);
    }
  }
}

inline Result<Tested> take_checks_out(ir::Module module) {
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

inline std::filesystem::path conformance_folder() {
  return std::filesystem::path(millrace::testing::shared_folder()) / "conformance" / "stablehlo";
}

// Programs that StableHLO's own interpreter does not pass either: any outcome is fine.
inline std::set<std::string> optional_files(const std::filesystem::path& folder) {
  std::set<std::string> names;
  std::ifstream in(folder / "index.csv");
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with("file,") && line.find(",enabled,") == std::string::npos)
      names.insert(line.substr(0, line.find(',')));
  }
  return names;
}

// The others, sorted by name.
inline std::vector<std::filesystem::path> enabled_files(const std::filesystem::path& folder) {
  const std::set<std::string> optional = optional_files(folder);
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::filesystem::path& path = entry.path();
    if (path.extension() == ".mlir" && !optional.contains(path.filename())) files.push_back(path);
  }
  std::ranges::sort(files);
  return files;
}

}  // namespace millrace::devices::cpu::testing
