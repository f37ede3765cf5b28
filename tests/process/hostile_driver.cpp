// An OpenCL driver that does harm when it is loaded, as the environment variable HOSTILE_DRIVER
// says. It writes the names of the programs that loaded it to the file that HOSTILE_MARK names.
//
// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

__attribute__((constructor)) static void loaded() {
  // Not secure_getenv(), since an attacker's library would not use that.
  const char *mark = getenv("HOSTILE_MARK"), *what = getenv("HOSTILE_DRIVER");
  if (mark != nullptr) {
    char program[256] = "";
    const ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    if (FILE *file = length > 0 ? fopen(mark, "a") : nullptr; file != nullptr) {
      fprintf(file, "%s\n", program);
      fclose(file);
    }
  }
  if (what == nullptr) return;
  if (strcmp(what, "abort") == 0) abort();
  if (strcmp(what, "exit") == 0) _exit(0);
  if (strcmp(what, "crash") == 0) *static_cast<volatile int *>(nullptr) = 1;
  if (strcmp(what, "hang") == 0)
    for (;;) pause();
}
