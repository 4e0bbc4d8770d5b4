module @jit_grad_128 attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<5x5x1x10xf32>, %arg1: tensor<10xf32>, %arg2: tensor<10xf32>, %arg3: tensor<10xf32>, %arg4: tensor<5x5x10x20xf32>, %arg5: tensor<20xf32>, %arg6: tensor<20xf32>, %arg7: tensor<20xf32>, %arg8: tensor<320x50xf32>, %arg9: tensor<50xf32>, %arg10: tensor<50x10xf32>, %arg11: tensor<10xf32>, %arg12: tensor<10xf32>, %arg13: tensor<10xf32>, %arg14: tensor<20xf32>, %arg15: tensor<20xf32>, %arg16: tensor<128x28x28xui8>, %arg17: tensor<128xui8>) -> (tensor<f32> {jax.result_info = "result[0]"}, tensor<5x5x1x10xf32> {jax.result_info = "result[1]"}, tensor<10xf32> {jax.result_info = "result[2]"}, tensor<10xf32> {jax.result_info = "result[3]"}, tensor<10xf32> {jax.result_info = "result[4]"}, tensor<5x5x10x20xf32> {jax.result_info = "result[5]"}, tensor<20xf32> {jax.result_info = "result[6]"}, tensor<20xf32> {jax.result_info = "result[7]"}, tensor<20xf32> {jax.result_info = "result[8]"}, tensor<320x50xf32> {jax.result_info = "result[9]"}, tensor<50xf32> {jax.result_info = "result[10]"}, tensor<50x10xf32> {jax.result_info = "result[11]"}, tensor<10xf32> {jax.result_info = "result[12]"}, tensor<10xf32> {jax.result_info = "result[13]"}, tensor<10xf32> {jax.result_info = "result[14]"}, tensor<20xf32> {jax.result_info = "result[15]"}, tensor<20xf32> {jax.result_info = "result[16]"}) {
    %0 = stablehlo.convert %arg16 : (tensor<128x28x28xui8>) -> tensor<128x28x28xf32>
    %cst = stablehlo.constant dense<0.0111092599> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<128x28x28xf32>
    %2 = stablehlo.multiply %0, %1 : tensor<128x28x28xf32>
    %cst_0 = stablehlo.constant dense<0.810198307> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<128x28x28xf32>
    %4 = stablehlo.subtract %2, %3 : tensor<128x28x28xf32>
    %5 = stablehlo.reshape %4 : (tensor<128x28x28xf32>) -> tensor<128x28x28x1xf32>
    %6 = stablehlo.convolution(%5, %arg0) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[0, 0], [0, 0]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<128x28x28x1xf32>, tensor<5x5x1x10xf32>) -> tensor<128x24x24x10xf32>
    %7 = stablehlo.broadcast_in_dim %arg1, dims = [3] : (tensor<10xf32>) -> tensor<1x1x1x10xf32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0, 1, 2, 3] : (tensor<1x1x1x10xf32>) -> tensor<128x24x24x10xf32>
    %9 = stablehlo.add %6, %8 : tensor<128x24x24x10xf32>
    %cst_1 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %10 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<f32>
    %11 = "stablehlo.reduce_window"(%9, %10) <{base_dilations = array<i64: 1, 1, 1, 1>, padding = dense<0> : tensor<4x2xi64>, window_dilations = array<i64: 1, 1, 1, 1>, window_dimensions = array<i64: 1, 2, 2, 1>, window_strides = array<i64: 1, 2, 2, 1>}> ({
    ^bb0(%arg18: tensor<f32>, %arg19: tensor<f32>):
      %230 = stablehlo.maximum %arg18, %arg19 : tensor<f32>
      stablehlo.return %230 : tensor<f32>
    }) : (tensor<128x24x24x10xf32>, tensor<f32>) -> tensor<128x12x12x10xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %12 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<128x12x12x10xf32>
    %13 = stablehlo.compare GT, %11, %12, FLOAT : (tensor<128x12x12x10xf32>, tensor<128x12x12x10xf32>) -> tensor<128x12x12x10xi1>
    %14 = stablehlo.select %13, %11, %12 : tensor<128x12x12x10xi1>, tensor<128x12x12x10xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %15 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<128x12x12x10xf32>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %16 = stablehlo.reduce(%14 init: %cst_4) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<128x12x12x10xf32>, tensor<f32>) -> tensor<10xf32>
    %cst_5 = stablehlo.constant dense<1.843200e+04> : tensor<f32>
    %17 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %18 = stablehlo.divide %16, %17 : tensor<10xf32>
    %19 = stablehlo.broadcast_in_dim %18, dims = [3] : (tensor<10xf32>) -> tensor<1x1x1x10xf32>
    %20 = stablehlo.broadcast_in_dim %19, dims = [0, 1, 2, 3] : (tensor<1x1x1x10xf32>) -> tensor<128x12x12x10xf32>
    %21 = stablehlo.subtract %14, %20 : tensor<128x12x12x10xf32>
    %22 = stablehlo.multiply %21, %21 : tensor<128x12x12x10xf32>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %23 = stablehlo.reduce(%22 init: %cst_6) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<128x12x12x10xf32>, tensor<f32>) -> tensor<10xf32>
    %cst_7 = stablehlo.constant dense<1.843200e+04> : tensor<f32>
    %24 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %25 = stablehlo.divide %23, %24 : tensor<10xf32>
    %cst_8 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %26 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %27 = stablehlo.multiply %26, %arg12 : tensor<10xf32>
    %cst_9 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %28 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %29 = stablehlo.multiply %28, %18 : tensor<10xf32>
    %30 = stablehlo.add %27, %29 : tensor<10xf32>
    %cst_10 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %31 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %32 = stablehlo.multiply %31, %arg13 : tensor<10xf32>
    %cst_11 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %33 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %34 = stablehlo.multiply %33, %25 : tensor<10xf32>
    %35 = stablehlo.add %32, %34 : tensor<10xf32>
    %cst_12 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %36 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %37 = stablehlo.add %25, %36 : tensor<10xf32>
    %38 = stablehlo.rsqrt %37 : tensor<10xf32>
    %39 = stablehlo.divide %38, %37 : tensor<10xf32>
    %cst_13 = stablehlo.constant dense<-5.000000e-01> : tensor<f32>
    %40 = stablehlo.broadcast_in_dim %cst_13, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %41 = stablehlo.multiply %40, %39 : tensor<10xf32>
    %42 = stablehlo.multiply %38, %arg2 : tensor<10xf32>
    %43 = stablehlo.broadcast_in_dim %42, dims = [3] : (tensor<10xf32>) -> tensor<1x1x1x10xf32>
    %44 = stablehlo.broadcast_in_dim %43, dims = [0, 1, 2, 3] : (tensor<1x1x1x10xf32>) -> tensor<128x12x12x10xf32>
    %45 = stablehlo.multiply %21, %44 : tensor<128x12x12x10xf32>
    %46 = stablehlo.broadcast_in_dim %arg3, dims = [3] : (tensor<10xf32>) -> tensor<1x1x1x10xf32>
    %47 = stablehlo.broadcast_in_dim %46, dims = [0, 1, 2, 3] : (tensor<1x1x1x10xf32>) -> tensor<128x12x12x10xf32>
    %48 = stablehlo.add %45, %47 : tensor<128x12x12x10xf32>
    %49 = stablehlo.convolution(%48, %arg4) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[0, 0], [0, 0]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<128x12x12x10xf32>, tensor<5x5x10x20xf32>) -> tensor<128x8x8x20xf32>
    %50 = stablehlo.broadcast_in_dim %arg5, dims = [3] : (tensor<20xf32>) -> tensor<1x1x1x20xf32>
    %51 = stablehlo.broadcast_in_dim %50, dims = [0, 1, 2, 3] : (tensor<1x1x1x20xf32>) -> tensor<128x8x8x20xf32>
    %52 = stablehlo.add %49, %51 : tensor<128x8x8x20xf32>
    %cst_14 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %53 = stablehlo.broadcast_in_dim %cst_14, dims = [] : (tensor<f32>) -> tensor<f32>
    %54 = "stablehlo.reduce_window"(%52, %53) <{base_dilations = array<i64: 1, 1, 1, 1>, padding = dense<0> : tensor<4x2xi64>, window_dilations = array<i64: 1, 1, 1, 1>, window_dimensions = array<i64: 1, 2, 2, 1>, window_strides = array<i64: 1, 2, 2, 1>}> ({
    ^bb0(%arg18: tensor<f32>, %arg19: tensor<f32>):
      %230 = stablehlo.maximum %arg18, %arg19 : tensor<f32>
      stablehlo.return %230 : tensor<f32>
    }) : (tensor<128x8x8x20xf32>, tensor<f32>) -> tensor<128x4x4x20xf32>
    %cst_15 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %55 = stablehlo.broadcast_in_dim %cst_15, dims = [] : (tensor<f32>) -> tensor<128x4x4x20xf32>
    %56 = stablehlo.compare GT, %54, %55, FLOAT : (tensor<128x4x4x20xf32>, tensor<128x4x4x20xf32>) -> tensor<128x4x4x20xi1>
    %57 = stablehlo.select %56, %54, %55 : tensor<128x4x4x20xi1>, tensor<128x4x4x20xf32>
    %cst_16 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %58 = stablehlo.broadcast_in_dim %cst_16, dims = [] : (tensor<f32>) -> tensor<128x4x4x20xf32>
    %cst_17 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %59 = stablehlo.reduce(%57 init: %cst_17) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<128x4x4x20xf32>, tensor<f32>) -> tensor<20xf32>
    %cst_18 = stablehlo.constant dense<2.048000e+03> : tensor<f32>
    %60 = stablehlo.broadcast_in_dim %cst_18, dims = [] : (tensor<f32>) -> tensor<20xf32>
    %61 = stablehlo.divide %59, %60 : tensor<20xf32>
    %62 = stablehlo.broadcast_in_dim %61, dims = [3] : (tensor<20xf32>) -> tensor<1x1x1x20xf32>
    %63 = stablehlo.broadcast_in_dim %62, dims = [0, 1, 2, 3] : (tensor<1x1x1x20xf32>) -> tensor<128x4x4x20xf32>
    %64 = stablehlo.subtract %57, %63 : tensor<128x4x4x20xf32>
    %65 = stablehlo.multiply %64, %64 : tensor<128x4x4x20xf32>
    %cst_19 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %66 = stablehlo.reduce(%65 init: %cst_19) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<128x4x4x20xf32>, tensor<f32>) -> tensor<20xf32>
    %cst_20 = stablehlo.constant dense<2.048000e+03> : tensor<f32>
    %67 = stablehlo.broadcast_in_dim %cst_20, dims = [] : (tensor<f32>) -> tensor<20xf32>
    %68 = stablehlo.divide %66, %67 : tensor<20xf32>
    %cst_21 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %69 = stablehlo.broadcast_in_dim %cst_21, dims = [] : (tensor<f32>) -> tensor<20xf32>
    %70 = stablehlo.multiply %69, %arg14 : tensor<20xf32>
    %cst_22 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %71 = stablehlo.broadcast_in_dim %cst_22, dims = [] : (tensor<f32>) -> tensor<20xf32>
    %72 = stablehlo.multiply %71, %61 : tensor<20xf32>
    %73 = stablehlo.add %70, %72 : tensor<20xf32>
    %cst_23 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %74 = stablehlo.broadcast_in_dim %cst_23, dims = [] : (tensor<f32>) -> tensor<20xf32>
    %75 = stablehlo.multiply %74, %arg15 : tensor<20xf32>
    %cst_24 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %76 = stablehlo.broadcast_in_dim %cst_24, dims = [] : (tensor<f32>) -> tensor<20xf32>
    %77 = stablehlo.multiply %76, %68 : tensor<20xf32>
    %78 = stablehlo.add %75, %77 : tensor<20xf32>
    %cst_25 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %79 = stablehlo.broadcast_in_dim %cst_25, dims = [] : (tensor<f32>) -> tensor<20xf32>
    %80 = stablehlo.add %68, %79 : tensor<20xf32>
    %81 = stablehlo.rsqrt %80 : tensor<20xf32>
    %82 = stablehlo.divide %81, %80 : tensor<20xf32>
    %cst_26 = stablehlo.constant dense<-5.000000e-01> : tensor<f32>
    %83 = stablehlo.broadcast_in_dim %cst_26, dims = [] : (tensor<f32>) -> tensor<20xf32>
    %84 = stablehlo.multiply %83, %82 : tensor<20xf32>
    %85 = stablehlo.multiply %81, %arg6 : tensor<20xf32>
    %86 = stablehlo.broadcast_in_dim %85, dims = [3] : (tensor<20xf32>) -> tensor<1x1x1x20xf32>
    %87 = stablehlo.broadcast_in_dim %86, dims = [0, 1, 2, 3] : (tensor<1x1x1x20xf32>) -> tensor<128x4x4x20xf32>
    %88 = stablehlo.multiply %64, %87 : tensor<128x4x4x20xf32>
    %89 = stablehlo.broadcast_in_dim %arg7, dims = [3] : (tensor<20xf32>) -> tensor<1x1x1x20xf32>
    %90 = stablehlo.broadcast_in_dim %89, dims = [0, 1, 2, 3] : (tensor<1x1x1x20xf32>) -> tensor<128x4x4x20xf32>
    %91 = stablehlo.add %88, %90 : tensor<128x4x4x20xf32>
    %92 = stablehlo.reshape %91 : (tensor<128x4x4x20xf32>) -> tensor<128x320xf32>
    %93 = stablehlo.dot_general %92, %arg8, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<128x320xf32>, tensor<320x50xf32>) -> tensor<128x50xf32>
    %94 = stablehlo.broadcast_in_dim %arg9, dims = [1] : (tensor<50xf32>) -> tensor<1x50xf32>
    %95 = stablehlo.broadcast_in_dim %94, dims = [0, 1] : (tensor<1x50xf32>) -> tensor<128x50xf32>
    %96 = stablehlo.add %93, %95 : tensor<128x50xf32>
    %cst_27 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %97 = stablehlo.broadcast_in_dim %cst_27, dims = [] : (tensor<f32>) -> tensor<128x50xf32>
    %98 = stablehlo.compare GT, %96, %97, FLOAT : (tensor<128x50xf32>, tensor<128x50xf32>) -> tensor<128x50xi1>
    %99 = stablehlo.select %98, %96, %97 : tensor<128x50xi1>, tensor<128x50xf32>
    %cst_28 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %100 = stablehlo.broadcast_in_dim %cst_28, dims = [] : (tensor<f32>) -> tensor<128x50xf32>
    %101 = stablehlo.dot_general %99, %arg10, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<128x50xf32>, tensor<50x10xf32>) -> tensor<128x10xf32>
    %102 = stablehlo.broadcast_in_dim %arg11, dims = [1] : (tensor<10xf32>) -> tensor<1x10xf32>
    %103 = stablehlo.broadcast_in_dim %102, dims = [0, 1] : (tensor<1x10xf32>) -> tensor<128x10xf32>
    %104 = stablehlo.add %101, %103 : tensor<128x10xf32>
    %cst_29 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %105 = stablehlo.reduce(%104 init: %cst_29) applies stablehlo.maximum across dimensions = [1] : (tensor<128x10xf32>, tensor<f32>) -> tensor<128xf32>
    %106 = stablehlo.broadcast_in_dim %105, dims = [0] : (tensor<128xf32>) -> tensor<128x1xf32>
    %107 = stablehlo.broadcast_in_dim %106, dims = [0, 1] : (tensor<128x1xf32>) -> tensor<128x10xf32>
    %108 = stablehlo.subtract %104, %107 : tensor<128x10xf32>
    %109 = stablehlo.exponential %108 : tensor<128x10xf32>
    %cst_30 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %110 = stablehlo.reduce(%109 init: %cst_30) applies stablehlo.add across dimensions = [1] : (tensor<128x10xf32>, tensor<f32>) -> tensor<128xf32>
    %111 = stablehlo.broadcast_in_dim %110, dims = [0] : (tensor<128xf32>) -> tensor<128x1xf32>
    %112 = stablehlo.log %111 : tensor<128x1xf32>
    %113 = stablehlo.broadcast_in_dim %112, dims = [0, 1] : (tensor<128x1xf32>) -> tensor<128x10xf32>
    %114 = stablehlo.subtract %108, %113 : tensor<128x10xf32>
    %115 = stablehlo.iota dim = 1 : tensor<128x10xi32>
    %116 = stablehlo.convert %arg17 : (tensor<128xui8>) -> tensor<128xi32>
    %117 = stablehlo.broadcast_in_dim %116, dims = [0] : (tensor<128xi32>) -> tensor<128x1xi32>
    %118 = stablehlo.broadcast_in_dim %117, dims = [0, 1] : (tensor<128x1xi32>) -> tensor<128x10xi32>
    %119 = stablehlo.compare EQ, %115, %118, SIGNED : (tensor<128x10xi32>, tensor<128x10xi32>) -> tensor<128x10xi1>
    %cst_31 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %120 = stablehlo.broadcast_in_dim %cst_31, dims = [] : (tensor<f32>) -> tensor<128x10xf32>
    %121 = stablehlo.select %119, %114, %120 : tensor<128x10xi1>, tensor<128x10xf32>
    %cst_32 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %122 = stablehlo.broadcast_in_dim %cst_32, dims = [] : (tensor<f32>) -> tensor<128x10xf32>
    %cst_33 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %123 = stablehlo.reduce(%121 init: %cst_33) applies stablehlo.add across dimensions = [1] : (tensor<128x10xf32>, tensor<f32>) -> tensor<128xf32>
    %124 = stablehlo.negate %123 : tensor<128xf32>
    %cst_34 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %125 = stablehlo.reduce(%124 init: %cst_34) applies stablehlo.add across dimensions = [0] : (tensor<128xf32>, tensor<f32>) -> tensor<f32>
    %cst_35 = stablehlo.constant dense<1.280000e+02> : tensor<f32>
    %126 = stablehlo.divide %125, %cst_35 : tensor<f32>
    %cst_36 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %cst_37 = stablehlo.constant dense<1.280000e+02> : tensor<f32>
    %127 = stablehlo.divide %cst_36, %cst_37 : tensor<f32>
    %128 = stablehlo.broadcast_in_dim %127, dims = [] : (tensor<f32>) -> tensor<128xf32>
    %129 = stablehlo.negate %128 : tensor<128xf32>
    %130 = stablehlo.broadcast_in_dim %129, dims = [0] : (tensor<128xf32>) -> tensor<128x10xf32>
    %cst_38 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %131 = stablehlo.broadcast_in_dim %cst_38, dims = [] : (tensor<f32>) -> tensor<128x10xf32>
    %132 = stablehlo.select %119, %130, %131 : tensor<128x10xi1>, tensor<128x10xf32>
    %133 = stablehlo.negate %132 : tensor<128x10xf32>
    %cst_39 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %134 = stablehlo.reduce(%133 init: %cst_39) applies stablehlo.add across dimensions = [1] : (tensor<128x10xf32>, tensor<f32>) -> tensor<128xf32>
    %135 = stablehlo.reshape %134 : (tensor<128xf32>) -> tensor<128x1xf32>
    %136 = stablehlo.divide %135, %111 : tensor<128x1xf32>
    %cst_40 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %137 = stablehlo.reduce(%136 init: %cst_40) applies stablehlo.add across dimensions = [1] : (tensor<128x1xf32>, tensor<f32>) -> tensor<128xf32>
    %138 = stablehlo.broadcast_in_dim %137, dims = [0] : (tensor<128xf32>) -> tensor<128x10xf32>
    %139 = stablehlo.multiply %138, %109 : tensor<128x10xf32>
    %140 = stablehlo.add %132, %139 : tensor<128x10xf32>
    %cst_41 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %141 = stablehlo.reduce(%140 init: %cst_41) applies stablehlo.add across dimensions = [0] : (tensor<128x10xf32>, tensor<f32>) -> tensor<10xf32>
    %142 = stablehlo.reshape %141 : (tensor<10xf32>) -> tensor<1x10xf32>
    %cst_42 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %143 = stablehlo.reduce(%142 init: %cst_42) applies stablehlo.add across dimensions = [0] : (tensor<1x10xf32>, tensor<f32>) -> tensor<10xf32>
    %144 = stablehlo.dot_general %140, %99, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<128x10xf32>, tensor<128x50xf32>) -> tensor<10x50xf32>
    %145 = stablehlo.transpose %144, dims = [1, 0] : (tensor<10x50xf32>) -> tensor<50x10xf32>
    %146 = stablehlo.dot_general %140, %arg10, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<128x10xf32>, tensor<50x10xf32>) -> tensor<128x50xf32>
    %cst_43 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %147 = stablehlo.broadcast_in_dim %cst_43, dims = [] : (tensor<f32>) -> tensor<128x50xf32>
    %148 = stablehlo.select %98, %146, %147 : tensor<128x50xi1>, tensor<128x50xf32>
    %cst_44 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %149 = stablehlo.reduce(%148 init: %cst_44) applies stablehlo.add across dimensions = [0] : (tensor<128x50xf32>, tensor<f32>) -> tensor<50xf32>
    %150 = stablehlo.reshape %149 : (tensor<50xf32>) -> tensor<1x50xf32>
    %cst_45 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %151 = stablehlo.reduce(%150 init: %cst_45) applies stablehlo.add across dimensions = [0] : (tensor<1x50xf32>, tensor<f32>) -> tensor<50xf32>
    %152 = stablehlo.dot_general %148, %92, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<128x50xf32>, tensor<128x320xf32>) -> tensor<50x320xf32>
    %153 = stablehlo.transpose %152, dims = [1, 0] : (tensor<50x320xf32>) -> tensor<320x50xf32>
    %154 = stablehlo.dot_general %148, %arg8, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<128x50xf32>, tensor<320x50xf32>) -> tensor<128x320xf32>
    %155 = stablehlo.reshape %154 : (tensor<128x320xf32>) -> tensor<128x4x4x20xf32>
    %cst_46 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %156 = stablehlo.reduce(%155 init: %cst_46) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<128x4x4x20xf32>, tensor<f32>) -> tensor<20xf32>
    %157 = stablehlo.reshape %156 : (tensor<20xf32>) -> tensor<1x1x1x20xf32>
    %cst_47 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %158 = stablehlo.reduce(%157 init: %cst_47) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<1x1x1x20xf32>, tensor<f32>) -> tensor<20xf32>
    %159 = stablehlo.multiply %64, %155 : tensor<128x4x4x20xf32>
    %cst_48 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %160 = stablehlo.reduce(%159 init: %cst_48) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<128x4x4x20xf32>, tensor<f32>) -> tensor<20xf32>
    %161 = stablehlo.reshape %160 : (tensor<20xf32>) -> tensor<1x1x1x20xf32>
    %162 = stablehlo.broadcast_in_dim %86, dims = [0, 1, 2, 3] : (tensor<1x1x1x20xf32>) -> tensor<128x4x4x20xf32>
    %163 = stablehlo.multiply %155, %162 : tensor<128x4x4x20xf32>
    %cst_49 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %164 = stablehlo.reduce(%161 init: %cst_49) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<1x1x1x20xf32>, tensor<f32>) -> tensor<20xf32>
    %165 = stablehlo.multiply %81, %164 : tensor<20xf32>
    %166 = stablehlo.multiply %164, %arg6 : tensor<20xf32>
    %167 = stablehlo.multiply %166, %84 : tensor<20xf32>
    %cst_50 = stablehlo.constant dense<2.048000e+03> : tensor<f32>
    %168 = stablehlo.broadcast_in_dim %cst_50, dims = [] : (tensor<f32>) -> tensor<20xf32>
    %169 = stablehlo.divide %167, %168 : tensor<20xf32>
    %170 = stablehlo.broadcast_in_dim %169, dims = [3] : (tensor<20xf32>) -> tensor<128x4x4x20xf32>
    %171 = stablehlo.multiply %64, %170 : tensor<128x4x4x20xf32>
    %172 = stablehlo.add %163, %171 : tensor<128x4x4x20xf32>
    %173 = stablehlo.multiply %170, %64 : tensor<128x4x4x20xf32>
    %174 = stablehlo.add %172, %173 : tensor<128x4x4x20xf32>
    %175 = stablehlo.negate %174 : tensor<128x4x4x20xf32>
    %cst_51 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %176 = stablehlo.reduce(%175 init: %cst_51) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<128x4x4x20xf32>, tensor<f32>) -> tensor<20xf32>
    %177 = stablehlo.reshape %176 : (tensor<20xf32>) -> tensor<1x1x1x20xf32>
    %cst_52 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %178 = stablehlo.reduce(%177 init: %cst_52) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<1x1x1x20xf32>, tensor<f32>) -> tensor<20xf32>
    %cst_53 = stablehlo.constant dense<2.048000e+03> : tensor<f32>
    %179 = stablehlo.broadcast_in_dim %cst_53, dims = [] : (tensor<f32>) -> tensor<20xf32>
    %180 = stablehlo.divide %178, %179 : tensor<20xf32>
    %181 = stablehlo.broadcast_in_dim %180, dims = [3] : (tensor<20xf32>) -> tensor<128x4x4x20xf32>
    %182 = stablehlo.add %174, %181 : tensor<128x4x4x20xf32>
    %cst_54 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %183 = stablehlo.broadcast_in_dim %cst_54, dims = [] : (tensor<f32>) -> tensor<128x4x4x20xf32>
    %184 = stablehlo.select %56, %182, %183 : tensor<128x4x4x20xi1>, tensor<128x4x4x20xf32>
    %cst_55 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %185 = stablehlo.pad %52, %cst_55, low = [0, 0, 0, 0], high = [0, 0, 0, 0], interior = [0, 0, 0, 0] : (tensor<128x8x8x20xf32>, tensor<f32>) -> tensor<128x8x8x20xf32>
    %cst_56 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %186 = "stablehlo.select_and_scatter"(%185, %184, %cst_56) <{padding = dense<0> : tensor<4x2xi64>, window_dimensions = array<i64: 1, 2, 2, 1>, window_strides = array<i64: 1, 2, 2, 1>}> ({
    ^bb0(%arg18: tensor<f32>, %arg19: tensor<f32>):
      %230 = stablehlo.compare GE, %arg18, %arg19, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %230 : tensor<i1>
    }, {
    ^bb0(%arg18: tensor<f32>, %arg19: tensor<f32>):
      %230 = stablehlo.add %arg18, %arg19 : tensor<f32>
      stablehlo.return %230 : tensor<f32>
    }) : (tensor<128x8x8x20xf32>, tensor<128x4x4x20xf32>, tensor<f32>) -> tensor<128x8x8x20xf32>
    %187 = stablehlo.slice %186 [0:128, 0:8, 0:8, 0:20] : (tensor<128x8x8x20xf32>) -> tensor<128x8x8x20xf32>
    %cst_57 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %188 = stablehlo.reduce(%187 init: %cst_57) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<128x8x8x20xf32>, tensor<f32>) -> tensor<20xf32>
    %189 = stablehlo.reshape %188 : (tensor<20xf32>) -> tensor<1x1x1x20xf32>
    %cst_58 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %190 = stablehlo.reduce(%189 init: %cst_58) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<1x1x1x20xf32>, tensor<f32>) -> tensor<20xf32>
    %191 = stablehlo.convolution(%48, %187) dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f], window = {stride = [1, 1], pad = [[0, 0], [0, 0]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<128x12x12x10xf32>, tensor<128x8x8x20xf32>) -> tensor<5x5x10x20xf32>
    %192 = stablehlo.reverse %arg4, dims = [0, 1] : tensor<5x5x10x20xf32>
    %193 = stablehlo.convolution(%187, %192) dim_numbers = [b, 0, 1, f]x[0, 1, o, i]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[4, 4], [4, 4]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<128x8x8x20xf32>, tensor<5x5x10x20xf32>) -> tensor<128x12x12x10xf32>
    %cst_59 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %194 = stablehlo.reduce(%193 init: %cst_59) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<128x12x12x10xf32>, tensor<f32>) -> tensor<10xf32>
    %195 = stablehlo.reshape %194 : (tensor<10xf32>) -> tensor<1x1x1x10xf32>
    %cst_60 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %196 = stablehlo.reduce(%195 init: %cst_60) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<1x1x1x10xf32>, tensor<f32>) -> tensor<10xf32>
    %197 = stablehlo.multiply %21, %193 : tensor<128x12x12x10xf32>
    %cst_61 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %198 = stablehlo.reduce(%197 init: %cst_61) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<128x12x12x10xf32>, tensor<f32>) -> tensor<10xf32>
    %199 = stablehlo.reshape %198 : (tensor<10xf32>) -> tensor<1x1x1x10xf32>
    %200 = stablehlo.broadcast_in_dim %43, dims = [0, 1, 2, 3] : (tensor<1x1x1x10xf32>) -> tensor<128x12x12x10xf32>
    %201 = stablehlo.multiply %193, %200 : tensor<128x12x12x10xf32>
    %cst_62 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %202 = stablehlo.reduce(%199 init: %cst_62) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<1x1x1x10xf32>, tensor<f32>) -> tensor<10xf32>
    %203 = stablehlo.multiply %38, %202 : tensor<10xf32>
    %204 = stablehlo.multiply %202, %arg2 : tensor<10xf32>
    %205 = stablehlo.multiply %204, %41 : tensor<10xf32>
    %cst_63 = stablehlo.constant dense<1.843200e+04> : tensor<f32>
    %206 = stablehlo.broadcast_in_dim %cst_63, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %207 = stablehlo.divide %205, %206 : tensor<10xf32>
    %208 = stablehlo.broadcast_in_dim %207, dims = [3] : (tensor<10xf32>) -> tensor<128x12x12x10xf32>
    %209 = stablehlo.multiply %21, %208 : tensor<128x12x12x10xf32>
    %210 = stablehlo.add %201, %209 : tensor<128x12x12x10xf32>
    %211 = stablehlo.multiply %208, %21 : tensor<128x12x12x10xf32>
    %212 = stablehlo.add %210, %211 : tensor<128x12x12x10xf32>
    %213 = stablehlo.negate %212 : tensor<128x12x12x10xf32>
    %cst_64 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %214 = stablehlo.reduce(%213 init: %cst_64) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<128x12x12x10xf32>, tensor<f32>) -> tensor<10xf32>
    %215 = stablehlo.reshape %214 : (tensor<10xf32>) -> tensor<1x1x1x10xf32>
    %cst_65 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %216 = stablehlo.reduce(%215 init: %cst_65) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<1x1x1x10xf32>, tensor<f32>) -> tensor<10xf32>
    %cst_66 = stablehlo.constant dense<1.843200e+04> : tensor<f32>
    %217 = stablehlo.broadcast_in_dim %cst_66, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %218 = stablehlo.divide %216, %217 : tensor<10xf32>
    %219 = stablehlo.broadcast_in_dim %218, dims = [3] : (tensor<10xf32>) -> tensor<128x12x12x10xf32>
    %220 = stablehlo.add %212, %219 : tensor<128x12x12x10xf32>
    %cst_67 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %221 = stablehlo.broadcast_in_dim %cst_67, dims = [] : (tensor<f32>) -> tensor<128x12x12x10xf32>
    %222 = stablehlo.select %13, %220, %221 : tensor<128x12x12x10xi1>, tensor<128x12x12x10xf32>
    %cst_68 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %223 = stablehlo.pad %9, %cst_68, low = [0, 0, 0, 0], high = [0, 0, 0, 0], interior = [0, 0, 0, 0] : (tensor<128x24x24x10xf32>, tensor<f32>) -> tensor<128x24x24x10xf32>
    %cst_69 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %224 = "stablehlo.select_and_scatter"(%223, %222, %cst_69) <{padding = dense<0> : tensor<4x2xi64>, window_dimensions = array<i64: 1, 2, 2, 1>, window_strides = array<i64: 1, 2, 2, 1>}> ({
    ^bb0(%arg18: tensor<f32>, %arg19: tensor<f32>):
      %230 = stablehlo.compare GE, %arg18, %arg19, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %230 : tensor<i1>
    }, {
    ^bb0(%arg18: tensor<f32>, %arg19: tensor<f32>):
      %230 = stablehlo.add %arg18, %arg19 : tensor<f32>
      stablehlo.return %230 : tensor<f32>
    }) : (tensor<128x24x24x10xf32>, tensor<128x12x12x10xf32>, tensor<f32>) -> tensor<128x24x24x10xf32>
    %225 = stablehlo.slice %224 [0:128, 0:24, 0:24, 0:10] : (tensor<128x24x24x10xf32>) -> tensor<128x24x24x10xf32>
    %cst_70 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %226 = stablehlo.reduce(%225 init: %cst_70) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<128x24x24x10xf32>, tensor<f32>) -> tensor<10xf32>
    %227 = stablehlo.reshape %226 : (tensor<10xf32>) -> tensor<1x1x1x10xf32>
    %cst_71 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %228 = stablehlo.reduce(%227 init: %cst_71) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<1x1x1x10xf32>, tensor<f32>) -> tensor<10xf32>
    %229 = stablehlo.convolution(%5, %225) dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f], window = {stride = [1, 1], pad = [[0, 0], [0, 0]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<128x28x28x1xf32>, tensor<128x24x24x10xf32>) -> tensor<5x5x1x10xf32>
    return %126, %229, %228, %203, %196, %191, %190, %165, %158, %153, %151, %145, %143, %30, %35, %73, %78 : tensor<f32>, tensor<5x5x1x10xf32>, tensor<10xf32>, tensor<10xf32>, tensor<10xf32>, tensor<5x5x10x20xf32>, tensor<20xf32>, tensor<20xf32>, tensor<20xf32>, tensor<320x50xf32>, tensor<50xf32>, tensor<50x10xf32>, tensor<10xf32>, tensor<10xf32>, tensor<10xf32>, tensor<20xf32>, tensor<20xf32>
  }
}
