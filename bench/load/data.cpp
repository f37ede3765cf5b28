// SPDX-License-Identifier: Apache-2.0
#include "bench/load/data.h"

#include <fmt/format.h>
#include <openssl/core_names.h>
#include <openssl/params.h>
#include <openssl/rand.h>

#include <algorithm>
#include <cstring>
#include <future>

#include "cli/failure.h"
#include "cpu/core_count.h"

namespace lanecrypt::bench {
namespace {

// The most bytes in one update, because EVP counts bytes in an int.
constexpr uint64_t kMostUpdateBytes = 1 << 30;
constexpr uint64_t kChachaBlockBytes = 64;

// Returns whether the mode decrypts a block with the ciphertext block before it.
bool reads_back(const BenchCase &run) {
  return run.cipher.block_mode() == Mode::kCbc || run.cipher.block_mode() == Mode::kCfb128;
}

const BenchCase &seed_case() {
  static const BenchCase kCase{*cli::find_cipher("aes-128-ctr")};
  return kCase;
}

}  // namespace

BenchCase xts_case(const char *bits, lc_direction direction, uint64_t data_unit_bytes) {
  const uint32_t key_bytes = bits[0] == '1' ? 32 : 64;
  BenchCase made{{fmt::format("aes-{}-xts", bits), LC_AES_XTS, key_bytes}, direction};
  made.data_unit_bytes = data_unit_bytes;
  return made;
}

std::vector<BenchCase> other_block_ciphers() {
  std::vector<BenchCase> cases;
  for (const BlockCipher &block : kBlockCiphers) {
    if (block.first == LC_AES_ECB) continue;
    const CipherInfo &ctr = cipher_info(another_mode(block.first, Mode::kCtr));
    const std::optional<cli::BlockCipherMode> cipher = cli::find_cipher(ctr.openssl_name(16));
    if (cipher &&
        cli::EvpCipher(EVP_CIPHER_fetch(nullptr, cipher->name.c_str(), "provider=default")))
      cases.push_back({*cipher});
  }
  return cases;
}

std::string BenchCase::name() const {
  if (data_unit_bytes != 0)
    return cipher.name +
           (data_unit_bytes == kLargeUnitBytes ? "" : "-" + std::to_string(data_unit_bytes)) +
           (direction == LC_ENCRYPT ? "" : "-decrypt");
  if (is_own_inverse()) return cipher.name;
  if ((cipher.block_mode() == Mode::kEcb || cipher.block_mode() == Mode::kGcm) &&
      direction == LC_ENCRYPT)
    return cipher.name;
  return cipher.name + (direction == LC_ENCRYPT ? "-encrypt" : "-decrypt");
}

bool BenchCase::is_own_inverse() const { return cipher_info(cipher.mode).is_own_inverse; }

uint64_t BenchCase::part_bytes() const {
  if (stream_bytes != 0) return stream_bytes;
  if (data_unit_bytes != 0) return data_unit_bytes;
  return cipher.mode == LC_CHACHA20 ? kChachaBlockBytes : cli::kBlockBytes;
}

BenchData::BenchData() : seed_(16), key_(64) {
  if (RAND_bytes(seed_.data(), static_cast<int>(seed_.size())) != 1 ||
      RAND_bytes(key_.data(), static_cast<int>(key_.size())) != 1 ||
      RAND_bytes(iv_.data(), static_cast<int>(iv_.size())) != 1)
    throw cli::Failure(cli::ExitCode::kFailed, "OpenSSL's random generator gave no data");
}

void BenchData::fill(uint64_t offset, std::span<uint8_t> out) const {
  std::fill(out.begin(), out.end(), 0);
  OpensslCipher keystream(seed_case());
  keystream.begin(seed_.data(), advance_counter(cli::Block{}, offset / cli::kBlockBytes));
  keystream.update(out.data(), out.data(), out.size());
}

cli::Block BenchData::iv(const BenchCase &run, uint64_t stream) const {
  cli::Block first = iv(stream);
  if (run.cipher.mode == LC_CHACHA20) std::fill_n(first.begin(), 4, 0);
  return first;
}

bool BenchData::matches(const BenchCase &run, uint64_t offset,
                        std::span<const uint8_t> output) const {
  // A serial chain without streams cannot be split among cores.
  const bool is_serial = run.stream_bytes == 0 && run.direction == LC_ENCRYPT && reads_back(run);
  const uint64_t cores = cpu::usable_cores();
  const uint64_t parts = (output.size() + run.part_bytes() - 1) / run.part_bytes();
  const uint64_t share = is_serial ? output.size() : (parts + cores - 1) / cores * run.part_bytes();
  std::vector<std::future<bool>> checks;
  for (uint64_t at = 0; at < output.size(); at += share)
    checks.push_back(std::async(std::launch::async, [&, at] {
      return part_matches(run, offset + at,
                          output.subspan(at, std::min<uint64_t>(share, output.size() - at)));
    }));
  bool all = true;
  for (std::future<bool> &check : checks) all &= check.get();
  return all;
}

bool BenchData::part_matches(const BenchCase &run, uint64_t offset,
                             std::span<const uint8_t> output) const {
  std::vector<uint8_t> expected(output.size());
  fill(offset, expected);
  OpensslCipher openssl(run);
  if (run.stream_bytes != 0) {
    for (uint64_t done = 0; done < output.size(); done += run.stream_bytes) {
      openssl.begin(key_.data(), iv(run, (offset + done) / run.stream_bytes));
      openssl.update(expected.data() + done, expected.data() + done,
                     std::min<uint64_t>(run.stream_bytes, output.size() - done));
    }
  } else {
    cli::Block first = iv(run, 0);
    if (run.data_unit_bytes != 0) first = advance_tweak(first, offset / run.data_unit_bytes);
    if (run.cipher.block_mode() == Mode::kCtr)
      first = advance_counter(first, offset / cli::kBlockBytes);
    if (run.cipher.mode == LC_CHACHA20) {
      const uint32_t block = static_cast<uint32_t>(offset / kChachaBlockBytes);
      for (int i = 0; i < 4; ++i) first[i] = static_cast<uint8_t>(block >> (8 * i));
    }
    if (reads_back(run) && offset > 0) {
      if (run.direction == LC_ENCRYPT)
        throw cli::Failure(cli::ExitCode::kFailed,
                           "a serial chain can be checked only from its start");
      fill(offset - cli::kBlockBytes, first);
    }
    openssl.begin(key_.data(), first);
    openssl.update(expected.data(), expected.data(), expected.size());
  }
  return std::memcmp(expected.data(), output.data(), output.size()) == 0;
}

OpensslCipher::OpensslCipher(const BenchCase &run)
    : cipher_(cli::fetch_cpu_cipher(run.cipher)),
      context_(EVP_CIPHER_CTX_new()),
      encrypt_(run.direction == LC_ENCRYPT),
      data_unit_bytes_(run.data_unit_bytes) {
  if (!context_ ||
      EVP_CipherInit_ex2(context_.get(), cipher_.get(), nullptr, nullptr, encrypt_, nullptr) != 1)
    throw cli::Failure(cli::ExitCode::kFailed, "OpenSSL could not start a cipher");
  if (run.cipher.mode == LC_AES_CBC_CS3) {
    char kind[] = OSSL_CIPHER_CTS_MODE_CS3;
    const OSSL_PARAM stealing[] = {
        OSSL_PARAM_construct_utf8_string(OSSL_CIPHER_PARAM_CTS_MODE, kind, 0),
        OSSL_PARAM_construct_end()};
    if (EVP_CIPHER_CTX_set_params(context_.get(), stealing) != 1)
      throw cli::Failure(cli::ExitCode::kFailed, "OpenSSL has no ciphertext stealing");
  }
}

void OpensslCipher::begin(const uint8_t *key, const cli::Block &iv) {
  if (EVP_CipherInit_ex2(context_.get(), nullptr, key, iv.data(), encrypt_, nullptr) != 1 ||
      EVP_CIPHER_CTX_set_padding(context_.get(), 0) != 1)
    throw cli::Failure(cli::ExitCode::kFailed, "OpenSSL could not start a cipher");
  tweak_ = iv;
}

void OpensslCipher::update(const uint8_t *in, uint8_t *out, uint64_t bytes) {
  for (uint64_t done = 0; done < bytes;) {
    // OpenSSL treats each update as one data unit, so each data unit begins with its own tweak.
    if (data_unit_bytes_ != 0 && done != 0) begin(nullptr, advance_tweak(tweak_, 1));
    const uint64_t now =
        std::min(bytes - done, data_unit_bytes_ != 0 ? data_unit_bytes_ : kMostUpdateBytes);
    int produced = 0;
    if (EVP_CipherUpdate(context_.get(), out + done, &produced, in + done, static_cast<int>(now)) !=
        1)
      throw cli::Failure(cli::ExitCode::kFailed, "a cipher failed in OpenSSL");
    done += now;
  }
}

std::array<uint8_t, 16> OpensslCipher::tag() {
  std::array<uint8_t, 16> made{};
  uint8_t nothing[cli::kBlockBytes];
  int produced = 0;
  if (EVP_CipherFinal_ex(context_.get(), nothing, &produced) != 1 ||
      EVP_CIPHER_CTX_ctrl(context_.get(), EVP_CTRL_AEAD_GET_TAG, static_cast<int>(made.size()),
                          made.data()) != 1)
    throw cli::Failure(cli::ExitCode::kFailed, "a cipher failed in OpenSSL");
  return made;
}

}  // namespace lanecrypt::bench
