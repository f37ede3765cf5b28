// A context of the library for Python: handles calls without the GIL, forks, and the exit of the
// interpreter.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "errors.h"

namespace lanecrypt::python {

class View;

// Returns how often this process was forked since the interpreter loaded this module.
int forks();

struct ContextOptions {
  std::optional<std::string> devices;
  int fallback = LC_FALLBACK_CPU;
  int verify = LC_VERIFY_SAMPLED;
  int prefer = LC_PREFER_SPEED;
  uint64_t pinned_bytes = 0;
  uint32_t time_limit_ms = 0;
  uint32_t prime_pool = 0;
  uint32_t cores = 0;
  std::string service = "off";
  std::optional<std::string> service_owner;
  // The size, in bytes, from which on requests on host memory go to a device, whatever was
  // measured.
  std::optional<uint64_t> threshold_bytes;
};

// All functions need the GIL. Those that call the library release it during the call.
class Context {
 public:
  explicit Context(const ContextOptions &options);
  ~Context();
  Context(const Context &) = delete;

  // kFreeing: a call that only frees memory, which is allowed after close() until is_freed().
  enum class Purpose { kAny, kFreeing };
  // Calls the library. Any number of threads may be in a call at once. Throws if the context is
  // closed.
  template <typename Call>
  Outcome call(Call call, Purpose purpose = Purpose::kAny);
  // Waits for calls of other threads and for running jobs, and frees everything in the context; if
  // memory is lent, only after it has been returned. Later calls throw.
  void close();
  bool is_closed() const { return closing_; }
  bool is_freed() const { return context_ == nullptr; }
  // Whether calls are possible now.
  bool is_open() const;
  // Count memory of the context that other packages use without the knowledge of close(). lend()
  // and take_back() come in pairs.
  void lend() { ++lent_; }
  void take_back();

  // Returns the index of a device. Throws if there is no device of that name.
  uint32_t index_of(const std::string &id);
  // Returns where a job on host memory should run, as a value for lc_cipher_job.device.
  uint32_t place(lc_cipher cipher, lc_direction direction, uint32_t key_bytes, uint64_t messages,
                 uint64_t bytes);
  // Does the same for RSA private operations.
  uint32_t place_rsa(uint32_t bits, uint64_t operations, uint64_t bytes);
  // Does the same for hashes.
  uint32_t place_hash(uint64_t bytes) const;
  // Waits until the device has completed the work that is in the stream.
  void wait_for_stream(uint32_t device, void *stream);

  // Returns the index of the device of a view. The view must not be in host memory.
  uint32_t device_of(const View &view);
  // Copy bytes from or to a view in any memory. They do not wait for work in a stream.
  nb::object read(const View &view, uint64_t offset, uint64_t bytes);
  void write(const View &view, uint64_t offset, nb::handle data);

  nb::list devices();
  nb::dict counters();

  // Registers a thread that is in a call of the library, or waits for one.
  class Inside {
   public:
    explicit Inside(Context &context, Purpose purpose = Purpose::kAny);
    ~Inside();
    Inside(const Inside &) = delete;

    // Whether the calling thread is in a call of the context, that is, in a callback.
    static bool is_here(const Context &context);

   private:
    Context &context_;
    const int born_in_;
    const Inside *const outer_;
  };

 private:
  lc_device_info device(uint32_t index);
  uint32_t device_count();

  lc_context *context_ = nullptr;
  bool closing_ = false;
  int inside_ = 0, lent_ = 0;
  // The value of forks() for which `inside_` is valid: the other threads of a parent do not exist
  // in its child.
  int counted_in_ = forks();
  const std::optional<uint64_t> threshold_bytes_;
  const bool has_service_;
  std::map<std::string, uint32_t> indices_;
};

template <typename Call>
Outcome Context::call(Call call, Purpose purpose) {
  const Inside inside(*this, purpose);
  Outcome outcome;
  const nb::gil_scoped_release released;
  outcome.status = call(context_);
  if (outcome.status != LC_OK) outcome.text = lc_last_error();
  return outcome;
}

void bind_context(nb::module_ &module);

}  // namespace lanecrypt::python
