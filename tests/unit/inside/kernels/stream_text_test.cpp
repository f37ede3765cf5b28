// block/stream_text.h: reads and writes a stream's text at any address, block by block. It accesses
// each byte once, and nothing around the text. The code runs on the host.
//
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "kernels/block/stream_text.h"
#include "unit/support/random_bytes.h"

namespace lanecrypt::test::stream_text {
namespace {

constexpr u64 kRoom = 160, kBefore = 32;

struct alignas(16) Memory {
  uint8_t bytes[kRoom];
};

TEST(StreamText, GoesFromAnyAddressToAnyOther) {
  Random random(93);
  const auto check = [&](u32 from, u32 to, u64 length, bool in_place, bool reads_ahead) {
    Memory in, other;
    random.fill(in.bytes, kRoom);
    random.fill(other.bytes, kRoom);
    Memory &out = in_place ? in : other;
    const Memory source = in;
    Memory expected = out;
    for (u64 n = 0; n < length; ++n)
      expected.bytes[kBefore + to + n] = source.bytes[kBefore + from + n] ^ 0x5a;
    const uint8_t *const read = in.bytes + kBefore + from;
    uint8_t *const written = out.bytes + kBefore + to;
    StreamText text = stream_begin(read);
    Block next = {};
    if (reads_ahead) next = stream_read(&text, read, 0, length);
    for (u64 at = 0; at < length; at += 16) {
      Block block = reads_ahead ? next : stream_read(&text, read, at, length);
      if (reads_ahead && at + 16 < length) next = stream_read(&text, read, at + 16, length);
      for (u32 &word : block.w) word ^= 0x5a5a5a5a;
      stream_write(&text, written, block, at, length);
    }
    EXPECT_EQ(0, memcmp(expected.bytes, out.bytes, kRoom))
        << from << " to " << to << ", " << length << " bytes" << (in_place ? ", in place" : "")
        << (reads_ahead ? ", a block ahead" : "");
    if (in_place) return;
    EXPECT_EQ(0, memcmp(source.bytes, in.bytes, kRoom)) << "its input has changed";
  };
  for (u32 from = 0; from < 16; ++from)
    for (u64 length = 1; length <= 69; ++length) {
      for (const bool reads_ahead : {false, true}) {
        for (u32 to = 0; to < 16; ++to) check(from, to, length, false, reads_ahead);
        check(from, from, length, true, reads_ahead);
      }
    }
}

}  // namespace
}  // namespace lanecrypt::test::stream_text
