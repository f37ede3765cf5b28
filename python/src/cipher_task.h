// Messages of one cipher.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "secret_key.h"
#include "task.h"
#include "view.h"

namespace lanecrypt::python {

class CipherTask : public Task {
 public:
  // iv_bytes, tag_bytes: of every message; 0 where the cipher has none.
  CipherTask(nb::object context, int cipher, bool encrypts, nb::object key, uint32_t iv_bytes,
             uint32_t tag_bytes, uint64_t data_unit_bytes, std::optional<uintptr_t> stream);

  // A message: `length` bytes of each of two views. iv and aad are bytes-like, or None.
  void add(nb::handle iv, nb::object in, uint64_t in_offset, uint64_t length, nb::object out,
           uint64_t out_offset, nb::handle aad);
  // So many messages of one length, one behind the other in both views, with their IVs one behind
  // the other. aad: None, one for all, or a sequence with one for each.
  void add_rows(nb::handle ivs, nb::object in, nb::object out, uint64_t rows, nb::handle aad);

  // The tags to compare: those of all messages, one behind the other in a view, or one of them.
  void load_tags(const View &from, uint64_t offset);
  void load_tag(size_t number, nb::handle bytes);
  // Where the tags of all messages go, one behind the other. In host memory the library writes
  // them there. For a device's memory, which its ABI cannot do yet, store_tags() copies them when
  // the task has ended.
  void put_tags(nb::object to, uint64_t offset);
  void store_tags();
  // A tag that has no other place.
  nb::bytes tag(size_t number) const;

  void prepare() override;
  lc_status run(lc_context *context) override { return lc_run(context, &job_, nullptr); }
  lc_status submit(lc_context *context, const lc_completion *completion,
                   lc_ticket **ticket) override {
    return lc_submit(context, &job_, completion, ticket);
  }
  std::vector<size_t> failed() const override;

 private:
  struct Data {
    const uint8_t *bytes = nullptr;
    uint64_t length = 0;
  };

  void use(const View &view);
  Data keep_aad(nb::handle aad);
  void append(Data aad, const uint8_t *in, uint8_t *out, uint64_t length);
  uint8_t *tag_of(size_t number) { return tags_.data() + number * tag_bytes_; }
  uint32_t device();
  void *stream() const;
  void wait_for_stream();

  const SecretKey &key_;
  const uint32_t iv_bytes_, tag_bytes_;
  const std::optional<uintptr_t> given_stream_;
  lc_cipher_job job_ = {};
  std::vector<lc_message> messages_;
  std::vector<uint8_t> ivs_, tags_;
  uint8_t *tags_outside_ = nullptr;    // in host memory: instead of tags_
  uint8_t *tags_on_device_ = nullptr;  // where store_tags() copies them
  std::vector<lc_status> statuses_;
  uint64_t bytes_ = 0;
  // Where the first view lies; the others must lie there too.
  std::optional<Room> room_;
  int32_t ordinal_ = 0;
  std::optional<uintptr_t> framework_stream_;
};

void bind_cipher_task(nb::module_ &module);

}  // namespace lanecrypt::python
