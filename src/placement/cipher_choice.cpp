// SPDX-License-Identifier: Apache-2.0
#include "placement/cipher_choice.h"

#include <algorithm>
#include <vector>

#include "placement/measure.h"

namespace lanecrypt::placement {

std::optional<Calibration> CipherChoice::stored(uint32_t index) const {
  return load(describe_machine(), describe_device(dispatcher_.device(index)->properties()));
}

// If a device was not measured, but another of its model was, the other's figures count for it.
const CipherChoice::Known &CipherChoice::known_under_lock(uint32_t index) {
  const auto [at, is_new] = devices_.try_emplace(index);
  if (!is_new) return at->second;
  if (const auto calibration = stored(index))
    at->second.model = std::make_shared<CostModel>(*calibration);
  const device::Properties &mine = dispatcher_.device(index)->properties();
  for (uint32_t n = 0; at->second.model == nullptr && dispatcher_.is_selected(n); ++n) {
    const device::Properties &other = dispatcher_.device(n)->properties();
    if (n == index || other.api != mine.api || other.name != mine.name ||
        other.driver != mine.driver)
      continue;
    const auto calibration = stored(n);
    if (calibration) at->second.model = std::make_shared<CostModel>(*calibration);
  }
  return at->second;
}

CipherChoice::Known CipherChoice::known(uint32_t index) {
  std::lock_guard lock(mutex_);
  return known_under_lock(index);
}

void CipherChoice::learn(uint32_t index, const Calibration &calibration) {
  std::lock_guard lock(mutex_);
  // Devices without figures may use these.
  std::erase_if(devices_, [](const auto &entry) { return entry.second.model == nullptr; });
  devices_[index] = {std::make_shared<CostModel>(calibration), false};
  for (auto &of_mode : least_)
    for (auto &of_direction : of_mode)
      for (auto &of_key : of_direction) of_key = 0;
}

void CipherChoice::give_up(uint32_t index) {
  std::lock_guard lock(mutex_);
  devices_[index] = {nullptr, true};
}

// Has the device measured, and learns the figures.
void CipherChoice::ask_probe(BackgroundProbe &probe, uint32_t index) {
  const std::string &id = dispatcher_.device(index)->properties().id;
  if (const auto measured = probe.measured(id); !measured)
    probe.measure(id);
  else if (measured->calibration)
    learn(index, *measured->calibration);
  else
    give_up(index);
}

// Most requests are for the CPU, and must find that out quickly.
void CipherChoice::note_least_bytes(const CipherKind &kind) {
  constexpr uint64_t kMost = uint64_t{4} << 30;
  std::lock_guard lock(mutex_);
  uint64_t bytes = kMost;
  for (uint32_t n = 0; dispatcher_.is_selected(n); ++n) {
    if (!dispatcher_.device(n)->may_work()) continue;
    const Known &of_device = known_under_lock(n);
    if (of_device.is_hopeless) continue;
    if (of_device.model == nullptr) return;
    // Looks for it in steps of two.
    for (const bool is_pinned : {false, true})
      bytes =
          std::min(bytes, of_device.model->threshold(kind, is_pinned, prefer_).value_or(kMost) / 2);
  }
  least_bytes(kind) = std::max<uint64_t>(bytes, 1);
}

bool CipherChoice::is_ready(uint32_t index, bool opens_now) const {
  runtime::Executor &executor = *dispatcher_.device(index);
  return executor.state() == LC_DEVICE_READY || (opens_now && executor.make_ready().ok());
}

Placement CipherChoice::decide(const Question &question, BackgroundProbe *probe) {
  // A request that takes a core longer than this may wait until a device is open.
  constexpr uint64_t kOpenNs = 1000000000;
  struct Candidate {
    uint32_t device;
    uint64_t device_ns, cpu_ns;
  };
  std::vector<Candidate> candidates;
  const bool cores_are_busy = !dispatcher_.cores_are_idle();
  bool is_known = false, is_missing = false, is_for_cores = false;
  for (uint32_t n = 0; dispatcher_.is_selected(n); ++n) {
    const runtime::Executor &executor = *dispatcher_.device(n);
    if (!executor.may_work()) continue;
    const Known known = this->known(n);
    if (known.model == nullptr && !known.is_hopeless) {
      is_missing = true;
      if (probe != nullptr) ask_probe(*probe, n);
      continue;
    }
    const Load load = {.device_bytes = executor.load_bytes(), .cores_are_busy = cores_are_busy};
    const std::optional<Estimate> estimate =
        known.model == nullptr ? std::nullopt : known.model->estimate(question, load);
    if (!estimate) continue;
    is_known = true;
    const lc_choice choice = known.model->choose(question, load, prefer_);
    is_for_cores = is_for_cores || choice == LC_CHOICE_CORES;
    if (choice == LC_CHOICE_DEVICE)
      candidates.push_back({n, estimate->device_ns, estimate->cpu_ns});
  }
  std::stable_sort(
      candidates.begin(), candidates.end(),
      [](const Candidate &one, const Candidate &other) { return one.device_ns < other.device_ns; });
  for (const Candidate &at : candidates) {
    if (at.cpu_ns <= kOpenNs && !is_ready(at.device, probe != nullptr)) continue;
    if (dispatcher_.is_for_several(question.kind, question.bytes, question.streams))
      return {LC_CHOICE_DEVICE, LC_ANY_DEVICE};
    return {LC_CHOICE_DEVICE, at.device};
  }
  if (is_known && !is_missing && least_bytes(question.kind) == 0) note_least_bytes(question.kind);
  if (is_for_cores) return {LC_CHOICE_CORES};
  return {is_known ? LC_CHOICE_CPU : LC_CHOICE_UNKNOWN};
}

}  // namespace lanecrypt::placement
