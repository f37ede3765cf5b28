// SPDX-License-Identifier: Apache-2.0
#include "cpu/digest.h"

#include "cpu/openssl_hash.h"

namespace lanecrypt::cpu {
namespace {

// OpenSSL's names, in the order of Digest.
constexpr const char *kDigestNames[] = {"SHA2-256",     "SHA2-384",     "SHA2-512", "SHA2-224",
                                        "SHA2-512/224", "SHA2-512/256", "SHA3-224", "SHA3-256",
                                        "SHA3-384",     "SHA3-512",     "SHAKE128", "SHAKE256"};

}  // namespace

Status digest(Digest which, std::initializer_list<std::span<const uint8_t>> parts,
              std::span<uint8_t> to) {
  return OpensslHash(kDigestNames[size_t(which)]).run(parts, to);
}

}  // namespace lanecrypt::cpu
