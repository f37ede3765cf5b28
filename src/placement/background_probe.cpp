// SPDX-License-Identifier: Apache-2.0
#include "placement/background_probe.h"

#include "job/device_list.h"

namespace lanecrypt {

using process::Program;
using std::chrono::milliseconds;

bool BackgroundProbe::knows_devices() {
  // If another caller is looking just now, this one need not wait for that.
  std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock()) return false;
  if (enumeration_) return true;
  if (enumerator_ == nullptr)
    enumerator_ = std::make_unique<device::DeviceEnumerator>(apis_of_device_list(devices_));
  if (!enumerator_->wait(milliseconds(0))) return false;
  enumeration_ = enumerator_->take();
  enumerator_.reset();
  return true;
}

device::DeviceEnumeration BackgroundProbe::wait_for_devices() {
  const std::lock_guard lock(mutex_);
  if (!enumeration_) {
    if (enumerator_ == nullptr)
      enumerator_ = std::make_unique<device::DeviceEnumerator>(apis_of_device_list(devices_));
    (void)enumerator_->wait(device::kEnumerationLimit);
    enumeration_ = enumerator_->take();
    enumerator_.reset();
  }
  return *enumeration_;
}

void BackgroundProbe::measure(const std::string &id) {
  const std::lock_guard lock(mutex_);
  if (measuring_.contains(id)) return;
  std::string why;
  measuring_[id] = device::start_probe({"measure", id}, &why);
}

std::optional<BackgroundProbe::Measured> BackgroundProbe::measured(const std::string &id) {
  std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock()) return std::nullopt;
  const auto found = measuring_.find(id);
  if (found == measuring_.end()) return std::nullopt;
  Program *const program = found->second.get();
  const Program::State state =
      program == nullptr ? Program::State::kFailed : program->wait(milliseconds(0));
  if (state == Program::State::kRuns) return std::nullopt;
  Measured measured;
  if (state == Program::State::kDone)
    measured.calibration = placement::from_text(program->output());
  measuring_.erase(found);
  return measured;
}

}  // namespace lanecrypt
