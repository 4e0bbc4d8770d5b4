#include "millrace/devices/pjrt/program_facts.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "millrace/devices/pjrt/layout.h"
#include "millrace/devices/stablehlo/read_program.h"
#include "xla.pb.h"

namespace millrace::devices::pjrt {
namespace {

Result<Shape> shape_of(DType type, std::span<const std::int64_t> dims, std::string_view what) {
  if (dims.size() > static_cast<std::size_t>(kMaxRank)) {
    return fail(ErrorCode::kUnimplemented,
                std::string(what) + " has " + std::to_string(dims.size()) +
                    " dimensions, more than the " + std::to_string(kMaxRank) +
                    " that a buffer here may have");
  }
  if (type == DType::kInvalid || std::ranges::any_of(dims, [](std::int64_t d) { return d < 0; })) {
    return fail(ErrorCode::kUnimplemented,
                std::string(what) + " is no array of a known element type and static shape");
  }
  return Shape(type, dims);
}

// PJRT's sizes are as good as the plugin that reports them.
Status check_count(const Plugin& plugin, abi::Slot slot, std::size_t count, std::size_t least,
                   std::size_t most, std::string_view what) {
  if (count >= least && count <= most) return {};
  return fail(ErrorCode::kInternal, std::string(abi::to_string(slot)) + " of the plugin " +
                                        plugin.name() + " reports " + std::to_string(count) + " " +
                                        std::string(what) + ": " + std::to_string(least) + " to " +
                                        std::to_string(most) + " are possible");
}

constexpr std::size_t kMostArrays = 1 << 20;  // that go into a program, or come out of one
// The limit of a program: it is a message of protobuf's, or a text that stands for no larger one.
constexpr auto kMostProgramBytes = static_cast<std::size_t>(std::numeric_limits<int>::max());

Result<int> count_of(const Plugin& plugin, abi::Slot slot, std::size_t count,
                     std::string_view what) {
  MILLRACE_TRY_STATUS(check_count(plugin, slot, count, 1, kMostDevices, what));
  return static_cast<int>(count);
}

Status read_outputs(const Plugin& plugin, abi::Executable* executable, ProgramFacts& facts) {
  MILLRACE_TRY(const auto types, plugin.ask<abi::ExecutableOutputElementTypesArgs>(executable));
  MILLRACE_TRY(const auto dims, plugin.ask<abi::ExecutableOutputDimensionsArgs>(executable));
  if (types.num_output_types != dims.num_outputs) {
    return fail(ErrorCode::kInternal, "the plugin " + plugin.name() + " reports " +
                                          std::to_string(types.num_output_types) +
                                          " element types of outputs, but dimensions of " +
                                          std::to_string(dims.num_outputs));
  }
  MILLRACE_TRY_STATUS(check_count(plugin, abi::Slot::kExecutable_OutputDimensions, dims.num_outputs,
                                  0, kMostArrays, "outputs"));
  MILLRACE_TRY_STATUS(plugin.require<abi::ExecutableOutputElementTypesArgs>(
      types.output_types != nullptr || types.num_output_types == 0, "list of types"));
  MILLRACE_TRY_STATUS(plugin.require<abi::ExecutableOutputDimensionsArgs>(
      dims.dim_sizes != nullptr || dims.num_outputs == 0, "list of ranks"));
  const std::int64_t* next = dims.dims;
  for (std::size_t i = 0; i < dims.num_outputs; ++i) {
    MILLRACE_TRY_STATUS(plugin.require<abi::ExecutableOutputDimensionsArgs>(
        dims.dims != nullptr || dims.dim_sizes[i] == 0, "list of dimensions"));
    MILLRACE_TRY(const Shape shape,
                 shape_of(from_buffer_type(types.output_types[i]), {next, dims.dim_sizes[i]},
                          "output " + std::to_string(i)));
    facts.outputs.push_back(shape);
    if (next != nullptr) next += dims.dim_sizes[i];
  }
  return {};
}

Status read_optimized(const Plugin& plugin, abi::Executable* executable, ProgramFacts& facts) {
  abi::Program program;
  program.struct_size = abi::kStructSize<abi::Program>;
  abi::ExecutableOptimizedProgramArgs args{{}, executable, &program};
  MILLRACE_TRY_STATUS(plugin.call(args));  // the size
  constexpr abi::Slot kSlot = abi::Slot::kExecutable_OptimizedProgram;
  MILLRACE_TRY_STATUS(
      check_count(plugin, kSlot, program.code_size, 0, kMostProgramBytes, "bytes of a program"));
  std::string code(program.code_size, '\0');
  program.code = code.data();
  MILLRACE_TRY_STATUS(plugin.call(args));
  MILLRACE_TRY_STATUS(plugin.require<abi::ExecutableOptimizedProgramArgs>(
      program.format != nullptr || program.format_size == 0, "format"));
  const std::string_view format(program.format, program.format_size);
  if (format == "mlir" && facts.partitions > 1) {
    return fail(ErrorCode::kUnimplemented,
                "the plugin " + plugin.name() + " gives its optimized program of " +
                    std::to_string(facts.partitions) +
                    " partitions as 'mlir', which may be what runs for all of them");
  }
  if (format == "mlir") return read_mlir(code, facts);
  if (format != "hlo" && format != "hlo_with_config") {
    return fail(ErrorCode::kUnimplemented,
                "the plugin " + plugin.name() + " gives its optimized program as '" +
                    std::string(format) + "', of which inputs cannot be read");
  }
  return read_hlo(code, format == "hlo_with_config", facts);
}

void clear_inputs(ProgramFacts& facts) {
  facts.inputs.clear();
  facts.donated.clear();
  facts.layouts.clear();
}

// So many, of unknown shapes: the plugin looks at what it is given.
Status count_inputs(const Plugin& plugin, abi::Executable* executable, ProgramFacts& facts) {
  MILLRACE_TRY(const auto kinds, plugin.ask<abi::ExecutableParameterMemoryKindsArgs>(executable));
  MILLRACE_TRY_STATUS(check_count(plugin, abi::Slot::kExecutable_ParameterMemoryKinds,
                                  kinds.num_parameters, 0, kMostArrays, "parameters"));
  facts.inputs.assign(kinds.num_parameters, Shape());
  facts.donated.assign(kinds.num_parameters, 0);
  return {};
}

Status read_inputs(const Plugin& plugin, abi::Executable* executable, const Program* compiled,
                   ProgramFacts& facts) {
  const Status optimized = read_optimized(plugin, executable, facts);
  if (optimized) return {};
  std::string why = optimized.error().message();
  if (compiled != nullptr) {
    clear_inputs(facts);
    const Status given = read_mlir(compiled->code(), facts);
    if (given) return {};
    why += "; " + given.error().message();
  }
  clear_inputs(facts);
  const Status counted = count_inputs(plugin, executable, facts);
  if (counted) return {};
  return fail(ErrorCode::kUnimplemented,
              "the inputs of a program are not known: " + why + "; " + counted.error().message());
}

// The dimensions of a shape, minor to major.
std::vector<std::int64_t> order_of(const millrace::pjrt::Shape& shape) {
  const auto& order = shape.layout().minor_to_major();
  return {order.begin(), order.end()};
}

bool is_row_major(const std::vector<std::int64_t>& order) {
  return order == DeviceLayout::row_major(static_cast<int>(order.size())).minor_to_major;
}

// What a parameter of main, or a result, is on each device; nullopt: that is not known.
std::optional<Result<Shape>> shape_of(const stablehlo::ir::Type& type,
                                      std::span<const stablehlo::ir::NamedAttribute> attributes,
                                      int partitions, std::string_view what) {
  const bool sharded = std::ranges::any_of(attributes, [](const stablehlo::ir::NamedAttribute& a) {
    return a.name == "mhlo.sharding" || a.name == "sdy.sharding";
  });
  if (partitions > 1 && sharded) return std::nullopt;
  if (const std::optional<Shape> shape = type.shape()) return Result<Shape>(*shape);
  return Result<Shape>(
      fail(ErrorCode::kUnimplemented, std::string(what) + " is a " + type.to_string() +
                                          ", no array of a known element type and static shape"));
}

Result<const stablehlo::ir::Function*> find_main(const stablehlo::ir::Module& module) {
  const stablehlo::ir::Function* main = module.find("main");
  if (main == nullptr && module.functions().size() == 1) main = &module.functions().front();
  if (main != nullptr) return main;
  return fail(ErrorCode::kInvalidArgument, "the plugin's program has no function @main");
}

}  // namespace

Status read_hlo(std::string_view bytes, bool with_config, ProgramFacts& facts) {
  if (bytes.size() > static_cast<std::size_t>(std::numeric_limits<int>::max())) {
    return fail(ErrorCode::kUnimplemented, "the plugin's HLO has more than the 2 GiB of a message");
  }
  millrace::pjrt::HloModuleWithConfig whole;
  const int size = static_cast<int>(bytes.size());
  const bool parsed = with_config ? whole.ParseFromArray(bytes.data(), size)
                                  : whole.mutable_hlo_module()->ParseFromArray(bytes.data(), size);
  if (!parsed) return fail(ErrorCode::kDataLoss, "the plugin's HLO is no message of XLA's");
  const millrace::pjrt::HloModule& module = whole.hlo_module();
  const auto& laid_out = whole.config().entry_computation_layout().parameters();
  const auto* parameters = laid_out.empty() ? &module.host_program_shape().parameters() : &laid_out;
  // A program that takes one tuple takes its elements as arguments.
  const bool one_tuple = parameters->size() == 1 && parameters->at(0).tuple_shapes_size() > 0;
  if (one_tuple) parameters = &parameters->at(0).tuple_shapes();
  for (int i = 0; i < parameters->size(); ++i) {
    const millrace::pjrt::Shape& p = parameters->at(i);
    const std::vector<std::int64_t> dims(p.dimensions().begin(), p.dimensions().end());
    MILLRACE_TRY(const Shape shape, shape_of(from_primitive_type(p.element_type()), dims,
                                             "input " + std::to_string(i)));
    facts.inputs.push_back(shape);
    std::vector<std::int64_t> order = order_of(p);
    if (std::ssize(order) == shape.rank() && !is_row_major(order))
      facts.layouts.push_back({static_cast<std::size_t>(i), std::move(order)});
  }
  const millrace::pjrt::Shape& result = laid_out.empty()
                                            ? module.host_program_shape().result()
                                            : whole.config().entry_computation_layout().result();
  const auto add_output = [&facts](const millrace::pjrt::Shape& output) {
    const std::vector<std::int64_t> order = order_of(output);
    facts.outputs_laid_out.push_back(order.empty() || is_row_major(order) ? 0 : 1);
  };
  facts.outputs_laid_out.clear();
  if (result.tuple_shapes().empty()) {
    add_output(result);
  } else {
    for (const millrace::pjrt::Shape& output : result.tuple_shapes()) add_output(output);
  }
  facts.donated.assign(facts.inputs.size(), 0);
  const auto donate = [&facts, one_tuple](const auto& entry) {
    std::int64_t input = entry.parameter_number();
    if (one_tuple) {
      if (input != 0 || entry.parameter_shape_index().empty()) return;
      input = entry.parameter_shape_index(0);
    }
    if (input >= 0 && input < std::ssize(facts.donated))
      facts.donated[static_cast<std::size_t>(input)] = 1;
  };
  for (const auto& entry : module.input_output_alias().entries()) donate(entry);
  for (const auto& entry : module.buffer_donor().entries()) donate(entry);
  return {};
}

Status read_mlir(std::string_view text, ProgramFacts& facts) {
  namespace ir = stablehlo::ir;
  MILLRACE_TRY(const ir::Module module, stablehlo::read_program(text));
  MILLRACE_TRY(const ir::Function* const main, find_main(module));
  for (std::size_t i = 0; i < main->inputs().size(); ++i) {
    const int at = static_cast<int>(i);
    const auto found = shape_of(main->inputs()[i], main->arg_attributes(at), facts.partitions,
                                "input " + std::to_string(i));
    if (found && !*found) return std::unexpected(found->error());
    facts.inputs.push_back(found ? **found : Shape());
    const ir::Attribute donor = main->arg_attribute(at, "jax.buffer_donor");
    const auto* flag = donor.as<ir::BoolAttr>();
    const bool donated = main->arg_attribute(at, "tf.aliasing_output").as<ir::IntegerAttr>() ||
                         (donor && (flag == nullptr || flag->value));
    facts.donated.push_back(donated ? 1 : 0);
  }
  return {};
}

Result<std::vector<Shape>> read_mlir_outputs(std::string_view text, int partitions) {
  MILLRACE_TRY(const stablehlo::ir::Module module, stablehlo::read_program(text));
  MILLRACE_TRY(const stablehlo::ir::Function* const main, find_main(module));
  std::vector<Shape> outputs;
  for (std::size_t i = 0; i < main->results().size(); ++i) {
    const std::string what = "output " + std::to_string(i);
    const auto found = shape_of(main->results()[i], main->result_attributes(static_cast<int>(i)),
                                partitions, what);
    if (!found) return fail(ErrorCode::kUnimplemented, what + " is a part of an array");
    MILLRACE_TRY(const Shape shape, *found);
    outputs.push_back(shape);
  }
  return outputs;
}

std::string write_compile_options(const CompileOptions& options,
                                  std::span<const std::int64_t> device_ids) {
  millrace::pjrt::CompileOptions message;
  auto& build = *message.mutable_executable_build_options();
  build.set_device_ordinal(-1);
  build.set_num_replicas(options.replicas);
  build.set_num_partitions(options.partitions);
  if (options.partitions > 1) {
    build.set_use_spmd_partitioning(true);
    build.set_use_shardy_partitioner(true);
  }
  message.set_compile_portable_executable(options.on_any_one());
  if (!options.on_any_one()) {
    auto& assignment = *build.mutable_device_assignment();
    assignment.set_replica_count(options.replicas);
    assignment.set_computation_count(options.partitions);
    for (int p = 0; p < options.partitions; ++p) {
      auto& computation = *assignment.add_computation_devices();
      for (int r = 0; r < options.replicas; ++r) {
        computation.add_replica_device_ids(
            device_ids[static_cast<std::size_t>(r) * static_cast<std::size_t>(options.partitions) +
                       static_cast<std::size_t>(p)]);
      }
    }
  }
  // Extras are a message of the same type: fields of both are merged, the caller's last.
  return message.SerializeAsString() + options.plugin_options;
}

Result<ProgramFacts> read_facts(const Plugin& plugin, abi::Executable* executable,
                                const Program* compiled) {
  ProgramFacts facts;
  MILLRACE_TRY(const auto replicas, plugin.ask<abi::ExecutableNumReplicasArgs>(executable));
  MILLRACE_TRY(const auto partitions, plugin.ask<abi::ExecutableNumPartitionsArgs>(executable));
  MILLRACE_TRY(facts.replicas, count_of(plugin, abi::Slot::kExecutable_NumReplicas,
                                        replicas.num_replicas, "replicas"));
  MILLRACE_TRY(facts.partitions, count_of(plugin, abi::Slot::kExecutable_NumPartitions,
                                          partitions.num_partitions, "partitions"));
  MILLRACE_TRY_STATUS(check_count(plugin, abi::Slot::kExecutable_NumPartitions,
                                  replicas.num_replicas * partitions.num_partitions, 1,
                                  kMostDevices, "partitions of all replicas"));
  const Status outputs = read_outputs(plugin, executable, facts);
  if (!outputs) {
    if (compiled == nullptr || outputs.error().code() != ErrorCode::kUnimplemented)
      return std::unexpected(outputs.error());
    Result<std::vector<Shape>> read = read_mlir_outputs(compiled->code(), facts.partitions);
    if (!read) return std::unexpected(outputs.error());
    facts.outputs = *std::move(read);
  }
  MILLRACE_TRY_STATUS(read_inputs(plugin, executable, compiled, facts));
  if (const auto memory = plugin.ask<abi::ExecutableGetCompiledMemoryStatsArgs>(executable))
    facts.temporary_bytes = std::max<std::int64_t>(0, memory->temporary_bytes);
  return facts;
}

}  // namespace millrace::devices::pjrt
