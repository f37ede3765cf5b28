// Reads the structs of the C ABI, whose caller may have been built against an older header.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "lanecrypt/lanecrypt.h"

namespace lanecrypt {

// The struct as this version has it, from one of `bytes` bytes. Fields behind its end are zero.
template <typename T>
T read_struct(const void *from, size_t bytes) {
  T value = {};
  if (bytes >= sizeof value)  // as most are: a copy of a size that is known
    std::memcpy(&value, from, sizeof value);
  else
    std::memcpy(&value, from, bytes);
  return value;
}

// The size of a job's struct in version 0.1, which did not have `has_device`.
template <typename Job>
constexpr size_t kSizeInVersion01 = offsetof(Job, has_device);

// Whether a job's struct has the size of this version, of a later one or of version 0.1.
template <typename Job>
bool has_known_size(const Job &job) {
  return job.struct_size == kSizeInVersion01<Job> || job.struct_size >= sizeof(Job);
}

// The device of a job. Zero is device 0 if the caller says that it has set the field. It is so,
// too, in a struct of version 0.1, whose caller cannot say that.
template <typename Job>
uint32_t device_of(const Job &job) {
  const bool can_tell = job.struct_size >= offsetof(Job, has_device) + sizeof job.has_device;
  const bool was_left_zero = job.device == 0 && can_tell && job.has_device == 0;
  return was_left_zero ? LC_ANY_DEVICE : job.device;
}

}  // namespace lanecrypt
