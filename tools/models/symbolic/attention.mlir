module @jit_attention attributes {jax.uses_shape_polymorphism = true, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<?x?x8xf32>, %arg1: tensor<8x24xf32>) -> (tensor<?x?x8xf32> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<1> : tensor<i32>
    %0 = stablehlo.get_dimension_size %arg0, dim = 0 : (tensor<?x?x8xf32>) -> tensor<i32>
    %1 = stablehlo.get_dimension_size %arg0, dim = 1 : (tensor<?x?x8xf32>) -> tensor<i32>
    %2 = stablehlo.compare GE, %0, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%2, %0) {api_version = 2 : i32, error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 'b'. Using the following polymorphic shapes specifications: args[0].shape = (b, l, 8). Obtained dimension variables: 'b' = {0} from specification 'b' for dimension args[0].shape[0] (= {0}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details.", has_side_effect = true} : (tensor<i1>, tensor<i32>) -> ()
    %3 = stablehlo.compare GE, %1, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%3, %0, %1) {api_version = 2 : i32, error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 'l'. Using the following polymorphic shapes specifications: args[0].shape = (b, l, 8). Obtained dimension variables: 'b' = {0} from specification 'b' for dimension args[0].shape[0] (= {0}), 'l' = {1} from specification 'l' for dimension args[0].shape[1] (= {1}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details.", has_side_effect = true} : (tensor<i1>, tensor<i32>, tensor<i32>) -> ()
    %4 = call @_wrapped_jax_export_main(%0, %1, %arg0, %arg1) : (tensor<i32>, tensor<i32>, tensor<?x?x8xf32>, tensor<8x24xf32>) -> tensor<?x?x8xf32>
    return %4 : tensor<?x?x8xf32>
  }
  func.func private @_wrapped_jax_export_main(%arg0: tensor<i32> {jax.global_constant = "b"}, %arg1: tensor<i32> {jax.global_constant = "l"}, %arg2: tensor<?x?x8xf32>, %arg3: tensor<8x24xf32>) -> (tensor<?x?x8xf32> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %cst_1 = stablehlo.constant dense<-1.000000e+09> : tensor<f32>
    %cst_2 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %c = stablehlo.constant dense<4> : tensor<1xi32>
    %c_3 = stablehlo.constant dense<2> : tensor<1xi32>
    %c_4 = stablehlo.constant dense<24> : tensor<1xi32>
    %c_5 = stablehlo.constant dense<16> : tensor<1xi32>
    %c_6 = stablehlo.constant dense<1> : tensor<1xi32>
    %c_7 = stablehlo.constant dense<1> : tensor<i32>
    %c_8 = stablehlo.constant dense<8> : tensor<1xi32>
    %c_9 = stablehlo.constant dense<0> : tensor<1xi32>
    %c_10 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dot_general %arg2, %arg3, contracting_dims = [2] x [0] : (tensor<?x?x8xf32>, tensor<8x24xf32>) -> tensor<?x?x24xf32>
    %1 = stablehlo.concatenate %c_9, %c_9, %c_9, dim = 0 : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<3xi32>
    %2 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %3 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %4 = stablehlo.concatenate %2, %3, %c_8, dim = 0 : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<3xi32>
    %5 = stablehlo.concatenate %c_6, %c_6, %c_6, dim = 0 : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<3xi32>
    %6 = stablehlo.real_dynamic_slice %0, %1, %4, %5 : (tensor<?x?x24xf32>, tensor<3xi32>, tensor<3xi32>, tensor<3xi32>) -> tensor<?x?x8xf32>
    %7 = stablehlo.concatenate %c_9, %c_9, %c_8, dim = 0 : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<3xi32>
    %8 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %9 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %10 = stablehlo.concatenate %8, %9, %c_5, dim = 0 : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<3xi32>
    %11 = stablehlo.concatenate %c_6, %c_6, %c_6, dim = 0 : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<3xi32>
    %12 = stablehlo.real_dynamic_slice %0, %7, %10, %11 : (tensor<?x?x24xf32>, tensor<3xi32>, tensor<3xi32>, tensor<3xi32>) -> tensor<?x?x8xf32>
    %13 = stablehlo.concatenate %c_9, %c_9, %c_5, dim = 0 : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<3xi32>
    %14 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %15 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %16 = stablehlo.concatenate %14, %15, %c_4, dim = 0 : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<3xi32>
    %17 = stablehlo.concatenate %c_6, %c_6, %c_6, dim = 0 : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<3xi32>
    %18 = stablehlo.real_dynamic_slice %0, %13, %16, %17 : (tensor<?x?x24xf32>, tensor<3xi32>, tensor<3xi32>, tensor<3xi32>) -> tensor<?x?x8xf32>
    %19 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %20 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %21 = stablehlo.concatenate %19, %20, %c_3, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<4xi32>
    %22 = stablehlo.dynamic_reshape %6, %21 : (tensor<?x?x8xf32>, tensor<4xi32>) -> tensor<?x?x2x4xf32>
    %23 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %24 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %25 = stablehlo.concatenate %23, %24, %c_3, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<4xi32>
    %26 = stablehlo.dynamic_reshape %12, %25 : (tensor<?x?x8xf32>, tensor<4xi32>) -> tensor<?x?x2x4xf32>
    %27 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %28 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %29 = stablehlo.concatenate %27, %28, %c_3, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<4xi32>
    %30 = stablehlo.dynamic_reshape %18, %29 : (tensor<?x?x8xf32>, tensor<4xi32>) -> tensor<?x?x2x4xf32>
    %31 = stablehlo.dot_general %22, %26, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3] : (tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32>) -> tensor<?x2x?x?xf32>
    %32 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %33 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %34 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %35 = stablehlo.concatenate %32, %c_3, %33, %34, dim = 0 : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<4xi32>
    %36 = stablehlo.dynamic_broadcast_in_dim %cst_2, %35, dims = [] : (tensor<f32>, tensor<4xi32>) -> tensor<?x2x?x?xf32>
    %37 = stablehlo.divide %31, %36 : tensor<?x2x?x?xf32>
    %38 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %39 = stablehlo.dynamic_iota %38, dim = 0 : (tensor<1xi32>) -> tensor<?xi32>
    %40 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %41 = stablehlo.dynamic_broadcast_in_dim %c_7, %40, dims = [] : (tensor<i32>, tensor<1xi32>) -> tensor<?xi32>
    %42 = stablehlo.multiply %41, %39 : tensor<?xi32>
    %43 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %44 = stablehlo.dynamic_broadcast_in_dim %c_10, %43, dims = [] : (tensor<i32>, tensor<1xi32>) -> tensor<?xi32>
    %45 = stablehlo.add %44, %42 : tensor<?xi32>
    %46 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %47 = stablehlo.concatenate %46, %c_6, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %48 = stablehlo.dynamic_broadcast_in_dim %45, %47, dims = [0] : (tensor<?xi32>, tensor<2xi32>) -> tensor<?x1xi32>
    %49 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %50 = stablehlo.dynamic_iota %49, dim = 0 : (tensor<1xi32>) -> tensor<?xi32>
    %51 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %52 = stablehlo.dynamic_broadcast_in_dim %c_7, %51, dims = [] : (tensor<i32>, tensor<1xi32>) -> tensor<?xi32>
    %53 = stablehlo.multiply %52, %50 : tensor<?xi32>
    %54 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %55 = stablehlo.dynamic_broadcast_in_dim %c_10, %54, dims = [] : (tensor<i32>, tensor<1xi32>) -> tensor<?xi32>
    %56 = stablehlo.add %55, %53 : tensor<?xi32>
    %57 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %58 = stablehlo.concatenate %c_6, %57, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %59 = stablehlo.dynamic_broadcast_in_dim %56, %58, dims = [1] : (tensor<?xi32>, tensor<2xi32>) -> tensor<1x?xi32>
    %60 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %61 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %62 = stablehlo.concatenate %60, %61, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %63 = stablehlo.dynamic_broadcast_in_dim %48, %62, dims = [0, 1] : (tensor<?x1xi32>, tensor<2xi32>) -> tensor<?x?xi32>
    %64 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %65 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %66 = stablehlo.concatenate %64, %65, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %67 = stablehlo.dynamic_broadcast_in_dim %59, %66, dims = [0, 1] : (tensor<1x?xi32>, tensor<2xi32>) -> tensor<?x?xi32>
    %68 = stablehlo.compare GE, %63, %67, SIGNED : (tensor<?x?xi32>, tensor<?x?xi32>) -> tensor<?x?xi1>
    %69 = call @_where(%arg0, %arg1, %68, %37, %cst_1) : (tensor<i32>, tensor<i32>, tensor<?x?xi1>, tensor<?x2x?x?xf32>, tensor<f32>) -> tensor<?x2x?x?xf32>
    %70 = stablehlo.reduce(%69 init: %cst_0) applies stablehlo.maximum across dimensions = [3] : (tensor<?x2x?x?xf32>, tensor<f32>) -> tensor<?x2x?xf32>
    %71 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %72 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %73 = stablehlo.concatenate %71, %c_3, %72, dim = 0 : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<3xi32>
    %74 = stablehlo.dynamic_broadcast_in_dim %cst_0, %73, dims = [] : (tensor<f32>, tensor<3xi32>) -> tensor<?x2x?xf32>
    %75 = stablehlo.maximum %74, %70 : tensor<?x2x?xf32>
    %76 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %77 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %78 = stablehlo.concatenate %76, %c_3, %77, %c_6, dim = 0 : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<4xi32>
    %79 = stablehlo.dynamic_broadcast_in_dim %75, %78, dims = [0, 1, 2] : (tensor<?x2x?xf32>, tensor<4xi32>) -> tensor<?x2x?x1xf32>
    %80 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %81 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %82 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %83 = stablehlo.concatenate %80, %c_3, %81, %82, dim = 0 : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<4xi32>
    %84 = stablehlo.dynamic_broadcast_in_dim %79, %83, dims = [0, 1, 2, 3] : (tensor<?x2x?x1xf32>, tensor<4xi32>) -> tensor<?x2x?x?xf32>
    %85 = stablehlo.subtract %69, %84 : tensor<?x2x?x?xf32>
    %86 = stablehlo.exponential %85 : tensor<?x2x?x?xf32>
    %87 = stablehlo.reduce(%86 init: %cst) applies stablehlo.add across dimensions = [3] : (tensor<?x2x?x?xf32>, tensor<f32>) -> tensor<?x2x?xf32>
    %88 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %89 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %90 = stablehlo.concatenate %88, %c_3, %89, %c_6, dim = 0 : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<4xi32>
    %91 = stablehlo.dynamic_broadcast_in_dim %87, %90, dims = [0, 1, 2] : (tensor<?x2x?xf32>, tensor<4xi32>) -> tensor<?x2x?x1xf32>
    %92 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %93 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %94 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %95 = stablehlo.concatenate %92, %c_3, %93, %94, dim = 0 : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<4xi32>
    %96 = stablehlo.dynamic_broadcast_in_dim %91, %95, dims = [0, 1, 2, 3] : (tensor<?x2x?x1xf32>, tensor<4xi32>) -> tensor<?x2x?x?xf32>
    %97 = stablehlo.divide %86, %96 : tensor<?x2x?x?xf32>
    %98 = stablehlo.dot_general %30, %97, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3] : (tensor<?x?x2x4xf32>, tensor<?x2x?x?xf32>) -> tensor<?x2x4x?xf32>
    %99 = stablehlo.transpose %98, dims = [0, 3, 1, 2] : (tensor<?x2x4x?xf32>) -> tensor<?x?x2x4xf32>
    %100 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %101 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %102 = stablehlo.concatenate %100, %101, %c_8, dim = 0 : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<3xi32>
    %103 = stablehlo.dynamic_reshape %99, %102 : (tensor<?x?x2x4xf32>, tensor<3xi32>) -> tensor<?x?x8xf32>
    %104 = stablehlo.add %arg2, %103 : tensor<?x?x8xf32>
    return %104 : tensor<?x?x8xf32>
  }
  func.func private @_where(%arg0: tensor<i32> {jax.global_constant = "b"}, %arg1: tensor<i32> {jax.global_constant = "l"}, %arg2: tensor<?x?xi1>, %arg3: tensor<?x2x?x?xf32>, %arg4: tensor<f32>) -> tensor<?x2x?x?xf32> {
    %c = stablehlo.constant dense<2> : tensor<1xi32>
    %0 = stablehlo.convert %arg4 : tensor<f32>
    %1 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %2 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %3 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %4 = stablehlo.concatenate %1, %c, %2, %3, dim = 0 : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<4xi32>
    %5 = stablehlo.dynamic_broadcast_in_dim %arg2, %4, dims = [2, 3] : (tensor<?x?xi1>, tensor<4xi32>) -> tensor<?x2x?x?xi1>
    %6 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %7 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %8 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %9 = stablehlo.concatenate %6, %c, %7, %8, dim = 0 : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<4xi32>
    %10 = stablehlo.dynamic_broadcast_in_dim %0, %9, dims = [] : (tensor<f32>, tensor<4xi32>) -> tensor<?x2x?x?xf32>
    %11 = stablehlo.select %5, %arg3, %10 : tensor<?x2x?x?xi1>, tensor<?x2x?x?xf32>
    return %11 : tensor<?x2x?x?xf32>
  }
}
