// Messages of one cipher.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "place.h"
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

  // The task's only messages: the segments of one text. The IV is one for all, in which `number`
  // and `last_flag_at` overwrite, or, with iv_stride, one for each. `number` and `aad_number`:
  // (at, bytes, is little-endian, first), or None. aad: bytes-like, or a view on the device of the
  // data, whose bytes the device reads.
  void set_segments(nb::handle iv, uint64_t iv_stride, nb::object number,
                    std::optional<uint32_t> last_flag_at, bool is_end, nb::object in,
                    nb::object out, uint64_t text_bytes, uint64_t segment_bytes,
                    uint64_t first_bytes, bool tags_inside, nb::handle aad, nb::object aad_number);
  size_t count() const { return count_; }
  // The caller has one message and no list: an error need not say which.
  void set_single() { is_single_ = true; }

  // Where the tags of all messages lie, one behind the other: encryption writes them there, and
  // decryption compares with them. On the device of the data they never come to the host. Then
  // decryption needs verdicts.
  void put_tags(nb::object to, uint64_t offset);
  // Says that the outputs and the tags that are made are new memory, which overlaps nothing.
  void set_outputs_apart() { job_.outputs_are_apart = 1; }
  // Instead: the tag of one message, to compare.
  void load_tag(size_t number, nb::handle bytes);
  // A tag that has no other place.
  nb::bytes tag(size_t number) const;
  // Where a byte for each message says whether its tag is right, on the device of the data.
  void set_verdicts(nb::object to);
  // A place that must lie on the device of the data. `what` is its name for a person.
  void add_beside(const View &view, const std::string &what) { place_.add_beside(view, what); }
  // What the library is asked, when the task has begun.
  const lc_cipher_job &job() const { return job_; }
  // Reads them when the task has ended, and throws InvalidTag where one is wrong.
  void check_verdicts();

  void prepare() override;
  lc_status run(lc_context *context) override { return lc_run(context, &job_, nullptr); }
  lc_status submit(lc_context *context, lc_ticket **ticket) override {
    return lc_submit(context, &job_, nullptr, ticket);
  }
  std::vector<size_t> failed() const override;

 private:
  struct Data {
    const uint8_t *bytes = nullptr;
    uint64_t length = 0;
  };

  // nullptr: None.
  const View *keep_view(nb::handle given);
  Data keep_aad(nb::handle aad);
  void add_output(const View &view);
  void append(Data aad, const uint8_t *in, uint8_t *out, uint64_t length);
  void add_iv(nb::handle iv, uint64_t bytes, const char *which);
  uint8_t *host_tags();
  void prepare_tags();

  const SecretKey &key_;
  const uint32_t iv_bytes_, tag_bytes_;
  lc_cipher_job job_ = {};
  std::vector<lc_message> messages_;
  std::vector<uint8_t> ivs_, tags_;
  uint8_t *tags_outside_ = nullptr;  // instead of tags_
  bool tags_on_device_ = false, tags_inside_ = false, is_single_ = false;
  const View *verdicts_ = nullptr;
  std::optional<lc_segments> segments_;
  size_t count_ = 0;
  std::vector<lc_status> statuses_;
  uint64_t bytes_ = 0;
  Place place_;
};

void bind_cipher_task(nb::module_ &module);

}  // namespace lanecrypt::python
