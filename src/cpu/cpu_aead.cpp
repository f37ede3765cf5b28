// SPDX-License-Identifier: Apache-2.0
#include "cpu/cpu_aead.h"

#include <openssl/core_names.h>
#include <openssl/evp.h>

#include <algorithm>
#include <cstring>

#include "cpu/cpu_ccm.h"
#include "cpu/cpu_cipher.h"
#include "cpu/openssl_object.h"
#include "cpu/tag_arithmetic.h"
#include "job/cipher/ccm_format.h"
#include "libcrypto/forward.h"

namespace lanecrypt::cpu {
namespace {

bool is_gcm(const CipherKind &kind) { return kind.is_gcm(); }

// OpenSSL counts bytes in an int.
constexpr uint64_t kMostUpdateBytes = 1 << 30;

Status update(EVP_CIPHER_CTX *context, uint8_t *out, const uint8_t *in, uint64_t length) {
  for (uint64_t at = 0; at < length;) {
    const int bytes = static_cast<int>(std::min(kMostUpdateBytes, length - at));
    int written = 0;
    if (EVP_CipherUpdate(context, out == nullptr ? nullptr : out + at, &written, in + at, bytes) !=
        1)
      return openssl_failed();
    at += bytes;
  }
  return Status();
}

// Encrypts one block by the block cipher itself.
Status encrypt_block(const CipherKind &kind, const uint8_t *key, const uint8_t *in, uint8_t *out) {
  return run_cipher(kind.as(Mode::kEcb, LC_ENCRYPT), {.key = key, .iv = {}}, in, out, kBlockBytes);
}

Result<Gf128> ghash_key(const CipherKind &kind, const uint8_t *key) {
  uint8_t h[kBlockBytes] = {};
  LC_TRY(encrypt_block(kind, key, h, h));
  const Gf128 value = gf128_of_block(load_block(h));
  secure::wipe(h, sizeof h);
  return value;
}

// Returns the limbs of a ChaCha20-Poly1305 sum.
Poly hash_of(const uint32_t *sum) { return {{sum[0], sum[1], sum[2], sum[3], sum[4]}}; }

struct OneTimeKey {
  Poly r;
  Block s;
};

Result<OneTimeKey> one_time_key(const CipherKind &kind, const uint8_t *key, const Iv &start) {
  uint8_t bytes[32] = {};
  LC_TRY(run_cipher({LC_CHACHA20, LC_ENCRYPT, kind.key_bytes}, {.key = key, .iv = start}, bytes,
                    bytes, sizeof bytes));
  OneTimeKey made = {};
  poly1305_key(bytes, &made.r, &made.s);
  secure::wipe(bytes, sizeof bytes);
  return made;
}

// From this many bytes on OpenSSL's faster GHASH saves more than its context costs.
constexpr uint64_t kLeastBytesForGmac = 1024;

// Computes the hash of a long piece as if the piece were the additional data of a message without
// text. OpenSSL's tag of that message is the GHASH of the data, whose last block has the power 2,
// plus the block of the lengths and a mask. Both are removed again.
Status hash_by_gmac(const CipherKind &kind, const uint8_t *key, const Gf128 &h, const uint8_t *from,
                    uint64_t length, uint64_t exponent, AeadSum *sum) {
  const uint8_t iv[12] = {}, start[kBlockBytes] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
  uint8_t tag[kBlockBytes], mask[kBlockBytes], nothing = 0;
  const CipherKind encryption = {kind.cipher, LC_ENCRYPT, kind.key_bytes};
  const AeadInput input = {key, iv, sizeof iv, from, length};
  LC_TRY(run_aead(encryption, input, &nothing, &nothing, 0, tag, sizeof tag));
  LC_TRY(encrypt_block(kind, key, start, mask));
  Gf128 hash = gcm_hash_of_tag(h, load_block(tag), load_block(mask), length, 0);
  secure::wipe(mask, sizeof mask);
  hash = gf128_multiply(hash, gf128_power(h, exponent - 2));
  const Block block = gf128_to_block(hash);
  for (int i = 0; i < 4; ++i) (*sum)[i] ^= block.w[i];
  return Status();
}

Status hash_piece(const CipherKind &kind, const uint8_t *key, const Iv &start, const uint8_t *from,
                  uint64_t length, uint64_t exponent, AeadSum *sum) {
  if (is_gcm(kind)) {
    Result<Gf128> h = ghash_key(kind, key);
    if (!h.ok()) return h.status();
    if (length >= kLeastBytesForGmac && exponent >= 2 && fetched_cipher(kind).ok())
      return hash_by_gmac(kind, key, *h, from, length, exponent, sum);
    // After ghash() the last block has the power 1.
    const Gf128 hash =
        gf128_multiply(ghash(*h, Gf128{}, from, length), gf128_power(*h, exponent - 1));
    const Block block = gf128_to_block(hash);
    for (int i = 0; i < 4; ++i) (*sum)[i] ^= block.w[i];
    return Status();
  }
  Result<OneTimeKey> one_time = one_time_key(kind, key, start);
  if (!one_time.ok()) return one_time.status();
  Poly hash = poly_zero();
  for (uint64_t at = 0; at < length; at += kBlockBytes)
    hash = poly_multiply(poly_add(hash, poly_of_block(load_block(from + at, length - at))),
                         one_time->r);
  hash = poly_multiply(hash, poly_power(one_time->r, exponent - 1));
  AeadSum more = {};
  std::copy(std::begin(hash.w), std::end(hash.w), more.begin());
  std::copy(std::begin(one_time->s.w), std::end(one_time->s.w), more.begin() + 8);
  add_aead_sum(kind, more, sum);
  return Status();
}

Status crypt_piece(const CipherKind &kind, const uint8_t *key, const Iv &start,
                   const AeadPiece &piece) {
  if (!is_gcm(kind)) {
    const Iv iv = aead_counter(kind, start, piece.offset / 64 + 1);
    return run_cipher({LC_CHACHA20, LC_ENCRYPT, kind.key_bytes}, {.key = key, .iv = iv}, piece.in,
                      piece.out, piece.length);
  }
  // OpenSSL's CTR mode carries from the 32-bit counter into the bytes before it. So the piece is
  // split where the counter wraps.
  for (uint64_t at = 0; at < piece.length;) {
    const Iv iv = aead_counter(kind, start, (piece.offset + at) / kBlockBytes + 1);
    const uint64_t room = blocks_until_gcm_wraps(iv.data()) * kBlockBytes;
    const uint64_t bytes = std::min(room, piece.length - at);
    LC_TRY(run_cipher(kind.as(Mode::kCtr, LC_ENCRYPT), {.key = key, .iv = iv}, piece.in + at,
                      piece.out + at, bytes));
    at += bytes;
  }
  return Status();
}

// Encrypts or decrypts a GCM message with other modes of its block cipher. Returns the tag.
Result<std::array<uint8_t, 16>> run_gcm_by_ctr(const CipherKind &kind, const AeadInput &input,
                                               const uint8_t *in, uint8_t *out, uint64_t length) {
  Result<Iv> start = aead_start(kind, input.key, input.iv, input.iv_bytes);
  if (!start.ok()) return start.status();
  AeadSum sum = {};
  // The block of the lengths, which comes last, has the power 1.
  const AeadPiece aad = {.in = input.aad,
                         .out = nullptr,
                         .length = input.aad_length,
                         .offset = 0,
                         .exponent = 2 + hash_blocks(length),
                         .is_aad = true};
  LC_TRY(run_aead_piece(kind, input.key, *start, aad, &sum));
  const AeadPiece text = {
      .in = in, .out = out, .length = length, .offset = 0, .exponent = 2, .is_aad = false};
  LC_TRY(run_aead_piece(kind, input.key, *start, text, &sum));
  LC_TRY(close_aead(kind, input.key, *start, input.aad_length, length, &sum));
  return aead_tag(kind, sum);
}

Result<std::array<uint8_t, 16>> run_ccm_by_cbc(const CipherKind &kind, const AeadInput &input,
                                               const uint8_t *in, uint8_t *out, uint64_t length,
                                               uint32_t tag_bytes) {
  CipherJob job = {};
  job.kind = kind;
  job.iv_bytes = input.iv_bytes;
  job.tag_bytes = tag_bytes;
  job.ivs.assign(input.iv, input.iv + input.iv_bytes);
  job.messages.resize(1);
  job.messages[0] = {.key = 0, .number = 0, .iv = {}, .in = in, .out = out, .length = length};
  job.aead.resize(1);
  job.aead[0] = {.aad = input.aad, .aad_length = input.aad_length, .tag = nullptr, .part = nullptr};
  job.keys = secure::KeyMemory(kind.key_slot_bytes());
  if (!job.keys.ok(kind.key_slot_bytes())) return Status(LC_ERROR_MEMORY, "no memory for the keys");
  memcpy(job.keys.data(), input.key, kind.key_bytes);
  Iv mac = {};
  LC_TRY(run_ccm_piece(job, 0, ccm_counter(input.iv, input.iv_bytes), 0,
                       ccm_header_bytes(input.aad_length) + length, &mac));
  return mac;
}

// Runs a message whose block cipher OpenSSL has, but not in this mode.
Status run_by_other_modes(const CipherKind &kind, const AeadInput &input, const uint8_t *in,
                          uint8_t *out, uint64_t length, uint8_t *tag, uint32_t tag_bytes) {
  Result<std::array<uint8_t, 16>> made =
      kind.is_ccm() ? run_ccm_by_cbc(kind, input, in, out, length, tag_bytes)
                    : run_gcm_by_ctr(kind, input, in, out, length);
  if (!made.ok()) return made.status();
  if (kind.direction == LC_ENCRYPT) {
    memcpy(tag, made->data(), tag_bytes);
    return Status();
  }
  if (same_tag(tag, made->data(), tag_bytes)) return Status();
  secure::wipe(out, length);
  return Status(LC_ERROR_TAG, "the tag is wrong");
}

}  // namespace

bool takes_whole(const CipherKind &kind, const AeadInput &input, uint64_t length) {
  constexpr uint32_t kMostIvBytes = 128;
  if (input.iv_bytes > kMostIvBytes) return false;
  // OpenSSL takes the text of CCM in one call, and the additional data in one call.
  return !kind.is_ccm() || (length <= kMostUpdateBytes && input.aad_length <= kMostUpdateBytes);
}

Status run_aead(const CipherKind &kind, const AeadInput &input, const uint8_t *in, uint8_t *out,
                uint64_t length, uint8_t *tag, uint32_t tag_bytes) {
  Result<const EVP_CIPHER *> cipher = fetched_cipher(kind);
  if (!cipher.ok() && has_cipher(kind))
    return run_by_other_modes(kind, input, in, out, length, tag, tag_bytes);
  if (!cipher.ok()) return cipher.status();
  const CipherContext context(EVP_CIPHER_CTX_new());
  if (!context) return Status(LC_ERROR_MEMORY, "no memory for a cipher on the CPU");
  const bool encrypt = kind.direction == LC_ENCRYPT, ccm = kind.is_ccm();
  size_t iv_bytes = input.iv_bytes, tag_size = tag_bytes;
  // CCM needs the tag's length first, and for decryption the tag itself.
  const OSSL_PARAM sizes[] = {
      {OSSL_CIPHER_PARAM_IVLEN, OSSL_PARAM_UNSIGNED_INTEGER, &iv_bytes, sizeof iv_bytes, 0},
      {ccm || !encrypt ? OSSL_CIPHER_PARAM_AEAD_TAG : nullptr, OSSL_PARAM_OCTET_STRING,
       encrypt ? nullptr : tag, tag_size, 0},
      OSSL_PARAM_END};
  if (EVP_CipherInit_ex2(context.get(), *cipher, nullptr, nullptr, encrypt, nullptr) != 1 ||
      EVP_CIPHER_CTX_set_params(context.get(), sizes) != 1 ||
      EVP_CipherInit_ex2(context.get(), nullptr, input.key, input.iv, encrypt, nullptr) != 1)
    return openssl_failed();
  int written = 0;
  if (ccm &&
      EVP_CipherUpdate(context.get(), nullptr, &written, nullptr, static_cast<int>(length)) != 1)
    return openssl_failed();
  LC_TRY(update(context.get(), nullptr, input.aad, input.aad_length));
  static const uint8_t kNothing = 0;
  uint8_t nothing = 0;
  bool is_right = true;
  if (ccm) {
    // CCM takes all of the text in one call. Decryption fails if the tag is wrong.
    is_right = EVP_CipherUpdate(context.get(), length == 0 ? &nothing : out, &written,
                                length == 0 ? &kNothing : in, static_cast<int>(length)) == 1;
    if (encrypt && !is_right) return openssl_failed();
  } else {
    LC_TRY(update(context.get(), out, in, length));
    is_right = EVP_CipherFinal_ex(context.get(), &nothing, &written) == 1;
    if (encrypt && !is_right) return openssl_failed();
  }
  if (!is_right) {
    secure::wipe(out, length);
    return Status(LC_ERROR_TAG, "the tag is wrong");
  }
  if (!encrypt) return Status();
  OSSL_PARAM get[] = {{OSSL_CIPHER_PARAM_AEAD_TAG, OSSL_PARAM_OCTET_STRING, tag, tag_size, 0},
                      OSSL_PARAM_END};
  return EVP_CIPHER_CTX_get_params(context.get(), get) == 1 ? Status() : openssl_failed();
}

Result<Iv> aead_start(const CipherKind &kind, const uint8_t *key, const uint8_t *iv,
                      uint32_t iv_bytes) {
  Iv start = {};
  if (kind.is_ccm()) return ccm_counter(iv, iv_bytes);
  if (!is_gcm(kind)) {
    memcpy(start.data() + 4, iv, 12);
    return start;
  }
  Result<Gf128> h = iv_bytes == 12 ? Gf128{} : ghash_key(kind, key);
  if (!h.ok()) return h.status();
  gcm_start(*h, iv, iv_bytes, start.data());
  return start;
}

Iv aead_counter(const CipherKind &kind, const Iv &start, uint64_t blocks) {
  Iv iv = start;
  if (is_gcm(kind))
    advance_gcm(iv.data(), blocks);
  else
    advance_chacha20_poly1305(iv.data(), blocks);
  return iv;
}

Status run_aead_piece(const CipherKind &kind, const uint8_t *key, const Iv &start,
                      const AeadPiece &piece, AeadSum *sum) {
  const bool opens = kind.direction == LC_DECRYPT;
  if (piece.length == 0) return Status();
  if (piece.is_aad || opens)
    LC_TRY(hash_piece(kind, key, start, piece.in, piece.length, piece.exponent, sum));
  if (piece.is_aad) return Status();
  LC_TRY(crypt_piece(kind, key, start, piece));
  if (opens) return Status();
  return hash_piece(kind, key, start, piece.out, piece.length, piece.exponent, sum);
}

Status close_aead(const CipherKind &kind, const uint8_t *key, const Iv &start, uint64_t aad_length,
                  uint64_t length, AeadSum *sum) {
  const Block block_of_lengths = lengths_block(kind.info().mode, aad_length, length);
  uint8_t lengths[kBlockBytes];
  memcpy(lengths, &block_of_lengths, sizeof lengths);
  LC_TRY(hash_piece(kind, key, start, lengths, sizeof lengths, 1, sum));
  if (!is_gcm(kind)) return Status();  // hash_piece() has set s
  uint8_t mask[kBlockBytes];
  LC_TRY(encrypt_block(kind, key, start.data(), mask));
  const Block block = load_block(mask);
  for (int i = 0; i < 4; ++i) (*sum)[i] ^= block.w[i];
  return Status();
}

void add_aead_sum(const CipherKind &kind, const AeadSum &more, AeadSum *sum) {
  if (kind.is_ccm()) {
    *sum = more;
    return;
  }
  if (is_gcm(kind)) {
    for (int i = 0; i < 4; ++i) (*sum)[i] ^= more[i];
    return;
  }
  const Poly total = poly_sum(hash_of(sum->data()), hash_of(more.data()));
  std::copy(std::begin(total.w), std::end(total.w), sum->begin());
  std::copy(more.begin() + 8, more.end(), sum->begin() + 8);
}

std::array<uint8_t, 16> aead_tag(const CipherKind &kind, const AeadSum &sum) {
  Block tag = {{sum[0], sum[1], sum[2], sum[3]}};
  if (kind.cipher == LC_CHACHA20_POLY1305) {
    const Block s = {{sum[8], sum[9], sum[10], sum[11]}};
    tag = poly_finish(hash_of(sum.data()), s);
  }
  std::array<uint8_t, 16> bytes;
  memcpy(bytes.data(), &tag, sizeof tag);
  return bytes;
}

Status add_aead_part(const CipherKind &kind, const uint8_t *key, const Iv &start, uint64_t blocks,
                     const AeadSum &part, uint32_t sum[8]) {
  if (is_gcm(kind)) {
    Result<Gf128> h = ghash_key(kind, key);
    if (!h.ok()) return h.status();
    const Gf128 before = gf128_of_block({{sum[0], sum[1], sum[2], sum[3]}});
    const Gf128 more = gf128_of_block({{part[0], part[1], part[2], part[3]}});
    const Block total = gf128_to_block(join_shares(*h, before, more, blocks));
    std::copy(std::begin(total.w), std::end(total.w), sum);
    return Status();
  }
  Result<OneTimeKey> one_time = one_time_key(kind, key, start);
  if (!one_time.ok()) return one_time.status();
  const Poly total = join_shares(one_time->r, hash_of(sum), hash_of(part.data()), blocks);
  std::copy(std::begin(total.w), std::end(total.w), sum);
  return Status();
}

bool same_tag(const uint8_t *a, const uint8_t *b, uint32_t bytes) {
  uint32_t difference = 0;
  for (uint32_t n = 0; n < bytes; ++n) difference |= a[n] ^ b[n];
  // The loop never ends early, and the compiler cannot turn this into a comparison that would.
  return ((difference - 1) >> 31) != 0;
}

}  // namespace lanecrypt::cpu
