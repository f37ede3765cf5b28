// Segmented jobs on every device: each segment is what OpenSSL makes of it as a separate message,
// in the formats that are named here. A job that could use a nonce twice is refused.
//
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <functional>

#include "unit/support/devices.h"

namespace lanecrypt::test {
namespace {

// What a segment must be, computed here independently of the library and more simply.
struct Segment {
  uint64_t in_at, out_at, length, tag_at;
  Bytes nonce, aad;
};

struct Layout {
  lc_cipher cipher = LC_AES_GCM;
  uint32_t key_bytes = 32, tag_bytes = 16;
  uint64_t arena_bytes = 0;  // length of the input, of the output, or of both together
  bool in_place = false;
  bool tags_behind = false;
  bool aad_on_device = false;  // in the same memory as the texts
  lc_segments segments = {};
  std::vector<Segment> expected;
};

void put_number(Bytes &to, size_t at, size_t bytes, uint64_t value, bool little = false) {
  for (size_t n = 0; n < bytes; n++)
    to[at + n] = static_cast<uint8_t>(
        (little ? n : bytes - 1 - n) < 8 ? value >> (8 * (little ? n : bytes - 1 - n)) : 0);
}

class SegmentsTest : public DeviceTest {
 protected:
  void SetUp() override {
    DeviceTest::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    if (!offers(LC_AES_GCM)) GTEST_SKIP() << GetParam().id << " seals nothing";
    random_.fill(key_.data(), key_.size());
    random_.fill(nonce_.data(), nonce_.size());
    random_.fill(aad_.data(), aad_.size());
  }

  lc_segments begin(uint64_t text_bytes, uint64_t segment_bytes) const {
    lc_segments made = {};
    made.struct_size = sizeof made;
    made.key = key_.data();
    made.nonce = nonce_.data();
    made.text_bytes = text_bytes;
    made.segment_bytes = segment_bytes;
    return made;
  }

  // Returns the number of kernels that were launched so far.
  uint64_t launches() {
    lc_counters counters = {};
    counters.struct_size = sizeof counters;
    EXPECT_EQ(LC_OK, lc_counters_get(context(), 0, &counters));
    return counters.launches;
  }
  // Seals a text, compares every byte, opens it again, and then once more with a wrong byte.
  void check(Layout layout, DataMemory data_memory, uint64_t shift = 0);
  void run_one(const Layout &layout, DataMemory data_memory, lc_direction direction,
               const Bytes &plain, Bytes &cipher, Bytes &tags, const std::vector<bool> &wrong,
               uint64_t shift);

  Random random_{640};
  Bytes key_ = Bytes(32), nonce_ = Bytes(40000 * 12), aad_ = Bytes(40);
};

// `plain` has no gaps; `cipher` and `tags` have the layout of memory.
void SegmentsTest::run_one(const Layout &layout, DataMemory data_memory, lc_direction direction,
                           const Bytes &plain, Bytes &cipher, Bytes &tags,
                           const std::vector<bool> &wrong, uint64_t shift) {
  const bool seals = direction == LC_ENCRYPT, on_device = data_memory == DataMemory::kDevice;
  const bool is_aead = layout.tag_bytes != 0;
  const size_t count = layout.expected.size(), bytes = layout.arena_bytes + 64;
  // Input, output, tags and verdicts, one after the other. The texts are unaligned.
  const size_t in_at = shift, out_at = layout.in_place ? in_at : in_at + bytes;
  const size_t tags_at = out_at + bytes, verdicts_at = tags_at + tags.size();
  const size_t aad_at = verdicts_at + count + 1;
  Bytes arena(aad_at + layout.segments.aad_length + 16, 0xa5);
  if (layout.aad_on_device)
    std::copy_n(static_cast<const uint8_t *>(layout.segments.aad), layout.segments.aad_length,
                arena.begin() + aad_at);
  uint64_t at = 0;
  for (const Segment &one : layout.expected) {
    const uint8_t *from = seals ? plain.data() + at : cipher.data() + one.out_at;
    const uint64_t to = in_at + (seals ? one.in_at : one.out_at);
    std::copy_n(from, one.length + (seals || !layout.tags_behind ? 0 : layout.tag_bytes),
                arena.begin() + to);
    at += one.length;
  }
  if (!seals) std::copy(tags.begin(), tags.end(), arena.begin() + tags_at);
  Bytes expected = arena;
  at = 0;
  for (size_t n = 0; n < count; n++) {
    const Segment &one = layout.expected[n];
    const uint64_t to = out_at + (seals ? one.out_at : one.in_at);
    if (seals)
      std::copy_n(cipher.begin() + one.out_at,
                  one.length + (layout.tags_behind ? layout.tag_bytes : 0), expected.begin() + to);
    else if (!wrong.empty() && wrong[n])
      std::fill_n(expected.begin() + to, one.length, 0);
    else
      std::copy_n(plain.begin() + at, one.length, expected.begin() + to);
    at += one.length;
    if (!seals && on_device && is_aead)
      expected[verdicts_at + n] = !wrong.empty() && wrong[n] ? 0 : 1;
  }
  if (seals) std::copy(tags.begin(), tags.end(), expected.begin() + tags_at);

  uint8_t *memory = arena.data();
  if (on_device) {
    void *made = nullptr;
    LANECRYPT_ASSERT_OK(lc_alloc_device(context(), 0, arena.size(), &made));
    memory = static_cast<uint8_t *>(made);
    LANECRYPT_ASSERT_OK(lc_copy_to_device(context(), 0, memory, arena.data(), arena.size()));
  }
  lc_segments segments = layout.segments;
  segments.in = memory + in_at;
  segments.out = memory + out_at;
  if (!seals) {
    std::swap(segments.in_stride, segments.out_stride);
    segments.in = memory + in_at;
  }
  if (is_aead && !layout.tags_behind) segments.tags = memory + tags_at;
  if (layout.aad_on_device) {
    segments.aad = memory + aad_at;
    segments.aad_memory = LC_MEMORY_DEVICE;
  }
  lc_cipher_job job = {};
  job.struct_size = sizeof job;
  job.cipher = layout.cipher;
  job.direction = direction;
  job.key_bytes = layout.key_bytes;
  job.tag_bytes = layout.tag_bytes;
  job.memory = job.tag_memory = on_device ? LC_MEMORY_DEVICE : LC_MEMORY_HOST;
  if (!is_aead) job.tag_memory = LC_MEMORY_HOST;
  job.device = LC_ANY_DEVICE;
  job.segments = &segments;
  std::vector<lc_status> statuses(count, LC_PENDING);
  if (!on_device && is_aead) job.message_status = statuses.data();
  if (on_device && is_aead && !seals) job.verdicts = memory + verdicts_at;
  const bool some_wrong = std::find(wrong.begin(), wrong.end(), true) != wrong.end();
  EXPECT_EQ(some_wrong && !on_device ? LC_ERROR_TAG : LC_OK, lc_run(context(), &job, nullptr))
      << lc_last_error();
  expect_done(1, plain.size());
  if (on_device) {
    LANECRYPT_ASSERT_OK(lc_copy_from_device(context(), 0, arena.data(), memory, arena.size()));
    lc_free_device(context(), 0, memory);
  }
  for (size_t n = 0; n < count && job.message_status != nullptr; n++)
    EXPECT_EQ(!wrong.empty() && wrong[n] ? LC_ERROR_TAG : LC_OK, statuses[n]) << "segment " << n;
  const auto [now, right] = std::mismatch(arena.begin(), arena.end(), expected.begin());
  if (now != arena.end())
    ADD_FAILURE() << (seals ? "sealing" : "opening") << " in " << data_memory_name(data_memory)
                  << ": wrong at byte " << now - arena.begin() << " of the arena; input at "
                  << in_at << ", output at " << out_at << ", tags at " << tags_at;
}

void SegmentsTest::check(Layout layout, DataMemory data_memory, uint64_t shift) {
  SCOPED_TRACE(cipher_name(layout.cipher, layout.key_bytes) + ", " +
               std::to_string(layout.expected.size()) + " segments in " +
               data_memory_name(data_memory) + (layout.in_place ? " in place" : "") + ", at " +
               std::to_string(shift));
  Bytes plain(layout.segments.text_bytes), cipher(layout.arena_bytes, 0xa5), tags;
  random_.fill(plain.data(), plain.size());
  const bool is_aead = layout.tag_bytes != 0;
  const uint64_t tag_stride =
      layout.segments.tag_stride != 0 ? layout.segments.tag_stride : layout.tag_bytes;
  if (is_aead && !layout.tags_behind) tags.assign(layout.expected.size() * tag_stride, 0xa5);
  uint64_t at = 0;
  for (size_t n = 0; n < layout.expected.size(); n++) {
    const Segment &one = layout.expected[n];
    if (is_aead) {
      Bytes tag(layout.tag_bytes);
      reference_seal(
          {layout.cipher, layout.key_bytes, key_.data(), one.nonce, one.aad, layout.tag_bytes},
          plain.data() + at, cipher.data() + one.out_at, one.length, tag.data());
      const auto to = layout.tags_behind ? cipher.begin() + one.out_at + one.length
                                         : tags.begin() + n * tag_stride;
      std::copy(tag.begin(), tag.end(), to);
    } else {
      reference_crypt({layout.cipher, LC_ENCRYPT, layout.key_bytes}, key_.data(), one.nonce.data(),
                      plain.data() + at, cipher.data() + one.out_at, one.length);
    }
    at += one.length;
  }
  ASSERT_EQ(at, plain.size()) << "the test itself";
  run_one(layout, data_memory, LC_ENCRYPT, plain, cipher, tags, {}, shift);
  if (HasFailure()) return;
  run_one(layout, data_memory, LC_DECRYPT, plain, cipher, tags, {}, shift);
  if (HasFailure() || !is_aead) return;
  std::vector<bool> wrong(layout.expected.size());
  const size_t bad = layout.expected.size() / 2;
  wrong[bad] = true;
  const Segment &one = layout.expected[bad];
  (layout.tags_behind ? cipher[one.out_at + one.length] : tags[bad * tag_stride]) ^= 1;
  run_one(layout, data_memory, LC_DECRYPT, plain, cipher, tags, wrong, shift);
}

// Adds a segment behind the others.
void add(Layout &layout, uint64_t length, uint64_t in_step, uint64_t out_step, Bytes nonce,
         Bytes aad = {}) {
  uint64_t in_at = 0, out_at = 0;
  if (!layout.expected.empty()) {
    in_at = layout.expected.back().in_at + in_step;
    out_at = layout.expected.back().out_at + out_step;
  }
  layout.expected.push_back({in_at, out_at, length, 0, std::move(nonce), std::move(aad)});
  layout.arena_bytes = std::max(in_at, out_at) + length + layout.tag_bytes;
}

// Tink's streaming AEAD: the nonce has a prefix of 7 bytes, a number of 4 bytes, and a byte that is
// 1 in the last segment. The first segment leaves room for a header of 40 bytes. The tags lie
// behind the texts.
TEST_P(SegmentsTest, Tink) {
  constexpr uint64_t kSegment = 4096;
  for (uint64_t text_bytes : {0, 1, 4039, 4040, 4041, 8120, 8121, 20000})
    for (DataMemory data_memory : {DataMemory::kHost, DataMemory::kDevice}) {
      Layout layout;
      layout.tags_behind = true;
      layout.segments = begin(text_bytes, kSegment - 16);
      layout.segments.first_bytes = kSegment - 16 - 40;
      layout.segments.number = {7, 4, 0, 0};
      layout.segments.last_flag = layout.segments.is_end = 1;
      layout.segments.last_flag_at = 11;
      uint64_t left = text_bytes, step = 0;
      for (uint32_t n = 0; n == 0 || left != 0; n++) {
        const uint64_t most = n == 0 ? kSegment - 56 : kSegment - 16;
        const uint64_t length = std::min(left, most);
        left -= length;
        Bytes nonce(nonce_.begin(), nonce_.begin() + 12);
        put_number(nonce, 7, 4, n);
        nonce[11] = left == 0 ? 1 : 0;
        add(layout, length, step, step + (n == 0 ? 0 : 16), std::move(nonce));
        step = length;
      }
      check(layout, data_memory, random_.below(16));
      if (HasFailure()) return;
    }
}

// age: the nonce has a counter of 11 bytes and a last byte. A part from the middle of a file has no
// last segment.
TEST_P(SegmentsTest, Age) {
  for (bool is_end : {true, false})
    for (DataMemory data_memory : {DataMemory::kHost, DataMemory::kDevice}) {
      Layout layout;
      layout.cipher = LC_CHACHA20_POLY1305;
      layout.tags_behind = true;
      layout.segments = begin(3 * 1024 + (is_end ? 77 : 0), 1024);
      layout.segments.number = {0, 11, 0, 5};
      layout.segments.last_flag = 1;
      layout.segments.is_end = is_end;
      layout.segments.last_flag_at = 11;
      for (uint32_t n = 0; n < (is_end ? 4u : 3u); n++) {
        Bytes nonce(12);
        put_number(nonce, 0, 11, 5 + n);
        nonce[11] = n == 3 ? 1 : 0;
        add(layout, n == 3 ? 77 : 1024, 1024, 1040, std::move(nonce));
      }
      check(layout, data_memory, random_.below(16));
      if (HasFailure()) return;
    }
}

// Iceberg: each segment has its own nonce, and a little-endian number in the additional data.
TEST_P(SegmentsTest, GivenNoncesAndNumbersInAdditionalData) {
  for (lc_cipher cipher : {LC_AES_GCM, LC_AES_CCM, LC_CHACHA20_POLY1305})
    for (DataMemory data_memory : {DataMemory::kHost, DataMemory::kPinned, DataMemory::kDevice}) {
      if (data_memory == DataMemory::kPinned) continue;
      Layout layout;
      layout.cipher = cipher;
      layout.segments = begin(9 * 500 - 3, 500);
      layout.segments.nonce_stride = 20;
      layout.segments.in_stride = 512;
      layout.segments.out_stride = 529;
      layout.segments.tag_stride = 19;
      layout.segments.aad = aad_.data();
      layout.segments.aad_length = aad_.size();
      layout.segments.aad_number = {36, 4, 1, 0x01020304};
      for (uint32_t n = 0; n < 9; n++) {
        Bytes aad = aad_;
        put_number(aad, 36, 4, 0x01020304 + n, true);
        add(layout, n == 8 ? 497 : 500, 512, 529,
            Bytes(nonce_.begin() + 20 * n, nonce_.begin() + 20 * n + 12), std::move(aad));
      }
      check(layout, data_memory, 3);
      if (HasFailure()) return;
    }
}

// Additional data that only the device reads, at any address, with and without a number.
TEST_P(SegmentsTest, AdditionalDataOnTheDevice) {
  for (lc_cipher cipher : {LC_AES_GCM, LC_CHACHA20_POLY1305})
    for (bool is_numbered : {false, true})
      for (uint32_t count : {1u, 7u}) {
        if (!offers(cipher)) continue;
        Layout layout;
        layout.cipher = cipher;
        layout.tags_behind = is_numbered;
        layout.aad_on_device = true;
        layout.segments = begin(count * 100 - 7, 100);
        layout.segments.number = {8, 4, 0, 0};
        layout.segments.aad = aad_.data();
        layout.segments.aad_length = is_numbered ? 40 : 16 + random_.below(17);
        if (is_numbered) layout.segments.aad_number = {29, 10, 0, 0x01fffffe};
        for (uint32_t n = 0; n < count; n++) {
          Bytes nonce(nonce_.begin(), nonce_.begin() + 12);
          put_number(nonce, 8, 4, n);
          Bytes aad(aad_.begin(), aad_.begin() + layout.segments.aad_length);
          if (is_numbered) put_number(aad, 29, 10, 0x01fffffe + n);
          add(layout, n == count - 1 ? 93 : 100, 100, is_numbered ? 116 : 100, std::move(nonce),
              std::move(aad));
        }
        check(layout, DataMemory::kDevice, random_.below(16));
        if (HasFailure()) return;
      }
}

// In place, with separate tags, and the same additional data for all. There are enough segments for
// several host threads and several launches.
TEST_P(SegmentsTest, ManyInPlace) {
  const uint32_t count = is_thorough() ? 100000 : 17001;
  for (DataMemory data_memory : {DataMemory::kHost, DataMemory::kDevice}) {
    Layout layout;
    layout.in_place = true;
    layout.key_bytes = 16;
    layout.segments = begin(uint64_t{count} * 17 - 5, 17);
    layout.segments.number = {4, 8, 1, 0xfffffffffff00000};
    layout.segments.aad = aad_.data();
    layout.segments.aad_length = 13;
    for (uint32_t n = 0; n < count; n++) {
      Bytes nonce(nonce_.begin(), nonce_.begin() + 12);
      put_number(nonce, 4, 8, 0xfffffffffff00000 + n, true);
      add(layout, n == count - 1 ? 12 : 17, 17, 17, std::move(nonce),
          Bytes(aad_.begin(), aad_.begin() + 13));
    }
    check(layout, data_memory);
    if (HasFailure()) return;
  }
}

// Without additional data the device itself derives the segments from the rule, for every rule. The
// counters prove it: as messages they would take several launches of each kernel.
TEST_P(SegmentsTest, MadeOnTheDevice) {
  for (lc_cipher cipher : {LC_AES_GCM, LC_CHACHA20_POLY1305}) {
    if (!offers(cipher)) continue;
    for (bool is_given : {false, true})
      for (bool behind : {false, true})
        for (uint32_t count : {2u, 3u, 5001u}) {
          if (count > 3 && (is_given || !is_thorough()) && behind) continue;
          Layout layout;
          layout.cipher = cipher;
          layout.tags_behind = behind;
          const uint64_t length = count > 3 ? 33 : 1 + random_.below(5000);
          const uint64_t last = 1 + random_.below(length), first = 1 + random_.below(length);
          layout.segments = begin(first + (count - 2) * length + last, length);
          layout.segments.first_bytes = first;
          layout.segments.in_stride = length + random_.below(40);
          layout.segments.out_stride = length + 16 + random_.below(40);
          if (behind) layout.segments.in_stride = layout.segments.out_stride;
          if (is_given) layout.segments.nonce_stride = 13;
          // The number spans 8 bytes and has a carry in its middle.
          if (!is_given) layout.segments.number = {2, 9, behind ? 1 : 0, 0xfffff0};
          if (!is_given) layout.segments.last_flag = layout.segments.is_end = 1;
          layout.segments.last_flag_at = is_given ? 0 : 11;
          for (uint32_t n = 0; n < count; n++) {
            const uint64_t at = is_given ? 13 * n : 0;
            Bytes nonce(nonce_.begin() + at, nonce_.begin() + at + 12);
            if (!is_given) put_number(nonce, 2, 9, 0xfffff0 + n, behind);
            if (!is_given) nonce[11] = n == count - 1 ? 1 : 0;
            const uint64_t shorter = n == 1 ? length - first : 0;
            add(layout,
                n == 0           ? first
                : n == count - 1 ? last
                                 : length,
                layout.segments.in_stride - shorter, layout.segments.out_stride - shorter,
                std::move(nonce));
          }
          const uint64_t before = launches();
          check(layout, DataMemory::kDevice, random_.below(16));
          if (HasFailure()) return;
          if (count > 3) {
            EXPECT_LE(launches() - before, 3u * 12);
          }
        }
  }
}

// Texts that are long enough for hashing by matrices, at any address: in the device's own memory,
// in place and not, with the surrounding memory unchanged.
TEST_P(SegmentsTest, LongAtAnyAddress) {
  constexpr uint64_t kLength = (1 << 20) + 5;
  const uint64_t shifts = is_thorough() ? 16 : 1;
  for (lc_cipher cipher : {LC_AES_GCM, LC_CHACHA20_POLY1305})
    for (uint64_t n = 0; n < shifts; n++)
      for (bool in_place : {false, true}) {
        if (!offers(cipher)) continue;
        const uint64_t shift = is_thorough() ? n : 1 + random_.below(15);
        Layout layout;
        layout.cipher = cipher;
        layout.in_place = in_place;
        layout.segments = begin(2 * kLength, kLength);
        // The second segment has another alignment than the first, and the output another one than
        // the input.
        layout.segments.in_stride = kLength + (is_thorough() ? random_.below(16) : 3);
        layout.segments.out_stride = layout.segments.in_stride + (in_place ? 0 : 6);
        layout.segments.number = {8, 4, 0, 1};
        for (uint32_t number = 0; number < 2; number++) {
          Bytes nonce(nonce_.begin(), nonce_.begin() + 12);
          put_number(nonce, 8, 4, 1 + number);
          add(layout, kLength, layout.segments.in_stride, layout.segments.out_stride,
              std::move(nonce));
        }
        check(layout, DataMemory::kDevice, shift);
        if (HasFailure()) return;
      }
}

// More segments than one launch takes, and hash runs that are part of a segment.
TEST_P(SegmentsTest, OfSeveralLaunchesOrRuns) {
  struct Case {
    uint64_t bytes, segment_bytes, gap;
  };
  std::vector<Case> cases = {{400000, 130000, 16}};
  if (is_thorough())
    cases.insert(cases.end(), {{1000007, 15, 1}, {5000000, 1 << 20, 0}, {5000000, 1 << 20, 3}});
  for (const Case &one : cases)
    for (lc_cipher cipher : {LC_AES_GCM, LC_CHACHA20_POLY1305}) {
      if (!offers(cipher)) continue;
      Layout layout;
      layout.cipher = cipher;
      layout.segments = begin(one.bytes, one.segment_bytes);
      layout.segments.in_stride = layout.segments.out_stride = one.segment_bytes + one.gap;
      layout.segments.number = {8, 4, 0, 1};
      for (uint64_t at = 0, n = 1; at < one.bytes; at += one.segment_bytes, n++) {
        Bytes nonce(nonce_.begin(), nonce_.begin() + 12);
        put_number(nonce, 8, 4, n);
        add(layout, std::min(one.segment_bytes, one.bytes - at), one.segment_bytes + one.gap,
            one.segment_bytes + one.gap, std::move(nonce));
      }
      check(layout, DataMemory::kDevice);
      if (HasFailure()) return;
    }
}

// The IV has a block counter behind the number, or before it in ChaCha20.
TEST_P(SegmentsTest, CountersOfBlocks) {
  std::fill(nonce_.begin(), nonce_.end(), 0);
  for (bool chacha : {false, true})
    for (DataMemory data_memory : {DataMemory::kHost, DataMemory::kDevice}) {
      Layout layout;
      layout.cipher = chacha ? LC_CHACHA20 : LC_AES_CTR;
      layout.tag_bytes = 0;
      layout.segments = begin(5 * 999, 999);
      layout.segments.number = chacha ? lc_numbering{8, 8, 1, 7} : lc_numbering{8, 4, 0, 7};
      for (uint32_t n = 0; n < 5; n++) {
        Bytes iv(16);
        put_number(iv, 8, chacha ? 8 : 4, 7 + n, chacha);
        add(layout, 999, 999, 999, std::move(iv));
      }
      check(layout, data_memory, random_.below(16));
      if (HasFailure()) return;
    }
}

INSTANTIATE_TEST_SUITE_P(, SegmentsTest, testing::ValuesIn(devices_under_test()), device_case_name);

// Invalid segments are refused before anything is done.
class Refusal : public testing::Test {
 protected:
  Refusal() {
    job_.struct_size = sizeof job_;
    job_.key_bytes = 32;
    job_.cipher = LC_AES_GCM;
    job_.device = LC_ANY_DEVICE;
    job_.segments = &segments_;
    segments_.struct_size = sizeof segments_;
    segments_.key = memory_;
    segments_.nonce = memory_;
    segments_.in = memory_;
    segments_.out = memory_ + 4096;
    segments_.tags = memory_ + 8192;
    segments_.text_bytes = 1000;
    segments_.segment_bytes = 100;
    segments_.number = {8, 4, 0, 0};
  }
  // `change` makes the job invalid.
  void refused(const std::string &text, const std::function<void()> &change) {
    const lc_cipher_job job = job_;
    const lc_segments segments = segments_;
    change();
    EXPECT_EQ(LC_ERROR_ARGUMENT, lc_run(context_.get(), &job_, nullptr)) << text;
    EXPECT_NE(std::string::npos, std::string(lc_last_error()).find(text)) << lc_last_error();
    job_ = job;
    segments_ = segments;
  }

  Context context_{"none", LC_FALLBACK_CPU};
  uint8_t memory_[16384] = {};
  lc_cipher_job job_ = {};
  lc_segments segments_ = {};
};

TEST_F(Refusal, IsRightAsItIs) {
  EXPECT_EQ(LC_OK, lc_run(context_.get(), &job_, nullptr)) << lc_last_error();
}

// SP 800-38D, section 8: no nonce twice under a key.
TEST_F(Refusal, NoNonceTwice) {
  refused("several would have the same nonce", [&] { segments_.number.bytes = 0; });
  refused("do not fit in 1 bytes of the nonce", [&] {
    segments_.number = {11, 1, 0, 0};
    segments_.text_bytes = 25601;
  });
  refused("do not fit in 4 bytes of the nonce", [&] { segments_.number.first = 0xfffffff7; });
  refused("do not fit in 8 bytes of the nonce", [&] {
    segments_.number = {4, 8, 0, UINT64_MAX - 8};
  });
  refused("does not lie within the nonce", [&] { segments_.number.at = 9; });
  refused("does not lie within the nonce", [&] { segments_.number.at = UINT32_MAX; });
  refused("the last flag lies within the number", [&] {
    segments_.last_flag = 1;
    segments_.last_flag_at = 8;
  });
  refused("the last flag does not lie within the nonce", [&] {
    segments_.last_flag = 1;
    segments_.last_flag_at = 12;
  });
  refused("nonces that are given have no number", [&] { segments_.nonce_stride = 12; });
  refused("nonce_stride is less than a nonce", [&] {
    segments_.number.bytes = 0;
    segments_.nonce_stride = 11;
  });
  refused("do not fit in 1 bytes of the additional data", [&] {
    segments_.aad = memory_;
    segments_.aad_length = 4;
    segments_.aad_number = {3, 1, 0, 250};
  });
}

// The keystream of one segment must not overlap that of the next.
TEST_F(Refusal, NoCounterBlockTwice) {
  job_.cipher = LC_AES_CTR;
  segments_.tags = nullptr;
  segments_.number = {12, 3, 0, 0};
  EXPECT_EQ(LC_OK, lc_run(context_.get(), &job_, nullptr)) << lc_last_error();
  refused("the blocks of one reach the number of the next", [&] { segments_.number.bytes = 4; });
  refused("the blocks of one reach the number of the next", [&] { memory_[15] = 250; });
  memory_[15] = 0;
  job_.cipher = LC_CHACHA20;
  refused("the blocks of one reach the number of the next", [&] { segments_.number.at = 3; });
  std::memset(memory_, 0xff, 4);
  segments_.number = {8, 4, 0, 0};
  refused("the blocks of one reach the number of the next", [] {});
}

// The host cannot read a device's memory.
TEST_F(Refusal, AdditionalDataOnADevice) {
  segments_.aad = memory_;
  segments_.aad_length = 5;
  segments_.aad_memory = LC_MEMORY_DEVICE;
  EXPECT_EQ(LC_ERROR_UNSUPPORTED, lc_run(context_.get(), &job_, nullptr));
  job_.cipher = LC_AES_CCM;
  job_.memory = job_.tag_memory = LC_MEMORY_DEVICE;
  EXPECT_EQ(LC_ERROR_UNSUPPORTED, lc_run(context_.get(), &job_, nullptr));
  EXPECT_NE(nullptr, strstr(lc_last_error(), "additional data in device memory"))
      << lc_last_error();
}

TEST_F(Refusal, WhatDoesNotFit) {
  // A program that was compiled before this field existed passes such a size.
  segments_.struct_size = offsetof(lc_segments, aad_memory);
  segments_.aad_memory = LC_MEMORY_DEVICE_TO_HOST;
  EXPECT_EQ(LC_OK, lc_run(context_.get(), &job_, nullptr)) << lc_last_error();
  refused("struct_size is too small", [&] { segments_.struct_size = 8; });
  refused("segment_bytes is 0", [&] { segments_.segment_bytes = 0; });
  refused("first_bytes is more than segment_bytes", [&] { segments_.first_bytes = 101; });
  refused("no key", [&] { segments_.key = nullptr; });
  refused("no nonce", [&] { segments_.nonce = nullptr; });
  refused("no input or output", [&] { segments_.in = nullptr; });
  refused("a stride is less than a segment", [&] { segments_.in_stride = 99; });
  refused("a stride is less than a segment with its tag", [&] {
    segments_.tags = nullptr;
    segments_.out_stride = 115;
  });
  refused("tag_stride is less than a tag", [&] { segments_.tag_stride = 15; });
  refused("input and output overlap", [&] { segments_.out = memory_ + 999; });
  refused("in place the strides must be the same", [&] {
    segments_.out = memory_;
    segments_.out_stride = 101;
  });
  refused("they reach past the end of memory", [&] { segments_.out_stride = UINT64_MAX / 8; });
  const lc_message message = {};
  refused("a job has messages or segments", [&] {
    job_.messages = &message;
    job_.message_count = 1;
    job_.message_size = sizeof message;
  });
  refused("takes none", [&] { job_.cipher = LC_AES_CBC; });
}

}  // namespace
}  // namespace lanecrypt::test
