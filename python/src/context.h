// A context of the library, as Python has it: calls without the GIL, forks, and the end of the
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

// How often this process was forked from an interpreter that had loaded this module.
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
  // Host memory of at least so many bytes goes to a device, whatever was measured.
  std::optional<uint64_t> threshold_bytes;
};

// Each function is for a thread that holds the GIL. Those that call the library let go of it
// meanwhile.
class Context {
 public:
  explicit Context(const ContextOptions &options);
  ~Context();
  Context(const Context &) = delete;

  // kFreeing: a call that only frees, which one that is closed takes too until is_freed().
  enum class Purpose { kAny, kFreeing };
  // Calls the library. Any number of threads may be inside at once. Throws where it is closed.
  template <typename Call>
  Outcome call(Call call, Purpose purpose = Purpose::kAny);
  // Waits for the threads that are inside and for the jobs under way, and frees all that the
  // context has, but not before what was lent is back. Calls that come later throw.
  void close();
  bool is_closed() const { return closing_; }
  bool is_freed() const { return context_ == nullptr; }
  // Whether calls may go inside now.
  bool is_open() const;
  // For memory of the context that others use, whom close() does not know.
  void lend() { ++lent_; }
  void take_back();

  // The number of a device; throws where there is none of that name.
  uint32_t index_of(const std::string &id);
  // Where a job on host memory is to run: what lc_cipher_job.device then is.
  uint32_t place(lc_cipher cipher, lc_direction direction, uint32_t key_bytes, uint64_t messages,
                 uint64_t bytes);
  // The same for private operations of RSA.
  uint32_t place_rsa(uint32_t bits, uint64_t operations, uint64_t bytes);
  // The same for hashes.
  uint32_t place_hash(uint64_t bytes) const;
  // Waits until a stream of the device has done what is in it.
  void wait_for_stream(uint32_t device, void *stream);

  // The number of the device on which a view lies, which is not the host.
  uint32_t device_of(const View &view);
  // A copy of some bytes of a view, or to it, wherever it lies. What is in a stream is not waited
  // for.
  nb::object read(const View &view, uint64_t offset, uint64_t bytes);
  void write(const View &view, uint64_t offset, nb::handle data);

  nb::list devices();
  nb::dict counters();

  // A thread that is inside the library, or waits for what is.
  class Inside {
   public:
    explicit Inside(Context &context, Purpose purpose = Purpose::kAny);
    ~Inside();
    Inside(const Inside &) = delete;

    // Whether the calling thread is in a call of the context, in a callback of it.
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
  // The number of forks under which `inside_` counts: the other threads of a parent are not in
  // its child.
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
