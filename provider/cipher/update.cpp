// Processes data: what OpenSSL's context does, what a device or several cores do, and the
// transitions between them.
// A stream may move between them at every call. Before bulk data go elsewhere, OpenSSL's context
// finishes its current block with the head of the input. After the bulk, it starts at the next
// block and gets the tail.
//
// SPDX-License-Identifier: Apache-2.0
#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/params.h>
#include <openssl/proverr.h>

#include <algorithm>
#include <climits>
#include <cstring>

#include "job/cipher/counter.h"
#include "provider/cipher/aead.h"
#include "provider/cipher/cipher.h"
#include "provider/cipher/random_generator.h"
#include "provider/cipher/stream_position.h"

namespace lanecrypt::provider {

namespace {

// EVP counts bytes in an int.
constexpr size_t kMostBytesAtOnce = size_t{1} << 30;
// A data unit of XTS has at most 2^20 blocks (SP 800-38E).
constexpr size_t kMostDataUnitBytes = kBlockBytes << 20;

// Division says how an input is divided. The `head` completes the unit that OpenSSL's context is
// in, and yields `head_out` bytes. `result` is the size of the bulk, which is whole units. The rest
// is the tail.
struct Division {
  size_t head = 0, head_out = 0, bulk = 0;
  // In decryption with padding, the context gives out a block only when it sees a byte of
  // the next. So it is lent that byte, and forgets it with the bulk.
  size_t lent = 0;
};

Division divide(const CipherContext &context, const StreamState &state, size_t in_bytes) {
  Division division;
  const unsigned unit = context.algorithm().unit_bytes();
  const bool holds_last = context.is_block_mode() && !context.encrypting && state.padding != 0;
  if (context.is_block_mode() && context.position.held_bytes > 0) {
    division.head = kBlockBytes - context.position.held_bytes;
    division.head_out = kBlockBytes;
    division.lent = holds_last ? 1 : 0;
  } else if (context.algorithm().counts_within_unit() && state.used_bytes > 0) {
    division.head = division.head_out = unit - state.used_bytes % unit;
  }
  if (in_bytes > division.head) {
    const size_t rest = in_bytes - division.head;
    division.bulk = (rest - (holds_last ? 1 : 0)) / unit * unit;
  }
  return division;
}

// can_be_divided() says whether the bulk's output is exactly at its input, or does not overlap any
// input.
bool can_be_divided(const Division &division, const uint8_t *out, const uint8_t *in,
                    size_t in_bytes) {
  const uintptr_t in_at = reinterpret_cast<uintptr_t>(in),
                  out_at = reinterpret_cast<uintptr_t>(out);
  if (in_at + division.head == out_at + division.head_out) return true;
  return out_at + division.head_out + division.bulk <= in_at || in_at + in_bytes <= out_at;
}

// what_hinders() returns the reason why a request with this division must stay with OpenSSL's own
// implementation, or nullptr if it may go elsewhere.
const char *what_hinders(const CipherContext &context, const StreamState &state,
                         const Division &division, const uint8_t *out, const uint8_t *in,
                         size_t in_bytes) {
  if (context.position.chacha20_is_lost) return "a new key came without an IV";
  if (context.tls_records) return "it is a TLS record";
  if (context.algorithm().traits().inverts && context.encrypting != context.key_was_set_encrypting)
    return "the direction was changed without a key";
  if (context.algorithm().counts_within_unit()
          ? state.used_bytes >= context.algorithm().unit_bytes()
          : state.used_bytes != 0)
    return "the parameter num was set";
  if (context.is_block_mode() && context.position.held_bytes == kBlockBytes &&
      (context.encrypting || !state.padding))
    return "padding was switched off within a stream";
  if (!can_be_divided(division, out, in, in_bytes)) return "its input and output overlap in part";
  return nullptr;
}

// lacks_key() raises an error if there is no key, because OpenSSL's ciphertext stealing does not
// check.
bool lacks_key(const CipherContext &context) {
  if (context.key_set || !context.algorithm().traits().steals()) return false;
  ERR_raise(ERR_LIB_PROV, PROV_R_NO_KEY_SET);
  return true;
}

int raise_too_small() {
  ERR_raise(ERR_LIB_PROV, PROV_R_OUTPUT_BUFFER_TOO_SMALL);
  return 0;
}

// update_on_cpu() does a whole request in OpenSSL's context.
int update_on_cpu(CipherContext &context, uint8_t *out, size_t *out_bytes, size_t out_size,
                  const uint8_t *in, size_t in_bytes) {
  // EVP guarantees room for one block more than the input, and OpenSSL's context relies on it.
  // Another caller may provide less.
  if (out_size < in_bytes + (context.is_block_mode() ? kBlockBytes : 0) && context.key_set) {
    StreamState state;
    if (context.tls_records || !ask_state(context, &state)) return raise_too_small();
    const size_t all = context.position.held_bytes + in_bytes;
    const bool holds_last = context.is_block_mode() && !context.encrypting && state.padding != 0;
    const size_t written = !context.is_block_mode() ? in_bytes
                           : all == 0               ? 0
                                      : (all - (holds_last ? 1 : 0)) / kBlockBytes * kBlockBytes;
    if (out_size < written) return raise_too_small();
  }
  if (in_bytes > 0) context.provider->counters.count_cpu(in_bytes);
  return feed(context, out, out_bytes, in, in_bytes) ? 1 : 0;
}

// pass_blocks(), pass_chacha20() and pass_message() do a whole request, already counted, in
// OpenSSL's context, and note what must be noted. Such requests are short: saving registers and
// nested calls take as long as a block of AES. So each kind has its own function, which the
// compiler must not inline into update_cipher().
[[gnu::noinline]] int pass_blocks(CipherContext &context, uint8_t *out, size_t *out_bytes,
                                  size_t out_size, const uint8_t *in, size_t in_bytes) {
  if (!context.fallback.update(out, out_bytes, out_size, in, in_bytes)) return 0;
  if (!context.tls_records) context.position.held_bytes += in_bytes - *out_bytes;
  return 1;
}

[[gnu::noinline]] int pass_chacha20(CipherContext &context, uint8_t *out, size_t *out_bytes,
                                    size_t out_size, const uint8_t *in, size_t in_bytes) {
  if (!context.fallback.update(out, out_bytes, out_size, in, in_bytes)) return 0;
  advance_chacha20_stream(context, in_bytes);
  return 1;
}

[[gnu::noinline]] int pass_message(CipherContext &context, uint8_t *out, size_t *out_bytes,
                                   size_t out_size, const uint8_t *in, size_t in_bytes) {
  uint64_t &bytes = out == nullptr ? context.aead.aad_bytes : context.aead.text_bytes;
  if (!context.fallback.update(out, out_bytes, out_size, in, in_bytes)) return 0;
  bytes += in_bytes;
  return 1;
}

template <UpdateTracking kTracking>
int pass(CipherContext &context, uint8_t *out, size_t *out_bytes, size_t out_size,
         const uint8_t *in, size_t in_bytes) {
  if constexpr (kTracking == UpdateTracking::kMessage)
    return pass_message(context, out, out_bytes, out_size, in, in_bytes);
  if constexpr (kTracking == UpdateTracking::kBlocks)
    return pass_blocks(context, out, out_bytes, out_size, in, in_bytes);
  if constexpr (kTracking == UpdateTracking::kChaCha20)
    return pass_chacha20(context, out, out_bytes, out_size, in, in_bytes);
  const FallbackContext &fallback = context.fallback;
  return fallback.of->update(fallback.state, out, out_bytes, out_size, in, in_bytes);
}

// count_and_pass() is for a thread other than the previous one, or one that shares its line of the
// counters.
template <UpdateTracking kTracking>
[[gnu::noinline]] int count_and_pass(CipherContext &context, uint8_t *out, size_t *out_bytes,
                                     size_t out_size, const uint8_t *in, size_t in_bytes) {
  context.counts = &context.provider->counters.count_cpu(in_bytes);
  return pass<kTracking>(context, out, out_bytes, out_size, in, in_bytes);
}

// is_plain() says whether the message is so far processed by OpenSSL's context alone, and neither
// that context nor we will refuse this part: it is short enough for any IV.
bool is_plain(const CipherContext &context, const uint8_t *out, const uint8_t *in,
              size_t in_bytes) {
  constexpr uint64_t kAlwaysAllowed = kModes[static_cast<int>(Mode::kGcm)].most_text_bytes;
  return in != nullptr && context.aead.message == nullptr && !context.aead.openssl_only &&
         context.aead.text_bytes + in_bytes <= kAlwaysAllowed &&
         (out == nullptr || context.key_set);
}

// run_undivided() processes a whole request as bulk.
OffloadResult run_undivided(CipherContext &context, const Placement &place,
                            const StreamState &state, uint8_t *out, const uint8_t *in,
                            size_t in_bytes) {
  const Division all{0, 0, in_bytes, 0};
  const char *hindrance = what_hinders(context, state, all, out, in, in_bytes);
  return hindrance == nullptr ? run_bulk(context, place, state.iv, out, in, in_bytes)
                              : do_without_device(*context.provider, hindrance);
}

// run_whole() runs a request that cannot be divided. XTS: a request is a data unit, with the tweak
// that the context has. Ciphertext stealing: a request is the message.
OffloadResult run_whole(CipherContext &context, uint8_t *out, size_t out_size, const uint8_t *in,
                        size_t in_bytes) {
  StreamState state;
  const Placement place = place_of(context, out, in, in_bytes);
  // Invalid requests are left to OpenSSL, which refuses them.
  if (place.choice == LC_CHOICE_CPU || !context.iv_set || in_bytes < kBlockBytes ||
      (context.algorithm().has_data_units() && in_bytes > kMostDataUnitBytes) ||
      out_size < in_bytes || !ask_state(context, &state))
    return OffloadResult::kNotTaken;
  return run_undivided(context, place, state, out, in, in_bytes);
}

Placement ask_model(const CipherContext &context, size_t in_bytes) {
  const Algorithm &algorithm = context.algorithm();
  lc_cipher_question question{};
  question.struct_size = sizeof question;
  question.cipher = algorithm.cipher;
  question.direction = context.encrypting ? LC_ENCRYPT : LC_DECRYPT;
  question.key_bytes = algorithm.key_bytes;
  question.streams = 1;
  question.bytes = in_bytes;
  Placement place;
  place.choice = lc_cipher_place(context.provider->devices(), &question, &place.device);
  return place;
}

// gains_by_cores() says whether several cores do an update sooner than one, if no device may be
// used. Below kLeastBytes they were slower on every machine that was measured. Chains, data units,
// ciphertext stealing and authenticated modes stay on one core.
bool gains_by_cores(const CipherContext &context, size_t in_bytes) {
  constexpr size_t kLeastBytes = size_t{2} << 20;
  const Algorithm &algorithm = context.algorithm();
  return in_bytes >= kLeastBytes && !algorithm.is_aead() && !algorithm.has_data_units() &&
         !algorithm.traits().steals() &&
         !algorithm.traits().is_chain(context.encrypting ? LC_ENCRYPT : LC_DECRYPT);
}

}  // namespace

Placement place_of(const CipherContext &context, const uint8_t *out, const uint8_t *in,
                   size_t in_bytes) {
  constexpr Placement kOpenssl{LC_CHOICE_CPU}, kCores{LC_CHOICE_CORES};
  constexpr Placement kAnyDevice{LC_CHOICE_DEVICE, LC_ANY_DEVICE};
  const Settings &settings = context.provider->settings;
  if (in_bytes < settings.least_device_bytes() || may_be_generators(context, in_bytes))
    return kOpenssl;
  if (!context.key_set || in == nullptr || out == nullptr) return kOpenssl;
  if (!context.provider->may_use_devices()) {
    // the device path raises the error with the reason
    if (settings.require_gpu) return kAnyDevice;
    return gains_by_cores(context, in_bytes) && context.provider->may_use_cores() ? kCores
                                                                                  : kOpenssl;
  }
  if (settings.require_gpu) return kAnyDevice;
  // A chain, such as one stream of CBC encryption, is slow on a device. Only tests request that.
  if (context.algorithm().traits().is_chain(context.encrypting ? LC_ENCRYPT : LC_DECRYPT) &&
      settings.threshold_bytes != 0)
    return kOpenssl;
  if (!settings.asks_model()) return kAnyDevice;
  const Placement place = ask_model(context, in_bytes);
  // A data unit runs on one core, and the caller's is available.
  if (place.choice == LC_CHOICE_CORES)
    return settings.cores < 2 || context.algorithm().has_data_units() ? kOpenssl : place;
  // If there is no measurement, a device may be slower.
  return place.choice == LC_CHOICE_DEVICE ? place : kOpenssl;
}

bool feed(CipherContext &context, uint8_t *out, size_t *out_bytes, const uint8_t *in,
          size_t in_bytes) {
  size_t written = 0;
  const size_t most = context.algorithm().takes_whole() ? size_t{INT_MAX} : kMostBytesAtOnce;
  do {
    const size_t piece = std::min(in_bytes, most);
    size_t bytes = 0;
    if (!context.fallback.update(out == nullptr ? nullptr : out + written, &bytes, in, piece))
      return false;
    note_fed(context, piece, bytes);
    written += bytes;
    in_bytes -= piece;
    if (in != nullptr) in += piece;
  } while (in_bytes > 0);
  *out_bytes = written;
  return true;
}

namespace {

// update_in_bulk() does an update of a stream for which a device or several cores were chosen.
int update_in_bulk(CipherContext &context, const Placement &place, uint8_t *out, size_t *out_bytes,
                   size_t out_size, const uint8_t *in, size_t in_bytes) {
  StreamState state;
  if (!ask_state(context, &state))
    return update_on_cpu(context, out, out_bytes, out_size, in, in_bytes);
  const Division division = divide(context, state, in_bytes);
  if (division.bulk == 0) return update_on_cpu(context, out, out_bytes, out_size, in, in_bytes);
  const char *hindrance = what_hinders(context, state, division, out, in, in_bytes);
  if (hindrance != nullptr)
    return do_without_device(*context.provider, hindrance) == OffloadResult::kNotTaken
               ? update_on_cpu(context, out, out_bytes, out_size, in, in_bytes)
               : 0;
  const size_t whole = division.head_out + division.bulk;
  if (out_size < (context.is_block_mode() ? whole : in_bytes)) return raise_too_small();

  size_t written = 0, bytes = 0;
  if (division.head_out > 0) {
    const size_t fed = division.head + division.lent;
    if (!feed(context, out, &written, in, fed) || !ask_state(context, &state)) return 0;
  }
  size_t taken = division.head;
  switch (run_bulk(context, place, state.iv, out + written, in + taken, division.bulk)) {
    case OffloadResult::kDone:
      written += division.bulk;
      taken += division.bulk;
      if (in_bytes > division.bulk)
        context.provider->counters.count(Count::kCpuBytes, in_bytes - division.bulk);
      break;
    case OffloadResult::kNotTaken:
      taken += division.lent;
      context.provider->counters.count_cpu(in_bytes);
      break;
    case OffloadResult::kFailed:
    case OffloadResult::kRefused:
    case OffloadResult::kWrongTag:  // a stream has no tag
      return 0;
  }
  if (taken < in_bytes) {
    if (!feed(context, out + written, &bytes, in + taken, in_bytes - taken)) return 0;
    written += bytes;
  }
  *out_bytes = written;
  return 1;
}

// update_at_length() does a request that a device may do, or that needs other special handling.
[[gnu::noinline]] int update_at_length(CipherContext &context, uint8_t *out, size_t *out_bytes,
                                       size_t out_size, const uint8_t *in, size_t in_bytes) {
  if (context.algorithm().is_aead())
    return update_aead(context, out, out_bytes, out_size, in, in_bytes);
  if (context.algorithm().takes_whole()) {
    // As in OpenSSL: one message only, and no error is raised.
    if (lacks_key(context) || (context.message_is_over && out != nullptr)) return 0;
    const OffloadResult bulk = run_whole(context, out, out_size, in, in_bytes);
    if (bulk == OffloadResult::kFailed) return 0;
    if (bulk == OffloadResult::kDone)
      *out_bytes = in_bytes;
    else if (!update_on_cpu(context, out, out_bytes, out_size, in, in_bytes))
      return 0;
    context.message_is_over = out != nullptr && context.algorithm().traits().steals();
    return 1;
  }
  const Placement place = place_of(context, out, in, in_bytes);
  return place.choice == LC_CHOICE_CPU
             ? update_on_cpu(context, out, out_bytes, out_size, in, in_bytes)
             : update_in_bulk(context, place, out, out_bytes, out_size, in, in_bytes);
}

}  // namespace

template <UpdateTracking kTracking>
int update_cipher(CipherContext &context, uint8_t *out, size_t *out_bytes, size_t out_size,
                  const uint8_t *in, size_t in_bytes) {
  // EVP guarantees this room, and OpenSSL's context relies on it.
  constexpr size_t kRoomBytes = kTracking == UpdateTracking::kBlocks ? kBlockBytes : 0;
  if (in_bytes == 0 || in_bytes >= context.pass_below || out_size < in_bytes + kRoomBytes ||
      (kTracking == UpdateTracking::kMessage && !is_plain(context, out, in, in_bytes)))
    return update_at_length(context, out, out_bytes, out_size, in, in_bytes);
  if (!context.counts->count_cpu(in_bytes))
    return count_and_pass<kTracking>(context, out, out_bytes, out_size, in, in_bytes);
  return pass<kTracking>(context, out, out_bytes, out_size, in, in_bytes);
}

#define LANECRYPT_INSTANTIATE(kTracking)                                              \
  template int update_cipher<kTracking>(CipherContext &, uint8_t *, size_t *, size_t, \
                                        const uint8_t *, size_t);
LANECRYPT_INSTANTIATE(UpdateTracking::kPlain)
LANECRYPT_INSTANTIATE(UpdateTracking::kBlocks)
LANECRYPT_INSTANTIATE(UpdateTracking::kChaCha20)
LANECRYPT_INSTANTIATE(UpdateTracking::kMessage)
#undef LANECRYPT_INSTANTIATE

int cipher_at_once(CipherContext &context, uint8_t *out, size_t *out_bytes, size_t out_size,
                   const uint8_t *in, size_t in_bytes) {
  if (context.algorithm().is_aead())
    return aead_at_once(context, out, out_bytes, out_size, in, in_bytes);
  const bool has_data_units = context.algorithm().has_data_units();
  // For ciphertext stealing, OpenSSL does plain CBC here.
  if (lacks_key(context)) return 0;
  const bool may_run = !context.algorithm().traits().steals();
  const Placement place =
      may_run && !has_data_units ? place_of(context, out, in, in_bytes) : Placement{LC_CHOICE_CPU};
  if (place.choice != LC_CHOICE_CPU && !context.is_block_mode())
    return update_in_bulk(context, place, out, out_bytes, out_size, in, in_bytes);
  if (context.key_set && out_size < in_bytes) return raise_too_small();
  if (has_data_units) {
    const OffloadResult bulk = run_whole(context, out, out_size, in, in_bytes);
    *out_bytes = in_bytes;
    if (bulk != OffloadResult::kNotTaken) return bulk == OffloadResult::kDone ? 1 : 0;
  }
  StreamState state;
  if (place.choice != LC_CHOICE_CPU && in_bytes % kBlockBytes == 0 &&
      context.position.held_bytes == 0 && ask_state(context, &state)) {
    const OffloadResult bulk = run_undivided(context, place, state, out, in, in_bytes);
    if (bulk == OffloadResult::kFailed) return 0;
    if (bulk == OffloadResult::kDone) {
      *out_bytes = in_bytes;
      return 1;
    }
  }
  if (in_bytes > 0) context.provider->counters.count_cpu(in_bytes);
  size_t written = 0;
  do {
    const size_t piece = std::min(in_bytes - written, kMostBytesAtOnce);
    size_t bytes = 0;
    if (!context.fallback.at_once(out == nullptr ? nullptr : out + written, &bytes,
                                  in == nullptr ? nullptr : in + written, piece))
      return 0;
    if (context.algorithm().is_chacha20()) advance_chacha20_stream(context, piece);
    written += piece;
  } while (written < in_bytes);
  *out_bytes = in_bytes;
  return 1;
}

}  // namespace lanecrypt::provider
