// Encrypts many messages with AES-256-GCM in one call, decrypts them in another, and shows that a
// changed message is detected.
//
//     cc gcm_messages.c -o gcm_messages $(pkg-config --cflags --libs lanecrypt)
//     ./gcm_messages
//
// SPDX-License-Identifier: Apache-2.0
#include <lanecrypt/cipher.h>
#include <stdio.h>
#include <sys/random.h>

enum { kMessages = 4096, kTextBytes = 256, kNonceBytes = 12, kTagBytes = 16 };

static uint8_t texts[kMessages][kTextBytes];
static uint8_t nonces[kMessages][kNonceBytes];
static uint8_t tags[kMessages][kTagBytes];
static lc_message messages[kMessages];
static lc_status statuses[kMessages];

static int fail(const char *what) {
  fprintf(stderr, "gcm_messages: %s\n", what);
  return 1;
}

int main(void) {
  uint8_t key[32];
  if (getrandom(key, sizeof key, 0) != (ssize_t)sizeof key) return fail("no random numbers");

  for (uint32_t i = 0; i < kMessages; ++i) {
    snprintf((char *)texts[i], kTextBytes, "message %u", (unsigned)i);
    // The number of the message: this key encrypts nothing else, so no nonce repeats.
    for (int byte = 0; byte < 4; ++byte)
      nonces[i][kNonceBytes - 1 - byte] = (uint8_t)(i >> (8 * byte));
    // All messages point to one key, and share its key schedule. `out == in`: in place.
    messages[i] = (lc_message){.key = key,
                               .iv = nonces[i],
                               .in = texts[i],
                               .out = texts[i],
                               .length = kTextBytes,
                               .tag = tags[i]};
  }
  lc_cipher_job job = {.struct_size = sizeof job,
                       .cipher = LC_AES_GCM,
                       .direction = LC_ENCRYPT,
                       .key_bytes = sizeof key,
                       .messages = messages,
                       .message_count = kMessages,
                       .message_size = sizeof messages[0]};
  lc_result result = {.struct_size = sizeof result};
  lc_context *context = NULL;
  // Without options the library uses every GPU, and the CPU if there is none.
  if (lc_open(NULL, &context) != LC_OK) return fail(lc_last_error());
  if (lc_run(context, &job, &result) != LC_OK) return fail(lc_last_error());
  printf("encrypted %llu bytes on a device and %llu on the CPU\n",
         (unsigned long long)result.device_bytes, (unsigned long long)result.cpu_bytes);

  texts[7][0] ^= 1;
  job.direction = LC_DECRYPT;
  job.message_status = statuses;
  const lc_status status = lc_run(context, &job, NULL);
  // LC_ERROR_TAG: some tags are wrong. Their texts were wiped, and all others are good.
  if (status != LC_OK && status != LC_ERROR_TAG) return fail(lc_last_error());
  int good = 0;
  for (int i = 0; i < kMessages; ++i) {
    if (statuses[i] == LC_OK)
      ++good;
    else
      printf("message %d: %s\n", i, lc_status_text(statuses[i]));
  }
  printf("%d messages are authentic; the last is \"%s\"\n", good, (char *)texts[kMessages - 1]);
  lc_close(context);
  return 0;
}
