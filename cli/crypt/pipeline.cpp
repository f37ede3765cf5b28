// SPDX-License-Identifier: Apache-2.0
#include "cli/crypt/pipeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <exception>
#include <map>
#include <mutex>

#include "cli/crypt/padding.h"
#include "cli/failure.h"
#include "cli/io/ring_files.h"
#include "cli/threads.h"
#include "cpu/core_count.h"
#include "job/cipher/counter.h"

namespace lanecrypt::cli {
namespace {

// The number of chunks that the device holds at once: one on the bus in each direction, one in its
// kernels, and one that waits.
constexpr unsigned kChunksWithDevice = 4;
constexpr size_t kDeviceChunkBytes = 8 << 20;
// The size of a huge page. Threads that write to the same page of a RAM disk wait for each other
// while the kernel clears it.
constexpr size_t kCoreChunkBytes = 2 << 20;

class Pipeline {
 public:
  Pipeline(const PipelinePlan &plan, Input &input, Output &output, std::span<const uint8_t> header,
           Engine &engine, Progress &progress)
      : plan_(plan),
        input_(input),
        output_(output),
        header_(header),
        engine_(engine),
        progress_(progress),
        pads_(plan.pad && plan.cipher.pads()),
        previous_(plan.iv),
        most_chunks_(plan.buffers) {}

  PipelineOutcome run() {
    check_known_size();
    if (output_.positioned() && input_.size())
      output_.set_size(header_.size() + known_work_bytes());
    const bool by_cores = plan_.runner == Runner::kCores;
    if (by_cores)
      maps_input_ = input_.map();
    else
      files_ = RingFiles::make(input_, output_, plan_.chunk_bytes, plan_.buffers);
    const bool reads = files_ == nullptr || !files_->reads();
    const bool writes = files_ == nullptr || !files_->writes();
    // The first chunk is shorter by the header if the output's chunks should begin at aligned
    // offsets.
    if (by_cores)
      first_is_shorter_by_ = header_.size() % plan_.chunk_bytes;
    else if (!writes)
      first_is_shorter_by_ = header_.size() % files_->write_alignment();
    if (writes) output_.write(header_);
    Threads threads;
    const unsigned readers = !reads ? 0 : input_.positioned() ? plan_.readers : 1;
    const unsigned writers = !writes ? 0 : output_.positioned() ? plan_.writers : 1;
    try {
      for (unsigned i = 0; i < readers; i++)
        threads.start([&] { guard(by_cores ? &Pipeline::work : &Pipeline::read); });
      for (unsigned i = 0; i < writers; i++) threads.start([this] { guard(&Pipeline::write); });
      if (files_ != nullptr) threads.start([this] { guard(&Pipeline::pass_files); });
    } catch (...) {
      fail(std::current_exception());  // stops the threads that have started
    }
    threads.join();
    {
      // Waits until the engine no longer uses the buffers of its chunks.
      std::unique_lock lock(mutex_);
      if (failure_) {
        lock.unlock();
        engine_.abandon();
        lock.lock();
      }
      changed_.wait(lock, [&] { return under_way_ == 0; });
    }
    if (failure_) std::rethrow_exception(failure_);
    PipelineOutcome outcome = {header_.size() + written_bytes_, "threads", "threads"};
    if (files_ != nullptr) {
      outcome.input_io = files_->way_of_input();
      outcome.output_io = files_->way_of_output();
      files_.reset();
    }
    if (output_.positioned()) output_.set_size(outcome.bytes);
    return outcome;
  }

 private:
  // Checks the size of the data before any work, if it is known.
  void check_known_size() const {
    if (!input_.size() || !plan_.cipher.pads()) return;
    check_whole_blocks(*input_.size());
  }

  void check_whole_blocks(uint64_t data_bytes) const {
    if (plan_.encrypt && pads_) return;
    if (data_bytes % kBlockBytes != 0)
      throw Failure(plan_.encrypt ? ExitCode::kFailed : ExitCode::kBadData,
                    fmt::format("{}: {} bytes of data are no multiple of the block of {} bytes{}",
                                input_.name(), data_bytes, kBlockBytes,
                                plan_.encrypt ? ", and -nopad leaves out the padding"
                                              : ": the file is truncated or was not encrypted "
                                                "with this cipher"));
    if (!plan_.encrypt && pads_ && data_bytes == 0)
      throw Failure(ExitCode::kBadData,
                    fmt::format("{}: there is no data, not even padding: the file is truncated",
                                input_.name()));
  }

  uint64_t known_work_bytes() const {
    const uint64_t bytes = *input_.size();
    return bytes + (plan_.encrypt && pads_ ? padding_bytes(bytes) : 0);
  }

  // Runs a stage to its end. The first failure of a stage stops all stages.
  void guard(void (Pipeline::*stage)()) {
    try {
      (this->*stage)();
    } catch (...) {
      fail(std::current_exception());
    }
  }

  void fail(std::exception_ptr failure) {
    const std::lock_guard lock(mutex_);
    if (!failure_) failure_ = failure;
    notify();
    input_.stop();  // a reader may be blocked on a slow stream
  }

  void notify() {
    changed_.notify_all();
    if (files_ != nullptr) files_->wake();
  }

  uint64_t offset_of(uint64_t number) const {
    return number == 0 ? 0 : number * plan_.chunk_bytes - first_is_shorter_by_;
  }
  size_t most_bytes_of(uint64_t number) const {
    return plan_.chunk_bytes - (number == 0 ? first_is_shorter_by_ : 0);
  }

  // Returns a chunk whose buffers are free, or nullptr if all data has been read or a stage has
  // failed, or if none is free and `waits` is false. Makes buffers only if all existing ones are in
  // use: a small file needs few, and pinning memory takes time.
  Chunk *take_free_chunk(std::unique_lock<std::mutex> &lock, bool waits = true) {
    for (;;) {
      if (failure_ || all_read_) return nullptr;
      if (!free_.empty()) {
        Chunk *chunk = free_.back();
        free_.pop_back();
        return chunk;
      }
      if (chunks_made_ < most_chunks_) {
        chunks_made_++;
        lock.unlock();
        auto chunk = make_chunk();
        lock.lock();
        if (!chunk) {  // continues with fewer buffers
          most_chunks_ = --chunks_made_;
          if (most_chunks_ == 0)
            throw Failure(ExitCode::kFailed, "out of memory for the data buffers");
          continue;
        }
        chunks_.push_back(std::move(chunk));
        free_.push_back(chunks_.back().get());
        continue;
      }
      if (!waits) return nullptr;
      changed_.wait(lock);
    }
  }

  std::unique_ptr<Chunk> make_chunk() {
    auto chunk = std::make_unique<Chunk>();
    const size_t bytes =
        plan_.chunk_bytes + kBlockBytes + (files_ != nullptr ? RingFiles::kRoomBytes : 0);
    if (!engine_.make_buffers(bytes, &chunk->in_room, &chunk->out_room)) return nullptr;
    if (files_ != nullptr) {
      chunk->in_room = at_page(chunk->in_room);
      chunk->out_room = at_page(chunk->out_room);
    }
    return chunk;
  }
  static uint8_t *at_page(uint8_t *memory) {
    constexpr uint64_t kPageBytes = 4096;
    return memory + (kPageBytes - reinterpret_cast<uint64_t>(memory) % kPageBytes) % kPageBytes;
  }

  // Gives the chunk the next number, which determines its offset in the input. The caller holds the
  // mutex.
  void number(Chunk &chunk, uint64_t *offset) {
    chunk.number = next_read_++;
    *offset = offset_of(chunk.number);
    chunk.in = chunk.in_room;
    // io_uring writes the header together with the first chunk.
    const bool has_header = chunk.number == 0 && files_ != nullptr && files_->writes();
    chunk.out = chunk.out_room + (has_header ? header_.size() : 0);
    chunk.out_is_mapped = false;
    if (!input_.positioned()) return;
    const uint64_t left = *input_.size() - *offset, most = most_bytes_of(chunk.number);
    chunk.last = left <= most;
    chunk.data_bytes = static_cast<size_t>(std::min(left, most));
    if (chunk.last) all_read_ = true;
  }

  // Stage of a reader thread. Chunks are numbered in the order in which they are taken, so the
  // unwritten chunk with the lowest number always has buffers, and the pipeline cannot deadlock.
  void read() {
    while (Chunk *chunk = read_next()) start(*chunk, offset_of(chunk->number));
  }

  // Stage of a thread that reads, runs and writes one chunk after the other (Runner::kCores).
  void work() {
    while (Chunk *chunk = read_next()) {
      start(*chunk, offset_of(chunk->number));
      while (Chunk *ran = take_run_chunk(false)) write_out(*ran);
    }
  }

  // Reads the next chunk. Returns nullptr if none is left.
  Chunk *read_next() {
    Chunk *chunk = nullptr;
    uint64_t offset = 0;
    {
      std::unique_lock lock(mutex_);
      chunk = take_free_chunk(lock);
      if (!chunk) return nullptr;
      number(*chunk, &offset);
    }
    if (input_.positioned())
      read_positioned(*chunk, offset);
    else
      read_stream(*chunk, offset);
    if (chunk->last) {
      std::lock_guard lock(mutex_);
      all_read_ = true;
      notify();
    }
    return chunk;
  }

  void read_positioned(Chunk &chunk, uint64_t offset) {
    // The last chunk is copied, because padding is appended to it.
    if (maps_input_ && !chunk.last)
      chunk.in = input_.pages(offset);
    else
      input_.read_at(offset, {chunk.in_room, chunk.data_bytes});
    chunk.iv = plan_.iv;
    if (needs_block_before(offset)) input_.read_at(offset - kBlockBytes, chunk.iv);
  }

  bool needs_block_before(uint64_t offset) const {
    return plan_.cipher.block_mode() == Mode::kCbc && !plan_.encrypt && offset > 0;
  }

  // Called on one thread only.
  void read_stream(Chunk &chunk, uint64_t offset) {
    chunk.data_bytes = input_.read({chunk.in_room, most_bytes_of(chunk.number)});
    chunk.last = input_.at_end();
    chunk.iv = previous_;
    if (chunk.last) check_whole_blocks_of_stream(offset + chunk.data_bytes);
    if (plan_.cipher.block_mode() == Mode::kCbc && !plan_.encrypt && !chunk.last)
      std::memcpy(previous_.data(), chunk.in + chunk.data_bytes - kBlockBytes, kBlockBytes);
  }

  void check_whole_blocks_of_stream(uint64_t data_bytes) const {
    if (plan_.cipher.pads()) check_whole_blocks(data_bytes);
  }

  void start(Chunk &chunk, uint64_t offset) {
    if (plan_.cipher.block_mode() == Mode::kCtr)
      chunk.iv = advance_counter(plan_.iv, offset / kBlockBytes);
    chunk.work_bytes = chunk.data_bytes;
    if (chunk.last && plan_.encrypt && pads_) {
      const size_t padding = padding_bytes(chunk.data_bytes);
      uint8_t *const end = chunk.in_room + (chunk.in - chunk.in_room) + chunk.data_bytes;
      std::memset(end, static_cast<int>(padding), padding);
      chunk.work_bytes += padding;
    }
    if (plan_.runner == Runner::kCores) {
      uint8_t *const pages = output_.pages(header_.size() + offset, chunk.work_bytes);
      chunk.out_is_mapped = pages != nullptr;
      if (chunk.out_is_mapped) chunk.out = pages;
    }
    {
      const std::lock_guard lock(mutex_);
      under_way_++;
    }
    try {
      engine_.start(chunk, [this, &chunk](std::exception_ptr failure) { done(chunk, failure); });
    } catch (...) {
      const std::lock_guard lock(mutex_);
      under_way_--;
      notify();
      throw;
    }
  }

  // Called on a thread of the engine, for each chunk that it has finished.
  void done(Chunk &chunk, std::exception_ptr failure) {
    const std::lock_guard lock(mutex_);
    under_way_--;
    if (failure && !failure_) failure_ = failure;
    run_.emplace(chunk.number, &chunk);
    notify();
  }

  // Returns a chunk that the engine has finished: any for an output with offsets, the next one in
  // order for a stream. Returns nullptr if a stage has failed, all chunks are written, or none is
  // ready and `waits` is false.
  Chunk *take_run_chunk(bool waits = true) {
    std::unique_lock lock(mutex_);
    for (;;) {
      if (failure_) return nullptr;
      if (!run_.empty() && (output_.positioned() || run_.begin()->first == next_write_)) {
        Chunk *chunk = run_.begin()->second;
        run_.erase(run_.begin());
        next_write_++;
        return chunk;
      }
      if (!waits || (all_read_ && next_write_ == next_read_)) return nullptr;
      changed_.wait(lock);
    }
  }

  // Returns the number of bytes of output, without the padding on decryption.
  size_t collect(Chunk &chunk) {
    engine_.collect(chunk);
    chunk.work_bytes -= chunk.last && !plan_.encrypt && pads_ ? checked_padding(chunk) : size_t{0};
    return chunk.work_bytes;
  }

  void end(Chunk &chunk) {
    progress_.add(chunk.data_bytes);
    const std::lock_guard lock(mutex_);
    written_bytes_ += chunk.work_bytes;
    free_.push_back(&chunk);
    notify();
  }

  void write() {
    while (Chunk *chunk = take_run_chunk()) write_out(*chunk);
  }

  void write_out(Chunk &chunk) {
    const std::span<const uint8_t> data(chunk.out, collect(chunk));
    if (!output_.positioned())
      output_.write(data);
    else if (!chunk.out_is_mapped)
      output_.write_at(header_.size() + offset_of(chunk.number), data);
    end(chunk);
  }

  // Stage of the one thread that reads and writes with io_uring. It never waits for only one
  // transfer.
  void pass_files() {
    try {
      while (!is_through()) {
        begin_transfers();
        if (files_->is_idle() && is_through()) break;
        for (const RingFiles::Over &over : files_->wait()) {
          if (over.is_write)
            end(*over.chunk);
          else
            end_read(*over.chunk);
        }
      }
    } catch (...) {
      fail(std::current_exception());
    }
    // Waits for transfers, because the kernel still uses their buffers.
    files_->drain();
  }

  bool is_through() {
    const std::lock_guard lock(mutex_);
    if (failure_) return true;
    const bool has_read = !files_->reads() || all_read_;
    const bool has_written = !files_->writes() || (all_read_ && next_write_ == next_read_);
    return files_->is_idle() && has_read && has_written;
  }

  void begin_transfers() {
    while (files_->reads()) {
      std::unique_lock lock(mutex_);
      Chunk *chunk = take_free_chunk(lock, false);
      if (chunk == nullptr) break;
      uint64_t offset = 0;
      number(*chunk, &offset);
      lock.unlock();
      files_->read(*chunk, offset, chunk->data_bytes, needs_block_before(offset) ? kBlockBytes : 0);
    }
    while (files_->writes()) {
      Chunk *chunk = take_run_chunk(false);
      if (chunk == nullptr) break;
      const size_t bytes = collect(*chunk);
      const auto before = static_cast<size_t>(chunk->out - chunk->out_room);
      if (before != 0) std::memcpy(chunk->out_room, header_.data(), before);
      files_->write(*chunk, header_.size() + offset_of(chunk->number) - before, before + bytes);
    }
  }

  void end_read(Chunk &chunk) {
    const uint64_t offset = offset_of(chunk.number);
    chunk.iv = plan_.iv;
    if (needs_block_before(offset))
      std::memcpy(chunk.iv.data(), chunk.in - kBlockBytes, kBlockBytes);
    if (chunk.last) {
      const std::lock_guard lock(mutex_);
      notify();  // writers check whether everything is written
    }
    start(chunk, offset);
  }

  size_t checked_padding(const Chunk &chunk) const {
    const uint8_t *last_block = chunk.out + chunk.work_bytes - kBlockBytes;
    const auto padding = read_padding(std::span<const uint8_t, 16>(last_block, kBlockBytes));
    if (!padding)
      throw Failure(ExitCode::kBadData,
                    fmt::format("{}: bad decrypt: the padding at the end is wrong. The passphrase "
                                "or key, the cipher or the derivation (-pbkdf2, -iter, -md) is not "
                                "that of the encryption, or the file is damaged",
                                input_.name()));
    return *padding;
  }

  const PipelinePlan &plan_;
  Input &input_;
  Output &output_;
  const std::span<const uint8_t> header_;
  Engine &engine_;
  Progress &progress_;
  const bool pads_;
  Block previous_;  // CBC decryption of a stream: the ciphertext block before the next chunk

  std::unique_ptr<RingFiles> files_;  // nullptr: threads read and write with system calls
  uint64_t first_is_shorter_by_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::unique_ptr<Chunk>> chunks_;
  std::vector<Chunk *> free_;
  std::map<uint64_t, Chunk *> run_;  // finished by the engine, not yet written
  unsigned chunks_made_ = 0;
  unsigned most_chunks_;
  uint64_t next_read_ = 0;
  uint64_t next_write_ = 0;  // number of chunks taken to be written
  uint64_t under_way_ = 0;   // number of chunks that the engine holds
  uint64_t written_bytes_ = 0;
  bool all_read_ = false;  // the last chunk has been numbered
  bool maps_input_ = false;
  std::exception_ptr failure_;
};

}  // namespace

void suit_machine(PipelinePlan &plan, std::optional<uint64_t> input_bytes) {
  const bool by_cores = plan.runner == Runner::kCores, is_serial = plan.runner == Runner::kChain;
  if (plan.chunk_bytes == 0) plan.chunk_bytes = by_cores ? kCoreChunkBytes : kDeviceChunkBytes;
  if (input_bytes) {
    // Limits the chunk to the size of the data, rounded up to a whole block that leaves room for
    // padding.
    const uint64_t whole = *input_bytes / kBlockBytes * kBlockBytes + kBlockBytes;
    plan.chunk_bytes = static_cast<size_t>(std::min<uint64_t>(plan.chunk_bytes, whole));
  }
  if (by_cores) {
    plan.readers = plan.buffers = cpu::bulk_cores();
    plan.writers = 0;
    return;
  }
  const unsigned cores = cpu::usable_cores();
  // With 16 cores, 4 readers and 4 writers are the fastest on a RAM disk. With more, they wait for
  // each other while the kernel allocates the file's pages.
  plan.readers = is_serial ? 1 : std::clamp(cores / 4, 1u, 4u);
  plan.writers = is_serial ? 1 : std::clamp(cores / 4, 2u, 4u);
  plan.buffers = plan.readers + plan.writers + kChunksWithDevice;
}

PipelineOutcome run_pipeline(const PipelinePlan &plan, Input &input, Output &output,
                             std::span<const uint8_t> header, Engine &engine, Progress &progress) {
  return Pipeline(plan, input, output, header, engine, progress).run();
}

}  // namespace lanecrypt::cli
