// Prints the BLAKE3 digest of each file, in the format of b3sum.
//
//     cc blake3_file.c -o blake3_file $(pkg-config --cflags --libs lanecrypt)
//     ./blake3_file FILE...
//
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <lanecrypt/hash.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { kDigestBytes = 32 };

// Prints the digest of one file. Returns 0, or 1 after an error. BLAKE3 is a tree: a device hashes
// the parts of one large file in parallel. The CPU does less than 1 MiB.
static int hash_file(lc_context *context, const char *path) {
  struct stat info;
  const int descriptor = open(path, O_RDONLY | O_CLOEXEC);
  if (descriptor < 0 || fstat(descriptor, &info) != 0) {
    perror(path);
    return 1;
  }
  const size_t length = (size_t)info.st_size;
  void *const bytes =
      length == 0 ? NULL : mmap(NULL, length, PROT_READ, MAP_PRIVATE, descriptor, 0);
  close(descriptor);
  if (bytes == MAP_FAILED) {
    perror(path);
    return 1;
  }
  uint8_t digest[kDigestBytes];
  const lc_hash_message message = {.in = bytes, .length = length, .digest = digest};
  const lc_hash_job job = {.struct_size = sizeof job,
                           .hash = LC_BLAKE3,
                           .messages = &message,
                           .message_count = 1,
                           .message_size = sizeof message};
  const lc_status status = lc_hash_run(context, &job, NULL);
  if (bytes != NULL) munmap(bytes, length);
  if (status != LC_OK) {
    fprintf(stderr, "%s: %s\n", path, lc_last_error());
    return 1;
  }
  for (int i = 0; i < kDigestBytes; ++i) printf("%02x", digest[i]);
  printf("  %s\n", path);
  return 0;
}

int main(int argc, char **argv) {
  lc_context *context = NULL;
  if (lc_open(NULL, &context) != LC_OK) {
    fprintf(stderr, "blake3_file: %s\n", lc_last_error());
    return 1;
  }
  int failed = 0;
  for (int i = 1; i < argc; ++i) failed |= hash_file(context, argv[i]);
  lc_close(context);
  return failed;
}
