// The random generator of the program that loaded the provider, as the program configured it. The
// provider's own library context, a child of the program's, would have its own generator without
// that configuration. OpenSSL's own implementations draw from the program's generator too, even if
// the child context has generators.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <openssl/core.h>
#include <openssl/core_dispatch.h>
#include <openssl/rand.h>
#include <openssl/types.h>

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <thread>

namespace lanecrypt::provider {

// library_of_program() returns the library context into which the core is loading the provider.
// Only threads of the program may call it.
OSSL_LIB_CTX *library_of_program(const OSSL_CORE_HANDLE *handle, const OSSL_DISPATCH *core);

struct Provider;

// draw_private() writes `bytes` random bytes to `to` from the program's private generator. If the
// program has no generator, because it has loaded no provider that has one, this draws from
// OpenSSL's generator in our library context, as the default provider's code that we call there
// does. Only threads of the program may call it. It returns false with an error raised on failure.
bool draw_private(Provider &provider, uint8_t *to, size_t bytes);

// has_usual_generator() says whether the program's random generator is the one that OpenSSL has
// without any configuration. Only then may another process, whose generator is the same one, draw
// for it. It returns false if this cannot be determined. It does not see a seed source that is
// configured within OpenSSL's default provider. Only threads of the program may call it. `own` is
// the context of our provider.
bool has_usual_generator(OSSL_LIB_CTX *program, const void *own);

// PrivateGenerator is the private generator of the thread that constructs it, for threads that work
// for that thread while it waits. From OpenSSL 3.5 on, each of those threads instead uses the
// generator that OpenSSL gives it in the program's context, because a random provider may replace
// the generators.
class PrivateGenerator {
 public:
  explicit PrivateGenerator(OSSL_LIB_CTX *program);
  // fill() writes `bytes` random bytes to `to`. Thread-safe.
  bool fill(void *to, size_t bytes);
  // pause() blocks fill() in other threads while the result lives, so that the constructing thread
  // may draw by itself.
  std::unique_lock<std::mutex> pause() { return std::unique_lock(mutex_); }

 private:
  OSSL_LIB_CTX *const program_;
  const std::thread::id owner_;
  EVP_RAND_CTX *const generator_;  // nullptr: RAND_priv_bytes_ex() finds it
  std::mutex mutex_;
};

}  // namespace lanecrypt::provider
