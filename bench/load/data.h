// Data for benchmarks, random but reproducible at any offset, and the check against OpenSSL.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cli/crypt/block_cipher_mode.h"
#include "job/cipher/counter.h"

namespace lanecrypt::bench {

// A case to be measured: cipher, direction and the lengths of messages and data units.
struct BenchCase {
  cli::BlockCipherMode cipher;
  lc_direction direction = LC_ENCRYPT;
  uint64_t stream_bytes = 0;  // bytes of each message; 0: all data are one message
  // Bytes of an XTS data unit, a power of two. It is not in the cipher, since the command
  // encrypts no files in XTS.
  uint64_t data_unit_bytes = 0;

  // The name in rows: "aes-128-ctr", "aes-128-cbc-encrypt", "aes-128-cbc-decrypt", "aes-128-xts"
  // (data units of 1 MiB), "aes-128-xts-512", "aes-128-gcm".
  std::string name() const;
  // Returns whether both directions compute the same function and share one name.
  bool is_own_inverse() const;
  // The bytes of a part that can be computed independently: a stream, a data unit, or a block.
  uint64_t part_bytes() const;
};

constexpr uint64_t kLargeUnitBytes = 1 << 20;
BenchCase xts_case(const char *bits, lc_direction direction, uint64_t data_unit_bytes);

// CTR with a 128-bit key for every block cipher other than AES that the OpenSSL in use supports,
// since each output is compared with OpenSSL's.
std::vector<BenchCase> other_block_ciphers();

class BenchData {
 public:
  // Generates a random seed, key and IV.
  BenchData();

  const uint8_t *key() const { return key_.data(); }
  // The IV of stream number `stream`, counted from 0.
  cli::Block iv(uint64_t stream) const { return advance_counter(iv_, stream << 32); }
  // The IV in the form of the case's cipher: ChaCha20's block counter begins at 0.
  cli::Block iv(const BenchCase &run, uint64_t stream) const;

  // Fills `out` with the data at `offset`, which must be a multiple of 16.
  void fill(uint64_t offset, std::span<uint8_t> out) const;

  // Returns whether `output` is what OpenSSL computes in this case from the data at `offset`,
  // which must be a multiple of run.part_bytes(). Uses one thread per core.
  bool matches(const BenchCase &run, uint64_t offset, std::span<const uint8_t> output) const;

 private:
  bool part_matches(const BenchCase &run, uint64_t offset, std::span<const uint8_t> output) const;

  std::vector<uint8_t> seed_, key_;
  cli::Block iv_{};
};

// A cipher of OpenSSL on the calling thread, used as a program would use it: one context, large
// updates.
class OpensslCipher {
 public:
  explicit OpensslCipher(const BenchCase &run);
  // Sets key and IV. If `key` is null, the previous key stays.
  void begin(const uint8_t *key, const cli::Block &iv);
  void update(const uint8_t *in, uint8_t *out, uint64_t bytes);
  // Finishes a GCM message and returns its tag.
  std::array<uint8_t, 16> tag();

 private:
  cli::EvpCipher cipher_;
  cli::EvpContext context_;
  bool encrypt_;
  uint64_t data_unit_bytes_;
  cli::Block tweak_{};
};

}  // namespace lanecrypt::bench
