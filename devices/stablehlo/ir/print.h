// print: a module as StableHLO text that read_text reads back to an equal module.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "millrace/devices/stablehlo/ir/module.h"

namespace millrace::devices::stablehlo::ir {

// kShort: short forms for constants, functions, returns, comparisons and what a pattern of ops.inc
// says with operands, integers and symbols; the generic form for the rest. kGeneric: that for all
// operations, so that modules differ in their text where they differ in anything but locations.
enum class Form { kShort, kGeneric };
// Values are numbered anew.
std::string print(const Module& module, Form form = Form::kShort);
std::string print(const Op& op);  // one op with its regions; operands by their ids
std::string print(Attribute attribute);

// The parts of the text, appended (print_attribute.cc).

// The dialect in whose words enumerations stand, which both have: that of the op whose they are.
inline constexpr std::string_view kEnumDialect = "stablehlo";
void append_attribute(std::string& out, Attribute attribute,
                      std::string_view dialect = kEnumDialect);
// {a = 1 : i64, b}; without those named in elided (at most a few). Nothing if none is left.
void append_dict(std::string& out, std::span<const NamedAttribute> attributes,
                 std::span<const std::string_view> elided = {},
                 std::string_view dialect = kEnumDialect);
void append_ints(std::string& out, Ints values);              // [1, 2]
void append_symbol(std::string& out, std::string_view name);  // @name or @"any name"
void append_quoted(std::string& out, std::string_view text);  // "text", escaped

}  // namespace millrace::devices::stablehlo::ir
