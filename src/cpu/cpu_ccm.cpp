// SPDX-License-Identifier: Apache-2.0
#include "cpu/cpu_ccm.h"

#include <algorithm>
#include <array>

#include "cpu/cpu_cipher.h"
#include "job/cipher/ccm_format.h"

namespace lanecrypt::cpu {
namespace {

// Text that waits for its MAC. It is wiped at the end.
class Room {
 public:
  static constexpr uint64_t kBytes = 32 << 10;
  Room() = default;
  ~Room() { secure::wipe(bytes_.data(), bytes_.size()); }
  Room(const Room &) = delete;
  uint8_t *data() { return bytes_.data(); }

 private:
  std::array<uint8_t, kBytes> bytes_;
};

// Puts the first `bytes` of the room, filled up with zeros, into the MAC, and overwrites
// them.
Status authenticate(const CipherKind &kind, const uint8_t *key, Room &room, uint64_t bytes,
                    Iv *mac) {
  const uint64_t whole = whole_blocks(bytes);
  std::fill(room.data() + bytes, room.data() + whole, uint8_t{0});
  LC_TRY(run_cipher(kind.as(Way::kCbc, LC_ENCRYPT), {.key = key, .iv = *mac}, room.data(),
                    room.data(), whole));
  std::copy(room.data() + whole - kBlockBytes, room.data() + whole, mac->begin());
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
  Room room;
  while (offset < std::min(end, header)) {
    const uint64_t now = std::min({end, header, offset + Room::kBytes}) - offset;
    copy_ccm_header(job, message, offset, now, room.data());
    LC_TRY(authenticate(kind, key, room, now, mac));
    offset += now;
  }
  const CipherKind ctr = kind.as(Way::kCtr, LC_ENCRYPT);
  while (offset < end) {
    const uint64_t at = offset - header, now = std::min(end - offset, Room::kBytes);
    const uint8_t *in = caller.in + at;
    uint8_t *out = caller.out + at;
    if (kind.direction == LC_ENCRYPT) std::copy(in, in + now, room.data());
    LC_TRY(run_cipher(ctr, {.key = key, .iv = advance_counter(counter, at / kBlockBytes + 1)}, in,
                      out, now));
    if (kind.direction == LC_DECRYPT) std::copy(out, out + now, room.data());
    LC_TRY(authenticate(kind, key, room, now, mac));
    offset += now;
  }
  if (end != header + caller.length) return Status();
  return run_cipher(ctr, {.key = key, .iv = counter}, mac->data(), mac->data(), kBlockBytes);
}

}  // namespace lanecrypt::cpu
