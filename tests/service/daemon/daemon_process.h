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
    // Waits until its devices are open.
    bool awaits_ready = true;
  };
  // Throws where it does not start. In a folder of its own, or with the socket at `path`.
  DaemonProcess() : DaemonProcess(Options{}) {}
  explicit DaemonProcess(Options options, std::string path = "");
  // Ends it, if it has not ended.
  ~DaemonProcess();
  DaemonProcess(const DaemonProcess &) = delete;

  const std::string &socket_path() const { return path_; }
  pid_t number() const { return number_; }
  bool is_running();
  void send_signal(int signal);
  // Its exit code; 128 and the signal that ended it; -1 where it does not end.
  int wait();
  // What it has said on standard error so far.
  std::string log() const;
  // Where in its memory the bytes are; "" where they are not. Needs the rights of root.
  std::string place_in_memory(const std::vector<uint8_t> &bytes) const;

 private:
  lanecrypt::test::TemporaryFolder folder_;
  std::string path_, log_path_;
  pid_t number_ = -1;
  int code_ = -1;
};

// The emulator pretends that lanes share a number, as they do on CUDA. Otherwise it is no
// device for a single key.
inline DaemonProcess::Options with_teams() {
  return {.environment = {{"LANECRYPT_HOST_TEAMS", "1"}}};
}

}  // namespace lanecrypt::service::test
