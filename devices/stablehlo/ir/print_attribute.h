// Attributes as text; print.cc uses it for whole modules.
#pragma once

#include <charconv>
#include <span>
#include <string>
#include <string_view>

#include "millrace/devices/stablehlo/ir/attribute.h"

namespace millrace::devices::stablehlo::ir {

// The dialect in whose words enumerations stand, which both have: that of the op whose they are.
inline constexpr std::string_view kEnumDialect = "stablehlo";
void append_attribute(std::string& out, Attribute attribute,
                      std::string_view dialect = kEnumDialect);
// {a = 1 : i64, b}; without those named in elided (at most a few). Nothing if none is left.
void append_dict(std::string& out, std::span<const NamedAttribute> attributes,
                 std::span<const std::string_view> elided = {},
                 std::string_view dialect = kEnumDialect);
inline void append_number(std::string& out, auto value) {
  char buffer[32];
  out.append(buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr);
}
void append_ints(std::string& out, Ints values);              // [1, 2]
void append_symbol(std::string& out, std::string_view name);  // @name or @"any name"
void append_quoted(std::string& out, std::string_view text);  // "text", escaped

// Decimal if that reads back to the same bits, which NaN and infinity do not: those in hex.
void append_float(std::string& out, DType type, std::uint64_t bits);

// print_records.cc
void append_record(std::string& out, const DotDimsAttr& record);
void append_record(std::string& out, const ConvDimsAttr& record);
void append_record(std::string& out, const GatherDimsAttr& record);
void append_record(std::string& out, const ScatterDimsAttr& record);
void append_record(std::string& out, const ChannelHandleAttr& record);
void append_record(std::string& out, const OutputAliasAttr& record);
void append_record(std::string& out, const ResultAccuracyAttr& record);
void append_record(std::string& out, const DotAlgorithmAttr& record);
void append_record(std::string& out, const BoundsAttr& record);

}  // namespace millrace::devices::stablehlo::ir
