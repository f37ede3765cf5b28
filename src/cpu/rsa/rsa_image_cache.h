// Caches a key's images between launches.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "cpu/openssl_object.h"
#include "cpu/rsa/rsa_image.h"

namespace lanecrypt::cpu {

// `RsaImageCache` is thread-safe. A child of fork() makes all of it anew: the parent's lock may
// stay held for ever, and the child's blinding must be its own.
class RsaImageCache {
 public:
  RsaImageCache();
  ~RsaImageCache();
  RsaImageCache(const RsaImageCache &) = delete;

  Status write(const RsaKey &key, const RsaImageForm &form, SeededRandom *random, uint8_t *to);
  void make_base_ahead(const RsaKey &key, SeededRandom *random);

 private:
  struct Image;
  struct Process;

  Process *process(const RsaKey &key);

  // The value of forks() in the process that made the key.
  const uint64_t born_in_;
  std::atomic<Process *> process_ = nullptr;
};

}  // namespace lanecrypt::cpu
