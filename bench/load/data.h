// Data for benchmarks: random, the same for every caller, with OpenSSL's output for them.
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

// A case to measure: what is done with the data.
struct BenchCase {
  cli::BlockCipherMode cipher;
  lc_direction direction = LC_ENCRYPT;
  uint64_t stream_bytes = 0;  // bytes of each message; 0: all data are one message
  // XTS data unit: a power of two. The command does not encrypt files in XTS.
  uint64_t data_unit_bytes = 0;

  // Returns a name such as "aes-128-ctr", "aes-128-cbc-encrypt", "aes-128-cbc-decrypt",
  // "aes-128-xts" (data units of 1 MiB), "aes-128-xts-512" or "aes-128-gcm".
  std::string name() const;
  // Whether both directions compute the same and have one name.
  bool is_own_inverse() const;
  // The size of a part that can be computed separately: a stream, a data unit, or a block of the
  // cipher.
  uint64_t part_bytes() const;
};

constexpr uint64_t kLargeUnitBytes = 1 << 20;
BenchCase xts_case(const char *bits, lc_direction direction, uint64_t data_unit_bytes);

// Returns CTR with a 128-bit key of every block cipher except AES, as far as this OpenSSL has it:
// each output is compared with OpenSSL's.
std::vector<BenchCase> other_block_ciphers();

class BenchData {
 public:
  // Generates the seed, a key and an IV at random.
  BenchData();

  const uint8_t *key() const { return key_.data(); }
  // Returns the IV of a stream, counted from 0.
  cli::Block iv(uint64_t stream) const { return advance_counter(iv_, stream << 32); }
  // Returns the IV in the form of the case's cipher: ChaCha20 counts blocks from 0.
  cli::Block iv(const BenchCase &run, uint64_t stream) const;

  // Fills `out` with the data at `offset`, a multiple of 16.
  void fill(uint64_t offset, std::span<uint8_t> out) const;

  // Returns whether `output` is what OpenSSL computes, in this case, from the data at `offset`, a
  // multiple of run.part_bytes(). Uses as many threads as there are cores.
  bool matches(const BenchCase &run, uint64_t offset, std::span<const uint8_t> output) const;

 private:
  bool part_matches(const BenchCase &run, uint64_t offset, std::span<const uint8_t> output) const;

  std::vector<uint8_t> seed_, key_;
  cli::Block iv_{};
};

// Runs OpenSSL on this thread as any program does: with one context and one update.
class OpensslCipher {
 public:
  explicit OpensslCipher(const BenchCase &run);
  // Sets the key and the IV. A null key keeps the previous one.
  void begin(const uint8_t *key, const cli::Block &iv);
  void update(const uint8_t *in, uint8_t *out, uint64_t bytes);
  // For GCM: ends the message, and returns its tag.
  std::array<uint8_t, 16> tag();

 private:
  cli::EvpCipher cipher_;
  cli::EvpContext context_;
  bool encrypt_;
  uint64_t data_unit_bytes_;
  cli::Block tweak_{};
};

}  // namespace lanecrypt::bench
