// The provider's settings: text parameters of its section in openssl.cnf.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <openssl/core.h>

#include <cstdint>
#include <optional>
#include <string>

#include "job/status.h"

namespace lanecrypt::provider {

struct Settings {
  // Whether drivers, and threads for them, may come into this process.
  bool in_process = false;
  // Most cores at one large request; 1: its caller's, and no thread.
  uint32_t cores = 1;
  // As LANECRYPT_DEVICES, which holds where this is not set.
  std::optional<std::string> devices;
  // Requests below this many bytes stay on the CPU. Where it is not set, what was
  // measured on this machine decides, unless require_gpu wants a number.
  uint64_t threshold_bytes = 1 << 20;
  bool threshold_is_set = false;
  lc_prefer prefer = LC_PREFER_SPEED;
  // A request of at least threshold_bytes that cannot run on a device fails;
  // so does each private operation of RSA.
  bool require_gpu = false;
  // Whether what devices give back is looked at.
  lc_verify verify = LC_VERIFY_SAMPLED;
  // When devices do a thing.
  enum class Use { kOff, kAuto, kAlways };
  // Off: not offered at all; auto: private operations run where they end sooner;
  // always: on a device, if one takes the key.
  Use rsa = Use::kAuto;
  // How many primes for later RSA keys may be kept.
  uint32_t prime_pool = 0;
  // Made ahead for CTR streams of small updates; auto: where that takes less time;
  // always: wherever there is memory for it.
  Use keystream = Use::kAuto;
  uint64_t keystream_after_bytes = uint64_t{64} << 20;   // of a stream
  uint64_t keystream_memory_bytes = uint64_t{32} << 20;  // most, of the process
  // Most pinned memory of one device's queues; 0: the library's own choice.
  uint64_t pinned_bytes = 0;
  // An absolute path to which the counters are appended in the end; "": none.
  std::string stats_file;

  // In a process that has more rights than who started it: no driver, no thread, no file.
  void leave_all_to_openssl() {
    in_process = require_gpu = false;
    cores = 1;
    stats_file.clear();
  }

  // Where what was measured decides. lc_cipher_choose() never names a device for
  // less than 64 KiB.
  bool asks_model() const { return !threshold_is_set && !require_gpu; }
  // No shorter request is one for a device.
  uint64_t least_device_bytes() const {
    if (!in_process && cores < 2) return UINT64_MAX;
    if (asks_model()) return 64 << 10;
    return threshold_bytes != 0 ? threshold_bytes : 1;
  }
};

// Asks the core for the settings. LC_ERROR_ARGUMENT names the setting that is
// wrong and what it should be.
Result<Settings> read_settings(const OSSL_CORE_HANDLE *handle, const OSSL_DISPATCH *core);

}  // namespace lanecrypt::provider
