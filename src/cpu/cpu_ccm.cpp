// SPDX-License-Identifier: Apache-2.0
#include "cpu/cpu_ccm.h"

#include <algorithm>
#include <array>

#include "cpu/cpu_cipher.h"
#include "job/cipher/ccm_format.h"

namespace lanecrypt::cpu {
namespace {

// `Workspace` holds text that is authenticated next. Its destructor wipes it.
class Workspace {
 public:
  static constexpr uint64_t kBytes = 32 << 10;
  Workspace() = default;
  ~Workspace() { secure::wipe(bytes_.data(), bytes_.size()); }
  Workspace(const Workspace &) = delete;
  uint8_t *data() { return bytes_.data(); }

 private:
  std::array<uint8_t, kBytes> bytes_;
};

// Adds the first `bytes` bytes of the workspace, padded with zeros, to the MAC, and overwrites
// them.
Status authenticate(const CipherKind &kind, const uint8_t *key, Workspace &workspace,
                    uint64_t bytes, Iv *mac) {
  const uint64_t whole = whole_blocks(bytes);
  std::fill(workspace.data() + bytes, workspace.data() + whole, uint8_t{0});
  LC_TRY(run_cipher(kind.as(Mode::kCbc, LC_ENCRYPT), {.key = key, .iv = *mac}, workspace.data(),
                    workspace.data(), whole));
  std::copy(workspace.data() + whole - kBlockBytes, workspace.data() + whole, mac->begin());
  return Status();
}

}  // namespace

Status run_ccm_piece(const CipherJob &job, uint32_t message, const Iv &counter, uint64_t offset,
                     uint64_t length, Iv *mac) {
  const CipherMessage &caller = job.messages[message];
  const CipherKind &kind = job.kind;
  const uint8_t *key = job.key(caller.key);
  const uint64_t header = ccm_header_bytes(job.aead[message].aad_length);
  const uint64_t end = offset + length;
  Workspace workspace;
  while (offset < std::min(end, header)) {
    const uint64_t now = std::min({end, header, offset + Workspace::kBytes}) - offset;
    copy_ccm_header(job, message, offset, now, workspace.data());
    LC_TRY(authenticate(kind, key, workspace, now, mac));
    offset += now;
  }
  const CipherKind ctr = kind.as(Mode::kCtr, LC_ENCRYPT);
  while (offset < end) {
    const uint64_t at = offset - header, now = std::min(end - offset, Workspace::kBytes);
    const uint8_t *in = caller.in + at;
    uint8_t *out = caller.out + at;
    if (kind.direction == LC_ENCRYPT) std::copy(in, in + now, workspace.data());
    LC_TRY(run_cipher(ctr, {.key = key, .iv = advance_counter(counter, at / kBlockBytes + 1)}, in,
                      out, now));
    if (kind.direction == LC_DECRYPT) std::copy(out, out + now, workspace.data());
    LC_TRY(authenticate(kind, key, workspace, now, mac));
    offset += now;
  }
  if (end != header + caller.length) return Status();
  return run_cipher(ctr, {.key = key, .iv = counter}, mac->data(), mac->data(), kBlockBytes);
}

}  // namespace lanecrypt::cpu
