// The common part of every function of the C ABI: it reports errors, stops exceptions, fills
// structs of any version and finds devices.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstring>
#include <exception>
#include <new>
#include <system_error>

#include "abi/context.h"
#include "abi/process_end.h"
#include "job/enum_number.h"
#include "job/status.h"
#include "lanecrypt/lanecrypt.h"
#include "process/cancellation.h"
#include "thread/openings.h"

struct lc_context : lanecrypt::Context {
  using Context::Context;
};

namespace lanecrypt::abi {

// report() stores the text of an error for lc_last_error() of this thread, and returns the status
// code.
lc_status report(const Status &status);
lc_status report(lc_status code, const char *text);

// Call is one call of the ABI. Its destructor waits until the devices that the call began to open
// are open or have failed, and registers the exit handler after them.
class Call {
 public:
  Call() = default;
  ~Call() {
    if (runtime::Opening::await_own()) arrange_process_end();
  }
  Call(const Call &) = delete;

 private:
  const process::CancellationOff not_cancelled_;
};

// guarded() runs `body` and turns exceptions into status codes, because no exception may cross the
// ABI. The code below can throw only for lack of memory or threads.
template <typename Body>
lc_status guarded(Body body) noexcept {
  const Call call;
  try {
    return body();
  } catch (const std::system_error &error) {  // no thread could be started, so nothing was begun
    return report(LC_ERROR_NO_DEVICE, error.what());
  } catch (const std::bad_alloc &) {
    return report(LC_ERROR_MEMORY, "out of memory");
  } catch (const std::exception &error) {
    return report(LC_ERROR_INTERNAL, error.what());
  }
}

// give() copies the members that the caller's version of the struct has room for.
template <typename T>
lc_status give(const T &value, T *to, const char *wrong_size) {
  if (to == nullptr || to->struct_size < sizeof(size_t))
    return report(LC_ERROR_ARGUMENT, wrong_size);
  const size_t room = std::min(to->struct_size, sizeof(T));
  T copy = value;
  copy.struct_size = to->struct_size;
  memcpy(to, &copy, room);
  return LC_OK;
}

// find_device() returns the device with this index, or LC_ERROR_ARGUMENT.
Result<runtime::Executor *> find_device(lc_context *context, uint32_t index);

// check_result() checks the size of the struct. It must be called before any work is done, because
// later work cannot be undone.
Status check_result(const lc_result *result);

}  // namespace lanecrypt::abi
