module @jit_init attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<ui32>) -> (tensor<1000xf32> {jax.result_info = "result[0]['dense.bias']"}, tensor<512x1000xf32> {jax.result_info = "result[0]['dense.weight']"}, tensor<64xf32> {jax.result_info = "result[0]['stage1.a.conv1.bias']"}, tensor<64xf32> {jax.result_info = "result[0]['stage1.a.conv1.scale']"}, tensor<3x3x64x64xf32> {jax.result_info = "result[0]['stage1.a.conv1.weight']"}, tensor<64xf32> {jax.result_info = "result[0]['stage1.a.conv2.bias']"}, tensor<64xf32> {jax.result_info = "result[0]['stage1.a.conv2.scale']"}, tensor<3x3x64x64xf32> {jax.result_info = "result[0]['stage1.a.conv2.weight']"}, tensor<64xf32> {jax.result_info = "result[0]['stage1.b.conv1.bias']"}, tensor<64xf32> {jax.result_info = "result[0]['stage1.b.conv1.scale']"}, tensor<3x3x64x64xf32> {jax.result_info = "result[0]['stage1.b.conv1.weight']"}, tensor<64xf32> {jax.result_info = "result[0]['stage1.b.conv2.bias']"}, tensor<64xf32> {jax.result_info = "result[0]['stage1.b.conv2.scale']"}, tensor<3x3x64x64xf32> {jax.result_info = "result[0]['stage1.b.conv2.weight']"}, tensor<128xf32> {jax.result_info = "result[0]['stage2.a.conv1.bias']"}, tensor<128xf32> {jax.result_info = "result[0]['stage2.a.conv1.scale']"}, tensor<3x3x64x128xf32> {jax.result_info = "result[0]['stage2.a.conv1.weight']"}, tensor<128xf32> {jax.result_info = "result[0]['stage2.a.conv2.bias']"}, tensor<128xf32> {jax.result_info = "result[0]['stage2.a.conv2.scale']"}, tensor<3x3x128x128xf32> {jax.result_info = "result[0]['stage2.a.conv2.weight']"}, tensor<128xf32> {jax.result_info = "result[0]['stage2.a.project.bias']"}, tensor<128xf32> {jax.result_info = "result[0]['stage2.a.project.scale']"}, tensor<1x1x64x128xf32> {jax.result_info = "result[0]['stage2.a.project.weight']"}, tensor<128xf32> {jax.result_info = "result[0]['stage2.b.conv1.bias']"}, tensor<128xf32> {jax.result_info = "result[0]['stage2.b.conv1.scale']"}, tensor<3x3x128x128xf32> {jax.result_info = "result[0]['stage2.b.conv1.weight']"}, tensor<128xf32> {jax.result_info = "result[0]['stage2.b.conv2.bias']"}, tensor<128xf32> {jax.result_info = "result[0]['stage2.b.conv2.scale']"}, tensor<3x3x128x128xf32> {jax.result_info = "result[0]['stage2.b.conv2.weight']"}, tensor<256xf32> {jax.result_info = "result[0]['stage3.a.conv1.bias']"}, tensor<256xf32> {jax.result_info = "result[0]['stage3.a.conv1.scale']"}, tensor<3x3x128x256xf32> {jax.result_info = "result[0]['stage3.a.conv1.weight']"}, tensor<256xf32> {jax.result_info = "result[0]['stage3.a.conv2.bias']"}, tensor<256xf32> {jax.result_info = "result[0]['stage3.a.conv2.scale']"}, tensor<3x3x256x256xf32> {jax.result_info = "result[0]['stage3.a.conv2.weight']"}, tensor<256xf32> {jax.result_info = "result[0]['stage3.a.project.bias']"}, tensor<256xf32> {jax.result_info = "result[0]['stage3.a.project.scale']"}, tensor<1x1x128x256xf32> {jax.result_info = "result[0]['stage3.a.project.weight']"}, tensor<256xf32> {jax.result_info = "result[0]['stage3.b.conv1.bias']"}, tensor<256xf32> {jax.result_info = "result[0]['stage3.b.conv1.scale']"}, tensor<3x3x256x256xf32> {jax.result_info = "result[0]['stage3.b.conv1.weight']"}, tensor<256xf32> {jax.result_info = "result[0]['stage3.b.conv2.bias']"}, tensor<256xf32> {jax.result_info = "result[0]['stage3.b.conv2.scale']"}, tensor<3x3x256x256xf32> {jax.result_info = "result[0]['stage3.b.conv2.weight']"}, tensor<512xf32> {jax.result_info = "result[0]['stage4.a.conv1.bias']"}, tensor<512xf32> {jax.result_info = "result[0]['stage4.a.conv1.scale']"}, tensor<3x3x256x512xf32> {jax.result_info = "result[0]['stage4.a.conv1.weight']"}, tensor<512xf32> {jax.result_info = "result[0]['stage4.a.conv2.bias']"}, tensor<512xf32> {jax.result_info = "result[0]['stage4.a.conv2.scale']"}, tensor<3x3x512x512xf32> {jax.result_info = "result[0]['stage4.a.conv2.weight']"}, tensor<512xf32> {jax.result_info = "result[0]['stage4.a.project.bias']"}, tensor<512xf32> {jax.result_info = "result[0]['stage4.a.project.scale']"}, tensor<1x1x256x512xf32> {jax.result_info = "result[0]['stage4.a.project.weight']"}, tensor<512xf32> {jax.result_info = "result[0]['stage4.b.conv1.bias']"}, tensor<512xf32> {jax.result_info = "result[0]['stage4.b.conv1.scale']"}, tensor<3x3x512x512xf32> {jax.result_info = "result[0]['stage4.b.conv1.weight']"}, tensor<512xf32> {jax.result_info = "result[0]['stage4.b.conv2.bias']"}, tensor<512xf32> {jax.result_info = "result[0]['stage4.b.conv2.scale']"}, tensor<3x3x512x512xf32> {jax.result_info = "result[0]['stage4.b.conv2.weight']"}, tensor<64xf32> {jax.result_info = "result[0]['stem.bias']"}, tensor<64xf32> {jax.result_info = "result[0]['stem.scale']"}, tensor<7x7x3x64xf32> {jax.result_info = "result[0]['stem.weight']"}, tensor<1000xf32> {jax.result_info = "result[1]['dense.bias']"}, tensor<512x1000xf32> {jax.result_info = "result[1]['dense.weight']"}, tensor<64xf32> {jax.result_info = "result[1]['stage1.a.conv1.bias']"}, tensor<64xf32> {jax.result_info = "result[1]['stage1.a.conv1.scale']"}, tensor<3x3x64x64xf32> {jax.result_info = "result[1]['stage1.a.conv1.weight']"}, tensor<64xf32> {jax.result_info = "result[1]['stage1.a.conv2.bias']"}, tensor<64xf32> {jax.result_info = "result[1]['stage1.a.conv2.scale']"}, tensor<3x3x64x64xf32> {jax.result_info = "result[1]['stage1.a.conv2.weight']"}, tensor<64xf32> {jax.result_info = "result[1]['stage1.b.conv1.bias']"}, tensor<64xf32> {jax.result_info = "result[1]['stage1.b.conv1.scale']"}, tensor<3x3x64x64xf32> {jax.result_info = "result[1]['stage1.b.conv1.weight']"}, tensor<64xf32> {jax.result_info = "result[1]['stage1.b.conv2.bias']"}, tensor<64xf32> {jax.result_info = "result[1]['stage1.b.conv2.scale']"}, tensor<3x3x64x64xf32> {jax.result_info = "result[1]['stage1.b.conv2.weight']"}, tensor<128xf32> {jax.result_info = "result[1]['stage2.a.conv1.bias']"}, tensor<128xf32> {jax.result_info = "result[1]['stage2.a.conv1.scale']"}, tensor<3x3x64x128xf32> {jax.result_info = "result[1]['stage2.a.conv1.weight']"}, tensor<128xf32> {jax.result_info = "result[1]['stage2.a.conv2.bias']"}, tensor<128xf32> {jax.result_info = "result[1]['stage2.a.conv2.scale']"}, tensor<3x3x128x128xf32> {jax.result_info = "result[1]['stage2.a.conv2.weight']"}, tensor<128xf32> {jax.result_info = "result[1]['stage2.a.project.bias']"}, tensor<128xf32> {jax.result_info = "result[1]['stage2.a.project.scale']"}, tensor<1x1x64x128xf32> {jax.result_info = "result[1]['stage2.a.project.weight']"}, tensor<128xf32> {jax.result_info = "result[1]['stage2.b.conv1.bias']"}, tensor<128xf32> {jax.result_info = "result[1]['stage2.b.conv1.scale']"}, tensor<3x3x128x128xf32> {jax.result_info = "result[1]['stage2.b.conv1.weight']"}, tensor<128xf32> {jax.result_info = "result[1]['stage2.b.conv2.bias']"}, tensor<128xf32> {jax.result_info = "result[1]['stage2.b.conv2.scale']"}, tensor<3x3x128x128xf32> {jax.result_info = "result[1]['stage2.b.conv2.weight']"}, tensor<256xf32> {jax.result_info = "result[1]['stage3.a.conv1.bias']"}, tensor<256xf32> {jax.result_info = "result[1]['stage3.a.conv1.scale']"}, tensor<3x3x128x256xf32> {jax.result_info = "result[1]['stage3.a.conv1.weight']"}, tensor<256xf32> {jax.result_info = "result[1]['stage3.a.conv2.bias']"}, tensor<256xf32> {jax.result_info = "result[1]['stage3.a.conv2.scale']"}, tensor<3x3x256x256xf32> {jax.result_info = "result[1]['stage3.a.conv2.weight']"}, tensor<256xf32> {jax.result_info = "result[1]['stage3.a.project.bias']"}, tensor<256xf32> {jax.result_info = "result[1]['stage3.a.project.scale']"}, tensor<1x1x128x256xf32> {jax.result_info = "result[1]['stage3.a.project.weight']"}, tensor<256xf32> {jax.result_info = "result[1]['stage3.b.conv1.bias']"}, tensor<256xf32> {jax.result_info = "result[1]['stage3.b.conv1.scale']"}, tensor<3x3x256x256xf32> {jax.result_info = "result[1]['stage3.b.conv1.weight']"}, tensor<256xf32> {jax.result_info = "result[1]['stage3.b.conv2.bias']"}, tensor<256xf32> {jax.result_info = "result[1]['stage3.b.conv2.scale']"}, tensor<3x3x256x256xf32> {jax.result_info = "result[1]['stage3.b.conv2.weight']"}, tensor<512xf32> {jax.result_info = "result[1]['stage4.a.conv1.bias']"}, tensor<512xf32> {jax.result_info = "result[1]['stage4.a.conv1.scale']"}, tensor<3x3x256x512xf32> {jax.result_info = "result[1]['stage4.a.conv1.weight']"}, tensor<512xf32> {jax.result_info = "result[1]['stage4.a.conv2.bias']"}, tensor<512xf32> {jax.result_info = "result[1]['stage4.a.conv2.scale']"}, tensor<3x3x512x512xf32> {jax.result_info = "result[1]['stage4.a.conv2.weight']"}, tensor<512xf32> {jax.result_info = "result[1]['stage4.a.project.bias']"}, tensor<512xf32> {jax.result_info = "result[1]['stage4.a.project.scale']"}, tensor<1x1x256x512xf32> {jax.result_info = "result[1]['stage4.a.project.weight']"}, tensor<512xf32> {jax.result_info = "result[1]['stage4.b.conv1.bias']"}, tensor<512xf32> {jax.result_info = "result[1]['stage4.b.conv1.scale']"}, tensor<3x3x512x512xf32> {jax.result_info = "result[1]['stage4.b.conv1.weight']"}, tensor<512xf32> {jax.result_info = "result[1]['stage4.b.conv2.bias']"}, tensor<512xf32> {jax.result_info = "result[1]['stage4.b.conv2.scale']"}, tensor<3x3x512x512xf32> {jax.result_info = "result[1]['stage4.b.conv2.weight']"}, tensor<64xf32> {jax.result_info = "result[1]['stem.bias']"}, tensor<64xf32> {jax.result_info = "result[1]['stem.scale']"}, tensor<7x7x3x64xf32> {jax.result_info = "result[1]['stem.weight']"}, tensor<64xf32> {jax.result_info = "result[2]['stage1.a.conv1.mean']"}, tensor<64xf32> {jax.result_info = "result[2]['stage1.a.conv1.var']"}, tensor<64xf32> {jax.result_info = "result[2]['stage1.a.conv2.mean']"}, tensor<64xf32> {jax.result_info = "result[2]['stage1.a.conv2.var']"}, tensor<64xf32> {jax.result_info = "result[2]['stage1.b.conv1.mean']"}, tensor<64xf32> {jax.result_info = "result[2]['stage1.b.conv1.var']"}, tensor<64xf32> {jax.result_info = "result[2]['stage1.b.conv2.mean']"}, tensor<64xf32> {jax.result_info = "result[2]['stage1.b.conv2.var']"}, tensor<128xf32> {jax.result_info = "result[2]['stage2.a.conv1.mean']"}, tensor<128xf32> {jax.result_info = "result[2]['stage2.a.conv1.var']"}, tensor<128xf32> {jax.result_info = "result[2]['stage2.a.conv2.mean']"}, tensor<128xf32> {jax.result_info = "result[2]['stage2.a.conv2.var']"}, tensor<128xf32> {jax.result_info = "result[2]['stage2.a.project.mean']"}, tensor<128xf32> {jax.result_info = "result[2]['stage2.a.project.var']"}, tensor<128xf32> {jax.result_info = "result[2]['stage2.b.conv1.mean']"}, tensor<128xf32> {jax.result_info = "result[2]['stage2.b.conv1.var']"}, tensor<128xf32> {jax.result_info = "result[2]['stage2.b.conv2.mean']"}, tensor<128xf32> {jax.result_info = "result[2]['stage2.b.conv2.var']"}, tensor<256xf32> {jax.result_info = "result[2]['stage3.a.conv1.mean']"}, tensor<256xf32> {jax.result_info = "result[2]['stage3.a.conv1.var']"}, tensor<256xf32> {jax.result_info = "result[2]['stage3.a.conv2.mean']"}, tensor<256xf32> {jax.result_info = "result[2]['stage3.a.conv2.var']"}, tensor<256xf32> {jax.result_info = "result[2]['stage3.a.project.mean']"}, tensor<256xf32> {jax.result_info = "result[2]['stage3.a.project.var']"}, tensor<256xf32> {jax.result_info = "result[2]['stage3.b.conv1.mean']"}, tensor<256xf32> {jax.result_info = "result[2]['stage3.b.conv1.var']"}, tensor<256xf32> {jax.result_info = "result[2]['stage3.b.conv2.mean']"}, tensor<256xf32> {jax.result_info = "result[2]['stage3.b.conv2.var']"}, tensor<512xf32> {jax.result_info = "result[2]['stage4.a.conv1.mean']"}, tensor<512xf32> {jax.result_info = "result[2]['stage4.a.conv1.var']"}, tensor<512xf32> {jax.result_info = "result[2]['stage4.a.conv2.mean']"}, tensor<512xf32> {jax.result_info = "result[2]['stage4.a.conv2.var']"}, tensor<512xf32> {jax.result_info = "result[2]['stage4.a.project.mean']"}, tensor<512xf32> {jax.result_info = "result[2]['stage4.a.project.var']"}, tensor<512xf32> {jax.result_info = "result[2]['stage4.b.conv1.mean']"}, tensor<512xf32> {jax.result_info = "result[2]['stage4.b.conv1.var']"}, tensor<512xf32> {jax.result_info = "result[2]['stage4.b.conv2.mean']"}, tensor<512xf32> {jax.result_info = "result[2]['stage4.b.conv2.var']"}, tensor<64xf32> {jax.result_info = "result[2]['stem.mean']"}, tensor<64xf32> {jax.result_info = "result[2]['stem.var']"}) {
    %0 = stablehlo.iota dim = 0 : tensor<11678912xui32>
    %c = stablehlo.constant dense<0> : tensor<ui32>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<ui32>) -> tensor<11678912xui32>
    %c_0 = stablehlo.constant dense<0> : tensor<ui32>
    %2 = stablehlo.xor %arg0, %c_0 : tensor<ui32>
    %c_1 = stablehlo.constant dense<466688986> : tensor<ui32>
    %3 = stablehlo.xor %2, %c_1 : tensor<ui32>
    %4 = stablehlo.broadcast_in_dim %arg0, dims = [] : (tensor<ui32>) -> tensor<11678912xui32>
    %5 = stablehlo.add %0, %4 : tensor<11678912xui32>
    %c_2 = stablehlo.constant dense<0> : tensor<ui32>
    %6 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<ui32>) -> tensor<11678912xui32>
    %7 = stablehlo.add %1, %6 : tensor<11678912xui32>
    %8 = stablehlo.add %5, %7 : tensor<11678912xui32>
    %c_3 = stablehlo.constant dense<13> : tensor<ui32>
    %9 = stablehlo.broadcast_in_dim %c_3, dims = [] : (tensor<ui32>) -> tensor<11678912xui32>
    %10 = stablehlo.shift_left %7, %9 : tensor<11678912xui32>
    %c_4 = stablehlo.constant dense<19> : tensor<ui32>
    %11 = stablehlo.broadcast_in_dim %c_4, dims = [] : (tensor<ui32>) -> tensor<11678912xui32>
    %12 = stablehlo.shift_right_logical %7, %11 : tensor<11678912xui32>
    %13 = stablehlo.or %10, %12 : tensor<11678912xui32>
    %14 = stablehlo.xor %13, %8 : tensor<11678912xui32>
    %15 = stablehlo.add %8, %14 : tensor<11678912xui32>
    %c_5 = stablehlo.constant dense<15> : tensor<ui32>
    %16 = stablehlo.broadcast_in_dim %c_5, dims = [] : (tensor<ui32>) -> tensor<11678912xui32>
    %17 = stablehlo.shift_left %14, %16 : tensor<11678912xui32>
    %c_6 = stablehlo.constant dense<17> : tensor<ui32>
    %18 = stablehlo.broadcast_in_dim %c_6, dims = [] : (tensor<ui32>) -> tensor<11678912xui32>
    %19 = stablehlo.shift_right_logical %14, %18 : tensor<11678912xui32>
    %20 = stablehlo.or %17, %19 : tensor<11678912xui32>
    %21 = stablehlo.xor %20, %15 : tensor<11678912xui32>
    %22 = stablehlo.add %15, %21 : tensor<11678912xui32>
    %c_7 = stablehlo.constant dense<26> : tensor<ui32>
    %23 = stablehlo.broadcast_in_dim %c_7, dims = [] : (tensor<ui32>) -> tensor<11678912xui32>
    %24 = stablehlo.shift_left %21, %23 : tensor<11678912xui32>
    %c_8 = stablehlo.constant dense<6> : tensor<ui32>
    %25 = stablehlo.broadcast_in_dim %c_8, dims = [] : (tensor<ui32>) -> tensor<11678912xui32>
    %26 = stablehlo.shift_right_logical %21, %25 : tensor<11678912xui32>
    %27 = stablehlo.or %24, %26 : tensor<11678912xui32>
    %28 = stablehlo.xor %27, %22 : tensor<11678912xui32>
    %29 = stablehlo.add %22, %28 : tensor<11678912xui32>
    %c_9 = stablehlo.constant dense<6> : tensor<ui32>
    %30 = stablehlo.broadcast_in_dim %c_9, dims = [] : (tensor<ui32>) -> tensor<11678912xui32>
    %31 = stablehlo.shift_left %28, %30 : tensor<11678912xui32>
    %c_10 = stablehlo.constant dense<26> : tensor<ui32>
    %32 = stablehlo.broadcast_in_dim %c_10, dims = [] : (tensor<ui32>) -> tensor<11678912xui32>
    %33 = stablehlo.shift_right_logical %28, %32 : tensor<11678912xui32>
    %34 = stablehlo.or %31, %33 : tensor<11678912xui32>
    %35 = stablehlo.xor %34, %29 : tensor<11678912xui32>
    %c_11 = stablehlo.constant dense<0> : tensor<ui32>
    %36 = stablehlo.broadcast_in_dim %c_11, dims = [] : (tensor<ui32>) -> tensor<11678912xui32>
    %37 = stablehlo.add %29, %36 : tensor<11678912xui32>
    %c_12 = stablehlo.constant dense<1> : tensor<ui32>
    %38 = stablehlo.add %3, %c_12 : tensor<ui32>
    %39 = stablehlo.broadcast_in_dim %38, dims = [] : (tensor<ui32>) -> tensor<11678912xui32>
    %40 = stablehlo.add %35, %39 : tensor<11678912xui32>
    %41 = stablehlo.add %37, %40 : tensor<11678912xui32>
    %c_13 = stablehlo.constant dense<17> : tensor<ui32>
    %42 = stablehlo.broadcast_in_dim %c_13, dims = [] : (tensor<ui32>) -> tensor<11678912xui32>
    %43 = stablehlo.shift_left %40, %42 : tensor<11678912xui32>
    %c_14 = stablehlo.constant dense<15> : tensor<ui32>
    %44 = stablehlo.broadcast_in_dim %c_14, dims = [] : (tensor<ui32>) -> tensor<11678912xui32>
    %45 = stablehlo.shift_right_logical %40, %44 : tensor<11678912xui32>
    %46 = stablehlo.or %43, %45 : tensor<11678912xui32>
    %47 = stablehlo.xor %46, %41 : tensor<11678912xui32>
    %48 = stablehlo.add %41, %47 : tensor<11678912xui32>
    %c_15 = stablehlo.constant dense<29> : tensor<ui32>
    %49 = stablehlo.broadcast_in_dim %c_15, dims = [] : (tensor<ui32>) -> tensor<11678912xui32>
    %50 = stablehlo.shift_left %47, %49 : tensor<11678912xui32>
    %c_16 = stablehlo.constant dense<3> : tensor<ui32>
    %51 = stablehlo.broadcast_in_dim %c_16, dims = [] : (tensor<ui32>) -> tensor<11678912xui32>
    %52 = stablehlo.shift_right_logical %47, %51 : tensor<11678912xui32>
    %53 = stablehlo.or %50, %52 : tensor<11678912xui32>
    %54 = stablehlo.xor %53, %48 : tensor<11678912xui32>
    %55 = stablehlo.add %48, %54 : tensor<11678912xui32>
    %c_17 = stablehlo.constant dense<16> : tensor<ui32>
    %56 = stablehlo.broadcast_in_dim %c_17, dims = [] : (tensor<ui32>) -> tensor<11678912xui32>
    %57 = stablehlo.shift_left %54, %56 : tensor<11678912xui32>
    %c_18 = stablehlo.constant dense<16> : tensor<ui32>
    %58 = stablehlo.broadcast_in_dim %c_18, dims = [] : (tensor<ui32>) -> tensor<11678912xui32>
    %59 = stablehlo.shift_right_logical %54, %58 : tensor<11678912xui32>
    %60 = stablehlo.or %57, %59 : tensor<11678912xui32>
    %61 = stablehlo.xor %60, %55 : tensor<11678912xui32>
    %62 = stablehlo.add %55, %61 : tensor<11678912xui32>
    %c_19 = stablehlo.constant dense<24> : tensor<ui32>
    %63 = stablehlo.broadcast_in_dim %c_19, dims = [] : (tensor<ui32>) -> tensor<11678912xui32>
    %64 = stablehlo.shift_left %61, %63 : tensor<11678912xui32>
    %c_20 = stablehlo.constant dense<8> : tensor<ui32>
    %65 = stablehlo.broadcast_in_dim %c_20, dims = [] : (tensor<ui32>) -> tensor<11678912xui32>
    %66 = stablehlo.shift_right_logical %61, %65 : tensor<11678912xui32>
    %67 = stablehlo.or %64, %66 : tensor<11678912xui32>
    %68 = stablehlo.xor %67, %62 : tensor<11678912xui32>
    %69 = stablehlo.broadcast_in_dim %3, dims = [] : (tensor<ui32>) -> tensor<11678912xui32>
    %70 = stablehlo.add %62, %69 : tensor<11678912xui32>
    %c_21 = stablehlo.constant dense<2> : tensor<ui32>
    %71 = stablehlo.add %arg0, %c_21 : tensor<ui32>
    %72 = stablehlo.broadcast_in_dim %71, dims = [] : (tensor<ui32>) -> tensor<11678912xui32>
    %73 = stablehlo.add %68, %72 : tensor<11678912xui32>
    %74 = stablehlo.add %70, %73 : tensor<11678912xui32>
    %c_22 = stablehlo.constant dense<13> : tensor<ui32>
    %75 = stablehlo.broadcast_in_dim %c_22, dims = [] : (tensor<ui32>) -> tensor<11678912xui32>
    %76 = stablehlo.shift_left %73, %75 : tensor<11678912xui32>
    %c_23 = stablehlo.constant dense<19> : tensor<ui32>
    %77 = stablehlo.broadcast_in_dim %c_23, dims = [] : (tensor<ui32>) -> tensor<11678912xui32>
    %78 = stablehlo.shift_right_logical %73, %77 : tensor<11678912xui32>
    %79 = stablehlo.or %76, %78 : tensor<11678912xui32>
    %80 = stablehlo.xor %79, %74 : tensor<11678912xui32>
    %81 = stablehlo.add %74, %80 : tensor<11678912xui32>
    %c_24 = stablehlo.constant dense<15> : tensor<ui32>
    %82 = stablehlo.broadcast_in_dim %c_24, dims = [] : (tensor<ui32>) -> tensor<11678912xui32>
    %83 = stablehlo.shift_left %80, %82 : tensor<11678912xui32>
    %c_25 = stablehlo.constant dense<17> : tensor<ui32>
    %84 = stablehlo.broadcast_in_dim %c_25, dims = [] : (tensor<ui32>) -> tensor<11678912xui32>
    %85 = stablehlo.shift_right_logical %80, %84 : tensor<11678912xui32>
    %86 = stablehlo.or %83, %85 : tensor<11678912xui32>
    %87 = stablehlo.xor %86, %81 : tensor<11678912xui32>
    %88 = stablehlo.add %81, %87 : tensor<11678912xui32>
    %c_26 = stablehlo.constant dense<26> : tensor<ui32>
    %89 = stablehlo.broadcast_in_dim %c_26, dims = [] : (tensor<ui32>) -> tensor<11678912xui32>
    %90 = stablehlo.shift_left %87, %89 : tensor<11678912xui32>
    %c_27 = stablehlo.constant dense<6> : tensor<ui32>
    %91 = stablehlo.broadcast_in_dim %c_27, dims = [] : (tensor<ui32>) -> tensor<11678912xui32>
    %92 = stablehlo.shift_right_logical %87, %91 : tensor<11678912xui32>
    %93 = stablehlo.or %90, %92 : tensor<11678912xui32>
    %94 = stablehlo.xor %93, %88 : tensor<11678912xui32>
    %95 = stablehlo.add %88, %94 : tensor<11678912xui32>
    %c_28 = stablehlo.constant dense<6> : tensor<ui32>
    %96 = stablehlo.broadcast_in_dim %c_28, dims = [] : (tensor<ui32>) -> tensor<11678912xui32>
    %97 = stablehlo.shift_left %94, %96 : tensor<11678912xui32>
    %c_29 = stablehlo.constant dense<26> : tensor<ui32>
    %98 = stablehlo.broadcast_in_dim %c_29, dims = [] : (tensor<ui32>) -> tensor<11678912xui32>
    %99 = stablehlo.shift_right_logical %94, %98 : tensor<11678912xui32>
    %100 = stablehlo.or %97, %99 : tensor<11678912xui32>
    %101 = stablehlo.xor %100, %95 : tensor<11678912xui32>
    %102 = stablehlo.broadcast_in_dim %arg0, dims = [] : (tensor<ui32>) -> tensor<11678912xui32>
    %103 = stablehlo.add %95, %102 : tensor<11678912xui32>
    %c_30 = stablehlo.constant dense<0> : tensor<ui32>
    %c_31 = stablehlo.constant dense<3> : tensor<ui32>
    %104 = stablehlo.add %c_30, %c_31 : tensor<ui32>
    %105 = stablehlo.broadcast_in_dim %104, dims = [] : (tensor<ui32>) -> tensor<11678912xui32>
    %106 = stablehlo.add %101, %105 : tensor<11678912xui32>
    %107 = stablehlo.add %103, %106 : tensor<11678912xui32>
    %c_32 = stablehlo.constant dense<17> : tensor<ui32>
    %108 = stablehlo.broadcast_in_dim %c_32, dims = [] : (tensor<ui32>) -> tensor<11678912xui32>
    %109 = stablehlo.shift_left %106, %108 : tensor<11678912xui32>
    %c_33 = stablehlo.constant dense<15> : tensor<ui32>
    %110 = stablehlo.broadcast_in_dim %c_33, dims = [] : (tensor<ui32>) -> tensor<11678912xui32>
    %111 = stablehlo.shift_right_logical %106, %110 : tensor<11678912xui32>
    %112 = stablehlo.or %109, %111 : tensor<11678912xui32>
    %113 = stablehlo.xor %112, %107 : tensor<11678912xui32>
    %114 = stablehlo.add %107, %113 : tensor<11678912xui32>
    %c_34 = stablehlo.constant dense<29> : tensor<ui32>
    %115 = stablehlo.broadcast_in_dim %c_34, dims = [] : (tensor<ui32>) -> tensor<11678912xui32>
    %116 = stablehlo.shift_left %113, %115 : tensor<11678912xui32>
    %c_35 = stablehlo.constant dense<3> : tensor<ui32>
    %117 = stablehlo.broadcast_in_dim %c_35, dims = [] : (tensor<ui32>) -> tensor<11678912xui32>
    %118 = stablehlo.shift_right_logical %113, %117 : tensor<11678912xui32>
    %119 = stablehlo.or %116, %118 : tensor<11678912xui32>
    %120 = stablehlo.xor %119, %114 : tensor<11678912xui32>
    %121 = stablehlo.add %114, %120 : tensor<11678912xui32>
    %c_36 = stablehlo.constant dense<16> : tensor<ui32>
    %122 = stablehlo.broadcast_in_dim %c_36, dims = [] : (tensor<ui32>) -> tensor<11678912xui32>
    %123 = stablehlo.shift_left %120, %122 : tensor<11678912xui32>
    %c_37 = stablehlo.constant dense<16> : tensor<ui32>
    %124 = stablehlo.broadcast_in_dim %c_37, dims = [] : (tensor<ui32>) -> tensor<11678912xui32>
    %125 = stablehlo.shift_right_logical %120, %124 : tensor<11678912xui32>
    %126 = stablehlo.or %123, %125 : tensor<11678912xui32>
    %127 = stablehlo.xor %126, %121 : tensor<11678912xui32>
    %128 = stablehlo.add %121, %127 : tensor<11678912xui32>
    %c_38 = stablehlo.constant dense<24> : tensor<ui32>
    %129 = stablehlo.broadcast_in_dim %c_38, dims = [] : (tensor<ui32>) -> tensor<11678912xui32>
    %130 = stablehlo.shift_left %127, %129 : tensor<11678912xui32>
    %c_39 = stablehlo.constant dense<8> : tensor<ui32>
    %131 = stablehlo.broadcast_in_dim %c_39, dims = [] : (tensor<ui32>) -> tensor<11678912xui32>
    %132 = stablehlo.shift_right_logical %127, %131 : tensor<11678912xui32>
    %133 = stablehlo.or %130, %132 : tensor<11678912xui32>
    %134 = stablehlo.xor %133, %128 : tensor<11678912xui32>
    %c_40 = stablehlo.constant dense<0> : tensor<ui32>
    %135 = stablehlo.broadcast_in_dim %c_40, dims = [] : (tensor<ui32>) -> tensor<11678912xui32>
    %136 = stablehlo.add %128, %135 : tensor<11678912xui32>
    %c_41 = stablehlo.constant dense<4> : tensor<ui32>
    %137 = stablehlo.add %3, %c_41 : tensor<ui32>
    %138 = stablehlo.broadcast_in_dim %137, dims = [] : (tensor<ui32>) -> tensor<11678912xui32>
    %139 = stablehlo.add %134, %138 : tensor<11678912xui32>
    %140 = stablehlo.add %136, %139 : tensor<11678912xui32>
    %c_42 = stablehlo.constant dense<13> : tensor<ui32>
    %141 = stablehlo.broadcast_in_dim %c_42, dims = [] : (tensor<ui32>) -> tensor<11678912xui32>
    %142 = stablehlo.shift_left %139, %141 : tensor<11678912xui32>
    %c_43 = stablehlo.constant dense<19> : tensor<ui32>
    %143 = stablehlo.broadcast_in_dim %c_43, dims = [] : (tensor<ui32>) -> tensor<11678912xui32>
    %144 = stablehlo.shift_right_logical %139, %143 : tensor<11678912xui32>
    %145 = stablehlo.or %142, %144 : tensor<11678912xui32>
    %146 = stablehlo.xor %145, %140 : tensor<11678912xui32>
    %147 = stablehlo.add %140, %146 : tensor<11678912xui32>
    %c_44 = stablehlo.constant dense<15> : tensor<ui32>
    %148 = stablehlo.broadcast_in_dim %c_44, dims = [] : (tensor<ui32>) -> tensor<11678912xui32>
    %149 = stablehlo.shift_left %146, %148 : tensor<11678912xui32>
    %c_45 = stablehlo.constant dense<17> : tensor<ui32>
    %150 = stablehlo.broadcast_in_dim %c_45, dims = [] : (tensor<ui32>) -> tensor<11678912xui32>
    %151 = stablehlo.shift_right_logical %146, %150 : tensor<11678912xui32>
    %152 = stablehlo.or %149, %151 : tensor<11678912xui32>
    %153 = stablehlo.xor %152, %147 : tensor<11678912xui32>
    %154 = stablehlo.add %147, %153 : tensor<11678912xui32>
    %c_46 = stablehlo.constant dense<26> : tensor<ui32>
    %155 = stablehlo.broadcast_in_dim %c_46, dims = [] : (tensor<ui32>) -> tensor<11678912xui32>
    %156 = stablehlo.shift_left %153, %155 : tensor<11678912xui32>
    %c_47 = stablehlo.constant dense<6> : tensor<ui32>
    %157 = stablehlo.broadcast_in_dim %c_47, dims = [] : (tensor<ui32>) -> tensor<11678912xui32>
    %158 = stablehlo.shift_right_logical %153, %157 : tensor<11678912xui32>
    %159 = stablehlo.or %156, %158 : tensor<11678912xui32>
    %160 = stablehlo.xor %159, %154 : tensor<11678912xui32>
    %161 = stablehlo.add %154, %160 : tensor<11678912xui32>
    %162 = stablehlo.broadcast_in_dim %3, dims = [] : (tensor<ui32>) -> tensor<11678912xui32>
    %163 = stablehlo.add %161, %162 : tensor<11678912xui32>
    %c_48 = stablehlo.constant dense<8> : tensor<ui32>
    %164 = stablehlo.broadcast_in_dim %c_48, dims = [] : (tensor<ui32>) -> tensor<11678912xui32>
    %165 = stablehlo.shift_right_logical %163, %164 : tensor<11678912xui32>
    %166 = stablehlo.convert %165 : (tensor<11678912xui32>) -> tensor<11678912xf32>
    %cst = stablehlo.constant dense<0x4B800000> : tensor<f32>
    %167 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<11678912xf32>
    %168 = stablehlo.divide %166, %167 : tensor<11678912xf32>
    %169 = stablehlo.slice %168 [0:9408] : (tensor<11678912xf32>) -> tensor<9408xf32>
    %170 = stablehlo.reshape %169 : (tensor<9408xf32>) -> tensor<7x7x3x64xf32>
    %cst_49 = stablehlo.constant dense<0.404061019> : tensor<f32>
    %171 = stablehlo.broadcast_in_dim %cst_49, dims = [] : (tensor<f32>) -> tensor<7x7x3x64xf32>
    %172 = stablehlo.multiply %170, %171 : tensor<7x7x3x64xf32>
    %cst_50 = stablehlo.constant dense<0.20203051> : tensor<f32>
    %173 = stablehlo.broadcast_in_dim %cst_50, dims = [] : (tensor<f32>) -> tensor<7x7x3x64xf32>
    %174 = stablehlo.subtract %172, %173 : tensor<7x7x3x64xf32>
    %175 = stablehlo.slice %168 [9408:46272] : (tensor<11678912xf32>) -> tensor<36864xf32>
    %176 = stablehlo.reshape %175 : (tensor<36864xf32>) -> tensor<3x3x64x64xf32>
    %cst_51 = stablehlo.constant dense<0.204124153> : tensor<f32>
    %177 = stablehlo.broadcast_in_dim %cst_51, dims = [] : (tensor<f32>) -> tensor<3x3x64x64xf32>
    %178 = stablehlo.multiply %176, %177 : tensor<3x3x64x64xf32>
    %cst_52 = stablehlo.constant dense<0.102062076> : tensor<f32>
    %179 = stablehlo.broadcast_in_dim %cst_52, dims = [] : (tensor<f32>) -> tensor<3x3x64x64xf32>
    %180 = stablehlo.subtract %178, %179 : tensor<3x3x64x64xf32>
    %181 = stablehlo.slice %168 [46272:83136] : (tensor<11678912xf32>) -> tensor<36864xf32>
    %182 = stablehlo.reshape %181 : (tensor<36864xf32>) -> tensor<3x3x64x64xf32>
    %cst_53 = stablehlo.constant dense<0.204124153> : tensor<f32>
    %183 = stablehlo.broadcast_in_dim %cst_53, dims = [] : (tensor<f32>) -> tensor<3x3x64x64xf32>
    %184 = stablehlo.multiply %182, %183 : tensor<3x3x64x64xf32>
    %cst_54 = stablehlo.constant dense<0.102062076> : tensor<f32>
    %185 = stablehlo.broadcast_in_dim %cst_54, dims = [] : (tensor<f32>) -> tensor<3x3x64x64xf32>
    %186 = stablehlo.subtract %184, %185 : tensor<3x3x64x64xf32>
    %187 = stablehlo.slice %168 [83136:120000] : (tensor<11678912xf32>) -> tensor<36864xf32>
    %188 = stablehlo.reshape %187 : (tensor<36864xf32>) -> tensor<3x3x64x64xf32>
    %cst_55 = stablehlo.constant dense<0.204124153> : tensor<f32>
    %189 = stablehlo.broadcast_in_dim %cst_55, dims = [] : (tensor<f32>) -> tensor<3x3x64x64xf32>
    %190 = stablehlo.multiply %188, %189 : tensor<3x3x64x64xf32>
    %cst_56 = stablehlo.constant dense<0.102062076> : tensor<f32>
    %191 = stablehlo.broadcast_in_dim %cst_56, dims = [] : (tensor<f32>) -> tensor<3x3x64x64xf32>
    %192 = stablehlo.subtract %190, %191 : tensor<3x3x64x64xf32>
    %193 = stablehlo.slice %168 [120000:156864] : (tensor<11678912xf32>) -> tensor<36864xf32>
    %194 = stablehlo.reshape %193 : (tensor<36864xf32>) -> tensor<3x3x64x64xf32>
    %cst_57 = stablehlo.constant dense<0.204124153> : tensor<f32>
    %195 = stablehlo.broadcast_in_dim %cst_57, dims = [] : (tensor<f32>) -> tensor<3x3x64x64xf32>
    %196 = stablehlo.multiply %194, %195 : tensor<3x3x64x64xf32>
    %cst_58 = stablehlo.constant dense<0.102062076> : tensor<f32>
    %197 = stablehlo.broadcast_in_dim %cst_58, dims = [] : (tensor<f32>) -> tensor<3x3x64x64xf32>
    %198 = stablehlo.subtract %196, %197 : tensor<3x3x64x64xf32>
    %199 = stablehlo.slice %168 [156864:230592] : (tensor<11678912xf32>) -> tensor<73728xf32>
    %200 = stablehlo.reshape %199 : (tensor<73728xf32>) -> tensor<3x3x64x128xf32>
    %cst_59 = stablehlo.constant dense<0.204124153> : tensor<f32>
    %201 = stablehlo.broadcast_in_dim %cst_59, dims = [] : (tensor<f32>) -> tensor<3x3x64x128xf32>
    %202 = stablehlo.multiply %200, %201 : tensor<3x3x64x128xf32>
    %cst_60 = stablehlo.constant dense<0.102062076> : tensor<f32>
    %203 = stablehlo.broadcast_in_dim %cst_60, dims = [] : (tensor<f32>) -> tensor<3x3x64x128xf32>
    %204 = stablehlo.subtract %202, %203 : tensor<3x3x64x128xf32>
    %205 = stablehlo.slice %168 [230592:378048] : (tensor<11678912xf32>) -> tensor<147456xf32>
    %206 = stablehlo.reshape %205 : (tensor<147456xf32>) -> tensor<3x3x128x128xf32>
    %cst_61 = stablehlo.constant dense<0.144337565> : tensor<f32>
    %207 = stablehlo.broadcast_in_dim %cst_61, dims = [] : (tensor<f32>) -> tensor<3x3x128x128xf32>
    %208 = stablehlo.multiply %206, %207 : tensor<3x3x128x128xf32>
    %cst_62 = stablehlo.constant dense<0.0721687824> : tensor<f32>
    %209 = stablehlo.broadcast_in_dim %cst_62, dims = [] : (tensor<f32>) -> tensor<3x3x128x128xf32>
    %210 = stablehlo.subtract %208, %209 : tensor<3x3x128x128xf32>
    %211 = stablehlo.slice %168 [378048:386240] : (tensor<11678912xf32>) -> tensor<8192xf32>
    %212 = stablehlo.reshape %211 : (tensor<8192xf32>) -> tensor<1x1x64x128xf32>
    %cst_63 = stablehlo.constant dense<0.612372457> : tensor<f32>
    %213 = stablehlo.broadcast_in_dim %cst_63, dims = [] : (tensor<f32>) -> tensor<1x1x64x128xf32>
    %214 = stablehlo.multiply %212, %213 : tensor<1x1x64x128xf32>
    %cst_64 = stablehlo.constant dense<0.306186229> : tensor<f32>
    %215 = stablehlo.broadcast_in_dim %cst_64, dims = [] : (tensor<f32>) -> tensor<1x1x64x128xf32>
    %216 = stablehlo.subtract %214, %215 : tensor<1x1x64x128xf32>
    %217 = stablehlo.slice %168 [386240:533696] : (tensor<11678912xf32>) -> tensor<147456xf32>
    %218 = stablehlo.reshape %217 : (tensor<147456xf32>) -> tensor<3x3x128x128xf32>
    %cst_65 = stablehlo.constant dense<0.144337565> : tensor<f32>
    %219 = stablehlo.broadcast_in_dim %cst_65, dims = [] : (tensor<f32>) -> tensor<3x3x128x128xf32>
    %220 = stablehlo.multiply %218, %219 : tensor<3x3x128x128xf32>
    %cst_66 = stablehlo.constant dense<0.0721687824> : tensor<f32>
    %221 = stablehlo.broadcast_in_dim %cst_66, dims = [] : (tensor<f32>) -> tensor<3x3x128x128xf32>
    %222 = stablehlo.subtract %220, %221 : tensor<3x3x128x128xf32>
    %223 = stablehlo.slice %168 [533696:681152] : (tensor<11678912xf32>) -> tensor<147456xf32>
    %224 = stablehlo.reshape %223 : (tensor<147456xf32>) -> tensor<3x3x128x128xf32>
    %cst_67 = stablehlo.constant dense<0.144337565> : tensor<f32>
    %225 = stablehlo.broadcast_in_dim %cst_67, dims = [] : (tensor<f32>) -> tensor<3x3x128x128xf32>
    %226 = stablehlo.multiply %224, %225 : tensor<3x3x128x128xf32>
    %cst_68 = stablehlo.constant dense<0.0721687824> : tensor<f32>
    %227 = stablehlo.broadcast_in_dim %cst_68, dims = [] : (tensor<f32>) -> tensor<3x3x128x128xf32>
    %228 = stablehlo.subtract %226, %227 : tensor<3x3x128x128xf32>
    %229 = stablehlo.slice %168 [681152:976064] : (tensor<11678912xf32>) -> tensor<294912xf32>
    %230 = stablehlo.reshape %229 : (tensor<294912xf32>) -> tensor<3x3x128x256xf32>
    %cst_69 = stablehlo.constant dense<0.144337565> : tensor<f32>
    %231 = stablehlo.broadcast_in_dim %cst_69, dims = [] : (tensor<f32>) -> tensor<3x3x128x256xf32>
    %232 = stablehlo.multiply %230, %231 : tensor<3x3x128x256xf32>
    %cst_70 = stablehlo.constant dense<0.0721687824> : tensor<f32>
    %233 = stablehlo.broadcast_in_dim %cst_70, dims = [] : (tensor<f32>) -> tensor<3x3x128x256xf32>
    %234 = stablehlo.subtract %232, %233 : tensor<3x3x128x256xf32>
    %235 = stablehlo.slice %168 [976064:1565888] : (tensor<11678912xf32>) -> tensor<589824xf32>
    %236 = stablehlo.reshape %235 : (tensor<589824xf32>) -> tensor<3x3x256x256xf32>
    %cst_71 = stablehlo.constant dense<0.102062076> : tensor<f32>
    %237 = stablehlo.broadcast_in_dim %cst_71, dims = [] : (tensor<f32>) -> tensor<3x3x256x256xf32>
    %238 = stablehlo.multiply %236, %237 : tensor<3x3x256x256xf32>
    %cst_72 = stablehlo.constant dense<0.0510310382> : tensor<f32>
    %239 = stablehlo.broadcast_in_dim %cst_72, dims = [] : (tensor<f32>) -> tensor<3x3x256x256xf32>
    %240 = stablehlo.subtract %238, %239 : tensor<3x3x256x256xf32>
    %241 = stablehlo.slice %168 [1565888:1598656] : (tensor<11678912xf32>) -> tensor<32768xf32>
    %242 = stablehlo.reshape %241 : (tensor<32768xf32>) -> tensor<1x1x128x256xf32>
    %cst_73 = stablehlo.constant dense<0.433012694> : tensor<f32>
    %243 = stablehlo.broadcast_in_dim %cst_73, dims = [] : (tensor<f32>) -> tensor<1x1x128x256xf32>
    %244 = stablehlo.multiply %242, %243 : tensor<1x1x128x256xf32>
    %cst_74 = stablehlo.constant dense<0.216506347> : tensor<f32>
    %245 = stablehlo.broadcast_in_dim %cst_74, dims = [] : (tensor<f32>) -> tensor<1x1x128x256xf32>
    %246 = stablehlo.subtract %244, %245 : tensor<1x1x128x256xf32>
    %247 = stablehlo.slice %168 [1598656:2188480] : (tensor<11678912xf32>) -> tensor<589824xf32>
    %248 = stablehlo.reshape %247 : (tensor<589824xf32>) -> tensor<3x3x256x256xf32>
    %cst_75 = stablehlo.constant dense<0.102062076> : tensor<f32>
    %249 = stablehlo.broadcast_in_dim %cst_75, dims = [] : (tensor<f32>) -> tensor<3x3x256x256xf32>
    %250 = stablehlo.multiply %248, %249 : tensor<3x3x256x256xf32>
    %cst_76 = stablehlo.constant dense<0.0510310382> : tensor<f32>
    %251 = stablehlo.broadcast_in_dim %cst_76, dims = [] : (tensor<f32>) -> tensor<3x3x256x256xf32>
    %252 = stablehlo.subtract %250, %251 : tensor<3x3x256x256xf32>
    %253 = stablehlo.slice %168 [2188480:2778304] : (tensor<11678912xf32>) -> tensor<589824xf32>
    %254 = stablehlo.reshape %253 : (tensor<589824xf32>) -> tensor<3x3x256x256xf32>
    %cst_77 = stablehlo.constant dense<0.102062076> : tensor<f32>
    %255 = stablehlo.broadcast_in_dim %cst_77, dims = [] : (tensor<f32>) -> tensor<3x3x256x256xf32>
    %256 = stablehlo.multiply %254, %255 : tensor<3x3x256x256xf32>
    %cst_78 = stablehlo.constant dense<0.0510310382> : tensor<f32>
    %257 = stablehlo.broadcast_in_dim %cst_78, dims = [] : (tensor<f32>) -> tensor<3x3x256x256xf32>
    %258 = stablehlo.subtract %256, %257 : tensor<3x3x256x256xf32>
    %259 = stablehlo.slice %168 [2778304:3957952] : (tensor<11678912xf32>) -> tensor<1179648xf32>
    %260 = stablehlo.reshape %259 : (tensor<1179648xf32>) -> tensor<3x3x256x512xf32>
    %cst_79 = stablehlo.constant dense<0.102062076> : tensor<f32>
    %261 = stablehlo.broadcast_in_dim %cst_79, dims = [] : (tensor<f32>) -> tensor<3x3x256x512xf32>
    %262 = stablehlo.multiply %260, %261 : tensor<3x3x256x512xf32>
    %cst_80 = stablehlo.constant dense<0.0510310382> : tensor<f32>
    %263 = stablehlo.broadcast_in_dim %cst_80, dims = [] : (tensor<f32>) -> tensor<3x3x256x512xf32>
    %264 = stablehlo.subtract %262, %263 : tensor<3x3x256x512xf32>
    %265 = stablehlo.slice %168 [3957952:6317248] : (tensor<11678912xf32>) -> tensor<2359296xf32>
    %266 = stablehlo.reshape %265 : (tensor<2359296xf32>) -> tensor<3x3x512x512xf32>
    %cst_81 = stablehlo.constant dense<0.0721687824> : tensor<f32>
    %267 = stablehlo.broadcast_in_dim %cst_81, dims = [] : (tensor<f32>) -> tensor<3x3x512x512xf32>
    %268 = stablehlo.multiply %266, %267 : tensor<3x3x512x512xf32>
    %cst_82 = stablehlo.constant dense<0.0360843912> : tensor<f32>
    %269 = stablehlo.broadcast_in_dim %cst_82, dims = [] : (tensor<f32>) -> tensor<3x3x512x512xf32>
    %270 = stablehlo.subtract %268, %269 : tensor<3x3x512x512xf32>
    %271 = stablehlo.slice %168 [6317248:6448320] : (tensor<11678912xf32>) -> tensor<131072xf32>
    %272 = stablehlo.reshape %271 : (tensor<131072xf32>) -> tensor<1x1x256x512xf32>
    %cst_83 = stablehlo.constant dense<0.306186229> : tensor<f32>
    %273 = stablehlo.broadcast_in_dim %cst_83, dims = [] : (tensor<f32>) -> tensor<1x1x256x512xf32>
    %274 = stablehlo.multiply %272, %273 : tensor<1x1x256x512xf32>
    %cst_84 = stablehlo.constant dense<0.153093114> : tensor<f32>
    %275 = stablehlo.broadcast_in_dim %cst_84, dims = [] : (tensor<f32>) -> tensor<1x1x256x512xf32>
    %276 = stablehlo.subtract %274, %275 : tensor<1x1x256x512xf32>
    %277 = stablehlo.slice %168 [6448320:8807616] : (tensor<11678912xf32>) -> tensor<2359296xf32>
    %278 = stablehlo.reshape %277 : (tensor<2359296xf32>) -> tensor<3x3x512x512xf32>
    %cst_85 = stablehlo.constant dense<0.0721687824> : tensor<f32>
    %279 = stablehlo.broadcast_in_dim %cst_85, dims = [] : (tensor<f32>) -> tensor<3x3x512x512xf32>
    %280 = stablehlo.multiply %278, %279 : tensor<3x3x512x512xf32>
    %cst_86 = stablehlo.constant dense<0.0360843912> : tensor<f32>
    %281 = stablehlo.broadcast_in_dim %cst_86, dims = [] : (tensor<f32>) -> tensor<3x3x512x512xf32>
    %282 = stablehlo.subtract %280, %281 : tensor<3x3x512x512xf32>
    %283 = stablehlo.slice %168 [8807616:11166912] : (tensor<11678912xf32>) -> tensor<2359296xf32>
    %284 = stablehlo.reshape %283 : (tensor<2359296xf32>) -> tensor<3x3x512x512xf32>
    %cst_87 = stablehlo.constant dense<0.0721687824> : tensor<f32>
    %285 = stablehlo.broadcast_in_dim %cst_87, dims = [] : (tensor<f32>) -> tensor<3x3x512x512xf32>
    %286 = stablehlo.multiply %284, %285 : tensor<3x3x512x512xf32>
    %cst_88 = stablehlo.constant dense<0.0360843912> : tensor<f32>
    %287 = stablehlo.broadcast_in_dim %cst_88, dims = [] : (tensor<f32>) -> tensor<3x3x512x512xf32>
    %288 = stablehlo.subtract %286, %287 : tensor<3x3x512x512xf32>
    %289 = stablehlo.slice %168 [11166912:11678912] : (tensor<11678912xf32>) -> tensor<512000xf32>
    %290 = stablehlo.reshape %289 : (tensor<512000xf32>) -> tensor<512x1000xf32>
    %cst_89 = stablehlo.constant dense<0.216506347> : tensor<f32>
    %291 = stablehlo.broadcast_in_dim %cst_89, dims = [] : (tensor<f32>) -> tensor<512x1000xf32>
    %292 = stablehlo.multiply %290, %291 : tensor<512x1000xf32>
    %cst_90 = stablehlo.constant dense<0.108253174> : tensor<f32>
    %293 = stablehlo.broadcast_in_dim %cst_90, dims = [] : (tensor<f32>) -> tensor<512x1000xf32>
    %294 = stablehlo.subtract %292, %293 : tensor<512x1000xf32>
    %cst_91 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %295 = stablehlo.broadcast_in_dim %cst_91, dims = [] : (tensor<f32>) -> tensor<1000xf32>
    %cst_92 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %296 = stablehlo.broadcast_in_dim %cst_92, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %cst_93 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %297 = stablehlo.broadcast_in_dim %cst_93, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %cst_94 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %298 = stablehlo.broadcast_in_dim %cst_94, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %cst_95 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %299 = stablehlo.broadcast_in_dim %cst_95, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %cst_96 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %300 = stablehlo.broadcast_in_dim %cst_96, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %cst_97 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %301 = stablehlo.broadcast_in_dim %cst_97, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %cst_98 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %302 = stablehlo.broadcast_in_dim %cst_98, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %cst_99 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %303 = stablehlo.broadcast_in_dim %cst_99, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %cst_100 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %304 = stablehlo.broadcast_in_dim %cst_100, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %cst_101 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %305 = stablehlo.broadcast_in_dim %cst_101, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %cst_102 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %306 = stablehlo.broadcast_in_dim %cst_102, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %cst_103 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %307 = stablehlo.broadcast_in_dim %cst_103, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %cst_104 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %308 = stablehlo.broadcast_in_dim %cst_104, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %cst_105 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %309 = stablehlo.broadcast_in_dim %cst_105, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %cst_106 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %310 = stablehlo.broadcast_in_dim %cst_106, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %cst_107 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %311 = stablehlo.broadcast_in_dim %cst_107, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %cst_108 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %312 = stablehlo.broadcast_in_dim %cst_108, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %cst_109 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %313 = stablehlo.broadcast_in_dim %cst_109, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %cst_110 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %314 = stablehlo.broadcast_in_dim %cst_110, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %cst_111 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %315 = stablehlo.broadcast_in_dim %cst_111, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %cst_112 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %316 = stablehlo.broadcast_in_dim %cst_112, dims = [] : (tensor<f32>) -> tensor<128xf32>
    %cst_113 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %317 = stablehlo.broadcast_in_dim %cst_113, dims = [] : (tensor<f32>) -> tensor<128xf32>
    %cst_114 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %318 = stablehlo.broadcast_in_dim %cst_114, dims = [] : (tensor<f32>) -> tensor<128xf32>
    %cst_115 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %319 = stablehlo.broadcast_in_dim %cst_115, dims = [] : (tensor<f32>) -> tensor<128xf32>
    %cst_116 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %320 = stablehlo.broadcast_in_dim %cst_116, dims = [] : (tensor<f32>) -> tensor<128xf32>
    %cst_117 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %321 = stablehlo.broadcast_in_dim %cst_117, dims = [] : (tensor<f32>) -> tensor<128xf32>
    %cst_118 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %322 = stablehlo.broadcast_in_dim %cst_118, dims = [] : (tensor<f32>) -> tensor<128xf32>
    %cst_119 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %323 = stablehlo.broadcast_in_dim %cst_119, dims = [] : (tensor<f32>) -> tensor<128xf32>
    %cst_120 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %324 = stablehlo.broadcast_in_dim %cst_120, dims = [] : (tensor<f32>) -> tensor<128xf32>
    %cst_121 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %325 = stablehlo.broadcast_in_dim %cst_121, dims = [] : (tensor<f32>) -> tensor<128xf32>
    %cst_122 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %326 = stablehlo.broadcast_in_dim %cst_122, dims = [] : (tensor<f32>) -> tensor<128xf32>
    %cst_123 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %327 = stablehlo.broadcast_in_dim %cst_123, dims = [] : (tensor<f32>) -> tensor<128xf32>
    %cst_124 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %328 = stablehlo.broadcast_in_dim %cst_124, dims = [] : (tensor<f32>) -> tensor<128xf32>
    %cst_125 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %329 = stablehlo.broadcast_in_dim %cst_125, dims = [] : (tensor<f32>) -> tensor<128xf32>
    %cst_126 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %330 = stablehlo.broadcast_in_dim %cst_126, dims = [] : (tensor<f32>) -> tensor<128xf32>
    %cst_127 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %331 = stablehlo.broadcast_in_dim %cst_127, dims = [] : (tensor<f32>) -> tensor<128xf32>
    %cst_128 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %332 = stablehlo.broadcast_in_dim %cst_128, dims = [] : (tensor<f32>) -> tensor<128xf32>
    %cst_129 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %333 = stablehlo.broadcast_in_dim %cst_129, dims = [] : (tensor<f32>) -> tensor<128xf32>
    %cst_130 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %334 = stablehlo.broadcast_in_dim %cst_130, dims = [] : (tensor<f32>) -> tensor<128xf32>
    %cst_131 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %335 = stablehlo.broadcast_in_dim %cst_131, dims = [] : (tensor<f32>) -> tensor<128xf32>
    %cst_132 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %336 = stablehlo.broadcast_in_dim %cst_132, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %cst_133 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %337 = stablehlo.broadcast_in_dim %cst_133, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %cst_134 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %338 = stablehlo.broadcast_in_dim %cst_134, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %cst_135 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %339 = stablehlo.broadcast_in_dim %cst_135, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %cst_136 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %340 = stablehlo.broadcast_in_dim %cst_136, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %cst_137 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %341 = stablehlo.broadcast_in_dim %cst_137, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %cst_138 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %342 = stablehlo.broadcast_in_dim %cst_138, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %cst_139 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %343 = stablehlo.broadcast_in_dim %cst_139, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %cst_140 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %344 = stablehlo.broadcast_in_dim %cst_140, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %cst_141 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %345 = stablehlo.broadcast_in_dim %cst_141, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %cst_142 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %346 = stablehlo.broadcast_in_dim %cst_142, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %cst_143 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %347 = stablehlo.broadcast_in_dim %cst_143, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %cst_144 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %348 = stablehlo.broadcast_in_dim %cst_144, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %cst_145 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %349 = stablehlo.broadcast_in_dim %cst_145, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %cst_146 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %350 = stablehlo.broadcast_in_dim %cst_146, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %cst_147 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %351 = stablehlo.broadcast_in_dim %cst_147, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %cst_148 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %352 = stablehlo.broadcast_in_dim %cst_148, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %cst_149 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %353 = stablehlo.broadcast_in_dim %cst_149, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %cst_150 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %354 = stablehlo.broadcast_in_dim %cst_150, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %cst_151 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %355 = stablehlo.broadcast_in_dim %cst_151, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %cst_152 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %356 = stablehlo.broadcast_in_dim %cst_152, dims = [] : (tensor<f32>) -> tensor<512xf32>
    %cst_153 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %357 = stablehlo.broadcast_in_dim %cst_153, dims = [] : (tensor<f32>) -> tensor<512xf32>
    %cst_154 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %358 = stablehlo.broadcast_in_dim %cst_154, dims = [] : (tensor<f32>) -> tensor<512xf32>
    %cst_155 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %359 = stablehlo.broadcast_in_dim %cst_155, dims = [] : (tensor<f32>) -> tensor<512xf32>
    %cst_156 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %360 = stablehlo.broadcast_in_dim %cst_156, dims = [] : (tensor<f32>) -> tensor<512xf32>
    %cst_157 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %361 = stablehlo.broadcast_in_dim %cst_157, dims = [] : (tensor<f32>) -> tensor<512xf32>
    %cst_158 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %362 = stablehlo.broadcast_in_dim %cst_158, dims = [] : (tensor<f32>) -> tensor<512xf32>
    %cst_159 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %363 = stablehlo.broadcast_in_dim %cst_159, dims = [] : (tensor<f32>) -> tensor<512xf32>
    %cst_160 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %364 = stablehlo.broadcast_in_dim %cst_160, dims = [] : (tensor<f32>) -> tensor<512xf32>
    %cst_161 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %365 = stablehlo.broadcast_in_dim %cst_161, dims = [] : (tensor<f32>) -> tensor<512xf32>
    %cst_162 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %366 = stablehlo.broadcast_in_dim %cst_162, dims = [] : (tensor<f32>) -> tensor<512xf32>
    %cst_163 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %367 = stablehlo.broadcast_in_dim %cst_163, dims = [] : (tensor<f32>) -> tensor<512xf32>
    %cst_164 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %368 = stablehlo.broadcast_in_dim %cst_164, dims = [] : (tensor<f32>) -> tensor<512xf32>
    %cst_165 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %369 = stablehlo.broadcast_in_dim %cst_165, dims = [] : (tensor<f32>) -> tensor<512xf32>
    %cst_166 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %370 = stablehlo.broadcast_in_dim %cst_166, dims = [] : (tensor<f32>) -> tensor<512xf32>
    %cst_167 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %371 = stablehlo.broadcast_in_dim %cst_167, dims = [] : (tensor<f32>) -> tensor<512xf32>
    %cst_168 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %372 = stablehlo.broadcast_in_dim %cst_168, dims = [] : (tensor<f32>) -> tensor<512xf32>
    %cst_169 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %373 = stablehlo.broadcast_in_dim %cst_169, dims = [] : (tensor<f32>) -> tensor<512xf32>
    %cst_170 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %374 = stablehlo.broadcast_in_dim %cst_170, dims = [] : (tensor<f32>) -> tensor<512xf32>
    %cst_171 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %375 = stablehlo.broadcast_in_dim %cst_171, dims = [] : (tensor<f32>) -> tensor<512xf32>
    %cst_172 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %376 = stablehlo.broadcast_in_dim %cst_172, dims = [] : (tensor<f32>) -> tensor<7x7x3x64xf32>
    %cst_173 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %377 = stablehlo.broadcast_in_dim %cst_173, dims = [] : (tensor<f32>) -> tensor<3x3x64x64xf32>
    %cst_174 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %378 = stablehlo.broadcast_in_dim %cst_174, dims = [] : (tensor<f32>) -> tensor<3x3x64x64xf32>
    %cst_175 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %379 = stablehlo.broadcast_in_dim %cst_175, dims = [] : (tensor<f32>) -> tensor<3x3x64x64xf32>
    %cst_176 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %380 = stablehlo.broadcast_in_dim %cst_176, dims = [] : (tensor<f32>) -> tensor<3x3x64x64xf32>
    %cst_177 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %381 = stablehlo.broadcast_in_dim %cst_177, dims = [] : (tensor<f32>) -> tensor<3x3x64x128xf32>
    %cst_178 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %382 = stablehlo.broadcast_in_dim %cst_178, dims = [] : (tensor<f32>) -> tensor<3x3x128x128xf32>
    %cst_179 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %383 = stablehlo.broadcast_in_dim %cst_179, dims = [] : (tensor<f32>) -> tensor<1x1x64x128xf32>
    %cst_180 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %384 = stablehlo.broadcast_in_dim %cst_180, dims = [] : (tensor<f32>) -> tensor<3x3x128x128xf32>
    %cst_181 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %385 = stablehlo.broadcast_in_dim %cst_181, dims = [] : (tensor<f32>) -> tensor<3x3x128x128xf32>
    %cst_182 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %386 = stablehlo.broadcast_in_dim %cst_182, dims = [] : (tensor<f32>) -> tensor<3x3x128x256xf32>
    %cst_183 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %387 = stablehlo.broadcast_in_dim %cst_183, dims = [] : (tensor<f32>) -> tensor<3x3x256x256xf32>
    %cst_184 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %388 = stablehlo.broadcast_in_dim %cst_184, dims = [] : (tensor<f32>) -> tensor<1x1x128x256xf32>
    %cst_185 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %389 = stablehlo.broadcast_in_dim %cst_185, dims = [] : (tensor<f32>) -> tensor<3x3x256x256xf32>
    %cst_186 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %390 = stablehlo.broadcast_in_dim %cst_186, dims = [] : (tensor<f32>) -> tensor<3x3x256x256xf32>
    %cst_187 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %391 = stablehlo.broadcast_in_dim %cst_187, dims = [] : (tensor<f32>) -> tensor<3x3x256x512xf32>
    %cst_188 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %392 = stablehlo.broadcast_in_dim %cst_188, dims = [] : (tensor<f32>) -> tensor<3x3x512x512xf32>
    %cst_189 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %393 = stablehlo.broadcast_in_dim %cst_189, dims = [] : (tensor<f32>) -> tensor<1x1x256x512xf32>
    %cst_190 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %394 = stablehlo.broadcast_in_dim %cst_190, dims = [] : (tensor<f32>) -> tensor<3x3x512x512xf32>
    %cst_191 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %395 = stablehlo.broadcast_in_dim %cst_191, dims = [] : (tensor<f32>) -> tensor<3x3x512x512xf32>
    %cst_192 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %396 = stablehlo.broadcast_in_dim %cst_192, dims = [] : (tensor<f32>) -> tensor<512x1000xf32>
    %cst_193 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %397 = stablehlo.broadcast_in_dim %cst_193, dims = [] : (tensor<f32>) -> tensor<1000xf32>
    %cst_194 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %398 = stablehlo.broadcast_in_dim %cst_194, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %cst_195 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %399 = stablehlo.broadcast_in_dim %cst_195, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %cst_196 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %400 = stablehlo.broadcast_in_dim %cst_196, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %cst_197 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %401 = stablehlo.broadcast_in_dim %cst_197, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %cst_198 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %402 = stablehlo.broadcast_in_dim %cst_198, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %cst_199 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %403 = stablehlo.broadcast_in_dim %cst_199, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %cst_200 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %404 = stablehlo.broadcast_in_dim %cst_200, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %cst_201 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %405 = stablehlo.broadcast_in_dim %cst_201, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %cst_202 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %406 = stablehlo.broadcast_in_dim %cst_202, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %cst_203 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %407 = stablehlo.broadcast_in_dim %cst_203, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %cst_204 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %408 = stablehlo.broadcast_in_dim %cst_204, dims = [] : (tensor<f32>) -> tensor<128xf32>
    %cst_205 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %409 = stablehlo.broadcast_in_dim %cst_205, dims = [] : (tensor<f32>) -> tensor<128xf32>
    %cst_206 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %410 = stablehlo.broadcast_in_dim %cst_206, dims = [] : (tensor<f32>) -> tensor<128xf32>
    %cst_207 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %411 = stablehlo.broadcast_in_dim %cst_207, dims = [] : (tensor<f32>) -> tensor<128xf32>
    %cst_208 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %412 = stablehlo.broadcast_in_dim %cst_208, dims = [] : (tensor<f32>) -> tensor<128xf32>
    %cst_209 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %413 = stablehlo.broadcast_in_dim %cst_209, dims = [] : (tensor<f32>) -> tensor<128xf32>
    %cst_210 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %414 = stablehlo.broadcast_in_dim %cst_210, dims = [] : (tensor<f32>) -> tensor<128xf32>
    %cst_211 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %415 = stablehlo.broadcast_in_dim %cst_211, dims = [] : (tensor<f32>) -> tensor<128xf32>
    %cst_212 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %416 = stablehlo.broadcast_in_dim %cst_212, dims = [] : (tensor<f32>) -> tensor<128xf32>
    %cst_213 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %417 = stablehlo.broadcast_in_dim %cst_213, dims = [] : (tensor<f32>) -> tensor<128xf32>
    %cst_214 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %418 = stablehlo.broadcast_in_dim %cst_214, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %cst_215 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %419 = stablehlo.broadcast_in_dim %cst_215, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %cst_216 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %420 = stablehlo.broadcast_in_dim %cst_216, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %cst_217 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %421 = stablehlo.broadcast_in_dim %cst_217, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %cst_218 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %422 = stablehlo.broadcast_in_dim %cst_218, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %cst_219 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %423 = stablehlo.broadcast_in_dim %cst_219, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %cst_220 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %424 = stablehlo.broadcast_in_dim %cst_220, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %cst_221 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %425 = stablehlo.broadcast_in_dim %cst_221, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %cst_222 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %426 = stablehlo.broadcast_in_dim %cst_222, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %cst_223 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %427 = stablehlo.broadcast_in_dim %cst_223, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %cst_224 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %428 = stablehlo.broadcast_in_dim %cst_224, dims = [] : (tensor<f32>) -> tensor<512xf32>
    %cst_225 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %429 = stablehlo.broadcast_in_dim %cst_225, dims = [] : (tensor<f32>) -> tensor<512xf32>
    %cst_226 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %430 = stablehlo.broadcast_in_dim %cst_226, dims = [] : (tensor<f32>) -> tensor<512xf32>
    %cst_227 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %431 = stablehlo.broadcast_in_dim %cst_227, dims = [] : (tensor<f32>) -> tensor<512xf32>
    %cst_228 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %432 = stablehlo.broadcast_in_dim %cst_228, dims = [] : (tensor<f32>) -> tensor<512xf32>
    %cst_229 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %433 = stablehlo.broadcast_in_dim %cst_229, dims = [] : (tensor<f32>) -> tensor<512xf32>
    %cst_230 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %434 = stablehlo.broadcast_in_dim %cst_230, dims = [] : (tensor<f32>) -> tensor<512xf32>
    %cst_231 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %435 = stablehlo.broadcast_in_dim %cst_231, dims = [] : (tensor<f32>) -> tensor<512xf32>
    %cst_232 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %436 = stablehlo.broadcast_in_dim %cst_232, dims = [] : (tensor<f32>) -> tensor<512xf32>
    %cst_233 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %437 = stablehlo.broadcast_in_dim %cst_233, dims = [] : (tensor<f32>) -> tensor<512xf32>
    return %295, %294, %301, %300, %180, %305, %304, %186, %309, %308, %192, %313, %312, %198, %317, %316, %204, %321, %320, %210, %325, %324, %216, %329, %328, %222, %333, %332, %228, %337, %336, %234, %341, %340, %240, %345, %344, %246, %349, %348, %252, %353, %352, %258, %357, %356, %264, %361, %360, %270, %365, %364, %276, %369, %368, %282, %373, %372, %288, %297, %296, %174, %397, %396, %401, %400, %377, %403, %402, %378, %405, %404, %379, %407, %406, %380, %409, %408, %381, %411, %410, %382, %413, %412, %383, %415, %414, %384, %417, %416, %385, %419, %418, %386, %421, %420, %387, %423, %422, %388, %425, %424, %389, %427, %426, %390, %429, %428, %391, %431, %430, %392, %433, %432, %393, %435, %434, %394, %437, %436, %395, %399, %398, %376, %302, %303, %306, %307, %310, %311, %314, %315, %318, %319, %322, %323, %326, %327, %330, %331, %334, %335, %338, %339, %342, %343, %346, %347, %350, %351, %354, %355, %358, %359, %362, %363, %366, %367, %370, %371, %374, %375, %298, %299 : tensor<1000xf32>, tensor<512x1000xf32>, tensor<64xf32>, tensor<64xf32>, tensor<3x3x64x64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<3x3x64x64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<3x3x64x64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<3x3x64x64xf32>, tensor<128xf32>, tensor<128xf32>, tensor<3x3x64x128xf32>, tensor<128xf32>, tensor<128xf32>, tensor<3x3x128x128xf32>, tensor<128xf32>, tensor<128xf32>, tensor<1x1x64x128xf32>, tensor<128xf32>, tensor<128xf32>, tensor<3x3x128x128xf32>, tensor<128xf32>, tensor<128xf32>, tensor<3x3x128x128xf32>, tensor<256xf32>, tensor<256xf32>, tensor<3x3x128x256xf32>, tensor<256xf32>, tensor<256xf32>, tensor<3x3x256x256xf32>, tensor<256xf32>, tensor<256xf32>, tensor<1x1x128x256xf32>, tensor<256xf32>, tensor<256xf32>, tensor<3x3x256x256xf32>, tensor<256xf32>, tensor<256xf32>, tensor<3x3x256x256xf32>, tensor<512xf32>, tensor<512xf32>, tensor<3x3x256x512xf32>, tensor<512xf32>, tensor<512xf32>, tensor<3x3x512x512xf32>, tensor<512xf32>, tensor<512xf32>, tensor<1x1x256x512xf32>, tensor<512xf32>, tensor<512xf32>, tensor<3x3x512x512xf32>, tensor<512xf32>, tensor<512xf32>, tensor<3x3x512x512xf32>, tensor<64xf32>, tensor<64xf32>, tensor<7x7x3x64xf32>, tensor<1000xf32>, tensor<512x1000xf32>, tensor<64xf32>, tensor<64xf32>, tensor<3x3x64x64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<3x3x64x64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<3x3x64x64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<3x3x64x64xf32>, tensor<128xf32>, tensor<128xf32>, tensor<3x3x64x128xf32>, tensor<128xf32>, tensor<128xf32>, tensor<3x3x128x128xf32>, tensor<128xf32>, tensor<128xf32>, tensor<1x1x64x128xf32>, tensor<128xf32>, tensor<128xf32>, tensor<3x3x128x128xf32>, tensor<128xf32>, tensor<128xf32>, tensor<3x3x128x128xf32>, tensor<256xf32>, tensor<256xf32>, tensor<3x3x128x256xf32>, tensor<256xf32>, tensor<256xf32>, tensor<3x3x256x256xf32>, tensor<256xf32>, tensor<256xf32>, tensor<1x1x128x256xf32>, tensor<256xf32>, tensor<256xf32>, tensor<3x3x256x256xf32>, tensor<256xf32>, tensor<256xf32>, tensor<3x3x256x256xf32>, tensor<512xf32>, tensor<512xf32>, tensor<3x3x256x512xf32>, tensor<512xf32>, tensor<512xf32>, tensor<3x3x512x512xf32>, tensor<512xf32>, tensor<512xf32>, tensor<1x1x256x512xf32>, tensor<512xf32>, tensor<512xf32>, tensor<3x3x512x512xf32>, tensor<512xf32>, tensor<512xf32>, tensor<3x3x512x512xf32>, tensor<64xf32>, tensor<64xf32>, tensor<7x7x3x64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<128xf32>, tensor<128xf32>, tensor<128xf32>, tensor<128xf32>, tensor<128xf32>, tensor<128xf32>, tensor<128xf32>, tensor<128xf32>, tensor<128xf32>, tensor<128xf32>, tensor<256xf32>, tensor<256xf32>, tensor<256xf32>, tensor<256xf32>, tensor<256xf32>, tensor<256xf32>, tensor<256xf32>, tensor<256xf32>, tensor<256xf32>, tensor<256xf32>, tensor<512xf32>, tensor<512xf32>, tensor<512xf32>, tensor<512xf32>, tensor<512xf32>, tensor<512xf32>, tensor<512xf32>, tensor<512xf32>, tensor<512xf32>, tensor<512xf32>, tensor<64xf32>, tensor<64xf32>
  }
}
