// Loads and unloads a provider many times, in one library context or in a new one each time, and
// uses it each time. OPENSSL_CONF names the provider's module and settings, and does not activate
// it. The arguments are words NAME=VALUE:
//
//   key=FILE     an RSA key
//   loads=N      the number of loads
//   own=yes      each time in a new library context
//
// For each load it prints the heap bytes in use, the resident pages of the process, its threads and
// its open descriptors.
//
// SPDX-License-Identifier: Apache-2.0
#include <dirent.h>
#include <malloc.h>
#include <openssl/conf.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/provider.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <string>
#include <vector>

namespace {

[[noreturn]] void fail(const char *what) {
  fprintf(stderr, "provider_loads: %s\n", what);
  ERR_print_errors_fp(stderr);
  exit(99);
}

int count_entries(const char *folder) {
  DIR *entries = opendir(folder);
  int count = 0;
  while (readdir(entries) != nullptr) ++count;
  closedir(entries);
  return count - 2;
}

long pages_in_memory() {
  long all = 0, resident = 0;
  FILE *file = fopen("/proc/self/statm", "r");
  if (file == nullptr || fscanf(file, "%ld %ld", &all, &resident) != 2) fail("no statm");
  fclose(file);
  return resident;
}

void use(OSSL_LIB_CTX *library, const char *path) {
  FILE *file = fopen(path, "r");
  EVP_PKEY *key = PEM_read_PrivateKey_ex(file, nullptr, nullptr, nullptr, library, "?provider=gpu");
  if (key == nullptr) fail("no key");
  fclose(file);
  unsigned char text[32] = {1}, signature[512];
  size_t bytes = sizeof signature;
  EVP_MD_CTX *context = EVP_MD_CTX_new();
  if (EVP_DigestSignInit_ex(context, nullptr, "SHA256", library, "?provider=gpu", key, nullptr) !=
          1 ||
      EVP_DigestSign(context, signature, &bytes, text, sizeof text) != 1)
    fail("no signature");
  EVP_MD_CTX_free(context);
  EVP_PKEY_free(key);
  std::vector<unsigned char> out(65536 + 16);
  EVP_CIPHER *cipher = EVP_CIPHER_fetch(library, "AES-256-CTR", "?provider=gpu");
  EVP_CIPHER_CTX *stream = EVP_CIPHER_CTX_new();
  int done = 0;
  if (EVP_EncryptInit_ex2(stream, cipher, text, text, nullptr) != 1 ||
      EVP_EncryptUpdate(stream, out.data(), &done, out.data(), 65536) != 1)
    fail("no cipher");
  EVP_CIPHER_CTX_free(stream);
  EVP_CIPHER_free(cipher);
}

}  // namespace

int main(int count, char **arguments) {
  std::string key;
  int loads = 1;
  bool own = false;
  for (int n = 1; n < count; ++n) {
    const std::string text = arguments[n], name = text.substr(0, text.find('=')),
                      value = text.substr(name.size() + 1);
    if (name == "key") key = value;
    if (name == "loads") loads = atoi(value.c_str());
    if (name == "own") own = value == "yes";
  }
  OSSL_LIB_CTX *library = nullptr;
  for (int n = 0; n < loads; ++n) {
    if (own) {
      library = OSSL_LIB_CTX_new();
      if (OSSL_LIB_CTX_load_config(library, getenv("OPENSSL_CONF")) != 1) fail("no configuration");
    }
    OSSL_PROVIDER *base = OSSL_PROVIDER_load(library, "default");
    OSSL_PROVIDER *provider = OSSL_PROVIDER_load(library, "gpu");
    if (base == nullptr || provider == nullptr) fail("no provider");
    use(library, key.c_str());
    if (OSSL_PROVIDER_unload(provider) != 1 || OSSL_PROVIDER_unload(base) != 1) fail("no unload");
    if (own) {
      OSSL_LIB_CTX_free(library);
      // Otherwise OpenSSL keeps a list of all loaded configurations.
      CONF_modules_finish();
    }
    printf("%zu %ld %d %d\n", mallinfo2().uordblks, pages_in_memory(),
           count_entries("/proc/self/task"), count_entries("/proc/self/fd"));
  }
  return 0;
}
