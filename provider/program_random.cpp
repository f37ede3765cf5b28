// Draws from the random generators of the program's library context.
//
// SPDX-License-Identifier: Apache-2.0
#define OPENSSL_SUPPRESS_DEPRECATED

#include "provider/program_random.h"

#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/provider.h>
#include <openssl/randerr.h>

#include <algorithm>
#include <cstring>

#include "provider/fallback.h"

namespace lanecrypt::provider {
namespace {

// has_method() says whether the program has set a RAND_METHOD, the interface from before library
// contexts. It replaces all generators and must serve any thread.
bool has_method() { return RAND_get_rand_method() != RAND_OpenSSL(); }

// Since OpenSSL 3.5 a whole provider may replace the generators, as the FIPS provider does. No API
// reports that.
bool may_have_random_provider() {
  return 100 * OPENSSL_version_major() + OPENSSL_version_minor() >= 305;
}

}  // namespace

OSSL_LIB_CTX *library_of_program(const OSSL_CORE_HANDLE *handle, const OSSL_DISPATCH *core) {
  OSSL_FUNC_core_get_libctx_fn *get = nullptr;
  for (; core->function_id != 0; ++core)
    if (core->function_id == OSSL_FUNC_CORE_GET_LIBCTX) get = OSSL_FUNC_core_get_libctx(core);
  // OpenSSL's manual reserves OSSL_FUNC_core_get_libctx for its own providers: another provider may
  // be linked with another libcrypto, to which the context means nothing. This provider is linked
  // with none. It calls the same libcrypto that has loaded it (forward.h), and for that one the
  // core's context is an OSSL_LIB_CTX, as for its own providers.
  OSSL_LIB_CTX *const library =
      get == nullptr ? nullptr : reinterpret_cast<OSSL_LIB_CTX *>(get(handle));
  // nullptr means the calling thread's default context, which may change later. The current one is
  // kept.
  return library != nullptr ? library : OSSL_LIB_CTX_set0_default(nullptr);
}

bool has_usual_generator(OSSL_LIB_CTX *program, const void *own) {
  if (has_method()) return false;
  // OpenSSL's own providers and ours never replace a generator. The exception is the FIPS provider,
  // which counts as another provider.
  struct Look {
    const void *own;
    bool found_other = false;
  } look{own};
  const auto note = [](OSSL_PROVIDER *provider, void *argument) noexcept {
    auto &[ours, found_other] = *static_cast<Look *>(argument);
    const char *const name = OSSL_PROVIDER_get0_name(provider);
    const auto is = [name](const char *known) { return std::strcmp(name, known) == 0; };
    if (OSSL_PROVIDER_get0_provider_ctx(provider) != ours &&
        (name == nullptr || !(is("default") || is("base") || is("legacy") || is("null"))))
      found_other = true;
    return 1;
  };
  if (may_have_random_provider()) OSSL_PROVIDER_do_all(program, note, &look);
  if (look.found_other) return false;
  EVP_RAND_CTX *const generator = RAND_get0_private(program);
  if (generator == nullptr) return false;
  const EVP_RAND *const method = EVP_RAND_CTX_get0_rand(generator);
  const OSSL_PROVIDER *const of = method == nullptr ? nullptr : EVP_RAND_get0_provider(method);
  if (of == nullptr || std::strcmp(OSSL_PROVIDER_get0_name(of), "default") != 0) return false;
  char cipher[32] = "";
  OSSL_PARAM params[] = {{OSSL_DRBG_PARAM_CIPHER, OSSL_PARAM_UTF8_STRING, cipher, sizeof cipher, 0},
                         OSSL_PARAM_END};
  return EVP_RAND_is_a(method, "CTR-DRBG") && EVP_RAND_CTX_get_params(generator, params) &&
         std::strcmp(cipher, "AES-256-CTR") == 0;
}

bool draw_private(Provider &provider, uint8_t *to, size_t bytes) {
  ERR_set_mark();
  bool done = RAND_priv_bytes_ex(provider.program, to, bytes, 0) > 0;
  const unsigned long error = done ? 0 : ERR_peek_last_error();
  // A generator that exists and fails is never replaced by another.
  const bool is_there =
      ERR_GET_LIB(error) != ERR_LIB_RAND || ERR_GET_REASON(error) != RAND_R_UNABLE_TO_FETCH_DRBG;
  if (!done && (is_there || library_of_fallback(provider) == provider.program)) {
    ERR_clear_last_mark();
    return false;
  }
  ERR_pop_to_mark();
  if (done) return true;
  if (provider.fallback_provider == nullptr && !load_fallback_provider(provider)) {
    provider.errors.raise(Reason::kNoDefaultProvider, "a random generator");
    return false;
  }
  return RAND_priv_bytes_ex(provider.fallback, to, bytes, 0) > 0;
}

PrivateGenerator::PrivateGenerator(OSSL_LIB_CTX *program)
    : program_(program),
      owner_(std::this_thread::get_id()),
      generator_(has_method() || may_have_random_provider() ? nullptr
                                                            : RAND_get0_private(program)) {}

bool PrivateGenerator::fill(void *to, size_t bytes) {
  constexpr size_t kMost = 1 << 16;  // as much as generators give at once
  auto *at = static_cast<unsigned char *>(to);
  bool done = true;
  for (size_t part; done && bytes > 0; bytes -= part, at += part) {
    part = std::min(bytes, kMost);
    if (generator_ != nullptr) {
      const std::lock_guard lock(mutex_);
      done = EVP_RAND_generate(generator_, at, part, 0, 0, nullptr, 0) == 1;
      continue;
    }
    done = RAND_priv_bytes_ex(program_, at, part, 0) == 1;
    // A generator of this thread must not stay in the program's context, which may end
    // first.
    if (std::this_thread::get_id() != owner_) OPENSSL_thread_stop_ex(program_);
  }
  return done;
}

}  // namespace lanecrypt::provider
