// The verifier's rules of operations among processes, on tokens, and of other dialects; and that it
// looks into the regions of all of them.
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/devices/stablehlo/verify/op_case.h"

namespace millrace::devices::stablehlo::verify {
namespace {

using ::testing::HasSubstr;

class VerifyCollective : public ::testing::TestWithParam<OpCase> {};

TEST_P(VerifyCollective, SaysWhatWasFoundAndExpected) {
  const OpCase& c = GetParam();
  EXPECT_THAT(verdict("%a: tensor<4x6xf32>, %n: tensor<4x6xi32>, %t: !stablehlo.token, %u: "
                      "tensor<?x6xf32>, %f: !stablehlo.future<tensor<4x6xf32>>",
                      c.op),
              HasSubstr(c.verdict));
}

#define ONE_GROUP "replica_groups = dense<0> : tensor<1x1xi64>"
#define BODY_OF(type)                                                                       \
  "({\n^bb0(%l: tensor<" type ">, %r: tensor<" type                                         \
  ">):\n %z = stablehlo.add %l, %r : tensor<" type ">\n stablehlo.return %z : tensor<" type \
  ">\n})"

// What jaxlib's verifier says of the same groups.
const OpCase kGroups[] = {
    {"GatherGroupsBelowZero",
     R"(%0 = "stablehlo.all_gather"(%a) <{all_gather_dim = 0 : i64, replica_groups = dense<[[-1]]> : tensor<1x1xi64>}> : (tensor<4x6xf32>) -> tensor<4x6xf32>)",
     "replica_groups name process -1, expected none below 0"},
    {"GatherGroupsWithAGap",
     R"(%0 = "stablehlo.all_gather"(%a) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0], [2]]> : tensor<2x1xi64>}> : (tensor<4x6xf32>) -> tensor<4x6xf32>)",
     "replica_groups name process 2 but not 1, expected each up to the last"},
    {"GatherGroupsWithOneTwice",
     R"(%0 = "stablehlo.all_gather"(%a) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0], [0]]> : tensor<2x1xi64>}> : (tensor<4x6xf32>) -> tensor<4x6xf32>)",
     "replica_groups name process 0 twice"},
    {"GatherGroupsInAList",
     R"(%0 = "stablehlo.all_gather"(%a) <{all_gather_dim = 0 : i64, replica_groups = dense<[0]> : tensor<1xi64>}> : (tensor<4x6xf32>) -> tensor<4x6xf32>)",
     "replica_groups is tensor<1xi64>, expected two dimensions"},
    {"GatherGroupsThatAreEmpty",
     R"(%0 = "stablehlo.all_gather"(%a) <{all_gather_dim = 0 : i64, replica_groups = dense<> : tensor<0x1xi64>}> : (tensor<4x6xf32>) -> tensor<4x6xf32>)",
     "good"},
    {"ReduceGroupsThatAreFilled",
     R"(%0 = "stablehlo.all_reduce"(%a) <{replica_groups = dense<[[0, 1], [2, -1]]> : tensor<2x2xi64>}> )" BODY_OF(
         "f32") " : (tensor<4x6xf32>) -> tensor<4x6xf32>",
     "good"},
    {"ReduceGroupsBelowMinusOne",
     R"(%0 = "stablehlo.all_reduce"(%a) <{replica_groups = dense<[[-2]]> : tensor<1x1xi64>}> )" BODY_OF(
         "f32") " : (tensor<4x6xf32>) -> tensor<4x6xf32>",
     "replica_groups name process -2"},
    {"BroadcastGroupsOfSome",
     R"(%0 = "stablehlo.collective_broadcast"(%a) <{replica_groups = dense<[[1, 3]]> : tensor<1x2xi64>}> : (tensor<4x6xf32>) -> tensor<4x6xf32>)",
     "good"},
    {"BroadcastGroupsBelowZero",
     R"(%0 = "stablehlo.collective_broadcast"(%a) <{replica_groups = dense<[[1, -1]]> : tensor<1x2xi64>}> : (tensor<4x6xf32>) -> tensor<4x6xf32>)",
     "replica_groups name process -1"},
    {"PermuteTwoToOne",
     R"(%0 = "stablehlo.collective_permute"(%a) <{source_target_pairs = dense<[[0, 1], [1, 1]]> : tensor<2x2xi64>}> : (tensor<4x6xf32>) -> tensor<4x6xf32>)",
     "source_target_pairs have process 1 twice as a target"},
    {"PermuteByNarrowNumbers",
     R"(%0 = "stablehlo.collective_permute"(%a) <{source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi8>}> : (tensor<4x6xf32>) -> tensor<4x6xf32>)",
     "source_target_pairs is tensor<1x2xi8>, expected elements of i64"},
    {"PermuteBelowZero",
     R"(%0 = "stablehlo.collective_permute"(%a) <{source_target_pairs = dense<[[-1, 0]]> : tensor<1x2xi64>}> : (tensor<4x6xf32>) -> tensor<4x6xf32>)",
     "source_target_pairs name process -1, expected none below 0"},
};
INSTANTIATE_TEST_SUITE_P(Groups, VerifyCollective, ::testing::ValuesIn(kGroups),
                         [](const auto& row) { return std::string(row.param.name); });

const OpCase kCollectives[] = {
    {"AllGather",
     R"(%0 = "stablehlo.all_gather"(%a) <{all_gather_dim = 0 : i64, )" ONE_GROUP
     R"(}> : (tensor<4x6xf32>) -> tensor<8x6xf32>)",
     "good"},
    {"AllGatherOfOtherDimension",
     R"(%0 = "stablehlo.all_gather"(%a) <{all_gather_dim = 0 : i64, )" ONE_GROUP
     R"(}> : (tensor<4x6xf32>) -> tensor<4x12xf32>)",
     "2:8: stablehlo.all_gather: result 0 has the shape 4x12, expected ?x6"},
    {"AllGatherOfParts",
     R"(%0 = "stablehlo.all_gather"(%a) <{all_gather_dim = 0 : i64, )" ONE_GROUP
     R"(}> : (tensor<4x6xf32>) -> tensor<9x6xf32>)",
     "dimension 0 of result 0 is 9, of the operand 4: expected a multiple of the smaller"},
    {"AllGatherOfNothing",
     R"(%0 = "stablehlo.all_gather"() <{all_gather_dim = 0 : i64, )" ONE_GROUP
     R"(}> : () -> tensor<4x6xf32>)",
     "found 0 operands, expected at least 1"},
    {"AllGatherElements",
     R"(%0 = "stablehlo.all_gather"(%a) <{all_gather_dim = 0 : i64, )" ONE_GROUP
     R"(}> : (tensor<4x6xf32>) -> tensor<4x6xf64>)",
     "result 0 has elements of f64, expected f32"},
    {"AllReduce",
     R"(%0 = "stablehlo.all_reduce"(%a) <{)" ONE_GROUP
     "}> " BODY_OF("f32") " : (tensor<4x6xf32>) -> tensor<4x6xf32>",
     "good"},
    {"AllReduceShape",
     R"(%0 = "stablehlo.all_reduce"(%a) <{)" ONE_GROUP
     "}> " BODY_OF("f32") " : (tensor<4x6xf32>) -> tensor<400x6xf32>",
     "result 0 has the shape 400x6, expected 4x6"},
    {"AllReduceElements",
     R"(%0 = "stablehlo.all_reduce"(%a) <{)" ONE_GROUP
     "}> " BODY_OF("f32") " : (tensor<4x6xf32>) -> tensor<4x6xf64>",
     "value 0 of the body has elements of f32, expected f64"},
    {"ReduceScatter",
     R"(%0 = "stablehlo.reduce_scatter"(%a) <{scatter_dimension = 1 : i64, )" ONE_GROUP
     "}> " BODY_OF("f32") " : (tensor<4x6xf32>) -> tensor<4x2xf32>",
     "good"},
    {"ReduceScatterThatGrows",
     R"(%0 = "stablehlo.reduce_scatter"(%a) <{scatter_dimension = 1 : i64, )" ONE_GROUP
     "}> " BODY_OF("f32") " : (tensor<4x6xf32>) -> tensor<4x12xf32>",
     "dimension 1 of result 0 is 12, of the operand 6"},
    {"AllToAll",
     R"(%0 = "stablehlo.all_to_all"(%a) <{split_dimension = 1 : i64, concat_dimension = 0 : i64, split_count = 2 : i64, )" ONE_GROUP
     R"(}> : (tensor<4x6xf32>) -> tensor<8x3xf32>)",
     "good"},
    {"AllToAllShape",
     R"(%0 = "stablehlo.all_to_all"(%a) <{split_dimension = 1 : i64, concat_dimension = 0 : i64, split_count = 2 : i64, )" ONE_GROUP
     R"(}> : (tensor<4x6xf32>) -> tensor<4x6xf32>)",
     "result 0 has the shape 4x6, expected 8x3"},
    {"AllToAllCount",
     R"(%0 = "stablehlo.all_to_all"(%a) <{split_dimension = 1 : i64, concat_dimension = 0 : i64, split_count = 4 : i64, )" ONE_GROUP
     R"(}> : (tensor<4x6xf32>) -> tensor<4x6xf32>)",
     "dimension 1 of operand 0 is 6, expected a multiple of split_count = 4"},
    {"CollectivePermute",
     R"(%0 = "stablehlo.collective_permute"(%a) <{source_target_pairs = dense<0> : tensor<1x2xi64>}> : (tensor<4x6xf32>) -> tensor<4x6xf32>)",
     "good"},
    {"CollectivePermuteShape",
     R"(%0 = "stablehlo.collective_permute"(%a) <{source_target_pairs = dense<0> : tensor<1x2xi64>}> : (tensor<4x6xf32>) -> tensor<4000x6xf64>)",
     "result 0 is tensor<4000x6xf64>, expected tensor<4x6xf32>"},
    {"CollectiveBroadcastShape",
     R"(%0 = "stablehlo.collective_broadcast"(%a) <{)" ONE_GROUP
     R"(}> : (tensor<4x6xf32>) -> tensor<4x7xf32>)",
     "result 0 has the shape 4x7, expected 4x6"},
    {"CollectiveBroadcastOfRoots",
     R"(%k = stablehlo.constant dense<0> : tensor<1xi32>
  %0 = "stablehlo.collective_broadcast"(%a, %k) <{has_dynamic_root = true, )" ONE_GROUP
     R"(}> : (tensor<4x6xf32>, tensor<1xi32>) -> tensor<4x6xf32>)",
     "good"},
    {"CollectiveReduce",
     R"(%0 = "stablehlo.collective_reduce"(%a) <{)" ONE_GROUP
     "}> " BODY_OF("f32") " : (tensor<4x6xf32>) -> tensor<4x6xf32>",
     "good"},
    {"CollectiveReduceShape",
     R"(%0 = "stablehlo.collective_reduce"(%a) <{)" ONE_GROUP
     "}> " BODY_OF("f32") " : (tensor<4x6xf32>) -> tensor<4x7xf32>",
     "2:8: stablehlo.collective_reduce: result 0 has the shape 4x7, expected 4x6"},
    {"CollectiveReduceOfRoots",
     R"(%0 = "stablehlo.collective_reduce"(%a, %n) <{has_dynamic_root = true, )" ONE_GROUP
     "}> " BODY_OF("f32") " : (tensor<4x6xf32>, tensor<4x6xi32>) -> tensor<4x6xf32>",
     "the list of roots has the shape 4x6, expected 1"},
    {"CollectiveReduceOfRootsOfFloats",
     R"(%0 = "stablehlo.collective_reduce"(%a, %a) <{has_dynamic_root = true, )" ONE_GROUP
     "}> " BODY_OF("f32") " : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>",
     "the list of roots is tensor<4x6xf32>, expected elements of i32"},
    {"CrossReplicaSumShape",
     R"(%0 = "stablehlo.cross-replica-sum"(%a) <{)" ONE_GROUP
     R"(}> : (tensor<4x6xf32>) -> tensor<4x7xf32>)",
     "result 0 is tensor<4x7xf32>, expected tensor<4x6xf32>"},
    {"ReplicaId", "%0 = stablehlo.replica_id : tensor<ui32>", "good"},
    {"ReplicaIdOfFloats", R"(%0 = "stablehlo.replica_id"() : () -> tensor<4xf32>)",
     "the result is tensor<4xf32>, expected a scalar tensor"},
    {"PartitionIdOfI32", R"(%0 = "stablehlo.partition_id"() : () -> tensor<i32>)",
     "the result is tensor<i32>, expected tensor<ui32>"},
};
INSTANTIATE_TEST_SUITE_P(Collectives, VerifyCollective, ::testing::ValuesIn(kCollectives),
                         [](const auto& i) { return std::string(i.param.name); });

#define HANDLE "channel_handle = #stablehlo.channel_handle<handle = 0, type = 3>"
const OpCase kTokens[] = {
    {"AfterAll",
     R"(%0 = "stablehlo.after_all"(%t, %t) : (!stablehlo.token, !stablehlo.token) -> !stablehlo.token)",
     "good"},
    {"AfterAllOfArrays",
     R"(%0 = "stablehlo.after_all"(%a) : (tensor<4x6xf32>) -> !stablehlo.token)",
     "operand 0 is tensor<4x6xf32>, expected a token"},
    {"CreateTokenOfArrays", R"(%0 = "stablehlo.create_token"() : () -> tensor<2xf32>)",
     "the result is tensor<2xf32>, expected a token"},
    {"Send",
     R"(%0 = "stablehlo.send"(%a, %t) <{)" HANDLE
     R"(}> : (tensor<4x6xf32>, !stablehlo.token) -> !stablehlo.token)",
     "good"},
    {"SendWithoutToken",
     R"(%0 = "stablehlo.send"(%a) <{)" HANDLE R"(}> : (tensor<4x6xf32>) -> !stablehlo.token)",
     "the last operand is tensor<4x6xf32>, expected a token"},
    {"Recv",
     R"(%0:2 = "stablehlo.recv"(%t) <{)" HANDLE
     R"(}> : (!stablehlo.token) -> (tensor<2xf32>, !stablehlo.token))",
     "good"},
    {"RecvWithoutToken",
     R"(%0 = "stablehlo.recv"(%t) <{)" HANDLE R"(}> : (!stablehlo.token) -> tensor<2xf32>)",
     "the last result is tensor<2xf32>, expected a token"},
    {"InfeedOfArrays",
     R"(%0:2 = "stablehlo.infeed"(%a) <{infeed_config = ""}> : (tensor<4x6xf32>) -> (tensor<2xf32>, !stablehlo.token))",
     "the operand is tensor<4x6xf32>, expected a token"},
    {"OutfeedResult",
     R"(%0 = "stablehlo.outfeed"(%a, %t) <{outfeed_config = ""}> : (tensor<4x6xf32>, !stablehlo.token) -> tensor<2xf32>)",
     "the result is tensor<2xf32>, expected a token"},
    {"AsyncDone",
     R"(%0 = "stablehlo.async_done"(%f) : (!stablehlo.future<tensor<4x6xf32>>) -> tensor<4x6xf32>)",
     "good"},
    {"AsyncDoneOfArrays",
     R"(%0 = "stablehlo.async_done"(%a) : (tensor<4x6xf32>) -> tensor<4x6xf32>)",
     "operand 0 is tensor<4x6xf32>, expected a future"},
    {"AsyncDoneResults",
     R"(%0:2 = "stablehlo.async_done"(%f) : (!stablehlo.future<tensor<4x6xf32>>) -> (tensor<4x6xf32>, tensor<4x6xf32>))",
     "found 2 results, expected 1"},
    {"AsyncDoneOtherResult",
     R"(%0 = "stablehlo.async_done"(%f) : (!stablehlo.future<tensor<4x6xf32>>) -> tensor<40x6xf32>)",
     "result 0 is tensor<40x6xf32>, expected tensor<4x6xf32>"},
    {"AsyncStart",
     "%0 = \"stablehlo.async_start\"(%a) ({\n^bb0(%x: tensor<4x6xf32>):\n stablehlo.return %x : "
     "tensor<4x6xf32>\n}) : (tensor<4x6xf32>) -> !stablehlo.future<tensor<4x6xf32>>",
     "good"},
    {"AsyncStartResult",
     "%0 = \"stablehlo.async_start\"(%a) ({\n^bb0(%x: tensor<4x6xf32>):\n stablehlo.return %x : "
     "tensor<4x6xf32>\n}) : (tensor<4x6xf32>) -> !stablehlo.future<tensor<400x6xf32>>",
     "4:2: stablehlo.return: value 0 is tensor<4x6xf32>, expected tensor<400x6xf32>"},
    {"AsyncStartArgument",
     "%0 = \"stablehlo.async_start\"(%a) ({\n^bb0(%x: tensor<6xf32>):\n stablehlo.return %x : "
     "tensor<6xf32>\n}) : (tensor<4x6xf32>) -> !stablehlo.future<tensor<6xf32>>",
     "argument 0 of region 0 is tensor<6xf32>, expected tensor<4x6xf32>"},
    {"AsyncStartWithoutBody",
     R"(%0 = "stablehlo.async_start"(%a) : (tensor<4x6xf32>) -> !stablehlo.future<tensor<4x6xf32>>)",
     "found 0 regions, expected 1"},
};
INSTANTIATE_TEST_SUITE_P(Tokens, VerifyCollective, ::testing::ValuesIn(kTokens),
                         [](const auto& i) { return std::string(i.param.name); });

#define MANUAL(argument, ops, result)                                      \
  "%0 = \"sdy.manual_computation\"(%a) ({\n^bb0(%x: " argument "):\n " ops \
  "\n}) : "                                                                \
  "(tensor<4x6xf32>) -> " result
const OpCase kForeign[] = {
    {"Constraint", R"(%0 = "sdy.sharding_constraint"(%a) : (tensor<4x6xf32>) -> tensor<4x6xf32>)",
     "good"},
    {"ConstraintOfDynamicExtents",
     R"(%0 = "sdy.sharding_constraint"(%u) : (tensor<?x6xf32>) -> tensor<?x6xf32>)", "good"},
    {"ConstraintShape",
     R"(%0 = "sdy.sharding_constraint"(%a) : (tensor<4x6xf32>) -> tensor<4000x6xf32>)",
     "2:8: sdy.sharding_constraint: result 0 is tensor<4000x6xf32>, expected tensor<4x6xf32>"},
    {"ReshardElements", R"(%0 = "sdy.reshard"(%a) : (tensor<4x6xf32>) -> tensor<4x6xf64>)",
     "result 0 is tensor<4x6xf64>, expected tensor<4x6xf32>"},
    {"CastElements",
     R"(%0 = "builtin.unrealized_conversion_cast"(%a) : (tensor<4x6xf32>) -> tensor<4x6xf64>)",
     "result 0 is tensor<4x6xf64>, expected tensor<4x6xf32>"},
    {"CastToTuple",
     R"(%0 = "builtin.unrealized_conversion_cast"(%a) : (tensor<4x6xf32>) -> tuple<tensor<4x6xf32>, tensor<4x6xf32>>)",
     "result 0 is tuple<tensor<4x6xf32>, tensor<4x6xf32>>, expected tensor<4x6xf32>"},
    {"CastToMore",
     R"(%0:2 = "builtin.unrealized_conversion_cast"(%a) : (tensor<4x6xf32>) -> (tensor<4x6xf32>, tensor<4x6xf32>))",
     "found 2 results, expected 1"},
    {"ManualComputation",
     MANUAL("tensor<4x6xf32>",
            "%y = stablehlo.add %x, %x : tensor<4x6xf32>\n \"sdy.return\"(%y) : (tensor<4x6xf32>) "
            "-> ()",
            "tensor<4x6xf32>"),
     "good"},
    {"ManualComputationOfBadOps",
     MANUAL("tensor<4x6xf32>",
            "%y = \"stablehlo.add\"() : () -> tensor<4x6xf32>\n \"sdy.return\"(%y) : "
            "(tensor<4x6xf32>) -> ()",
            "tensor<4x6xf32>"),
     "4:7: stablehlo.add: found 0 operands, expected 2"},
    {"ManualComputationOfAPartWithoutAxes",
     MANUAL("tensor<2x6xf32>", "\"sdy.return\"(%x) : (tensor<2x6xf32>) -> ()", "tensor<2x18xf32>"),
     "argument 0 of region 0 is tensor<2x6xf32>, expected tensor<4x6xf32>"},
    {"ManualComputationArgument",
     MANUAL("tensor<3x6xf32>", "\"sdy.return\"(%x) : (tensor<3x6xf32>) -> ()", "tensor<3x6xf32>"),
     "argument 0 of region 0 is tensor<3x6xf32>, expected tensor<4x6xf32>"},
    {"ManualComputationResult",
     MANUAL("tensor<4x6xf32>", "\"sdy.return\"(%x) : (tensor<4x6xf32>) -> ()", "tensor<401x6xf32>"),
     "sdy.return: value 0 is tensor<4x6xf32>, expected tensor<401x6xf32>"},
    {"ManualComputationElements",
     MANUAL("tensor<4x6xf32>", "\"sdy.return\"(%x) : (tensor<4x6xf32>) -> ()", "tensor<4x6xf64>"),
     "sdy.return: value 0 is tensor<4x6xf32>, expected tensor<4x6xf64>"},
    {"ManualComputationWithoutReturn",
     MANUAL("tensor<4x6xf32>", "%y = stablehlo.add %x, %x : tensor<4x6xf32>", "tensor<4x6xf32>"),
     "its body is not one block that ends in sdy.return"},
    {"ReturnFromItsMiddle",
     MANUAL("tensor<4x6xf32>",
            "\"sdy.return\"(%x) : (tensor<4x6xf32>) -> ()\n \"sdy.return\"(%x) : "
            "(tensor<4x6xf32>) -> ()",
            "tensor<4x6xf32>"),
     "4:2: sdy.return: found here, expected only"},
    {"ReturnFromTheFunction", R"("sdy.return"(%a) : (tensor<4x6xf32>) -> ())",
     "2:3: sdy.return: found here, expected only func.return at the end of the block"},
    {"BodyOfUnknownOp",
     "\"my.op\"() ({\n %y = \"stablehlo.add\"() : () -> tensor<2xf32>\n}) : () -> ()",
     "3:7: stablehlo.add: found 0 operands"},
    {"BodyOfScan",
     "%0 = \"chlo.scan\"(%a) ({\n^bb0(%x: tensor<6xf32>):\n %y = \"stablehlo.add\"() : () -> "
     "tensor<6xf32>\n stablehlo.return %y : tensor<6xf32>\n}) : (tensor<4x6xf32>) -> "
     "tensor<4x6xf32>",
     "4:7: stablehlo.add: found 0 operands"},
};
INSTANTIATE_TEST_SUITE_P(Foreign, VerifyCollective, ::testing::ValuesIn(kForeign),
                         [](const auto& i) { return std::string(i.param.name); });

}  // namespace
}  // namespace millrace::devices::stablehlo::verify
