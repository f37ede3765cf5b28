// SPDX-License-Identifier: Apache-2.0
#include "schedule/cpu_worker.h"

#include <cstring>
#include <deque>

#include "cpu/cpu_ccm.h"
#include "cpu/cpu_cipher.h"
#include "schedule/signals.h"

namespace lanecrypt::schedule {

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
    const SignalsBlocked blocked;
    thread_ = std::thread([this] { run(); });
  }
  queue_.push_back(std::move(request));
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
    lock.lock();
  }
}

void CpuWorker::count(Request &request, uint64_t bytes) {
  counters_.bytes += bytes;
  request.result.cpu_bytes += bytes;
}

// A piece of a message of which a device has done other pieces; or, of a message
// that no device has seen, the whole.
Status CpuWorker::finish_aead(Request &request, const Piece &piece) {
  const CipherJob &job = request.job;
  const CipherMessage &message = job.messages[piece.message];
  const AeadMessage &beside = job.aead[piece.message];
  const uint8_t *key = job.key(message.key);
  const cpu::AeadInput input = {key, job.ivs.data() + uint64_t{piece.message} * job.iv_bytes,
                                job.iv_bytes, beside.aad, beside.aad_length};
  if (beside.part == nullptr && request.aead->is_untouched(piece.message) && piece.offset == 0 &&
      cpu::takes_whole(job.kind, input, message.length)) {
    std::erase_if(request.todo.made(),
                  [&](const Piece &other) { return other.message == piece.message; });
    const Status status = cpu::run_aead(job.kind, input, message.in, message.out, message.length,
                                        beside.tag, job.tag_bytes);
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
  const uint8_t *in = piece.is_aad ? beside.aad : message.in;
  LC_TRY(cpu::run_aead_piece(job.kind, key, start,
                             {.in = in + piece.offset,
                              .out = message.out + piece.offset,
                              .length = piece.length,
                              .offset = beside.text_before() + piece.offset,
                              .exponent = aead_exponent(job, piece),
                              .is_aad = piece.is_aad},
                             &sum));
  if (closes(request, piece))
    LC_TRY(cpu::close_aead(job.kind, key, start, beside.aad_length, message.length, &sum));
  request.aead->add(request, piece, sum);
  count(request, request.text_of(piece).length);
  return Status();
}

void CpuWorker::finish(Request &request) {
  ++counters_.jobs;
  while (!request.todo.empty()) {
    if (hurries_) {
      request.failure = process_ends();
      break;
    }
    const Piece piece = request.todo.front();
    request.todo.pop_front();
    const CipherMessage &message = request.job.messages[piece.message];
    if (request.aead != nullptr) {
      request.failure = finish_aead(request, piece);
      if (!request.failure.ok()) {
        ++counters_.failures;
        break;
      }
      continue;
    }
    const cpu::CipherInput input = {request.job.key(message.key), piece.iv,
                                    request.job.data_unit_bytes};
    CipherKind kind = request.job.kind;
    // Before the last two blocks ciphertext stealing is plain CBC.
    if (kind.mode().steals() && !request.ends_message(piece)) kind.cipher = LC_AES_CBC;
    request.failure = cpu::run_cipher(kind, input, message.in + piece.offset,
                                      message.out + piece.offset, piece.length);
    if (!request.failure.ok()) {
      ++counters_.failures;
      break;
    }
    count(request, piece.length);
  }
  request.end();
}

}  // namespace lanecrypt::schedule
