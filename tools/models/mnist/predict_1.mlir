module @jit_predict_1 attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<5x5x1x10xf32>, %arg1: tensor<10xf32>, %arg2: tensor<10xf32>, %arg3: tensor<10xf32>, %arg4: tensor<5x5x10x20xf32>, %arg5: tensor<20xf32>, %arg6: tensor<20xf32>, %arg7: tensor<20xf32>, %arg8: tensor<320x50xf32>, %arg9: tensor<50xf32>, %arg10: tensor<50x10xf32>, %arg11: tensor<10xf32>, %arg12: tensor<10xf32>, %arg13: tensor<10xf32>, %arg14: tensor<20xf32>, %arg15: tensor<20xf32>, %arg16: tensor<1x28x28xui8>) -> (tensor<1x10xf32> {jax.result_info = "result[0]"}) {
    %0 = stablehlo.convert %arg16 : (tensor<1x28x28xui8>) -> tensor<1x28x28xf32>
    %cst = stablehlo.constant dense<0.0111092599> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<1x28x28xf32>
    %2 = stablehlo.multiply %0, %1 : tensor<1x28x28xf32>
    %cst_0 = stablehlo.constant dense<0.810198307> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<1x28x28xf32>
    %4 = stablehlo.subtract %2, %3 : tensor<1x28x28xf32>
    %5 = stablehlo.reshape %4 : (tensor<1x28x28xf32>) -> tensor<1x28x28x1xf32>
    %6 = stablehlo.convolution(%5, %arg0) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[0, 0], [0, 0]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<1x28x28x1xf32>, tensor<5x5x1x10xf32>) -> tensor<1x24x24x10xf32>
    %7 = stablehlo.broadcast_in_dim %arg1, dims = [3] : (tensor<10xf32>) -> tensor<1x1x1x10xf32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0, 1, 2, 3] : (tensor<1x1x1x10xf32>) -> tensor<1x24x24x10xf32>
    %9 = stablehlo.add %6, %8 : tensor<1x24x24x10xf32>
    %cst_1 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %10 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<f32>
    %11 = "stablehlo.reduce_window"(%9, %10) <{base_dilations = array<i64: 1, 1, 1, 1>, padding = dense<0> : tensor<4x2xi64>, window_dilations = array<i64: 1, 1, 1, 1>, window_dimensions = array<i64: 1, 2, 2, 1>, window_strides = array<i64: 1, 2, 2, 1>}> ({
    ^bb0(%arg17: tensor<f32>, %arg18: tensor<f32>):
      %70 = stablehlo.maximum %arg17, %arg18 : tensor<f32>
      stablehlo.return %70 : tensor<f32>
    }) : (tensor<1x24x24x10xf32>, tensor<f32>) -> tensor<1x12x12x10xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %12 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<1x12x12x10xf32>
    %13 = stablehlo.compare GT, %11, %12, FLOAT : (tensor<1x12x12x10xf32>, tensor<1x12x12x10xf32>) -> tensor<1x12x12x10xi1>
    %14 = stablehlo.select %13, %11, %12 : tensor<1x12x12x10xi1>, tensor<1x12x12x10xf32>
    %15 = stablehlo.broadcast_in_dim %arg12, dims = [3] : (tensor<10xf32>) -> tensor<1x1x1x10xf32>
    %16 = stablehlo.broadcast_in_dim %15, dims = [0, 1, 2, 3] : (tensor<1x1x1x10xf32>) -> tensor<1x12x12x10xf32>
    %17 = stablehlo.subtract %14, %16 : tensor<1x12x12x10xf32>
    %cst_3 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %18 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %19 = stablehlo.add %arg13, %18 : tensor<10xf32>
    %20 = stablehlo.rsqrt %19 : tensor<10xf32>
    %21 = stablehlo.multiply %20, %arg2 : tensor<10xf32>
    %22 = stablehlo.broadcast_in_dim %21, dims = [3] : (tensor<10xf32>) -> tensor<1x1x1x10xf32>
    %23 = stablehlo.broadcast_in_dim %22, dims = [0, 1, 2, 3] : (tensor<1x1x1x10xf32>) -> tensor<1x12x12x10xf32>
    %24 = stablehlo.multiply %17, %23 : tensor<1x12x12x10xf32>
    %25 = stablehlo.broadcast_in_dim %arg3, dims = [3] : (tensor<10xf32>) -> tensor<1x1x1x10xf32>
    %26 = stablehlo.broadcast_in_dim %25, dims = [0, 1, 2, 3] : (tensor<1x1x1x10xf32>) -> tensor<1x12x12x10xf32>
    %27 = stablehlo.add %24, %26 : tensor<1x12x12x10xf32>
    %28 = stablehlo.convolution(%27, %arg4) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[0, 0], [0, 0]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<1x12x12x10xf32>, tensor<5x5x10x20xf32>) -> tensor<1x8x8x20xf32>
    %29 = stablehlo.broadcast_in_dim %arg5, dims = [3] : (tensor<20xf32>) -> tensor<1x1x1x20xf32>
    %30 = stablehlo.broadcast_in_dim %29, dims = [0, 1, 2, 3] : (tensor<1x1x1x20xf32>) -> tensor<1x8x8x20xf32>
    %31 = stablehlo.add %28, %30 : tensor<1x8x8x20xf32>
    %cst_4 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %32 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<f32>
    %33 = "stablehlo.reduce_window"(%31, %32) <{base_dilations = array<i64: 1, 1, 1, 1>, padding = dense<0> : tensor<4x2xi64>, window_dilations = array<i64: 1, 1, 1, 1>, window_dimensions = array<i64: 1, 2, 2, 1>, window_strides = array<i64: 1, 2, 2, 1>}> ({
    ^bb0(%arg17: tensor<f32>, %arg18: tensor<f32>):
      %70 = stablehlo.maximum %arg17, %arg18 : tensor<f32>
      stablehlo.return %70 : tensor<f32>
    }) : (tensor<1x8x8x20xf32>, tensor<f32>) -> tensor<1x4x4x20xf32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %34 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<1x4x4x20xf32>
    %35 = stablehlo.compare GT, %33, %34, FLOAT : (tensor<1x4x4x20xf32>, tensor<1x4x4x20xf32>) -> tensor<1x4x4x20xi1>
    %36 = stablehlo.select %35, %33, %34 : tensor<1x4x4x20xi1>, tensor<1x4x4x20xf32>
    %37 = stablehlo.broadcast_in_dim %arg14, dims = [3] : (tensor<20xf32>) -> tensor<1x1x1x20xf32>
    %38 = stablehlo.broadcast_in_dim %37, dims = [0, 1, 2, 3] : (tensor<1x1x1x20xf32>) -> tensor<1x4x4x20xf32>
    %39 = stablehlo.subtract %36, %38 : tensor<1x4x4x20xf32>
    %cst_6 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %40 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<20xf32>
    %41 = stablehlo.add %arg15, %40 : tensor<20xf32>
    %42 = stablehlo.rsqrt %41 : tensor<20xf32>
    %43 = stablehlo.multiply %42, %arg6 : tensor<20xf32>
    %44 = stablehlo.broadcast_in_dim %43, dims = [3] : (tensor<20xf32>) -> tensor<1x1x1x20xf32>
    %45 = stablehlo.broadcast_in_dim %44, dims = [0, 1, 2, 3] : (tensor<1x1x1x20xf32>) -> tensor<1x4x4x20xf32>
    %46 = stablehlo.multiply %39, %45 : tensor<1x4x4x20xf32>
    %47 = stablehlo.broadcast_in_dim %arg7, dims = [3] : (tensor<20xf32>) -> tensor<1x1x1x20xf32>
    %48 = stablehlo.broadcast_in_dim %47, dims = [0, 1, 2, 3] : (tensor<1x1x1x20xf32>) -> tensor<1x4x4x20xf32>
    %49 = stablehlo.add %46, %48 : tensor<1x4x4x20xf32>
    %50 = stablehlo.reshape %49 : (tensor<1x4x4x20xf32>) -> tensor<1x320xf32>
    %51 = stablehlo.dot_general %50, %arg8, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x320xf32>, tensor<320x50xf32>) -> tensor<1x50xf32>
    %52 = stablehlo.broadcast_in_dim %arg9, dims = [1] : (tensor<50xf32>) -> tensor<1x50xf32>
    %53 = stablehlo.add %51, %52 : tensor<1x50xf32>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %54 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<1x50xf32>
    %55 = stablehlo.compare GT, %53, %54, FLOAT : (tensor<1x50xf32>, tensor<1x50xf32>) -> tensor<1x50xi1>
    %56 = stablehlo.select %55, %53, %54 : tensor<1x50xi1>, tensor<1x50xf32>
    %57 = stablehlo.dot_general %56, %arg10, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x50xf32>, tensor<50x10xf32>) -> tensor<1x10xf32>
    %58 = stablehlo.broadcast_in_dim %arg11, dims = [1] : (tensor<10xf32>) -> tensor<1x10xf32>
    %59 = stablehlo.add %57, %58 : tensor<1x10xf32>
    %cst_8 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %60 = stablehlo.reduce(%59 init: %cst_8) applies stablehlo.maximum across dimensions = [1] : (tensor<1x10xf32>, tensor<f32>) -> tensor<1xf32>
    %61 = stablehlo.broadcast_in_dim %60, dims = [0] : (tensor<1xf32>) -> tensor<1x1xf32>
    %62 = stablehlo.broadcast_in_dim %61, dims = [0, 1] : (tensor<1x1xf32>) -> tensor<1x10xf32>
    %63 = stablehlo.subtract %59, %62 : tensor<1x10xf32>
    %64 = stablehlo.exponential %63 : tensor<1x10xf32>
    %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %65 = stablehlo.reduce(%64 init: %cst_9) applies stablehlo.add across dimensions = [1] : (tensor<1x10xf32>, tensor<f32>) -> tensor<1xf32>
    %66 = stablehlo.broadcast_in_dim %65, dims = [0] : (tensor<1xf32>) -> tensor<1x1xf32>
    %67 = stablehlo.log %66 : tensor<1x1xf32>
    %68 = stablehlo.broadcast_in_dim %67, dims = [0, 1] : (tensor<1x1xf32>) -> tensor<1x10xf32>
    %69 = stablehlo.subtract %63, %68 : tensor<1x10xf32>
    return %69 : tensor<1x10xf32>
  }
}
