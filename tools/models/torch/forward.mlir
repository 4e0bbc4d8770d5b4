module @IrToHlo.262 attributes {mhlo.cross_program_prefetches = [], mhlo.input_output_alias = [], mhlo.is_dynamic = false, mhlo.use_auto_spmd_partitioning = false} {
  func.func @main(%arg0: tensor<10xf32>, %arg1: tensor<10x16xf32>, %arg2: tensor<16xf32>, %arg3: tensor<16x16xf32>, %arg4: tensor<48xf32>, %arg5: tensor<48x16xf32>, %arg6: tensor<16xf32>, %arg7: tensor<16xf32>, %arg8: tensor<16x16xf32>, %arg9: tensor<4xf32>, %arg10: tensor<4xf32>, %arg11: tensor<4xf32>, %arg12: tensor<4xf32>, %arg13: tensor<4xf32>, %arg14: tensor<4x1x3x3xf32>, %arg15: tensor<2x1x8x8xf32>, %arg16: tensor<16xf32>) -> tensor<2x10xf32> {
    %cst = stablehlo.constant dense<2.500000e-01> : tensor<2x16xf32>
    %cst_0 = stablehlo.constant dense<0.707106769> : tensor<2x4x4x4xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<8xf32>
    %cst_2 = stablehlo.constant dense<1.000000e+00> : tensor<8xf32>
    %cst_3 = stablehlo.constant dense<1.000000e+00> : tensor<2x4x8x8xf32>
    %cst_4 = stablehlo.constant dense<0.707106769> : tensor<2x4x8x8xf32>
    %cst_5 = stablehlo.constant dense<5.000000e-01> : tensor<2x4x8x8xf32>
    %cst_6 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.convolution(%arg15, %arg14) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<2x1x8x8xf32>, tensor<4x1x3x3xf32>) -> tensor<2x4x8x8xf32>
    %1 = stablehlo.broadcast_in_dim %arg13, dims = [1] : (tensor<4xf32>) -> tensor<2x4x8x8xf32>
    %2 = stablehlo.add %0, %1 : tensor<2x4x8x8xf32>
    %3 = "stablehlo.batch_norm_inference"(%2, %arg12, %arg11, %arg10, %arg9) <{epsilon = 9.99999974E-6 : f32, feature_index = 1 : i64}> : (tensor<2x4x8x8xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x4x8x8xf32>
    %4 = stablehlo.multiply %3, %cst_5 : tensor<2x4x8x8xf32>
    %5 = stablehlo.multiply %3, %cst_4 : tensor<2x4x8x8xf32>
    %6 = stablehlo.custom_call @mhlo.erf(%5) {mhlo.attributes = {}, mhlo.version = 1 : i64} : (tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
    %7 = stablehlo.add %6, %cst_3 : tensor<2x4x8x8xf32>
    %8 = stablehlo.multiply %4, %7 : tensor<2x4x8x8xf32>
    %9 = "stablehlo.reduce_window"(%8, %cst_6) <{base_dilations = array<i64: 1, 1, 1, 1>, padding = dense<0> : tensor<4x2xi64>, window_dilations = array<i64: 1, 1, 1, 1>, window_dimensions = array<i64: 1, 1, 2, 2>, window_strides = array<i64: 1, 1, 2, 2>}> ({
    ^bb0(%arg17: tensor<f32>, %arg18: tensor<f32>):
      %81 = stablehlo.maximum %arg17, %arg18 : tensor<f32>
      stablehlo.return %81 : tensor<f32>
    }) : (tensor<2x4x8x8xf32>, tensor<f32>) -> tensor<2x4x4x4xf32>
    %10 = stablehlo.reshape %9 : (tensor<2x4x4x4xf32>) -> tensor<8x16xf32>
    %11 = stablehlo.transpose %arg8, dims = [1, 0] {result_layout = dense<[0, 1]> : tensor<2xindex>, xla_shape = "f32[16,16]{0,1}"} : (tensor<16x16xf32>) -> tensor<16x16xf32>
    %12 = stablehlo.dot_general %10, %11, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x16xf32>, tensor<16x16xf32>) -> tensor<8x16xf32>
    %13 = stablehlo.broadcast_in_dim %arg7, dims = [1] : (tensor<16xf32>) -> tensor<8x16xf32>
    %14 = stablehlo.add %12, %13 : tensor<8x16xf32>
    %15 = stablehlo.reshape %14 : (tensor<8x16xf32>) -> tensor<1x8x16xf32>
    %output, %batch_mean, %batch_var = "stablehlo.batch_norm_training"(%15, %cst_2, %cst_1) <{epsilon = 9.99999974E-6 : f32, feature_index = 1 : i64}> : (tensor<1x8x16xf32>, tensor<8xf32>, tensor<8xf32>) -> (tensor<1x8x16xf32>, tensor<8xf32>, tensor<8xf32>)
    %16 = stablehlo.broadcast_in_dim %arg16, dims = [2] : (tensor<16xf32>) -> tensor<2x4x16xf32>
    %17 = stablehlo.reshape %output : (tensor<1x8x16xf32>) -> tensor<2x4x16xf32>
    %18 = stablehlo.broadcast_in_dim %arg6, dims = [2] : (tensor<16xf32>) -> tensor<2x4x16xf32>
    %19 = stablehlo.multiply %17, %18 : tensor<2x4x16xf32>
    %20 = stablehlo.add %16, %19 : tensor<2x4x16xf32>
    %21 = stablehlo.transpose %20, dims = [1, 0, 2] {result_layout = dense<[2, 0, 1]> : tensor<3xindex>, xla_shape = "f32[4,2,16]{2,0,1}"} : (tensor<2x4x16xf32>) -> tensor<4x2x16xf32>
    %22 = stablehlo.transpose %arg5, dims = [1, 0] {result_layout = dense<[0, 1]> : tensor<2xindex>, xla_shape = "f32[16,48]{0,1}"} : (tensor<48x16xf32>) -> tensor<16x48xf32>
    %23 = stablehlo.broadcast_in_dim %22, dims = [1, 2] : (tensor<16x48xf32>) -> tensor<4x16x48xf32>
    %24 = stablehlo.dot_general %21, %23, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<4x2x16xf32>, tensor<4x16x48xf32>) -> tensor<4x2x48xf32>
    %25 = stablehlo.broadcast_in_dim %arg4, dims = [2] : (tensor<48xf32>) -> tensor<4x2x48xf32>
    %26 = stablehlo.add %24, %25 : tensor<4x2x48xf32>
    %27 = stablehlo.reshape %26 : (tensor<4x2x48xf32>) -> tensor<1x4x2x3x16xf32>
    %28 = stablehlo.transpose %27, dims = [3, 1, 2, 0, 4] {result_layout = dense<[4, 0, 2, 1, 3]> : tensor<5xindex>, xla_shape = "f32[3,4,2,1,16]{4,0,2,1,3}"} : (tensor<1x4x2x3x16xf32>) -> tensor<3x4x2x1x16xf32>
    %29 = stablehlo.reshape %28 : (tensor<3x4x2x1x16xf32>) -> tensor<3x4x2x16xf32>
    %30 = stablehlo.slice %29 [0:1, 0:4, 0:2, 0:16] : (tensor<3x4x2x16xf32>) -> tensor<1x4x2x16xf32>
    %31 = stablehlo.reshape %30 : (tensor<1x4x2x16xf32>) -> tensor<4x8x4xf32>
    %32 = stablehlo.transpose %31, dims = [1, 0, 2] {result_layout = dense<[2, 0, 1]> : tensor<3xindex>, xla_shape = "f32[8,4,4]{2,0,1}"} : (tensor<4x8x4xf32>) -> tensor<8x4x4xf32>
    %33 = stablehlo.reshape %32 : (tensor<8x4x4xf32>) -> tensor<2x4x4x4xf32>
    %34 = stablehlo.multiply %33, %cst_0 : tensor<2x4x4x4xf32>
    %35 = stablehlo.reshape %34 : (tensor<2x4x4x4xf32>) -> tensor<8x4x4xf32>
    %36 = stablehlo.slice %29 [1:2, 0:4, 0:2, 0:16] : (tensor<3x4x2x16xf32>) -> tensor<1x4x2x16xf32>
    %37 = stablehlo.reshape %36 : (tensor<1x4x2x16xf32>) -> tensor<4x8x4xf32>
    %38 = stablehlo.transpose %37, dims = [1, 0, 2] {result_layout = dense<[2, 0, 1]> : tensor<3xindex>, xla_shape = "f32[8,4,4]{2,0,1}"} : (tensor<4x8x4xf32>) -> tensor<8x4x4xf32>
    %39 = stablehlo.reshape %38 : (tensor<8x4x4xf32>) -> tensor<2x4x4x4xf32>
    %40 = stablehlo.transpose %39, dims = [0, 1, 3, 2] {result_layout = dense<[2, 3, 1, 0]> : tensor<4xindex>, xla_shape = "f32[2,4,4,4]{2,3,1,0}"} : (tensor<2x4x4x4xf32>) -> tensor<2x4x4x4xf32>
    %41 = stablehlo.multiply %40, %cst_0 : tensor<2x4x4x4xf32>
    %42 = stablehlo.reshape %41 : (tensor<2x4x4x4xf32>) -> tensor<8x4x4xf32>
    %43 = stablehlo.dot_general %35, %42, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x4x4xf32>, tensor<8x4x4xf32>) -> tensor<8x4x4xf32>
    %44 = stablehlo.reshape %43 : (tensor<8x4x4xf32>) -> tensor<2x4x4x4xf32>
    %45 = stablehlo.reduce(%44 init: %cst_6) applies stablehlo.maximum across dimensions = [3] : (tensor<2x4x4x4xf32>, tensor<f32>) -> tensor<2x4x4xf32>
    %46 = stablehlo.broadcast_in_dim %45, dims = [0, 1, 2] : (tensor<2x4x4xf32>) -> tensor<2x4x4x4xf32>
    %47 = stablehlo.subtract %44, %46 : tensor<2x4x4x4xf32>
    %48 = stablehlo.exponential %47 : tensor<2x4x4x4xf32>
    %49 = stablehlo.reduce(%48 init: %cst_7) applies stablehlo.add across dimensions = [3] : (tensor<2x4x4x4xf32>, tensor<f32>) -> tensor<2x4x4xf32>
    %50 = stablehlo.broadcast_in_dim %49, dims = [0, 1, 2] : (tensor<2x4x4xf32>) -> tensor<2x4x4x4xf32>
    %51 = stablehlo.divide %48, %50 : tensor<2x4x4x4xf32>
    %52 = stablehlo.reshape %51 : (tensor<2x4x4x4xf32>) -> tensor<8x4x4xf32>
    %53 = stablehlo.slice %29 [2:3, 0:4, 0:2, 0:16] : (tensor<3x4x2x16xf32>) -> tensor<1x4x2x16xf32>
    %54 = stablehlo.reshape %53 : (tensor<1x4x2x16xf32>) -> tensor<4x8x4xf32>
    %55 = stablehlo.transpose %54, dims = [1, 0, 2] {result_layout = dense<[2, 0, 1]> : tensor<3xindex>, xla_shape = "f32[8,4,4]{2,0,1}"} : (tensor<4x8x4xf32>) -> tensor<8x4x4xf32>
    %56 = stablehlo.dot_general %52, %55, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x4x4xf32>, tensor<8x4x4xf32>) -> tensor<8x4x4xf32>
    %57 = stablehlo.reshape %56 : (tensor<8x4x4xf32>) -> tensor<2x4x4x4xf32>
    %58 = stablehlo.transpose %57, dims = [2, 0, 1, 3] {result_layout = dense<[3, 0, 2, 1]> : tensor<4xindex>, xla_shape = "f32[4,2,4,4]{3,0,2,1}"} : (tensor<2x4x4x4xf32>) -> tensor<4x2x4x4xf32>
    %59 = stablehlo.reshape %58 : (tensor<4x2x4x4xf32>) -> tensor<8x16xf32>
    %60 = stablehlo.transpose %arg3, dims = [1, 0] {result_layout = dense<[0, 1]> : tensor<2xindex>, xla_shape = "f32[16,16]{0,1}"} : (tensor<16x16xf32>) -> tensor<16x16xf32>
    %61 = stablehlo.dot_general %59, %60, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x16xf32>, tensor<16x16xf32>) -> tensor<8x16xf32>
    %62 = stablehlo.broadcast_in_dim %arg2, dims = [1] : (tensor<16xf32>) -> tensor<8x16xf32>
    %63 = stablehlo.add %61, %62 : tensor<8x16xf32>
    %64 = stablehlo.reshape %63 : (tensor<8x16xf32>) -> tensor<4x2x16xf32>
    %65 = stablehlo.transpose %64, dims = [1, 0, 2] {result_layout = dense<[2, 0, 1]> : tensor<3xindex>, xla_shape = "f32[2,4,16]{2,0,1}"} : (tensor<4x2x16xf32>) -> tensor<2x4x16xf32>
    %66 = stablehlo.add %20, %65 : tensor<2x4x16xf32>
    %67 = stablehlo.reduce(%66 init: %cst_7) applies stablehlo.add across dimensions = [1] : (tensor<2x4x16xf32>, tensor<f32>) -> tensor<2x16xf32>
    %68 = stablehlo.multiply %67, %cst : tensor<2x16xf32>
    %69 = stablehlo.transpose %arg1, dims = [1, 0] {result_layout = dense<[0, 1]> : tensor<2xindex>, xla_shape = "f32[16,10]{0,1}"} : (tensor<10x16xf32>) -> tensor<16x10xf32>
    %70 = stablehlo.dot_general %68, %69, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x16xf32>, tensor<16x10xf32>) -> tensor<2x10xf32>
    %71 = stablehlo.broadcast_in_dim %arg0, dims = [1] : (tensor<10xf32>) -> tensor<2x10xf32>
    %72 = stablehlo.add %70, %71 : tensor<2x10xf32>
    %73 = stablehlo.reduce(%72 init: %cst_6) applies stablehlo.maximum across dimensions = [1] : (tensor<2x10xf32>, tensor<f32>) -> tensor<2xf32>
    %74 = stablehlo.broadcast_in_dim %73, dims = [0] : (tensor<2xf32>) -> tensor<2x10xf32>
    %75 = stablehlo.subtract %72, %74 : tensor<2x10xf32>
    %76 = stablehlo.exponential %75 : tensor<2x10xf32>
    %77 = stablehlo.reduce(%76 init: %cst_7) applies stablehlo.add across dimensions = [1] : (tensor<2x10xf32>, tensor<f32>) -> tensor<2xf32>
    %78 = stablehlo.log %77 : tensor<2xf32>
    %79 = stablehlo.broadcast_in_dim %78, dims = [0] : (tensor<2xf32>) -> tensor<2x10xf32>
    %80 = stablehlo.subtract %75, %79 : tensor<2x10xf32>
    return %80 : tensor<2x10xf32>
  }
}
