// SPDX-License-Identifier: Apache-2.0
#include "hash/hash_cpu.h"

#include <algorithm>
#include <mutex>

#include "cpu/hash/cpu_hash.h"

namespace lanecrypt::runtime {
namespace {

// The approximate size of a part of a job, large enough that the cost of dispatching it is
// negligible.
constexpr uint64_t kPartBytes = 1 << 20;
// The cost of a message in addition to its bytes, in bytes.
constexpr uint64_t kMessageBytes = 256;

// `Part` is what one thread does of a job: whole messages, or parts of one message's tree.
struct Part {
  size_t message, messages;  // if `messages` is 0: parts of the tree of `message`
  uint64_t first, count;
};

// `Work` is a job divided into parts, with the results of the parts.
struct Work {
  explicit Work(const HashRequestPointer &its_request) : request(its_request) {}

  const HashRequestPointer request;
  std::vector<Part> parts;
  // for each message, the values of the parts of its tree
  std::vector<std::vector<cpu::TreeValues>> values;
  std::mutex mutex;
  Status failure;

  const HashJob &job() const { return request->job; }
  std::span<const uint8_t> message(size_t n) const {
    return {job().messages[n].in, job().messages[n].length};
  }
  std::span<uint8_t> digest(size_t n) const {
    return {job().messages[n].digest, job().spec.digest_bytes};
  }
  void cut();
  Status run(const Part &part);
  Status finish();
};

void Work::cut() {
  const HashSpec &spec = job().spec;
  values.resize(job().messages.size());
  Part whole = {0, 0, 0, 0};
  uint64_t bytes = 0;
  const auto close = [&](size_t next) {
    if (whole.messages != 0) parts.push_back(whole);
    whole = {next, 0, 0, 0};
    bytes = 0;
  };
  for (size_t n = 0; n < job().messages.size(); ++n) {
    const uint64_t length = job().messages[n].length;
    if (spec.is_tree() && length > kPartBytes && spec.leaves(length) > 1) {
      close(n + 1);
      const uint64_t all = cpu::tree_parts(spec, length);
      const uint64_t each = std::max<uint64_t>(
          kPartBytes / (cpu::kPartLeaves * std::min(spec.leaf_bytes, length)), 1);
      values[n].resize(all);
      for (uint64_t first = 0; first < all; first += each)
        parts.push_back({n, 0, first, std::min(each, all - first)});
      continue;
    }
    if (whole.messages == 0) whole.message = n;
    ++whole.messages;
    bytes += length + kMessageBytes;
    if (bytes >= kPartBytes) close(n + 1);
  }
  close(0);
}

Status Work::run(const Part &part) {
  const HashSpec &spec = job().spec;
  for (size_t n = 0; n < part.messages; ++n)
    LC_TRY(cpu::hash(spec, message(part.message + n), digest(part.message + n)));
  for (uint64_t n = part.first; n < part.first + part.count; ++n)
    LC_TRY(cpu::part_value(spec, message(part.message), n, &values[part.message][n]));
  return Status();
}

// Computes the roots of the trees that were done in parts.
Status Work::finish() {
  for (size_t n = 0; n < values.size(); ++n) {
    if (values[n].empty()) continue;
    cpu::TreeValues all;
    for (const cpu::TreeValues &value : values[n])
      all.insert(all.end(), value.begin(), value.end());
    const uint64_t leaves = job().spec.leaves(job().messages[n].length);
    LC_TRY(cpu::tree_root(job().spec, std::move(all), leaves, digest(n)));
  }
  return Status();
}

}  // namespace

void HashCpu::stop() {
  std::shared_ptr<Workers> ended;
  const std::lock_guard lock(mutex_);
  ended.swap(workers_);
}

void HashCpu::submit(const HashRequestPointer &request) {
  std::shared_ptr<Workers> workers;
  {
    const std::lock_guard lock(mutex_);
    workers = workers_;
  }
  if (cancels_pending_ || workers == nullptr) return request->end(process_ends());
  if (request->job.memory == LC_MEMORY_DEVICE)
    return request->end(Status(LC_ERROR_ARGUMENT, "no CPU can reach the memory of a device"));
  const Status status = guarded([&] {
    start(request, *workers);
    return Status();
  });
  if (!status.ok()) request->end(status);
}

// If this throws, no work was started.
void HashCpu::start(const HashRequestPointer &request, Workers &workers) {
  const auto work = std::make_shared<Work>(request);
  work->cut();
  const auto run = [this, work](size_t n) {
    const Status status =
        guarded([&] { return cancels_pending_ ? process_ends() : work->run(work->parts[n]); });
    if (status.ok()) return;
    const std::lock_guard lock(work->mutex);
    work->failure = status;
  };
  const auto end = [this, work] {
    if (work->failure.ok()) work->failure = guarded([&] { return work->finish(); });
    HashRequest &whole = *work->request;
    if (work->failure.ok()) {
      ++counters_.jobs;
      counters_.bytes += whole.job.bytes;
      counters_.operations += whole.job.messages.size();
      whole.result.cpu_bytes = whole.job.bytes;
      whole.result.cpu_operations = whole.job.messages.size();
    }
    whole.end(work->failure);
  };
  workers.give(work->parts.size(), run, end);
}

}  // namespace lanecrypt::runtime
