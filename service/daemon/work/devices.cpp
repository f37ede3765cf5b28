// SPDX-License-Identifier: Apache-2.0
#include "service/daemon/work/devices.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <exception>

#include "process/new_thread.h"
#include "secure/key_memory.h"
#include "service/daemon/failure.h"
#include "service/daemon/log.h"
#include "service/daemon/report/page.h"
#include "service/wire/messages.h"

namespace lanecrypt::service::daemon {

using Clock = std::chrono::steady_clock;

namespace {

// Owners of the keys with which the devices are timed.
struct OwnRsaKey {
  lc_rsa_key *key = nullptr;
  ~OwnRsaKey() { lc_rsa_key_free(key); }
};
struct OwnMlDsaKey {
  lc_ml_dsa_key *key = nullptr;
  ~OwnMlDsaKey() { lc_ml_dsa_key_free(key); }
};
struct OwnSlhDsaKey {
  lc_slh_dsa_key *key = nullptr;
  ~OwnSlhDsaKey() { lc_slh_dsa_key_free(key); }
};

constexpr uint32_t kTriedBits = 2048;
constexpr OperationKind kTriedMlDsa{Family::kMlDsa, 65},
    kTriedSlhDsa{Family::kSlhDsa, LC_SLH_DSA_SHA2_128F};
constexpr size_t kTriedBatches[] = {1, 16, 256};
constexpr size_t kTriedCount = std::size(kTriedBatches);
// No larger batch is timed after one that took longer than this.
constexpr std::chrono::milliseconds kSlow{20};
constexpr std::chrono::seconds kLookEvery{1};
// To read a card may take a few milliseconds. So it is done every kReadEvery, and at each look only
// for kAsksFor after a report.
constexpr std::chrono::seconds kReadEvery{10}, kAsksFor{60};
// How long the first check of an SLH-DSA key waits for the trial of the devices; less than clients
// wait for the service.
constexpr std::chrono::seconds kTrialOfSlhDsa{2};

int take_key(void *argument, uint64_t, const lc_rsa_parts *parts) {
  return lc_rsa_key_new(parts, &static_cast<OwnRsaKey *>(argument)->key) == LC_OK ? 1 : 0;
}

// Makes an RSA key on the CPU, since the devices are not open yet.
bool make_key(lc_context *context, OwnRsaKey &key) {
  lc_rsa_generation generation{};
  generation.struct_size = sizeof generation;
  generation.bits = kTriedBits;
  generation.count = 1;
  generation.device = LC_CPU;
  generation.on_key = take_key;
  generation.argument = &key;
  return lc_rsa_generate(context, &generation, nullptr) == LC_OK && key.key != nullptr;
}

lc_device_info info_of(lc_context *context, uint32_t index) {
  lc_device_info info{};
  info.struct_size = sizeof info;
  (void)lc_device_get(context, index, &info);
  return info;
}

}  // namespace

Devices::Devices(StatusPage &page, const char *devices, lc_verify verify) : page_(page) {
  lc_options options{};
  options.struct_size = sizeof options;
  options.devices = devices;
  options.fallback = LC_FALLBACK_NONE;
  options.verify = verify;
  if (lc_open(&options, &context_) != LC_OK) throw UsageFailure(lc_last_error());
}

Devices::~Devices() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    changed_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
  lc_close(context_);
}

void Devices::start(std::function<void(lc_context *)> on_open, std::function<void()> on_tried,
                    std::function<void()> on_lost) {
  on_open_ = std::move(on_open);
  on_tried_ = std::move(on_tried);
  on_lost_ = std::move(on_lost);
  thread_ = process::new_thread([this] { run(); });
}

bool Devices::stop(std::chrono::milliseconds limit) {
  std::unique_lock lock(mutex_);
  stopping_ = true;
  changed_.notify_all();
  return !thread_.joinable() || changed_.wait_for(lock, limit, [this] { return ended_; });
}

void Devices::look_soon() {
  const std::lock_guard lock(mutex_);
  must_look_ = true;
  changed_.notify_all();
}

std::vector<DeviceReport> Devices::report() {
  std::vector<DeviceReport> reports;
  if (!is_open_) return reports;
  std::vector<uint32_t> selected;
  {
    const std::lock_guard lock(mutex_);
    asked_ = Clock::now();
    selected = selected_;
    for (const CardReading &card : cards_) reports.emplace_back().card = card;
  }
  reports.resize(selected.size());
  for (size_t n = 0; n < selected.size(); ++n) {
    reports[n].info = info_of(context_, selected[n]);
    reports[n].counters.struct_size = sizeof reports[n].counters;
    (void)lc_counters_get(context_, selected[n], &reports[n].counters);
  }
  return reports;
}

bool Devices::await_slh_dsa() {
  std::unique_lock lock(mutex_);
  if (slh_dsa_trial_ == Trial::kNone) {
    slh_dsa_trial_ = Trial::kWanted;
    slh_dsa_until_ = Clock::now() + kTrialOfSlhDsa;
    changed_.notify_all();
  }
  changed_.wait_until(lock, slh_dsa_until_,
                      [this] { return stopping_ || slh_dsa_trial_ == Trial::kOver; });
  return slh_dsa_trial_ == Trial::kOver && page_.slh_dsa_devices != 0;
}

// ---- The thread of the devices ----------------------------------------------

void Devices::run() {
  try {
    open();
    on_tried_();
    // ML-DSA is tried after on_tried_(), so that no client waits for it.
    for (const uint32_t index : selected_) try_ml_dsa(index);
    Clock::time_point read;
    std::unique_lock lock(mutex_);
    while (!stopping_) {
      must_look_ = false;
      const Clock::time_point now = Clock::now();
      const bool reads = now - read > kReadEvery || now - asked_ < kAsksFor;
      if (reads) read = now;
      const bool tries = slh_dsa_trial_ == Trial::kWanted;
      lock.unlock();
      if (tries)
        for (const uint32_t index : selected_) try_slh_dsa(index);
      look(reads);
      lock.lock();
      if (tries) {
        slh_dsa_trial_ = Trial::kOver;
        changed_.notify_all();
      }
      changed_.wait_for(lock, kLookEvery, [this] {
        return stopping_ || must_look_ || slh_dsa_trial_ == Trial::kWanted;
      });
    }
  } catch (const std::exception &error) {
    // There was no memory, or no thread could be started.
    say(fmt::format("cannot use the devices: {}", error.what()));
    page_.usable_devices = page_.ml_dsa_devices = page_.slh_dsa_devices = 0;
    on_tried_();
  }
  const std::lock_guard lock(mutex_);
  ended_ = true;
  changed_.notify_all();
}

// Opens the selected devices and times RSA on each. Sets is_open_ if devices are selected.
void Devices::open() {
  uint32_t count = 0;
  if (lc_device_count(context_, &count) != LC_OK)
    return say(fmt::format("no device: {}", lc_last_error()));
  std::vector<uint32_t> selected;
  for (uint32_t index = 0; index < count; ++index)
    if (info_of(context_, index).selected != 0) selected.push_back(index);
  if (selected.empty()) return say("no device is selected: clients use their own cores");
  {
    const std::lock_guard lock(mutex_);
    selected_ = selected;
    states_.assign(selected.size(), LC_DEVICE_UNTRIED);
    ml_dsa_states_ = slh_dsa_states_ = states_;
    cards_.resize(selected.size());
  }
  OwnRsaKey key;
  if (!make_key(context_, key))
    return say(fmt::format("cannot make the RSA key that tries the devices: {}", lc_last_error()));
  for (const uint32_t index : selected) try_rsa(index, key.key);
  is_open_ = true;
  on_open_(context_);
  look(true);
}

// Times RSA on a device. The first job opens the device and runs its self-test.
void Devices::try_rsa(uint32_t index, const lc_rsa_key *key) {
  const size_t bytes = lc_rsa_key_bytes(key);
  secure::KeyMemory memory(bytes * kTriedBatches[kTriedCount - 1]);
  const auto run = [&](size_t count) {
    std::vector<lc_rsa_message> messages;
    for (size_t n = 0; n < count; ++n) {
      uint8_t *const at = memory.data() + n * bytes;
      // The first byte is 0, so the input is less than any modulus of that length.
      std::memset(at, int(n + 1), bytes);
      at[0] = 0;
      messages.push_back({key, at, at});
    }
    lc_rsa_job job{};
    job.struct_size = sizeof job;
    job.operation = LC_RSA_PRIVATE;
    job.device = index;
    job.has_device = 1;
    job.messages = messages.data();
    job.message_count = count;
    job.message_size = sizeof(lc_rsa_message);
    const Clock::time_point begin = Clock::now();
    const lc_status status = lc_rsa_run(context_, &job, nullptr);
    return status == LC_OK ? Clock::now() - begin : Clock::duration(-1);
  };
  if (memory.ok(1)) time_batches({Family::kRsa, kTriedBits}, run);
}

// Times ML-DSA-65 on a device, with a key and messages of zeros.
void Devices::try_ml_dsa(uint32_t index) {
  const SignatureSet &set = *find_set(kTriedMlDsa);
  const uint8_t zeros[kMlDsaInputBytes] = {};
  lc_ml_dsa_parts parts{};
  parts.struct_size = sizeof parts;
  parts.set = lc_ml_dsa_set(set.number);
  parts.seed = zeros;
  OwnMlDsaKey key;
  if (lc_ml_dsa_key_new(&parts, &key.key) != LC_OK) return;
  std::vector<uint8_t> signatures(set.signature_bytes * kTriedBatches[kTriedCount - 1]);
  time_batches(kTriedMlDsa, [&](size_t count) {
    std::vector<lc_ml_dsa_message> messages(count);
    for (size_t n = 0; n < count; ++n) {
      messages[n].key = key.key;
      messages[n].message = zeros;
      messages[n].message_bytes = kMlDsaMuBytes;
      messages[n].random = zeros;
      messages[n].signature = signatures.data() + n * set.signature_bytes;
      messages[n].signature_bytes = set.signature_bytes;
    }
    lc_ml_dsa_job job{};
    job.struct_size = sizeof job;
    job.operation = LC_ML_DSA_SIGN;
    job.encoding = LC_MESSAGE_MU;
    job.device = index;
    job.has_device = 1;
    job.messages = messages.data();
    job.message_count = count;
    job.message_size = sizeof(lc_ml_dsa_message);
    const Clock::time_point begin = Clock::now();
    const lc_status status = lc_ml_dsa_run(context_, &job, nullptr);
    return status == LC_OK ? Clock::now() - begin : Clock::duration(-1);
  });
}

// Times SLH-DSA-SHA2-128f on a device, with a key that the device makes from seeds of zeros.
void Devices::try_slh_dsa(uint32_t index) {
  const SignatureSet &set = *find_set(kTriedSlhDsa);
  const std::vector<uint8_t> zeros(set.key_bytes);
  std::vector<uint8_t> made(zeros.size() / 3 * 4);
  lc_slh_dsa_generation generation{};
  generation.struct_size = sizeof generation;
  generation.set = lc_slh_dsa_set(set.number);
  generation.device = index;
  generation.has_device = 1;
  generation.count = 1;
  generation.seeds = zeros.data();
  generation.keys = made.data();
  if (lc_slh_dsa_generate(context_, &generation, nullptr) != LC_OK) return;
  lc_slh_dsa_parts parts{};
  parts.struct_size = sizeof parts;
  parts.set = generation.set;
  parts.private_key = made.data();
  parts.private_key_bytes = made.size();
  OwnSlhDsaKey key;
  if (lc_slh_dsa_key_new(&parts, &key.key) != LC_OK) return;
  std::vector<uint8_t> signatures(set.signature_bytes * kTriedBatches[kTriedCount - 1]);
  time_batches(kTriedSlhDsa, [&](size_t count) {
    std::vector<lc_slh_dsa_message> messages(count);
    for (size_t n = 0; n < count; ++n) {
      messages[n].key = key.key;
      messages[n].message = zeros.data();
      messages[n].message_bytes = zeros.size();
      messages[n].signature = signatures.data() + n * set.signature_bytes;
      messages[n].signature_bytes = set.signature_bytes;
    }
    lc_slh_dsa_job job{};
    job.struct_size = sizeof job;
    job.operation = LC_SLH_DSA_SIGN;
    job.deterministic = 1;
    job.device = index;
    job.has_device = 1;
    job.messages = messages.data();
    job.message_count = count;
    job.message_size = sizeof(lc_slh_dsa_message);
    const Clock::time_point begin = Clock::now();
    const lc_status status = lc_slh_dsa_run(context_, &job, nullptr);
    return status == LC_OK ? Clock::now() - begin : Clock::duration(-1);
  });
}

// Times batches of several sizes and stores the times on the status page. `run(count)` runs a batch
// and returns its time; a negative time means that the device cannot do it. The first run is not
// timed.
void Devices::time_batches(const OperationKind &operation_kind,
                           const std::function<Clock::duration(size_t count)> &run) {
  if (run(1).count() < 0) return;
  for (const size_t count : kTriedBatches) {
    const Clock::duration took = run(count);
    if (took.count() < 0) return;
    const auto us = std::chrono::duration_cast<std::chrono::microseconds>(took).count();
    note_latency(page_, operation_kind, uint32_t(count), uint64_t(us));
    if (took > kSlow || is_stopping()) return;
  }
}

bool Devices::is_stopping() {
  const std::lock_guard lock(mutex_);
  return stopping_;
}

// Counts a device that can sign with a family in `usable`. If the state is not `told`, which was
// logged last, stores it there, and logs it if the device cannot sign.
void Devices::look_at_signatures(const lc_device_info &info, const char *family,
                                 lc_device_state now, lc_device_state &told, uint32_t &usable) {
  if (now == LC_DEVICE_READY) ++usable;
  if (now == told) return;
  told = now;
  if (now != LC_DEVICE_READY)
    say(fmt::format("{} ({}) cannot sign with {}{}{}", info.id, info.name, family,
                    info.reason[0] == '\0' ? "" : ": ", info.reason));
}

// Reads the states of all devices, logs changes, and stores the numbers of usable devices on the
// page. With `reads_cards` it also reads temperatures and memory.
void Devices::look(bool reads_cards) {
  if (!is_open_) return;
  uint32_t usable = 0, for_ml_dsa = 0, for_slh_dsa = 0;
  bool has_lost = false;
  // selected_ does not change after open(), and only this thread uses the states.
  for (size_t n = 0; n < selected_.size(); ++n) {
    const lc_device_info info = info_of(context_, selected_[n]);
    if (info.rsa_state == LC_DEVICE_READY) ++usable;
    has_lost |= info.rsa_state == LC_DEVICE_LOST;
    if (info.rsa_state != states_[n]) {
      states_[n] = info.rsa_state;
      const bool is_ready = info.rsa_state == LC_DEVICE_READY;
      say(fmt::format("{} ({}) {}{}{}", info.id, info.name,
                      is_ready                              ? "is ready"
                      : info.rsa_state == LC_DEVICE_LOST    ? "is lost"
                      : info.rsa_state == LC_DEVICE_UNTRIED ? "is not tried yet"
                                                            : "cannot be used",
                      info.reason[0] == '\0' ? "" : ": ", info.reason));
    }
    look_at_signatures(info, "ML-DSA", info.ml_dsa_state, ml_dsa_states_[n], for_ml_dsa);
    look_at_signatures(info, "SLH-DSA", info.slh_dsa_state, slh_dsa_states_[n], for_slh_dsa);
    // A device counts for SLH-DSA until it is tried, which is done when a client first needs it.
    if (info.slh_dsa_state == LC_DEVICE_UNTRIED && info.rsa_state == LC_DEVICE_READY) ++for_slh_dsa;
    if (!reads_cards) continue;
    const CardReading card = card_reader_.read(info.pci_address);
    const std::lock_guard lock(mutex_);
    cards_[n] = card;
  }
  page_.ml_dsa_devices.store(for_ml_dsa, std::memory_order_relaxed);
  page_.slh_dsa_devices.store(for_slh_dsa, std::memory_order_relaxed);
  page_.usable_devices.store(usable, std::memory_order_relaxed);
  if (usable == 0 && has_lost) on_lost_();
}

}  // namespace lanecrypt::service::daemon
