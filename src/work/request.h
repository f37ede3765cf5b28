// A cipher job on its way: what is left to do of it.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <memory>

#include "device/device.h"
#include "job/cipher_job.h"
#include "thread/ending.h"
#include "work/aead_tally.h"
#include "work/todo.h"

namespace lanecrypt::schedule {

// What a piece has of its message's text.
struct TextSpan {
  uint64_t offset, length;
};

class SharedWork;

// Shared by its caller, by the queue it waits in and by the pieces under way;
// the caller may let go at any time.
class Request : public Ending {
 public:
  // `failure` is set where the CPU's part of it fails.
  Request(CipherJob job, Callback on_end);
  // What one device, the `member` of those that share the work, does of `whole`.
  // Nothing at first. It has no end that is told.
  Request(const Request &whole, std::shared_ptr<SharedWork> work, uint32_t member,
          uint64_t its_load_bytes);

  const std::shared_ptr<CipherJob> whole_job;  // one for all who share it
  CipherJob &job = *whole_job;
  const std::shared_ptr<SharedWork> shared;  // nullptr: a whole request
  const uint32_t member = 0;
  const uint64_t load_bytes;  // what it counts for in a device's queue

  // The rest is the business of whoever has the request: one executor at a
  // time.
  Todo todo{job};
  uint32_t chunks_under_way = 0;
  // The devices, by their numbers, that could not finish it.
  std::vector<uint32_t> tried;
  const uint64_t longest_stream_bytes = job.longest_stream_bytes;
  // Its chains go on from chunk to chunk on the device that has it.
  bool is_sliced = false;
  // Why the device that has it must hand it back, once no chunk of it is under
  // way there; OK while it may stay.
  Status leaves;
  // CBC encryption in slices: the chain value of each message, on the device
  // that has the request.
  std::unique_ptr<device::Buffer> chain;
  // Authenticated modes: the messages' tags.
  std::shared_ptr<AeadTally> aead;
  // OFB in place and in slices: the last keystream of each message that came
  // back, which the output does not tell any more.
  std::vector<Iv> keystream;
  bool on_device_counted = false, on_cpu_counted = false;
  // Whether the caller's memory may be pinned where it lies; not after that
  // was refused.
  bool may_pin = true;
  // The first chunk that failed on the device that has it, by its number there:
  // what continues its chains must not run.
  std::atomic<uint64_t> broken_from = UINT64_MAX;

  // Of shared work: what it did is not to be trusted.
  bool must_start_over = false;

  bool ends_message(const Piece &piece) const {
    return !piece.is_aad && piece.offset + piece.length == stream_bytes(job, piece.message);
  }
  // All of it, but for additional data and the header of CCM.
  TextSpan text_of(const Piece &piece) const;
  // Of all pieces that are left to do.
  uint64_t text_left() const;
  // Puts back a piece that was not done, behind no other piece of its message.
  void put_back(const Piece &piece);

  // Before another device or the CPU goes on: what this device's chain values
  // would have told. No chunk is under way.
  void leave_device();

  // Makes all work that was done undone, of messages whose input is whole: those
  // that are not in place. No chunk of it is under way. Of shared work it is only
  // noted.
  void start_over();

  // Writes or compares the tags of authenticated modes, the last step before the
  // end, once.
  void settle();
  // Ends it, with `failure` or well.
  void end();

 private:
  Iv chain_value(const Piece &piece) const;

  bool is_settled_ = false;
};

using RequestPointer = std::shared_ptr<Request>;

}  // namespace lanecrypt::schedule
