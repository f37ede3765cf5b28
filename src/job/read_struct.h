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

// Returns this version's struct from one of `bytes` bytes. Fields beyond its end are zero.
template <typename T>
T read_struct(const void *from, size_t bytes) {
  T value = {};
  if (bytes >= sizeof value)  // the usual case: a copy of a constant size
    std::memcpy(&value, from, sizeof value);
  else
    std::memcpy(&value, from, bytes);
  return value;
}

// The size of a job's struct in version 0.1, which did not have `has_device`.
template <typename Job>
constexpr size_t kSizeInVersion01 = offsetof(Job, has_device);

// Returns whether a job's struct has the size of this version, of a later one or of version 0.1.
template <typename Job>
bool has_known_size(const Job &job) {
  return job.struct_size == kSizeInVersion01<Job> || job.struct_size >= sizeof(Job);
}

// Returns the device of a job. Zero means device 0 if the caller says in `has_device` that it has
// set the field. It also does in a struct of version 0.1, whose caller cannot say that.
template <typename Job>
uint32_t device_of(const Job &job) {
  const bool can_tell = job.struct_size >= offsetof(Job, has_device) + sizeof job.has_device;
  const bool was_left_zero = job.device == 0 && can_tell && job.has_device == 0;
  return was_left_zero ? LC_ANY_DEVICE : job.device;
}

}  // namespace lanecrypt
