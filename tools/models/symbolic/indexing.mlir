module @jit_indexing attributes {jax.uses_shape_polymorphism = true, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<?x?xf32>, %arg1: tensor<?xi32>, %arg2: tensor<i32>) -> (tensor<?x?xf32> {jax.result_info = "result[0]"}, tensor<?x?xf32> {jax.result_info = "result[1]"}, tensor<?x?xf32> {jax.result_info = "result[2]"}, tensor<?x?xf32> {jax.result_info = "result[3]"}, tensor<?x2xf32> {jax.result_info = "result[4]"}, tensor<?x2xi32> {jax.result_info = "result[5]"}, tensor<?x?xf32> {jax.result_info = "result[6]"}, tensor<?xi32> {jax.result_info = "result[7]"}, tensor<?x?xf32> {jax.result_info = "result[8]"}, tensor<?x?xf32> {jax.result_info = "result[9]"}, tensor<?x?xf32> {jax.result_info = "result[10]"}) {
    %c = stablehlo.constant dense<-2> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %c_1 = stablehlo.constant dense<-3> : tensor<i32>
    %c_2 = stablehlo.constant dense<1> : tensor<i32>
    %0 = stablehlo.get_dimension_size %arg0, dim = 0 : (tensor<?x?xf32>) -> tensor<i32>
    %1 = stablehlo.get_dimension_size %arg0, dim = 1 : (tensor<?x?xf32>) -> tensor<i32>
    %2 = stablehlo.get_dimension_size %arg1, dim = 0 : (tensor<?xi32>) -> tensor<i32>
    %3 = stablehlo.compare GE, %0, %c_2, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%3, %0) {api_version = 2 : i32, error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 'b'. Using the following polymorphic shapes specifications: args[0].shape = (b, l),args[1].shape = (l,). Obtained dimension variables: 'b' = {0} from specification 'b' for dimension args[0].shape[0] (= {0}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details.", has_side_effect = true} : (tensor<i1>, tensor<i32>) -> ()
    %4 = stablehlo.compare GE, %1, %c_2, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%4, %0, %1) {api_version = 2 : i32, error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 'l'. Using the following polymorphic shapes specifications: args[0].shape = (b, l),args[1].shape = (l,). Obtained dimension variables: 'b' = {0} from specification 'b' for dimension args[0].shape[0] (= {0}), 'l' = {1} from specification 'l' for dimension args[0].shape[1] (= {1}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details.", has_side_effect = true} : (tensor<i1>, tensor<i32>, tensor<i32>) -> ()
    %5 = stablehlo.compare EQ, %2, %1, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%5, %2, %1, %0) {api_version = 2 : i32, error_message = "Input shapes do not match the polymorphic shapes specification. Found inconsistency between dimension size args[1].shape[0] (= {0}) and the specification 'l' (= {1}). Using the following polymorphic shapes specifications: args[0].shape = (b, l),args[1].shape = (l,). Obtained dimension variables: 'b' = {2} from specification 'b' for dimension args[0].shape[0] (= {2}), 'l' = {1} from specification 'l' for dimension args[0].shape[1] (= {1}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details.", has_side_effect = true} : (tensor<i1>, tensor<i32>, tensor<i32>, tensor<i32>) -> ()
    %6 = stablehlo.convert %0 : tensor<i32>
    %7 = stablehlo.add %6, %c_1 : tensor<i32>
    %8 = stablehlo.compare GE, %7, %c_0, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %9 = stablehlo.convert %0 : tensor<i32>
    %10 = stablehlo.add %9, %c_1 : tensor<i32>
    stablehlo.custom_call @shape_assertion(%8, %10, %0, %1) {api_version = 2 : i32, error_message = "Input shapes do not match the symbolic shape constraint b >= 3. Expected 'b - 3' to be greater or equal to 0, but found {0}.  Using the following polymorphic shapes specifications: args[0].shape = (b, l),args[1].shape = (l,). Obtained dimension variables: 'b' = {1} from specification 'b' for dimension args[0].shape[0] (= {1}), 'l' = {2} from specification 'l' for dimension args[0].shape[1] (= {2}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details.", has_side_effect = true} : (tensor<i1>, tensor<i32>, tensor<i32>, tensor<i32>) -> ()
    %11 = stablehlo.convert %1 : tensor<i32>
    %12 = stablehlo.add %11, %c : tensor<i32>
    %13 = stablehlo.compare GE, %12, %c_0, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %14 = stablehlo.convert %1 : tensor<i32>
    %15 = stablehlo.add %14, %c : tensor<i32>
    stablehlo.custom_call @shape_assertion(%13, %15, %0, %1) {api_version = 2 : i32, error_message = "Input shapes do not match the symbolic shape constraint l >= 2. Expected 'l - 2' to be greater or equal to 0, but found {0}.  Using the following polymorphic shapes specifications: args[0].shape = (b, l),args[1].shape = (l,). Obtained dimension variables: 'b' = {1} from specification 'b' for dimension args[0].shape[0] (= {1}), 'l' = {2} from specification 'l' for dimension args[0].shape[1] (= {2}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details.", has_side_effect = true} : (tensor<i1>, tensor<i32>, tensor<i32>, tensor<i32>) -> ()
    %16:11 = call @_wrapped_jax_export_main(%0, %1, %arg0, %arg1, %arg2) : (tensor<i32>, tensor<i32>, tensor<?x?xf32>, tensor<?xi32>, tensor<i32>) -> (tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x2xf32>, tensor<?x2xi32>, tensor<?x?xf32>, tensor<?xi32>, tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>)
    return %16#0, %16#1, %16#2, %16#3, %16#4, %16#5, %16#6, %16#7, %16#8, %16#9, %16#10 : tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x2xf32>, tensor<?x2xi32>, tensor<?x?xf32>, tensor<?xi32>, tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>
  }
  func.func @reduce_window_float32_reducer_3(%arg0: tensor<f32>, %arg1: tensor<f32>) -> tensor<f32> {
    %0 = stablehlo.maximum %arg0, %arg1 : tensor<f32>
    return %0 : tensor<f32>
  }
  func.func @reduce_window_float32_reducer(%arg0: tensor<f32>, %arg1: tensor<f32>) -> tensor<f32> {
    %0 = stablehlo.add %arg0, %arg1 : tensor<f32>
    return %0 : tensor<f32>
  }
  func.func private @_wrapped_jax_export_main(%arg0: tensor<i32> {jax.global_constant = "b"}, %arg1: tensor<i32> {jax.global_constant = "l"}, %arg2: tensor<?x?xf32>, %arg3: tensor<?xi32>, %arg4: tensor<i32>) -> (tensor<?x?xf32> {jax.result_info = "result[0]"}, tensor<?x?xf32> {jax.result_info = "result[1]"}, tensor<?x?xf32> {jax.result_info = "result[2]"}, tensor<?x?xf32> {jax.result_info = "result[3]"}, tensor<?x2xf32> {jax.result_info = "result[4]"}, tensor<?x2xi32> {jax.result_info = "result[5]"}, tensor<?x?xf32> {jax.result_info = "result[6]"}, tensor<?xi32> {jax.result_info = "result[7]"}, tensor<?x?xf32> {jax.result_info = "result[8]"}, tensor<?x?xf32> {jax.result_info = "result[9]"}, tensor<?x?xf32> {jax.result_info = "result[10]"}) {
    %c = stablehlo.constant dense<-2> : tensor<i32>
    %c_0 = stablehlo.constant dense<-1> : tensor<i32>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %cst_1 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %c_2 = stablehlo.constant dense<0> : tensor<1xi32>
    %c_3 = stablehlo.constant dense<2> : tensor<1xi32>
    %c_4 = stablehlo.constant dense<2> : tensor<i32>
    %c_5 = stablehlo.constant dense<1> : tensor<1xi32>
    %c_6 = stablehlo.constant dense<1> : tensor<i32>
    %c_7 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.abs %arg3 : tensor<?xi32>
    %1 = call @remainder(%arg0, %arg1, %0, %arg0) : (tensor<i32>, tensor<i32>, tensor<?xi32>, tensor<i32>) -> tensor<?xi32>
    %2 = stablehlo.convert %arg0 : tensor<i32>
    %3 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %4 = stablehlo.dynamic_broadcast_in_dim %c_7, %3, dims = [] : (tensor<i32>, tensor<1xi32>) -> tensor<?xi32>
    %5 = stablehlo.compare LT, %1, %4, SIGNED : (tensor<?xi32>, tensor<?xi32>) -> tensor<?xi1>
    %6 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %7 = stablehlo.dynamic_broadcast_in_dim %2, %6, dims = [] : (tensor<i32>, tensor<1xi32>) -> tensor<?xi32>
    %8 = stablehlo.add %1, %7 : tensor<?xi32>
    %9 = stablehlo.select %5, %8, %1 : tensor<?xi1>, tensor<?xi32>
    %10 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %11 = stablehlo.concatenate %10, %c_5, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %12 = stablehlo.dynamic_broadcast_in_dim %9, %11, dims = [0] : (tensor<?xi32>, tensor<2xi32>) -> tensor<?x1xi32>
    %13 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %14 = stablehlo.concatenate %c_5, %13, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %15 = "stablehlo.dynamic_gather"(%arg2, %12, %14) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>}> : (tensor<?x?xf32>, tensor<?x1xi32>, tensor<2xi32>) -> tensor<?x?xf32>
    %16 = stablehlo.convert %arg0 : tensor<i32>
    %17 = stablehlo.compare LT, %arg4, %c_7, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %18 = stablehlo.add %arg4, %16 : tensor<i32>
    %19 = stablehlo.select %17, %18, %arg4 : tensor<i1>, tensor<i32>
    %20 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %21 = stablehlo.concatenate %c_3, %20, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %22 = stablehlo.concatenate %c_2, %c_2, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %23 = stablehlo.reshape %19 : (tensor<i32>) -> tensor<1xi32>
    %24 = stablehlo.reshape %c_7 : (tensor<i32>) -> tensor<1xi32>
    %25 = stablehlo.concatenate %23, %24, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %26 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %27 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %28 = stablehlo.concatenate %26, %27, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %29 = stablehlo.subtract %28, %21 : tensor<2xi32>
    %30 = stablehlo.clamp %22, %25, %29 : tensor<2xi32>
    %31 = stablehlo.add %30, %21 : tensor<2xi32>
    %32 = stablehlo.concatenate %c_5, %c_5, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %33 = stablehlo.real_dynamic_slice %arg2, %30, %31, %32 : (tensor<?x?xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<2x?xf32>
    %34 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %35 = stablehlo.concatenate %c_3, %34, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %36 = stablehlo.dynamic_broadcast_in_dim %cst_1, %35, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<2x?xf32>
    %37 = stablehlo.multiply %33, %36 : tensor<2x?xf32>
    %38 = stablehlo.convert %arg0 : tensor<i32>
    %39 = stablehlo.compare LT, %arg4, %c_7, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %40 = stablehlo.add %arg4, %38 : tensor<i32>
    %41 = stablehlo.select %39, %40, %arg4 : tensor<i1>, tensor<i32>
    %42 = stablehlo.dynamic_update_slice %arg2, %37, %41, %c_7 : (tensor<?x?xf32>, tensor<2x?xf32>, tensor<i32>, tensor<i32>) -> tensor<?x?xf32>
    %43 = stablehlo.abs %arg3 : tensor<?xi32>
    %44 = call @remainder(%arg0, %arg1, %43, %arg0) : (tensor<i32>, tensor<i32>, tensor<?xi32>, tensor<i32>) -> tensor<?xi32>
    %45 = stablehlo.convert %arg0 : tensor<i32>
    %46 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %47 = stablehlo.dynamic_broadcast_in_dim %c_7, %46, dims = [] : (tensor<i32>, tensor<1xi32>) -> tensor<?xi32>
    %48 = stablehlo.compare LT, %44, %47, SIGNED : (tensor<?xi32>, tensor<?xi32>) -> tensor<?xi1>
    %49 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %50 = stablehlo.dynamic_broadcast_in_dim %45, %49, dims = [] : (tensor<i32>, tensor<1xi32>) -> tensor<?xi32>
    %51 = stablehlo.add %44, %50 : tensor<?xi32>
    %52 = stablehlo.select %48, %51, %44 : tensor<?xi1>, tensor<?xi32>
    %53 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %54 = stablehlo.concatenate %53, %c_5, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %55 = stablehlo.dynamic_broadcast_in_dim %52, %54, dims = [0] : (tensor<?xi32>, tensor<2xi32>) -> tensor<?x1xi32>
    %56 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %57 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %58 = stablehlo.concatenate %56, %57, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %59 = stablehlo.dynamic_broadcast_in_dim %cst, %58, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x?xf32>
    %60 = "stablehlo.scatter"(%arg2, %55, %59) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
    ^bb0(%arg5: tensor<f32>, %arg6: tensor<f32>):
      %124 = stablehlo.add %arg5, %arg6 : tensor<f32>
      stablehlo.return %124 : tensor<f32>
    }) : (tensor<?x?xf32>, tensor<?x1xi32>, tensor<?x?xf32>) -> tensor<?x?xf32>
    %61 = stablehlo.convert %arg0 : tensor<i32>
    %62 = stablehlo.add %61, %c_0 : tensor<i32>
    %63 = stablehlo.convert %62 : tensor<i32>
    %64 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %65 = stablehlo.dynamic_iota %64, dim = 0 : (tensor<1xi32>) -> tensor<?xi32>
    %66 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %67 = stablehlo.dynamic_broadcast_in_dim %c_0, %66, dims = [] : (tensor<i32>, tensor<1xi32>) -> tensor<?xi32>
    %68 = stablehlo.multiply %67, %65 : tensor<?xi32>
    %69 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %70 = stablehlo.dynamic_broadcast_in_dim %63, %69, dims = [] : (tensor<i32>, tensor<1xi32>) -> tensor<?xi32>
    %71 = stablehlo.add %70, %68 : tensor<?xi32>
    %72 = stablehlo.reverse %71, dims = [0] : tensor<?xi32>
    %73 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %74 = stablehlo.concatenate %73, %c_5, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %75 = stablehlo.dynamic_broadcast_in_dim %72, %74, dims = [0] : (tensor<?xi32>, tensor<2xi32>) -> tensor<?x1xi32>
    %76 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %77 = stablehlo.concatenate %c_5, %76, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %78 = "stablehlo.dynamic_gather"(%arg2, %75, %77) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = true}> : (tensor<?x?xf32>, tensor<?x1xi32>, tensor<2xi32>) -> tensor<?x?xf32>
    %79 = stablehlo.reverse %78, dims = [0] : tensor<?x?xf32>
    %80 = stablehlo.convert %arg0 : tensor<i32>
    %81 = stablehlo.add %80, %c_6 : tensor<i32>
    %82:2 = call @divmod(%arg0, %arg1, %81, %c_4) : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>)
    %83 = stablehlo.reshape %82#0 : (tensor<i32>) -> tensor<1xi32>
    %84 = stablehlo.dynamic_iota %83, dim = 0 : (tensor<1xi32>) -> tensor<?xi32>
    %85 = stablehlo.convert %arg0 : tensor<i32>
    %86 = stablehlo.add %85, %c_6 : tensor<i32>
    %87:2 = call @divmod(%arg0, %arg1, %86, %c_4) : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>)
    %88 = stablehlo.reshape %87#0 : (tensor<i32>) -> tensor<1xi32>
    %89 = stablehlo.dynamic_broadcast_in_dim %c_4, %88, dims = [] : (tensor<i32>, tensor<1xi32>) -> tensor<?xi32>
    %90 = stablehlo.multiply %89, %84 : tensor<?xi32>
    %91 = stablehlo.convert %arg0 : tensor<i32>
    %92 = stablehlo.add %91, %c_6 : tensor<i32>
    %93:2 = call @divmod(%arg0, %arg1, %92, %c_4) : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>)
    %94 = stablehlo.reshape %93#0 : (tensor<i32>) -> tensor<1xi32>
    %95 = stablehlo.dynamic_broadcast_in_dim %c_7, %94, dims = [] : (tensor<i32>, tensor<1xi32>) -> tensor<?xi32>
    %96 = stablehlo.add %95, %90 : tensor<?xi32>
    %97 = stablehlo.convert %arg0 : tensor<i32>
    %98 = stablehlo.add %97, %c_6 : tensor<i32>
    %99:2 = call @divmod(%arg0, %arg1, %98, %c_4) : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>)
    %100 = stablehlo.reshape %99#0 : (tensor<i32>) -> tensor<1xi32>
    %101 = stablehlo.concatenate %100, %c_5, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %102 = stablehlo.dynamic_broadcast_in_dim %96, %101, dims = [0] : (tensor<?xi32>, tensor<2xi32>) -> tensor<?x1xi32>
    %103 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %104 = stablehlo.concatenate %c_5, %103, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %105 = "stablehlo.dynamic_gather"(%arg2, %102, %104) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = true}> : (tensor<?x?xf32>, tensor<?x1xi32>, tensor<2xi32>) -> tensor<?x?xf32>
    %106 = stablehlo.broadcast_in_dim %c_6, dims = [] : (tensor<i32>) -> tensor<1xi32>
    %107 = stablehlo.convert %arg0 : tensor<i32>
    %108 = stablehlo.add %107, %c : tensor<i32>
    %109 = stablehlo.reshape %108 : (tensor<i32>) -> tensor<1xi32>
    %110 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %111 = stablehlo.concatenate %109, %110, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %112 = "stablehlo.dynamic_gather"(%arg2, %106, %111) <{dimension_numbers = #stablehlo.gather<offset_dims = [0, 1], start_index_map = [0]>, indices_are_sorted = true}> : (tensor<?x?xf32>, tensor<1xi32>, tensor<2xi32>) -> tensor<?x?xf32>
    %113 = stablehlo.concatenate %79, %105, %112, dim = 0 : (tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
    %114:2 = stablehlo.composite "chlo.top_k" %arg2 {composite_attributes = {k = 2 : i64}, decomposition = @chlo.top_k.impl, version = 1 : i32} : (tensor<?x?xf32>) -> (tensor<?x2xf32>, tensor<?x2xi32>)
    %115 = call @sort(%arg0, %arg1, %arg2) : (tensor<i32>, tensor<i32>, tensor<?x?xf32>) -> tensor<?x?xf32>
    %116 = stablehlo.broadcast_in_dim %c_7, dims = [] : (tensor<i32>) -> tensor<1xi32>
    %117 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %118 = stablehlo.concatenate %117, %c_5, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %119 = "stablehlo.dynamic_gather"(%arg2, %116, %118) <{dimension_numbers = #stablehlo.gather<offset_dims = [0], collapsed_slice_dims = [1], start_index_map = [1]>, indices_are_sorted = true}> : (tensor<?x?xf32>, tensor<1xi32>, tensor<2xi32>) -> tensor<?xf32>
    %120 = call @argsort(%arg0, %arg1, %119) : (tensor<i32>, tensor<i32>, tensor<?xf32>) -> tensor<?xi32>
    %121 = call @cumsum(%arg0, %arg1, %arg2) : (tensor<i32>, tensor<i32>, tensor<?x?xf32>) -> tensor<?x?xf32>
    %122 = call @cummax(%arg0, %arg1, %arg2) : (tensor<i32>, tensor<i32>, tensor<?x?xf32>) -> tensor<?x?xf32>
    %123 = call @_pad(%arg0, %arg1, %arg2, %c_7) : (tensor<i32>, tensor<i32>, tensor<?x?xf32>, tensor<i32>) -> tensor<?x?xf32>
    return %15, %42, %60, %113, %114#0, %114#1, %115, %120, %121, %122, %123 : tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x2xf32>, tensor<?x2xi32>, tensor<?x?xf32>, tensor<?xi32>, tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>
  }
  func.func private @chlo.top_k.impl(%arg0: tensor<?x?xf32>) -> (tensor<?x2xf32>, tensor<?x2xi32>) {
    %c = stablehlo.constant dense<1> : tensor<2xi64>
    %c_0 = stablehlo.constant dense<0> : tensor<2xi64>
    %c_1 = stablehlo.constant dense<2> : tensor<i64>
    %0 = stablehlo.get_dimension_size %arg0, dim = 0 : (tensor<?x?xf32>) -> tensor<i32>
    %1 = stablehlo.convert %0 : (tensor<i32>) -> tensor<i64>
    %2 = stablehlo.reshape %1 : (tensor<i64>) -> tensor<1xi64>
    %3 = stablehlo.get_dimension_size %arg0, dim = 1 : (tensor<?x?xf32>) -> tensor<i32>
    %4 = stablehlo.convert %3 : (tensor<i32>) -> tensor<i64>
    %5 = stablehlo.reshape %4 : (tensor<i64>) -> tensor<1xi64>
    %6 = stablehlo.concatenate %2, %5, dim = 0 : (tensor<1xi64>, tensor<1xi64>) -> tensor<2xi64>
    %7 = stablehlo.reshape %c_1 : (tensor<i64>) -> tensor<1xi64>
    %8 = stablehlo.concatenate %2, %7, dim = 0 : (tensor<1xi64>, tensor<1xi64>) -> tensor<2xi64>
    %9 = stablehlo.dynamic_iota %6, dim = 1 : (tensor<2xi64>) -> tensor<?x?xi32>
    %10:2 = "stablehlo.sort"(%arg0, %9) <{dimension = 1 : i64, is_stable = true}> ({
    ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>, %arg3: tensor<i32>, %arg4: tensor<i32>):
      %13 = stablehlo.compare GT, %arg1, %arg2, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %13 : tensor<i1>
    }) : (tensor<?x?xf32>, tensor<?x?xi32>) -> (tensor<?x?xf32>, tensor<?x?xi32>)
    %11 = stablehlo.real_dynamic_slice %10#0, %c_0, %8, %c : (tensor<?x?xf32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<?x2xf32>
    %12 = stablehlo.real_dynamic_slice %10#1, %c_0, %8, %c : (tensor<?x?xi32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<?x2xi32>
    return %11, %12 : tensor<?x2xf32>, tensor<?x2xi32>
  }
  func.func private @remainder(%arg0: tensor<i32> {jax.global_constant = "b"}, %arg1: tensor<i32> {jax.global_constant = "l"}, %arg2: tensor<?xi32>, %arg3: tensor<i32>) -> tensor<?xi32> {
    %c = stablehlo.constant dense<1> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.convert %arg3 : tensor<i32>
    %1 = stablehlo.compare EQ, %0, %c_0, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %2 = call @_where(%arg0, %arg1, %1, %c, %0) : (tensor<i32>, tensor<i32>, tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    %3 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %4 = stablehlo.dynamic_broadcast_in_dim %2, %3, dims = [] : (tensor<i32>, tensor<1xi32>) -> tensor<?xi32>
    %5 = stablehlo.remainder %arg2, %4 : tensor<?xi32>
    %6 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %7 = stablehlo.dynamic_broadcast_in_dim %c_0, %6, dims = [] : (tensor<i32>, tensor<1xi32>) -> tensor<?xi32>
    %8 = stablehlo.compare NE, %5, %7, SIGNED : (tensor<?xi32>, tensor<?xi32>) -> tensor<?xi1>
    %9 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %10 = stablehlo.dynamic_broadcast_in_dim %c_0, %9, dims = [] : (tensor<i32>, tensor<1xi32>) -> tensor<?xi32>
    %11 = stablehlo.compare LT, %5, %10, SIGNED : (tensor<?xi32>, tensor<?xi32>) -> tensor<?xi1>
    %12 = stablehlo.compare LT, %2, %c_0, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %13 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %14 = stablehlo.dynamic_broadcast_in_dim %12, %13, dims = [] : (tensor<i1>, tensor<1xi32>) -> tensor<?xi1>
    %15 = stablehlo.compare NE, %11, %14, UNSIGNED : (tensor<?xi1>, tensor<?xi1>) -> tensor<?xi1>
    %16 = stablehlo.and %15, %8 : tensor<?xi1>
    %17 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %18 = stablehlo.dynamic_broadcast_in_dim %2, %17, dims = [] : (tensor<i32>, tensor<1xi32>) -> tensor<?xi32>
    %19 = stablehlo.add %5, %18 : tensor<?xi32>
    %20 = stablehlo.select %16, %19, %5 : tensor<?xi1>, tensor<?xi32>
    return %20 : tensor<?xi32>
  }
  func.func private @_where(%arg0: tensor<i32> {jax.global_constant = "b"}, %arg1: tensor<i32> {jax.global_constant = "l"}, %arg2: tensor<i1>, %arg3: tensor<i32>, %arg4: tensor<i32>) -> tensor<i32> {
    %0 = stablehlo.select %arg2, %arg3, %arg4 : tensor<i1>, tensor<i32>
    return %0 : tensor<i32>
  }
  func.func private @divmod(%arg0: tensor<i32> {jax.global_constant = "b"}, %arg1: tensor<i32> {jax.global_constant = "l"}, %arg2: tensor<i32>, %arg3: tensor<i32>) -> (tensor<i32>, tensor<i32>) {
    %0 = call @floor_divide(%arg0, %arg1, %arg2, %arg3) : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<i32>
    %1 = call @remainder_1(%arg0, %arg1, %arg2, %arg3) : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<i32>
    return %0, %1 : tensor<i32>, tensor<i32>
  }
  func.func private @floor_divide(%arg0: tensor<i32> {jax.global_constant = "b"}, %arg1: tensor<i32> {jax.global_constant = "l"}, %arg2: tensor<i32>, %arg3: tensor<i32>) -> tensor<i32> {
    %c = stablehlo.constant dense<1> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.divide %arg2, %arg3 : tensor<i32>
    %1 = stablehlo.sign %arg2 : tensor<i32>
    %2 = stablehlo.sign %arg3 : tensor<i32>
    %3 = stablehlo.compare NE, %1, %2, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %4 = stablehlo.remainder %arg2, %arg3 : tensor<i32>
    %5 = stablehlo.compare NE, %4, %c_0, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %6 = stablehlo.and %3, %5 : tensor<i1>
    %7 = stablehlo.subtract %0, %c : tensor<i32>
    %8 = call @_where_0(%arg0, %arg1, %6, %7, %0) : (tensor<i32>, tensor<i32>, tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    return %8 : tensor<i32>
  }
  func.func private @_where_0(%arg0: tensor<i32> {jax.global_constant = "b"}, %arg1: tensor<i32> {jax.global_constant = "l"}, %arg2: tensor<i1>, %arg3: tensor<i32>, %arg4: tensor<i32>) -> tensor<i32> {
    %0 = stablehlo.select %arg2, %arg3, %arg4 : tensor<i1>, tensor<i32>
    return %0 : tensor<i32>
  }
  func.func private @remainder_1(%arg0: tensor<i32> {jax.global_constant = "b"}, %arg1: tensor<i32> {jax.global_constant = "l"}, %arg2: tensor<i32>, %arg3: tensor<i32>) -> tensor<i32> {
    %c = stablehlo.constant dense<1> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.compare EQ, %arg3, %c_0, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %1 = call @_where_0(%arg0, %arg1, %0, %c, %arg3) : (tensor<i32>, tensor<i32>, tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    %2 = stablehlo.remainder %arg2, %1 : tensor<i32>
    %3 = stablehlo.compare NE, %2, %c_0, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %4 = stablehlo.compare LT, %2, %c_0, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %5 = stablehlo.compare LT, %1, %c_0, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %6 = stablehlo.compare NE, %4, %5, UNSIGNED : (tensor<i1>, tensor<i1>) -> tensor<i1>
    %7 = stablehlo.and %6, %3 : tensor<i1>
    %8 = stablehlo.add %2, %1 : tensor<i32>
    %9 = stablehlo.select %7, %8, %2 : tensor<i1>, tensor<i32>
    return %9 : tensor<i32>
  }
  func.func private @sort(%arg0: tensor<i32> {jax.global_constant = "b"}, %arg1: tensor<i32> {jax.global_constant = "l"}, %arg2: tensor<?x?xf32>) -> tensor<?x?xf32> {
    %cst = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = "stablehlo.sort"(%arg2) <{dimension = 0 : i64, is_stable = true}> ({
    ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
      %1 = stablehlo.compare EQ, %arg3, %cst_0, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %2 = stablehlo.select %1, %cst_0, %arg3 : tensor<i1>, tensor<f32>
      %3 = stablehlo.compare NE, %arg3, %arg3, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %4 = stablehlo.select %3, %cst, %2 : tensor<i1>, tensor<f32>
      %5 = stablehlo.compare EQ, %arg4, %cst_0, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %6 = stablehlo.select %5, %cst_0, %arg4 : tensor<i1>, tensor<f32>
      %7 = stablehlo.compare NE, %arg4, %arg4, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %8 = stablehlo.select %7, %cst, %6 : tensor<i1>, tensor<f32>
      %9 = stablehlo.compare LT, %4, %8, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %9 : tensor<i1>
    }) : (tensor<?x?xf32>) -> tensor<?x?xf32>
    return %0 : tensor<?x?xf32>
  }
  func.func private @argsort(%arg0: tensor<i32> {jax.global_constant = "b"}, %arg1: tensor<i32> {jax.global_constant = "l"}, %arg2: tensor<?xf32>) -> tensor<?xi32> {
    %cst = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %1 = stablehlo.dynamic_iota %0, dim = 0 : (tensor<1xi32>) -> tensor<?xi32>
    %2:2 = "stablehlo.sort"(%arg2, %1) <{dimension = 0 : i64, is_stable = true}> ({
    ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>, %arg5: tensor<i32>, %arg6: tensor<i32>):
      %3 = stablehlo.compare EQ, %arg3, %cst_0, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %4 = stablehlo.select %3, %cst_0, %arg3 : tensor<i1>, tensor<f32>
      %5 = stablehlo.compare NE, %arg3, %arg3, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %6 = stablehlo.select %5, %cst, %4 : tensor<i1>, tensor<f32>
      %7 = stablehlo.compare EQ, %arg4, %cst_0, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %8 = stablehlo.select %7, %cst_0, %arg4 : tensor<i1>, tensor<f32>
      %9 = stablehlo.compare NE, %arg4, %arg4, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %10 = stablehlo.select %9, %cst, %8 : tensor<i1>, tensor<f32>
      %11 = stablehlo.compare LT, %6, %10, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %11 : tensor<i1>
    }) : (tensor<?xf32>, tensor<?xi32>) -> (tensor<?xf32>, tensor<?xi32>)
    return %2#1 : tensor<?xi32>
  }
  func.func private @cumsum(%arg0: tensor<i32> {jax.global_constant = "b"}, %arg1: tensor<i32> {jax.global_constant = "l"}, %arg2: tensor<?x?xf32>) -> tensor<?x?xf32> {
    %0 = call @cumsum_2(%arg0, %arg1, %arg2) : (tensor<i32>, tensor<i32>, tensor<?x?xf32>) -> tensor<?x?xf32>
    return %0 : tensor<?x?xf32>
  }
  func.func private @cumsum_2(%arg0: tensor<i32>, %arg1: tensor<i32>, %arg2: tensor<?x?xf32>) -> tensor<?x?xf32> {
    %c = stablehlo.constant dense<1> : tensor<1xi32>
    %c_0 = stablehlo.constant dense<0> : tensor<1xi32>
    %c_1 = stablehlo.constant dense<-1> : tensor<i32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<f32>
    %1 = stablehlo.convert %arg0 : tensor<i32>
    %2 = stablehlo.add %1, %c_1 : tensor<i32>
    %3 = stablehlo.reshape %2 : (tensor<i32>) -> tensor<1xi32>
    %4 = stablehlo.concatenate %3, %c_0, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %5 = stablehlo.reshape %4 : (tensor<2xi32>) -> tensor<1x2xi32>
    %6 = stablehlo.concatenate %c_0, %c_0, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %7 = stablehlo.reshape %6 : (tensor<2xi32>) -> tensor<1x2xi32>
    %8 = stablehlo.concatenate %5, %7, dim = 0 : (tensor<1x2xi32>, tensor<1x2xi32>) -> tensor<2x2xi32>
    %9 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %10 = stablehlo.concatenate %9, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %11 = stablehlo.concatenate %c, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %12 = stablehlo.concatenate %c, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %13 = stablehlo.concatenate %c, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %14 = stablehlo.custom_call @stablehlo.dynamic_reduce_window(%arg2, %0, %10, %11, %12, %13, %8) {api_version = 2 : i32, called_computations = [@reduce_window_float32_reducer]} : (tensor<?x?xf32>, tensor<f32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2x2xi32>) -> tensor<?x?xf32>
    return %14 : tensor<?x?xf32>
  }
  func.func private @cummax(%arg0: tensor<i32>, %arg1: tensor<i32>, %arg2: tensor<?x?xf32>) -> tensor<?x?xf32> {
    %c = stablehlo.constant dense<1> : tensor<1xi32>
    %c_0 = stablehlo.constant dense<-1> : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<1xi32>
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<f32>
    %1 = stablehlo.concatenate %c_1, %c_1, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %2 = stablehlo.reshape %1 : (tensor<2xi32>) -> tensor<1x2xi32>
    %3 = stablehlo.convert %arg1 : tensor<i32>
    %4 = stablehlo.add %3, %c_0 : tensor<i32>
    %5 = stablehlo.reshape %4 : (tensor<i32>) -> tensor<1xi32>
    %6 = stablehlo.concatenate %5, %c_1, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %7 = stablehlo.reshape %6 : (tensor<2xi32>) -> tensor<1x2xi32>
    %8 = stablehlo.concatenate %2, %7, dim = 0 : (tensor<1x2xi32>, tensor<1x2xi32>) -> tensor<2x2xi32>
    %9 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %10 = stablehlo.concatenate %c, %9, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %11 = stablehlo.concatenate %c, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %12 = stablehlo.concatenate %c, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %13 = stablehlo.concatenate %c, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %14 = stablehlo.custom_call @stablehlo.dynamic_reduce_window(%arg2, %0, %10, %11, %12, %13, %8) {api_version = 2 : i32, called_computations = [@reduce_window_float32_reducer_3]} : (tensor<?x?xf32>, tensor<f32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2x2xi32>) -> tensor<?x?xf32>
    return %14 : tensor<?x?xf32>
  }
  func.func private @_pad(%arg0: tensor<i32> {jax.global_constant = "b"}, %arg1: tensor<i32> {jax.global_constant = "l"}, %arg2: tensor<?x?xf32>, %arg3: tensor<i32>) -> tensor<?x?xf32> {
    %c = stablehlo.constant dense<2> : tensor<1xi32>
    %c_0 = stablehlo.constant dense<0> : tensor<1xi32>
    %c_1 = stablehlo.constant dense<1> : tensor<1xi32>
    %0 = stablehlo.convert %arg3 : (tensor<i32>) -> tensor<f32>
    %1 = stablehlo.concatenate %c_1, %c_0, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %2 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %3 = stablehlo.concatenate %2, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %4 = stablehlo.concatenate %c_0, %c_0, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %5 = stablehlo.dynamic_pad %arg2, %0, %1, %3, %4 : (tensor<?x?xf32>, tensor<f32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<?x?xf32>
    return %5 : tensor<?x?xf32>
  }
}
