module @basic attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4x8xf32> {mhlo.layout_mode = "default", tf.aliasing_output = 0 : i32}, %arg1: tensor<8xf32>) -> (tensor<4x8xf32> {jax.result_info = "[0]"}, tensor<4xi64>, tensor<i1>) {
    %c = stablehlo.constant dense<true> : tensor<i1>
    %cst = stablehlo.constant dense<1.000000e+01> : tensor<f32>
    %cst_0 = stablehlo.constant dense<-1.000000e+01> : tensor<f32>
    %cst_1 = stablehlo.constant dense<5.000000e-01> : tensor<3x3x1x1xf32>
    %c_2 = stablehlo.constant dense<[[0], [2]]> : tensor<2x1xi32>
    %c_3 = stablehlo.constant dense<3> : tensor<i64>
    %c_4 = stablehlo.constant dense<1> : tensor<i64>
    %c_5 = stablehlo.constant dense<0> : tensor<i64>
    %c_6 = stablehlo.constant dense<true> : tensor<16xi1>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %c_8 = stablehlo.constant dense<[-1, 2, -3, 4]> : tensor<4xi64>
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1] : (tensor<8xf32>) -> tensor<4x8xf32>
    %1 = stablehlo.add %arg0, %0 : tensor<4x8xf32>
    %2 = stablehlo.exponential %1 : tensor<4x8xf32>
    %3 = stablehlo.reduce(%2 init: %cst_7) applies stablehlo.add across dimensions = [1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0] : (tensor<4xf32>) -> tensor<4x8xf32>
    %5 = stablehlo.divide %2, %4 : tensor<4x8xf32>
    %6 = stablehlo.transpose %5, dims = [1, 0] : (tensor<4x8xf32>) -> tensor<8x4xf32>
    %7 = stablehlo.dot_general %5, %6, contracting_dims = [1] x [0], precision = [HIGHEST, DEFAULT] : (tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
    %8 = stablehlo.slice %7 [0:4, 0:2] : (tensor<4x4xf32>) -> tensor<4x2xf32>
    %9 = stablehlo.pad %8, %cst_7, low = [0, 2], high = [0, 4], interior = [0, 0] : (tensor<4x2xf32>, tensor<f32>) -> tensor<4x8xf32>
    %10 = call @helper(%9) : (tensor<4x8xf32>) -> tensor<4x8xf32>
    %11 = stablehlo.compare GT, %10, %arg0, FLOAT : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1>
    %12 = stablehlo.select %11, %10, %arg0 : tensor<4x8xi1>, tensor<4x8xf32>
    %13:2 = "stablehlo.sort"(%c_8, %c_8) <{dimension = 0 : i64, is_stable = true}> ({
    ^bb0(%arg2: tensor<i64>, %arg3: tensor<i64>, %arg4: tensor<i64>, %arg5: tensor<i64>):
      %26 = stablehlo.compare LT, %arg2, %arg3, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
      stablehlo.return %26 : tensor<i1>
    }) : (tensor<4xi64>, tensor<4xi64>) -> (tensor<4xi64>, tensor<4xi64>)
    %14:2 = stablehlo.while(%iterArg = %c_5, %iterArg_9 = %12) : tensor<i64>, tensor<4x8xf32>
    cond {
      %26 = stablehlo.compare LT, %iterArg, %c_3 : (tensor<i64>, tensor<i64>) -> tensor<i1>
      stablehlo.return %26 : tensor<i1>
    } do {
      %26 = stablehlo.add %iterArg, %c_4 : tensor<i64>
      %27 = stablehlo.add %iterArg_9, %arg0 : tensor<4x8xf32>
      stablehlo.return %26, %27 : tensor<i64>, tensor<4x8xf32>
    }
    %15 = "stablehlo.gather"(%14#1, %c_2) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = true, slice_sizes = array<i64: 1, 8>}> : (tensor<4x8xf32>, tensor<2x1xi32>) -> tensor<2x8xf32>
    %16 = "stablehlo.scatter"(%14#1, %c_2, %15) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = true}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      %26 = stablehlo.add %arg2, %arg3 : tensor<f32>
      stablehlo.return %26 : tensor<f32>
    }) : (tensor<4x8xf32>, tensor<2x1xi32>, tensor<2x8xf32>) -> tensor<4x8xf32>
    %17 = stablehlo.reshape %16 : (tensor<4x8xf32>) -> tensor<1x4x8x1xf32>
    %18 = stablehlo.convolution(%17, %cst_1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[1, 1], [0, 2]], reverse = [false, true]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision HIGH>, #stablehlo<precision DEFAULT>]} : (tensor<1x4x8x1xf32>, tensor<3x3x1x1xf32>) -> tensor<1x4x8x1xf32>
    %19 = "stablehlo.reduce_window"(%18, %cst_7) <{padding = dense<[[0, 0], [1, 1], [0, 0], [0, 0]]> : tensor<4x2xi64>, window_dimensions = array<i64: 1, 3, 1, 1>}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      %26 = stablehlo.maximum %arg2, %arg3 : tensor<f32>
      stablehlo.return %26 : tensor<f32>
    }) : (tensor<1x4x8x1xf32>, tensor<f32>) -> tensor<1x4x8x1xf32>
    %20 = stablehlo.reshape %19 : (tensor<1x4x8x1xf32>) -> tensor<4x8xf32>
    %21 = stablehlo.negate %20 : tensor<4x8xf32>
    %22 = stablehlo.clamp %cst_0, %21, %cst : (tensor<f32>, tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
    %23 = stablehlo.reduce_precision %22, format = e8m7 : tensor<4x8xf32>
    %24 = stablehlo.optimization_barrier %23 : tensor<4x8xf32>
    %25 = stablehlo.reduce(%c_6 init: %c) applies stablehlo.and across dimensions = [0] : (tensor<16xi1>, tensor<i1>) -> tensor<i1>
    return %24, %13#0, %25 : tensor<4x8xf32>, tensor<4xi64>, tensor<i1>
  }
  func.func private @helper(%arg0: tensor<4x8xf32>) -> tensor<4x8xf32> {
    %0 = stablehlo.tanh %arg0 {mhlo.frontend_attributes = {fingerprint_before = "q"}} : tensor<4x8xf32>
    return %0 : tensor<4x8xf32>
  }
}
