// SPDX-License-Identifier: Apache-2.0
#include "provider/cipher/keystream_ahead.h"

#include <openssl/crypto.h>
#include <time.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>

#include "process/forks.h"
#include "provider/cipher/stream_position.h"
#include "provider/keystream/keystream.h"

namespace lanecrypt::provider {

// What a stream is doing.
struct StreamAhead {
  enum class State {
    kMeasures,  // how long OpenSSL takes for its updates
    kBegins,    // with the next block
    kRuns,
  };
  State state = State::kMeasures;
  uint64_t born_in = 0;  // forks
  Keystream *keystream = nullptr;
  bool is_behind = false;  // OpenSSL's context is behind the stream
  // The least that a few updates took, of several rounds. UINT64_MAX: none yet.
  struct Clock {
    uint64_t round_ns = 0, round_bytes = 0;
    unsigned updates = 0, rounds = 0;
    double least_ns = 1e9;  // a byte
    void add(uint64_t ns, uint64_t bytes);
  };
  Clock openssl, ours;
  unsigned untimed = 0;
};

namespace {

using State = StreamAhead::State;

constexpr unsigned kUpdatesOfRound = 8, kRounds = 8;
// One in so many updates with keystream is timed.
constexpr unsigned kTimed = 16;
// What a device's work takes of the CPU besides the exclusive or (launches, and samples
// that are checked), and the least gain that is worth it.
constexpr double kDeviceNsPerByte = 0.016, kLeastGain = 0.9;
// How long it takes to open a device, for which an update waits; and how much of the
// stream's time that may be at most.
constexpr double kOpenNs = 0.5e9, kMostLoss = 0.05;

uint64_t now_ns() {
  timespec time = {};
  (void)clock_gettime(CLOCK_MONOTONIC, &time);
  return uint64_t(time.tv_sec) * 1000000000u + uint64_t(time.tv_nsec);
}

int key_index(const CipherContext &context) { return int(context.algorithm().key_bytes / 8) - 2; }

// One for the process. A child of fork makes its own.
KeystreamPool *pool_of(Provider &provider) {
  KeystreamPool *pool = provider.keystream_pool.load(std::memory_order_acquire);
  if (pool != nullptr) return pool;
  auto *made = new (std::nothrow)
      KeystreamPool(provider.devices(), provider.settings.keystream_memory_bytes);
  if (made != nullptr && provider.keystream_pool.compare_exchange_strong(pool, made)) return made;
  delete made;
  return pool;
}

// How long the exclusive or of a byte takes, with updates of that size. Keystream comes
// from memory, data from a cache.
double measure_xor(size_t update_bytes) {
  constexpr size_t kBytes = size_t{2} << 20;
  const size_t bytes = std::clamp<size_t>(update_bytes, 64, 65536);
  const std::unique_ptr<uint8_t[]> memory(new (std::nothrow) uint8_t[kBytes + bytes]());
  if (memory == nullptr) return 1e9;
  uint8_t *const keystream = memory.get(), *const data = keystream + kBytes;
  double least = 1e9;
  for (int round = 0; round < 4; ++round) {
    const uint64_t begin = now_ns();
    size_t at = 0;
    for (; at + bytes <= kBytes; at += bytes) xor_and_wipe(data, data, keystream + at, bytes);
    least = std::min(least, double(now_ns() - begin) / double(at));
  }
  return least;
}

// Sets the next look at the stream, so many bytes on.
void look_after(CipherContext &context, uint64_t bytes) {
  if (__builtin_add_overflow(context.keystream.stream_bytes, bytes, &context.keystream.look_at))
    context.keystream.look_at = UINT64_MAX;
}

void leave_alone(CipherContext &context) { context.keystream.look_at = UINT64_MAX; }

bool must(const CipherContext &context) {
  return context.provider->settings.keystream == Settings::Use::kAlways;
}

// Whether keystream gains, by what was measured, and whether now. For that a device must
// be open, or the stream so long that opening one is little beside it.
bool pays_now(CipherContext &context, const StreamAhead::Clock &openssl) {
  Provider &provider = *context.provider;
  double xor_ns = provider.keystream_xor_ns.load(std::memory_order_relaxed);
  if (xor_ns == 0) {
    xor_ns = measure_xor(openssl.round_bytes / std::max(openssl.updates, 1u));
    provider.keystream_xor_ns.store(xor_ns, std::memory_order_relaxed);
  }
  const double saved_ns = openssl.least_ns - xor_ns - kDeviceNsPerByte;
  if (saved_ns < openssl.least_ns * (1 - kLeastGain)) {
    provider.keystream_loses[key_index(context)] = true;
    leave_alone(context);
    return false;
  }
  // To save CPU time, a device is opened sooner: once the stream would have saved what
  // opening takes.
  const double worth_bytes =
      provider.settings.prefer == LC_PREFER_OFFLOAD
          ? kOpenNs / saved_ns
          : std::max(kOpenNs / kMostLoss / openssl.least_ns, kOpenNs / saved_ns);
  const uint64_t until_worth = uint64_t(worth_bytes), seen = context.keystream.stream_bytes;
  const bool may_open = seen >= until_worth;
  if (lc_is_open(provider.devices(), may_open ? 1 : 0) != 0) return true;
  look_after(context, may_open ? seen / 8 : until_worth - seen);
  return false;
}

bool is_foreign(const CipherContext &context) {
  return context.keystream.ahead->born_in != process::forks();
}

void count_waste(CipherContext &context, uint64_t bytes) {
  context.provider->counters.count(Count::kKeystreamWastedBytes, bytes);
}

// Leaves the state, and no keystream.
void forget(CipherContext &context) {
  StreamAhead *ahead = context.keystream.ahead;
  context.keystream.ahead = nullptr;
  context.pass_below = context.usual_pass_below;
  if (ahead->keystream != nullptr) {
    count_waste(context, ahead->keystream->end());
    delete ahead->keystream;
  }
  delete ahead;
}

// The parent's threads and memory are not here, but what its objects say still is.
void forget_foreign(CipherContext &context) {
  context.keystream.ahead = nullptr;
  context.pass_below = context.usual_pass_below;
}

// Called at the beginning of a block.
void try_begin(CipherContext &context, const uint8_t counter[kBlockBytes]) {
  StreamAhead &ahead = *context.keystream.ahead;
  Provider &provider = *context.provider;
  KeystreamPool *pool = pool_of(provider);
  if (pool != nullptr) {
    provider.asked_devices.store(true, std::memory_order_relaxed);
    ahead.keystream =
        Keystream::begin(provider.devices(), *pool, context.key, context.algorithm().key_bytes,
                         counter, context.keystream.stream_bytes);
  }
  if (ahead.keystream != nullptr) {
    ahead.state = State::kRuns;
    return;
  }
  // Other streams have the memory now.
  forget(context);
  look_after(context, context.keystream.stream_bytes);
}

bool feed_timed(CipherContext &context, uint8_t *out, const uint8_t *in, size_t bytes) {
  size_t written = 0;
  context.provider->counters.count_cpu(bytes);
  StreamAhead::Clock *const clock = context.keystream.ahead->state == State::kMeasures
                                        ? &context.keystream.ahead->openssl
                                        : nullptr;
  const uint64_t begin = clock != nullptr ? now_ns() : 0;
  if (!feed(context, out, &written, in, bytes)) return false;
  if (clock == nullptr) return true;
  clock->add(now_ns() - begin, bytes);
  if (clock->rounds < kRounds) return true;
  const StreamAhead::Clock measured = *clock;
  if (pays_now(context, measured)) {
    context.keystream.ahead->state = State::kBegins;
  } else {
    forget(context);
  }
  return true;
}

// OpenSSL's context does the update, and the stream goes on behind it.
bool let_openssl(CipherContext &context, uint8_t *out, const uint8_t *in, size_t bytes) {
  size_t written = 0;
  if (!catch_up(context)) return false;
  if (!feed(context, out, &written, in, bytes)) return false;
  context.keystream.ahead->keystream->skip(bytes);
  return true;
}

// Whether going on still gains.
bool still_pays(const CipherContext &context) {
  const StreamAhead &ahead = *context.keystream.ahead;
  if (ahead.keystream->is_over()) return false;
  if (must(context)) return true;
  // False when the device falls behind.
  const uint64_t all = ahead.keystream->all_bytes(), used = ahead.keystream->used_bytes();
  if (all > 4 * KeystreamPool::kSlabBytes && used < all / 2) return false;
  if (ahead.ours.rounds < kRounds || ahead.ours.least_ns < ahead.openssl.least_ns) return true;
  context.provider->keystream_loses[key_index(context)] = true;
  return false;
}

}  // namespace

void StreamAhead::Clock::add(uint64_t ns, uint64_t bytes) {
  round_ns += ns;
  round_bytes += bytes;
  if (++updates % kUpdatesOfRound != 0) return;
  least_ns = std::min(least_ns, double(round_ns) / double(std::max<uint64_t>(round_bytes, 1)));
  ++rounds;
  if (rounds == kRounds) return;
  round_ns = round_bytes = 0;
  updates = 0;
}

void begin_stream(CipherContext &context) {
  const Settings &settings = context.provider->settings;
  context.keystream.stream_bytes = 0;
  context.keystream.look_at = UINT64_MAX;
  if (context.algorithm().cipher == LC_AES_CTR && settings.in_process &&
      settings.keystream != Settings::Use::kOff)
    context.keystream.look_at = std::max<uint64_t>(settings.keystream_after_bytes, 1);
}

void consider_keystream(CipherContext &context) {
  if (!context.key_set || context.keystream.ahead != nullptr ||
      !context.provider->may_use_devices() ||
      (!must(context) && context.provider->keystream_loses[key_index(context)])) {
    leave_alone(context);
    return;
  }
  auto *ahead = new (std::nothrow) StreamAhead();
  look_after(context, context.keystream.stream_bytes);
  if (ahead == nullptr) return;
  ahead->born_in = process::forks();
  if (must(context)) ahead->state = State::kBegins;
  context.keystream.ahead = ahead;
  // Makes every update come this way.
  context.pass_below = 0;
}

int update_with_keystream(CipherContext &context, uint8_t *out, size_t *out_bytes, size_t out_size,
                          const uint8_t *in, size_t in_bytes) {
  const auto otherwise = [&] {
    return end_keystream(context)
               ? update_cipher<Passing::kCounter>(context, out, out_bytes, out_size, in, in_bytes)
               : 0;
  };
  if (is_foreign(context) || in == nullptr || out == nullptr || out_size < in_bytes)
    return otherwise();
  const Placement place = place_of(context, out, in, in_bytes);
  if (place.choice != LC_CHOICE_CPU)
    return end_keystream(context)
               ? update_in_bulk(context, place, out, out_bytes, out_size, in, in_bytes)
               : 0;
  context.keystream.stream_bytes += in_bytes;
  size_t done = 0;
  if (context.keystream.ahead->state == State::kBegins) {
    StreamState state;
    if (!ask_state(context, &state) || state.used_bytes >= kBlockBytes) return otherwise();
    // OpenSSL does what is left of the block.
    const size_t head = std::min<size_t>(in_bytes, (kBlockBytes - state.used_bytes) % kBlockBytes);
    if (head > 0 && !feed(context, out, &done, in, head)) return 0;
    if (head > 0 && !ask_state(context, &state)) return 0;
    if (state.used_bytes == 0) try_begin(context, state.iv);
    if (context.keystream.ahead == nullptr || context.keystream.ahead->state != State::kRuns) {
      size_t written = 0;
      context.provider->counters.count_cpu(in_bytes);
      if (done < in_bytes && !feed(context, out + done, &written, in + done, in_bytes - done))
        return 0;
      *out_bytes = in_bytes;
      return 1;
    }
  }
  if (context.keystream.ahead->state == State::kMeasures) {
    if (!feed_timed(context, out, in, in_bytes)) return 0;
    *out_bytes = in_bytes;
    return 1;
  }
  const size_t head = done;
  const bool is_alone = out == in || out + in_bytes <= in || in + in_bytes <= out;
  StreamAhead &ahead = *context.keystream.ahead;
  if (is_alone) {
    const bool is_timed = ++ahead.untimed % kTimed == 0;
    const uint64_t begin = is_timed ? now_ns() : 0;
    const size_t used = ahead.keystream->use(out + done, in + done, in_bytes - done, must(context));
    done += used;
    ahead.is_behind = ahead.is_behind || used > 0;
    if (is_timed && used == in_bytes) ahead.ours.add(now_ns() - begin, used);
  }
  const size_t made_ahead = done - head;
  if (done < in_bytes && !let_openssl(context, out + done, in + done, in_bytes - done)) return 0;
  if (made_ahead > 0) {
    context.provider->counters.count_device(made_ahead, in_bytes - made_ahead);
    context.provider->counters.count(Count::kKeystreamBytes, made_ahead);
  } else {
    context.provider->counters.count_cpu(in_bytes);
  }
  *out_bytes = in_bytes;
  if (!still_pays(context)) {
    const bool is_over = context.keystream.ahead->keystream->is_over();
    const bool has_failed = context.keystream.ahead->keystream->has_failed();
    if (!end_keystream(context)) return 0;
    leave_alone(context);
    if (is_over) note_that_others_took_over(*context.provider, has_failed, false);
  }
  return 1;
}

bool catch_up(CipherContext &context) {
  if (context.keystream.ahead == nullptr || !context.keystream.ahead->is_behind) return true;
  uint8_t counter[kBlockBytes], rest[kBlockBytes] = {};
  const unsigned used = context.keystream.ahead->keystream->tell(counter);
  size_t written = 0;
  const bool done =
      set_next_iv(context, counter) && (used == 0 || feed(context, rest, &written, rest, used));
  OPENSSL_cleanse(rest, sizeof rest);
  if (done) context.keystream.ahead->is_behind = false;
  return done;
}

bool end_keystream(CipherContext &context) {
  if (context.keystream.ahead == nullptr) return true;
  const bool done = catch_up(context);
  drop_keystream(context);
  return done;
}

void drop_keystream(CipherContext &context) {
  if (context.keystream.ahead == nullptr) return;
  if (is_foreign(context))
    forget_foreign(context);
  else
    forget(context);
  // It must prove to be long again: two pieces were lost.
  begin_stream(context);
}

void end_keystream_pool(Provider &provider) { delete provider.keystream_pool.exchange(nullptr); }

}  // namespace lanecrypt::provider
