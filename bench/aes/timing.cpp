// SPDX-License-Identifier: Apache-2.0
#include "bench/aes/timing.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <random>

#include "bench/report/compare_times.h"
#include "cli/crypt/block_cipher_mode.h"
#include "cli/crypt/device_engine.h"
#include "cli/failure.h"
#include "job/cipher/cipher_info.h"
#include "process/diagnostics.h"

namespace lanecrypt::bench {
namespace {

constexpr unsigned kKeys = 10000;
constexpr unsigned kInputs = 16;
constexpr uint32_t kMostKeyBytes = 64;
// A mode with independent blocks gets one message of kMostBytes. A chained mode gets kStreams
// streams of 128 or 136 bytes. An AEAD mode also gets kPackets packets of 1 KiB, which are too
// short to be hashed by matrices.
constexpr uint64_t kMostBytes = 1 << 20, kStreams = 1024, kPackets = 64;

struct TimingCase {
  std::string name;
  lc_cipher mode;
  lc_direction direction;
  uint32_t key_bytes;
  uint64_t bytes = kMostBytes, messages = 1;

  bool has_tag() const { return cipher_info(mode).is_aead; }
};

// Lists both directions of a mode if they have separate kernels. ChaCha20 has no table lookups
// and no branches: if its inputs can be distinguished, the hardware is the cause.
std::vector<TimingCase> timing_cases(bool quick) {
  std::vector<TimingCase> cases;
  const auto both = [&](TimingCase run, const char *encrypt = "",
                        const char *decrypt = "-decrypt") {
    const std::string name = run.name;
    run.name = name + encrypt;
    cases.push_back(run);
    run.name = name + decrypt;
    run.direction = LC_DECRYPT;
    cases.push_back(run);
  };
  for (const uint32_t key_bytes : {16u, 24u, 32u}) {
    if (quick && key_bytes != 16) continue;
    const auto name = [&](const char *mode) {
      return "aes-" + std::to_string(8 * key_bytes) + "-" + mode;
    };
    const auto streams = [&](const char *mode, lc_cipher cipher, uint64_t bytes) {
      return TimingCase{name(mode), cipher, LC_ENCRYPT, key_bytes, kStreams * bytes, kStreams};
    };
    cases.push_back({name("ctr"), LC_AES_CTR, LC_ENCRYPT, key_bytes});
    both({name("ecb"), LC_AES_ECB, LC_ENCRYPT, key_bytes});
    cases.push_back({name("cbc-decrypt"), LC_AES_CBC, LC_DECRYPT, key_bytes});
    cases.push_back(streams("cbc-encrypt", LC_AES_CBC, 128));
    if (key_bytes != 24) both({name("xts"), LC_AES_XTS, LC_ENCRYPT, 2 * key_bytes});
    both({name("gcm"), LC_AES_GCM, LC_ENCRYPT, key_bytes});
    both({name("gcm-packets"), LC_AES_GCM, LC_ENCRYPT, key_bytes, kPackets << 10, kPackets});
    both(streams("ccm", LC_AES_CCM, 128));
    cases.push_back(streams("cfb-encrypt", LC_AES_CFB128, 128));
    cases.push_back({name("cfb-decrypt"), LC_AES_CFB128, LC_DECRYPT, key_bytes});
    cases.push_back(streams("ofb", LC_AES_OFB, 128));
    both(streams("cbc-cs3", LC_AES_CBC_CS3, 136), "-encrypt");
  }
  // The other block ciphers share the kernels' code around the cipher, so three modes are enough.
  for (const std::string &name : cli::cipher_names()) {
    const cli::BlockCipherMode cipher = *cli::find_cipher(name);
    const CipherInfo &info = cipher_info(cipher.mode);
    if (info.block->first == LC_AES_ECB || (quick && cipher.key_bytes != 16)) continue;
    if (info.mode == Mode::kCtr) cases.push_back({name, cipher.mode, LC_ENCRYPT, cipher.key_bytes});
    if (info.mode == Mode::kEcb) both({name, cipher.mode, LC_ENCRYPT, cipher.key_bytes});
    if (info.mode == Mode::kCbc)
      cases.push_back({name + "-decrypt", cipher.mode, LC_DECRYPT, cipher.key_bytes});
  }
  cases.push_back({"chacha20", LC_CHACHA20, LC_ENCRYPT, 32});
  both({"chacha20-poly1305", LC_CHACHA20_POLY1305, LC_ENCRYPT, 32});
  both({"chacha20-poly1305-packets", LC_CHACHA20_POLY1305, LC_ENCRYPT, 32, kPackets << 10,
        kPackets});
  return cases;
}

class Timing {
 public:
  Timing(const Context &context, uint32_t index, std::string where, unsigned launches)
      : context_(context),
        index_(index),
        where_(std::move(where)),
        launches_(launches),
        in_(context.on_device(index, kMostBytes)),
        out_(context.on_device(index, kMostBytes)),
        opened_(context.on_device(index, kMostBytes)),
        inputs_(context.pinned(2 * kInputs * kMostBytes)) {
    std::random_device seed;
    random_.seed(seed());
    keys_.resize(uint64_t{kKeys + 2} * kMostKeyBytes);
    for (uint8_t &byte : keys_) byte = static_cast<uint8_t>(random_());
    // Shuffles the inputs of the two kinds, so that neither kind has a region of memory to
    // itself.
    for (unsigned i = 0; i < 2 * kInputs; ++i) places_[i] = i;
    std::shuffle(places_.begin(), places_.end(), random_);
    for (unsigned i = 0; i < 2 * kInputs; ++i) {
      uint8_t *input = inputs_.data() + places_[i] * kMostBytes;
      for (uint64_t n = 0; n < kMostBytes; ++n)
        input[n] = i < kInputs && n >= 16 ? input[n - 16] : static_cast<uint8_t>(random_());
    }
  }

  void measure(const TimingCase &run, BenchLog &log) {
    uint8_t key[kMostKeyBytes];
    const uint8_t *const other_key = keys_.data() + uint64_t{kKeys + 1} * kMostKeyBytes;
    // Decryption needs a ciphertext and a tag that were just made with the same key.
    const bool opens = run.has_tag() && run.direction == LC_DECRYPT;
    Tags tags(run.messages), other_tags(run.messages);
    std::vector<lc_message> messages = messages_of(run, key, in_, out_, tags),
                            sealed = messages_of(run, key, out_, opened_, tags),
                            others = messages_of(run, other_key, opens ? out_ : in_, opened_,
                                                 other_tags);
    lc_cipher_job job = cipher_job(run.mode, opens ? LC_ENCRYPT : run.direction, run.key_bytes,
                                   messages.data(), messages.size());
    job.memory = LC_MEMORY_DEVICE;
    job.device = index_;
    job.has_device = 1;
    lc_cipher_job open = job;
    open.direction = LC_DECRYPT;
    open.messages = sealed.data();
    lc_cipher_job before = job;
    before.messages = others.data();
    std::vector<TimedLaunch> timed;
    const unsigned warm_up = std::min(100u, launches_ / 10);
    for (unsigned n = 0; n < launches_ + warm_up; ++n) {
      const bool key_varies = random_() & 1, data_varies = random_() & 1;
      // Both kinds of keys read the same amount of the same memory. The key that is used is
      // copied last.
      const uint64_t drawn = 1 + random_() % kKeys;
      memcpy(key, keys_.data() + drawn * kMostKeyBytes, sizeof key);
      memcpy(key, keys_.data() + (key_varies ? drawn : 0) * kMostKeyBytes, sizeof key);
      const uint64_t input = places_[(data_varies ? kInputs : 0) + random_() % kInputs];
      in_.fill_from(inputs_.data() + input * kMostBytes, run.bytes);
      if (opens) context_.run(job);
      // Reading data that have just arrived over the bus takes a time that depends on the data,
      // even for a plain copy (docs/lab/timing.md). So a job with another key reads them first,
      // and the timed launch finds nothing of its own in a cache.
      context_.run(before);
      const lc_result told = context_.run(opens ? open : job);
      if (told.kernel_ns == 0)
        throw cli::Failure(cli::ExitCode::kFailed,
                           fmt::format("{}: the device tells no time", run.name));
      if (n >= warm_up)
        timed.push_back({static_cast<double>(told.kernel_ns), key_varies, data_varies});
    }
    for (BenchResult &result : compare_times(run.name, timed, random_)) {
      result.name += "." + where_;
      result.bytes = run.bytes;
      if (run.messages > 1) result.streams = run.messages;
      result.clock = "device";
      log.add(std::move(result));
    }
  }

 private:
  using Tags = std::vector<std::array<uint8_t, 16>>;

  // Builds the messages of a case. AEAD modes use the numbers from 0 on as nonces, because a job
  // must not encrypt with equal nonces. All other modes use the same IV for all messages, so that
  // streams of equal blocks stay equal.
  static std::vector<lc_message> messages_of(const TimingCase &run, const uint8_t *key,
                                             const DeviceBuffer &from, const DeviceBuffer &to,
                                             Tags &tags) {
    static const std::vector<cli::Block> ivs = [] {
      std::vector<cli::Block> made(kStreams);
      for (uint64_t i = 0; i < kStreams; ++i) {
        made[i][10] = static_cast<uint8_t>(i >> 8);
        made[i][11] = static_cast<uint8_t>(i);
      }
      return made;
    }();
    const uint64_t step = run.bytes / run.messages;
    std::vector<lc_message> messages(run.messages);
    for (uint64_t i = 0; i < messages.size(); ++i) {
      messages[i] = {};
      messages[i].key = key;
      messages[i].iv = ivs[run.has_tag() ? i : 0].data();
      messages[i].in = from.address() + i * step;
      messages[i].out = to.address() + i * step;
      messages[i].length = step;
      if (run.has_tag()) messages[i].tag = tags[i].data();
    }
    return messages;
  }

  const Context &context_;
  const uint32_t index_;
  const std::string where_;
  const unsigned launches_;
  const DeviceBuffer in_, out_, opened_;
  std::vector<uint8_t> keys_;  // the fixed key, the varied keys, and one that no timed launch uses
  const PinnedBuffer inputs_;
  std::array<unsigned, 2 * kInputs>
      places_;  // positions of the inputs with equal blocks, then of the others
  std::mt19937_64 random_;
};

}  // namespace

void bench_timing(const Context &context, bool quick, std::optional<unsigned> wanted_launches,
                  BenchLog &log) {
  for (uint32_t i = 0; i < context.device_count(); ++i) {
    const lc_device_info info = context.device(i);
    if (!info.selected || lc_device_test(context.get(), i) != LC_OK) continue;
    // The emulator's times mean nothing. It only shows that the command works.
    const unsigned launches =
        wanted_launches.value_or(info.is_gpu ? (quick ? 10000 : 100000) : (quick ? 10 : 40));
    const char *form = process::diagnostic_variable("LANECRYPT_AES_FORM");
    const std::string where =
        (form != nullptr && *form != '\0' ? std::string(form) + "." : "") + info.api;
    Timing timing(context, i, where, launches);
    for (const TimingCase &run : timing_cases(quick)) {
      if (!log.wants(fmt::format("{}.timing.{}", run.name, where))) continue;
      log.tell(fmt::format("{} on {}", run.name, info.id));
      timing.measure(run, log);
    }
  }
}

}  // namespace lanecrypt::bench
