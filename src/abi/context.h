// The implementation of an lc_context: the devices, which are opened at the first call that needs
// them and again in a child of fork(), and the memory that was handed out.
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

// Context is thread-safe.
class Context {
 public:
  explicit Context(runtime::DispatcherOptions options,
                   placement::Prefer prefer = placement::Prefer::kSpeed,
                   std::optional<remote::Service> service = std::nullopt)
      : options_(std::move(options)), prefer_(prefer), service_(std::move(service)) {}
  ~Context();
  Context(const Context &) = delete;
  Context &operator=(const Context &) = delete;

  // dispatcher() returns the dispatcher of this process. The first call creates it.
  runtime::Dispatcher &dispatcher();
  // remote_operations() returns the object that does private-key operations by the service instead
  // of the devices, for this process. The first call creates it. It returns nullptr if the context
  // names no service.
  remote::PrivateOperations *remote_operations();
  // The choices between the CPU and the devices. They enumerate no device before it pays.
  runtime::RsaChoice &rsa_choice();
  runtime::SlhChoice &slh_choice();
  runtime::MlDsaChoice &ml_dsa_choice();
  // generation_prefers_device() says whether devices generate one RSA key of `bits` bits sooner
  // than OpenSSL on one core.
  bool generation_prefers_device(uint32_t bits);

  // known_calibration() returns the stored measurements of a device. calibrate() measures the
  // device and stores the result.
  Result<placement::Calibration> known_calibration(uint32_t index);
  Result<placement::Calibration> calibrate(
      uint32_t index, placement::Depth depth,
      const std::function<bool(const placement::Point &)> &each);
  // place() decides where a request runs; LC_CHOICE_UNKNOWN if nothing similar was measured on any
  // device. Once it pays, devices are enumerated and measured in the background, which delays no
  // call. After that, one call waits until the faster device is open.
  Placement place(const placement::Question &question);
  // is_open() says whether a selected device is open. If `opens_now`, it opens the first device,
  // provided that the devices are already enumerated.
  bool is_open(bool opens_now);

  // allocate_pinned() returns zeroed pinned memory, or ordinary memory if no device is open.
  // free_pinned() frees it, and ignores other pointers.
  Result<void *> allocate_pinned(size_t bytes);
  void free_pinned(void *pointer);

 private:
  // These hold locks, threads and driver handles of one process, so a child of fork() must not
  // touch its parent's.
  struct Process;
  struct RemoteProcess;
  struct Chooser;
  struct BackgroundProbeOfProcess;

  Process &process();
  // found() returns this process's part, or nullptr if it was not created yet.
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
