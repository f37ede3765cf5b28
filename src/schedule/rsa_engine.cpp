// SPDX-License-Identifier: Apache-2.0
#include "schedule/rsa_engine.h"

namespace lanecrypt::schedule {

// No device does RSA before its kernels are here.
RsaKind rsa_kind(const RsaKey &, lc_rsa_operation) { return 0; }
RsaKind rsa_kind(uint32_t) { return 0; }
Result<std::unique_ptr<RsaEngine>> make_rsa_engine(const device::Found &found) {
  return Status(LC_ERROR_UNSUPPORTED, found.properties.id + " does no RSA");
}

}  // namespace lanecrypt::schedule
