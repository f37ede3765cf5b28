// SPDX-License-Identifier: Apache-2.0
#include "service/client/choice.h"

#include <algorithm>

#include "service/client/connection.h"
#include "service/client/session.h"

namespace lanecrypt::client {
namespace {

using runtime::BatchChoice;
using service::Family;
using service::OperationKind;
using service::StatusPage;

// A process with fewer operations than this does not connect: it has nothing to gain.
constexpr uint32_t kFewOperations = 8;
// kFreshNs: the greatest age at which the page's count of runnable tasks is used. kOldNs: the age
// at which the client asks for a new count.
constexpr int64_t kFreshNs = 50'000'000, kOldNs = 100'000'000;

int64_t now_ns() { return std::chrono::nanoseconds(Clock::now().time_since_epoch()).count(); }

// Returns the age of the page's count of runnable tasks, in ns. A page may hold any value, so the
// difference is computed modulo 2^64.
int64_t age_of_count(const StatusPage &page, int64_t now) {
  return int64_t(uint64_t(now) - page.looked_at.load(std::memory_order_relaxed));
}

// The signature sets have the last slots. RSA of up to 8192 bits needs none of those.
constexpr size_t kSetSlots = BatchChoice::kSlots - service::kSignatureSetCount;
static_assert(8192 / 256 < kSetSlots);

// Maps a kind of operation to the slot and the first guesses of the measurements. The values are
// those that the library uses for each family.
BatchChoice::OperationProfile profile_of(const OperationKind &operation_kind) {
  constexpr BatchChoice::Duration kGuess = std::chrono::microseconds(2500);  // for 2048 bits
  const runtime::BatchKind kind{uint32_t(operation_kind.family), operation_kind.size};
  if (operation_kind.family == Family::kRsa)
    return {.kind = kind,
            .slot = std::min<size_t>(operation_kind.size / 256, kSetSlots - 1),
            .guess = kGuess * operation_kind.size / 2048 * operation_kind.size / 2048};
  const size_t index = service::index_of_set(operation_kind);
  const service::SignatureSet &set = service::kSignatureSets[index];
  if (set.family == Family::kMlDsa)
    return {.kind = kind, .slot = kSetSlots + index, .guess = kGuess};
  // The fastest code on a core with AVX2 takes 42 us for a thousand hashes. With this lower bound a
  // program that signs once need not sign on its core to learn the time.
  constexpr BatchChoice::Duration kHashes = std::chrono::microseconds(40),
                                  kSlhGuess = std::chrono::microseconds(1000);
  return {.kind = kind,
          .slot = kSetSlots + index,
          .guess = set.is_shake() ? 3 * kSlhGuess : kSlhGuess,
          .least_on_cpu = kHashes * set.thousand_hashes};
}

// Estimates the time of an operation at `load`, in us, from the times on the page; 0 if it has
// none. A load without a time takes that of the next lower load, times kLongerForTwice for each
// doubling: operations that share a launch take little longer. If the estimate is wrong, the first
// operations at this load correct it.
uint64_t time_at(const std::atomic<uint32_t> (&known)[StatusPage::kLoads], size_t load) {
  constexpr double kLongerForTwice = 1.25;
  double factor = 1;
  for (size_t n = load + 1; n-- > 0; factor *= kLongerForTwice)
    if (const uint32_t us = known[n].load(std::memory_order_relaxed); us != 0)
      return uint64_t(us * factor);
  for (size_t n = load + 1; n < StatusPage::kLoads; ++n)
    if (const uint32_t us = known[n].load(std::memory_order_relaxed); us != 0) return us;
  return 0;
}

}  // namespace

// Connection::connect() calls this on one thread at a time.
void Choice::begin(uint32_t cores, uint32_t of_machine) {
  if (owned_ != nullptr) return;
  cores_ = std::clamp<uint32_t>(cores, 1, std::max(of_machine, 1u));
  const auto estimated = [this](runtime::BatchKind kind, Duration guess) {
    return estimate({Family(kind.operation), kind.size}, guess);
  };
  owned_ = std::make_unique<BatchChoice>(
      BatchChoice::Devices{[this] { return load(); }, estimated, [] {}}, cores_);
  choice_.store(owned_.get(), std::memory_order_release);
}

bool Choice::is_worth_connecting(Family family, uint32_t in_line) {
  if (in_line > 1 || family == Family::kSlhDsa) return true;
  return operations_.load(std::memory_order_relaxed) >= kFewOperations ||
         operations_.fetch_add(1, std::memory_order_relaxed) + 1 >= kFewOperations;
}

// The limits are those of the library's choice for new keys.
bool Choice::is_key_worth_it(uint32_t bits) {
  constexpr uint32_t kLongBits = 4096, kFewKeys = 8;
  return bits >= kLongBits || keys_.fetch_add(1, std::memory_order_relaxed) >= kFewKeys;
}

bool Choice::wants_look(const Session &session) {
  const int64_t now = now_ns();
  int64_t asked = asked_at_.load(std::memory_order_relaxed);
  return age_of_count(session.page(), now) > kOldNs && now - asked > kOldNs &&
         asked_at_.compare_exchange_strong(asked, now);
}

bool Choice::is_service_sooner(const OperationKind &operation_kind, uint32_t in_line) {
  BatchChoice *const choice = choice_.load(std::memory_order_acquire);
  if (choice == nullptr) return false;
  if (choice->is_device_sooner(profile_of(operation_kind), in_line)) return true;
  on_cpu_.fetch_add(1, std::memory_order_relaxed);
  return false;
}

void Choice::report_cpu_time(const OperationKind &operation_kind, Duration took) {
  on_cpu_.fetch_sub(1, std::memory_order_relaxed);
  choice_.load(std::memory_order_acquire)->report_cpu_time(profile_of(operation_kind), took);
}

// Returns how many operations compete for the cores that this process may use, or would compete if
// the service did not do them. The process's own operations count in full. Those of others are
// scaled by this process's share of the machine's cores.
size_t Choice::load() const {
  const std::shared_ptr<Session> session = connection_.session();
  if (session == nullptr) return 0;
  const StatusPage &page = session->page();
  const uint64_t own = session->under_way.load(std::memory_order_relaxed);
  const uint64_t all = page.operations.load(std::memory_order_relaxed);
  uint64_t others = all - std::min(all, own);
  const int64_t age = age_of_count(page, now_ns());
  if (age >= 0 && age < kFreshNs) {
    // The page's count includes the tasks of this process that run.
    const uint64_t runnable = page.runnable.load(std::memory_order_relaxed);
    const uint64_t at_work = on_cpu_.load(std::memory_order_relaxed) + 1;
    others += runnable - std::min(runnable, at_work);
  }
  return own + others * cores_ / std::max(page.cores, cores_);
}

std::optional<Choice::Duration> Choice::estimate(const OperationKind &operation_kind,
                                                 Duration guess) const {
  const std::shared_ptr<Session> session = connection_.session();
  if (session == nullptr) return std::nullopt;
  const StatusPage &page = session->page();
  if (page.devices_for(operation_kind.family) == 0) return std::nullopt;
  const uint32_t operations = page.operations.load(std::memory_order_relaxed);
  const size_t load = StatusPage::load_of(operations == UINT32_MAX ? operations : operations + 1);
  const uint64_t us = time_at(StatusPage::times_of(page, operation_kind), load);
  return us == 0 ? guess : Duration(std::chrono::microseconds(us));
}

}  // namespace lanecrypt::client
