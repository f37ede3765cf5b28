// Messages of one hash.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "place.h"
#include "task.h"

namespace lanecrypt::python {

// For each hash by its name: its number in the C ABI, the bytes of a digest, and whether digests
// may have any other number of bytes.
nb::dict hashes();

class HashTask : public Task {
 public:
  // leaf_bytes: 0, but for Merkle trees. key: a SecretKey, or None. text: what the C ABI calls so.
  HashTask(nb::object context, int hash, uint64_t digest_bytes, uint64_t leaf_bytes, nb::object key,
           nb::bytes text, std::optional<uintptr_t> stream);

  // A message.
  void add(nb::object in);
  // So many messages of one length, one behind the other.
  void add_rows(nb::object in, uint64_t rows);
  size_t count() const { return messages_.size(); }

  // Where the digests of all messages go, one behind the other, after the last of them.
  void put_digests(nb::object to);
  // A digest that has no other place.
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
  uint8_t *digests_outside_ = nullptr;  // instead of digests_
  Place place_;
};

void bind_hash_task(nb::module_ &module);

}  // namespace lanecrypt::python
