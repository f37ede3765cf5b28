// SPDX-License-Identifier: Apache-2.0
#include "device/opencl/info.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace lanecrypt::device::opencl {
namespace {

// Queries of vendor extensions, which CL/cl.h does not define.
constexpr cl_device_info kPciBusInfoKhr = 0x410F;      // cl_khr_pci_bus_info
constexpr cl_device_info kTopologyAmd = 0x4037;        // cl_amd_device_attribute_query
constexpr cl_device_info kCapabilityMajorNv = 0x4000;  // cl_nv_device_attribute_query
constexpr cl_device_info kCapabilityMinorNv = 0x4001;
constexpr cl_device_info kPciBusNv = 0x4008;
constexpr cl_device_info kPciSlotNv = 0x4009;
constexpr cl_device_info kPciDomainNv = 0x400A;
constexpr uint32_t kVendorNvidia = 0x10DE;

// Trims a text: drivers pad names, and some count the terminating zero.
std::string trimmed(std::string text) {
  const auto blank = [](char c) { return c == '\0' || c == ' ' || c == '\n' || c == '\t'; };
  while (!text.empty() && blank(text.back())) text.pop_back();
  size_t start = 0;
  while (start < text.size() && blank(text[start])) ++start;
  return text.substr(start);
}

// Parses "OpenCL 3.0 PoCL ..." to 300 and "OpenCL C 1.2 ..." to 102; returns 0 for other text.
int version_number(const std::string &text, const char *prefix) {
  int major = 0, minor = 0;
  const size_t length = std::strlen(prefix);
  if (text.compare(0, length, prefix) != 0) return 0;
  if (std::sscanf(text.c_str() + length, "%d.%d", &major, &minor) != 2) return 0;
  return major * 100 + minor;
}

bool has_extension(cl_device_id device, const char *name) {
  const std::string all = " " + device_text(device, CL_DEVICE_EXTENSIONS) + " ";
  return all.find(" " + std::string(name) + " ") != std::string::npos;
}

uint64_t pci_number(uint64_t domain, uint64_t bus, uint64_t slot) {
  return domain << 16 | bus << 8 | slot << 3;
}

uint64_t pci_address(cl_device_id device) {
  if (has_extension(device, "cl_khr_pci_bus_info")) {
    struct {
      cl_uint domain, bus, device, function;
    } at = {};
    if (cl().clGetDeviceInfo(device, kPciBusInfoKhr, sizeof at, &at, nullptr) == CL_SUCCESS) {
      return pci_number(at.domain, at.bus, at.device);
    }
  }
  if (device_number(device, CL_DEVICE_VENDOR_ID) == kVendorNvidia) {
    cl_uint bus = 0, slot = 0, domain = 0;
    if (cl().clGetDeviceInfo(device, kPciBusNv, sizeof bus, &bus, nullptr) == CL_SUCCESS &&
        cl().clGetDeviceInfo(device, kPciSlotNv, sizeof slot, &slot, nullptr) == CL_SUCCESS) {
      // Drivers before about version 400 do not report the domain; it is 0 on nearly all machines.
      if (cl().clGetDeviceInfo(device, kPciDomainNv, sizeof domain, &domain, nullptr) !=
          CL_SUCCESS) {
        domain = 0;
      }
      // The low 3 bits of the slot are the function.
      return pci_number(domain, bus, slot >> 3);
    }
  }
  if (has_extension(device, "cl_amd_device_attribute_query")) {
    struct {
      cl_uint type;
      uint8_t unused[17], bus, device, function;
    } at = {};
    static_assert(sizeof at == 24);
    constexpr cl_uint kPcie = 1;
    if (cl().clGetDeviceInfo(device, kTopologyAmd, sizeof at, &at, nullptr) == CL_SUCCESS &&
        at.type == kPcie) {
      return pci_number(0, at.bus, at.device);
    }
  }
  return 0;
}

std::string why_unusable(cl_device_id device) {
  const std::string version = device_text(device, CL_DEVICE_VERSION);
  if (version_number(version, "OpenCL ") < 102) {
    return "the driver offers '" + version + "'; OpenCL 1.2 or newer is needed";
  }
  const std::string language = device_text(device, CL_DEVICE_OPENCL_C_VERSION);
  if (version_number(language, "OpenCL C ") < 102) {
    return "its compiler knows '" + language + "'; OpenCL C 1.2 or newer is needed";
  }
  if (device_number(device, CL_DEVICE_AVAILABLE) == 0) return "the driver says it is not available";
  if (device_number(device, CL_DEVICE_COMPILER_AVAILABLE) == 0) {
    return "its driver has no compiler for OpenCL C";
  }
  if (device_number(device, CL_DEVICE_ENDIAN_LITTLE) == 0) {
    return "it is big-endian; only little-endian devices are supported";
  }
  if (device_text(device, CL_DEVICE_PROFILE) != "FULL_PROFILE" &&
      !has_extension(device, "cles_khr_int64")) {
    return "it has no 64-bit integers (embedded profile)";
  }
  return "";
}

}  // namespace

std::string device_text(cl_device_id device, cl_device_info what) {
  size_t bytes = 0;
  if (cl().clGetDeviceInfo(device, what, 0, nullptr, &bytes) != CL_SUCCESS) return "";
  std::string text(bytes, '\0');
  if (cl().clGetDeviceInfo(device, what, bytes, text.data(), nullptr) != CL_SUCCESS) return "";
  return trimmed(std::move(text));
}

std::string platform_text(cl_platform_id platform, cl_platform_info what) {
  size_t bytes = 0;
  if (cl().clGetPlatformInfo(platform, what, 0, nullptr, &bytes) != CL_SUCCESS) return "";
  std::string text(bytes, '\0');
  if (cl().clGetPlatformInfo(platform, what, bytes, text.data(), nullptr) != CL_SUCCESS) return "";
  return trimmed(std::move(text));
}

uint64_t device_number(cl_device_id device, cl_device_info what) {
  // Numbers have 4 or 8 bytes; a little-endian host reads both this way.
  uint64_t number = 0;
  size_t bytes = 0;
  if (cl().clGetDeviceInfo(device, what, sizeof number, &number, &bytes) != CL_SUCCESS) return 0;
  return bytes < sizeof number ? number & ((uint64_t{1} << (8 * bytes)) - 1) : number;
}

Properties describe(cl_platform_id platform, cl_device_id device) {
  const auto clamped = [&](cl_device_info what) {
    return static_cast<uint32_t>(std::min<uint64_t>(device_number(device, what), UINT32_MAX));
  };
  Properties properties;
  properties.name = device_text(device, CL_DEVICE_NAME);
  properties.driver = device_text(device, CL_DRIVER_VERSION);
  properties.platform = platform_text(platform, CL_PLATFORM_NAME);
  properties.unusable = why_unusable(device);
  properties.memory_bytes = device_number(device, CL_DEVICE_GLOBAL_MEM_SIZE);
  properties.compute_units = clamped(CL_DEVICE_MAX_COMPUTE_UNITS);
  properties.shared_bytes = clamped(CL_DEVICE_LOCAL_MEM_SIZE);
  properties.max_thread_block_size = clamped(CL_DEVICE_MAX_WORK_GROUP_SIZE);
  properties.fixed_thread_block_size = true;
  properties.warp_threads = 32;
  properties.is_gpu = (device_number(device, CL_DEVICE_TYPE) & CL_DEVICE_TYPE_GPU) != 0;
  // A CPU keeps "local" memory in its cache, where access times reveal addresses.
  properties.banked_shared =
      properties.is_gpu && device_number(device, CL_DEVICE_LOCAL_MEM_TYPE) == CL_LOCAL;
  properties.flat_addresses = false;
  properties.pci_address = pci_address(device);
  // Small thread blocks are worthwhile only if the copies of the tables in their shared memory do
  // not limit how many run at once.
  if (const Residency all = residency(device, properties); all.registers != 0)
    properties.chain_thread_block_size = all.shared_bytes >= 228 << 10   ? 128
                                         : all.shared_bytes >= 100 << 10 ? 256
                                                                         : 0;
  return properties;
}

Residency residency(cl_device_id device, const Properties &properties) {
  if (!properties.is_gpu) {
    // Each compute unit runs one thread block after the other, on one thread.
    return {properties.shared_bytes, 0, properties.max_thread_block_size, 1};
  }
  if (device_number(device, CL_DEVICE_VENDOR_ID) == kVendorNvidia) {
    // The driver reports what one thread block may use (48 KiB), not what a multiprocessor has. The
    // figures are from the table of compute capabilities in CUDA's programming guide.
    const uint64_t capability =
        device_number(device, kCapabilityMajorNv) * 10 + device_number(device, kCapabilityMinorNv);
    const auto of = [](uint64_t kibibytes, uint64_t threads) {
      return Residency{kibibytes * 1024, kibibytes > 64 ? 1024u : 0u, threads, 16, 65536};
    };
    if (capability == 80 || capability == 87) return of(164, 2048);
    if (capability == 86 || capability == 89 || capability >= 120) return of(100, 1536);
    if (capability >= 90) return of(228, 2048);
    if (capability == 75) return of(64, 1024);
  }
  return {properties.shared_bytes, 0, 2048, 4};
}

uint32_t thread_registers(std::string_view kernel) {
  // No driver reports this. NVIDIA's compiler knows only the size of the thread block, and gives a
  // kernel with 512 threads up to 64 registers, so that two thread blocks share a multiprocessor.
  // The bitsliced kernels, with 32 blocks per thread, use all registers there are.
  if (kernel.starts_with("aes_bitslice_")) return 256;
  if (kernel.starts_with("aes_table")) return 64;
  return 0;
}

uint32_t thread_blocks_at_once(const Residency &residency, uint32_t compute_units,
                               uint32_t thread_block_size, uint32_t shared_bytes,
                               uint32_t thread_registers) {
  uint64_t thread_blocks = residency.most_thread_blocks;
  if (shared_bytes > 0) {
    thread_blocks =
        std::min(thread_blocks,
                 residency.shared_bytes / (shared_bytes + residency.thread_block_overhead_bytes));
  }
  if (thread_block_size > 0)
    thread_blocks = std::min(thread_blocks, residency.threads / thread_block_size);
  if (thread_block_size > 0 && thread_registers > 0 && residency.registers > 0)
    thread_blocks = std::min(
        thread_blocks, residency.registers / (uint64_t{thread_registers} * thread_block_size));
  return static_cast<uint32_t>(std::max<uint64_t>(thread_blocks, 1)) * std::max(compute_units, 1u);
}

}  // namespace lanecrypt::device::opencl
