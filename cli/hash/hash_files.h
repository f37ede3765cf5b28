// Hashes many files in batches that keep devices and cores busy.
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

// What to compute, and where.
struct HashSettings {
  lc_hash hash = LC_SHA_256;
  uint64_t digest_bytes = 0;
  uint64_t leaf_bytes = 0;
  std::optional<SecretBytes> key;  // BLAKE3's key for keyed hashing
  std::string text;                // BLAKE3's context, or ParallelHash's customization string
  std::optional<std::string> devices;
  bool require_device = false;

  bool is_tree() const { return hash >= LC_BLAKE3; }
};

class HashFiles {
 public:
  // The result of one file: its digest, or why it could not be read. Results come in the order of
  // the files.
  struct Outcome {
    size_t number;
    std::span<const uint8_t> digest;
    const Failure *failure;  // nullptr: `digest` is valid
    bool is_missing;         // the file does not exist
  };
  using Tell = std::function<void(const Outcome &)>;

  explicit HashFiles(const HashSettings &settings) : settings_(settings) {}
  // Hashes the files and calls `tell` for each on this thread; "-" is standard input. A file that
  // cannot be read is only a failed Outcome. Throws Failure if the hashing itself fails. May be
  // called repeatedly.
  void run(std::span<const std::string> paths, const Tell &tell);
  // Returns the report of all that was hashed so far.
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
