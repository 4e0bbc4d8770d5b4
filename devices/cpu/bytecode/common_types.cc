#include "millrace/devices/cpu/bytecode/common_types.h"

namespace millrace::devices::cpu::bytecode {

using ir::Type;
using ir::TypeKind;

namespace {

bool is_element(Type type) {
  return type.kind() == TypeKind::kScalar || type.kind() == TypeKind::kIndex ||
         type.kind() == TypeKind::kQuant || type.kind() == TypeKind::kOpaque;
}

}  // namespace

bool read_complex(Entries& entries, ByteCursor& in, Type* out) {
  Type part;
  if (!entries.read(in, &part)) return false;
  const DType dtype = part.kind() == TypeKind::kScalar ? part.dtype() : DType::kInvalid;
  if (dtype != DType::kF32 && dtype != DType::kF64)
    return in.fail("complex numbers of " + part.to_string().substr(0, 80));
  *out = entries.module().types().scalar(dtype == DType::kF32 ? DType::kC64 : DType::kC128);
  return true;
}

bool read_function(Entries& entries, ByteCursor& in, Type* out) {
  std::vector<Type> inputs;
  std::vector<Type> results;
  if (!entries.read(in, &inputs) || !entries.read(in, &results)) return false;
  *out = entries.module().types().function(inputs, results);
  return true;
}

bool read_index(Entries& entries, ByteCursor&, Type* out) {
  *out = entries.module().types().index();
  return true;
}

bool read_none(Entries& entries, ByteCursor&, Type* out) {
  *out = entries.module().types().none();
  return true;
}

bool read_tensor(Entries& entries, ByteCursor& in, Type* out) {
  std::vector<std::int64_t> dims;
  Type element;
  if (!read_dims(in, &dims) || !read_element(entries, in, &element)) return false;
  *out = entries.module().types().tensor(dims, element);
  return true;
}

bool read_tuple(Entries& entries, ByteCursor& in, Type* out) {
  std::vector<Type> members;
  if (!entries.read(in, &members)) return false;
  *out = entries.module().types().tuple(members);
  return true;
}

bool read_dims(ByteCursor& in, std::vector<std::int64_t>* dims) {
  if (!in.svarints(dims)) return false;
  for (const std::int64_t dim : *dims) {
    if (dim < 0 && dim != ir::kDynamic)
      return in.fail("a dimension of " + std::to_string(dim) + " elements");
  }
  return true;
}

bool read_element(Entries& entries, ByteCursor& in, Type* out) {
  if (!entries.read(in, out)) return false;
  return is_element(*out) ||
         in.fail("an array of elements of type " + out->to_string().substr(0, 80));
}

}  // namespace millrace::devices::cpu::bytecode
