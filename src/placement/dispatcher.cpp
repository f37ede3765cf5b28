// SPDX-License-Identifier: Apache-2.0
#include "placement/dispatcher.h"

#include <algorithm>
#include <optional>
#include <set>

#include "cipher/shared_work.h"
#include "cpu/core_count.h"
#include "job/device_list.h"

namespace lanecrypt::runtime {
namespace {

using device::Found;

bool names_device(const std::string &name, const Found &found) {
  return name == found.properties.id || name == found.properties.api;
}

// Chooses every GPU once: by CUDA if it has that, and by OpenGL only if no other API reaches any
// GPU. Never chooses a device that is really the CPU.
std::vector<size_t> choose_by_itself(const std::vector<Found> &all) {
  std::vector<size_t> chosen;
  std::set<uint64_t> cards;
  for (size_t n = 0; n < all.size(); ++n) {
    const device::Properties &properties = all[n].properties;
    if (!properties.is_gpu || !properties.unusable.empty()) continue;
    if (properties.api == "gl" && !chosen.empty() && all[chosen.front()].properties.api != "gl")
      continue;
    if (properties.pci_address != 0 && !cards.insert(properties.pci_address).second) continue;
    chosen.push_back(n);
  }
  return chosen;
}

Result<std::vector<size_t>> choose_by_name(const device::DeviceEnumeration &enumeration,
                                           const std::string &list) {
  const std::vector<Found> &all = enumeration.found;
  std::vector<size_t> chosen;
  if (list == "none") return chosen;
  for (const std::string &name : split_device_list(list)) {
    bool found = false;
    for (size_t n = 0; n < all.size(); ++n) {
      if (!names_device(name, all[n])) continue;
      found = true;
      if (std::find(chosen.begin(), chosen.end(), n) == chosen.end()) chosen.push_back(n);
    }
    if (!found) {
      std::string here;
      for (const Found &one : all) here += (here.empty() ? "" : ", ") + one.properties.id;
      const auto why = enumeration.why_none.find(name.substr(0, name.find(':')));
      return Status(
          LC_ERROR_NO_DEVICE,
          "there is no device \"" + name + "\" here" +
              (here.empty() ? "" : "; of the APIs named there are: " + here) +
              (why == enumeration.why_none.end() || why->second.empty() ? "" : ". " + why->second));
    }
  }
  return chosen;
}

Status no_memory_of_cpu() {
  return Status(LC_ERROR_ARGUMENT, "no CPU can reach the memory of a device");
}

}  // namespace

Dispatcher::Dispatcher(DispatcherOptions options)
    : options_(std::move(options)),
      cpu_(copy_threads_.workers,
           options_.cores != 0 ? std::min(options_.cores, cpu::bulk_cores()) : cpu::bulk_cores()) {
  find_devices();
}

void Dispatcher::stop() {
  // Until all have stopped, each may still hand work to the others; the CPU
  // goes last.
  for (const Family &family : families_) family.batches->stop();
  generator_.stop();
  hashes_.stop();
  for (const std::unique_ptr<Executor> &executor : executors_) executor->stop();
  cpu_.stop();
}

void Dispatcher::cancel_pending() {
  cpu_.cancel_pending();
  for (const Family &family : families_) family.batches->cancel_pending();
  hashes_.cancel_pending();
  for (const std::unique_ptr<Executor> &executor : executors_) executor->cancel_pending();
}

void Dispatcher::find_devices() {
  device::DeviceEnumeration enumeration =
      options_.find ? options_.find()
                    : device::enumerate_devices(apis_of_device_list(options_.devices));
  std::vector<Found> &all = enumeration.found;
  std::vector<size_t> chosen;
  if (options_.devices.empty()) {
    chosen = choose_by_itself(all);
  } else {
    Result<std::vector<size_t>> by_name = choose_by_name(enumeration, options_.devices);
    if (by_name.ok())
      chosen = *by_name;
    else
      status_ = by_name.status();
  }
  selected_count_ = chosen.size();
  for (size_t n = 0; n < all.size(); ++n)
    if (std::find(chosen.begin(), chosen.begin() + selected_count_, n) ==
        chosen.begin() + selected_count_)
      chosen.push_back(n);
  for (const size_t n : chosen) {
    const Found found = all[n];
    const auto number = static_cast<uint32_t>(executors_.size());
    executors_.push_back(std::make_unique<Executor>(
        std::move(all[n]), options_.pipeline, pinned_, copy_threads_,
        [this, number](const RequestPointer &request, const Status &why) {
          take_over(request, why, number);
        }));
    Counters &counters = executors_.back()->counters();
    const auto is_for = [&](device::KernelSet set) {
      return number < selected_count_ && found.properties.has(set);
    };
    for (const Family &family : families_)
      family.batches->add_device(found, counters, is_for(family.set));
    hashes_.add_device(found, counters, is_for(device::KernelSet::kHash));
    generator_.add_device(found, counters, is_for(device::KernelSet::kRsa));
  }
}

// Nothing may be thrown here.
void Dispatcher::take_over(const RequestPointer &request, const Status &why,
                           std::optional<uint32_t> from) noexcept {
  try {
    // A device that lacks memory goes on working for others, but does not get this request again.
    // A device that does not offer such work has not failed, and is not asked again either.
    if (from && executors_[*from]->offers(request->job.kind)) request->tried.push_back(*from);
  } catch (const std::exception &) {
    if (request->shared == nullptr) {
      request->failure = out_of_memory();
      return request->end();
    }
  }
  if (request->shared != nullptr) return request->shared->leave(*request, why);
  const CipherJob &job = request->job;
  // A job in a device's memory cannot go elsewhere. A job for a named device may only fall back
  // to the CPU.
  const bool stays =
      job.reads_device() || (job.device != LC_ANY_DEVICE && options_.fallback == LC_FALLBACK_NONE);
  try {
    if (!stays && place(request)) return;
  } catch (const std::exception &) {
    // Nobody else has taken it.
  }
  request->failure = why;
  request->end();
}

Executor *Dispatcher::device(uint32_t index) const {
  return index < executors_.size() ? executors_[index].get() : nullptr;
}

DeviceService Dispatcher::service(uint32_t index, device::KernelSet set) const {
  if (set == device::KernelSet::kCiphers)
    return {executors_[index]->state(), executors_[index]->reason()};
  DeviceService worse;
  const auto add = [&](DeviceService more) {
    if (more.state > worse.state) worse = std::move(more);
  };
  for (const Family &family : families_)
    if (family.set == set) add(family.batches->service(index));
  if (set == device::KernelSet::kRsa) add(generator_.service(index));
  if (set == device::KernelSet::kHash) add(hashes_.service(index));
  const std::string id = executors_[index]->properties().id + ": ";
  if (worse.reason.starts_with(id)) worse.reason.erase(0, id.size());
  if (!worse.reason.empty())
    worse.reason = id + std::string(row_of(set).subject) + ": " + worse.reason;
  return worse;
}

Executor *Dispatcher::first_ready() {
  for (size_t n = 0; n < selected_count_; ++n)
    if (executors_[n]->may_work() && executors_[n]->make_ready().ok()) return executors_[n].get();
  return nullptr;
}

std::vector<uint32_t> Dispatcher::able(const CipherKind &kind,
                                       const std::vector<uint32_t> &tried) const {
  std::vector<uint32_t> able;
  for (uint32_t n = 0; n < selected_count_; ++n)
    if (executors_[n]->may_work() && executors_[n]->offers(kind) &&
        std::find(tried.begin(), tried.end(), n) == tried.end())
      able.push_back(n);
  return able;
}

// The device of these that will have done so many bytes first. Of equals, the first one. A
// device whose rate is not known counts as the fastest.
uint32_t Dispatcher::soonest(const std::vector<uint32_t> &devices, uint64_t bytes) const {
  double fastest = 0;
  for (const uint32_t n : devices) fastest = std::max(fastest, executors_[n]->shared_rate());
  const auto end = [&](uint32_t n) {
    const double known = executors_[n]->shared_rate(), rate = known != 0 ? known : fastest;
    const auto all = static_cast<double>(executors_[n]->load_bytes() + bytes);
    return rate != 0 ? all / rate : all;
  };
  uint32_t best = devices.front();
  double least = end(best);
  for (const uint32_t n : devices)
    if (const double its = end(n); its < least) {
      best = n;
      least = its;
    }
  return best;
}

bool Dispatcher::is_for_several(const CipherKind &kind, uint64_t bytes, size_t messages) const {
  return may_be_shared(kind, bytes, messages, options_.least_shared_bytes) &&
         able(kind, {}).size() > 1;
}

Placement Dispatcher::decide(const Request &request) const {
  const CipherJob &job = request.job;
  const std::vector<uint32_t> devices = able(job.kind, request.tried);
  const bool is_shared =
      devices.size() > 1 && job.device == LC_ANY_DEVICE && job.memory == LC_MEMORY_HOST &&
      may_be_shared(job.kind, job.bytes, request.todo.size(), options_.least_shared_bytes);
  if (is_shared) return {LC_CHOICE_DEVICE, LC_ANY_DEVICE};
  if (!devices.empty()) return {LC_CHOICE_DEVICE, soonest(devices, job.bytes)};
  return {options_.fallback == LC_FALLBACK_CPU ? LC_CHOICE_CORES : LC_CHOICE_UNKNOWN};
}

bool Dispatcher::share(const RequestPointer &request) {
  const std::vector<uint32_t> devices = able(request->job.kind, request->tried);
  if (devices.empty()) return false;  // they were lost since the decision
  const auto work = std::make_shared<SharedWork>(
      request, [this](const RequestPointer &whole, const Status &why) { take_over(whole, why); });
  std::vector<RequestPointer> parts;
  for (const uint32_t n : devices)
    parts.push_back(work->add(*executors_[n], request->job.bytes / devices.size()));
  for (const RequestPointer &part : parts) work->begin(part);
  return true;
}

bool Dispatcher::run(const RequestPointer &request, const Placement &place) {
  if (place.device == LC_ANY_DEVICE) return share(request);
  if (place.device != LC_CPU) return executors_[place.device]->submit(request);
  cpu_.submit(request);
  return true;
}

// If a device refuses a request because it is stopping, this decides again without it.
bool Dispatcher::place(const RequestPointer &request) {
  while (true) {
    const Placement place = decide(*request);
    if (place.choice == LC_CHOICE_UNKNOWN) return false;
    if (run(request, place)) return true;
  }
}

Status Dispatcher::no_place(const CipherKind &kind) const {
  for (size_t n = 0; n < selected_count_; ++n)
    if (executors_[n]->may_work()) return executors_[n]->does_not_offer(kind);
  std::string reasons;
  for (size_t n = 0; n < selected_count_; ++n) reasons += "; " + executors_[n]->reason();
  return Status(LC_ERROR_NO_DEVICE, "no usable device" + reasons);
}

Status Dispatcher::submit(const RequestPointer &request) {
  CipherJob &job = request->job;
  if (!request->failure.ok()) return request->failure;
  if (job.is_empty()) {
    request->end();
    return Status();
  }
  if (job.reads_device() && job.device == LC_ANY_DEVICE) return submit_on_devices(request);
  if (job.device == LC_ANY_DEVICE) {
    if (!status_.ok() && options_.fallback == LC_FALLBACK_NONE) return status_;
    return place(request) ? Status() : no_place(job.kind);
  }
  if (job.device == LC_CPU && job.reads_device()) return no_memory_of_cpu();
  if (job.device != LC_CPU && device(job.device) == nullptr)
    return Status(LC_ERROR_ARGUMENT, "there is no device " + std::to_string(job.device));
  const lc_choice choice = job.device == LC_CPU ? LC_CHOICE_CORES : LC_CHOICE_DEVICE;
  return run(request, {choice, job.device}) ? Status() : process_ends();
}

void Dispatcher::add_device_memory(uint32_t device, const void *at, uint64_t bytes) {
  std::lock_guard lock(mutex_);
  device_memory_[reinterpret_cast<uint64_t>(at)] = {bytes, device};
}

void Dispatcher::remove_device_memory(const void *at) {
  std::lock_guard lock(mutex_);
  device_memory_.erase(reinterpret_cast<uint64_t>(at));
}

std::optional<uint32_t> Dispatcher::find_memory(const void *pointer) const {
  const auto address = reinterpret_cast<uint64_t>(pointer);
  auto at = device_memory_.upper_bound(address);
  if (at == device_memory_.begin() || address - (--at)->first >= at->second.bytes)
    return std::nullopt;
  return at->second.device;
}

// Memory that is not from lc_alloc_device() is taken to be device 0's, if that was selected.
Status Dispatcher::check_other_memory() const {
  if (selected_count_ != 0) return Status();
  return Status(LC_ERROR_NO_DEVICE,
                "no device is selected, the job names none, and its memory is not that of "
                "lc_alloc_device()");
}

// The device of each message: device 0 if its memory is not from lc_alloc_device(). Where there
// is no such memory at all, one answer is for all messages, which may be very many.
Result<std::vector<uint32_t>> Dispatcher::find_messages(const CipherJob &job) {
  std::lock_guard lock(mutex_);
  if (device_memory_.empty()) {
    LC_TRY(check_other_memory());
    return std::vector<uint32_t>{0};
  }
  const auto find = [&](const void *pointer) { return find_memory(pointer); };
  const auto find_one = [&](const void *from, const void *to, const void *its_tag, uint32_t number,
                            uint32_t elsewhere) -> Result<uint32_t> {
    const std::optional<uint32_t> in = find(from);
    const std::optional<uint32_t> out = job.memory == LC_MEMORY_DEVICE ? find(to) : std::nullopt;
    const bool has_tag = job.tag_memory == LC_MEMORY_DEVICE;
    const std::optional<uint32_t> tag = has_tag ? find(its_tag) : std::nullopt;
    if (const auto text = in ? in : out; text && tag && *text != *tag)
      return Status(LC_ERROR_ARGUMENT, "message " + std::to_string(number) +
                                           ": its text and its tag lie on two devices");
    if (in && out && *in != *out)
      return Status(LC_ERROR_ARGUMENT, "message " + std::to_string(number) +
                                           ": its input and its output lie on two devices");
    if (!in && !out && from != nullptr) LC_TRY(check_other_memory());
    return in ? *in : out.value_or(elsewhere);
  };
  std::vector<uint32_t> devices;
  if (job.segments) {
    const lc_segments &all = job.segments->given();
    Result<uint32_t> found =
        find_one(all.in, all.out, all.tags != nullptr ? all.tags : all.in, 0, 0);
    if (!found.ok()) return found.status();
    devices.push_back(*found);
  }
  for (size_t n = 0; n < job.messages.size(); ++n) {
    const CipherMessage &message = job.messages[n];
    // A message without text has no place of its own.
    const uint32_t elsewhere = message.length == 0 && n != 0 ? devices.back() : 0;
    Result<uint32_t> found =
        find_one(message.in, message.out, job.aead.empty() ? nullptr : job.aead[n].tag,
                 message.number, elsewhere);
    if (!found.ok()) return found.status();
    devices.push_back(*found);
  }
  return devices;
}

Result<Executor *> Dispatcher::settle_on_device(Request &request) {
  CipherJob &job = request.job;
  if (job.device == LC_ANY_DEVICE) {
    Result<std::vector<uint32_t>> found = find_messages(job);
    if (!found.ok()) return found.status();
    const std::set<uint32_t> all(found->begin(), found->end());
    if (all.size() > 1)
      return Status(LC_ERROR_ARGUMENT,
                    "the messages lie on several devices, and a stream belongs to one");
    if (!all.empty()) job.device = *all.begin();
  }
  if (job.device == LC_CPU) return no_memory_of_cpu();
  Executor *const executor = device(job.device);
  if (executor == nullptr)
    return Status(LC_ERROR_ARGUMENT, "there is no device " + std::to_string(job.device));
  return executor;
}

// Runs each message on the device where it is, on all of these devices at once.
Status Dispatcher::submit_on_devices(const RequestPointer &request) {
  Result<std::vector<uint32_t>> found = find_messages(request->job);
  if (!found.ok()) return found.status();
  const std::vector<uint32_t> &devices = *found;
  const std::set<uint32_t> all(devices.begin(), devices.end());
  if (all.size() == 1) {
    request->job.device = *all.begin();
    return submit(request);
  }
  if (request->job.verdicts != nullptr)
    return Status(LC_ERROR_ARGUMENT,
                  "the messages lie on several devices, and their verdicts on one");
  const auto work = std::make_shared<SharedWork>(request, nullptr);
  std::vector<RequestPointer> parts;
  for (const uint32_t number : all) {
    Executor *executor = device(number);
    parts.push_back(
        work->add(*executor, [&](const Piece &piece) { return devices[piece.message] == number; }));
  }
  for (const RequestPointer &part : parts) work->begin(part);
  return Status();
}

// What has not the kernels is not asked for it: its job is the CPU's, or an error where
// the CPU may not.
Status Dispatcher::place_by_set(device::KernelSet set, uint32_t *number) const {
  if (!status_.ok() && options_.fallback == LC_FALLBACK_NONE) return status_;
  const auto has_kernels = [&](uint32_t n) { return executors_[n]->properties().has(set); };
  uint32_t named = *number;
  if (named == LC_ANY_DEVICE && selected_count_ != 0) {
    named = 0;
    while (named < selected_count_ && !has_kernels(named)) ++named;
    if (named < selected_count_) return Status();
    named = 0;
  }
  if (named >= executors_.size() || has_kernels(named)) return Status();
  if (options_.fallback == LC_FALLBACK_NONE)
    return Status(LC_ERROR_UNSUPPORTED, executors_[named]->properties().id + " does no " +
                                            std::string(row_of(set).subject));
  *number = LC_CPU;
  return Status();
}

Status Dispatcher::submit(const RsaRequestPointer &request) {
  if (request->job.messages.empty()) {
    request->end();
    return Status();
  }
  LC_TRY(place_by_set(device::KernelSet::kRsa, &request->job.device));
  return rsa_.submit(request);
}

Status Dispatcher::submit(const SlhRequestPointer &request) {
  if (request->todo.empty()) {
    request->end();
    return Status();
  }
  LC_TRY(place_by_set(device::KernelSet::kSlh, &request->where));
  return slh_.submit(request);
}

Status Dispatcher::submit(const MlDsaRequestPointer &request) {
  if (request->todo.empty()) {
    request->end();
    return Status();
  }
  LC_TRY(place_by_set(device::KernelSet::kMlDsa, &request->device_number));
  return ml_dsa_.submit(request);
}

// The one device of all messages: device 0 if their memory is not from lc_alloc_device().
Result<uint32_t> Dispatcher::find_messages(const HashJob &job) {
  std::lock_guard lock(mutex_);
  std::optional<uint32_t> one;
  for (size_t n = 0; n < job.messages.size() && !device_memory_.empty(); ++n) {
    const HashMessage &message = job.messages[n];
    const bool has_place = job.digest_memory == LC_MEMORY_DEVICE;
    for (const void *at : {static_cast<const void *>(message.length != 0 ? message.in : nullptr),
                           static_cast<const void *>(has_place ? message.digest : nullptr)}) {
      const std::optional<uint32_t> found = find_memory(at);
      if (one && found && *one != *found)
        return Status(LC_ERROR_ARGUMENT, "message " + std::to_string(n) +
                                             ": the messages and digests lie on several devices");
      if (found) one = found;
    }
  }
  if (!one) LC_TRY(check_other_memory());
  return one.value_or(0);
}

Status Dispatcher::submit(const HashRequestPointer &request) {
  HashJob &job = request->job;
  if (job.messages.empty()) {
    request->end();
    return Status();
  }
  if (job.memory == LC_MEMORY_HOST) {
    LC_TRY(place_by_set(device::KernelSet::kHash, &job.device));
    return hashes_.submit(request);
  }
  if (job.stream == LC_STREAM_PER_THREAD)
    return Status(LC_ERROR_UNSUPPORTED, "hashes are not done in LC_STREAM_PER_THREAD");
  if (job.device == LC_CPU) return no_memory_of_cpu();
  if (job.device == LC_ANY_DEVICE) {
    Result<uint32_t> found = find_messages(job);
    if (!found.ok()) return found.status();
    job.device = *found;
  }
  const Executor *const executor = device(job.device);
  if (executor != nullptr && !executor->properties().has(device::KernelSet::kHash))
    return Status(LC_ERROR_UNSUPPORTED, executor->properties().id + " does no hashes");
  return hashes_.submit(request);
}

Status Dispatcher::generate(RsaGeneration what, lc_result *result) {
  LC_TRY(place_by_set(device::KernelSet::kRsa, &what.device));
  return generator_.run(std::move(what), result);
}

}  // namespace lanecrypt::runtime
