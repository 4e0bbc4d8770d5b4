#include "millrace/devices/cpu/refine/assertion.h"

namespace millrace::devices::cpu::refine {

std::string formatted(std::string_view text, std::span<const KnownRef> operands) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::size_t end = i + 1;
    std::size_t number = 0;
    while (text[i] == '{' && end < text.size() && end < i + 5 && text[end] >= '0' &&
           text[end] <= '9') {
      number = number * 10 + static_cast<std::size_t>(text[end++] - '0');
    }
    if (end == i + 1 || end == text.size() || text[end] != '}' || number + 1 >= operands.size()) {
      out += text[i];
      continue;
    }
    const KnownRef& operand = operands[number + 1];
    out += operand == nullptr ? "?" : to_string(*operand);
    i = end;
  }
  return out;
}

Status check_assertion(const ir::Op& op, std::span<const KnownRef> operands) {
  const std::string where = op.where() + " @shape_assertion: ";
  if (operands.empty() || op.result_count() != 0 || op.operand(0)->type().dtype() != DType::kI1 ||
      op.operand(0)->type().rank() != 0) {
    return fail(ErrorCode::kInvalidArgument,
                where + "expected a tensor<i1>, the numbers of its message, and no results");
  }
  if (operands[0] == nullptr) {
    return fail(ErrorCode::kUnimplemented,
                where +
                    "it depends on data, expected something that follows from the shapes of "
                    "the program's arguments");
  }
  if (!operands[0]->overflow.empty()) {
    return fail(ErrorCode::kInvalidArgument, where +
                                                 "the arithmetic that it is about overflows or "
                                                 "divides by zero at " +
                                                 operands[0]->overflow);
  }
  if (integers(*operands[0])[0] != 0) return {};
  const std::string_view message = op.string_or("error_message", "it does not hold");
  return fail(ErrorCode::kInvalidArgument, where + formatted(message, operands));
}

}  // namespace millrace::devices::cpu::refine
