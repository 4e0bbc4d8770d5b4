module @jit_loops attributes {jax.uses_shape_polymorphism = true, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<?x3xf32>) -> (tensor<3xf32> {jax.result_info = "result[0]"}, tensor<3xf32> {jax.result_info = "result[1]"}, tensor<3xf32> {jax.result_info = "result[2]"}, tensor<?xf32> {jax.result_info = "result[3]"}, tensor<?x3xf32> {jax.result_info = "result[4]"}) {
    %c = stablehlo.constant dense<1> : tensor<i32>
    %0 = stablehlo.get_dimension_size %arg0, dim = 0 : (tensor<?x3xf32>) -> tensor<i32>
    %1 = stablehlo.compare GE, %0, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%1, %0) {api_version = 2 : i32, error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 'l'. Using the following polymorphic shapes specifications: args[0].shape = (l, 3). Obtained dimension variables: 'l' = {0} from specification 'l' for dimension args[0].shape[0] (= {0}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details.", has_side_effect = true} : (tensor<i1>, tensor<i32>) -> ()
    %2:5 = call @_wrapped_jax_export_main(%0, %arg0) : (tensor<i32>, tensor<?x3xf32>) -> (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<?xf32>, tensor<?x3xf32>)
    return %2#0, %2#1, %2#2, %2#3, %2#4 : tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<?xf32>, tensor<?x3xf32>
  }
  func.func private @_wrapped_jax_export_main(%arg0: tensor<i32> {jax.global_constant = "l"}, %arg1: tensor<?x3xf32>) -> (tensor<3xf32> {jax.result_info = "result[0]"}, tensor<3xf32> {jax.result_info = "result[1]"}, tensor<3xf32> {jax.result_info = "result[2]"}, tensor<?xf32> {jax.result_info = "result[3]"}, tensor<?x3xf32> {jax.result_info = "result[4]"}) {
    %c = stablehlo.constant dense<2> : tensor<i32>
    %c_0 = stablehlo.constant dense<1> : tensor<i32>
    %c_1 = stablehlo.constant dense<3> : tensor<i32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<3xf32>
    %1 = stablehlo.convert %arg0 : tensor<i32>
    %2 = stablehlo.compare LT, %c_2, %c_2, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %3 = stablehlo.add %c_2, %1 : tensor<i32>
    %4 = stablehlo.select %2, %3, %c_2 : tensor<i1>, tensor<i32>
    %5 = stablehlo.compare LT, %c_2, %c_2, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %6 = stablehlo.add %c_2, %c_1 : tensor<i32>
    %7 = stablehlo.select %5, %6, %c_2 : tensor<i1>, tensor<i32>
    %8 = stablehlo.dynamic_slice %arg1, %4, %7, sizes = [1, 3] : (tensor<?x3xf32>, tensor<i32>, tensor<i32>) -> tensor<1x3xf32>
    %9 = stablehlo.reshape %8 : (tensor<1x3xf32>) -> tensor<3xf32>
    %10:5 = stablehlo.while(%iterArg = %arg1, %iterArg_3 = %c_2, %iterArg_4 = %arg0, %iterArg_5 = %0, %iterArg_6 = %9) : tensor<?x3xf32>, tensor<i32>, tensor<i32>, tensor<3xf32>, tensor<3xf32>
    cond {
      %16 = stablehlo.compare LT, %iterArg_3, %iterArg_4, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %16 : tensor<i1>
    } do {
      %16 = stablehlo.add %iterArg_3, %c_0 : tensor<i32>
      %17 = stablehlo.convert %iterArg_3 : tensor<i32>
      %18 = stablehlo.convert %arg0 : tensor<i32>
      %19 = stablehlo.compare LT, %17, %c_2, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %20 = stablehlo.add %17, %18 : tensor<i32>
      %21 = stablehlo.select %19, %20, %17 : tensor<i1>, tensor<i32>
      %22 = stablehlo.compare LT, %c_2, %c_2, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %23 = stablehlo.add %c_2, %c_1 : tensor<i32>
      %24 = stablehlo.select %22, %23, %c_2 : tensor<i1>, tensor<i32>
      %25 = stablehlo.dynamic_slice %iterArg, %21, %24, sizes = [1, 3] : (tensor<?x3xf32>, tensor<i32>, tensor<i32>) -> tensor<1x3xf32>
      %26 = stablehlo.reshape %25 : (tensor<1x3xf32>) -> tensor<3xf32>
      %27 = stablehlo.add %iterArg_3, %c_0 : tensor<i32>
      %28 = stablehlo.convert %27 : (tensor<i32>) -> tensor<f32>
      %29 = stablehlo.broadcast_in_dim %28, dims = [] : (tensor<f32>) -> tensor<3xf32>
      %30 = stablehlo.multiply %26, %29 : tensor<3xf32>
      %31 = stablehlo.add %iterArg_5, %30 : tensor<3xf32>
      %32 = stablehlo.convert %iterArg_3 : tensor<i32>
      %33 = stablehlo.convert %arg0 : tensor<i32>
      %34 = stablehlo.compare LT, %32, %c_2, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %35 = stablehlo.add %32, %33 : tensor<i32>
      %36 = stablehlo.select %34, %35, %32 : tensor<i1>, tensor<i32>
      %37 = stablehlo.compare LT, %c_2, %c_2, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %38 = stablehlo.add %c_2, %c_1 : tensor<i32>
      %39 = stablehlo.select %37, %38, %c_2 : tensor<i1>, tensor<i32>
      %40 = stablehlo.dynamic_slice %iterArg, %36, %39, sizes = [1, 3] : (tensor<?x3xf32>, tensor<i32>, tensor<i32>) -> tensor<1x3xf32>
      %41 = stablehlo.reshape %40 : (tensor<1x3xf32>) -> tensor<3xf32>
      %42 = stablehlo.maximum %iterArg_6, %41 : tensor<3xf32>
      stablehlo.return %iterArg, %16, %iterArg_4, %31, %42 : tensor<?x3xf32>, tensor<i32>, tensor<i32>, tensor<3xf32>, tensor<3xf32>
    }
    %11 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<3xf32>
    %12 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %13 = stablehlo.dynamic_broadcast_in_dim %cst, %12, dims = [] : (tensor<f32>, tensor<1xi32>) -> tensor<?xf32>
    %14:4 = stablehlo.while(%iterArg = %arg1, %iterArg_3 = %c_2, %iterArg_4 = %11, %iterArg_5 = %13) : tensor<?x3xf32>, tensor<i32>, tensor<3xf32>, tensor<?xf32>
    cond {
      %16 = stablehlo.compare LT, %iterArg_3, %arg0, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %16 : tensor<i1>
    } do {
      %16 = func.call @dynamic_index_in_dim(%arg0, %iterArg, %iterArg_3) : (tensor<i32>, tensor<?x3xf32>, tensor<i32>) -> tensor<3xf32>
      %17:2 = func.call @closed_call(%arg0, %iterArg_4, %16) : (tensor<i32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<3xf32>, tensor<f32>)
      %18 = func.call @dynamic_update_index_in_dim(%arg0, %iterArg_5, %17#1, %iterArg_3) : (tensor<i32>, tensor<?xf32>, tensor<f32>, tensor<i32>) -> tensor<?xf32>
      %19 = stablehlo.add %iterArg_3, %c_0 : tensor<i32>
      stablehlo.return %iterArg, %19, %17#0, %18 : tensor<?x3xf32>, tensor<i32>, tensor<3xf32>, tensor<?xf32>
    }
    %15:3 = stablehlo.while(%iterArg = %arg1, %iterArg_3 = %arg0, %iterArg_4 = %arg1) : tensor<?x3xf32>, tensor<i32>, tensor<?x3xf32>
    cond {
      %16 = stablehlo.compare GT, %iterArg_3, %c_0, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %16 : tensor<i1>
    } do {
      %16 = func.call @floor_divide(%arg0, %iterArg_3, %c) : (tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<i32>
      %17 = stablehlo.add %iterArg_4, %iterArg : tensor<?x3xf32>
      stablehlo.return %iterArg, %16, %17 : tensor<?x3xf32>, tensor<i32>, tensor<?x3xf32>
    }
    return %10#3, %10#4, %14#2, %14#3, %15#2 : tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<?xf32>, tensor<?x3xf32>
  }
  func.func private @dynamic_index_in_dim(%arg0: tensor<i32> {jax.global_constant = "l"}, %arg1: tensor<?x3xf32>, %arg2: tensor<i32>) -> tensor<3xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg1, %arg2, %c, sizes = [1, 3] : (tensor<?x3xf32>, tensor<i32>, tensor<i32>) -> tensor<1x3xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x3xf32>) -> tensor<3xf32>
    return %1 : tensor<3xf32>
  }
  func.func private @closed_call(%arg0: tensor<i32> {jax.global_constant = "l"}, %arg1: tensor<3xf32>, %arg2: tensor<3xf32>) -> (tensor<3xf32>, tensor<f32>) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %cst_0 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<3xf32>
    %1 = stablehlo.multiply %0, %arg1 : tensor<3xf32>
    %2 = stablehlo.add %1, %arg2 : tensor<3xf32>
    %3 = stablehlo.reduce(%arg1 init: %cst) applies stablehlo.add across dimensions = [0] : (tensor<3xf32>, tensor<f32>) -> tensor<f32>
    return %2, %3 : tensor<3xf32>, tensor<f32>
  }
  func.func private @dynamic_update_index_in_dim(%arg0: tensor<i32> {jax.global_constant = "l"}, %arg1: tensor<?xf32>, %arg2: tensor<f32>, %arg3: tensor<i32>) -> tensor<?xf32> {
    %0 = stablehlo.broadcast_in_dim %arg2, dims = [] : (tensor<f32>) -> tensor<1xf32>
    %1 = stablehlo.dynamic_update_slice %arg1, %0, %arg3 : (tensor<?xf32>, tensor<1xf32>, tensor<i32>) -> tensor<?xf32>
    return %1 : tensor<?xf32>
  }
  func.func private @floor_divide(%arg0: tensor<i32> {jax.global_constant = "l"}, %arg1: tensor<i32>, %arg2: tensor<i32>) -> tensor<i32> {
    %c = stablehlo.constant dense<1> : tensor<i32>
    %c_0 = stablehlo.constant dense<false> : tensor<i1>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.divide %arg1, %arg2 : tensor<i32>
    %1 = stablehlo.sign %arg1 : tensor<i32>
    %2 = stablehlo.sign %arg2 : tensor<i32>
    %3 = stablehlo.compare NE, %1, %2, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %4 = stablehlo.remainder %arg1, %arg2 : tensor<i32>
    %5 = stablehlo.compare NE, %4, %c_1, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %6 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i1>) -> tensor<i1>
    %7 = stablehlo.compare NE, %3, %6, UNSIGNED : (tensor<i1>, tensor<i1>) -> tensor<i1>
    %8 = stablehlo.convert %7 : tensor<i1>
    %9 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i1>) -> tensor<i1>
    %10 = stablehlo.compare NE, %5, %9, UNSIGNED : (tensor<i1>, tensor<i1>) -> tensor<i1>
    %11 = stablehlo.convert %10 : tensor<i1>
    %12 = stablehlo.and %8, %11 : tensor<i1>
    %13 = stablehlo.subtract %0, %c : tensor<i32>
    %14 = call @_where(%arg0, %12, %13, %0) : (tensor<i32>, tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    return %14 : tensor<i32>
  }
  func.func private @_where(%arg0: tensor<i32> {jax.global_constant = "l"}, %arg1: tensor<i1>, %arg2: tensor<i32>, %arg3: tensor<i32>) -> tensor<i32> {
    %0 = stablehlo.select %arg1, %arg2, %arg3 : tensor<i1>, tensor<i32>
    return %0 : tensor<i32>
  }
}
