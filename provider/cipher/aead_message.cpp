// Computes the hash, the masks and the tag of a message of GCM or ChaCha20-Poly1305 that the CPU
// and a device share.
//
// SPDX-License-Identifier: Apache-2.0
#include "provider/cipher/aead_message.h"

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/params.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "cpu/tag_arithmetic.h"
#include "job/cipher/counter.h"
#include "provider/cipher/cipher.h"
#include "provider/fallback.h"
#include "provider/refusal.h"

namespace lanecrypt::provider {
namespace {

using cpu::load_block;
using cpu::poly_sum;

bool is_gcm(const AeadMessage &message) { return kAlgorithms[message.index].is_gcm(); }

// index_of() returns the row of kAlgorithms with another mode of the message's block cipher and the
// same key length.
int index_of(const AeadMessage &message, Mode mode) {
  const Algorithm &own = kAlgorithms[message.index];
  const lc_cipher cipher = another_mode(own.cipher, mode);
  int index = 0;
  while (kAlgorithms[index].cipher != cipher || kAlgorithms[index].key_bytes != own.key_bytes)
    ++index;
  return index;
}

// start_cipher() makes and initialises `context`, which must be empty. If it fails, `context` is
// empty again.
bool start_cipher(Provider &provider, int index, const uint8_t *key, const uint8_t *iv,
                  FallbackContext *context, bool encrypt = true) {
  const Algorithm &algorithm = kAlgorithms[index];
  if (context->make(provider, index) &&
      context->init(key, algorithm.key_bytes, iv, iv == nullptr ? 0 : algorithm.iv_bytes, encrypt))
    return true;
  context->free();
  return false;
}

// restart_cipher() starts the cipher, or, if it was started before, only sets another IV.
bool restart_cipher(FallbackContext &context, int index, const AeadMessage &message,
                    const uint8_t *iv) {
  return context.exists() ? context.init_iv(iv, kAlgorithms[index].iv_bytes)
                          : start_cipher(*message.provider, index, message.key, iv, &context);
}

bool crypt(FallbackContext &context, uint8_t *out, const uint8_t *in, size_t bytes) {
  size_t written = 0;
  return context.update(out, &written, in, bytes) && written == bytes;
}

Block lengths(const AeadMessage &message, uint64_t aad_bytes, uint64_t text_bytes) {
  return cpu::lengths_block(kAlgorithms[message.index].traits().mode, aad_bytes, text_bytes);
}

Poly negative(Poly a) {
  const Poly minus_one = {{0x3fffffau, 0x3ffffffu, 0x3ffffffu, 0x3ffffffu, 0x3ffffffu}};
  return poly_multiply(a, minus_one);
}

Block difference(Block a, Block b) {
  int64_t carry = 0;
  for (int n = 0; n < 4; ++n) {
    carry += int64_t{a.w[n]} - b.w[n];
    a.w[n] = uint32_t(carry);
    carry >>= 32;
  }
  return a;
}

// find_number() recovers a Poly1305 accumulator of 130 bits. A Poly1305 tag without the addition of
// s gives only the low 128 bits (`low`). Of the four candidates, the right one gives `wanted` when
// `attempt` computes with it.
template <typename Try>
bool find_number(Block low, Block wanted, Try attempt, Poly *number) {
  bool found = false;
  for (u32 high = 0; high < 4; ++high) {
    Poly candidate = poly_of_block(low);
    candidate.w[4] = (candidate.w[4] & 0xffffffu) | high << 24;
    const Block made = attempt(candidate);
    if (CRYPTO_memcmp(&made, &wanted, sizeof made) != 0) continue;
    *number = candidate;
    found = true;
  }
  return found;
}

// derive_gcm() derives H, J0 and the encrypted counter blocks (SP 800-38D, section 7.1).
bool derive_gcm(AeadMessage &message) {
  FallbackContext ecb = {};
  uint8_t blocks[48] = {};
  bool ok =
      start_cipher(*message.provider, index_of(message, Mode::kEcb), message.key, nullptr, &ecb) &&
      crypt(ecb, blocks, blocks, 16);
  if (ok) {
    message.h = gf128_of_block(load_block(blocks));
    cpu::gcm_start(message.h, message.iv, message.iv_bytes, message.start);
    // GMAC runs with an IV of zeros. That is safe, because its tags never leave this process.
    std::memset(blocks, 0, sizeof blocks);
    std::memcpy(blocks, message.start, 16);
    blocks[31] = 1;
    ok = crypt(ecb, blocks, blocks, 32);
    message.mask = load_block(blocks);
    message.gmac_mask = load_block(blocks + 16);
  }
  OPENSSL_cleanse(blocks, sizeof blocks);
  ecb.free();
  return ok;
}

// derive_poly1305() derives r and s (RFC 8439, section 2.6).
bool derive_poly1305(AeadMessage &message) {
  std::memcpy(message.start + 4, message.iv, 12);
  FallbackContext chacha20 = {};
  uint8_t bytes[32] = {};
  const bool ok = start_cipher(*message.provider, index_of(message, Mode::kChaCha20), message.key,
                               message.start, &chacha20) &&
                  crypt(chacha20, bytes, bytes, sizeof bytes);
  cpu::poly1305_key(bytes, &message.r, &message.mask);
  OPENSSL_cleanse(bytes, sizeof bytes);
  chacha20.free();
  return ok;
}

// ask_tag() stores in `*tag` the tag that OpenSSL's context would compute for the data so far. If
// `more` is not nullptr, its 16 bytes are appended to the text first, and `more` then holds their
// ciphertext. OpenSSL reveals the tag of an encrypting context only, so this works on a copy that
// is switched to encryption.
bool ask_tag(const FallbackContext &context, uint8_t *more, Block *tag) {
  FallbackContext copy;
  size_t bytes = 0;
  uint8_t nothing[16];
  OSSL_PARAM params[] = {{OSSL_CIPHER_PARAM_AEAD_TAG, OSSL_PARAM_OCTET_STRING, tag, sizeof *tag,
                          OSSL_PARAM_UNMODIFIED},
                         OSSL_PARAM_END};
  const ErrorMark mark;
  const bool ok = copy.make_copy_of(context) && copy.init(nullptr, 0, nullptr, 0, true) &&
                  (more == nullptr || crypt(copy, more, more, 16)) &&
                  copy.finish(nothing, &bytes) && copy.get_params(params);
  copy.free();
  return ok;
}

bool take_over_sum(AeadMessage &message, const FallbackContext &context) {
  Block tag;
  if (!ask_tag(context, nullptr, &tag)) return false;
  if (is_gcm(message)) {
    const Block block = gf128_to_block(
        cpu::gcm_hash_of_tag(message.h, tag, message.mask, message.aad_bytes, message.text_bytes));
    std::memcpy(message.sum, &block, sizeof block);
    return true;
  }
  uint8_t more[16] = {};
  Block tag_of_more;
  if (!ask_tag(context, more, &tag_of_more)) return false;
  const Poly closing = poly_multiply(
      poly_of_block(lengths(message, message.aad_bytes, message.text_bytes)), message.r);
  const Poly block = poly_multiply(poly_of_block(load_block(more)), message.r);
  const Poly later = poly_of_block(lengths(message, message.aad_bytes, message.text_bytes + 16));
  Poly closed;
  const bool found = find_number(
      difference(tag, message.mask), tag_of_more,
      [&](Poly candidate) {
        const Poly sum = poly_sum(candidate, negative(closing));
        const Poly all = poly_sum(poly_sum(sum, block), later);
        return poly_finish(poly_multiply(all, message.r), message.mask);
      },
      &closed);
  const Poly sum = poly_sum(closed, negative(closing));
  std::memcpy(message.sum, sum.w, sizeof sum.w);
  return found;
}

// counter_at() computes the counter block, in `iv`, of the keystream for the next byte of text.
void counter_at(const AeadMessage &message, uint64_t text_bytes, uint8_t iv[16]) {
  std::memcpy(iv, message.start, 16);
  if (is_gcm(message))
    advance_gcm(iv, text_bytes / 16 + 1);
  else
    advance_chacha20_poly1305(iv, text_bytes / 64 + 1);
}

// bytes_until_wrap() returns how many bytes of text are left until GCM's counter of 32 bits wraps.
// CTR mode would carry into the bytes before it.
uint64_t bytes_until_wrap(const AeadMessage &message) {
  if (!is_gcm(message)) return UINT64_MAX;
  uint8_t iv[16];
  counter_at(message, message.text_bytes, iv);
  return blocks_until_gcm_wraps(iv) * 16 - message.text_bytes % 16;
}

bool start_hash(AeadMessage &message) {
  const uint8_t iv[12] = {};
  if (is_gcm(message)) return restart_cipher(message.gmac, message.index, message, iv);
  if (message.poly1305 == nullptr) {
    EVP_MAC *mac = fallback_poly1305(*message.provider);
    message.poly1305 = mac == nullptr ? nullptr : EVP_MAC_CTX_new(mac);
  }
  // The key has s = 0, because make_tag() adds s at the end.
  uint8_t key[32] = {};
  const Block none = {};
  const Block r = poly_finish(message.r, none);
  std::memcpy(key, &r, sizeof r);
  const bool ok =
      message.poly1305 != nullptr && EVP_MAC_init(message.poly1305, key, sizeof key, nullptr);
  OPENSSL_cleanse(key, sizeof key);
  return ok;
}

// start_on_cpu() prepares the stream cipher and the hash to continue on the CPU at the current
// position.
bool start_on_cpu(AeadMessage &message) {
  uint8_t iv[16];
  counter_at(message, message.text_bytes, iv);
  const int index = index_of(message, is_gcm(message) ? Mode::kCtr : Mode::kChaCha20);
  return restart_cipher(message.cipher, index, message, iv) && start_hash(message);
}

bool hash(AeadMessage &message, const uint8_t *in, size_t bytes) {
  if (message.poly1305 != nullptr) return EVP_MAC_update(message.poly1305, in, bytes) != 0;
  size_t written = 0;
  return message.gmac.update(nullptr, &written, in, bytes);
}

// sum_gmac() and sum_poly1305() compute what the `bytes` of text that the CPU processed contribute
// to the hash.
bool sum_gmac(AeadMessage &message, uint64_t bytes, Gf128 *sum) {
  Block tag;
  uint8_t nothing[16];
  size_t written = 0;
  OSSL_PARAM params[] = {{OSSL_CIPHER_PARAM_AEAD_TAG, OSSL_PARAM_OCTET_STRING, &tag, sizeof tag,
                          OSSL_PARAM_UNMODIFIED},
                         OSSL_PARAM_END};
  if (!message.gmac.finish(nothing, &written) || !message.gmac.get_params(params)) return false;
  *sum = cpu::gcm_hash_of_tag(message.h, tag, message.gmac_mask, bytes, 0);
  return true;
}

bool sum_poly1305(AeadMessage &message, uint64_t bytes, Poly *sum) {
  const uint8_t zeros[16] = {};
  if (bytes % 16 != 0 && !EVP_MAC_update(message.poly1305, zeros, 16 - bytes % 16)) return false;
  EVP_MAC_CTX *copy = EVP_MAC_CTX_dup(message.poly1305);
  Block end, end_of_more;
  size_t written = 0;
  const bool ok =
      copy != nullptr &&
      EVP_MAC_final(message.poly1305, reinterpret_cast<uint8_t *>(&end), &written, sizeof end) &&
      EVP_MAC_update(copy, zeros, 16) &&
      EVP_MAC_final(copy, reinterpret_cast<uint8_t *>(&end_of_more), &written, sizeof end_of_more);
  EVP_MAC_CTX_free(copy);
  Poly number;
  const Block none = {};
  if (!ok || !find_number(
                 end, end_of_more,
                 [&](Poly candidate) {
                   const Poly more = poly_sum(candidate, poly_of_block(none));
                   return poly_finish(poly_multiply(more, message.r), none);
                 },
                 &number))
    return false;
  *sum = poly_multiply(number, message.r);
  return true;
}

// begin_openssl() makes OpenSSL's GCM context use an IV that it has not used yet. Otherwise it
// would use that IV for text after a new key. A context that has begun its text has no counter
// after a new key.
bool begin_openssl(CipherContext &context) {
  if (!context.algorithm().is_gcm() || context.aead.aad_bytes + context.aead.text_bytes > 0)
    return true;
  const uint8_t nothing[1] = {};
  size_t bytes = 0;
  return context.fallback.at_once(nullptr, &bytes, nothing, 0);
}

// new_message() returns a message of zeros in key memory that a child of fork() keeps, because the
// child may continue the message. It returns nullptr, with an error raised, if there is no memory.
AeadMessage *new_message() {
  secure::KeyMemory memory(sizeof(AeadMessage), secure::KeyMemory::Fork::kKept);
  if (or_refuse(memory.data()) == nullptr) return nullptr;
  AeadMessage *message = new (memory.data()) AeadMessage{};
  message->memory = std::move(memory);
  return message;
}

}  // namespace

AeadMessage *take_over_message(CipherContext &context) {
  AeadMessage *message = new_message();
  if (message == nullptr) return nullptr;
  const Algorithm &algorithm = context.algorithm();
  message->provider = context.provider;
  message->index = context.index;
  message->aad_bytes = context.aead.aad_bytes;
  message->text_bytes = message->summed_bytes = context.aead.text_bytes;
  message->iv_bytes = context.aead.iv_bytes;
  std::memcpy(message->key, context.key, algorithm.key_bytes);
  std::memcpy(message->iv, context.aead.iv, context.aead.iv_bytes);
  const bool derived = is_gcm(*message) ? derive_gcm(*message) : derive_poly1305(*message);
  if (derived && take_over_sum(*message, context.fallback) && begin_openssl(context))
    return message;
  free_message(message);
  return nullptr;
}

bool decryption_tells_tag(Provider &provider, int index) {
  const uint8_t key[32] = {1}, iv[12] = {2}, aad[5] = {3};
  uint8_t text[48] = {4};
  Block tags[2] = {};
  bool ok = true;
  // The first side encrypts. Its ciphertext is the input of the second side, which decrypts.
  for (int side = 0; side < 2 && ok; ++side) {
    FallbackContext context = {};
    size_t bytes = 0;
    ok = start_cipher(provider, index, key, iv, &context, side == 0) &&
         context.update(nullptr, &bytes, aad, sizeof aad) &&
         crypt(context, text, text, sizeof text) && ask_tag(context, nullptr, &tags[side]);
    context.free();
  }
  return ok && std::memcmp(&tags[0], &tags[1], sizeof tags[0]) == 0;
}

bool set_tag(FallbackContext &context, const uint8_t *tag, size_t bytes) {
  const OSSL_PARAM params[] = {{OSSL_CIPHER_PARAM_AEAD_TAG, OSSL_PARAM_OCTET_STRING,
                                const_cast<uint8_t *>(tag), bytes, OSSL_PARAM_UNMODIFIED},
                               OSSL_PARAM_END};
  return context.set_params(params);
}

bool set_own_tag(FallbackContext &context, size_t bytes) {
  Block tag;
  return ask_tag(context, nullptr, &tag) &&
         set_tag(context, reinterpret_cast<const uint8_t *>(&tag), bytes);
}

AeadMessage *copy_message(const AeadMessage &message) {
  AeadMessage *copy = new_message();
  if (copy == nullptr) return nullptr;
  static_cast<AeadMessageState &>(*copy) = message;
  copy->cipher = copy->gmac = {};
  copy->poly1305 = nullptr;
  const bool ok = (!message.cipher.exists() || copy->cipher.make_copy_of(message.cipher)) &&
                  (!message.gmac.exists() || copy->gmac.make_copy_of(message.gmac));
  if (message.poly1305 != nullptr) copy->poly1305 = EVP_MAC_CTX_dup(message.poly1305);
  if (ok && (message.poly1305 == nullptr || copy->poly1305 != nullptr)) return copy;
  free_message(copy);
  return nullptr;
}

void end_message(AeadMessage &message) {
  message.cipher.free();
  message.gmac.free();
  EVP_MAC_CTX_free(message.poly1305);
  AeadMessageState &state = message;
  OPENSSL_cleanse(&state, sizeof state);
  state = {};
  state.is_over = true;
}

AeadMessage *new_ended_message() {
  AeadMessage *message = new_message();
  if (message != nullptr) message->is_over = true;
  return message;
}

void free_message(AeadMessage *message) {
  if (message == nullptr) return;
  end_message(*message);
  const secure::KeyMemory memory = std::move(message->memory);
  message->~AeadMessage();
}

bool update_message(AeadMessage &message, bool encrypt, uint8_t *out, const uint8_t *in,
                    size_t bytes) {
  // The text is processed in pieces of this size, so that what is hashed is still in the cache.
  constexpr size_t kPieceBytes = 16 << 10;
  if (!has_room(kAlgorithms[message.index], message.text_bytes, bytes)) return false;
  if (bytes > 0 && message.text_bytes == message.summed_bytes && !start_on_cpu(message))
    return false;
  while (bytes > 0) {
    const uint64_t room = bytes_until_wrap(message);
    const size_t piece = size_t(std::min<uint64_t>({bytes, kPieceBytes, room}));
    if ((!encrypt && !hash(message, in, piece)) || !crypt(message.cipher, out, in, piece) ||
        (encrypt && !hash(message, out, piece)))
      return false;
    message.text_bytes += piece;
    if (piece == room) {
      uint8_t iv[16];
      counter_at(message, message.text_bytes, iv);
      if (!message.cipher.init_iv(iv, sizeof iv)) return false;
    }
    out += piece;
    in += piece;
    bytes -= piece;
  }
  return true;
}

bool sum_up(AeadMessage &message) {
  const uint64_t bytes = message.text_bytes - message.summed_bytes, blocks = (bytes + 15) / 16;
  if (bytes == 0) return true;
  if (is_gcm(message)) {
    Gf128 more;
    if (!sum_gmac(message, bytes, &more)) return false;
    const Gf128 before =
        gf128_of_block({{message.sum[0], message.sum[1], message.sum[2], message.sum[3]}});
    const Block sum = gf128_to_block(cpu::join_shares(message.h, before, more, blocks));
    std::memcpy(message.sum, &sum, sizeof sum);
  } else {
    Poly more, before;
    if (!sum_poly1305(message, bytes, &more)) return false;
    std::memcpy(before.w, message.sum, sizeof before.w);
    const Poly sum = cpu::join_shares(message.r, before, more, blocks);
    std::memcpy(message.sum, sum.w, sizeof sum.w);
  }
  message.summed_bytes = message.text_bytes;
  return true;
}

void make_tag(const AeadMessage &message, uint8_t tag[16]) {
  Block made;
  if (is_gcm(message)) {
    const Gf128 sum =
        gf128_of_block({{message.sum[0], message.sum[1], message.sum[2], message.sum[3]}});
    made = gf128_to_block(gf128_add(
        gf128_add(sum, cpu::gcm_closing(message.h, message.aad_bytes, message.text_bytes)),
        gf128_of_block(message.mask)));
  } else {
    Poly sum;
    std::memcpy(sum.w, message.sum, sizeof sum.w);
    const Poly closing = poly_multiply(
        poly_of_block(lengths(message, message.aad_bytes, message.text_bytes)), message.r);
    made = poly_finish(poly_sum(sum, closing), message.mask);
  }
  std::memcpy(tag, &made, sizeof made);
}

}  // namespace lanecrypt::provider
