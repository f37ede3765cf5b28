// SPDX-License-Identifier: Apache-2.0
#include "reference.h"

#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <openssl/provider.h>

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>

#include "job/cipher/cipher_info.h"

namespace lanecrypt::test {
namespace {

// Returns a library context of the tests' own, which no OpenSSL configuration affects.
OSSL_LIB_CTX *default_only() {
  static OSSL_LIB_CTX *context = [] {
    OSSL_LIB_CTX *made = OSSL_LIB_CTX_new();
    if (!made || !OSSL_PROVIDER_load(made, "default"))
      throw std::runtime_error("OpenSSL's default provider does not load");
    return made;
  }();
  return context;
}

EVP_CIPHER *fetched(const ReferenceJob &job) {
  static std::map<std::string, EVP_CIPHER *> all;
  static std::mutex mutex;
  const CipherInfo &info = cipher_info(job.cipher);
  const std::string name = info.openssl_name(job.key_bytes);
  const std::lock_guard lock(mutex);
  EVP_CIPHER *&cipher = all[name];
  if (!cipher) cipher = EVP_CIPHER_fetch(default_only(), name.c_str(), "provider=default");
  if (!cipher) throw std::runtime_error("OpenSSL has no " + name);
  return cipher;
}

struct FreeContext {
  void operator()(EVP_CIPHER_CTX *context) const { EVP_CIPHER_CTX_free(context); }
};

// Adds 1 to a tweak, a little-endian number of 128 bits.
void next_tweak(uint8_t *tweak) {
  for (int n = 0; n < 16 && ++tweak[n] == 0; n++) {
  }
}

// Whether XTS of this cipher has two standards. OpenSSL has SM4-XTS from 3.2 on, and a parameter
// selects the standard.
bool has_two_standards(const CipherInfo &info) {
  return info.continuation == Continuation::kDataUnits && info.block != kBlockCiphers;
}

// Multiplies a tweak by x. In GB/T 17964 the bits of each byte are in reverse order.
void double_tweak(uint8_t *tweak, bool is_gb) {
  unsigned carry = 0;
  for (int n = 0; n < 16; n++) {
    const unsigned byte = tweak[n];
    tweak[n] = static_cast<uint8_t>(is_gb ? byte >> 1 | carry << 7 : byte << 1 | carry);
    carry = is_gb ? byte & 1 : byte >> 7;
  }
  if (carry) tweak[0] ^= is_gb ? 0xe1 : 0x87;
}

// Encrypts or decrypts one data unit as IEEE 1619, 5.3 and 5.4, describes it.
void xts_unit(const ReferenceJob &job, const uint8_t *keys, const uint8_t *number,
              const uint8_t *in, uint8_t *out, uint64_t length) {
  const CipherInfo &info = cipher_info(job.cipher);
  ReferenceJob ecb = job;
  ecb.cipher = another_mode(job.cipher, Mode::kEcb);
  ecb.key_bytes = job.key_bytes / 2;
  ecb.data_unit_bytes = 0;
  const uint64_t blocks = length / 16, part = length % 16;
  Bytes masks(16 * (blocks + 1));
  ecb.direction = LC_ENCRYPT;
  reference_crypt(ecb, keys + ecb.key_bytes, nullptr, number, masks.data(), 16);
  for (uint64_t at = 16; at < masks.size(); at += 16) {
    std::copy_n(&masks[at - 16], 16, &masks[at]);
    double_tweak(&masks[at], info.mode == Mode::kXtsGb);
  }
  ecb.direction = job.direction;
  const auto run = [&](Bytes text, uint64_t block) {
    for (size_t n = 0; n < text.size(); n++) text[n] ^= masks[16 * block + n];
    reference_crypt(ecb, keys, nullptr, text.data(), text.data(), text.size());
    for (size_t n = 0; n < text.size(); n++) text[n] ^= masks[16 * block + n];
    return text;
  };
  const uint64_t plain = 16 * (part == 0 ? blocks : blocks - 1);
  const Bytes whole(in + plain, in + 16 * blocks), last(in + 16 * blocks, in + length);
  const Bytes made = run(Bytes(in, in + plain), 0);
  std::copy(made.begin(), made.end(), out);
  if (part == 0) return;
  const bool decrypts = job.direction == LC_DECRYPT;
  Bytes stolen = run(whole, decrypts ? blocks : blocks - 1);
  std::copy_n(stolen.begin(), part, out + plain + 16);
  std::copy(last.begin(), last.end(), stolen.begin());
  stolen = run(stolen, decrypts ? blocks - 1 : blocks);
  std::copy(stolen.begin(), stolen.end(), out + plain);
}

}  // namespace

std::vector<lc_cipher> plain_modes() {
  std::vector<lc_cipher> modes;
  for (const CipherInfo &info : kCipherInfos)
    if (!info.is_aead && !info.is_cpu_only) modes.push_back(info.cipher);
  return modes;
}

std::vector<lc_cipher> cpu_only_modes() {
  std::vector<lc_cipher> modes;
  for (const CipherInfo &info : kCipherInfos)
    if (info.is_cpu_only) modes.push_back(info.cipher);
  return modes;
}

bool has_reference(lc_cipher cipher) {
  // Asks for a key size that the mode has: XTS has two keys.
  const std::string name = cipher_info(cipher).openssl_name(key_sizes(cipher).front());
  EVP_CIPHER *found = EVP_CIPHER_fetch(default_only(), name.c_str(), "provider=default");
  EVP_CIPHER_free(found);
  return found != nullptr;
}

std::vector<uint32_t> key_sizes(lc_cipher cipher) {
  const CipherInfo &info = cipher_info(cipher);
  std::vector<uint32_t> sizes;
  for (uint32_t bytes : {16, 24, 32})
    if (info.takes_key(bytes * info.keys)) sizes.push_back(bytes * info.keys);
  return sizes;
}

uint64_t allowed_length(lc_cipher cipher, uint64_t data_unit_bytes, uint64_t length) {
  const CipherInfo &info = cipher_info(cipher);
  length -= length % info.granule_bytes;
  if (length < info.least_bytes) return 0;
  const uint64_t rest = data_unit_bytes == 0 ? 0 : length % data_unit_bytes;
  return rest < 16 && data_unit_bytes != 0 ? length - rest : length;
}

std::string cipher_name(lc_cipher cipher, uint32_t key_bytes) {
  return cipher_info(cipher).full_title(key_bytes);
}

void reference_crypt(const ReferenceJob &job, const uint8_t *key, const uint8_t *iv,
                     const uint8_t *in, uint8_t *out, uint64_t length) {
  const CipherInfo &info = cipher_info(job.cipher);
  if (has_two_standards(info) && !has_reference(job.cipher)) {
    Bytes number(iv, iv + 16);
    const uint64_t unit = job.data_unit_bytes ? job.data_unit_bytes : length;
    for (uint64_t at = 0; at < length; at += unit, next_tweak(number.data()))
      xts_unit(job, key, number.data(), in + at, out + at, std::min(unit, length - at));
    return;
  }
  EVP_CIPHER *evp = fetched(job);
  std::unique_ptr<EVP_CIPHER_CTX, FreeContext> context(EVP_CIPHER_CTX_new());
  OSSL_PARAM variant[] = {OSSL_PARAM_END, OSSL_PARAM_END};
  if (info.openssl_cts)
    variant[0] = OSSL_PARAM_construct_utf8_string(OSSL_CIPHER_PARAM_CTS_MODE,
                                                  const_cast<char *>(info.openssl_cts), 0);
  char gb[] = "GB", ieee[] = "IEEE";
  if (has_two_standards(info))
    variant[0] =
        OSSL_PARAM_construct_utf8_string("xts_standard", info.mode == Mode::kXtsGb ? gb : ieee, 0);
  if (!context ||
      !EVP_CipherInit_ex2(context.get(), evp, key, info.iv_bytes == 0 ? nullptr : iv,
                          job.direction == LC_ENCRYPT, variant) ||
      (info.granule_bytes == 16 && !EVP_CIPHER_CTX_set_padding(context.get(), 0)))
    throw std::runtime_error("OpenSSL refuses the key or IV");
  Bytes tweak(iv, iv + info.iv_bytes);
  // EVP takes a byte count as an int, and treats each update as one data unit.
  const uint64_t most = job.data_unit_bytes ? job.data_unit_bytes : 1u << 30;
  while (length > 0) {
    int now = static_cast<int>(std::min(length, most)), written = 0;
    if (!EVP_CipherUpdate(context.get(), out, &written, in, now) || written != now)
      throw std::runtime_error("OpenSSL refuses the text");
    in += now;
    out += now;
    length -= now;
    if (job.data_unit_bytes == 0) continue;
    next_tweak(tweak.data());
    if (!EVP_CipherInit_ex2(context.get(), nullptr, nullptr, tweak.data(), -1, nullptr))
      throw std::runtime_error("OpenSSL refuses the tweak");
  }
}

void reference_seal(const ReferenceSeal &seal, const uint8_t *in, uint8_t *out, uint64_t length,
                    uint8_t *tag) {
  EVP_CIPHER *evp = fetched({seal.cipher, LC_ENCRYPT, seal.key_bytes});
  std::unique_ptr<EVP_CIPHER_CTX, FreeContext> context(EVP_CIPHER_CTX_new());
  const bool ccm = cipher_info(seal.cipher).mode == Mode::kCcm;
  EVP_CIPHER_CTX *c = context.get();
  int written = 0;
  bool ok = c && EVP_CipherInit_ex2(c, evp, nullptr, nullptr, 1, nullptr) &&
            EVP_CIPHER_CTX_ctrl(c, EVP_CTRL_AEAD_SET_IVLEN, int(seal.iv.size()), nullptr) &&
            (!ccm || EVP_CIPHER_CTX_ctrl(c, EVP_CTRL_AEAD_SET_TAG, int(seal.tag_bytes), nullptr)) &&
            EVP_CipherInit_ex2(c, nullptr, seal.key, seal.iv.data(), 1, nullptr) &&
            (!ccm || EVP_CipherUpdate(c, nullptr, &written, nullptr, int(length))) &&
            (seal.aad.empty() ||
             EVP_CipherUpdate(c, nullptr, &written, seal.aad.data(), int(seal.aad.size())));
  const uint8_t nothing = 0;
  uint8_t nowhere = 0;
  if (ccm && ok && length == 0) ok = EVP_CipherUpdate(c, &nowhere, &written, &nothing, 0) == 1;
  for (uint64_t at = 0; ok && at < length; at += uint64_t(written))
    ok = EVP_CipherUpdate(c, out + at, &written, in + at,
                          int(std::min<uint64_t>(length - at, 1 << 30))) == 1;
  if (!ok || !EVP_CipherFinal_ex(c, &nowhere, &written) ||
      !EVP_CIPHER_CTX_ctrl(c, EVP_CTRL_AEAD_GET_TAG, int(seal.tag_bytes), tag))
    throw std::runtime_error("OpenSSL refuses to seal");
}

}  // namespace lanecrypt::test
