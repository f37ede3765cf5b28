// The random generator of the program that loaded the provider, as the program configured
// it. The provider's own library context, a child of the program's, would have a
// generator of its own that knows nothing of that configuration. OpenSSL's own
// implementations draw from the program's, even where the child context has them.
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

// The library context into which the provider is being loaded. For threads of the
// program.
OSSL_LIB_CTX *library_of_program(const OSSL_CORE_HANDLE *handle, const OSSL_DISPATCH *core);

struct Provider;

// Draws from the program's private generator. If the program has none, since it has loaded no
// provider that has generators, this draws from OpenSSL's own in our library context, as the
// default provider's code that we call there does. For threads of the program. False with an
// error raised.
bool draw_private(Provider &provider, uint8_t *to, size_t bytes);

// Whether the program's random generator is the one that it has if nobody configures any.
// Only then may another process draw for it, whose generator is that one too. Where this
// cannot be told, it is false. A source of seeds that is configured within OpenSSL's default
// provider is not seen. For threads of the program. `own` is the context of our provider.
bool has_usual_generator(OSSL_LIB_CTX *program, const void *own);

// The private generator of the thread that makes this, for threads that work for it while
// it waits. From 3.5 on it is what OpenSSL gives each of those threads in the program's
// context, since a random provider may stand in for the generators.
class PrivateGenerator {
 public:
  explicit PrivateGenerator(OSSL_LIB_CTX *program);
  // Any thread; several at once.
  bool fill(void *to, size_t bytes);
  // Keeps other threads out while the thread that made it may draw by itself.
  std::unique_lock<std::mutex> pause() { return std::unique_lock(mutex_); }

 private:
  OSSL_LIB_CTX *const program_;
  const std::thread::id owner_;
  EVP_RAND_CTX *const generator_;  // nullptr: RAND_priv_bytes_ex() finds it
  std::mutex mutex_;
};

}  // namespace lanecrypt::provider
