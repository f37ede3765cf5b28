// SPDX-License-Identifier: Apache-2.0
#include "pipeline/pipeline.h"

#include <algorithm>
#include <exception>
#include <new>

#include "pipeline/slot_layout.h"

namespace lanecrypt::runtime {
namespace {

using device::MemoryKind;

constexpr size_t kMostSlots = 8;
// Chunks in so many streams of the caller's do not wait for each other to be noticed.
constexpr unsigned kStreamWaiters = 4;

void mark_broken(const Slot &slot) {
  if (slot.sliced == nullptr) return;
  std::atomic<uint64_t> &first = slot.sliced->broken_from;
  for (uint64_t known = first; slot.number < known;)
    if (first.compare_exchange_weak(known, slot.number)) break;
}

// This is not LC_ERROR_DEVICE: the earlier chunk reports what the device did.
Status earlier_failed() { return Status(LC_ERROR_MEMORY, "an earlier part of the job failed"); }

}  // namespace

Pipeline::Pipeline(device::Device &device, const LaunchForm &form, const PipelineOptions &options,
                   const PinnedMemory &pinned, CopyThreads &copy_threads,
                   AutoResetEvent &wake_event)
    : device_(device),
      options_(options),
      launches_(make_chunk_launches(device, form)),
      wake_event_(wake_event),
      host_(device, pinned, copy_threads, options.saves_cpu),
      kernel_waiter_(1, [this] { device_.attach_thread(); }),
      output_waiter_(1, [this] { device_.attach_thread(); }),
      stream_waiters_(kStreamWaiters, [this] { device_.attach_thread(); }) {
  ring_slots_ = std::clamp<uint64_t>(options.pinned_bytes / (2 * kChunkBytes), 2, kMostSlots);
  for (size_t n = 0; n < ring_slots_; ++n) {
    slots_.push_back(std::make_unique<Slot>());
    free_.push_back(slots_.back().get());
  }
}

Pipeline::~Pipeline() { wipe_all(); }

Status Pipeline::open() {
  for (std::unique_ptr<device::Stream> *stream : {&upload_, &compute_, &download_}) {
    Result<std::unique_ptr<device::Stream>> made = device_.make_stream();
    if (!made.ok()) return made.status();
    *stream = std::move(*made);
  }
  return Status();
}

ChunkLimits Pipeline::limits(const CipherJob &job, uint64_t waiting_bytes) const {
  return {chunk_bytes(job, waiting_bytes, options_.least_chunk_bytes, options_.most_chunk_bytes),
          max_pieces(job.kind)};
}

// The number of the one that takes it; each kind has one.
size_t Pipeline::launch_for(const CipherKind &kind) const {
  size_t number = 0;
  while (!launches_[number]->takes(kind)) ++number;
  return number;
}

uint32_t Pipeline::max_pieces(const CipherKind &kind) const {
  return launches_[launch_for(kind)]->max_pieces(kind);
}

uint64_t Pipeline::launches() const {
  uint64_t all = 0;
  for (const std::unique_ptr<ChunkLaunch> &launch : launches_) all += launch->launches();
  return all;
}

void Pipeline::choose_launch(Slot &slot) {
  const size_t number = launch_for(slot.work.kind);
  slot.workspaces.resize(launches_.size());
  if (slot.workspaces[number] == nullptr)
    slot.workspaces[number] = launches_[number]->make_workspace();
  slot.launch = launches_[number].get();
  slot.workspace = slot.workspaces[number].get();
}

void Pipeline::move_to(Slot &slot, Stage stage) {
  slot.stage.store(stage, std::memory_order_release);
  wake_event_.set();
}

// Work that was begun may still run. retire() waits for it.
void Pipeline::fail(Slot &slot, Status status) {
  slot.status = std::move(status);
  mark_broken(slot);
  move_to(slot, Stage::kOver);
}

Slot &Pipeline::begin(Slot &slot) {
  slot.status = Status();
  slot.number = chunks_++;
  slot.is_polled = true;
  slot.is_timed = false;
  slot.leaves_room = false;
  slot.gave_wrong_output = false;
  slot.check.clear();
  return slot;
}

Slot &Pipeline::take_slot() {
  Slot *slot = free_.front();
  free_.pop_front();
  if (under_way_.empty()) waiting_since_ = Clock::now();
  under_way_.push_back(slot);
  return begin(*slot);
}

void Pipeline::start(Chunk chunk) {
  Slot &slot = take_slot();
  slot.on_device = false;
  slot.requests = std::move(chunk.requests);
  slot.pieces = std::move(chunk.pieces);
  slot.sliced = chunk.sliced;
  slot.is_all = chunk.is_all;
  // Slices are checked in order: each must be known to be right before the next one counts.
  slot.is_polled = slot.sliced == nullptr;
  slot.work = {};
  slot.work.kind = chunk.kind;
  slot.work.is_concurrent = chunk.is_concurrent;
  choose_launch(slot);
  if (const Status status = prepare(slot); !status.ok()) fail(slot, status);
  (void)advance();
}

Status Pipeline::start(DeviceChunk chunk) {
  std::vector<RequestPointer> requests = {chunk.request};
  std::vector<ChunkPiece> pieces;
  pieces.reserve(chunk.pieces.size());
  for (const Piece &piece : chunk.pieces) pieces.push_back({chunk.request.get(), piece});
  Slot &slot = chunk.request->job.stream != nullptr ? take_stream_slot() : take_slot();
  slot.on_device = true;
  slot.sliced = nullptr;
  slot.requests = std::move(requests);
  slot.pieces = std::move(pieces);
  slot.work = std::move(chunk.work);
  slot.bytes = chunk.scratch_bytes + chunk.scratch_offset;
  slot.stage = Stage::kReturning;
  Status status;
  try {
    choose_launch(slot);
    status = begin_on_device(slot, chunk);
  } catch (const std::bad_alloc &) {  // as in Executor::start_on_device()
    status = out_of_memory();
  }
  if (!status.ok()) fail(slot, status);
  return status;
}

// Keeps OFB's last keystream, before output in place overwrites its input.
Status Pipeline::keep_keystream(Slot &slot) noexcept {
  if (slot.sliced == nullptr || slot.work.kind.info().continuation != Continuation::kKeystream)
    return Status();
  try {
    slot.sliced->keystream.resize(slot.sliced->job.messages.size());
  } catch (const std::exception &) {
    return out_of_memory();
  }
  const uint8_t *out = slot.share.ring_out->host();
  for (const ChunkPiece &part : slot.pieces) {
    const Piece &piece = part.piece;
    Iv &kept = slot.sliced->keystream[piece.message];
    if (piece.length >= kept.size()) {
      const uint64_t at = piece.length - kept.size();
      const uint8_t *in = slot.sliced->job.messages[piece.message].in + piece.offset;
      for (size_t byte = 0; byte < kept.size(); ++byte) kept[byte] = in[at + byte] ^ out[at + byte];
    }
    out += whole_blocks(piece.length);
  }
  return Status();
}

// The chain values of a request in slices stay on the device between chunks. The kernels of
// one stream run in order, so each slice finds the chain values of the one before.
Status Pipeline::continue_chain(Slot &slot) {
  if (slot.sliced == nullptr) return Status();
  if (slot.sliced->chain == nullptr) {
    Result<std::unique_ptr<device::Buffer>> chain =
        device_.allocate(MemoryKind::kDevice, slot.sliced->job.messages.size() * kBlockBytes);
    if (!chain.ok()) return chain.status();
    slot.sliced->chain = std::move(*chain);
  }
  slot.work.chain = slot.sliced->chain.get();
  return Status();
}

Status Pipeline::launch_work(device::Stream &stream, Slot &slot) {
  const Clock::time_point before = Clock::now();
  const Status status = slot.launch->launch(stream, *slot.workspace, slot.work,
                                            slot.is_timed ? slot.kernel_begin.get() : nullptr,
                                            slot.is_timed ? slot.kernel_end.get() : nullptr);
  // A driver that compiles the kernel first, which may take it a minute, is not stuck.
  waiting_since_ += Clock::now() - before;
  return status;
}

// Brings the input to where the device can copy it, on other threads if that takes long.
Status Pipeline::prepare(Slot &slot) {
  // Output that is checked as a whole must be laid out as on the device.
  lay_out(slot, key_numbers_,
          slot.work.kind.info().continuation == Continuation::kKeystream ||
              options_.verify == LC_VERIFY_FULL);
  host_.plan(slot.share);
  if (!host_.must_pin(slot.share)) return gather(slot);
  slot.is_polled = false;
  slot.stage = Stage::kPreparing;
  host_.pin(slot.share, [this, &slot](const Status &status) {
    if (slot.claim(Stage::kPreparing, status.ok() ? Stage::kPinned : Stage::kRefused))
      wake_event_.set();
  });
  return Status();
}

Status Pipeline::gather(Slot &slot) {
  host_.lay_in_ring(slot.share);
  slot.leaves_room = leaves_room(slot);
  take_over_ring(slot);
  LC_TRY(allocate(slot));
  const bool in_is_small = HostTransfer::is_small(slot.share.in);
  const bool is_small = in_is_small && HostTransfer::is_small(slot.share.out);
  slot.is_polled = slot.is_polled && (slot.is_all || (is_small && !slot.share.out.has_direct()));
  if (slot.is_polled || in_is_small) {
    HostTransfer::gather_now(slot.share);
    slot.stage = Stage::kReady;
    return Status();
  }
  slot.stage = Stage::kPreparing;
  host_.gather(slot.share, [this, &slot] {
    if (slot.claim(Stage::kPreparing, Stage::kReady)) wake_event_.set();
  });
  return Status();
}

bool Pipeline::advance() {
  bool progress = false;
  bool in_turn = true;  // all earlier chunks are on the device
  for (Slot *slot : under_way_) {
    switch (slot->stage.load(std::memory_order_acquire)) {
      case Stage::kRefused:
        // Later chunks of this request could not be pinned either.
        for (const ChunkPiece &part : slot->pieces) part.request->may_pin = false;
        host_.copy_instead(slot->share);
        [[fallthrough]];
      case Stage::kPinned:
        if (const Status status = gather(*slot); !status.ok()) fail(*slot, status);
        progress = true;
        break;
      case Stage::kReady:
        if (!in_turn) break;
        issue(*slot);
        progress = true;
        break;
      case Stage::kComputed:
        if (const Status status = bring_back(*slot); !status.ok()) fail(*slot, status);
        progress = true;
        break;
      default:
        break;
    }
    const Stage stage = slot->stage.load(std::memory_order_acquire);
    in_turn = in_turn && stage >= Stage::kComputing;
  }
  return progress;
}

void Pipeline::issue(Slot &slot) {
  // A slice must not run if an earlier one failed.
  Status status = slot.continues_broken_chain() ? earlier_failed() : compute(slot);
  if (status.ok()) {
    // Staged output may come back at once, unless it would overtake an earlier chunk's.
    const bool overtakes = std::any_of(under_way_.begin(), under_way_.end(), [](const Slot *other) {
      const Stage stage = other->stage;
      return stage >= Stage::kComputing && stage <= Stage::kComputed;
    });
    if (overtakes || slot.share.out.has_direct()) {
      slot.stage = Stage::kComputing;
      slot.is_polled = slot.is_polled && slot.is_all;
      if (!slot.is_polled) await_kernels(slot);
      return;
    }
    status = bring_back(slot);
  }
  if (!status.ok()) fail(slot, status);
}

Result<device::Stream *> Pipeline::stream_for(Slot &slot) {
  if (!slot.work.is_concurrent && !slot.is_in_callers_order) return compute_.get();
  if (slot.own_stream == nullptr) {
    Result<std::unique_ptr<device::Stream>> made = device_.make_stream();
    if (!made.ok()) return made.status();
    slot.own_stream = std::move(*made);
  }
  return slot.own_stream.get();
}

Status Pipeline::compute(Slot &slot) {
  LC_TRY(continue_chain(slot));
  Result<device::Stream *> stream = stream_for(slot);
  if (!stream.ok()) return stream.status();
  device::Stream &compute = **stream;
  DriverTurn::Short turn(host_.turn());
  slot.work.in = slot.device_in.get();
  slot.work.out = slot.device_out.get();
  if (options_.verify == LC_VERIFY_SAMPLED)
    slot.check.choose(slot.pieces, slot.places, slot.bytes, sampler_);
  LC_TRY(upload_->mark(*slot.upload_begin));
  LC_TRY(slot.launch->upload(*upload_, *slot.workspace, slot.work));
  LC_TRY(slot.share.in.upload(*upload_, *slot.device_in, slot.share.ring_in.get()));
  LC_TRY(slot.device_input.copy(device_, *upload_, *slot.device_in));
  LC_TRY(upload_->mark(*slot.upload_end));
  LC_TRY(compute.await(*slot.upload_end));
  slot.is_timed = true;  // the download waits for kernel_end, too
  LC_TRY(launch_work(compute, slot));
  LC_TRY(compute.mark(*slot.wiped));
  slot.was_used = true;
  return Status();
}

Status Pipeline::bring_back(Slot &slot) {
  LC_TRY(start_download(slot));
  slot.stage = Stage::kReturning;
  if (!slot.is_polled) await_output(slot);
  return Status();
}

Status Pipeline::start_download(Slot &slot) {
  DriverTurn::Short turn(host_.turn());
  LC_TRY(download_->await(*slot.kernel_end));
  LC_TRY(download_->mark(*slot.download_begin));
  LC_TRY(slot.share.out.download(*download_, *slot.device_out, slot.share.ring_out.get()));
  LC_TRY(slot.launch->download(*download_, *slot.workspace, slot.work));
  return download_->mark(*slot.download_end);
}

void Pipeline::await(Workers &waiter, std::function<void()> wait) {
  if (device_.waits_on_one_thread())
    own_waits_.push_back(std::move(wait));
  else
    waiter.give(std::move(wait));
}

// A device writes to the caller's memory only once its kernels are known to be done. So a
// stuck device will not write there after the work was done elsewhere.
void Pipeline::await_kernels(Slot &slot) {
  await(kernel_waiter_, [this, &slot] {
    const Status status = slot.kernel_end->wait_long();
    if (!slot.claim(Stage::kComputing, status.ok() ? Stage::kComputed : Stage::kFinishing)) return;
    if (status.ok())
      wake_event_.set();
    else
      fail(slot, status);
  });
}

void Pipeline::await_output(Slot &slot) {
  await(output_waiter_, [this, &slot] {
    Status status = slot.download_end->wait_long();
    if (!slot.claim(Stage::kReturning, Stage::kFinishing)) return;
    // Outputs come in order, so it is known whether the earlier slices of this chain are right.
    if (status.ok() && slot.continues_broken_chain()) status = earlier_failed();
    if (status.ok()) status = check_output(slot);
    if (status.ok())
      finish_output(slot);
    else
      fail(slot, status);
  });
}

// From here on the output is known to be right, and may overwrite its input. Only our own
// threads still work on the chunk, and nothing can hold them up.
void Pipeline::finish_output(Slot &slot) {
  host_.unpin(slot.share);
  if (!slot.claim(Stage::kFinishing, Stage::kScattering)) return;
  if (const Status kept = keep_keystream(slot); !kept.ok()) return fail(slot, kept);
  if (HostTransfer::is_small(slot.share.out)) {
    HostTransfer::scatter_now(slot.share);
    move_to(slot, Stage::kOver);
  } else {
    host_.scatter(slot.share, [this, &slot] { move_to(slot, Stage::kOver); });
  }
}

Status Pipeline::begin_on_device(Slot &slot, DeviceChunk &chunk) {
  LC_TRY(allocate(slot));
  Result<device::Stream *> found = stream_on_device(slot, *chunk.request);
  if (!found.ok()) return found.status();
  device::Stream *const stream = *found;
  if (chunk.scratch_bytes != 0) {
    slot.scratch_view = std::move(chunk.scratch_view);
    slot.work.in = slot.device_in.get();
    LC_TRY(stream->copy(*slot.device_in, chunk.scratch_offset, *chunk.scratch_from.buffer,
                        chunk.scratch_from.offset, chunk.scratch_bytes));
  }
  LC_TRY(slot.launch->upload(*stream, *slot.workspace, slot.work));
  // Each of two marks that tell the time takes the device some 5 us, and the host 2. In a stream of
  // its own a caller can record events itself.
  slot.is_timed = !slot.is_in_callers_order && slot.launch->is_worth_timing(slot.work);
  LC_TRY(launch_work(*stream, slot));
  LC_TRY(slot.launch->download(*stream, *slot.workspace, slot.work));
  LC_TRY(stream->mark(*slot.download_end));
  ThreadOrder *const order = chunk.request->order.get();
  if (order == nullptr) return Status();
  order->has_begun = true;
  return stream->mark(*order->after);
}

// A device that is lost cannot be told to wipe.
void Pipeline::wipe(const device::Buffer &buffer) {
  if (is_stuck_) return;
  (void)upload_->zero(buffer, 0, buffer.bytes());
  (void)finish(*upload_);
}

bool Pipeline::is_over(Slot &slot) {
  const Stage stage = slot.stage.load(std::memory_order_acquire);
  return stage == Stage::kOver || stage == Stage::kGivenUp ||
         (stage == Stage::kReturning && slot.is_polled && slot.download_end->reached());
}

// What retire() takes next, if it is over. Chunks end in order, but for streams of the caller's,
// each of which has its own.
Slot *Pipeline::find_over() {
  for (Slot *slot : in_streams_)
    if (is_over(*slot)) return slot;
  const bool has_one = !under_way_.empty() && is_over(*under_way_.front());
  return has_one ? under_way_.front() : nullptr;
}

bool Pipeline::waits_for_device_alone() const {
  const auto is_polled = [](const Slot *slot) { return slot->is_polled; };
  return std::all_of(under_way_.begin(), under_way_.end(), is_polled) &&
         std::all_of(in_streams_.begin(), in_streams_.end(), is_polled);
}

void Pipeline::hand_over(bool all) {
  for (Slot *slot : in_streams_)
    if (slot->is_polled && slot->stage == Stage::kReturning && (all || !owns(slot)))
      await_in_stream(stream_waiters_, *slot);
  for (Slot *slot : under_way_) {
    const Stage stage = slot->stage;
    if (!slot->is_polled || (stage != Stage::kReturning && stage != Stage::kComputing)) continue;
    slot->is_polled = false;
    if (stage == Stage::kComputing)
      await_kernels(*slot);
    else if (slot->on_device)
      await_in_stream(output_waiter_, *slot);
    else
      await_output(*slot);
  }
}

void Pipeline::add_times(Slot &slot) {
  if (!slot.is_timed) return;
  // The time of a chunk of several requests counts for the first one.
  lc_result &result = slot.pieces.front().request->result;
  result.kernel_ns += slot.kernel_end->nanoseconds_since(*slot.kernel_begin);
  if (slot.on_device) return;
  result.upload_ns += slot.upload_end->nanoseconds_since(*slot.upload_begin);
  result.download_ns += slot.download_end->nanoseconds_since(*slot.download_begin);
}

Slot &Pipeline::await_over() {
  while (true) {
    if (Slot *const over = find_over(); over != nullptr) return *over;
    if (is_stuck_) {
      give_up(*(under_way_.empty() ? in_streams_ : under_way_).front());
    } else if (!advance() && !(waits_for_device_alone() && poll_oldest())) {
      hand_over(true);
      wait();
    }
  }
}

// This slot is the next to be used, so jobs that come one by one need the memory of one slot.
void Pipeline::give_slot_back(Slot &slot) {
  if (slot.is_in_callers_order) {
    std::erase(in_streams_, &slot);
    free_in_streams_.push_back(&slot);
    return;
  }
  under_way_.pop_front();
  waiting_since_ = Clock::now();
  free_.push_front(&slot);
}

Retired Pipeline::retire() { return take_back(await_over()); }

// For a chunk that has ended.
Retired Pipeline::take_back(Slot &slot) noexcept {
  if (slot.is_polled && slot.stage == Stage::kReturning) {
    slot.status = slot.download_end->wait();
    if (slot.status.ok() && slot.continues_broken_chain()) slot.status = earlier_failed();
    if (slot.status.ok() && !slot.on_device) {
      slot.status = check_output(slot);
      if (slot.status.ok()) slot.status = keep_keystream(slot);
      if (slot.status.ok()) HostTransfer::scatter_now(slot.share);
    }
  }
  if (!slot.status.ok()) {
    mark_broken(slot);
    // Work that was begun must end before the caller may have its memory back.
    if (slot.adopted != nullptr) (void)slot.adopted->finish();
    // It may take as long as the caller's own work.
    if (slot.is_in_callers_order && slot.own_stream != nullptr) (void)slot.own_stream->finish();
    for (device::Stream *stream :
         {upload_.get(), compute_.get(), slot.own_stream.get(), download_.get()})
      if (stream != nullptr) (void)finish(*stream);
    if (!is_stuck_) {
      host_.unpin(slot.share);
      if (slot.workspace != nullptr) slot.launch->has_ended(*slot.workspace);
    }
  } else {
    // Elsewhere the kernels zero while the output comes back.
    if (slot.on_device) slot.launch->has_ended(*slot.workspace);
    add_times(slot);
  }
  std::vector<cpu::AeadSum> sums;
  try {
    if (slot.status.ok() && !slot.work.aead.tags_stay_on_device)
      for (size_t n = 0; n < slot.work.aead.parts.size(); ++n)
        sums.push_back(slot.launch->sum(*slot.workspace, slot.work, n));
  } catch (const std::exception &) {
    slot.status = out_of_memory();
    mark_broken(slot);
  }
  if (slot.workspace != nullptr)
    slot.launch->wipe(*slot.workspace);  // else there was no memory for one
  slot.adopted.reset();
  slot.scratch_view.reset();
  slot.device_input.clear();
  slot.share.ring_in_bytes = slot.share.ring_out_bytes = 0;
  give_slot_back(slot);
  return {std::move(slot.requests), std::move(slot.pieces), slot.status, std::move(sums),
          slot.gave_wrong_output};
}

}  // namespace lanecrypt::runtime
