module @attributes {
  sdy.mesh @mesh = <["a"=2, "b"=8, "c"=1]>
  sdy.mesh @turned = <["a"=2, "b"=2], device_ids=[0, 2, 1, 3]>
  sdy.mesh @maximal = <[], device_ids=[3]>
  sdy.mesh @empty = <[]>
  func.func public @main(%arg0: tensor<4x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a", ?}p1, {"b":(1)2, "b":(4)2, ?}p0], replicated={"c"}>}, %arg1: tensor<4x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {"c", "b"}p12]>}) -> (tensor<4x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}], unreduced={"a", "b":(2)4}>}, tensor<4x32xf32>, tensor<4x32xf32>) {
    %0 = sdy.sharding_constraint %arg0 <mesh<["x"=4, "y"=2], device_ids=[7, 6, 5, 4, 3, 2, 1, 0]>, [{"y"}, {"x"}]> : tensor<4x32xf32>
    %1 = stablehlo.add %0, %arg1 {sdy.sharding = #sdy.sharding_per_value<[<@turned, [{"b", "a"}, {}]>]>} : tensor<4x32xf32>
    %2 = stablehlo.custom_call @f(%1) {sdy.sharding_rule = #sdy.op_sharding_rule<([ij, k])->([ij, k]) {i=2, j=2, k=32} need_replication={k} blocked_propagation={j}, custom>} : (tensor<4x32xf32>) -> tensor<4x32xf32>
    sdy.sharding_group %2 group_id=3 : tensor<4x32xf32>
    %3 = sdy.propagation_barrier %2 allowed_direction=FORWARD : tensor<4x32xf32>
    %4 = sdy.manual_computation(%3) in_shardings=[<@mesh, [{"a"}, {"b":(1)2, ?}]>] out_shardings=[<@mesh, [{"a"}, {?}]>] manual_axes={"a"} (%arg2: tensor<2x32xf32>) {
      sdy.return %arg2 : tensor<2x32xf32>
    } : (tensor<4x32xf32>) -> tensor<4x32xf32>
    %5 = sdy.reshard %4 <@empty, [{}, {}]> : tensor<4x32xf32>
    %6 = stablehlo.custom_call @g(%5) {sdy.sharding = #sdy.sharding_per_value<[<@maximal, []>]>} : (tensor<4x32xf32>) -> tensor<4x32xf32>
    return %4, %5, %6 : tensor<4x32xf32>, tensor<4x32xf32>, tensor<4x32xf32>
  }
}
