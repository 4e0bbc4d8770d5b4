// Attributes as text; print.cc uses it for whole modules.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "millrace/devices/cpu/ir/attribute.h"

namespace millrace::devices::cpu::ir {

void append_attribute(std::string& out, Attribute attribute);
// {a = 1 : i64, b}; without those named in elided (at most a few). Nothing if none is left.
void append_dict(std::string& out, std::span<const NamedAttribute> attributes,
                 std::span<const std::string_view> elided = {});
void append_ints(std::string& out, Ints values);              // [1, 2]
void append_symbol(std::string& out, std::string_view name);  // @name or @"any name"
void append_quoted(std::string& out, std::string_view text);  // "text", escaped

}  // namespace millrace::devices::cpu::ir
