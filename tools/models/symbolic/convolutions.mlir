module @jit_convolutions attributes {jax.uses_shape_polymorphism = true, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<?x?x?x2xf32>, %arg1: tensor<3x3x2x4xf32>, %arg2: tensor<4x5xf32>) -> (tensor<?x5xf32> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<-4> : tensor<i32>
    %c_1 = stablehlo.constant dense<1> : tensor<i32>
    %0 = stablehlo.get_dimension_size %arg0, dim = 0 : (tensor<?x?x?x2xf32>) -> tensor<i32>
    %1 = stablehlo.get_dimension_size %arg0, dim = 1 : (tensor<?x?x?x2xf32>) -> tensor<i32>
    %2 = stablehlo.get_dimension_size %arg0, dim = 2 : (tensor<?x?x?x2xf32>) -> tensor<i32>
    %3 = stablehlo.compare GE, %0, %c_1, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%3, %0) {api_version = 2 : i32, error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 'b'. Using the following polymorphic shapes specifications: args[0].shape = (b, h, h, 2). Obtained dimension variables: 'b' = {0} from specification 'b' for dimension args[0].shape[0] (= {0}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details.", has_side_effect = true} : (tensor<i1>, tensor<i32>) -> ()
    %4 = stablehlo.compare GE, %1, %c_1, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%4, %0, %1) {api_version = 2 : i32, error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 'h'. Using the following polymorphic shapes specifications: args[0].shape = (b, h, h, 2). Obtained dimension variables: 'b' = {0} from specification 'b' for dimension args[0].shape[0] (= {0}), 'h' = {1} from specification 'h' for dimension args[0].shape[1] (= {1}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details.", has_side_effect = true} : (tensor<i1>, tensor<i32>, tensor<i32>) -> ()
    %5 = stablehlo.compare EQ, %2, %1, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%5, %2, %1, %0) {api_version = 2 : i32, error_message = "Input shapes do not match the polymorphic shapes specification. Found inconsistency between dimension size args[0].shape[2] (= {0}) and the specification 'h' (= {1}). Using the following polymorphic shapes specifications: args[0].shape = (b, h, h, 2). Obtained dimension variables: 'b' = {2} from specification 'b' for dimension args[0].shape[0] (= {2}), 'h' = {1} from specification 'h' for dimension args[0].shape[1] (= {1}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details.", has_side_effect = true} : (tensor<i1>, tensor<i32>, tensor<i32>, tensor<i32>) -> ()
    %6 = stablehlo.convert %1 : tensor<i32>
    %7 = stablehlo.add %6, %c_0 : tensor<i32>
    %8 = stablehlo.compare GE, %7, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %9 = stablehlo.convert %1 : tensor<i32>
    %10 = stablehlo.add %9, %c_0 : tensor<i32>
    stablehlo.custom_call @shape_assertion(%8, %10, %0, %1) {api_version = 2 : i32, error_message = "Input shapes do not match the symbolic shape constraint h >= 4. Expected 'h - 4' to be greater or equal to 0, but found {0}.  Using the following polymorphic shapes specifications: args[0].shape = (b, h, h, 2). Obtained dimension variables: 'b' = {1} from specification 'b' for dimension args[0].shape[0] (= {1}), 'h' = {2} from specification 'h' for dimension args[0].shape[1] (= {2}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details.", has_side_effect = true} : (tensor<i1>, tensor<i32>, tensor<i32>, tensor<i32>) -> ()
    %11 = call @_wrapped_jax_export_main(%0, %1, %arg0, %arg1, %arg2) : (tensor<i32>, tensor<i32>, tensor<?x?x?x2xf32>, tensor<3x3x2x4xf32>, tensor<4x5xf32>) -> tensor<?x5xf32>
    return %11 : tensor<?x5xf32>
  }
  func.func private @_wrapped_jax_export_main(%arg0: tensor<i32> {jax.global_constant = "b"}, %arg1: tensor<i32> {jax.global_constant = "h"}, %arg2: tensor<?x?x?x2xf32>, %arg3: tensor<3x3x2x4xf32>, %arg4: tensor<4x5xf32>) -> (tensor<?x5xf32> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<4> : tensor<1xi32>
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %c_1 = stablehlo.constant dense<1> : tensor<i32>
    %c_2 = stablehlo.constant dense<-2> : tensor<i32>
    %c_3 = stablehlo.constant dense<2> : tensor<i32>
    %c_4 = stablehlo.constant dense<-1> : tensor<i32>
    %0 = stablehlo.convert %arg1 : tensor<i32>
    %1 = stablehlo.multiply %0, %c_4 : tensor<i32>
    %2:2 = call @divmod(%arg0, %arg1, %1, %c_3) : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>)
    %3 = stablehlo.multiply %2#0, %c_2 : tensor<i32>
    %4 = stablehlo.convert %arg1 : tensor<i32>
    %5 = stablehlo.multiply %4, %c_4 : tensor<i32>
    %6 = stablehlo.add %3, %5 : tensor<i32>
    %7 = stablehlo.add %6, %c_1 : tensor<i32>
    %8:2 = call @divmod(%arg0, %arg1, %7, %c_3) : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>)
    %9 = stablehlo.convert %arg1 : tensor<i32>
    %10 = stablehlo.multiply %9, %c_4 : tensor<i32>
    %11:2 = call @divmod(%arg0, %arg1, %10, %c_3) : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>)
    %12 = stablehlo.multiply %11#0, %c_2 : tensor<i32>
    %13 = stablehlo.convert %arg1 : tensor<i32>
    %14 = stablehlo.multiply %13, %c_4 : tensor<i32>
    %15 = stablehlo.add %12, %14 : tensor<i32>
    %16 = stablehlo.add %15, %c_1 : tensor<i32>
    %17:2 = call @divmod(%arg0, %arg1, %16, %c_3) : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>)
    %18 = stablehlo.multiply %17#0, %c_4 : tensor<i32>
    %19 = stablehlo.convert %arg1 : tensor<i32>
    %20 = stablehlo.multiply %19, %c_4 : tensor<i32>
    %21:2 = call @divmod(%arg0, %arg1, %20, %c_3) : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>)
    %22 = stablehlo.multiply %21#0, %c_2 : tensor<i32>
    %23 = stablehlo.convert %arg1 : tensor<i32>
    %24 = stablehlo.multiply %23, %c_4 : tensor<i32>
    %25 = stablehlo.add %18, %22 : tensor<i32>
    %26 = stablehlo.add %25, %24 : tensor<i32>
    %27 = stablehlo.add %26, %c_1 : tensor<i32>
    %28 = stablehlo.reshape %8#0 : (tensor<i32>) -> tensor<1xi32>
    %29 = stablehlo.reshape %27 : (tensor<i32>) -> tensor<1xi32>
    %30 = stablehlo.concatenate %28, %29, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %31 = stablehlo.reshape %30 : (tensor<2xi32>) -> tensor<1x2xi32>
    %32 = stablehlo.convert %arg1 : tensor<i32>
    %33 = stablehlo.multiply %32, %c_4 : tensor<i32>
    %34:2 = call @divmod(%arg0, %arg1, %33, %c_3) : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>)
    %35 = stablehlo.multiply %34#0, %c_2 : tensor<i32>
    %36 = stablehlo.convert %arg1 : tensor<i32>
    %37 = stablehlo.multiply %36, %c_4 : tensor<i32>
    %38 = stablehlo.add %35, %37 : tensor<i32>
    %39 = stablehlo.add %38, %c_1 : tensor<i32>
    %40:2 = call @divmod(%arg0, %arg1, %39, %c_3) : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>)
    %41 = stablehlo.convert %arg1 : tensor<i32>
    %42 = stablehlo.multiply %41, %c_4 : tensor<i32>
    %43:2 = call @divmod(%arg0, %arg1, %42, %c_3) : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>)
    %44 = stablehlo.multiply %43#0, %c_2 : tensor<i32>
    %45 = stablehlo.convert %arg1 : tensor<i32>
    %46 = stablehlo.multiply %45, %c_4 : tensor<i32>
    %47 = stablehlo.add %44, %46 : tensor<i32>
    %48 = stablehlo.add %47, %c_1 : tensor<i32>
    %49:2 = call @divmod(%arg0, %arg1, %48, %c_3) : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>)
    %50 = stablehlo.multiply %49#0, %c_4 : tensor<i32>
    %51 = stablehlo.convert %arg1 : tensor<i32>
    %52 = stablehlo.multiply %51, %c_4 : tensor<i32>
    %53:2 = call @divmod(%arg0, %arg1, %52, %c_3) : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>)
    %54 = stablehlo.multiply %53#0, %c_2 : tensor<i32>
    %55 = stablehlo.convert %arg1 : tensor<i32>
    %56 = stablehlo.multiply %55, %c_4 : tensor<i32>
    %57 = stablehlo.add %50, %54 : tensor<i32>
    %58 = stablehlo.add %57, %56 : tensor<i32>
    %59 = stablehlo.add %58, %c_1 : tensor<i32>
    %60 = stablehlo.reshape %40#0 : (tensor<i32>) -> tensor<1xi32>
    %61 = stablehlo.reshape %59 : (tensor<i32>) -> tensor<1xi32>
    %62 = stablehlo.concatenate %60, %61, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %63 = stablehlo.reshape %62 : (tensor<2xi32>) -> tensor<1x2xi32>
    %64 = stablehlo.concatenate %31, %63, dim = 0 : (tensor<1x2xi32>, tensor<1x2xi32>) -> tensor<2x2xi32>
    %65 = "stablehlo.dynamic_conv"(%arg2, %arg3, %64) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, window_strides = array<i64: 2, 2>}> : (tensor<?x?x?x2xf32>, tensor<3x3x2x4xf32>, tensor<2x2xi32>) -> tensor<?x?x?x4xf32>
    %66 = call @relu(%arg0, %arg1, %65) : (tensor<i32>, tensor<i32>, tensor<?x?x?x4xf32>) -> tensor<?x?x?x4xf32>
    %67 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<f32>
    %68 = "stablehlo.reduce_window"(%66, %67) <{padding = dense<[[0, 0], [1, 1], [1, 1], [0, 0]]> : tensor<4x2xi64>, window_dimensions = array<i64: 1, 3, 3, 1>}> ({
    ^bb0(%arg5: tensor<f32>, %arg6: tensor<f32>):
      %94 = stablehlo.add %arg5, %arg6 : tensor<f32>
      stablehlo.return %94 : tensor<f32>
    }) : (tensor<?x?x?x4xf32>, tensor<f32>) -> tensor<?x?x?x4xf32>
    %69 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<f32>
    %70 = "stablehlo.reduce_window"(%68, %69) <{window_dimensions = array<i64: 1, 2, 2, 1>, window_strides = array<i64: 1, 2, 2, 1>}> ({
    ^bb0(%arg5: tensor<f32>, %arg6: tensor<f32>):
      %94 = stablehlo.maximum %arg5, %arg6 : tensor<f32>
      stablehlo.return %94 : tensor<f32>
    }) : (tensor<?x?x?x4xf32>, tensor<f32>) -> tensor<?x?x?x4xf32>
    %71 = stablehlo.convert %arg1 : tensor<i32>
    %72 = stablehlo.multiply %71, %c_4 : tensor<i32>
    %73:2 = call @divmod(%arg0, %arg1, %72, %c_3) : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>)
    %74 = stablehlo.multiply %73#0, %c_4 : tensor<i32>
    %75 = stablehlo.add %74, %c_2 : tensor<i32>
    %76:2 = call @divmod(%arg0, %arg1, %75, %c_3) : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>)
    %77 = stablehlo.multiply %76#0, %76#0 : tensor<i32>
    %78 = stablehlo.convert %arg1 : tensor<i32>
    %79 = stablehlo.multiply %78, %c_4 : tensor<i32>
    %80:2 = call @divmod(%arg0, %arg1, %79, %c_3) : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>)
    %81 = stablehlo.multiply %80#0, %c_4 : tensor<i32>
    %82 = stablehlo.add %81, %c_2 : tensor<i32>
    %83:2 = call @divmod(%arg0, %arg1, %82, %c_3) : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>)
    %84 = stablehlo.multiply %83#0, %c_3 : tensor<i32>
    %85 = stablehlo.add %77, %84 : tensor<i32>
    %86 = stablehlo.add %85, %c_1 : tensor<i32>
    %87 = stablehlo.convert %86 : (tensor<i32>) -> tensor<f32>
    %88 = stablehlo.reduce(%70 init: %cst_0) applies stablehlo.add across dimensions = [1, 2] : (tensor<?x?x?x4xf32>, tensor<f32>) -> tensor<?x4xf32>
    %89 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %90 = stablehlo.concatenate %89, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %91 = stablehlo.dynamic_broadcast_in_dim %87, %90, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x4xf32>
    %92 = stablehlo.divide %88, %91 : tensor<?x4xf32>
    %93 = stablehlo.dot_general %92, %arg4, contracting_dims = [1] x [0] : (tensor<?x4xf32>, tensor<4x5xf32>) -> tensor<?x5xf32>
    return %93 : tensor<?x5xf32>
  }
  func.func private @divmod(%arg0: tensor<i32> {jax.global_constant = "b"}, %arg1: tensor<i32> {jax.global_constant = "h"}, %arg2: tensor<i32>, %arg3: tensor<i32>) -> (tensor<i32>, tensor<i32>) {
    %0 = call @floor_divide(%arg0, %arg1, %arg2, %arg3) : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<i32>
    %1 = call @remainder(%arg0, %arg1, %arg2, %arg3) : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<i32>
    return %0, %1 : tensor<i32>, tensor<i32>
  }
  func.func private @floor_divide(%arg0: tensor<i32> {jax.global_constant = "b"}, %arg1: tensor<i32> {jax.global_constant = "h"}, %arg2: tensor<i32>, %arg3: tensor<i32>) -> tensor<i32> {
    %c = stablehlo.constant dense<1> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.divide %arg2, %arg3 : tensor<i32>
    %1 = stablehlo.sign %arg2 : tensor<i32>
    %2 = stablehlo.sign %arg3 : tensor<i32>
    %3 = stablehlo.compare NE, %1, %2, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %4 = stablehlo.remainder %arg2, %arg3 : tensor<i32>
    %5 = stablehlo.compare NE, %4, %c_0, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %6 = stablehlo.and %3, %5 : tensor<i1>
    %7 = stablehlo.subtract %0, %c : tensor<i32>
    %8 = call @_where(%arg0, %arg1, %6, %7, %0) : (tensor<i32>, tensor<i32>, tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    return %8 : tensor<i32>
  }
  func.func private @_where(%arg0: tensor<i32> {jax.global_constant = "b"}, %arg1: tensor<i32> {jax.global_constant = "h"}, %arg2: tensor<i1>, %arg3: tensor<i32>, %arg4: tensor<i32>) -> tensor<i32> {
    %0 = stablehlo.select %arg2, %arg3, %arg4 : tensor<i1>, tensor<i32>
    return %0 : tensor<i32>
  }
  func.func private @remainder(%arg0: tensor<i32> {jax.global_constant = "b"}, %arg1: tensor<i32> {jax.global_constant = "h"}, %arg2: tensor<i32>, %arg3: tensor<i32>) -> tensor<i32> {
    %c = stablehlo.constant dense<1> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.compare EQ, %arg3, %c_0, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %1 = call @_where(%arg0, %arg1, %0, %c, %arg3) : (tensor<i32>, tensor<i32>, tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    %2 = stablehlo.remainder %arg2, %1 : tensor<i32>
    %3 = stablehlo.compare NE, %2, %c_0, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %4 = stablehlo.compare LT, %2, %c_0, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %5 = stablehlo.compare LT, %1, %c_0, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %6 = stablehlo.compare NE, %4, %5, UNSIGNED : (tensor<i1>, tensor<i1>) -> tensor<i1>
    %7 = stablehlo.and %6, %3 : tensor<i1>
    %8 = stablehlo.add %2, %1 : tensor<i32>
    %9 = stablehlo.select %7, %8, %2 : tensor<i1>, tensor<i32>
    return %9 : tensor<i32>
  }
  func.func private @relu(%arg0: tensor<i32> {jax.global_constant = "b"}, %arg1: tensor<i32> {jax.global_constant = "h"}, %arg2: tensor<?x?x?x4xf32>) -> tensor<?x?x?x4xf32> {
    %c = stablehlo.constant dense<4> : tensor<1xi32>
    %c_0 = stablehlo.constant dense<2> : tensor<i32>
    %c_1 = stablehlo.constant dense<-1> : tensor<i32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.convert %arg1 : tensor<i32>
    %1 = stablehlo.multiply %0, %c_1 : tensor<i32>
    %2:2 = call @divmod(%arg0, %arg1, %1, %c_0) : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>)
    %3 = stablehlo.multiply %2#0, %c_1 : tensor<i32>
    %4 = stablehlo.convert %arg1 : tensor<i32>
    %5 = stablehlo.multiply %4, %c_1 : tensor<i32>
    %6:2 = call @divmod(%arg0, %arg1, %5, %c_0) : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>)
    %7 = stablehlo.multiply %6#0, %c_1 : tensor<i32>
    %8 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %9 = stablehlo.reshape %3 : (tensor<i32>) -> tensor<1xi32>
    %10 = stablehlo.reshape %7 : (tensor<i32>) -> tensor<1xi32>
    %11 = stablehlo.concatenate %8, %9, %10, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<4xi32>
    %12 = stablehlo.dynamic_broadcast_in_dim %cst, %11, dims = [] : (tensor<f32>, tensor<4xi32>) -> tensor<?x?x?x4xf32>
    %13 = stablehlo.maximum %arg2, %12 : tensor<?x?x?x4xf32>
    return %13 : tensor<?x?x?x4xf32>
  }
}
