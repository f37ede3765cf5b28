// A libcrypto, a new library context with OpenSSL's default provider and ours, and a comparison of
// the two.
//
// The libcrypto is the file that LANECRYPT_TEST_LIBCRYPTO names, or the system's. Its functions are
// called as O(EVP_CIPHER_fetch)(...).
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <openssl/provider.h>

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace provider_test {

// libcrypto_symbol() returns a function's address. Each use of O() looks it up once.
void *libcrypto_symbol(const char *name);
#define O(name)                                                           \
  ([] {                                                                   \
    static void *const symbol = ::provider_test::libcrypto_symbol(#name); \
    return reinterpret_cast<decltype(&::name)>(symbol);                   \
  }())

using Settings = std::vector<std::pair<std::string, std::string>>;
using Bytes = std::vector<uint8_t>;

inline const char *const kCiphers[] = {
    "AES-128-ECB",      "AES-192-ECB",      "AES-256-ECB",      "AES-128-CBC",
    "AES-192-CBC",      "AES-256-CBC",      "AES-128-CTR",      "AES-192-CTR",
    "AES-256-CTR",      "AES-128-CFB",      "AES-192-CFB",      "AES-256-CFB",
    "AES-128-OFB",      "AES-192-OFB",      "AES-256-OFB",      "AES-128-XTS",
    "AES-256-XTS",      "AES-128-CBC-CTS",  "AES-192-CBC-CTS",  "AES-256-CBC-CTS",
    "ChaCha20",         "SM4-ECB",          "SM4-CBC",          "SM4-CTR",
    "SM4-CFB",          "SM4-OFB",          "CAMELLIA-128-ECB", "CAMELLIA-128-CBC",
    "CAMELLIA-128-CTR", "CAMELLIA-128-CFB", "CAMELLIA-128-OFB", "CAMELLIA-256-ECB",
    "CAMELLIA-256-CBC", "CAMELLIA-256-CTR", "CAMELLIA-256-CFB", "CAMELLIA-256-OFB",
    "ARIA-128-ECB",     "ARIA-128-CBC",     "ARIA-128-CTR",     "ARIA-128-CFB",
    "ARIA-128-OFB",     "ARIA-256-ECB",     "ARIA-256-CBC",     "ARIA-256-CTR",
    "ARIA-256-CFB",     "ARIA-256-OFB"};
inline const char *const kAuthenticated[] = {"AES-128-GCM",       "AES-192-GCM",  "AES-256-GCM",
                                             "ChaCha20-Poly1305", "ARIA-128-GCM", "ARIA-256-GCM"};
inline constexpr size_t kAuthenticatedCount = sizeof kAuthenticated / sizeof kAuthenticated[0];
// The authenticated mode whose text comes in one piece, and whose length must be set before.
inline const char *const kCcm[] = {"AES-128-CCM", "AES-192-CCM", "AES-256-CCM", "ARIA-128-CCM"};
inline constexpr size_t kCipherCount = sizeof kCiphers / sizeof kCiphers[0];

// devices_under_test() returns the devices for tests that are not about a certain one: those of
// LANECRYPT_TEST_DEVICES, and by default the emulator.
std::string devices_under_test();
// only_opengl_is_under_test() says whether only OpenGL devices are tested, which support neither
// authenticated modes nor ciphertext stealing.
bool only_opengl_is_under_test();

// These remove all errors from this thread's error queue, and return only the codes, or the texts.
std::vector<unsigned long> take_errors();
std::string take_error_texts();

// Library is a library context that is set up by a configuration file.
class Library {
 public:
  // `default_settings` are the settings of the default provider.
  explicit Library(const Settings &settings, bool with_default = true,
                   const Settings &default_settings = {});
  ~Library();
  Library(const Library &) = delete;
  bool is_ready() const { return ready_; }
  // errors() returns the errors that were raised while loading.
  const std::string &errors() const { return errors_; }
  OSSL_LIB_CTX *get() const { return context_; }
  // cipher() fetches a cipher of `provider`, "default" or "gpu". Each is fetched once, and freed
  // with the library. Thread-safe.
  EVP_CIPHER *cipher(const char *name, const char *provider);
  uint64_t counter(const char *name);
  std::string text_param(const char *name);

 private:
  OSSL_LIB_CTX *context_ = nullptr;
  OSSL_PROVIDER *gpu_ = nullptr;
  bool ready_ = false;
  std::string errors_;
  std::mutex mutex_;
  std::map<std::string, EVP_CIPHER *> fetched_;  // by provider and name
};

// Outcome is the result of one call to the default provider or to ours.
struct Outcome {
  int result = 0;
  int out_bytes = 0;
  Bytes out;
  std::vector<unsigned long> errors;
  bool operator==(const Outcome &) const = default;
};

// Twins is the same cipher operation with both providers. Each call compares their outcomes.
class Twins {
 public:
  Twins(Library &library, const char *cipher);
  ~Twins();
  Twins(const Twins &) = delete;

  bool is_whole() const { return whole_; }  // no outcome has differed so far
  const std::string &difference() const { return difference_; }

  // `encrypt` is 1, 0, or -1 to keep the direction.
  int init(const uint8_t *key, const uint8_t *iv, int encrypt, const OSSL_PARAM *params = nullptr);
  int set_padding(int padding);
  int set_num(unsigned num);
  int set_text(const char *name, const char *value);
  // Where the output is: in its own buffer, in place, or `shift` bytes behind the input in one
  // buffer.
  enum class Aliasing { kApart, kInPlace, kShifted };
  int update(const Bytes &in, Aliasing aliasing, size_t misalignment, size_t shift = 0);
  int at_once(const Bytes &in, Aliasing aliasing, size_t misalignment);
  int finish();
  // For authenticated modes.
  int set_iv_bytes(size_t bytes);
  int update_aad(const Bytes &aad);
  int set_tag(const Bytes &tag);
  int set_tag_bytes(size_t bytes);
  // control() calls EVP_CIPHER_CTX_ctrl() with a buffer of `bytes` bytes.
  int control(int command, size_t bytes);
  // CCM: set_length() sets the length of the whole text.
  int set_length(size_t bytes);
  int read_tag(size_t bytes);
  // duplicate() continues with copies. The old contexts get other data and are freed.
  void duplicate();
  // read_parameters() reads all gettable parameters.
  void read_parameters();

 private:
  template <typename Call>
  int both(const char *what, Call call);
  EVP_CIPHER_CTX *contexts_[2];  // default, gpu
  bool whole_ = true;
  std::string difference_;
};

}  // namespace provider_test
