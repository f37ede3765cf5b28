// An ordinary OpenSSL program that frees OpenSSL's objects after OpenSSL's own cleanup. It knows
// nothing of Lanecrypt. The arguments are words NAME=VALUE:
//
//   key=FILE       an RSA key and its certificate
//   when=main      frees all before main() returns
//        global    in the destructor of a global object
//        handler   in an atexit() handler registered before OpenSSL's first use
//        library   in a destructor of the loaded object, after all atexit() handlers
//        cleanup   after a call of OPENSSL_cleanup()
//        thread    in another thread, after a call of OPENSSL_cleanup()
//        race      in another thread, while OPENSSL_cleanup() runs
//        unload    as `global`, after OSSL_PROVIDER_unload() of a provider loaded by name
//   used=yes       each object was used once; otherwise it was only created
//   own=yes        works in a new library context, and frees that after the objects;
//   own=first      frees it before them
//
// It prints "freed" and the number of objects, and ends with status 0.
//
// SPDX-License-Identifier: Apache-2.0
#include <openssl/async.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/encoder.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/provider.h>
#include <openssl/rand.h>
#include <openssl/rsa.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

namespace {

enum class When { kMain, kGlobal, kHandler, kLibrary, kCleanup, kThread, kRace, kUnload };
const std::map<std::string, When> kWhen = {
    {"main", When::kMain},       {"global", When::kGlobal},   {"handler", When::kHandler},
    {"library", When::kLibrary}, {"cleanup", When::kCleanup}, {"thread", When::kThread},
    {"race", When::kRace},       {"unload", When::kUnload},
};
When when = When::kMain;
bool used = false, own = false, library_first = false;
OSSL_LIB_CTX *library = nullptr;  // nullptr: libcrypto's default one

// Frees the objects that it holds, in reverse order.
struct Held {
  // Never destroyed, because free_all() may run after all destructors.
  std::vector<std::function<void()>> &frees = *new std::vector<std::function<void()>>;

  void free_all() {
    const size_t count = frees.size();
    if (library_first) OSSL_LIB_CTX_free(library);
    while (!frees.empty()) {
      frees.back()();
      frees.pop_back();
    }
    if (!library_first) OSSL_LIB_CTX_free(library);
    delete &frees;
    printf("freed %zu\n", count);
    fflush(stdout);
  }
  ~Held() {
    if (when == When::kGlobal || when == When::kUnload) free_all();
  }
} held;

void free_in_handler() { held.free_all(); }
[[gnu::destructor]] void free_in_library() {
  if (when == When::kLibrary) held.free_all();
}

[[noreturn]] void fail(const char *what) {
  fprintf(stderr, "late_frees: %s\n", what);
  ERR_print_errors_fp(stderr);
  _exit(99);
}

template <typename T>
T *keep(T *object, void (*free)(T *), const char *what) {
  if (object == nullptr) fail(what);
  held.frees.emplace_back([=] { free(object); });
  return object;
}
void must(int result, const char *what) {
  if (result != 1) fail(what);
}

// ---- Keys, and operations with them ----

void keep_operations(EVP_PKEY *key, const char *digest) {
  unsigned char message[32] = {1};
  std::vector<unsigned char> signature(size_t(EVP_PKEY_get_size(key)));
  size_t bytes = signature.size();
  EVP_MD_CTX *sign = keep(EVP_MD_CTX_new(), EVP_MD_CTX_free, "EVP_MD_CTX");
  must(EVP_DigestSignInit_ex(sign, nullptr, digest, library, nullptr, key, nullptr), "sign init");
  if (used) must(EVP_DigestSign(sign, signature.data(), &bytes, message, sizeof message), "sign");
  keep(EVP_PKEY_CTX_dup(EVP_MD_CTX_get_pkey_ctx(sign)), EVP_PKEY_CTX_free, "copy of a context");
  EVP_MD_CTX *verify = keep(EVP_MD_CTX_new(), EVP_MD_CTX_free, "EVP_MD_CTX");
  must(EVP_DigestVerifyInit_ex(verify, nullptr, digest, library, nullptr, key, nullptr), "verify");
  if (used) {
    must(EVP_DigestVerify(verify, signature.data(), bytes, message, sizeof message), "verify");
  }
  if (digest == nullptr) return;
  // A context in the middle of a message.
  EVP_MD_CTX *half = keep(EVP_MD_CTX_new(), EVP_MD_CTX_free, "EVP_MD_CTX");
  must(EVP_DigestSignInit_ex(half, nullptr, digest, library, nullptr, key, nullptr), "sign init");
  if (used) must(EVP_DigestSignUpdate(half, message, sizeof message), "sign update");
}

void keep_encryption(EVP_PKEY *key, int padding) {
  unsigned char message[16] = {1}, encrypted[512], decrypted[512];
  size_t bytes = sizeof encrypted, decrypted_bytes = sizeof decrypted;
  EVP_PKEY_CTX *to =
      keep(EVP_PKEY_CTX_new_from_pkey(library, key, nullptr), EVP_PKEY_CTX_free, "EVP_PKEY_CTX");
  EVP_PKEY_CTX *from =
      keep(EVP_PKEY_CTX_new_from_pkey(library, key, nullptr), EVP_PKEY_CTX_free, "EVP_PKEY_CTX");
  must(EVP_PKEY_encrypt_init(to), "encrypt init");
  must(EVP_PKEY_CTX_set_rsa_padding(to, padding), "padding");
  must(EVP_PKEY_decrypt_init(from), "decrypt init");
  must(EVP_PKEY_CTX_set_rsa_padding(from, padding), "padding");
  if (!used) return;
  must(EVP_PKEY_encrypt(to, encrypted, &bytes, message, sizeof message), "encrypt");
  must(EVP_PKEY_decrypt(from, decrypted, &decrypted_bytes, encrypted, bytes), "decrypt");
}

// Creates a context that makes keys, and returns a key that it made.
EVP_PKEY *keep_generation(const char *type, const char *kind) {
  EVP_PKEY_CTX *context =
      keep(EVP_PKEY_CTX_new_from_name(library, type, nullptr), EVP_PKEY_CTX_free, "EVP_PKEY_CTX");
  must(EVP_PKEY_keygen_init(context), "keygen init");
  if (strcmp(kind, "rsa") == 0) must(EVP_PKEY_CTX_set_rsa_keygen_bits(context, 1024), "bits");
  if (!used) return nullptr;
  EVP_PKEY *key = nullptr;
  must(EVP_PKEY_generate(context, &key), "keygen");
  return keep(key, EVP_PKEY_free, "a new key");
}

void keep_keys(const char *path) {
  FILE *file = fopen(path, "r");
  if (file == nullptr) fail("no key file");
  EVP_PKEY *key = keep(PEM_read_PrivateKey_ex(file, nullptr, nullptr, nullptr, library, nullptr),
                       EVP_PKEY_free, "key");
  fclose(file);
  keep_operations(key, "SHA256");
  keep_encryption(key, RSA_PKCS1_OAEP_PADDING);
  keep_encryption(key, RSA_PKCS1_PADDING);
  keep(EVP_PKEY_dup(key), EVP_PKEY_free, "copy of a key");
  keep(OSSL_ENCODER_CTX_new_for_pkey(key, EVP_PKEY_KEYPAIR, "PEM", nullptr, nullptr),
       OSSL_ENCODER_CTX_free, "OSSL_ENCODER_CTX");
  if (EVP_PKEY *made = keep_generation("RSA", "rsa"); made != nullptr)
    keep_operations(made, "SHA1");
  if (EVP_PKEY *made = keep_generation("RSA-PSS", "rsa"); made != nullptr)
    keep_operations(made, "SHA256");
  for (const char *type : {"ML-DSA-44", "SLH-DSA-SHA2-128f"}) {
    ERR_set_mark();
    EVP_KEYMGMT *management = EVP_KEYMGMT_fetch(library, type, nullptr);
    ERR_pop_to_mark();
    if (management == nullptr) continue;  // before 3.5
    keep(management, EVP_KEYMGMT_free, "EVP_KEYMGMT");
    if (EVP_PKEY *made = keep_generation(type, ""); made != nullptr) keep_operations(made, nullptr);
  }
}

void keep_certificates(const char *path) {
  FILE *file = fopen(path, "r");
  if (file == nullptr) fail("no certificate file");
  X509 *certificate = X509_new_ex(library, nullptr);
  if (certificate == nullptr || PEM_read_X509(file, &certificate, nullptr, nullptr) == nullptr)
    fail("no certificate");
  fclose(file);
  keep(certificate, X509_free, "X509");
  if (used) must(X509_verify(certificate, X509_get0_pubkey(certificate)), "certificate");
  STACK_OF(X509) *stack = sk_X509_new_null();
  if (stack == nullptr || sk_X509_push(stack, certificate) != 1 || !X509_up_ref(certificate))
    fail("no stack");
  held.frees.emplace_back([stack] { sk_X509_pop_free(stack, X509_free); });
}

// ---- Ciphers, and methods that were fetched ----

void keep_cipher(const char *name) {
  unsigned char key[64], iv[16] = {2};
  for (size_t n = 0; n < sizeof key; ++n) key[n] = static_cast<unsigned char>(n);
  std::vector<unsigned char> text(65536), out(text.size() + 32);
  EVP_CIPHER *cipher = keep(EVP_CIPHER_fetch(library, name, nullptr), EVP_CIPHER_free, name);
  EVP_CIPHER_CTX *context = keep(EVP_CIPHER_CTX_new(), EVP_CIPHER_CTX_free, "EVP_CIPHER_CTX");
  must(EVP_EncryptInit_ex2(context, cipher, key, iv, nullptr), name);
  if (!used) return;
  int bytes = 0;
  const int length = int(text.size());
  if (EVP_CIPHER_get_mode(cipher) == EVP_CIPH_CCM_MODE)
    must(EVP_EncryptUpdate(context, nullptr, &bytes, nullptr, length), name);
  if ((EVP_CIPHER_get_flags(cipher) & EVP_CIPH_FLAG_AEAD_CIPHER) != 0)
    must(EVP_EncryptUpdate(context, nullptr, &bytes, key, sizeof key), name);
  must(EVP_EncryptUpdate(context, out.data(), &bytes, text.data(), length), name);
  // A copy in the middle of a message. OpenSSL 3.0 copies no context of ChaCha20-Poly1305.
  EVP_CIPHER_CTX *copy = keep(EVP_CIPHER_CTX_new(), EVP_CIPHER_CTX_free, "EVP_CIPHER_CTX");
  ERR_set_mark();
  (void)EVP_CIPHER_CTX_copy(copy, context);
  ERR_pop_to_mark();
}

void keep_methods() {
  keep(EVP_KEYMGMT_fetch(library, "RSA", nullptr), EVP_KEYMGMT_free, "EVP_KEYMGMT");
  keep(EVP_SIGNATURE_fetch(library, "RSA", nullptr), EVP_SIGNATURE_free, "EVP_SIGNATURE");
  keep(EVP_ASYM_CIPHER_fetch(library, "RSA", nullptr), EVP_ASYM_CIPHER_free, "EVP_ASYM_CIPHER");
  keep(EVP_MD_fetch(library, "SHA256", nullptr), EVP_MD_free, "EVP_MD");
  BIO *chain = BIO_new(BIO_f_cipher());
  unsigned char key[32] = {3}, iv[16] = {4};
  EVP_CIPHER *cipher =
      keep(EVP_CIPHER_fetch(library, "AES-256-CBC", nullptr), EVP_CIPHER_free, "AES-256-CBC");
  if (chain == nullptr || BIO_set_cipher(chain, cipher, key, iv, 1) != 1) fail("no BIO");
  BIO_push(chain, BIO_new(BIO_s_mem()));
  if (used && BIO_write(chain, key, sizeof key) != int(sizeof key)) fail("nothing written");
  keep(chain, BIO_free_all, "BIO");
}

// A random generator of the program, based on AES from whichever provider is chosen.
void keep_generator() {
  EVP_RAND *method = keep(EVP_RAND_fetch(library, "CTR-DRBG", nullptr), EVP_RAND_free, "EVP_RAND");
  EVP_RAND_CTX *generator =
      keep(EVP_RAND_CTX_new(method, RAND_get0_primary(library)), EVP_RAND_CTX_free, "EVP_RAND_CTX");
  char cipher[] = "AES-256-CTR";
  const OSSL_PARAM params[] = {OSSL_PARAM_construct_utf8_string(OSSL_DRBG_PARAM_CIPHER, cipher, 0),
                               OSSL_PARAM_END};
  must(EVP_RAND_instantiate(generator, 0, 0, nullptr, 0, params), "generator");
  unsigned char bytes[64];
  if (used) must(EVP_RAND_generate(generator, bytes, sizeof bytes, 0, 0, nullptr, 0), "random");
}

// ---- TLS, and ASYNC jobs ----

void keep_tls(const char *path) {
  SSL_CTX *server =
      keep(SSL_CTX_new_ex(library, nullptr, TLS_server_method()), SSL_CTX_free, "SSL_CTX");
  SSL_CTX *client =
      keep(SSL_CTX_new_ex(library, nullptr, TLS_client_method()), SSL_CTX_free, "SSL_CTX");
  must(SSL_CTX_use_certificate_file(server, path, SSL_FILETYPE_PEM), "certificate of TLS");
  must(SSL_CTX_use_PrivateKey_file(server, path, SSL_FILETYPE_PEM), "key of TLS");
  if (!used) return;
  SSL *there = keep(SSL_new(server), SSL_free, "SSL"),
      *here = keep(SSL_new(client), SSL_free, "SSL");
  BIO *one = nullptr, *other = nullptr;
  must(BIO_new_bio_pair(&one, 0, &other, 0), "pair of BIOs");
  SSL_set_bio(there, one, one);
  SSL_set_bio(here, other, other);
  SSL_set_accept_state(there);
  SSL_set_connect_state(here);
  for (int n = 0; n < 20 && (!SSL_is_init_finished(there) || !SSL_is_init_finished(here)); ++n) {
    (void)SSL_do_handshake(here);
    (void)SSL_do_handshake(there);
  }
  if (!SSL_is_init_finished(there) || !SSL_is_init_finished(here)) fail("no handshake");
  ERR_clear_error();
  char text[4096] = "text";
  if (SSL_write(here, text, sizeof text) != int(sizeof text) ||
      SSL_read(there, text, sizeof text) != int(sizeof text))
    fail("no text through TLS");
}

int sign_in_job(void *argument) {
  EVP_PKEY *key = *static_cast<EVP_PKEY **>(argument);
  unsigned char message[32] = {5}, signature[512];
  size_t bytes = sizeof signature;
  EVP_MD_CTX *context = EVP_MD_CTX_new();
  const bool done =
      EVP_DigestSignInit_ex(context, nullptr, "SHA256", library, nullptr, key, nullptr) == 1 &&
      EVP_DigestSign(context, signature, &bytes, message, sizeof message) == 1;
  EVP_MD_CTX_free(context);
  return done ? 1 : 0;
}

void keep_jobs(const char *path) {
  ASYNC_WAIT_CTX *waits = keep(ASYNC_WAIT_CTX_new(), ASYNC_WAIT_CTX_free, "ASYNC_WAIT_CTX");
  if (!used || !ASYNC_is_capable()) return;
  FILE *file = fopen(path, "r");
  EVP_PKEY *key = keep(PEM_read_PrivateKey_ex(file, nullptr, nullptr, nullptr, library, nullptr),
                       EVP_PKEY_free, "key");
  fclose(file);
  ASYNC_JOB *job = nullptr;
  int result = 0, state = 0;
  while ((state = ASYNC_start_job(&job, waits, &result, sign_in_job, &key, sizeof key)) ==
         ASYNC_PAUSE)
    usleep(100);
  if (state != ASYNC_FINISH || result != 1) fail("no job");
  // Other jobs are left paused. Some of their operations have begun, and some wait.
  for (int n = 0; n < 20; ++n) {
    ASYNC_WAIT_CTX *left = keep(ASYNC_WAIT_CTX_new(), ASYNC_WAIT_CTX_free, "ASYNC_WAIT_CTX");
    job = nullptr;
    state = ASYNC_start_job(&job, left, &result, sign_in_job, &key, sizeof key);
    if (state == ASYNC_ERR) fail("no further job");
  }
}

}  // namespace

int main(int count, char **arguments) {
  std::string path;
  for (int n = 1; n < count; ++n) {
    const std::string text = arguments[n], name = text.substr(0, text.find('=')),
                      value = text.substr(name.size() + 1);
    if (name == "key")
      path = value;
    else if (name == "when")
      when = kWhen.at(value);
    else if (name == "used")
      used = value == "yes";
    else if (name == "own")
      own = value != "no", library_first = value == "first";
    else
      fail("an argument that is not known");
  }
  if (when == When::kHandler) atexit(free_in_handler);
  if (own) {
    OPENSSL_init_crypto(OPENSSL_INIT_NO_LOAD_CONFIG, nullptr);
    library = OSSL_LIB_CTX_new();
    must(OSSL_LIB_CTX_load_config(library, getenv("OPENSSL_CONF")), "configuration");
  }
  OSSL_PROVIDER *provider = nullptr;
  if (when == When::kUnload && (provider = OSSL_PROVIDER_load(library, "gpu")) == nullptr)
    fail("no provider");
  keep_keys(path.c_str());
  keep_certificates(path.c_str());
  for (const char *name : {"AES-128-CBC", "AES-256-CTR", "AES-256-GCM", "AES-128-CCM",
                           "AES-256-XTS", "ChaCha20-Poly1305", "ChaCha20", "CAMELLIA-128-CTR"})
    keep_cipher(name);
  keep_methods();
  keep_generator();
  keep_tls(path.c_str());
  keep_jobs(path.c_str());
  if (when == When::kUnload) must(OSSL_PROVIDER_unload(provider), "unload");
  if (when == When::kRace) {
    std::thread frees([] { held.free_all(); });
    OPENSSL_cleanup();
    frees.join();
  } else if (when == When::kCleanup || when == When::kThread) {
    OPENSSL_cleanup();
    if (when == When::kThread)
      std::thread([] { held.free_all(); }).join();
    else
      held.free_all();
  } else if (when == When::kMain) {
    held.free_all();
  }
  return 0;
}
