// The functions of OpenCL 1.2 that we call, found in the ICD loader when the
// process runs: the library links to no libOpenCL.
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

// Before anything that a child of fork could inherit locked. False where survived_fork() is.
bool begin_use();

// Loads the ICD loader on the first call; false where there is none, or where
// it is older than OpenCL 1.2, or where survived_fork() is false. It is never unloaded: drivers
// keep threads.
bool load();

// Only after load() said true.
const Api &cl();

// False in a child of fork whose parent had begun to use OpenCL: the drivers' threads
// are not there, their locks may be locked, and a call may hang.
bool survived_fork();

}  // namespace lanecrypt::device::opencl
