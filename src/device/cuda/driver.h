// The CUDA driver, loaded at run time. It is declared here so that building needs neither a CUDA
// header nor a CUDA library. Names, numbers and signatures are those of the CUDA Driver API
// reference.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "job/status.h"

namespace lanecrypt::device::cuda {

using CUresult = int;
using CUdevice = int;
using CUdeviceptr = unsigned long long;
using CUcontext = struct CUctx_st *;
using CUmodule = struct CUmod_st *;
using CUfunction = struct CUfunc_st *;
using CUstream = struct CUstream_st *;
using CUevent = struct CUevent_st *;

enum : CUresult {
  kSuccess = 0,
  kErrorOutOfMemory = 2,
  kErrorNoDevice = 100,
  kErrorNotReady = 600,
  kErrorStreamCaptureImplicit = 906,
};

enum : unsigned {
  kStreamNonBlocking = 1,
  kEventBlockingSync = 1,
  kEventDisableTiming = 2,
  kMemHostAllocPortable = 1,
};

// CUstreamCaptureMode and CUstreamCaptureStatus.
constexpr int kCaptureRelaxed = 2;
constexpr int kCaptureNone = 0, kCaptureActive = 1;

enum Attribute : int {
  kMaxThreadsPerBlock = 1,
  kMultiprocessorCount = 16,
  kPciBusId = 33,
  kPciDeviceId = 34,
  kUnifiedAddressing = 41,
  kPciDomainId = 50,
  kComputeCapabilityMajor = 75,
  kComputeCapabilityMinor = 76,
  kMaxSharedMemoryPerBlockOptin = 97,
};

enum PointerAttribute : int { kMemoryType = 2, kRangeStart = 11, kRangeSize = 12 };
constexpr unsigned kMemoryTypeHost = 1;
enum FunctionAttribute : int { kMaxDynamicSharedSizeBytes = 8 };

// CUlaunchAttribute and CUlaunchConfig.
struct LaunchAttribute {
  int id;
  char padding[4];
  union {
    char room[64];
    int value;
  };
};
constexpr int kProgrammaticStreamSerialization = 6;

struct LaunchConfig {
  unsigned grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes;
  CUstream stream;
  LaunchAttribute *attributes;
  unsigned attribute_count;
};

// The functions that are used: name in the driver, name here, parameters.
#define LANECRYPT_CUDA_FUNCTIONS(F)                                                               \
  F(cuInit, init, (unsigned flags))                                                               \
  F(cuDriverGetVersion, driver_version, (int *version))                                           \
  F(cuGetErrorName, error_name, (CUresult error, const char **name))                              \
  F(cuGetErrorString, error_string, (CUresult error, const char **text))                          \
  F(cuDeviceGetCount, device_count, (int *count))                                                 \
  F(cuDeviceGet, device_get, (CUdevice * device, int ordinal))                                    \
  F(cuDeviceGetName, device_name, (char *name, int room, CUdevice device))                        \
  F(cuDeviceTotalMem_v2, device_memory, (size_t * bytes, CUdevice device))                        \
  F(cuDeviceGetAttribute, device_attribute, (int *value, int attribute, CUdevice device))         \
  F(cuDevicePrimaryCtxRetain, primary_retain, (CUcontext * context, CUdevice device))             \
  F(cuDevicePrimaryCtxRelease_v2, primary_release, (CUdevice device))                             \
  F(cuCtxGetCurrent, get_current, (CUcontext * context))                                          \
  F(cuCtxSetCurrent, set_current, (CUcontext context))                                            \
  F(cuCtxPushCurrent_v2, push_current, (CUcontext context))                                       \
  F(cuCtxPopCurrent_v2, pop_current, (CUcontext * context))                                       \
  F(cuModuleLoadData, module_load, (CUmodule * module, const void *image))                        \
  F(cuModuleUnload, module_unload, (CUmodule module))                                             \
  F(cuModuleGetFunction, module_function,                                                         \
    (CUfunction * function, CUmodule module, const char *name))                                   \
  F(cuModuleGetGlobal_v2, module_global,                                                          \
    (CUdeviceptr * address, size_t * bytes, CUmodule module, const char *name))                   \
  F(cuFuncSetAttribute, function_set, (CUfunction function, int attribute, int value))            \
  F(cuOccupancyMaxActiveBlocksPerMultiprocessor, occupancy,                                       \
    (int *blocks, CUfunction function, int threads, size_t shared_bytes))                         \
  F(cuLaunchKernelEx, launch,                                                                     \
    (const LaunchConfig *config, CUfunction function, void **parameters, void **extra))           \
  F(cuMemAlloc_v2, memory_allocate, (CUdeviceptr * address, size_t bytes))                        \
  F(cuMemFree_v2, memory_free, (CUdeviceptr address))                                             \
  F(cuMemHostAlloc, host_allocate, (void **memory, size_t bytes, unsigned flags))                 \
  F(cuMemFreeHost, host_free, (void *memory))                                                     \
  F(cuMemHostRegister_v2, host_register, (void *memory, size_t bytes, unsigned flags))            \
  F(cuMemHostUnregister, host_unregister, (void *memory))                                         \
  F(cuMemcpyHtoDAsync_v2, copy_up,                                                                \
    (CUdeviceptr to, const void *from, size_t bytes, CUstream stream))                            \
  F(cuMemcpyDtoHAsync_v2, copy_down, (void *to, CUdeviceptr from, size_t bytes, CUstream stream)) \
  F(cuMemcpyDtoDAsync_v2, copy_on_device,                                                         \
    (CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream))                            \
  F(cuMemsetD8Async, fill, (CUdeviceptr to, unsigned char value, size_t bytes, CUstream stream))  \
  F(cuPointerGetAttribute, pointer_attribute, (void *value, int attribute, CUdeviceptr pointer))  \
  F(cuMemGetAddressRange_v2, address_range,                                                       \
    (CUdeviceptr * start, size_t * bytes, CUdeviceptr address))                                   \
  F(cuStreamCreateWithPriority, stream_create, (CUstream * stream, unsigned flags, int priority)) \
  F(cuCtxGetStreamPriorityRange, priorities, (int *least, int *greatest))                         \
  F(cuStreamDestroy_v2, stream_destroy, (CUstream stream))                                        \
  F(cuStreamSynchronize, stream_synchronize, (CUstream stream))                                   \
  F(cuStreamWaitEvent, stream_wait, (CUstream stream, CUevent event, unsigned flags))             \
  F(cuStreamIsCapturing, stream_is_capturing, (CUstream stream, int *status))                     \
  F(cuThreadExchangeStreamCaptureMode, exchange_capture_mode, (int *mode))                        \
  F(cuEventCreate, event_create, (CUevent * event, unsigned flags))                               \
  F(cuEventDestroy_v2, event_destroy, (CUevent event))                                            \
  F(cuEventRecord, event_record, (CUevent event, CUstream stream))                                \
  F(cuEventQuery, event_query, (CUevent event))                                                   \
  F(cuEventSynchronize, event_synchronize, (CUevent event))                                       \
  F(cuEventElapsedTime, event_elapsed, (float *milliseconds, CUevent begin, CUevent end))

struct Driver {
#define LANECRYPT_CUDA_MEMBER(symbol, name, parameters) CUresult(*name) parameters;
  LANECRYPT_CUDA_FUNCTIONS(LANECRYPT_CUDA_MEMBER)
#undef LANECRYPT_CUDA_MEMBER
};

// Returns the initialised driver, or nullptr with the reason in `*why`: LC_ERROR_NO_DEVICE if there
// is none or if is_of_parent(), LC_ERROR_UNSUPPORTED if it is too old or does not start. It is
// loaded once per process and never unloaded. Thread-safe.
const Driver *driver(Status *why);
// Whether a parent process called driver() before it forked this process.
bool is_of_parent();

// The status of a failed call: LC_ERROR_MEMORY or LC_ERROR_DEVICE, with the driver's text.
Status error(const Driver &driver, CUresult result, const char *what);

}  // namespace lanecrypt::device::cuda
