// One of each attribute that an artifact of any version holds; artifacts/ is made of it by
// tests/devices/stablehlo/bytecode/make_artifacts.py.
module @basic attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4x8xf32> {tf.aliasing_output = 0 : i32, mhlo.layout_mode = "default"}, %arg1: tensor<8xf32>) -> (tensor<4x8xf32> {jax.result_info = "[0]"}, tensor<4xi64>, tensor<i1>) {
    %c = stablehlo.constant dense<[true, false, true]> : tensor<3xi1>
    %all = stablehlo.constant dense<true> : tensor<16xi1>
    %z = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %k = stablehlo.constant dense<[-1, 2, -3, 4]> : tensor<4xi64>
    %u = stablehlo.constant dense<[250, 1]> : tensor<2xui8>
    %n4 = stablehlo.constant dense<[-8, 7, -1]> : tensor<3xi4>
    %cx = stablehlo.constant dense<[(1.0, -2.0), (0.5, 4.0)]> : tensor<2xcomplex<f32>>
    %h = stablehlo.constant dense<[1.5, -2.25]> : tensor<2xbf16>
    %b = stablehlo.broadcast_in_dim %arg1, dims = [1] : (tensor<8xf32>) -> tensor<4x8xf32>
    %0 = stablehlo.add %arg0, %b : tensor<4x8xf32>
    %1 = stablehlo.exponential %0 : tensor<4x8xf32>
    %2 = stablehlo.reduce(%1 init: %z) applies stablehlo.add across dimensions = [1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [0] : (tensor<4xf32>) -> tensor<4x8xf32>
    %4 = stablehlo.divide %1, %3 : tensor<4x8xf32>
    %5 = stablehlo.transpose %4, dims = [1, 0] : (tensor<4x8xf32>) -> tensor<8x4xf32>
    %6 = stablehlo.dot_general %4, %5, contracting_dims = [1] x [0], precision = [HIGHEST, DEFAULT] : (tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
    %7 = stablehlo.slice %6 [0:4, 0:2] : (tensor<4x4xf32>) -> tensor<4x2xf32>
    %8 = stablehlo.pad %7, %z, low = [0, 2], high = [0, 4], interior = [0, 0] : (tensor<4x2xf32>, tensor<f32>) -> tensor<4x8xf32>
    %9 = call @helper(%8) : (tensor<4x8xf32>) -> tensor<4x8xf32>
    %10 = stablehlo.compare GT, %9, %arg0, FLOAT : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1>
    %11 = stablehlo.select %10, %9, %arg0 : tensor<4x8xi1>, tensor<4x8xf32>
    %12:2 = "stablehlo.sort"(%k, %k) <{dimension = 0 : i64, is_stable = true}> ({
    ^bb0(%x: tensor<i64>, %y: tensor<i64>, %p: tensor<i64>, %q: tensor<i64>):
      %s = stablehlo.compare LT, %x, %y, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
      stablehlo.return %s : tensor<i1>
    }) : (tensor<4xi64>, tensor<4xi64>) -> (tensor<4xi64>, tensor<4xi64>)
    %zero = stablehlo.constant dense<0> : tensor<i64>
    %one = stablehlo.constant dense<1> : tensor<i64>
    %three = stablehlo.constant dense<3> : tensor<i64>
    %13:2 = stablehlo.while(%i = %zero, %acc = %11) : tensor<i64>, tensor<4x8xf32>
    cond {
      %lt = stablehlo.compare LT, %i, %three : (tensor<i64>, tensor<i64>) -> tensor<i1>
      stablehlo.return %lt : tensor<i1>
    } do {
      %next = stablehlo.add %i, %one : tensor<i64>
      %more = stablehlo.add %acc, %arg0 : tensor<4x8xf32>
      stablehlo.return %next, %more : tensor<i64>, tensor<4x8xf32>
    }
    %idx = stablehlo.constant dense<[[0], [2]]> : tensor<2x1xi32>
    %14 = "stablehlo.gather"(%13#1, %idx) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = true, slice_sizes = array<i64: 1, 8>}> : (tensor<4x8xf32>, tensor<2x1xi32>) -> tensor<2x8xf32>
    %15 = "stablehlo.scatter"(%13#1, %idx, %14) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = true}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %s = stablehlo.add %x, %y : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<4x8xf32>, tensor<2x1xi32>, tensor<2x8xf32>) -> tensor<4x8xf32>
    %image = stablehlo.reshape %15 : (tensor<4x8xf32>) -> tensor<1x4x8x1xf32>
    %kernel = stablehlo.constant dense<5.000000e-01> : tensor<3x3x1x1xf32>
    %16 = stablehlo.convolution(%image, %kernel) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 1], [0, 2]], reverse = [false, true]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision HIGH>, #stablehlo<precision DEFAULT>]} : (tensor<1x4x8x1xf32>, tensor<3x3x1x1xf32>) -> tensor<1x4x8x1xf32>
    %17 = "stablehlo.reduce_window"(%16, %z) <{padding = dense<[[0, 0], [1, 1], [0, 0], [0, 0]]> : tensor<4x2xi64>, window_dimensions = array<i64: 1, 3, 1, 1>}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %s = stablehlo.maximum %x, %y : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<1x4x8x1xf32>, tensor<f32>) -> tensor<1x4x8x1xf32>
    %18 = stablehlo.reshape %17 : (tensor<1x4x8x1xf32>) -> tensor<4x8xf32>
    %idx0 = stablehlo.constant dense<1> : tensor<i32>
    %19 = "stablehlo.case"(%idx0) ({
      stablehlo.return %18 : tensor<4x8xf32>
    }, {
      %s = stablehlo.negate %18 : tensor<4x8xf32>
      stablehlo.return %s : tensor<4x8xf32>
    }) : (tensor<i32>) -> tensor<4x8xf32>
    %lo = stablehlo.constant dense<-1.000000e+01> : tensor<f32>
    %hi = stablehlo.constant dense<1.000000e+01> : tensor<f32>
    %20 = stablehlo.clamp %lo, %19, %hi : (tensor<f32>, tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
    %21 = stablehlo.reduce_precision %20, format = e8m7 : tensor<4x8xf32>
    %22 = stablehlo.optimization_barrier %21 : tensor<4x8xf32>
    %t = stablehlo.constant dense<true> : tensor<i1>
    %23 = stablehlo.reduce(%all init: %t) applies stablehlo.and across dimensions = [0] : (tensor<16xi1>, tensor<i1>) -> tensor<i1>
    return %22, %12#0, %23 : tensor<4x8xf32>, tensor<4xi64>, tensor<i1>
  }
  func.func private @helper(%arg0: tensor<4x8xf32>) -> tensor<4x8xf32> {
    %0 = stablehlo.tanh %arg0 {mhlo.frontend_attributes = {fingerprint_before = "q"}} : tensor<4x8xf32>
    return %0 : tensor<4x8xf32>
  }
}
