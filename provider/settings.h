// The provider's settings: the text parameters of its section in openssl.cnf.
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
  // Whether the provider may load drivers, and start threads for them, in this process.
  bool in_process = false;
  // The maximum number of cores for one large request. 1: only the caller's thread, and no other
  // thread is started.
  uint32_t cores = 1;
  // A list of devices in the format of LANECRYPT_DEVICES, which applies if this is not set.
  std::optional<std::string> devices;
  // Requests below this many bytes stay on the CPU. If it is not set, the measurements of this
  // machine decide; with require_gpu this default applies.
  uint64_t threshold_bytes = 1 << 20;
  bool threshold_is_set = false;
  lc_prefer prefer = LC_PREFER_SPEED;
  // If set, a request of at least threshold_bytes that cannot run on a device fails. So do RSA
  // private-key operations, ML-DSA and SLH-DSA signatures, and the key generations that devices
  // support.
  bool require_gpu = false;
  // How much of the devices' output is checked.
  lc_verify verify = LC_VERIFY_SAMPLED;
  // When a public-key algorithm runs on devices.
  enum class Use { kOff, kAuto, kAlways };
  // kOff: the algorithm is not offered. kAuto: private-key operations run where they finish sooner.
  // kAlways: they run on a device, if one accepts the key.
  Use rsa = Use::kAuto;
  Use ml_dsa = Use::kAuto;   // the same for ML-DSA signatures
  Use slh_dsa = Use::kAuto;  // the same for SLH-DSA signatures and key generation
  // Which service does RSA and signatures for this process (service/client/service_address.h).
  // kAuto: the default one, if it runs and in_process is off. kRequired: the default one, and an
  // operation that it cannot do fails. kNamed: the one whose socket is service_path.
  enum class Service { kOff, kAuto, kRequired, kNamed };
  Service service = Service::kAuto;
  std::string service_path;
  // A user, by name or number, whose socket is trusted in addition to those of root and of this
  // user. "": none.
  std::string service_owner;
  // The maximum number of primes kept for later RSA keys.
  uint32_t prime_pool = 0;
  // The maximum pinned memory, in bytes, of one device's queues; 0: the library's default.
  uint64_t pinned_bytes = 0;
  // The absolute path of the file to which the counters are appended at the end; "": none.
  std::string stats_file;

  // leave_all_to_openssl() is for a process with more rights than the user that started it
  // (set-user-ID): no driver, no thread, no file, no socket.
  void leave_all_to_openssl() {
    in_process = require_gpu = false;
    service = Service::kOff;
    cores = 1;
    stats_file.clear();
  }

  // Whether the service, and not this process's own devices, does RSA, ML-DSA signatures or
  // SLH-DSA.
  bool rsa_is_of_service() const { return rsa != Use::kOff && service_is_for_this(); }
  bool ml_dsa_is_of_service() const { return ml_dsa != Use::kOff && service_is_for_this(); }
  bool slh_dsa_is_of_service() const { return slh_dsa != Use::kOff && service_is_for_this(); }
  // Whether a request may ever run anywhere but in OpenSSL on the caller's core. If not, the
  // provider does not offer the algorithm: a program would pay for each cipher and gain nothing.
  bool offers_ciphers() const { return in_process || cores > 1; }
  bool offers_rsa() const { return rsa != Use::kOff && (in_process || rsa_is_of_service()); }
  bool offers_ml_dsa() const {
    return ml_dsa != Use::kOff && (in_process || ml_dsa_is_of_service());
  }
  bool offers_slh_dsa() const {
    return slh_dsa != Use::kOff && (in_process || slh_dsa_is_of_service());
  }
  // Whether an operation that the service cannot do is an error.
  bool service_is_required() const { return service == Service::kRequired || require_gpu; }

  bool service_is_for_this() const {
    return service != Service::kOff && (service != Service::kAuto || !in_process);
  }

  // Whether the measurements of this machine decide. lc_cipher_place() never returns a device for
  // less than 64 KiB.
  bool asks_model() const { return !threshold_is_set && !require_gpu; }
  // The smallest request, in bytes, that may go to a device or to several cores.
  uint64_t least_device_bytes() const {
    if (!offers_ciphers()) return UINT64_MAX;
    if (asks_model()) return 64 << 10;
    return threshold_bytes != 0 ? threshold_bytes : 1;
  }
};

// read_settings() queries the core for the settings. LC_ERROR_ARGUMENT names the invalid setting
// and what it should be.
Result<Settings> read_settings(const OSSL_CORE_HANDLE *handle, const OSSL_DISPATCH *core);

}  // namespace lanecrypt::provider
