module @jit_update attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<5x5x1x10xf32> {tf.aliasing_output = 0 : i32}, %arg1: tensor<10xf32> {tf.aliasing_output = 1 : i32}, %arg2: tensor<10xf32> {tf.aliasing_output = 2 : i32}, %arg3: tensor<10xf32> {tf.aliasing_output = 3 : i32}, %arg4: tensor<5x5x10x20xf32> {tf.aliasing_output = 4 : i32}, %arg5: tensor<20xf32> {tf.aliasing_output = 5 : i32}, %arg6: tensor<20xf32> {tf.aliasing_output = 6 : i32}, %arg7: tensor<20xf32> {tf.aliasing_output = 7 : i32}, %arg8: tensor<320x50xf32> {tf.aliasing_output = 8 : i32}, %arg9: tensor<50xf32> {tf.aliasing_output = 9 : i32}, %arg10: tensor<50x10xf32> {tf.aliasing_output = 10 : i32}, %arg11: tensor<10xf32> {tf.aliasing_output = 11 : i32}, %arg12: tensor<5x5x1x10xf32> {tf.aliasing_output = 12 : i32}, %arg13: tensor<10xf32> {tf.aliasing_output = 13 : i32}, %arg14: tensor<10xf32> {tf.aliasing_output = 14 : i32}, %arg15: tensor<10xf32> {tf.aliasing_output = 15 : i32}, %arg16: tensor<5x5x10x20xf32> {tf.aliasing_output = 16 : i32}, %arg17: tensor<20xf32> {tf.aliasing_output = 17 : i32}, %arg18: tensor<20xf32> {tf.aliasing_output = 18 : i32}, %arg19: tensor<20xf32> {tf.aliasing_output = 19 : i32}, %arg20: tensor<320x50xf32> {tf.aliasing_output = 20 : i32}, %arg21: tensor<50xf32> {tf.aliasing_output = 21 : i32}, %arg22: tensor<50x10xf32> {tf.aliasing_output = 22 : i32}, %arg23: tensor<10xf32> {tf.aliasing_output = 23 : i32}, %arg24: tensor<5x5x1x10xf32>, %arg25: tensor<10xf32>, %arg26: tensor<10xf32>, %arg27: tensor<10xf32>, %arg28: tensor<5x5x10x20xf32>, %arg29: tensor<20xf32>, %arg30: tensor<20xf32>, %arg31: tensor<20xf32>, %arg32: tensor<320x50xf32>, %arg33: tensor<50xf32>, %arg34: tensor<50x10xf32>, %arg35: tensor<10xf32>) -> (tensor<5x5x1x10xf32> {jax.result_info = "result[0]"}, tensor<10xf32> {jax.result_info = "result[1]"}, tensor<10xf32> {jax.result_info = "result[2]"}, tensor<10xf32> {jax.result_info = "result[3]"}, tensor<5x5x10x20xf32> {jax.result_info = "result[4]"}, tensor<20xf32> {jax.result_info = "result[5]"}, tensor<20xf32> {jax.result_info = "result[6]"}, tensor<20xf32> {jax.result_info = "result[7]"}, tensor<320x50xf32> {jax.result_info = "result[8]"}, tensor<50xf32> {jax.result_info = "result[9]"}, tensor<50x10xf32> {jax.result_info = "result[10]"}, tensor<10xf32> {jax.result_info = "result[11]"}, tensor<5x5x1x10xf32> {jax.result_info = "result[12]"}, tensor<10xf32> {jax.result_info = "result[13]"}, tensor<10xf32> {jax.result_info = "result[14]"}, tensor<10xf32> {jax.result_info = "result[15]"}, tensor<5x5x10x20xf32> {jax.result_info = "result[16]"}, tensor<20xf32> {jax.result_info = "result[17]"}, tensor<20xf32> {jax.result_info = "result[18]"}, tensor<20xf32> {jax.result_info = "result[19]"}, tensor<320x50xf32> {jax.result_info = "result[20]"}, tensor<50xf32> {jax.result_info = "result[21]"}, tensor<50x10xf32> {jax.result_info = "result[22]"}, tensor<10xf32> {jax.result_info = "result[23]"}) {
    %cst = stablehlo.constant dense<0.899999976> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<5x5x1x10xf32>
    %1 = stablehlo.multiply %0, %arg12 : tensor<5x5x1x10xf32>
    %2 = stablehlo.add %1, %arg24 : tensor<5x5x1x10xf32>
    %cst_0 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %4 = stablehlo.multiply %3, %arg13 : tensor<10xf32>
    %5 = stablehlo.add %4, %arg25 : tensor<10xf32>
    %cst_1 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %6 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %7 = stablehlo.multiply %6, %arg14 : tensor<10xf32>
    %8 = stablehlo.add %7, %arg26 : tensor<10xf32>
    %cst_2 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %9 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %10 = stablehlo.multiply %9, %arg15 : tensor<10xf32>
    %11 = stablehlo.add %10, %arg27 : tensor<10xf32>
    %cst_3 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %12 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<5x5x10x20xf32>
    %13 = stablehlo.multiply %12, %arg16 : tensor<5x5x10x20xf32>
    %14 = stablehlo.add %13, %arg28 : tensor<5x5x10x20xf32>
    %cst_4 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %15 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<20xf32>
    %16 = stablehlo.multiply %15, %arg17 : tensor<20xf32>
    %17 = stablehlo.add %16, %arg29 : tensor<20xf32>
    %cst_5 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %18 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<20xf32>
    %19 = stablehlo.multiply %18, %arg18 : tensor<20xf32>
    %20 = stablehlo.add %19, %arg30 : tensor<20xf32>
    %cst_6 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %21 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<20xf32>
    %22 = stablehlo.multiply %21, %arg19 : tensor<20xf32>
    %23 = stablehlo.add %22, %arg31 : tensor<20xf32>
    %cst_7 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %24 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<320x50xf32>
    %25 = stablehlo.multiply %24, %arg20 : tensor<320x50xf32>
    %26 = stablehlo.add %25, %arg32 : tensor<320x50xf32>
    %cst_8 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %27 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<50xf32>
    %28 = stablehlo.multiply %27, %arg21 : tensor<50xf32>
    %29 = stablehlo.add %28, %arg33 : tensor<50xf32>
    %cst_9 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %30 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<50x10xf32>
    %31 = stablehlo.multiply %30, %arg22 : tensor<50x10xf32>
    %32 = stablehlo.add %31, %arg34 : tensor<50x10xf32>
    %cst_10 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %33 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %34 = stablehlo.multiply %33, %arg23 : tensor<10xf32>
    %35 = stablehlo.add %34, %arg35 : tensor<10xf32>
    %cst_11 = stablehlo.constant dense<5.000000e-02> : tensor<f32>
    %36 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<5x5x1x10xf32>
    %37 = stablehlo.multiply %36, %2 : tensor<5x5x1x10xf32>
    %38 = stablehlo.subtract %arg0, %37 : tensor<5x5x1x10xf32>
    %cst_12 = stablehlo.constant dense<5.000000e-02> : tensor<f32>
    %39 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %40 = stablehlo.multiply %39, %5 : tensor<10xf32>
    %41 = stablehlo.subtract %arg1, %40 : tensor<10xf32>
    %cst_13 = stablehlo.constant dense<5.000000e-02> : tensor<f32>
    %42 = stablehlo.broadcast_in_dim %cst_13, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %43 = stablehlo.multiply %42, %8 : tensor<10xf32>
    %44 = stablehlo.subtract %arg2, %43 : tensor<10xf32>
    %cst_14 = stablehlo.constant dense<5.000000e-02> : tensor<f32>
    %45 = stablehlo.broadcast_in_dim %cst_14, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %46 = stablehlo.multiply %45, %11 : tensor<10xf32>
    %47 = stablehlo.subtract %arg3, %46 : tensor<10xf32>
    %cst_15 = stablehlo.constant dense<5.000000e-02> : tensor<f32>
    %48 = stablehlo.broadcast_in_dim %cst_15, dims = [] : (tensor<f32>) -> tensor<5x5x10x20xf32>
    %49 = stablehlo.multiply %48, %14 : tensor<5x5x10x20xf32>
    %50 = stablehlo.subtract %arg4, %49 : tensor<5x5x10x20xf32>
    %cst_16 = stablehlo.constant dense<5.000000e-02> : tensor<f32>
    %51 = stablehlo.broadcast_in_dim %cst_16, dims = [] : (tensor<f32>) -> tensor<20xf32>
    %52 = stablehlo.multiply %51, %17 : tensor<20xf32>
    %53 = stablehlo.subtract %arg5, %52 : tensor<20xf32>
    %cst_17 = stablehlo.constant dense<5.000000e-02> : tensor<f32>
    %54 = stablehlo.broadcast_in_dim %cst_17, dims = [] : (tensor<f32>) -> tensor<20xf32>
    %55 = stablehlo.multiply %54, %20 : tensor<20xf32>
    %56 = stablehlo.subtract %arg6, %55 : tensor<20xf32>
    %cst_18 = stablehlo.constant dense<5.000000e-02> : tensor<f32>
    %57 = stablehlo.broadcast_in_dim %cst_18, dims = [] : (tensor<f32>) -> tensor<20xf32>
    %58 = stablehlo.multiply %57, %23 : tensor<20xf32>
    %59 = stablehlo.subtract %arg7, %58 : tensor<20xf32>
    %cst_19 = stablehlo.constant dense<5.000000e-02> : tensor<f32>
    %60 = stablehlo.broadcast_in_dim %cst_19, dims = [] : (tensor<f32>) -> tensor<320x50xf32>
    %61 = stablehlo.multiply %60, %26 : tensor<320x50xf32>
    %62 = stablehlo.subtract %arg8, %61 : tensor<320x50xf32>
    %cst_20 = stablehlo.constant dense<5.000000e-02> : tensor<f32>
    %63 = stablehlo.broadcast_in_dim %cst_20, dims = [] : (tensor<f32>) -> tensor<50xf32>
    %64 = stablehlo.multiply %63, %29 : tensor<50xf32>
    %65 = stablehlo.subtract %arg9, %64 : tensor<50xf32>
    %cst_21 = stablehlo.constant dense<5.000000e-02> : tensor<f32>
    %66 = stablehlo.broadcast_in_dim %cst_21, dims = [] : (tensor<f32>) -> tensor<50x10xf32>
    %67 = stablehlo.multiply %66, %32 : tensor<50x10xf32>
    %68 = stablehlo.subtract %arg10, %67 : tensor<50x10xf32>
    %cst_22 = stablehlo.constant dense<5.000000e-02> : tensor<f32>
    %69 = stablehlo.broadcast_in_dim %cst_22, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %70 = stablehlo.multiply %69, %35 : tensor<10xf32>
    %71 = stablehlo.subtract %arg11, %70 : tensor<10xf32>
    return %38, %41, %44, %47, %50, %53, %56, %59, %62, %65, %68, %71, %2, %5, %8, %11, %14, %17, %20, %23, %26, %29, %32, %35 : tensor<5x5x1x10xf32>, tensor<10xf32>, tensor<10xf32>, tensor<10xf32>, tensor<5x5x10x20xf32>, tensor<20xf32>, tensor<20xf32>, tensor<20xf32>, tensor<320x50xf32>, tensor<50xf32>, tensor<50x10xf32>, tensor<10xf32>, tensor<5x5x1x10xf32>, tensor<10xf32>, tensor<10xf32>, tensor<10xf32>, tensor<5x5x10x20xf32>, tensor<20xf32>, tensor<20xf32>, tensor<20xf32>, tensor<320x50xf32>, tensor<50xf32>, tensor<50x10xf32>, tensor<10xf32>
  }
}
