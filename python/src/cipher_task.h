// A task that encrypts or decrypts messages with one cipher and key.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "data_location.h"
#include "secret_key.h"
#include "task.h"
#include "view.h"

namespace lanecrypt::python {

class CipherTask : public Task {
 public:
  // `iv_bytes` and `tag_bytes` are the lengths for every message; 0 if the cipher has none.
  CipherTask(nb::object context, int cipher, bool encrypts, nb::object key, uint32_t iv_bytes,
             uint32_t tag_bytes, uint64_t data_unit_bytes, std::optional<uintptr_t> stream);

  // Adds a message: `length` bytes of each of two views. `iv` and `aad` are bytes-like, or None.
  void add(nb::handle iv, nb::object in, uint64_t in_offset, uint64_t length, nb::object out,
           uint64_t out_offset, nb::handle aad);
  // Adds `rows` messages of equal length, which are contiguous in both views, with their
  // concatenated IVs. `aad` is None, one object for all messages, or a sequence with one object per
  // message.
  void add_rows(nb::handle ivs, nb::object in, nb::object out, uint64_t rows, nb::handle aad);

  // Sets the task's only messages: the segments of one text. `iv` is one IV for all segments, in
  // which `number` and `last_flag_at` overwrite bytes; or, if `iv_stride` is not 0, the
  // concatenated IVs of all segments. `number` and `aad_number` are (at, bytes, is little-endian,
  // first), or None. `aad` is bytes-like, or a view on the device of the data, which the device
  // reads.
  void set_segments(nb::handle iv, uint64_t iv_stride, nb::object number,
                    std::optional<uint32_t> last_flag_at, bool is_end, nb::object in,
                    nb::object out, uint64_t text_bytes, uint64_t segment_bytes,
                    uint64_t first_bytes, bool tags_inside, nb::handle aad, nb::object aad_number);
  size_t count() const { return count_; }
  // Says that the caller has one message and not a list, so that an error need not name its index.
  void set_single() { is_single_ = true; }

  // Sets the memory of the concatenated tags of all messages: encryption writes them there, and
  // decryption compares with them. If it is on the device of the data, the tags are never copied to
  // the host, and decryption needs set_verdicts().
  void put_tags(nb::object to, uint64_t offset);
  // Says that the outputs and the tags are new memory, which overlaps nothing.
  void set_outputs_apart() { job_.outputs_are_apart = 1; }
  // An alternative to put_tags() for decryption: sets the expected tag of one message.
  void load_tag(size_t number, nb::handle bytes);
  // Returns a tag of encryption, if put_tags() was not called.
  nb::bytes tag(size_t number) const;
  // Sets memory on the device of the data for one byte per message, which says whether its tag is
  // right.
  void set_verdicts(nb::object to);
  // Adds memory that must be on the device of the data. `what` names it in errors.
  void add_further(const View &view, const std::string &what) { location_.add_further(view, what); }
  // Returns the job for the library. It is complete after begin().
  const lc_cipher_job &job() const { return job_; }
  // Reads the verdicts after the task has completed, and throws InvalidTag if a tag is wrong.
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

  // Returns nullptr for None.
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
  uint8_t *tags_outside_ = nullptr;  // the tags, if not in `tags_`
  bool tags_on_device_ = false, tags_inside_ = false, is_single_ = false;
  const View *verdicts_ = nullptr;
  std::optional<lc_segments> segments_;
  size_t count_ = 0;
  std::vector<lc_status> statuses_;
  uint64_t bytes_ = 0;
  DataLocation location_;
};

void bind_cipher_task(nb::module_ &module);

}  // namespace lanecrypt::python
