// lanecryptd as a child process, with the emulator as its device.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

#include "temporary_folder.h"

namespace lanecrypt::service::test {

class DaemonProcess {
 public:
  struct Options {
    std::vector<std::string> arguments = {"--devices", "host"};
    std::vector<std::pair<std::string, std::string>> environment = {};
    // Called in the child before the program starts.
    std::function<void()> in_child = [] {};
    // Whether the constructor waits until the devices are open.
    bool awaits_ready = true;
  };
  // Starts the program with its socket in a new folder, or at `path`. Throws if it does not start.
  DaemonProcess() : DaemonProcess(Options{}) {}
  explicit DaemonProcess(Options options, std::string path = "");
  // Ends the program if it has not ended.
  ~DaemonProcess();
  DaemonProcess(const DaemonProcess &) = delete;

  const std::string &socket_path() const { return path_; }
  pid_t number() const { return number_; }
  bool is_running();
  void send_signal(int signal);
  // Waits for the end. Returns the exit code, 128 plus the signal that ended it, or -1 if it does
  // not end.
  int wait();
  // Returns what it has written to standard error so far.
  std::string log() const;
  // Returns where in its memory the bytes are, or "" if they are not there. Needs root.
  std::string place_in_memory(const std::vector<uint8_t> &bytes) const;

 private:
  lanecrypt::test::TemporaryFolder folder_;
  std::string path_, log_path_;
  pid_t number_ = -1;
  int code_ = -1;
};

// Lets the emulator share a number among threads, as CUDA devices do. Otherwise it makes no single
// key.
inline DaemonProcess::Options with_subgroups() {
  return {.environment = {{"LANECRYPT_HOST_SUBGROUPS", "1"}}};
}

}  // namespace lanecrypt::service::test
