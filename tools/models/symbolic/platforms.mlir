module @jit_platforms attributes {jax.uses_shape_polymorphism = true, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<i32> {jax.global_constant = "_platform_index"}, %arg1: tensor<?x3xf32>, %arg2: tensor<i1>) -> (tensor<?x3xf32> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<1> : tensor<i32>
    %0 = stablehlo.get_dimension_size %arg1, dim = 0 : (tensor<?x3xf32>) -> tensor<i32>
    %1 = stablehlo.compare GE, %0, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%1, %0) {api_version = 2 : i32, error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 'b'. Using the following polymorphic shapes specifications: args[0].shape = (b, 3). Obtained dimension variables: 'b' = {0} from specification 'b' for dimension args[0].shape[0] (= {0}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details.", has_side_effect = true} : (tensor<i1>, tensor<i32>) -> ()
    %2 = call @_wrapped_jax_export_main(%arg0, %0, %arg1, %arg2) : (tensor<i32>, tensor<i32>, tensor<?x3xf32>, tensor<i1>) -> tensor<?x3xf32>
    return %2 : tensor<?x3xf32>
  }
  func.func private @_wrapped_jax_export_main(%arg0: tensor<i32> {jax.global_constant = "_platform_index"}, %arg1: tensor<i32> {jax.global_constant = "b"}, %arg2: tensor<?x3xf32>, %arg3: tensor<i1>) -> (tensor<?x3xf32> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %cst_0 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %c = stablehlo.constant dense<3> : tensor<1xi32>
    %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %c_2 = stablehlo.constant dense<1> : tensor<i32>
    %c_3 = stablehlo.constant dense<0> : tensor<i32>
    %0 = "stablehlo.case"(%arg0) ({
      stablehlo.return %c_3 : tensor<i32>
    }, {
      stablehlo.return %c_2 : tensor<i32>
    }) : (tensor<i32>) -> tensor<i32>
    %1 = "stablehlo.case"(%0) ({
      stablehlo.return %c_3 : tensor<i32>
    }, {
      stablehlo.return %c_2 : tensor<i32>
    }) : (tensor<i32>) -> tensor<i32>
    %2 = "stablehlo.case"(%1) ({
      stablehlo.return %c_3 : tensor<i32>
    }, {
      stablehlo.return %c_2 : tensor<i32>
    }) : (tensor<i32>) -> tensor<i32>
    %3 = "stablehlo.case"(%2) ({
      %6 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
      %7 = stablehlo.concatenate %6, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
      %8 = stablehlo.dynamic_broadcast_in_dim %cst_1, %7, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x3xf32>
      %9 = stablehlo.add %arg2, %8 : tensor<?x3xf32>
      stablehlo.return %9 : tensor<?x3xf32>
    }, {
      %6 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
      %7 = stablehlo.concatenate %6, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
      %8 = stablehlo.dynamic_broadcast_in_dim %cst_0, %7, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x3xf32>
      %9 = stablehlo.multiply %arg2, %8 : tensor<?x3xf32>
      stablehlo.return %9 : tensor<?x3xf32>
    }) : (tensor<i32>) -> tensor<?x3xf32>
    %4 = stablehlo.convert %arg3 : (tensor<i1>) -> tensor<i32>
    %5 = "stablehlo.case"(%4) ({
      %6 = stablehlo.convert %arg1 : (tensor<i32>) -> tensor<f32>
      %7 = stablehlo.reduce(%3 init: %cst) applies stablehlo.add across dimensions = [0] : (tensor<?x3xf32>, tensor<f32>) -> tensor<3xf32>
      %8 = stablehlo.broadcast_in_dim %6, dims = [] : (tensor<f32>) -> tensor<3xf32>
      %9 = stablehlo.divide %7, %8 : tensor<3xf32>
      %10 = stablehlo.broadcast_in_dim %9, dims = [1] : (tensor<3xf32>) -> tensor<1x3xf32>
      %11 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
      %12 = stablehlo.concatenate %11, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
      %13 = stablehlo.dynamic_broadcast_in_dim %10, %12, dims = [0, 1] : (tensor<1x3xf32>, tensor<2xi32>) -> tensor<?x3xf32>
      %14 = stablehlo.subtract %3, %13 : tensor<?x3xf32>
      stablehlo.return %14 : tensor<?x3xf32>
    }, {
      %6 = func.call @_flip(%arg0, %arg1, %3) : (tensor<i32>, tensor<i32>, tensor<?x3xf32>) -> tensor<?x3xf32>
      stablehlo.return %6 : tensor<?x3xf32>
    }) : (tensor<i32>) -> tensor<?x3xf32>
    return %5 : tensor<?x3xf32>
  }
  func.func private @_flip(%arg0: tensor<i32> {jax.global_constant = "_platform_index"}, %arg1: tensor<i32> {jax.global_constant = "b"}, %arg2: tensor<?x3xf32>) -> tensor<?x3xf32> {
    %0 = stablehlo.reverse %arg2, dims = [0] : tensor<?x3xf32>
    return %0 : tensor<?x3xf32>
  }
}
