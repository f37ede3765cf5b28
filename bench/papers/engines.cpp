// SPDX-License-Identifier: Apache-2.0
#include "bench/papers/engines.h"

#include <algorithm>

namespace lanecrypt::bench {

bool HostEngine::make_buffers(size_t bytes, uint8_t **in, uint8_t **out) {
  constexpr size_t kPage = 4096;
  const size_t whole = (bytes + kPage - 1) / kPage * kPage;
  std::unique_ptr<void, Free> from(std::aligned_alloc(kPage, whole)),
      to(std::aligned_alloc(kPage, whole));
  if (!from || !to) return false;
  *in = static_cast<uint8_t *>(from.get());
  *out = static_cast<uint8_t *>(to.get());
  std::fill_n(*out, whole, 0);  // the data that NullEngine writes
  const std::lock_guard lock(mutex_);
  buffers_.push_back(std::move(from));
  buffers_.push_back(std::move(to));
  return true;
}

void HostEngine::start(cli::Chunk &chunk, Done done) {
  std::exception_ptr failure;
  try {
    run(chunk);
  } catch (...) {
    failure = std::current_exception();
  }
  done(failure);
}

void CpuEngine::run(cli::Chunk &chunk) {
  OpensslCipher openssl(run_);
  openssl.begin(data_.key(), chunk.iv);
  openssl.update(chunk.in, chunk.out, chunk.work_bytes);
}

bool CopyEngine::make_buffers(size_t bytes, uint8_t **in, uint8_t **out) {
  PinnedBuffer from = context_.pinned(bytes), to = context_.pinned(bytes);
  *in = from.data();
  *out = to.data();
  const std::lock_guard lock(mutex_);
  if (on_device_.size() < bytes) on_device_ = context_.on_device(device_, bytes);
  buffers_.push_back(std::move(from));
  buffers_.push_back(std::move(to));
  return true;
}

void CopyEngine::start(cli::Chunk &chunk, Done done) {
  std::exception_ptr failure;
  try {
    const std::lock_guard lock(using_);
    on_device_.fill_from(chunk.in, chunk.work_bytes);
    on_device_.read_to(chunk.out, chunk.work_bytes);
  } catch (...) {
    failure = std::current_exception();
  }
  done(failure);
}

}  // namespace lanecrypt::bench
