// An ordinary OpenSSL program: it links libcrypto, knows nothing of Lanecrypt, works in one or many
// threads, and ends in one of the ways in which programs end. The arguments are words NAME=VALUE:
//
//   key=FILE        an RSA key, with which each thread makes and verifies `signs` signatures
//   threads=N       the number of working threads; 1: only main's
//   signs=N
//   updates=N       AES-256-CTR updates of `kib` KiB in each thread, encrypted and decrypted
//   kib=N
//   config=FILE     a configuration that the program loads; otherwise OpenSSL finds its own
//   library=yes     works in a new library context, into which it loads the configuration. It
//                   frees the context after the work, which unloads the provider's module
//   driver=cuda|cuda-context   initializes NVIDIA's driver before the work, as CUDA programs do,
//                   or also creates a CUDA context
//   fork=no|before|after|thread   a child works: instead of main, or after main has worked, or
//                   started by another thread between two rounds of main's work
//   cancel=yes      cancels working threads before it works itself
//   sandbox=no|yes  forbids itself threads, files and programs before it works
//   exec=yes        starts itself again after the work; the new program ends at once
//   cleanup=yes     calls OPENSSL_cleanup() at the end
//   after_us=N      ends N microseconds after the work
//   end=return|exit|_exit|quick|signal|throw
//
// It prints "done" and the time (CLOCK_MONOTONIC, nanoseconds), and ends with status 7, so
// that no other program is mistaken for it.
//
// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/provider.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <map>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr int kStatus = 7;
OSSL_LIB_CTX *library = nullptr;  // nullptr: libcrypto's default one
std::map<std::string, std::string> words;

std::string word(const char *name, const char *otherwise = "") {
  const auto found = words.find(name);
  return found == words.end() ? otherwise : found->second;
}
int number(const char *name, int otherwise) {
  const std::string text = word(name);
  return text.empty() ? otherwise : atoi(text.c_str());
}

[[noreturn]] void fail(const char *what) {
  fprintf(stderr, "client: %s\n", what);
  ERR_print_errors_fp(stderr);
  _exit(99);
}

// A sandbox like that of a careful server: a system call that it no longer needs ends the process.
void forbid_what_is_not_needed() {
  constexpr int kForbidden[] = {SYS_clone,  SYS_clone3, SYS_fork,   SYS_vfork,   SYS_open,
                                SYS_openat, SYS_execve, SYS_socket, SYS_connect, SYS_prctl};
  std::vector<sock_filter> filter;
  filter.push_back(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)));
  for (const int call : kForbidden) {
    filter.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<uint32_t>(call), 0, 1));
    filter.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS));
  }
  filter.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  const sock_fprog program = {static_cast<unsigned short>(filter.size()), filter.data()};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
    fail("no sandbox");
}

void sign(EVP_PKEY *key, int times) {
  for (int n = 0; n < times; ++n) {
    unsigned char text[32] = {static_cast<unsigned char>(n)}, signature[1024];
    size_t bytes = sizeof signature;
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    if (EVP_DigestSignInit_ex(context, nullptr, "SHA256", library, nullptr, key, nullptr) != 1 ||
        EVP_DigestSign(context, signature, &bytes, text, sizeof text) != 1)
      fail("no signature");
    EVP_MD_CTX_free(context);
    context = EVP_MD_CTX_new();
    if (EVP_DigestVerifyInit_ex(context, nullptr, "SHA256", library, nullptr, key, nullptr) != 1 ||
        EVP_DigestVerify(context, signature, bytes, text, sizeof text) != 1)
      fail("a wrong signature");
    EVP_MD_CTX_free(context);
  }
}

void encipher(int updates, size_t update_bytes) {
  if (updates == 0) return;
  const unsigned char key[32] = {1}, iv[16] = {2};
  std::vector<unsigned char> text(update_bytes), enciphered(update_bytes), again(update_bytes);
  EVP_CIPHER *cipher = EVP_CIPHER_fetch(library, "AES-256-CTR", nullptr);
  EVP_CIPHER_CTX *there = EVP_CIPHER_CTX_new(), *back = EVP_CIPHER_CTX_new();
  if (EVP_EncryptInit_ex2(there, cipher, key, iv, nullptr) != 1 ||
      EVP_DecryptInit_ex2(back, cipher, key, iv, nullptr) != 1)
    fail("no cipher");
  for (int n = 0; n < updates; ++n) {
    int bytes = 0;
    memset(text.data(), n, update_bytes);
    if (EVP_EncryptUpdate(there, enciphered.data(), &bytes, text.data(), int(update_bytes)) != 1)
      fail("no text");
    // Decrypts in place.
    again = enciphered;
    if (EVP_DecryptUpdate(back, again.data(), &bytes, again.data(), int(update_bytes)) != 1 ||
        again != text)
      fail("wrong text");
  }
  EVP_CIPHER_CTX_free(there);
  EVP_CIPHER_CTX_free(back);
  EVP_CIPHER_free(cipher);
}

void work(EVP_PKEY *key) {
  const auto mine = [key] {
    if (key != nullptr) sign(key, number("signs", 1));
    encipher(number("updates", 0), size_t(number("kib", 64)) << 10);
  };
  const int count = number("threads", 1);
  if (count == 1) return mine();
  std::vector<std::thread> threads;
  for (int n = 0; n < count; ++n) threads.emplace_back(mine);
  for (std::thread &thread : threads) thread.join();
}

// Cancels each thread at another moment. What the thread held is leaked, as with libcrypto alone.
void cancel_workers(EVP_PKEY *key) {
  for (int n = 0; n < 20; ++n) {
    std::thread worker([key] {
      while (true) {
        if (key != nullptr) sign(key, 1);
        encipher(1, size_t(number("kib", 64)) << 10);
        pthread_testcancel();
      }
    });
    usleep(useconds_t(n * 300));
    pthread_cancel(worker.native_handle());
    worker.join();
  }
}

// Works in a child. If the child does not end as expected, this program fails too.
void work_in_child(EVP_PKEY *key) {
  const pid_t child = fork();
  if (child < 0) fail("no child");
  if (child == 0) {
    work(key);
    exit(kStatus);
  }
  int status = 0;
  if (waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status) != kStatus) {
    fprintf(stderr, "client: the child ended by %#x\n", unsigned(status));
    _exit(98);
  }
}

void start_driver(bool context) {
  void *driver = dlopen("libcuda.so.1", RTLD_NOW);
  if (driver == nullptr) fail("no driver");
  const auto start = reinterpret_cast<int (*)(unsigned)>(dlsym(driver, "cuInit"));
  if (start == nullptr || start(0) != 0) fail("the driver does not start");
  if (!context) return;
  const auto retain =
      reinterpret_cast<int (*)(void **, int)>(dlsym(driver, "cuDevicePrimaryCtxRetain"));
  void *made = nullptr;
  if (retain == nullptr || retain(&made, 0) != 0) fail("the card does not start");
}

// Makes a library context with the configuration that OpenSSL would load by itself. OpenSSL's
// default context gets none.
void make_library(const char *configuration) {
  OPENSSL_init_crypto(OPENSSL_INIT_NO_LOAD_CONFIG, nullptr);
  library = OSSL_LIB_CTX_new();
  if (library == nullptr || OSSL_LIB_CTX_load_config(library, configuration) != 1)
    fail("no configuration");
}

EVP_PKEY *read_key(const std::string &path) {
  if (path.empty()) return nullptr;
  FILE *file = fopen(path.c_str(), "r");
  EVP_PKEY *key = file == nullptr
                      ? nullptr
                      : PEM_read_PrivateKey_ex(file, nullptr, nullptr, nullptr, library, nullptr);
  if (key == nullptr) fail("no key");
  fclose(file);
  return key;
}

}  // namespace

int main(int count, char **arguments) {
  for (int n = 1; n < count; ++n) {
    const std::string text = arguments[n];
    const size_t equals = text.find('=');
    if (equals == std::string::npos) fail("what is not NAME=VALUE?");
    words[text.substr(0, equals)] = text.substr(equals + 1);
  }
  if (const std::string config = word("config"); !config.empty()) {
    OPENSSL_INIT_SETTINGS *settings = OPENSSL_INIT_new();
    OPENSSL_INIT_set_config_filename(settings, config.c_str());
    if (OPENSSL_init_crypto(OPENSSL_INIT_LOAD_CONFIG, settings) != 1) fail("no configuration");
    OPENSSL_INIT_free(settings);
  }
  if (word("library") == "yes") make_library(getenv("OPENSSL_CONF"));
  if (!word("driver").empty()) start_driver(word("driver") == "cuda-context");
  EVP_PKEY *key = read_key(word("key"));
  const std::string forks = word("fork", "no");
  if (word("sandbox") == "yes") {
    // The C library opens some files once. Here it does so before that is forbidden.
    encipher(1, 16);
    if (key != nullptr) sign(key, 1);
    forbid_what_is_not_needed();
  }
  if (word("cancel") == "yes") cancel_workers(key);
  if (forks == "before") {
    work_in_child(key);
  } else if (forks == "thread") {
    // No other thread is inside libcrypto during the fork: libcrypto would not survive that.
    work(key);
    std::thread([key] { work_in_child(key); }).join();
    work(key);
  } else {
    work(key);
    if (forks == "after") work_in_child(key);
  }
  EVP_PKEY_free(key);
  OSSL_LIB_CTX_free(library);
  usleep(useconds_t(number("after_us", 0)));
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  printf("done %lld%09ld\n", static_cast<long long>(now.tv_sec), now.tv_nsec);
  if (word("exec") == "yes") {
    fflush(stdout);
    execl("/proc/self/exe", arguments[0], "updates=1", static_cast<char *>(nullptr));
    fail("no exec");
  }
  if (word("cleanup") == "yes") OPENSSL_cleanup();
  const std::string end = word("end", "return");
  if (end == "exit") exit(kStatus);
  if (end == "_exit" || end == "quick") fflush(stdout);
  if (end == "_exit") _exit(kStatus);
  if (end == "quick") quick_exit(kStatus);
  if (end == "signal") {
    fflush(stdout);
    raise(SIGTERM);
  }
  if (end == "throw") {
    fflush(stdout);
    throw std::runtime_error("as intended");
  }
  return kStatus;
}
