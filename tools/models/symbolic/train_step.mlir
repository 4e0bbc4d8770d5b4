module @jit_train_step attributes {jax.uses_shape_polymorphism = true, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<?x4xf32>, %arg1: tensor<4x2xf32> {tf.aliasing_output = 0 : i32}, %arg2: tensor<?x2xf32>) -> (tensor<4x2xf32> {jax.result_info = "result[0]"}, tensor<f32> {jax.result_info = "result[1]"}) {
    %c = stablehlo.constant dense<1> : tensor<i32>
    %0 = stablehlo.get_dimension_size %arg0, dim = 0 : (tensor<?x4xf32>) -> tensor<i32>
    %1 = stablehlo.get_dimension_size %arg2, dim = 0 : (tensor<?x2xf32>) -> tensor<i32>
    %2 = stablehlo.compare GE, %0, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%2, %0) {api_version = 2 : i32, error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 'b'. Using the following polymorphic shapes specifications: args[0].shape = (b, 4),args[2].shape = (b, 2). Obtained dimension variables: 'b' = {0} from specification 'b' for dimension args[0].shape[0] (= {0}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details.", has_side_effect = true} : (tensor<i1>, tensor<i32>) -> ()
    %3 = stablehlo.compare EQ, %1, %0, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%3, %1, %0) {api_version = 2 : i32, error_message = "Input shapes do not match the polymorphic shapes specification. Found inconsistency between dimension size args[2].shape[0] (= {0}) and the specification 'b' (= {1}). Using the following polymorphic shapes specifications: args[0].shape = (b, 4),args[2].shape = (b, 2). Obtained dimension variables: 'b' = {1} from specification 'b' for dimension args[0].shape[0] (= {1}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details.", has_side_effect = true} : (tensor<i1>, tensor<i32>, tensor<i32>) -> ()
    %4:2 = call @_wrapped_jax_export_main(%0, %arg0, %arg1, %arg2) : (tensor<i32>, tensor<?x4xf32>, tensor<4x2xf32>, tensor<?x2xf32>) -> (tensor<4x2xf32>, tensor<f32>)
    return %4#0, %4#1 : tensor<4x2xf32>, tensor<f32>
  }
  func.func private @_wrapped_jax_export_main(%arg0: tensor<i32> {jax.global_constant = "b"}, %arg1: tensor<?x4xf32>, %arg2: tensor<4x2xf32> {tf.aliasing_output = 0 : i32}, %arg3: tensor<?x2xf32>) -> (tensor<4x2xf32> {jax.result_info = "result[0]"}, tensor<f32> {jax.result_info = "result[1]"}) {
    %cst = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %cst_1 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %c = stablehlo.constant dense<2> : tensor<1xi32>
    %c_2 = stablehlo.constant dense<2> : tensor<i32>
    %cst_3 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %0 = stablehlo.dot_general %arg1, %arg2, contracting_dims = [1] x [0] : (tensor<?x4xf32>, tensor<4x2xf32>) -> tensor<?x2xf32>
    %1 = stablehlo.tanh %0 : tensor<?x2xf32>
    %2 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %3 = stablehlo.concatenate %2, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %4 = stablehlo.dynamic_broadcast_in_dim %cst_3, %3, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x2xf32>
    %5 = stablehlo.subtract %4, %1 : tensor<?x2xf32>
    %6 = stablehlo.subtract %1, %arg3 : tensor<?x2xf32>
    %7 = stablehlo.multiply %6, %6 : tensor<?x2xf32>
    %8 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %9 = stablehlo.concatenate %8, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %10 = stablehlo.dynamic_broadcast_in_dim %cst_1, %9, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x2xf32>
    %11 = stablehlo.multiply %10, %6 : tensor<?x2xf32>
    %12 = stablehlo.convert %arg0 : tensor<i32>
    %13 = stablehlo.multiply %12, %c_2 : tensor<i32>
    %14 = stablehlo.convert %13 : (tensor<i32>) -> tensor<f32>
    %15 = stablehlo.reduce(%7 init: %cst_0) applies stablehlo.add across dimensions = [0, 1] : (tensor<?x2xf32>, tensor<f32>) -> tensor<f32>
    %16 = stablehlo.divide %15, %14 : tensor<f32>
    %17 = stablehlo.divide %cst_3, %14 : tensor<f32>
    %18 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %19 = stablehlo.concatenate %18, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %20 = stablehlo.dynamic_broadcast_in_dim %17, %19, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x2xf32>
    %21 = stablehlo.multiply %20, %11 : tensor<?x2xf32>
    %22 = stablehlo.multiply %21, %5 : tensor<?x2xf32>
    %23 = stablehlo.multiply %22, %1 : tensor<?x2xf32>
    %24 = stablehlo.add %22, %23 : tensor<?x2xf32>
    %25 = stablehlo.dot_general %24, %arg1, contracting_dims = [0] x [0] : (tensor<?x2xf32>, tensor<?x4xf32>) -> tensor<2x4xf32>
    %26 = stablehlo.transpose %25, dims = [1, 0] : (tensor<2x4xf32>) -> tensor<4x2xf32>
    %27 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x2xf32>
    %28 = stablehlo.multiply %27, %26 : tensor<4x2xf32>
    %29 = stablehlo.subtract %arg2, %28 : tensor<4x2xf32>
    return %29, %16 : tensor<4x2xf32>, tensor<f32>
  }
}
