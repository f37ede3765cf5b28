// SPDX-License-Identifier: Apache-2.0
#include "rsa/rsa_dispatcher.h"

#include <algorithm>
#include <string>

#include "thread/stuck.h"

namespace lanecrypt::schedule {
namespace {

// A number for each message; how many of them no device takes.
std::vector<RsaKind> kinds_of(const RsaRequest &request, size_t *not_taken) {
  const RsaJob &job = request.job;
  std::vector<RsaKind> of_keys, kinds;
  for (const RsaKeyPointer &key : job.keys) of_keys.push_back(rsa_kind(*key, job.operation));
  kinds.reserve(job.messages.size());
  for (const RsaMessage &message : job.messages) kinds.push_back(of_keys[message.key]);
  *not_taken = size_t(std::count(kinds.begin(), kinds.end(), RsaKind{0}));
  return kinds;
}

}  // namespace

RsaDispatcher::RsaDispatcher(Counters &cpu_counters, lc_fallback fallback, RsaTrust trust,
                             MakeEngine make_engine, Batcher::Limits limits)
    : fallback_(fallback),
      trust_(trust),
      make_engine_(std::move(make_engine)),
      limits_(limits),
      cpu_(cpu_counters) {}

void RsaDispatcher::add_device(device::Found found, Counters &counters, bool is_selected) {
  const auto number = static_cast<uint32_t>(batchers_.size());
  Batcher::Limits limits = limits_;
  limits.time =
      trust_.time_limit.count() != 0 ? trust_.time_limit : default_time_limit(found.properties);
  batchers_.push_back(std::make_unique<Batcher>(
      [this, found = std::move(found)] { return make_engine_(found, trust_); }, counters,
      [this, number](const RsaRequestPointer &request, const Status &why) {
        // One that lacks memory works on for others: this is not for it again.
        if (!why.ok()) request->tried.push_back(number);
        take_over(request, why);
      },
      limits));
  if (is_selected) selected_.push_back(number);
}

void RsaDispatcher::stop() {
  for (const std::unique_ptr<Batcher> &batcher : batchers_) batcher->stop();
  cpu_.stop();
}

void RsaDispatcher::hurry() {
  cpu_.hurry();
  for (const std::unique_ptr<Batcher> &batcher : batchers_) batcher->hurry();
}

size_t RsaDispatcher::load() const {
  size_t load = 0;
  for (const uint32_t number : selected_) load += batchers_[number]->load();
  return load;
}

std::optional<RsaChoice::Duration> RsaDispatcher::estimate(uint32_t bits,
                                                           RsaChoice::Duration guess) const {
  const RsaKind kind = rsa_kind(bits);
  std::optional<RsaChoice::Duration> best;
  if (kind == 0) return best;
  for (const uint32_t number : selected_) {
    const Batcher &batcher = *batchers_[number];
    if (!batcher.is_open() || !batcher.has_room()) continue;
    const RsaChoice::Duration time = batcher.estimate(LC_RSA_PRIVATE, kind, guess);
    if (!best || time < *best) best = time;
  }
  return best;
}

void RsaDispatcher::warm_up() {
  for (const uint32_t number : selected_)
    if (batchers_[number]->may_work()) batchers_[number]->warm_up();
}

// Of the devices that work, the one with the least to do; the first of equals.
Batcher *RsaDispatcher::choose(const std::vector<uint32_t> &tried, bool with_room) const {
  Batcher *best = nullptr;
  for (const uint32_t number : selected_) {
    Batcher *candidate = batchers_[number].get();
    if (!candidate->may_work() || std::find(tried.begin(), tried.end(), number) != tried.end())
      continue;
    if (with_room && !candidate->has_room()) continue;
    if (best == nullptr || candidate->load() < best->load()) best = candidate;
  }
  return best;
}

std::string RsaDispatcher::reasons() const {
  std::string text;
  for (const uint32_t number : selected_) text += "; " + batchers_[number]->status().text();
  return text;
}

Status RsaDispatcher::submit(const RsaRequestPointer &request) {
  const RsaJob &job = request->job;
  Batcher *named = nullptr;
  if (job.device != LC_ANY_DEVICE && job.device != LC_CPU) {
    if (job.device >= batchers_.size())
      return Status(LC_ERROR_ARGUMENT, "there is no device " + std::to_string(job.device));
    named = batchers_[job.device].get();
  }
  if (job.device == LC_CPU) {
    cpu_.submit(request);
    return Status();
  }
  size_t not_taken = 0;
  const std::vector<RsaKind> kinds = kinds_of(*request, &not_taken);
  if (not_taken > 0 && fallback_ == LC_FALLBACK_NONE)
    return Status(LC_ERROR_UNSUPPORTED, "no device takes keys such as these");
  if (not_taken < kinds.size()) {
    if (named != nullptr && named->submit(request, kinds)) return Status();
    // One operation more does not wait behind a full queue; a caller of many has them
    // all in memory of his own, and one who wants a device waits for it.
    const bool with_room = kinds.size() == 1 && fallback_ == LC_FALLBACK_CPU;
    for (Batcher *batcher = choose(request->tried, with_room);
         named == nullptr && batcher != nullptr; batcher = choose(request->tried, with_room))
      if (batcher->submit(request, kinds)) return Status();
  }
  if (fallback_ == LC_FALLBACK_NONE)
    return Status(
        LC_ERROR_NO_DEVICE,
        "no usable device" + (named != nullptr ? "; " + named->status().text() : reasons()));
  cpu_.submit(request);
  return Status();
}

void RsaDispatcher::take_over(const RsaRequestPointer &request, const Status &why) {
  // Those that no device takes were left for the end.
  if (why.ok()) return cpu_.submit(request);
  if (request->job.device == LC_ANY_DEVICE) {
    size_t not_taken = 0;
    const std::vector<RsaKind> kinds = kinds_of(*request, &not_taken);
    for (Batcher *batcher = choose(request->tried, false); batcher != nullptr;
         batcher = choose(request->tried, false))
      if (batcher->submit(request, kinds)) return;
  }
  if (fallback_ == LC_FALLBACK_CPU) return cpu_.submit(request);
  request->failure = why;
  request->end();
}

}  // namespace lanecrypt::schedule
