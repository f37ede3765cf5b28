// A cipher job on its way, and what is left to do of it.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <memory>

#include "device/device.h"
#include "job/cipher/cipher_job.h"
#include "thread/completion.h"
#include "work/aead_tally.h"
#include "work/nonce_comparison.h"
#include "work/todo.h"

namespace lanecrypt::runtime {

// The part of its message's text that a piece has.
struct TextSpan {
  uint64_t offset, length;
};

class SharedWork;

// How a job gets into the order of a stream that only its caller's thread can name: that thread
// marks `before`, the device's thread awaits it and marks `after`, for which the caller's stream
// then waits.
struct ThreadOrder {
  std::unique_ptr<device::Event> before, after;
  bool has_begun = false;  // `after` was marked behind some of the job
};

// Shared by its caller, by the queue in which it waits and by the pieces under way. The
// caller may release it at any time.
class Request : public Completion {
 public:
  // Sets `failure` where the CPU's part of it fails.
  Request(CipherJob job, Callback on_end);
  // A part of shared work: what one device, number `member` of those that share it, does
  // of `whole`. It begins with nothing, and has no callback.
  Request(const Request &whole, std::shared_ptr<SharedWork> work, uint32_t member,
          uint64_t its_load_bytes);

  const std::shared_ptr<CipherJob> whole_job;  // all parts of shared work have the same job
  CipherJob &job = *whole_job;
  const std::shared_ptr<SharedWork> shared;  // nullptr: a whole request
  const uint32_t member = 0;
  const uint64_t load_bytes;  // for how many bytes it counts in a device's queue

  // Only who has the request uses the rest: one executor at a time.
  Todo todo{job};
  uint32_t chunks_under_way = 0;
  // The devices, by their numbers, that could not finish it.
  std::vector<uint32_t> tried;
  const uint64_t longest_stream_bytes = job.longest_stream_bytes;
  // Its chains go on from one chunk to the next, on the device that has it.
  bool is_sliced = false;
  // Why the device that has it must hand it back when no chunk of it is under way there
  // any more. OK while it may stay.
  Status leaves;
  // CBC encryption in slices: the chain value of each message, on the device that has the
  // request.
  std::unique_ptr<device::Buffer> chain;
  // For a job in LC_STREAM_PER_THREAD.
  std::unique_ptr<ThreadOrder> order;
  // Set before it is dispatched if its nonces are compared while it runs. end() waits for the
  // outcome, and wipes what was encrypted with a nonce that came twice.
  std::unique_ptr<NonceComparison> nonces;
  // Authenticated modes: the messages' tags. nullptr for segments, whose tags only the device sees.
  std::shared_ptr<AeadTally> aead;
  // OFB in place and in slices: the last keystream of each message that came back. The
  // output no longer tells it.
  std::vector<Iv> keystream;
  bool on_device_counted = false, on_cpu_counted = false;
  // Whether the caller's memory may be pinned where it lies. False once that was refused.
  bool may_pin = true;
  // The number of the first chunk that failed on the device that has it. Chunks that
  // continue its chains must not run.
  std::atomic<uint64_t> broken_from = UINT64_MAX;

  // A part of shared work: its output must not be trusted.
  bool must_start_over = false;

  bool ends_message(const Piece &piece) const {
    return !piece.is_aad && piece.offset + piece.length == stream_bytes(job, piece.message);
  }
  // All of the piece, except additional data and CCM's header.
  TextSpan text_of(const Piece &piece) const;
  // Bytes of text in all pieces that are left to do.
  uint64_t text_left() const;
  // Puts back a piece that was not done, before all other pieces of its message.
  void put_back(const Piece &piece);

  // Called before another device or the CPU goes on: writes this device's chain values
  // into the pieces, as their IVs. No chunk may be under way.
  void leave_device();

  // Undoes all work that was done, for messages whose input is whole, that is, not in
  // place. No chunk of it may be under way. For a part of shared work this is only noted.
  void start_over();

  // Writes or compares the tags of authenticated modes. It is the last step before the
  // end, and done once.
  void settle() noexcept;
  // Ends the request, with `failure` if that is set.
  void end();

 private:
  Iv chain_value(const Piece &piece) const;
  void refuse_equal_nonces();

  bool is_settled_ = false;
};

using RequestPointer = std::shared_ptr<Request>;

}  // namespace lanecrypt::runtime
