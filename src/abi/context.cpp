// SPDX-License-Identifier: Apache-2.0
#include "abi/context.h"

#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "abi/process_end.h"
#include "cpu/core_count.h"
#include "job/kept_memory.h"
#include "process/forks.h"

namespace lanecrypt {

using process::forks;
using schedule::Executor;

struct Context::Process {
  explicit Process(const schedule::DispatcherOptions &options)
      : born_in(forks()), dispatcher(options) {
    at_end.begin([this] { dispatcher.stop(); }, [this] { dispatcher.hurry(); });
  }

  // What is known of a device; no model where nothing was measured.
  struct Known {
    std::shared_ptr<const tune::CostModel> model;
    bool is_hopeless = false;  // it could not be measured
  };
  Known known(uint32_t index);
  void learn(uint32_t index, const tune::Calibration &calibration);
  void give_up(uint32_t index);
  // Of one message, less is its caller's; 0 where that is not known yet.
  std::atomic<uint64_t> &least_bytes(const CipherKind &kind) {
    return least[kind.cipher][kind.direction][std::min<uint32_t>(kind.key_bytes / 8, kKeys - 1)];
  }
  void note_least_bytes(const CipherKind &kind, tune::Prefer prefer);

  struct Pinned {
    Executor *executor;  // nullptr: ordinary memory
    std::unique_ptr<device::Buffer> buffer;
  };

  const uint64_t born_in;
  // Before there are threads of ours.
  const tune::OwnCpuTime own_time = tune::OwnCpuTime::without_present_threads();
  AtProcessEnd at_end;
  schedule::Dispatcher dispatcher;
  std::mutex mutex;
  std::map<void *, Pinned> pinned;
  std::map<uint32_t, Known> devices;

 private:
  const Known &known_under_lock(uint32_t index);
  std::optional<tune::Calibration> stored(uint32_t index);

  static constexpr uint32_t kKeys = 9;  // of up to 64 bytes
  std::atomic<uint64_t> least[kModeCount][2][kKeys] = {};
};

std::optional<tune::Calibration> Context::Process::stored(uint32_t index) {
  return tune::load(tune::describe_machine(),
                    tune::describe_device(dispatcher.device(index)->properties()));
}

// A device goes by another of its model where only that was measured.
const Context::Process::Known &Context::Process::known_under_lock(uint32_t index) {
  const auto [at, is_new] = devices.try_emplace(index);
  if (!is_new) return at->second;
  if (const auto calibration = stored(index))
    at->second.model = std::make_shared<tune::CostModel>(*calibration);
  const device::Properties &mine = dispatcher.device(index)->properties();
  for (uint32_t n = 0; at->second.model == nullptr && dispatcher.is_selected(n); ++n) {
    const device::Properties &other = dispatcher.device(n)->properties();
    if (n == index || other.api != mine.api || other.name != mine.name ||
        other.driver != mine.driver)
      continue;
    const auto calibration = stored(n);
    if (calibration) at->second.model = std::make_shared<tune::CostModel>(*calibration);
  }
  return at->second;
}

Context::Process::Known Context::Process::known(uint32_t index) {
  std::lock_guard lock(mutex);
  return known_under_lock(index);
}

void Context::Process::learn(uint32_t index, const tune::Calibration &calibration) {
  std::lock_guard lock(mutex);
  // Those that had none may go by this one.
  std::erase_if(devices, [](const auto &entry) { return entry.second.model == nullptr; });
  devices[index] = {std::make_shared<tune::CostModel>(calibration), false};
  for (auto &of_mode : least)
    for (auto &of_direction : of_mode)
      for (auto &of_key : of_direction) of_key = 0;
}

void Context::Process::give_up(uint32_t index) {
  std::lock_guard lock(mutex);
  devices[index] = {nullptr, true};
}

// Most requests are for the CPU, and are to learn that at once.
void Context::Process::note_least_bytes(const CipherKind &kind, tune::Prefer prefer) {
  constexpr uint64_t kMost = uint64_t{4} << 30;
  std::lock_guard lock(mutex);
  uint64_t bytes = kMost;
  for (uint32_t n = 0; dispatcher.is_selected(n); ++n) {
    if (!dispatcher.device(n)->may_work()) continue;
    const Known &of_device = known_under_lock(n);
    if (of_device.is_hopeless) continue;
    if (of_device.model == nullptr) return;
    // Found in steps of two.
    for (const bool is_pinned : {false, true})
      bytes =
          std::min(bytes, of_device.model->threshold(kind, is_pinned, prefer).value_or(kMost) / 2);
  }
  least_bytes(kind) = std::max<uint64_t>(bytes, 1);
}

// A child of fork cannot destroy what it inherited, so it forgets it. Two
// threads that come first at once may both make one; one of them wins.
Context::Process &Context::process() {
  Process *current = process_.load();
  if (current != nullptr && current->born_in == forks()) return *current;
  schedule::DispatcherOptions options = options_;
  if (!options.find) options.find = [this] { return inquiry().survey(); };
  auto made = std::make_unique<Process>(options);
  if (process_.compare_exchange_strong(current, made.get())) return *made.release();
  if (!made->at_end.withdraw()) (void)made.release();
  return *current;
}

Context::Process *Context::found() const {
  Process *current = process_.load();
  return current != nullptr && current->born_in == forks() ? current : nullptr;
}

// Asks the devices of `context` only if they were looked for already.
struct Context::Chooser {
  explicit Chooser(Context &whole)
      : born_in(forks()), context(whole), choice(devices(), cpu::usable_cores()) {}

  schedule::RsaDispatcher *found() const {
    Process *current = context.found();
    return current != nullptr ? &current->dispatcher.rsa() : nullptr;
  }
  schedule::RsaChoice::Devices devices() {
    using Duration = schedule::RsaChoice::Duration;
    return {.load = [this] { return found() == nullptr ? 0 : found()->load(); },
            .estimate = [this](uint32_t bits, Duration guess) -> std::optional<Duration> {
              if (found() == nullptr) return std::nullopt;
              return found()->estimate(bits, guess);
            },
            .warm_up = [this] { warm_up(); }};
  }
  // Devices are looked for beside. The caller who comes when they are known waits until
  // they are open.
  void warm_up() {
    if (is_warm || !context.inquiry().knows_devices() || is_warm.exchange(true)) return;
    context.dispatcher().rsa().warm_up();
  }

  const uint64_t born_in;
  Context &context;
  std::atomic<bool> is_warm{false};
  schedule::RsaChoice choice;
};

schedule::RsaChoice &Context::rsa_choice() {
  Chooser *current = chooser_.load();
  if (current != nullptr && current->born_in == forks()) return current->choice;
  auto made = std::make_unique<Chooser>(*this);
  if (chooser_.compare_exchange_strong(current, made.get())) return made.release()->choice;
  return current->choice;
}

bool Context::generation_is_sooner(uint32_t bits) {
  // Such keys take a core most of a second, and to open a device takes less; the
  // CPU's cores search until it is open.
  constexpr uint32_t kLongBits = 4096;
  // After so many keys of a process more will come. One of its calls then waits for a
  // device to be opened, which takes about as long as they took.
  constexpr uint32_t kMostWithoutDevice = 8;
  if (schedule::rsa_kind(bits) == 0) return false;
  const bool is_long = bits >= kLongBits;
  if (!is_long && keys_made_elsewhere_.fetch_add(1) < kMostWithoutDevice) return false;
  if (found() == nullptr && !is_long && !inquiry().knows_devices()) return false;
  schedule::RsaGenerator &generator = dispatcher().generator();
  if (generator.is_open_for_one()) return true;
  if (is_long) return generator.has_device_for_one();
  generator.warm_up_for_one();
  return false;
}

Result<tune::Calibration> Context::known_calibration(uint32_t index) {
  const Executor *executor = dispatcher().device(index);
  if (executor == nullptr)
    return Status(LC_ERROR_ARGUMENT, "there is no device " + std::to_string(index));
  const std::string device = tune::describe_device(executor->properties());
  std::optional<tune::Calibration> stored = tune::load(tune::describe_machine(), device);
  if (!stored) return Status(LC_ERROR_UNSUPPORTED, device + ": was not measured yet");
  return std::move(*stored);
}

Result<tune::Calibration> Context::calibrate(uint32_t index, tune::Depth depth,
                                             const std::function<bool(const tune::Point &)> &each) {
  Process &mine = process();
  Result<tune::Calibration> made =
      tune::measure(mine.dispatcher, index, depth, each, mine.own_time);
  if (!made.ok()) return made;
  tune::store(*made);
  mine.learn(index, *made);
  return made;
}

struct Context::InquiryOfProcess {
  explicit InquiryOfProcess(const std::string &devices) : inquiry(devices) {}
  const uint64_t born_in = forks();
  Inquiry inquiry;
};

Inquiry &Context::inquiry() {
  InquiryOfProcess *current = inquiry_.load();
  if (current != nullptr && current->born_in == forks()) return current->inquiry;
  auto made = std::make_unique<InquiryOfProcess>(options_.devices);
  if (inquiry_.compare_exchange_strong(current, made.get())) return made.release()->inquiry;
  return current->inquiry;
}

// Has the device measured, and learns what came of it.
void Context::inquire(Process &mine, uint32_t index) {
  const std::string &id = mine.dispatcher.device(index)->properties().id;
  if (const auto measured = inquiry().measured(id); !measured)
    inquiry().measure(id);
  else if (measured->calibration)
    mine.learn(index, *measured->calibration);
  else
    mine.give_up(index);
}

std::optional<tune::Side> Context::choose(const tune::Question &question) {
  using tune::Side;
  // The way to a device and back takes longer than so little on the CPU.
  constexpr uint64_t kLeastBytes = 64 << 10;
  // To look for devices takes tenths of a second, and to open one about a second: a
  // core is as long at so much, in many requests or in one.
  constexpr uint64_t kPaysAfterBytes = uint64_t{1} << 30, kPaysAtBytes = uint64_t{4} << 30;
  constexpr uint64_t kOpenNs = 1000000000;
  if (question.bytes < kLeastBytes) return Side::kOneCore;
  Process *mine = found();
  if (mine != nullptr && question.streams == 1 && question.bytes < mine->least_bytes(question.kind))
    return Side::kOneCore;
  const bool pays = inquiry().count(question.bytes) >= kPaysAfterBytes;
  if (mine == nullptr && question.bytes < kPaysAtBytes && !(pays && inquiry().knows_devices()))
    return Side::kOneCore;
  if (mine == nullptr) mine = &process();
  const bool cores_are_busy = !mine->dispatcher.cores_are_idle();
  bool is_known = false, is_missing = false, is_for_cores = false;
  for (uint32_t n = 0; mine->dispatcher.is_selected(n); ++n) {
    Executor &executor = *mine->dispatcher.device(n);
    if (!executor.may_work()) continue;
    const Process::Known known = mine->known(n);
    if (known.model == nullptr && !known.is_hopeless) {
      is_missing = true;
      if (pays) inquire(*mine, n);
      continue;
    }
    const tune::Load load = {.device_bytes = executor.load_bytes(),
                             .cores_are_busy = cores_are_busy};
    const std::optional<tune::Estimate> estimate =
        known.model == nullptr ? std::nullopt : known.model->estimate(question, load);
    if (!estimate) continue;
    is_known = true;
    const Side side = known.model->choose(question, load, prefer_);
    is_for_cores = is_for_cores || side == Side::kCores;
    if (side != Side::kDevice) continue;
    if (executor.state() == LC_DEVICE_READY || estimate->cpu_ns > kOpenNs) return Side::kDevice;
    // This caller waits for it to be opened.
    if (pays && executor.make_ready().ok()) return Side::kDevice;
  }
  if (is_known && !is_missing && mine->least_bytes(question.kind) == 0)
    mine->note_least_bytes(question.kind, prefer_);
  if (is_for_cores) return Side::kCores;
  return is_known ? std::optional(Side::kOneCore) : std::nullopt;
}

bool Context::is_open(bool opens_now) {
  Process *mine = found();
  for (uint32_t n = 0; mine != nullptr && mine->dispatcher.is_selected(n); ++n)
    if (mine->dispatcher.device(n)->state() == LC_DEVICE_READY) return true;
  return opens_now && inquiry().knows_devices() && process().dispatcher.first_ready() != nullptr;
}

Context::~Context() {
  Chooser *chooser = chooser_.load();
  if (chooser != nullptr && chooser->born_in == forks()) delete chooser;
  InquiryOfProcess *inquiry = inquiry_.load();
  if (inquiry != nullptr && inquiry->born_in == forks()) delete inquiry;
  Process *current = process_.load();
  if (current == nullptr || current->born_in != forks() || !current->at_end.withdraw()) return;
  while (!current->pinned.empty()) free_pinned(current->pinned.begin()->first);
  delete current;
  free_kept();
}

schedule::Dispatcher &Context::dispatcher() { return process().dispatcher; }

Result<void *> Context::allocate_pinned(size_t bytes) {
  Process &mine = process();
  Executor *executor = mine.dispatcher.first_ready();
  Process::Pinned memory = {executor, nullptr};
  void *pointer = nullptr;
  if (executor != nullptr) {
    const Status status =
        executor->call([&](device::Device &device, schedule::DeviceMemory &) -> Status {
          auto buffer = device.allocate(device::MemoryKind::kPinned, bytes);
          if (!buffer.ok()) return buffer.status();
          memory.buffer = std::move(*buffer);
          return Status();
        });
    // Lost since, or at its limit: ordinary memory serves as well, but slower.
    if (!status.ok()) memory.executor = executor = nullptr;
  }
  if (executor != nullptr) {
    pointer = memory.buffer->host();
    mine.dispatcher.pinned().add(pointer, bytes);
  } else if (posix_memalign(&pointer, static_cast<size_t>(sysconf(_SC_PAGESIZE)), bytes) != 0) {
    return Status(LC_ERROR_MEMORY, "no memory for " + std::to_string(bytes) + " bytes");
  }
  memset(pointer, 0, bytes);
  std::lock_guard lock(mine.mutex);
  mine.pinned[pointer] = std::move(memory);
  return pointer;
}

void Context::free_pinned(void *pointer) {
  Process &mine = process();
  Process::Pinned memory;
  {
    std::lock_guard lock(mine.mutex);
    const auto found = mine.pinned.find(pointer);
    if (found == mine.pinned.end()) return;  // of the parent, or not ours
    memory = std::move(found->second);
    mine.pinned.erase(found);
  }
  if (memory.executor == nullptr) {
    free(pointer);
    return;
  }
  mine.dispatcher.pinned().remove(pointer);
  const Status status =
      memory.executor->call([&](device::Device &, schedule::DeviceMemory &) -> Status {
        memory.buffer.reset();
        return Status();
      });
  // The device is closed, and had it.
  if (status.code() == LC_ERROR_STOPPED) (void)memory.buffer.release();
}

}  // namespace lanecrypt
