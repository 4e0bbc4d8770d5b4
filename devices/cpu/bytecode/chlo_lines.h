// Lines: how the expansions of chlo operations (chlo_expansion.h) write their functions. Read next:
// chlo_functions.h.
#pragma once

#include <cstdint>
#include <cstdio>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::devices::cpu::bytecode {

inline std::string tensor(std::span<const std::int64_t> dims, std::string_view element) {
  std::string text = "tensor<";
  for (const std::int64_t d : dims) text += std::to_string(d) + "x";
  return text + std::string(element) + ">";
}
inline std::string list(std::span<const std::int64_t> numbers) {
  std::string text;
  for (const std::int64_t n : numbers) text += (text.empty() ? "" : ", ") + std::to_string(n);
  return "[" + text + "]";
}
inline std::string literal(double x) {
  char text[40];
  std::snprintf(text, sizeof text, "%.17e", x);
  return text;
}

// Lines of a function on arrays of one shape, whose values are named by numbers. Thread-safety:
// confined.
class Lines {
 public:
  explicit Lines(std::span<const std::int64_t> dims) : dims_(dims.begin(), dims.end()) {}

  std::string type(std::string_view element) const { return tensor(dims_, element); }
  // The name of what the line makes; of several results name#0, name#1, ...
  std::string add(const std::string& line, int results = 1) {
    const std::string name = "%" + std::to_string(next_++);
    text_ += "  " + name + (results > 1 ? ":" + std::to_string(results) : "") + " = " + line + "\n";
    return name;
  }
  const std::string& text() const { return text_; }

  // Of f64, unless said otherwise.
  using V = std::string;
  V number(double x, std::string_view element = "f64") {
    return add("stablehlo.constant dense<" + literal(x) + "> : " + type(element));
  }
  V nan() { return add("stablehlo.constant dense<0x7FF8000000000000> : " + type("f64")); }
  V infinity() { return add("stablehlo.constant dense<0x7FF0000000000000> : " + type("f64")); }
  V one(const char* op, const V& a) {
    return add("stablehlo." + std::string(op) + " " + a + " : " + type("f64"));
  }
  V two(const char* op, const V& a, const V& b, std::string_view element = "f64") {
    return add("stablehlo." + std::string(op) + " " + a + ", " + b + " : " + type(element));
  }
  V compare(const char* direction, const V& a, const V& b, std::string_view element = "f64") {
    return add("stablehlo.compare " + std::string(direction) + ", " + a + ", " + b + " : (" +
               type(element) + ", " + type(element) + ") -> " + type("i1"));
  }
  V select(const V& p, const V& a, const V& b, std::string_view element = "f64") {
    return add("stablehlo.select " + p + ", " + a + ", " + b + " : " + type("i1") + ", " +
               type(element));
  }
  V convert(const V& a, std::string_view from, std::string_view to) {
    if (from == to) return a;
    return add("stablehlo.convert " + a + " : (" + type(from) + ") -> " + type(to));
  }
  V sum(const V& a, const V& b) { return two("add", a, b); }
  V difference(const V& a, const V& b) { return two("subtract", a, b); }
  V product(const V& a, const V& b) { return two("multiply", a, b); }
  V quotient(const V& a, const V& b) { return two("divide", a, b); }
  V bitcast(const V& a, std::string_view from, std::string_view to) {
    return add("stablehlo.bitcast_convert " + a + " : (" + type(from) + ") -> " + type(to));
  }
  // What `make` gives of these arrays of f64, of that again, and so on while `going`, which is to
  // be of i1, has a true element.
  template <class Going, class Make>
  std::vector<V> repeat(const std::vector<V>& initial, Going going, Make make) {
    std::vector<V> carried, results;
    std::string head, types, axes;
    const std::string name = "%" + std::to_string(next_++);
    for (std::size_t i = 0; i < initial.size(); ++i) {
      carried.push_back("%" + std::to_string(next_++));
      head += (i == 0 ? "" : ", ") + carried.back() + " = " + initial[i];
      types += (i == 0 ? "" : ", ") + type("f64");
      results.push_back(name + "#" + std::to_string(i));
    }
    for (std::size_t d = 0; d < dims_.size(); ++d) axes += (d == 0 ? "" : ", ") + std::to_string(d);
    text_ += "  " + name + ":" + std::to_string(initial.size()) + " = stablehlo.while(" + head +
             ") : " + types + " cond {\n";
    const V any = going(carried), no = add("stablehlo.constant dense<false> : tensor<i1>");
    const V goes = add("stablehlo.reduce(" + any + " init: " + no +
                       ") applies stablehlo.or across dimensions = [" + axes + "] : (" +
                       type("i1") + ", tensor<i1>) -> tensor<i1>");
    text_ += "  stablehlo.return " + goes + " : tensor<i1>\n  } do {\n";
    std::string made;
    for (const V& v : make(carried)) made += (made.empty() ? "" : ", ") + v;
    text_ += "  stablehlo.return " + made + " : " + types + "\n  }\n";
    return results;
  }
  // The elements of the table at these indices, which are whole numbers in f64; those outside of it
  // are its ends.
  V look_up(std::span<const double> table, const V& index) {
    const std::int64_t size[] = {static_cast<std::int64_t>(table.size())};
    const std::string whole = tensor(size, "f64");
    std::string numbers;
    for (const double x : table) numbers += (numbers.empty() ? "" : ", ") + literal(x);
    const V values = add("stablehlo.constant dense<[" + numbers + "]> : " + whole);
    const V last = number(static_cast<double>(size[0] - 1));
    const V at = convert(two("minimum", two("maximum", index, number(0)), last), "f64", "i64");
    return add("\"stablehlo.gather\"(" + values + ", " + at +
               ") <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], "
               "start_index_map = [0], index_vector_dim = " +
               std::to_string(dims_.size()) + ">, slice_sizes = array<i64: 1>}> : (" + whole +
               ", " + type("i64") + ") -> " + type("f64"));
  }
  // The highest power first.
  V polynomial(std::span<const double> coefficients, const V& x) {
    V value = number(coefficients.front());
    for (const double c : coefficients.subspan(1)) value = sum(product(value, x), number(c));
    return value;
  }

 private:
  const std::vector<std::int64_t> dims_;
  std::string text_;
  int next_ = 0;
};

}  // namespace millrace::devices::cpu::bytecode
