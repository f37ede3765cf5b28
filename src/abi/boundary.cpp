// The error texts of the C ABI, and checks that the functions of all primitives need.
//
// SPDX-License-Identifier: Apache-2.0
#include "abi/boundary.h"

#include <string>

namespace lanecrypt::abi {
namespace {

// last_error is a plain array, not an object with a destructor: exit() destroys a thread's objects
// before it queries the counters.
constexpr size_t kMostBytes = 1024;
thread_local char last_error[kMostBytes] = "";

}  // namespace

lc_status report(const Status &status) { return report(status.code(), status.text().c_str()); }

// report() allocates no memory, because it also reports that there is none.
lc_status report(lc_status code, const char *text) {
  if (code != LC_OK) {
    const size_t length = std::min(std::strlen(text), kMostBytes - 1);
    memcpy(last_error, text, length);
    last_error[length] = '\0';
  }
  return code;
}

Result<runtime::Executor *> find_device(lc_context *context, uint32_t index) {
  if (context == nullptr) return Status(LC_ERROR_ARGUMENT, "no context was given");
  runtime::Executor *executor = context->dispatcher().device(index);
  if (executor == nullptr)
    return Status(LC_ERROR_ARGUMENT, "there is no device " + std::to_string(index));
  return executor;
}

Status check_result(const lc_result *result) {
  if (result != nullptr && result->struct_size < sizeof(size_t))
    return Status(LC_ERROR_ARGUMENT, "lc_result.struct_size is too small");
  return Status();
}

}  // namespace lanecrypt::abi

const char *lc_version(void) { return LC_VERSION_TEXT; }

const char *lc_last_error(void) { return lanecrypt::abi::last_error; }

const char *lc_status_text(lc_status status) {
  switch (status) {
    case LC_OK:
      return "done";
    case LC_PENDING:
      return "under way";
    case LC_ERROR_ARGUMENT:
      return "wrong argument";
    case LC_ERROR_UNSUPPORTED:
      return "not supported";
    case LC_ERROR_MEMORY:
      return "out of memory";
    case LC_ERROR_NO_DEVICE:
      return "no usable device";
    case LC_ERROR_DEVICE:
      return "the device failed";
    case LC_ERROR_SELF_TEST:
      return "the device failed its self-test";
    case LC_ERROR_INTERNAL:
      return "internal error";
    case LC_ERROR_TAG:
      return "wrong tag";
    case LC_ERROR_STOPPED:
      return "stopped by the caller";
  }
  return "unknown status";
}
