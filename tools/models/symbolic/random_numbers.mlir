module @jit_random_numbers attributes {jax.uses_shape_polymorphism = true, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2xui32>, %arg1: tensor<4xui32>, %arg2: tensor<?x3xf32>) -> (tensor<?x3xf32> {jax.result_info = "result[0]"}, tensor<i32> {jax.result_info = "result[1]"}, tensor<i1> {jax.result_info = "result[2]"}) {
    %c = stablehlo.constant dense<1> : tensor<i32>
    %0 = stablehlo.get_dimension_size %arg2, dim = 0 : (tensor<?x3xf32>) -> tensor<i32>
    %1 = stablehlo.compare GE, %0, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%1, %0) {api_version = 2 : i32, error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 'b'. Using the following polymorphic shapes specifications: args[2].shape = (b, 3). Obtained dimension variables: 'b' = {0} from specification 'b' for dimension args[2].shape[0] (= {0}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details.", has_side_effect = true} : (tensor<i1>, tensor<i32>) -> ()
    %2:3 = call @_wrapped_jax_export_main(%0, %arg0, %arg1, %arg2) : (tensor<i32>, tensor<2xui32>, tensor<4xui32>, tensor<?x3xf32>) -> (tensor<?x3xf32>, tensor<i32>, tensor<i1>)
    return %2#0, %2#1, %2#2 : tensor<?x3xf32>, tensor<i32>, tensor<i1>
  }
  func.func private @_wrapped_jax_export_main(%arg0: tensor<i32> {jax.global_constant = "b"}, %arg1: tensor<2xui32>, %arg2: tensor<4xui32>, %arg3: tensor<?x3xf32>) -> (tensor<?x3xf32> {jax.result_info = "result[0]"}, tensor<i32> {jax.result_info = "result[1]"}, tensor<i1> {jax.result_info = "result[2]"}) {
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<3> : tensor<1xi32>
    %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = call @_normal(%arg0, %arg1) : (tensor<i32>, tensor<2xui32>) -> tensor<?x3xf32>
    %1 = call @_uniform_0(%arg0, %arg2, %cst_2, %cst_1) : (tensor<i32>, tensor<4xui32>, tensor<f32>, tensor<f32>) -> tensor<?x3xf32>
    %2 = stablehlo.add %0, %arg3 : tensor<?x3xf32>
    %3 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %4 = stablehlo.concatenate %3, %c_0, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %5 = stablehlo.dynamic_broadcast_in_dim %cst_2, %4, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x3xf32>
    %6 = stablehlo.compare GE, %1, %5, FLOAT : (tensor<?x3xf32>, tensor<?x3xf32>) -> tensor<?x3xi1>
    %7 = stablehlo.convert %6 : (tensor<?x3xi1>) -> tensor<?x3xi32>
    %8 = stablehlo.reduce(%7 init: %c) applies stablehlo.add across dimensions = [0, 1] : (tensor<?x3xi32>, tensor<i32>) -> tensor<i32>
    %9 = stablehlo.reduce(%1 init: %cst) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<?x3xf32>, tensor<f32>) -> tensor<f32>
    %10 = stablehlo.compare LT, %9, %cst_1, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    return %2, %8, %10 : tensor<?x3xf32>, tensor<i32>, tensor<i1>
  }
  func.func private @_normal(%arg0: tensor<i32> {jax.global_constant = "b"}, %arg1: tensor<2xui32>) -> tensor<?x3xf32> {
    %0 = call @_normal_real(%arg0, %arg1) : (tensor<i32>, tensor<2xui32>) -> tensor<?x3xf32>
    return %0 : tensor<?x3xf32>
  }
  func.func private @_normal_real(%arg0: tensor<i32> {jax.global_constant = "b"}, %arg1: tensor<2xui32>) -> tensor<?x3xf32> {
    %cst = stablehlo.constant dense<0x7F800000> : tensor<f32>
    %cst_0 = stablehlo.constant dense<2.83297682> : tensor<f32>
    %cst_1 = stablehlo.constant dense<1.50140941> : tensor<f32>
    %cst_2 = stablehlo.constant dense<1.00167406> : tensor<f32>
    %cst_3 = stablehlo.constant dense<0.246640727> : tensor<f32>
    %cst_4 = stablehlo.constant dense<0.00943887047> : tensor<f32>
    %cst_5 = stablehlo.constant dense<-0.00417768164> : tensor<f32>
    %cst_6 = stablehlo.constant dense<-0.0076224613> : tensor<f32>
    %cst_7 = stablehlo.constant dense<-0.00125372503> : tensor<f32>
    %cst_8 = stablehlo.constant dense<0.00573950773> : tensor<f32>
    %cst_9 = stablehlo.constant dense<2.1858087E-4> : tensor<f32>
    %cst_10 = stablehlo.constant dense<-0.00367342844> : tensor<f32>
    %cst_11 = stablehlo.constant dense<-4.39150654E-6> : tensor<f32>
    %cst_12 = stablehlo.constant dense<0.00134934322> : tensor<f32>
    %cst_13 = stablehlo.constant dense<-3.5233877E-6> : tensor<f32>
    %cst_14 = stablehlo.constant dense<1.00950558E-4> : tensor<f32>
    %cst_15 = stablehlo.constant dense<3.43273939E-7> : tensor<f32>
    %cst_16 = stablehlo.constant dense<-2.00214257E-4> : tensor<f32>
    %cst_17 = stablehlo.constant dense<2.81022636E-8> : tensor<f32>
    %cst_18 = stablehlo.constant dense<3.000000e+00> : tensor<f32>
    %cst_19 = stablehlo.constant dense<2.500000e+00> : tensor<f32>
    %cst_20 = stablehlo.constant dense<5.000000e+00> : tensor<f32>
    %c = stablehlo.constant dense<3> : tensor<1xi32>
    %cst_21 = stablehlo.constant dense<1.41421354> : tensor<f32>
    %cst_22 = stablehlo.constant dense<-0.99999994> : tensor<f32>
    %cst_23 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %0 = call @_uniform(%arg0, %arg1, %cst_22, %cst_23) : (tensor<i32>, tensor<2xui32>, tensor<f32>, tensor<f32>) -> tensor<?x3xf32>
    %1 = stablehlo.negate %0 : tensor<?x3xf32>
    %2 = stablehlo.multiply %0, %1 : tensor<?x3xf32>
    %3 = stablehlo.log_plus_one %2 : tensor<?x3xf32>
    %4 = stablehlo.negate %3 : tensor<?x3xf32>
    %5 = stablehlo.get_dimension_size %0, dim = 0 : (tensor<?x3xf32>) -> tensor<i32>
    %6 = stablehlo.reshape %5 : (tensor<i32>) -> tensor<1xi32>
    %7 = stablehlo.get_dimension_size %0, dim = 1 : (tensor<?x3xf32>) -> tensor<i32>
    %8 = stablehlo.reshape %7 : (tensor<i32>) -> tensor<1xi32>
    %9 = stablehlo.concatenate %6, %8, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %10 = stablehlo.dynamic_broadcast_in_dim %cst_20, %9, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x3xf32>
    %11 = stablehlo.compare LT, %4, %10 : (tensor<?x3xf32>, tensor<?x3xf32>) -> tensor<?x3xi1>
    %12 = stablehlo.get_dimension_size %0, dim = 0 : (tensor<?x3xf32>) -> tensor<i32>
    %13 = stablehlo.reshape %12 : (tensor<i32>) -> tensor<1xi32>
    %14 = stablehlo.get_dimension_size %0, dim = 1 : (tensor<?x3xf32>) -> tensor<i32>
    %15 = stablehlo.reshape %14 : (tensor<i32>) -> tensor<1xi32>
    %16 = stablehlo.concatenate %13, %15, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %17 = stablehlo.dynamic_broadcast_in_dim %cst_19, %16, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x3xf32>
    %18 = stablehlo.subtract %4, %17 : tensor<?x3xf32>
    %19 = stablehlo.sqrt %4 : tensor<?x3xf32>
    %20 = stablehlo.get_dimension_size %0, dim = 0 : (tensor<?x3xf32>) -> tensor<i32>
    %21 = stablehlo.reshape %20 : (tensor<i32>) -> tensor<1xi32>
    %22 = stablehlo.get_dimension_size %0, dim = 1 : (tensor<?x3xf32>) -> tensor<i32>
    %23 = stablehlo.reshape %22 : (tensor<i32>) -> tensor<1xi32>
    %24 = stablehlo.concatenate %21, %23, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %25 = stablehlo.dynamic_broadcast_in_dim %cst_18, %24, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x3xf32>
    %26 = stablehlo.subtract %19, %25 : tensor<?x3xf32>
    %27 = stablehlo.select %11, %18, %26 : tensor<?x3xi1>, tensor<?x3xf32>
    %28 = stablehlo.get_dimension_size %0, dim = 0 : (tensor<?x3xf32>) -> tensor<i32>
    %29 = stablehlo.reshape %28 : (tensor<i32>) -> tensor<1xi32>
    %30 = stablehlo.get_dimension_size %0, dim = 1 : (tensor<?x3xf32>) -> tensor<i32>
    %31 = stablehlo.reshape %30 : (tensor<i32>) -> tensor<1xi32>
    %32 = stablehlo.concatenate %29, %31, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %33 = stablehlo.dynamic_broadcast_in_dim %cst_17, %32, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x3xf32>
    %34 = stablehlo.get_dimension_size %0, dim = 0 : (tensor<?x3xf32>) -> tensor<i32>
    %35 = stablehlo.reshape %34 : (tensor<i32>) -> tensor<1xi32>
    %36 = stablehlo.get_dimension_size %0, dim = 1 : (tensor<?x3xf32>) -> tensor<i32>
    %37 = stablehlo.reshape %36 : (tensor<i32>) -> tensor<1xi32>
    %38 = stablehlo.concatenate %35, %37, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %39 = stablehlo.dynamic_broadcast_in_dim %cst_16, %38, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x3xf32>
    %40 = stablehlo.select %11, %33, %39 : tensor<?x3xi1>, tensor<?x3xf32>
    %41 = stablehlo.get_dimension_size %0, dim = 0 : (tensor<?x3xf32>) -> tensor<i32>
    %42 = stablehlo.reshape %41 : (tensor<i32>) -> tensor<1xi32>
    %43 = stablehlo.get_dimension_size %0, dim = 1 : (tensor<?x3xf32>) -> tensor<i32>
    %44 = stablehlo.reshape %43 : (tensor<i32>) -> tensor<1xi32>
    %45 = stablehlo.concatenate %42, %44, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %46 = stablehlo.dynamic_broadcast_in_dim %cst_15, %45, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x3xf32>
    %47 = stablehlo.get_dimension_size %0, dim = 0 : (tensor<?x3xf32>) -> tensor<i32>
    %48 = stablehlo.reshape %47 : (tensor<i32>) -> tensor<1xi32>
    %49 = stablehlo.get_dimension_size %0, dim = 1 : (tensor<?x3xf32>) -> tensor<i32>
    %50 = stablehlo.reshape %49 : (tensor<i32>) -> tensor<1xi32>
    %51 = stablehlo.concatenate %48, %50, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %52 = stablehlo.dynamic_broadcast_in_dim %cst_14, %51, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x3xf32>
    %53 = stablehlo.select %11, %46, %52 : tensor<?x3xi1>, tensor<?x3xf32>
    %54 = stablehlo.multiply %40, %27 : tensor<?x3xf32>
    %55 = stablehlo.add %53, %54 : tensor<?x3xf32>
    %56 = stablehlo.get_dimension_size %0, dim = 0 : (tensor<?x3xf32>) -> tensor<i32>
    %57 = stablehlo.reshape %56 : (tensor<i32>) -> tensor<1xi32>
    %58 = stablehlo.get_dimension_size %0, dim = 1 : (tensor<?x3xf32>) -> tensor<i32>
    %59 = stablehlo.reshape %58 : (tensor<i32>) -> tensor<1xi32>
    %60 = stablehlo.concatenate %57, %59, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %61 = stablehlo.dynamic_broadcast_in_dim %cst_13, %60, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x3xf32>
    %62 = stablehlo.get_dimension_size %0, dim = 0 : (tensor<?x3xf32>) -> tensor<i32>
    %63 = stablehlo.reshape %62 : (tensor<i32>) -> tensor<1xi32>
    %64 = stablehlo.get_dimension_size %0, dim = 1 : (tensor<?x3xf32>) -> tensor<i32>
    %65 = stablehlo.reshape %64 : (tensor<i32>) -> tensor<1xi32>
    %66 = stablehlo.concatenate %63, %65, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %67 = stablehlo.dynamic_broadcast_in_dim %cst_12, %66, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x3xf32>
    %68 = stablehlo.select %11, %61, %67 : tensor<?x3xi1>, tensor<?x3xf32>
    %69 = stablehlo.multiply %55, %27 : tensor<?x3xf32>
    %70 = stablehlo.add %68, %69 : tensor<?x3xf32>
    %71 = stablehlo.get_dimension_size %0, dim = 0 : (tensor<?x3xf32>) -> tensor<i32>
    %72 = stablehlo.reshape %71 : (tensor<i32>) -> tensor<1xi32>
    %73 = stablehlo.get_dimension_size %0, dim = 1 : (tensor<?x3xf32>) -> tensor<i32>
    %74 = stablehlo.reshape %73 : (tensor<i32>) -> tensor<1xi32>
    %75 = stablehlo.concatenate %72, %74, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %76 = stablehlo.dynamic_broadcast_in_dim %cst_11, %75, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x3xf32>
    %77 = stablehlo.get_dimension_size %0, dim = 0 : (tensor<?x3xf32>) -> tensor<i32>
    %78 = stablehlo.reshape %77 : (tensor<i32>) -> tensor<1xi32>
    %79 = stablehlo.get_dimension_size %0, dim = 1 : (tensor<?x3xf32>) -> tensor<i32>
    %80 = stablehlo.reshape %79 : (tensor<i32>) -> tensor<1xi32>
    %81 = stablehlo.concatenate %78, %80, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %82 = stablehlo.dynamic_broadcast_in_dim %cst_10, %81, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x3xf32>
    %83 = stablehlo.select %11, %76, %82 : tensor<?x3xi1>, tensor<?x3xf32>
    %84 = stablehlo.multiply %70, %27 : tensor<?x3xf32>
    %85 = stablehlo.add %83, %84 : tensor<?x3xf32>
    %86 = stablehlo.get_dimension_size %0, dim = 0 : (tensor<?x3xf32>) -> tensor<i32>
    %87 = stablehlo.reshape %86 : (tensor<i32>) -> tensor<1xi32>
    %88 = stablehlo.get_dimension_size %0, dim = 1 : (tensor<?x3xf32>) -> tensor<i32>
    %89 = stablehlo.reshape %88 : (tensor<i32>) -> tensor<1xi32>
    %90 = stablehlo.concatenate %87, %89, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %91 = stablehlo.dynamic_broadcast_in_dim %cst_9, %90, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x3xf32>
    %92 = stablehlo.get_dimension_size %0, dim = 0 : (tensor<?x3xf32>) -> tensor<i32>
    %93 = stablehlo.reshape %92 : (tensor<i32>) -> tensor<1xi32>
    %94 = stablehlo.get_dimension_size %0, dim = 1 : (tensor<?x3xf32>) -> tensor<i32>
    %95 = stablehlo.reshape %94 : (tensor<i32>) -> tensor<1xi32>
    %96 = stablehlo.concatenate %93, %95, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %97 = stablehlo.dynamic_broadcast_in_dim %cst_8, %96, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x3xf32>
    %98 = stablehlo.select %11, %91, %97 : tensor<?x3xi1>, tensor<?x3xf32>
    %99 = stablehlo.multiply %85, %27 : tensor<?x3xf32>
    %100 = stablehlo.add %98, %99 : tensor<?x3xf32>
    %101 = stablehlo.get_dimension_size %0, dim = 0 : (tensor<?x3xf32>) -> tensor<i32>
    %102 = stablehlo.reshape %101 : (tensor<i32>) -> tensor<1xi32>
    %103 = stablehlo.get_dimension_size %0, dim = 1 : (tensor<?x3xf32>) -> tensor<i32>
    %104 = stablehlo.reshape %103 : (tensor<i32>) -> tensor<1xi32>
    %105 = stablehlo.concatenate %102, %104, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %106 = stablehlo.dynamic_broadcast_in_dim %cst_7, %105, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x3xf32>
    %107 = stablehlo.get_dimension_size %0, dim = 0 : (tensor<?x3xf32>) -> tensor<i32>
    %108 = stablehlo.reshape %107 : (tensor<i32>) -> tensor<1xi32>
    %109 = stablehlo.get_dimension_size %0, dim = 1 : (tensor<?x3xf32>) -> tensor<i32>
    %110 = stablehlo.reshape %109 : (tensor<i32>) -> tensor<1xi32>
    %111 = stablehlo.concatenate %108, %110, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %112 = stablehlo.dynamic_broadcast_in_dim %cst_6, %111, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x3xf32>
    %113 = stablehlo.select %11, %106, %112 : tensor<?x3xi1>, tensor<?x3xf32>
    %114 = stablehlo.multiply %100, %27 : tensor<?x3xf32>
    %115 = stablehlo.add %113, %114 : tensor<?x3xf32>
    %116 = stablehlo.get_dimension_size %0, dim = 0 : (tensor<?x3xf32>) -> tensor<i32>
    %117 = stablehlo.reshape %116 : (tensor<i32>) -> tensor<1xi32>
    %118 = stablehlo.get_dimension_size %0, dim = 1 : (tensor<?x3xf32>) -> tensor<i32>
    %119 = stablehlo.reshape %118 : (tensor<i32>) -> tensor<1xi32>
    %120 = stablehlo.concatenate %117, %119, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %121 = stablehlo.dynamic_broadcast_in_dim %cst_5, %120, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x3xf32>
    %122 = stablehlo.get_dimension_size %0, dim = 0 : (tensor<?x3xf32>) -> tensor<i32>
    %123 = stablehlo.reshape %122 : (tensor<i32>) -> tensor<1xi32>
    %124 = stablehlo.get_dimension_size %0, dim = 1 : (tensor<?x3xf32>) -> tensor<i32>
    %125 = stablehlo.reshape %124 : (tensor<i32>) -> tensor<1xi32>
    %126 = stablehlo.concatenate %123, %125, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %127 = stablehlo.dynamic_broadcast_in_dim %cst_4, %126, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x3xf32>
    %128 = stablehlo.select %11, %121, %127 : tensor<?x3xi1>, tensor<?x3xf32>
    %129 = stablehlo.multiply %115, %27 : tensor<?x3xf32>
    %130 = stablehlo.add %128, %129 : tensor<?x3xf32>
    %131 = stablehlo.get_dimension_size %0, dim = 0 : (tensor<?x3xf32>) -> tensor<i32>
    %132 = stablehlo.reshape %131 : (tensor<i32>) -> tensor<1xi32>
    %133 = stablehlo.get_dimension_size %0, dim = 1 : (tensor<?x3xf32>) -> tensor<i32>
    %134 = stablehlo.reshape %133 : (tensor<i32>) -> tensor<1xi32>
    %135 = stablehlo.concatenate %132, %134, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %136 = stablehlo.dynamic_broadcast_in_dim %cst_3, %135, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x3xf32>
    %137 = stablehlo.get_dimension_size %0, dim = 0 : (tensor<?x3xf32>) -> tensor<i32>
    %138 = stablehlo.reshape %137 : (tensor<i32>) -> tensor<1xi32>
    %139 = stablehlo.get_dimension_size %0, dim = 1 : (tensor<?x3xf32>) -> tensor<i32>
    %140 = stablehlo.reshape %139 : (tensor<i32>) -> tensor<1xi32>
    %141 = stablehlo.concatenate %138, %140, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %142 = stablehlo.dynamic_broadcast_in_dim %cst_2, %141, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x3xf32>
    %143 = stablehlo.select %11, %136, %142 : tensor<?x3xi1>, tensor<?x3xf32>
    %144 = stablehlo.multiply %130, %27 : tensor<?x3xf32>
    %145 = stablehlo.add %143, %144 : tensor<?x3xf32>
    %146 = stablehlo.get_dimension_size %0, dim = 0 : (tensor<?x3xf32>) -> tensor<i32>
    %147 = stablehlo.reshape %146 : (tensor<i32>) -> tensor<1xi32>
    %148 = stablehlo.get_dimension_size %0, dim = 1 : (tensor<?x3xf32>) -> tensor<i32>
    %149 = stablehlo.reshape %148 : (tensor<i32>) -> tensor<1xi32>
    %150 = stablehlo.concatenate %147, %149, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %151 = stablehlo.dynamic_broadcast_in_dim %cst_1, %150, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x3xf32>
    %152 = stablehlo.get_dimension_size %0, dim = 0 : (tensor<?x3xf32>) -> tensor<i32>
    %153 = stablehlo.reshape %152 : (tensor<i32>) -> tensor<1xi32>
    %154 = stablehlo.get_dimension_size %0, dim = 1 : (tensor<?x3xf32>) -> tensor<i32>
    %155 = stablehlo.reshape %154 : (tensor<i32>) -> tensor<1xi32>
    %156 = stablehlo.concatenate %153, %155, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %157 = stablehlo.dynamic_broadcast_in_dim %cst_0, %156, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x3xf32>
    %158 = stablehlo.select %11, %151, %157 : tensor<?x3xi1>, tensor<?x3xf32>
    %159 = stablehlo.multiply %145, %27 : tensor<?x3xf32>
    %160 = stablehlo.add %158, %159 : tensor<?x3xf32>
    %161 = stablehlo.multiply %160, %0 : tensor<?x3xf32>
    %162 = stablehlo.abs %0 : tensor<?x3xf32>
    %163 = stablehlo.get_dimension_size %0, dim = 0 : (tensor<?x3xf32>) -> tensor<i32>
    %164 = stablehlo.reshape %163 : (tensor<i32>) -> tensor<1xi32>
    %165 = stablehlo.get_dimension_size %0, dim = 1 : (tensor<?x3xf32>) -> tensor<i32>
    %166 = stablehlo.reshape %165 : (tensor<i32>) -> tensor<1xi32>
    %167 = stablehlo.concatenate %164, %166, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %168 = stablehlo.dynamic_broadcast_in_dim %cst_23, %167, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x3xf32>
    %169 = stablehlo.compare EQ, %162, %168 : (tensor<?x3xf32>, tensor<?x3xf32>) -> tensor<?x3xi1>
    %170 = stablehlo.get_dimension_size %0, dim = 0 : (tensor<?x3xf32>) -> tensor<i32>
    %171 = stablehlo.reshape %170 : (tensor<i32>) -> tensor<1xi32>
    %172 = stablehlo.get_dimension_size %0, dim = 1 : (tensor<?x3xf32>) -> tensor<i32>
    %173 = stablehlo.reshape %172 : (tensor<i32>) -> tensor<1xi32>
    %174 = stablehlo.concatenate %171, %173, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %175 = stablehlo.dynamic_broadcast_in_dim %cst, %174, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x3xf32>
    %176 = stablehlo.multiply %0, %175 : tensor<?x3xf32>
    %177 = stablehlo.select %169, %176, %161 : tensor<?x3xi1>, tensor<?x3xf32>
    %178 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %179 = stablehlo.concatenate %178, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %180 = stablehlo.dynamic_broadcast_in_dim %cst_21, %179, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x3xf32>
    %181 = stablehlo.multiply %180, %177 : tensor<?x3xf32>
    return %181 : tensor<?x3xf32>
  }
  func.func private @_uniform(%arg0: tensor<i32> {jax.global_constant = "b"}, %arg1: tensor<2xui32>, %arg2: tensor<f32>, %arg3: tensor<f32>) -> tensor<?x3xf32> {
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %c = stablehlo.constant dense<1065353216> : tensor<ui32>
    %c_0 = stablehlo.constant dense<9> : tensor<ui32>
    %c_1 = stablehlo.constant dense<32> : tensor<ui64>
    %c_2 = stablehlo.constant dense<1> : tensor<ui64>
    %c_3 = stablehlo.constant dense<3> : tensor<ui64>
    %c_4 = stablehlo.constant dense<3> : tensor<1xi32>
    %0 = stablehlo.broadcast_in_dim %arg2, dims = [] : (tensor<f32>) -> tensor<1x1xf32>
    %1 = stablehlo.broadcast_in_dim %arg3, dims = [] : (tensor<f32>) -> tensor<1x1xf32>
    %2 = stablehlo.slice %arg1 [0:1] : (tensor<2xui32>) -> tensor<1xui32>
    %3 = stablehlo.reshape %2 : (tensor<1xui32>) -> tensor<ui32>
    %4 = stablehlo.slice %arg1 [1:2] : (tensor<2xui32>) -> tensor<1xui32>
    %5 = stablehlo.reshape %4 : (tensor<1xui32>) -> tensor<ui32>
    %6 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %7 = stablehlo.concatenate %6, %c_4, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %8 = stablehlo.dynamic_iota %7, dim = 0 : (tensor<2xi32>) -> tensor<?x3xui64>
    %9 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %10 = stablehlo.concatenate %9, %c_4, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %11 = stablehlo.dynamic_iota %10, dim = 1 : (tensor<2xi32>) -> tensor<?x3xui64>
    %12 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %13 = stablehlo.concatenate %12, %c_4, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %14 = stablehlo.dynamic_broadcast_in_dim %c_3, %13, dims = [] : (tensor<ui64>, tensor<2xi32>) -> tensor<?x3xui64>
    %15 = stablehlo.multiply %14, %8 : tensor<?x3xui64>
    %16 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %17 = stablehlo.concatenate %16, %c_4, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %18 = stablehlo.dynamic_broadcast_in_dim %c_2, %17, dims = [] : (tensor<ui64>, tensor<2xi32>) -> tensor<?x3xui64>
    %19 = stablehlo.multiply %18, %11 : tensor<?x3xui64>
    %20 = stablehlo.add %15, %19 : tensor<?x3xui64>
    %21 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %22 = stablehlo.concatenate %21, %c_4, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %23 = stablehlo.dynamic_broadcast_in_dim %c_1, %22, dims = [] : (tensor<ui64>, tensor<2xi32>) -> tensor<?x3xui64>
    %24 = stablehlo.shift_right_logical %20, %23 : tensor<?x3xui64>
    %25 = stablehlo.convert %20 : (tensor<?x3xui64>) -> tensor<?x3xui32>
    %26 = stablehlo.convert %24 : (tensor<?x3xui64>) -> tensor<?x3xui32>
    %27:2 = call @threefry2x32(%arg0, %3, %5, %26, %25) : (tensor<i32>, tensor<ui32>, tensor<ui32>, tensor<?x3xui32>, tensor<?x3xui32>) -> (tensor<?x3xui32>, tensor<?x3xui32>)
    %28 = stablehlo.xor %27#0, %27#1 : tensor<?x3xui32>
    %29 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %30 = stablehlo.concatenate %29, %c_4, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %31 = stablehlo.dynamic_broadcast_in_dim %c_0, %30, dims = [] : (tensor<ui32>, tensor<2xi32>) -> tensor<?x3xui32>
    %32 = stablehlo.shift_right_logical %28, %31 : tensor<?x3xui32>
    %33 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %34 = stablehlo.concatenate %33, %c_4, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %35 = stablehlo.dynamic_broadcast_in_dim %c, %34, dims = [] : (tensor<ui32>, tensor<2xi32>) -> tensor<?x3xui32>
    %36 = stablehlo.or %32, %35 : tensor<?x3xui32>
    %37 = stablehlo.bitcast_convert %36 : (tensor<?x3xui32>) -> tensor<?x3xf32>
    %38 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %39 = stablehlo.concatenate %38, %c_4, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %40 = stablehlo.dynamic_broadcast_in_dim %cst, %39, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x3xf32>
    %41 = stablehlo.subtract %37, %40 : tensor<?x3xf32>
    %42 = stablehlo.subtract %1, %0 : tensor<1x1xf32>
    %43 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %44 = stablehlo.concatenate %43, %c_4, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %45 = stablehlo.dynamic_broadcast_in_dim %42, %44, dims = [0, 1] : (tensor<1x1xf32>, tensor<2xi32>) -> tensor<?x3xf32>
    %46 = stablehlo.multiply %41, %45 : tensor<?x3xf32>
    %47 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %48 = stablehlo.concatenate %47, %c_4, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %49 = stablehlo.dynamic_broadcast_in_dim %0, %48, dims = [0, 1] : (tensor<1x1xf32>, tensor<2xi32>) -> tensor<?x3xf32>
    %50 = stablehlo.add %46, %49 : tensor<?x3xf32>
    %51 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %52 = stablehlo.concatenate %51, %c_4, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %53 = stablehlo.dynamic_broadcast_in_dim %0, %52, dims = [0, 1] : (tensor<1x1xf32>, tensor<2xi32>) -> tensor<?x3xf32>
    %54 = stablehlo.maximum %53, %50 : tensor<?x3xf32>
    return %54 : tensor<?x3xf32>
  }
  func.func private @threefry2x32(%arg0: tensor<i32>, %arg1: tensor<ui32>, %arg2: tensor<ui32>, %arg3: tensor<?x3xui32>, %arg4: tensor<?x3xui32>) -> (tensor<?x3xui32>, tensor<?x3xui32>) {
    %c = stablehlo.constant dense<1> : tensor<i32>
    %c_0 = stablehlo.constant dense<5> : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %c_2 = stablehlo.constant dense<3> : tensor<1xi32>
    %c_3 = stablehlo.constant dense<466688986> : tensor<ui32>
    %c_4 = stablehlo.constant dense<[13, 15, 26, 6]> : tensor<4xui32>
    %c_5 = stablehlo.constant dense<[17, 29, 16, 24]> : tensor<4xui32>
    %0 = stablehlo.xor %arg1, %arg2 : tensor<ui32>
    %1 = stablehlo.xor %0, %c_3 : tensor<ui32>
    %2 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %3 = stablehlo.concatenate %2, %c_2, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %4 = stablehlo.dynamic_broadcast_in_dim %arg1, %3, dims = [] : (tensor<ui32>, tensor<2xi32>) -> tensor<?x3xui32>
    %5 = stablehlo.add %arg3, %4 : tensor<?x3xui32>
    %6 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %7 = stablehlo.concatenate %6, %c_2, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %8 = stablehlo.dynamic_broadcast_in_dim %arg2, %7, dims = [] : (tensor<ui32>, tensor<2xi32>) -> tensor<?x3xui32>
    %9 = stablehlo.add %arg4, %8 : tensor<?x3xui32>
    %10:9 = stablehlo.while(%iterArg = %c_1, %iterArg_6 = %c_1, %iterArg_7 = %5, %iterArg_8 = %9, %iterArg_9 = %arg2, %iterArg_10 = %1, %iterArg_11 = %arg1, %iterArg_12 = %c_4, %iterArg_13 = %c_5) : tensor<i32>, tensor<i32>, tensor<?x3xui32>, tensor<?x3xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>
    cond {
      %11 = stablehlo.compare LT, %iterArg, %c_0, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %11 : tensor<i1>
    } do {
      %11:8 = func.call @closed_call(%arg0, %iterArg_6, %iterArg_7, %iterArg_8, %iterArg_9, %iterArg_10, %iterArg_11, %iterArg_12, %iterArg_13) : (tensor<i32>, tensor<i32>, tensor<?x3xui32>, tensor<?x3xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>) -> (tensor<i32>, tensor<?x3xui32>, tensor<?x3xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>)
      %12 = stablehlo.add %iterArg, %c : tensor<i32>
      stablehlo.return %12, %11#0, %11#1, %11#2, %11#3, %11#4, %11#5, %11#6, %11#7 : tensor<i32>, tensor<i32>, tensor<?x3xui32>, tensor<?x3xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>
    }
    return %10#2, %10#3 : tensor<?x3xui32>, tensor<?x3xui32>
  }
  func.func private @closed_call(%arg0: tensor<i32> {jax.global_constant = "b"}, %arg1: tensor<i32>, %arg2: tensor<?x3xui32>, %arg3: tensor<?x3xui32>, %arg4: tensor<ui32>, %arg5: tensor<ui32>, %arg6: tensor<ui32>, %arg7: tensor<4xui32>, %arg8: tensor<4xui32>) -> (tensor<i32>, tensor<?x3xui32>, tensor<?x3xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>) {
    %c = stablehlo.constant dense<32> : tensor<ui32>
    %c_0 = stablehlo.constant dense<3> : tensor<1xi32>
    %c_1 = stablehlo.constant dense<1> : tensor<i32>
    %0 = stablehlo.add %arg1, %c_1 : tensor<i32>
    %1 = stablehlo.slice %arg7 [0:1] : (tensor<4xui32>) -> tensor<1xui32>
    %2 = stablehlo.reshape %1 : (tensor<1xui32>) -> tensor<ui32>
    %3 = stablehlo.add %arg2, %arg3 : tensor<?x3xui32>
    %4 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %5 = stablehlo.concatenate %4, %c_0, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %6 = stablehlo.dynamic_broadcast_in_dim %2, %5, dims = [] : (tensor<ui32>, tensor<2xi32>) -> tensor<?x3xui32>
    %7 = stablehlo.shift_left %arg3, %6 : tensor<?x3xui32>
    %8 = stablehlo.subtract %c, %2 : tensor<ui32>
    %9 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %10 = stablehlo.concatenate %9, %c_0, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %11 = stablehlo.dynamic_broadcast_in_dim %8, %10, dims = [] : (tensor<ui32>, tensor<2xi32>) -> tensor<?x3xui32>
    %12 = stablehlo.shift_right_logical %arg3, %11 : tensor<?x3xui32>
    %13 = stablehlo.or %7, %12 : tensor<?x3xui32>
    %14 = stablehlo.xor %3, %13 : tensor<?x3xui32>
    %15 = stablehlo.slice %arg7 [1:2] : (tensor<4xui32>) -> tensor<1xui32>
    %16 = stablehlo.reshape %15 : (tensor<1xui32>) -> tensor<ui32>
    %17 = stablehlo.add %3, %14 : tensor<?x3xui32>
    %18 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %19 = stablehlo.concatenate %18, %c_0, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %20 = stablehlo.dynamic_broadcast_in_dim %16, %19, dims = [] : (tensor<ui32>, tensor<2xi32>) -> tensor<?x3xui32>
    %21 = stablehlo.shift_left %14, %20 : tensor<?x3xui32>
    %22 = stablehlo.subtract %c, %16 : tensor<ui32>
    %23 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %24 = stablehlo.concatenate %23, %c_0, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %25 = stablehlo.dynamic_broadcast_in_dim %22, %24, dims = [] : (tensor<ui32>, tensor<2xi32>) -> tensor<?x3xui32>
    %26 = stablehlo.shift_right_logical %14, %25 : tensor<?x3xui32>
    %27 = stablehlo.or %21, %26 : tensor<?x3xui32>
    %28 = stablehlo.xor %17, %27 : tensor<?x3xui32>
    %29 = stablehlo.slice %arg7 [2:3] : (tensor<4xui32>) -> tensor<1xui32>
    %30 = stablehlo.reshape %29 : (tensor<1xui32>) -> tensor<ui32>
    %31 = stablehlo.add %17, %28 : tensor<?x3xui32>
    %32 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %33 = stablehlo.concatenate %32, %c_0, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %34 = stablehlo.dynamic_broadcast_in_dim %30, %33, dims = [] : (tensor<ui32>, tensor<2xi32>) -> tensor<?x3xui32>
    %35 = stablehlo.shift_left %28, %34 : tensor<?x3xui32>
    %36 = stablehlo.subtract %c, %30 : tensor<ui32>
    %37 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %38 = stablehlo.concatenate %37, %c_0, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %39 = stablehlo.dynamic_broadcast_in_dim %36, %38, dims = [] : (tensor<ui32>, tensor<2xi32>) -> tensor<?x3xui32>
    %40 = stablehlo.shift_right_logical %28, %39 : tensor<?x3xui32>
    %41 = stablehlo.or %35, %40 : tensor<?x3xui32>
    %42 = stablehlo.xor %31, %41 : tensor<?x3xui32>
    %43 = stablehlo.slice %arg7 [3:4] : (tensor<4xui32>) -> tensor<1xui32>
    %44 = stablehlo.reshape %43 : (tensor<1xui32>) -> tensor<ui32>
    %45 = stablehlo.add %31, %42 : tensor<?x3xui32>
    %46 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %47 = stablehlo.concatenate %46, %c_0, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %48 = stablehlo.dynamic_broadcast_in_dim %44, %47, dims = [] : (tensor<ui32>, tensor<2xi32>) -> tensor<?x3xui32>
    %49 = stablehlo.shift_left %42, %48 : tensor<?x3xui32>
    %50 = stablehlo.subtract %c, %44 : tensor<ui32>
    %51 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %52 = stablehlo.concatenate %51, %c_0, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %53 = stablehlo.dynamic_broadcast_in_dim %50, %52, dims = [] : (tensor<ui32>, tensor<2xi32>) -> tensor<?x3xui32>
    %54 = stablehlo.shift_right_logical %42, %53 : tensor<?x3xui32>
    %55 = stablehlo.or %49, %54 : tensor<?x3xui32>
    %56 = stablehlo.xor %45, %55 : tensor<?x3xui32>
    %57 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %58 = stablehlo.concatenate %57, %c_0, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %59 = stablehlo.dynamic_broadcast_in_dim %arg4, %58, dims = [] : (tensor<ui32>, tensor<2xi32>) -> tensor<?x3xui32>
    %60 = stablehlo.add %45, %59 : tensor<?x3xui32>
    %61 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %62 = stablehlo.concatenate %61, %c_0, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %63 = stablehlo.dynamic_broadcast_in_dim %arg5, %62, dims = [] : (tensor<ui32>, tensor<2xi32>) -> tensor<?x3xui32>
    %64 = stablehlo.add %56, %63 : tensor<?x3xui32>
    %65 = stablehlo.add %arg1, %c_1 : tensor<i32>
    %66 = stablehlo.convert %65 : (tensor<i32>) -> tensor<ui32>
    %67 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %68 = stablehlo.concatenate %67, %c_0, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %69 = stablehlo.dynamic_broadcast_in_dim %66, %68, dims = [] : (tensor<ui32>, tensor<2xi32>) -> tensor<?x3xui32>
    %70 = stablehlo.add %64, %69 : tensor<?x3xui32>
    return %0, %60, %70, %arg5, %arg6, %arg4, %arg8, %arg7 : tensor<i32>, tensor<?x3xui32>, tensor<?x3xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>
  }
  func.func private @_uniform_0(%arg0: tensor<i32> {jax.global_constant = "b"}, %arg1: tensor<4xui32>, %arg2: tensor<f32>, %arg3: tensor<f32>) -> tensor<?x3xf32> {
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %c = stablehlo.constant dense<1065353216> : tensor<ui32>
    %c_0 = stablehlo.constant dense<9> : tensor<ui32>
    %c_1 = stablehlo.constant dense<3> : tensor<1xi32>
    %0 = stablehlo.convert %arg2 : tensor<f32>
    %1 = stablehlo.convert %arg3 : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<1x1xf32>
    %3 = stablehlo.broadcast_in_dim %1, dims = [] : (tensor<f32>) -> tensor<1x1xf32>
    %4 = stablehlo.reshape %arg1 : (tensor<4xui32>) -> tensor<2x2xui32>
    %5 = stablehlo.bitcast_convert %4 : (tensor<2x2xui32>) -> tensor<2xui64>
    %6 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %7 = stablehlo.concatenate %6, %c_1, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %8:2 = stablehlo.custom_call @stablehlo.dynamic_rng_bit_generator(%5, %7) {api_version = 2 : i32, rng_algorithm = #stablehlo<rng_algorithm DEFAULT>} : (tensor<2xui64>, tensor<2xi32>) -> (tensor<2xui64>, tensor<?x3xui32>)
    %9 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %10 = stablehlo.concatenate %9, %c_1, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %11 = stablehlo.dynamic_broadcast_in_dim %c_0, %10, dims = [] : (tensor<ui32>, tensor<2xi32>) -> tensor<?x3xui32>
    %12 = stablehlo.shift_right_logical %8#1, %11 : tensor<?x3xui32>
    %13 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %14 = stablehlo.concatenate %13, %c_1, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %15 = stablehlo.dynamic_broadcast_in_dim %c, %14, dims = [] : (tensor<ui32>, tensor<2xi32>) -> tensor<?x3xui32>
    %16 = stablehlo.or %12, %15 : tensor<?x3xui32>
    %17 = stablehlo.bitcast_convert %16 : (tensor<?x3xui32>) -> tensor<?x3xf32>
    %18 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %19 = stablehlo.concatenate %18, %c_1, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %20 = stablehlo.dynamic_broadcast_in_dim %cst, %19, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x3xf32>
    %21 = stablehlo.subtract %17, %20 : tensor<?x3xf32>
    %22 = stablehlo.subtract %3, %2 : tensor<1x1xf32>
    %23 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %24 = stablehlo.concatenate %23, %c_1, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %25 = stablehlo.dynamic_broadcast_in_dim %22, %24, dims = [0, 1] : (tensor<1x1xf32>, tensor<2xi32>) -> tensor<?x3xf32>
    %26 = stablehlo.multiply %21, %25 : tensor<?x3xf32>
    %27 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %28 = stablehlo.concatenate %27, %c_1, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %29 = stablehlo.dynamic_broadcast_in_dim %2, %28, dims = [0, 1] : (tensor<1x1xf32>, tensor<2xi32>) -> tensor<?x3xf32>
    %30 = stablehlo.add %26, %29 : tensor<?x3xf32>
    %31 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %32 = stablehlo.concatenate %31, %c_1, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %33 = stablehlo.dynamic_broadcast_in_dim %2, %32, dims = [0, 1] : (tensor<1x1xf32>, tensor<2xi32>) -> tensor<?x3xf32>
    %34 = stablehlo.maximum %33, %30 : tensor<?x3xf32>
    return %34 : tensor<?x3xf32>
  }
}
