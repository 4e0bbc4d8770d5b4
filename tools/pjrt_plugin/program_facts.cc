#include "millrace/tools/pjrt_plugin/program_facts.h"

#include <algorithm>
#include <span>

#include "millrace/devices/device_layout.h"
#include "millrace/devices/stablehlo/read_program.h"
#include "millrace/tools/pjrt_plugin/client.h"

namespace millrace::pjrt_plugin {
namespace {

namespace ir = devices::stablehlo::ir;

// The text of an attribute of that name; empty: there is none.
std::string_view text_of(std::span<const ir::NamedAttribute> attributes, std::string_view name) {
  const auto* const text = ir::find(attributes, name).as<ir::StringAttr>();
  return text == nullptr ? std::string_view() : text->value;
}

Result<int> memory_kind(std::span<const ir::NamedAttribute> attributes, const std::string& what) {
  const std::string_view kind = text_of(attributes, "mhlo.memory_kind");
  if (kind.empty()) return 0;
  const auto* const found = std::ranges::find(kMemoryKinds, kind);
  if (found != std::end(kMemoryKinds)) return static_cast<int>(found - std::begin(kMemoryKinds));
  return fail(ErrorCode::kInvalidArgument,
              what + " is wanted in the memory '" + std::string(kind) +
                  "': there are device, pinned_host and unpinned_host");
}

char is_token(ir::Type type) { return type.kind() == ir::TypeKind::kToken ? 1 : 0; }

Status check_layout(std::span<const ir::NamedAttribute> attributes, const std::string& what) {
  const std::string_view mode = text_of(attributes, "mhlo.layout_mode");
  if (mode.empty() || mode == "default" || mode == "auto") return {};
  MILLRACE_TRY(const devices::DeviceLayout layout, devices::DeviceLayout::from_text(mode));
  const int rank = static_cast<int>(layout.minor_to_major.size());
  if (layout == devices::DeviceLayout::row_major(rank)) return {};
  return fail(ErrorCode::kUnimplemented, what + " is wanted in the layout " + std::string(mode) +
                                             ": this device keeps arrays row-major");
}

}  // namespace

Result<ProgramFacts> read_program_facts(std::string_view code) {
  MILLRACE_TRY(const ir::Module module, devices::stablehlo::read_program(code));
  const ir::Function* main = module.find("main");
  if (main == nullptr && module.functions().size() == 1) main = &module.functions().front();
  if (main == nullptr)
    return fail(ErrorCode::kInvalidArgument, "the program has no function @main");
  ProgramFacts facts{.name = std::string(module.name())};
  if (facts.name.empty()) facts.name = "program";
  for (int i = 0; i < static_cast<int>(main->inputs().size()); ++i) {
    const std::string what = "argument " + std::to_string(i) + " of " + facts.name;
    MILLRACE_TRY_STATUS(check_layout(main->arg_attributes(i), what));
    MILLRACE_TRY(const int kind, memory_kind(main->arg_attributes(i), what));
    facts.argument_kinds.push_back(kind);
    facts.argument_is_token.push_back(is_token(main->inputs()[static_cast<std::size_t>(i)]));
  }
  for (int i = 0; i < static_cast<int>(main->results().size()); ++i) {
    const std::string what = "result " + std::to_string(i) + " of " + facts.name;
    MILLRACE_TRY_STATUS(check_layout(main->result_attributes(i), what));
    MILLRACE_TRY(const int kind, memory_kind(main->result_attributes(i), what));
    facts.result_kinds.push_back(kind);
    facts.result_is_token.push_back(is_token(main->results()[static_cast<std::size_t>(i)]));
  }
  return facts;
}

}  // namespace millrace::pjrt_plugin
