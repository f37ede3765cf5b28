// SPDX-License-Identifier: Apache-2.0
#include "cli/crypt/device_engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace lanecrypt::cli {

Failure failure_of(const Error &error) {
  switch (error.status()) {
    case LC_ERROR_NO_DEVICE:
    case LC_ERROR_DEVICE:
    case LC_ERROR_SELF_TEST:
      return Failure(ExitCode::kNoDevice, error.what());
    case LC_ERROR_ARGUMENT:
      return Failure(ExitCode::kUsage, error.what());
    default:
      return Failure(ExitCode::kFailed, error.what());
  }
}

DeviceEngine::DeviceEngine(const Context &context, const BlockCipherMode &cipher, bool encrypt,
                           const SecretBytes &key, Progress &progress)
    : context_(context), cipher_(cipher), encrypt_(encrypt), key_(key), progress_(progress) {}

bool DeviceEngine::make_buffers(size_t bytes, uint8_t **in, uint8_t **out) {
  try {
    PinnedBuffer from = context_.pinned(bytes), to = context_.pinned(bytes);
    *in = from.data();
    *out = to.data();
    const std::lock_guard lock(mutex_);
    buffers_.push_back(std::move(from));
    buffers_.push_back(std::move(to));
    return true;
  } catch (const Error &error) {
    if (error.status() == LC_ERROR_MEMORY) return false;
    throw failure_of(error);
  }
}

void DeviceEngine::Run::one_happened() {
  // An error is left for collect(), which has its text.
  if (outstanding.fetch_sub(1) != 1) return;
  // `done` may free this Run before it returns, so it is moved out first.
  const Done continuation = std::move(done);
  continuation(nullptr);
}

void DeviceEngine::start(Chunk &chunk, Done done) {
  auto owned = std::make_unique<Run>();
  Run *run = owned.get();
  run->done = std::move(done);
  lc_message message{};
  message.key = key_.data();
  message.iv = chunk.iv.data();
  message.in = chunk.in;
  message.out = chunk.out;
  message.length = chunk.work_bytes;
  const lc_cipher_job job =
      cipher_job(cipher_.mode, encrypt_ ? LC_ENCRYPT : LC_DECRYPT, cipher_.key_bytes, &message, 1);
  lc_completion completion{};
  completion.struct_size = sizeof completion;
  completion.callback = [](void *argument, lc_status) {
    static_cast<Run *>(argument)->one_happened();
  };
  completion.argument = run;
  completion.eventfd = -1;
  {
    const std::lock_guard lock(mutex_);
    runs_[&chunk] = std::move(owned);
  }
  try {
    run->ticket = context_.submit(job, &completion);
  } catch (const Error &error) {
    const std::lock_guard lock(mutex_);
    runs_.erase(&chunk);
    throw failure_of(error);
  }
  run->one_happened();
}

void DeviceEngine::collect(Chunk &chunk) {
  std::unique_ptr<Run> run;
  {
    const std::lock_guard lock(mutex_);
    const auto found = runs_.find(&chunk);
    run = std::move(found->second);
    runs_.erase(found);
  }
  try {
    const lc_result result = run->ticket.wait();
    device_bytes_ += result.device_bytes;
    cpu_bytes_ += result.cpu_bytes;
  } catch (const Error &error) {
    throw failure_of(error);
  }
  const std::lock_guard lock(mutex_);
  if (device_named_) return;
  device_named_ = true;
  const std::vector<DeviceUse> used = devices_used(context_);
  progress_.set_device(used.empty() ? "CPU" : fmt::format("{} {}", used[0].id, used[0].name));
}

std::vector<DeviceUse> devices_used(const Context &context) {
  std::vector<DeviceUse> used;
  const uint32_t count = context.device_count();
  for (uint32_t i = 0; i < count; i++) {
    const uint64_t bytes = context.counters(i).bytes;
    if (bytes == 0) continue;
    const lc_device_info info = context.device(i);
    used.push_back({info.id, info.name, bytes});
  }
  std::stable_sort(used.begin(), used.end(),
                   [](const DeviceUse &a, const DeviceUse &b) { return a.bytes > b.bytes; });
  return used;
}

}  // namespace lanecrypt::cli
