// What only newer versions hold: composites, dot algorithms, accuracies, typed custom calls, small
// element types, batching dimensions.
module @recent {
  func.func public @main(%arg0: tensor<8xf32>, %arg1: tensor<2x3x4xf32>, %arg2: tensor<2x4x5xf32>) -> (tensor<8xf32>, tensor<3xf32>, tensor<3xi32>, tensor<2x3x5xf32>, tensor<8xf32>, tensor<2x2xf8E4M3FN>) {
    %0 = chlo.erf %arg0 : tensor<8xf32> -> tensor<8xf32>
    %values, %indices = chlo.top_k(%arg0, k = 3) : tensor<8xf32> -> (tensor<3xf32>, tensor<3xi32>)
    %1 = stablehlo.dot_general %arg1, %arg2, batching_dims = [0] x [0], contracting_dims = [2] x [1], algorithm = <lhs_precision_type = f32, rhs_precision_type = f32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false> : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
    %2 = stablehlo.tan %arg0 : tensor<8xf32>
    %3 = "stablehlo.exponential"(%2) <{result_accuracy = #stablehlo.result_accuracy<atol = 0.000000e+00, rtol = 0.000000e+00, ulps = 2, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>}> : (tensor<8xf32>) -> tensor<8xf32>
    %4 = stablehlo.constant dense<[[1.0, -0.5], [2.0, 448.0]]> : tensor<2x2xf8E4M3FN>
    %idx = stablehlo.constant dense<0> : tensor<2x1xi64>
    %5 = "stablehlo.gather"(%arg1, %idx) <{dimension_numbers = #stablehlo.gather<offset_dims = [1, 2], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 3, 4>}> : (tensor<2x3x4xf32>, tensor<2x1xi64>) -> tensor<2x3x4xf32>
    return %0, %values, %indices, %1, %3, %4 : tensor<8xf32>, tensor<3xf32>, tensor<3xi32>, tensor<2x3x5xf32>, tensor<8xf32>, tensor<2x2xf8E4M3FN>
  }
}
