#include "millrace/devices/stablehlo/ir/module.h"

#include <array>
#include <cstring>
#include <memory>

#include <gtest/gtest.h>

#include "millrace/devices/stablehlo/ir/print.h"

namespace millrace::devices::stablehlo::ir {
namespace {

// func @f(a: tensor<2xf32>) -> tensor<2xf32> { return a + a }
Module doubling() {
  Module m;
  const std::array types{m.types().tensor({2}, DType::kF32)};
  Function& f = m.create_function({.name = "f", .inputs = types, .results = types});
  Block* entry = m.create_block(types);
  m.set_blocks(f.body(), std::array{entry});
  const std::array operands{entry->argument(0), entry->argument(0)};
  Op* add = m.create_op({.kind = OpKind::kAdd, .operands = operands, .result_types = types});
  entry->append(add);
  entry->append(m.create_op({.kind = OpKind::kFuncReturn, .operands = std::array{add->result()}}));
  return m;
}

TEST(IrModule, OpsAreWalkedInOrderAndKnowTheirPlace) {
  Module m = doubling();
  const Function* f = m.find("f");
  ASSERT_NE(f, nullptr);
  std::vector<OpKind> kinds;
  for (const Op& op : f->body().block()) kinds.push_back(op.kind());
  EXPECT_EQ(kinds, (std::vector{OpKind::kAdd, OpKind::kFuncReturn}));
  EXPECT_EQ(f->body().block().front()->result()->def(), f->body().block().front());
  EXPECT_NE(f->body().block().argument(0)->block(), nullptr);
  EXPECT_EQ(m.value_ids(), 2);
  EXPECT_EQ(m.find("g"), nullptr);
}

TEST(IrModule, MovingKeepsPointersValid) {
  Module m = doubling();
  const Op* add = m.find("f")->body().block().front();
  Module moved = std::move(m);
  EXPECT_EQ(moved.find("f")->body().block().front(), add);
  EXPECT_EQ(add->name(), "stablehlo.add");
}

TEST(IrModule, EqualTypesAreOnePointer) {
  Module m;
  EXPECT_EQ(m.types().tensor({2, 3}, DType::kF32), m.types().tensor({2, 3}, DType::kF32));
  EXPECT_NE(m.types().tensor({2, 3}, DType::kF32), m.types().tensor({3, 2}, DType::kF32));
  EXPECT_NE(m.types().tensor({}, DType::kF32), m.types().scalar(DType::kF32));
}

TEST(IrModule, TypesSayTheirSizeAndText) {
  Module m;
  const Type t = m.types().tensor({2, 3}, DType::kBF16);
  EXPECT_EQ(t.to_string(), "tensor<2x3xbf16>");
  EXPECT_EQ(t.elements(), 6);
  EXPECT_EQ(t.size_bytes(), 12);
  EXPECT_EQ(t.shape(), Shape(DType::kBF16, {2, 3}));
  const Type dynamic = m.types().tensor({kDynamic, 4}, DType::kF32);
  EXPECT_EQ(dynamic.to_string(), "tensor<?x4xf32>");
  EXPECT_EQ(dynamic.elements(), std::nullopt);
  EXPECT_EQ(m.types().tensor({1 << 30, 1 << 30, 1 << 30}, DType::kF32).elements(), std::nullopt);
  EXPECT_EQ(m.types().tensor({1 << 30, 1 << 30, 4}, DType::kF32).size_bytes(), std::nullopt);
}

TEST(IrModule, AttributesAreSortedAndTheLastDuplicateWins) {
  Module m;
  const Attribute one = m.attribute(BoolAttr{.value = true});
  const Attribute two = m.attribute(BoolAttr{.value = false});
  const std::array given{NamedAttribute{"b", one}, NamedAttribute{"a", one},
                         NamedAttribute{"b", two}};
  const auto sorted = m.sorted(given);
  ASSERT_EQ(sorted.size(), 2u);
  EXPECT_EQ(sorted[0].name, "a");
  EXPECT_EQ(sorted[1].value.data(), two.data());
}

TEST(IrModule, DenseBytesOutliveTheModuleWhenShared) {
  std::shared_ptr<const std::byte[]> kept;
  {
    Module m;
    auto bytes = std::make_shared<std::byte[]>(4);
    bytes[0] = std::byte{7};
    const Attribute a = m.dense(m.types().tensor({3}, DType::kI32), true, bytes, 4);
    EXPECT_EQ(to_ints(a), (std::vector<std::int64_t>{7, 7, 7}));
    kept = a.as<DenseAttr>()->share();
  }
  EXPECT_EQ(kept[0], std::byte{7});
}

TEST(IrModule, HugeSplatIsNotExpanded) {
  Module m;
  const Attribute a = m.dense(m.types().tensor({1 << 30, 1 << 20}, DType::kI8), true,
                              std::make_shared<std::byte[]>(1), 1);
  EXPECT_EQ(to_ints(a), std::nullopt);
}

TEST(IrModule, TheGenericTextsOfModulesThatDifferDiffer) {
  const Module a = doubling();
  Module b = doubling();
  EXPECT_EQ(print(a, Form::kGeneric), print(b, Form::kGeneric));
  b.find("f")->body().block().front()->set_attributes(
      b.sorted(std::array{NamedAttribute{"x", b.attribute(UnitAttr{})}}));
  EXPECT_NE(print(a, Form::kGeneric), print(b, Form::kGeneric));
}

TEST(IrModule, RemovedOpLeavesTheListWhole) {
  Module m = doubling();
  Block& block = m.find("f")->body().block();
  Op* add = block.front();
  block.remove(add);
  EXPECT_EQ(block.front()->kind(), OpKind::kFuncReturn);
  EXPECT_EQ(add->parent(), nullptr);
  block.insert(block.front(), add);
  EXPECT_EQ(block.front(), add);
  EXPECT_EQ(block.terminator()->previous(), add);
}

}  // namespace
}  // namespace millrace::devices::stablehlo::ir
