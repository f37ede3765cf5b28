// SPDX-License-Identifier: Apache-2.0
#include "bench/report/load_trace.h"

#include <dlfcn.h>

#include <chrono>

#include "bench/load/pass.h"

namespace lanecrypt::bench {

// The part of NVML's ABI that is used here: handles are pointers, 0 is success, and power is in
// milliwatts.
struct PowerMeter::Library {
  using Card = void *;
  void *handle = nullptr;
  int (*init)() = nullptr;
  int (*shutdown)() = nullptr;
  int (*count)(unsigned *) = nullptr;
  int (*card)(unsigned, Card *) = nullptr;
  int (*power)(Card, unsigned *) = nullptr;
  std::vector<Card> cards;
  bool is_initialized = false;

  template <typename Function>
  bool find(Function &function, const char *name) {
    function = reinterpret_cast<Function>(dlsym(handle, name));
    return function != nullptr;
  }

  // Loads the library. Returns why it cannot be loaded, or "".
  std::string open() {
    handle = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) return "there is no libnvidia-ml.so.1";
    if (!find(init, "nvmlInit_v2") || !find(shutdown, "nvmlShutdown") ||
        !find(count, "nvmlDeviceGetCount_v2") || !find(card, "nvmlDeviceGetHandleByIndex_v2") ||
        !find(power, "nvmlDeviceGetPowerUsage"))
      return "libnvidia-ml.so.1 is too old";
    is_initialized = init() == 0;
    if (!is_initialized) return "NVML does not start";
    unsigned number = 0, milliwatts = 0;
    if (count(&number) != 0) return "NVML counts no cards";
    for (unsigned n = 0; n < number; n++)
      if (Card found = nullptr; card(n, &found) == 0 && power(found, &milliwatts) == 0)
        cards.push_back(found);
    return cards.empty() ? "NVML tells no card's power" : "";
  }

  ~Library() {
    if (is_initialized) shutdown();
    if (handle != nullptr) dlclose(handle);
  }
};

PowerMeter::PowerMeter() : library_(std::make_unique<Library>()), why_not_(library_->open()) {}
PowerMeter::~PowerMeter() = default;

double PowerMeter::watts() const {
  double sum = 0;
  for (const Library::Card card : library_->cards)
    if (unsigned milliwatts = 0; library_->power(card, &milliwatts) == 0) sum += milliwatts / 1e3;
  return sum;
}

LoadTrace::LoadTrace(const PowerMeter &meter, double interval_seconds)
    : meter_(meter), interval_seconds_(interval_seconds), sampler_([this] { sample(); }) {}

LoadTrace::~LoadTrace() { stop(); }

void LoadTrace::stop() {
  {
    const std::lock_guard lock(mutex_);
    end_ = true;
  }
  ended_.notify_all();
  if (sampler_.joinable()) sampler_.join();
}

void LoadTrace::sample() {
  const auto start = std::chrono::steady_clock::now();
  const auto seconds = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  double last = seconds(), last_cpu = cpu_seconds();
  std::unique_lock lock(mutex_);
  while (!ended_.wait_for(lock, std::chrono::duration<double>(interval_seconds_),
                          [&] { return end_; })) {
    const double now = seconds(), cpu = cpu_seconds();
    if (now > last) cpu_.push_back({now, 100 * (cpu - last_cpu) / (now - last)});
    if (const double watts = meter_.watts(); watts > 0) watts_.push_back({now, watts});
    last = now;
    last_cpu = cpu;
  }
}

}  // namespace lanecrypt::bench
