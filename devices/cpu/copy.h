// Copies: bytes into, between and out of CPU devices. Small ones are made at once, on the caller's
// thread; large ones on the threads of the device, so that its actor goes on.
#pragma once

#include <cstddef>
#include <span>

#include "millrace/core/async/future.h"
#include "millrace/core/async/scope.h"
#include "millrace/devices/client.h"
#include "millrace/devices/cpu/array.h"
#include "millrace/devices/cpu/device.h"

namespace millrace::devices::cpu {

// Copies of up to so many bytes cost less than handing them to another thread.
inline constexpr std::size_t kInlineCopyBytes = 64 * 1024;

// Writes the elements of view to a new block and completes array with it. The future completes when
// the host bytes have been read, whatever becomes of the array.
Future<void> copy_in(CpuDevice& device, Scope::Hold hold, const HostView& view, Ref<CpuArray> array,
                     bool during_call);
// Completes array with a copy of source, once that is ready.
void copy_across(CpuDevice& device, Scope::Hold hold, Ref<CpuArray> source, Ref<CpuArray> array);
// Copies source to destination, once it is ready.
Future<void> copy_out(CpuDevice& device, Scope::Hold hold, Ref<CpuArray> source,
                      std::span<std::byte> destination, Owner keep_alive);

}  // namespace millrace::devices::cpu
