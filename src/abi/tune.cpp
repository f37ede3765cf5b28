// The functions of the C ABI for the measurements of devices and the CPU, and for the choice that
// follows from them.
//
// SPDX-License-Identifier: Apache-2.0
#include "abi/boundary.h"
#include "job/cipher/cipher_info.h"

using lanecrypt::enum_number;
using lanecrypt::Result;
using lanecrypt::Status;
using lanecrypt::abi::guarded;
using lanecrypt::abi::report;

namespace {

lc_tune_point point_of(const lanecrypt::placement::Point &point) {
  lc_tune_point made = {};
  made.struct_size = sizeof made;
  made.cipher = point.kind.cipher;
  made.direction = point.kind.direction;
  made.key_bytes = point.kind.key_bytes;
  made.pinned = point.pinned ? 1 : 0;
  made.streams = point.streams;
  made.bytes = point.bytes;
  made.device_ns = point.device_ns;
  made.device_cpu_ns = point.device_cpu_ns;
  made.cpu_ns = point.cpu_ns;
  made.cores_ns = point.cores_ns;
  return made;
}

}  // namespace

lc_status lc_tune(lc_context *context, uint32_t index, lc_tune_depth depth,
                  int (*on_point)(void *argument, const lc_tune_point *point), void *argument) {
  return guarded([&]() -> lc_status {
    namespace placement = lanecrypt::placement;
    if (context == nullptr) return report(LC_ERROR_ARGUMENT, "no context was given");
    if (enum_number(depth) > LC_TUNE_FULL) return report(LC_ERROR_ARGUMENT, "unknown depth");
    const auto each = [&](const placement::Point &point) {
      const lc_tune_point told = point_of(point);
      return on_point == nullptr || on_point(argument, &told) == 0;
    };
    if (depth != LC_TUNE_STORED)
      return report(context
                        ->calibrate(index,
                                    depth == LC_TUNE_FULL ? placement::Depth::kFull
                                                          : placement::Depth::kQuick,
                                    each)
                        .status());
    Result<placement::Calibration> known = context->known_calibration(index);
    if (!known.ok()) return report(known.status());
    for (const placement::Point &point : known->points)
      if (!each(point)) return report(LC_ERROR_STOPPED, "stopped by the caller");
    return LC_OK;
  });
}

lc_choice lc_cipher_place(lc_context *context, const lc_cipher_question *question,
                          uint32_t *device) {
  if (device != nullptr) *device = LC_CPU;
  if (context == nullptr || question == nullptr || question->struct_size < sizeof *question)
    return LC_CHOICE_CPU;
  const uint32_t cipher = enum_number(question->cipher),
                 direction = enum_number(question->direction);
  if (cipher >= lanecrypt::kCipherInfoCount || direction > LC_DECRYPT) return LC_CHOICE_CPU;
  const lanecrypt::CipherInfo &info = lanecrypt::cipher_info(question->cipher);
  if (!info.takes_key(question->key_bytes)) return LC_CHOICE_CPU;
  const lanecrypt::abi::Call call;
  try {
    const lc_direction its_direction = info.is_own_inverse ? LC_ENCRYPT : question->direction;
    const lanecrypt::Placement chosen =
        context->place({.kind = {question->cipher, its_direction, question->key_bytes},
                        .pinned = question->pinned != 0,
                        .streams = question->streams,
                        .bytes = question->bytes});
    if (device != nullptr) *device = chosen.device;
    return chosen.choice;
  } catch (...) {  // out of memory or threads
    return LC_CHOICE_CPU;
  }
}

lc_choice lc_cipher_choose(lc_context *context, const lc_cipher_question *question) {
  return lc_cipher_place(context, question, nullptr);
}

int lc_is_open(lc_context *context, int opens_now) {
  if (context == nullptr) return 0;
  const lanecrypt::abi::Call call;
  try {
    return context->is_open(opens_now != 0) ? 1 : 0;
  } catch (...) {  // out of memory
    return 0;
  }
}
