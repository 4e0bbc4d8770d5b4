// Execution: everything is checked and donated in the call, and computed on the client's thread.
#include <algorithm>
#include <cstring>

#include "tests/plugins/healthy/objects.h"

namespace millrace::memory_plugin {
namespace {

// What one device does in a launch.
struct Part {
  std::vector<std::shared_ptr<Storage>> inputs;
  std::vector<EventRef> inputs_ready;
  std::vector<std::shared_ptr<Storage>> outputs;
  EventRef done = std::make_shared<EventState>();
};

abi::Error* check_argument(const abi::Compiled& compiled, std::size_t i, const abi::Buffer& buffer,
                           const abi::Device* device) {
  const Type& wanted = compiled.program.inputs[i];
  if (buffer.type != abi::BufferType::kF32 || buffer.dims != wanted.dims) {
    return make_error(kInvalidArgument, "argument " + std::to_string(i) +
                                            " has not the type that " + compiled.program.name +
                                            " wants");
  }
  if (buffer.device != device) {
    return make_error(kInvalidArgument, "argument " + std::to_string(i) + " is not on device " +
                                            std::to_string(device->description.id));
  }
  return nullptr;
}

class Launch {
 public:
  explicit Launch(abi::LoadedExecutableExecuteArgs* a)
      : a_(a), compiled_(a->executable->compiled), parts_(a->num_devices) {}

  abi::Error* run() {
    if (abi::Error* error = find_devices()) return error;
    for (std::size_t d = 0; d < parts_.size(); ++d) {
      if (abi::Error* error = take_inputs(d)) return error;
    }
    // From here on nothing fails: only now are inputs given away.
    for (std::size_t d = 0; d < parts_.size(); ++d) {
      donate(d);
      make_outputs(d);
    }
    a_->executable->client->worker->post(
        [compiled = compiled_, parts = std::move(parts_)]() mutable { compute(*compiled, parts); });
    return nullptr;
  }

 private:
  abi::Error* find_devices() {
    if (a_->executable->deleted) {
      return make_error(kFailedPrecondition, "the executable was deleted");
    }
    if (a_->num_args != compiled_->program.inputs.size()) {
      return make_error(kInvalidArgument, compiled_->program.name + " takes " +
                                              std::to_string(compiled_->program.inputs.size()) +
                                              " arguments, not " + std::to_string(a_->num_args));
    }
    devices_ = a_->executable->devices;
    if (a_->execute_device != nullptr) devices_ = {a_->execute_device};
    if (devices_.empty() && a_->num_args > 0) devices_ = {a_->argument_lists[0][0]->device};
    if (devices_.empty()) devices_ = {a_->executable->client->device_list[0]};
    if (devices_.size() != a_->num_devices) {
      return make_error(kInvalidArgument, "the program runs on " + std::to_string(devices_.size()) +
                                              " devices, not " + std::to_string(a_->num_devices));
    }
    return nullptr;
  }
  bool donated(std::size_t i) const {
    if (!compiled_->program.donated[i]) return false;
    const abi::ExecuteOptions& o = *a_->options;
    return std::find(o.non_donatable_input_indices,
                     o.non_donatable_input_indices + o.num_non_donatable_input_indices,
                     static_cast<std::int64_t>(i)) ==
           o.non_donatable_input_indices + o.num_non_donatable_input_indices;
  }
  abi::Error* take_inputs(std::size_t d) {
    for (std::size_t i = 0; i < a_->num_args; ++i) {
      abi::Buffer* buffer = a_->argument_lists[d][i];
      if (abi::Error* error = check_argument(*compiled_, i, *buffer, devices_[d])) return error;
      for (std::size_t j = 0; j < i; ++j) {
        if (a_->argument_lists[d][j] == buffer && (donated(i) || donated(j))) {
          return make_error(kInvalidArgument, "one buffer is argument " + std::to_string(j) +
                                                  " and, donated, argument " + std::to_string(i));
        }
      }
      std::shared_ptr<Storage> storage;
      if (abi::Error* error = live_storage(buffer, storage)) return error;
      parts_[d].inputs.push_back(std::move(storage));
      parts_[d].inputs_ready.push_back(buffer->ready);
    }
    return nullptr;
  }
  void donate(std::size_t d) {
    for (std::size_t i = 0; i < a_->num_args; ++i) {
      if (!donated(i)) continue;
      abi::Buffer* buffer = a_->argument_lists[d][i];
      const std::scoped_lock lock(buffer->mutex);
      buffer->storage.reset();
      buffer->device->bytes_in_use -= static_cast<std::int64_t>(buffer->bytes);
    }
  }
  void make_outputs(std::size_t d) {
    for (std::size_t o = 0; o < compiled_->program.outputs.size(); ++o) {
      const Type& type = compiled_->program.types[compiled_->program.outputs[o]];
      auto storage = Storage::make(type.elements() * sizeof(float));
      parts_[d].outputs.push_back(storage);
      a_->output_lists[d][o] = make_buffer(devices_[d], abi::BufferType::kF32, type.dims,
                                           std::move(storage), parts_[d].done);
    }
    if (a_->device_complete_events != nullptr) {
      a_->device_complete_events[d] = make_event(parts_[d].done);
    }
  }
  static void compute(const abi::Compiled& compiled, std::vector<Part>& parts) {
    Outcome outcome;
    for (const Part& part : parts) {
      for (const EventRef& ready : part.inputs_ready) {
        if (outcome.code == 0) outcome = ready->wait();
      }
    }
    if (outcome.code == 0) {
      std::vector<Program::Values> values(parts.size());
      for (std::size_t d = 0; d < parts.size(); ++d) {
        values[d].resize(compiled.program.types.size());
        for (std::size_t i = 0; i < parts[d].inputs.size(); ++i) {
          values[d][i].resize(compiled.program.inputs[i].elements());
          std::memcpy(values[d][i].data(), parts[d].inputs[i]->data,
                      values[d][i].size() * sizeof(float));
        }
      }
      compiled.program.run(values);
      for (std::size_t d = 0; d < parts.size(); ++d) {
        for (std::size_t o = 0; o < parts[d].outputs.size(); ++o) {
          const std::vector<float>& v = values[d][compiled.program.outputs[o]];
          std::memcpy(parts[d].outputs[o]->data, v.data(), v.size() * sizeof(float));
        }
      }
    }
    for (Part& part : parts) {
      part.inputs.clear();  // who lent them hears of it before the outputs are there
      part.done->set(outcome);
    }
  }

  abi::LoadedExecutableExecuteArgs* a_;
  std::shared_ptr<const abi::Compiled> compiled_;
  std::vector<abi::Device*> devices_;
  std::vector<Part> parts_;
};

}  // namespace

void add_execution(abi::Api& api) {
  add(api, [](abi::LoadedExecutableExecuteArgs* a) -> abi::Error* { return Launch(a).run(); });
  add(api, [](abi::ExecuteContextCreateArgs* a) { a->context = new int(0); });
  add(api, [](abi::ExecuteContextDestroyArgs* a) { delete static_cast<int*>(a->context); });
}

}  // namespace millrace::memory_plugin
