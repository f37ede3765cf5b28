// A libcrypto, a fresh library context with OpenSSL's default provider and ours in it,
// and both sides of a comparison.
//
// The libcrypto is the file that LANECRYPT_TEST_LIBCRYPTO names, or the
// system's. Its functions are called as O(EVP_CIPHER_fetch)(...).
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

// Each place that calls a function looks it up once.
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
// Also authenticated. Text comes in one piece, and its length is told before.
inline const char *const kCcm[] = {"AES-128-CCM", "AES-192-CCM", "AES-256-CCM", "ARIA-128-CCM"};
inline constexpr size_t kCipherCount = sizeof kCiphers / sizeof kCiphers[0];

// The devices for tests that are not about a certain one: those of
// LANECRYPT_TEST_DEVICES, and by default the emulator.
std::string devices_under_test();
// Whether only OpenGL's devices are tested, which do neither authenticated modes nor
// ciphertext stealing.
bool only_opengl_is_under_test();

// Takes all errors out of this thread's queue: only the codes, or with their texts.
std::vector<unsigned long> take_errors();
std::string take_error_texts();

// A library context that a configuration file has set up.
class Library {
 public:
  // default_settings: those of the default provider.
  explicit Library(const Settings &settings, bool with_default = true,
                   const Settings &default_settings = {});
  ~Library();
  Library(const Library &) = delete;
  bool is_ready() const { return ready_; }
  // What went wrong while loading.
  const std::string &errors() const { return errors_; }
  OSSL_LIB_CTX *get() const { return context_; }
  // provider: "default" or "gpu". Each is fetched once, and freed with the library. Any thread.
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

// What the default provider and ours do in the same call.
struct Outcome {
  int result = 0;
  int out_bytes = 0;
  Bytes out;
  std::vector<unsigned long> errors;
  bool operator==(const Outcome &) const = default;
};

// The same cipher operation on both sides. Each call compares what they do.
class Twins {
 public:
  Twins(Library &library, const char *cipher);
  ~Twins();
  Twins(const Twins &) = delete;

  bool is_whole() const { return whole_; }  // nothing has differed so far
  const std::string &difference() const { return difference_; }

  // encrypt: 1, 0, or -1 as it was
  int init(const uint8_t *key, const uint8_t *iv, int encrypt, const OSSL_PARAM *params = nullptr);
  int set_padding(int padding);
  int set_num(unsigned num);
  int set_text(const char *name, const char *value);
  // Output is written `offset` bytes behind the input in one buffer (0: in place), or to
  // a buffer of its own.
  enum class Aliasing { kApart, kInPlace, kShifted };
  int update(const Bytes &in, Aliasing aliasing, size_t misalignment, size_t shift = 0);
  int at_once(const Bytes &in, Aliasing aliasing, size_t misalignment);
  int finish();
  // For authenticated modes.
  int set_iv_bytes(size_t bytes);
  int update_aad(const Bytes &aad);
  int set_tag(const Bytes &tag);
  int set_tag_bytes(size_t bytes);
  // EVP_CIPHER_CTX_ctrl() with a buffer of so many bytes.
  int control(int command, size_t bytes);
  // CCM: sets the length of all the text to come.
  int set_length(size_t bytes);
  int read_tag(size_t bytes);
  // Goes on with copies. The old ones get other data and are freed.
  void duplicate();
  // Reads all parameters that can be read.
  void read_parameters();

 private:
  template <typename Call>
  int both(const char *what, Call call);
  EVP_CIPHER_CTX *contexts_[2];  // default, gpu
  bool whole_ = true;
  std::string difference_;
};

}  // namespace provider_test
