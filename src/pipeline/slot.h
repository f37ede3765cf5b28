// A place in a device's pipeline: the memory and the events of one chunk, and how far the
// chunk has come.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>

#include "launch/chunk_launch.h"
#include "pipeline/device_input.h"
#include "pipeline/host_transfer.h"
#include "pipeline/output_check.h"
#include "work/chunk.h"

namespace lanecrypt::runtime {

enum class Stage {
  kPreparing,   // other threads bring its input
  kPinned,      // everything that was to be pinned is pinned
  kRefused,     // it could not be pinned
  kReady,       // it waits for its turn on the device
  kComputing,   // kernels run, and the device may not write to the caller's memory yet
  kComputed,    // kernels are done, and the device may write there
  kReturning,   // its output comes back
  kFinishing,   // its output is checked
  kScattering,  // its output goes to where it belongs
  kOver,
  kGivenUp,  // the device is stuck: no waiter touches this any more
};

struct Slot {
  // Those of the launches that it has had, by their numbers.
  std::vector<std::unique_ptr<LaunchWorkspace>> workspaces;
  std::unique_ptr<device::Buffer> device_in, device_out;
  std::unique_ptr<device::Event> upload_begin, upload_end, kernel_begin, kernel_end, download_begin;
  // A caller's thread may wait for it too (Pipeline::end_in_stream()).
  std::shared_ptr<device::Event> download_end;
  // Reached when the keys are zeroed. Then `workspace` may be filled again.
  std::unique_ptr<device::Event> wiped;
  bool was_used = false;
  // It is for chunks that may have to wait for work of the caller's.
  bool is_in_callers_order = false;
  // From here on all is about the chunk under way. While other threads work on it, the stage
  // says who may touch the rest.
  std::atomic<Stage> stage = Stage::kOver;
  uint64_t number = 0;  // the chunk's, counted in order
  std::vector<RequestPointer> requests;
  std::vector<ChunkPiece> pieces;
  ChunkTransfer share;
  DeviceInput device_input;      // of pieces whose input is not in host memory
  std::vector<uint8_t> headers;  // CCM: what comes before the texts
  std::vector<uint64_t> places;  // where the pieces' texts begin in the chunk
  uint64_t bytes = 0;            // on the device
  OutputCheck check;
  Request *sliced = nullptr;
  ChunkWork work;
  ChunkLaunch *launch = nullptr;         // that takes it
  LaunchWorkspace *workspace = nullptr;  // its own
  std::unique_ptr<device::Stream> adopted;
  // For kernels that run beside those of other slots.
  std::unique_ptr<device::Stream> own_stream;
  std::unique_ptr<device::Buffer> scratch_view;
  bool on_device = false;
  bool is_all = false;  // nothing else waits
  // Its kernel takes long and leaves room for others beside it, and none of its data pass
  // through the ring.
  bool leaves_room = false;
  // Only the device's thread waits for it, or looks whether it is over.
  bool is_polled = false;
  bool is_timed = false;  // kernel_begin and kernel_end are marked
  Status status;
  bool gave_wrong_output = false;

  // A thread that goes on with the chunk calls this. False if the chunk was given up.
  bool claim(Stage from, Stage to) { return stage.compare_exchange_strong(from, to); }
  bool continues_broken_chain() const {
    return sliced != nullptr && number > sliced->broken_from.load();
  }
};

}  // namespace lanecrypt::runtime
