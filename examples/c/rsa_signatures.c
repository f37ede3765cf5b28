// Signs files with an RSA key from a PEM file, all in one call: RSASSA-PKCS1-v1_5 with SHA-256
// (RFC 8017, section 8.2). Writes the signature of FILE to FILE.sig.
//
//     cc rsa_signatures.c -o rsa_signatures $(pkg-config --cflags --libs lanecrypt libcrypto)
//     openssl genrsa -out key.pem 3072
//     ./rsa_signatures key.pem FILE...
//     openssl dgst -sha256 -verify <(openssl pkey -in key.pem -pubout) -signature FILE.sig FILE
//
// SPDX-License-Identifier: Apache-2.0
#include <lanecrypt/rsa.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kMaxModulusBytes = 2048, kNumbers = 7, kDigestBytes = 32 };

static void fail(const char *what, const char *why) {
  fprintf(stderr, "rsa_signatures: %s: %s\n", what, why);
  exit(1);
}

// Reads a private key with OpenSSL, and copies its numbers into a key of Lanecrypt.
static lc_rsa_key *read_key(const char *path) {
  static const char *const kNames[kNumbers] = {
      OSSL_PKEY_PARAM_RSA_N,           OSSL_PKEY_PARAM_RSA_E,         OSSL_PKEY_PARAM_RSA_FACTOR1,
      OSSL_PKEY_PARAM_RSA_FACTOR2,     OSSL_PKEY_PARAM_RSA_EXPONENT1, OSSL_PKEY_PARAM_RSA_EXPONENT2,
      OSSL_PKEY_PARAM_RSA_COEFFICIENT1};
  static uint8_t bytes[kNumbers][kMaxModulusBytes];
  lc_number numbers[kNumbers];
  FILE *const file = fopen(path, "r");
  if (file == NULL) fail(path, "cannot be opened");
  EVP_PKEY *const pem = PEM_read_PrivateKey(file, NULL, NULL, NULL);
  fclose(file);
  if (pem == NULL || !EVP_PKEY_is_a(pem, "RSA")) fail(path, "has no private RSA key");
  for (int i = 0; i < kNumbers; ++i) {
    BIGNUM *number = NULL;
    if (!EVP_PKEY_get_bn_param(pem, kNames[i], &number)) fail(path, "lacks a number of the key");
    const int length = BN_num_bytes(number);
    if (length > kMaxModulusBytes) fail(path, "the key is too long");
    BN_bn2bin(number, bytes[i]);
    numbers[i] = (lc_number){bytes[i], (size_t)length};
    BN_clear_free(number);
  }
  EVP_PKEY_free(pem);
  const lc_rsa_parts parts = {.struct_size = sizeof parts,
                              .n = numbers[0],
                              .e = numbers[1],
                              .p = numbers[2],
                              .q = numbers[3],
                              .dp = numbers[4],
                              .dq = numbers[5],
                              .qinv = numbers[6]};
  lc_rsa_key *key = NULL;
  const lc_status status = lc_rsa_key_new(&parts, &key);
  // The key has a copy of its own, in memory that is locked and wiped.
  OPENSSL_cleanse(bytes, sizeof bytes);
  if (status != LC_OK) fail(path, lc_last_error());
  return key;
}

static void hash_file(const char *path, uint8_t digest[kDigestBytes]) {
  uint8_t buffer[65536];
  FILE *const file = fopen(path, "rb");
  if (file == NULL) fail(path, "cannot be opened");
  EVP_MD_CTX *const hash = EVP_MD_CTX_new();
  int ok = hash != NULL && EVP_DigestInit_ex(hash, EVP_sha256(), NULL);
  for (size_t got; ok && (got = fread(buffer, 1, sizeof buffer, file)) > 0;)
    ok = EVP_DigestUpdate(hash, buffer, got);
  if (!ok || ferror(file) || !EVP_DigestFinal_ex(hash, digest, NULL)) fail(path, "cannot be read");
  EVP_MD_CTX_free(hash);
  fclose(file);
}

// RFC 8017, section 9.2, EMSA-PKCS1-v1_5-ENCODE: 0, 1, bytes of 255, 0, DigestInfo of SHA-256.
static void encode(const uint8_t digest[kDigestBytes], uint8_t *encoded, size_t length) {
  static const uint8_t kDigestInfo[] = {0x30, 0x31, 0x30, 0x0d, 0x06, 0x09, 0x60, 0x86, 0x48, 0x01,
                                        0x65, 0x03, 0x04, 0x02, 0x01, 0x05, 0x00, 0x04, 0x20};
  uint8_t *const end = encoded + length;
  memset(encoded, 0xff, length);
  encoded[0] = 0;
  encoded[1] = 1;
  end[-(int)(kDigestBytes + sizeof kDigestInfo) - 1] = 0;
  memcpy(end - kDigestBytes - sizeof kDigestInfo, kDigestInfo, sizeof kDigestInfo);
  memcpy(end - kDigestBytes, digest, kDigestBytes);
}

int main(int argc, char **argv) {
  if (argc < 3) fail("usage", "rsa_signatures KEY.pem FILE...");
  const size_t count = (size_t)argc - 2;
  char **const paths = argv + 2;
  lc_rsa_key *const key = read_key(argv[1]);
  const size_t length = lc_rsa_key_bytes(key);
  uint8_t *const signatures = malloc(count * length);
  lc_rsa_message *const messages = calloc(count, sizeof *messages);
  if (signatures == NULL || messages == NULL) fail("memory", "there is not enough");
  for (size_t i = 0; i < count; ++i) {
    uint8_t digest[kDigestBytes];
    uint8_t *const signature = signatures + i * length;
    hash_file(paths[i], digest);
    encode(digest, signature, length);
    // `out == in`: the signature replaces the encoded digest.
    messages[i] = (lc_rsa_message){.key = key, .in = signature, .out = signature};
  }

  lc_context *context = NULL;
  if (lc_open(NULL, &context) != LC_OK) fail("lc_open", lc_last_error());
  const lc_rsa_job job = {.struct_size = sizeof job,
                          .operation = LC_RSA_PRIVATE,
                          .messages = messages,
                          .message_count = count,
                          .message_size = sizeof *messages};
  lc_result result = {.struct_size = sizeof result};
  // Each signature is checked against e before it is released.
  if (lc_rsa_run(context, &job, &result) != LC_OK) fail("lc_rsa_run", lc_last_error());
  printf("%llu signatures on a device, %llu on the CPU\n",
         (unsigned long long)result.device_operations, (unsigned long long)result.cpu_operations);

  for (size_t i = 0; i < count; ++i) {
    char path[4096];
    if (snprintf(path, sizeof path, "%s.sig", paths[i]) >= (int)sizeof path)
      fail(paths[i], "the name is too long");
    FILE *const file = fopen(path, "wb");
    if (file == NULL || fwrite(signatures + i * length, 1, length, file) != length ||
        fclose(file) != 0)
      fail(path, "cannot be written");
  }
  lc_rsa_key_free(key);
  lc_close(context);
  free(messages);
  free(signatures);
  return 0;
}
