// Which device does a job of RSA, and what becomes of it when that device fails.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "rsa/batcher.h"
#include "rsa/rsa_choice.h"
#include "rsa/rsa_cpu.h"

namespace lanecrypt::schedule {

// A batcher for each device, and the CPU. Any thread.
class RsaDispatcher {
 public:
  using MakeEngine =
      std::function<Result<std::unique_ptr<RsaEngine>>(const device::Found &, const RsaTrust &)>;

  // limits: their time is `trust`'s.
  RsaDispatcher(Counters &cpu_counters, lc_fallback fallback, RsaTrust trust = {},
                MakeEngine make_engine = make_rsa_engine, Batcher::Limits limits = {});
  ~RsaDispatcher() { stop(); }
  // Before the first job, in the order of the devices' numbers.
  void add_device(device::Found found, Counters &counters, bool is_selected);
  // Finishes what is under way. hurry() has it leave undone what is not begun.
  void stop();
  void hurry();

  // Starts a request that is not empty; it ends by itself. An error starts
  // nothing.
  Status submit(const RsaRequestPointer &request);

  // Of device `number`: whether it was tried, and why it does no RSA any more.
  DeviceService service(uint32_t number) const { return batchers_[number]->service(); }

  // For RsaChoice, of the selected devices.
  size_t load() const;
  std::optional<RsaChoice::Duration> estimate(uint32_t bits, RsaChoice::Duration guess) const;
  void warm_up();

 private:
  // Not one of those that are named; nor, where it must have room, one that is full.
  Batcher *choose(const std::vector<uint32_t> &tried, bool with_room) const;
  std::string reasons() const;
  void take_over(const RsaRequestPointer &request, const Status &why);

  const lc_fallback fallback_;
  const RsaTrust trust_;
  const MakeEngine make_engine_;
  const Batcher::Limits limits_;
  RsaCpu cpu_;
  std::vector<std::unique_ptr<Batcher>> batchers_;
  std::vector<uint32_t> selected_;  // numbers in batchers_
};

}  // namespace lanecrypt::schedule
