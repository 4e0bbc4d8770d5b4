#include "tests/plugins/healthy/program.h"

#include <map>
#include <sstream>

namespace millrace::memory_plugin {

std::size_t Type::elements() const {
  std::size_t n = 1;
  for (const std::int64_t d : dims) n *= static_cast<std::size_t>(d);
  return n;
}

namespace {

// "tensor<2x3xf32>" at the begin of text.
bool read_type(std::string_view text, Type& type) {
  if (!text.starts_with("tensor<")) return false;
  text.remove_prefix(7);
  type.dims.clear();
  while (!text.empty() && text[0] >= '0' && text[0] <= '9') {
    std::int64_t d = 0;
    while (!text.empty() && text[0] >= '0' && text[0] <= '9') {
      d = d * 10 + (text[0] - '0');
      text.remove_prefix(1);
    }
    if (!text.starts_with("x")) return false;
    text.remove_prefix(1);
    type.dims.push_back(d);
  }
  return text.starts_with("f32>");
}

// The last type of a line: that of its result.
bool last_type(std::string_view line, Type& type) {
  const std::size_t at = line.rfind("tensor<");
  return at != std::string_view::npos && read_type(line.substr(at), type);
}

// "%a" at or behind `from`, which moves behind it.
std::string next_value(std::string_view line, std::size_t& from) {
  const std::size_t at = line.find('%', from);
  if (at == std::string_view::npos) return {};
  std::size_t end = at + 1;
  while (end < line.size() &&
         (std::isalnum(static_cast<unsigned char>(line[end])) != 0 || line[end] == '_')) {
    ++end;
  }
  from = end;
  return std::string(line.substr(at, end - at));
}

class Parser {
 public:
  explicit Parser(Program& program) : p_(program) {}

  bool parse(std::string_view text, std::string& problem) {
    std::istringstream in{std::string(text)};
    bool returned = false;
    int inside = 0;  // braces of an operation with a region
    for (std::string line; std::getline(in, line);) {
      if (inside > 0) {
        if (line.find("})") == std::string::npos) continue;
        inside = 0;
        Type type;
        if (!last_type(line, type)) return bad(line, problem);
        p_.types.back() = type;
        continue;
      }
      if (const std::size_t at = line.find("module @"); at != std::string::npos) {
        p_.name = line.substr(at + 8, line.find_first_of(" {", at + 8) - at - 8);
      }
      if (line.find("func.func") != std::string::npos) {
        if (!read_arguments(line)) return bad(line, problem);
      } else if (line.find("return") != std::string::npos) {
        std::size_t at = line.find("return");
        for (std::string name; !(name = next_value(line, at)).empty();) {
          if (!values_.contains(name)) return bad(line, problem);
          p_.outputs.push_back(values_[name]);
        }
        returned = true;
      } else if (line.find("stablehlo.all_reduce") != std::string::npos) {
        if (!read_operation(line, Operation::Kind::kAllReduce)) return bad(line, problem);
        inside = 1;
      } else if (line.find("stablehlo.") != std::string::npos) {
        if (!read_line(line)) return bad(line, problem);
      }
    }
    if (!returned) problem = "it has no function that returns something";
    return returned;
  }

 private:
  static bool bad(const std::string& line, std::string& problem) {
    problem = "it does not understand: " + line;
    return false;
  }
  bool read_arguments(std::string_view line) {
    const std::size_t end = line.find("->");
    std::string_view list = line.substr(0, end);
    std::size_t at = 0;
    for (std::string name; !(name = next_value(list, at)).empty();) {
      const std::size_t type_at = list.find("tensor<", at);
      Type type;
      if (type_at == std::string_view::npos || !read_type(list.substr(type_at), type)) return false;
      const std::string_view rest = list.substr(type_at, list.find('%', type_at) - type_at);
      values_[name] = p_.types.size();
      p_.types.push_back(type);
      p_.inputs.push_back(type);
      p_.donated.push_back(rest.find("tf.aliasing_output") != std::string_view::npos ||
                           rest.find("jax.buffer_donor") != std::string_view::npos);
    }
    return true;
  }
  bool read_line(const std::string& line) {
    using Kind = Operation::Kind;
    if (line.find("stablehlo.constant") != std::string::npos) {
      return read_operation(line, Kind::kConstant);
    }
    if (line.find("stablehlo.add") != std::string::npos) return read_operation(line, Kind::kAdd);
    if (line.find("stablehlo.subtract") != std::string::npos) {
      return read_operation(line, Kind::kSubtract);
    }
    if (line.find("stablehlo.multiply") != std::string::npos) {
      return read_operation(line, Kind::kMultiply);
    }
    return false;
  }
  bool read_operation(const std::string& line, Operation::Kind kind) {
    Operation op{.kind = kind};
    std::size_t at = 0;
    const std::string result = next_value(line, at);
    Type type;
    if (kind == Operation::Kind::kConstant) {
      const std::size_t dense = line.find("dense<");
      if (dense == std::string::npos || !last_type(line, type)) return false;
      op.constant = std::stof(line.substr(dense + 6));
    } else {
      const std::string a = next_value(line, at);
      const std::string b = kind == Operation::Kind::kAllReduce ? a : next_value(line, at);
      if (!values_.contains(a) || !values_.contains(b)) return false;
      op.a = values_[a];
      op.b = values_[b];
      type = p_.types[op.a];
      if (type != p_.types[op.b]) return false;
    }
    op.result = p_.types.size();
    values_[result] = op.result;
    p_.types.push_back(type);
    p_.operations.push_back(op);
    return true;
  }

  Program& p_;
  std::map<std::string, std::size_t> values_;
};

}  // namespace

bool Program::parse(std::string_view text, Program& program, std::string& problem) {
  return Parser(program).parse(text, problem);
}

void Program::run(std::span<Values> devices) const {
  for (const Operation& op : operations) {
    if (op.kind == Operation::Kind::kAllReduce) {
      std::vector<float> sum(types[op.result].elements());
      for (const Values& values : devices) {
        for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += values[op.a][i];
      }
      for (Values& values : devices) values[op.result] = sum;
      continue;
    }
    for (Values& values : devices) {
      std::vector<float>& out = values[op.result];
      out.resize(types[op.result].elements());
      if (op.kind == Operation::Kind::kConstant) {
        out.assign(out.size(), op.constant);
        continue;
      }
      const std::vector<float>& a = values[op.a];
      const std::vector<float>& b = values[op.b];
      for (std::size_t i = 0; i < out.size(); ++i) {
        out[i] = op.kind == Operation::Kind::kAdd        ? a[i] + b[i]
                 : op.kind == Operation::Kind::kSubtract ? a[i] - b[i]
                                                         : a[i] * b[i];
      }
    }
  }
}

}  // namespace millrace::memory_plugin
