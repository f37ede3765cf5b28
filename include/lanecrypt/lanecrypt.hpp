// Thin RAII over lanecrypt.h for C++17 and up: handles that close themselves,
// and an exception where the C ABI returns an error. Header only; what each
// call does is said in lanecrypt.h.
//
// SPDX-License-Identifier: Apache-2.0
#ifndef LANECRYPT_LANECRYPT_HPP
#define LANECRYPT_LANECRYPT_HPP

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "lanecrypt/lanecrypt.h"

namespace lanecrypt {

// A failed call: its status, and the library's sentence for a person.
class Error : public std::runtime_error {
 public:
  Error(lc_status status, const std::string &text) : std::runtime_error(text), status_(status) {}
  lc_status status() const { return status_; }

 private:
  lc_status status_;
};

// Throws Error unless `status` is LC_OK. Call it at once after the failing
// call, on the same thread: it takes the text from lc_last_error().
inline void check(lc_status status) {
  if (status == LC_OK) return;
  std::string text = lc_last_error();
  if (text.empty()) text = lc_status_text(status);
  throw Error(status, text);
}

// Host memory of lc_alloc_pinned(). Must go before its context.
class PinnedBuffer {
 public:
  PinnedBuffer() = default;
  PinnedBuffer(lc_context *context, size_t bytes) : context_(context), bytes_(bytes) {
    check(lc_alloc_pinned(context, bytes, &pointer_));
  }
  PinnedBuffer(PinnedBuffer &&other) noexcept { swap(other); }
  PinnedBuffer &operator=(PinnedBuffer &&other) noexcept {
    swap(other);
    return *this;
  }
  ~PinnedBuffer() {
    if (pointer_) lc_free_pinned(context_, pointer_);
  }
  uint8_t *data() const { return static_cast<uint8_t *>(pointer_); }
  size_t size() const { return bytes_; }

 private:
  void swap(PinnedBuffer &other) noexcept {
    std::swap(context_, other.context_);
    std::swap(pointer_, other.pointer_);
    std::swap(bytes_, other.bytes_);
  }
  lc_context *context_ = nullptr;
  void *pointer_ = nullptr;
  size_t bytes_ = 0;
};

// Memory of lc_alloc_device(). Must go before its context.
class DeviceBuffer {
 public:
  DeviceBuffer() = default;
  DeviceBuffer(lc_context *context, uint32_t device, uint64_t bytes)
      : context_(context), device_(device), bytes_(bytes) {
    check(lc_alloc_device(context, device, bytes, &pointer_));
  }
  DeviceBuffer(DeviceBuffer &&other) noexcept { swap(other); }
  DeviceBuffer &operator=(DeviceBuffer &&other) noexcept {
    swap(other);
    return *this;
  }
  ~DeviceBuffer() {
    if (pointer_) lc_free_device(context_, device_, pointer_);
  }
  // A device address: for arithmetic and for messages, never to be read here.
  uint8_t *address() const { return static_cast<uint8_t *>(pointer_); }
  uint64_t size() const { return bytes_; }
  void fill_from(const void *host, uint64_t bytes, uint64_t offset = 0) const {
    check(lc_copy_to_device(context_, device_, address() + offset, host, bytes));
  }
  void read_to(void *host, uint64_t bytes, uint64_t offset = 0) const {
    check(lc_copy_from_device(context_, device_, host, address() + offset, bytes));
  }

 private:
  void swap(DeviceBuffer &other) noexcept {
    std::swap(context_, other.context_);
    std::swap(device_, other.device_);
    std::swap(pointer_, other.pointer_);
    std::swap(bytes_, other.bytes_);
  }
  lc_context *context_ = nullptr;
  uint32_t device_ = 0;
  void *pointer_ = nullptr;
  uint64_t bytes_ = 0;
};

// An asynchronous job. Letting go of it does not stop the job.
class Ticket {
 public:
  Ticket() = default;
  explicit Ticket(lc_ticket *ticket) : ticket_(ticket) {}
  lc_status status() const { return lc_ticket_status(ticket_.get()); }
  // Waits for the end; throws Error where the job failed.
  lc_result wait() {
    lc_result result{};
    result.struct_size = sizeof result;
    check(lc_ticket_wait(ticket_.get(), &result));
    return result;
  }
  // Whether the job was over in time. wait() then returns at once.
  bool wait_for(std::chrono::nanoseconds time) {
    const auto count =
        static_cast<uint64_t>(std::max<std::chrono::nanoseconds::rep>(time.count(), 0));
    return lc_ticket_wait_for(ticket_.get(), count, nullptr) != LC_PENDING;
  }
  void notify(const lc_completion &completion) {
    check(lc_ticket_notify(ticket_.get(), &completion));
  }
  explicit operator bool() const { return ticket_ != nullptr; }

 private:
  struct Free {
    void operator()(lc_ticket *ticket) const { lc_ticket_free(ticket); }
  };
  std::unique_ptr<lc_ticket, Free> ticket_;
};

// A job in a CUDA graph, by Context::capture(). The graph neither runs nor is launched any more
// when this goes. Must go before its context.
class Captured {
 public:
  Captured() = default;
  Captured(lc_context *context, lc_graph_job *captured) : context_(context), captured_(captured) {}
  Captured(Captured &&other) noexcept { swap(other); }
  Captured &operator=(Captured &&other) noexcept {
    swap(other);
    return *this;
  }
  ~Captured() {
    if (captured_) lc_graph_job_free(context_, captured_);
  }
  explicit operator bool() const { return captured_ != nullptr; }

 private:
  void swap(Captured &other) noexcept {
    std::swap(context_, other.context_);
    std::swap(captured_, other.captured_);
  }
  lc_context *context_ = nullptr;
  lc_graph_job *captured_ = nullptr;
};

class Context {
 public:
  // devices: as lc_options.devices; nullptr for the environment or the default.
  explicit Context(const char *devices = nullptr, lc_fallback fallback = LC_FALLBACK_CPU,
                   uint64_t pinned_bytes = 0) {
    lc_options options{};
    options.struct_size = sizeof options;
    options.devices = devices;
    options.fallback = fallback;
    options.pinned_bytes = pinned_bytes;
    open(options);
  }
  explicit Context(const lc_options &options) { open(options); }
  // Takes over what lc_open() has opened.
  static Context adopt(lc_context *opened) { return Context(Owned(opened)); }
  lc_context *get() const { return context_.get(); }

  uint32_t device_count() const {
    uint32_t count = 0;
    check(lc_device_count(get(), &count));
    return count;
  }
  lc_device_info device(uint32_t index) const {
    lc_device_info info{};
    info.struct_size = sizeof info;
    check(lc_device_get(get(), index, &info));
    return info;
  }
  // Returns the counters of a device, or of LC_CPU.
  lc_counters counters(uint32_t index) const {
    lc_counters counters{};
    counters.struct_size = sizeof counters;
    check(lc_counters_get(get(), index, &counters));
    return counters;
  }
  PinnedBuffer pinned(size_t bytes) const { return PinnedBuffer(get(), bytes); }
  DeviceBuffer on_device(uint32_t index, uint64_t bytes) const {
    return DeviceBuffer(get(), index, bytes);
  }
  lc_result run(const lc_cipher_job &job) const {
    lc_result result{};
    result.struct_size = sizeof result;
    check(lc_run(get(), &job, &result));
    return result;
  }
  Captured capture(const lc_cipher_job &job, const lc_graph_update &update) const {
    lc_graph_job *captured = nullptr;
    check(lc_capture(get(), &job, &update, &captured));
    return Captured(get(), captured);
  }
  lc_result run(const lc_rsa_job &job) const {
    lc_result result{};
    result.struct_size = sizeof result;
    check(lc_rsa_run(get(), &job, &result));
    return result;
  }
  lc_result run(const lc_ml_dsa_job &job) const {
    lc_result result{};
    result.struct_size = sizeof result;
    check(lc_ml_dsa_run(get(), &job, &result));
    return result;
  }
  lc_result run(const lc_hash_job &job) const {
    lc_result result{};
    result.struct_size = sizeof result;
    check(lc_hash_run(get(), &job, &result));
    return result;
  }
  // Makes keys; throws Error with LC_ERROR_STOPPED where a callback ended it. The
  // callbacks may throw nothing.
  lc_result generate(const lc_rsa_generation &generation) const {
    lc_result result{};
    result.struct_size = sizeof result;
    check(lc_rsa_generate(get(), &generation, &result));
    return result;
  }
  Ticket submit(const lc_ml_dsa_job &job, const lc_completion *completion = nullptr) const {
    lc_ticket *ticket = nullptr;
    check(lc_ml_dsa_submit(get(), &job, completion, &ticket));
    return Ticket(ticket);
  }
  Ticket submit(const lc_hash_job &job, const lc_completion *completion = nullptr) const {
    lc_ticket *ticket = nullptr;
    check(lc_hash_submit(get(), &job, completion, &ticket));
    return Ticket(ticket);
  }
  Ticket submit(const lc_rsa_job &job, const lc_completion *completion = nullptr) const {
    lc_ticket *ticket = nullptr;
    check(lc_rsa_submit(get(), &job, completion, &ticket));
    return Ticket(ticket);
  }
  lc_result run(const lc_slh_dsa_job &job) const {
    lc_result result{};
    result.struct_size = sizeof result;
    check(lc_slh_dsa_run(get(), &job, &result));
    return result;
  }
  lc_result generate(const lc_slh_dsa_generation &generation) const {
    lc_result result{};
    result.struct_size = sizeof result;
    check(lc_slh_dsa_generate(get(), &generation, &result));
    return result;
  }
  Ticket submit(const lc_slh_dsa_job &job, const lc_completion *completion = nullptr) const {
    lc_ticket *ticket = nullptr;
    check(lc_slh_dsa_submit(get(), &job, completion, &ticket));
    return Ticket(ticket);
  }
  Ticket submit(const lc_slh_dsa_generation &generation,
                const lc_completion *completion = nullptr) const {
    lc_ticket *ticket = nullptr;
    check(lc_slh_dsa_submit_generation(get(), &generation, completion, &ticket));
    return Ticket(ticket);
  }
  Ticket submit(const lc_cipher_job &job, const lc_completion *completion = nullptr) const {
    lc_ticket *ticket = nullptr;
    check(lc_submit(get(), &job, completion, &ticket));
    return Ticket(ticket);
  }

 private:
  void open(const lc_options &options) {
    lc_context *context = nullptr;
    check(lc_open(&options, &context));
    context_.reset(context);
  }
  struct Close {
    void operator()(lc_context *context) const { lc_close(context); }
  };
  using Owned = std::unique_ptr<lc_context, Close>;
  explicit Context(Owned context) : context_(std::move(context)) {}

  Owned context_;
};

// A key of ML-DSA. Jobs under way keep what they need of it.
class MlDsaKey {
 public:
  MlDsaKey() = default;
  explicit MlDsaKey(const lc_ml_dsa_parts &parts) {
    lc_ml_dsa_key *key = nullptr;
    check(lc_ml_dsa_key_new(&parts, &key));
    key_.reset(key);
  }
  const lc_ml_dsa_key *get() const { return key_.get(); }

 private:
  struct Free {
    void operator()(lc_ml_dsa_key *key) const { lc_ml_dsa_key_free(key); }
  };
  std::unique_ptr<lc_ml_dsa_key, Free> key_;
};

// An RSA key. Jobs under way keep what they need of it.
class RsaKey {
 public:
  RsaKey() = default;
  explicit RsaKey(const lc_rsa_parts &parts) {
    lc_rsa_key *key = nullptr;
    check(lc_rsa_key_new(&parts, &key));
    key_.reset(key);
  }
  const lc_rsa_key *get() const { return key_.get(); }
  // Bytes of every input and output.
  size_t size() const { return lc_rsa_key_bytes(get()); }

 private:
  struct Free {
    void operator()(lc_rsa_key *key) const { lc_rsa_key_free(key); }
  };
  std::unique_ptr<lc_rsa_key, Free> key_;
};

// A key of SLH-DSA. Jobs under way keep what they need of it.
class SlhDsaKey {
 public:
  SlhDsaKey() = default;
  explicit SlhDsaKey(const lc_slh_dsa_parts &parts) {
    lc_slh_dsa_key *key = nullptr;
    check(lc_slh_dsa_key_new(&parts, &key));
    key_.reset(key);
  }
  const lc_slh_dsa_key *get() const { return key_.get(); }

 private:
  struct Free {
    void operator()(lc_slh_dsa_key *key) const { lc_slh_dsa_key_free(key); }
  };
  std::unique_ptr<lc_slh_dsa_key, Free> key_;
};

// A job over `count` pure messages on any device. To verify, verdicts has a byte for each.
inline lc_slh_dsa_job slh_dsa_job(lc_slh_dsa_operation operation,
                                  const lc_slh_dsa_message *messages, size_t count,
                                  uint8_t *verdicts = nullptr) {
  lc_slh_dsa_job job{};
  job.struct_size = sizeof job;
  job.operation = operation;
  job.device = LC_ANY_DEVICE;
  job.messages = messages;
  job.message_count = count;
  job.message_size = sizeof(lc_slh_dsa_message);
  job.verdicts = verdicts;
  return job;
}

// A job over `count` messages on any device.
inline lc_rsa_job rsa_job(lc_rsa_operation operation, const lc_rsa_message *messages,
                          size_t count) {
  lc_rsa_job job{};
  job.struct_size = sizeof job;
  job.operation = operation;
  job.device = LC_ANY_DEVICE;
  job.messages = messages;
  job.message_count = count;
  job.message_size = sizeof(lc_rsa_message);
  return job;
}

// A job over `count` messages with every field set that has no better default.
inline lc_cipher_job cipher_job(lc_cipher cipher, lc_direction direction, uint32_t key_bytes,
                                const lc_message *messages, size_t count) {
  lc_cipher_job job{};
  job.struct_size = sizeof job;
  job.cipher = cipher;
  job.direction = direction;
  job.key_bytes = key_bytes;
  job.memory = LC_MEMORY_HOST;
  job.device = LC_ANY_DEVICE;
  job.messages = messages;
  job.message_count = count;
  job.message_size = sizeof(lc_message);
  return job;
}

}  // namespace lanecrypt

#endif
