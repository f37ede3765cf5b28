// Enumerates and measures devices in a separate process, so that a driver that hangs or crashes
// does no harm.
//
// SPDX-License-Identifier: Apache-2.0
#include "abi/probe.h"

#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <string>
#include <thread>

#include "abi/context.h"
#include "device/device_enumeration.h"
#include "process/privilege.h"
#include "process/program.h"

namespace lanecrypt {
namespace {

// A driver may take seconds at its first use. Measuring takes longer.
constexpr std::chrono::seconds kLookLimit{15}, kMeasureLimit{120};

// end_after() ends the process after `limit`, even if a driver hangs. The output is then
// incomplete.
void end_after(std::chrono::seconds limit) {
  std::thread([limit] {
    std::this_thread::sleep_for(limit);
    _exit(3);
  }).detach();
}

// keep_output() returns a duplicate of standard output for the answer, and redirects standard
// output to /dev/null, because drivers may print to it.
int keep_output() {
  const int output = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
  if (const int nothing = open("/dev/null", O_WRONLY | O_CLOEXEC); nothing >= 0)
    (void)dup2(nothing, STDOUT_FILENO);
  return output;
}

// say() writes the answer and ends the process without the exit handlers of drivers.
[[noreturn]] void say(int output, const std::string &text) {
  const std::string whole = text + process::Program::kLastLine;
  size_t done = 0;
  while (done < whole.size()) {
    const ssize_t put = write(output, whole.data() + done, whole.size() - done);
    if (put <= 0) _exit(4);
    done += static_cast<size_t>(put);
  }
  _exit(0);
}

std::string look(const std::string &api) {
  std::vector<device::Properties> all;
  for (const device::Found &found : device::find_here(api)) all.push_back(found.properties);
  return all.empty() ? "none " + device::why_none_here(api) : device::to_text(all);
}

// measure() writes the measurements to `output` before the context is closed, because closing could
// hang.
[[noreturn]] void measure(int output, const std::string &id) {
  runtime::DispatcherOptions options;
  options.devices = id;
  const std::string api = id.substr(0, id.find(':'));
  options.find = [api] { return device::DeviceEnumeration{device::find_here(api), {}}; };
  Context context(options);
  if (!context.dispatcher().status().ok() || context.dispatcher().device_count() == 0) _exit(5);
  // An open device may report more properties, and its measurements are stored under those.
  if (!context.dispatcher().device(0)->make_ready().ok()) _exit(5);
  Result<placement::Calibration> known = context.known_calibration(0);
  if (!known.ok())
    known = context.calibrate(0, placement::Depth::kQuick,
                              [](const placement::Point &) { return true; });
  if (!known.ok()) _exit(5);
  say(output, placement::to_text(*known));
}

}  // namespace
}  // namespace lanecrypt

int lc_probe(int count, const char *const *words) {
  using namespace lanecrypt;
  if (process::is_setuid() || count != 2) return 2;
  const int output = keep_output();
  if (output < 0) return 4;
  try {
    const std::string what = words[0], name = words[1];
    if (what == "look") {
      end_after(kLookLimit);
      say(output, look(name));
    }
    if (what == "measure") {
      end_after(kMeasureLimit);
      measure(output, name);
    }
  } catch (...) {  // out of memory or threads
    return 4;
  }
  return 2;
}
