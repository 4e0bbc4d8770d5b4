module @jit_step attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<1000xf32> {tf.aliasing_output = 1 : i32}, %arg1: tensor<512x1000xf32> {tf.aliasing_output = 2 : i32}, %arg2: tensor<64xf32> {tf.aliasing_output = 3 : i32}, %arg3: tensor<64xf32> {tf.aliasing_output = 4 : i32}, %arg4: tensor<3x3x64x64xf32> {tf.aliasing_output = 5 : i32}, %arg5: tensor<64xf32> {tf.aliasing_output = 6 : i32}, %arg6: tensor<64xf32> {tf.aliasing_output = 7 : i32}, %arg7: tensor<3x3x64x64xf32> {tf.aliasing_output = 8 : i32}, %arg8: tensor<64xf32> {tf.aliasing_output = 9 : i32}, %arg9: tensor<64xf32> {tf.aliasing_output = 10 : i32}, %arg10: tensor<3x3x64x64xf32> {tf.aliasing_output = 11 : i32}, %arg11: tensor<64xf32> {tf.aliasing_output = 12 : i32}, %arg12: tensor<64xf32> {tf.aliasing_output = 13 : i32}, %arg13: tensor<3x3x64x64xf32> {tf.aliasing_output = 14 : i32}, %arg14: tensor<128xf32> {tf.aliasing_output = 15 : i32}, %arg15: tensor<128xf32> {tf.aliasing_output = 16 : i32}, %arg16: tensor<3x3x64x128xf32> {tf.aliasing_output = 17 : i32}, %arg17: tensor<128xf32> {tf.aliasing_output = 18 : i32}, %arg18: tensor<128xf32> {tf.aliasing_output = 19 : i32}, %arg19: tensor<3x3x128x128xf32> {tf.aliasing_output = 20 : i32}, %arg20: tensor<128xf32> {tf.aliasing_output = 21 : i32}, %arg21: tensor<128xf32> {tf.aliasing_output = 22 : i32}, %arg22: tensor<1x1x64x128xf32> {tf.aliasing_output = 23 : i32}, %arg23: tensor<128xf32> {tf.aliasing_output = 24 : i32}, %arg24: tensor<128xf32> {tf.aliasing_output = 25 : i32}, %arg25: tensor<3x3x128x128xf32> {tf.aliasing_output = 26 : i32}, %arg26: tensor<128xf32> {tf.aliasing_output = 27 : i32}, %arg27: tensor<128xf32> {tf.aliasing_output = 28 : i32}, %arg28: tensor<3x3x128x128xf32> {tf.aliasing_output = 29 : i32}, %arg29: tensor<256xf32> {tf.aliasing_output = 30 : i32}, %arg30: tensor<256xf32> {tf.aliasing_output = 31 : i32}, %arg31: tensor<3x3x128x256xf32> {tf.aliasing_output = 32 : i32}, %arg32: tensor<256xf32> {tf.aliasing_output = 33 : i32}, %arg33: tensor<256xf32> {tf.aliasing_output = 34 : i32}, %arg34: tensor<3x3x256x256xf32> {tf.aliasing_output = 35 : i32}, %arg35: tensor<256xf32> {tf.aliasing_output = 36 : i32}, %arg36: tensor<256xf32> {tf.aliasing_output = 37 : i32}, %arg37: tensor<1x1x128x256xf32> {tf.aliasing_output = 38 : i32}, %arg38: tensor<256xf32> {tf.aliasing_output = 39 : i32}, %arg39: tensor<256xf32> {tf.aliasing_output = 40 : i32}, %arg40: tensor<3x3x256x256xf32> {tf.aliasing_output = 41 : i32}, %arg41: tensor<256xf32> {tf.aliasing_output = 42 : i32}, %arg42: tensor<256xf32> {tf.aliasing_output = 43 : i32}, %arg43: tensor<3x3x256x256xf32> {tf.aliasing_output = 44 : i32}, %arg44: tensor<512xf32> {tf.aliasing_output = 45 : i32}, %arg45: tensor<512xf32> {tf.aliasing_output = 46 : i32}, %arg46: tensor<3x3x256x512xf32> {tf.aliasing_output = 47 : i32}, %arg47: tensor<512xf32> {tf.aliasing_output = 48 : i32}, %arg48: tensor<512xf32> {tf.aliasing_output = 49 : i32}, %arg49: tensor<3x3x512x512xf32> {tf.aliasing_output = 50 : i32}, %arg50: tensor<512xf32> {tf.aliasing_output = 51 : i32}, %arg51: tensor<512xf32> {tf.aliasing_output = 52 : i32}, %arg52: tensor<1x1x256x512xf32> {tf.aliasing_output = 53 : i32}, %arg53: tensor<512xf32> {tf.aliasing_output = 54 : i32}, %arg54: tensor<512xf32> {tf.aliasing_output = 55 : i32}, %arg55: tensor<3x3x512x512xf32> {tf.aliasing_output = 56 : i32}, %arg56: tensor<512xf32> {tf.aliasing_output = 57 : i32}, %arg57: tensor<512xf32> {tf.aliasing_output = 58 : i32}, %arg58: tensor<3x3x512x512xf32> {tf.aliasing_output = 59 : i32}, %arg59: tensor<64xf32> {tf.aliasing_output = 60 : i32}, %arg60: tensor<64xf32> {tf.aliasing_output = 61 : i32}, %arg61: tensor<7x7x3x64xf32> {tf.aliasing_output = 62 : i32}, %arg62: tensor<1000xf32> {tf.aliasing_output = 63 : i32}, %arg63: tensor<512x1000xf32> {tf.aliasing_output = 64 : i32}, %arg64: tensor<64xf32> {tf.aliasing_output = 65 : i32}, %arg65: tensor<64xf32> {tf.aliasing_output = 66 : i32}, %arg66: tensor<3x3x64x64xf32> {tf.aliasing_output = 67 : i32}, %arg67: tensor<64xf32> {tf.aliasing_output = 68 : i32}, %arg68: tensor<64xf32> {tf.aliasing_output = 69 : i32}, %arg69: tensor<3x3x64x64xf32> {tf.aliasing_output = 70 : i32}, %arg70: tensor<64xf32> {tf.aliasing_output = 71 : i32}, %arg71: tensor<64xf32> {tf.aliasing_output = 72 : i32}, %arg72: tensor<3x3x64x64xf32> {tf.aliasing_output = 73 : i32}, %arg73: tensor<64xf32> {tf.aliasing_output = 74 : i32}, %arg74: tensor<64xf32> {tf.aliasing_output = 75 : i32}, %arg75: tensor<3x3x64x64xf32> {tf.aliasing_output = 76 : i32}, %arg76: tensor<128xf32> {tf.aliasing_output = 77 : i32}, %arg77: tensor<128xf32> {tf.aliasing_output = 78 : i32}, %arg78: tensor<3x3x64x128xf32> {tf.aliasing_output = 79 : i32}, %arg79: tensor<128xf32> {tf.aliasing_output = 80 : i32}, %arg80: tensor<128xf32> {tf.aliasing_output = 81 : i32}, %arg81: tensor<3x3x128x128xf32> {tf.aliasing_output = 82 : i32}, %arg82: tensor<128xf32> {tf.aliasing_output = 83 : i32}, %arg83: tensor<128xf32> {tf.aliasing_output = 84 : i32}, %arg84: tensor<1x1x64x128xf32> {tf.aliasing_output = 85 : i32}, %arg85: tensor<128xf32> {tf.aliasing_output = 86 : i32}, %arg86: tensor<128xf32> {tf.aliasing_output = 87 : i32}, %arg87: tensor<3x3x128x128xf32> {tf.aliasing_output = 88 : i32}, %arg88: tensor<128xf32> {tf.aliasing_output = 89 : i32}, %arg89: tensor<128xf32> {tf.aliasing_output = 90 : i32}, %arg90: tensor<3x3x128x128xf32> {tf.aliasing_output = 91 : i32}, %arg91: tensor<256xf32> {tf.aliasing_output = 92 : i32}, %arg92: tensor<256xf32> {tf.aliasing_output = 93 : i32}, %arg93: tensor<3x3x128x256xf32> {tf.aliasing_output = 94 : i32}, %arg94: tensor<256xf32> {tf.aliasing_output = 95 : i32}, %arg95: tensor<256xf32> {tf.aliasing_output = 96 : i32}, %arg96: tensor<3x3x256x256xf32> {tf.aliasing_output = 97 : i32}, %arg97: tensor<256xf32> {tf.aliasing_output = 98 : i32}, %arg98: tensor<256xf32> {tf.aliasing_output = 99 : i32}, %arg99: tensor<1x1x128x256xf32> {tf.aliasing_output = 100 : i32}, %arg100: tensor<256xf32> {tf.aliasing_output = 101 : i32}, %arg101: tensor<256xf32> {tf.aliasing_output = 102 : i32}, %arg102: tensor<3x3x256x256xf32> {tf.aliasing_output = 103 : i32}, %arg103: tensor<256xf32> {tf.aliasing_output = 104 : i32}, %arg104: tensor<256xf32> {tf.aliasing_output = 105 : i32}, %arg105: tensor<3x3x256x256xf32> {tf.aliasing_output = 106 : i32}, %arg106: tensor<512xf32> {tf.aliasing_output = 107 : i32}, %arg107: tensor<512xf32> {tf.aliasing_output = 108 : i32}, %arg108: tensor<3x3x256x512xf32> {tf.aliasing_output = 109 : i32}, %arg109: tensor<512xf32> {tf.aliasing_output = 110 : i32}, %arg110: tensor<512xf32> {tf.aliasing_output = 111 : i32}, %arg111: tensor<3x3x512x512xf32> {tf.aliasing_output = 112 : i32}, %arg112: tensor<512xf32> {tf.aliasing_output = 113 : i32}, %arg113: tensor<512xf32> {tf.aliasing_output = 114 : i32}, %arg114: tensor<1x1x256x512xf32> {tf.aliasing_output = 115 : i32}, %arg115: tensor<512xf32> {tf.aliasing_output = 116 : i32}, %arg116: tensor<512xf32> {tf.aliasing_output = 117 : i32}, %arg117: tensor<3x3x512x512xf32> {tf.aliasing_output = 118 : i32}, %arg118: tensor<512xf32> {tf.aliasing_output = 119 : i32}, %arg119: tensor<512xf32> {tf.aliasing_output = 120 : i32}, %arg120: tensor<3x3x512x512xf32> {tf.aliasing_output = 121 : i32}, %arg121: tensor<64xf32> {tf.aliasing_output = 122 : i32}, %arg122: tensor<64xf32> {tf.aliasing_output = 123 : i32}, %arg123: tensor<7x7x3x64xf32> {tf.aliasing_output = 124 : i32}, %arg124: tensor<64xf32> {tf.aliasing_output = 125 : i32}, %arg125: tensor<64xf32> {tf.aliasing_output = 126 : i32}, %arg126: tensor<64xf32> {tf.aliasing_output = 127 : i32}, %arg127: tensor<64xf32> {tf.aliasing_output = 128 : i32}, %arg128: tensor<64xf32> {tf.aliasing_output = 129 : i32}, %arg129: tensor<64xf32> {tf.aliasing_output = 130 : i32}, %arg130: tensor<64xf32> {tf.aliasing_output = 131 : i32}, %arg131: tensor<64xf32> {tf.aliasing_output = 132 : i32}, %arg132: tensor<128xf32> {tf.aliasing_output = 133 : i32}, %arg133: tensor<128xf32> {tf.aliasing_output = 134 : i32}, %arg134: tensor<128xf32> {tf.aliasing_output = 135 : i32}, %arg135: tensor<128xf32> {tf.aliasing_output = 136 : i32}, %arg136: tensor<128xf32> {tf.aliasing_output = 137 : i32}, %arg137: tensor<128xf32> {tf.aliasing_output = 138 : i32}, %arg138: tensor<128xf32> {tf.aliasing_output = 139 : i32}, %arg139: tensor<128xf32> {tf.aliasing_output = 140 : i32}, %arg140: tensor<128xf32> {tf.aliasing_output = 141 : i32}, %arg141: tensor<128xf32> {tf.aliasing_output = 142 : i32}, %arg142: tensor<256xf32> {tf.aliasing_output = 143 : i32}, %arg143: tensor<256xf32> {tf.aliasing_output = 144 : i32}, %arg144: tensor<256xf32> {tf.aliasing_output = 145 : i32}, %arg145: tensor<256xf32> {tf.aliasing_output = 146 : i32}, %arg146: tensor<256xf32> {tf.aliasing_output = 147 : i32}, %arg147: tensor<256xf32> {tf.aliasing_output = 148 : i32}, %arg148: tensor<256xf32> {tf.aliasing_output = 149 : i32}, %arg149: tensor<256xf32> {tf.aliasing_output = 150 : i32}, %arg150: tensor<256xf32> {tf.aliasing_output = 151 : i32}, %arg151: tensor<256xf32> {tf.aliasing_output = 152 : i32}, %arg152: tensor<512xf32> {tf.aliasing_output = 153 : i32}, %arg153: tensor<512xf32> {tf.aliasing_output = 154 : i32}, %arg154: tensor<512xf32> {tf.aliasing_output = 155 : i32}, %arg155: tensor<512xf32> {tf.aliasing_output = 156 : i32}, %arg156: tensor<512xf32> {tf.aliasing_output = 157 : i32}, %arg157: tensor<512xf32> {tf.aliasing_output = 158 : i32}, %arg158: tensor<512xf32> {tf.aliasing_output = 159 : i32}, %arg159: tensor<512xf32> {tf.aliasing_output = 160 : i32}, %arg160: tensor<512xf32> {tf.aliasing_output = 161 : i32}, %arg161: tensor<512xf32> {tf.aliasing_output = 162 : i32}, %arg162: tensor<64xf32> {tf.aliasing_output = 163 : i32}, %arg163: tensor<64xf32> {tf.aliasing_output = 164 : i32}, %arg164: tensor<8x224x224x3xf32>, %arg165: tensor<8xi32>) -> (tensor<f32> {jax.result_info = "result[0]"}, tensor<1000xf32> {jax.result_info = "result[1]['dense.bias']"}, tensor<512x1000xf32> {jax.result_info = "result[1]['dense.weight']"}, tensor<64xf32> {jax.result_info = "result[1]['stage1.a.conv1.bias']"}, tensor<64xf32> {jax.result_info = "result[1]['stage1.a.conv1.scale']"}, tensor<3x3x64x64xf32> {jax.result_info = "result[1]['stage1.a.conv1.weight']"}, tensor<64xf32> {jax.result_info = "result[1]['stage1.a.conv2.bias']"}, tensor<64xf32> {jax.result_info = "result[1]['stage1.a.conv2.scale']"}, tensor<3x3x64x64xf32> {jax.result_info = "result[1]['stage1.a.conv2.weight']"}, tensor<64xf32> {jax.result_info = "result[1]['stage1.b.conv1.bias']"}, tensor<64xf32> {jax.result_info = "result[1]['stage1.b.conv1.scale']"}, tensor<3x3x64x64xf32> {jax.result_info = "result[1]['stage1.b.conv1.weight']"}, tensor<64xf32> {jax.result_info = "result[1]['stage1.b.conv2.bias']"}, tensor<64xf32> {jax.result_info = "result[1]['stage1.b.conv2.scale']"}, tensor<3x3x64x64xf32> {jax.result_info = "result[1]['stage1.b.conv2.weight']"}, tensor<128xf32> {jax.result_info = "result[1]['stage2.a.conv1.bias']"}, tensor<128xf32> {jax.result_info = "result[1]['stage2.a.conv1.scale']"}, tensor<3x3x64x128xf32> {jax.result_info = "result[1]['stage2.a.conv1.weight']"}, tensor<128xf32> {jax.result_info = "result[1]['stage2.a.conv2.bias']"}, tensor<128xf32> {jax.result_info = "result[1]['stage2.a.conv2.scale']"}, tensor<3x3x128x128xf32> {jax.result_info = "result[1]['stage2.a.conv2.weight']"}, tensor<128xf32> {jax.result_info = "result[1]['stage2.a.project.bias']"}, tensor<128xf32> {jax.result_info = "result[1]['stage2.a.project.scale']"}, tensor<1x1x64x128xf32> {jax.result_info = "result[1]['stage2.a.project.weight']"}, tensor<128xf32> {jax.result_info = "result[1]['stage2.b.conv1.bias']"}, tensor<128xf32> {jax.result_info = "result[1]['stage2.b.conv1.scale']"}, tensor<3x3x128x128xf32> {jax.result_info = "result[1]['stage2.b.conv1.weight']"}, tensor<128xf32> {jax.result_info = "result[1]['stage2.b.conv2.bias']"}, tensor<128xf32> {jax.result_info = "result[1]['stage2.b.conv2.scale']"}, tensor<3x3x128x128xf32> {jax.result_info = "result[1]['stage2.b.conv2.weight']"}, tensor<256xf32> {jax.result_info = "result[1]['stage3.a.conv1.bias']"}, tensor<256xf32> {jax.result_info = "result[1]['stage3.a.conv1.scale']"}, tensor<3x3x128x256xf32> {jax.result_info = "result[1]['stage3.a.conv1.weight']"}, tensor<256xf32> {jax.result_info = "result[1]['stage3.a.conv2.bias']"}, tensor<256xf32> {jax.result_info = "result[1]['stage3.a.conv2.scale']"}, tensor<3x3x256x256xf32> {jax.result_info = "result[1]['stage3.a.conv2.weight']"}, tensor<256xf32> {jax.result_info = "result[1]['stage3.a.project.bias']"}, tensor<256xf32> {jax.result_info = "result[1]['stage3.a.project.scale']"}, tensor<1x1x128x256xf32> {jax.result_info = "result[1]['stage3.a.project.weight']"}, tensor<256xf32> {jax.result_info = "result[1]['stage3.b.conv1.bias']"}, tensor<256xf32> {jax.result_info = "result[1]['stage3.b.conv1.scale']"}, tensor<3x3x256x256xf32> {jax.result_info = "result[1]['stage3.b.conv1.weight']"}, tensor<256xf32> {jax.result_info = "result[1]['stage3.b.conv2.bias']"}, tensor<256xf32> {jax.result_info = "result[1]['stage3.b.conv2.scale']"}, tensor<3x3x256x256xf32> {jax.result_info = "result[1]['stage3.b.conv2.weight']"}, tensor<512xf32> {jax.result_info = "result[1]['stage4.a.conv1.bias']"}, tensor<512xf32> {jax.result_info = "result[1]['stage4.a.conv1.scale']"}, tensor<3x3x256x512xf32> {jax.result_info = "result[1]['stage4.a.conv1.weight']"}, tensor<512xf32> {jax.result_info = "result[1]['stage4.a.conv2.bias']"}, tensor<512xf32> {jax.result_info = "result[1]['stage4.a.conv2.scale']"}, tensor<3x3x512x512xf32> {jax.result_info = "result[1]['stage4.a.conv2.weight']"}, tensor<512xf32> {jax.result_info = "result[1]['stage4.a.project.bias']"}, tensor<512xf32> {jax.result_info = "result[1]['stage4.a.project.scale']"}, tensor<1x1x256x512xf32> {jax.result_info = "result[1]['stage4.a.project.weight']"}, tensor<512xf32> {jax.result_info = "result[1]['stage4.b.conv1.bias']"}, tensor<512xf32> {jax.result_info = "result[1]['stage4.b.conv1.scale']"}, tensor<3x3x512x512xf32> {jax.result_info = "result[1]['stage4.b.conv1.weight']"}, tensor<512xf32> {jax.result_info = "result[1]['stage4.b.conv2.bias']"}, tensor<512xf32> {jax.result_info = "result[1]['stage4.b.conv2.scale']"}, tensor<3x3x512x512xf32> {jax.result_info = "result[1]['stage4.b.conv2.weight']"}, tensor<64xf32> {jax.result_info = "result[1]['stem.bias']"}, tensor<64xf32> {jax.result_info = "result[1]['stem.scale']"}, tensor<7x7x3x64xf32> {jax.result_info = "result[1]['stem.weight']"}, tensor<1000xf32> {jax.result_info = "result[2]['dense.bias']"}, tensor<512x1000xf32> {jax.result_info = "result[2]['dense.weight']"}, tensor<64xf32> {jax.result_info = "result[2]['stage1.a.conv1.bias']"}, tensor<64xf32> {jax.result_info = "result[2]['stage1.a.conv1.scale']"}, tensor<3x3x64x64xf32> {jax.result_info = "result[2]['stage1.a.conv1.weight']"}, tensor<64xf32> {jax.result_info = "result[2]['stage1.a.conv2.bias']"}, tensor<64xf32> {jax.result_info = "result[2]['stage1.a.conv2.scale']"}, tensor<3x3x64x64xf32> {jax.result_info = "result[2]['stage1.a.conv2.weight']"}, tensor<64xf32> {jax.result_info = "result[2]['stage1.b.conv1.bias']"}, tensor<64xf32> {jax.result_info = "result[2]['stage1.b.conv1.scale']"}, tensor<3x3x64x64xf32> {jax.result_info = "result[2]['stage1.b.conv1.weight']"}, tensor<64xf32> {jax.result_info = "result[2]['stage1.b.conv2.bias']"}, tensor<64xf32> {jax.result_info = "result[2]['stage1.b.conv2.scale']"}, tensor<3x3x64x64xf32> {jax.result_info = "result[2]['stage1.b.conv2.weight']"}, tensor<128xf32> {jax.result_info = "result[2]['stage2.a.conv1.bias']"}, tensor<128xf32> {jax.result_info = "result[2]['stage2.a.conv1.scale']"}, tensor<3x3x64x128xf32> {jax.result_info = "result[2]['stage2.a.conv1.weight']"}, tensor<128xf32> {jax.result_info = "result[2]['stage2.a.conv2.bias']"}, tensor<128xf32> {jax.result_info = "result[2]['stage2.a.conv2.scale']"}, tensor<3x3x128x128xf32> {jax.result_info = "result[2]['stage2.a.conv2.weight']"}, tensor<128xf32> {jax.result_info = "result[2]['stage2.a.project.bias']"}, tensor<128xf32> {jax.result_info = "result[2]['stage2.a.project.scale']"}, tensor<1x1x64x128xf32> {jax.result_info = "result[2]['stage2.a.project.weight']"}, tensor<128xf32> {jax.result_info = "result[2]['stage2.b.conv1.bias']"}, tensor<128xf32> {jax.result_info = "result[2]['stage2.b.conv1.scale']"}, tensor<3x3x128x128xf32> {jax.result_info = "result[2]['stage2.b.conv1.weight']"}, tensor<128xf32> {jax.result_info = "result[2]['stage2.b.conv2.bias']"}, tensor<128xf32> {jax.result_info = "result[2]['stage2.b.conv2.scale']"}, tensor<3x3x128x128xf32> {jax.result_info = "result[2]['stage2.b.conv2.weight']"}, tensor<256xf32> {jax.result_info = "result[2]['stage3.a.conv1.bias']"}, tensor<256xf32> {jax.result_info = "result[2]['stage3.a.conv1.scale']"}, tensor<3x3x128x256xf32> {jax.result_info = "result[2]['stage3.a.conv1.weight']"}, tensor<256xf32> {jax.result_info = "result[2]['stage3.a.conv2.bias']"}, tensor<256xf32> {jax.result_info = "result[2]['stage3.a.conv2.scale']"}, tensor<3x3x256x256xf32> {jax.result_info = "result[2]['stage3.a.conv2.weight']"}, tensor<256xf32> {jax.result_info = "result[2]['stage3.a.project.bias']"}, tensor<256xf32> {jax.result_info = "result[2]['stage3.a.project.scale']"}, tensor<1x1x128x256xf32> {jax.result_info = "result[2]['stage3.a.project.weight']"}, tensor<256xf32> {jax.result_info = "result[2]['stage3.b.conv1.bias']"}, tensor<256xf32> {jax.result_info = "result[2]['stage3.b.conv1.scale']"}, tensor<3x3x256x256xf32> {jax.result_info = "result[2]['stage3.b.conv1.weight']"}, tensor<256xf32> {jax.result_info = "result[2]['stage3.b.conv2.bias']"}, tensor<256xf32> {jax.result_info = "result[2]['stage3.b.conv2.scale']"}, tensor<3x3x256x256xf32> {jax.result_info = "result[2]['stage3.b.conv2.weight']"}, tensor<512xf32> {jax.result_info = "result[2]['stage4.a.conv1.bias']"}, tensor<512xf32> {jax.result_info = "result[2]['stage4.a.conv1.scale']"}, tensor<3x3x256x512xf32> {jax.result_info = "result[2]['stage4.a.conv1.weight']"}, tensor<512xf32> {jax.result_info = "result[2]['stage4.a.conv2.bias']"}, tensor<512xf32> {jax.result_info = "result[2]['stage4.a.conv2.scale']"}, tensor<3x3x512x512xf32> {jax.result_info = "result[2]['stage4.a.conv2.weight']"}, tensor<512xf32> {jax.result_info = "result[2]['stage4.a.project.bias']"}, tensor<512xf32> {jax.result_info = "result[2]['stage4.a.project.scale']"}, tensor<1x1x256x512xf32> {jax.result_info = "result[2]['stage4.a.project.weight']"}, tensor<512xf32> {jax.result_info = "result[2]['stage4.b.conv1.bias']"}, tensor<512xf32> {jax.result_info = "result[2]['stage4.b.conv1.scale']"}, tensor<3x3x512x512xf32> {jax.result_info = "result[2]['stage4.b.conv1.weight']"}, tensor<512xf32> {jax.result_info = "result[2]['stage4.b.conv2.bias']"}, tensor<512xf32> {jax.result_info = "result[2]['stage4.b.conv2.scale']"}, tensor<3x3x512x512xf32> {jax.result_info = "result[2]['stage4.b.conv2.weight']"}, tensor<64xf32> {jax.result_info = "result[2]['stem.bias']"}, tensor<64xf32> {jax.result_info = "result[2]['stem.scale']"}, tensor<7x7x3x64xf32> {jax.result_info = "result[2]['stem.weight']"}, tensor<64xf32> {jax.result_info = "result[3]['stage1.a.conv1.mean']"}, tensor<64xf32> {jax.result_info = "result[3]['stage1.a.conv1.var']"}, tensor<64xf32> {jax.result_info = "result[3]['stage1.a.conv2.mean']"}, tensor<64xf32> {jax.result_info = "result[3]['stage1.a.conv2.var']"}, tensor<64xf32> {jax.result_info = "result[3]['stage1.b.conv1.mean']"}, tensor<64xf32> {jax.result_info = "result[3]['stage1.b.conv1.var']"}, tensor<64xf32> {jax.result_info = "result[3]['stage1.b.conv2.mean']"}, tensor<64xf32> {jax.result_info = "result[3]['stage1.b.conv2.var']"}, tensor<128xf32> {jax.result_info = "result[3]['stage2.a.conv1.mean']"}, tensor<128xf32> {jax.result_info = "result[3]['stage2.a.conv1.var']"}, tensor<128xf32> {jax.result_info = "result[3]['stage2.a.conv2.mean']"}, tensor<128xf32> {jax.result_info = "result[3]['stage2.a.conv2.var']"}, tensor<128xf32> {jax.result_info = "result[3]['stage2.a.project.mean']"}, tensor<128xf32> {jax.result_info = "result[3]['stage2.a.project.var']"}, tensor<128xf32> {jax.result_info = "result[3]['stage2.b.conv1.mean']"}, tensor<128xf32> {jax.result_info = "result[3]['stage2.b.conv1.var']"}, tensor<128xf32> {jax.result_info = "result[3]['stage2.b.conv2.mean']"}, tensor<128xf32> {jax.result_info = "result[3]['stage2.b.conv2.var']"}, tensor<256xf32> {jax.result_info = "result[3]['stage3.a.conv1.mean']"}, tensor<256xf32> {jax.result_info = "result[3]['stage3.a.conv1.var']"}, tensor<256xf32> {jax.result_info = "result[3]['stage3.a.conv2.mean']"}, tensor<256xf32> {jax.result_info = "result[3]['stage3.a.conv2.var']"}, tensor<256xf32> {jax.result_info = "result[3]['stage3.a.project.mean']"}, tensor<256xf32> {jax.result_info = "result[3]['stage3.a.project.var']"}, tensor<256xf32> {jax.result_info = "result[3]['stage3.b.conv1.mean']"}, tensor<256xf32> {jax.result_info = "result[3]['stage3.b.conv1.var']"}, tensor<256xf32> {jax.result_info = "result[3]['stage3.b.conv2.mean']"}, tensor<256xf32> {jax.result_info = "result[3]['stage3.b.conv2.var']"}, tensor<512xf32> {jax.result_info = "result[3]['stage4.a.conv1.mean']"}, tensor<512xf32> {jax.result_info = "result[3]['stage4.a.conv1.var']"}, tensor<512xf32> {jax.result_info = "result[3]['stage4.a.conv2.mean']"}, tensor<512xf32> {jax.result_info = "result[3]['stage4.a.conv2.var']"}, tensor<512xf32> {jax.result_info = "result[3]['stage4.a.project.mean']"}, tensor<512xf32> {jax.result_info = "result[3]['stage4.a.project.var']"}, tensor<512xf32> {jax.result_info = "result[3]['stage4.b.conv1.mean']"}, tensor<512xf32> {jax.result_info = "result[3]['stage4.b.conv1.var']"}, tensor<512xf32> {jax.result_info = "result[3]['stage4.b.conv2.mean']"}, tensor<512xf32> {jax.result_info = "result[3]['stage4.b.conv2.var']"}, tensor<64xf32> {jax.result_info = "result[3]['stem.mean']"}, tensor<64xf32> {jax.result_info = "result[3]['stem.var']"}) {
    %0 = stablehlo.convolution(%arg164, %arg61) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 2], pad = [[3, 3], [3, 3]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<8x224x224x3xf32>, tensor<7x7x3x64xf32>) -> tensor<8x112x112x64xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.reduce(%0 init: %cst) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<8x112x112x64xf32>, tensor<f32>) -> tensor<64xf32>
    %cst_0 = stablehlo.constant dense<1.003520e+05> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %3 = stablehlo.divide %1, %2 : tensor<64xf32>
    %4 = chlo.square %0 : tensor<8x112x112x64xf32> -> tensor<8x112x112x64xf32>
    %cst_1 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<8x112x112x64xf32>
    %6 = stablehlo.multiply %5, %0 : tensor<8x112x112x64xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = stablehlo.reduce(%4 init: %cst_2) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<8x112x112x64xf32>, tensor<f32>) -> tensor<64xf32>
    %cst_3 = stablehlo.constant dense<1.003520e+05> : tensor<f32>
    %8 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %9 = stablehlo.divide %7, %8 : tensor<64xf32>
    %10 = chlo.square %3 : tensor<64xf32> -> tensor<64xf32>
    %cst_4 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %11 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %12 = stablehlo.multiply %11, %3 : tensor<64xf32>
    %13 = stablehlo.subtract %9, %10 : tensor<64xf32>
    %cst_5 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %14 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %15 = stablehlo.multiply %14, %arg162 : tensor<64xf32>
    %cst_6 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %16 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %17 = stablehlo.multiply %16, %3 : tensor<64xf32>
    %18 = stablehlo.add %15, %17 : tensor<64xf32>
    %cst_7 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %19 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %20 = stablehlo.multiply %19, %arg163 : tensor<64xf32>
    %cst_8 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %21 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %22 = stablehlo.multiply %21, %13 : tensor<64xf32>
    %23 = stablehlo.add %20, %22 : tensor<64xf32>
    %cst_9 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %24 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %25 = stablehlo.add %13, %24 : tensor<64xf32>
    %26 = stablehlo.rsqrt %25 : tensor<64xf32>
    %27 = stablehlo.divide %26, %25 : tensor<64xf32>
    %cst_10 = stablehlo.constant dense<-5.000000e-01> : tensor<f32>
    %28 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %29 = stablehlo.multiply %28, %27 : tensor<64xf32>
    %30 = stablehlo.multiply %arg60, %26 : tensor<64xf32>
    %31 = stablehlo.broadcast_in_dim %3, dims = [3] : (tensor<64xf32>) -> tensor<1x1x1x64xf32>
    %32 = stablehlo.broadcast_in_dim %31, dims = [0, 1, 2, 3] : (tensor<1x1x1x64xf32>) -> tensor<8x112x112x64xf32>
    %33 = stablehlo.subtract %0, %32 : tensor<8x112x112x64xf32>
    %34 = stablehlo.broadcast_in_dim %30, dims = [3] : (tensor<64xf32>) -> tensor<1x1x1x64xf32>
    %35 = stablehlo.broadcast_in_dim %34, dims = [0, 1, 2, 3] : (tensor<1x1x1x64xf32>) -> tensor<8x112x112x64xf32>
    %36 = stablehlo.multiply %33, %35 : tensor<8x112x112x64xf32>
    %37 = stablehlo.broadcast_in_dim %arg59, dims = [3] : (tensor<64xf32>) -> tensor<1x1x1x64xf32>
    %38 = stablehlo.broadcast_in_dim %37, dims = [0, 1, 2, 3] : (tensor<1x1x1x64xf32>) -> tensor<8x112x112x64xf32>
    %39 = stablehlo.add %36, %38 : tensor<8x112x112x64xf32>
    %cst_11 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %40 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<8x112x112x64xf32>
    %41 = stablehlo.maximum %39, %40 : tensor<8x112x112x64xf32>
    %42 = stablehlo.compare EQ, %39, %41, FLOAT : (tensor<8x112x112x64xf32>, tensor<8x112x112x64xf32>) -> tensor<8x112x112x64xi1>
    %cst_12 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %43 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<8x112x112x64xf32>
    %cst_13 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %44 = stablehlo.broadcast_in_dim %cst_13, dims = [] : (tensor<f32>) -> tensor<8x112x112x64xf32>
    %45 = stablehlo.select %42, %43, %44 : tensor<8x112x112x64xi1>, tensor<8x112x112x64xf32>
    %cst_14 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %46 = stablehlo.broadcast_in_dim %cst_14, dims = [] : (tensor<f32>) -> tensor<8x112x112x64xf32>
    %47 = stablehlo.compare EQ, %46, %41, FLOAT : (tensor<8x112x112x64xf32>, tensor<8x112x112x64xf32>) -> tensor<8x112x112x64xi1>
    %cst_15 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %48 = stablehlo.broadcast_in_dim %cst_15, dims = [] : (tensor<f32>) -> tensor<8x112x112x64xf32>
    %cst_16 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %49 = stablehlo.broadcast_in_dim %cst_16, dims = [] : (tensor<f32>) -> tensor<8x112x112x64xf32>
    %50 = stablehlo.select %47, %48, %49 : tensor<8x112x112x64xi1>, tensor<8x112x112x64xf32>
    %51 = stablehlo.divide %45, %50 : tensor<8x112x112x64xf32>
    %cst_17 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %52 = stablehlo.broadcast_in_dim %cst_17, dims = [] : (tensor<f32>) -> tensor<f32>
    %53 = "stablehlo.reduce_window"(%41, %52) <{base_dilations = array<i64: 1, 1, 1, 1>, padding = dense<[[0, 0], [1, 1], [1, 1], [0, 0]]> : tensor<4x2xi64>, window_dilations = array<i64: 1, 1, 1, 1>, window_dimensions = array<i64: 1, 3, 3, 1>, window_strides = array<i64: 1, 2, 2, 1>}> ({
    ^bb0(%arg166: tensor<f32>, %arg167: tensor<f32>):
      %2078 = stablehlo.maximum %arg166, %arg167 : tensor<f32>
      stablehlo.return %2078 : tensor<f32>
    }) : (tensor<8x112x112x64xf32>, tensor<f32>) -> tensor<8x56x56x64xf32>
    %54 = stablehlo.convolution(%53, %arg4) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<8x56x56x64xf32>, tensor<3x3x64x64xf32>) -> tensor<8x56x56x64xf32>
    %cst_18 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %55 = stablehlo.reduce(%54 init: %cst_18) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<8x56x56x64xf32>, tensor<f32>) -> tensor<64xf32>
    %cst_19 = stablehlo.constant dense<2.508800e+04> : tensor<f32>
    %56 = stablehlo.broadcast_in_dim %cst_19, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %57 = stablehlo.divide %55, %56 : tensor<64xf32>
    %58 = chlo.square %54 : tensor<8x56x56x64xf32> -> tensor<8x56x56x64xf32>
    %cst_20 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %59 = stablehlo.broadcast_in_dim %cst_20, dims = [] : (tensor<f32>) -> tensor<8x56x56x64xf32>
    %60 = stablehlo.multiply %59, %54 : tensor<8x56x56x64xf32>
    %cst_21 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %61 = stablehlo.reduce(%58 init: %cst_21) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<8x56x56x64xf32>, tensor<f32>) -> tensor<64xf32>
    %cst_22 = stablehlo.constant dense<2.508800e+04> : tensor<f32>
    %62 = stablehlo.broadcast_in_dim %cst_22, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %63 = stablehlo.divide %61, %62 : tensor<64xf32>
    %64 = chlo.square %57 : tensor<64xf32> -> tensor<64xf32>
    %cst_23 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %65 = stablehlo.broadcast_in_dim %cst_23, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %66 = stablehlo.multiply %65, %57 : tensor<64xf32>
    %67 = stablehlo.subtract %63, %64 : tensor<64xf32>
    %cst_24 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %68 = stablehlo.broadcast_in_dim %cst_24, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %69 = stablehlo.multiply %68, %arg124 : tensor<64xf32>
    %cst_25 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %70 = stablehlo.broadcast_in_dim %cst_25, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %71 = stablehlo.multiply %70, %57 : tensor<64xf32>
    %72 = stablehlo.add %69, %71 : tensor<64xf32>
    %cst_26 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %73 = stablehlo.broadcast_in_dim %cst_26, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %74 = stablehlo.multiply %73, %arg125 : tensor<64xf32>
    %cst_27 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %75 = stablehlo.broadcast_in_dim %cst_27, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %76 = stablehlo.multiply %75, %67 : tensor<64xf32>
    %77 = stablehlo.add %74, %76 : tensor<64xf32>
    %cst_28 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %78 = stablehlo.broadcast_in_dim %cst_28, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %79 = stablehlo.add %67, %78 : tensor<64xf32>
    %80 = stablehlo.rsqrt %79 : tensor<64xf32>
    %81 = stablehlo.divide %80, %79 : tensor<64xf32>
    %cst_29 = stablehlo.constant dense<-5.000000e-01> : tensor<f32>
    %82 = stablehlo.broadcast_in_dim %cst_29, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %83 = stablehlo.multiply %82, %81 : tensor<64xf32>
    %84 = stablehlo.multiply %arg3, %80 : tensor<64xf32>
    %85 = stablehlo.broadcast_in_dim %57, dims = [3] : (tensor<64xf32>) -> tensor<1x1x1x64xf32>
    %86 = stablehlo.broadcast_in_dim %85, dims = [0, 1, 2, 3] : (tensor<1x1x1x64xf32>) -> tensor<8x56x56x64xf32>
    %87 = stablehlo.subtract %54, %86 : tensor<8x56x56x64xf32>
    %88 = stablehlo.broadcast_in_dim %84, dims = [3] : (tensor<64xf32>) -> tensor<1x1x1x64xf32>
    %89 = stablehlo.broadcast_in_dim %88, dims = [0, 1, 2, 3] : (tensor<1x1x1x64xf32>) -> tensor<8x56x56x64xf32>
    %90 = stablehlo.multiply %87, %89 : tensor<8x56x56x64xf32>
    %91 = stablehlo.broadcast_in_dim %arg2, dims = [3] : (tensor<64xf32>) -> tensor<1x1x1x64xf32>
    %92 = stablehlo.broadcast_in_dim %91, dims = [0, 1, 2, 3] : (tensor<1x1x1x64xf32>) -> tensor<8x56x56x64xf32>
    %93 = stablehlo.add %90, %92 : tensor<8x56x56x64xf32>
    %cst_30 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %94 = stablehlo.broadcast_in_dim %cst_30, dims = [] : (tensor<f32>) -> tensor<8x56x56x64xf32>
    %95 = stablehlo.maximum %93, %94 : tensor<8x56x56x64xf32>
    %96 = stablehlo.compare EQ, %93, %95, FLOAT : (tensor<8x56x56x64xf32>, tensor<8x56x56x64xf32>) -> tensor<8x56x56x64xi1>
    %cst_31 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %97 = stablehlo.broadcast_in_dim %cst_31, dims = [] : (tensor<f32>) -> tensor<8x56x56x64xf32>
    %cst_32 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %98 = stablehlo.broadcast_in_dim %cst_32, dims = [] : (tensor<f32>) -> tensor<8x56x56x64xf32>
    %99 = stablehlo.select %96, %97, %98 : tensor<8x56x56x64xi1>, tensor<8x56x56x64xf32>
    %cst_33 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %100 = stablehlo.broadcast_in_dim %cst_33, dims = [] : (tensor<f32>) -> tensor<8x56x56x64xf32>
    %101 = stablehlo.compare EQ, %100, %95, FLOAT : (tensor<8x56x56x64xf32>, tensor<8x56x56x64xf32>) -> tensor<8x56x56x64xi1>
    %cst_34 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %102 = stablehlo.broadcast_in_dim %cst_34, dims = [] : (tensor<f32>) -> tensor<8x56x56x64xf32>
    %cst_35 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %103 = stablehlo.broadcast_in_dim %cst_35, dims = [] : (tensor<f32>) -> tensor<8x56x56x64xf32>
    %104 = stablehlo.select %101, %102, %103 : tensor<8x56x56x64xi1>, tensor<8x56x56x64xf32>
    %105 = stablehlo.divide %99, %104 : tensor<8x56x56x64xf32>
    %106 = stablehlo.convolution(%95, %arg7) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<8x56x56x64xf32>, tensor<3x3x64x64xf32>) -> tensor<8x56x56x64xf32>
    %cst_36 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %107 = stablehlo.reduce(%106 init: %cst_36) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<8x56x56x64xf32>, tensor<f32>) -> tensor<64xf32>
    %cst_37 = stablehlo.constant dense<2.508800e+04> : tensor<f32>
    %108 = stablehlo.broadcast_in_dim %cst_37, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %109 = stablehlo.divide %107, %108 : tensor<64xf32>
    %110 = chlo.square %106 : tensor<8x56x56x64xf32> -> tensor<8x56x56x64xf32>
    %cst_38 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %111 = stablehlo.broadcast_in_dim %cst_38, dims = [] : (tensor<f32>) -> tensor<8x56x56x64xf32>
    %112 = stablehlo.multiply %111, %106 : tensor<8x56x56x64xf32>
    %cst_39 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %113 = stablehlo.reduce(%110 init: %cst_39) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<8x56x56x64xf32>, tensor<f32>) -> tensor<64xf32>
    %cst_40 = stablehlo.constant dense<2.508800e+04> : tensor<f32>
    %114 = stablehlo.broadcast_in_dim %cst_40, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %115 = stablehlo.divide %113, %114 : tensor<64xf32>
    %116 = chlo.square %109 : tensor<64xf32> -> tensor<64xf32>
    %cst_41 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %117 = stablehlo.broadcast_in_dim %cst_41, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %118 = stablehlo.multiply %117, %109 : tensor<64xf32>
    %119 = stablehlo.subtract %115, %116 : tensor<64xf32>
    %cst_42 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %120 = stablehlo.broadcast_in_dim %cst_42, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %121 = stablehlo.multiply %120, %arg126 : tensor<64xf32>
    %cst_43 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %122 = stablehlo.broadcast_in_dim %cst_43, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %123 = stablehlo.multiply %122, %109 : tensor<64xf32>
    %124 = stablehlo.add %121, %123 : tensor<64xf32>
    %cst_44 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %125 = stablehlo.broadcast_in_dim %cst_44, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %126 = stablehlo.multiply %125, %arg127 : tensor<64xf32>
    %cst_45 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %127 = stablehlo.broadcast_in_dim %cst_45, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %128 = stablehlo.multiply %127, %119 : tensor<64xf32>
    %129 = stablehlo.add %126, %128 : tensor<64xf32>
    %cst_46 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %130 = stablehlo.broadcast_in_dim %cst_46, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %131 = stablehlo.add %119, %130 : tensor<64xf32>
    %132 = stablehlo.rsqrt %131 : tensor<64xf32>
    %133 = stablehlo.divide %132, %131 : tensor<64xf32>
    %cst_47 = stablehlo.constant dense<-5.000000e-01> : tensor<f32>
    %134 = stablehlo.broadcast_in_dim %cst_47, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %135 = stablehlo.multiply %134, %133 : tensor<64xf32>
    %136 = stablehlo.multiply %arg6, %132 : tensor<64xf32>
    %137 = stablehlo.broadcast_in_dim %109, dims = [3] : (tensor<64xf32>) -> tensor<1x1x1x64xf32>
    %138 = stablehlo.broadcast_in_dim %137, dims = [0, 1, 2, 3] : (tensor<1x1x1x64xf32>) -> tensor<8x56x56x64xf32>
    %139 = stablehlo.subtract %106, %138 : tensor<8x56x56x64xf32>
    %140 = stablehlo.broadcast_in_dim %136, dims = [3] : (tensor<64xf32>) -> tensor<1x1x1x64xf32>
    %141 = stablehlo.broadcast_in_dim %140, dims = [0, 1, 2, 3] : (tensor<1x1x1x64xf32>) -> tensor<8x56x56x64xf32>
    %142 = stablehlo.multiply %139, %141 : tensor<8x56x56x64xf32>
    %143 = stablehlo.broadcast_in_dim %arg5, dims = [3] : (tensor<64xf32>) -> tensor<1x1x1x64xf32>
    %144 = stablehlo.broadcast_in_dim %143, dims = [0, 1, 2, 3] : (tensor<1x1x1x64xf32>) -> tensor<8x56x56x64xf32>
    %145 = stablehlo.add %142, %144 : tensor<8x56x56x64xf32>
    %146 = stablehlo.add %145, %53 : tensor<8x56x56x64xf32>
    %cst_48 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %147 = stablehlo.broadcast_in_dim %cst_48, dims = [] : (tensor<f32>) -> tensor<8x56x56x64xf32>
    %148 = stablehlo.maximum %146, %147 : tensor<8x56x56x64xf32>
    %149 = stablehlo.compare EQ, %146, %148, FLOAT : (tensor<8x56x56x64xf32>, tensor<8x56x56x64xf32>) -> tensor<8x56x56x64xi1>
    %cst_49 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %150 = stablehlo.broadcast_in_dim %cst_49, dims = [] : (tensor<f32>) -> tensor<8x56x56x64xf32>
    %cst_50 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %151 = stablehlo.broadcast_in_dim %cst_50, dims = [] : (tensor<f32>) -> tensor<8x56x56x64xf32>
    %152 = stablehlo.select %149, %150, %151 : tensor<8x56x56x64xi1>, tensor<8x56x56x64xf32>
    %cst_51 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %153 = stablehlo.broadcast_in_dim %cst_51, dims = [] : (tensor<f32>) -> tensor<8x56x56x64xf32>
    %154 = stablehlo.compare EQ, %153, %148, FLOAT : (tensor<8x56x56x64xf32>, tensor<8x56x56x64xf32>) -> tensor<8x56x56x64xi1>
    %cst_52 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %155 = stablehlo.broadcast_in_dim %cst_52, dims = [] : (tensor<f32>) -> tensor<8x56x56x64xf32>
    %cst_53 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %156 = stablehlo.broadcast_in_dim %cst_53, dims = [] : (tensor<f32>) -> tensor<8x56x56x64xf32>
    %157 = stablehlo.select %154, %155, %156 : tensor<8x56x56x64xi1>, tensor<8x56x56x64xf32>
    %158 = stablehlo.divide %152, %157 : tensor<8x56x56x64xf32>
    %159 = stablehlo.convolution(%148, %arg10) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<8x56x56x64xf32>, tensor<3x3x64x64xf32>) -> tensor<8x56x56x64xf32>
    %cst_54 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %160 = stablehlo.reduce(%159 init: %cst_54) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<8x56x56x64xf32>, tensor<f32>) -> tensor<64xf32>
    %cst_55 = stablehlo.constant dense<2.508800e+04> : tensor<f32>
    %161 = stablehlo.broadcast_in_dim %cst_55, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %162 = stablehlo.divide %160, %161 : tensor<64xf32>
    %163 = chlo.square %159 : tensor<8x56x56x64xf32> -> tensor<8x56x56x64xf32>
    %cst_56 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %164 = stablehlo.broadcast_in_dim %cst_56, dims = [] : (tensor<f32>) -> tensor<8x56x56x64xf32>
    %165 = stablehlo.multiply %164, %159 : tensor<8x56x56x64xf32>
    %cst_57 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %166 = stablehlo.reduce(%163 init: %cst_57) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<8x56x56x64xf32>, tensor<f32>) -> tensor<64xf32>
    %cst_58 = stablehlo.constant dense<2.508800e+04> : tensor<f32>
    %167 = stablehlo.broadcast_in_dim %cst_58, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %168 = stablehlo.divide %166, %167 : tensor<64xf32>
    %169 = chlo.square %162 : tensor<64xf32> -> tensor<64xf32>
    %cst_59 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %170 = stablehlo.broadcast_in_dim %cst_59, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %171 = stablehlo.multiply %170, %162 : tensor<64xf32>
    %172 = stablehlo.subtract %168, %169 : tensor<64xf32>
    %cst_60 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %173 = stablehlo.broadcast_in_dim %cst_60, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %174 = stablehlo.multiply %173, %arg128 : tensor<64xf32>
    %cst_61 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %175 = stablehlo.broadcast_in_dim %cst_61, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %176 = stablehlo.multiply %175, %162 : tensor<64xf32>
    %177 = stablehlo.add %174, %176 : tensor<64xf32>
    %cst_62 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %178 = stablehlo.broadcast_in_dim %cst_62, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %179 = stablehlo.multiply %178, %arg129 : tensor<64xf32>
    %cst_63 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %180 = stablehlo.broadcast_in_dim %cst_63, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %181 = stablehlo.multiply %180, %172 : tensor<64xf32>
    %182 = stablehlo.add %179, %181 : tensor<64xf32>
    %cst_64 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %183 = stablehlo.broadcast_in_dim %cst_64, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %184 = stablehlo.add %172, %183 : tensor<64xf32>
    %185 = stablehlo.rsqrt %184 : tensor<64xf32>
    %186 = stablehlo.divide %185, %184 : tensor<64xf32>
    %cst_65 = stablehlo.constant dense<-5.000000e-01> : tensor<f32>
    %187 = stablehlo.broadcast_in_dim %cst_65, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %188 = stablehlo.multiply %187, %186 : tensor<64xf32>
    %189 = stablehlo.multiply %arg9, %185 : tensor<64xf32>
    %190 = stablehlo.broadcast_in_dim %162, dims = [3] : (tensor<64xf32>) -> tensor<1x1x1x64xf32>
    %191 = stablehlo.broadcast_in_dim %190, dims = [0, 1, 2, 3] : (tensor<1x1x1x64xf32>) -> tensor<8x56x56x64xf32>
    %192 = stablehlo.subtract %159, %191 : tensor<8x56x56x64xf32>
    %193 = stablehlo.broadcast_in_dim %189, dims = [3] : (tensor<64xf32>) -> tensor<1x1x1x64xf32>
    %194 = stablehlo.broadcast_in_dim %193, dims = [0, 1, 2, 3] : (tensor<1x1x1x64xf32>) -> tensor<8x56x56x64xf32>
    %195 = stablehlo.multiply %192, %194 : tensor<8x56x56x64xf32>
    %196 = stablehlo.broadcast_in_dim %arg8, dims = [3] : (tensor<64xf32>) -> tensor<1x1x1x64xf32>
    %197 = stablehlo.broadcast_in_dim %196, dims = [0, 1, 2, 3] : (tensor<1x1x1x64xf32>) -> tensor<8x56x56x64xf32>
    %198 = stablehlo.add %195, %197 : tensor<8x56x56x64xf32>
    %cst_66 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %199 = stablehlo.broadcast_in_dim %cst_66, dims = [] : (tensor<f32>) -> tensor<8x56x56x64xf32>
    %200 = stablehlo.maximum %198, %199 : tensor<8x56x56x64xf32>
    %201 = stablehlo.compare EQ, %198, %200, FLOAT : (tensor<8x56x56x64xf32>, tensor<8x56x56x64xf32>) -> tensor<8x56x56x64xi1>
    %cst_67 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %202 = stablehlo.broadcast_in_dim %cst_67, dims = [] : (tensor<f32>) -> tensor<8x56x56x64xf32>
    %cst_68 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %203 = stablehlo.broadcast_in_dim %cst_68, dims = [] : (tensor<f32>) -> tensor<8x56x56x64xf32>
    %204 = stablehlo.select %201, %202, %203 : tensor<8x56x56x64xi1>, tensor<8x56x56x64xf32>
    %cst_69 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %205 = stablehlo.broadcast_in_dim %cst_69, dims = [] : (tensor<f32>) -> tensor<8x56x56x64xf32>
    %206 = stablehlo.compare EQ, %205, %200, FLOAT : (tensor<8x56x56x64xf32>, tensor<8x56x56x64xf32>) -> tensor<8x56x56x64xi1>
    %cst_70 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %207 = stablehlo.broadcast_in_dim %cst_70, dims = [] : (tensor<f32>) -> tensor<8x56x56x64xf32>
    %cst_71 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %208 = stablehlo.broadcast_in_dim %cst_71, dims = [] : (tensor<f32>) -> tensor<8x56x56x64xf32>
    %209 = stablehlo.select %206, %207, %208 : tensor<8x56x56x64xi1>, tensor<8x56x56x64xf32>
    %210 = stablehlo.divide %204, %209 : tensor<8x56x56x64xf32>
    %211 = stablehlo.convolution(%200, %arg13) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<8x56x56x64xf32>, tensor<3x3x64x64xf32>) -> tensor<8x56x56x64xf32>
    %cst_72 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %212 = stablehlo.reduce(%211 init: %cst_72) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<8x56x56x64xf32>, tensor<f32>) -> tensor<64xf32>
    %cst_73 = stablehlo.constant dense<2.508800e+04> : tensor<f32>
    %213 = stablehlo.broadcast_in_dim %cst_73, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %214 = stablehlo.divide %212, %213 : tensor<64xf32>
    %215 = chlo.square %211 : tensor<8x56x56x64xf32> -> tensor<8x56x56x64xf32>
    %cst_74 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %216 = stablehlo.broadcast_in_dim %cst_74, dims = [] : (tensor<f32>) -> tensor<8x56x56x64xf32>
    %217 = stablehlo.multiply %216, %211 : tensor<8x56x56x64xf32>
    %cst_75 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %218 = stablehlo.reduce(%215 init: %cst_75) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<8x56x56x64xf32>, tensor<f32>) -> tensor<64xf32>
    %cst_76 = stablehlo.constant dense<2.508800e+04> : tensor<f32>
    %219 = stablehlo.broadcast_in_dim %cst_76, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %220 = stablehlo.divide %218, %219 : tensor<64xf32>
    %221 = chlo.square %214 : tensor<64xf32> -> tensor<64xf32>
    %cst_77 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %222 = stablehlo.broadcast_in_dim %cst_77, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %223 = stablehlo.multiply %222, %214 : tensor<64xf32>
    %224 = stablehlo.subtract %220, %221 : tensor<64xf32>
    %cst_78 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %225 = stablehlo.broadcast_in_dim %cst_78, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %226 = stablehlo.multiply %225, %arg130 : tensor<64xf32>
    %cst_79 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %227 = stablehlo.broadcast_in_dim %cst_79, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %228 = stablehlo.multiply %227, %214 : tensor<64xf32>
    %229 = stablehlo.add %226, %228 : tensor<64xf32>
    %cst_80 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %230 = stablehlo.broadcast_in_dim %cst_80, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %231 = stablehlo.multiply %230, %arg131 : tensor<64xf32>
    %cst_81 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %232 = stablehlo.broadcast_in_dim %cst_81, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %233 = stablehlo.multiply %232, %224 : tensor<64xf32>
    %234 = stablehlo.add %231, %233 : tensor<64xf32>
    %cst_82 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %235 = stablehlo.broadcast_in_dim %cst_82, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %236 = stablehlo.add %224, %235 : tensor<64xf32>
    %237 = stablehlo.rsqrt %236 : tensor<64xf32>
    %238 = stablehlo.divide %237, %236 : tensor<64xf32>
    %cst_83 = stablehlo.constant dense<-5.000000e-01> : tensor<f32>
    %239 = stablehlo.broadcast_in_dim %cst_83, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %240 = stablehlo.multiply %239, %238 : tensor<64xf32>
    %241 = stablehlo.multiply %arg12, %237 : tensor<64xf32>
    %242 = stablehlo.broadcast_in_dim %214, dims = [3] : (tensor<64xf32>) -> tensor<1x1x1x64xf32>
    %243 = stablehlo.broadcast_in_dim %242, dims = [0, 1, 2, 3] : (tensor<1x1x1x64xf32>) -> tensor<8x56x56x64xf32>
    %244 = stablehlo.subtract %211, %243 : tensor<8x56x56x64xf32>
    %245 = stablehlo.broadcast_in_dim %241, dims = [3] : (tensor<64xf32>) -> tensor<1x1x1x64xf32>
    %246 = stablehlo.broadcast_in_dim %245, dims = [0, 1, 2, 3] : (tensor<1x1x1x64xf32>) -> tensor<8x56x56x64xf32>
    %247 = stablehlo.multiply %244, %246 : tensor<8x56x56x64xf32>
    %248 = stablehlo.broadcast_in_dim %arg11, dims = [3] : (tensor<64xf32>) -> tensor<1x1x1x64xf32>
    %249 = stablehlo.broadcast_in_dim %248, dims = [0, 1, 2, 3] : (tensor<1x1x1x64xf32>) -> tensor<8x56x56x64xf32>
    %250 = stablehlo.add %247, %249 : tensor<8x56x56x64xf32>
    %251 = stablehlo.add %250, %148 : tensor<8x56x56x64xf32>
    %cst_84 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %252 = stablehlo.broadcast_in_dim %cst_84, dims = [] : (tensor<f32>) -> tensor<8x56x56x64xf32>
    %253 = stablehlo.maximum %251, %252 : tensor<8x56x56x64xf32>
    %254 = stablehlo.compare EQ, %251, %253, FLOAT : (tensor<8x56x56x64xf32>, tensor<8x56x56x64xf32>) -> tensor<8x56x56x64xi1>
    %cst_85 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %255 = stablehlo.broadcast_in_dim %cst_85, dims = [] : (tensor<f32>) -> tensor<8x56x56x64xf32>
    %cst_86 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %256 = stablehlo.broadcast_in_dim %cst_86, dims = [] : (tensor<f32>) -> tensor<8x56x56x64xf32>
    %257 = stablehlo.select %254, %255, %256 : tensor<8x56x56x64xi1>, tensor<8x56x56x64xf32>
    %cst_87 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %258 = stablehlo.broadcast_in_dim %cst_87, dims = [] : (tensor<f32>) -> tensor<8x56x56x64xf32>
    %259 = stablehlo.compare EQ, %258, %253, FLOAT : (tensor<8x56x56x64xf32>, tensor<8x56x56x64xf32>) -> tensor<8x56x56x64xi1>
    %cst_88 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %260 = stablehlo.broadcast_in_dim %cst_88, dims = [] : (tensor<f32>) -> tensor<8x56x56x64xf32>
    %cst_89 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %261 = stablehlo.broadcast_in_dim %cst_89, dims = [] : (tensor<f32>) -> tensor<8x56x56x64xf32>
    %262 = stablehlo.select %259, %260, %261 : tensor<8x56x56x64xi1>, tensor<8x56x56x64xf32>
    %263 = stablehlo.divide %257, %262 : tensor<8x56x56x64xf32>
    %264 = stablehlo.convolution(%253, %arg16) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 2], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<8x56x56x64xf32>, tensor<3x3x64x128xf32>) -> tensor<8x28x28x128xf32>
    %cst_90 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %265 = stablehlo.reduce(%264 init: %cst_90) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<8x28x28x128xf32>, tensor<f32>) -> tensor<128xf32>
    %cst_91 = stablehlo.constant dense<6.272000e+03> : tensor<f32>
    %266 = stablehlo.broadcast_in_dim %cst_91, dims = [] : (tensor<f32>) -> tensor<128xf32>
    %267 = stablehlo.divide %265, %266 : tensor<128xf32>
    %268 = chlo.square %264 : tensor<8x28x28x128xf32> -> tensor<8x28x28x128xf32>
    %cst_92 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %269 = stablehlo.broadcast_in_dim %cst_92, dims = [] : (tensor<f32>) -> tensor<8x28x28x128xf32>
    %270 = stablehlo.multiply %269, %264 : tensor<8x28x28x128xf32>
    %cst_93 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %271 = stablehlo.reduce(%268 init: %cst_93) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<8x28x28x128xf32>, tensor<f32>) -> tensor<128xf32>
    %cst_94 = stablehlo.constant dense<6.272000e+03> : tensor<f32>
    %272 = stablehlo.broadcast_in_dim %cst_94, dims = [] : (tensor<f32>) -> tensor<128xf32>
    %273 = stablehlo.divide %271, %272 : tensor<128xf32>
    %274 = chlo.square %267 : tensor<128xf32> -> tensor<128xf32>
    %cst_95 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %275 = stablehlo.broadcast_in_dim %cst_95, dims = [] : (tensor<f32>) -> tensor<128xf32>
    %276 = stablehlo.multiply %275, %267 : tensor<128xf32>
    %277 = stablehlo.subtract %273, %274 : tensor<128xf32>
    %cst_96 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %278 = stablehlo.broadcast_in_dim %cst_96, dims = [] : (tensor<f32>) -> tensor<128xf32>
    %279 = stablehlo.multiply %278, %arg132 : tensor<128xf32>
    %cst_97 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %280 = stablehlo.broadcast_in_dim %cst_97, dims = [] : (tensor<f32>) -> tensor<128xf32>
    %281 = stablehlo.multiply %280, %267 : tensor<128xf32>
    %282 = stablehlo.add %279, %281 : tensor<128xf32>
    %cst_98 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %283 = stablehlo.broadcast_in_dim %cst_98, dims = [] : (tensor<f32>) -> tensor<128xf32>
    %284 = stablehlo.multiply %283, %arg133 : tensor<128xf32>
    %cst_99 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %285 = stablehlo.broadcast_in_dim %cst_99, dims = [] : (tensor<f32>) -> tensor<128xf32>
    %286 = stablehlo.multiply %285, %277 : tensor<128xf32>
    %287 = stablehlo.add %284, %286 : tensor<128xf32>
    %cst_100 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %288 = stablehlo.broadcast_in_dim %cst_100, dims = [] : (tensor<f32>) -> tensor<128xf32>
    %289 = stablehlo.add %277, %288 : tensor<128xf32>
    %290 = stablehlo.rsqrt %289 : tensor<128xf32>
    %291 = stablehlo.divide %290, %289 : tensor<128xf32>
    %cst_101 = stablehlo.constant dense<-5.000000e-01> : tensor<f32>
    %292 = stablehlo.broadcast_in_dim %cst_101, dims = [] : (tensor<f32>) -> tensor<128xf32>
    %293 = stablehlo.multiply %292, %291 : tensor<128xf32>
    %294 = stablehlo.multiply %arg15, %290 : tensor<128xf32>
    %295 = stablehlo.broadcast_in_dim %267, dims = [3] : (tensor<128xf32>) -> tensor<1x1x1x128xf32>
    %296 = stablehlo.broadcast_in_dim %295, dims = [0, 1, 2, 3] : (tensor<1x1x1x128xf32>) -> tensor<8x28x28x128xf32>
    %297 = stablehlo.subtract %264, %296 : tensor<8x28x28x128xf32>
    %298 = stablehlo.broadcast_in_dim %294, dims = [3] : (tensor<128xf32>) -> tensor<1x1x1x128xf32>
    %299 = stablehlo.broadcast_in_dim %298, dims = [0, 1, 2, 3] : (tensor<1x1x1x128xf32>) -> tensor<8x28x28x128xf32>
    %300 = stablehlo.multiply %297, %299 : tensor<8x28x28x128xf32>
    %301 = stablehlo.broadcast_in_dim %arg14, dims = [3] : (tensor<128xf32>) -> tensor<1x1x1x128xf32>
    %302 = stablehlo.broadcast_in_dim %301, dims = [0, 1, 2, 3] : (tensor<1x1x1x128xf32>) -> tensor<8x28x28x128xf32>
    %303 = stablehlo.add %300, %302 : tensor<8x28x28x128xf32>
    %cst_102 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %304 = stablehlo.broadcast_in_dim %cst_102, dims = [] : (tensor<f32>) -> tensor<8x28x28x128xf32>
    %305 = stablehlo.maximum %303, %304 : tensor<8x28x28x128xf32>
    %306 = stablehlo.compare EQ, %303, %305, FLOAT : (tensor<8x28x28x128xf32>, tensor<8x28x28x128xf32>) -> tensor<8x28x28x128xi1>
    %cst_103 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %307 = stablehlo.broadcast_in_dim %cst_103, dims = [] : (tensor<f32>) -> tensor<8x28x28x128xf32>
    %cst_104 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %308 = stablehlo.broadcast_in_dim %cst_104, dims = [] : (tensor<f32>) -> tensor<8x28x28x128xf32>
    %309 = stablehlo.select %306, %307, %308 : tensor<8x28x28x128xi1>, tensor<8x28x28x128xf32>
    %cst_105 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %310 = stablehlo.broadcast_in_dim %cst_105, dims = [] : (tensor<f32>) -> tensor<8x28x28x128xf32>
    %311 = stablehlo.compare EQ, %310, %305, FLOAT : (tensor<8x28x28x128xf32>, tensor<8x28x28x128xf32>) -> tensor<8x28x28x128xi1>
    %cst_106 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %312 = stablehlo.broadcast_in_dim %cst_106, dims = [] : (tensor<f32>) -> tensor<8x28x28x128xf32>
    %cst_107 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %313 = stablehlo.broadcast_in_dim %cst_107, dims = [] : (tensor<f32>) -> tensor<8x28x28x128xf32>
    %314 = stablehlo.select %311, %312, %313 : tensor<8x28x28x128xi1>, tensor<8x28x28x128xf32>
    %315 = stablehlo.divide %309, %314 : tensor<8x28x28x128xf32>
    %316 = stablehlo.convolution(%305, %arg19) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<8x28x28x128xf32>, tensor<3x3x128x128xf32>) -> tensor<8x28x28x128xf32>
    %cst_108 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %317 = stablehlo.reduce(%316 init: %cst_108) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<8x28x28x128xf32>, tensor<f32>) -> tensor<128xf32>
    %cst_109 = stablehlo.constant dense<6.272000e+03> : tensor<f32>
    %318 = stablehlo.broadcast_in_dim %cst_109, dims = [] : (tensor<f32>) -> tensor<128xf32>
    %319 = stablehlo.divide %317, %318 : tensor<128xf32>
    %320 = chlo.square %316 : tensor<8x28x28x128xf32> -> tensor<8x28x28x128xf32>
    %cst_110 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %321 = stablehlo.broadcast_in_dim %cst_110, dims = [] : (tensor<f32>) -> tensor<8x28x28x128xf32>
    %322 = stablehlo.multiply %321, %316 : tensor<8x28x28x128xf32>
    %cst_111 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %323 = stablehlo.reduce(%320 init: %cst_111) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<8x28x28x128xf32>, tensor<f32>) -> tensor<128xf32>
    %cst_112 = stablehlo.constant dense<6.272000e+03> : tensor<f32>
    %324 = stablehlo.broadcast_in_dim %cst_112, dims = [] : (tensor<f32>) -> tensor<128xf32>
    %325 = stablehlo.divide %323, %324 : tensor<128xf32>
    %326 = chlo.square %319 : tensor<128xf32> -> tensor<128xf32>
    %cst_113 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %327 = stablehlo.broadcast_in_dim %cst_113, dims = [] : (tensor<f32>) -> tensor<128xf32>
    %328 = stablehlo.multiply %327, %319 : tensor<128xf32>
    %329 = stablehlo.subtract %325, %326 : tensor<128xf32>
    %cst_114 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %330 = stablehlo.broadcast_in_dim %cst_114, dims = [] : (tensor<f32>) -> tensor<128xf32>
    %331 = stablehlo.multiply %330, %arg134 : tensor<128xf32>
    %cst_115 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %332 = stablehlo.broadcast_in_dim %cst_115, dims = [] : (tensor<f32>) -> tensor<128xf32>
    %333 = stablehlo.multiply %332, %319 : tensor<128xf32>
    %334 = stablehlo.add %331, %333 : tensor<128xf32>
    %cst_116 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %335 = stablehlo.broadcast_in_dim %cst_116, dims = [] : (tensor<f32>) -> tensor<128xf32>
    %336 = stablehlo.multiply %335, %arg135 : tensor<128xf32>
    %cst_117 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %337 = stablehlo.broadcast_in_dim %cst_117, dims = [] : (tensor<f32>) -> tensor<128xf32>
    %338 = stablehlo.multiply %337, %329 : tensor<128xf32>
    %339 = stablehlo.add %336, %338 : tensor<128xf32>
    %cst_118 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %340 = stablehlo.broadcast_in_dim %cst_118, dims = [] : (tensor<f32>) -> tensor<128xf32>
    %341 = stablehlo.add %329, %340 : tensor<128xf32>
    %342 = stablehlo.rsqrt %341 : tensor<128xf32>
    %343 = stablehlo.divide %342, %341 : tensor<128xf32>
    %cst_119 = stablehlo.constant dense<-5.000000e-01> : tensor<f32>
    %344 = stablehlo.broadcast_in_dim %cst_119, dims = [] : (tensor<f32>) -> tensor<128xf32>
    %345 = stablehlo.multiply %344, %343 : tensor<128xf32>
    %346 = stablehlo.multiply %arg18, %342 : tensor<128xf32>
    %347 = stablehlo.broadcast_in_dim %319, dims = [3] : (tensor<128xf32>) -> tensor<1x1x1x128xf32>
    %348 = stablehlo.broadcast_in_dim %347, dims = [0, 1, 2, 3] : (tensor<1x1x1x128xf32>) -> tensor<8x28x28x128xf32>
    %349 = stablehlo.subtract %316, %348 : tensor<8x28x28x128xf32>
    %350 = stablehlo.broadcast_in_dim %346, dims = [3] : (tensor<128xf32>) -> tensor<1x1x1x128xf32>
    %351 = stablehlo.broadcast_in_dim %350, dims = [0, 1, 2, 3] : (tensor<1x1x1x128xf32>) -> tensor<8x28x28x128xf32>
    %352 = stablehlo.multiply %349, %351 : tensor<8x28x28x128xf32>
    %353 = stablehlo.broadcast_in_dim %arg17, dims = [3] : (tensor<128xf32>) -> tensor<1x1x1x128xf32>
    %354 = stablehlo.broadcast_in_dim %353, dims = [0, 1, 2, 3] : (tensor<1x1x1x128xf32>) -> tensor<8x28x28x128xf32>
    %355 = stablehlo.add %352, %354 : tensor<8x28x28x128xf32>
    %356 = stablehlo.convolution(%253, %arg22) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 2], pad = [[0, 0], [0, 0]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<8x56x56x64xf32>, tensor<1x1x64x128xf32>) -> tensor<8x28x28x128xf32>
    %cst_120 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %357 = stablehlo.reduce(%356 init: %cst_120) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<8x28x28x128xf32>, tensor<f32>) -> tensor<128xf32>
    %cst_121 = stablehlo.constant dense<6.272000e+03> : tensor<f32>
    %358 = stablehlo.broadcast_in_dim %cst_121, dims = [] : (tensor<f32>) -> tensor<128xf32>
    %359 = stablehlo.divide %357, %358 : tensor<128xf32>
    %360 = chlo.square %356 : tensor<8x28x28x128xf32> -> tensor<8x28x28x128xf32>
    %cst_122 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %361 = stablehlo.broadcast_in_dim %cst_122, dims = [] : (tensor<f32>) -> tensor<8x28x28x128xf32>
    %362 = stablehlo.multiply %361, %356 : tensor<8x28x28x128xf32>
    %cst_123 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %363 = stablehlo.reduce(%360 init: %cst_123) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<8x28x28x128xf32>, tensor<f32>) -> tensor<128xf32>
    %cst_124 = stablehlo.constant dense<6.272000e+03> : tensor<f32>
    %364 = stablehlo.broadcast_in_dim %cst_124, dims = [] : (tensor<f32>) -> tensor<128xf32>
    %365 = stablehlo.divide %363, %364 : tensor<128xf32>
    %366 = chlo.square %359 : tensor<128xf32> -> tensor<128xf32>
    %cst_125 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %367 = stablehlo.broadcast_in_dim %cst_125, dims = [] : (tensor<f32>) -> tensor<128xf32>
    %368 = stablehlo.multiply %367, %359 : tensor<128xf32>
    %369 = stablehlo.subtract %365, %366 : tensor<128xf32>
    %cst_126 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %370 = stablehlo.broadcast_in_dim %cst_126, dims = [] : (tensor<f32>) -> tensor<128xf32>
    %371 = stablehlo.multiply %370, %arg136 : tensor<128xf32>
    %cst_127 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %372 = stablehlo.broadcast_in_dim %cst_127, dims = [] : (tensor<f32>) -> tensor<128xf32>
    %373 = stablehlo.multiply %372, %359 : tensor<128xf32>
    %374 = stablehlo.add %371, %373 : tensor<128xf32>
    %cst_128 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %375 = stablehlo.broadcast_in_dim %cst_128, dims = [] : (tensor<f32>) -> tensor<128xf32>
    %376 = stablehlo.multiply %375, %arg137 : tensor<128xf32>
    %cst_129 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %377 = stablehlo.broadcast_in_dim %cst_129, dims = [] : (tensor<f32>) -> tensor<128xf32>
    %378 = stablehlo.multiply %377, %369 : tensor<128xf32>
    %379 = stablehlo.add %376, %378 : tensor<128xf32>
    %cst_130 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %380 = stablehlo.broadcast_in_dim %cst_130, dims = [] : (tensor<f32>) -> tensor<128xf32>
    %381 = stablehlo.add %369, %380 : tensor<128xf32>
    %382 = stablehlo.rsqrt %381 : tensor<128xf32>
    %383 = stablehlo.divide %382, %381 : tensor<128xf32>
    %cst_131 = stablehlo.constant dense<-5.000000e-01> : tensor<f32>
    %384 = stablehlo.broadcast_in_dim %cst_131, dims = [] : (tensor<f32>) -> tensor<128xf32>
    %385 = stablehlo.multiply %384, %383 : tensor<128xf32>
    %386 = stablehlo.multiply %arg21, %382 : tensor<128xf32>
    %387 = stablehlo.broadcast_in_dim %359, dims = [3] : (tensor<128xf32>) -> tensor<1x1x1x128xf32>
    %388 = stablehlo.broadcast_in_dim %387, dims = [0, 1, 2, 3] : (tensor<1x1x1x128xf32>) -> tensor<8x28x28x128xf32>
    %389 = stablehlo.subtract %356, %388 : tensor<8x28x28x128xf32>
    %390 = stablehlo.broadcast_in_dim %386, dims = [3] : (tensor<128xf32>) -> tensor<1x1x1x128xf32>
    %391 = stablehlo.broadcast_in_dim %390, dims = [0, 1, 2, 3] : (tensor<1x1x1x128xf32>) -> tensor<8x28x28x128xf32>
    %392 = stablehlo.multiply %389, %391 : tensor<8x28x28x128xf32>
    %393 = stablehlo.broadcast_in_dim %arg20, dims = [3] : (tensor<128xf32>) -> tensor<1x1x1x128xf32>
    %394 = stablehlo.broadcast_in_dim %393, dims = [0, 1, 2, 3] : (tensor<1x1x1x128xf32>) -> tensor<8x28x28x128xf32>
    %395 = stablehlo.add %392, %394 : tensor<8x28x28x128xf32>
    %396 = stablehlo.add %355, %395 : tensor<8x28x28x128xf32>
    %cst_132 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %397 = stablehlo.broadcast_in_dim %cst_132, dims = [] : (tensor<f32>) -> tensor<8x28x28x128xf32>
    %398 = stablehlo.maximum %396, %397 : tensor<8x28x28x128xf32>
    %399 = stablehlo.compare EQ, %396, %398, FLOAT : (tensor<8x28x28x128xf32>, tensor<8x28x28x128xf32>) -> tensor<8x28x28x128xi1>
    %cst_133 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %400 = stablehlo.broadcast_in_dim %cst_133, dims = [] : (tensor<f32>) -> tensor<8x28x28x128xf32>
    %cst_134 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %401 = stablehlo.broadcast_in_dim %cst_134, dims = [] : (tensor<f32>) -> tensor<8x28x28x128xf32>
    %402 = stablehlo.select %399, %400, %401 : tensor<8x28x28x128xi1>, tensor<8x28x28x128xf32>
    %cst_135 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %403 = stablehlo.broadcast_in_dim %cst_135, dims = [] : (tensor<f32>) -> tensor<8x28x28x128xf32>
    %404 = stablehlo.compare EQ, %403, %398, FLOAT : (tensor<8x28x28x128xf32>, tensor<8x28x28x128xf32>) -> tensor<8x28x28x128xi1>
    %cst_136 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %405 = stablehlo.broadcast_in_dim %cst_136, dims = [] : (tensor<f32>) -> tensor<8x28x28x128xf32>
    %cst_137 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %406 = stablehlo.broadcast_in_dim %cst_137, dims = [] : (tensor<f32>) -> tensor<8x28x28x128xf32>
    %407 = stablehlo.select %404, %405, %406 : tensor<8x28x28x128xi1>, tensor<8x28x28x128xf32>
    %408 = stablehlo.divide %402, %407 : tensor<8x28x28x128xf32>
    %409 = stablehlo.convolution(%398, %arg25) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<8x28x28x128xf32>, tensor<3x3x128x128xf32>) -> tensor<8x28x28x128xf32>
    %cst_138 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %410 = stablehlo.reduce(%409 init: %cst_138) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<8x28x28x128xf32>, tensor<f32>) -> tensor<128xf32>
    %cst_139 = stablehlo.constant dense<6.272000e+03> : tensor<f32>
    %411 = stablehlo.broadcast_in_dim %cst_139, dims = [] : (tensor<f32>) -> tensor<128xf32>
    %412 = stablehlo.divide %410, %411 : tensor<128xf32>
    %413 = chlo.square %409 : tensor<8x28x28x128xf32> -> tensor<8x28x28x128xf32>
    %cst_140 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %414 = stablehlo.broadcast_in_dim %cst_140, dims = [] : (tensor<f32>) -> tensor<8x28x28x128xf32>
    %415 = stablehlo.multiply %414, %409 : tensor<8x28x28x128xf32>
    %cst_141 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %416 = stablehlo.reduce(%413 init: %cst_141) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<8x28x28x128xf32>, tensor<f32>) -> tensor<128xf32>
    %cst_142 = stablehlo.constant dense<6.272000e+03> : tensor<f32>
    %417 = stablehlo.broadcast_in_dim %cst_142, dims = [] : (tensor<f32>) -> tensor<128xf32>
    %418 = stablehlo.divide %416, %417 : tensor<128xf32>
    %419 = chlo.square %412 : tensor<128xf32> -> tensor<128xf32>
    %cst_143 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %420 = stablehlo.broadcast_in_dim %cst_143, dims = [] : (tensor<f32>) -> tensor<128xf32>
    %421 = stablehlo.multiply %420, %412 : tensor<128xf32>
    %422 = stablehlo.subtract %418, %419 : tensor<128xf32>
    %cst_144 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %423 = stablehlo.broadcast_in_dim %cst_144, dims = [] : (tensor<f32>) -> tensor<128xf32>
    %424 = stablehlo.multiply %423, %arg138 : tensor<128xf32>
    %cst_145 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %425 = stablehlo.broadcast_in_dim %cst_145, dims = [] : (tensor<f32>) -> tensor<128xf32>
    %426 = stablehlo.multiply %425, %412 : tensor<128xf32>
    %427 = stablehlo.add %424, %426 : tensor<128xf32>
    %cst_146 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %428 = stablehlo.broadcast_in_dim %cst_146, dims = [] : (tensor<f32>) -> tensor<128xf32>
    %429 = stablehlo.multiply %428, %arg139 : tensor<128xf32>
    %cst_147 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %430 = stablehlo.broadcast_in_dim %cst_147, dims = [] : (tensor<f32>) -> tensor<128xf32>
    %431 = stablehlo.multiply %430, %422 : tensor<128xf32>
    %432 = stablehlo.add %429, %431 : tensor<128xf32>
    %cst_148 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %433 = stablehlo.broadcast_in_dim %cst_148, dims = [] : (tensor<f32>) -> tensor<128xf32>
    %434 = stablehlo.add %422, %433 : tensor<128xf32>
    %435 = stablehlo.rsqrt %434 : tensor<128xf32>
    %436 = stablehlo.divide %435, %434 : tensor<128xf32>
    %cst_149 = stablehlo.constant dense<-5.000000e-01> : tensor<f32>
    %437 = stablehlo.broadcast_in_dim %cst_149, dims = [] : (tensor<f32>) -> tensor<128xf32>
    %438 = stablehlo.multiply %437, %436 : tensor<128xf32>
    %439 = stablehlo.multiply %arg24, %435 : tensor<128xf32>
    %440 = stablehlo.broadcast_in_dim %412, dims = [3] : (tensor<128xf32>) -> tensor<1x1x1x128xf32>
    %441 = stablehlo.broadcast_in_dim %440, dims = [0, 1, 2, 3] : (tensor<1x1x1x128xf32>) -> tensor<8x28x28x128xf32>
    %442 = stablehlo.subtract %409, %441 : tensor<8x28x28x128xf32>
    %443 = stablehlo.broadcast_in_dim %439, dims = [3] : (tensor<128xf32>) -> tensor<1x1x1x128xf32>
    %444 = stablehlo.broadcast_in_dim %443, dims = [0, 1, 2, 3] : (tensor<1x1x1x128xf32>) -> tensor<8x28x28x128xf32>
    %445 = stablehlo.multiply %442, %444 : tensor<8x28x28x128xf32>
    %446 = stablehlo.broadcast_in_dim %arg23, dims = [3] : (tensor<128xf32>) -> tensor<1x1x1x128xf32>
    %447 = stablehlo.broadcast_in_dim %446, dims = [0, 1, 2, 3] : (tensor<1x1x1x128xf32>) -> tensor<8x28x28x128xf32>
    %448 = stablehlo.add %445, %447 : tensor<8x28x28x128xf32>
    %cst_150 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %449 = stablehlo.broadcast_in_dim %cst_150, dims = [] : (tensor<f32>) -> tensor<8x28x28x128xf32>
    %450 = stablehlo.maximum %448, %449 : tensor<8x28x28x128xf32>
    %451 = stablehlo.compare EQ, %448, %450, FLOAT : (tensor<8x28x28x128xf32>, tensor<8x28x28x128xf32>) -> tensor<8x28x28x128xi1>
    %cst_151 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %452 = stablehlo.broadcast_in_dim %cst_151, dims = [] : (tensor<f32>) -> tensor<8x28x28x128xf32>
    %cst_152 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %453 = stablehlo.broadcast_in_dim %cst_152, dims = [] : (tensor<f32>) -> tensor<8x28x28x128xf32>
    %454 = stablehlo.select %451, %452, %453 : tensor<8x28x28x128xi1>, tensor<8x28x28x128xf32>
    %cst_153 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %455 = stablehlo.broadcast_in_dim %cst_153, dims = [] : (tensor<f32>) -> tensor<8x28x28x128xf32>
    %456 = stablehlo.compare EQ, %455, %450, FLOAT : (tensor<8x28x28x128xf32>, tensor<8x28x28x128xf32>) -> tensor<8x28x28x128xi1>
    %cst_154 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %457 = stablehlo.broadcast_in_dim %cst_154, dims = [] : (tensor<f32>) -> tensor<8x28x28x128xf32>
    %cst_155 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %458 = stablehlo.broadcast_in_dim %cst_155, dims = [] : (tensor<f32>) -> tensor<8x28x28x128xf32>
    %459 = stablehlo.select %456, %457, %458 : tensor<8x28x28x128xi1>, tensor<8x28x28x128xf32>
    %460 = stablehlo.divide %454, %459 : tensor<8x28x28x128xf32>
    %461 = stablehlo.convolution(%450, %arg28) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<8x28x28x128xf32>, tensor<3x3x128x128xf32>) -> tensor<8x28x28x128xf32>
    %cst_156 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %462 = stablehlo.reduce(%461 init: %cst_156) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<8x28x28x128xf32>, tensor<f32>) -> tensor<128xf32>
    %cst_157 = stablehlo.constant dense<6.272000e+03> : tensor<f32>
    %463 = stablehlo.broadcast_in_dim %cst_157, dims = [] : (tensor<f32>) -> tensor<128xf32>
    %464 = stablehlo.divide %462, %463 : tensor<128xf32>
    %465 = chlo.square %461 : tensor<8x28x28x128xf32> -> tensor<8x28x28x128xf32>
    %cst_158 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %466 = stablehlo.broadcast_in_dim %cst_158, dims = [] : (tensor<f32>) -> tensor<8x28x28x128xf32>
    %467 = stablehlo.multiply %466, %461 : tensor<8x28x28x128xf32>
    %cst_159 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %468 = stablehlo.reduce(%465 init: %cst_159) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<8x28x28x128xf32>, tensor<f32>) -> tensor<128xf32>
    %cst_160 = stablehlo.constant dense<6.272000e+03> : tensor<f32>
    %469 = stablehlo.broadcast_in_dim %cst_160, dims = [] : (tensor<f32>) -> tensor<128xf32>
    %470 = stablehlo.divide %468, %469 : tensor<128xf32>
    %471 = chlo.square %464 : tensor<128xf32> -> tensor<128xf32>
    %cst_161 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %472 = stablehlo.broadcast_in_dim %cst_161, dims = [] : (tensor<f32>) -> tensor<128xf32>
    %473 = stablehlo.multiply %472, %464 : tensor<128xf32>
    %474 = stablehlo.subtract %470, %471 : tensor<128xf32>
    %cst_162 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %475 = stablehlo.broadcast_in_dim %cst_162, dims = [] : (tensor<f32>) -> tensor<128xf32>
    %476 = stablehlo.multiply %475, %arg140 : tensor<128xf32>
    %cst_163 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %477 = stablehlo.broadcast_in_dim %cst_163, dims = [] : (tensor<f32>) -> tensor<128xf32>
    %478 = stablehlo.multiply %477, %464 : tensor<128xf32>
    %479 = stablehlo.add %476, %478 : tensor<128xf32>
    %cst_164 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %480 = stablehlo.broadcast_in_dim %cst_164, dims = [] : (tensor<f32>) -> tensor<128xf32>
    %481 = stablehlo.multiply %480, %arg141 : tensor<128xf32>
    %cst_165 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %482 = stablehlo.broadcast_in_dim %cst_165, dims = [] : (tensor<f32>) -> tensor<128xf32>
    %483 = stablehlo.multiply %482, %474 : tensor<128xf32>
    %484 = stablehlo.add %481, %483 : tensor<128xf32>
    %cst_166 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %485 = stablehlo.broadcast_in_dim %cst_166, dims = [] : (tensor<f32>) -> tensor<128xf32>
    %486 = stablehlo.add %474, %485 : tensor<128xf32>
    %487 = stablehlo.rsqrt %486 : tensor<128xf32>
    %488 = stablehlo.divide %487, %486 : tensor<128xf32>
    %cst_167 = stablehlo.constant dense<-5.000000e-01> : tensor<f32>
    %489 = stablehlo.broadcast_in_dim %cst_167, dims = [] : (tensor<f32>) -> tensor<128xf32>
    %490 = stablehlo.multiply %489, %488 : tensor<128xf32>
    %491 = stablehlo.multiply %arg27, %487 : tensor<128xf32>
    %492 = stablehlo.broadcast_in_dim %464, dims = [3] : (tensor<128xf32>) -> tensor<1x1x1x128xf32>
    %493 = stablehlo.broadcast_in_dim %492, dims = [0, 1, 2, 3] : (tensor<1x1x1x128xf32>) -> tensor<8x28x28x128xf32>
    %494 = stablehlo.subtract %461, %493 : tensor<8x28x28x128xf32>
    %495 = stablehlo.broadcast_in_dim %491, dims = [3] : (tensor<128xf32>) -> tensor<1x1x1x128xf32>
    %496 = stablehlo.broadcast_in_dim %495, dims = [0, 1, 2, 3] : (tensor<1x1x1x128xf32>) -> tensor<8x28x28x128xf32>
    %497 = stablehlo.multiply %494, %496 : tensor<8x28x28x128xf32>
    %498 = stablehlo.broadcast_in_dim %arg26, dims = [3] : (tensor<128xf32>) -> tensor<1x1x1x128xf32>
    %499 = stablehlo.broadcast_in_dim %498, dims = [0, 1, 2, 3] : (tensor<1x1x1x128xf32>) -> tensor<8x28x28x128xf32>
    %500 = stablehlo.add %497, %499 : tensor<8x28x28x128xf32>
    %501 = stablehlo.add %500, %398 : tensor<8x28x28x128xf32>
    %cst_168 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %502 = stablehlo.broadcast_in_dim %cst_168, dims = [] : (tensor<f32>) -> tensor<8x28x28x128xf32>
    %503 = stablehlo.maximum %501, %502 : tensor<8x28x28x128xf32>
    %504 = stablehlo.compare EQ, %501, %503, FLOAT : (tensor<8x28x28x128xf32>, tensor<8x28x28x128xf32>) -> tensor<8x28x28x128xi1>
    %cst_169 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %505 = stablehlo.broadcast_in_dim %cst_169, dims = [] : (tensor<f32>) -> tensor<8x28x28x128xf32>
    %cst_170 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %506 = stablehlo.broadcast_in_dim %cst_170, dims = [] : (tensor<f32>) -> tensor<8x28x28x128xf32>
    %507 = stablehlo.select %504, %505, %506 : tensor<8x28x28x128xi1>, tensor<8x28x28x128xf32>
    %cst_171 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %508 = stablehlo.broadcast_in_dim %cst_171, dims = [] : (tensor<f32>) -> tensor<8x28x28x128xf32>
    %509 = stablehlo.compare EQ, %508, %503, FLOAT : (tensor<8x28x28x128xf32>, tensor<8x28x28x128xf32>) -> tensor<8x28x28x128xi1>
    %cst_172 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %510 = stablehlo.broadcast_in_dim %cst_172, dims = [] : (tensor<f32>) -> tensor<8x28x28x128xf32>
    %cst_173 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %511 = stablehlo.broadcast_in_dim %cst_173, dims = [] : (tensor<f32>) -> tensor<8x28x28x128xf32>
    %512 = stablehlo.select %509, %510, %511 : tensor<8x28x28x128xi1>, tensor<8x28x28x128xf32>
    %513 = stablehlo.divide %507, %512 : tensor<8x28x28x128xf32>
    %514 = stablehlo.convolution(%503, %arg31) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 2], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<8x28x28x128xf32>, tensor<3x3x128x256xf32>) -> tensor<8x14x14x256xf32>
    %cst_174 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %515 = stablehlo.reduce(%514 init: %cst_174) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<8x14x14x256xf32>, tensor<f32>) -> tensor<256xf32>
    %cst_175 = stablehlo.constant dense<1.568000e+03> : tensor<f32>
    %516 = stablehlo.broadcast_in_dim %cst_175, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %517 = stablehlo.divide %515, %516 : tensor<256xf32>
    %518 = chlo.square %514 : tensor<8x14x14x256xf32> -> tensor<8x14x14x256xf32>
    %cst_176 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %519 = stablehlo.broadcast_in_dim %cst_176, dims = [] : (tensor<f32>) -> tensor<8x14x14x256xf32>
    %520 = stablehlo.multiply %519, %514 : tensor<8x14x14x256xf32>
    %cst_177 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %521 = stablehlo.reduce(%518 init: %cst_177) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<8x14x14x256xf32>, tensor<f32>) -> tensor<256xf32>
    %cst_178 = stablehlo.constant dense<1.568000e+03> : tensor<f32>
    %522 = stablehlo.broadcast_in_dim %cst_178, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %523 = stablehlo.divide %521, %522 : tensor<256xf32>
    %524 = chlo.square %517 : tensor<256xf32> -> tensor<256xf32>
    %cst_179 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %525 = stablehlo.broadcast_in_dim %cst_179, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %526 = stablehlo.multiply %525, %517 : tensor<256xf32>
    %527 = stablehlo.subtract %523, %524 : tensor<256xf32>
    %cst_180 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %528 = stablehlo.broadcast_in_dim %cst_180, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %529 = stablehlo.multiply %528, %arg142 : tensor<256xf32>
    %cst_181 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %530 = stablehlo.broadcast_in_dim %cst_181, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %531 = stablehlo.multiply %530, %517 : tensor<256xf32>
    %532 = stablehlo.add %529, %531 : tensor<256xf32>
    %cst_182 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %533 = stablehlo.broadcast_in_dim %cst_182, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %534 = stablehlo.multiply %533, %arg143 : tensor<256xf32>
    %cst_183 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %535 = stablehlo.broadcast_in_dim %cst_183, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %536 = stablehlo.multiply %535, %527 : tensor<256xf32>
    %537 = stablehlo.add %534, %536 : tensor<256xf32>
    %cst_184 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %538 = stablehlo.broadcast_in_dim %cst_184, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %539 = stablehlo.add %527, %538 : tensor<256xf32>
    %540 = stablehlo.rsqrt %539 : tensor<256xf32>
    %541 = stablehlo.divide %540, %539 : tensor<256xf32>
    %cst_185 = stablehlo.constant dense<-5.000000e-01> : tensor<f32>
    %542 = stablehlo.broadcast_in_dim %cst_185, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %543 = stablehlo.multiply %542, %541 : tensor<256xf32>
    %544 = stablehlo.multiply %arg30, %540 : tensor<256xf32>
    %545 = stablehlo.broadcast_in_dim %517, dims = [3] : (tensor<256xf32>) -> tensor<1x1x1x256xf32>
    %546 = stablehlo.broadcast_in_dim %545, dims = [0, 1, 2, 3] : (tensor<1x1x1x256xf32>) -> tensor<8x14x14x256xf32>
    %547 = stablehlo.subtract %514, %546 : tensor<8x14x14x256xf32>
    %548 = stablehlo.broadcast_in_dim %544, dims = [3] : (tensor<256xf32>) -> tensor<1x1x1x256xf32>
    %549 = stablehlo.broadcast_in_dim %548, dims = [0, 1, 2, 3] : (tensor<1x1x1x256xf32>) -> tensor<8x14x14x256xf32>
    %550 = stablehlo.multiply %547, %549 : tensor<8x14x14x256xf32>
    %551 = stablehlo.broadcast_in_dim %arg29, dims = [3] : (tensor<256xf32>) -> tensor<1x1x1x256xf32>
    %552 = stablehlo.broadcast_in_dim %551, dims = [0, 1, 2, 3] : (tensor<1x1x1x256xf32>) -> tensor<8x14x14x256xf32>
    %553 = stablehlo.add %550, %552 : tensor<8x14x14x256xf32>
    %cst_186 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %554 = stablehlo.broadcast_in_dim %cst_186, dims = [] : (tensor<f32>) -> tensor<8x14x14x256xf32>
    %555 = stablehlo.maximum %553, %554 : tensor<8x14x14x256xf32>
    %556 = stablehlo.compare EQ, %553, %555, FLOAT : (tensor<8x14x14x256xf32>, tensor<8x14x14x256xf32>) -> tensor<8x14x14x256xi1>
    %cst_187 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %557 = stablehlo.broadcast_in_dim %cst_187, dims = [] : (tensor<f32>) -> tensor<8x14x14x256xf32>
    %cst_188 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %558 = stablehlo.broadcast_in_dim %cst_188, dims = [] : (tensor<f32>) -> tensor<8x14x14x256xf32>
    %559 = stablehlo.select %556, %557, %558 : tensor<8x14x14x256xi1>, tensor<8x14x14x256xf32>
    %cst_189 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %560 = stablehlo.broadcast_in_dim %cst_189, dims = [] : (tensor<f32>) -> tensor<8x14x14x256xf32>
    %561 = stablehlo.compare EQ, %560, %555, FLOAT : (tensor<8x14x14x256xf32>, tensor<8x14x14x256xf32>) -> tensor<8x14x14x256xi1>
    %cst_190 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %562 = stablehlo.broadcast_in_dim %cst_190, dims = [] : (tensor<f32>) -> tensor<8x14x14x256xf32>
    %cst_191 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %563 = stablehlo.broadcast_in_dim %cst_191, dims = [] : (tensor<f32>) -> tensor<8x14x14x256xf32>
    %564 = stablehlo.select %561, %562, %563 : tensor<8x14x14x256xi1>, tensor<8x14x14x256xf32>
    %565 = stablehlo.divide %559, %564 : tensor<8x14x14x256xf32>
    %566 = stablehlo.convolution(%555, %arg34) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<8x14x14x256xf32>, tensor<3x3x256x256xf32>) -> tensor<8x14x14x256xf32>
    %cst_192 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %567 = stablehlo.reduce(%566 init: %cst_192) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<8x14x14x256xf32>, tensor<f32>) -> tensor<256xf32>
    %cst_193 = stablehlo.constant dense<1.568000e+03> : tensor<f32>
    %568 = stablehlo.broadcast_in_dim %cst_193, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %569 = stablehlo.divide %567, %568 : tensor<256xf32>
    %570 = chlo.square %566 : tensor<8x14x14x256xf32> -> tensor<8x14x14x256xf32>
    %cst_194 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %571 = stablehlo.broadcast_in_dim %cst_194, dims = [] : (tensor<f32>) -> tensor<8x14x14x256xf32>
    %572 = stablehlo.multiply %571, %566 : tensor<8x14x14x256xf32>
    %cst_195 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %573 = stablehlo.reduce(%570 init: %cst_195) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<8x14x14x256xf32>, tensor<f32>) -> tensor<256xf32>
    %cst_196 = stablehlo.constant dense<1.568000e+03> : tensor<f32>
    %574 = stablehlo.broadcast_in_dim %cst_196, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %575 = stablehlo.divide %573, %574 : tensor<256xf32>
    %576 = chlo.square %569 : tensor<256xf32> -> tensor<256xf32>
    %cst_197 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %577 = stablehlo.broadcast_in_dim %cst_197, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %578 = stablehlo.multiply %577, %569 : tensor<256xf32>
    %579 = stablehlo.subtract %575, %576 : tensor<256xf32>
    %cst_198 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %580 = stablehlo.broadcast_in_dim %cst_198, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %581 = stablehlo.multiply %580, %arg144 : tensor<256xf32>
    %cst_199 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %582 = stablehlo.broadcast_in_dim %cst_199, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %583 = stablehlo.multiply %582, %569 : tensor<256xf32>
    %584 = stablehlo.add %581, %583 : tensor<256xf32>
    %cst_200 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %585 = stablehlo.broadcast_in_dim %cst_200, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %586 = stablehlo.multiply %585, %arg145 : tensor<256xf32>
    %cst_201 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %587 = stablehlo.broadcast_in_dim %cst_201, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %588 = stablehlo.multiply %587, %579 : tensor<256xf32>
    %589 = stablehlo.add %586, %588 : tensor<256xf32>
    %cst_202 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %590 = stablehlo.broadcast_in_dim %cst_202, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %591 = stablehlo.add %579, %590 : tensor<256xf32>
    %592 = stablehlo.rsqrt %591 : tensor<256xf32>
    %593 = stablehlo.divide %592, %591 : tensor<256xf32>
    %cst_203 = stablehlo.constant dense<-5.000000e-01> : tensor<f32>
    %594 = stablehlo.broadcast_in_dim %cst_203, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %595 = stablehlo.multiply %594, %593 : tensor<256xf32>
    %596 = stablehlo.multiply %arg33, %592 : tensor<256xf32>
    %597 = stablehlo.broadcast_in_dim %569, dims = [3] : (tensor<256xf32>) -> tensor<1x1x1x256xf32>
    %598 = stablehlo.broadcast_in_dim %597, dims = [0, 1, 2, 3] : (tensor<1x1x1x256xf32>) -> tensor<8x14x14x256xf32>
    %599 = stablehlo.subtract %566, %598 : tensor<8x14x14x256xf32>
    %600 = stablehlo.broadcast_in_dim %596, dims = [3] : (tensor<256xf32>) -> tensor<1x1x1x256xf32>
    %601 = stablehlo.broadcast_in_dim %600, dims = [0, 1, 2, 3] : (tensor<1x1x1x256xf32>) -> tensor<8x14x14x256xf32>
    %602 = stablehlo.multiply %599, %601 : tensor<8x14x14x256xf32>
    %603 = stablehlo.broadcast_in_dim %arg32, dims = [3] : (tensor<256xf32>) -> tensor<1x1x1x256xf32>
    %604 = stablehlo.broadcast_in_dim %603, dims = [0, 1, 2, 3] : (tensor<1x1x1x256xf32>) -> tensor<8x14x14x256xf32>
    %605 = stablehlo.add %602, %604 : tensor<8x14x14x256xf32>
    %606 = stablehlo.convolution(%503, %arg37) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 2], pad = [[0, 0], [0, 0]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<8x28x28x128xf32>, tensor<1x1x128x256xf32>) -> tensor<8x14x14x256xf32>
    %cst_204 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %607 = stablehlo.reduce(%606 init: %cst_204) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<8x14x14x256xf32>, tensor<f32>) -> tensor<256xf32>
    %cst_205 = stablehlo.constant dense<1.568000e+03> : tensor<f32>
    %608 = stablehlo.broadcast_in_dim %cst_205, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %609 = stablehlo.divide %607, %608 : tensor<256xf32>
    %610 = chlo.square %606 : tensor<8x14x14x256xf32> -> tensor<8x14x14x256xf32>
    %cst_206 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %611 = stablehlo.broadcast_in_dim %cst_206, dims = [] : (tensor<f32>) -> tensor<8x14x14x256xf32>
    %612 = stablehlo.multiply %611, %606 : tensor<8x14x14x256xf32>
    %cst_207 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %613 = stablehlo.reduce(%610 init: %cst_207) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<8x14x14x256xf32>, tensor<f32>) -> tensor<256xf32>
    %cst_208 = stablehlo.constant dense<1.568000e+03> : tensor<f32>
    %614 = stablehlo.broadcast_in_dim %cst_208, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %615 = stablehlo.divide %613, %614 : tensor<256xf32>
    %616 = chlo.square %609 : tensor<256xf32> -> tensor<256xf32>
    %cst_209 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %617 = stablehlo.broadcast_in_dim %cst_209, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %618 = stablehlo.multiply %617, %609 : tensor<256xf32>
    %619 = stablehlo.subtract %615, %616 : tensor<256xf32>
    %cst_210 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %620 = stablehlo.broadcast_in_dim %cst_210, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %621 = stablehlo.multiply %620, %arg146 : tensor<256xf32>
    %cst_211 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %622 = stablehlo.broadcast_in_dim %cst_211, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %623 = stablehlo.multiply %622, %609 : tensor<256xf32>
    %624 = stablehlo.add %621, %623 : tensor<256xf32>
    %cst_212 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %625 = stablehlo.broadcast_in_dim %cst_212, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %626 = stablehlo.multiply %625, %arg147 : tensor<256xf32>
    %cst_213 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %627 = stablehlo.broadcast_in_dim %cst_213, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %628 = stablehlo.multiply %627, %619 : tensor<256xf32>
    %629 = stablehlo.add %626, %628 : tensor<256xf32>
    %cst_214 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %630 = stablehlo.broadcast_in_dim %cst_214, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %631 = stablehlo.add %619, %630 : tensor<256xf32>
    %632 = stablehlo.rsqrt %631 : tensor<256xf32>
    %633 = stablehlo.divide %632, %631 : tensor<256xf32>
    %cst_215 = stablehlo.constant dense<-5.000000e-01> : tensor<f32>
    %634 = stablehlo.broadcast_in_dim %cst_215, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %635 = stablehlo.multiply %634, %633 : tensor<256xf32>
    %636 = stablehlo.multiply %arg36, %632 : tensor<256xf32>
    %637 = stablehlo.broadcast_in_dim %609, dims = [3] : (tensor<256xf32>) -> tensor<1x1x1x256xf32>
    %638 = stablehlo.broadcast_in_dim %637, dims = [0, 1, 2, 3] : (tensor<1x1x1x256xf32>) -> tensor<8x14x14x256xf32>
    %639 = stablehlo.subtract %606, %638 : tensor<8x14x14x256xf32>
    %640 = stablehlo.broadcast_in_dim %636, dims = [3] : (tensor<256xf32>) -> tensor<1x1x1x256xf32>
    %641 = stablehlo.broadcast_in_dim %640, dims = [0, 1, 2, 3] : (tensor<1x1x1x256xf32>) -> tensor<8x14x14x256xf32>
    %642 = stablehlo.multiply %639, %641 : tensor<8x14x14x256xf32>
    %643 = stablehlo.broadcast_in_dim %arg35, dims = [3] : (tensor<256xf32>) -> tensor<1x1x1x256xf32>
    %644 = stablehlo.broadcast_in_dim %643, dims = [0, 1, 2, 3] : (tensor<1x1x1x256xf32>) -> tensor<8x14x14x256xf32>
    %645 = stablehlo.add %642, %644 : tensor<8x14x14x256xf32>
    %646 = stablehlo.add %605, %645 : tensor<8x14x14x256xf32>
    %cst_216 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %647 = stablehlo.broadcast_in_dim %cst_216, dims = [] : (tensor<f32>) -> tensor<8x14x14x256xf32>
    %648 = stablehlo.maximum %646, %647 : tensor<8x14x14x256xf32>
    %649 = stablehlo.compare EQ, %646, %648, FLOAT : (tensor<8x14x14x256xf32>, tensor<8x14x14x256xf32>) -> tensor<8x14x14x256xi1>
    %cst_217 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %650 = stablehlo.broadcast_in_dim %cst_217, dims = [] : (tensor<f32>) -> tensor<8x14x14x256xf32>
    %cst_218 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %651 = stablehlo.broadcast_in_dim %cst_218, dims = [] : (tensor<f32>) -> tensor<8x14x14x256xf32>
    %652 = stablehlo.select %649, %650, %651 : tensor<8x14x14x256xi1>, tensor<8x14x14x256xf32>
    %cst_219 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %653 = stablehlo.broadcast_in_dim %cst_219, dims = [] : (tensor<f32>) -> tensor<8x14x14x256xf32>
    %654 = stablehlo.compare EQ, %653, %648, FLOAT : (tensor<8x14x14x256xf32>, tensor<8x14x14x256xf32>) -> tensor<8x14x14x256xi1>
    %cst_220 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %655 = stablehlo.broadcast_in_dim %cst_220, dims = [] : (tensor<f32>) -> tensor<8x14x14x256xf32>
    %cst_221 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %656 = stablehlo.broadcast_in_dim %cst_221, dims = [] : (tensor<f32>) -> tensor<8x14x14x256xf32>
    %657 = stablehlo.select %654, %655, %656 : tensor<8x14x14x256xi1>, tensor<8x14x14x256xf32>
    %658 = stablehlo.divide %652, %657 : tensor<8x14x14x256xf32>
    %659 = stablehlo.convolution(%648, %arg40) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<8x14x14x256xf32>, tensor<3x3x256x256xf32>) -> tensor<8x14x14x256xf32>
    %cst_222 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %660 = stablehlo.reduce(%659 init: %cst_222) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<8x14x14x256xf32>, tensor<f32>) -> tensor<256xf32>
    %cst_223 = stablehlo.constant dense<1.568000e+03> : tensor<f32>
    %661 = stablehlo.broadcast_in_dim %cst_223, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %662 = stablehlo.divide %660, %661 : tensor<256xf32>
    %663 = chlo.square %659 : tensor<8x14x14x256xf32> -> tensor<8x14x14x256xf32>
    %cst_224 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %664 = stablehlo.broadcast_in_dim %cst_224, dims = [] : (tensor<f32>) -> tensor<8x14x14x256xf32>
    %665 = stablehlo.multiply %664, %659 : tensor<8x14x14x256xf32>
    %cst_225 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %666 = stablehlo.reduce(%663 init: %cst_225) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<8x14x14x256xf32>, tensor<f32>) -> tensor<256xf32>
    %cst_226 = stablehlo.constant dense<1.568000e+03> : tensor<f32>
    %667 = stablehlo.broadcast_in_dim %cst_226, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %668 = stablehlo.divide %666, %667 : tensor<256xf32>
    %669 = chlo.square %662 : tensor<256xf32> -> tensor<256xf32>
    %cst_227 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %670 = stablehlo.broadcast_in_dim %cst_227, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %671 = stablehlo.multiply %670, %662 : tensor<256xf32>
    %672 = stablehlo.subtract %668, %669 : tensor<256xf32>
    %cst_228 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %673 = stablehlo.broadcast_in_dim %cst_228, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %674 = stablehlo.multiply %673, %arg148 : tensor<256xf32>
    %cst_229 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %675 = stablehlo.broadcast_in_dim %cst_229, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %676 = stablehlo.multiply %675, %662 : tensor<256xf32>
    %677 = stablehlo.add %674, %676 : tensor<256xf32>
    %cst_230 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %678 = stablehlo.broadcast_in_dim %cst_230, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %679 = stablehlo.multiply %678, %arg149 : tensor<256xf32>
    %cst_231 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %680 = stablehlo.broadcast_in_dim %cst_231, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %681 = stablehlo.multiply %680, %672 : tensor<256xf32>
    %682 = stablehlo.add %679, %681 : tensor<256xf32>
    %cst_232 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %683 = stablehlo.broadcast_in_dim %cst_232, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %684 = stablehlo.add %672, %683 : tensor<256xf32>
    %685 = stablehlo.rsqrt %684 : tensor<256xf32>
    %686 = stablehlo.divide %685, %684 : tensor<256xf32>
    %cst_233 = stablehlo.constant dense<-5.000000e-01> : tensor<f32>
    %687 = stablehlo.broadcast_in_dim %cst_233, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %688 = stablehlo.multiply %687, %686 : tensor<256xf32>
    %689 = stablehlo.multiply %arg39, %685 : tensor<256xf32>
    %690 = stablehlo.broadcast_in_dim %662, dims = [3] : (tensor<256xf32>) -> tensor<1x1x1x256xf32>
    %691 = stablehlo.broadcast_in_dim %690, dims = [0, 1, 2, 3] : (tensor<1x1x1x256xf32>) -> tensor<8x14x14x256xf32>
    %692 = stablehlo.subtract %659, %691 : tensor<8x14x14x256xf32>
    %693 = stablehlo.broadcast_in_dim %689, dims = [3] : (tensor<256xf32>) -> tensor<1x1x1x256xf32>
    %694 = stablehlo.broadcast_in_dim %693, dims = [0, 1, 2, 3] : (tensor<1x1x1x256xf32>) -> tensor<8x14x14x256xf32>
    %695 = stablehlo.multiply %692, %694 : tensor<8x14x14x256xf32>
    %696 = stablehlo.broadcast_in_dim %arg38, dims = [3] : (tensor<256xf32>) -> tensor<1x1x1x256xf32>
    %697 = stablehlo.broadcast_in_dim %696, dims = [0, 1, 2, 3] : (tensor<1x1x1x256xf32>) -> tensor<8x14x14x256xf32>
    %698 = stablehlo.add %695, %697 : tensor<8x14x14x256xf32>
    %cst_234 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %699 = stablehlo.broadcast_in_dim %cst_234, dims = [] : (tensor<f32>) -> tensor<8x14x14x256xf32>
    %700 = stablehlo.maximum %698, %699 : tensor<8x14x14x256xf32>
    %701 = stablehlo.compare EQ, %698, %700, FLOAT : (tensor<8x14x14x256xf32>, tensor<8x14x14x256xf32>) -> tensor<8x14x14x256xi1>
    %cst_235 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %702 = stablehlo.broadcast_in_dim %cst_235, dims = [] : (tensor<f32>) -> tensor<8x14x14x256xf32>
    %cst_236 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %703 = stablehlo.broadcast_in_dim %cst_236, dims = [] : (tensor<f32>) -> tensor<8x14x14x256xf32>
    %704 = stablehlo.select %701, %702, %703 : tensor<8x14x14x256xi1>, tensor<8x14x14x256xf32>
    %cst_237 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %705 = stablehlo.broadcast_in_dim %cst_237, dims = [] : (tensor<f32>) -> tensor<8x14x14x256xf32>
    %706 = stablehlo.compare EQ, %705, %700, FLOAT : (tensor<8x14x14x256xf32>, tensor<8x14x14x256xf32>) -> tensor<8x14x14x256xi1>
    %cst_238 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %707 = stablehlo.broadcast_in_dim %cst_238, dims = [] : (tensor<f32>) -> tensor<8x14x14x256xf32>
    %cst_239 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %708 = stablehlo.broadcast_in_dim %cst_239, dims = [] : (tensor<f32>) -> tensor<8x14x14x256xf32>
    %709 = stablehlo.select %706, %707, %708 : tensor<8x14x14x256xi1>, tensor<8x14x14x256xf32>
    %710 = stablehlo.divide %704, %709 : tensor<8x14x14x256xf32>
    %711 = stablehlo.convolution(%700, %arg43) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<8x14x14x256xf32>, tensor<3x3x256x256xf32>) -> tensor<8x14x14x256xf32>
    %cst_240 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %712 = stablehlo.reduce(%711 init: %cst_240) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<8x14x14x256xf32>, tensor<f32>) -> tensor<256xf32>
    %cst_241 = stablehlo.constant dense<1.568000e+03> : tensor<f32>
    %713 = stablehlo.broadcast_in_dim %cst_241, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %714 = stablehlo.divide %712, %713 : tensor<256xf32>
    %715 = chlo.square %711 : tensor<8x14x14x256xf32> -> tensor<8x14x14x256xf32>
    %cst_242 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %716 = stablehlo.broadcast_in_dim %cst_242, dims = [] : (tensor<f32>) -> tensor<8x14x14x256xf32>
    %717 = stablehlo.multiply %716, %711 : tensor<8x14x14x256xf32>
    %cst_243 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %718 = stablehlo.reduce(%715 init: %cst_243) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<8x14x14x256xf32>, tensor<f32>) -> tensor<256xf32>
    %cst_244 = stablehlo.constant dense<1.568000e+03> : tensor<f32>
    %719 = stablehlo.broadcast_in_dim %cst_244, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %720 = stablehlo.divide %718, %719 : tensor<256xf32>
    %721 = chlo.square %714 : tensor<256xf32> -> tensor<256xf32>
    %cst_245 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %722 = stablehlo.broadcast_in_dim %cst_245, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %723 = stablehlo.multiply %722, %714 : tensor<256xf32>
    %724 = stablehlo.subtract %720, %721 : tensor<256xf32>
    %cst_246 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %725 = stablehlo.broadcast_in_dim %cst_246, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %726 = stablehlo.multiply %725, %arg150 : tensor<256xf32>
    %cst_247 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %727 = stablehlo.broadcast_in_dim %cst_247, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %728 = stablehlo.multiply %727, %714 : tensor<256xf32>
    %729 = stablehlo.add %726, %728 : tensor<256xf32>
    %cst_248 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %730 = stablehlo.broadcast_in_dim %cst_248, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %731 = stablehlo.multiply %730, %arg151 : tensor<256xf32>
    %cst_249 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %732 = stablehlo.broadcast_in_dim %cst_249, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %733 = stablehlo.multiply %732, %724 : tensor<256xf32>
    %734 = stablehlo.add %731, %733 : tensor<256xf32>
    %cst_250 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %735 = stablehlo.broadcast_in_dim %cst_250, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %736 = stablehlo.add %724, %735 : tensor<256xf32>
    %737 = stablehlo.rsqrt %736 : tensor<256xf32>
    %738 = stablehlo.divide %737, %736 : tensor<256xf32>
    %cst_251 = stablehlo.constant dense<-5.000000e-01> : tensor<f32>
    %739 = stablehlo.broadcast_in_dim %cst_251, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %740 = stablehlo.multiply %739, %738 : tensor<256xf32>
    %741 = stablehlo.multiply %arg42, %737 : tensor<256xf32>
    %742 = stablehlo.broadcast_in_dim %714, dims = [3] : (tensor<256xf32>) -> tensor<1x1x1x256xf32>
    %743 = stablehlo.broadcast_in_dim %742, dims = [0, 1, 2, 3] : (tensor<1x1x1x256xf32>) -> tensor<8x14x14x256xf32>
    %744 = stablehlo.subtract %711, %743 : tensor<8x14x14x256xf32>
    %745 = stablehlo.broadcast_in_dim %741, dims = [3] : (tensor<256xf32>) -> tensor<1x1x1x256xf32>
    %746 = stablehlo.broadcast_in_dim %745, dims = [0, 1, 2, 3] : (tensor<1x1x1x256xf32>) -> tensor<8x14x14x256xf32>
    %747 = stablehlo.multiply %744, %746 : tensor<8x14x14x256xf32>
    %748 = stablehlo.broadcast_in_dim %arg41, dims = [3] : (tensor<256xf32>) -> tensor<1x1x1x256xf32>
    %749 = stablehlo.broadcast_in_dim %748, dims = [0, 1, 2, 3] : (tensor<1x1x1x256xf32>) -> tensor<8x14x14x256xf32>
    %750 = stablehlo.add %747, %749 : tensor<8x14x14x256xf32>
    %751 = stablehlo.add %750, %648 : tensor<8x14x14x256xf32>
    %cst_252 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %752 = stablehlo.broadcast_in_dim %cst_252, dims = [] : (tensor<f32>) -> tensor<8x14x14x256xf32>
    %753 = stablehlo.maximum %751, %752 : tensor<8x14x14x256xf32>
    %754 = stablehlo.compare EQ, %751, %753, FLOAT : (tensor<8x14x14x256xf32>, tensor<8x14x14x256xf32>) -> tensor<8x14x14x256xi1>
    %cst_253 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %755 = stablehlo.broadcast_in_dim %cst_253, dims = [] : (tensor<f32>) -> tensor<8x14x14x256xf32>
    %cst_254 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %756 = stablehlo.broadcast_in_dim %cst_254, dims = [] : (tensor<f32>) -> tensor<8x14x14x256xf32>
    %757 = stablehlo.select %754, %755, %756 : tensor<8x14x14x256xi1>, tensor<8x14x14x256xf32>
    %cst_255 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %758 = stablehlo.broadcast_in_dim %cst_255, dims = [] : (tensor<f32>) -> tensor<8x14x14x256xf32>
    %759 = stablehlo.compare EQ, %758, %753, FLOAT : (tensor<8x14x14x256xf32>, tensor<8x14x14x256xf32>) -> tensor<8x14x14x256xi1>
    %cst_256 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %760 = stablehlo.broadcast_in_dim %cst_256, dims = [] : (tensor<f32>) -> tensor<8x14x14x256xf32>
    %cst_257 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %761 = stablehlo.broadcast_in_dim %cst_257, dims = [] : (tensor<f32>) -> tensor<8x14x14x256xf32>
    %762 = stablehlo.select %759, %760, %761 : tensor<8x14x14x256xi1>, tensor<8x14x14x256xf32>
    %763 = stablehlo.divide %757, %762 : tensor<8x14x14x256xf32>
    %764 = stablehlo.convolution(%753, %arg46) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 2], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<8x14x14x256xf32>, tensor<3x3x256x512xf32>) -> tensor<8x7x7x512xf32>
    %cst_258 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %765 = stablehlo.reduce(%764 init: %cst_258) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<8x7x7x512xf32>, tensor<f32>) -> tensor<512xf32>
    %cst_259 = stablehlo.constant dense<3.920000e+02> : tensor<f32>
    %766 = stablehlo.broadcast_in_dim %cst_259, dims = [] : (tensor<f32>) -> tensor<512xf32>
    %767 = stablehlo.divide %765, %766 : tensor<512xf32>
    %768 = chlo.square %764 : tensor<8x7x7x512xf32> -> tensor<8x7x7x512xf32>
    %cst_260 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %769 = stablehlo.broadcast_in_dim %cst_260, dims = [] : (tensor<f32>) -> tensor<8x7x7x512xf32>
    %770 = stablehlo.multiply %769, %764 : tensor<8x7x7x512xf32>
    %cst_261 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %771 = stablehlo.reduce(%768 init: %cst_261) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<8x7x7x512xf32>, tensor<f32>) -> tensor<512xf32>
    %cst_262 = stablehlo.constant dense<3.920000e+02> : tensor<f32>
    %772 = stablehlo.broadcast_in_dim %cst_262, dims = [] : (tensor<f32>) -> tensor<512xf32>
    %773 = stablehlo.divide %771, %772 : tensor<512xf32>
    %774 = chlo.square %767 : tensor<512xf32> -> tensor<512xf32>
    %cst_263 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %775 = stablehlo.broadcast_in_dim %cst_263, dims = [] : (tensor<f32>) -> tensor<512xf32>
    %776 = stablehlo.multiply %775, %767 : tensor<512xf32>
    %777 = stablehlo.subtract %773, %774 : tensor<512xf32>
    %cst_264 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %778 = stablehlo.broadcast_in_dim %cst_264, dims = [] : (tensor<f32>) -> tensor<512xf32>
    %779 = stablehlo.multiply %778, %arg152 : tensor<512xf32>
    %cst_265 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %780 = stablehlo.broadcast_in_dim %cst_265, dims = [] : (tensor<f32>) -> tensor<512xf32>
    %781 = stablehlo.multiply %780, %767 : tensor<512xf32>
    %782 = stablehlo.add %779, %781 : tensor<512xf32>
    %cst_266 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %783 = stablehlo.broadcast_in_dim %cst_266, dims = [] : (tensor<f32>) -> tensor<512xf32>
    %784 = stablehlo.multiply %783, %arg153 : tensor<512xf32>
    %cst_267 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %785 = stablehlo.broadcast_in_dim %cst_267, dims = [] : (tensor<f32>) -> tensor<512xf32>
    %786 = stablehlo.multiply %785, %777 : tensor<512xf32>
    %787 = stablehlo.add %784, %786 : tensor<512xf32>
    %cst_268 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %788 = stablehlo.broadcast_in_dim %cst_268, dims = [] : (tensor<f32>) -> tensor<512xf32>
    %789 = stablehlo.add %777, %788 : tensor<512xf32>
    %790 = stablehlo.rsqrt %789 : tensor<512xf32>
    %791 = stablehlo.divide %790, %789 : tensor<512xf32>
    %cst_269 = stablehlo.constant dense<-5.000000e-01> : tensor<f32>
    %792 = stablehlo.broadcast_in_dim %cst_269, dims = [] : (tensor<f32>) -> tensor<512xf32>
    %793 = stablehlo.multiply %792, %791 : tensor<512xf32>
    %794 = stablehlo.multiply %arg45, %790 : tensor<512xf32>
    %795 = stablehlo.broadcast_in_dim %767, dims = [3] : (tensor<512xf32>) -> tensor<1x1x1x512xf32>
    %796 = stablehlo.broadcast_in_dim %795, dims = [0, 1, 2, 3] : (tensor<1x1x1x512xf32>) -> tensor<8x7x7x512xf32>
    %797 = stablehlo.subtract %764, %796 : tensor<8x7x7x512xf32>
    %798 = stablehlo.broadcast_in_dim %794, dims = [3] : (tensor<512xf32>) -> tensor<1x1x1x512xf32>
    %799 = stablehlo.broadcast_in_dim %798, dims = [0, 1, 2, 3] : (tensor<1x1x1x512xf32>) -> tensor<8x7x7x512xf32>
    %800 = stablehlo.multiply %797, %799 : tensor<8x7x7x512xf32>
    %801 = stablehlo.broadcast_in_dim %arg44, dims = [3] : (tensor<512xf32>) -> tensor<1x1x1x512xf32>
    %802 = stablehlo.broadcast_in_dim %801, dims = [0, 1, 2, 3] : (tensor<1x1x1x512xf32>) -> tensor<8x7x7x512xf32>
    %803 = stablehlo.add %800, %802 : tensor<8x7x7x512xf32>
    %cst_270 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %804 = stablehlo.broadcast_in_dim %cst_270, dims = [] : (tensor<f32>) -> tensor<8x7x7x512xf32>
    %805 = stablehlo.maximum %803, %804 : tensor<8x7x7x512xf32>
    %806 = stablehlo.compare EQ, %803, %805, FLOAT : (tensor<8x7x7x512xf32>, tensor<8x7x7x512xf32>) -> tensor<8x7x7x512xi1>
    %cst_271 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %807 = stablehlo.broadcast_in_dim %cst_271, dims = [] : (tensor<f32>) -> tensor<8x7x7x512xf32>
    %cst_272 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %808 = stablehlo.broadcast_in_dim %cst_272, dims = [] : (tensor<f32>) -> tensor<8x7x7x512xf32>
    %809 = stablehlo.select %806, %807, %808 : tensor<8x7x7x512xi1>, tensor<8x7x7x512xf32>
    %cst_273 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %810 = stablehlo.broadcast_in_dim %cst_273, dims = [] : (tensor<f32>) -> tensor<8x7x7x512xf32>
    %811 = stablehlo.compare EQ, %810, %805, FLOAT : (tensor<8x7x7x512xf32>, tensor<8x7x7x512xf32>) -> tensor<8x7x7x512xi1>
    %cst_274 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %812 = stablehlo.broadcast_in_dim %cst_274, dims = [] : (tensor<f32>) -> tensor<8x7x7x512xf32>
    %cst_275 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %813 = stablehlo.broadcast_in_dim %cst_275, dims = [] : (tensor<f32>) -> tensor<8x7x7x512xf32>
    %814 = stablehlo.select %811, %812, %813 : tensor<8x7x7x512xi1>, tensor<8x7x7x512xf32>
    %815 = stablehlo.divide %809, %814 : tensor<8x7x7x512xf32>
    %816 = stablehlo.convolution(%805, %arg49) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<8x7x7x512xf32>, tensor<3x3x512x512xf32>) -> tensor<8x7x7x512xf32>
    %cst_276 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %817 = stablehlo.reduce(%816 init: %cst_276) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<8x7x7x512xf32>, tensor<f32>) -> tensor<512xf32>
    %cst_277 = stablehlo.constant dense<3.920000e+02> : tensor<f32>
    %818 = stablehlo.broadcast_in_dim %cst_277, dims = [] : (tensor<f32>) -> tensor<512xf32>
    %819 = stablehlo.divide %817, %818 : tensor<512xf32>
    %820 = chlo.square %816 : tensor<8x7x7x512xf32> -> tensor<8x7x7x512xf32>
    %cst_278 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %821 = stablehlo.broadcast_in_dim %cst_278, dims = [] : (tensor<f32>) -> tensor<8x7x7x512xf32>
    %822 = stablehlo.multiply %821, %816 : tensor<8x7x7x512xf32>
    %cst_279 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %823 = stablehlo.reduce(%820 init: %cst_279) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<8x7x7x512xf32>, tensor<f32>) -> tensor<512xf32>
    %cst_280 = stablehlo.constant dense<3.920000e+02> : tensor<f32>
    %824 = stablehlo.broadcast_in_dim %cst_280, dims = [] : (tensor<f32>) -> tensor<512xf32>
    %825 = stablehlo.divide %823, %824 : tensor<512xf32>
    %826 = chlo.square %819 : tensor<512xf32> -> tensor<512xf32>
    %cst_281 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %827 = stablehlo.broadcast_in_dim %cst_281, dims = [] : (tensor<f32>) -> tensor<512xf32>
    %828 = stablehlo.multiply %827, %819 : tensor<512xf32>
    %829 = stablehlo.subtract %825, %826 : tensor<512xf32>
    %cst_282 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %830 = stablehlo.broadcast_in_dim %cst_282, dims = [] : (tensor<f32>) -> tensor<512xf32>
    %831 = stablehlo.multiply %830, %arg154 : tensor<512xf32>
    %cst_283 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %832 = stablehlo.broadcast_in_dim %cst_283, dims = [] : (tensor<f32>) -> tensor<512xf32>
    %833 = stablehlo.multiply %832, %819 : tensor<512xf32>
    %834 = stablehlo.add %831, %833 : tensor<512xf32>
    %cst_284 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %835 = stablehlo.broadcast_in_dim %cst_284, dims = [] : (tensor<f32>) -> tensor<512xf32>
    %836 = stablehlo.multiply %835, %arg155 : tensor<512xf32>
    %cst_285 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %837 = stablehlo.broadcast_in_dim %cst_285, dims = [] : (tensor<f32>) -> tensor<512xf32>
    %838 = stablehlo.multiply %837, %829 : tensor<512xf32>
    %839 = stablehlo.add %836, %838 : tensor<512xf32>
    %cst_286 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %840 = stablehlo.broadcast_in_dim %cst_286, dims = [] : (tensor<f32>) -> tensor<512xf32>
    %841 = stablehlo.add %829, %840 : tensor<512xf32>
    %842 = stablehlo.rsqrt %841 : tensor<512xf32>
    %843 = stablehlo.divide %842, %841 : tensor<512xf32>
    %cst_287 = stablehlo.constant dense<-5.000000e-01> : tensor<f32>
    %844 = stablehlo.broadcast_in_dim %cst_287, dims = [] : (tensor<f32>) -> tensor<512xf32>
    %845 = stablehlo.multiply %844, %843 : tensor<512xf32>
    %846 = stablehlo.multiply %arg48, %842 : tensor<512xf32>
    %847 = stablehlo.broadcast_in_dim %819, dims = [3] : (tensor<512xf32>) -> tensor<1x1x1x512xf32>
    %848 = stablehlo.broadcast_in_dim %847, dims = [0, 1, 2, 3] : (tensor<1x1x1x512xf32>) -> tensor<8x7x7x512xf32>
    %849 = stablehlo.subtract %816, %848 : tensor<8x7x7x512xf32>
    %850 = stablehlo.broadcast_in_dim %846, dims = [3] : (tensor<512xf32>) -> tensor<1x1x1x512xf32>
    %851 = stablehlo.broadcast_in_dim %850, dims = [0, 1, 2, 3] : (tensor<1x1x1x512xf32>) -> tensor<8x7x7x512xf32>
    %852 = stablehlo.multiply %849, %851 : tensor<8x7x7x512xf32>
    %853 = stablehlo.broadcast_in_dim %arg47, dims = [3] : (tensor<512xf32>) -> tensor<1x1x1x512xf32>
    %854 = stablehlo.broadcast_in_dim %853, dims = [0, 1, 2, 3] : (tensor<1x1x1x512xf32>) -> tensor<8x7x7x512xf32>
    %855 = stablehlo.add %852, %854 : tensor<8x7x7x512xf32>
    %856 = stablehlo.convolution(%753, %arg52) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 2], pad = [[0, 0], [0, 0]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<8x14x14x256xf32>, tensor<1x1x256x512xf32>) -> tensor<8x7x7x512xf32>
    %cst_288 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %857 = stablehlo.reduce(%856 init: %cst_288) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<8x7x7x512xf32>, tensor<f32>) -> tensor<512xf32>
    %cst_289 = stablehlo.constant dense<3.920000e+02> : tensor<f32>
    %858 = stablehlo.broadcast_in_dim %cst_289, dims = [] : (tensor<f32>) -> tensor<512xf32>
    %859 = stablehlo.divide %857, %858 : tensor<512xf32>
    %860 = chlo.square %856 : tensor<8x7x7x512xf32> -> tensor<8x7x7x512xf32>
    %cst_290 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %861 = stablehlo.broadcast_in_dim %cst_290, dims = [] : (tensor<f32>) -> tensor<8x7x7x512xf32>
    %862 = stablehlo.multiply %861, %856 : tensor<8x7x7x512xf32>
    %cst_291 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %863 = stablehlo.reduce(%860 init: %cst_291) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<8x7x7x512xf32>, tensor<f32>) -> tensor<512xf32>
    %cst_292 = stablehlo.constant dense<3.920000e+02> : tensor<f32>
    %864 = stablehlo.broadcast_in_dim %cst_292, dims = [] : (tensor<f32>) -> tensor<512xf32>
    %865 = stablehlo.divide %863, %864 : tensor<512xf32>
    %866 = chlo.square %859 : tensor<512xf32> -> tensor<512xf32>
    %cst_293 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %867 = stablehlo.broadcast_in_dim %cst_293, dims = [] : (tensor<f32>) -> tensor<512xf32>
    %868 = stablehlo.multiply %867, %859 : tensor<512xf32>
    %869 = stablehlo.subtract %865, %866 : tensor<512xf32>
    %cst_294 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %870 = stablehlo.broadcast_in_dim %cst_294, dims = [] : (tensor<f32>) -> tensor<512xf32>
    %871 = stablehlo.multiply %870, %arg156 : tensor<512xf32>
    %cst_295 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %872 = stablehlo.broadcast_in_dim %cst_295, dims = [] : (tensor<f32>) -> tensor<512xf32>
    %873 = stablehlo.multiply %872, %859 : tensor<512xf32>
    %874 = stablehlo.add %871, %873 : tensor<512xf32>
    %cst_296 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %875 = stablehlo.broadcast_in_dim %cst_296, dims = [] : (tensor<f32>) -> tensor<512xf32>
    %876 = stablehlo.multiply %875, %arg157 : tensor<512xf32>
    %cst_297 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %877 = stablehlo.broadcast_in_dim %cst_297, dims = [] : (tensor<f32>) -> tensor<512xf32>
    %878 = stablehlo.multiply %877, %869 : tensor<512xf32>
    %879 = stablehlo.add %876, %878 : tensor<512xf32>
    %cst_298 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %880 = stablehlo.broadcast_in_dim %cst_298, dims = [] : (tensor<f32>) -> tensor<512xf32>
    %881 = stablehlo.add %869, %880 : tensor<512xf32>
    %882 = stablehlo.rsqrt %881 : tensor<512xf32>
    %883 = stablehlo.divide %882, %881 : tensor<512xf32>
    %cst_299 = stablehlo.constant dense<-5.000000e-01> : tensor<f32>
    %884 = stablehlo.broadcast_in_dim %cst_299, dims = [] : (tensor<f32>) -> tensor<512xf32>
    %885 = stablehlo.multiply %884, %883 : tensor<512xf32>
    %886 = stablehlo.multiply %arg51, %882 : tensor<512xf32>
    %887 = stablehlo.broadcast_in_dim %859, dims = [3] : (tensor<512xf32>) -> tensor<1x1x1x512xf32>
    %888 = stablehlo.broadcast_in_dim %887, dims = [0, 1, 2, 3] : (tensor<1x1x1x512xf32>) -> tensor<8x7x7x512xf32>
    %889 = stablehlo.subtract %856, %888 : tensor<8x7x7x512xf32>
    %890 = stablehlo.broadcast_in_dim %886, dims = [3] : (tensor<512xf32>) -> tensor<1x1x1x512xf32>
    %891 = stablehlo.broadcast_in_dim %890, dims = [0, 1, 2, 3] : (tensor<1x1x1x512xf32>) -> tensor<8x7x7x512xf32>
    %892 = stablehlo.multiply %889, %891 : tensor<8x7x7x512xf32>
    %893 = stablehlo.broadcast_in_dim %arg50, dims = [3] : (tensor<512xf32>) -> tensor<1x1x1x512xf32>
    %894 = stablehlo.broadcast_in_dim %893, dims = [0, 1, 2, 3] : (tensor<1x1x1x512xf32>) -> tensor<8x7x7x512xf32>
    %895 = stablehlo.add %892, %894 : tensor<8x7x7x512xf32>
    %896 = stablehlo.add %855, %895 : tensor<8x7x7x512xf32>
    %cst_300 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %897 = stablehlo.broadcast_in_dim %cst_300, dims = [] : (tensor<f32>) -> tensor<8x7x7x512xf32>
    %898 = stablehlo.maximum %896, %897 : tensor<8x7x7x512xf32>
    %899 = stablehlo.compare EQ, %896, %898, FLOAT : (tensor<8x7x7x512xf32>, tensor<8x7x7x512xf32>) -> tensor<8x7x7x512xi1>
    %cst_301 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %900 = stablehlo.broadcast_in_dim %cst_301, dims = [] : (tensor<f32>) -> tensor<8x7x7x512xf32>
    %cst_302 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %901 = stablehlo.broadcast_in_dim %cst_302, dims = [] : (tensor<f32>) -> tensor<8x7x7x512xf32>
    %902 = stablehlo.select %899, %900, %901 : tensor<8x7x7x512xi1>, tensor<8x7x7x512xf32>
    %cst_303 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %903 = stablehlo.broadcast_in_dim %cst_303, dims = [] : (tensor<f32>) -> tensor<8x7x7x512xf32>
    %904 = stablehlo.compare EQ, %903, %898, FLOAT : (tensor<8x7x7x512xf32>, tensor<8x7x7x512xf32>) -> tensor<8x7x7x512xi1>
    %cst_304 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %905 = stablehlo.broadcast_in_dim %cst_304, dims = [] : (tensor<f32>) -> tensor<8x7x7x512xf32>
    %cst_305 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %906 = stablehlo.broadcast_in_dim %cst_305, dims = [] : (tensor<f32>) -> tensor<8x7x7x512xf32>
    %907 = stablehlo.select %904, %905, %906 : tensor<8x7x7x512xi1>, tensor<8x7x7x512xf32>
    %908 = stablehlo.divide %902, %907 : tensor<8x7x7x512xf32>
    %909 = stablehlo.convolution(%898, %arg55) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<8x7x7x512xf32>, tensor<3x3x512x512xf32>) -> tensor<8x7x7x512xf32>
    %cst_306 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %910 = stablehlo.reduce(%909 init: %cst_306) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<8x7x7x512xf32>, tensor<f32>) -> tensor<512xf32>
    %cst_307 = stablehlo.constant dense<3.920000e+02> : tensor<f32>
    %911 = stablehlo.broadcast_in_dim %cst_307, dims = [] : (tensor<f32>) -> tensor<512xf32>
    %912 = stablehlo.divide %910, %911 : tensor<512xf32>
    %913 = chlo.square %909 : tensor<8x7x7x512xf32> -> tensor<8x7x7x512xf32>
    %cst_308 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %914 = stablehlo.broadcast_in_dim %cst_308, dims = [] : (tensor<f32>) -> tensor<8x7x7x512xf32>
    %915 = stablehlo.multiply %914, %909 : tensor<8x7x7x512xf32>
    %cst_309 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %916 = stablehlo.reduce(%913 init: %cst_309) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<8x7x7x512xf32>, tensor<f32>) -> tensor<512xf32>
    %cst_310 = stablehlo.constant dense<3.920000e+02> : tensor<f32>
    %917 = stablehlo.broadcast_in_dim %cst_310, dims = [] : (tensor<f32>) -> tensor<512xf32>
    %918 = stablehlo.divide %916, %917 : tensor<512xf32>
    %919 = chlo.square %912 : tensor<512xf32> -> tensor<512xf32>
    %cst_311 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %920 = stablehlo.broadcast_in_dim %cst_311, dims = [] : (tensor<f32>) -> tensor<512xf32>
    %921 = stablehlo.multiply %920, %912 : tensor<512xf32>
    %922 = stablehlo.subtract %918, %919 : tensor<512xf32>
    %cst_312 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %923 = stablehlo.broadcast_in_dim %cst_312, dims = [] : (tensor<f32>) -> tensor<512xf32>
    %924 = stablehlo.multiply %923, %arg158 : tensor<512xf32>
    %cst_313 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %925 = stablehlo.broadcast_in_dim %cst_313, dims = [] : (tensor<f32>) -> tensor<512xf32>
    %926 = stablehlo.multiply %925, %912 : tensor<512xf32>
    %927 = stablehlo.add %924, %926 : tensor<512xf32>
    %cst_314 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %928 = stablehlo.broadcast_in_dim %cst_314, dims = [] : (tensor<f32>) -> tensor<512xf32>
    %929 = stablehlo.multiply %928, %arg159 : tensor<512xf32>
    %cst_315 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %930 = stablehlo.broadcast_in_dim %cst_315, dims = [] : (tensor<f32>) -> tensor<512xf32>
    %931 = stablehlo.multiply %930, %922 : tensor<512xf32>
    %932 = stablehlo.add %929, %931 : tensor<512xf32>
    %cst_316 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %933 = stablehlo.broadcast_in_dim %cst_316, dims = [] : (tensor<f32>) -> tensor<512xf32>
    %934 = stablehlo.add %922, %933 : tensor<512xf32>
    %935 = stablehlo.rsqrt %934 : tensor<512xf32>
    %936 = stablehlo.divide %935, %934 : tensor<512xf32>
    %cst_317 = stablehlo.constant dense<-5.000000e-01> : tensor<f32>
    %937 = stablehlo.broadcast_in_dim %cst_317, dims = [] : (tensor<f32>) -> tensor<512xf32>
    %938 = stablehlo.multiply %937, %936 : tensor<512xf32>
    %939 = stablehlo.multiply %arg54, %935 : tensor<512xf32>
    %940 = stablehlo.broadcast_in_dim %912, dims = [3] : (tensor<512xf32>) -> tensor<1x1x1x512xf32>
    %941 = stablehlo.broadcast_in_dim %940, dims = [0, 1, 2, 3] : (tensor<1x1x1x512xf32>) -> tensor<8x7x7x512xf32>
    %942 = stablehlo.subtract %909, %941 : tensor<8x7x7x512xf32>
    %943 = stablehlo.broadcast_in_dim %939, dims = [3] : (tensor<512xf32>) -> tensor<1x1x1x512xf32>
    %944 = stablehlo.broadcast_in_dim %943, dims = [0, 1, 2, 3] : (tensor<1x1x1x512xf32>) -> tensor<8x7x7x512xf32>
    %945 = stablehlo.multiply %942, %944 : tensor<8x7x7x512xf32>
    %946 = stablehlo.broadcast_in_dim %arg53, dims = [3] : (tensor<512xf32>) -> tensor<1x1x1x512xf32>
    %947 = stablehlo.broadcast_in_dim %946, dims = [0, 1, 2, 3] : (tensor<1x1x1x512xf32>) -> tensor<8x7x7x512xf32>
    %948 = stablehlo.add %945, %947 : tensor<8x7x7x512xf32>
    %cst_318 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %949 = stablehlo.broadcast_in_dim %cst_318, dims = [] : (tensor<f32>) -> tensor<8x7x7x512xf32>
    %950 = stablehlo.maximum %948, %949 : tensor<8x7x7x512xf32>
    %951 = stablehlo.compare EQ, %948, %950, FLOAT : (tensor<8x7x7x512xf32>, tensor<8x7x7x512xf32>) -> tensor<8x7x7x512xi1>
    %cst_319 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %952 = stablehlo.broadcast_in_dim %cst_319, dims = [] : (tensor<f32>) -> tensor<8x7x7x512xf32>
    %cst_320 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %953 = stablehlo.broadcast_in_dim %cst_320, dims = [] : (tensor<f32>) -> tensor<8x7x7x512xf32>
    %954 = stablehlo.select %951, %952, %953 : tensor<8x7x7x512xi1>, tensor<8x7x7x512xf32>
    %cst_321 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %955 = stablehlo.broadcast_in_dim %cst_321, dims = [] : (tensor<f32>) -> tensor<8x7x7x512xf32>
    %956 = stablehlo.compare EQ, %955, %950, FLOAT : (tensor<8x7x7x512xf32>, tensor<8x7x7x512xf32>) -> tensor<8x7x7x512xi1>
    %cst_322 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %957 = stablehlo.broadcast_in_dim %cst_322, dims = [] : (tensor<f32>) -> tensor<8x7x7x512xf32>
    %cst_323 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %958 = stablehlo.broadcast_in_dim %cst_323, dims = [] : (tensor<f32>) -> tensor<8x7x7x512xf32>
    %959 = stablehlo.select %956, %957, %958 : tensor<8x7x7x512xi1>, tensor<8x7x7x512xf32>
    %960 = stablehlo.divide %954, %959 : tensor<8x7x7x512xf32>
    %961 = stablehlo.convolution(%950, %arg58) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<8x7x7x512xf32>, tensor<3x3x512x512xf32>) -> tensor<8x7x7x512xf32>
    %cst_324 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %962 = stablehlo.reduce(%961 init: %cst_324) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<8x7x7x512xf32>, tensor<f32>) -> tensor<512xf32>
    %cst_325 = stablehlo.constant dense<3.920000e+02> : tensor<f32>
    %963 = stablehlo.broadcast_in_dim %cst_325, dims = [] : (tensor<f32>) -> tensor<512xf32>
    %964 = stablehlo.divide %962, %963 : tensor<512xf32>
    %965 = chlo.square %961 : tensor<8x7x7x512xf32> -> tensor<8x7x7x512xf32>
    %cst_326 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %966 = stablehlo.broadcast_in_dim %cst_326, dims = [] : (tensor<f32>) -> tensor<8x7x7x512xf32>
    %967 = stablehlo.multiply %966, %961 : tensor<8x7x7x512xf32>
    %cst_327 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %968 = stablehlo.reduce(%965 init: %cst_327) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<8x7x7x512xf32>, tensor<f32>) -> tensor<512xf32>
    %cst_328 = stablehlo.constant dense<3.920000e+02> : tensor<f32>
    %969 = stablehlo.broadcast_in_dim %cst_328, dims = [] : (tensor<f32>) -> tensor<512xf32>
    %970 = stablehlo.divide %968, %969 : tensor<512xf32>
    %971 = chlo.square %964 : tensor<512xf32> -> tensor<512xf32>
    %cst_329 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %972 = stablehlo.broadcast_in_dim %cst_329, dims = [] : (tensor<f32>) -> tensor<512xf32>
    %973 = stablehlo.multiply %972, %964 : tensor<512xf32>
    %974 = stablehlo.subtract %970, %971 : tensor<512xf32>
    %cst_330 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %975 = stablehlo.broadcast_in_dim %cst_330, dims = [] : (tensor<f32>) -> tensor<512xf32>
    %976 = stablehlo.multiply %975, %arg160 : tensor<512xf32>
    %cst_331 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %977 = stablehlo.broadcast_in_dim %cst_331, dims = [] : (tensor<f32>) -> tensor<512xf32>
    %978 = stablehlo.multiply %977, %964 : tensor<512xf32>
    %979 = stablehlo.add %976, %978 : tensor<512xf32>
    %cst_332 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %980 = stablehlo.broadcast_in_dim %cst_332, dims = [] : (tensor<f32>) -> tensor<512xf32>
    %981 = stablehlo.multiply %980, %arg161 : tensor<512xf32>
    %cst_333 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %982 = stablehlo.broadcast_in_dim %cst_333, dims = [] : (tensor<f32>) -> tensor<512xf32>
    %983 = stablehlo.multiply %982, %974 : tensor<512xf32>
    %984 = stablehlo.add %981, %983 : tensor<512xf32>
    %cst_334 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %985 = stablehlo.broadcast_in_dim %cst_334, dims = [] : (tensor<f32>) -> tensor<512xf32>
    %986 = stablehlo.add %974, %985 : tensor<512xf32>
    %987 = stablehlo.rsqrt %986 : tensor<512xf32>
    %988 = stablehlo.divide %987, %986 : tensor<512xf32>
    %cst_335 = stablehlo.constant dense<-5.000000e-01> : tensor<f32>
    %989 = stablehlo.broadcast_in_dim %cst_335, dims = [] : (tensor<f32>) -> tensor<512xf32>
    %990 = stablehlo.multiply %989, %988 : tensor<512xf32>
    %991 = stablehlo.multiply %arg57, %987 : tensor<512xf32>
    %992 = stablehlo.broadcast_in_dim %964, dims = [3] : (tensor<512xf32>) -> tensor<1x1x1x512xf32>
    %993 = stablehlo.broadcast_in_dim %992, dims = [0, 1, 2, 3] : (tensor<1x1x1x512xf32>) -> tensor<8x7x7x512xf32>
    %994 = stablehlo.subtract %961, %993 : tensor<8x7x7x512xf32>
    %995 = stablehlo.broadcast_in_dim %991, dims = [3] : (tensor<512xf32>) -> tensor<1x1x1x512xf32>
    %996 = stablehlo.broadcast_in_dim %995, dims = [0, 1, 2, 3] : (tensor<1x1x1x512xf32>) -> tensor<8x7x7x512xf32>
    %997 = stablehlo.multiply %994, %996 : tensor<8x7x7x512xf32>
    %998 = stablehlo.broadcast_in_dim %arg56, dims = [3] : (tensor<512xf32>) -> tensor<1x1x1x512xf32>
    %999 = stablehlo.broadcast_in_dim %998, dims = [0, 1, 2, 3] : (tensor<1x1x1x512xf32>) -> tensor<8x7x7x512xf32>
    %1000 = stablehlo.add %997, %999 : tensor<8x7x7x512xf32>
    %1001 = stablehlo.add %1000, %898 : tensor<8x7x7x512xf32>
    %cst_336 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1002 = stablehlo.broadcast_in_dim %cst_336, dims = [] : (tensor<f32>) -> tensor<8x7x7x512xf32>
    %1003 = stablehlo.maximum %1001, %1002 : tensor<8x7x7x512xf32>
    %1004 = stablehlo.compare EQ, %1001, %1003, FLOAT : (tensor<8x7x7x512xf32>, tensor<8x7x7x512xf32>) -> tensor<8x7x7x512xi1>
    %cst_337 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %1005 = stablehlo.broadcast_in_dim %cst_337, dims = [] : (tensor<f32>) -> tensor<8x7x7x512xf32>
    %cst_338 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1006 = stablehlo.broadcast_in_dim %cst_338, dims = [] : (tensor<f32>) -> tensor<8x7x7x512xf32>
    %1007 = stablehlo.select %1004, %1005, %1006 : tensor<8x7x7x512xi1>, tensor<8x7x7x512xf32>
    %cst_339 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1008 = stablehlo.broadcast_in_dim %cst_339, dims = [] : (tensor<f32>) -> tensor<8x7x7x512xf32>
    %1009 = stablehlo.compare EQ, %1008, %1003, FLOAT : (tensor<8x7x7x512xf32>, tensor<8x7x7x512xf32>) -> tensor<8x7x7x512xi1>
    %cst_340 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %1010 = stablehlo.broadcast_in_dim %cst_340, dims = [] : (tensor<f32>) -> tensor<8x7x7x512xf32>
    %cst_341 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %1011 = stablehlo.broadcast_in_dim %cst_341, dims = [] : (tensor<f32>) -> tensor<8x7x7x512xf32>
    %1012 = stablehlo.select %1009, %1010, %1011 : tensor<8x7x7x512xi1>, tensor<8x7x7x512xf32>
    %1013 = stablehlo.divide %1007, %1012 : tensor<8x7x7x512xf32>
    %cst_342 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1014 = stablehlo.reduce(%1003 init: %cst_342) applies stablehlo.add across dimensions = [1, 2] : (tensor<8x7x7x512xf32>, tensor<f32>) -> tensor<8x512xf32>
    %cst_343 = stablehlo.constant dense<4.900000e+01> : tensor<f32>
    %1015 = stablehlo.broadcast_in_dim %cst_343, dims = [] : (tensor<f32>) -> tensor<8x512xf32>
    %1016 = stablehlo.divide %1014, %1015 : tensor<8x512xf32>
    %1017 = stablehlo.dot_general %1016, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x512xf32>, tensor<512x1000xf32>) -> tensor<8x1000xf32>
    %1018 = stablehlo.broadcast_in_dim %arg0, dims = [1] : (tensor<1000xf32>) -> tensor<1x1000xf32>
    %1019 = stablehlo.broadcast_in_dim %1018, dims = [0, 1] : (tensor<1x1000xf32>) -> tensor<8x1000xf32>
    %1020 = stablehlo.add %1017, %1019 : tensor<8x1000xf32>
    %cst_344 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1021 = stablehlo.reduce(%1020 init: %cst_344) applies stablehlo.maximum across dimensions = [1] : (tensor<8x1000xf32>, tensor<f32>) -> tensor<8xf32>
    %1022 = stablehlo.broadcast_in_dim %1021, dims = [0] : (tensor<8xf32>) -> tensor<8x1xf32>
    %1023 = stablehlo.broadcast_in_dim %1022, dims = [0, 1] : (tensor<8x1xf32>) -> tensor<8x1000xf32>
    %1024 = stablehlo.subtract %1020, %1023 : tensor<8x1000xf32>
    %1025 = stablehlo.exponential %1024 : tensor<8x1000xf32>
    %cst_345 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1026 = stablehlo.reduce(%1025 init: %cst_345) applies stablehlo.add across dimensions = [1] : (tensor<8x1000xf32>, tensor<f32>) -> tensor<8xf32>
    %1027 = stablehlo.broadcast_in_dim %1026, dims = [0] : (tensor<8xf32>) -> tensor<8x1xf32>
    %1028 = stablehlo.log %1027 : tensor<8x1xf32>
    %1029 = stablehlo.broadcast_in_dim %1028, dims = [0, 1] : (tensor<8x1xf32>) -> tensor<8x1000xf32>
    %1030 = stablehlo.subtract %1024, %1029 : tensor<8x1000xf32>
    %1031 = stablehlo.broadcast_in_dim %arg165, dims = [0] : (tensor<8xi32>) -> tensor<8x1xi32>
    %1032 = stablehlo.iota dim = 1 : tensor<8x1000xi32>
    %1033 = stablehlo.broadcast_in_dim %1031, dims = [0, 1] : (tensor<8x1xi32>) -> tensor<8x1000xi32>
    %1034 = stablehlo.compare EQ, %1033, %1032, SIGNED : (tensor<8x1000xi32>, tensor<8x1000xi32>) -> tensor<8x1000xi1>
    %cst_346 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1035 = call @_where(%1034, %1030, %cst_346) : (tensor<8x1000xi1>, tensor<8x1000xf32>, tensor<f32>) -> tensor<8x1000xf32>
    %cst_347 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1036 = stablehlo.reduce(%1035 init: %cst_347) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x1000xf32>, tensor<f32>) -> tensor<f32>
    %1037 = stablehlo.negate %1036 : tensor<f32>
    %cst_348 = stablehlo.constant dense<8.000000e+00> : tensor<f32>
    %1038 = stablehlo.divide %1037, %cst_348 : tensor<f32>
    %cst_349 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %cst_350 = stablehlo.constant dense<8.000000e+00> : tensor<f32>
    %1039 = stablehlo.divide %cst_349, %cst_350 : tensor<f32>
    %1040 = stablehlo.negate %1039 : tensor<f32>
    %1041 = stablehlo.broadcast_in_dim %1040, dims = [] : (tensor<f32>) -> tensor<8x1000xf32>
    %1042 = call @_where_0(%1034, %1041) : (tensor<8x1000xi1>, tensor<8x1000xf32>) -> tensor<8x1000xf32>
    %1043 = stablehlo.negate %1042 : tensor<8x1000xf32>
    %cst_351 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1044 = stablehlo.reduce(%1043 init: %cst_351) applies stablehlo.add across dimensions = [1] : (tensor<8x1000xf32>, tensor<f32>) -> tensor<8xf32>
    %1045 = stablehlo.reshape %1044 : (tensor<8xf32>) -> tensor<8x1xf32>
    %1046 = stablehlo.divide %1045, %1027 : tensor<8x1xf32>
    %cst_352 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1047 = stablehlo.reduce(%1046 init: %cst_352) applies stablehlo.add across dimensions = [1] : (tensor<8x1xf32>, tensor<f32>) -> tensor<8xf32>
    %1048 = stablehlo.broadcast_in_dim %1047, dims = [0] : (tensor<8xf32>) -> tensor<8x1000xf32>
    %1049 = stablehlo.multiply %1048, %1025 : tensor<8x1000xf32>
    %1050 = stablehlo.add %1042, %1049 : tensor<8x1000xf32>
    %cst_353 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1051 = stablehlo.reduce(%1050 init: %cst_353) applies stablehlo.add across dimensions = [0] : (tensor<8x1000xf32>, tensor<f32>) -> tensor<1000xf32>
    %1052 = stablehlo.reshape %1051 : (tensor<1000xf32>) -> tensor<1x1000xf32>
    %cst_354 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1053 = stablehlo.reduce(%1052 init: %cst_354) applies stablehlo.add across dimensions = [0] : (tensor<1x1000xf32>, tensor<f32>) -> tensor<1000xf32>
    %1054 = stablehlo.dot_general %1050, %1016, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x1000xf32>, tensor<8x512xf32>) -> tensor<1000x512xf32>
    %1055 = stablehlo.transpose %1054, dims = [1, 0] : (tensor<1000x512xf32>) -> tensor<512x1000xf32>
    %1056 = stablehlo.dot_general %1050, %arg1, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x1000xf32>, tensor<512x1000xf32>) -> tensor<8x512xf32>
    %cst_355 = stablehlo.constant dense<4.900000e+01> : tensor<f32>
    %1057 = stablehlo.broadcast_in_dim %cst_355, dims = [] : (tensor<f32>) -> tensor<8x512xf32>
    %1058 = stablehlo.divide %1056, %1057 : tensor<8x512xf32>
    %1059 = stablehlo.broadcast_in_dim %1058, dims = [0, 3] : (tensor<8x512xf32>) -> tensor<8x7x7x512xf32>
    %1060 = stablehlo.multiply %1059, %1013 : tensor<8x7x7x512xf32>
    %cst_356 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1061 = stablehlo.reduce(%1060 init: %cst_356) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<8x7x7x512xf32>, tensor<f32>) -> tensor<512xf32>
    %1062 = stablehlo.reshape %1061 : (tensor<512xf32>) -> tensor<1x1x1x512xf32>
    %cst_357 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1063 = stablehlo.reduce(%1062 init: %cst_357) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<1x1x1x512xf32>, tensor<f32>) -> tensor<512xf32>
    %1064 = stablehlo.multiply %994, %1060 : tensor<8x7x7x512xf32>
    %cst_358 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1065 = stablehlo.reduce(%1064 init: %cst_358) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<8x7x7x512xf32>, tensor<f32>) -> tensor<512xf32>
    %1066 = stablehlo.reshape %1065 : (tensor<512xf32>) -> tensor<1x1x1x512xf32>
    %1067 = stablehlo.broadcast_in_dim %995, dims = [0, 1, 2, 3] : (tensor<1x1x1x512xf32>) -> tensor<8x7x7x512xf32>
    %1068 = stablehlo.multiply %1060, %1067 : tensor<8x7x7x512xf32>
    %cst_359 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1069 = stablehlo.reduce(%1066 init: %cst_359) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<1x1x1x512xf32>, tensor<f32>) -> tensor<512xf32>
    %1070 = stablehlo.negate %1068 : tensor<8x7x7x512xf32>
    %cst_360 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1071 = stablehlo.reduce(%1070 init: %cst_360) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<8x7x7x512xf32>, tensor<f32>) -> tensor<512xf32>
    %1072 = stablehlo.reshape %1071 : (tensor<512xf32>) -> tensor<1x1x1x512xf32>
    %cst_361 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1073 = stablehlo.reduce(%1072 init: %cst_361) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<1x1x1x512xf32>, tensor<f32>) -> tensor<512xf32>
    %1074 = stablehlo.multiply %arg57, %1069 : tensor<512xf32>
    %1075 = stablehlo.multiply %1069, %987 : tensor<512xf32>
    %1076 = stablehlo.multiply %1074, %990 : tensor<512xf32>
    %1077 = stablehlo.negate %1076 : tensor<512xf32>
    %1078 = stablehlo.multiply %1077, %973 : tensor<512xf32>
    %1079 = stablehlo.add %1073, %1078 : tensor<512xf32>
    %cst_362 = stablehlo.constant dense<3.920000e+02> : tensor<f32>
    %1080 = stablehlo.broadcast_in_dim %cst_362, dims = [] : (tensor<f32>) -> tensor<512xf32>
    %1081 = stablehlo.divide %1076, %1080 : tensor<512xf32>
    %1082 = stablehlo.broadcast_in_dim %1081, dims = [3] : (tensor<512xf32>) -> tensor<8x7x7x512xf32>
    %1083 = stablehlo.multiply %1082, %967 : tensor<8x7x7x512xf32>
    %1084 = stablehlo.add %1068, %1083 : tensor<8x7x7x512xf32>
    %cst_363 = stablehlo.constant dense<3.920000e+02> : tensor<f32>
    %1085 = stablehlo.broadcast_in_dim %cst_363, dims = [] : (tensor<f32>) -> tensor<512xf32>
    %1086 = stablehlo.divide %1079, %1085 : tensor<512xf32>
    %1087 = stablehlo.broadcast_in_dim %1086, dims = [3] : (tensor<512xf32>) -> tensor<8x7x7x512xf32>
    %1088 = stablehlo.add %1084, %1087 : tensor<8x7x7x512xf32>
    %1089 = stablehlo.convolution(%950, %1088) dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<8x7x7x512xf32>, tensor<8x7x7x512xf32>) -> tensor<3x3x512x512xf32>
    %1090 = stablehlo.reverse %arg58, dims = [0, 1] : tensor<3x3x512x512xf32>
    %1091 = stablehlo.convolution(%1088, %1090) dim_numbers = [b, 0, 1, f]x[0, 1, o, i]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<8x7x7x512xf32>, tensor<3x3x512x512xf32>) -> tensor<8x7x7x512xf32>
    %1092 = stablehlo.multiply %1091, %960 : tensor<8x7x7x512xf32>
    %cst_364 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1093 = stablehlo.reduce(%1092 init: %cst_364) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<8x7x7x512xf32>, tensor<f32>) -> tensor<512xf32>
    %1094 = stablehlo.reshape %1093 : (tensor<512xf32>) -> tensor<1x1x1x512xf32>
    %cst_365 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1095 = stablehlo.reduce(%1094 init: %cst_365) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<1x1x1x512xf32>, tensor<f32>) -> tensor<512xf32>
    %1096 = stablehlo.multiply %942, %1092 : tensor<8x7x7x512xf32>
    %cst_366 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1097 = stablehlo.reduce(%1096 init: %cst_366) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<8x7x7x512xf32>, tensor<f32>) -> tensor<512xf32>
    %1098 = stablehlo.reshape %1097 : (tensor<512xf32>) -> tensor<1x1x1x512xf32>
    %1099 = stablehlo.broadcast_in_dim %943, dims = [0, 1, 2, 3] : (tensor<1x1x1x512xf32>) -> tensor<8x7x7x512xf32>
    %1100 = stablehlo.multiply %1092, %1099 : tensor<8x7x7x512xf32>
    %cst_367 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1101 = stablehlo.reduce(%1098 init: %cst_367) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<1x1x1x512xf32>, tensor<f32>) -> tensor<512xf32>
    %1102 = stablehlo.negate %1100 : tensor<8x7x7x512xf32>
    %cst_368 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1103 = stablehlo.reduce(%1102 init: %cst_368) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<8x7x7x512xf32>, tensor<f32>) -> tensor<512xf32>
    %1104 = stablehlo.reshape %1103 : (tensor<512xf32>) -> tensor<1x1x1x512xf32>
    %cst_369 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1105 = stablehlo.reduce(%1104 init: %cst_369) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<1x1x1x512xf32>, tensor<f32>) -> tensor<512xf32>
    %1106 = stablehlo.multiply %arg54, %1101 : tensor<512xf32>
    %1107 = stablehlo.multiply %1101, %935 : tensor<512xf32>
    %1108 = stablehlo.multiply %1106, %938 : tensor<512xf32>
    %1109 = stablehlo.negate %1108 : tensor<512xf32>
    %1110 = stablehlo.multiply %1109, %921 : tensor<512xf32>
    %1111 = stablehlo.add %1105, %1110 : tensor<512xf32>
    %cst_370 = stablehlo.constant dense<3.920000e+02> : tensor<f32>
    %1112 = stablehlo.broadcast_in_dim %cst_370, dims = [] : (tensor<f32>) -> tensor<512xf32>
    %1113 = stablehlo.divide %1108, %1112 : tensor<512xf32>
    %1114 = stablehlo.broadcast_in_dim %1113, dims = [3] : (tensor<512xf32>) -> tensor<8x7x7x512xf32>
    %1115 = stablehlo.multiply %1114, %915 : tensor<8x7x7x512xf32>
    %1116 = stablehlo.add %1100, %1115 : tensor<8x7x7x512xf32>
    %cst_371 = stablehlo.constant dense<3.920000e+02> : tensor<f32>
    %1117 = stablehlo.broadcast_in_dim %cst_371, dims = [] : (tensor<f32>) -> tensor<512xf32>
    %1118 = stablehlo.divide %1111, %1117 : tensor<512xf32>
    %1119 = stablehlo.broadcast_in_dim %1118, dims = [3] : (tensor<512xf32>) -> tensor<8x7x7x512xf32>
    %1120 = stablehlo.add %1116, %1119 : tensor<8x7x7x512xf32>
    %1121 = stablehlo.convolution(%898, %1120) dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<8x7x7x512xf32>, tensor<8x7x7x512xf32>) -> tensor<3x3x512x512xf32>
    %1122 = stablehlo.reverse %arg55, dims = [0, 1] : tensor<3x3x512x512xf32>
    %1123 = stablehlo.convolution(%1120, %1122) dim_numbers = [b, 0, 1, f]x[0, 1, o, i]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<8x7x7x512xf32>, tensor<3x3x512x512xf32>) -> tensor<8x7x7x512xf32>
    %1124 = stablehlo.add %1060, %1123 : tensor<8x7x7x512xf32>
    %1125 = stablehlo.multiply %1124, %908 : tensor<8x7x7x512xf32>
    %cst_372 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1126 = stablehlo.reduce(%1125 init: %cst_372) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<8x7x7x512xf32>, tensor<f32>) -> tensor<512xf32>
    %1127 = stablehlo.reshape %1126 : (tensor<512xf32>) -> tensor<1x1x1x512xf32>
    %cst_373 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1128 = stablehlo.reduce(%1127 init: %cst_373) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<1x1x1x512xf32>, tensor<f32>) -> tensor<512xf32>
    %1129 = stablehlo.multiply %889, %1125 : tensor<8x7x7x512xf32>
    %cst_374 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1130 = stablehlo.reduce(%1129 init: %cst_374) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<8x7x7x512xf32>, tensor<f32>) -> tensor<512xf32>
    %1131 = stablehlo.reshape %1130 : (tensor<512xf32>) -> tensor<1x1x1x512xf32>
    %1132 = stablehlo.broadcast_in_dim %890, dims = [0, 1, 2, 3] : (tensor<1x1x1x512xf32>) -> tensor<8x7x7x512xf32>
    %1133 = stablehlo.multiply %1125, %1132 : tensor<8x7x7x512xf32>
    %cst_375 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1134 = stablehlo.reduce(%1131 init: %cst_375) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<1x1x1x512xf32>, tensor<f32>) -> tensor<512xf32>
    %1135 = stablehlo.negate %1133 : tensor<8x7x7x512xf32>
    %cst_376 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1136 = stablehlo.reduce(%1135 init: %cst_376) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<8x7x7x512xf32>, tensor<f32>) -> tensor<512xf32>
    %1137 = stablehlo.reshape %1136 : (tensor<512xf32>) -> tensor<1x1x1x512xf32>
    %cst_377 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1138 = stablehlo.reduce(%1137 init: %cst_377) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<1x1x1x512xf32>, tensor<f32>) -> tensor<512xf32>
    %1139 = stablehlo.multiply %arg51, %1134 : tensor<512xf32>
    %1140 = stablehlo.multiply %1134, %882 : tensor<512xf32>
    %1141 = stablehlo.multiply %1139, %885 : tensor<512xf32>
    %1142 = stablehlo.negate %1141 : tensor<512xf32>
    %1143 = stablehlo.multiply %1142, %868 : tensor<512xf32>
    %1144 = stablehlo.add %1138, %1143 : tensor<512xf32>
    %cst_378 = stablehlo.constant dense<3.920000e+02> : tensor<f32>
    %1145 = stablehlo.broadcast_in_dim %cst_378, dims = [] : (tensor<f32>) -> tensor<512xf32>
    %1146 = stablehlo.divide %1141, %1145 : tensor<512xf32>
    %1147 = stablehlo.broadcast_in_dim %1146, dims = [3] : (tensor<512xf32>) -> tensor<8x7x7x512xf32>
    %1148 = stablehlo.multiply %1147, %862 : tensor<8x7x7x512xf32>
    %1149 = stablehlo.add %1133, %1148 : tensor<8x7x7x512xf32>
    %cst_379 = stablehlo.constant dense<3.920000e+02> : tensor<f32>
    %1150 = stablehlo.broadcast_in_dim %cst_379, dims = [] : (tensor<f32>) -> tensor<512xf32>
    %1151 = stablehlo.divide %1144, %1150 : tensor<512xf32>
    %1152 = stablehlo.broadcast_in_dim %1151, dims = [3] : (tensor<512xf32>) -> tensor<8x7x7x512xf32>
    %1153 = stablehlo.add %1149, %1152 : tensor<8x7x7x512xf32>
    %1154 = stablehlo.convolution(%753, %1153) dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f], window = {stride = [1, 1], pad = [[0, -1], [0, -1]], lhs_dilate = [1, 1], rhs_dilate = [2, 2], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<8x14x14x256xf32>, tensor<8x7x7x512xf32>) -> tensor<1x1x256x512xf32>
    %1155 = stablehlo.reverse %arg52, dims = [0, 1] : tensor<1x1x256x512xf32>
    %1156 = stablehlo.convolution(%1153, %1155) dim_numbers = [b, 0, 1, f]x[0, 1, o, i]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[0, 1], [0, 1]], lhs_dilate = [2, 2], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<8x7x7x512xf32>, tensor<1x1x256x512xf32>) -> tensor<8x14x14x256xf32>
    %cst_380 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1157 = stablehlo.reduce(%1125 init: %cst_380) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<8x7x7x512xf32>, tensor<f32>) -> tensor<512xf32>
    %1158 = stablehlo.reshape %1157 : (tensor<512xf32>) -> tensor<1x1x1x512xf32>
    %cst_381 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1159 = stablehlo.reduce(%1158 init: %cst_381) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<1x1x1x512xf32>, tensor<f32>) -> tensor<512xf32>
    %1160 = stablehlo.multiply %849, %1125 : tensor<8x7x7x512xf32>
    %cst_382 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1161 = stablehlo.reduce(%1160 init: %cst_382) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<8x7x7x512xf32>, tensor<f32>) -> tensor<512xf32>
    %1162 = stablehlo.reshape %1161 : (tensor<512xf32>) -> tensor<1x1x1x512xf32>
    %1163 = stablehlo.broadcast_in_dim %850, dims = [0, 1, 2, 3] : (tensor<1x1x1x512xf32>) -> tensor<8x7x7x512xf32>
    %1164 = stablehlo.multiply %1125, %1163 : tensor<8x7x7x512xf32>
    %cst_383 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1165 = stablehlo.reduce(%1162 init: %cst_383) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<1x1x1x512xf32>, tensor<f32>) -> tensor<512xf32>
    %1166 = stablehlo.negate %1164 : tensor<8x7x7x512xf32>
    %cst_384 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1167 = stablehlo.reduce(%1166 init: %cst_384) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<8x7x7x512xf32>, tensor<f32>) -> tensor<512xf32>
    %1168 = stablehlo.reshape %1167 : (tensor<512xf32>) -> tensor<1x1x1x512xf32>
    %cst_385 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1169 = stablehlo.reduce(%1168 init: %cst_385) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<1x1x1x512xf32>, tensor<f32>) -> tensor<512xf32>
    %1170 = stablehlo.multiply %arg48, %1165 : tensor<512xf32>
    %1171 = stablehlo.multiply %1165, %842 : tensor<512xf32>
    %1172 = stablehlo.multiply %1170, %845 : tensor<512xf32>
    %1173 = stablehlo.negate %1172 : tensor<512xf32>
    %1174 = stablehlo.multiply %1173, %828 : tensor<512xf32>
    %1175 = stablehlo.add %1169, %1174 : tensor<512xf32>
    %cst_386 = stablehlo.constant dense<3.920000e+02> : tensor<f32>
    %1176 = stablehlo.broadcast_in_dim %cst_386, dims = [] : (tensor<f32>) -> tensor<512xf32>
    %1177 = stablehlo.divide %1172, %1176 : tensor<512xf32>
    %1178 = stablehlo.broadcast_in_dim %1177, dims = [3] : (tensor<512xf32>) -> tensor<8x7x7x512xf32>
    %1179 = stablehlo.multiply %1178, %822 : tensor<8x7x7x512xf32>
    %1180 = stablehlo.add %1164, %1179 : tensor<8x7x7x512xf32>
    %cst_387 = stablehlo.constant dense<3.920000e+02> : tensor<f32>
    %1181 = stablehlo.broadcast_in_dim %cst_387, dims = [] : (tensor<f32>) -> tensor<512xf32>
    %1182 = stablehlo.divide %1175, %1181 : tensor<512xf32>
    %1183 = stablehlo.broadcast_in_dim %1182, dims = [3] : (tensor<512xf32>) -> tensor<8x7x7x512xf32>
    %1184 = stablehlo.add %1180, %1183 : tensor<8x7x7x512xf32>
    %1185 = stablehlo.convolution(%805, %1184) dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<8x7x7x512xf32>, tensor<8x7x7x512xf32>) -> tensor<3x3x512x512xf32>
    %1186 = stablehlo.reverse %arg49, dims = [0, 1] : tensor<3x3x512x512xf32>
    %1187 = stablehlo.convolution(%1184, %1186) dim_numbers = [b, 0, 1, f]x[0, 1, o, i]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<8x7x7x512xf32>, tensor<3x3x512x512xf32>) -> tensor<8x7x7x512xf32>
    %1188 = stablehlo.multiply %1187, %815 : tensor<8x7x7x512xf32>
    %cst_388 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1189 = stablehlo.reduce(%1188 init: %cst_388) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<8x7x7x512xf32>, tensor<f32>) -> tensor<512xf32>
    %1190 = stablehlo.reshape %1189 : (tensor<512xf32>) -> tensor<1x1x1x512xf32>
    %cst_389 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1191 = stablehlo.reduce(%1190 init: %cst_389) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<1x1x1x512xf32>, tensor<f32>) -> tensor<512xf32>
    %1192 = stablehlo.multiply %797, %1188 : tensor<8x7x7x512xf32>
    %cst_390 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1193 = stablehlo.reduce(%1192 init: %cst_390) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<8x7x7x512xf32>, tensor<f32>) -> tensor<512xf32>
    %1194 = stablehlo.reshape %1193 : (tensor<512xf32>) -> tensor<1x1x1x512xf32>
    %1195 = stablehlo.broadcast_in_dim %798, dims = [0, 1, 2, 3] : (tensor<1x1x1x512xf32>) -> tensor<8x7x7x512xf32>
    %1196 = stablehlo.multiply %1188, %1195 : tensor<8x7x7x512xf32>
    %cst_391 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1197 = stablehlo.reduce(%1194 init: %cst_391) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<1x1x1x512xf32>, tensor<f32>) -> tensor<512xf32>
    %1198 = stablehlo.negate %1196 : tensor<8x7x7x512xf32>
    %cst_392 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1199 = stablehlo.reduce(%1198 init: %cst_392) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<8x7x7x512xf32>, tensor<f32>) -> tensor<512xf32>
    %1200 = stablehlo.reshape %1199 : (tensor<512xf32>) -> tensor<1x1x1x512xf32>
    %cst_393 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1201 = stablehlo.reduce(%1200 init: %cst_393) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<1x1x1x512xf32>, tensor<f32>) -> tensor<512xf32>
    %1202 = stablehlo.multiply %arg45, %1197 : tensor<512xf32>
    %1203 = stablehlo.multiply %1197, %790 : tensor<512xf32>
    %1204 = stablehlo.multiply %1202, %793 : tensor<512xf32>
    %1205 = stablehlo.negate %1204 : tensor<512xf32>
    %1206 = stablehlo.multiply %1205, %776 : tensor<512xf32>
    %1207 = stablehlo.add %1201, %1206 : tensor<512xf32>
    %cst_394 = stablehlo.constant dense<3.920000e+02> : tensor<f32>
    %1208 = stablehlo.broadcast_in_dim %cst_394, dims = [] : (tensor<f32>) -> tensor<512xf32>
    %1209 = stablehlo.divide %1204, %1208 : tensor<512xf32>
    %1210 = stablehlo.broadcast_in_dim %1209, dims = [3] : (tensor<512xf32>) -> tensor<8x7x7x512xf32>
    %1211 = stablehlo.multiply %1210, %770 : tensor<8x7x7x512xf32>
    %1212 = stablehlo.add %1196, %1211 : tensor<8x7x7x512xf32>
    %cst_395 = stablehlo.constant dense<3.920000e+02> : tensor<f32>
    %1213 = stablehlo.broadcast_in_dim %cst_395, dims = [] : (tensor<f32>) -> tensor<512xf32>
    %1214 = stablehlo.divide %1207, %1213 : tensor<512xf32>
    %1215 = stablehlo.broadcast_in_dim %1214, dims = [3] : (tensor<512xf32>) -> tensor<8x7x7x512xf32>
    %1216 = stablehlo.add %1212, %1215 : tensor<8x7x7x512xf32>
    %1217 = stablehlo.convolution(%753, %1216) dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f], window = {stride = [1, 1], pad = [[1, 0], [1, 0]], lhs_dilate = [1, 1], rhs_dilate = [2, 2], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<8x14x14x256xf32>, tensor<8x7x7x512xf32>) -> tensor<3x3x256x512xf32>
    %1218 = stablehlo.reverse %arg46, dims = [0, 1] : tensor<3x3x256x512xf32>
    %1219 = stablehlo.convolution(%1216, %1218) dim_numbers = [b, 0, 1, f]x[0, 1, o, i]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 2], [1, 2]], lhs_dilate = [2, 2], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<8x7x7x512xf32>, tensor<3x3x256x512xf32>) -> tensor<8x14x14x256xf32>
    %1220 = stablehlo.add %1156, %1219 : tensor<8x14x14x256xf32>
    %1221 = stablehlo.multiply %1220, %763 : tensor<8x14x14x256xf32>
    %cst_396 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1222 = stablehlo.reduce(%1221 init: %cst_396) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<8x14x14x256xf32>, tensor<f32>) -> tensor<256xf32>
    %1223 = stablehlo.reshape %1222 : (tensor<256xf32>) -> tensor<1x1x1x256xf32>
    %cst_397 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1224 = stablehlo.reduce(%1223 init: %cst_397) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<1x1x1x256xf32>, tensor<f32>) -> tensor<256xf32>
    %1225 = stablehlo.multiply %744, %1221 : tensor<8x14x14x256xf32>
    %cst_398 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1226 = stablehlo.reduce(%1225 init: %cst_398) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<8x14x14x256xf32>, tensor<f32>) -> tensor<256xf32>
    %1227 = stablehlo.reshape %1226 : (tensor<256xf32>) -> tensor<1x1x1x256xf32>
    %1228 = stablehlo.broadcast_in_dim %745, dims = [0, 1, 2, 3] : (tensor<1x1x1x256xf32>) -> tensor<8x14x14x256xf32>
    %1229 = stablehlo.multiply %1221, %1228 : tensor<8x14x14x256xf32>
    %cst_399 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1230 = stablehlo.reduce(%1227 init: %cst_399) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<1x1x1x256xf32>, tensor<f32>) -> tensor<256xf32>
    %1231 = stablehlo.negate %1229 : tensor<8x14x14x256xf32>
    %cst_400 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1232 = stablehlo.reduce(%1231 init: %cst_400) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<8x14x14x256xf32>, tensor<f32>) -> tensor<256xf32>
    %1233 = stablehlo.reshape %1232 : (tensor<256xf32>) -> tensor<1x1x1x256xf32>
    %cst_401 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1234 = stablehlo.reduce(%1233 init: %cst_401) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<1x1x1x256xf32>, tensor<f32>) -> tensor<256xf32>
    %1235 = stablehlo.multiply %arg42, %1230 : tensor<256xf32>
    %1236 = stablehlo.multiply %1230, %737 : tensor<256xf32>
    %1237 = stablehlo.multiply %1235, %740 : tensor<256xf32>
    %1238 = stablehlo.negate %1237 : tensor<256xf32>
    %1239 = stablehlo.multiply %1238, %723 : tensor<256xf32>
    %1240 = stablehlo.add %1234, %1239 : tensor<256xf32>
    %cst_402 = stablehlo.constant dense<1.568000e+03> : tensor<f32>
    %1241 = stablehlo.broadcast_in_dim %cst_402, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %1242 = stablehlo.divide %1237, %1241 : tensor<256xf32>
    %1243 = stablehlo.broadcast_in_dim %1242, dims = [3] : (tensor<256xf32>) -> tensor<8x14x14x256xf32>
    %1244 = stablehlo.multiply %1243, %717 : tensor<8x14x14x256xf32>
    %1245 = stablehlo.add %1229, %1244 : tensor<8x14x14x256xf32>
    %cst_403 = stablehlo.constant dense<1.568000e+03> : tensor<f32>
    %1246 = stablehlo.broadcast_in_dim %cst_403, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %1247 = stablehlo.divide %1240, %1246 : tensor<256xf32>
    %1248 = stablehlo.broadcast_in_dim %1247, dims = [3] : (tensor<256xf32>) -> tensor<8x14x14x256xf32>
    %1249 = stablehlo.add %1245, %1248 : tensor<8x14x14x256xf32>
    %1250 = stablehlo.convolution(%700, %1249) dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<8x14x14x256xf32>, tensor<8x14x14x256xf32>) -> tensor<3x3x256x256xf32>
    %1251 = stablehlo.reverse %arg43, dims = [0, 1] : tensor<3x3x256x256xf32>
    %1252 = stablehlo.convolution(%1249, %1251) dim_numbers = [b, 0, 1, f]x[0, 1, o, i]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<8x14x14x256xf32>, tensor<3x3x256x256xf32>) -> tensor<8x14x14x256xf32>
    %1253 = stablehlo.multiply %1252, %710 : tensor<8x14x14x256xf32>
    %cst_404 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1254 = stablehlo.reduce(%1253 init: %cst_404) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<8x14x14x256xf32>, tensor<f32>) -> tensor<256xf32>
    %1255 = stablehlo.reshape %1254 : (tensor<256xf32>) -> tensor<1x1x1x256xf32>
    %cst_405 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1256 = stablehlo.reduce(%1255 init: %cst_405) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<1x1x1x256xf32>, tensor<f32>) -> tensor<256xf32>
    %1257 = stablehlo.multiply %692, %1253 : tensor<8x14x14x256xf32>
    %cst_406 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1258 = stablehlo.reduce(%1257 init: %cst_406) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<8x14x14x256xf32>, tensor<f32>) -> tensor<256xf32>
    %1259 = stablehlo.reshape %1258 : (tensor<256xf32>) -> tensor<1x1x1x256xf32>
    %1260 = stablehlo.broadcast_in_dim %693, dims = [0, 1, 2, 3] : (tensor<1x1x1x256xf32>) -> tensor<8x14x14x256xf32>
    %1261 = stablehlo.multiply %1253, %1260 : tensor<8x14x14x256xf32>
    %cst_407 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1262 = stablehlo.reduce(%1259 init: %cst_407) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<1x1x1x256xf32>, tensor<f32>) -> tensor<256xf32>
    %1263 = stablehlo.negate %1261 : tensor<8x14x14x256xf32>
    %cst_408 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1264 = stablehlo.reduce(%1263 init: %cst_408) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<8x14x14x256xf32>, tensor<f32>) -> tensor<256xf32>
    %1265 = stablehlo.reshape %1264 : (tensor<256xf32>) -> tensor<1x1x1x256xf32>
    %cst_409 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1266 = stablehlo.reduce(%1265 init: %cst_409) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<1x1x1x256xf32>, tensor<f32>) -> tensor<256xf32>
    %1267 = stablehlo.multiply %arg39, %1262 : tensor<256xf32>
    %1268 = stablehlo.multiply %1262, %685 : tensor<256xf32>
    %1269 = stablehlo.multiply %1267, %688 : tensor<256xf32>
    %1270 = stablehlo.negate %1269 : tensor<256xf32>
    %1271 = stablehlo.multiply %1270, %671 : tensor<256xf32>
    %1272 = stablehlo.add %1266, %1271 : tensor<256xf32>
    %cst_410 = stablehlo.constant dense<1.568000e+03> : tensor<f32>
    %1273 = stablehlo.broadcast_in_dim %cst_410, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %1274 = stablehlo.divide %1269, %1273 : tensor<256xf32>
    %1275 = stablehlo.broadcast_in_dim %1274, dims = [3] : (tensor<256xf32>) -> tensor<8x14x14x256xf32>
    %1276 = stablehlo.multiply %1275, %665 : tensor<8x14x14x256xf32>
    %1277 = stablehlo.add %1261, %1276 : tensor<8x14x14x256xf32>
    %cst_411 = stablehlo.constant dense<1.568000e+03> : tensor<f32>
    %1278 = stablehlo.broadcast_in_dim %cst_411, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %1279 = stablehlo.divide %1272, %1278 : tensor<256xf32>
    %1280 = stablehlo.broadcast_in_dim %1279, dims = [3] : (tensor<256xf32>) -> tensor<8x14x14x256xf32>
    %1281 = stablehlo.add %1277, %1280 : tensor<8x14x14x256xf32>
    %1282 = stablehlo.convolution(%648, %1281) dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<8x14x14x256xf32>, tensor<8x14x14x256xf32>) -> tensor<3x3x256x256xf32>
    %1283 = stablehlo.reverse %arg40, dims = [0, 1] : tensor<3x3x256x256xf32>
    %1284 = stablehlo.convolution(%1281, %1283) dim_numbers = [b, 0, 1, f]x[0, 1, o, i]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<8x14x14x256xf32>, tensor<3x3x256x256xf32>) -> tensor<8x14x14x256xf32>
    %1285 = stablehlo.add %1221, %1284 : tensor<8x14x14x256xf32>
    %1286 = stablehlo.multiply %1285, %658 : tensor<8x14x14x256xf32>
    %cst_412 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1287 = stablehlo.reduce(%1286 init: %cst_412) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<8x14x14x256xf32>, tensor<f32>) -> tensor<256xf32>
    %1288 = stablehlo.reshape %1287 : (tensor<256xf32>) -> tensor<1x1x1x256xf32>
    %cst_413 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1289 = stablehlo.reduce(%1288 init: %cst_413) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<1x1x1x256xf32>, tensor<f32>) -> tensor<256xf32>
    %1290 = stablehlo.multiply %639, %1286 : tensor<8x14x14x256xf32>
    %cst_414 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1291 = stablehlo.reduce(%1290 init: %cst_414) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<8x14x14x256xf32>, tensor<f32>) -> tensor<256xf32>
    %1292 = stablehlo.reshape %1291 : (tensor<256xf32>) -> tensor<1x1x1x256xf32>
    %1293 = stablehlo.broadcast_in_dim %640, dims = [0, 1, 2, 3] : (tensor<1x1x1x256xf32>) -> tensor<8x14x14x256xf32>
    %1294 = stablehlo.multiply %1286, %1293 : tensor<8x14x14x256xf32>
    %cst_415 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1295 = stablehlo.reduce(%1292 init: %cst_415) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<1x1x1x256xf32>, tensor<f32>) -> tensor<256xf32>
    %1296 = stablehlo.negate %1294 : tensor<8x14x14x256xf32>
    %cst_416 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1297 = stablehlo.reduce(%1296 init: %cst_416) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<8x14x14x256xf32>, tensor<f32>) -> tensor<256xf32>
    %1298 = stablehlo.reshape %1297 : (tensor<256xf32>) -> tensor<1x1x1x256xf32>
    %cst_417 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1299 = stablehlo.reduce(%1298 init: %cst_417) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<1x1x1x256xf32>, tensor<f32>) -> tensor<256xf32>
    %1300 = stablehlo.multiply %arg36, %1295 : tensor<256xf32>
    %1301 = stablehlo.multiply %1295, %632 : tensor<256xf32>
    %1302 = stablehlo.multiply %1300, %635 : tensor<256xf32>
    %1303 = stablehlo.negate %1302 : tensor<256xf32>
    %1304 = stablehlo.multiply %1303, %618 : tensor<256xf32>
    %1305 = stablehlo.add %1299, %1304 : tensor<256xf32>
    %cst_418 = stablehlo.constant dense<1.568000e+03> : tensor<f32>
    %1306 = stablehlo.broadcast_in_dim %cst_418, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %1307 = stablehlo.divide %1302, %1306 : tensor<256xf32>
    %1308 = stablehlo.broadcast_in_dim %1307, dims = [3] : (tensor<256xf32>) -> tensor<8x14x14x256xf32>
    %1309 = stablehlo.multiply %1308, %612 : tensor<8x14x14x256xf32>
    %1310 = stablehlo.add %1294, %1309 : tensor<8x14x14x256xf32>
    %cst_419 = stablehlo.constant dense<1.568000e+03> : tensor<f32>
    %1311 = stablehlo.broadcast_in_dim %cst_419, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %1312 = stablehlo.divide %1305, %1311 : tensor<256xf32>
    %1313 = stablehlo.broadcast_in_dim %1312, dims = [3] : (tensor<256xf32>) -> tensor<8x14x14x256xf32>
    %1314 = stablehlo.add %1310, %1313 : tensor<8x14x14x256xf32>
    %1315 = stablehlo.convolution(%503, %1314) dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f], window = {stride = [1, 1], pad = [[0, -1], [0, -1]], lhs_dilate = [1, 1], rhs_dilate = [2, 2], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<8x28x28x128xf32>, tensor<8x14x14x256xf32>) -> tensor<1x1x128x256xf32>
    %1316 = stablehlo.reverse %arg37, dims = [0, 1] : tensor<1x1x128x256xf32>
    %1317 = stablehlo.convolution(%1314, %1316) dim_numbers = [b, 0, 1, f]x[0, 1, o, i]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[0, 1], [0, 1]], lhs_dilate = [2, 2], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<8x14x14x256xf32>, tensor<1x1x128x256xf32>) -> tensor<8x28x28x128xf32>
    %cst_420 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1318 = stablehlo.reduce(%1286 init: %cst_420) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<8x14x14x256xf32>, tensor<f32>) -> tensor<256xf32>
    %1319 = stablehlo.reshape %1318 : (tensor<256xf32>) -> tensor<1x1x1x256xf32>
    %cst_421 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1320 = stablehlo.reduce(%1319 init: %cst_421) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<1x1x1x256xf32>, tensor<f32>) -> tensor<256xf32>
    %1321 = stablehlo.multiply %599, %1286 : tensor<8x14x14x256xf32>
    %cst_422 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1322 = stablehlo.reduce(%1321 init: %cst_422) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<8x14x14x256xf32>, tensor<f32>) -> tensor<256xf32>
    %1323 = stablehlo.reshape %1322 : (tensor<256xf32>) -> tensor<1x1x1x256xf32>
    %1324 = stablehlo.broadcast_in_dim %600, dims = [0, 1, 2, 3] : (tensor<1x1x1x256xf32>) -> tensor<8x14x14x256xf32>
    %1325 = stablehlo.multiply %1286, %1324 : tensor<8x14x14x256xf32>
    %cst_423 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1326 = stablehlo.reduce(%1323 init: %cst_423) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<1x1x1x256xf32>, tensor<f32>) -> tensor<256xf32>
    %1327 = stablehlo.negate %1325 : tensor<8x14x14x256xf32>
    %cst_424 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1328 = stablehlo.reduce(%1327 init: %cst_424) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<8x14x14x256xf32>, tensor<f32>) -> tensor<256xf32>
    %1329 = stablehlo.reshape %1328 : (tensor<256xf32>) -> tensor<1x1x1x256xf32>
    %cst_425 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1330 = stablehlo.reduce(%1329 init: %cst_425) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<1x1x1x256xf32>, tensor<f32>) -> tensor<256xf32>
    %1331 = stablehlo.multiply %arg33, %1326 : tensor<256xf32>
    %1332 = stablehlo.multiply %1326, %592 : tensor<256xf32>
    %1333 = stablehlo.multiply %1331, %595 : tensor<256xf32>
    %1334 = stablehlo.negate %1333 : tensor<256xf32>
    %1335 = stablehlo.multiply %1334, %578 : tensor<256xf32>
    %1336 = stablehlo.add %1330, %1335 : tensor<256xf32>
    %cst_426 = stablehlo.constant dense<1.568000e+03> : tensor<f32>
    %1337 = stablehlo.broadcast_in_dim %cst_426, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %1338 = stablehlo.divide %1333, %1337 : tensor<256xf32>
    %1339 = stablehlo.broadcast_in_dim %1338, dims = [3] : (tensor<256xf32>) -> tensor<8x14x14x256xf32>
    %1340 = stablehlo.multiply %1339, %572 : tensor<8x14x14x256xf32>
    %1341 = stablehlo.add %1325, %1340 : tensor<8x14x14x256xf32>
    %cst_427 = stablehlo.constant dense<1.568000e+03> : tensor<f32>
    %1342 = stablehlo.broadcast_in_dim %cst_427, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %1343 = stablehlo.divide %1336, %1342 : tensor<256xf32>
    %1344 = stablehlo.broadcast_in_dim %1343, dims = [3] : (tensor<256xf32>) -> tensor<8x14x14x256xf32>
    %1345 = stablehlo.add %1341, %1344 : tensor<8x14x14x256xf32>
    %1346 = stablehlo.convolution(%555, %1345) dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<8x14x14x256xf32>, tensor<8x14x14x256xf32>) -> tensor<3x3x256x256xf32>
    %1347 = stablehlo.reverse %arg34, dims = [0, 1] : tensor<3x3x256x256xf32>
    %1348 = stablehlo.convolution(%1345, %1347) dim_numbers = [b, 0, 1, f]x[0, 1, o, i]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<8x14x14x256xf32>, tensor<3x3x256x256xf32>) -> tensor<8x14x14x256xf32>
    %1349 = stablehlo.multiply %1348, %565 : tensor<8x14x14x256xf32>
    %cst_428 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1350 = stablehlo.reduce(%1349 init: %cst_428) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<8x14x14x256xf32>, tensor<f32>) -> tensor<256xf32>
    %1351 = stablehlo.reshape %1350 : (tensor<256xf32>) -> tensor<1x1x1x256xf32>
    %cst_429 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1352 = stablehlo.reduce(%1351 init: %cst_429) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<1x1x1x256xf32>, tensor<f32>) -> tensor<256xf32>
    %1353 = stablehlo.multiply %547, %1349 : tensor<8x14x14x256xf32>
    %cst_430 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1354 = stablehlo.reduce(%1353 init: %cst_430) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<8x14x14x256xf32>, tensor<f32>) -> tensor<256xf32>
    %1355 = stablehlo.reshape %1354 : (tensor<256xf32>) -> tensor<1x1x1x256xf32>
    %1356 = stablehlo.broadcast_in_dim %548, dims = [0, 1, 2, 3] : (tensor<1x1x1x256xf32>) -> tensor<8x14x14x256xf32>
    %1357 = stablehlo.multiply %1349, %1356 : tensor<8x14x14x256xf32>
    %cst_431 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1358 = stablehlo.reduce(%1355 init: %cst_431) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<1x1x1x256xf32>, tensor<f32>) -> tensor<256xf32>
    %1359 = stablehlo.negate %1357 : tensor<8x14x14x256xf32>
    %cst_432 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1360 = stablehlo.reduce(%1359 init: %cst_432) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<8x14x14x256xf32>, tensor<f32>) -> tensor<256xf32>
    %1361 = stablehlo.reshape %1360 : (tensor<256xf32>) -> tensor<1x1x1x256xf32>
    %cst_433 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1362 = stablehlo.reduce(%1361 init: %cst_433) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<1x1x1x256xf32>, tensor<f32>) -> tensor<256xf32>
    %1363 = stablehlo.multiply %arg30, %1358 : tensor<256xf32>
    %1364 = stablehlo.multiply %1358, %540 : tensor<256xf32>
    %1365 = stablehlo.multiply %1363, %543 : tensor<256xf32>
    %1366 = stablehlo.negate %1365 : tensor<256xf32>
    %1367 = stablehlo.multiply %1366, %526 : tensor<256xf32>
    %1368 = stablehlo.add %1362, %1367 : tensor<256xf32>
    %cst_434 = stablehlo.constant dense<1.568000e+03> : tensor<f32>
    %1369 = stablehlo.broadcast_in_dim %cst_434, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %1370 = stablehlo.divide %1365, %1369 : tensor<256xf32>
    %1371 = stablehlo.broadcast_in_dim %1370, dims = [3] : (tensor<256xf32>) -> tensor<8x14x14x256xf32>
    %1372 = stablehlo.multiply %1371, %520 : tensor<8x14x14x256xf32>
    %1373 = stablehlo.add %1357, %1372 : tensor<8x14x14x256xf32>
    %cst_435 = stablehlo.constant dense<1.568000e+03> : tensor<f32>
    %1374 = stablehlo.broadcast_in_dim %cst_435, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %1375 = stablehlo.divide %1368, %1374 : tensor<256xf32>
    %1376 = stablehlo.broadcast_in_dim %1375, dims = [3] : (tensor<256xf32>) -> tensor<8x14x14x256xf32>
    %1377 = stablehlo.add %1373, %1376 : tensor<8x14x14x256xf32>
    %1378 = stablehlo.convolution(%503, %1377) dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f], window = {stride = [1, 1], pad = [[1, 0], [1, 0]], lhs_dilate = [1, 1], rhs_dilate = [2, 2], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<8x28x28x128xf32>, tensor<8x14x14x256xf32>) -> tensor<3x3x128x256xf32>
    %1379 = stablehlo.reverse %arg31, dims = [0, 1] : tensor<3x3x128x256xf32>
    %1380 = stablehlo.convolution(%1377, %1379) dim_numbers = [b, 0, 1, f]x[0, 1, o, i]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 2], [1, 2]], lhs_dilate = [2, 2], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<8x14x14x256xf32>, tensor<3x3x128x256xf32>) -> tensor<8x28x28x128xf32>
    %1381 = stablehlo.add %1317, %1380 : tensor<8x28x28x128xf32>
    %1382 = stablehlo.multiply %1381, %513 : tensor<8x28x28x128xf32>
    %cst_436 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1383 = stablehlo.reduce(%1382 init: %cst_436) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<8x28x28x128xf32>, tensor<f32>) -> tensor<128xf32>
    %1384 = stablehlo.reshape %1383 : (tensor<128xf32>) -> tensor<1x1x1x128xf32>
    %cst_437 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1385 = stablehlo.reduce(%1384 init: %cst_437) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<1x1x1x128xf32>, tensor<f32>) -> tensor<128xf32>
    %1386 = stablehlo.multiply %494, %1382 : tensor<8x28x28x128xf32>
    %cst_438 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1387 = stablehlo.reduce(%1386 init: %cst_438) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<8x28x28x128xf32>, tensor<f32>) -> tensor<128xf32>
    %1388 = stablehlo.reshape %1387 : (tensor<128xf32>) -> tensor<1x1x1x128xf32>
    %1389 = stablehlo.broadcast_in_dim %495, dims = [0, 1, 2, 3] : (tensor<1x1x1x128xf32>) -> tensor<8x28x28x128xf32>
    %1390 = stablehlo.multiply %1382, %1389 : tensor<8x28x28x128xf32>
    %cst_439 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1391 = stablehlo.reduce(%1388 init: %cst_439) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<1x1x1x128xf32>, tensor<f32>) -> tensor<128xf32>
    %1392 = stablehlo.negate %1390 : tensor<8x28x28x128xf32>
    %cst_440 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1393 = stablehlo.reduce(%1392 init: %cst_440) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<8x28x28x128xf32>, tensor<f32>) -> tensor<128xf32>
    %1394 = stablehlo.reshape %1393 : (tensor<128xf32>) -> tensor<1x1x1x128xf32>
    %cst_441 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1395 = stablehlo.reduce(%1394 init: %cst_441) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<1x1x1x128xf32>, tensor<f32>) -> tensor<128xf32>
    %1396 = stablehlo.multiply %arg27, %1391 : tensor<128xf32>
    %1397 = stablehlo.multiply %1391, %487 : tensor<128xf32>
    %1398 = stablehlo.multiply %1396, %490 : tensor<128xf32>
    %1399 = stablehlo.negate %1398 : tensor<128xf32>
    %1400 = stablehlo.multiply %1399, %473 : tensor<128xf32>
    %1401 = stablehlo.add %1395, %1400 : tensor<128xf32>
    %cst_442 = stablehlo.constant dense<6.272000e+03> : tensor<f32>
    %1402 = stablehlo.broadcast_in_dim %cst_442, dims = [] : (tensor<f32>) -> tensor<128xf32>
    %1403 = stablehlo.divide %1398, %1402 : tensor<128xf32>
    %1404 = stablehlo.broadcast_in_dim %1403, dims = [3] : (tensor<128xf32>) -> tensor<8x28x28x128xf32>
    %1405 = stablehlo.multiply %1404, %467 : tensor<8x28x28x128xf32>
    %1406 = stablehlo.add %1390, %1405 : tensor<8x28x28x128xf32>
    %cst_443 = stablehlo.constant dense<6.272000e+03> : tensor<f32>
    %1407 = stablehlo.broadcast_in_dim %cst_443, dims = [] : (tensor<f32>) -> tensor<128xf32>
    %1408 = stablehlo.divide %1401, %1407 : tensor<128xf32>
    %1409 = stablehlo.broadcast_in_dim %1408, dims = [3] : (tensor<128xf32>) -> tensor<8x28x28x128xf32>
    %1410 = stablehlo.add %1406, %1409 : tensor<8x28x28x128xf32>
    %1411 = stablehlo.convolution(%450, %1410) dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<8x28x28x128xf32>, tensor<8x28x28x128xf32>) -> tensor<3x3x128x128xf32>
    %1412 = stablehlo.reverse %arg28, dims = [0, 1] : tensor<3x3x128x128xf32>
    %1413 = stablehlo.convolution(%1410, %1412) dim_numbers = [b, 0, 1, f]x[0, 1, o, i]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<8x28x28x128xf32>, tensor<3x3x128x128xf32>) -> tensor<8x28x28x128xf32>
    %1414 = stablehlo.multiply %1413, %460 : tensor<8x28x28x128xf32>
    %cst_444 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1415 = stablehlo.reduce(%1414 init: %cst_444) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<8x28x28x128xf32>, tensor<f32>) -> tensor<128xf32>
    %1416 = stablehlo.reshape %1415 : (tensor<128xf32>) -> tensor<1x1x1x128xf32>
    %cst_445 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1417 = stablehlo.reduce(%1416 init: %cst_445) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<1x1x1x128xf32>, tensor<f32>) -> tensor<128xf32>
    %1418 = stablehlo.multiply %442, %1414 : tensor<8x28x28x128xf32>
    %cst_446 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1419 = stablehlo.reduce(%1418 init: %cst_446) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<8x28x28x128xf32>, tensor<f32>) -> tensor<128xf32>
    %1420 = stablehlo.reshape %1419 : (tensor<128xf32>) -> tensor<1x1x1x128xf32>
    %1421 = stablehlo.broadcast_in_dim %443, dims = [0, 1, 2, 3] : (tensor<1x1x1x128xf32>) -> tensor<8x28x28x128xf32>
    %1422 = stablehlo.multiply %1414, %1421 : tensor<8x28x28x128xf32>
    %cst_447 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1423 = stablehlo.reduce(%1420 init: %cst_447) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<1x1x1x128xf32>, tensor<f32>) -> tensor<128xf32>
    %1424 = stablehlo.negate %1422 : tensor<8x28x28x128xf32>
    %cst_448 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1425 = stablehlo.reduce(%1424 init: %cst_448) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<8x28x28x128xf32>, tensor<f32>) -> tensor<128xf32>
    %1426 = stablehlo.reshape %1425 : (tensor<128xf32>) -> tensor<1x1x1x128xf32>
    %cst_449 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1427 = stablehlo.reduce(%1426 init: %cst_449) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<1x1x1x128xf32>, tensor<f32>) -> tensor<128xf32>
    %1428 = stablehlo.multiply %arg24, %1423 : tensor<128xf32>
    %1429 = stablehlo.multiply %1423, %435 : tensor<128xf32>
    %1430 = stablehlo.multiply %1428, %438 : tensor<128xf32>
    %1431 = stablehlo.negate %1430 : tensor<128xf32>
    %1432 = stablehlo.multiply %1431, %421 : tensor<128xf32>
    %1433 = stablehlo.add %1427, %1432 : tensor<128xf32>
    %cst_450 = stablehlo.constant dense<6.272000e+03> : tensor<f32>
    %1434 = stablehlo.broadcast_in_dim %cst_450, dims = [] : (tensor<f32>) -> tensor<128xf32>
    %1435 = stablehlo.divide %1430, %1434 : tensor<128xf32>
    %1436 = stablehlo.broadcast_in_dim %1435, dims = [3] : (tensor<128xf32>) -> tensor<8x28x28x128xf32>
    %1437 = stablehlo.multiply %1436, %415 : tensor<8x28x28x128xf32>
    %1438 = stablehlo.add %1422, %1437 : tensor<8x28x28x128xf32>
    %cst_451 = stablehlo.constant dense<6.272000e+03> : tensor<f32>
    %1439 = stablehlo.broadcast_in_dim %cst_451, dims = [] : (tensor<f32>) -> tensor<128xf32>
    %1440 = stablehlo.divide %1433, %1439 : tensor<128xf32>
    %1441 = stablehlo.broadcast_in_dim %1440, dims = [3] : (tensor<128xf32>) -> tensor<8x28x28x128xf32>
    %1442 = stablehlo.add %1438, %1441 : tensor<8x28x28x128xf32>
    %1443 = stablehlo.convolution(%398, %1442) dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<8x28x28x128xf32>, tensor<8x28x28x128xf32>) -> tensor<3x3x128x128xf32>
    %1444 = stablehlo.reverse %arg25, dims = [0, 1] : tensor<3x3x128x128xf32>
    %1445 = stablehlo.convolution(%1442, %1444) dim_numbers = [b, 0, 1, f]x[0, 1, o, i]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<8x28x28x128xf32>, tensor<3x3x128x128xf32>) -> tensor<8x28x28x128xf32>
    %1446 = stablehlo.add %1382, %1445 : tensor<8x28x28x128xf32>
    %1447 = stablehlo.multiply %1446, %408 : tensor<8x28x28x128xf32>
    %cst_452 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1448 = stablehlo.reduce(%1447 init: %cst_452) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<8x28x28x128xf32>, tensor<f32>) -> tensor<128xf32>
    %1449 = stablehlo.reshape %1448 : (tensor<128xf32>) -> tensor<1x1x1x128xf32>
    %cst_453 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1450 = stablehlo.reduce(%1449 init: %cst_453) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<1x1x1x128xf32>, tensor<f32>) -> tensor<128xf32>
    %1451 = stablehlo.multiply %389, %1447 : tensor<8x28x28x128xf32>
    %cst_454 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1452 = stablehlo.reduce(%1451 init: %cst_454) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<8x28x28x128xf32>, tensor<f32>) -> tensor<128xf32>
    %1453 = stablehlo.reshape %1452 : (tensor<128xf32>) -> tensor<1x1x1x128xf32>
    %1454 = stablehlo.broadcast_in_dim %390, dims = [0, 1, 2, 3] : (tensor<1x1x1x128xf32>) -> tensor<8x28x28x128xf32>
    %1455 = stablehlo.multiply %1447, %1454 : tensor<8x28x28x128xf32>
    %cst_455 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1456 = stablehlo.reduce(%1453 init: %cst_455) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<1x1x1x128xf32>, tensor<f32>) -> tensor<128xf32>
    %1457 = stablehlo.negate %1455 : tensor<8x28x28x128xf32>
    %cst_456 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1458 = stablehlo.reduce(%1457 init: %cst_456) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<8x28x28x128xf32>, tensor<f32>) -> tensor<128xf32>
    %1459 = stablehlo.reshape %1458 : (tensor<128xf32>) -> tensor<1x1x1x128xf32>
    %cst_457 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1460 = stablehlo.reduce(%1459 init: %cst_457) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<1x1x1x128xf32>, tensor<f32>) -> tensor<128xf32>
    %1461 = stablehlo.multiply %arg21, %1456 : tensor<128xf32>
    %1462 = stablehlo.multiply %1456, %382 : tensor<128xf32>
    %1463 = stablehlo.multiply %1461, %385 : tensor<128xf32>
    %1464 = stablehlo.negate %1463 : tensor<128xf32>
    %1465 = stablehlo.multiply %1464, %368 : tensor<128xf32>
    %1466 = stablehlo.add %1460, %1465 : tensor<128xf32>
    %cst_458 = stablehlo.constant dense<6.272000e+03> : tensor<f32>
    %1467 = stablehlo.broadcast_in_dim %cst_458, dims = [] : (tensor<f32>) -> tensor<128xf32>
    %1468 = stablehlo.divide %1463, %1467 : tensor<128xf32>
    %1469 = stablehlo.broadcast_in_dim %1468, dims = [3] : (tensor<128xf32>) -> tensor<8x28x28x128xf32>
    %1470 = stablehlo.multiply %1469, %362 : tensor<8x28x28x128xf32>
    %1471 = stablehlo.add %1455, %1470 : tensor<8x28x28x128xf32>
    %cst_459 = stablehlo.constant dense<6.272000e+03> : tensor<f32>
    %1472 = stablehlo.broadcast_in_dim %cst_459, dims = [] : (tensor<f32>) -> tensor<128xf32>
    %1473 = stablehlo.divide %1466, %1472 : tensor<128xf32>
    %1474 = stablehlo.broadcast_in_dim %1473, dims = [3] : (tensor<128xf32>) -> tensor<8x28x28x128xf32>
    %1475 = stablehlo.add %1471, %1474 : tensor<8x28x28x128xf32>
    %1476 = stablehlo.convolution(%253, %1475) dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f], window = {stride = [1, 1], pad = [[0, -1], [0, -1]], lhs_dilate = [1, 1], rhs_dilate = [2, 2], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<8x56x56x64xf32>, tensor<8x28x28x128xf32>) -> tensor<1x1x64x128xf32>
    %1477 = stablehlo.reverse %arg22, dims = [0, 1] : tensor<1x1x64x128xf32>
    %1478 = stablehlo.convolution(%1475, %1477) dim_numbers = [b, 0, 1, f]x[0, 1, o, i]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[0, 1], [0, 1]], lhs_dilate = [2, 2], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<8x28x28x128xf32>, tensor<1x1x64x128xf32>) -> tensor<8x56x56x64xf32>
    %cst_460 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1479 = stablehlo.reduce(%1447 init: %cst_460) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<8x28x28x128xf32>, tensor<f32>) -> tensor<128xf32>
    %1480 = stablehlo.reshape %1479 : (tensor<128xf32>) -> tensor<1x1x1x128xf32>
    %cst_461 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1481 = stablehlo.reduce(%1480 init: %cst_461) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<1x1x1x128xf32>, tensor<f32>) -> tensor<128xf32>
    %1482 = stablehlo.multiply %349, %1447 : tensor<8x28x28x128xf32>
    %cst_462 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1483 = stablehlo.reduce(%1482 init: %cst_462) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<8x28x28x128xf32>, tensor<f32>) -> tensor<128xf32>
    %1484 = stablehlo.reshape %1483 : (tensor<128xf32>) -> tensor<1x1x1x128xf32>
    %1485 = stablehlo.broadcast_in_dim %350, dims = [0, 1, 2, 3] : (tensor<1x1x1x128xf32>) -> tensor<8x28x28x128xf32>
    %1486 = stablehlo.multiply %1447, %1485 : tensor<8x28x28x128xf32>
    %cst_463 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1487 = stablehlo.reduce(%1484 init: %cst_463) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<1x1x1x128xf32>, tensor<f32>) -> tensor<128xf32>
    %1488 = stablehlo.negate %1486 : tensor<8x28x28x128xf32>
    %cst_464 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1489 = stablehlo.reduce(%1488 init: %cst_464) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<8x28x28x128xf32>, tensor<f32>) -> tensor<128xf32>
    %1490 = stablehlo.reshape %1489 : (tensor<128xf32>) -> tensor<1x1x1x128xf32>
    %cst_465 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1491 = stablehlo.reduce(%1490 init: %cst_465) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<1x1x1x128xf32>, tensor<f32>) -> tensor<128xf32>
    %1492 = stablehlo.multiply %arg18, %1487 : tensor<128xf32>
    %1493 = stablehlo.multiply %1487, %342 : tensor<128xf32>
    %1494 = stablehlo.multiply %1492, %345 : tensor<128xf32>
    %1495 = stablehlo.negate %1494 : tensor<128xf32>
    %1496 = stablehlo.multiply %1495, %328 : tensor<128xf32>
    %1497 = stablehlo.add %1491, %1496 : tensor<128xf32>
    %cst_466 = stablehlo.constant dense<6.272000e+03> : tensor<f32>
    %1498 = stablehlo.broadcast_in_dim %cst_466, dims = [] : (tensor<f32>) -> tensor<128xf32>
    %1499 = stablehlo.divide %1494, %1498 : tensor<128xf32>
    %1500 = stablehlo.broadcast_in_dim %1499, dims = [3] : (tensor<128xf32>) -> tensor<8x28x28x128xf32>
    %1501 = stablehlo.multiply %1500, %322 : tensor<8x28x28x128xf32>
    %1502 = stablehlo.add %1486, %1501 : tensor<8x28x28x128xf32>
    %cst_467 = stablehlo.constant dense<6.272000e+03> : tensor<f32>
    %1503 = stablehlo.broadcast_in_dim %cst_467, dims = [] : (tensor<f32>) -> tensor<128xf32>
    %1504 = stablehlo.divide %1497, %1503 : tensor<128xf32>
    %1505 = stablehlo.broadcast_in_dim %1504, dims = [3] : (tensor<128xf32>) -> tensor<8x28x28x128xf32>
    %1506 = stablehlo.add %1502, %1505 : tensor<8x28x28x128xf32>
    %1507 = stablehlo.convolution(%305, %1506) dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<8x28x28x128xf32>, tensor<8x28x28x128xf32>) -> tensor<3x3x128x128xf32>
    %1508 = stablehlo.reverse %arg19, dims = [0, 1] : tensor<3x3x128x128xf32>
    %1509 = stablehlo.convolution(%1506, %1508) dim_numbers = [b, 0, 1, f]x[0, 1, o, i]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<8x28x28x128xf32>, tensor<3x3x128x128xf32>) -> tensor<8x28x28x128xf32>
    %1510 = stablehlo.multiply %1509, %315 : tensor<8x28x28x128xf32>
    %cst_468 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1511 = stablehlo.reduce(%1510 init: %cst_468) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<8x28x28x128xf32>, tensor<f32>) -> tensor<128xf32>
    %1512 = stablehlo.reshape %1511 : (tensor<128xf32>) -> tensor<1x1x1x128xf32>
    %cst_469 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1513 = stablehlo.reduce(%1512 init: %cst_469) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<1x1x1x128xf32>, tensor<f32>) -> tensor<128xf32>
    %1514 = stablehlo.multiply %297, %1510 : tensor<8x28x28x128xf32>
    %cst_470 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1515 = stablehlo.reduce(%1514 init: %cst_470) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<8x28x28x128xf32>, tensor<f32>) -> tensor<128xf32>
    %1516 = stablehlo.reshape %1515 : (tensor<128xf32>) -> tensor<1x1x1x128xf32>
    %1517 = stablehlo.broadcast_in_dim %298, dims = [0, 1, 2, 3] : (tensor<1x1x1x128xf32>) -> tensor<8x28x28x128xf32>
    %1518 = stablehlo.multiply %1510, %1517 : tensor<8x28x28x128xf32>
    %cst_471 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1519 = stablehlo.reduce(%1516 init: %cst_471) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<1x1x1x128xf32>, tensor<f32>) -> tensor<128xf32>
    %1520 = stablehlo.negate %1518 : tensor<8x28x28x128xf32>
    %cst_472 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1521 = stablehlo.reduce(%1520 init: %cst_472) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<8x28x28x128xf32>, tensor<f32>) -> tensor<128xf32>
    %1522 = stablehlo.reshape %1521 : (tensor<128xf32>) -> tensor<1x1x1x128xf32>
    %cst_473 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1523 = stablehlo.reduce(%1522 init: %cst_473) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<1x1x1x128xf32>, tensor<f32>) -> tensor<128xf32>
    %1524 = stablehlo.multiply %arg15, %1519 : tensor<128xf32>
    %1525 = stablehlo.multiply %1519, %290 : tensor<128xf32>
    %1526 = stablehlo.multiply %1524, %293 : tensor<128xf32>
    %1527 = stablehlo.negate %1526 : tensor<128xf32>
    %1528 = stablehlo.multiply %1527, %276 : tensor<128xf32>
    %1529 = stablehlo.add %1523, %1528 : tensor<128xf32>
    %cst_474 = stablehlo.constant dense<6.272000e+03> : tensor<f32>
    %1530 = stablehlo.broadcast_in_dim %cst_474, dims = [] : (tensor<f32>) -> tensor<128xf32>
    %1531 = stablehlo.divide %1526, %1530 : tensor<128xf32>
    %1532 = stablehlo.broadcast_in_dim %1531, dims = [3] : (tensor<128xf32>) -> tensor<8x28x28x128xf32>
    %1533 = stablehlo.multiply %1532, %270 : tensor<8x28x28x128xf32>
    %1534 = stablehlo.add %1518, %1533 : tensor<8x28x28x128xf32>
    %cst_475 = stablehlo.constant dense<6.272000e+03> : tensor<f32>
    %1535 = stablehlo.broadcast_in_dim %cst_475, dims = [] : (tensor<f32>) -> tensor<128xf32>
    %1536 = stablehlo.divide %1529, %1535 : tensor<128xf32>
    %1537 = stablehlo.broadcast_in_dim %1536, dims = [3] : (tensor<128xf32>) -> tensor<8x28x28x128xf32>
    %1538 = stablehlo.add %1534, %1537 : tensor<8x28x28x128xf32>
    %1539 = stablehlo.convolution(%253, %1538) dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f], window = {stride = [1, 1], pad = [[1, 0], [1, 0]], lhs_dilate = [1, 1], rhs_dilate = [2, 2], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<8x56x56x64xf32>, tensor<8x28x28x128xf32>) -> tensor<3x3x64x128xf32>
    %1540 = stablehlo.reverse %arg16, dims = [0, 1] : tensor<3x3x64x128xf32>
    %1541 = stablehlo.convolution(%1538, %1540) dim_numbers = [b, 0, 1, f]x[0, 1, o, i]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 2], [1, 2]], lhs_dilate = [2, 2], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<8x28x28x128xf32>, tensor<3x3x64x128xf32>) -> tensor<8x56x56x64xf32>
    %1542 = stablehlo.add %1478, %1541 : tensor<8x56x56x64xf32>
    %1543 = stablehlo.multiply %1542, %263 : tensor<8x56x56x64xf32>
    %cst_476 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1544 = stablehlo.reduce(%1543 init: %cst_476) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<8x56x56x64xf32>, tensor<f32>) -> tensor<64xf32>
    %1545 = stablehlo.reshape %1544 : (tensor<64xf32>) -> tensor<1x1x1x64xf32>
    %cst_477 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1546 = stablehlo.reduce(%1545 init: %cst_477) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<1x1x1x64xf32>, tensor<f32>) -> tensor<64xf32>
    %1547 = stablehlo.multiply %244, %1543 : tensor<8x56x56x64xf32>
    %cst_478 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1548 = stablehlo.reduce(%1547 init: %cst_478) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<8x56x56x64xf32>, tensor<f32>) -> tensor<64xf32>
    %1549 = stablehlo.reshape %1548 : (tensor<64xf32>) -> tensor<1x1x1x64xf32>
    %1550 = stablehlo.broadcast_in_dim %245, dims = [0, 1, 2, 3] : (tensor<1x1x1x64xf32>) -> tensor<8x56x56x64xf32>
    %1551 = stablehlo.multiply %1543, %1550 : tensor<8x56x56x64xf32>
    %cst_479 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1552 = stablehlo.reduce(%1549 init: %cst_479) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<1x1x1x64xf32>, tensor<f32>) -> tensor<64xf32>
    %1553 = stablehlo.negate %1551 : tensor<8x56x56x64xf32>
    %cst_480 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1554 = stablehlo.reduce(%1553 init: %cst_480) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<8x56x56x64xf32>, tensor<f32>) -> tensor<64xf32>
    %1555 = stablehlo.reshape %1554 : (tensor<64xf32>) -> tensor<1x1x1x64xf32>
    %cst_481 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1556 = stablehlo.reduce(%1555 init: %cst_481) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<1x1x1x64xf32>, tensor<f32>) -> tensor<64xf32>
    %1557 = stablehlo.multiply %arg12, %1552 : tensor<64xf32>
    %1558 = stablehlo.multiply %1552, %237 : tensor<64xf32>
    %1559 = stablehlo.multiply %1557, %240 : tensor<64xf32>
    %1560 = stablehlo.negate %1559 : tensor<64xf32>
    %1561 = stablehlo.multiply %1560, %223 : tensor<64xf32>
    %1562 = stablehlo.add %1556, %1561 : tensor<64xf32>
    %cst_482 = stablehlo.constant dense<2.508800e+04> : tensor<f32>
    %1563 = stablehlo.broadcast_in_dim %cst_482, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %1564 = stablehlo.divide %1559, %1563 : tensor<64xf32>
    %1565 = stablehlo.broadcast_in_dim %1564, dims = [3] : (tensor<64xf32>) -> tensor<8x56x56x64xf32>
    %1566 = stablehlo.multiply %1565, %217 : tensor<8x56x56x64xf32>
    %1567 = stablehlo.add %1551, %1566 : tensor<8x56x56x64xf32>
    %cst_483 = stablehlo.constant dense<2.508800e+04> : tensor<f32>
    %1568 = stablehlo.broadcast_in_dim %cst_483, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %1569 = stablehlo.divide %1562, %1568 : tensor<64xf32>
    %1570 = stablehlo.broadcast_in_dim %1569, dims = [3] : (tensor<64xf32>) -> tensor<8x56x56x64xf32>
    %1571 = stablehlo.add %1567, %1570 : tensor<8x56x56x64xf32>
    %1572 = stablehlo.convolution(%200, %1571) dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<8x56x56x64xf32>, tensor<8x56x56x64xf32>) -> tensor<3x3x64x64xf32>
    %1573 = stablehlo.reverse %arg13, dims = [0, 1] : tensor<3x3x64x64xf32>
    %1574 = stablehlo.convolution(%1571, %1573) dim_numbers = [b, 0, 1, f]x[0, 1, o, i]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<8x56x56x64xf32>, tensor<3x3x64x64xf32>) -> tensor<8x56x56x64xf32>
    %1575 = stablehlo.multiply %1574, %210 : tensor<8x56x56x64xf32>
    %cst_484 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1576 = stablehlo.reduce(%1575 init: %cst_484) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<8x56x56x64xf32>, tensor<f32>) -> tensor<64xf32>
    %1577 = stablehlo.reshape %1576 : (tensor<64xf32>) -> tensor<1x1x1x64xf32>
    %cst_485 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1578 = stablehlo.reduce(%1577 init: %cst_485) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<1x1x1x64xf32>, tensor<f32>) -> tensor<64xf32>
    %1579 = stablehlo.multiply %192, %1575 : tensor<8x56x56x64xf32>
    %cst_486 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1580 = stablehlo.reduce(%1579 init: %cst_486) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<8x56x56x64xf32>, tensor<f32>) -> tensor<64xf32>
    %1581 = stablehlo.reshape %1580 : (tensor<64xf32>) -> tensor<1x1x1x64xf32>
    %1582 = stablehlo.broadcast_in_dim %193, dims = [0, 1, 2, 3] : (tensor<1x1x1x64xf32>) -> tensor<8x56x56x64xf32>
    %1583 = stablehlo.multiply %1575, %1582 : tensor<8x56x56x64xf32>
    %cst_487 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1584 = stablehlo.reduce(%1581 init: %cst_487) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<1x1x1x64xf32>, tensor<f32>) -> tensor<64xf32>
    %1585 = stablehlo.negate %1583 : tensor<8x56x56x64xf32>
    %cst_488 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1586 = stablehlo.reduce(%1585 init: %cst_488) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<8x56x56x64xf32>, tensor<f32>) -> tensor<64xf32>
    %1587 = stablehlo.reshape %1586 : (tensor<64xf32>) -> tensor<1x1x1x64xf32>
    %cst_489 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1588 = stablehlo.reduce(%1587 init: %cst_489) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<1x1x1x64xf32>, tensor<f32>) -> tensor<64xf32>
    %1589 = stablehlo.multiply %arg9, %1584 : tensor<64xf32>
    %1590 = stablehlo.multiply %1584, %185 : tensor<64xf32>
    %1591 = stablehlo.multiply %1589, %188 : tensor<64xf32>
    %1592 = stablehlo.negate %1591 : tensor<64xf32>
    %1593 = stablehlo.multiply %1592, %171 : tensor<64xf32>
    %1594 = stablehlo.add %1588, %1593 : tensor<64xf32>
    %cst_490 = stablehlo.constant dense<2.508800e+04> : tensor<f32>
    %1595 = stablehlo.broadcast_in_dim %cst_490, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %1596 = stablehlo.divide %1591, %1595 : tensor<64xf32>
    %1597 = stablehlo.broadcast_in_dim %1596, dims = [3] : (tensor<64xf32>) -> tensor<8x56x56x64xf32>
    %1598 = stablehlo.multiply %1597, %165 : tensor<8x56x56x64xf32>
    %1599 = stablehlo.add %1583, %1598 : tensor<8x56x56x64xf32>
    %cst_491 = stablehlo.constant dense<2.508800e+04> : tensor<f32>
    %1600 = stablehlo.broadcast_in_dim %cst_491, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %1601 = stablehlo.divide %1594, %1600 : tensor<64xf32>
    %1602 = stablehlo.broadcast_in_dim %1601, dims = [3] : (tensor<64xf32>) -> tensor<8x56x56x64xf32>
    %1603 = stablehlo.add %1599, %1602 : tensor<8x56x56x64xf32>
    %1604 = stablehlo.convolution(%148, %1603) dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<8x56x56x64xf32>, tensor<8x56x56x64xf32>) -> tensor<3x3x64x64xf32>
    %1605 = stablehlo.reverse %arg10, dims = [0, 1] : tensor<3x3x64x64xf32>
    %1606 = stablehlo.convolution(%1603, %1605) dim_numbers = [b, 0, 1, f]x[0, 1, o, i]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<8x56x56x64xf32>, tensor<3x3x64x64xf32>) -> tensor<8x56x56x64xf32>
    %1607 = stablehlo.add %1543, %1606 : tensor<8x56x56x64xf32>
    %1608 = stablehlo.multiply %1607, %158 : tensor<8x56x56x64xf32>
    %cst_492 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1609 = stablehlo.reduce(%1608 init: %cst_492) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<8x56x56x64xf32>, tensor<f32>) -> tensor<64xf32>
    %1610 = stablehlo.reshape %1609 : (tensor<64xf32>) -> tensor<1x1x1x64xf32>
    %cst_493 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1611 = stablehlo.reduce(%1610 init: %cst_493) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<1x1x1x64xf32>, tensor<f32>) -> tensor<64xf32>
    %1612 = stablehlo.multiply %139, %1608 : tensor<8x56x56x64xf32>
    %cst_494 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1613 = stablehlo.reduce(%1612 init: %cst_494) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<8x56x56x64xf32>, tensor<f32>) -> tensor<64xf32>
    %1614 = stablehlo.reshape %1613 : (tensor<64xf32>) -> tensor<1x1x1x64xf32>
    %1615 = stablehlo.broadcast_in_dim %140, dims = [0, 1, 2, 3] : (tensor<1x1x1x64xf32>) -> tensor<8x56x56x64xf32>
    %1616 = stablehlo.multiply %1608, %1615 : tensor<8x56x56x64xf32>
    %cst_495 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1617 = stablehlo.reduce(%1614 init: %cst_495) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<1x1x1x64xf32>, tensor<f32>) -> tensor<64xf32>
    %1618 = stablehlo.negate %1616 : tensor<8x56x56x64xf32>
    %cst_496 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1619 = stablehlo.reduce(%1618 init: %cst_496) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<8x56x56x64xf32>, tensor<f32>) -> tensor<64xf32>
    %1620 = stablehlo.reshape %1619 : (tensor<64xf32>) -> tensor<1x1x1x64xf32>
    %cst_497 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1621 = stablehlo.reduce(%1620 init: %cst_497) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<1x1x1x64xf32>, tensor<f32>) -> tensor<64xf32>
    %1622 = stablehlo.multiply %arg6, %1617 : tensor<64xf32>
    %1623 = stablehlo.multiply %1617, %132 : tensor<64xf32>
    %1624 = stablehlo.multiply %1622, %135 : tensor<64xf32>
    %1625 = stablehlo.negate %1624 : tensor<64xf32>
    %1626 = stablehlo.multiply %1625, %118 : tensor<64xf32>
    %1627 = stablehlo.add %1621, %1626 : tensor<64xf32>
    %cst_498 = stablehlo.constant dense<2.508800e+04> : tensor<f32>
    %1628 = stablehlo.broadcast_in_dim %cst_498, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %1629 = stablehlo.divide %1624, %1628 : tensor<64xf32>
    %1630 = stablehlo.broadcast_in_dim %1629, dims = [3] : (tensor<64xf32>) -> tensor<8x56x56x64xf32>
    %1631 = stablehlo.multiply %1630, %112 : tensor<8x56x56x64xf32>
    %1632 = stablehlo.add %1616, %1631 : tensor<8x56x56x64xf32>
    %cst_499 = stablehlo.constant dense<2.508800e+04> : tensor<f32>
    %1633 = stablehlo.broadcast_in_dim %cst_499, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %1634 = stablehlo.divide %1627, %1633 : tensor<64xf32>
    %1635 = stablehlo.broadcast_in_dim %1634, dims = [3] : (tensor<64xf32>) -> tensor<8x56x56x64xf32>
    %1636 = stablehlo.add %1632, %1635 : tensor<8x56x56x64xf32>
    %1637 = stablehlo.convolution(%95, %1636) dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<8x56x56x64xf32>, tensor<8x56x56x64xf32>) -> tensor<3x3x64x64xf32>
    %1638 = stablehlo.reverse %arg7, dims = [0, 1] : tensor<3x3x64x64xf32>
    %1639 = stablehlo.convolution(%1636, %1638) dim_numbers = [b, 0, 1, f]x[0, 1, o, i]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<8x56x56x64xf32>, tensor<3x3x64x64xf32>) -> tensor<8x56x56x64xf32>
    %1640 = stablehlo.multiply %1639, %105 : tensor<8x56x56x64xf32>
    %cst_500 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1641 = stablehlo.reduce(%1640 init: %cst_500) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<8x56x56x64xf32>, tensor<f32>) -> tensor<64xf32>
    %1642 = stablehlo.reshape %1641 : (tensor<64xf32>) -> tensor<1x1x1x64xf32>
    %cst_501 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1643 = stablehlo.reduce(%1642 init: %cst_501) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<1x1x1x64xf32>, tensor<f32>) -> tensor<64xf32>
    %1644 = stablehlo.multiply %87, %1640 : tensor<8x56x56x64xf32>
    %cst_502 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1645 = stablehlo.reduce(%1644 init: %cst_502) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<8x56x56x64xf32>, tensor<f32>) -> tensor<64xf32>
    %1646 = stablehlo.reshape %1645 : (tensor<64xf32>) -> tensor<1x1x1x64xf32>
    %1647 = stablehlo.broadcast_in_dim %88, dims = [0, 1, 2, 3] : (tensor<1x1x1x64xf32>) -> tensor<8x56x56x64xf32>
    %1648 = stablehlo.multiply %1640, %1647 : tensor<8x56x56x64xf32>
    %cst_503 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1649 = stablehlo.reduce(%1646 init: %cst_503) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<1x1x1x64xf32>, tensor<f32>) -> tensor<64xf32>
    %1650 = stablehlo.negate %1648 : tensor<8x56x56x64xf32>
    %cst_504 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1651 = stablehlo.reduce(%1650 init: %cst_504) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<8x56x56x64xf32>, tensor<f32>) -> tensor<64xf32>
    %1652 = stablehlo.reshape %1651 : (tensor<64xf32>) -> tensor<1x1x1x64xf32>
    %cst_505 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1653 = stablehlo.reduce(%1652 init: %cst_505) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<1x1x1x64xf32>, tensor<f32>) -> tensor<64xf32>
    %1654 = stablehlo.multiply %arg3, %1649 : tensor<64xf32>
    %1655 = stablehlo.multiply %1649, %80 : tensor<64xf32>
    %1656 = stablehlo.multiply %1654, %83 : tensor<64xf32>
    %1657 = stablehlo.negate %1656 : tensor<64xf32>
    %1658 = stablehlo.multiply %1657, %66 : tensor<64xf32>
    %1659 = stablehlo.add %1653, %1658 : tensor<64xf32>
    %cst_506 = stablehlo.constant dense<2.508800e+04> : tensor<f32>
    %1660 = stablehlo.broadcast_in_dim %cst_506, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %1661 = stablehlo.divide %1656, %1660 : tensor<64xf32>
    %1662 = stablehlo.broadcast_in_dim %1661, dims = [3] : (tensor<64xf32>) -> tensor<8x56x56x64xf32>
    %1663 = stablehlo.multiply %1662, %60 : tensor<8x56x56x64xf32>
    %1664 = stablehlo.add %1648, %1663 : tensor<8x56x56x64xf32>
    %cst_507 = stablehlo.constant dense<2.508800e+04> : tensor<f32>
    %1665 = stablehlo.broadcast_in_dim %cst_507, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %1666 = stablehlo.divide %1659, %1665 : tensor<64xf32>
    %1667 = stablehlo.broadcast_in_dim %1666, dims = [3] : (tensor<64xf32>) -> tensor<8x56x56x64xf32>
    %1668 = stablehlo.add %1664, %1667 : tensor<8x56x56x64xf32>
    %1669 = stablehlo.convolution(%53, %1668) dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<8x56x56x64xf32>, tensor<8x56x56x64xf32>) -> tensor<3x3x64x64xf32>
    %1670 = stablehlo.reverse %arg4, dims = [0, 1] : tensor<3x3x64x64xf32>
    %1671 = stablehlo.convolution(%1668, %1670) dim_numbers = [b, 0, 1, f]x[0, 1, o, i]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<8x56x56x64xf32>, tensor<3x3x64x64xf32>) -> tensor<8x56x56x64xf32>
    %1672 = stablehlo.add %1608, %1671 : tensor<8x56x56x64xf32>
    %cst_508 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1673 = stablehlo.pad %41, %cst_508, low = [0, 1, 1, 0], high = [0, 1, 1, 0], interior = [0, 0, 0, 0] : (tensor<8x112x112x64xf32>, tensor<f32>) -> tensor<8x114x114x64xf32>
    %cst_509 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1674 = "stablehlo.select_and_scatter"(%1673, %1672, %cst_509) <{padding = dense<0> : tensor<4x2xi64>, window_dimensions = array<i64: 1, 3, 3, 1>, window_strides = array<i64: 1, 2, 2, 1>}> ({
    ^bb0(%arg166: tensor<f32>, %arg167: tensor<f32>):
      %2078 = stablehlo.compare GE, %arg166, %arg167, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %2078 : tensor<i1>
    }, {
    ^bb0(%arg166: tensor<f32>, %arg167: tensor<f32>):
      %2078 = stablehlo.add %arg166, %arg167 : tensor<f32>
      stablehlo.return %2078 : tensor<f32>
    }) : (tensor<8x114x114x64xf32>, tensor<8x56x56x64xf32>, tensor<f32>) -> tensor<8x114x114x64xf32>
    %1675 = stablehlo.slice %1674 [0:8, 1:113, 1:113, 0:64] : (tensor<8x114x114x64xf32>) -> tensor<8x112x112x64xf32>
    %1676 = stablehlo.multiply %1675, %51 : tensor<8x112x112x64xf32>
    %cst_510 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1677 = stablehlo.reduce(%1676 init: %cst_510) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<8x112x112x64xf32>, tensor<f32>) -> tensor<64xf32>
    %1678 = stablehlo.reshape %1677 : (tensor<64xf32>) -> tensor<1x1x1x64xf32>
    %cst_511 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1679 = stablehlo.reduce(%1678 init: %cst_511) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<1x1x1x64xf32>, tensor<f32>) -> tensor<64xf32>
    %1680 = stablehlo.multiply %33, %1676 : tensor<8x112x112x64xf32>
    %cst_512 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1681 = stablehlo.reduce(%1680 init: %cst_512) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<8x112x112x64xf32>, tensor<f32>) -> tensor<64xf32>
    %1682 = stablehlo.reshape %1681 : (tensor<64xf32>) -> tensor<1x1x1x64xf32>
    %1683 = stablehlo.broadcast_in_dim %34, dims = [0, 1, 2, 3] : (tensor<1x1x1x64xf32>) -> tensor<8x112x112x64xf32>
    %1684 = stablehlo.multiply %1676, %1683 : tensor<8x112x112x64xf32>
    %cst_513 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1685 = stablehlo.reduce(%1682 init: %cst_513) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<1x1x1x64xf32>, tensor<f32>) -> tensor<64xf32>
    %1686 = stablehlo.negate %1684 : tensor<8x112x112x64xf32>
    %cst_514 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1687 = stablehlo.reduce(%1686 init: %cst_514) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<8x112x112x64xf32>, tensor<f32>) -> tensor<64xf32>
    %1688 = stablehlo.reshape %1687 : (tensor<64xf32>) -> tensor<1x1x1x64xf32>
    %cst_515 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1689 = stablehlo.reduce(%1688 init: %cst_515) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<1x1x1x64xf32>, tensor<f32>) -> tensor<64xf32>
    %1690 = stablehlo.multiply %arg60, %1685 : tensor<64xf32>
    %1691 = stablehlo.multiply %1685, %26 : tensor<64xf32>
    %1692 = stablehlo.multiply %1690, %29 : tensor<64xf32>
    %1693 = stablehlo.negate %1692 : tensor<64xf32>
    %1694 = stablehlo.multiply %1693, %12 : tensor<64xf32>
    %1695 = stablehlo.add %1689, %1694 : tensor<64xf32>
    %cst_516 = stablehlo.constant dense<1.003520e+05> : tensor<f32>
    %1696 = stablehlo.broadcast_in_dim %cst_516, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %1697 = stablehlo.divide %1692, %1696 : tensor<64xf32>
    %1698 = stablehlo.broadcast_in_dim %1697, dims = [3] : (tensor<64xf32>) -> tensor<8x112x112x64xf32>
    %1699 = stablehlo.multiply %1698, %6 : tensor<8x112x112x64xf32>
    %1700 = stablehlo.add %1684, %1699 : tensor<8x112x112x64xf32>
    %cst_517 = stablehlo.constant dense<1.003520e+05> : tensor<f32>
    %1701 = stablehlo.broadcast_in_dim %cst_517, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %1702 = stablehlo.divide %1695, %1701 : tensor<64xf32>
    %1703 = stablehlo.broadcast_in_dim %1702, dims = [3] : (tensor<64xf32>) -> tensor<8x112x112x64xf32>
    %1704 = stablehlo.add %1700, %1703 : tensor<8x112x112x64xf32>
    %1705 = stablehlo.convolution(%arg164, %1704) dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f], window = {stride = [1, 1], pad = [[3, 2], [3, 2]], lhs_dilate = [1, 1], rhs_dilate = [2, 2], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<8x224x224x3xf32>, tensor<8x112x112x64xf32>) -> tensor<7x7x3x64xf32>
    %cst_518 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %1706 = stablehlo.broadcast_in_dim %cst_518, dims = [] : (tensor<f32>) -> tensor<1000xf32>
    %1707 = stablehlo.multiply %1706, %arg62 : tensor<1000xf32>
    %1708 = stablehlo.add %1707, %1053 : tensor<1000xf32>
    %cst_519 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %1709 = stablehlo.broadcast_in_dim %cst_519, dims = [] : (tensor<f32>) -> tensor<512x1000xf32>
    %1710 = stablehlo.multiply %1709, %arg63 : tensor<512x1000xf32>
    %1711 = stablehlo.add %1710, %1055 : tensor<512x1000xf32>
    %cst_520 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %1712 = stablehlo.broadcast_in_dim %cst_520, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %1713 = stablehlo.multiply %1712, %arg64 : tensor<64xf32>
    %1714 = stablehlo.add %1713, %1643 : tensor<64xf32>
    %cst_521 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %1715 = stablehlo.broadcast_in_dim %cst_521, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %1716 = stablehlo.multiply %1715, %arg65 : tensor<64xf32>
    %1717 = stablehlo.add %1716, %1655 : tensor<64xf32>
    %cst_522 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %1718 = stablehlo.broadcast_in_dim %cst_522, dims = [] : (tensor<f32>) -> tensor<3x3x64x64xf32>
    %1719 = stablehlo.multiply %1718, %arg66 : tensor<3x3x64x64xf32>
    %1720 = stablehlo.add %1719, %1669 : tensor<3x3x64x64xf32>
    %cst_523 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %1721 = stablehlo.broadcast_in_dim %cst_523, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %1722 = stablehlo.multiply %1721, %arg67 : tensor<64xf32>
    %1723 = stablehlo.add %1722, %1611 : tensor<64xf32>
    %cst_524 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %1724 = stablehlo.broadcast_in_dim %cst_524, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %1725 = stablehlo.multiply %1724, %arg68 : tensor<64xf32>
    %1726 = stablehlo.add %1725, %1623 : tensor<64xf32>
    %cst_525 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %1727 = stablehlo.broadcast_in_dim %cst_525, dims = [] : (tensor<f32>) -> tensor<3x3x64x64xf32>
    %1728 = stablehlo.multiply %1727, %arg69 : tensor<3x3x64x64xf32>
    %1729 = stablehlo.add %1728, %1637 : tensor<3x3x64x64xf32>
    %cst_526 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %1730 = stablehlo.broadcast_in_dim %cst_526, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %1731 = stablehlo.multiply %1730, %arg70 : tensor<64xf32>
    %1732 = stablehlo.add %1731, %1578 : tensor<64xf32>
    %cst_527 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %1733 = stablehlo.broadcast_in_dim %cst_527, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %1734 = stablehlo.multiply %1733, %arg71 : tensor<64xf32>
    %1735 = stablehlo.add %1734, %1590 : tensor<64xf32>
    %cst_528 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %1736 = stablehlo.broadcast_in_dim %cst_528, dims = [] : (tensor<f32>) -> tensor<3x3x64x64xf32>
    %1737 = stablehlo.multiply %1736, %arg72 : tensor<3x3x64x64xf32>
    %1738 = stablehlo.add %1737, %1604 : tensor<3x3x64x64xf32>
    %cst_529 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %1739 = stablehlo.broadcast_in_dim %cst_529, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %1740 = stablehlo.multiply %1739, %arg73 : tensor<64xf32>
    %1741 = stablehlo.add %1740, %1546 : tensor<64xf32>
    %cst_530 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %1742 = stablehlo.broadcast_in_dim %cst_530, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %1743 = stablehlo.multiply %1742, %arg74 : tensor<64xf32>
    %1744 = stablehlo.add %1743, %1558 : tensor<64xf32>
    %cst_531 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %1745 = stablehlo.broadcast_in_dim %cst_531, dims = [] : (tensor<f32>) -> tensor<3x3x64x64xf32>
    %1746 = stablehlo.multiply %1745, %arg75 : tensor<3x3x64x64xf32>
    %1747 = stablehlo.add %1746, %1572 : tensor<3x3x64x64xf32>
    %cst_532 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %1748 = stablehlo.broadcast_in_dim %cst_532, dims = [] : (tensor<f32>) -> tensor<128xf32>
    %1749 = stablehlo.multiply %1748, %arg76 : tensor<128xf32>
    %1750 = stablehlo.add %1749, %1513 : tensor<128xf32>
    %cst_533 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %1751 = stablehlo.broadcast_in_dim %cst_533, dims = [] : (tensor<f32>) -> tensor<128xf32>
    %1752 = stablehlo.multiply %1751, %arg77 : tensor<128xf32>
    %1753 = stablehlo.add %1752, %1525 : tensor<128xf32>
    %cst_534 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %1754 = stablehlo.broadcast_in_dim %cst_534, dims = [] : (tensor<f32>) -> tensor<3x3x64x128xf32>
    %1755 = stablehlo.multiply %1754, %arg78 : tensor<3x3x64x128xf32>
    %1756 = stablehlo.add %1755, %1539 : tensor<3x3x64x128xf32>
    %cst_535 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %1757 = stablehlo.broadcast_in_dim %cst_535, dims = [] : (tensor<f32>) -> tensor<128xf32>
    %1758 = stablehlo.multiply %1757, %arg79 : tensor<128xf32>
    %1759 = stablehlo.add %1758, %1481 : tensor<128xf32>
    %cst_536 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %1760 = stablehlo.broadcast_in_dim %cst_536, dims = [] : (tensor<f32>) -> tensor<128xf32>
    %1761 = stablehlo.multiply %1760, %arg80 : tensor<128xf32>
    %1762 = stablehlo.add %1761, %1493 : tensor<128xf32>
    %cst_537 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %1763 = stablehlo.broadcast_in_dim %cst_537, dims = [] : (tensor<f32>) -> tensor<3x3x128x128xf32>
    %1764 = stablehlo.multiply %1763, %arg81 : tensor<3x3x128x128xf32>
    %1765 = stablehlo.add %1764, %1507 : tensor<3x3x128x128xf32>
    %cst_538 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %1766 = stablehlo.broadcast_in_dim %cst_538, dims = [] : (tensor<f32>) -> tensor<128xf32>
    %1767 = stablehlo.multiply %1766, %arg82 : tensor<128xf32>
    %1768 = stablehlo.add %1767, %1450 : tensor<128xf32>
    %cst_539 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %1769 = stablehlo.broadcast_in_dim %cst_539, dims = [] : (tensor<f32>) -> tensor<128xf32>
    %1770 = stablehlo.multiply %1769, %arg83 : tensor<128xf32>
    %1771 = stablehlo.add %1770, %1462 : tensor<128xf32>
    %cst_540 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %1772 = stablehlo.broadcast_in_dim %cst_540, dims = [] : (tensor<f32>) -> tensor<1x1x64x128xf32>
    %1773 = stablehlo.multiply %1772, %arg84 : tensor<1x1x64x128xf32>
    %1774 = stablehlo.add %1773, %1476 : tensor<1x1x64x128xf32>
    %cst_541 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %1775 = stablehlo.broadcast_in_dim %cst_541, dims = [] : (tensor<f32>) -> tensor<128xf32>
    %1776 = stablehlo.multiply %1775, %arg85 : tensor<128xf32>
    %1777 = stablehlo.add %1776, %1417 : tensor<128xf32>
    %cst_542 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %1778 = stablehlo.broadcast_in_dim %cst_542, dims = [] : (tensor<f32>) -> tensor<128xf32>
    %1779 = stablehlo.multiply %1778, %arg86 : tensor<128xf32>
    %1780 = stablehlo.add %1779, %1429 : tensor<128xf32>
    %cst_543 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %1781 = stablehlo.broadcast_in_dim %cst_543, dims = [] : (tensor<f32>) -> tensor<3x3x128x128xf32>
    %1782 = stablehlo.multiply %1781, %arg87 : tensor<3x3x128x128xf32>
    %1783 = stablehlo.add %1782, %1443 : tensor<3x3x128x128xf32>
    %cst_544 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %1784 = stablehlo.broadcast_in_dim %cst_544, dims = [] : (tensor<f32>) -> tensor<128xf32>
    %1785 = stablehlo.multiply %1784, %arg88 : tensor<128xf32>
    %1786 = stablehlo.add %1785, %1385 : tensor<128xf32>
    %cst_545 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %1787 = stablehlo.broadcast_in_dim %cst_545, dims = [] : (tensor<f32>) -> tensor<128xf32>
    %1788 = stablehlo.multiply %1787, %arg89 : tensor<128xf32>
    %1789 = stablehlo.add %1788, %1397 : tensor<128xf32>
    %cst_546 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %1790 = stablehlo.broadcast_in_dim %cst_546, dims = [] : (tensor<f32>) -> tensor<3x3x128x128xf32>
    %1791 = stablehlo.multiply %1790, %arg90 : tensor<3x3x128x128xf32>
    %1792 = stablehlo.add %1791, %1411 : tensor<3x3x128x128xf32>
    %cst_547 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %1793 = stablehlo.broadcast_in_dim %cst_547, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %1794 = stablehlo.multiply %1793, %arg91 : tensor<256xf32>
    %1795 = stablehlo.add %1794, %1352 : tensor<256xf32>
    %cst_548 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %1796 = stablehlo.broadcast_in_dim %cst_548, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %1797 = stablehlo.multiply %1796, %arg92 : tensor<256xf32>
    %1798 = stablehlo.add %1797, %1364 : tensor<256xf32>
    %cst_549 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %1799 = stablehlo.broadcast_in_dim %cst_549, dims = [] : (tensor<f32>) -> tensor<3x3x128x256xf32>
    %1800 = stablehlo.multiply %1799, %arg93 : tensor<3x3x128x256xf32>
    %1801 = stablehlo.add %1800, %1378 : tensor<3x3x128x256xf32>
    %cst_550 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %1802 = stablehlo.broadcast_in_dim %cst_550, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %1803 = stablehlo.multiply %1802, %arg94 : tensor<256xf32>
    %1804 = stablehlo.add %1803, %1320 : tensor<256xf32>
    %cst_551 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %1805 = stablehlo.broadcast_in_dim %cst_551, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %1806 = stablehlo.multiply %1805, %arg95 : tensor<256xf32>
    %1807 = stablehlo.add %1806, %1332 : tensor<256xf32>
    %cst_552 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %1808 = stablehlo.broadcast_in_dim %cst_552, dims = [] : (tensor<f32>) -> tensor<3x3x256x256xf32>
    %1809 = stablehlo.multiply %1808, %arg96 : tensor<3x3x256x256xf32>
    %1810 = stablehlo.add %1809, %1346 : tensor<3x3x256x256xf32>
    %cst_553 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %1811 = stablehlo.broadcast_in_dim %cst_553, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %1812 = stablehlo.multiply %1811, %arg97 : tensor<256xf32>
    %1813 = stablehlo.add %1812, %1289 : tensor<256xf32>
    %cst_554 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %1814 = stablehlo.broadcast_in_dim %cst_554, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %1815 = stablehlo.multiply %1814, %arg98 : tensor<256xf32>
    %1816 = stablehlo.add %1815, %1301 : tensor<256xf32>
    %cst_555 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %1817 = stablehlo.broadcast_in_dim %cst_555, dims = [] : (tensor<f32>) -> tensor<1x1x128x256xf32>
    %1818 = stablehlo.multiply %1817, %arg99 : tensor<1x1x128x256xf32>
    %1819 = stablehlo.add %1818, %1315 : tensor<1x1x128x256xf32>
    %cst_556 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %1820 = stablehlo.broadcast_in_dim %cst_556, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %1821 = stablehlo.multiply %1820, %arg100 : tensor<256xf32>
    %1822 = stablehlo.add %1821, %1256 : tensor<256xf32>
    %cst_557 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %1823 = stablehlo.broadcast_in_dim %cst_557, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %1824 = stablehlo.multiply %1823, %arg101 : tensor<256xf32>
    %1825 = stablehlo.add %1824, %1268 : tensor<256xf32>
    %cst_558 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %1826 = stablehlo.broadcast_in_dim %cst_558, dims = [] : (tensor<f32>) -> tensor<3x3x256x256xf32>
    %1827 = stablehlo.multiply %1826, %arg102 : tensor<3x3x256x256xf32>
    %1828 = stablehlo.add %1827, %1282 : tensor<3x3x256x256xf32>
    %cst_559 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %1829 = stablehlo.broadcast_in_dim %cst_559, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %1830 = stablehlo.multiply %1829, %arg103 : tensor<256xf32>
    %1831 = stablehlo.add %1830, %1224 : tensor<256xf32>
    %cst_560 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %1832 = stablehlo.broadcast_in_dim %cst_560, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %1833 = stablehlo.multiply %1832, %arg104 : tensor<256xf32>
    %1834 = stablehlo.add %1833, %1236 : tensor<256xf32>
    %cst_561 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %1835 = stablehlo.broadcast_in_dim %cst_561, dims = [] : (tensor<f32>) -> tensor<3x3x256x256xf32>
    %1836 = stablehlo.multiply %1835, %arg105 : tensor<3x3x256x256xf32>
    %1837 = stablehlo.add %1836, %1250 : tensor<3x3x256x256xf32>
    %cst_562 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %1838 = stablehlo.broadcast_in_dim %cst_562, dims = [] : (tensor<f32>) -> tensor<512xf32>
    %1839 = stablehlo.multiply %1838, %arg106 : tensor<512xf32>
    %1840 = stablehlo.add %1839, %1191 : tensor<512xf32>
    %cst_563 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %1841 = stablehlo.broadcast_in_dim %cst_563, dims = [] : (tensor<f32>) -> tensor<512xf32>
    %1842 = stablehlo.multiply %1841, %arg107 : tensor<512xf32>
    %1843 = stablehlo.add %1842, %1203 : tensor<512xf32>
    %cst_564 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %1844 = stablehlo.broadcast_in_dim %cst_564, dims = [] : (tensor<f32>) -> tensor<3x3x256x512xf32>
    %1845 = stablehlo.multiply %1844, %arg108 : tensor<3x3x256x512xf32>
    %1846 = stablehlo.add %1845, %1217 : tensor<3x3x256x512xf32>
    %cst_565 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %1847 = stablehlo.broadcast_in_dim %cst_565, dims = [] : (tensor<f32>) -> tensor<512xf32>
    %1848 = stablehlo.multiply %1847, %arg109 : tensor<512xf32>
    %1849 = stablehlo.add %1848, %1159 : tensor<512xf32>
    %cst_566 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %1850 = stablehlo.broadcast_in_dim %cst_566, dims = [] : (tensor<f32>) -> tensor<512xf32>
    %1851 = stablehlo.multiply %1850, %arg110 : tensor<512xf32>
    %1852 = stablehlo.add %1851, %1171 : tensor<512xf32>
    %cst_567 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %1853 = stablehlo.broadcast_in_dim %cst_567, dims = [] : (tensor<f32>) -> tensor<3x3x512x512xf32>
    %1854 = stablehlo.multiply %1853, %arg111 : tensor<3x3x512x512xf32>
    %1855 = stablehlo.add %1854, %1185 : tensor<3x3x512x512xf32>
    %cst_568 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %1856 = stablehlo.broadcast_in_dim %cst_568, dims = [] : (tensor<f32>) -> tensor<512xf32>
    %1857 = stablehlo.multiply %1856, %arg112 : tensor<512xf32>
    %1858 = stablehlo.add %1857, %1128 : tensor<512xf32>
    %cst_569 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %1859 = stablehlo.broadcast_in_dim %cst_569, dims = [] : (tensor<f32>) -> tensor<512xf32>
    %1860 = stablehlo.multiply %1859, %arg113 : tensor<512xf32>
    %1861 = stablehlo.add %1860, %1140 : tensor<512xf32>
    %cst_570 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %1862 = stablehlo.broadcast_in_dim %cst_570, dims = [] : (tensor<f32>) -> tensor<1x1x256x512xf32>
    %1863 = stablehlo.multiply %1862, %arg114 : tensor<1x1x256x512xf32>
    %1864 = stablehlo.add %1863, %1154 : tensor<1x1x256x512xf32>
    %cst_571 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %1865 = stablehlo.broadcast_in_dim %cst_571, dims = [] : (tensor<f32>) -> tensor<512xf32>
    %1866 = stablehlo.multiply %1865, %arg115 : tensor<512xf32>
    %1867 = stablehlo.add %1866, %1095 : tensor<512xf32>
    %cst_572 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %1868 = stablehlo.broadcast_in_dim %cst_572, dims = [] : (tensor<f32>) -> tensor<512xf32>
    %1869 = stablehlo.multiply %1868, %arg116 : tensor<512xf32>
    %1870 = stablehlo.add %1869, %1107 : tensor<512xf32>
    %cst_573 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %1871 = stablehlo.broadcast_in_dim %cst_573, dims = [] : (tensor<f32>) -> tensor<3x3x512x512xf32>
    %1872 = stablehlo.multiply %1871, %arg117 : tensor<3x3x512x512xf32>
    %1873 = stablehlo.add %1872, %1121 : tensor<3x3x512x512xf32>
    %cst_574 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %1874 = stablehlo.broadcast_in_dim %cst_574, dims = [] : (tensor<f32>) -> tensor<512xf32>
    %1875 = stablehlo.multiply %1874, %arg118 : tensor<512xf32>
    %1876 = stablehlo.add %1875, %1063 : tensor<512xf32>
    %cst_575 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %1877 = stablehlo.broadcast_in_dim %cst_575, dims = [] : (tensor<f32>) -> tensor<512xf32>
    %1878 = stablehlo.multiply %1877, %arg119 : tensor<512xf32>
    %1879 = stablehlo.add %1878, %1075 : tensor<512xf32>
    %cst_576 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %1880 = stablehlo.broadcast_in_dim %cst_576, dims = [] : (tensor<f32>) -> tensor<3x3x512x512xf32>
    %1881 = stablehlo.multiply %1880, %arg120 : tensor<3x3x512x512xf32>
    %1882 = stablehlo.add %1881, %1089 : tensor<3x3x512x512xf32>
    %cst_577 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %1883 = stablehlo.broadcast_in_dim %cst_577, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %1884 = stablehlo.multiply %1883, %arg121 : tensor<64xf32>
    %1885 = stablehlo.add %1884, %1679 : tensor<64xf32>
    %cst_578 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %1886 = stablehlo.broadcast_in_dim %cst_578, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %1887 = stablehlo.multiply %1886, %arg122 : tensor<64xf32>
    %1888 = stablehlo.add %1887, %1691 : tensor<64xf32>
    %cst_579 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %1889 = stablehlo.broadcast_in_dim %cst_579, dims = [] : (tensor<f32>) -> tensor<7x7x3x64xf32>
    %1890 = stablehlo.multiply %1889, %arg123 : tensor<7x7x3x64xf32>
    %1891 = stablehlo.add %1890, %1705 : tensor<7x7x3x64xf32>
    %cst_580 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %1892 = stablehlo.broadcast_in_dim %cst_580, dims = [] : (tensor<f32>) -> tensor<1000xf32>
    %1893 = stablehlo.multiply %1892, %1708 : tensor<1000xf32>
    %1894 = stablehlo.subtract %arg0, %1893 : tensor<1000xf32>
    %cst_581 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %1895 = stablehlo.broadcast_in_dim %cst_581, dims = [] : (tensor<f32>) -> tensor<512x1000xf32>
    %1896 = stablehlo.multiply %1895, %1711 : tensor<512x1000xf32>
    %1897 = stablehlo.subtract %arg1, %1896 : tensor<512x1000xf32>
    %cst_582 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %1898 = stablehlo.broadcast_in_dim %cst_582, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %1899 = stablehlo.multiply %1898, %1714 : tensor<64xf32>
    %1900 = stablehlo.subtract %arg2, %1899 : tensor<64xf32>
    %cst_583 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %1901 = stablehlo.broadcast_in_dim %cst_583, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %1902 = stablehlo.multiply %1901, %1717 : tensor<64xf32>
    %1903 = stablehlo.subtract %arg3, %1902 : tensor<64xf32>
    %cst_584 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %1904 = stablehlo.broadcast_in_dim %cst_584, dims = [] : (tensor<f32>) -> tensor<3x3x64x64xf32>
    %1905 = stablehlo.multiply %1904, %1720 : tensor<3x3x64x64xf32>
    %1906 = stablehlo.subtract %arg4, %1905 : tensor<3x3x64x64xf32>
    %cst_585 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %1907 = stablehlo.broadcast_in_dim %cst_585, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %1908 = stablehlo.multiply %1907, %1723 : tensor<64xf32>
    %1909 = stablehlo.subtract %arg5, %1908 : tensor<64xf32>
    %cst_586 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %1910 = stablehlo.broadcast_in_dim %cst_586, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %1911 = stablehlo.multiply %1910, %1726 : tensor<64xf32>
    %1912 = stablehlo.subtract %arg6, %1911 : tensor<64xf32>
    %cst_587 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %1913 = stablehlo.broadcast_in_dim %cst_587, dims = [] : (tensor<f32>) -> tensor<3x3x64x64xf32>
    %1914 = stablehlo.multiply %1913, %1729 : tensor<3x3x64x64xf32>
    %1915 = stablehlo.subtract %arg7, %1914 : tensor<3x3x64x64xf32>
    %cst_588 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %1916 = stablehlo.broadcast_in_dim %cst_588, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %1917 = stablehlo.multiply %1916, %1732 : tensor<64xf32>
    %1918 = stablehlo.subtract %arg8, %1917 : tensor<64xf32>
    %cst_589 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %1919 = stablehlo.broadcast_in_dim %cst_589, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %1920 = stablehlo.multiply %1919, %1735 : tensor<64xf32>
    %1921 = stablehlo.subtract %arg9, %1920 : tensor<64xf32>
    %cst_590 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %1922 = stablehlo.broadcast_in_dim %cst_590, dims = [] : (tensor<f32>) -> tensor<3x3x64x64xf32>
    %1923 = stablehlo.multiply %1922, %1738 : tensor<3x3x64x64xf32>
    %1924 = stablehlo.subtract %arg10, %1923 : tensor<3x3x64x64xf32>
    %cst_591 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %1925 = stablehlo.broadcast_in_dim %cst_591, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %1926 = stablehlo.multiply %1925, %1741 : tensor<64xf32>
    %1927 = stablehlo.subtract %arg11, %1926 : tensor<64xf32>
    %cst_592 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %1928 = stablehlo.broadcast_in_dim %cst_592, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %1929 = stablehlo.multiply %1928, %1744 : tensor<64xf32>
    %1930 = stablehlo.subtract %arg12, %1929 : tensor<64xf32>
    %cst_593 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %1931 = stablehlo.broadcast_in_dim %cst_593, dims = [] : (tensor<f32>) -> tensor<3x3x64x64xf32>
    %1932 = stablehlo.multiply %1931, %1747 : tensor<3x3x64x64xf32>
    %1933 = stablehlo.subtract %arg13, %1932 : tensor<3x3x64x64xf32>
    %cst_594 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %1934 = stablehlo.broadcast_in_dim %cst_594, dims = [] : (tensor<f32>) -> tensor<128xf32>
    %1935 = stablehlo.multiply %1934, %1750 : tensor<128xf32>
    %1936 = stablehlo.subtract %arg14, %1935 : tensor<128xf32>
    %cst_595 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %1937 = stablehlo.broadcast_in_dim %cst_595, dims = [] : (tensor<f32>) -> tensor<128xf32>
    %1938 = stablehlo.multiply %1937, %1753 : tensor<128xf32>
    %1939 = stablehlo.subtract %arg15, %1938 : tensor<128xf32>
    %cst_596 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %1940 = stablehlo.broadcast_in_dim %cst_596, dims = [] : (tensor<f32>) -> tensor<3x3x64x128xf32>
    %1941 = stablehlo.multiply %1940, %1756 : tensor<3x3x64x128xf32>
    %1942 = stablehlo.subtract %arg16, %1941 : tensor<3x3x64x128xf32>
    %cst_597 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %1943 = stablehlo.broadcast_in_dim %cst_597, dims = [] : (tensor<f32>) -> tensor<128xf32>
    %1944 = stablehlo.multiply %1943, %1759 : tensor<128xf32>
    %1945 = stablehlo.subtract %arg17, %1944 : tensor<128xf32>
    %cst_598 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %1946 = stablehlo.broadcast_in_dim %cst_598, dims = [] : (tensor<f32>) -> tensor<128xf32>
    %1947 = stablehlo.multiply %1946, %1762 : tensor<128xf32>
    %1948 = stablehlo.subtract %arg18, %1947 : tensor<128xf32>
    %cst_599 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %1949 = stablehlo.broadcast_in_dim %cst_599, dims = [] : (tensor<f32>) -> tensor<3x3x128x128xf32>
    %1950 = stablehlo.multiply %1949, %1765 : tensor<3x3x128x128xf32>
    %1951 = stablehlo.subtract %arg19, %1950 : tensor<3x3x128x128xf32>
    %cst_600 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %1952 = stablehlo.broadcast_in_dim %cst_600, dims = [] : (tensor<f32>) -> tensor<128xf32>
    %1953 = stablehlo.multiply %1952, %1768 : tensor<128xf32>
    %1954 = stablehlo.subtract %arg20, %1953 : tensor<128xf32>
    %cst_601 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %1955 = stablehlo.broadcast_in_dim %cst_601, dims = [] : (tensor<f32>) -> tensor<128xf32>
    %1956 = stablehlo.multiply %1955, %1771 : tensor<128xf32>
    %1957 = stablehlo.subtract %arg21, %1956 : tensor<128xf32>
    %cst_602 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %1958 = stablehlo.broadcast_in_dim %cst_602, dims = [] : (tensor<f32>) -> tensor<1x1x64x128xf32>
    %1959 = stablehlo.multiply %1958, %1774 : tensor<1x1x64x128xf32>
    %1960 = stablehlo.subtract %arg22, %1959 : tensor<1x1x64x128xf32>
    %cst_603 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %1961 = stablehlo.broadcast_in_dim %cst_603, dims = [] : (tensor<f32>) -> tensor<128xf32>
    %1962 = stablehlo.multiply %1961, %1777 : tensor<128xf32>
    %1963 = stablehlo.subtract %arg23, %1962 : tensor<128xf32>
    %cst_604 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %1964 = stablehlo.broadcast_in_dim %cst_604, dims = [] : (tensor<f32>) -> tensor<128xf32>
    %1965 = stablehlo.multiply %1964, %1780 : tensor<128xf32>
    %1966 = stablehlo.subtract %arg24, %1965 : tensor<128xf32>
    %cst_605 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %1967 = stablehlo.broadcast_in_dim %cst_605, dims = [] : (tensor<f32>) -> tensor<3x3x128x128xf32>
    %1968 = stablehlo.multiply %1967, %1783 : tensor<3x3x128x128xf32>
    %1969 = stablehlo.subtract %arg25, %1968 : tensor<3x3x128x128xf32>
    %cst_606 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %1970 = stablehlo.broadcast_in_dim %cst_606, dims = [] : (tensor<f32>) -> tensor<128xf32>
    %1971 = stablehlo.multiply %1970, %1786 : tensor<128xf32>
    %1972 = stablehlo.subtract %arg26, %1971 : tensor<128xf32>
    %cst_607 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %1973 = stablehlo.broadcast_in_dim %cst_607, dims = [] : (tensor<f32>) -> tensor<128xf32>
    %1974 = stablehlo.multiply %1973, %1789 : tensor<128xf32>
    %1975 = stablehlo.subtract %arg27, %1974 : tensor<128xf32>
    %cst_608 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %1976 = stablehlo.broadcast_in_dim %cst_608, dims = [] : (tensor<f32>) -> tensor<3x3x128x128xf32>
    %1977 = stablehlo.multiply %1976, %1792 : tensor<3x3x128x128xf32>
    %1978 = stablehlo.subtract %arg28, %1977 : tensor<3x3x128x128xf32>
    %cst_609 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %1979 = stablehlo.broadcast_in_dim %cst_609, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %1980 = stablehlo.multiply %1979, %1795 : tensor<256xf32>
    %1981 = stablehlo.subtract %arg29, %1980 : tensor<256xf32>
    %cst_610 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %1982 = stablehlo.broadcast_in_dim %cst_610, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %1983 = stablehlo.multiply %1982, %1798 : tensor<256xf32>
    %1984 = stablehlo.subtract %arg30, %1983 : tensor<256xf32>
    %cst_611 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %1985 = stablehlo.broadcast_in_dim %cst_611, dims = [] : (tensor<f32>) -> tensor<3x3x128x256xf32>
    %1986 = stablehlo.multiply %1985, %1801 : tensor<3x3x128x256xf32>
    %1987 = stablehlo.subtract %arg31, %1986 : tensor<3x3x128x256xf32>
    %cst_612 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %1988 = stablehlo.broadcast_in_dim %cst_612, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %1989 = stablehlo.multiply %1988, %1804 : tensor<256xf32>
    %1990 = stablehlo.subtract %arg32, %1989 : tensor<256xf32>
    %cst_613 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %1991 = stablehlo.broadcast_in_dim %cst_613, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %1992 = stablehlo.multiply %1991, %1807 : tensor<256xf32>
    %1993 = stablehlo.subtract %arg33, %1992 : tensor<256xf32>
    %cst_614 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %1994 = stablehlo.broadcast_in_dim %cst_614, dims = [] : (tensor<f32>) -> tensor<3x3x256x256xf32>
    %1995 = stablehlo.multiply %1994, %1810 : tensor<3x3x256x256xf32>
    %1996 = stablehlo.subtract %arg34, %1995 : tensor<3x3x256x256xf32>
    %cst_615 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %1997 = stablehlo.broadcast_in_dim %cst_615, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %1998 = stablehlo.multiply %1997, %1813 : tensor<256xf32>
    %1999 = stablehlo.subtract %arg35, %1998 : tensor<256xf32>
    %cst_616 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %2000 = stablehlo.broadcast_in_dim %cst_616, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %2001 = stablehlo.multiply %2000, %1816 : tensor<256xf32>
    %2002 = stablehlo.subtract %arg36, %2001 : tensor<256xf32>
    %cst_617 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %2003 = stablehlo.broadcast_in_dim %cst_617, dims = [] : (tensor<f32>) -> tensor<1x1x128x256xf32>
    %2004 = stablehlo.multiply %2003, %1819 : tensor<1x1x128x256xf32>
    %2005 = stablehlo.subtract %arg37, %2004 : tensor<1x1x128x256xf32>
    %cst_618 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %2006 = stablehlo.broadcast_in_dim %cst_618, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %2007 = stablehlo.multiply %2006, %1822 : tensor<256xf32>
    %2008 = stablehlo.subtract %arg38, %2007 : tensor<256xf32>
    %cst_619 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %2009 = stablehlo.broadcast_in_dim %cst_619, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %2010 = stablehlo.multiply %2009, %1825 : tensor<256xf32>
    %2011 = stablehlo.subtract %arg39, %2010 : tensor<256xf32>
    %cst_620 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %2012 = stablehlo.broadcast_in_dim %cst_620, dims = [] : (tensor<f32>) -> tensor<3x3x256x256xf32>
    %2013 = stablehlo.multiply %2012, %1828 : tensor<3x3x256x256xf32>
    %2014 = stablehlo.subtract %arg40, %2013 : tensor<3x3x256x256xf32>
    %cst_621 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %2015 = stablehlo.broadcast_in_dim %cst_621, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %2016 = stablehlo.multiply %2015, %1831 : tensor<256xf32>
    %2017 = stablehlo.subtract %arg41, %2016 : tensor<256xf32>
    %cst_622 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %2018 = stablehlo.broadcast_in_dim %cst_622, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %2019 = stablehlo.multiply %2018, %1834 : tensor<256xf32>
    %2020 = stablehlo.subtract %arg42, %2019 : tensor<256xf32>
    %cst_623 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %2021 = stablehlo.broadcast_in_dim %cst_623, dims = [] : (tensor<f32>) -> tensor<3x3x256x256xf32>
    %2022 = stablehlo.multiply %2021, %1837 : tensor<3x3x256x256xf32>
    %2023 = stablehlo.subtract %arg43, %2022 : tensor<3x3x256x256xf32>
    %cst_624 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %2024 = stablehlo.broadcast_in_dim %cst_624, dims = [] : (tensor<f32>) -> tensor<512xf32>
    %2025 = stablehlo.multiply %2024, %1840 : tensor<512xf32>
    %2026 = stablehlo.subtract %arg44, %2025 : tensor<512xf32>
    %cst_625 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %2027 = stablehlo.broadcast_in_dim %cst_625, dims = [] : (tensor<f32>) -> tensor<512xf32>
    %2028 = stablehlo.multiply %2027, %1843 : tensor<512xf32>
    %2029 = stablehlo.subtract %arg45, %2028 : tensor<512xf32>
    %cst_626 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %2030 = stablehlo.broadcast_in_dim %cst_626, dims = [] : (tensor<f32>) -> tensor<3x3x256x512xf32>
    %2031 = stablehlo.multiply %2030, %1846 : tensor<3x3x256x512xf32>
    %2032 = stablehlo.subtract %arg46, %2031 : tensor<3x3x256x512xf32>
    %cst_627 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %2033 = stablehlo.broadcast_in_dim %cst_627, dims = [] : (tensor<f32>) -> tensor<512xf32>
    %2034 = stablehlo.multiply %2033, %1849 : tensor<512xf32>
    %2035 = stablehlo.subtract %arg47, %2034 : tensor<512xf32>
    %cst_628 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %2036 = stablehlo.broadcast_in_dim %cst_628, dims = [] : (tensor<f32>) -> tensor<512xf32>
    %2037 = stablehlo.multiply %2036, %1852 : tensor<512xf32>
    %2038 = stablehlo.subtract %arg48, %2037 : tensor<512xf32>
    %cst_629 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %2039 = stablehlo.broadcast_in_dim %cst_629, dims = [] : (tensor<f32>) -> tensor<3x3x512x512xf32>
    %2040 = stablehlo.multiply %2039, %1855 : tensor<3x3x512x512xf32>
    %2041 = stablehlo.subtract %arg49, %2040 : tensor<3x3x512x512xf32>
    %cst_630 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %2042 = stablehlo.broadcast_in_dim %cst_630, dims = [] : (tensor<f32>) -> tensor<512xf32>
    %2043 = stablehlo.multiply %2042, %1858 : tensor<512xf32>
    %2044 = stablehlo.subtract %arg50, %2043 : tensor<512xf32>
    %cst_631 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %2045 = stablehlo.broadcast_in_dim %cst_631, dims = [] : (tensor<f32>) -> tensor<512xf32>
    %2046 = stablehlo.multiply %2045, %1861 : tensor<512xf32>
    %2047 = stablehlo.subtract %arg51, %2046 : tensor<512xf32>
    %cst_632 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %2048 = stablehlo.broadcast_in_dim %cst_632, dims = [] : (tensor<f32>) -> tensor<1x1x256x512xf32>
    %2049 = stablehlo.multiply %2048, %1864 : tensor<1x1x256x512xf32>
    %2050 = stablehlo.subtract %arg52, %2049 : tensor<1x1x256x512xf32>
    %cst_633 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %2051 = stablehlo.broadcast_in_dim %cst_633, dims = [] : (tensor<f32>) -> tensor<512xf32>
    %2052 = stablehlo.multiply %2051, %1867 : tensor<512xf32>
    %2053 = stablehlo.subtract %arg53, %2052 : tensor<512xf32>
    %cst_634 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %2054 = stablehlo.broadcast_in_dim %cst_634, dims = [] : (tensor<f32>) -> tensor<512xf32>
    %2055 = stablehlo.multiply %2054, %1870 : tensor<512xf32>
    %2056 = stablehlo.subtract %arg54, %2055 : tensor<512xf32>
    %cst_635 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %2057 = stablehlo.broadcast_in_dim %cst_635, dims = [] : (tensor<f32>) -> tensor<3x3x512x512xf32>
    %2058 = stablehlo.multiply %2057, %1873 : tensor<3x3x512x512xf32>
    %2059 = stablehlo.subtract %arg55, %2058 : tensor<3x3x512x512xf32>
    %cst_636 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %2060 = stablehlo.broadcast_in_dim %cst_636, dims = [] : (tensor<f32>) -> tensor<512xf32>
    %2061 = stablehlo.multiply %2060, %1876 : tensor<512xf32>
    %2062 = stablehlo.subtract %arg56, %2061 : tensor<512xf32>
    %cst_637 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %2063 = stablehlo.broadcast_in_dim %cst_637, dims = [] : (tensor<f32>) -> tensor<512xf32>
    %2064 = stablehlo.multiply %2063, %1879 : tensor<512xf32>
    %2065 = stablehlo.subtract %arg57, %2064 : tensor<512xf32>
    %cst_638 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %2066 = stablehlo.broadcast_in_dim %cst_638, dims = [] : (tensor<f32>) -> tensor<3x3x512x512xf32>
    %2067 = stablehlo.multiply %2066, %1882 : tensor<3x3x512x512xf32>
    %2068 = stablehlo.subtract %arg58, %2067 : tensor<3x3x512x512xf32>
    %cst_639 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %2069 = stablehlo.broadcast_in_dim %cst_639, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %2070 = stablehlo.multiply %2069, %1885 : tensor<64xf32>
    %2071 = stablehlo.subtract %arg59, %2070 : tensor<64xf32>
    %cst_640 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %2072 = stablehlo.broadcast_in_dim %cst_640, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %2073 = stablehlo.multiply %2072, %1888 : tensor<64xf32>
    %2074 = stablehlo.subtract %arg60, %2073 : tensor<64xf32>
    %cst_641 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %2075 = stablehlo.broadcast_in_dim %cst_641, dims = [] : (tensor<f32>) -> tensor<7x7x3x64xf32>
    %2076 = stablehlo.multiply %2075, %1891 : tensor<7x7x3x64xf32>
    %2077 = stablehlo.subtract %arg61, %2076 : tensor<7x7x3x64xf32>
    return %1038, %1894, %1897, %1900, %1903, %1906, %1909, %1912, %1915, %1918, %1921, %1924, %1927, %1930, %1933, %1936, %1939, %1942, %1945, %1948, %1951, %1954, %1957, %1960, %1963, %1966, %1969, %1972, %1975, %1978, %1981, %1984, %1987, %1990, %1993, %1996, %1999, %2002, %2005, %2008, %2011, %2014, %2017, %2020, %2023, %2026, %2029, %2032, %2035, %2038, %2041, %2044, %2047, %2050, %2053, %2056, %2059, %2062, %2065, %2068, %2071, %2074, %2077, %1708, %1711, %1714, %1717, %1720, %1723, %1726, %1729, %1732, %1735, %1738, %1741, %1744, %1747, %1750, %1753, %1756, %1759, %1762, %1765, %1768, %1771, %1774, %1777, %1780, %1783, %1786, %1789, %1792, %1795, %1798, %1801, %1804, %1807, %1810, %1813, %1816, %1819, %1822, %1825, %1828, %1831, %1834, %1837, %1840, %1843, %1846, %1849, %1852, %1855, %1858, %1861, %1864, %1867, %1870, %1873, %1876, %1879, %1882, %1885, %1888, %1891, %72, %77, %124, %129, %177, %182, %229, %234, %282, %287, %334, %339, %374, %379, %427, %432, %479, %484, %532, %537, %584, %589, %624, %629, %677, %682, %729, %734, %782, %787, %834, %839, %874, %879, %927, %932, %979, %984, %18, %23 : tensor<f32>, tensor<1000xf32>, tensor<512x1000xf32>, tensor<64xf32>, tensor<64xf32>, tensor<3x3x64x64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<3x3x64x64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<3x3x64x64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<3x3x64x64xf32>, tensor<128xf32>, tensor<128xf32>, tensor<3x3x64x128xf32>, tensor<128xf32>, tensor<128xf32>, tensor<3x3x128x128xf32>, tensor<128xf32>, tensor<128xf32>, tensor<1x1x64x128xf32>, tensor<128xf32>, tensor<128xf32>, tensor<3x3x128x128xf32>, tensor<128xf32>, tensor<128xf32>, tensor<3x3x128x128xf32>, tensor<256xf32>, tensor<256xf32>, tensor<3x3x128x256xf32>, tensor<256xf32>, tensor<256xf32>, tensor<3x3x256x256xf32>, tensor<256xf32>, tensor<256xf32>, tensor<1x1x128x256xf32>, tensor<256xf32>, tensor<256xf32>, tensor<3x3x256x256xf32>, tensor<256xf32>, tensor<256xf32>, tensor<3x3x256x256xf32>, tensor<512xf32>, tensor<512xf32>, tensor<3x3x256x512xf32>, tensor<512xf32>, tensor<512xf32>, tensor<3x3x512x512xf32>, tensor<512xf32>, tensor<512xf32>, tensor<1x1x256x512xf32>, tensor<512xf32>, tensor<512xf32>, tensor<3x3x512x512xf32>, tensor<512xf32>, tensor<512xf32>, tensor<3x3x512x512xf32>, tensor<64xf32>, tensor<64xf32>, tensor<7x7x3x64xf32>, tensor<1000xf32>, tensor<512x1000xf32>, tensor<64xf32>, tensor<64xf32>, tensor<3x3x64x64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<3x3x64x64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<3x3x64x64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<3x3x64x64xf32>, tensor<128xf32>, tensor<128xf32>, tensor<3x3x64x128xf32>, tensor<128xf32>, tensor<128xf32>, tensor<3x3x128x128xf32>, tensor<128xf32>, tensor<128xf32>, tensor<1x1x64x128xf32>, tensor<128xf32>, tensor<128xf32>, tensor<3x3x128x128xf32>, tensor<128xf32>, tensor<128xf32>, tensor<3x3x128x128xf32>, tensor<256xf32>, tensor<256xf32>, tensor<3x3x128x256xf32>, tensor<256xf32>, tensor<256xf32>, tensor<3x3x256x256xf32>, tensor<256xf32>, tensor<256xf32>, tensor<1x1x128x256xf32>, tensor<256xf32>, tensor<256xf32>, tensor<3x3x256x256xf32>, tensor<256xf32>, tensor<256xf32>, tensor<3x3x256x256xf32>, tensor<512xf32>, tensor<512xf32>, tensor<3x3x256x512xf32>, tensor<512xf32>, tensor<512xf32>, tensor<3x3x512x512xf32>, tensor<512xf32>, tensor<512xf32>, tensor<1x1x256x512xf32>, tensor<512xf32>, tensor<512xf32>, tensor<3x3x512x512xf32>, tensor<512xf32>, tensor<512xf32>, tensor<3x3x512x512xf32>, tensor<64xf32>, tensor<64xf32>, tensor<7x7x3x64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<128xf32>, tensor<128xf32>, tensor<128xf32>, tensor<128xf32>, tensor<128xf32>, tensor<128xf32>, tensor<128xf32>, tensor<128xf32>, tensor<128xf32>, tensor<128xf32>, tensor<256xf32>, tensor<256xf32>, tensor<256xf32>, tensor<256xf32>, tensor<256xf32>, tensor<256xf32>, tensor<256xf32>, tensor<256xf32>, tensor<256xf32>, tensor<256xf32>, tensor<512xf32>, tensor<512xf32>, tensor<512xf32>, tensor<512xf32>, tensor<512xf32>, tensor<512xf32>, tensor<512xf32>, tensor<512xf32>, tensor<512xf32>, tensor<512xf32>, tensor<64xf32>, tensor<64xf32>
  }
  func.func private @_where(%arg0: tensor<8x1000xi1>, %arg1: tensor<8x1000xf32>, %arg2: tensor<f32>) -> tensor<8x1000xf32> {
    %0 = stablehlo.convert %arg2 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<8x1000xf32>
    %2 = stablehlo.select %arg0, %arg1, %1 : tensor<8x1000xi1>, tensor<8x1000xf32>
    return %2 : tensor<8x1000xf32>
  }
  func.func private @_where_0(%arg0: tensor<8x1000xi1>, %arg1: tensor<8x1000xf32>) -> tensor<8x1000xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8x1000xf32>
    %1 = stablehlo.select %arg0, %arg1, %0 : tensor<8x1000xi1>, tensor<8x1000xf32>
    return %1 : tensor<8x1000xf32>
  }
}
