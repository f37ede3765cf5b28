// SPDX-License-Identifier: Apache-2.0
#include "device/opencl/program.h"

#include <algorithm>
#include <vector>

#include "cache/file_cache.h"
#include "device/opencl/signal_handlers.h"
#include "process/diagnostics.h"

namespace lanecrypt::device::opencl {
namespace {

constexpr char kCacheFolder[] = "opencl";

std::string build_log(cl_program program, cl_device_id device) {
  size_t bytes = 0;
  if (cl().clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, 0, nullptr, &bytes) !=
      CL_SUCCESS) {
    return "";
  }
  std::string log(bytes, '\0');
  if (cl().clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, bytes, log.data(),
                                 nullptr) != CL_SUCCESS) {
    return "";
  }
  return log;
}

// Returns the first lines of a log that contain text, joined into one line.
std::string first_lines(const std::string &log) {
  constexpr size_t kMostLines = 3, kMostBytes = 300;
  std::string text;
  size_t lines = 0;
  for (size_t at = 0; at < log.size() && lines < kMostLines && text.size() < kMostBytes;) {
    size_t end = log.find_first_of(std::string_view("\n\0", 2), at);
    if (end == std::string::npos) end = log.size();
    const size_t start = log.find_first_not_of(" \t\r", at);
    if (start != std::string::npos && start < end) {
      if (!text.empty()) text += "; ";
      text += log.substr(start, end - start);
      ++lines;
    }
    at = end + 1;
  }
  if (text.size() > kMostBytes) text.resize(kMostBytes);
  return text.empty() ? "it gives no reason" : text;
}

// Returns the compiled program as the driver provides it; empty if it provides none.
std::string binary_of(cl_program program) {
  size_t bytes = 0;
  if (cl().clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof bytes, &bytes, nullptr) !=
          CL_SUCCESS ||
      bytes == 0) {
    return "";
  }
  std::string binary(bytes, '\0');
  auto *start = reinterpret_cast<unsigned char *>(binary.data());
  if (cl().clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof start, &start, nullptr) !=
      CL_SUCCESS) {
    return "";
  }
  return binary;
}

// PoCL has its own cache. If it is asked for a binary, it compiles all kernels of the program for
// thread blocks of any size, and compiles each again for its own size when it is launched.
bool is_cached_by_driver(const Session &session) {
  return session.properties.platform == "Portable Computing Language" &&
         process::diagnostic_variable("LANECRYPT_OPENCL_CACHE") == nullptr;
}

// Makes a program from a cached binary; null if the driver rejects it.
ProgramHandle from_binary(const Session &session, const std::string &binary,
                          const std::string &options) {
  const auto *start = reinterpret_cast<const unsigned char *>(binary.data());
  const size_t bytes = binary.size();
  cl_int taken = CL_SUCCESS, code = CL_SUCCESS;
  ProgramHandle program(cl().clCreateProgramWithBinary(session.context->get(), 1, &session.device,
                                                       &bytes, &start, &taken, &code));
  if (code != CL_SUCCESS || taken != CL_SUCCESS) return {};
  code = cl().clBuildProgram(program.get(), 1, &session.device, options.c_str(), nullptr, nullptr);
  return code == CL_SUCCESS ? std::move(program) : ProgramHandle();
}

}  // namespace

ProgramSource source_of(KernelSet set) {
#define LC_SOURCE(name, ...) name##_source,
  constexpr ProgramSource (*kSources[])() = {LC_KERNEL_SETS(LC_SOURCE)};
#undef LC_SOURCE
  return kSources[static_cast<uint32_t>(set)]();
}

std::string build_options(const Properties &properties) {
  // -w: otherwise PoCL prints the number of warnings on stderr.
  std::string options = "-cl-std=CL1.2 -w -DLC_RSA_U32=1";
  options += " -DLC_MOST_THREADS=" + std::to_string(properties.max_thread_block_size);
  if (properties.is_gpu) options += " -DLC_UNROLL=1";
  const char *optimize = process::diagnostic_variable("LANECRYPT_OPENCL_OPTIMIZE");
  if (!properties.is_gpu && optimize != nullptr && std::string_view(optimize) == "0")
    options += " -cl-opt-disable";
  if (properties.chain_thread_block_size != 0)
    options += " -DLC_CHAIN_THREADS=" + std::to_string(properties.chain_thread_block_size);
  return options;
}

Status build_program(const Session &session, Program &program) {
  if (program.handle) return {};
  const KeptSignalHandlers kept;
  const std::string options = build_options(session.properties) + std::string(program.part.options);
  // Everything that a binary depends on. PoCL and others compile for the exact CPU, which is part
  // of the device's name.
  std::string key = "lanecrypt OpenCL program 1";
  for (const std::string &part :
       {session.properties.name, device_text(session.device, CL_DEVICE_VENDOR),
        device_text(session.device, CL_DEVICE_VERSION), session.properties.driver,
        session.properties.platform, platform_text(session.platform, CL_PLATFORM_VERSION),
        std::string(program.part.sha256), options}) {
    key += '\n' + part;
  }
  const bool uses_cache = !is_cached_by_driver(session);
  if (const auto cached = uses_cache ? cache::load(kCacheFolder, key) : std::nullopt) {
    program.handle = from_binary(session, *cached, options);
    if (program.handle) return {};
  }

  const char *text = program.part.text.data();
  const size_t bytes = program.part.text.size();
  cl_int code = CL_SUCCESS;
  ProgramHandle built(
      cl().clCreateProgramWithSource(session.context->get(), 1, &text, &bytes, &code));
  LC_TRY(check("clCreateProgramWithSource", code));
  code = cl().clBuildProgram(built.get(), 1, &session.device, options.c_str(), nullptr, nullptr);
  if (code == CL_BUILD_PROGRAM_FAILURE) {
    return {LC_ERROR_DEVICE,
            "the OpenCL compiler of " + session.properties.platform +
                " refuses the kernels: " + first_lines(build_log(built.get(), session.device))};
  }
  LC_TRY(check("clBuildProgram", code));
  if (const std::string binary = uses_cache ? binary_of(built.get()) : ""; !binary.empty()) {
    cache::store(kCacheFolder, key, binary);
  }
  program.handle = std::move(built);
  return {};
}

Result<Kernel *> Session::kernel(const char *name) {
  if (const auto known = kernels.find(name); known != kernels.end()) return &known->second;
  const auto fits = [&](const Program &each) {
    return std::string_view(name).starts_with(each.part.prefix);
  };
  Program &program = *std::find_if(programs.begin(), programs.end(), fits);
  LC_TRY(build_program(*this, program));
  Kernel made;
  cl_int code = CL_SUCCESS;
  made.handle = KernelHandle(cl().clCreateKernel(program.handle.get(), name, &code));
  if (code == CL_INVALID_KERNEL_NAME) {
    return Status(LC_ERROR_INTERNAL, properties.id + " has no kernel " + name);
  }
  LC_TRY(check("clCreateKernel", code));
  LC_CL(clGetKernelInfo, made.handle.get(), CL_KERNEL_NUM_ARGS, sizeof made.parameters,
        &made.parameters, nullptr);
  LC_CL(clGetKernelWorkGroupInfo, made.handle.get(), device, CL_KERNEL_WORK_GROUP_SIZE,
        sizeof made.most_threads, &made.most_threads, nullptr);
  // NVIDIA reports 256 as the size even for a kernel that was compiled for more.
  size_t compiled[3] = {};
  LC_CL(clGetKernelWorkGroupInfo, made.handle.get(), device, CL_KERNEL_COMPILE_WORK_GROUP_SIZE,
        sizeof compiled, compiled, nullptr);
  made.most_threads = std::max(made.most_threads, compiled[0]);
  return &kernels.emplace(name, std::move(made)).first->second;
}

}  // namespace lanecrypt::device::opencl
