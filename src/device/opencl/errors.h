// OpenCL's return codes as Status, and its objects as owning C++ objects.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>

#include "device/opencl/loader.h"
#include "job/status.h"

namespace lanecrypt::device::opencl {

// Returns a code's name, for example "CL_OUT_OF_RESOURCES"; "unknown error" for a code that OpenCL
// 1.2 does not have.
const char *error_name(cl_int code);

// Converts a return code: LC_OK for CL_SUCCESS, LC_ERROR_MEMORY if memory ran out, otherwise
// LC_ERROR_DEVICE. The text names the call and the code.
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
  // Returns the address where a call stores the object. Releases the object that was held before.
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

// Calls an OpenCL function that returns a code, and returns from the enclosing function if that is
// not CL_SUCCESS.
#define LC_CL(function, ...)                 \
  LC_TRY(::lanecrypt::device::opencl::check( \
      #function, ::lanecrypt::device::opencl::cl().function(__VA_ARGS__)))
