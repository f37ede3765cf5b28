// The service's devices. They are opened and tried at the start, and their states are read
// regularly.
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

// Thread-safe.
class Devices {
 public:
  // `devices`, `verify`: as in lc_options. Throws UsageFailure if they are malformed.
  Devices(StatusPage &page, const char *devices, lc_verify verify);
  // Waits for the thread. If stop() returned false, the process must exit without this destructor.
  ~Devices();
  Devices(const Devices &) = delete;

  // Opens the devices on a separate thread. Then calls on_open() with the context if devices are
  // selected, and on_tried() in any case. Calls on_lost() when no device works any more because one
  // was lost.
  void start(std::function<void(lc_context *)> on_open, std::function<void()> on_tried,
             std::function<void()> on_lost);
  // Stops the thread. Returns false if it does not end within `limit`, since a device hangs.
  bool stop(std::chrono::milliseconds limit);

  // Returns whether a device does SLH-DSA. Few programs sign with it, and a device takes long for
  // its self-test and then keeps memory for it. So the first call starts the trial of the devices.
  // Calls wait for its end, but return false from kTrialOfSlhDsa after the first call on.
  bool await_slh_dsa();
  // Reads the states of the devices at once, after an operation has failed.
  void look_soon();
  // Returns the states of the selected devices; empty until they have been opened.
  std::vector<DeviceReport> report();

 private:
  void run();
  void open();
  void try_rsa(uint32_t index, const lc_rsa_key *key);
  void try_ml_dsa(uint32_t index);
  void try_slh_dsa(uint32_t index);
  void time_batches(const OperationKind &operation_kind,
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

  std::mutex mutex_;  // protects the members below
  std::condition_variable changed_;
  bool stopping_ = false, ended_ = false, must_look_ = false;
  enum class Trial { kNone, kWanted, kOver } slh_dsa_trial_ = Trial::kNone;
  std::chrono::steady_clock::time_point slh_dsa_until_;  // when calls stop waiting for the trial
  std::chrono::steady_clock::time_point asked_;          // time of the last report
  std::vector<uint32_t> selected_;
  // The states that were logged last, for each family. Used by the thread alone.
  std::vector<lc_device_state> states_, ml_dsa_states_, slh_dsa_states_;
  std::vector<CardReading> cards_;
  Cards card_reader_;  // used by the thread alone
  std::thread thread_;
};

}  // namespace lanecrypt::service::daemon
