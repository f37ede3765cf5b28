// SPDX-License-Identifier: Apache-2.0
#include "cli/keys/secret_bytes.h"

#include <openssl/crypto.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

namespace lanecrypt::cli {

SecretBytes::SecretBytes(size_t bytes) : bytes_(bytes) {
  const size_t page_bytes = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  mapped_bytes_ = std::max<size_t>(1, (bytes + page_bytes - 1) / page_bytes) * page_bytes;
  void *memory =
      mmap(nullptr, mapped_bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  // The system may refuse both calls (limits, old kernels). The memory is erased at the end in any
  // case.
  (void)mlock(memory, mapped_bytes_);
  (void)madvise(memory, mapped_bytes_, MADV_DONTDUMP);
  data_ = static_cast<uint8_t *>(memory);
}

SecretBytes::SecretBytes(SecretBytes &&other) noexcept { *this = std::move(other); }

SecretBytes &SecretBytes::operator=(SecretBytes &&other) noexcept {
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  std::swap(mapped_bytes_, other.mapped_bytes_);
  return *this;
}

SecretBytes::~SecretBytes() {
  if (!data_) return;
  OPENSSL_cleanse(data_, mapped_bytes_);
  munmap(data_, mapped_bytes_);
}

SecretBytes SecretBytes::copy_of(std::string_view text) {
  SecretBytes secret(text.size());
  if (!text.empty()) std::memcpy(secret.data(), text.data(), text.size());
  return secret;
}

void SecretBytes::shorten(size_t bytes) {
  if (bytes >= bytes_) return;
  OPENSSL_cleanse(data_ + bytes, bytes_ - bytes);
  bytes_ = bytes;
}

}  // namespace lanecrypt::cli
