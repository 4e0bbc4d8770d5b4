// Compilation, what is told of an executable, and its serialization.
#include <functional>
#include <optional>

#include "tests/plugins/healthy/objects.h"

namespace millrace::memory_plugin {
namespace {

constexpr std::string_view kKind = "device";
constexpr std::string_view kSerializedHead = "memory-executable ";

// As much of the wire format of protobuf as the options of a compilation need.
class Fields {
 public:
  explicit Fields(std::string_view bytes) : bytes_(bytes) {}
  bool good() const { return good_; }
  // The next field: its number, and its value as a number or as bytes.
  bool next() {
    if (bytes_.empty() || !good_) return false;
    const std::uint64_t tag = varint();
    number = static_cast<int>(tag >> 3);
    value = 0;
    data = {};
    switch (tag & 7) {
      case 0:
        value = varint();
        break;
      case 1:
        skip(8);
        break;
      case 2: {
        const std::uint64_t size = varint();
        data = bytes_.substr(0, size);
        skip(size);
        break;
      }
      case 5:
        skip(4);
        break;
      default:
        good_ = false;
    }
    if (number == 0) good_ = false;
    return good_;
  }
  std::uint64_t varint() {
    std::uint64_t v = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      if (bytes_.empty()) break;
      const auto byte = static_cast<unsigned char>(bytes_[0]);
      bytes_.remove_prefix(1);
      v |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return v;
    }
    good_ = false;
    return 0;
  }
  bool empty() const { return bytes_.empty(); }

  int number = 0;
  std::uint64_t value = 0;
  std::string_view data;

 private:
  void skip(std::uint64_t n) {
    if (n > bytes_.size()) {
      good_ = false;
      n = bytes_.size();
    }
    bytes_.remove_prefix(n);
  }
  std::string_view bytes_;
  bool good_ = true;
};

bool read_assignment(std::string_view bytes, int replicas, int partitions,
                     std::vector<std::int64_t>& ids) {
  std::vector<std::vector<std::int64_t>> columns;  // one per partition
  Fields f(bytes);
  while (f.next()) {
    if (f.number != 3) continue;
    std::vector<std::int64_t>& column = columns.emplace_back();
    Fields c(f.data);
    while (c.next()) {
      if (c.number != 1) continue;
      if (c.data.empty()) {
        column.push_back(static_cast<std::int64_t>(c.value));
        continue;
      }
      Fields packed(c.data);
      while (!packed.empty()) column.push_back(static_cast<std::int64_t>(packed.varint()));
      if (!packed.good()) return false;
    }
    if (!c.good()) return false;
  }
  if (!f.good() || columns.size() != static_cast<std::size_t>(partitions)) return false;
  for (int r = 0; r < replicas; ++r) {
    for (const auto& column : columns) {
      if (column.size() != static_cast<std::size_t>(replicas)) return false;
      ids.push_back(column[static_cast<std::size_t>(r)]);
    }
  }
  return true;
}

bool read_options(std::string_view bytes, abi::Compiled& compiled) {
  std::string_view assignment;
  compiled.portable = false;
  Fields f(bytes);
  while (f.next()) {
    if (f.number == 4) compiled.portable = f.value != 0;
    if (f.number != 3) continue;
    Fields b(f.data);
    while (b.next()) {
      if (b.number == 4) compiled.replicas = static_cast<int>(b.value);
      if (b.number == 5) compiled.partitions = static_cast<int>(b.value);
      if (b.number == 9) assignment = b.data;
    }
    if (!b.good()) return false;
  }
  if (!f.good() || compiled.replicas < 1 || compiled.partitions < 1) return false;
  if (assignment.empty()) {
    if (compiled.replicas * compiled.partitions != 1) return false;
    if (!compiled.portable) compiled.device_ids = {0};
    return true;
  }
  return read_assignment(assignment, compiled.replicas, compiled.partitions, compiled.device_ids);
}

abi::Error* compile_text(std::string_view text, std::string_view options,
                         std::shared_ptr<const abi::Compiled>& made) {
  auto compiled = std::make_shared<abi::Compiled>();
  std::string problem;
  if (!Program::parse(text, compiled->program, problem)) {
    return make_error(kInvalidArgument, "the program cannot be compiled: " + problem);
  }
  if (!read_options(options, *compiled)) {
    return make_error(kInvalidArgument, "the compile options cannot be read");
  }
  compiled->text = text;
  compiled->options = options;
  compiled->fingerprint = std::to_string(std::hash<std::string_view>()(text));
  for (const std::size_t value : compiled->program.outputs) {
    const Type& type = compiled->program.types[value];
    compiled->output_types.push_back(abi::BufferType::kF32);
    compiled->output_dims.insert(compiled->output_dims.end(), type.dims.begin(), type.dims.end());
    compiled->output_ranks.push_back(type.dims.size());
    compiled->output_kinds.push_back(kKind.data());
    compiled->output_kind_sizes.push_back(kKind.size());
  }
  compiled->input_kinds.assign(compiled->program.inputs.size(), kKind.data());
  compiled->input_kind_sizes.assign(compiled->program.inputs.size(), kKind.size());
  made = std::move(compiled);
  return nullptr;
}

void delete_text(abi::SerializedBytes* holder) { delete reinterpret_cast<std::string*>(holder); }

template <class A>
void give_text(A* a, std::string text) {
  auto* held = new std::string(std::move(text));
  a->bytes = held->data();
  a->bytes_size = held->size();
  a->holder = reinterpret_cast<abi::SerializedBytes*>(held);
  a->deleter = &delete_text;
}

void put_varint(std::string& out, std::uint64_t v) {
  for (; v >= 0x80; v >>= 7) out += static_cast<char>(v | 0x80);
  out += static_cast<char>(v);
}

std::string assignment_bytes(const abi::LoadedExecutable& e) {
  if (e.compiled->portable) return {};
  std::string out;
  out += '\x08';
  put_varint(out, static_cast<std::uint64_t>(e.compiled->replicas));
  out += '\x10';
  put_varint(out, static_cast<std::uint64_t>(e.compiled->partitions));
  for (int p = 0; p < e.compiled->partitions; ++p) {
    std::string column;
    for (int r = 0; r < e.compiled->replicas; ++r) {
      put_varint(
          column,
          static_cast<std::uint64_t>(
              e.compiled->device_ids[static_cast<std::size_t>(r * e.compiled->partitions + p)]));
    }
    std::string computation = "\x0a";
    put_varint(computation, column.size());
    computation += column;
    out += '\x1a';
    put_varint(out, computation.size());
    out += computation;
  }
  return out;
}

}  // namespace

abi::Error* compile(const abi::Program* program, const char* options, std::size_t options_size,
                    std::shared_ptr<const abi::Compiled>& compiled) {
  const std::string_view format(program->format, program->format_size);
  if (format != "mlir") {
    return make_error(kInvalidArgument, "the format is " + std::string(format) + ", not mlir");
  }
  return compile_text({program->code, program->code_size}, {options, options_size}, compiled);
}

abi::Error* load(abi::Client* client, std::shared_ptr<const abi::Compiled> compiled,
                 abi::LoadedExecutable** loaded) {
  auto made = std::make_unique<abi::LoadedExecutable>();
  made->client = client;
  for (std::size_t i = 0; i < compiled->device_ids.size() && !compiled->portable; ++i) {
    const auto id = static_cast<std::size_t>(compiled->device_ids[i]);
    if (id >= client->devices.size()) {
      return make_error(kInvalidArgument, "there is no device " + std::to_string(id));
    }
    const auto partitions = static_cast<std::size_t>(compiled->partitions);
    made->devices.push_back(client->device_list[id]);
    made->logical_ids.push_back({.replica = static_cast<int>(i / partitions),
                                 .partition = static_cast<int>(i % partitions)});
  }
  made->compiled = std::move(compiled);
  *loaded = made.release();
  return nullptr;
}

void add_executables(abi::Api& api) {
  add(api, [](abi::ClientCompileArgs* a) -> abi::Error* {
    std::shared_ptr<const abi::Compiled> compiled;
    if (abi::Error* error =
            compile(a->program, a->compile_options, a->compile_options_size, compiled)) {
      return error;
    }
    return load(a->client, std::move(compiled), &a->executable);
  });
  add(api, [](abi::CompileArgs* a) -> abi::Error* {
    std::shared_ptr<const abi::Compiled> compiled;
    if (abi::Error* error =
            compile(a->program, a->compile_options, a->compile_options_size, compiled)) {
      return error;
    }
    a->executable = new abi::Executable{std::move(compiled)};
    return nullptr;
  });
  add(api, [](abi::ExecutableDestroyArgs* a) { delete a->executable; });
  add(api, [](abi::ExecutableNameArgs* a) {
    a->name = a->executable->compiled->program.name.data();
    a->name_size = a->executable->compiled->program.name.size();
  });
  add(api, [](abi::ExecutableNumReplicasArgs* a) {
    a->num_replicas = static_cast<std::size_t>(a->executable->compiled->replicas);
  });
  add(api, [](abi::ExecutableNumPartitionsArgs* a) {
    a->num_partitions = static_cast<std::size_t>(a->executable->compiled->partitions);
  });
  add(api, [](abi::ExecutableNumOutputsArgs* a) {
    a->num_outputs = a->executable->compiled->program.outputs.size();
  });
  add(api, [](abi::ExecutableOutputElementTypesArgs* a) {
    a->output_types = a->executable->compiled->output_types.data();
    a->num_output_types = a->executable->compiled->output_types.size();
  });
  add(api, [](abi::ExecutableOutputDimensionsArgs* a) {
    a->num_outputs = a->executable->compiled->output_ranks.size();
    a->dims = a->executable->compiled->output_dims.data();
    a->dim_sizes = a->executable->compiled->output_ranks.data();
  });
  add(api, [](abi::ExecutableOutputMemoryKindsArgs* a) {
    a->num_outputs = a->executable->compiled->output_kinds.size();
    a->kinds = a->executable->compiled->output_kinds.data();
    a->kind_sizes = a->executable->compiled->output_kind_sizes.data();
  });
  add(api, [](abi::ExecutableParameterMemoryKindsArgs* a) {
    a->num_parameters = a->executable->compiled->input_kinds.size();
    a->kinds = a->executable->compiled->input_kinds.data();
    a->kind_sizes = a->executable->compiled->input_kind_sizes.data();
  });
  add(api, [](abi::ExecutableSizeOfGeneratedCodeInBytesArgs* a) {
    a->size_in_bytes = static_cast<std::int64_t>(a->executable->compiled->text.size());
  });
  add(api, [](abi::ExecutableFingerprintArgs* a) {
    a->fingerprint = a->executable->compiled->fingerprint.data();
    a->fingerprint_size = a->executable->compiled->fingerprint.size();
  });
  add(api, [](abi::ExecutableGetCompiledMemoryStatsArgs* a) {
    for (const Type& t : a->executable->compiled->program.inputs) {
      a->argument_bytes += static_cast<std::int64_t>(t.elements() * sizeof(float));
    }
    for (const std::size_t v : a->executable->compiled->program.outputs) {
      a->output_bytes += static_cast<std::int64_t>(
          a->executable->compiled->program.types[v].elements() * sizeof(float));
    }
  });
  add(api, [](abi::ExecutableGetCostAnalysisArgs* a) -> abi::Error* {
    static const abi::NamedValue flops = [] {
      abi::NamedValue v;
      v.struct_size = abi::kStructSize<abi::NamedValue>;
      v.name = "flops";
      v.name_size = 5;
      v.type = abi::ValueType::kFloat;
      v.value.number = 4;
      return v;
    }();
    a->properties = &flops;
    a->num_properties = 1;
    return nullptr;
  });
  add(api, [](abi::ExecutableOptimizedProgramArgs* a) -> abi::Error* {
    const std::string& text = a->executable->compiled->text;
    abi::Program& p = *a->program;
    static constexpr std::string_view kFormat = "mlir";
    p.format = kFormat.data();
    p.format_size = kFormat.size();
    if (p.code != nullptr) {
      if (p.code_size < text.size()) {
        return make_error(kInvalidArgument, "there is no room for the program");
      }
      text.copy(p.code, text.size());
    }
    p.code_size = text.size();
    return nullptr;
  });
  add(api, [](abi::ExecutableGetCompileOptionsArgs* a) {
    give_text(a, a->executable->compiled->options);
  });
  add(api, [](abi::ExecutableSerializeArgs* a) {
    const abi::Compiled& c = *a->executable->compiled;
    std::string body = std::to_string(c.options.size()) + " " + c.options + c.text;
    auto* held = new std::string(std::string(kSerializedHead) +
                                 std::to_string(std::hash<std::string>()(body)) + " " + body);
    a->serialized_bytes = held->data();
    a->serialized_bytes_size = held->size();
    a->serialized_executable = reinterpret_cast<abi::SerializedExecutable*>(held);
    a->serialized_executable_deleter =
        +[](abi::SerializedExecutable* holder) { delete reinterpret_cast<std::string*>(holder); };
  });
  add(api, [](abi::ExecutableDeserializeAndLoadArgs* a) -> abi::Error* {
    std::string_view text(a->serialized_executable, a->serialized_executable_size);
    const auto bad = [] { return make_error(kInvalidArgument, "these bytes are damaged"); };
    if (!text.starts_with(kSerializedHead)) return bad();
    text.remove_prefix(kSerializedHead.size());
    const std::size_t space = text.find(' ');
    if (space == std::string_view::npos) return bad();
    const std::string sum(text.substr(0, space));
    text.remove_prefix(space + 1);
    if (std::to_string(std::hash<std::string_view>()(text)) != sum) return bad();
    const std::size_t second = text.find(' ');
    const std::size_t size = std::stoul(std::string(text.substr(0, second)));
    text.remove_prefix(second + 1);
    std::shared_ptr<const abi::Compiled> compiled;
    if (abi::Error* error = compile_text(text.substr(size), text.substr(0, size), compiled)) {
      return error;
    }
    return load(a->client, std::move(compiled), &a->loaded_executable);
  });
  add(api, [](abi::LoadedExecutableDestroyArgs* a) { delete a->executable; });
  add(api, [](abi::LoadedExecutableGetExecutableArgs* a) {
    a->executable = new abi::Executable{a->loaded_executable->compiled};
  });
  add(api, [](abi::LoadedExecutableAddressableDevicesArgs* a) {
    a->devices = a->executable->devices.data();
    a->num_devices = a->executable->devices.size();
  });
  add(api, [](abi::LoadedExecutableAddressableDeviceLogicalIdsArgs* a) {
    a->ids = a->executable->logical_ids.data();
    a->num_ids = a->executable->logical_ids.size();
  });
  add(api, [](abi::LoadedExecutableGetDeviceAssignmentArgs* a) {
    give_text(a, assignment_bytes(*a->executable));
  });
  add(api, [](abi::LoadedExecutableDeleteArgs* a) { a->executable->deleted = true; });
  add(api, [](abi::LoadedExecutableIsDeletedArgs* a) { a->is_deleted = a->executable->deleted; });
}

}  // namespace millrace::memory_plugin
