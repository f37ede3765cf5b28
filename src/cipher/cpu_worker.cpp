// SPDX-License-Identifier: Apache-2.0
#include "cipher/cpu_worker.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <new>

#include "cpu/cpu_ccm.h"
#include "cpu/cpu_cipher.h"
#include "process/thread.h"
#include "thread/signals.h"
#include "work/chunk.h"

namespace lanecrypt::runtime {
namespace {

// What a thread takes at a time: 0.1 ms with AES-NI. That is much longer than it takes to
// ask for it, and much shorter than the whole request.
constexpr uint64_t kPartBytes = 512 << 10;
constexpr uint32_t kMostPieces = 4096;

Status run_piece(const Request &request, const Piece &piece) {
  const CipherMessage &message = request.job.messages[piece.message];
  const cpu::CipherInput input = {request.job.key(message.key), piece.iv,
                                  request.job.data_unit_bytes};
  CipherKind kind = request.job.kind;
  // Except in the last two blocks, ciphertext stealing is plain CBC.
  if (kind.info().steals() && !request.ends_message(piece))
    kind = kind.as(Mode::kCbc, kind.direction);
  return cpu::run_cipher(kind, input, message.in + piece.offset, message.out + piece.offset,
                         piece.length);
}

}  // namespace

void CpuWorker::stop() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
    changed_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
}

void CpuWorker::submit(RequestPointer request) {
  std::unique_lock lock(mutex_);
  if (stopping_) {
    lock.unlock();
    request->failure = process_ends();
    return request->end();
  }
  if (!thread_.joinable()) {
    try {
      const SignalsBlocked blocked;
      thread_ = process::start_thread([this] { run(); });
    } catch (const std::exception &) {
      // The thread that asks does it. That may be the thread of a device that was lost
      // and has done a part.
      finish(*request);
      lock.unlock();
      return request->end();
    }
  }
  queue_.push_back(std::move(request));
  ++present_;
  changed_.notify_all();
}

void CpuWorker::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return stopping_ || !queue_.empty(); });
    if (queue_.empty()) return;
    const RequestPointer request = queue_.front();
    queue_.pop_front();
    lock.unlock();
    finish(*request);
    --present_;
    request->end();
    lock.lock();
  }
}

void CpuWorker::count(Request &request, uint64_t bytes) {
  counters_.bytes += bytes;
  request.result.cpu_bytes += bytes;
}

// A piece of a message of which a device has done other pieces, or a whole message that
// no device has seen.
Status CpuWorker::finish_aead(Request &request, const Piece &piece) {
  const CipherJob &job = request.job;
  const CipherMessage &message = job.messages[piece.message];
  const AeadMessage &aead_message = job.aead[piece.message];
  const uint8_t *key = job.key(message.key);
  const cpu::AeadInput input = {key, job.ivs.data() + uint64_t{piece.message} * job.iv_bytes,
                                job.iv_bytes, aead_message.aad, aead_message.aad_length};
  if (aead_message.part == nullptr && request.aead->is_untouched(piece.message) &&
      piece.offset == 0 && cpu::takes_whole(job.kind, input, message.length)) {
    std::erase_if(request.todo.made(),
                  [&](const Piece &other) { return other.message == piece.message; });
    const Status status = cpu::run_aead(job.kind, input, message.in, message.out, message.length,
                                        aead_message.tag, job.tag_bytes);
    if (!status.ok() && status.code() != LC_ERROR_TAG) return status;
    request.aead->set_done(piece.message, !status.ok());
    count(request, message.length);
    return Status();
  }
  const Iv &start = request.aead->start(piece.message);
  cpu::AeadSum sum = {};
  if (job.kind.is_ccm()) {
    Iv mac = piece.iv;
    LC_TRY(cpu::run_ccm_piece(job, piece.message, start, piece.offset, piece.length, &mac));
    memcpy(sum.data(), mac.data(), mac.size());
    request.aead->add(request, piece, sum);
    count(request, request.text_of(piece).length);
    return Status();
  }
  const uint8_t *in = piece.is_aad ? aead_message.aad : message.in;
  LC_TRY(cpu::run_aead_piece(job.kind, key, start,
                             {.in = in + piece.offset,
                              .out = message.out + piece.offset,
                              .length = piece.length,
                              .offset = aead_message.text_before() + piece.offset,
                              .exponent = aead_exponent(job, piece),
                              .is_aad = piece.is_aad},
                             &sum));
  if (closes(request, piece))
    LC_TRY(cpu::close_aead(job.kind, key, start, aead_message.aad_length, message.length, &sum));
  request.aead->add(request, piece, sum);
  count(request, request.text_of(piece).length);
  return Status();
}

void CpuWorker::finish_aead(Request &request) {
  while (!request.todo.empty()) {
    if (cancels_pending_) {
      request.failure = process_ends();
      return;
    }
    const Piece piece = request.todo.front();
    request.todo.pop_front();
    request.failure = finish_aead(request, piece);
    if (!request.failure.ok()) {
      ++counters_.failures;
      return;
    }
  }
}

uint64_t CpuWorker::take_part(Request &request, std::mutex &mutex, uint64_t most_bytes) {
  uint64_t done = 0;
  Todo mine(request.job);
  std::unique_lock lock(mutex);
  while (!request.todo.empty() && request.failure.ok()) {
    if (cancels_pending_) {
      request.failure = process_ends();
      break;
    }
    // The next piece takes its IV from the input of this one. It must do so here, before
    // this one is run.
    if (take_share(request, {most_bytes, kMostPieces}, &mine) == 0) {
      // A message of XTS that is one data unit cannot be cut.
      mine.push_back(request.todo.front());
      request.todo.pop_front();
    }
    lock.unlock();
    Status status;
    uint64_t bytes = 0;
    for (const Piece &piece : mine.made()) {
      status = run_piece(request, piece);
      if (!status.ok()) break;
      bytes += piece.length;
    }
    mine.clear();
    done += bytes;
    lock.lock();
    count(request, bytes);
    if (status.ok()) continue;
    ++counters_.failures;
    if (request.failure.ok()) request.failure = status;
  }
  return done;
}

// Want of memory fails the job, and must not end the process.
void CpuWorker::finish(Request &request) {
  ++counters_.jobs;
  try {
    share(request);
  } catch (const std::bad_alloc &) {
    request.failure = out_of_memory();
  }
}

void CpuWorker::share(Request &request) {
  if (request.aead != nullptr) return finish_aead(request);
  std::mutex mutex;
  const uint64_t left = request.text_left();
  const uint64_t threads =
      left < kLeastForCores ? 1 : std::min<uint64_t>(left / kPartBytes, cores_);
  if (threads <= 1) {
    (void)take_part(request, mutex, UINT64_MAX);
    return;
  }
  const uint64_t part_bytes = std::max(kPartBytes, request.job.data_unit_bytes);
  const std::thread::id own = std::this_thread::get_id();
  workers_.share(threads, [&](size_t) {
    try {
      const uint64_t done = take_part(request, mutex, part_bytes);
      if (std::this_thread::get_id() != own) bytes_of_others_ += done;
    } catch (const std::bad_alloc &) {
      const std::lock_guard lock(mutex);
      request.failure = out_of_memory();
    }
  });
}

}  // namespace lanecrypt::runtime
