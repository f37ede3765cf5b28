// OpenCL's return codes as statuses, and its objects as C++ objects.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>

#include "device/opencl/loader.h"
#include "job/status.h"

namespace lanecrypt::device::opencl {

// "CL_OUT_OF_RESOURCES", or "unknown error" for a code that 1.2 does not have.
const char *error_name(cl_int code);

// LC_OK for CL_SUCCESS; otherwise LC_ERROR_MEMORY where memory ran out and
// LC_ERROR_DEVICE for all else, naming the call and the code.
Status check(const char *call, cl_int code);

// An owned OpenCL object; `kRelease` drops its reference.
template <typename T, cl_int (*Api::*kRelease)(T)>
class Handle {
 public:
  Handle() = default;
  explicit Handle(T object) : object_(object) {}
  Handle(Handle &&other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Handle &operator=(Handle &&other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Handle() {
    if (object_ != nullptr) (cl().*kRelease)(object_);
  }

  T get() const { return object_; }
  explicit operator bool() const { return object_ != nullptr; }
  // Where a call puts the object; whatever was held is released first.
  T *receive() {
    *this = Handle();
    return &object_;
  }

 private:
  T object_ = nullptr;
};

using ContextHandle = Handle<cl_context, &Api::clReleaseContext>;
using QueueHandle = Handle<cl_command_queue, &Api::clReleaseCommandQueue>;
using MemoryHandle = Handle<cl_mem, &Api::clReleaseMemObject>;
using ProgramHandle = Handle<cl_program, &Api::clReleaseProgram>;
using KernelHandle = Handle<cl_kernel, &Api::clReleaseKernel>;
using EventHandle = Handle<cl_event, &Api::clReleaseEvent>;

}  // namespace lanecrypt::device::opencl

// Calls an OpenCL function that returns its code, and returns from the function
// around it where that is not CL_SUCCESS.
#define LC_CL(function, ...)                 \
  LC_TRY(::lanecrypt::device::opencl::check( \
      #function, ::lanecrypt::device::opencl::cl().function(__VA_ARGS__)))
