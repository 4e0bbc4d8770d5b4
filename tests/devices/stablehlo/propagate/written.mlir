// priority_decides
module {
  sdy.mesh @mesh = <["a"=2, "b"=4]>
  func.func @main(%arg0: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a", ?}p1, {?}]>}, %arg1: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {"a", ?}p0]>}) -> tensor<8x16xf32> {
    %0 = stablehlo.add %arg0, %arg1 : tensor<8x16xf32>
    return %0 : tensor<8x16xf32>
  }
}
// priority_waits
module {
  sdy.mesh @mesh = <["a"=2, "b"=4]>
  func.func @main(%arg0: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"b", ?}p2, {"a", ?}p1]>}, %arg1: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}p1, {"b", ?}p1]>}) -> tensor<8x8xf32> {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0] : (tensor<8x16xf32>, tensor<16x8xf32>) -> tensor<8x8xf32>
    return %0 : tensor<8x8xf32>
  }
}
// parts_of_axes
module {
  sdy.mesh @mesh = <["a"=8]>
  func.func @main(%arg0: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a":(1)2}, {"a":(4)2}]>}, %arg1: tensor<16x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {"a":(2)2, ?}]>}) -> (tensor<8x4xf32>, tensor<128xf32>, tensor<16x8xf32>) {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0] : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
    %1 = stablehlo.reshape %arg0 : (tensor<8x16xf32>) -> tensor<128xf32>
    %2 = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<8x16xf32>) -> tensor<16x8xf32>
    return %0, %1, %2 : tensor<8x4xf32>, tensor<128xf32>, tensor<16x8xf32>
  }
}
// axis_split_by_reshape
module {
  sdy.mesh @mesh = <["a"=8]>
  func.func @main(%arg0: tensor<16x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {}]>}) -> (tensor<2x8x3xf32>, tensor<4x4x3xf32>) {
    %0 = stablehlo.reshape %arg0 : (tensor<16x3xf32>) -> tensor<2x8x3xf32>
    %1 = stablehlo.reshape %arg0 : (tensor<16x3xf32>) -> tensor<4x4x3xf32>
    return %0, %1 : tensor<2x8x3xf32>, tensor<4x4x3xf32>
  }
}
// replicated_axes
module {
  sdy.mesh @mesh = <["a"=2, "b"=4]>
  func.func @main(%arg0: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {"b"}]>}) -> (tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {?}], replicated={"b"}>}) {
    %0 = stablehlo.abs %arg0 : tensor<8x16xf32>
    return %0 : tensor<8x16xf32>
  }
}
// results_half_open
module {
  sdy.mesh @mesh = <["a"=2, "b"=4]>
  func.func @main(%arg0: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {"b"}]>}) -> (tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {}]>}, tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a", ?}, {?}]>}) {
    %0 = stablehlo.abs %arg0 : tensor<8x16xf32>
    return %0, %0 : tensor<8x16xf32>, tensor<8x16xf32>
  }
}
// backwards_from_results
module {
  sdy.mesh @mesh = <["a"=2, "b"=4]>
  func.func @main(%arg0: tensor<8x16xf32>, %arg1: tensor<16x4xf32>) -> (tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"b"}, {"a"}]>}) {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0] : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
    %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<8x4xf32>) -> tensor<4x8xf32>
    return %1 : tensor<4x8xf32>
  }
}
// group
module {
  sdy.mesh @mesh = <["a"=2, "b"=4]>
  func.func @main(%arg0: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {"b"}]>}, %arg1: tensor<8x16xf32>) -> (tensor<8x16xf32>, tensor<8x16xf32>) {
    %0 = stablehlo.abs %arg0 : tensor<8x16xf32>
    %1 = stablehlo.abs %arg1 : tensor<8x16xf32>
    sdy.sharding_group %0 group_id=7 : tensor<8x16xf32>
    sdy.sharding_group %1 group_id=7 : tensor<8x16xf32>
    return %0, %1 : tensor<8x16xf32>, tensor<8x16xf32>
  }
}
// barrier_forward
module {
  sdy.mesh @mesh = <["a"=2, "b"=4]>
  func.func @main(%arg0: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {?}]>}) -> (tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {"b"}]>}, tensor<8x16xf32>) {
    %0 = stablehlo.abs %arg0 : tensor<8x16xf32>
    %1 = sdy.propagation_barrier %0 allowed_direction=FORWARD : tensor<8x16xf32>
    %2 = stablehlo.negate %1 : tensor<8x16xf32>
    return %2, %0 : tensor<8x16xf32>, tensor<8x16xf32>
  }
}
// other_order_of_devices
module {
  sdy.mesh @mesh = <["a"=2, "b"=4], device_ids=[0, 4, 1, 5, 2, 6, 3, 7]>
  func.func @main(%arg0: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"b"}, {"a"}]>}) -> tensor<8x16xf32> {
    %0 = stablehlo.abs %arg0 : tensor<8x16xf32>
    return %0 : tensor<8x16xf32>
  }
}
// two_meshes
module {
  sdy.mesh @mesh = <["a"=2, "b"=4]>
  sdy.mesh @other = <["x"=8]>
  func.func @main(%arg0: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {}]>}, %arg1: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@other, [{}, {"x"}]>}) -> (tensor<8x16xf32>, tensor<8x16xf32>) {
    %0 = stablehlo.abs %arg0 : tensor<8x16xf32>
    %1 = stablehlo.abs %arg1 : tensor<8x16xf32>
    return %0, %1 : tensor<8x16xf32>, tensor<8x16xf32>
  }
}
// axes_of_size_one
module {
  sdy.mesh @mesh = <["a"=1, "b"=8]>
  func.func @main(%arg0: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"b"}, {"a"}]>}) -> tensor<8x16xf32> {
    %0 = stablehlo.abs %arg0 : tensor<8x16xf32>
    return %0 : tensor<8x16xf32>
  }
}
// does_not_divide
module {
  sdy.mesh @mesh = <["a"=2, "b"=4]>
  func.func @main(%arg0: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"b", "a"}, {}]>}) -> (tensor<6x16xf32>, tensor<3x16xf32>, tensor<12x16xf32>) {
    %0 = stablehlo.slice %arg0 [0:6, 0:16] : (tensor<8x16xf32>) -> tensor<6x16xf32>
    %1 = stablehlo.slice %arg0 [0:3, 0:16] : (tensor<8x16xf32>) -> tensor<3x16xf32>
    %c = stablehlo.constant dense<0.0> : tensor<f32>
    %2 = stablehlo.pad %arg0, %c, low = [4, 0], high = [0, 0], interior = [0, 0] : (tensor<8x16xf32>, tensor<f32>) -> tensor<12x16xf32>
    return %0, %1, %2 : tensor<6x16xf32>, tensor<3x16xf32>, tensor<12x16xf32>
  }
}
// branches
module {
  sdy.mesh @mesh = <["a"=2, "b"=4]>
  func.func @main(%arg0: tensor<i32>, %arg1: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {"b"}]>}) -> tensor<8x16xf32> {
    %0 = "stablehlo.case"(%arg0) ({
      %1 = stablehlo.abs %arg1 : tensor<8x16xf32>
      stablehlo.return %1 : tensor<8x16xf32>
    }, {
      %c = stablehlo.constant dense<1.0> : tensor<8x16xf32>
      stablehlo.return %c : tensor<8x16xf32>
    }) : (tensor<i32>) -> tensor<8x16xf32>
    return %0 : tensor<8x16xf32>
  }
}
