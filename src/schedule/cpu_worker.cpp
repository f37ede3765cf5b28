// SPDX-License-Identifier: Apache-2.0
#include "schedule/cpu_worker.h"

#include "cpu/cpu_cipher.h"

namespace lanecrypt::schedule {

CpuWorker::~CpuWorker() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
    changed_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
}

void CpuWorker::submit(RequestPointer request) {
  std::lock_guard lock(mutex_);
  if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
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

void CpuWorker::finish(Request &request) {
  ++counters_.jobs;
  while (!request.todo.empty()) {
    const Piece piece = request.todo.front();
    request.todo.pop_front();
    const CipherMessage &message = request.job.messages[piece.message];
    const cpu::CipherInput input = {request.job.key(message.key), piece.iv,
                                    request.job.data_unit_bytes};
    request.failure = cpu::run_cipher(request.job.kind, input, message.in + piece.offset,
                                      message.out + piece.offset, piece.length);
    if (!request.failure.ok()) {
      ++counters_.failures;
      break;
    }
    counters_.bytes += piece.length;
    request.result.cpu_bytes += piece.length;
  }
  request.end();
}

}  // namespace lanecrypt::schedule
