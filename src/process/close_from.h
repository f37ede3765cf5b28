// Closes the descriptors that a new process has inherited. glibc has functions for that from 2.34
// on, and Linux a system call from 5.9 on, but our wheels run on systems with glibc 2.28 and Linux
// 4.18.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dirent.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>

#ifndef SYS_close_range
#define SYS_close_range 436
#endif

namespace lanecrypt::process {

// close_from() closes all descriptors of this process with numbers from `first` on; `first` is not
// negative. It takes no lock and allocates no memory, so a child of fork(), or one that shares its
// parent's memory, may call it. It returns false if neither the system call nor /proc is available.
inline bool close_from(int first) {
  if (syscall(SYS_close_range, first, ~0u, 0) == 0) return true;
  const int folder = open("/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return false;
  // The position of an entry in this folder is its descriptor's number, so closing one moves no
  // other. readdir() would allocate memory.
  alignas(dirent64) char names[2048];
  long bytes;
  while ((bytes = syscall(SYS_getdents64, folder, names, sizeof names)) > 0) {
    const dirent64 *name;
    for (long at = 0; at < bytes; at += name->d_reclen) {
      name = reinterpret_cast<const dirent64 *>(names + at);
      if (name->d_name[0] == '.') continue;
      const auto number = static_cast<int>(std::strtol(name->d_name, nullptr, 10));
      if (number >= first && number != folder) close(number);
    }
  }
  close(folder);
  return bytes == 0;
}

}  // namespace lanecrypt::process
