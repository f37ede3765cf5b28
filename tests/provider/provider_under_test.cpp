// Sets up library contexts, and compares cipher operations of two providers.
//
// SPDX-License-Identifier: Apache-2.0
#include "provider/provider_under_test.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <regex>

namespace provider_test {
namespace {

void *open_libcrypto() {
  const char *path = std::getenv("LANECRYPT_TEST_LIBCRYPTO");
  if (path != nullptr && *path != '\0') {
    if (void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL)) return handle;
  } else {
    for (const char *name : {"libcrypto.so.3", "libcrypto.so.4"})
      if (void *handle = dlopen(name, RTLD_NOW | RTLD_LOCAL)) return handle;
  }
  std::fprintf(stderr, "provider_test: %s\n", dlerror());
  std::exit(2);
}

std::string hex(const Bytes &bytes) {
  std::string text;
  char digits[3];
  for (size_t at = 0; at < bytes.size() && at < 64; ++at) {
    std::snprintf(digits, sizeof digits, "%02x", bytes[at]);
    text += digits;
  }
  return bytes.size() > 64 ? text + "..." : text;
}

}  // namespace

std::string devices_under_test() {
  const char *named = std::getenv("LANECRYPT_TEST_DEVICES");
  return named == nullptr || *named == '\0' ? "host" : named;
}

bool only_opengl_is_under_test() {
  const std::string others =
      std::regex_replace(devices_under_test(), std::regex("gl(:[0-9]+)?"), "");
  return others.find_first_not_of(", ") == std::string::npos;
}

void *libcrypto_symbol(const char *name) {
  static void *const handle = open_libcrypto();
  void *symbol = dlsym(handle, name);
  if (symbol == nullptr) {
    std::fprintf(stderr, "provider_test: this libcrypto has no %s\n", name);
    std::exit(2);
  }
  return symbol;
}

std::vector<unsigned long> take_errors() {
  std::vector<unsigned long> errors;
  while (const unsigned long error = O(ERR_get_error)()) errors.push_back(error);
  return errors;
}

std::string take_error_texts() {
  std::string texts;
  const char *data = nullptr;
  int flags = 0;
  while (const unsigned long error =
             O(ERR_get_error_all)(nullptr, nullptr, nullptr, &data, &flags)) {
    char text[256];
    O(ERR_error_string_n)(error, text, sizeof text);
    texts += std::string(text) + ":" + ((flags & ERR_TXT_STRING) != 0 ? data : "") + "\n";
  }
  return texts;
}

Library::Library(const Settings &settings, bool with_default, const Settings &default_settings) {
  char path[] = "/tmp/provider_test.XXXXXX";
  const int file = mkstemp(path);
  std::string text = "openssl_conf = start\n[start]\nproviders = providers\n[providers]\n";
  if (with_default) text += "default = default_settings\n";
  text += "gpu = gpu_settings\n[default_settings]\nactivate = 1\n";
  for (const auto &[name, value] : default_settings) text += name + " = " + value + "\n";
  text += "[gpu_settings]\n";
  text += "module = " PROVIDER_MODULE "\n";
  // Most tests use this setting. A later line of a test may override it, because the last line
  // counts.
  text += "in_process = yes\n";
  for (const auto &[name, value] : settings) text += name + " = " + value + "\n";
  // The file does not activate the provider: OpenSSL would discard everything about a provider that
  // fails to load, even the reason.
  const bool written = write(file, text.data(), text.size()) == ssize_t(text.size());
  close(file);
  take_errors();
  context_ = O(OSSL_LIB_CTX_new)();
  ready_ = written && O(OSSL_LIB_CTX_load_config)(context_, path) == 1;
  unlink(path);
  if (ready_) {
    // In some releases of 3.0.x, `module` counts only if the file also activates the provider.
    const std::string module = PROVIDER_MODULE;
    const std::string folder = module.substr(0, module.rfind('/'));
    O(OSSL_PROVIDER_set_default_search_path)(context_, folder.c_str());
    gpu_ = O(OSSL_PROVIDER_load)(context_, "gpu");
    ready_ = gpu_ != nullptr;
  }
  errors_ = take_error_texts();
}

Library::~Library() {
  for (const auto &[name, cipher] : fetched_) O(EVP_CIPHER_free)(cipher);
  if (gpu_ != nullptr) O(OSSL_PROVIDER_unload)(gpu_);
  O(OSSL_LIB_CTX_free)(context_);
}

EVP_CIPHER *Library::cipher(const char *name, const char *provider) {
  const std::string properties = std::string("provider=") + provider, key = properties + name;
  {
    const std::lock_guard lock(mutex_);
    const auto found = fetched_.find(key);
    if (found != fetched_.end()) return found->second;
  }
  // Threads may fetch the cipher concurrently.
  EVP_CIPHER *cipher = O(EVP_CIPHER_fetch)(context_, name, properties.c_str());
  if (cipher == nullptr) return nullptr;
  const std::lock_guard lock(mutex_);
  const auto [kept, is_first] = fetched_.emplace(key, cipher);
  if (!is_first) O(EVP_CIPHER_free)(cipher);
  return kept->second;
}

uint64_t Library::counter(const char *name) {
  uint64_t value = ~uint64_t{0};
  OSSL_PARAM params[] = {
      {name, OSSL_PARAM_UNSIGNED_INTEGER, &value, sizeof value, OSSL_PARAM_UNMODIFIED},
      OSSL_PARAM_END};
  EXPECT_EQ(O(OSSL_PROVIDER_get_params)(gpu_, params), 1) << name;
  return value;
}

std::string Library::text_param(const char *name) {
  char text[4096] = "";
  OSSL_PARAM params[] = {{name, OSSL_PARAM_UTF8_STRING, text, sizeof text, OSSL_PARAM_UNMODIFIED},
                         OSSL_PARAM_END};
  EXPECT_EQ(O(OSSL_PROVIDER_get_params)(gpu_, params), 1) << name;
  return text;
}

Twins::Twins(Library &library, const char *name) {
  static const char *const kProviders[2] = {"default", "gpu"};
  for (int side = 0; side < 2; ++side) {
    EVP_CIPHER *cipher = library.cipher(name, kProviders[side]);
    contexts_[side] = O(EVP_CIPHER_CTX_new)();
    if (cipher == nullptr ||
        !O(EVP_CipherInit_ex2)(contexts_[side], cipher, nullptr, nullptr, 1, nullptr)) {
      whole_ = false;
      difference_ = std::string("no ") + name + " of provider " + kProviders[side];
    }
  }
  take_errors();
}

Twins::~Twins() {
  for (EVP_CIPHER_CTX *context : contexts_) O(EVP_CIPHER_CTX_free)(context);
}

template <typename Call>
int Twins::both(const char *what, Call call) {
  if (!whole_) return 0;
  Outcome outcomes[2];
  for (int side = 0; side < 2; ++side) {
    outcomes[side].result = call(contexts_[side], outcomes[side]);
    outcomes[side].errors = take_errors();
  }
  if (outcomes[0] != outcomes[1]) {
    whole_ = false;
    difference_ = what;
    for (const Outcome &outcome : outcomes) {
      difference_ += "\n  result " + std::to_string(outcome.result) + ", " +
                     std::to_string(outcome.out_bytes) + " bytes, errors";
      for (unsigned long error : outcome.errors)
        difference_ += " " + std::to_string(ERR_GET_REASON(error));
      size_t same = 0;
      while (same < outcomes[0].out.size() && same < outcomes[1].out.size() &&
             outcomes[0].out[same] == outcomes[1].out[same])
        ++same;
      difference_ += ", alike for " + std::to_string(same) + " of " +
                     std::to_string(outcome.out.size()) + ", out " + hex(outcome.out);
    }
  }
  return outcomes[0].result;
}

int Twins::init(const uint8_t *key, const uint8_t *iv, int encrypt, const OSSL_PARAM *params) {
  return both("init", [&](EVP_CIPHER_CTX *context, Outcome &) {
    return O(EVP_CipherInit_ex2)(context, nullptr, key, iv, encrypt, params);
  });
}

int Twins::set_padding(int padding) {
  return both("set_padding", [&](EVP_CIPHER_CTX *context, Outcome &) {
    return O(EVP_CIPHER_CTX_set_padding)(context, padding);
  });
}

int Twins::set_num(unsigned num) {
  return both("set_num", [&](EVP_CIPHER_CTX *context, Outcome &) {
    return O(EVP_CIPHER_CTX_set_num)(context, int(num));
  });
}

int Twins::set_text(const char *name, const char *value) {
  return both("set_text", [&](EVP_CIPHER_CTX *context, Outcome &) {
    OSSL_PARAM params[] = {{name, OSSL_PARAM_UTF8_STRING, const_cast<char *>(value),
                            std::strlen(value), OSSL_PARAM_UNMODIFIED},
                           OSSL_PARAM_END};
    return O(EVP_CIPHER_CTX_set_params)(context, params);
  });
}

int Twins::update(const Bytes &in, Aliasing aliasing, size_t misalignment, size_t shift) {
  const std::string what =
      "update of " + std::to_string(in.size()) +
      (aliasing == Aliasing::kApart     ? " apart"
       : aliasing == Aliasing::kInPlace ? " in place"
                                        : " shifted by " + std::to_string(shift));
  return both(what.c_str(), [&](EVP_CIPHER_CTX *context, Outcome &outcome) {
    Bytes source(in.size() + misalignment + shift + 64, 0xA5);
    if (!in.empty()) std::memcpy(source.data() + misalignment, in.data(), in.size());
    Bytes own(aliasing == Aliasing::kApart ? in.size() + misalignment + 64 : 0, 0x5A);
    uint8_t *from = source.data() + misalignment;
    uint8_t *to =
        aliasing == Aliasing::kApart ? own.data() + (misalignment * 7) % 32 : from + shift;
    outcome.out_bytes = -1;
    const int result = O(EVP_CipherUpdate)(context, to, &outcome.out_bytes, from, int(in.size()));
    // The whole buffer is compared: nothing may be written outside the output.
    outcome.out = aliasing == Aliasing::kApart ? own : source;
    return result;
  });
}

int Twins::at_once(const Bytes &in, Aliasing aliasing, size_t misalignment) {
  return both("at once", [&](EVP_CIPHER_CTX *context, Outcome &outcome) {
    Bytes source(in.size() + misalignment + 64, 0xA5);
    if (!in.empty()) std::memcpy(source.data() + misalignment, in.data(), in.size());
    Bytes own(aliasing == Aliasing::kApart ? source.size() : 0, 0x5A);
    uint8_t *from = source.data() + misalignment;
    uint8_t *to = aliasing == Aliasing::kApart ? own.data() + misalignment / 2 : from;
    const int result = O(EVP_Cipher)(context, to, from, unsigned(in.size()));
    outcome.out = aliasing == Aliasing::kApart ? own : source;
    return result;
  });
}

int Twins::finish() {
  return both("final", [&](EVP_CIPHER_CTX *context, Outcome &outcome) {
    outcome.out.assign(48, 0x5A);
    outcome.out_bytes = -1;
    return O(EVP_CipherFinal_ex)(context, outcome.out.data(), &outcome.out_bytes);
  });
}

int Twins::set_iv_bytes(size_t bytes) {
  return both("set_iv_bytes", [&](EVP_CIPHER_CTX *context, Outcome &) {
    OSSL_PARAM params[] = {{OSSL_CIPHER_PARAM_AEAD_IVLEN, OSSL_PARAM_UNSIGNED_INTEGER, &bytes,
                            sizeof bytes, OSSL_PARAM_UNMODIFIED},
                           OSSL_PARAM_END};
    return O(EVP_CIPHER_CTX_set_params)(context, params);
  });
}

int Twins::update_aad(const Bytes &aad) {
  return both("update_aad", [&](EVP_CIPHER_CTX *context, Outcome &outcome) {
    return O(EVP_CipherUpdate)(context, nullptr, &outcome.out_bytes, aad.data(), int(aad.size()));
  });
}

int Twins::set_tag(const Bytes &tag) {
  return both("set_tag", [&](EVP_CIPHER_CTX *context, Outcome &) {
    return O(EVP_CIPHER_CTX_ctrl)(context, EVP_CTRL_AEAD_SET_TAG, int(tag.size()),
                                  const_cast<uint8_t *>(tag.data()));
  });
}

int Twins::set_tag_bytes(size_t bytes) {
  return both("set_tag_bytes", [&](EVP_CIPHER_CTX *context, Outcome &) {
    return O(EVP_CIPHER_CTX_ctrl)(context, EVP_CTRL_AEAD_SET_TAG, int(bytes), nullptr);
  });
}

int Twins::control(int command, size_t bytes) {
  return both("control", [&](EVP_CIPHER_CTX *context, Outcome &outcome) {
    outcome.out.assign(bytes + 4, 0x5A);
    return O(EVP_CIPHER_CTX_ctrl)(context, command, int(bytes), outcome.out.data());
  });
}

int Twins::set_length(size_t bytes) {
  return both("set_length", [&](EVP_CIPHER_CTX *context, Outcome &outcome) {
    return O(EVP_CipherUpdate)(context, nullptr, &outcome.out_bytes, nullptr, int(bytes));
  });
}

int Twins::read_tag(size_t bytes) {
  return both("read_tag", [&](EVP_CIPHER_CTX *context, Outcome &outcome) {
    outcome.out.assign(bytes + 4, 0x5A);
    return O(EVP_CIPHER_CTX_ctrl)(context, EVP_CTRL_AEAD_GET_TAG, int(bytes), outcome.out.data());
  });
}

void Twins::duplicate() {
  if (!whole_) return;
  both("copy", [&](EVP_CIPHER_CTX *&, Outcome &) { return 1; });
  for (EVP_CIPHER_CTX *&context : contexts_) {
    EVP_CIPHER_CTX *copy = O(EVP_CIPHER_CTX_new)();
    const int copied = O(EVP_CIPHER_CTX_copy)(copy, context);
    if (copied != 1) {
      whole_ = false;
      difference_ = "copy failed";
    }
    // The old context must share no state with the copy.
    uint8_t rubbish[80] = {1, 2, 3}, out[112];
    int bytes = 0;
    O(EVP_CipherUpdate)(context, out, &bytes, rubbish, sizeof rubbish);
    O(EVP_CIPHER_CTX_free)(context);
    context = copy;
  }
  take_errors();
}

void Twins::read_parameters() {
  both("parameters", [](EVP_CIPHER_CTX *context, Outcome &outcome) {
    // If there is no IV, nothing is written to these.
    uint8_t iv[16] = {}, updated[16] = {};
    unsigned padding = 77, num = 77;
    size_t key_bytes = 77, iv_bytes = 77;
    OSSL_PARAM params[] = {
        {OSSL_CIPHER_PARAM_IV, OSSL_PARAM_OCTET_STRING, iv, sizeof iv, OSSL_PARAM_UNMODIFIED},
        {OSSL_CIPHER_PARAM_UPDATED_IV, OSSL_PARAM_OCTET_STRING, updated, sizeof updated,
         OSSL_PARAM_UNMODIFIED},
        {OSSL_CIPHER_PARAM_PADDING, OSSL_PARAM_UNSIGNED_INTEGER, &padding, sizeof padding,
         OSSL_PARAM_UNMODIFIED},
        {OSSL_CIPHER_PARAM_NUM, OSSL_PARAM_UNSIGNED_INTEGER, &num, sizeof num,
         OSSL_PARAM_UNMODIFIED},
        {OSSL_CIPHER_PARAM_KEYLEN, OSSL_PARAM_UNSIGNED_INTEGER, &key_bytes, sizeof key_bytes,
         OSSL_PARAM_UNMODIFIED},
        {OSSL_CIPHER_PARAM_IVLEN, OSSL_PARAM_UNSIGNED_INTEGER, &iv_bytes, sizeof iv_bytes,
         OSSL_PARAM_UNMODIFIED},
        OSSL_PARAM_END};
    const int result = O(EVP_CIPHER_CTX_get_params)(context, params);
    outcome.out.insert(outcome.out.end(), iv, iv + sizeof iv);
    outcome.out.insert(outcome.out.end(), updated, updated + sizeof updated);
    for (size_t value : {size_t(padding), size_t(num), key_bytes, iv_bytes, params[0].return_size,
                         params[1].return_size})
      outcome.out.push_back(uint8_t(value));
    // The same by pointer, as the old EVP_CIPHER_CTX_iv() queries it.
    const void *pointer = nullptr;
    OSSL_PARAM by_pointer[] = {
        {OSSL_CIPHER_PARAM_IV, OSSL_PARAM_OCTET_PTR, &pointer, sizeof iv, OSSL_PARAM_UNMODIFIED},
        OSSL_PARAM_END};
    const int second = O(EVP_CIPHER_CTX_get_params)(context, by_pointer);
    if (second == 1 && by_pointer[0].return_size == 16) {
      const uint8_t *bytes = static_cast<const uint8_t *>(pointer);
      outcome.out.insert(outcome.out.end(), bytes, bytes + 16);
    }
    return result * 10 + second;
  });
}

}  // namespace provider_test
