// Arrays that take over the memory of others: an alias that exists before the array whose bytes it
// gets, a donation that waits for its caller, and the same bytes as elements of another type. Read
// next: devices/cpu/late_array.h.
#include <memory>
#include <string>
#include <utility>

#include "millrace/tools/pjrt_plugin/buffer.h"
#include "millrace/tools/pjrt_plugin/error.h"
#include "millrace/tools/pjrt_plugin/event.h"

namespace millrace::devices::pjrt::abi {

// The caller's, until it says what becomes of the alias or destroys the client. Both are calls with
// the client, so the first has returned when the second begins.
struct AliasEnd final : pjrt_plugin::Handle<AliasEnd> {
  AliasEnd(Ref<pjrt_plugin::ClientBody> of, cpu::LateArray made)
      : body(std::move(of)), array(std::move(made)) {
    body->add_end(this, [this](const millrace::Error& error) {
      const std::unique_ptr<AliasEnd> ended(this);
      array.fail(error);
    });
  }
  ~AliasEnd() { body->remove_end(this); }
  const Ref<pjrt_plugin::ClientBody> body;  // first: outlives the array
  cpu::LateArray array;
};

}  // namespace millrace::devices::pjrt::abi

namespace millrace::pjrt_plugin {
namespace {

Result<devices::cpu::LateArray> make_alias(const ClientBody& body, const devices::Shape& shape,
                                           const abi::Memory& memory) {
  return body.cpu().make_alias(shape, memory.device->id());
}

Status create_alias(ClientBody& body, abi::ClientCreateAliasBufferArgs& a) {
  MILLRACE_TRY(const devices::Shape shape, read_shape(a.type, a.dims, a.num_dims));
  MILLRACE_TRY(abi::Memory* const memory, target_memory(body, a.memory, nullptr));
  MILLRACE_TRY_STATUS(check_row_major(a.layout, shape));
  MILLRACE_TRY(devices::cpu::LateArray array, make_alias(body, shape, *memory));
  a.buffer = make_buffer(body, array.buffer(), memory, true);
  a.alias = new abi::AliasEnd(Ref<ClientBody>::share(&body), std::move(array));
  return {};
}

// Gives the error that the caller brings, as XLA's plugin does: the alias has it too.
Status fulfill_alias(abi::ClientFulfillAliasBufferArgs& a) {
  MILLRACE_GIVEN(alias, alias);
  if (a.error_code != 0) {
    const std::unique_ptr<abi::AliasEnd> ended(&alias);
    const Error error = from_caller(a.error_code, a.error_message, a.error_message_size);
    ended->array.fail(error);
    return std::unexpected(error);
  }
  MILLRACE_GIVEN(buffer, buffer);
  const devices::Shape &from = buffer.array.shape(), &to = alias.array.buffer().shape();
  if (!(from == to)) {
    return fail(ErrorCode::kInvalidArgument,
                "an alias of " + to.to_string() + " cannot be fulfilled with " + from.to_string());
  }
  MILLRACE_TRY_STATUS(alias.array.take_over(buffer.array, make_ready()));
  delete &alias;
  return {};
}

// What the caller's function ends.
struct Dependency final : Handle<Dependency> {
  Promise<void> ready;
};

void end_dependency(abi::DependencyReady* given) {
  if (given == nullptr || given->struct_size < sizeof(abi::DependencyReady)) return;
  auto* const dependency = static_cast<Dependency*>(given->data);
  if (dependency == nullptr || !dependency->is_live()) return;
  Promise<void> ready = std::move(dependency->ready);
  delete dependency;
  if (given->error_code == 0) return ready.set_value();
  ready.set_error(from_caller(given->error_code, given->error_message, given->error_message_size));
}

Status donate(abi::Buffer& buffer, abi::BufferDonateWithControlDependencyArgs& a) {
  MILLRACE_TRY(devices::cpu::LateArray array,
               make_alias(*buffer.body, buffer.array.shape(), *buffer.memory));
  auto dependency = std::make_unique<Dependency>();
  Future<void> ready = dependency->ready.future();
  ready.ignore();  // the array has its error
  const devices::Buffer made = array.buffer();
  MILLRACE_TRY_STATUS(array.take_over(buffer.array, ready));
  buffer.body->note_late(ready);
  a.out_buffer = make_buffer(*buffer.body, made, buffer.memory, true);
  a.data = dependency.release();
  a.ready = &end_dependency;
  return {};
}

// Whether any bits are an element of that type.
bool takes_any_bits(devices::DType type) {
  return type != devices::DType::kI1 && !has_spare_bits(type);
}

Status bitcast(abi::Buffer& buffer, abi::BufferBitcastArgs& a) {
  const devices::Shape from = buffer.array.shape();
  MILLRACE_TRY(const devices::Shape shape, read_shape(a.type, a.dims, a.num_dims));
  MILLRACE_TRY_STATUS(check_row_major(a.layout, shape));
  if (shape.dtype() != from.dtype() &&
      (!takes_any_bits(shape.dtype()) || !takes_any_bits(from.dtype()))) {
    return fail(ErrorCode::kUnimplemented,
                from.to_string() + " cannot be taken as " + shape.to_string() +
                    ": one of them has elements of less than a byte, of which each has its own");
  }
  MILLRACE_TRY(devices::cpu::LateArray array, make_alias(*buffer.body, shape, *buffer.memory));
  const devices::Buffer made = array.buffer();
  MILLRACE_TRY_STATUS(array.take_over(buffer.array, make_ready()));
  a.out_buffer = make_buffer(*buffer.body, made, buffer.memory, buffer.late);
  return {};
}

}  // namespace

void add_takeovers(abi::Api& api) {
  add<&abi::ClientCreateAliasBufferArgs::alias, "fulfill_alias_buffer_cb">(
      api, [](abi::ClientCreateAliasBufferArgs& a) -> Status {
        MILLRACE_GIVEN(client, client);
        return create_alias(*client.body, a);
      });
  add<&abi::ClientFulfillAliasBufferArgs::alias, "fulfill_alias_buffer_cb">(
      api, [](abi::ClientFulfillAliasBufferArgs& a) -> Status {
        MILLRACE_GIVEN(client, client);
        return fulfill_alias(a);
      });
  add<&abi::BufferDonateWithControlDependencyArgs::out_buffer, "out_buffer">(
      api, [](abi::BufferDonateWithControlDependencyArgs& a) -> Status {
        MILLRACE_GIVEN(buffer, buffer);
        return donate(buffer, a);
      });
  add<&abi::BufferBitcastArgs::out_buffer, "out_buffer">(api,
                                                         [](abi::BufferBitcastArgs& a) -> Status {
                                                           MILLRACE_GIVEN(buffer, buffer);
                                                           return bitcast(buffer, a);
                                                         });
}

}  // namespace millrace::pjrt_plugin
