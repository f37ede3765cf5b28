// Decides where a request runs that its caller could also do by OpenSSL. If the cost model says
// that a device pays, that is the device that will have done it first.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "job/placement.h"
#include "placement/background_probe.h"
#include "placement/cost_model.h"
#include "placement/dispatcher.h"

namespace lanecrypt::placement {

// Any thread.
class CipherChoice {
 public:
  CipherChoice(runtime::Dispatcher &dispatcher, Prefer prefer)
      : dispatcher_(dispatcher), prefer_(prefer) {}

  // Whether this is so little of one message that the caller's core does it. Takes no lock.
  bool is_little(const Question &question) const {
    return question.streams == 1 && question.bytes < least_bytes(question.kind);
  }
  // LC_CHOICE_UNKNOWN if nothing like it was measured on any device. If `probe` is given, it
  // measures devices that nobody has measured, and the device that is sooner is opened. The
  // caller waits for that.
  Placement decide(const Question &question, BackgroundProbe *probe);
  // Takes the figures of a measurement in this process.
  void learn(uint32_t index, const Calibration &calibration);

 private:
  // What is known of a device. Without a measurement there is no model.
  struct Known {
    std::shared_ptr<const CostModel> model;
    bool is_hopeless = false;  // it could not be measured
  };
  Known known(uint32_t index);
  const Known &known_under_lock(uint32_t index);
  std::optional<Calibration> stored(uint32_t index) const;
  void ask_probe(BackgroundProbe &probe, uint32_t index);
  void give_up(uint32_t index);
  bool is_ready(uint32_t index, bool opens_now) const;

  // Less than this of one message is done by the caller's core. 0: not known yet.
  std::atomic<uint64_t> &least_bytes(const CipherKind &kind) {
    return least_[kind.cipher][kind.direction][std::min<uint32_t>(kind.key_bytes / 8, kKeys - 1)];
  }
  uint64_t least_bytes(const CipherKind &kind) const {
    return const_cast<CipherChoice *>(this)->least_bytes(kind);
  }
  void note_least_bytes(const CipherKind &kind);

  runtime::Dispatcher &dispatcher_;
  const Prefer prefer_;
  std::mutex mutex_;
  std::map<uint32_t, Known> devices_;
  static constexpr uint32_t kKeys = 9;  // keys have up to 64 bytes
  std::atomic<uint64_t> least_[kCipherInfoCount][2][kKeys] = {};
};

}  // namespace lanecrypt::placement
