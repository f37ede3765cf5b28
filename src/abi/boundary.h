// What every function of the C ABI does at the boundary: it reports errors, keeps
// exceptions in, fills structs of any version and finds devices.
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

// Keeps the text of an error for lc_last_error() of this thread.
lc_status report(const Status &status);
lc_status report(lc_status code, const char *text);

// One call of the ABI. When it returns, the devices that it began to open are open, or
// cannot be, and the end of the process is arranged after them.
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

// No exception crosses the ABI. The inside can throw only for want of memory or of
// threads.
template <typename Body>
lc_status guarded(Body body) noexcept {
  const Call call;
  try {
    return body();
  } catch (const std::system_error &error) {  // no threads, so nothing was begun
    return report(LC_ERROR_NO_DEVICE, error.what());
  } catch (const std::bad_alloc &) {
    return report(LC_ERROR_MEMORY, "out of memory");
  } catch (const std::exception &error) {
    return report(LC_ERROR_INTERNAL, error.what());
  }
}

// Copies what the caller's version of the struct has room for.
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

Result<runtime::Executor *> find_device(lc_context *context, uint32_t index);

// Called before anything is done: what comes later cannot be undone.
Status check_result(const lc_result *result);

}  // namespace lanecrypt::abi
