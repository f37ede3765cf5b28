// The functions of OpenCL 1.2 that Lanecrypt calls, looked up in the ICD loader at run time: the
// library does not link to libOpenCL.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include "job/status.h"

namespace lanecrypt::device::opencl {

#define LC_OPENCL_FUNCTIONS(X)    \
  X(clBuildProgram)               \
  X(clCreateBuffer)               \
  X(clCreateCommandQueue)         \
  X(clCreateContext)              \
  X(clCreateKernel)               \
  X(clCreateProgramWithBinary)    \
  X(clCreateProgramWithSource)    \
  X(clCreateSubBuffer)            \
  X(clEnqueueBarrierWithWaitList) \
  X(clEnqueueCopyBuffer)          \
  X(clEnqueueFillBuffer)          \
  X(clEnqueueMapBuffer)           \
  X(clEnqueueMarkerWithWaitList)  \
  X(clEnqueueNDRangeKernel)       \
  X(clEnqueueReadBuffer)          \
  X(clEnqueueUnmapMemObject)      \
  X(clEnqueueWriteBuffer)         \
  X(clFinish)                     \
  X(clFlush)                      \
  X(clGetCommandQueueInfo)        \
  X(clGetDeviceIDs)               \
  X(clGetDeviceInfo)              \
  X(clGetEventInfo)               \
  X(clGetEventProfilingInfo)      \
  X(clGetKernelInfo)              \
  X(clGetKernelWorkGroupInfo)     \
  X(clGetPlatformIDs)             \
  X(clGetPlatformInfo)            \
  X(clGetProgramBuildInfo)        \
  X(clGetProgramInfo)             \
  X(clReleaseCommandQueue)        \
  X(clReleaseContext)             \
  X(clReleaseEvent)               \
  X(clReleaseKernel)              \
  X(clReleaseMemObject)           \
  X(clReleaseProgram)             \
  X(clRetainCommandQueue)         \
  X(clRetainEvent)                \
  X(clSetKernelArg)               \
  X(clWaitForEvents)

struct Api {
#define LC_OPENCL_MEMBER(name) decltype(&::name) name = nullptr;
  LC_OPENCL_FUNCTIONS(LC_OPENCL_MEMBER)
#undef LC_OPENCL_MEMBER
};

// Must be called before taking any lock that a child of fork() could inherit locked. Returns false
// if survived_fork() is false.
bool begin_use();

// Loads the ICD loader on the first call. Returns false if there is none, if it is older than
// OpenCL 1.2, or if survived_fork() is false. The loader is never unloaded, since drivers keep
// threads.
bool load();

// Only after load() returned true.
const Api &cl();

// Returns false in a child of fork() whose parent had begun to use OpenCL: the drivers' threads do
// not exist there, their locks may be locked, and a call may hang.
bool survived_fork();

}  // namespace lanecrypt::device::opencl
