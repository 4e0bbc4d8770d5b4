#include "millrace/tools/pjrt_plugin/executable.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "millrace/devices/cache/sha256.h"
#include "millrace/devices/cpu/compile/compile.h"
#include "millrace/devices/cpu/compile/several_devices.h"
#include "millrace/devices/cpu/execution.h"
#include "millrace/devices/cpu/serialized_program.h"
#include "millrace/devices/pjrt/layout.h"
#include "millrace/devices/stablehlo/ir/print.h"
#include "millrace/devices/stablehlo/read_program.h"
#include "millrace/tools/pjrt_plugin/compile_options.h"

namespace millrace::devices::pjrt::abi {

LoadedExecutable::LoadedExecutable(std::shared_ptr<const pjrt_plugin::CompiledProgram> of)
    : program(std::move(of)) {
  const CompileOptions& options = program->options();
  if (options.on_any_one()) return;
  for (std::size_t i = 0; i < options.devices.size(); ++i) {
    const int place = static_cast<int>(i);
    devices.push_back(
        program->body().devices()[static_cast<std::size_t>(index(options.devices[i]))]);
    logical_ids.push_back({place / options.partitions, place % options.partitions});
  }
}

}  // namespace millrace::devices::pjrt::abi

namespace millrace::pjrt_plugin {
namespace {

// Before the bytes of the CPU client: how many bytes there are of the options by which it was
// compiled, and of all that follows.
constexpr std::string_view kMagic = "millrace executable 1 ";

struct Serialized {
  std::string_view options, executable;
};

Result<Serialized> parse(std::string_view bytes) {
  const std::size_t line = bytes.find('\n');
  if (bytes.starts_with(kMagic) && line != std::string_view::npos) {
    const char* const end = bytes.data() + line;
    std::size_t options = 0, all = 0;
    const auto first = std::from_chars(bytes.data() + kMagic.size(), end, options);
    const bool goes_on = first.ec == std::errc() && first.ptr != end && *first.ptr == ' ';
    const auto second = std::from_chars(goes_on ? first.ptr + 1 : end, end, all);
    const std::string_view body = bytes.substr(line + 1);
    if (second.ec == std::errc() && second.ptr == end && all == body.size() && options <= all)
      return Serialized{body.substr(0, options), body.substr(options)};
  }
  return fail(
      ErrorCode::kInvalidArgument,
      std::to_string(bytes.size()) + " bytes are no executable that this plugin has serialized");
}

std::string fingerprint_of(ClientBody& body, std::string_view code, std::string_view options) {
  devices::Sha256 digest;
  digest.add(body.topology().platform_version);
  digest.add(options);
  digest.add("\n");
  digest.add(code);
  return devices::to_hex(digest.finish());
}

void report_kinds(const std::vector<int>& kinds, std::vector<const char*>& texts,
                  std::vector<std::size_t>& sizes) {
  for (const int kind : kinds) {
    texts.push_back(kMemoryKinds[kind].data());
    sizes.push_back(kMemoryKinds[kind].size());
  }
}

void report_shardings(const std::vector<std::string>& messages,
                      CompiledProgram::Shardings& shardings) {
  for (const std::string& message : messages) {
    shardings.texts.push_back(message.data());
    shardings.sizes.push_back(message.size());
  }
}

}  // namespace

CompiledProgram::CompiledProgram(ClientBody& body, devices::Executable executable,
                                 ProgramFacts facts, devices::CompileOptions options,
                                 std::string written_options, const devices::Program& source)
    : body_(Ref<ClientBody>::share(&body)),
      executable_(std::move(executable)),
      facts_(std::move(facts)),
      has_tokens_(
          (std::ranges::find(facts_.argument_is_token, 1) != facts_.argument_is_token.end()) ||
          (std::ranges::find(facts_.result_is_token, 1) != facts_.result_is_token.end())),
      options_(std::move(options)),
      written_options_(std::move(written_options)),
      source_(source),
      fingerprint_(fingerprint_of(body, source_.code(), written_options_)),
      cost_(executable_.body()->cost_analysis()),
      written_cost_(cost_.value_or(devices::Attributes())) {
  std::size_t next = 0;
  for (const char is_token : facts_.result_is_token) {
    const devices::Shape shape = is_token != 0 ? devices::Shape(devices::DType::kToken, {})
                                               : executable_.output_shapes()[next++];
    reported_.output_types.push_back(devices::pjrt::to_buffer_type(shape.dtype()));
    reported_.output_ranks.push_back(static_cast<std::size_t>(shape.rank()));
    reported_.output_dims.insert(reported_.output_dims.end(), shape.dims().begin(),
                                 shape.dims().end());
  }
  report_kinds(facts_.result_kinds, reported_.output_kinds, reported_.output_kind_sizes);
  report_kinds(facts_.argument_kinds, reported_.argument_kinds, reported_.argument_kind_sizes);
  const auto& compiled = static_cast<const devices::cpu::CpuExecutable&>(*executable_.body());
  if (compiled.parts() == nullptr) return;
  report_shardings(compiled.parts()->argument_shardings, argument_shardings_);
  report_shardings(compiled.parts()->result_shardings, result_shardings_);
}

CompiledProgram::~CompiledProgram() {
  if (executable_.body()->devices_per_launch() == 1) return;
  static_cast<devices::cpu::CpuExecutable&>(*executable_.body())
      .give_up_parts(Error(ErrorCode::kAborted,
                           executable_.name() +
                               " was destroyed before all its devices had been called for a "
                               "launch"));
}

Result<std::shared_ptr<const CompiledProgram>> CompiledProgram::compile(ClientBody& body,
                                                                        std::string code,
                                                                        std::string_view options) {
  MILLRACE_TRY(devices::CompileOptions how, read_compile_options(options, body.devices().size()));
  MILLRACE_TRY(ProgramFacts facts, read_program_facts(code));
  const auto program = devices::Program::from_text(std::move(code), facts.name);
  MILLRACE_TRY(devices::Executable executable, body.cpu().compile(program, how));
  return std::make_shared<const CompiledProgram>(body, std::move(executable), std::move(facts),
                                                 std::move(how), std::string(options), program);
}

namespace {

std::string list_of(std::span<const devices::Shape> shapes) {
  std::string list;
  for (const devices::Shape& shape : shapes) list += (list.empty() ? "" : ", ") + shape.to_string();
  return list;
}

// A program for whole arrays as one of its devices sees it: what it gives and gets. Clients count
// its parameters and results, and make HLO of it, which has none of Shardy's operations. What runs
// is one program for all devices.
std::string text_of_a_device(std::span<const devices::Shape> inputs,
                             std::span<const devices::Shape> outputs) {
  std::string parameters, operands, results;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const std::string name = "%arg" + std::to_string(i);
    parameters += (i == 0 ? "" : ", ") + name + ": " + inputs[i].to_string();
    operands += (i == 0 ? "" : ", ") + name;
  }
  for (std::size_t i = 0; i < outputs.size(); ++i)
    results += (i == 0 ? "%0#" : ", %0#") + std::to_string(i);
  const std::string types = list_of(outputs);
  return "module {\n  func.func public @main(" + parameters + ") -> (" + types + ") {\n    " +
         (outputs.empty() ? "" : "%0:" + std::to_string(outputs.size()) + " = ") +
         "\"stablehlo.custom_call\"(" + operands +
         ") {call_target_name = \"millrace.program_of_all_devices\", has_side_effect = true} : (" +
         list_of(inputs) + ") -> (" + types + ")\n    return " + results +
         (outputs.empty() ? "" : " : ") + types + "\n  }\n}\n";
}

}  // namespace

Result<std::shared_ptr<const CompiledProgram>> CompiledProgram::load(ClientBody& body,
                                                                     std::string_view serialized,
                                                                     std::string_view options) {
  MILLRACE_TRY(const Serialized parts, parse(serialized));
  const std::string_view by = options.empty() ? parts.options : options;
  MILLRACE_TRY(devices::CompileOptions how, read_compile_options(by, body.devices().size()));
  MILLRACE_TRY(const devices::cpu::SerializedProgram read,
               devices::cpu::SerializedProgram::parse(parts.executable));
  MILLRACE_TRY(ProgramFacts facts, read_program_facts(read.code));
  const auto program = devices::Program::from_text(std::string(read.code), facts.name);
  // What another build or processor has measured does not hold here.
  Result<devices::Executable> executable = body.cpu().load_compiled(parts.executable, program, how);
  if (!executable && executable.error().code() == ErrorCode::kDataLoss)
    executable = body.cpu().compile(program, how);
  if (!executable) return std::unexpected(executable.error());
  return std::make_shared<const CompiledProgram>(body, *std::move(executable), std::move(facts),
                                                 std::move(how), std::string(by), program);
}

Result<std::string_view> CompiledProgram::text() const {
  MutexLock lock(mutex_);
  if (text_.empty() && !result_shardings_.texts.empty())
    text_ = text_of_a_device(executable_.input_shapes(), executable_.output_shapes());
  if (text_.empty()) {
    MILLRACE_TRY(const auto module, devices::stablehlo::read_program(source_.code()));
    text_ = devices::stablehlo::ir::print(module);
  }
  return std::string_view(text_);
}

Result<std::string> CompiledProgram::serialize() const {
  MILLRACE_TRY(const std::string bytes, executable_.body()->serialize());
  return std::string(kMagic) + std::to_string(written_options_.size()) + " " +
         std::to_string(written_options_.size() + bytes.size()) + "\n" + written_options_ + bytes;
}

}  // namespace millrace::pjrt_plugin
