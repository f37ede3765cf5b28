// A task that hashes messages with one hash.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "data_location.h"
#include "task.h"

namespace lanecrypt::python {

// Returns, for each hash by its name: its number in the C ABI, the bytes of a digest, and whether
// digests may have other lengths.
nb::dict hashes();

class HashTask : public Task {
 public:
  // `leaf_bytes` is 0 except for Merkle trees. `key` is a SecretKey, or None. `text` is
  // lc_hash_job.text.
  HashTask(nb::object context, int hash, uint64_t digest_bytes, uint64_t leaf_bytes, nb::object key,
           nb::bytes text, std::optional<uintptr_t> stream);

  // Adds a message.
  void add(nb::object in);
  // Adds `rows` contiguous messages of equal length.
  void add_rows(nb::object in, uint64_t rows);
  size_t count() const { return messages_.size(); }

  // Sets the memory for the concatenated digests. Call it after the last message was added.
  void put_digests(nb::object to);
  // Returns a digest, if put_digests() was not called.
  nb::bytes digest(size_t number) const;

  void prepare() override;
  lc_status run(lc_context *context) override { return lc_hash_run(context, &job_, nullptr); }
  lc_status submit(lc_context *context, lc_ticket **ticket) override {
    return lc_hash_submit(context, &job_, nullptr, ticket);
  }

 private:
  lc_hash_job job_ = {};
  std::vector<lc_hash_message> messages_;
  uint64_t bytes_ = 0;
  std::vector<uint8_t> digests_;
  uint8_t *digests_outside_ = nullptr;  // the digests, if not in `digests_`
  DataLocation location_;
};

void bind_hash_task(nb::module_ &module);

}  // namespace lanecrypt::python
