module @jit_init attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<ui32>) -> (tensor<4x1024x256xf32> {jax.result_info = "result[0]['layer.down']"}, tensor<4x256xf32> {jax.result_info = "result[0]['layer.norm1']"}, tensor<4x256xf32> {jax.result_info = "result[0]['layer.norm2']"}, tensor<4x256x256xf32> {jax.result_info = "result[0]['layer.out']"}, tensor<4x256x768xf32> {jax.result_info = "result[0]['layer.qkv']"}, tensor<4x256x1024xf32> {jax.result_info = "result[0]['layer.up']"}, tensor<256x4096xf32> {jax.result_info = "result[0]['logits']"}, tensor<256xf32> {jax.result_info = "result[0]['norm']"}, tensor<128x256xf32> {jax.result_info = "result[0]['positions']"}, tensor<4096x256xf32> {jax.result_info = "result[0]['tokens']"}, tensor<4x1024x256xf32> {jax.result_info = "result[1]['layer.down']"}, tensor<4x256xf32> {jax.result_info = "result[1]['layer.norm1']"}, tensor<4x256xf32> {jax.result_info = "result[1]['layer.norm2']"}, tensor<4x256x256xf32> {jax.result_info = "result[1]['layer.out']"}, tensor<4x256x768xf32> {jax.result_info = "result[1]['layer.qkv']"}, tensor<4x256x1024xf32> {jax.result_info = "result[1]['layer.up']"}, tensor<256x4096xf32> {jax.result_info = "result[1]['logits']"}, tensor<256xf32> {jax.result_info = "result[1]['norm']"}, tensor<128x256xf32> {jax.result_info = "result[1]['positions']"}, tensor<4096x256xf32> {jax.result_info = "result[1]['tokens']"}, tensor<4x1024x256xf32> {jax.result_info = "result[2]['layer.down']"}, tensor<4x256xf32> {jax.result_info = "result[2]['layer.norm1']"}, tensor<4x256xf32> {jax.result_info = "result[2]['layer.norm2']"}, tensor<4x256x256xf32> {jax.result_info = "result[2]['layer.out']"}, tensor<4x256x768xf32> {jax.result_info = "result[2]['layer.qkv']"}, tensor<4x256x1024xf32> {jax.result_info = "result[2]['layer.up']"}, tensor<256x4096xf32> {jax.result_info = "result[2]['logits']"}, tensor<256xf32> {jax.result_info = "result[2]['norm']"}, tensor<128x256xf32> {jax.result_info = "result[2]['positions']"}, tensor<4096x256xf32> {jax.result_info = "result[2]['tokens']"}, tensor<i32> {jax.result_info = "result[3]"}) {
    %0 = stablehlo.iota dim = 0 : tensor<5275648xui32>
    %c = stablehlo.constant dense<0> : tensor<ui32>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<ui32>) -> tensor<5275648xui32>
    %c_0 = stablehlo.constant dense<0> : tensor<ui32>
    %2 = stablehlo.xor %arg0, %c_0 : tensor<ui32>
    %c_1 = stablehlo.constant dense<466688986> : tensor<ui32>
    %3 = stablehlo.xor %2, %c_1 : tensor<ui32>
    %4 = stablehlo.broadcast_in_dim %arg0, dims = [] : (tensor<ui32>) -> tensor<5275648xui32>
    %5 = stablehlo.add %0, %4 : tensor<5275648xui32>
    %c_2 = stablehlo.constant dense<0> : tensor<ui32>
    %6 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<ui32>) -> tensor<5275648xui32>
    %7 = stablehlo.add %1, %6 : tensor<5275648xui32>
    %8 = stablehlo.add %5, %7 : tensor<5275648xui32>
    %c_3 = stablehlo.constant dense<13> : tensor<ui32>
    %9 = stablehlo.broadcast_in_dim %c_3, dims = [] : (tensor<ui32>) -> tensor<5275648xui32>
    %10 = stablehlo.shift_left %7, %9 : tensor<5275648xui32>
    %c_4 = stablehlo.constant dense<19> : tensor<ui32>
    %11 = stablehlo.broadcast_in_dim %c_4, dims = [] : (tensor<ui32>) -> tensor<5275648xui32>
    %12 = stablehlo.shift_right_logical %7, %11 : tensor<5275648xui32>
    %13 = stablehlo.or %10, %12 : tensor<5275648xui32>
    %14 = stablehlo.xor %13, %8 : tensor<5275648xui32>
    %15 = stablehlo.add %8, %14 : tensor<5275648xui32>
    %c_5 = stablehlo.constant dense<15> : tensor<ui32>
    %16 = stablehlo.broadcast_in_dim %c_5, dims = [] : (tensor<ui32>) -> tensor<5275648xui32>
    %17 = stablehlo.shift_left %14, %16 : tensor<5275648xui32>
    %c_6 = stablehlo.constant dense<17> : tensor<ui32>
    %18 = stablehlo.broadcast_in_dim %c_6, dims = [] : (tensor<ui32>) -> tensor<5275648xui32>
    %19 = stablehlo.shift_right_logical %14, %18 : tensor<5275648xui32>
    %20 = stablehlo.or %17, %19 : tensor<5275648xui32>
    %21 = stablehlo.xor %20, %15 : tensor<5275648xui32>
    %22 = stablehlo.add %15, %21 : tensor<5275648xui32>
    %c_7 = stablehlo.constant dense<26> : tensor<ui32>
    %23 = stablehlo.broadcast_in_dim %c_7, dims = [] : (tensor<ui32>) -> tensor<5275648xui32>
    %24 = stablehlo.shift_left %21, %23 : tensor<5275648xui32>
    %c_8 = stablehlo.constant dense<6> : tensor<ui32>
    %25 = stablehlo.broadcast_in_dim %c_8, dims = [] : (tensor<ui32>) -> tensor<5275648xui32>
    %26 = stablehlo.shift_right_logical %21, %25 : tensor<5275648xui32>
    %27 = stablehlo.or %24, %26 : tensor<5275648xui32>
    %28 = stablehlo.xor %27, %22 : tensor<5275648xui32>
    %29 = stablehlo.add %22, %28 : tensor<5275648xui32>
    %c_9 = stablehlo.constant dense<6> : tensor<ui32>
    %30 = stablehlo.broadcast_in_dim %c_9, dims = [] : (tensor<ui32>) -> tensor<5275648xui32>
    %31 = stablehlo.shift_left %28, %30 : tensor<5275648xui32>
    %c_10 = stablehlo.constant dense<26> : tensor<ui32>
    %32 = stablehlo.broadcast_in_dim %c_10, dims = [] : (tensor<ui32>) -> tensor<5275648xui32>
    %33 = stablehlo.shift_right_logical %28, %32 : tensor<5275648xui32>
    %34 = stablehlo.or %31, %33 : tensor<5275648xui32>
    %35 = stablehlo.xor %34, %29 : tensor<5275648xui32>
    %c_11 = stablehlo.constant dense<0> : tensor<ui32>
    %36 = stablehlo.broadcast_in_dim %c_11, dims = [] : (tensor<ui32>) -> tensor<5275648xui32>
    %37 = stablehlo.add %29, %36 : tensor<5275648xui32>
    %c_12 = stablehlo.constant dense<1> : tensor<ui32>
    %38 = stablehlo.add %3, %c_12 : tensor<ui32>
    %39 = stablehlo.broadcast_in_dim %38, dims = [] : (tensor<ui32>) -> tensor<5275648xui32>
    %40 = stablehlo.add %35, %39 : tensor<5275648xui32>
    %41 = stablehlo.add %37, %40 : tensor<5275648xui32>
    %c_13 = stablehlo.constant dense<17> : tensor<ui32>
    %42 = stablehlo.broadcast_in_dim %c_13, dims = [] : (tensor<ui32>) -> tensor<5275648xui32>
    %43 = stablehlo.shift_left %40, %42 : tensor<5275648xui32>
    %c_14 = stablehlo.constant dense<15> : tensor<ui32>
    %44 = stablehlo.broadcast_in_dim %c_14, dims = [] : (tensor<ui32>) -> tensor<5275648xui32>
    %45 = stablehlo.shift_right_logical %40, %44 : tensor<5275648xui32>
    %46 = stablehlo.or %43, %45 : tensor<5275648xui32>
    %47 = stablehlo.xor %46, %41 : tensor<5275648xui32>
    %48 = stablehlo.add %41, %47 : tensor<5275648xui32>
    %c_15 = stablehlo.constant dense<29> : tensor<ui32>
    %49 = stablehlo.broadcast_in_dim %c_15, dims = [] : (tensor<ui32>) -> tensor<5275648xui32>
    %50 = stablehlo.shift_left %47, %49 : tensor<5275648xui32>
    %c_16 = stablehlo.constant dense<3> : tensor<ui32>
    %51 = stablehlo.broadcast_in_dim %c_16, dims = [] : (tensor<ui32>) -> tensor<5275648xui32>
    %52 = stablehlo.shift_right_logical %47, %51 : tensor<5275648xui32>
    %53 = stablehlo.or %50, %52 : tensor<5275648xui32>
    %54 = stablehlo.xor %53, %48 : tensor<5275648xui32>
    %55 = stablehlo.add %48, %54 : tensor<5275648xui32>
    %c_17 = stablehlo.constant dense<16> : tensor<ui32>
    %56 = stablehlo.broadcast_in_dim %c_17, dims = [] : (tensor<ui32>) -> tensor<5275648xui32>
    %57 = stablehlo.shift_left %54, %56 : tensor<5275648xui32>
    %c_18 = stablehlo.constant dense<16> : tensor<ui32>
    %58 = stablehlo.broadcast_in_dim %c_18, dims = [] : (tensor<ui32>) -> tensor<5275648xui32>
    %59 = stablehlo.shift_right_logical %54, %58 : tensor<5275648xui32>
    %60 = stablehlo.or %57, %59 : tensor<5275648xui32>
    %61 = stablehlo.xor %60, %55 : tensor<5275648xui32>
    %62 = stablehlo.add %55, %61 : tensor<5275648xui32>
    %c_19 = stablehlo.constant dense<24> : tensor<ui32>
    %63 = stablehlo.broadcast_in_dim %c_19, dims = [] : (tensor<ui32>) -> tensor<5275648xui32>
    %64 = stablehlo.shift_left %61, %63 : tensor<5275648xui32>
    %c_20 = stablehlo.constant dense<8> : tensor<ui32>
    %65 = stablehlo.broadcast_in_dim %c_20, dims = [] : (tensor<ui32>) -> tensor<5275648xui32>
    %66 = stablehlo.shift_right_logical %61, %65 : tensor<5275648xui32>
    %67 = stablehlo.or %64, %66 : tensor<5275648xui32>
    %68 = stablehlo.xor %67, %62 : tensor<5275648xui32>
    %69 = stablehlo.broadcast_in_dim %3, dims = [] : (tensor<ui32>) -> tensor<5275648xui32>
    %70 = stablehlo.add %62, %69 : tensor<5275648xui32>
    %c_21 = stablehlo.constant dense<2> : tensor<ui32>
    %71 = stablehlo.add %arg0, %c_21 : tensor<ui32>
    %72 = stablehlo.broadcast_in_dim %71, dims = [] : (tensor<ui32>) -> tensor<5275648xui32>
    %73 = stablehlo.add %68, %72 : tensor<5275648xui32>
    %74 = stablehlo.add %70, %73 : tensor<5275648xui32>
    %c_22 = stablehlo.constant dense<13> : tensor<ui32>
    %75 = stablehlo.broadcast_in_dim %c_22, dims = [] : (tensor<ui32>) -> tensor<5275648xui32>
    %76 = stablehlo.shift_left %73, %75 : tensor<5275648xui32>
    %c_23 = stablehlo.constant dense<19> : tensor<ui32>
    %77 = stablehlo.broadcast_in_dim %c_23, dims = [] : (tensor<ui32>) -> tensor<5275648xui32>
    %78 = stablehlo.shift_right_logical %73, %77 : tensor<5275648xui32>
    %79 = stablehlo.or %76, %78 : tensor<5275648xui32>
    %80 = stablehlo.xor %79, %74 : tensor<5275648xui32>
    %81 = stablehlo.add %74, %80 : tensor<5275648xui32>
    %c_24 = stablehlo.constant dense<15> : tensor<ui32>
    %82 = stablehlo.broadcast_in_dim %c_24, dims = [] : (tensor<ui32>) -> tensor<5275648xui32>
    %83 = stablehlo.shift_left %80, %82 : tensor<5275648xui32>
    %c_25 = stablehlo.constant dense<17> : tensor<ui32>
    %84 = stablehlo.broadcast_in_dim %c_25, dims = [] : (tensor<ui32>) -> tensor<5275648xui32>
    %85 = stablehlo.shift_right_logical %80, %84 : tensor<5275648xui32>
    %86 = stablehlo.or %83, %85 : tensor<5275648xui32>
    %87 = stablehlo.xor %86, %81 : tensor<5275648xui32>
    %88 = stablehlo.add %81, %87 : tensor<5275648xui32>
    %c_26 = stablehlo.constant dense<26> : tensor<ui32>
    %89 = stablehlo.broadcast_in_dim %c_26, dims = [] : (tensor<ui32>) -> tensor<5275648xui32>
    %90 = stablehlo.shift_left %87, %89 : tensor<5275648xui32>
    %c_27 = stablehlo.constant dense<6> : tensor<ui32>
    %91 = stablehlo.broadcast_in_dim %c_27, dims = [] : (tensor<ui32>) -> tensor<5275648xui32>
    %92 = stablehlo.shift_right_logical %87, %91 : tensor<5275648xui32>
    %93 = stablehlo.or %90, %92 : tensor<5275648xui32>
    %94 = stablehlo.xor %93, %88 : tensor<5275648xui32>
    %95 = stablehlo.add %88, %94 : tensor<5275648xui32>
    %c_28 = stablehlo.constant dense<6> : tensor<ui32>
    %96 = stablehlo.broadcast_in_dim %c_28, dims = [] : (tensor<ui32>) -> tensor<5275648xui32>
    %97 = stablehlo.shift_left %94, %96 : tensor<5275648xui32>
    %c_29 = stablehlo.constant dense<26> : tensor<ui32>
    %98 = stablehlo.broadcast_in_dim %c_29, dims = [] : (tensor<ui32>) -> tensor<5275648xui32>
    %99 = stablehlo.shift_right_logical %94, %98 : tensor<5275648xui32>
    %100 = stablehlo.or %97, %99 : tensor<5275648xui32>
    %101 = stablehlo.xor %100, %95 : tensor<5275648xui32>
    %102 = stablehlo.broadcast_in_dim %arg0, dims = [] : (tensor<ui32>) -> tensor<5275648xui32>
    %103 = stablehlo.add %95, %102 : tensor<5275648xui32>
    %c_30 = stablehlo.constant dense<0> : tensor<ui32>
    %c_31 = stablehlo.constant dense<3> : tensor<ui32>
    %104 = stablehlo.add %c_30, %c_31 : tensor<ui32>
    %105 = stablehlo.broadcast_in_dim %104, dims = [] : (tensor<ui32>) -> tensor<5275648xui32>
    %106 = stablehlo.add %101, %105 : tensor<5275648xui32>
    %107 = stablehlo.add %103, %106 : tensor<5275648xui32>
    %c_32 = stablehlo.constant dense<17> : tensor<ui32>
    %108 = stablehlo.broadcast_in_dim %c_32, dims = [] : (tensor<ui32>) -> tensor<5275648xui32>
    %109 = stablehlo.shift_left %106, %108 : tensor<5275648xui32>
    %c_33 = stablehlo.constant dense<15> : tensor<ui32>
    %110 = stablehlo.broadcast_in_dim %c_33, dims = [] : (tensor<ui32>) -> tensor<5275648xui32>
    %111 = stablehlo.shift_right_logical %106, %110 : tensor<5275648xui32>
    %112 = stablehlo.or %109, %111 : tensor<5275648xui32>
    %113 = stablehlo.xor %112, %107 : tensor<5275648xui32>
    %114 = stablehlo.add %107, %113 : tensor<5275648xui32>
    %c_34 = stablehlo.constant dense<29> : tensor<ui32>
    %115 = stablehlo.broadcast_in_dim %c_34, dims = [] : (tensor<ui32>) -> tensor<5275648xui32>
    %116 = stablehlo.shift_left %113, %115 : tensor<5275648xui32>
    %c_35 = stablehlo.constant dense<3> : tensor<ui32>
    %117 = stablehlo.broadcast_in_dim %c_35, dims = [] : (tensor<ui32>) -> tensor<5275648xui32>
    %118 = stablehlo.shift_right_logical %113, %117 : tensor<5275648xui32>
    %119 = stablehlo.or %116, %118 : tensor<5275648xui32>
    %120 = stablehlo.xor %119, %114 : tensor<5275648xui32>
    %121 = stablehlo.add %114, %120 : tensor<5275648xui32>
    %c_36 = stablehlo.constant dense<16> : tensor<ui32>
    %122 = stablehlo.broadcast_in_dim %c_36, dims = [] : (tensor<ui32>) -> tensor<5275648xui32>
    %123 = stablehlo.shift_left %120, %122 : tensor<5275648xui32>
    %c_37 = stablehlo.constant dense<16> : tensor<ui32>
    %124 = stablehlo.broadcast_in_dim %c_37, dims = [] : (tensor<ui32>) -> tensor<5275648xui32>
    %125 = stablehlo.shift_right_logical %120, %124 : tensor<5275648xui32>
    %126 = stablehlo.or %123, %125 : tensor<5275648xui32>
    %127 = stablehlo.xor %126, %121 : tensor<5275648xui32>
    %128 = stablehlo.add %121, %127 : tensor<5275648xui32>
    %c_38 = stablehlo.constant dense<24> : tensor<ui32>
    %129 = stablehlo.broadcast_in_dim %c_38, dims = [] : (tensor<ui32>) -> tensor<5275648xui32>
    %130 = stablehlo.shift_left %127, %129 : tensor<5275648xui32>
    %c_39 = stablehlo.constant dense<8> : tensor<ui32>
    %131 = stablehlo.broadcast_in_dim %c_39, dims = [] : (tensor<ui32>) -> tensor<5275648xui32>
    %132 = stablehlo.shift_right_logical %127, %131 : tensor<5275648xui32>
    %133 = stablehlo.or %130, %132 : tensor<5275648xui32>
    %134 = stablehlo.xor %133, %128 : tensor<5275648xui32>
    %c_40 = stablehlo.constant dense<0> : tensor<ui32>
    %135 = stablehlo.broadcast_in_dim %c_40, dims = [] : (tensor<ui32>) -> tensor<5275648xui32>
    %136 = stablehlo.add %128, %135 : tensor<5275648xui32>
    %c_41 = stablehlo.constant dense<4> : tensor<ui32>
    %137 = stablehlo.add %3, %c_41 : tensor<ui32>
    %138 = stablehlo.broadcast_in_dim %137, dims = [] : (tensor<ui32>) -> tensor<5275648xui32>
    %139 = stablehlo.add %134, %138 : tensor<5275648xui32>
    %140 = stablehlo.add %136, %139 : tensor<5275648xui32>
    %c_42 = stablehlo.constant dense<13> : tensor<ui32>
    %141 = stablehlo.broadcast_in_dim %c_42, dims = [] : (tensor<ui32>) -> tensor<5275648xui32>
    %142 = stablehlo.shift_left %139, %141 : tensor<5275648xui32>
    %c_43 = stablehlo.constant dense<19> : tensor<ui32>
    %143 = stablehlo.broadcast_in_dim %c_43, dims = [] : (tensor<ui32>) -> tensor<5275648xui32>
    %144 = stablehlo.shift_right_logical %139, %143 : tensor<5275648xui32>
    %145 = stablehlo.or %142, %144 : tensor<5275648xui32>
    %146 = stablehlo.xor %145, %140 : tensor<5275648xui32>
    %147 = stablehlo.add %140, %146 : tensor<5275648xui32>
    %c_44 = stablehlo.constant dense<15> : tensor<ui32>
    %148 = stablehlo.broadcast_in_dim %c_44, dims = [] : (tensor<ui32>) -> tensor<5275648xui32>
    %149 = stablehlo.shift_left %146, %148 : tensor<5275648xui32>
    %c_45 = stablehlo.constant dense<17> : tensor<ui32>
    %150 = stablehlo.broadcast_in_dim %c_45, dims = [] : (tensor<ui32>) -> tensor<5275648xui32>
    %151 = stablehlo.shift_right_logical %146, %150 : tensor<5275648xui32>
    %152 = stablehlo.or %149, %151 : tensor<5275648xui32>
    %153 = stablehlo.xor %152, %147 : tensor<5275648xui32>
    %154 = stablehlo.add %147, %153 : tensor<5275648xui32>
    %c_46 = stablehlo.constant dense<26> : tensor<ui32>
    %155 = stablehlo.broadcast_in_dim %c_46, dims = [] : (tensor<ui32>) -> tensor<5275648xui32>
    %156 = stablehlo.shift_left %153, %155 : tensor<5275648xui32>
    %c_47 = stablehlo.constant dense<6> : tensor<ui32>
    %157 = stablehlo.broadcast_in_dim %c_47, dims = [] : (tensor<ui32>) -> tensor<5275648xui32>
    %158 = stablehlo.shift_right_logical %153, %157 : tensor<5275648xui32>
    %159 = stablehlo.or %156, %158 : tensor<5275648xui32>
    %160 = stablehlo.xor %159, %154 : tensor<5275648xui32>
    %161 = stablehlo.add %154, %160 : tensor<5275648xui32>
    %162 = stablehlo.broadcast_in_dim %3, dims = [] : (tensor<ui32>) -> tensor<5275648xui32>
    %163 = stablehlo.add %161, %162 : tensor<5275648xui32>
    %c_48 = stablehlo.constant dense<8> : tensor<ui32>
    %164 = stablehlo.broadcast_in_dim %c_48, dims = [] : (tensor<ui32>) -> tensor<5275648xui32>
    %165 = stablehlo.shift_right_logical %163, %164 : tensor<5275648xui32>
    %166 = stablehlo.convert %165 : (tensor<5275648xui32>) -> tensor<5275648xf32>
    %cst = stablehlo.constant dense<0x4B800000> : tensor<f32>
    %167 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<5275648xf32>
    %168 = stablehlo.divide %166, %167 : tensor<5275648xf32>
    %169 = stablehlo.slice %168 [0:1048576] : (tensor<5275648xf32>) -> tensor<1048576xf32>
    %170 = stablehlo.reshape %169 : (tensor<1048576xf32>) -> tensor<4096x256xf32>
    %cst_49 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %171 = stablehlo.broadcast_in_dim %cst_49, dims = [] : (tensor<f32>) -> tensor<4096x256xf32>
    %172 = stablehlo.multiply %170, %171 : tensor<4096x256xf32>
    %cst_50 = stablehlo.constant dense<5.000000e-02> : tensor<f32>
    %173 = stablehlo.broadcast_in_dim %cst_50, dims = [] : (tensor<f32>) -> tensor<4096x256xf32>
    %174 = stablehlo.subtract %172, %173 : tensor<4096x256xf32>
    %175 = stablehlo.slice %168 [1048576:1081344] : (tensor<5275648xf32>) -> tensor<32768xf32>
    %176 = stablehlo.reshape %175 : (tensor<32768xf32>) -> tensor<128x256xf32>
    %cst_51 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %177 = stablehlo.broadcast_in_dim %cst_51, dims = [] : (tensor<f32>) -> tensor<128x256xf32>
    %178 = stablehlo.multiply %176, %177 : tensor<128x256xf32>
    %cst_52 = stablehlo.constant dense<5.000000e-02> : tensor<f32>
    %179 = stablehlo.broadcast_in_dim %cst_52, dims = [] : (tensor<f32>) -> tensor<128x256xf32>
    %180 = stablehlo.subtract %178, %179 : tensor<128x256xf32>
    %181 = stablehlo.slice %168 [1081344:1867776] : (tensor<5275648xf32>) -> tensor<786432xf32>
    %182 = stablehlo.reshape %181 : (tensor<786432xf32>) -> tensor<4x256x768xf32>
    %cst_53 = stablehlo.constant dense<1.250000e-01> : tensor<f32>
    %183 = stablehlo.broadcast_in_dim %cst_53, dims = [] : (tensor<f32>) -> tensor<4x256x768xf32>
    %184 = stablehlo.multiply %182, %183 : tensor<4x256x768xf32>
    %cst_54 = stablehlo.constant dense<6.250000e-02> : tensor<f32>
    %185 = stablehlo.broadcast_in_dim %cst_54, dims = [] : (tensor<f32>) -> tensor<4x256x768xf32>
    %186 = stablehlo.subtract %184, %185 : tensor<4x256x768xf32>
    %187 = stablehlo.slice %168 [1867776:2129920] : (tensor<5275648xf32>) -> tensor<262144xf32>
    %188 = stablehlo.reshape %187 : (tensor<262144xf32>) -> tensor<4x256x256xf32>
    %cst_55 = stablehlo.constant dense<1.250000e-01> : tensor<f32>
    %189 = stablehlo.broadcast_in_dim %cst_55, dims = [] : (tensor<f32>) -> tensor<4x256x256xf32>
    %190 = stablehlo.multiply %188, %189 : tensor<4x256x256xf32>
    %cst_56 = stablehlo.constant dense<6.250000e-02> : tensor<f32>
    %191 = stablehlo.broadcast_in_dim %cst_56, dims = [] : (tensor<f32>) -> tensor<4x256x256xf32>
    %192 = stablehlo.subtract %190, %191 : tensor<4x256x256xf32>
    %193 = stablehlo.slice %168 [2129920:3178496] : (tensor<5275648xf32>) -> tensor<1048576xf32>
    %194 = stablehlo.reshape %193 : (tensor<1048576xf32>) -> tensor<4x256x1024xf32>
    %cst_57 = stablehlo.constant dense<1.250000e-01> : tensor<f32>
    %195 = stablehlo.broadcast_in_dim %cst_57, dims = [] : (tensor<f32>) -> tensor<4x256x1024xf32>
    %196 = stablehlo.multiply %194, %195 : tensor<4x256x1024xf32>
    %cst_58 = stablehlo.constant dense<6.250000e-02> : tensor<f32>
    %197 = stablehlo.broadcast_in_dim %cst_58, dims = [] : (tensor<f32>) -> tensor<4x256x1024xf32>
    %198 = stablehlo.subtract %196, %197 : tensor<4x256x1024xf32>
    %199 = stablehlo.slice %168 [3178496:4227072] : (tensor<5275648xf32>) -> tensor<1048576xf32>
    %200 = stablehlo.reshape %199 : (tensor<1048576xf32>) -> tensor<4x1024x256xf32>
    %cst_59 = stablehlo.constant dense<6.250000e-02> : tensor<f32>
    %201 = stablehlo.broadcast_in_dim %cst_59, dims = [] : (tensor<f32>) -> tensor<4x1024x256xf32>
    %202 = stablehlo.multiply %200, %201 : tensor<4x1024x256xf32>
    %cst_60 = stablehlo.constant dense<3.125000e-02> : tensor<f32>
    %203 = stablehlo.broadcast_in_dim %cst_60, dims = [] : (tensor<f32>) -> tensor<4x1024x256xf32>
    %204 = stablehlo.subtract %202, %203 : tensor<4x1024x256xf32>
    %205 = stablehlo.slice %168 [4227072:5275648] : (tensor<5275648xf32>) -> tensor<1048576xf32>
    %206 = stablehlo.reshape %205 : (tensor<1048576xf32>) -> tensor<256x4096xf32>
    %cst_61 = stablehlo.constant dense<1.250000e-01> : tensor<f32>
    %207 = stablehlo.broadcast_in_dim %cst_61, dims = [] : (tensor<f32>) -> tensor<256x4096xf32>
    %208 = stablehlo.multiply %206, %207 : tensor<256x4096xf32>
    %cst_62 = stablehlo.constant dense<6.250000e-02> : tensor<f32>
    %209 = stablehlo.broadcast_in_dim %cst_62, dims = [] : (tensor<f32>) -> tensor<256x4096xf32>
    %210 = stablehlo.subtract %208, %209 : tensor<256x4096xf32>
    %cst_63 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %211 = stablehlo.broadcast_in_dim %cst_63, dims = [] : (tensor<f32>) -> tensor<4x256xf32>
    %cst_64 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %212 = stablehlo.broadcast_in_dim %cst_64, dims = [] : (tensor<f32>) -> tensor<4x256xf32>
    %cst_65 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %213 = stablehlo.broadcast_in_dim %cst_65, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %cst_66 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %214 = stablehlo.broadcast_in_dim %cst_66, dims = [] : (tensor<f32>) -> tensor<4096x256xf32>
    %cst_67 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %215 = stablehlo.broadcast_in_dim %cst_67, dims = [] : (tensor<f32>) -> tensor<128x256xf32>
    %cst_68 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %216 = stablehlo.broadcast_in_dim %cst_68, dims = [] : (tensor<f32>) -> tensor<4x256x768xf32>
    %cst_69 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %217 = stablehlo.broadcast_in_dim %cst_69, dims = [] : (tensor<f32>) -> tensor<4x256x256xf32>
    %cst_70 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %218 = stablehlo.broadcast_in_dim %cst_70, dims = [] : (tensor<f32>) -> tensor<4x256x1024xf32>
    %cst_71 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %219 = stablehlo.broadcast_in_dim %cst_71, dims = [] : (tensor<f32>) -> tensor<4x1024x256xf32>
    %cst_72 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %220 = stablehlo.broadcast_in_dim %cst_72, dims = [] : (tensor<f32>) -> tensor<256x4096xf32>
    %cst_73 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %221 = stablehlo.broadcast_in_dim %cst_73, dims = [] : (tensor<f32>) -> tensor<4x256xf32>
    %cst_74 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %222 = stablehlo.broadcast_in_dim %cst_74, dims = [] : (tensor<f32>) -> tensor<4x256xf32>
    %cst_75 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %223 = stablehlo.broadcast_in_dim %cst_75, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %c_76 = stablehlo.constant dense<0> : tensor<i32>
    return %204, %211, %212, %192, %186, %198, %210, %213, %180, %174, %219, %221, %222, %217, %216, %218, %220, %223, %215, %214, %219, %221, %222, %217, %216, %218, %220, %223, %215, %214, %c_76 : tensor<4x1024x256xf32>, tensor<4x256xf32>, tensor<4x256xf32>, tensor<4x256x256xf32>, tensor<4x256x768xf32>, tensor<4x256x1024xf32>, tensor<256x4096xf32>, tensor<256xf32>, tensor<128x256xf32>, tensor<4096x256xf32>, tensor<4x1024x256xf32>, tensor<4x256xf32>, tensor<4x256xf32>, tensor<4x256x256xf32>, tensor<4x256x768xf32>, tensor<4x256x1024xf32>, tensor<256x4096xf32>, tensor<256xf32>, tensor<128x256xf32>, tensor<4096x256xf32>, tensor<4x1024x256xf32>, tensor<4x256xf32>, tensor<4x256xf32>, tensor<4x256x256xf32>, tensor<4x256x768xf32>, tensor<4x256x1024xf32>, tensor<256x4096xf32>, tensor<256xf32>, tensor<128x256xf32>, tensor<4096x256xf32>, tensor<i32>
  }
}
