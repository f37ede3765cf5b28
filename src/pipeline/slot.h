// A place in a device's pipeline: the memory and the events of one chunk, and
// how far it has come.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>

#include "launch/chunk_launch.h"
#include "pipeline/host_side.h"
#include "pipeline/output_check.h"
#include "work/chunk.h"

namespace lanecrypt::schedule {

enum class Stage {
  kPreparing,   // other threads bring its input
  kPinned,      // all that is to be pinned is
  kRefused,     // it could not be pinned
  kReady,       // waits for its turn on the device
  kComputing,   // on the device, which does not write to the caller's memory yet
  kComputed,    // and may do so now
  kReturning,   // its output comes back
  kFinishing,   // and is looked at
  kScattering,  // it goes to where it belongs
  kOver,
  kGivenUp,  // the device is stuck: whoever waited for it leaves this alone
};

struct Slot {
  // Those of the launches that it has had, by their numbers.
  std::vector<std::unique_ptr<LaunchRoom>> rooms;
  std::unique_ptr<device::Buffer> device_in, device_out;
  std::unique_ptr<device::Event> upload_begin, upload_end, kernel_begin, kernel_end, download_begin,
      download_end;
  // The keys are zeroed: room may be filled again.
  std::unique_ptr<device::Event> wiped;
  bool was_used = false;
  // Of the chunk under way. While other threads work on it, the stage says
  // who may touch the rest.
  std::atomic<Stage> stage = Stage::kOver;
  uint64_t number = 0;  // of the chunk, in order
  std::vector<RequestPointer> requests;
  std::vector<ChunkPiece> pieces;
  HostShare share;
  std::vector<uint8_t> headers;  // CCM: what comes before the texts
  std::vector<uint64_t> places;  // of the pieces' texts, in the chunk
  uint64_t bytes = 0;            // on the device
  OutputCheck check;
  Request *sliced = nullptr;
  ChunkWork work;
  ChunkLaunch *launch = nullptr;  // that takes it
  LaunchRoom *room = nullptr;     // its own
  std::unique_ptr<device::Stream> adopted;
  // For kernels that run beside those of other slots.
  std::unique_ptr<device::Stream> own_stream;
  std::unique_ptr<device::Buffer> scratch_view;
  bool on_device = false;
  bool is_all = false;  // nothing else waits
  // The kernels of others run beside its own, which takes long, and nothing of it passes
  // the ring.
  bool leaves_room = false;
  // Nobody but the device's thread waits for it.
  bool is_alone = false;
  Status status;
  bool gave_wrong_output = false;

  // From whose thread it is taken over; false where it was given up.
  bool claim(Stage from, Stage to) { return stage.compare_exchange_strong(from, to); }
  bool continues_broken_chain() const {
    return sliced != nullptr && number > sliced->broken_from.load();
  }
};

}  // namespace lanecrypt::schedule
