// What stands behind an lc_context: the devices, opened at the first call that
// needs them and anew in a child of fork, and the memory handed out.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "ml_dsa/ml_dsa_choice.h"
#include "placement/background_probe.h"
#include "placement/cipher_choice.h"
#include "placement/dispatcher.h"
#include "placement/measure.h"
#include "remote/private_operations.h"
#include "rsa/rsa_choice.h"
#include "slh/slh_choice.h"

namespace lanecrypt {

// Any thread.
class Context {
 public:
  explicit Context(runtime::DispatcherOptions options,
                   placement::Prefer prefer = placement::Prefer::kSpeed,
                   std::optional<remote::Service> service = std::nullopt)
      : options_(std::move(options)), prefer_(prefer), service_(std::move(service)) {}
  ~Context();
  Context(const Context &) = delete;
  Context &operator=(const Context &) = delete;

  // The process's own; made by the first call.
  runtime::Dispatcher &dispatcher();
  // What does private operations in the place of the devices: the process's own, made by the first
  // call; nullptr if the context names no service.
  remote::PrivateOperations *remote_operations();
  // They look for no device before it pays.
  runtime::RsaChoice &rsa_choice();
  runtime::SlhChoice &slh_choice();
  runtime::MlDsaChoice &ml_dsa_choice();
  // Whether one key is made sooner with devices than by OpenSSL on one core.
  bool generation_prefers_device(uint32_t bits);

  // What is known of a device. The other measures it, and keeps it.
  Result<placement::Calibration> known_calibration(uint32_t index);
  Result<placement::Calibration> calibrate(
      uint32_t index, placement::Depth depth,
      const std::function<bool(const placement::Point &)> &each);
  // Where a request belongs; LC_CHOICE_UNKNOWN where nothing like it was measured on any
  // device. Once it pays devices are looked for and measured beside, for which nobody
  // waits; then one call waits until the device that is sooner is open.
  Placement place(const placement::Question &question);
  // Whether a selected device is open. Opens the first one if that is wanted, and
  // already known which there are.
  bool is_open(bool opens_now);

  Result<void *> allocate_pinned(size_t bytes);
  void free_pinned(void *pointer);

 private:
  // All that a child of fork must leave alone: it has locks, threads and
  // driver handles of the parent.
  struct Process;
  struct RemoteProcess;
  struct Chooser;
  struct BackgroundProbeOfProcess;

  Process &process();
  // The process's own; nullptr where nothing has made it yet.
  Process *found() const;
  BackgroundProbe &background_probe();
  Chooser &chooser();

  const runtime::DispatcherOptions options_;
  const placement::Prefer prefer_;
  const std::optional<remote::Service> service_;
  std::atomic<Process *> process_ = nullptr;
  std::atomic<RemoteProcess *> remote_ = nullptr;
  std::atomic<Chooser *> chooser_ = nullptr;
  std::atomic<BackgroundProbeOfProcess *> background_probe_ = nullptr;
  std::atomic<uint32_t> keys_made_elsewhere_ = 0;
};

}  // namespace lanecrypt
