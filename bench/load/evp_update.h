// One large update through OpenSSL's EVP, as a program makes it.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "bench/load/data.h"
#include "bench/load/provider_library.h"
#include "cli/crypt/block_cipher_mode.h"

namespace lanecrypt::bench {

// Ordinary memory of the process in resident pages of 4 KiB.
class OrdinaryMemory {
 public:
  explicit OrdinaryMemory(uint64_t bytes);
  ~OrdinaryMemory();
  OrdinaryMemory(const OrdinaryMemory &) = delete;
  OrdinaryMemory &operator=(const OrdinaryMemory &) = delete;

  uint8_t *data() const { return data_; }
  uint64_t size() const { return bytes_; }

 private:
  const uint64_t bytes_;
  uint8_t *data_;
};

// A cipher in its own library context.
class EvpUpdate {
 public:
  // The first constructor uses OpenSSL's default provider. The second uses the provider `module`:
  // everything on the device, even if the CPU would be faster (kDevice), or as the provider
  // chooses (kOwnChoice).
  explicit EvpUpdate(BenchCase run);
  enum class By { kDevice, kOwnChoice };
  EvpUpdate(BenchCase run, const std::string &module, const std::string &devices,
            By by = By::kDevice);
  ~EvpUpdate();
  EvpUpdate(const EvpUpdate &) = delete;
  EvpUpdate &operator=(const EvpUpdate &) = delete;

  // The case that is measured by default: AES-128-CTR.
  static const BenchCase &usual();

  // Begins the first stream of the data, with the key of `data`.
  void begin(const BenchData &data);
  void update(const uint8_t *in, uint8_t *out, uint64_t bytes);
  // How many bytes of all updates the device did, and how many were split among several cores.
  uint64_t device_bytes() const;
  uint64_t cores_bytes() const;

 private:
  void fetch(OSSL_LIB_CTX *library, const char *properties);

  const BenchCase run_;
  OSSL_LIB_CTX *alone_ = nullptr;
  std::unique_ptr<ProviderLibrary> provider_;
  // Must be freed before the library context.
  cli::EvpCipher cipher_;
  cli::EvpContext context_;
};

}  // namespace lanecrypt::bench
