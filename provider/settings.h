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
  // The most cores at one large request. 1: the caller's, and no thread.
  uint32_t cores = 1;
  // A list as in LANECRYPT_DEVICES, which holds if this is not set.
  std::optional<std::string> devices;
  // Requests below this many bytes stay on the CPU. If it is not set, what was measured
  // on this machine decides, or with require_gpu this default.
  uint64_t threshold_bytes = 1 << 20;
  bool threshold_is_set = false;
  lc_prefer prefer = LC_PREFER_SPEED;
  // If a request of at least threshold_bytes cannot run on a device, it fails. So does a
  // private operation of RSA.
  bool require_gpu = false;
  // How much of the devices' output is checked.
  lc_verify verify = LC_VERIFY_SAMPLED;
  // When devices do something.
  enum class Use { kOff, kAuto, kAlways };
  // Off: not offered at all. Auto: private operations run where they end sooner. Always:
  // on a device, if one takes the key.
  Use rsa = Use::kAuto;
  Use ml_dsa = Use::kAuto;   // the same for signatures of ML-DSA
  Use slh_dsa = Use::kAuto;  // the same for signatures and new keys of SLH-DSA
  // Which service does RSA and signatures for this process (service/client/service_address.h).
  // Auto: the usual one, if it is there and in_process does not say that this process has devices
  // of its own. Required: the usual one, and what it cannot do is an error. Named: the one whose
  // socket is service_path.
  enum class Service { kOff, kAuto, kRequired, kNamed };
  Service service = Service::kAuto;
  std::string service_path;
  // A user by name or number whose socket counts beside root's and this user's; "": none.
  std::string service_owner;
  // How many primes for later RSA keys may be kept.
  uint32_t prime_pool = 0;
  // The most pinned memory of one device's queues; 0: the library's own choice.
  uint64_t pinned_bytes = 0;
  // The absolute path of the file to which the counters are appended at the end; "":
  // none.
  std::string stats_file;

  // For a process that has more rights than whoever started it: no driver, no thread, no
  // file, no socket.
  void leave_all_to_openssl() {
    in_process = require_gpu = false;
    service = Service::kOff;
    cores = 1;
    stats_file.clear();
  }

  // Whether RSA, or signatures of ML-DSA or SLH-DSA, are the service's, and not those of this
  // process's own devices.
  bool rsa_is_of_service() const { return rsa != Use::kOff && service_is_for_this(); }
  bool ml_dsa_is_of_service() const { return ml_dsa != Use::kOff && service_is_for_this(); }
  bool slh_dsa_is_of_service() const { return slh_dsa != Use::kOff && service_is_for_this(); }
  // Whether a request may ever be done otherwise than by OpenSSL on the caller's core. If
  // not, the provider does not offer it: a program would pay for each cipher and gain nothing.
  bool offers_ciphers() const { return in_process || cores > 1; }
  bool offers_rsa() const { return rsa != Use::kOff && (in_process || rsa_is_of_service()); }
  bool offers_ml_dsa() const {
    return ml_dsa != Use::kOff && (in_process || ml_dsa_is_of_service());
  }
  bool offers_slh_dsa() const {
    return slh_dsa != Use::kOff && (in_process || slh_dsa_is_of_service());
  }
  // Whether what the service cannot do is an error.
  bool service_is_required() const { return service == Service::kRequired || require_gpu; }

  bool service_is_for_this() const {
    return service != Service::kOff && (service != Service::kAuto || !in_process);
  }

  // Whether what was measured decides. lc_cipher_place() never names a device for less
  // than 64 KiB.
  bool asks_model() const { return !threshold_is_set && !require_gpu; }
  // No shorter request goes to a device or to several cores.
  uint64_t least_device_bytes() const {
    if (!offers_ciphers()) return UINT64_MAX;
    if (asks_model()) return 64 << 10;
    return threshold_bytes != 0 ? threshold_bytes : 1;
  }
};

// Asks the core for the settings. LC_ERROR_ARGUMENT names the setting that is
// wrong and what it should be.
Result<Settings> read_settings(const OSSL_CORE_HANDLE *handle, const OSSL_DISPATCH *core);

}  // namespace lanecrypt::provider
