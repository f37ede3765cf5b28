// Measures a device, and beside it one core and several by OpenSSL: what the cost model goes by.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "place/calibration.h"
#include "place/dispatcher.h"
#include "place/own_cpu_time.h"

namespace lanecrypt::place {

enum class Depth {
  kQuick,  // every mode that is no chain, with its shortest key, in ordinary memory;
           // about a second
  kFull,   // every mode, ordinary and pinned memory; some ten seconds
};

// As calibrations are kept by it: its id, its name, and its driver's version.
std::string describe_device(const device::Properties &properties);

// Measures device `index` of the dispatcher. `each` hears of every point, and stops
// by returning false: LC_ERROR_STOPPED. LC_ERROR_DEVICE where the device does not
// do all of it itself. What else the machine does meanwhile is measured too; CPU time
// is what `own` counts. Any thread.
Result<Calibration> measure(schedule::Dispatcher &dispatcher, uint32_t index, Depth depth,
                            const std::function<bool(const Point &)> &each,
                            const OwnCpuTime &own = {});

}  // namespace lanecrypt::place
