// SPDX-License-Identifier: Apache-2.0
#include "warp_device.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <variant>
#include <vector>

#include "device/host/host_kernel_entry.h"
#include "device/host/host_thread_blocks.h"
#include "warp_platform.h"

#pragma GCC diagnostic ignored "-Wunused-function"

namespace {

#define LC_CIPHER aes
#include "kernels/cipher_forms.inc"
#define LC_CIPHER aria
#include "kernels/cipher_forms.inc"
#define LC_CIPHER camellia
#include "kernels/cipher_forms.inc"
#define LC_CIPHER sm4
#include "kernels/cipher_forms.inc"

}  // namespace

namespace lanecrypt::device {
namespace {

// The kernels whose warps share tiles or streams. In other kernels a thread processes a stream by
// itself and uses no warp operation.
#define OF_FORM(name)                                                                              \
  ENTRY(name##_ecb_encrypt), ENTRY(name##_ecb_decrypt), ENTRY(name##_cbc_decrypt),                 \
      ENTRY(name##_ctr), ENTRY(name##_ecb_encrypt_unaligned), ENTRY(name##_ecb_decrypt_unaligned), \
      ENTRY(name##_cbc_decrypt_unaligned), ENTRY(name##_cfb_decrypt_unaligned),                    \
      ENTRY(name##_ctr_unaligned), ENTRY(name##_cbc_encrypt), ENTRY(name##_cbc_encrypt_unaligned)
#define OF_CIPHER(name) \
  OF_FORM(name##_table4), OF_FORM(name##_table4_slot), ENTRY(name##_table4_cfb_decrypt)
#define OF_XTS(name)                                                             \
  ENTRY(name##_encrypt), ENTRY(name##_decrypt), ENTRY(name##_encrypt_unaligned), \
      ENTRY(name##_decrypt_unaligned), ENTRY(name##_encrypt_partial),            \
      ENTRY(name##_decrypt_partial), ENTRY(name##_encrypt_partial_ends),         \
      ENTRY(name##_decrypt_partial_ends)

constexpr HostKernelEntry kKernels[] = {OF_CIPHER(aes),
                                        OF_CIPHER(sm4),
                                        OF_CIPHER(camellia),
                                        OF_CIPHER(aria),
                                        OF_XTS(aes_table4_xts),
                                        OF_XTS(aes_table4_slot_xts),
                                        OF_XTS(sm4_table4_xts),
                                        OF_XTS(sm4_table4_slot_xts),
                                        OF_XTS(sm4_table4_xts_gb),
                                        OF_XTS(sm4_table4_slot_xts_gb)};

uint64_t value_of(const Argument &argument) {
  if (const auto *buffer = std::get_if<const Buffer *>(&argument))
    return *buffer == nullptr ? 0 : (*buffer)->address();
  if (const auto *word = std::get_if<uint32_t>(&argument)) return *word;
  return std::get<uint64_t>(argument);
}

}  // namespace
}  // namespace lanecrypt::device

namespace lanecrypt::test {
namespace {

class KeySlot : public device::Buffer {
 public:
  KeySlot()
      : Buffer(device::MemoryKind::kDevice, reinterpret_cast<uint64_t>(block_key_slot),
               sizeof block_key_slot) {}
};

class WarpStream : public ForwardingStream {
 public:
  using ForwardingStream::ForwardingStream;

  // Runs the kernel on the calling thread, after all earlier work of the stream.
  Status launch(const device::Launch &launch) override {
    const auto kernel = std::find_if(std::begin(device::kKernels), std::end(device::kKernels),
                                     [&](const auto &one) { return one.name == launch.kernel; });
    if (kernel == std::end(device::kKernels)) return ForwardingStream::launch(launch);
    if (launch.thread_block_size != WARP_THREADS || launch.shared_bytes == 0 ||
        launch.arguments.size() + 1 != kernel->parameters)
      return Status(LC_ERROR_INTERNAL, std::string("no launch for ") + launch.kernel);
    LC_TRY(finish());
    std::vector<uint64_t> arguments;
    std::transform(launch.arguments.begin(), launch.arguments.end(), std::back_inserter(arguments),
                   device::value_of);
    // The threads exchange words in shared memory behind the part that a GPU uses.
    const device::HostGrid grid = {launch.thread_blocks, launch.thread_block_size,
                                   launch.shared_bytes + WARP_THREADS * 4};
    device::HostThreadBlocks().run(*kernel, arguments, grid, 1);
    return Status();
  }
};

}  // namespace

WarpDevice::WarpDevice(std::unique_ptr<device::Device> inner)
    : ForwardingDevice(std::move(inner)), key_slot_(std::make_unique<KeySlot>()) {
  properties_.warp_threads = WARP_THREADS;
}

Result<std::unique_ptr<device::Stream>> WarpDevice::make_stream() {
  Result<std::unique_ptr<device::Stream>> stream = inner().make_stream();
  if (!stream.ok()) return stream;
  return std::unique_ptr<device::Stream>(new WarpStream(std::move(*stream)));
}

}  // namespace lanecrypt::test
