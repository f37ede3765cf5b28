// SPDX-License-Identifier: Apache-2.0
#include "hash/hash_dispatcher.h"

#include <algorithm>
#include <exception>
#include <string>

namespace lanecrypt::runtime {
namespace {

// A device needs longer for the transfers of fewer bytes than the CPU needs to hash them.
constexpr uint64_t kLeastBytes = 1 << 20;
// A device's thread hashes one message about 20 times as slowly as a CPU core does. So messages
// that are not trees go to a device only if at least this many can be hashed concurrently.
constexpr uint64_t kLeastMessages = 256;

}  // namespace

HashDispatcher::HashDispatcher(Counters &cpu_counters, lc_fallback fallback,
                               const DeviceTrust &trust, uint64_t pinned_bytes, unsigned cores)
    : fallback_(fallback), trust_(trust), pinned_bytes_(pinned_bytes), cpu_(cpu_counters, cores) {}

void HashDispatcher::add_device(device::Found found, Counters &counters, bool is_selected) {
  const auto number = static_cast<uint32_t>(workers_.size());
  workers_.push_back(std::make_unique<HashWorker>(
      std::move(found), counters, trust_, pinned_bytes_, cpu_.workers(),
      [this, number](const HashRequestPointer &request, const Status &why) {
        take_over(request, number, why);
      }));
  if (is_selected) selected_.push_back(number);
}

void HashDispatcher::stop() {
  for (const std::unique_ptr<HashWorker> &worker : workers_) worker->stop();
  cpu_.stop();
}

void HashDispatcher::cancel_pending() {
  cpu_.cancel_pending();
  for (const std::unique_ptr<HashWorker> &worker : workers_) worker->cancel_pending();
}

// Returns the usable device with the least load that is not in `tried`; the first if several have
// the same load.
HashWorker *HashDispatcher::choose(const std::vector<uint32_t> &tried) const {
  HashWorker *best = nullptr;
  for (const uint32_t number : selected_) {
    HashWorker *const worker = workers_[number].get();
    if (!worker->may_work() || std::find(tried.begin(), tried.end(), number) != tried.end())
      continue;
    if (best == nullptr || worker->load_bytes() < best->load_bytes()) best = worker;
  }
  return best;
}

bool HashDispatcher::suits_devices(const HashJob &job) const {
  if (job.spec.method->has_leaf_bytes() && job.spec.leaf_bytes > HostHashes::kMostLeafBytes)
    return false;
  if (job.device != LC_ANY_DEVICE || fallback_ == LC_FALLBACK_NONE) return true;
  return job.bytes >= kLeastBytes &&
         (job.spec.is_tree() || job.longest <= job.bytes / kLeastMessages);
}

Status HashDispatcher::submit(const HashRequestPointer &request) {
  const HashJob &job = request->job;
  if (job.device == LC_CPU) {
    cpu_.submit(request);
    return Status();
  }
  if (job.device != LC_ANY_DEVICE && job.device >= workers_.size())
    return Status(LC_ERROR_ARGUMENT, "there is no device " + std::to_string(job.device));
  const bool on_device = job.memory == LC_MEMORY_DEVICE;
  std::string why;
  if (job.device != LC_ANY_DEVICE) {
    HashWorker &named = *workers_[job.device];
    if ((on_device || suits_devices(job)) && named.submit(request)) return Status();
    why = "; " + named.status().text();
  } else if (suits_devices(job)) {
    for (HashWorker *worker = choose(request->tried); worker != nullptr;
         worker = choose(request->tried))
      if (worker->submit(request)) return Status();
    for (const uint32_t number : selected_) why += "; " + workers_[number]->status().text();
  }
  if (fallback_ == LC_FALLBACK_NONE || on_device)
    return suits_devices(job) || on_device
               ? Status(LC_ERROR_NO_DEVICE, "no usable device" + why)
               : Status(LC_ERROR_UNSUPPORTED, "no device takes leaves so long");
  cpu_.submit(request);
  return Status();
}

// Retries a job that device `from` could not do on another device or the CPU. Must not throw.
void HashDispatcher::take_over(const HashRequestPointer &request, uint32_t from,
                               const Status &why) {
  const bool is_on_host = request->job.memory == LC_MEMORY_HOST;
  try {
    request->tried.push_back(from);
    if (is_on_host && request->job.device == LC_ANY_DEVICE)
      for (HashWorker *worker = choose(request->tried); worker != nullptr;
           worker = choose(request->tried))
        if (worker->submit(request)) return;
  } catch (const std::exception &) {
    // No other device has taken it.
  }
  if (is_on_host && fallback_ == LC_FALLBACK_CPU) return cpu_.submit(request);
  request->end(why);
}

}  // namespace lanecrypt::runtime
