// SPDX-License-Identifier: Apache-2.0
#include "placement/inquiry.h"

#include "job/device_list.h"

namespace lanecrypt {

using process::Program;
using std::chrono::milliseconds;

bool Inquiry::knows_devices() {
  // If another caller is looking just now, this one need not wait for that.
  std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock()) return false;
  if (survey_) return true;
  if (surveyor_ == nullptr)
    surveyor_ = std::make_unique<device::Surveyor>(apis_of_device_list(devices_));
  if (!surveyor_->wait(milliseconds(0))) return false;
  survey_ = surveyor_->take();
  surveyor_.reset();
  return true;
}

device::Survey Inquiry::survey() {
  const std::lock_guard lock(mutex_);
  if (!survey_) {
    if (surveyor_ == nullptr)
      surveyor_ = std::make_unique<device::Surveyor>(apis_of_device_list(devices_));
    (void)surveyor_->wait(device::kSurveyLimit);
    survey_ = surveyor_->take();
    surveyor_.reset();
  }
  return *survey_;
}

void Inquiry::measure(const std::string &id) {
  const std::lock_guard lock(mutex_);
  if (measuring_.contains(id)) return;
  std::string why;
  measuring_[id] = device::start_probe({"measure", id}, &why);
}

std::optional<Inquiry::Measured> Inquiry::measured(const std::string &id) {
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
