// SPDX-License-Identifier: Apache-2.0
#include "batch/batch_dispatcher.h"

#include <algorithm>
#include <exception>
#include <string>

#include "thread/stuck.h"

namespace lanecrypt::runtime {
namespace {

bool suits_cpu(const BatchRequest &request) {
  return std::all_of(request.todo.begin(), request.todo.end(),
                     [&](uint32_t n) { return request.suits_cpu(n); });
}

}  // namespace

BatchDispatcher::BatchDispatcher(Counters &cpu_counters, lc_fallback fallback,
                                 MakeEngine make_engine, std::chrono::milliseconds time_limit,
                                 Batcher::Limits limits)
    : fallback_(fallback),
      make_engine_(std::move(make_engine)),
      time_limit_(time_limit),
      limits_(limits),
      cpu_(cpu_counters) {}

void BatchDispatcher::add_device(device::Found found, Counters &counters, bool is_selected) {
  const auto number = static_cast<uint32_t>(batchers_.size());
  Batcher::Limits limits = limits_;
  limits.time = time_limit_.count() != 0 ? time_limit_ : default_time_limit(found.properties);
  batchers_.push_back(std::make_unique<Batcher>(
      [this, found = std::move(found)] { return make_engine_(found); }, counters,
      [this, number](const BatchRequestPointer &request, const Status &why) {
        take_over(request, number, why);
      },
      limits));
  if (is_selected) selected_.push_back(number);
}

void BatchDispatcher::stop() {
  for (const std::unique_ptr<Batcher> &batcher : batchers_) batcher->stop();
  cpu_.stop();
}

void BatchDispatcher::cancel_pending() {
  cpu_.cancel_pending();
  for (const std::unique_ptr<Batcher> &batcher : batchers_) batcher->cancel_pending();
}

size_t BatchDispatcher::load() const {
  size_t load = 0;
  for (const uint32_t number : selected_) load += batchers_[number]->load();
  return load;
}

std::optional<std::chrono::nanoseconds> BatchDispatcher::estimate(
    BatchKind kind, std::chrono::nanoseconds guess) const {
  std::optional<std::chrono::nanoseconds> best;
  if (!kind.suits_devices()) return best;
  for (const uint32_t number : selected_) {
    const Batcher &batcher = *batchers_[number];
    if (!batcher.is_open() || !batcher.has_room()) continue;
    const std::chrono::nanoseconds time = batcher.estimate(kind, guess);
    if (!best || time < *best) best = time;
  }
  return best;
}

void BatchDispatcher::warm_up() {
  for (const uint32_t number : selected_)
    if (batchers_[number]->may_work()) batchers_[number]->warm_up();
}

// Returns the working device with the least to do; the first of equals.
Batcher *BatchDispatcher::choose(const std::vector<uint32_t> &tried, bool with_room) const {
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

std::string BatchDispatcher::reasons() const {
  std::string text;
  for (const uint32_t number : selected_) text += "; " + batchers_[number]->status().text();
  return text;
}

Status BatchDispatcher::submit(const BatchRequestPointer &request) {
  const uint32_t device = request->device();
  Batcher *named = nullptr;
  if (device == LC_CPU) {
    cpu_.submit(request);
    return Status();
  }
  if (device != LC_ANY_DEVICE) {
    if (device >= batchers_.size())
      return Status(LC_ERROR_ARGUMENT, "there is no device " + std::to_string(device));
    named = batchers_[device].get();
  }
  const auto suit = std::count_if(request->todo.begin(), request->todo.end(),
                                  [&](uint32_t n) { return request->kind_of(n).suits_devices(); });
  const auto not_taken = request->todo.size() - size_t(suit);
  if (not_taken > 0 && fallback_ == LC_FALLBACK_NONE)
    return Status(LC_ERROR_UNSUPPORTED, "no device takes keys such as these");
  if (suit > 0 && (named != nullptr || !selected_.empty())) {
    LC_TRY(request->prepare_for_device());
    if (named != nullptr && named->submit(request)) return Status();
    // One operation more does not wait behind a full queue; a caller of many has them
    // all in its own memory, and one that wants a device waits for it.
    const bool with_room = request->operations() == 1 && fallback_ == LC_FALLBACK_CPU;
    for (Batcher *batcher = choose(request->tried, with_room);
         named == nullptr && batcher != nullptr; batcher = choose(request->tried, with_room))
      if (batcher->submit(request)) return Status();
  }
  // Without any device the CPU says what it does not do.
  const bool has_devices = named != nullptr || !selected_.empty();
  if (fallback_ == LC_FALLBACK_NONE || (has_devices && !suits_cpu(*request)))
    return Status(
        LC_ERROR_NO_DEVICE,
        "no usable device" + (named != nullptr ? "; " + named->status().text() : reasons()));
  cpu_.submit(request);
  return Status();
}

// What device `from` has left undone. Nothing may be thrown here.
void BatchDispatcher::take_over(const BatchRequestPointer &request, uint32_t from,
                                const Status &why) {
  // Those that no device takes were left for the end.
  if (why.ok()) return cpu_.submit(request);
  try {
    // One that lacks memory works on for others: this is not for it again.
    request->tried.push_back(from);
    for (Batcher *batcher = choose(request->tried, false);
         request->device() == LC_ANY_DEVICE && batcher != nullptr;
         batcher = choose(request->tried, false))
      if (batcher->submit(request)) return;
  } catch (const std::exception &) {
    // No other device has taken any of it.
  }
  if (fallback_ == LC_FALLBACK_CPU && suits_cpu(*request)) return cpu_.submit(request);
  request->failure = why;
  request->end();
}

}  // namespace lanecrypt::runtime
