#include "millrace/tools/serve/infer_body.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <set>
#include <utility>

#include <nlohmann/json.hpp>

#include "millrace/core/base/json_text.h"
#include "millrace/core/base/pool.h"
#include "millrace/tools/serve/v2_datatype.h"
#include "millrace/transfer/formats/byte_source.h"
#include "millrace/transfer/formats/npy.h"

namespace millrace::serve {

using devices::DType;
using devices::HostArray;
using devices::HostView;
using devices::Shape;
using transfer::RowInput;
using transfer::RowOutputs;
// A request makes and drops some twenty of its nodes, so they come from the pool.
using RequestJson = nlohmann::basic_json<std::map, std::vector, std::string, bool, std::int64_t,
                                         std::uint64_t, double, PoolAllocator>;

namespace {

// Data is nested as deep as its tensor has dimensions, within inputs within the request.
constexpr int kMostDepth = devices::kMaxRank + 4;
// No body holds more elements than bytes.
constexpr std::int64_t kMostElements = std::int64_t{1} << 40;
// Errors name what a client has sent, which it may have made long. The loop writes them.
constexpr std::size_t kMostErrorBytes = 4096;

std::unexpected<Error> bad(std::string message) {
  return fail(ErrorCode::kInvalidArgument, std::move(message));
}
std::unexpected<Error> bad_input(const std::string& name, const std::string& why) {
  return bad("input '" + name + "' " + why);
}

// A list or object takes more memory than its brackets: what has so many is sent as binary data.
constexpr int kMostLists = 1 << 20;

// What a parser would make of it, up to where it is JSON: a parser reads no further.
Status check_nesting(std::string_view json) {
  int depth = 0, lists = 0;
  bool in_text = false;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (in_text) {
      if (c == '\\') ++i;
      if (c == '"') in_text = false;
    } else if (c == '"') {
      in_text = true;
    } else if (c == '[' || c == '{') {
      if (++depth > kMostDepth) return bad("the request's JSON is nested too deep");
      if (++lists > kMostLists) {
        return bad("the request's JSON has more than " + std::to_string(kMostLists) +
                   " lists; send flat lists, or binary data");
      }
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return {};
}

Result<RequestJson> parse_json(std::string_view text) {
  MILLRACE_TRY_STATUS(check_nesting(text));
  try {
    RequestJson json = RequestJson::parse(text.begin(), text.end());
    if (!json.is_object()) return bad("the request's JSON is no object");
    return json;
  } catch (const RequestJson::exception& e) {
    return bad(std::string("the request is no JSON: ") + e.what());
  }
}

// The member of an object, of that kind; nullptr: it has none.
const RequestJson* member(const RequestJson& object, const char* key) {
  const auto found = object.find(key);
  return found == object.end() ? nullptr : &*found;
}
Result<std::string> text_of(const RequestJson& object, const char* key, const std::string& whose) {
  const RequestJson* const text = member(object, key);
  if (text == nullptr || !text->is_string()) return bad(whose + " needs a text '" + key + "'");
  return text->get<std::string>();
}
Result<bool> flag_of(const RequestJson& object, const char* key, bool otherwise) {
  const RequestJson* const parameters = member(object, "parameters");
  if (parameters == nullptr || !parameters->is_object()) return otherwise;
  const RequestJson* const flag = member(*parameters, key);
  if (flag == nullptr) return otherwise;
  if (!flag->is_boolean())
    return bad(std::string("the parameter '") + key + "' is no true or false");
  return flag->get<bool>();
}

Result<Shape> shape_of(const RequestJson& input, const std::string& name) {
  MILLRACE_TRY(const std::string datatype, text_of(input, "datatype", "input '" + name + "'"));
  const std::optional<DType> type = dtype_of_datatype(datatype);
  if (!type) {
    return bad_input(name, "has the datatype " + datatype.substr(0, 40) +
                               (datatype == "BYTES" ? ": texts of any length, which no device takes"
                                                    : ", which is none") +
                               "; it may be BOOL, INT8 to INT64, UINT8 to UINT64, FP16, BF16, FP32 "
                               "or FP64");
  }
  const RequestJson* const dims = member(input, "shape");
  if (dims == nullptr || !dims->is_array() || dims->size() > devices::kMaxRank)
    return bad_input(name, "needs a list 'shape' of at most " + std::to_string(devices::kMaxRank) +
                               " dimensions");
  std::vector<std::int64_t> shape;
  std::int64_t elements = 1;
  for (const RequestJson& dim : *dims) {
    if (!dim.is_number_integer() ||
        (dim.is_number_unsigned() ? dim.get<std::uint64_t>() > std::uint64_t(kMostElements)
                                  : dim.get<std::int64_t>() < 0))
      return bad_input(name, "has a dimension that is no number of elements");
    const auto n = dim.get<std::int64_t>();
    if (n > 0 && elements > kMostElements / n) return bad_input(name, "is too large");
    elements *= n;
    shape.push_back(n);
  }
  return Shape(*type, shape);
}

// --- numbers in JSON ---

template <class T>
bool store_integer(const RequestJson& value, std::byte* to) {
  T number{};
  if (value.is_number_unsigned()) {
    const auto wide = value.get<std::uint64_t>();
    if (wide > static_cast<std::uint64_t>(std::numeric_limits<T>::max())) return false;
    number = static_cast<T>(wide);
  } else if (value.is_number_integer()) {
    const auto wide = value.get<std::int64_t>();
    if constexpr (std::is_unsigned_v<T>) return false;  // it is negative
    if (wide < static_cast<std::int64_t>(std::numeric_limits<T>::min())) return false;
    number = static_cast<T>(wide);
  } else {
    return false;
  }
  std::memcpy(to, &number, sizeof number);
  return true;
}

template <class T>
void store(T number, std::byte* to) {
  std::memcpy(to, &number, sizeof number);
}

bool store_float(const RequestJson& value, DType type, std::byte* to) {
  if (!value.is_number()) return false;
  const auto number = value.get<double>();
  switch (type) {
    case DType::kF16:
      store(to_fp16(static_cast<float>(number)), to);
      return true;
    case DType::kBF16:
      store(to_bf16(static_cast<float>(number)), to);
      return true;
    case DType::kF32:
      store(static_cast<float>(number), to);
      return true;
    default:
      store(number, to);
      return true;
  }
}

bool store_element(const RequestJson& value, DType type, std::byte* to) {
  switch (type) {
    case DType::kI1: {
      if (value.is_boolean()) {
        store<std::uint8_t>(value.get<bool>() ? 1 : 0, to);
        return true;
      }
      std::byte byte{};
      if (!store_integer<std::uint8_t>(value, &byte) || byte > std::byte{1}) return false;
      *to = byte;
      return true;
    }
    case DType::kI8:
      return store_integer<std::int8_t>(value, to);
    case DType::kI16:
      return store_integer<std::int16_t>(value, to);
    case DType::kI32:
      return store_integer<std::int32_t>(value, to);
    case DType::kI64:
      return store_integer<std::int64_t>(value, to);
    case DType::kU8:
      return store_integer<std::uint8_t>(value, to);
    case DType::kU16:
      return store_integer<std::uint16_t>(value, to);
    case DType::kU32:
      return store_integer<std::uint32_t>(value, to);
    case DType::kU64:
      return store_integer<std::uint64_t>(value, to);
    default:
      return store_float(value, type, to);
  }
}

// Writes the elements of a list, nested or flat, in their order.
class ElementWriter {
 public:
  ElementWriter(DType type, std::span<std::byte> into) : type_(type), left_(into) {}
  // False: an element is none of the type, or there are too many.
  bool write(const RequestJson& value) {
    if (value.is_array()) {
      return std::ranges::all_of(value, [this](const RequestJson& item) { return write(item); });
    }
    const std::size_t width = devices::byte_width(type_);
    if (left_.size() < width) {
      too_many_ = true;
      return false;
    }
    if (!store_element(value, type_, left_.data())) {
      wrong_ = json_text(value).substr(0, 40);
      return false;
    }
    left_ = left_.subspan(width);
    return true;
  }
  bool full() const { return left_.empty(); }
  bool too_many() const { return too_many_; }
  const std::string& wrong() const { return wrong_; }

 private:
  const DType type_;
  std::span<std::byte> left_;
  bool too_many_ = false;
  std::string wrong_;
};

// What a body may have beside its tensors, and an id: both are kept as long as the request.
constexpr std::size_t kMostBeside = std::size_t{64} << 10, kMostIdBytes = kMostBeside;

// How many elements there are: what a shape claims is not believed before.
std::size_t count_elements(const RequestJson& data) {
  if (!data.is_array()) return 1;
  std::size_t count = 0;
  for (const RequestJson& item : data) count += count_elements(item);
  return count;
}

Result<HostArray> array_of_json(const RequestJson& data, const Shape& shape,
                                const std::string& name) {
  if (!data.is_array()) return bad_input(name, "needs a list 'data'");
  const std::size_t count = count_elements(data);
  if (count != static_cast<std::size_t>(shape.elements())) {
    return bad_input(name, "has " + std::to_string(count) + " elements in 'data', and its shape " +
                               shape.to_string());
  }
  HostArray array = HostArray::make_unwritten(shape);
  ElementWriter writer(shape.dtype(), array.mutable_bytes());
  if (writer.write(data) && writer.full()) return array;
  return bad_input(name, "has the element " + writer.wrong() + ", which is no " +
                             std::string(datatype_of(shape.dtype())));
}

// --- binary tensors ---

// The bytes behind the JSON, handed out in the order of the inputs.
struct BinaryTail {
  Body rest;

  Result<RowInput> take(const Shape& shape, const std::string& name, std::size_t size) {
    if (size != shape.size_bytes()) {
      return bad_input(name, "has " + std::to_string(size) + " bytes of binary data, and " +
                                 shape.to_string() + " has " + std::to_string(shape.size_bytes()));
    }
    if (size > rest.bytes.size()) {
      return bad_input(name, "says " + std::to_string(size) + " bytes of binary data, and " +
                                 std::to_string(rest.bytes.size()) + " are left of the body");
    }
    const std::span<const std::byte> mine = rest.bytes.first(size);
    rest.bytes = rest.bytes.subspan(size);
    if (shape.dtype() == DType::kI1 &&
        std::ranges::any_of(mine, [](std::byte b) { return b > std::byte{1}; }))
      return bad_input(name, "has a byte that is no BOOL: 0 or 1");
    RowInput input{.name = name};
    input.view.data = mine.data();
    input.view.shape = shape;
    input.view.owner = rest.owner;
    return input;
  }
};

RowInput input_of(const std::string& name, const HostArray& array) {
  RowInput input{.name = name};
  input.view.data = array.bytes().data();
  input.view.shape = array.shape();
  input.view.owner = array.owner();
  return input;
}

// What waits counts by its tensors: a body that is mostly something else is not kept for them.
void copy_if_small(InferRequest& request, const Body& body) {
  const auto in_body = [&](const RowInput& input) { return input.view.owner == body.owner; };
  std::size_t kept = 0;
  for (const RowInput& input : request.inputs)
    kept += in_body(input) ? input.view.shape.size_bytes() : 0;
  if (body.bytes.size() <= 2 * kept + kMostBeside) return;
  for (RowInput& input : request.inputs) {
    if (!in_body(input)) continue;
    HostArray array = HostArray::make_unwritten(input.view.shape);
    const auto* const bytes = static_cast<const std::byte*>(input.view.data);
    std::copy_n(bytes, array.bytes().size(), array.mutable_bytes().begin());
    input = input_of(input.name, array);
  }
}

Result<RowInput> parse_input(const RequestJson& json, BinaryTail& tail) {
  if (!json.is_object()) return bad("an input is no object");
  MILLRACE_TRY(const std::string name, text_of(json, "name", "an input"));
  MILLRACE_TRY(const Shape shape, shape_of(json, name));
  const RequestJson* const parameters = member(json, "parameters");
  const RequestJson* const size = parameters != nullptr && parameters->is_object()
                                      ? member(*parameters, "binary_data_size")
                                      : nullptr;
  if (size != nullptr) {
    if (!size->is_number_unsigned()) return bad_input(name, "has no size as 'binary_data_size'");
    return tail.take(shape, name, size->get<std::size_t>());
  }
  const RequestJson* const data = member(json, "data");
  if (data == nullptr) return bad_input(name, "has neither 'data' nor 'binary_data_size'");
  MILLRACE_TRY(const HostArray array, array_of_json(*data, shape, name));
  return input_of(name, array);
}

Status parse_parameters(const RequestJson& json, InferRequest& request) {
  MILLRACE_TRY(request.binary_output, flag_of(json, "binary_data_output", false));
  const RequestJson* const parameters = member(json, "parameters");
  if (parameters == nullptr) return {};
  if (!parameters->is_object()) return bad("'parameters' is no object");
  if (const RequestJson* const deadline = member(*parameters, "deadline_ms")) {
    if (!deadline->is_number() || !(deadline->get<double>() > 0))
      return bad("the parameter 'deadline_ms' is no number of milliseconds");
    request.deadline_ms = deadline->get<double>();
  }
  if (const RequestJson* const priority = member(*parameters, "priority")) {
    if (!priority->is_number_unsigned() || priority->get<std::uint64_t>() > 9)
      return bad("the parameter 'priority' is no number from 0 to 9");
    request.priority = priority->get<int>();
  }
  return {};
}

Result<std::vector<WantedOutput>> parse_outputs(const RequestJson& json, bool binary) {
  std::vector<WantedOutput> outputs;
  const RequestJson* const list = member(json, "outputs");
  if (list == nullptr) return outputs;
  if (!list->is_array()) return bad("'outputs' is no list");
  std::set<std::string> names;  // a client may list as many as a body holds
  for (const RequestJson& one : *list) {
    if (!one.is_object()) return bad("an output is no object");
    WantedOutput output;
    MILLRACE_TRY(output.name, text_of(one, "name", "an output"));
    if (!names.insert(output.name).second)
      return bad("output '" + output.name + "' is asked for twice");
    MILLRACE_TRY(output.binary, flag_of(one, "binary_data", binary));
    outputs.push_back(std::move(output));
  }
  return outputs;
}

// --- the answer ---

template <class T>
void append_number(std::string& text, T number) {
  char digits[40];
  const auto [end, error] = std::to_chars(digits, digits + sizeof digits, number);
  text.append(digits, end);
}

template <class T>
void append_float(std::string& text, T number) {
  std::isfinite(number) ? append_number(text, number) : static_cast<void>(text += "null");
}

template <class T, class Append>
void append_list(std::string& text, std::span<const std::byte> bytes, Append append) {
  text += '[';
  for (std::size_t i = 0; i < bytes.size(); i += sizeof(T)) {
    T value;
    std::memcpy(&value, bytes.data() + i, sizeof value);
    if (i > 0) text += ',';
    append(text, value);
  }
  text += ']';
}

void append_data(std::string& text, const HostArray& array) {
  const std::span<const std::byte> bytes = array.bytes();
  const auto number = [](std::string& t, auto value) { append_number(t, value); };
  const auto real = [](std::string& t, auto value) { append_float(t, value); };
  switch (array.shape().dtype()) {
    case DType::kI1:
      return append_list<std::uint8_t>(text, bytes, [](std::string& t, std::uint8_t value) {
        t += value != 0 ? "true" : "false";
      });
    case DType::kI8:
      return append_list<std::int8_t>(
          text, bytes, [](std::string& t, std::int8_t value) { append_number(t, int{value}); });
    case DType::kU8:
      return append_list<std::uint8_t>(
          text, bytes, [](std::string& t, std::uint8_t value) { append_number(t, int{value}); });
    case DType::kI16:
      return append_list<std::int16_t>(text, bytes, number);
    case DType::kU16:
      return append_list<std::uint16_t>(text, bytes, number);
    case DType::kI32:
      return append_list<std::int32_t>(text, bytes, number);
    case DType::kU32:
      return append_list<std::uint32_t>(text, bytes, number);
    case DType::kI64:
      return append_list<std::int64_t>(text, bytes, number);
    case DType::kU64:
      return append_list<std::uint64_t>(text, bytes, number);
    case DType::kF16:
      return append_list<std::uint16_t>(text, bytes, [](std::string& t, std::uint16_t value) {
        append_float(t, from_fp16(value));
      });
    case DType::kBF16:
      return append_list<std::uint16_t>(text, bytes, [](std::string& t, std::uint16_t value) {
        append_float(t, from_bf16(value));
      });
    case DType::kF32:
      return append_list<float>(text, bytes, real);
    default:
      return append_list<double>(text, bytes, real);
  }
}

std::string json_quoted(std::string_view text) { return json_text(RequestJson(text)); }

void append_output(InferAnswer& answer, const transfer::RowOutput& output, bool binary) {
  const Shape& shape = output.array.shape();
  std::string& text = answer.head;
  text += R"({"name":)" + json_quoted(output.name) + R"(,"datatype":")" +
          std::string(datatype_of(shape.dtype())) + R"(","shape":[)";
  for (int i = 0; i < shape.rank(); ++i) {
    if (i > 0) text += ',';
    append_number(text, shape.dim(i));
  }
  text += ']';
  if (binary) {
    text += R"(,"parameters":{"binary_data_size":)";
    append_number(text, shape.size_bytes());
    text += "}}";
    answer.tail.push_back(output.array);
  } else {
    text += R"(,"data":)";
    append_data(text, output.array);
    text += '}';
  }
}

}  // namespace

Result<InferRequest> parse_infer_request(const Body& body,
                                         std::optional<std::size_t> header_bytes) {
  const std::size_t json_bytes = header_bytes.value_or(body.bytes.size());
  if (json_bytes > body.bytes.size()) {
    return bad("Inference-Header-Content-Length is " + std::to_string(json_bytes) +
               ", and the body has " + std::to_string(body.bytes.size()) + " bytes");
  }
  MILLRACE_TRY(const RequestJson json,
               parse_json({reinterpret_cast<const char*>(body.bytes.data()), json_bytes}));
  InferRequest request;
  if (const RequestJson* const id = member(json, "id")) {
    if (!id->is_string()) return bad("'id' is no text");
    request.id = id->get<std::string>();
    if (request.id.size() > kMostIdBytes)
      return bad("'id' is longer than " + std::to_string(kMostIdBytes) + " bytes");
  }
  MILLRACE_TRY_STATUS(parse_parameters(json, request));
  MILLRACE_TRY(request.outputs, parse_outputs(json, request.binary_output));
  const RequestJson* const inputs = member(json, "inputs");
  if (inputs == nullptr || !inputs->is_array()) return bad("the request needs a list 'inputs'");
  BinaryTail tail{{body.bytes.subspan(json_bytes), body.owner}};
  for (const RequestJson& one : *inputs) {
    MILLRACE_TRY(RowInput input, parse_input(one, tail));
    request.inputs.push_back(std::move(input));
  }
  if (!tail.rest.bytes.empty()) {
    return bad("the body has " + std::to_string(tail.rest.bytes.size()) +
               " bytes behind the binary data that its inputs name");
  }
  copy_if_small(request, body);
  return request;
}

Result<InferRequest> parse_npy_request(const Body& body, const std::string& input) {
  transfer::MemorySource source("the request's .npy body", body.bytes);
  Result<HostArray> array = transfer::read_npy(source, {.max_bytes = body.bytes.size()});
  if (!array) return bad_input(input, "cannot be read: " + array.error().message());
  InferRequest request;
  request.inputs.push_back(input_of(input, *array));
  return request;
}

Status check_outputs(const InferRequest& request, const transfer::BatchModel& model) {
  for (const WantedOutput& wanted : request.outputs) {
    const auto found =
        std::ranges::find(model.outputs(), wanted.name, &transfer::BatchTensor::name);
    if (found == model.outputs().end())
      return bad("output '" + wanted.name + "' is none of model '" + model.name() + "'");
  }
  return {};
}

Result<InferAnswer> make_infer_answer(const std::string& model, const InferRequest& request,
                                      const RowOutputs& outputs) {
  std::vector<std::pair<const transfer::RowOutput*, bool>> sent;
  for (const WantedOutput& wanted : request.outputs) {
    const auto found = std::ranges::find(outputs, wanted.name, &transfer::RowOutput::name);
    if (found == outputs.end())
      return bad("output '" + wanted.name + "' is none of model '" + model + "'");
    sent.emplace_back(&*found, wanted.binary);
  }
  if (request.outputs.empty()) {
    for (const transfer::RowOutput& output : outputs)
      sent.emplace_back(&output, request.binary_output);
  }
  InferAnswer answer{.head = R"({"model_name":)" + json_quoted(model)};
  if (!request.id.empty()) answer.head += R"(,"id":)" + json_quoted(request.id);
  answer.head += R"(,"outputs":[)";
  for (std::size_t i = 0; i < sent.size(); ++i) {
    const auto& [output, binary] = sent[i];
    if (datatype_of(output->array.shape().dtype()).empty()) {
      return bad("output '" + output->name + "' is " + output->array.shape().to_string() +
                 ", for which the protocol has no datatype");
    }
    if (i > 0) answer.head += ',';
    append_output(answer, *output, binary);
  }
  answer.head += "]}";
  if (!answer.tail.empty()) answer.header_bytes = answer.head.size();
  return answer;
}

Result<InferAnswer> make_npy_answer(const RowOutputs& outputs) {
  if (outputs.size() != 1) {
    return bad("the model has " + std::to_string(outputs.size()) +
               " outputs, and an .npy body one; ask by JSON");
  }
  MILLRACE_TRY(std::string header, transfer::make_npy_header(outputs[0].array.shape()));
  return InferAnswer{.head = std::move(header), .tail = {outputs[0].array}};
}

std::string error_body(std::string_view message) {
  if (message.size() <= kMostErrorBytes) return R"({"error":)" + json_quoted(message) + "}";
  return error_body(std::string(message.substr(0, kMostErrorBytes - 3)) + "...");
}

}  // namespace millrace::serve
