// Measures a device, and beside it OpenSSL on one core and on several. The cost model uses that.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "placement/calibration.h"
#include "placement/dispatcher.h"
#include "placement/own_cpu_time.h"

namespace lanecrypt::placement {

enum class Depth {
  kQuick,  // every mode that is no chain, with its shortest key, in ordinary memory: about a
           // second
  kFull,   // every mode, in ordinary and pinned memory: some ten seconds
};

// The text by which calibrations know a device: its id, its name, and its driver's version.
std::string describe_device(const device::Properties &properties);

// Measures device `index` of the dispatcher. Calls `each` with every point. If that returns
// false, the measurement stops with LC_ERROR_STOPPED. LC_ERROR_DEVICE if the device does not do
// all of it itself. Other work of the machine disturbs the times. CPU time is what `own`
// counts. Any thread.
Result<Calibration> measure(runtime::Dispatcher &dispatcher, uint32_t index, Depth depth,
                            const std::function<bool(const Point &)> &each,
                            const OwnCpuTime &own = {});

}  // namespace lanecrypt::placement
