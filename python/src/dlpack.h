// The part of DLPack's ABI that this module uses, with the names of the standard: version 1 of the
// structs, the older managed tensor, and the table of the C exchange API.
// https://dmlc.github.io/dlpack/latest/c_api.html
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace lanecrypt::python::dlpack {

constexpr uint32_t kMajorVersion = 1, kMinorVersion = 0;
constexpr uint64_t kReadOnly = 1;

enum DLDeviceType : int32_t { kDLCPU = 1, kDLCUDA = 2, kDLCUDAHost = 3, kDLCUDAManaged = 13 };

struct DLPackVersion {
  uint32_t major, minor;
};

struct DLDevice {
  DLDeviceType device_type;
  int32_t device_id;
};

enum DLDataTypeCode : uint8_t { kDLInt = 0, kDLUInt = 1, kDLComplex = 5, kDLBool = 6 };

struct DLDataType {
  uint8_t code, bits;
  uint16_t lanes;
};

struct DLTensor {
  void *data;
  DLDevice device;
  int32_t ndim;
  DLDataType dtype;
  int64_t *shape;
  int64_t *strides;  // in items; nullptr: packed
  uint64_t byte_offset;
};

struct DLManagedTensor {
  DLTensor dl_tensor;
  void *manager_ctx;
  void (*deleter)(DLManagedTensor *self);
};

struct DLManagedTensorVersioned {
  DLPackVersion version;
  void *manager_ctx;
  void (*deleter)(DLManagedTensorVersioned *self);
  uint64_t flags;
  DLTensor dl_tensor;
};

struct DLPackExchangeAPIHeader {
  DLPackVersion version;
  DLPackExchangeAPIHeader *prev_api;
};

struct DLPackExchangeAPI {
  DLPackExchangeAPIHeader header;
  void *managed_tensor_allocator;
  int (*managed_tensor_from_py_object_no_sync)(void *object, DLManagedTensorVersioned **out);
  void *managed_tensor_to_py_object_no_sync;
  void *dltensor_from_py_object_no_sync;
  int (*current_work_stream)(DLDeviceType type, int32_t id, void **out);
};

}  // namespace lanecrypt::python::dlpack
