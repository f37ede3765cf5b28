// The functions of the C ABI for pinned memory, device memory and copies between host and device.
//
// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "abi/boundary.h"

using lanecrypt::Result;
using lanecrypt::Status;
using lanecrypt::abi::find_device;
using lanecrypt::abi::guarded;
using lanecrypt::abi::report;
using lanecrypt::runtime::Executor;

lc_status lc_alloc_pinned(lc_context *context, size_t bytes, void **pointer) {
  return guarded([&]() -> lc_status {
    if (context == nullptr || pointer == nullptr || bytes == 0)
      return report(LC_ERROR_ARGUMENT, "no context, no bytes, or no place for the pointer");
    Result<void *> memory = context->allocate_pinned(bytes);
    if (!memory.ok()) return report(memory.status());
    *pointer = *memory;
    return LC_OK;
  });
}

void lc_free_pinned(lc_context *context, void *pointer) {
  (void)guarded([&]() -> lc_status {
    if (context != nullptr && pointer != nullptr) context->free_pinned(pointer);
    return LC_OK;
  });
}

lc_status lc_alloc_device(lc_context *context, uint32_t index, uint64_t bytes, void **pointer) {
  return guarded([&]() -> lc_status {
    if (pointer == nullptr || bytes == 0)
      return report(LC_ERROR_ARGUMENT, "no bytes, or no place for the pointer");
    Result<Executor *> found = find_device(context, index);
    if (!found.ok()) return report(found.status());
    return report((*found)->call([&](auto &, lanecrypt::runtime::DeviceMemory &memory) -> Status {
      Result<uint64_t> address = memory.allocate(bytes);
      if (!address.ok()) return address.status();
      *pointer = reinterpret_cast<void *>(*address);
      context->dispatcher().add_device_memory(index, *pointer, bytes);
      return Status();
    }));
  });
}

lc_status lc_free_device(lc_context *context, uint32_t index, void *pointer) {
  return guarded([&]() -> lc_status {
    if (pointer == nullptr) return LC_OK;
    Result<Executor *> found = find_device(context, index);
    if (!found.ok()) return report(found.status());
    return report((*found)->call([&](auto &, lanecrypt::runtime::DeviceMemory &memory) -> Status {
      LC_TRY(memory.free(reinterpret_cast<uint64_t>(pointer)));
      context->dispatcher().remove_device_memory(pointer);
      return Status();
    }));
  });
}

namespace {

// copy() copies between host and device on the device's thread.
lc_status copy(lc_context *context, uint32_t index, const void *device_pointer, void *to_host,
               const void *from_host, uint64_t bytes) {
  if (device_pointer == nullptr || (to_host == nullptr && from_host == nullptr))
    return report(LC_ERROR_ARGUMENT, "a pointer is missing");
  if (bytes == 0) return LC_OK;
  Result<Executor *> found = find_device(context, index);
  if (!found.ok()) return report(found.status());
  return report((*found)->call(
      [&](lanecrypt::device::Device &device, lanecrypt::runtime::DeviceMemory &memory) -> Status {
        std::unique_ptr<lanecrypt::device::Buffer> view;
        Result<lanecrypt::runtime::DeviceAddress> resolved =
            memory.resolve_to_copy(reinterpret_cast<uint64_t>(device_pointer), bytes, &view);
        if (!resolved.ok()) return resolved.status();
        auto stream = device.make_stream();
        if (!stream.ok()) return stream.status();
        LC_TRY(to_host != nullptr
                   ? (*stream)->download(to_host, *resolved->buffer, resolved->offset, bytes)
                   : (*stream)->upload(*resolved->buffer, resolved->offset, from_host, bytes));
        return (*stream)->finish();
      }));
}

}  // namespace

lc_status lc_copy_to_device(lc_context *context, uint32_t index, void *device_pointer,
                            const void *host_pointer, uint64_t bytes) {
  return guarded(
      [&] { return copy(context, index, device_pointer, nullptr, host_pointer, bytes); });
}

lc_status lc_copy_from_device(lc_context *context, uint32_t index, void *host_pointer,
                              const void *device_pointer, uint64_t bytes) {
  return guarded(
      [&] { return copy(context, index, device_pointer, host_pointer, nullptr, bytes); });
}
