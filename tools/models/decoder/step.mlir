module @jit_step attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4x1024x256xf32> {tf.aliasing_output = 1 : i32}, %arg1: tensor<4x256xf32> {tf.aliasing_output = 2 : i32}, %arg2: tensor<4x256xf32> {tf.aliasing_output = 3 : i32}, %arg3: tensor<4x256x256xf32> {tf.aliasing_output = 4 : i32}, %arg4: tensor<4x256x768xf32> {tf.aliasing_output = 5 : i32}, %arg5: tensor<4x256x1024xf32> {tf.aliasing_output = 6 : i32}, %arg6: tensor<256x4096xf32> {tf.aliasing_output = 7 : i32}, %arg7: tensor<256xf32> {tf.aliasing_output = 8 : i32}, %arg8: tensor<128x256xf32> {tf.aliasing_output = 9 : i32}, %arg9: tensor<4096x256xf32> {tf.aliasing_output = 10 : i32}, %arg10: tensor<4x1024x256xf32> {tf.aliasing_output = 11 : i32}, %arg11: tensor<4x256xf32> {tf.aliasing_output = 12 : i32}, %arg12: tensor<4x256xf32> {tf.aliasing_output = 13 : i32}, %arg13: tensor<4x256x256xf32> {tf.aliasing_output = 14 : i32}, %arg14: tensor<4x256x768xf32> {tf.aliasing_output = 15 : i32}, %arg15: tensor<4x256x1024xf32> {tf.aliasing_output = 16 : i32}, %arg16: tensor<256x4096xf32> {tf.aliasing_output = 17 : i32}, %arg17: tensor<256xf32> {tf.aliasing_output = 18 : i32}, %arg18: tensor<128x256xf32> {tf.aliasing_output = 19 : i32}, %arg19: tensor<4096x256xf32> {tf.aliasing_output = 20 : i32}, %arg20: tensor<4x1024x256xf32> {tf.aliasing_output = 21 : i32}, %arg21: tensor<4x256xf32> {tf.aliasing_output = 22 : i32}, %arg22: tensor<4x256xf32> {tf.aliasing_output = 23 : i32}, %arg23: tensor<4x256x256xf32> {tf.aliasing_output = 24 : i32}, %arg24: tensor<4x256x768xf32> {tf.aliasing_output = 25 : i32}, %arg25: tensor<4x256x1024xf32> {tf.aliasing_output = 26 : i32}, %arg26: tensor<256x4096xf32> {tf.aliasing_output = 27 : i32}, %arg27: tensor<256xf32> {tf.aliasing_output = 28 : i32}, %arg28: tensor<128x256xf32> {tf.aliasing_output = 29 : i32}, %arg29: tensor<4096x256xf32> {tf.aliasing_output = 30 : i32}, %arg30: tensor<i32> {tf.aliasing_output = 31 : i32}, %arg31: tensor<8x129xi32>) -> (tensor<f32> {jax.result_info = "result[0]"}, tensor<4x1024x256xf32> {jax.result_info = "result[1]['layer.down']"}, tensor<4x256xf32> {jax.result_info = "result[1]['layer.norm1']"}, tensor<4x256xf32> {jax.result_info = "result[1]['layer.norm2']"}, tensor<4x256x256xf32> {jax.result_info = "result[1]['layer.out']"}, tensor<4x256x768xf32> {jax.result_info = "result[1]['layer.qkv']"}, tensor<4x256x1024xf32> {jax.result_info = "result[1]['layer.up']"}, tensor<256x4096xf32> {jax.result_info = "result[1]['logits']"}, tensor<256xf32> {jax.result_info = "result[1]['norm']"}, tensor<128x256xf32> {jax.result_info = "result[1]['positions']"}, tensor<4096x256xf32> {jax.result_info = "result[1]['tokens']"}, tensor<4x1024x256xf32> {jax.result_info = "result[2]['layer.down']"}, tensor<4x256xf32> {jax.result_info = "result[2]['layer.norm1']"}, tensor<4x256xf32> {jax.result_info = "result[2]['layer.norm2']"}, tensor<4x256x256xf32> {jax.result_info = "result[2]['layer.out']"}, tensor<4x256x768xf32> {jax.result_info = "result[2]['layer.qkv']"}, tensor<4x256x1024xf32> {jax.result_info = "result[2]['layer.up']"}, tensor<256x4096xf32> {jax.result_info = "result[2]['logits']"}, tensor<256xf32> {jax.result_info = "result[2]['norm']"}, tensor<128x256xf32> {jax.result_info = "result[2]['positions']"}, tensor<4096x256xf32> {jax.result_info = "result[2]['tokens']"}, tensor<4x1024x256xf32> {jax.result_info = "result[3]['layer.down']"}, tensor<4x256xf32> {jax.result_info = "result[3]['layer.norm1']"}, tensor<4x256xf32> {jax.result_info = "result[3]['layer.norm2']"}, tensor<4x256x256xf32> {jax.result_info = "result[3]['layer.out']"}, tensor<4x256x768xf32> {jax.result_info = "result[3]['layer.qkv']"}, tensor<4x256x1024xf32> {jax.result_info = "result[3]['layer.up']"}, tensor<256x4096xf32> {jax.result_info = "result[3]['logits']"}, tensor<256xf32> {jax.result_info = "result[3]['norm']"}, tensor<128x256xf32> {jax.result_info = "result[3]['positions']"}, tensor<4096x256xf32> {jax.result_info = "result[3]['tokens']"}, tensor<i32> {jax.result_info = "result[4]"}) {
    %0 = stablehlo.slice %arg31 [0:8, 0:128] : (tensor<8x129xi32>) -> tensor<8x128xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<8x128xi32>
    %2 = stablehlo.compare LT, %0, %1, SIGNED : (tensor<8x128xi32>, tensor<8x128xi32>) -> tensor<8x128xi1>
    %c_0 = stablehlo.constant dense<4096> : tensor<i32>
    %3 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<8x128xi32>
    %4 = stablehlo.add %0, %3 : tensor<8x128xi32>
    %5 = stablehlo.select %2, %4, %0 : tensor<8x128xi1>, tensor<8x128xi32>
    %6 = stablehlo.broadcast_in_dim %5, dims = [0, 1] : (tensor<8x128xi32>) -> tensor<8x128x1xi32>
    %7 = "stablehlo.gather"(%arg9, %6) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 256>}> : (tensor<4096x256xf32>, tensor<8x128x1xi32>) -> tensor<8x128x256xf32>
    %8 = stablehlo.broadcast_in_dim %arg8, dims = [1, 2] : (tensor<128x256xf32>) -> tensor<1x128x256xf32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1, 2] : (tensor<1x128x256xf32>) -> tensor<8x128x256xf32>
    %10 = stablehlo.add %7, %9 : tensor<8x128x256xf32>
    %11 = stablehlo.iota dim = 0 : tensor<128x128xi32>
    %12 = stablehlo.iota dim = 1 : tensor<128x128xi32>
    %13 = stablehlo.compare GE, %11, %12, SIGNED : (tensor<128x128xi32>, tensor<128x128xi32>) -> tensor<128x128xi1>
    %cst = stablehlo.constant dense<-1.000000e+30> : tensor<f32>
    %14:2 = call @_where(%13, %cst) : (tensor<128x128xi1>, tensor<f32>) -> (tensor<8x8x128x128xi1>, tensor<8x8x128x128xf32>)
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %15 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<4x8x128x256xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %16 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<4x8x128x1xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %17 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<4x8x128x1xf32>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %18 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<4x8x128x256xf32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %19 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<4x1x1x256xf32>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %20 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<4x8x128x256xf32>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %21 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<4x8x128x256xf32>
    %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %22 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<4x8x128x8x32xf32>
    %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %23 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<4x8x128x8x32xf32>
    %cst_10 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %24 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<4x8x8x128x128xf32>
    %cst_11 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %25 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<4x8x8x128x1xf32>
    %cst_12 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %26 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<4x8x8x128x1xf32>
    %cst_13 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %27 = stablehlo.broadcast_in_dim %cst_13, dims = [] : (tensor<f32>) -> tensor<4x8x8x128x128xf32>
    %cst_14 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %28 = stablehlo.broadcast_in_dim %cst_14, dims = [] : (tensor<f32>) -> tensor<4x8x128x8x32xf32>
    %cst_15 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %29 = stablehlo.broadcast_in_dim %cst_15, dims = [] : (tensor<f32>) -> tensor<4x8x128x256xf32>
    %cst_16 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %30 = stablehlo.broadcast_in_dim %cst_16, dims = [] : (tensor<f32>) -> tensor<4x8x128x256xf32>
    %cst_17 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %31 = stablehlo.broadcast_in_dim %cst_17, dims = [] : (tensor<f32>) -> tensor<4x8x128x1xf32>
    %cst_18 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %32 = stablehlo.broadcast_in_dim %cst_18, dims = [] : (tensor<f32>) -> tensor<4x8x128x1xf32>
    %cst_19 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %33 = stablehlo.broadcast_in_dim %cst_19, dims = [] : (tensor<f32>) -> tensor<4x8x128x256xf32>
    %cst_20 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %34 = stablehlo.broadcast_in_dim %cst_20, dims = [] : (tensor<f32>) -> tensor<4x1x1x256xf32>
    %cst_21 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %35 = stablehlo.broadcast_in_dim %cst_21, dims = [] : (tensor<f32>) -> tensor<4x8x128x256xf32>
    %cst_22 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %36 = stablehlo.broadcast_in_dim %cst_22, dims = [] : (tensor<f32>) -> tensor<4x8x128x256xf32>
    %cst_23 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %37 = stablehlo.broadcast_in_dim %cst_23, dims = [] : (tensor<f32>) -> tensor<4x8x128x1024xf32>
    %cst_24 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %38 = stablehlo.broadcast_in_dim %cst_24, dims = [] : (tensor<f32>) -> tensor<4x8x128x1024xf32>
    %cst_25 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %39 = stablehlo.broadcast_in_dim %cst_25, dims = [] : (tensor<f32>) -> tensor<4x8x128x1024xf32>
    %cst_26 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %40 = stablehlo.broadcast_in_dim %cst_26, dims = [] : (tensor<f32>) -> tensor<4x8x128x1024xf32>
    %cst_27 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %41 = stablehlo.broadcast_in_dim %cst_27, dims = [] : (tensor<f32>) -> tensor<4x8x128x1024xf32>
    %cst_28 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %42 = stablehlo.broadcast_in_dim %cst_28, dims = [] : (tensor<f32>) -> tensor<4x8x128x1024xf32>
    %c_29 = stablehlo.constant dense<0> : tensor<i32>
    %43:38 = stablehlo.while(%iterArg = %arg0, %iterArg_116 = %arg1, %iterArg_117 = %arg2, %iterArg_118 = %arg3, %iterArg_119 = %arg4, %iterArg_120 = %arg5, %iterArg_121 = %14#0, %iterArg_122 = %14#1, %iterArg_123 = %c_29, %iterArg_124 = %10, %iterArg_125 = %15, %iterArg_126 = %16, %iterArg_127 = %17, %iterArg_128 = %18, %iterArg_129 = %19, %iterArg_130 = %20, %iterArg_131 = %21, %iterArg_132 = %22, %iterArg_133 = %23, %iterArg_134 = %24, %iterArg_135 = %25, %iterArg_136 = %26, %iterArg_137 = %27, %iterArg_138 = %28, %iterArg_139 = %29, %iterArg_140 = %30, %iterArg_141 = %31, %iterArg_142 = %32, %iterArg_143 = %33, %iterArg_144 = %34, %iterArg_145 = %35, %iterArg_146 = %36, %iterArg_147 = %37, %iterArg_148 = %38, %iterArg_149 = %39, %iterArg_150 = %40, %iterArg_151 = %41, %iterArg_152 = %42) : tensor<4x1024x256xf32>, tensor<4x256xf32>, tensor<4x256xf32>, tensor<4x256x256xf32>, tensor<4x256x768xf32>, tensor<4x256x1024xf32>, tensor<8x8x128x128xi1>, tensor<8x8x128x128xf32>, tensor<i32>, tensor<8x128x256xf32>, tensor<4x8x128x256xf32>, tensor<4x8x128x1xf32>, tensor<4x8x128x1xf32>, tensor<4x8x128x256xf32>, tensor<4x1x1x256xf32>, tensor<4x8x128x256xf32>, tensor<4x8x128x256xf32>, tensor<4x8x128x8x32xf32>, tensor<4x8x128x8x32xf32>, tensor<4x8x8x128x128xf32>, tensor<4x8x8x128x1xf32>, tensor<4x8x8x128x1xf32>, tensor<4x8x8x128x128xf32>, tensor<4x8x128x8x32xf32>, tensor<4x8x128x256xf32>, tensor<4x8x128x256xf32>, tensor<4x8x128x1xf32>, tensor<4x8x128x1xf32>, tensor<4x8x128x256xf32>, tensor<4x1x1x256xf32>, tensor<4x8x128x256xf32>, tensor<4x8x128x256xf32>, tensor<4x8x128x1024xf32>, tensor<4x8x128x1024xf32>, tensor<4x8x128x1024xf32>, tensor<4x8x128x1024xf32>, tensor<4x8x128x1024xf32>, tensor<4x8x128x1024xf32>
    cond {
      %c_153 = stablehlo.constant dense<4> : tensor<i32>
      %317 = stablehlo.compare LT, %iterArg_123, %c_153, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %317 : tensor<i1>
    } do {
      %317 = func.call @dynamic_index_in_dim(%iterArg, %iterArg_123) : (tensor<4x1024x256xf32>, tensor<i32>) -> tensor<1024x256xf32>
      %318 = func.call @dynamic_index_in_dim_0(%iterArg_116, %iterArg_123) : (tensor<4x256xf32>, tensor<i32>) -> tensor<256xf32>
      %319 = func.call @dynamic_index_in_dim_0(%iterArg_117, %iterArg_123) : (tensor<4x256xf32>, tensor<i32>) -> tensor<256xf32>
      %320 = func.call @dynamic_index_in_dim_1(%iterArg_118, %iterArg_123) : (tensor<4x256x256xf32>, tensor<i32>) -> tensor<256x256xf32>
      %321 = func.call @dynamic_index_in_dim_2(%iterArg_119, %iterArg_123) : (tensor<4x256x768xf32>, tensor<i32>) -> tensor<256x768xf32>
      %322 = func.call @dynamic_index_in_dim_3(%iterArg_120, %iterArg_123) : (tensor<4x256x1024xf32>, tensor<i32>) -> tensor<256x1024xf32>
      %323:29 = func.call @closed_call(%iterArg_121, %iterArg_122, %iterArg_124, %317, %318, %319, %320, %321, %322) : (tensor<8x8x128x128xi1>, tensor<8x8x128x128xf32>, tensor<8x128x256xf32>, tensor<1024x256xf32>, tensor<256xf32>, tensor<256xf32>, tensor<256x256xf32>, tensor<256x768xf32>, tensor<256x1024xf32>) -> (tensor<8x128x256xf32>, tensor<8x128x256xf32>, tensor<8x128x1xf32>, tensor<8x128x1xf32>, tensor<8x128x256xf32>, tensor<1x1x256xf32>, tensor<8x128x256xf32>, tensor<8x128x256xf32>, tensor<8x128x8x32xf32>, tensor<8x128x8x32xf32>, tensor<8x8x128x128xf32>, tensor<8x8x128x1xf32>, tensor<8x8x128x1xf32>, tensor<8x8x128x128xf32>, tensor<8x128x8x32xf32>, tensor<8x128x256xf32>, tensor<8x128x256xf32>, tensor<8x128x1xf32>, tensor<8x128x1xf32>, tensor<8x128x256xf32>, tensor<1x1x256xf32>, tensor<8x128x256xf32>, tensor<8x128x256xf32>, tensor<8x128x1024xf32>, tensor<8x128x1024xf32>, tensor<8x128x1024xf32>, tensor<8x128x1024xf32>, tensor<8x128x1024xf32>, tensor<8x128x1024xf32>)
      %324 = func.call @dynamic_update_index_in_dim(%iterArg_125, %323#1, %iterArg_123) : (tensor<4x8x128x256xf32>, tensor<8x128x256xf32>, tensor<i32>) -> tensor<4x8x128x256xf32>
      %325 = func.call @dynamic_update_index_in_dim_5(%iterArg_126, %323#2, %iterArg_123) : (tensor<4x8x128x1xf32>, tensor<8x128x1xf32>, tensor<i32>) -> tensor<4x8x128x1xf32>
      %326 = func.call @dynamic_update_index_in_dim_5(%iterArg_127, %323#3, %iterArg_123) : (tensor<4x8x128x1xf32>, tensor<8x128x1xf32>, tensor<i32>) -> tensor<4x8x128x1xf32>
      %327 = func.call @dynamic_update_index_in_dim(%iterArg_128, %323#4, %iterArg_123) : (tensor<4x8x128x256xf32>, tensor<8x128x256xf32>, tensor<i32>) -> tensor<4x8x128x256xf32>
      %328 = func.call @dynamic_update_index_in_dim_6(%iterArg_129, %323#5, %iterArg_123) : (tensor<4x1x1x256xf32>, tensor<1x1x256xf32>, tensor<i32>) -> tensor<4x1x1x256xf32>
      %329 = func.call @dynamic_update_index_in_dim(%iterArg_130, %323#6, %iterArg_123) : (tensor<4x8x128x256xf32>, tensor<8x128x256xf32>, tensor<i32>) -> tensor<4x8x128x256xf32>
      %330 = func.call @dynamic_update_index_in_dim(%iterArg_131, %323#7, %iterArg_123) : (tensor<4x8x128x256xf32>, tensor<8x128x256xf32>, tensor<i32>) -> tensor<4x8x128x256xf32>
      %331 = func.call @dynamic_update_index_in_dim_7(%iterArg_132, %323#8, %iterArg_123) : (tensor<4x8x128x8x32xf32>, tensor<8x128x8x32xf32>, tensor<i32>) -> tensor<4x8x128x8x32xf32>
      %332 = func.call @dynamic_update_index_in_dim_7(%iterArg_133, %323#9, %iterArg_123) : (tensor<4x8x128x8x32xf32>, tensor<8x128x8x32xf32>, tensor<i32>) -> tensor<4x8x128x8x32xf32>
      %333 = func.call @dynamic_update_index_in_dim_8(%iterArg_134, %323#10, %iterArg_123) : (tensor<4x8x8x128x128xf32>, tensor<8x8x128x128xf32>, tensor<i32>) -> tensor<4x8x8x128x128xf32>
      %334 = func.call @dynamic_update_index_in_dim_9(%iterArg_135, %323#11, %iterArg_123) : (tensor<4x8x8x128x1xf32>, tensor<8x8x128x1xf32>, tensor<i32>) -> tensor<4x8x8x128x1xf32>
      %335 = func.call @dynamic_update_index_in_dim_9(%iterArg_136, %323#12, %iterArg_123) : (tensor<4x8x8x128x1xf32>, tensor<8x8x128x1xf32>, tensor<i32>) -> tensor<4x8x8x128x1xf32>
      %336 = func.call @dynamic_update_index_in_dim_8(%iterArg_137, %323#13, %iterArg_123) : (tensor<4x8x8x128x128xf32>, tensor<8x8x128x128xf32>, tensor<i32>) -> tensor<4x8x8x128x128xf32>
      %337 = func.call @dynamic_update_index_in_dim_7(%iterArg_138, %323#14, %iterArg_123) : (tensor<4x8x128x8x32xf32>, tensor<8x128x8x32xf32>, tensor<i32>) -> tensor<4x8x128x8x32xf32>
      %338 = func.call @dynamic_update_index_in_dim(%iterArg_139, %323#15, %iterArg_123) : (tensor<4x8x128x256xf32>, tensor<8x128x256xf32>, tensor<i32>) -> tensor<4x8x128x256xf32>
      %339 = func.call @dynamic_update_index_in_dim(%iterArg_140, %323#16, %iterArg_123) : (tensor<4x8x128x256xf32>, tensor<8x128x256xf32>, tensor<i32>) -> tensor<4x8x128x256xf32>
      %340 = func.call @dynamic_update_index_in_dim_5(%iterArg_141, %323#17, %iterArg_123) : (tensor<4x8x128x1xf32>, tensor<8x128x1xf32>, tensor<i32>) -> tensor<4x8x128x1xf32>
      %341 = func.call @dynamic_update_index_in_dim_5(%iterArg_142, %323#18, %iterArg_123) : (tensor<4x8x128x1xf32>, tensor<8x128x1xf32>, tensor<i32>) -> tensor<4x8x128x1xf32>
      %342 = func.call @dynamic_update_index_in_dim(%iterArg_143, %323#19, %iterArg_123) : (tensor<4x8x128x256xf32>, tensor<8x128x256xf32>, tensor<i32>) -> tensor<4x8x128x256xf32>
      %343 = func.call @dynamic_update_index_in_dim_6(%iterArg_144, %323#20, %iterArg_123) : (tensor<4x1x1x256xf32>, tensor<1x1x256xf32>, tensor<i32>) -> tensor<4x1x1x256xf32>
      %344 = func.call @dynamic_update_index_in_dim(%iterArg_145, %323#21, %iterArg_123) : (tensor<4x8x128x256xf32>, tensor<8x128x256xf32>, tensor<i32>) -> tensor<4x8x128x256xf32>
      %345 = func.call @dynamic_update_index_in_dim(%iterArg_146, %323#22, %iterArg_123) : (tensor<4x8x128x256xf32>, tensor<8x128x256xf32>, tensor<i32>) -> tensor<4x8x128x256xf32>
      %346 = func.call @dynamic_update_index_in_dim_10(%iterArg_147, %323#23, %iterArg_123) : (tensor<4x8x128x1024xf32>, tensor<8x128x1024xf32>, tensor<i32>) -> tensor<4x8x128x1024xf32>
      %347 = func.call @dynamic_update_index_in_dim_10(%iterArg_148, %323#24, %iterArg_123) : (tensor<4x8x128x1024xf32>, tensor<8x128x1024xf32>, tensor<i32>) -> tensor<4x8x128x1024xf32>
      %348 = func.call @dynamic_update_index_in_dim_10(%iterArg_149, %323#25, %iterArg_123) : (tensor<4x8x128x1024xf32>, tensor<8x128x1024xf32>, tensor<i32>) -> tensor<4x8x128x1024xf32>
      %349 = func.call @dynamic_update_index_in_dim_10(%iterArg_150, %323#26, %iterArg_123) : (tensor<4x8x128x1024xf32>, tensor<8x128x1024xf32>, tensor<i32>) -> tensor<4x8x128x1024xf32>
      %350 = func.call @dynamic_update_index_in_dim_10(%iterArg_151, %323#27, %iterArg_123) : (tensor<4x8x128x1024xf32>, tensor<8x128x1024xf32>, tensor<i32>) -> tensor<4x8x128x1024xf32>
      %351 = func.call @dynamic_update_index_in_dim_10(%iterArg_152, %323#28, %iterArg_123) : (tensor<4x8x128x1024xf32>, tensor<8x128x1024xf32>, tensor<i32>) -> tensor<4x8x128x1024xf32>
      %c_153 = stablehlo.constant dense<1> : tensor<i32>
      %352 = stablehlo.add %iterArg_123, %c_153 : tensor<i32>
      stablehlo.return %iterArg, %iterArg_116, %iterArg_117, %iterArg_118, %iterArg_119, %iterArg_120, %iterArg_121, %iterArg_122, %352, %323#0, %324, %325, %326, %327, %328, %329, %330, %331, %332, %333, %334, %335, %336, %337, %338, %339, %340, %341, %342, %343, %344, %345, %346, %347, %348, %349, %350, %351 : tensor<4x1024x256xf32>, tensor<4x256xf32>, tensor<4x256xf32>, tensor<4x256x256xf32>, tensor<4x256x768xf32>, tensor<4x256x1024xf32>, tensor<8x8x128x128xi1>, tensor<8x8x128x128xf32>, tensor<i32>, tensor<8x128x256xf32>, tensor<4x8x128x256xf32>, tensor<4x8x128x1xf32>, tensor<4x8x128x1xf32>, tensor<4x8x128x256xf32>, tensor<4x1x1x256xf32>, tensor<4x8x128x256xf32>, tensor<4x8x128x256xf32>, tensor<4x8x128x8x32xf32>, tensor<4x8x128x8x32xf32>, tensor<4x8x8x128x128xf32>, tensor<4x8x8x128x1xf32>, tensor<4x8x8x128x1xf32>, tensor<4x8x8x128x128xf32>, tensor<4x8x128x8x32xf32>, tensor<4x8x128x256xf32>, tensor<4x8x128x256xf32>, tensor<4x8x128x1xf32>, tensor<4x8x128x1xf32>, tensor<4x8x128x256xf32>, tensor<4x1x1x256xf32>, tensor<4x8x128x256xf32>, tensor<4x8x128x256xf32>, tensor<4x8x128x1024xf32>, tensor<4x8x128x1024xf32>, tensor<4x8x128x1024xf32>, tensor<4x8x128x1024xf32>, tensor<4x8x128x1024xf32>, tensor<4x8x128x1024xf32>
    }
    %cst_30 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %44 = stablehlo.reduce(%43#9 init: %cst_30) applies stablehlo.add across dimensions = [2] : (tensor<8x128x256xf32>, tensor<f32>) -> tensor<8x128xf32>
    %45 = stablehlo.broadcast_in_dim %44, dims = [0, 1] : (tensor<8x128xf32>) -> tensor<8x128x1xf32>
    %cst_31 = stablehlo.constant dense<2.560000e+02> : tensor<f32>
    %46 = stablehlo.broadcast_in_dim %cst_31, dims = [] : (tensor<f32>) -> tensor<8x128x1xf32>
    %47 = stablehlo.divide %45, %46 : tensor<8x128x1xf32>
    %48 = stablehlo.broadcast_in_dim %47, dims = [0, 1, 2] : (tensor<8x128x1xf32>) -> tensor<8x128x256xf32>
    %49 = stablehlo.subtract %43#9, %48 : tensor<8x128x256xf32>
    %50 = chlo.square %49 : tensor<8x128x256xf32> -> tensor<8x128x256xf32>
    %cst_32 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %51 = stablehlo.broadcast_in_dim %cst_32, dims = [] : (tensor<f32>) -> tensor<8x128x256xf32>
    %52 = stablehlo.multiply %51, %49 : tensor<8x128x256xf32>
    %cst_33 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %53 = stablehlo.reduce(%50 init: %cst_33) applies stablehlo.add across dimensions = [2] : (tensor<8x128x256xf32>, tensor<f32>) -> tensor<8x128xf32>
    %54 = stablehlo.broadcast_in_dim %53, dims = [0, 1] : (tensor<8x128xf32>) -> tensor<8x128x1xf32>
    %cst_34 = stablehlo.constant dense<2.560000e+02> : tensor<f32>
    %55 = stablehlo.broadcast_in_dim %cst_34, dims = [] : (tensor<f32>) -> tensor<8x128x1xf32>
    %56 = stablehlo.divide %54, %55 : tensor<8x128x1xf32>
    %57 = stablehlo.broadcast_in_dim %47, dims = [0, 1, 2] : (tensor<8x128x1xf32>) -> tensor<8x128x256xf32>
    %58 = stablehlo.subtract %43#9, %57 : tensor<8x128x256xf32>
    %cst_35 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %59 = stablehlo.broadcast_in_dim %cst_35, dims = [] : (tensor<f32>) -> tensor<8x128x1xf32>
    %60 = stablehlo.add %56, %59 : tensor<8x128x1xf32>
    %61 = stablehlo.rsqrt %60 : tensor<8x128x1xf32>
    %62 = stablehlo.divide %61, %60 : tensor<8x128x1xf32>
    %cst_36 = stablehlo.constant dense<-5.000000e-01> : tensor<f32>
    %63 = stablehlo.broadcast_in_dim %cst_36, dims = [] : (tensor<f32>) -> tensor<8x128x1xf32>
    %64 = stablehlo.multiply %63, %62 : tensor<8x128x1xf32>
    %65 = stablehlo.broadcast_in_dim %61, dims = [0, 1, 2] : (tensor<8x128x1xf32>) -> tensor<8x128x256xf32>
    %66 = stablehlo.multiply %58, %65 : tensor<8x128x256xf32>
    %67 = stablehlo.broadcast_in_dim %arg7, dims = [2] : (tensor<256xf32>) -> tensor<1x1x256xf32>
    %68 = stablehlo.broadcast_in_dim %67, dims = [0, 1, 2] : (tensor<1x1x256xf32>) -> tensor<8x128x256xf32>
    %69 = stablehlo.multiply %66, %68 : tensor<8x128x256xf32>
    %70 = stablehlo.dot_general %69, %arg6, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x128x256xf32>, tensor<256x4096xf32>) -> tensor<8x128x4096xf32>
    %71:3 = call @log_softmax(%70) : (tensor<8x128x4096xf32>) -> (tensor<8x128x4096xf32>, tensor<8x128x4096xf32>, tensor<8x128x1xf32>)
    %72 = stablehlo.slice %arg31 [0:8, 1:129] : (tensor<8x129xi32>) -> tensor<8x128xi32>
    %73 = stablehlo.broadcast_in_dim %72, dims = [0, 1] : (tensor<8x128xi32>) -> tensor<8x128x1xi32>
    %74:2 = call @take_along_axis(%71#0, %73) : (tensor<8x128x4096xf32>, tensor<8x128x1xi32>) -> (tensor<8x128x1xf32>, tensor<8x128x1x1xi32>)
    %cst_37 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %75 = stablehlo.reduce(%74#0 init: %cst_37) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<8x128x1xf32>, tensor<f32>) -> tensor<f32>
    %cst_38 = stablehlo.constant dense<1.024000e+03> : tensor<f32>
    %76 = stablehlo.divide %75, %cst_38 : tensor<f32>
    %77 = stablehlo.negate %76 : tensor<f32>
    %cst_39 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %78 = stablehlo.negate %cst_39 : tensor<f32>
    %cst_40 = stablehlo.constant dense<1.024000e+03> : tensor<f32>
    %79 = stablehlo.divide %78, %cst_40 : tensor<f32>
    %80 = stablehlo.broadcast_in_dim %79, dims = [] : (tensor<f32>) -> tensor<8x128x1xf32>
    %81 = call @take_along_axis_11(%74#1, %80) : (tensor<8x128x1x1xi32>, tensor<8x128x1xf32>) -> tensor<8x128x4096xf32>
    %82 = call @log_softmax_12(%71#1, %71#2, %81) : (tensor<8x128x4096xf32>, tensor<8x128x1xf32>, tensor<8x128x4096xf32>) -> tensor<8x128x4096xf32>
    %83 = stablehlo.dot_general %82, %69, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x128x4096xf32>, tensor<8x128x256xf32>) -> tensor<4096x256xf32>
    %84 = stablehlo.transpose %83, dims = [1, 0] : (tensor<4096x256xf32>) -> tensor<256x4096xf32>
    %85 = stablehlo.dot_general %82, %arg6, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x128x4096xf32>, tensor<256x4096xf32>) -> tensor<8x128x256xf32>
    %86 = stablehlo.multiply %66, %85 : tensor<8x128x256xf32>
    %cst_41 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %87 = stablehlo.reduce(%86 init: %cst_41) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x128x256xf32>, tensor<f32>) -> tensor<256xf32>
    %88 = stablehlo.reshape %87 : (tensor<256xf32>) -> tensor<1x1x256xf32>
    %89 = stablehlo.broadcast_in_dim %67, dims = [0, 1, 2] : (tensor<1x1x256xf32>) -> tensor<8x128x256xf32>
    %90 = stablehlo.multiply %85, %89 : tensor<8x128x256xf32>
    %cst_42 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %91 = stablehlo.reduce(%88 init: %cst_42) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x256xf32>, tensor<f32>) -> tensor<256xf32>
    %92 = stablehlo.multiply %58, %90 : tensor<8x128x256xf32>
    %cst_43 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %93 = stablehlo.reduce(%92 init: %cst_43) applies stablehlo.add across dimensions = [2] : (tensor<8x128x256xf32>, tensor<f32>) -> tensor<8x128xf32>
    %94 = stablehlo.reshape %93 : (tensor<8x128xf32>) -> tensor<8x128x1xf32>
    %95 = stablehlo.broadcast_in_dim %61, dims = [0, 1, 2] : (tensor<8x128x1xf32>) -> tensor<8x128x256xf32>
    %96 = stablehlo.multiply %90, %95 : tensor<8x128x256xf32>
    %97 = stablehlo.multiply %94, %64 : tensor<8x128x1xf32>
    %98 = stablehlo.negate %96 : tensor<8x128x256xf32>
    %cst_44 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %99 = stablehlo.reduce(%98 init: %cst_44) applies stablehlo.add across dimensions = [2] : (tensor<8x128x256xf32>, tensor<f32>) -> tensor<8x128xf32>
    %100 = stablehlo.reshape %99 : (tensor<8x128xf32>) -> tensor<8x128x1xf32>
    %cst_45 = stablehlo.constant dense<2.560000e+02> : tensor<f32>
    %101 = stablehlo.broadcast_in_dim %cst_45, dims = [] : (tensor<f32>) -> tensor<8x128x1xf32>
    %102 = stablehlo.divide %97, %101 : tensor<8x128x1xf32>
    %cst_46 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %103 = stablehlo.reduce(%102 init: %cst_46) applies stablehlo.add across dimensions = [2] : (tensor<8x128x1xf32>, tensor<f32>) -> tensor<8x128xf32>
    %104 = stablehlo.broadcast_in_dim %103, dims = [0, 1] : (tensor<8x128xf32>) -> tensor<8x128x256xf32>
    %105 = stablehlo.multiply %104, %52 : tensor<8x128x256xf32>
    %106 = stablehlo.negate %105 : tensor<8x128x256xf32>
    %cst_47 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %107 = stablehlo.reduce(%106 init: %cst_47) applies stablehlo.add across dimensions = [2] : (tensor<8x128x256xf32>, tensor<f32>) -> tensor<8x128xf32>
    %108 = stablehlo.reshape %107 : (tensor<8x128xf32>) -> tensor<8x128x1xf32>
    %109 = stablehlo.add %96, %105 : tensor<8x128x256xf32>
    %110 = stablehlo.add %100, %108 : tensor<8x128x1xf32>
    %cst_48 = stablehlo.constant dense<2.560000e+02> : tensor<f32>
    %111 = stablehlo.broadcast_in_dim %cst_48, dims = [] : (tensor<f32>) -> tensor<8x128x1xf32>
    %112 = stablehlo.divide %110, %111 : tensor<8x128x1xf32>
    %cst_49 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %113 = stablehlo.reduce(%112 init: %cst_49) applies stablehlo.add across dimensions = [2] : (tensor<8x128x1xf32>, tensor<f32>) -> tensor<8x128xf32>
    %114 = stablehlo.broadcast_in_dim %113, dims = [0, 1] : (tensor<8x128xf32>) -> tensor<8x128x256xf32>
    %115 = stablehlo.add %109, %114 : tensor<8x128x256xf32>
    %cst_50 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %116 = stablehlo.broadcast_in_dim %cst_50, dims = [] : (tensor<f32>) -> tensor<4x1024x256xf32>
    %cst_51 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %117 = stablehlo.broadcast_in_dim %cst_51, dims = [] : (tensor<f32>) -> tensor<4x256xf32>
    %cst_52 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %118 = stablehlo.broadcast_in_dim %cst_52, dims = [] : (tensor<f32>) -> tensor<4x256xf32>
    %cst_53 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %119 = stablehlo.broadcast_in_dim %cst_53, dims = [] : (tensor<f32>) -> tensor<4x256x256xf32>
    %cst_54 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %120 = stablehlo.broadcast_in_dim %cst_54, dims = [] : (tensor<f32>) -> tensor<4x256x768xf32>
    %cst_55 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %121 = stablehlo.broadcast_in_dim %cst_55, dims = [] : (tensor<f32>) -> tensor<4x256x1024xf32>
    %c_56 = stablehlo.constant dense<0> : tensor<i32>
    %122:41 = stablehlo.while(%iterArg = %43#10, %iterArg_116 = %43#11, %iterArg_117 = %43#12, %iterArg_118 = %43#13, %iterArg_119 = %43#14, %iterArg_120 = %43#15, %iterArg_121 = %arg4, %iterArg_122 = %43#16, %iterArg_123 = %43#17, %iterArg_124 = %43#18, %iterArg_125 = %43#19, %iterArg_126 = %43#20, %iterArg_127 = %43#21, %iterArg_128 = %43#22, %iterArg_129 = %43#23, %iterArg_130 = %arg3, %iterArg_131 = %43#24, %iterArg_132 = %43#25, %iterArg_133 = %43#26, %iterArg_134 = %43#27, %iterArg_135 = %43#28, %iterArg_136 = %43#29, %iterArg_137 = %43#30, %iterArg_138 = %arg5, %iterArg_139 = %43#31, %iterArg_140 = %43#32, %iterArg_141 = %43#33, %iterArg_142 = %43#34, %iterArg_143 = %43#35, %iterArg_144 = %43#36, %iterArg_145 = %arg0, %iterArg_146 = %43#37, %iterArg_147 = %14#0, %iterArg_148 = %c_56, %iterArg_149 = %115, %iterArg_150 = %116, %iterArg_151 = %117, %iterArg_152 = %118, %iterArg_153 = %119, %iterArg_154 = %120, %iterArg_155 = %121) : tensor<4x8x128x256xf32>, tensor<4x8x128x1xf32>, tensor<4x8x128x1xf32>, tensor<4x8x128x256xf32>, tensor<4x1x1x256xf32>, tensor<4x8x128x256xf32>, tensor<4x256x768xf32>, tensor<4x8x128x256xf32>, tensor<4x8x128x8x32xf32>, tensor<4x8x128x8x32xf32>, tensor<4x8x8x128x128xf32>, tensor<4x8x8x128x1xf32>, tensor<4x8x8x128x1xf32>, tensor<4x8x8x128x128xf32>, tensor<4x8x128x8x32xf32>, tensor<4x256x256xf32>, tensor<4x8x128x256xf32>, tensor<4x8x128x256xf32>, tensor<4x8x128x1xf32>, tensor<4x8x128x1xf32>, tensor<4x8x128x256xf32>, tensor<4x1x1x256xf32>, tensor<4x8x128x256xf32>, tensor<4x256x1024xf32>, tensor<4x8x128x256xf32>, tensor<4x8x128x1024xf32>, tensor<4x8x128x1024xf32>, tensor<4x8x128x1024xf32>, tensor<4x8x128x1024xf32>, tensor<4x8x128x1024xf32>, tensor<4x1024x256xf32>, tensor<4x8x128x1024xf32>, tensor<8x8x128x128xi1>, tensor<i32>, tensor<8x128x256xf32>, tensor<4x1024x256xf32>, tensor<4x256xf32>, tensor<4x256xf32>, tensor<4x256x256xf32>, tensor<4x256x768xf32>, tensor<4x256x1024xf32>
    cond {
      %c_156 = stablehlo.constant dense<4> : tensor<i32>
      %317 = stablehlo.compare LT, %iterArg_148, %c_156, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %317 : tensor<i1>
    } do {
      %c_156 = stablehlo.constant dense<4> : tensor<i32>
      %317 = stablehlo.subtract %c_156, %iterArg_148 : tensor<i32>
      %c_157 = stablehlo.constant dense<1> : tensor<i32>
      %318 = stablehlo.subtract %317, %c_157 : tensor<i32>
      %319 = func.call @dynamic_index_in_dim_13(%iterArg, %318) : (tensor<4x8x128x256xf32>, tensor<i32>) -> tensor<8x128x256xf32>
      %320 = func.call @dynamic_index_in_dim_14(%iterArg_116, %318) : (tensor<4x8x128x1xf32>, tensor<i32>) -> tensor<8x128x1xf32>
      %321 = func.call @dynamic_index_in_dim_14(%iterArg_117, %318) : (tensor<4x8x128x1xf32>, tensor<i32>) -> tensor<8x128x1xf32>
      %322 = func.call @dynamic_index_in_dim_13(%iterArg_118, %318) : (tensor<4x8x128x256xf32>, tensor<i32>) -> tensor<8x128x256xf32>
      %323 = func.call @dynamic_index_in_dim_15(%iterArg_119, %318) : (tensor<4x1x1x256xf32>, tensor<i32>) -> tensor<1x1x256xf32>
      %324 = func.call @dynamic_index_in_dim_13(%iterArg_120, %318) : (tensor<4x8x128x256xf32>, tensor<i32>) -> tensor<8x128x256xf32>
      %325 = func.call @dynamic_index_in_dim_2(%iterArg_121, %318) : (tensor<4x256x768xf32>, tensor<i32>) -> tensor<256x768xf32>
      %326 = func.call @dynamic_index_in_dim_13(%iterArg_122, %318) : (tensor<4x8x128x256xf32>, tensor<i32>) -> tensor<8x128x256xf32>
      %327 = func.call @dynamic_index_in_dim_16(%iterArg_123, %318) : (tensor<4x8x128x8x32xf32>, tensor<i32>) -> tensor<8x128x8x32xf32>
      %328 = func.call @dynamic_index_in_dim_16(%iterArg_124, %318) : (tensor<4x8x128x8x32xf32>, tensor<i32>) -> tensor<8x128x8x32xf32>
      %329 = func.call @dynamic_index_in_dim_17(%iterArg_125, %318) : (tensor<4x8x8x128x128xf32>, tensor<i32>) -> tensor<8x8x128x128xf32>
      %330 = func.call @dynamic_index_in_dim_18(%iterArg_126, %318) : (tensor<4x8x8x128x1xf32>, tensor<i32>) -> tensor<8x8x128x1xf32>
      %331 = func.call @dynamic_index_in_dim_18(%iterArg_127, %318) : (tensor<4x8x8x128x1xf32>, tensor<i32>) -> tensor<8x8x128x1xf32>
      %332 = func.call @dynamic_index_in_dim_17(%iterArg_128, %318) : (tensor<4x8x8x128x128xf32>, tensor<i32>) -> tensor<8x8x128x128xf32>
      %333 = func.call @dynamic_index_in_dim_16(%iterArg_129, %318) : (tensor<4x8x128x8x32xf32>, tensor<i32>) -> tensor<8x128x8x32xf32>
      %334 = func.call @dynamic_index_in_dim_1(%iterArg_130, %318) : (tensor<4x256x256xf32>, tensor<i32>) -> tensor<256x256xf32>
      %335 = func.call @dynamic_index_in_dim_13(%iterArg_131, %318) : (tensor<4x8x128x256xf32>, tensor<i32>) -> tensor<8x128x256xf32>
      %336 = func.call @dynamic_index_in_dim_13(%iterArg_132, %318) : (tensor<4x8x128x256xf32>, tensor<i32>) -> tensor<8x128x256xf32>
      %337 = func.call @dynamic_index_in_dim_14(%iterArg_133, %318) : (tensor<4x8x128x1xf32>, tensor<i32>) -> tensor<8x128x1xf32>
      %338 = func.call @dynamic_index_in_dim_14(%iterArg_134, %318) : (tensor<4x8x128x1xf32>, tensor<i32>) -> tensor<8x128x1xf32>
      %339 = func.call @dynamic_index_in_dim_13(%iterArg_135, %318) : (tensor<4x8x128x256xf32>, tensor<i32>) -> tensor<8x128x256xf32>
      %340 = func.call @dynamic_index_in_dim_15(%iterArg_136, %318) : (tensor<4x1x1x256xf32>, tensor<i32>) -> tensor<1x1x256xf32>
      %341 = func.call @dynamic_index_in_dim_13(%iterArg_137, %318) : (tensor<4x8x128x256xf32>, tensor<i32>) -> tensor<8x128x256xf32>
      %342 = func.call @dynamic_index_in_dim_3(%iterArg_138, %318) : (tensor<4x256x1024xf32>, tensor<i32>) -> tensor<256x1024xf32>
      %343 = func.call @dynamic_index_in_dim_13(%iterArg_139, %318) : (tensor<4x8x128x256xf32>, tensor<i32>) -> tensor<8x128x256xf32>
      %344 = func.call @dynamic_index_in_dim_19(%iterArg_140, %318) : (tensor<4x8x128x1024xf32>, tensor<i32>) -> tensor<8x128x1024xf32>
      %345 = func.call @dynamic_index_in_dim_19(%iterArg_141, %318) : (tensor<4x8x128x1024xf32>, tensor<i32>) -> tensor<8x128x1024xf32>
      %346 = func.call @dynamic_index_in_dim_19(%iterArg_142, %318) : (tensor<4x8x128x1024xf32>, tensor<i32>) -> tensor<8x128x1024xf32>
      %347 = func.call @dynamic_index_in_dim_19(%iterArg_143, %318) : (tensor<4x8x128x1024xf32>, tensor<i32>) -> tensor<8x128x1024xf32>
      %348 = func.call @dynamic_index_in_dim_19(%iterArg_144, %318) : (tensor<4x8x128x1024xf32>, tensor<i32>) -> tensor<8x128x1024xf32>
      %349 = func.call @dynamic_index_in_dim(%iterArg_145, %318) : (tensor<4x1024x256xf32>, tensor<i32>) -> tensor<1024x256xf32>
      %350 = func.call @dynamic_index_in_dim_19(%iterArg_146, %318) : (tensor<4x8x128x1024xf32>, tensor<i32>) -> tensor<8x128x1024xf32>
      %351:7 = func.call @closed_call_20(%iterArg_147, %iterArg_149, %319, %320, %321, %322, %323, %324, %325, %326, %327, %328, %329, %330, %331, %332, %333, %334, %335, %336, %337, %338, %339, %340, %341, %342, %343, %344, %345, %346, %347, %348, %349, %350) : (tensor<8x8x128x128xi1>, tensor<8x128x256xf32>, tensor<8x128x256xf32>, tensor<8x128x1xf32>, tensor<8x128x1xf32>, tensor<8x128x256xf32>, tensor<1x1x256xf32>, tensor<8x128x256xf32>, tensor<256x768xf32>, tensor<8x128x256xf32>, tensor<8x128x8x32xf32>, tensor<8x128x8x32xf32>, tensor<8x8x128x128xf32>, tensor<8x8x128x1xf32>, tensor<8x8x128x1xf32>, tensor<8x8x128x128xf32>, tensor<8x128x8x32xf32>, tensor<256x256xf32>, tensor<8x128x256xf32>, tensor<8x128x256xf32>, tensor<8x128x1xf32>, tensor<8x128x1xf32>, tensor<8x128x256xf32>, tensor<1x1x256xf32>, tensor<8x128x256xf32>, tensor<256x1024xf32>, tensor<8x128x256xf32>, tensor<8x128x1024xf32>, tensor<8x128x1024xf32>, tensor<8x128x1024xf32>, tensor<8x128x1024xf32>, tensor<8x128x1024xf32>, tensor<1024x256xf32>, tensor<8x128x1024xf32>) -> (tensor<8x128x256xf32>, tensor<1024x256xf32>, tensor<256xf32>, tensor<256xf32>, tensor<256x256xf32>, tensor<256x768xf32>, tensor<256x1024xf32>)
      %352 = func.call @dynamic_update_index_in_dim_22(%iterArg_150, %351#1, %318) : (tensor<4x1024x256xf32>, tensor<1024x256xf32>, tensor<i32>) -> tensor<4x1024x256xf32>
      %353 = func.call @dynamic_update_index_in_dim_23(%iterArg_151, %351#2, %318) : (tensor<4x256xf32>, tensor<256xf32>, tensor<i32>) -> tensor<4x256xf32>
      %354 = func.call @dynamic_update_index_in_dim_23(%iterArg_152, %351#3, %318) : (tensor<4x256xf32>, tensor<256xf32>, tensor<i32>) -> tensor<4x256xf32>
      %355 = func.call @dynamic_update_index_in_dim_24(%iterArg_153, %351#4, %318) : (tensor<4x256x256xf32>, tensor<256x256xf32>, tensor<i32>) -> tensor<4x256x256xf32>
      %356 = func.call @dynamic_update_index_in_dim_25(%iterArg_154, %351#5, %318) : (tensor<4x256x768xf32>, tensor<256x768xf32>, tensor<i32>) -> tensor<4x256x768xf32>
      %357 = func.call @dynamic_update_index_in_dim_26(%iterArg_155, %351#6, %318) : (tensor<4x256x1024xf32>, tensor<256x1024xf32>, tensor<i32>) -> tensor<4x256x1024xf32>
      %c_158 = stablehlo.constant dense<1> : tensor<i32>
      %358 = stablehlo.add %iterArg_148, %c_158 : tensor<i32>
      stablehlo.return %iterArg, %iterArg_116, %iterArg_117, %iterArg_118, %iterArg_119, %iterArg_120, %iterArg_121, %iterArg_122, %iterArg_123, %iterArg_124, %iterArg_125, %iterArg_126, %iterArg_127, %iterArg_128, %iterArg_129, %iterArg_130, %iterArg_131, %iterArg_132, %iterArg_133, %iterArg_134, %iterArg_135, %iterArg_136, %iterArg_137, %iterArg_138, %iterArg_139, %iterArg_140, %iterArg_141, %iterArg_142, %iterArg_143, %iterArg_144, %iterArg_145, %iterArg_146, %iterArg_147, %358, %351#0, %352, %353, %354, %355, %356, %357 : tensor<4x8x128x256xf32>, tensor<4x8x128x1xf32>, tensor<4x8x128x1xf32>, tensor<4x8x128x256xf32>, tensor<4x1x1x256xf32>, tensor<4x8x128x256xf32>, tensor<4x256x768xf32>, tensor<4x8x128x256xf32>, tensor<4x8x128x8x32xf32>, tensor<4x8x128x8x32xf32>, tensor<4x8x8x128x128xf32>, tensor<4x8x8x128x1xf32>, tensor<4x8x8x128x1xf32>, tensor<4x8x8x128x128xf32>, tensor<4x8x128x8x32xf32>, tensor<4x256x256xf32>, tensor<4x8x128x256xf32>, tensor<4x8x128x256xf32>, tensor<4x8x128x1xf32>, tensor<4x8x128x1xf32>, tensor<4x8x128x256xf32>, tensor<4x1x1x256xf32>, tensor<4x8x128x256xf32>, tensor<4x256x1024xf32>, tensor<4x8x128x256xf32>, tensor<4x8x128x1024xf32>, tensor<4x8x128x1024xf32>, tensor<4x8x128x1024xf32>, tensor<4x8x128x1024xf32>, tensor<4x8x128x1024xf32>, tensor<4x1024x256xf32>, tensor<4x8x128x1024xf32>, tensor<8x8x128x128xi1>, tensor<i32>, tensor<8x128x256xf32>, tensor<4x1024x256xf32>, tensor<4x256xf32>, tensor<4x256xf32>, tensor<4x256x256xf32>, tensor<4x256x768xf32>, tensor<4x256x1024xf32>
    }
    %cst_57 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %123 = stablehlo.reduce(%122#34 init: %cst_57) applies stablehlo.add across dimensions = [0] : (tensor<8x128x256xf32>, tensor<f32>) -> tensor<128x256xf32>
    %124 = stablehlo.reshape %123 : (tensor<128x256xf32>) -> tensor<1x128x256xf32>
    %cst_58 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %125 = stablehlo.reduce(%124 init: %cst_58) applies stablehlo.add across dimensions = [0] : (tensor<1x128x256xf32>, tensor<f32>) -> tensor<128x256xf32>
    %cst_59 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %126 = stablehlo.broadcast_in_dim %cst_59, dims = [] : (tensor<f32>) -> tensor<4096x256xf32>
    %127 = "stablehlo.scatter"(%126, %6, %122#34) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 2>, unique_indices = false}> ({
    ^bb0(%arg32: tensor<f32>, %arg33: tensor<f32>):
      %317 = stablehlo.add %arg32, %arg33 : tensor<f32>
      stablehlo.return %317 : tensor<f32>
    }) : (tensor<4096x256xf32>, tensor<8x128x1xi32>, tensor<8x128x256xf32>) -> tensor<4096x256xf32>
    %c_60 = stablehlo.constant dense<1> : tensor<i32>
    %128 = stablehlo.add %arg30, %c_60 : tensor<i32>
    %129 = stablehlo.convert %128 : (tensor<i32>) -> tensor<f32>
    %cst_61 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %130 = stablehlo.power %cst_61, %129 : tensor<f32>
    %cst_62 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %131 = stablehlo.subtract %cst_62, %130 : tensor<f32>
    %132 = stablehlo.sqrt %131 : tensor<f32>
    %cst_63 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %133 = stablehlo.multiply %cst_63, %132 : tensor<f32>
    %cst_64 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %134 = stablehlo.power %cst_64, %129 : tensor<f32>
    %cst_65 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %135 = stablehlo.subtract %cst_65, %134 : tensor<f32>
    %136 = stablehlo.divide %133, %135 : tensor<f32>
    %cst_66 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %137 = stablehlo.broadcast_in_dim %cst_66, dims = [] : (tensor<f32>) -> tensor<4x1024x256xf32>
    %138 = stablehlo.multiply %137, %arg10 : tensor<4x1024x256xf32>
    %cst_67 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %139 = stablehlo.broadcast_in_dim %cst_67, dims = [] : (tensor<f32>) -> tensor<4x1024x256xf32>
    %140 = stablehlo.multiply %139, %122#35 : tensor<4x1024x256xf32>
    %141 = stablehlo.add %138, %140 : tensor<4x1024x256xf32>
    %cst_68 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %142 = stablehlo.broadcast_in_dim %cst_68, dims = [] : (tensor<f32>) -> tensor<4x256xf32>
    %143 = stablehlo.multiply %142, %arg11 : tensor<4x256xf32>
    %cst_69 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %144 = stablehlo.broadcast_in_dim %cst_69, dims = [] : (tensor<f32>) -> tensor<4x256xf32>
    %145 = stablehlo.multiply %144, %122#36 : tensor<4x256xf32>
    %146 = stablehlo.add %143, %145 : tensor<4x256xf32>
    %cst_70 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %147 = stablehlo.broadcast_in_dim %cst_70, dims = [] : (tensor<f32>) -> tensor<4x256xf32>
    %148 = stablehlo.multiply %147, %arg12 : tensor<4x256xf32>
    %cst_71 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %149 = stablehlo.broadcast_in_dim %cst_71, dims = [] : (tensor<f32>) -> tensor<4x256xf32>
    %150 = stablehlo.multiply %149, %122#37 : tensor<4x256xf32>
    %151 = stablehlo.add %148, %150 : tensor<4x256xf32>
    %cst_72 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %152 = stablehlo.broadcast_in_dim %cst_72, dims = [] : (tensor<f32>) -> tensor<4x256x256xf32>
    %153 = stablehlo.multiply %152, %arg13 : tensor<4x256x256xf32>
    %cst_73 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %154 = stablehlo.broadcast_in_dim %cst_73, dims = [] : (tensor<f32>) -> tensor<4x256x256xf32>
    %155 = stablehlo.multiply %154, %122#38 : tensor<4x256x256xf32>
    %156 = stablehlo.add %153, %155 : tensor<4x256x256xf32>
    %cst_74 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %157 = stablehlo.broadcast_in_dim %cst_74, dims = [] : (tensor<f32>) -> tensor<4x256x768xf32>
    %158 = stablehlo.multiply %157, %arg14 : tensor<4x256x768xf32>
    %cst_75 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %159 = stablehlo.broadcast_in_dim %cst_75, dims = [] : (tensor<f32>) -> tensor<4x256x768xf32>
    %160 = stablehlo.multiply %159, %122#39 : tensor<4x256x768xf32>
    %161 = stablehlo.add %158, %160 : tensor<4x256x768xf32>
    %cst_76 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %162 = stablehlo.broadcast_in_dim %cst_76, dims = [] : (tensor<f32>) -> tensor<4x256x1024xf32>
    %163 = stablehlo.multiply %162, %arg15 : tensor<4x256x1024xf32>
    %cst_77 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %164 = stablehlo.broadcast_in_dim %cst_77, dims = [] : (tensor<f32>) -> tensor<4x256x1024xf32>
    %165 = stablehlo.multiply %164, %122#40 : tensor<4x256x1024xf32>
    %166 = stablehlo.add %163, %165 : tensor<4x256x1024xf32>
    %cst_78 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %167 = stablehlo.broadcast_in_dim %cst_78, dims = [] : (tensor<f32>) -> tensor<256x4096xf32>
    %168 = stablehlo.multiply %167, %arg16 : tensor<256x4096xf32>
    %cst_79 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %169 = stablehlo.broadcast_in_dim %cst_79, dims = [] : (tensor<f32>) -> tensor<256x4096xf32>
    %170 = stablehlo.multiply %169, %84 : tensor<256x4096xf32>
    %171 = stablehlo.add %168, %170 : tensor<256x4096xf32>
    %cst_80 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %172 = stablehlo.broadcast_in_dim %cst_80, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %173 = stablehlo.multiply %172, %arg17 : tensor<256xf32>
    %cst_81 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %174 = stablehlo.broadcast_in_dim %cst_81, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %175 = stablehlo.multiply %174, %91 : tensor<256xf32>
    %176 = stablehlo.add %173, %175 : tensor<256xf32>
    %cst_82 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %177 = stablehlo.broadcast_in_dim %cst_82, dims = [] : (tensor<f32>) -> tensor<128x256xf32>
    %178 = stablehlo.multiply %177, %arg18 : tensor<128x256xf32>
    %cst_83 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %179 = stablehlo.broadcast_in_dim %cst_83, dims = [] : (tensor<f32>) -> tensor<128x256xf32>
    %180 = stablehlo.multiply %179, %125 : tensor<128x256xf32>
    %181 = stablehlo.add %178, %180 : tensor<128x256xf32>
    %cst_84 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %182 = stablehlo.broadcast_in_dim %cst_84, dims = [] : (tensor<f32>) -> tensor<4096x256xf32>
    %183 = stablehlo.multiply %182, %arg19 : tensor<4096x256xf32>
    %cst_85 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %184 = stablehlo.broadcast_in_dim %cst_85, dims = [] : (tensor<f32>) -> tensor<4096x256xf32>
    %185 = stablehlo.multiply %184, %127 : tensor<4096x256xf32>
    %186 = stablehlo.add %183, %185 : tensor<4096x256xf32>
    %cst_86 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %187 = stablehlo.broadcast_in_dim %cst_86, dims = [] : (tensor<f32>) -> tensor<4x1024x256xf32>
    %188 = stablehlo.multiply %187, %arg20 : tensor<4x1024x256xf32>
    %189 = chlo.square %122#35 : tensor<4x1024x256xf32> -> tensor<4x1024x256xf32>
    %cst_87 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %190 = stablehlo.broadcast_in_dim %cst_87, dims = [] : (tensor<f32>) -> tensor<4x1024x256xf32>
    %191 = stablehlo.multiply %190, %189 : tensor<4x1024x256xf32>
    %192 = stablehlo.add %188, %191 : tensor<4x1024x256xf32>
    %cst_88 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %193 = stablehlo.broadcast_in_dim %cst_88, dims = [] : (tensor<f32>) -> tensor<4x256xf32>
    %194 = stablehlo.multiply %193, %arg21 : tensor<4x256xf32>
    %195 = chlo.square %122#36 : tensor<4x256xf32> -> tensor<4x256xf32>
    %cst_89 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %196 = stablehlo.broadcast_in_dim %cst_89, dims = [] : (tensor<f32>) -> tensor<4x256xf32>
    %197 = stablehlo.multiply %196, %195 : tensor<4x256xf32>
    %198 = stablehlo.add %194, %197 : tensor<4x256xf32>
    %cst_90 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %199 = stablehlo.broadcast_in_dim %cst_90, dims = [] : (tensor<f32>) -> tensor<4x256xf32>
    %200 = stablehlo.multiply %199, %arg22 : tensor<4x256xf32>
    %201 = chlo.square %122#37 : tensor<4x256xf32> -> tensor<4x256xf32>
    %cst_91 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %202 = stablehlo.broadcast_in_dim %cst_91, dims = [] : (tensor<f32>) -> tensor<4x256xf32>
    %203 = stablehlo.multiply %202, %201 : tensor<4x256xf32>
    %204 = stablehlo.add %200, %203 : tensor<4x256xf32>
    %cst_92 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %205 = stablehlo.broadcast_in_dim %cst_92, dims = [] : (tensor<f32>) -> tensor<4x256x256xf32>
    %206 = stablehlo.multiply %205, %arg23 : tensor<4x256x256xf32>
    %207 = chlo.square %122#38 : tensor<4x256x256xf32> -> tensor<4x256x256xf32>
    %cst_93 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %208 = stablehlo.broadcast_in_dim %cst_93, dims = [] : (tensor<f32>) -> tensor<4x256x256xf32>
    %209 = stablehlo.multiply %208, %207 : tensor<4x256x256xf32>
    %210 = stablehlo.add %206, %209 : tensor<4x256x256xf32>
    %cst_94 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %211 = stablehlo.broadcast_in_dim %cst_94, dims = [] : (tensor<f32>) -> tensor<4x256x768xf32>
    %212 = stablehlo.multiply %211, %arg24 : tensor<4x256x768xf32>
    %213 = chlo.square %122#39 : tensor<4x256x768xf32> -> tensor<4x256x768xf32>
    %cst_95 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %214 = stablehlo.broadcast_in_dim %cst_95, dims = [] : (tensor<f32>) -> tensor<4x256x768xf32>
    %215 = stablehlo.multiply %214, %213 : tensor<4x256x768xf32>
    %216 = stablehlo.add %212, %215 : tensor<4x256x768xf32>
    %cst_96 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %217 = stablehlo.broadcast_in_dim %cst_96, dims = [] : (tensor<f32>) -> tensor<4x256x1024xf32>
    %218 = stablehlo.multiply %217, %arg25 : tensor<4x256x1024xf32>
    %219 = chlo.square %122#40 : tensor<4x256x1024xf32> -> tensor<4x256x1024xf32>
    %cst_97 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %220 = stablehlo.broadcast_in_dim %cst_97, dims = [] : (tensor<f32>) -> tensor<4x256x1024xf32>
    %221 = stablehlo.multiply %220, %219 : tensor<4x256x1024xf32>
    %222 = stablehlo.add %218, %221 : tensor<4x256x1024xf32>
    %cst_98 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %223 = stablehlo.broadcast_in_dim %cst_98, dims = [] : (tensor<f32>) -> tensor<256x4096xf32>
    %224 = stablehlo.multiply %223, %arg26 : tensor<256x4096xf32>
    %225 = chlo.square %84 : tensor<256x4096xf32> -> tensor<256x4096xf32>
    %cst_99 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %226 = stablehlo.broadcast_in_dim %cst_99, dims = [] : (tensor<f32>) -> tensor<256x4096xf32>
    %227 = stablehlo.multiply %226, %225 : tensor<256x4096xf32>
    %228 = stablehlo.add %224, %227 : tensor<256x4096xf32>
    %cst_100 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %229 = stablehlo.broadcast_in_dim %cst_100, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %230 = stablehlo.multiply %229, %arg27 : tensor<256xf32>
    %231 = chlo.square %91 : tensor<256xf32> -> tensor<256xf32>
    %cst_101 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %232 = stablehlo.broadcast_in_dim %cst_101, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %233 = stablehlo.multiply %232, %231 : tensor<256xf32>
    %234 = stablehlo.add %230, %233 : tensor<256xf32>
    %cst_102 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %235 = stablehlo.broadcast_in_dim %cst_102, dims = [] : (tensor<f32>) -> tensor<128x256xf32>
    %236 = stablehlo.multiply %235, %arg28 : tensor<128x256xf32>
    %237 = chlo.square %125 : tensor<128x256xf32> -> tensor<128x256xf32>
    %cst_103 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %238 = stablehlo.broadcast_in_dim %cst_103, dims = [] : (tensor<f32>) -> tensor<128x256xf32>
    %239 = stablehlo.multiply %238, %237 : tensor<128x256xf32>
    %240 = stablehlo.add %236, %239 : tensor<128x256xf32>
    %cst_104 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %241 = stablehlo.broadcast_in_dim %cst_104, dims = [] : (tensor<f32>) -> tensor<4096x256xf32>
    %242 = stablehlo.multiply %241, %arg29 : tensor<4096x256xf32>
    %243 = chlo.square %127 : tensor<4096x256xf32> -> tensor<4096x256xf32>
    %cst_105 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %244 = stablehlo.broadcast_in_dim %cst_105, dims = [] : (tensor<f32>) -> tensor<4096x256xf32>
    %245 = stablehlo.multiply %244, %243 : tensor<4096x256xf32>
    %246 = stablehlo.add %242, %245 : tensor<4096x256xf32>
    %247 = stablehlo.broadcast_in_dim %136, dims = [] : (tensor<f32>) -> tensor<4x1024x256xf32>
    %248 = stablehlo.multiply %247, %141 : tensor<4x1024x256xf32>
    %249 = stablehlo.sqrt %192 : tensor<4x1024x256xf32>
    %cst_106 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %250 = stablehlo.broadcast_in_dim %cst_106, dims = [] : (tensor<f32>) -> tensor<4x1024x256xf32>
    %251 = stablehlo.add %249, %250 : tensor<4x1024x256xf32>
    %252 = stablehlo.divide %248, %251 : tensor<4x1024x256xf32>
    %253 = stablehlo.subtract %arg0, %252 : tensor<4x1024x256xf32>
    %254 = stablehlo.broadcast_in_dim %136, dims = [] : (tensor<f32>) -> tensor<4x256xf32>
    %255 = stablehlo.multiply %254, %146 : tensor<4x256xf32>
    %256 = stablehlo.sqrt %198 : tensor<4x256xf32>
    %cst_107 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %257 = stablehlo.broadcast_in_dim %cst_107, dims = [] : (tensor<f32>) -> tensor<4x256xf32>
    %258 = stablehlo.add %256, %257 : tensor<4x256xf32>
    %259 = stablehlo.divide %255, %258 : tensor<4x256xf32>
    %260 = stablehlo.subtract %arg1, %259 : tensor<4x256xf32>
    %261 = stablehlo.broadcast_in_dim %136, dims = [] : (tensor<f32>) -> tensor<4x256xf32>
    %262 = stablehlo.multiply %261, %151 : tensor<4x256xf32>
    %263 = stablehlo.sqrt %204 : tensor<4x256xf32>
    %cst_108 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %264 = stablehlo.broadcast_in_dim %cst_108, dims = [] : (tensor<f32>) -> tensor<4x256xf32>
    %265 = stablehlo.add %263, %264 : tensor<4x256xf32>
    %266 = stablehlo.divide %262, %265 : tensor<4x256xf32>
    %267 = stablehlo.subtract %arg2, %266 : tensor<4x256xf32>
    %268 = stablehlo.broadcast_in_dim %136, dims = [] : (tensor<f32>) -> tensor<4x256x256xf32>
    %269 = stablehlo.multiply %268, %156 : tensor<4x256x256xf32>
    %270 = stablehlo.sqrt %210 : tensor<4x256x256xf32>
    %cst_109 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %271 = stablehlo.broadcast_in_dim %cst_109, dims = [] : (tensor<f32>) -> tensor<4x256x256xf32>
    %272 = stablehlo.add %270, %271 : tensor<4x256x256xf32>
    %273 = stablehlo.divide %269, %272 : tensor<4x256x256xf32>
    %274 = stablehlo.subtract %arg3, %273 : tensor<4x256x256xf32>
    %275 = stablehlo.broadcast_in_dim %136, dims = [] : (tensor<f32>) -> tensor<4x256x768xf32>
    %276 = stablehlo.multiply %275, %161 : tensor<4x256x768xf32>
    %277 = stablehlo.sqrt %216 : tensor<4x256x768xf32>
    %cst_110 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %278 = stablehlo.broadcast_in_dim %cst_110, dims = [] : (tensor<f32>) -> tensor<4x256x768xf32>
    %279 = stablehlo.add %277, %278 : tensor<4x256x768xf32>
    %280 = stablehlo.divide %276, %279 : tensor<4x256x768xf32>
    %281 = stablehlo.subtract %arg4, %280 : tensor<4x256x768xf32>
    %282 = stablehlo.broadcast_in_dim %136, dims = [] : (tensor<f32>) -> tensor<4x256x1024xf32>
    %283 = stablehlo.multiply %282, %166 : tensor<4x256x1024xf32>
    %284 = stablehlo.sqrt %222 : tensor<4x256x1024xf32>
    %cst_111 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %285 = stablehlo.broadcast_in_dim %cst_111, dims = [] : (tensor<f32>) -> tensor<4x256x1024xf32>
    %286 = stablehlo.add %284, %285 : tensor<4x256x1024xf32>
    %287 = stablehlo.divide %283, %286 : tensor<4x256x1024xf32>
    %288 = stablehlo.subtract %arg5, %287 : tensor<4x256x1024xf32>
    %289 = stablehlo.broadcast_in_dim %136, dims = [] : (tensor<f32>) -> tensor<256x4096xf32>
    %290 = stablehlo.multiply %289, %171 : tensor<256x4096xf32>
    %291 = stablehlo.sqrt %228 : tensor<256x4096xf32>
    %cst_112 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %292 = stablehlo.broadcast_in_dim %cst_112, dims = [] : (tensor<f32>) -> tensor<256x4096xf32>
    %293 = stablehlo.add %291, %292 : tensor<256x4096xf32>
    %294 = stablehlo.divide %290, %293 : tensor<256x4096xf32>
    %295 = stablehlo.subtract %arg6, %294 : tensor<256x4096xf32>
    %296 = stablehlo.broadcast_in_dim %136, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %297 = stablehlo.multiply %296, %176 : tensor<256xf32>
    %298 = stablehlo.sqrt %234 : tensor<256xf32>
    %cst_113 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %299 = stablehlo.broadcast_in_dim %cst_113, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %300 = stablehlo.add %298, %299 : tensor<256xf32>
    %301 = stablehlo.divide %297, %300 : tensor<256xf32>
    %302 = stablehlo.subtract %arg7, %301 : tensor<256xf32>
    %303 = stablehlo.broadcast_in_dim %136, dims = [] : (tensor<f32>) -> tensor<128x256xf32>
    %304 = stablehlo.multiply %303, %181 : tensor<128x256xf32>
    %305 = stablehlo.sqrt %240 : tensor<128x256xf32>
    %cst_114 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %306 = stablehlo.broadcast_in_dim %cst_114, dims = [] : (tensor<f32>) -> tensor<128x256xf32>
    %307 = stablehlo.add %305, %306 : tensor<128x256xf32>
    %308 = stablehlo.divide %304, %307 : tensor<128x256xf32>
    %309 = stablehlo.subtract %arg8, %308 : tensor<128x256xf32>
    %310 = stablehlo.broadcast_in_dim %136, dims = [] : (tensor<f32>) -> tensor<4096x256xf32>
    %311 = stablehlo.multiply %310, %186 : tensor<4096x256xf32>
    %312 = stablehlo.sqrt %246 : tensor<4096x256xf32>
    %cst_115 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %313 = stablehlo.broadcast_in_dim %cst_115, dims = [] : (tensor<f32>) -> tensor<4096x256xf32>
    %314 = stablehlo.add %312, %313 : tensor<4096x256xf32>
    %315 = stablehlo.divide %311, %314 : tensor<4096x256xf32>
    %316 = stablehlo.subtract %arg9, %315 : tensor<4096x256xf32>
    return %77, %253, %260, %267, %274, %281, %288, %295, %302, %309, %316, %141, %146, %151, %156, %161, %166, %171, %176, %181, %186, %192, %198, %204, %210, %216, %222, %228, %234, %240, %246, %128 : tensor<f32>, tensor<4x1024x256xf32>, tensor<4x256xf32>, tensor<4x256xf32>, tensor<4x256x256xf32>, tensor<4x256x768xf32>, tensor<4x256x1024xf32>, tensor<256x4096xf32>, tensor<256xf32>, tensor<128x256xf32>, tensor<4096x256xf32>, tensor<4x1024x256xf32>, tensor<4x256xf32>, tensor<4x256xf32>, tensor<4x256x256xf32>, tensor<4x256x768xf32>, tensor<4x256x1024xf32>, tensor<256x4096xf32>, tensor<256xf32>, tensor<128x256xf32>, tensor<4096x256xf32>, tensor<4x1024x256xf32>, tensor<4x256xf32>, tensor<4x256xf32>, tensor<4x256x256xf32>, tensor<4x256x768xf32>, tensor<4x256x1024xf32>, tensor<256x4096xf32>, tensor<256xf32>, tensor<128x256xf32>, tensor<4096x256xf32>, tensor<i32>
  }
  func.func private @_where(%arg0: tensor<128x128xi1>, %arg1: tensor<f32>) -> (tensor<8x8x128x128xi1>, tensor<8x8x128x128xf32>) {
    %0 = stablehlo.convert %arg1 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [2, 3] : (tensor<128x128xi1>) -> tensor<8x8x128x128xi1>
    %2 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<8x8x128x128xf32>
    return %1, %2 : tensor<8x8x128x128xi1>, tensor<8x8x128x128xf32>
  }
  func.func private @dynamic_index_in_dim(%arg0: tensor<4x1024x256xf32>, %arg1: tensor<i32>) -> tensor<1024x256xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, sizes = [1, 1024, 256] : (tensor<4x1024x256xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x1024x256xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x1024x256xf32>) -> tensor<1024x256xf32>
    return %1 : tensor<1024x256xf32>
  }
  func.func private @dynamic_index_in_dim_0(%arg0: tensor<4x256xf32>, %arg1: tensor<i32>) -> tensor<256xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, sizes = [1, 256] : (tensor<4x256xf32>, tensor<i32>, tensor<i32>) -> tensor<1x256xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x256xf32>) -> tensor<256xf32>
    return %1 : tensor<256xf32>
  }
  func.func private @dynamic_index_in_dim_1(%arg0: tensor<4x256x256xf32>, %arg1: tensor<i32>) -> tensor<256x256xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, sizes = [1, 256, 256] : (tensor<4x256x256xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x256x256xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x256x256xf32>) -> tensor<256x256xf32>
    return %1 : tensor<256x256xf32>
  }
  func.func private @dynamic_index_in_dim_2(%arg0: tensor<4x256x768xf32>, %arg1: tensor<i32>) -> tensor<256x768xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, sizes = [1, 256, 768] : (tensor<4x256x768xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x256x768xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x256x768xf32>) -> tensor<256x768xf32>
    return %1 : tensor<256x768xf32>
  }
  func.func private @dynamic_index_in_dim_3(%arg0: tensor<4x256x1024xf32>, %arg1: tensor<i32>) -> tensor<256x1024xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, sizes = [1, 256, 1024] : (tensor<4x256x1024xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x256x1024xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x256x1024xf32>) -> tensor<256x1024xf32>
    return %1 : tensor<256x1024xf32>
  }
  func.func private @closed_call(%arg0: tensor<8x8x128x128xi1>, %arg1: tensor<8x8x128x128xf32>, %arg2: tensor<8x128x256xf32>, %arg3: tensor<1024x256xf32>, %arg4: tensor<256xf32>, %arg5: tensor<256xf32>, %arg6: tensor<256x256xf32>, %arg7: tensor<256x768xf32>, %arg8: tensor<256x1024xf32>) -> (tensor<8x128x256xf32>, tensor<8x128x256xf32>, tensor<8x128x1xf32>, tensor<8x128x1xf32>, tensor<8x128x256xf32>, tensor<1x1x256xf32>, tensor<8x128x256xf32>, tensor<8x128x256xf32>, tensor<8x128x8x32xf32>, tensor<8x128x8x32xf32>, tensor<8x8x128x128xf32>, tensor<8x8x128x1xf32>, tensor<8x8x128x1xf32>, tensor<8x8x128x128xf32>, tensor<8x128x8x32xf32>, tensor<8x128x256xf32>, tensor<8x128x256xf32>, tensor<8x128x1xf32>, tensor<8x128x1xf32>, tensor<8x128x256xf32>, tensor<1x1x256xf32>, tensor<8x128x256xf32>, tensor<8x128x256xf32>, tensor<8x128x1024xf32>, tensor<8x128x1024xf32>, tensor<8x128x1024xf32>, tensor<8x128x1024xf32>, tensor<8x128x1024xf32>, tensor<8x128x1024xf32>) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.reduce(%arg2 init: %cst) applies stablehlo.add across dimensions = [2] : (tensor<8x128x256xf32>, tensor<f32>) -> tensor<8x128xf32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [0, 1] : (tensor<8x128xf32>) -> tensor<8x128x1xf32>
    %cst_0 = stablehlo.constant dense<2.560000e+02> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<8x128x1xf32>
    %3 = stablehlo.divide %1, %2 : tensor<8x128x1xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1, 2] : (tensor<8x128x1xf32>) -> tensor<8x128x256xf32>
    %5 = stablehlo.subtract %arg2, %4 : tensor<8x128x256xf32>
    %6 = chlo.square %5 : tensor<8x128x256xf32> -> tensor<8x128x256xf32>
    %cst_1 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %7 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<8x128x256xf32>
    %8 = stablehlo.multiply %7, %5 : tensor<8x128x256xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %9 = stablehlo.reduce(%6 init: %cst_2) applies stablehlo.add across dimensions = [2] : (tensor<8x128x256xf32>, tensor<f32>) -> tensor<8x128xf32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1] : (tensor<8x128xf32>) -> tensor<8x128x1xf32>
    %cst_3 = stablehlo.constant dense<2.560000e+02> : tensor<f32>
    %11 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<8x128x1xf32>
    %12 = stablehlo.divide %10, %11 : tensor<8x128x1xf32>
    %13 = stablehlo.broadcast_in_dim %3, dims = [0, 1, 2] : (tensor<8x128x1xf32>) -> tensor<8x128x256xf32>
    %14 = stablehlo.subtract %arg2, %13 : tensor<8x128x256xf32>
    %cst_4 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %15 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<8x128x1xf32>
    %16 = stablehlo.add %12, %15 : tensor<8x128x1xf32>
    %17 = stablehlo.rsqrt %16 : tensor<8x128x1xf32>
    %18 = stablehlo.divide %17, %16 : tensor<8x128x1xf32>
    %cst_5 = stablehlo.constant dense<-5.000000e-01> : tensor<f32>
    %19 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<8x128x1xf32>
    %20 = stablehlo.multiply %19, %18 : tensor<8x128x1xf32>
    %21 = stablehlo.broadcast_in_dim %17, dims = [0, 1, 2] : (tensor<8x128x1xf32>) -> tensor<8x128x256xf32>
    %22 = stablehlo.multiply %14, %21 : tensor<8x128x256xf32>
    %23 = stablehlo.broadcast_in_dim %arg4, dims = [2] : (tensor<256xf32>) -> tensor<1x1x256xf32>
    %24 = stablehlo.broadcast_in_dim %23, dims = [0, 1, 2] : (tensor<1x1x256xf32>) -> tensor<8x128x256xf32>
    %25 = stablehlo.multiply %22, %24 : tensor<8x128x256xf32>
    %26 = stablehlo.dot_general %25, %arg7, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x128x256xf32>, tensor<256x768xf32>) -> tensor<8x128x768xf32>
    %27 = stablehlo.slice %26 [0:8, 0:128, 0:256] : (tensor<8x128x768xf32>) -> tensor<8x128x256xf32>
    %28 = stablehlo.slice %26 [0:8, 0:128, 256:512] : (tensor<8x128x768xf32>) -> tensor<8x128x256xf32>
    %29 = stablehlo.slice %26 [0:8, 0:128, 512:768] : (tensor<8x128x768xf32>) -> tensor<8x128x256xf32>
    %30 = stablehlo.reshape %27 : (tensor<8x128x256xf32>) -> tensor<8x128x8x32xf32>
    %31 = stablehlo.reshape %28 : (tensor<8x128x256xf32>) -> tensor<8x128x8x32xf32>
    %32 = stablehlo.reshape %29 : (tensor<8x128x256xf32>) -> tensor<8x128x8x32xf32>
    %33 = stablehlo.dot_general %30, %31, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<8x128x8x32xf32>, tensor<8x128x8x32xf32>) -> tensor<8x8x128x128xf32>
    %cst_6 = stablehlo.constant dense<5.65685415> : tensor<f32>
    %34 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<8x8x128x128xf32>
    %35 = stablehlo.divide %33, %34 : tensor<8x8x128x128xf32>
    %36 = call @_where_4(%35, %arg0, %arg1) : (tensor<8x8x128x128xf32>, tensor<8x8x128x128xi1>, tensor<8x8x128x128xf32>) -> tensor<8x8x128x128xf32>
    %cst_7 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %37 = stablehlo.reduce(%36 init: %cst_7) applies stablehlo.maximum across dimensions = [3] : (tensor<8x8x128x128xf32>, tensor<f32>) -> tensor<8x8x128xf32>
    %cst_8 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %38 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<8x8x128xf32>
    %39 = stablehlo.maximum %38, %37 : tensor<8x8x128xf32>
    %40 = stablehlo.broadcast_in_dim %39, dims = [0, 1, 2] : (tensor<8x8x128xf32>) -> tensor<8x8x128x1xf32>
    %41 = stablehlo.broadcast_in_dim %40, dims = [0, 1, 2, 3] : (tensor<8x8x128x1xf32>) -> tensor<8x8x128x128xf32>
    %42 = stablehlo.subtract %36, %41 : tensor<8x8x128x128xf32>
    %43 = stablehlo.exponential %42 : tensor<8x8x128x128xf32>
    %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %44 = stablehlo.reduce(%43 init: %cst_9) applies stablehlo.add across dimensions = [3] : (tensor<8x8x128x128xf32>, tensor<f32>) -> tensor<8x8x128xf32>
    %45 = stablehlo.broadcast_in_dim %44, dims = [0, 1, 2] : (tensor<8x8x128xf32>) -> tensor<8x8x128x1xf32>
    %46 = stablehlo.broadcast_in_dim %45, dims = [0, 1, 2, 3] : (tensor<8x8x128x1xf32>) -> tensor<8x8x128x128xf32>
    %47 = stablehlo.divide %43, %46 : tensor<8x8x128x128xf32>
    %48 = stablehlo.multiply %45, %45 : tensor<8x8x128x1xf32>
    %cst_10 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %49 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<8x8x128x1xf32>
    %50 = stablehlo.divide %49, %48 : tensor<8x8x128x1xf32>
    %51 = stablehlo.dot_general %32, %47, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3], precision = [DEFAULT, DEFAULT] : (tensor<8x128x8x32xf32>, tensor<8x8x128x128xf32>) -> tensor<8x8x32x128xf32>
    %52 = stablehlo.transpose %51, dims = [0, 3, 1, 2] : (tensor<8x8x32x128xf32>) -> tensor<8x128x8x32xf32>
    %53 = stablehlo.reshape %52 : (tensor<8x128x8x32xf32>) -> tensor<8x128x256xf32>
    %54 = stablehlo.dot_general %53, %arg6, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x128x256xf32>, tensor<256x256xf32>) -> tensor<8x128x256xf32>
    %55 = stablehlo.add %arg2, %54 : tensor<8x128x256xf32>
    %cst_11 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %56 = stablehlo.reduce(%55 init: %cst_11) applies stablehlo.add across dimensions = [2] : (tensor<8x128x256xf32>, tensor<f32>) -> tensor<8x128xf32>
    %57 = stablehlo.broadcast_in_dim %56, dims = [0, 1] : (tensor<8x128xf32>) -> tensor<8x128x1xf32>
    %cst_12 = stablehlo.constant dense<2.560000e+02> : tensor<f32>
    %58 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<8x128x1xf32>
    %59 = stablehlo.divide %57, %58 : tensor<8x128x1xf32>
    %60 = stablehlo.broadcast_in_dim %59, dims = [0, 1, 2] : (tensor<8x128x1xf32>) -> tensor<8x128x256xf32>
    %61 = stablehlo.subtract %55, %60 : tensor<8x128x256xf32>
    %62 = chlo.square %61 : tensor<8x128x256xf32> -> tensor<8x128x256xf32>
    %cst_13 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %63 = stablehlo.broadcast_in_dim %cst_13, dims = [] : (tensor<f32>) -> tensor<8x128x256xf32>
    %64 = stablehlo.multiply %63, %61 : tensor<8x128x256xf32>
    %cst_14 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %65 = stablehlo.reduce(%62 init: %cst_14) applies stablehlo.add across dimensions = [2] : (tensor<8x128x256xf32>, tensor<f32>) -> tensor<8x128xf32>
    %66 = stablehlo.broadcast_in_dim %65, dims = [0, 1] : (tensor<8x128xf32>) -> tensor<8x128x1xf32>
    %cst_15 = stablehlo.constant dense<2.560000e+02> : tensor<f32>
    %67 = stablehlo.broadcast_in_dim %cst_15, dims = [] : (tensor<f32>) -> tensor<8x128x1xf32>
    %68 = stablehlo.divide %66, %67 : tensor<8x128x1xf32>
    %69 = stablehlo.broadcast_in_dim %59, dims = [0, 1, 2] : (tensor<8x128x1xf32>) -> tensor<8x128x256xf32>
    %70 = stablehlo.subtract %55, %69 : tensor<8x128x256xf32>
    %cst_16 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %71 = stablehlo.broadcast_in_dim %cst_16, dims = [] : (tensor<f32>) -> tensor<8x128x1xf32>
    %72 = stablehlo.add %68, %71 : tensor<8x128x1xf32>
    %73 = stablehlo.rsqrt %72 : tensor<8x128x1xf32>
    %74 = stablehlo.divide %73, %72 : tensor<8x128x1xf32>
    %cst_17 = stablehlo.constant dense<-5.000000e-01> : tensor<f32>
    %75 = stablehlo.broadcast_in_dim %cst_17, dims = [] : (tensor<f32>) -> tensor<8x128x1xf32>
    %76 = stablehlo.multiply %75, %74 : tensor<8x128x1xf32>
    %77 = stablehlo.broadcast_in_dim %73, dims = [0, 1, 2] : (tensor<8x128x1xf32>) -> tensor<8x128x256xf32>
    %78 = stablehlo.multiply %70, %77 : tensor<8x128x256xf32>
    %79 = stablehlo.broadcast_in_dim %arg5, dims = [2] : (tensor<256xf32>) -> tensor<1x1x256xf32>
    %80 = stablehlo.broadcast_in_dim %79, dims = [0, 1, 2] : (tensor<1x1x256xf32>) -> tensor<8x128x256xf32>
    %81 = stablehlo.multiply %78, %80 : tensor<8x128x256xf32>
    %82 = stablehlo.dot_general %81, %arg8, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x128x256xf32>, tensor<256x1024xf32>) -> tensor<8x128x1024xf32>
    %83 = stablehlo.multiply %82, %82 : tensor<8x128x1024xf32>
    %84 = stablehlo.multiply %83, %82 : tensor<8x128x1024xf32>
    %85 = stablehlo.multiply %82, %82 : tensor<8x128x1024xf32>
    %cst_18 = stablehlo.constant dense<3.000000e+00> : tensor<f32>
    %86 = stablehlo.broadcast_in_dim %cst_18, dims = [] : (tensor<f32>) -> tensor<8x128x1024xf32>
    %87 = stablehlo.multiply %86, %85 : tensor<8x128x1024xf32>
    %cst_19 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %88 = stablehlo.broadcast_in_dim %cst_19, dims = [] : (tensor<f32>) -> tensor<8x128x1024xf32>
    %89 = stablehlo.multiply %88, %84 : tensor<8x128x1024xf32>
    %90 = stablehlo.add %82, %89 : tensor<8x128x1024xf32>
    %cst_20 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %91 = stablehlo.broadcast_in_dim %cst_20, dims = [] : (tensor<f32>) -> tensor<8x128x1024xf32>
    %92 = stablehlo.multiply %91, %90 : tensor<8x128x1024xf32>
    %93 = stablehlo.tanh %92 : tensor<8x128x1024xf32>
    %cst_21 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %94 = stablehlo.broadcast_in_dim %cst_21, dims = [] : (tensor<f32>) -> tensor<8x128x1024xf32>
    %95 = stablehlo.subtract %94, %93 : tensor<8x128x1024xf32>
    %cst_22 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %96 = stablehlo.broadcast_in_dim %cst_22, dims = [] : (tensor<f32>) -> tensor<8x128x1024xf32>
    %97 = stablehlo.add %96, %93 : tensor<8x128x1024xf32>
    %cst_23 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %98 = stablehlo.broadcast_in_dim %cst_23, dims = [] : (tensor<f32>) -> tensor<8x128x1024xf32>
    %99 = stablehlo.multiply %98, %97 : tensor<8x128x1024xf32>
    %100 = stablehlo.multiply %82, %99 : tensor<8x128x1024xf32>
    %101 = stablehlo.dot_general %100, %arg3, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x128x1024xf32>, tensor<1024x256xf32>) -> tensor<8x128x256xf32>
    %102 = stablehlo.add %55, %101 : tensor<8x128x256xf32>
    return %102, %8, %20, %17, %14, %23, %22, %25, %31, %30, %43, %45, %50, %47, %32, %53, %64, %76, %73, %70, %79, %78, %81, %87, %93, %95, %99, %82, %100 : tensor<8x128x256xf32>, tensor<8x128x256xf32>, tensor<8x128x1xf32>, tensor<8x128x1xf32>, tensor<8x128x256xf32>, tensor<1x1x256xf32>, tensor<8x128x256xf32>, tensor<8x128x256xf32>, tensor<8x128x8x32xf32>, tensor<8x128x8x32xf32>, tensor<8x8x128x128xf32>, tensor<8x8x128x1xf32>, tensor<8x8x128x1xf32>, tensor<8x8x128x128xf32>, tensor<8x128x8x32xf32>, tensor<8x128x256xf32>, tensor<8x128x256xf32>, tensor<8x128x1xf32>, tensor<8x128x1xf32>, tensor<8x128x256xf32>, tensor<1x1x256xf32>, tensor<8x128x256xf32>, tensor<8x128x256xf32>, tensor<8x128x1024xf32>, tensor<8x128x1024xf32>, tensor<8x128x1024xf32>, tensor<8x128x1024xf32>, tensor<8x128x1024xf32>, tensor<8x128x1024xf32>
  }
  func.func private @_where_4(%arg0: tensor<8x8x128x128xf32>, %arg1: tensor<8x8x128x128xi1>, %arg2: tensor<8x8x128x128xf32>) -> tensor<8x8x128x128xf32> {
    %0 = stablehlo.select %arg1, %arg0, %arg2 : tensor<8x8x128x128xi1>, tensor<8x8x128x128xf32>
    return %0 : tensor<8x8x128x128xf32>
  }
  func.func private @dynamic_update_index_in_dim(%arg0: tensor<4x8x128x256xf32>, %arg1: tensor<8x128x256xf32>, %arg2: tensor<i32>) -> tensor<4x8x128x256xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2, 3] : (tensor<8x128x256xf32>) -> tensor<1x8x128x256xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c, %c_0, %c_1 : (tensor<4x8x128x256xf32>, tensor<1x8x128x256xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<4x8x128x256xf32>
    return %1 : tensor<4x8x128x256xf32>
  }
  func.func private @dynamic_update_index_in_dim_5(%arg0: tensor<4x8x128x1xf32>, %arg1: tensor<8x128x1xf32>, %arg2: tensor<i32>) -> tensor<4x8x128x1xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2, 3] : (tensor<8x128x1xf32>) -> tensor<1x8x128x1xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c, %c_0, %c_1 : (tensor<4x8x128x1xf32>, tensor<1x8x128x1xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<4x8x128x1xf32>
    return %1 : tensor<4x8x128x1xf32>
  }
  func.func private @dynamic_update_index_in_dim_6(%arg0: tensor<4x1x1x256xf32>, %arg1: tensor<1x1x256xf32>, %arg2: tensor<i32>) -> tensor<4x1x1x256xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2, 3] : (tensor<1x1x256xf32>) -> tensor<1x1x1x256xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c, %c_0, %c_1 : (tensor<4x1x1x256xf32>, tensor<1x1x1x256xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<4x1x1x256xf32>
    return %1 : tensor<4x1x1x256xf32>
  }
  func.func private @dynamic_update_index_in_dim_7(%arg0: tensor<4x8x128x8x32xf32>, %arg1: tensor<8x128x8x32xf32>, %arg2: tensor<i32>) -> tensor<4x8x128x8x32xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2, 3, 4] : (tensor<8x128x8x32xf32>) -> tensor<1x8x128x8x32xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c, %c_0, %c_1, %c_2 : (tensor<4x8x128x8x32xf32>, tensor<1x8x128x8x32xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<4x8x128x8x32xf32>
    return %1 : tensor<4x8x128x8x32xf32>
  }
  func.func private @dynamic_update_index_in_dim_8(%arg0: tensor<4x8x8x128x128xf32>, %arg1: tensor<8x8x128x128xf32>, %arg2: tensor<i32>) -> tensor<4x8x8x128x128xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2, 3, 4] : (tensor<8x8x128x128xf32>) -> tensor<1x8x8x128x128xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c, %c_0, %c_1, %c_2 : (tensor<4x8x8x128x128xf32>, tensor<1x8x8x128x128xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<4x8x8x128x128xf32>
    return %1 : tensor<4x8x8x128x128xf32>
  }
  func.func private @dynamic_update_index_in_dim_9(%arg0: tensor<4x8x8x128x1xf32>, %arg1: tensor<8x8x128x1xf32>, %arg2: tensor<i32>) -> tensor<4x8x8x128x1xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2, 3, 4] : (tensor<8x8x128x1xf32>) -> tensor<1x8x8x128x1xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c, %c_0, %c_1, %c_2 : (tensor<4x8x8x128x1xf32>, tensor<1x8x8x128x1xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<4x8x8x128x1xf32>
    return %1 : tensor<4x8x8x128x1xf32>
  }
  func.func private @dynamic_update_index_in_dim_10(%arg0: tensor<4x8x128x1024xf32>, %arg1: tensor<8x128x1024xf32>, %arg2: tensor<i32>) -> tensor<4x8x128x1024xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2, 3] : (tensor<8x128x1024xf32>) -> tensor<1x8x128x1024xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c, %c_0, %c_1 : (tensor<4x8x128x1024xf32>, tensor<1x8x128x1024xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<4x8x128x1024xf32>
    return %1 : tensor<4x8x128x1024xf32>
  }
  func.func private @log_softmax(%arg0: tensor<8x128x4096xf32>) -> (tensor<8x128x4096xf32>, tensor<8x128x4096xf32>, tensor<8x128x1xf32>) {
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.maximum across dimensions = [2] : (tensor<8x128x4096xf32>, tensor<f32>) -> tensor<8x128xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<8x128xf32>
    %2 = stablehlo.maximum %1, %0 : tensor<8x128xf32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [0, 1] : (tensor<8x128xf32>) -> tensor<8x128x1xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1, 2] : (tensor<8x128x1xf32>) -> tensor<8x128x4096xf32>
    %5 = stablehlo.subtract %arg0, %4 : tensor<8x128x4096xf32>
    %6 = stablehlo.exponential %5 : tensor<8x128x4096xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = stablehlo.reduce(%6 init: %cst_1) applies stablehlo.add across dimensions = [2] : (tensor<8x128x4096xf32>, tensor<f32>) -> tensor<8x128xf32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0, 1] : (tensor<8x128xf32>) -> tensor<8x128x1xf32>
    %9 = stablehlo.log %8 : tensor<8x128x1xf32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1, 2] : (tensor<8x128x1xf32>) -> tensor<8x128x4096xf32>
    %11 = stablehlo.subtract %5, %10 : tensor<8x128x4096xf32>
    return %11, %6, %8 : tensor<8x128x4096xf32>, tensor<8x128x4096xf32>, tensor<8x128x1xf32>
  }
  func.func private @take_along_axis(%arg0: tensor<8x128x4096xf32>, %arg1: tensor<8x128x1xi32>) -> (tensor<8x128x1xf32>, tensor<8x128x1x1xi32>) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<8x128x1xi32>
    %1 = stablehlo.compare LT, %arg1, %0, SIGNED : (tensor<8x128x1xi32>, tensor<8x128x1xi32>) -> tensor<8x128x1xi1>
    %c_0 = stablehlo.constant dense<4096> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<8x128x1xi32>
    %3 = stablehlo.add %arg1, %2 : tensor<8x128x1xi32>
    %4 = stablehlo.select %1, %3, %arg1 : tensor<8x128x1xi1>, tensor<8x128x1xi32>
    %5 = stablehlo.reshape %4 : (tensor<8x128x1xi32>) -> tensor<8x128x1x1xi32>
    %c_1 = stablehlo.constant dense<4095> : tensor<1xi32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %6 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<8x128x1x1xi32>
    %7 = stablehlo.compare GE, %5, %6, SIGNED : (tensor<8x128x1x1xi32>, tensor<8x128x1x1xi32>) -> tensor<8x128x1x1xi1>
    %8 = stablehlo.broadcast_in_dim %c_1, dims = [3] : (tensor<1xi32>) -> tensor<1x1x1x1xi32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1, 2, 3] : (tensor<1x1x1x1xi32>) -> tensor<8x128x1x1xi32>
    %10 = stablehlo.compare LE, %5, %9, SIGNED : (tensor<8x128x1x1xi32>, tensor<8x128x1x1xi32>) -> tensor<8x128x1x1xi1>
    %11 = stablehlo.and %7, %10 : tensor<8x128x1x1xi1>
    %c_3 = stablehlo.constant dense<true> : tensor<i1>
    %12 = stablehlo.reduce(%11 init: %c_3) applies stablehlo.and across dimensions = [3] : (tensor<8x128x1x1xi1>, tensor<i1>) -> tensor<8x128x1xi1>
    %13 = "stablehlo.gather"(%arg0, %5) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [2], operand_batching_dims = [0, 1], start_indices_batching_dims = [0, 1], start_index_map = [2], index_vector_dim = 3>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1, 1>}> : (tensor<8x128x4096xf32>, tensor<8x128x1x1xi32>) -> tensor<8x128x1xf32>
    %cst = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %14 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8x128x1xf32>
    %15 = stablehlo.select %12, %13, %14 : tensor<8x128x1xi1>, tensor<8x128x1xf32>
    return %15, %5 : tensor<8x128x1xf32>, tensor<8x128x1x1xi32>
  }
  func.func private @take_along_axis_11(%arg0: tensor<8x128x1x1xi32>, %arg1: tensor<8x128x1xf32>) -> tensor<8x128x4096xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8x128x4096xf32>
    %1 = "stablehlo.scatter"(%0, %arg0, %arg1) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [2], input_batching_dims = [0, 1], scatter_indices_batching_dims = [0, 1], scatter_dims_to_operand_dims = [2], index_vector_dim = 3>, unique_indices = false}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      %2 = stablehlo.add %arg2, %arg3 : tensor<f32>
      stablehlo.return %2 : tensor<f32>
    }) : (tensor<8x128x4096xf32>, tensor<8x128x1x1xi32>, tensor<8x128x1xf32>) -> tensor<8x128x4096xf32>
    return %1 : tensor<8x128x4096xf32>
  }
  func.func private @log_softmax_12(%arg0: tensor<8x128x4096xf32>, %arg1: tensor<8x128x1xf32>, %arg2: tensor<8x128x4096xf32>) -> tensor<8x128x4096xf32> {
    %0 = stablehlo.negate %arg2 : tensor<8x128x4096xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.reduce(%0 init: %cst) applies stablehlo.add across dimensions = [2] : (tensor<8x128x4096xf32>, tensor<f32>) -> tensor<8x128xf32>
    %2 = stablehlo.reshape %1 : (tensor<8x128xf32>) -> tensor<8x128x1xf32>
    %3 = stablehlo.divide %2, %arg1 : tensor<8x128x1xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %4 = stablehlo.reduce(%3 init: %cst_0) applies stablehlo.add across dimensions = [2] : (tensor<8x128x1xf32>, tensor<f32>) -> tensor<8x128xf32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0, 1] : (tensor<8x128xf32>) -> tensor<8x128x4096xf32>
    %6 = stablehlo.multiply %5, %arg0 : tensor<8x128x4096xf32>
    %7 = stablehlo.add %arg2, %6 : tensor<8x128x4096xf32>
    return %7 : tensor<8x128x4096xf32>
  }
  func.func private @dynamic_index_in_dim_13(%arg0: tensor<4x8x128x256xf32>, %arg1: tensor<i32>) -> tensor<8x128x256xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, %c_1, sizes = [1, 8, 128, 256] : (tensor<4x8x128x256xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x8x128x256xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x8x128x256xf32>) -> tensor<8x128x256xf32>
    return %1 : tensor<8x128x256xf32>
  }
  func.func private @dynamic_index_in_dim_14(%arg0: tensor<4x8x128x1xf32>, %arg1: tensor<i32>) -> tensor<8x128x1xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, %c_1, sizes = [1, 8, 128, 1] : (tensor<4x8x128x1xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x8x128x1xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x8x128x1xf32>) -> tensor<8x128x1xf32>
    return %1 : tensor<8x128x1xf32>
  }
  func.func private @dynamic_index_in_dim_15(%arg0: tensor<4x1x1x256xf32>, %arg1: tensor<i32>) -> tensor<1x1x256xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, %c_1, sizes = [1, 1, 1, 256] : (tensor<4x1x1x256xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x1x1x256xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x1x1x256xf32>) -> tensor<1x1x256xf32>
    return %1 : tensor<1x1x256xf32>
  }
  func.func private @dynamic_index_in_dim_16(%arg0: tensor<4x8x128x8x32xf32>, %arg1: tensor<i32>) -> tensor<8x128x8x32xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, %c_1, %c_2, sizes = [1, 8, 128, 8, 32] : (tensor<4x8x128x8x32xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x8x128x8x32xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x8x128x8x32xf32>) -> tensor<8x128x8x32xf32>
    return %1 : tensor<8x128x8x32xf32>
  }
  func.func private @dynamic_index_in_dim_17(%arg0: tensor<4x8x8x128x128xf32>, %arg1: tensor<i32>) -> tensor<8x8x128x128xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, %c_1, %c_2, sizes = [1, 8, 8, 128, 128] : (tensor<4x8x8x128x128xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x8x8x128x128xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x8x8x128x128xf32>) -> tensor<8x8x128x128xf32>
    return %1 : tensor<8x8x128x128xf32>
  }
  func.func private @dynamic_index_in_dim_18(%arg0: tensor<4x8x8x128x1xf32>, %arg1: tensor<i32>) -> tensor<8x8x128x1xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, %c_1, %c_2, sizes = [1, 8, 8, 128, 1] : (tensor<4x8x8x128x1xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x8x8x128x1xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x8x8x128x1xf32>) -> tensor<8x8x128x1xf32>
    return %1 : tensor<8x8x128x1xf32>
  }
  func.func private @dynamic_index_in_dim_19(%arg0: tensor<4x8x128x1024xf32>, %arg1: tensor<i32>) -> tensor<8x128x1024xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, %c_1, sizes = [1, 8, 128, 1024] : (tensor<4x8x128x1024xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x8x128x1024xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x8x128x1024xf32>) -> tensor<8x128x1024xf32>
    return %1 : tensor<8x128x1024xf32>
  }
  func.func private @closed_call_20(%arg0: tensor<8x8x128x128xi1>, %arg1: tensor<8x128x256xf32>, %arg2: tensor<8x128x256xf32>, %arg3: tensor<8x128x1xf32>, %arg4: tensor<8x128x1xf32>, %arg5: tensor<8x128x256xf32>, %arg6: tensor<1x1x256xf32>, %arg7: tensor<8x128x256xf32>, %arg8: tensor<256x768xf32>, %arg9: tensor<8x128x256xf32>, %arg10: tensor<8x128x8x32xf32>, %arg11: tensor<8x128x8x32xf32>, %arg12: tensor<8x8x128x128xf32>, %arg13: tensor<8x8x128x1xf32>, %arg14: tensor<8x8x128x1xf32>, %arg15: tensor<8x8x128x128xf32>, %arg16: tensor<8x128x8x32xf32>, %arg17: tensor<256x256xf32>, %arg18: tensor<8x128x256xf32>, %arg19: tensor<8x128x256xf32>, %arg20: tensor<8x128x1xf32>, %arg21: tensor<8x128x1xf32>, %arg22: tensor<8x128x256xf32>, %arg23: tensor<1x1x256xf32>, %arg24: tensor<8x128x256xf32>, %arg25: tensor<256x1024xf32>, %arg26: tensor<8x128x256xf32>, %arg27: tensor<8x128x1024xf32>, %arg28: tensor<8x128x1024xf32>, %arg29: tensor<8x128x1024xf32>, %arg30: tensor<8x128x1024xf32>, %arg31: tensor<8x128x1024xf32>, %arg32: tensor<1024x256xf32>, %arg33: tensor<8x128x1024xf32>) -> (tensor<8x128x256xf32>, tensor<1024x256xf32>, tensor<256xf32>, tensor<256xf32>, tensor<256x256xf32>, tensor<256x768xf32>, tensor<256x1024xf32>) {
    %0 = stablehlo.dot_general %arg1, %arg33, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x128x256xf32>, tensor<8x128x1024xf32>) -> tensor<256x1024xf32>
    %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<256x1024xf32>) -> tensor<1024x256xf32>
    %2 = stablehlo.dot_general %arg1, %arg32, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x128x256xf32>, tensor<1024x256xf32>) -> tensor<8x128x1024xf32>
    %3 = stablehlo.multiply %arg31, %2 : tensor<8x128x1024xf32>
    %4 = stablehlo.multiply %2, %arg30 : tensor<8x128x1024xf32>
    %cst = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8x128x1024xf32>
    %6 = stablehlo.multiply %5, %3 : tensor<8x128x1024xf32>
    %7 = stablehlo.multiply %6, %arg29 : tensor<8x128x1024xf32>
    %8 = stablehlo.multiply %7, %arg28 : tensor<8x128x1024xf32>
    %9 = stablehlo.add %7, %8 : tensor<8x128x1024xf32>
    %cst_0 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %10 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<8x128x1024xf32>
    %11 = stablehlo.multiply %10, %9 : tensor<8x128x1024xf32>
    %12 = stablehlo.add %4, %11 : tensor<8x128x1024xf32>
    %cst_1 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %13 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<8x128x1024xf32>
    %14 = stablehlo.multiply %13, %11 : tensor<8x128x1024xf32>
    %15 = stablehlo.multiply %14, %arg27 : tensor<8x128x1024xf32>
    %16 = stablehlo.add %12, %15 : tensor<8x128x1024xf32>
    %17 = stablehlo.dot_general %16, %arg26, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x128x1024xf32>, tensor<8x128x256xf32>) -> tensor<1024x256xf32>
    %18 = stablehlo.transpose %17, dims = [1, 0] : (tensor<1024x256xf32>) -> tensor<256x1024xf32>
    %19 = stablehlo.dot_general %16, %arg25, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x128x1024xf32>, tensor<256x1024xf32>) -> tensor<8x128x256xf32>
    %20 = stablehlo.multiply %arg24, %19 : tensor<8x128x256xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %21 = stablehlo.reduce(%20 init: %cst_2) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x128x256xf32>, tensor<f32>) -> tensor<256xf32>
    %22 = stablehlo.reshape %21 : (tensor<256xf32>) -> tensor<1x1x256xf32>
    %23 = stablehlo.broadcast_in_dim %arg23, dims = [0, 1, 2] : (tensor<1x1x256xf32>) -> tensor<8x128x256xf32>
    %24 = stablehlo.multiply %19, %23 : tensor<8x128x256xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %25 = stablehlo.reduce(%22 init: %cst_3) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x256xf32>, tensor<f32>) -> tensor<256xf32>
    %26 = stablehlo.multiply %arg22, %24 : tensor<8x128x256xf32>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %27 = stablehlo.reduce(%26 init: %cst_4) applies stablehlo.add across dimensions = [2] : (tensor<8x128x256xf32>, tensor<f32>) -> tensor<8x128xf32>
    %28 = stablehlo.reshape %27 : (tensor<8x128xf32>) -> tensor<8x128x1xf32>
    %29 = stablehlo.broadcast_in_dim %arg21, dims = [0, 1, 2] : (tensor<8x128x1xf32>) -> tensor<8x128x256xf32>
    %30 = stablehlo.multiply %24, %29 : tensor<8x128x256xf32>
    %31 = stablehlo.multiply %28, %arg20 : tensor<8x128x1xf32>
    %32 = stablehlo.negate %30 : tensor<8x128x256xf32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %33 = stablehlo.reduce(%32 init: %cst_5) applies stablehlo.add across dimensions = [2] : (tensor<8x128x256xf32>, tensor<f32>) -> tensor<8x128xf32>
    %34 = stablehlo.reshape %33 : (tensor<8x128xf32>) -> tensor<8x128x1xf32>
    %35 = stablehlo.add %arg1, %30 : tensor<8x128x256xf32>
    %cst_6 = stablehlo.constant dense<2.560000e+02> : tensor<f32>
    %36 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<8x128x1xf32>
    %37 = stablehlo.divide %31, %36 : tensor<8x128x1xf32>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %38 = stablehlo.reduce(%37 init: %cst_7) applies stablehlo.add across dimensions = [2] : (tensor<8x128x1xf32>, tensor<f32>) -> tensor<8x128xf32>
    %39 = stablehlo.broadcast_in_dim %38, dims = [0, 1] : (tensor<8x128xf32>) -> tensor<8x128x256xf32>
    %40 = stablehlo.multiply %39, %arg19 : tensor<8x128x256xf32>
    %41 = stablehlo.negate %40 : tensor<8x128x256xf32>
    %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %42 = stablehlo.reduce(%41 init: %cst_8) applies stablehlo.add across dimensions = [2] : (tensor<8x128x256xf32>, tensor<f32>) -> tensor<8x128xf32>
    %43 = stablehlo.reshape %42 : (tensor<8x128xf32>) -> tensor<8x128x1xf32>
    %44 = stablehlo.add %35, %40 : tensor<8x128x256xf32>
    %45 = stablehlo.add %34, %43 : tensor<8x128x1xf32>
    %cst_9 = stablehlo.constant dense<2.560000e+02> : tensor<f32>
    %46 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<8x128x1xf32>
    %47 = stablehlo.divide %45, %46 : tensor<8x128x1xf32>
    %cst_10 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %48 = stablehlo.reduce(%47 init: %cst_10) applies stablehlo.add across dimensions = [2] : (tensor<8x128x1xf32>, tensor<f32>) -> tensor<8x128xf32>
    %49 = stablehlo.broadcast_in_dim %48, dims = [0, 1] : (tensor<8x128xf32>) -> tensor<8x128x256xf32>
    %50 = stablehlo.add %44, %49 : tensor<8x128x256xf32>
    %51 = stablehlo.dot_general %50, %arg18, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x128x256xf32>, tensor<8x128x256xf32>) -> tensor<256x256xf32>
    %52 = stablehlo.transpose %51, dims = [1, 0] : (tensor<256x256xf32>) -> tensor<256x256xf32>
    %53 = stablehlo.dot_general %50, %arg17, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x128x256xf32>, tensor<256x256xf32>) -> tensor<8x128x256xf32>
    %54 = stablehlo.reshape %53 : (tensor<8x128x256xf32>) -> tensor<8x128x8x32xf32>
    %55 = stablehlo.transpose %54, dims = [0, 2, 3, 1] : (tensor<8x128x8x32xf32>) -> tensor<8x8x32x128xf32>
    %56 = stablehlo.dot_general %55, %arg16, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [3], precision = [DEFAULT, DEFAULT] : (tensor<8x8x32x128xf32>, tensor<8x128x8x32xf32>) -> tensor<8x8x128x128xf32>
    %57 = stablehlo.dot_general %55, %arg15, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2], precision = [DEFAULT, DEFAULT] : (tensor<8x8x32x128xf32>, tensor<8x8x128x128xf32>) -> tensor<8x8x32x128xf32>
    %58 = stablehlo.transpose %57, dims = [0, 3, 1, 2] : (tensor<8x8x32x128xf32>) -> tensor<8x128x8x32xf32>
    %59 = stablehlo.broadcast_in_dim %arg14, dims = [0, 1, 2, 3] : (tensor<8x8x128x1xf32>) -> tensor<8x8x128x128xf32>
    %60 = stablehlo.multiply %56, %59 : tensor<8x8x128x128xf32>
    %61 = stablehlo.multiply %60, %arg12 : tensor<8x8x128x128xf32>
    %cst_11 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %62 = stablehlo.reduce(%61 init: %cst_11) applies stablehlo.add across dimensions = [3] : (tensor<8x8x128x128xf32>, tensor<f32>) -> tensor<8x8x128xf32>
    %63 = stablehlo.reshape %62 : (tensor<8x8x128xf32>) -> tensor<8x8x128x1xf32>
    %64 = stablehlo.negate %63 : tensor<8x8x128x1xf32>
    %65 = stablehlo.broadcast_in_dim %arg13, dims = [0, 1, 2, 3] : (tensor<8x8x128x1xf32>) -> tensor<8x8x128x128xf32>
    %66 = stablehlo.divide %56, %65 : tensor<8x8x128x128xf32>
    %cst_12 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %67 = stablehlo.reduce(%64 init: %cst_12) applies stablehlo.add across dimensions = [3] : (tensor<8x8x128x1xf32>, tensor<f32>) -> tensor<8x8x128xf32>
    %68 = stablehlo.broadcast_in_dim %67, dims = [0, 1, 2] : (tensor<8x8x128xf32>) -> tensor<8x8x128x128xf32>
    %69 = stablehlo.add %66, %68 : tensor<8x8x128x128xf32>
    %70 = stablehlo.multiply %69, %arg12 : tensor<8x8x128x128xf32>
    %71 = call @_where_21(%arg0, %70) : (tensor<8x8x128x128xi1>, tensor<8x8x128x128xf32>) -> tensor<8x8x128x128xf32>
    %cst_13 = stablehlo.constant dense<5.65685415> : tensor<f32>
    %72 = stablehlo.broadcast_in_dim %cst_13, dims = [] : (tensor<f32>) -> tensor<8x8x128x128xf32>
    %73 = stablehlo.divide %71, %72 : tensor<8x8x128x128xf32>
    %74 = stablehlo.dot_general %73, %arg11, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x8x128x128xf32>, tensor<8x128x8x32xf32>) -> tensor<8x8x128x32xf32>
    %75 = stablehlo.transpose %74, dims = [0, 2, 1, 3] : (tensor<8x8x128x32xf32>) -> tensor<8x128x8x32xf32>
    %76 = stablehlo.dot_general %73, %arg10, batching_dims = [0, 1] x [0, 2], contracting_dims = [3] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x8x128x128xf32>, tensor<8x128x8x32xf32>) -> tensor<8x8x128x32xf32>
    %77 = stablehlo.transpose %76, dims = [0, 2, 1, 3] : (tensor<8x8x128x32xf32>) -> tensor<8x128x8x32xf32>
    %78 = stablehlo.reshape %58 : (tensor<8x128x8x32xf32>) -> tensor<8x128x256xf32>
    %79 = stablehlo.reshape %75 : (tensor<8x128x8x32xf32>) -> tensor<8x128x256xf32>
    %80 = stablehlo.reshape %77 : (tensor<8x128x8x32xf32>) -> tensor<8x128x256xf32>
    %81 = stablehlo.concatenate %80, %79, %78, dim = 2 : (tensor<8x128x256xf32>, tensor<8x128x256xf32>, tensor<8x128x256xf32>) -> tensor<8x128x768xf32>
    %82 = stablehlo.dot_general %81, %arg9, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x128x768xf32>, tensor<8x128x256xf32>) -> tensor<768x256xf32>
    %83 = stablehlo.transpose %82, dims = [1, 0] : (tensor<768x256xf32>) -> tensor<256x768xf32>
    %84 = stablehlo.dot_general %81, %arg8, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x128x768xf32>, tensor<256x768xf32>) -> tensor<8x128x256xf32>
    %85 = stablehlo.multiply %arg7, %84 : tensor<8x128x256xf32>
    %cst_14 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %86 = stablehlo.reduce(%85 init: %cst_14) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x128x256xf32>, tensor<f32>) -> tensor<256xf32>
    %87 = stablehlo.reshape %86 : (tensor<256xf32>) -> tensor<1x1x256xf32>
    %88 = stablehlo.broadcast_in_dim %arg6, dims = [0, 1, 2] : (tensor<1x1x256xf32>) -> tensor<8x128x256xf32>
    %89 = stablehlo.multiply %84, %88 : tensor<8x128x256xf32>
    %cst_15 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %90 = stablehlo.reduce(%87 init: %cst_15) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x256xf32>, tensor<f32>) -> tensor<256xf32>
    %91 = stablehlo.multiply %arg5, %89 : tensor<8x128x256xf32>
    %cst_16 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %92 = stablehlo.reduce(%91 init: %cst_16) applies stablehlo.add across dimensions = [2] : (tensor<8x128x256xf32>, tensor<f32>) -> tensor<8x128xf32>
    %93 = stablehlo.reshape %92 : (tensor<8x128xf32>) -> tensor<8x128x1xf32>
    %94 = stablehlo.broadcast_in_dim %arg4, dims = [0, 1, 2] : (tensor<8x128x1xf32>) -> tensor<8x128x256xf32>
    %95 = stablehlo.multiply %89, %94 : tensor<8x128x256xf32>
    %96 = stablehlo.multiply %93, %arg3 : tensor<8x128x1xf32>
    %97 = stablehlo.negate %95 : tensor<8x128x256xf32>
    %cst_17 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %98 = stablehlo.reduce(%97 init: %cst_17) applies stablehlo.add across dimensions = [2] : (tensor<8x128x256xf32>, tensor<f32>) -> tensor<8x128xf32>
    %99 = stablehlo.reshape %98 : (tensor<8x128xf32>) -> tensor<8x128x1xf32>
    %100 = stablehlo.add %50, %95 : tensor<8x128x256xf32>
    %cst_18 = stablehlo.constant dense<2.560000e+02> : tensor<f32>
    %101 = stablehlo.broadcast_in_dim %cst_18, dims = [] : (tensor<f32>) -> tensor<8x128x1xf32>
    %102 = stablehlo.divide %96, %101 : tensor<8x128x1xf32>
    %cst_19 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %103 = stablehlo.reduce(%102 init: %cst_19) applies stablehlo.add across dimensions = [2] : (tensor<8x128x1xf32>, tensor<f32>) -> tensor<8x128xf32>
    %104 = stablehlo.broadcast_in_dim %103, dims = [0, 1] : (tensor<8x128xf32>) -> tensor<8x128x256xf32>
    %105 = stablehlo.multiply %104, %arg2 : tensor<8x128x256xf32>
    %106 = stablehlo.negate %105 : tensor<8x128x256xf32>
    %cst_20 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %107 = stablehlo.reduce(%106 init: %cst_20) applies stablehlo.add across dimensions = [2] : (tensor<8x128x256xf32>, tensor<f32>) -> tensor<8x128xf32>
    %108 = stablehlo.reshape %107 : (tensor<8x128xf32>) -> tensor<8x128x1xf32>
    %109 = stablehlo.add %100, %105 : tensor<8x128x256xf32>
    %110 = stablehlo.add %99, %108 : tensor<8x128x1xf32>
    %cst_21 = stablehlo.constant dense<2.560000e+02> : tensor<f32>
    %111 = stablehlo.broadcast_in_dim %cst_21, dims = [] : (tensor<f32>) -> tensor<8x128x1xf32>
    %112 = stablehlo.divide %110, %111 : tensor<8x128x1xf32>
    %cst_22 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %113 = stablehlo.reduce(%112 init: %cst_22) applies stablehlo.add across dimensions = [2] : (tensor<8x128x1xf32>, tensor<f32>) -> tensor<8x128xf32>
    %114 = stablehlo.broadcast_in_dim %113, dims = [0, 1] : (tensor<8x128xf32>) -> tensor<8x128x256xf32>
    %115 = stablehlo.add %109, %114 : tensor<8x128x256xf32>
    return %115, %1, %90, %25, %52, %83, %18 : tensor<8x128x256xf32>, tensor<1024x256xf32>, tensor<256xf32>, tensor<256xf32>, tensor<256x256xf32>, tensor<256x768xf32>, tensor<256x1024xf32>
  }
  func.func private @_where_21(%arg0: tensor<8x8x128x128xi1>, %arg1: tensor<8x8x128x128xf32>) -> tensor<8x8x128x128xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8x8x128x128xf32>
    %1 = stablehlo.select %arg0, %arg1, %0 : tensor<8x8x128x128xi1>, tensor<8x8x128x128xf32>
    return %1 : tensor<8x8x128x128xf32>
  }
  func.func private @dynamic_update_index_in_dim_22(%arg0: tensor<4x1024x256xf32>, %arg1: tensor<1024x256xf32>, %arg2: tensor<i32>) -> tensor<4x1024x256xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2] : (tensor<1024x256xf32>) -> tensor<1x1024x256xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c, %c_0 : (tensor<4x1024x256xf32>, tensor<1x1024x256xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<4x1024x256xf32>
    return %1 : tensor<4x1024x256xf32>
  }
  func.func private @dynamic_update_index_in_dim_23(%arg0: tensor<4x256xf32>, %arg1: tensor<256xf32>, %arg2: tensor<i32>) -> tensor<4x256xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1] : (tensor<256xf32>) -> tensor<1x256xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c : (tensor<4x256xf32>, tensor<1x256xf32>, tensor<i32>, tensor<i32>) -> tensor<4x256xf32>
    return %1 : tensor<4x256xf32>
  }
  func.func private @dynamic_update_index_in_dim_24(%arg0: tensor<4x256x256xf32>, %arg1: tensor<256x256xf32>, %arg2: tensor<i32>) -> tensor<4x256x256xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2] : (tensor<256x256xf32>) -> tensor<1x256x256xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c, %c_0 : (tensor<4x256x256xf32>, tensor<1x256x256xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<4x256x256xf32>
    return %1 : tensor<4x256x256xf32>
  }
  func.func private @dynamic_update_index_in_dim_25(%arg0: tensor<4x256x768xf32>, %arg1: tensor<256x768xf32>, %arg2: tensor<i32>) -> tensor<4x256x768xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2] : (tensor<256x768xf32>) -> tensor<1x256x768xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c, %c_0 : (tensor<4x256x768xf32>, tensor<1x256x768xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<4x256x768xf32>
    return %1 : tensor<4x256x768xf32>
  }
  func.func private @dynamic_update_index_in_dim_26(%arg0: tensor<4x256x1024xf32>, %arg1: tensor<256x1024xf32>, %arg2: tensor<i32>) -> tensor<4x256x1024xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2] : (tensor<256x1024xf32>) -> tensor<1x256x1024xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c, %c_0 : (tensor<4x256x1024xf32>, tensor<1x256x1024xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<4x256x1024xf32>
    return %1 : tensor<4x256x1024xf32>
  }
}
