// Hashes many files, as many at once as suits devices and cores.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "cli/crypt/report.h"
#include "cli/failure.h"
#include "cli/keys/secret_bytes.h"
#include "lanecrypt/lanecrypt.hpp"

namespace lanecrypt::cli {

// What is computed of each file, and where.
struct HashSettings {
  lc_hash hash = LC_SHA_256;
  uint64_t digest_bytes = 0;
  uint64_t leaf_bytes = 0;
  std::optional<SecretBytes> key;  // of BLAKE3
  std::string text;                // BLAKE3's context, or ParallelHash's customization string
  std::optional<std::string> devices;
  bool require_device = false;

  bool is_tree() const { return hash >= LC_BLAKE3; }
};

class HashFiles {
 public:
  // Hears of each file, in their order: its digest, or why it could not be read.
  struct Outcome {
    size_t number;
    std::span<const uint8_t> digest;
    const Failure *failure;  // nullptr: there is a digest
    bool is_missing;         // there is no such file
  };
  using Tell = std::function<void(const Outcome &)>;

  explicit HashFiles(const HashSettings &settings) : settings_(settings) {}
  // "-" is standard input. Throws Failure if the hash itself fails. May be called again.
  void run(std::span<const std::string> paths, const Tell &tell);
  // Of all that was hashed so far.
  Report report() const;

 private:
  struct Batch;
  size_t gather(std::span<const std::string> paths, size_t next, Batch &batch) const;
  void start(Batch &batch);
  void finish(Batch &batch, const Tell &tell);
  void open(bool is_little);

  const HashSettings &settings_;
  std::optional<Context> context_;
  bool is_without_devices_ = false;
  lc_result sum_{};
};

}  // namespace lanecrypt::cli
