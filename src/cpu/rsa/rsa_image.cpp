// SPDX-License-Identifier: Apache-2.0
#include "cpu/rsa/rsa_image.h"

#include <openssl/err.h>

#include <cstring>
#include <utility>

#include "cpu/rsa/blinding.h"
#include "cpu/rsa/openssl_key.h"
#include "kernels/rsa/rsa_layout.h"
#include "process/forks.h"

namespace lanecrypt::cpu {
namespace {

// The most images that a key keeps, so that a key's memory is bounded. Others are made again.
constexpr size_t kMostImages = 2;

size_t pair_count(const RsaImageForm &form) { return 1 + RSA_BLIND_ENTRIES * form.blind_windows; }

size_t number_count(const RsaImageForm &form) {
  return form.is_private ? RSA_BLIND + 2 * pair_count(form) : size_t{RSA_PUBLIC_NUMBERS};
}

size_t number_bytes(const RsaImageForm &form) { return form.full_limbs * form.limb_bytes(); }

size_t head_bytes(const RsaImageForm &form) {
  return sizeof(RsaKeyHead) + 2 * form.exponent_words * sizeof(uint32_t);
}

// Returns 2^bits.
Number power_of_two(uint32_t bits) {
  Number number(BN_new());
  if (!number || BN_set_word(number.get(), 1) != 1 ||
      BN_lshift(number.get(), number.get(), static_cast<int>(bits)) != 1)
    return nullptr;
  return number;
}

// Returns -1/modulus mod 2^bits of an odd modulus, by Newton's iteration.
uint64_t negative_inverse(const uint8_t *little_endian, uint32_t bits) {
  uint64_t low;
  memcpy(&low, little_endian, sizeof low);
  uint64_t inverse = low;  // correct in 3 bits
  for (int n = 0; n < 5; ++n) inverse *= 2 - low * inverse;
  return (0 - inverse) & ((uint64_t{1} << bits) - 1);
}

// `Maker` is arithmetic mod n for one image. Every call can fail for lack of memory.
class Maker {
 public:
  Maker(const Modulus &modulus, const RsaImageForm &form)
      : modulus_(modulus),
        form_(form),
        context_(BN_CTX_new_ex(private_library())),
        scratch_(BN_new()),
        words_(form.full_limbs * form.limb_bits / 8 + 16) {}

  bool ok() const { return context_ != nullptr && scratch_ != nullptr && words_.ok(1); }
  const Modulus &modulus() const { return modulus_; }
  BN_CTX *context() { return context_.get(); }

  // Returns a 2^bits mod modulus.
  Number shifted(const BIGNUM *a, uint32_t bits, const BIGNUM *modulus) {
    Number result(BN_new());
    if (!result || BN_lshift(scratch_.get(), a, static_cast<int>(bits)) != 1 ||
        BN_nnmod(result.get(), scratch_.get(), modulus, context_.get()) != 1)
      return nullptr;
    return result;
  }

  // R mod n.
  Number r() {
    const Number one = power_of_two(0);
    return one ? shifted(one.get(), form_.full_limbs * form_.limb_bits, modulus_.n()) : nullptr;
  }

  // Splits a number into full_limbs limbs.
  bool split(const BIGNUM *number, uint8_t *to) {
    const size_t bytes = words_.size();
    if (number == nullptr ||
        BN_bn2lebinpad(number, words_.data(), static_cast<int>(bytes)) != static_cast<int>(bytes))
      return false;
    const uint64_t mask = (uint64_t{1} << form_.limb_bits) - 1;
    for (uint32_t k = 0; k < form_.full_limbs; ++k) {
      const size_t bit = size_t{k} * form_.limb_bits;
      uint64_t word;
      memcpy(&word, words_.data() + bit / 8, sizeof word);
      const uint64_t limb = word >> bit % 8 & mask;
      if (form_.fp64) {
        const double value = static_cast<double>(limb);
        memcpy(to + k * sizeof value, &value, sizeof value);
      } else {
        const uint32_t value = static_cast<uint32_t>(limb);
        memcpy(to + k * sizeof value, &value, sizeof value);
      }
    }
    return true;
  }
  // The same for a number in OpenSSL's Montgomery form, which is converted to the device's. `r` is
  // the device's R mod n.
  bool split_montgomery(const BIGNUM *number, const BIGNUM *r, uint8_t *to) {
    return modulus_.multiply(scratch_.get(), number, r, context_.get()) &&
           split(scratch_.get(), to);
  }

  uint64_t negative_inverse_of(const BIGNUM *modulus) {
    const size_t bytes = words_.size();
    if (BN_bn2lebinpad(modulus, words_.data(), static_cast<int>(bytes)) != static_cast<int>(bytes))
      return 0;
    return negative_inverse(words_.data(), form_.limb_bits);
  }

 private:
  const Modulus &modulus_;
  const RsaImageForm &form_;
  NumberContext context_;
  Number scratch_;
  secure::KeyMemory words_;
};

bool write_exponent(std::span<const uint8_t> big_endian, uint32_t words, uint8_t *to) {
  if (big_endian.size() > size_t{words} * 4) return false;
  memset(to, 0, size_t{words} * 4);
  for (size_t n = 0; n < big_endian.size(); ++n) to[n] = big_endian[big_endian.size() - 1 - n];
  return true;
}

// Writes all numbers except the blinding pairs.
bool write_constants(Maker &maker, const RsaKey &key, const RsaImageForm &form, uint8_t *to) {
  const uint32_t full_bits = form.full_limbs * form.limb_bits;
  const uint32_t half_bits = form.half_limbs * form.limb_bits;
  RsaKeyHead head = {};
  head.exponent = key.exponent;
  const auto place = [&](size_t number) {
    return to + head_bytes(form) + number * number_bytes(form);
  };
  const BIGNUM *n = maker.modulus().n();
  head.n_inverse = maker.negative_inverse_of(n);
  const Number one = power_of_two(0);
  if (!one || !maker.split(n, place(RSA_N)) ||
      !maker.split(maker.shifted(one.get(), 2 * full_bits, n).get(), place(RSA_N_R2)))
    return false;
  if (form.is_private) {
    const RsaNumbers &numbers = key.numbers;
    const Number p = number_of(numbers.p), q = number_of(numbers.q), qinv = number_of(numbers.qinv),
                 multiple(BN_new()), quotient(BN_new());
    if (!p || !q || !qinv || !multiple || !quotient) return false;
    head.p_inverse = maker.negative_inverse_of(p.get());
    head.q_inverse = maker.negative_inverse_of(q.get());
    // The least multiple of p that is at least q: p (1 + (q-1) / p).
    if (BN_copy(multiple.get(), q.get()) == nullptr || BN_sub_word(multiple.get(), 1) != 1 ||
        BN_div(quotient.get(), nullptr, multiple.get(), p.get(), maker.context()) != 1 ||
        BN_add_word(quotient.get(), 1) != 1 ||
        BN_mul(multiple.get(), quotient.get(), p.get(), maker.context()) != 1)
      return false;
    if (!write_exponent(numbers.dp, form.exponent_words, to + sizeof head) ||
        !write_exponent(numbers.dq, form.exponent_words,
                        to + sizeof head + form.exponent_words * 4) ||
        !maker.split(maker.shifted(q.get(), full_bits, n).get(), place(RSA_Q_MONTGOMERY)) ||
        !maker.split(maker.shifted(qinv.get(), full_bits, p.get()).get(), place(RSA_QINV)) ||
        !maker.split(multiple.get(), place(RSA_P_MULTIPLE)))
      return false;
    for (const auto &[prime, at] : {std::pair(p.get(), RSA_P), {q.get(), RSA_Q}}) {
      if (!maker.split(prime, place(at)) ||
          !maker.split(maker.shifted(one.get(), 2 * half_bits, prime).get(),
                       place(at + RSA_P_H2 - RSA_P)) ||
          !maker.split(maker.shifted(one.get(), 3 * half_bits, prime).get(),
                       place(at + RSA_P_H3 - RSA_P)))
        return false;
    }
  }
  memcpy(to, &head, sizeof head);
  return true;
}

// Entry v of table w: the pair of g^(v 16^w) for one random g.
Status write_tables(Maker &maker, const RsaImageForm &form, const BIGNUM *r, SeededRandom *random,
                    uint8_t *numbers) {
  if (form.blind_windows == 0) return Status();
  Result<std::vector<BlindingPair>> step = draw_pairs(1, maker.modulus(), random, maker.context());
  if (!step.ok()) return step.status();
  const Number entry(BN_new());
  if (!entry) return no_memory_for_key();
  for (uint32_t part = 0; part < 2; ++part) {
    uint8_t *to = numbers + (RSA_BLIND + part * pair_count(form) + 1) * number_bytes(form);
    const BlindingPair &pair = step->front();
    BIGNUM *by = (part == 0 ? pair.power : pair.inverse).get();
    for (uint32_t w = 0; w < form.blind_windows; ++w) {
      if (BN_set_word(entry.get(), 1) != 1 ||
          !maker.modulus().to_montgomery(entry.get(), maker.context()))
        return no_memory_for_key();
      for (uint32_t v = 0; v < RSA_BLIND_ENTRIES; ++v) {
        if (!maker.split_montgomery(entry.get(), r, to) ||
            !maker.modulus().multiply(entry.get(), entry.get(), by, maker.context()))
          return no_memory_for_key();
        to += number_bytes(form);
      }
      // g^(16^(w+1)).
      if (BN_copy(by, entry.get()) == nullptr) return no_memory_for_key();
    }
  }
  return Status();
}

}  // namespace

size_t RsaImageForm::bytes() const {
  return head_bytes(*this) + number_count(*this) * number_bytes(*this);
}

struct RsaImageCache::Image {
  RsaImageForm form;
  secure::KeyMemory memory;
  Number r;  // R mod n
};

struct RsaImageCache::Process {
  explicit Process(const RsaKey &key) : modulus(key) {}

  const uint64_t born_in = process::forks();
  const Modulus modulus;
  std::mutex mutex;
  std::vector<Image> images;
  BlindingChain blinding;

  // The base for the next image, if it was made ahead.
  std::mutex ahead_mutex;
  BlindingChain ahead;
  Status ahead_failed;  // the error of the last attempt to make one, until a launch has reported it
  std::atomic<const BlindingPair *> base_ahead = nullptr;
};

RsaImageCache::RsaImageCache() : born_in_(process::forks()) {}

RsaImageCache::~RsaImageCache() {
  Process *current = process_.load();
  if (current != nullptr && current->born_in == process::forks()) delete current;
}

// Returns the cache of this process, or nullptr for lack of memory.
RsaImageCache::Process *RsaImageCache::process(const RsaKey &key) {
  Process *current = process_.load();
  if (current != nullptr && current->born_in == process::forks()) return current;
  auto made = std::make_unique<Process>(key);
  if (!made->modulus.ok()) return nullptr;
  if (born_in_ != made->born_in) key.memory.lock();
  if (process_.compare_exchange_strong(current, made.get())) return made.release();
  return current;
}

Status RsaImageCache::write(const RsaKey &key, const RsaImageForm &form, SeededRandom *random,
                            uint8_t *to) {
  Process *mine = process(key);
  if (mine == nullptr) return no_memory_for_key();
  const std::lock_guard lock(mine->mutex);
  Maker maker(mine->modulus, form);
  if (!maker.ok()) return no_memory_for_key();
  const Image *image = nullptr;
  for (const Image &known : mine->images)
    if (known.form == form) image = &known;
  if (image == nullptr) {
    Image made = {form, secure::KeyMemory(form.bytes()), maker.r()};
    if (!made.memory.ok(form.bytes()) || !made.r) return no_memory_for_key();
    if (!write_constants(maker, key, form, made.memory.data())) return no_memory_for_key();
    if (form.is_private)
      LC_TRY(
          write_tables(maker, form, made.r.get(), random, made.memory.data() + head_bytes(form)));
    if (mine->images.size() == kMostImages) mine->images.erase(mine->images.begin());
    mine->images.push_back(std::move(made));
    image = &mine->images.back();
  }
  memcpy(to, image->memory.data(), form.bytes());
  if (!form.is_private) return Status();

  uint8_t *numbers = to + head_bytes(form);
  // If another thread is making a base, this one does not wait for it: two blinding chains are as
  // good as those of two keys.
  const std::unique_lock ahead(mine->ahead_mutex, std::try_to_lock);
  const BlindingPair *base = ahead.owns_lock() ? mine->base_ahead.exchange(nullptr) : nullptr;
  if (ahead.owns_lock()) LC_TRY(std::exchange(mine->ahead_failed, Status()));
  if (base == nullptr) {
    Result<const BlindingPair *> next = (ahead.owns_lock() ? mine->ahead : mine->blinding)
                                            .next(mine->modulus, random, maker.context());
    if (!next.ok()) return next.status();
    base = *next;
  }
  if (!maker.split_montgomery(base->power.get(), image->r.get(),
                              numbers + RSA_BLIND * number_bytes(form)) ||
      !maker.split_montgomery(base->inverse.get(), image->r.get(),
                              numbers + (RSA_BLIND + pair_count(form)) * number_bytes(form)))
    return no_memory_for_key();
  return Status();
}

void RsaImageCache::make_base_ahead(const RsaKey &key, SeededRandom *random) {
  // First try without a system call. A child of fork that finds its parent's cache leaves
  // it alone.
  Process *mine = process_.load();
  if (mine != nullptr && mine->base_ahead.load() != nullptr) return;
  mine = process(key);
  if (mine == nullptr) return;
  const std::unique_lock ahead(mine->ahead_mutex, std::try_to_lock);
  if (!ahead.owns_lock() || mine->base_ahead.load() != nullptr) return;
  // The caller's error queue must not change.
  (void)ERR_set_mark();
  if (const NumberContext context(BN_CTX_new_ex(private_library())); context != nullptr) {
    Result<const BlindingPair *> next = mine->ahead.next(mine->modulus, random, context.get());
    if (next.ok())
      mine->base_ahead = *next;
    else
      mine->ahead_failed = next.status();
  }
  (void)ERR_pop_to_mark();
}

void make_rsa_base_ahead(const RsaKey &key, SeededRandom *random) {
  key.on_cpu->images.make_base_ahead(key, random);
}

Status write_rsa_image(const RsaKey &key, const RsaImageForm &form, SeededRandom *random,
                       uint8_t *to) {
  return key.on_cpu->images.write(key, form, random, to);
}

}  // namespace lanecrypt::cpu
