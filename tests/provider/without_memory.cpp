// Tests the provider without memory: each allocation of the module fails in turn, alone or with all
// later ones. An OpenSSL call that needs the module then either fails with an error raised or
// succeeds with the right result, and the process continues.
//
// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>
#include <errno.h>
#include <gtest/gtest.h>
#include <link.h>
#include <openssl/rsa.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <memory>

#include "provider/provider_under_test.h"

namespace {

// The address range of the module's code. The module has its own operator new, which calls
// malloc().
uintptr_t module_begin = 0, module_end = 0;

struct Want {
  bool is_armed = false;
  long allocations = 0;  // of the module, since is_armed was set
  long first = 0;        // the first that fails
  bool lasts = false;    // whether all later ones fail too
};
// This is thread-local, because failures are only injected into the calling thread.
thread_local Want want;

bool fails_now(const void *caller) {
  const auto address = reinterpret_cast<uintptr_t>(caller);
  if (!want.is_armed || address < module_begin || address >= module_end) return false;
  const long number = want.allocations++;
  return number == want.first || (want.lasts && number > want.first);
}

}  // namespace

// These replace the C library's functions, for all modules of this process.
extern "C" {
void *__libc_malloc(size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);
void *malloc(size_t bytes) {
  if (!fails_now(__builtin_return_address(0))) return __libc_malloc(bytes);
  errno = ENOMEM;
  return nullptr;
}
void *aligned_alloc(size_t alignment, size_t bytes) {
  if (!fails_now(__builtin_return_address(0))) return __libc_memalign(alignment, bytes);
  errno = ENOMEM;
  return nullptr;
}
}

namespace provider_test {
namespace {

// Told is shared memory for the results of the child processes.
struct Told {
  long allocations;
  char what[200];
};

class WithoutMemory : public testing::Test {
 protected:
  WithoutMemory() {
    // This initialises nothing of the provider, which each child does anew.
    void *const module = dlopen(PROVIDER_MODULE, RTLD_NOW | RTLD_LOCAL);
    EXPECT_NE(nullptr, module) << dlerror();
    if (module == nullptr) return;
    dl_iterate_phdr(
        [](dl_phdr_info *info, size_t, void *) noexcept {
          if (std::strcmp(info->dlpi_name, PROVIDER_MODULE) != 0) return 0;
          module_begin = UINTPTR_MAX;
          for (int n = 0; n < info->dlpi_phnum; ++n) {
            const ElfW(Phdr) &part = info->dlpi_phdr[n];
            if (part.p_type != PT_LOAD) continue;
            module_begin = std::min<uintptr_t>(module_begin, info->dlpi_addr + part.p_vaddr);
            module_end =
                std::max<uintptr_t>(module_end, info->dlpi_addr + part.p_vaddr + part.p_memsz);
          }
          return 1;
        },
        nullptr);
    EXPECT_NE(0u, module_begin);
    void *const page =
        mmap(nullptr, sizeof(Told), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    EXPECT_NE(MAP_FAILED, page);
    told_ = static_cast<Told *>(page);
  }
  ~WithoutMemory() override { munmap(told_, sizeof(Told)); }

  // sweep() runs `work` in a child for each number of allocations that succeed before one or all of
  // them fail. `work` returns "" if everything succeeded, an OpenSSL error if something failed, and
  // a text that begins with "!" for a violation. `least` is the minimum number of allocations. If
  // `is_slow`, only the variant with one failing allocation runs.
  void sweep(const std::function<std::string()> &work, long least, bool is_slow = false) {
    for (const bool lasts : {false, true}) {
      if (lasts && is_slow) break;
      long all = 0;
      for (long first = 0; first == 0 || first < all; ++first) {
        *told_ = {};
        (void)fflush(nullptr);
        const pid_t child = fork();
        ASSERT_GE(child, 0);
        if (child == 0) run_child(work, first, lasts);
        int status = 0;
        ASSERT_EQ(child, waitpid(child, &status, 0));
        ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0)
            << "allocation " << first << (lasts ? " and all later ones: " : ": ")
            << (WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : told_->what);
        // A failure may skip later allocations.
        all = std::max(all, told_->allocations);
      }
      EXPECT_GE(all, least);
    }
  }

 private:
  [[noreturn]] void run_child(const std::function<std::string()> &work, long first, bool lasts) {
    // A device that got no memory can still be used afterwards.
    want = {true, 0, first, lasts};
    std::string what = work();
    told_->allocations = want.allocations;
    want = {};
    // With memory everything works again, in the same process.
    if (what[0] != '!' && (lasts || !what.empty())) {
      what = work();
      if (!what.empty()) what = "afterwards: " + what;
    }
    std::snprintf(told_->what, sizeof told_->what, "%s", what.c_str());
    _exit(what.empty() ? 0 : 1);
  }

  Told *told_ = nullptr;
};

// failure() returns why a call failed. The call must have raised an error.
std::string failure(const char *call) {
  const std::string why = take_error_texts();
  return why.empty() ? std::string("! no error raised by ") + call : call + (": " + why);
}

template <auto kFree>
struct Free {
  template <typename Object>
  void operator()(Object *object) const {
    kFree(object);
  }
};
template <typename Object, auto kFree>
using Own = std::unique_ptr<Object, Free<kFree>>;
using Pkey = Own<EVP_PKEY, [](EVP_PKEY *key) { O(EVP_PKEY_free)(key); }>;
using PkeyContext = Own<EVP_PKEY_CTX, [](EVP_PKEY_CTX *one) { O(EVP_PKEY_CTX_free)(one); }>;
using DigestContext = Own<EVP_MD_CTX, [](EVP_MD_CTX *one) { O(EVP_MD_CTX_free)(one); }>;
using Context = Own<EVP_CIPHER_CTX, [](EVP_CIPHER_CTX *one) { O(EVP_CIPHER_CTX_free)(one); }>;
using Cipher = Own<EVP_CIPHER, [](EVP_CIPHER *one) { O(EVP_CIPHER_free)(one); }>;

// ---- Load and unload ----

TEST_F(WithoutMemory, LoadsOrSaysWhyNot) {
  sweep(
      [] {
        Library library({{"devices", "none"},
                         {"service", "/nonexistent/lanecrypt/socket"},
                         {"stats_file", "/nonexistent/lanecrypt/statistics"}});
        if (library.is_ready()) return std::string();
        return library.errors().empty() ? "! no error raised by the load" : library.errors();
      },
      2);
}

TEST_F(WithoutMemory, RefusesWrongSettings) {
  sweep(
      [] {
        Library library(
            Settings{{"verify", "a text that is too long to need no memory for itself"}});
        if (library.is_ready()) return std::string("! took a wrong setting");
        return library.errors().empty() ? std::string("! no error raised by the load")
                                        : std::string();
      },
      2);
}

// ---- Ciphers ----

// encrypt() encrypts with both providers, in two updates and after a copy of the context, and
// compares.
std::string encrypt(Library &library, const char *name) {
  const uint8_t key[64] = {1, 2, 3}, iv[16] = {4};
  const Bytes in(256, 'x');
  Bytes out[2];
  for (const bool is_ours : {false, true}) {
    const Cipher cipher(
        O(EVP_CIPHER_fetch)(library.get(), name, is_ours ? "provider=gpu" : "provider=default"));
    if (cipher == nullptr) return failure("EVP_CIPHER_fetch");
    const Context first(O(EVP_CIPHER_CTX_new)()), copy(O(EVP_CIPHER_CTX_new)());
    if (!O(EVP_CipherInit_ex2)(first.get(), cipher.get(), key, iv, 1, nullptr))
      return failure("EVP_CipherInit_ex2");
    Bytes &to = out[is_ours ? 1 : 0];
    to.resize(in.size() + 32);
    int bytes = 0, more = 0, last = 0;
    if (!O(EVP_CipherUpdate)(first.get(), to.data(), &bytes, in.data(), 128))
      return failure("EVP_CipherUpdate");
    if (!O(EVP_CIPHER_CTX_copy)(copy.get(), first.get())) return failure("EVP_CIPHER_CTX_copy");
    if (!O(EVP_CipherUpdate)(copy.get(), to.data() + bytes, &more, in.data() + 128, 128))
      return failure("EVP_CipherUpdate");
    if (!O(EVP_CipherFinal_ex)(copy.get(), to.data() + bytes + more, &last))
      return failure("EVP_CipherFinal_ex");
    to.resize(size_t(bytes + more + last));
  }
  return out[0] == out[1] ? "" : std::string("! a wrong text by ") + name;
}

std::string encrypt_all(const Settings &settings, std::initializer_list<const char *> names) {
  Library library(settings);
  if (!library.is_ready())
    return library.errors().empty() ? "! no error raised by the load" : library.errors();
  for (const char *name : names)
    if (const std::string why = encrypt(library, name); !why.empty()) return why;
  return "";
}

TEST_F(WithoutMemory, EncryptsRight) {
  sweep(
      [] {
        return encrypt_all({{"devices", "host"}, {"threshold_bytes", "100"}},
                           {"AES-128-CTR", "AES-128-GCM"});
      },
      4, true);
}

TEST_F(WithoutMemory, EncryptsRightByItself) {
  sweep(
      [] {
        return encrypt_all(
            {{"devices", "none"}, {"cores", "2"}},
            {"AES-128-CTR", "AES-256-CBC", "AES-128-GCM", "ChaCha20-Poly1305", "AES-128-XTS"});
      },
      4);
}

// ---- Keys ----

// use_key() uses a key of the default provider in ours: it imports and copies the key, signs a
// message, verifies the signature, and exports the key. With RSA it also encrypts and decrypts.
std::string use_key(Library &library, const char *type, const OSSL_PARAM *parts) {
  const PkeyContext maker(O(EVP_PKEY_CTX_new_from_name)(library.get(), type, "provider=gpu"));
  if (maker == nullptr) return failure("EVP_PKEY_CTX_new_from_name");
  EVP_PKEY *made = nullptr;
  if (O(EVP_PKEY_fromdata_init)(maker.get()) != 1) return failure("EVP_PKEY_fromdata_init");
  if (O(EVP_PKEY_fromdata)(maker.get(), &made, EVP_PKEY_KEYPAIR, const_cast<OSSL_PARAM *>(parts)) !=
      1)
    return failure("EVP_PKEY_fromdata");
  const Pkey first(made), key(O(EVP_PKEY_dup)(made));
  if (key == nullptr) return failure("EVP_PKEY_dup");

  const bool is_rsa = std::strcmp(type, "RSA") == 0;
  const char *const digest = is_rsa ? "SHA256" : nullptr;
  const uint8_t message[] = "a message that somebody wrote";
  Bytes signature(size_t(O(EVP_PKEY_get_size)(key.get())));
  size_t bytes = signature.size();
  const DigestContext signer(O(EVP_MD_CTX_new)()), verifier(O(EVP_MD_CTX_new)());
  if (O(EVP_DigestSignInit_ex)(signer.get(), nullptr, digest, library.get(), "provider=gpu",
                               key.get(), nullptr) != 1 &&
      O(EVP_DigestSignInit_ex)(signer.get(), nullptr, digest, library.get(), nullptr, key.get(),
                               nullptr) != 1)
    return failure("EVP_DigestSignInit_ex");
  if (O(EVP_DigestSign)(signer.get(), signature.data(), &bytes, message, sizeof message) != 1)
    return failure("EVP_DigestSign");
  if (O(EVP_DigestVerifyInit_ex)(verifier.get(), nullptr, digest, library.get(), nullptr, key.get(),
                                 nullptr) != 1)
    return failure("EVP_DigestVerifyInit_ex");
  if (O(EVP_DigestVerify)(verifier.get(), signature.data(), bytes, message, sizeof message) != 1) {
    const std::string why = take_error_texts();
    return why.empty() ? "! a wrong signature" : "EVP_DigestVerify: " + why;
  }
  OSSL_PARAM *read = nullptr;
  if (O(EVP_PKEY_todata)(key.get(), EVP_PKEY_KEYPAIR, &read) != 1)
    return failure("EVP_PKEY_todata");
  O(OSSL_PARAM_free)(read);
  if (!is_rsa) return "";

  const PkeyContext sealer(O(EVP_PKEY_CTX_new_from_pkey)(library.get(), key.get(), "provider=gpu"));
  if (sealer == nullptr) return failure("EVP_PKEY_CTX_new_from_pkey");
  char padding[] = OSSL_PKEY_RSA_PAD_MODE_OAEP, hash[] = "SHA1", label[] = "of a longer label's";
  const OSSL_PARAM params[] = {
      {OSSL_PKEY_PARAM_PAD_MODE, OSSL_PARAM_UTF8_STRING, padding, sizeof padding - 1, 0},
      {OSSL_ASYM_CIPHER_PARAM_OAEP_DIGEST, OSSL_PARAM_UTF8_STRING, hash, sizeof hash - 1, 0},
      {OSSL_ASYM_CIPHER_PARAM_OAEP_LABEL, OSSL_PARAM_OCTET_STRING, label, sizeof label, 0},
      OSSL_PARAM_END};
  Bytes sealed(size_t(O(EVP_PKEY_get_size)(key.get()))), opened(sealed.size());
  size_t sealed_bytes = sealed.size(), opened_bytes = opened.size();
  if (O(EVP_PKEY_encrypt_init_ex)(sealer.get(), params) != 1)
    return failure("EVP_PKEY_encrypt_init_ex");
  if (O(EVP_PKEY_encrypt)(sealer.get(), sealed.data(), &sealed_bytes, message, 20) != 1)
    return failure("EVP_PKEY_encrypt");
  const PkeyContext opener(O(EVP_PKEY_CTX_dup)(sealer.get()));
  if (opener == nullptr) return failure("EVP_PKEY_CTX_dup");
  if (O(EVP_PKEY_decrypt_init_ex)(opener.get(), params) != 1)
    return failure("EVP_PKEY_decrypt_init_ex");
  if (O(EVP_PKEY_decrypt)(opener.get(), opened.data(), &opened_bytes, sealed.data(),
                          sealed_bytes) != 1)
    return failure("EVP_PKEY_decrypt");
  return opened_bytes == 20 && std::memcmp(opened.data(), message, 20) == 0 ? "" : "! a wrong text";
}

// parts_of_new_key() returns the parameters of a new key of the default provider.
OSSL_PARAM *parts_of_new_key(const char *type) {
  OSSL_LIB_CTX *const library = O(OSSL_LIB_CTX_new)();
  OSSL_PARAM *parts = nullptr;
  EVP_PKEY *made = nullptr;
  {
    const PkeyContext maker(O(EVP_PKEY_CTX_new_from_name)(library, type, nullptr));
    EXPECT_EQ(1, O(EVP_PKEY_keygen_init)(maker.get()));
    EXPECT_EQ(1, O(EVP_PKEY_generate)(maker.get(), &made)) << take_error_texts();
    const Pkey key(made);
    EXPECT_EQ(1, O(EVP_PKEY_todata)(made, EVP_PKEY_KEYPAIR, &parts)) << take_error_texts();
  }
  O(OSSL_LIB_CTX_free)(library);
  return parts;
}

class KeysWithoutMemory : public WithoutMemory, public testing::WithParamInterface<const char *> {
 protected:
  void run(const Settings &settings, long least, bool is_slow) {
    if (std::strcmp(GetParam(), "RSA") != 0 &&
        100 * O(OPENSSL_version_major)() + O(OPENSSL_version_minor)() < 305)
      GTEST_SKIP() << "needs OpenSSL 3.5";
    OSSL_PARAM *const parts = parts_of_new_key(GetParam());
    ASSERT_NE(nullptr, parts);
    sweep(
        [&] {
          Library library(settings);
          if (!library.is_ready())
            return library.errors().empty() ? "! no error raised by the load" : library.errors();
          return use_key(library, GetParam(), parts);
        },
        least, is_slow);
    O(OSSL_PARAM_free)(parts);
  }
};

TEST_P(KeysWithoutMemory, SignRight) {
  run({{"devices", "host"}, {"rsa", "always"}, {"ml_dsa", "always"}, {"slh_dsa", "always"}}, 8,
      true);
}

// No service listens there, so the process signs itself.
TEST_P(KeysWithoutMemory, SignRightWithoutTheService) {
  run({{"in_process", "no"},
       {"service", "/nonexistent/lanecrypt/socket"},
       {"rsa", "always"},
       {"ml_dsa", "always"},
       {"slh_dsa", "always"}},
      8, false);
}

INSTANTIATE_TEST_SUITE_P(Each, KeysWithoutMemory,
                         testing::Values("RSA", "ML-DSA-44", "SLH-DSA-SHA2-128f"),
                         [](const auto &type) {
                           std::string name = type.param;
                           std::erase(name, '-');
                           return name;
                         });

}  // namespace
}  // namespace provider_test
