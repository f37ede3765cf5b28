// The service's devices: opened and tried at the start, looked at now and then.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "lanecrypt/lanecrypt.h"
#include "service/daemon/system/card.h"
#include "service/wire/status_page.h"

namespace lanecrypt::service::daemon {

struct DeviceReport {
  lc_device_info info = {};
  lc_counters counters = {};
  CardReading card;
};

// Any thread.
class Devices {
 public:
  // devices, verify: as lc_options has them. Throws UsageFailure where they are malformed.
  Devices(StatusPage &page, const char *devices, lc_verify verify);
  // Waits for nothing that hangs: then the process must end without destructors.
  ~Devices();
  Devices(const Devices &) = delete;

  // Opens them on a thread of its own. Once that is over, calls on_open() with the context,
  // and on_tried() where none could be opened too. Calls on_lost() once none works any more,
  // since one was lost.
  void start(std::function<void(lc_context *)> on_open, std::function<void()> on_tried,
             std::function<void()> on_lost);
  // False if a device hangs.
  bool stop(std::chrono::milliseconds limit);

  // Whether a device does SLH-DSA. Few programs sign with it, and a device takes long to prove
  // itself and keeps memory for it. So devices are tried when this is first called. It waits for
  // that, but not for long: then it is false.
  bool await_slh_dsa();
  // Something was not done: looks at the devices' states at once.
  void look_soon();
  // Of selected devices. Empty until they have been opened.
  std::vector<DeviceReport> report();

 private:
  void run();
  void open();
  void try_rsa(uint32_t index, const lc_rsa_key *key);
  void try_ml_dsa(uint32_t index);
  void try_slh_dsa(uint32_t index);
  void time_batches(const Sort &sort,
                    const std::function<std::chrono::steady_clock::duration(size_t count)> &run);
  bool is_stopping();
  void look_at_signatures(const lc_device_info &info, const char *family, lc_device_state now,
                          lc_device_state &told, uint32_t &usable);
  void look(bool reads_cards);

  StatusPage &page_;
  lc_context *context_ = nullptr;
  std::function<void(lc_context *)> on_open_;
  std::function<void()> on_tried_, on_lost_;
  std::atomic<bool> is_open_ = false;

  std::mutex mutex_;  // of what is below
  std::condition_variable changed_;
  bool stopping_ = false, ended_ = false, must_look_ = false;
  enum class Trial { kNone, kWanted, kOver } slh_dsa_trial_ = Trial::kNone;
  std::chrono::steady_clock::time_point slh_dsa_until_;  // whoever waits for it
  std::chrono::steady_clock::time_point asked_;          // for a report
  std::vector<uint32_t> selected_;
  // For each family, as they were told in the log; the thread's alone.
  std::vector<lc_device_state> states_, ml_dsa_states_, slh_dsa_states_;
  std::vector<CardReading> cards_;
  Cards card_reader_;  // the thread's alone
  std::thread thread_;
};

}  // namespace lanecrypt::service::daemon
