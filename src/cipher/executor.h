// A device with its thread. It takes requests as they come, batches what waits into
// chunks, keeps the pipeline full, and hands back what it could not do.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <functional>
#include <list>
#include <mutex>

#include "cipher/device_use.h"
#include "pipeline/graph_job.h"
#include "pipeline/pipeline.h"
#include "thread/counters.h"
#include "thread/opening_thread.h"
#include "verify/ciphers_known_answers.h"

namespace lanecrypt {
struct GraphUpdate;
}

namespace lanecrypt::runtime {

// Any thread may call it, except where noted. The executor's thread alone opens and closes the
// device, and uses it in turn with callers who put jobs into their streams. It starts at the first
// call that needs it.
class Executor {
 public:
  // Called with a request that this device cannot finish, and the reason, by who has the use of
  // the device.
  using HandBack = std::function<void(const RequestPointer &, const Status &)>;

  Executor(device::Found found, const PipelineOptions &options, const PinnedMemory &pinned,
           CopyThreads &copy_threads, HandBack hand_back);
  ~Executor();
  // Finishes what waits, closes the device, and takes nothing more.
  void stop();
  // Makes stop() leave undone what is not begun.
  void cancel_pending();

  // They may say more once the device is ready.
  const device::Properties &properties() const { return *properties_; }
  const Counters &counters() const { return counters_; }
  // For others who use the device.
  Counters &counters() { return counters_; }
  lc_device_state state() const { return state_; }
  std::string reason() const;
  bool may_work() const {
    return !stopping_ && (state_ == LC_DEVICE_UNTRIED || state_ == LC_DEVICE_READY);
  }
  // Whether the device has the kernels for this kind. A device that is not open yet may
  // turn out to lack them.
  bool offers(const CipherKind &kind) const;
  Status does_not_offer(const CipherKind &kind) const;
  // The device took part in something that turned out wrong: it is used no more. Any
  // thread.
  void mark_untrusted(const Status &why);
  // Bytes a second in the last job that it shared with others; 0: it has shared none.
  double shared_rate() const { return shared_rate_; }
  void set_shared_rate(double bytes_a_second) { shared_rate_ = bytes_a_second; }
  // Bytes of the requests that wait or are under way.
  uint64_t load_bytes() const { return load_bytes_; }

  // Queues a request. A lost or failed device hands it back. False once stopped.
  bool submit(const RequestPointer &request);

  // Puts a job in device memory into its caller's stream, on the caller's thread and without
  // waking another. False if someone else uses the device, or it must first be opened or prove
  // itself: then nothing was done. Only a caller of its poll_until_done learns of its end.
  bool start_here(const RequestPointer &request);

  // Runs `work` on the device's thread, without waiting for any request, and waits for
  // its end; at once where a callback that this thread is in asks for it. The device has passed its
  // self-test.
  using Work = std::function<Status(device::Device &, DeviceMemory &)>;
  Status call(const Work &work);
  // Opens the device and runs its self-test, if that has not been done.
  Status make_ready();

  // Puts a job into its stream, which is being captured, and keeps what the graph names until that
  // is freed, or the device closed.
  Result<const GraphJob *> capture(const RequestPointer &request, const GraphUpdate &update);
  bool has_graph_job(const GraphJob *job) const;
  Status free_graph_job(const GraphJob *job);

  // Waits, on its caller's thread, until all that is in a stream of the caller's is done.
  Status await_stream(void *handle);
  // A job in LC_STREAM_PER_THREAD, on its caller's thread: before submit(), and when the job
  // is enqueued.
  Status begin_thread_order(Request &request);
  Status end_thread_order(Request &request);

 private:
  struct Call;

  void run();
  void begin() {
    thread_.begin(true, [this] { run(); });
  }
  Status open_device();
  Status open_untried_device();
  Status self_test(const BlockCipher *block);
  Result<bool> knows(const verify::CipherKnownAnswer &answer);
  bool is_proven(const CipherKind &kind) const;
  void prove(const CipherKind &kind);
  Status set_unusable(lc_device_state state, Status status) noexcept;
  Status why_lost(lc_status code) const noexcept;
  void serve(std::unique_lock<std::mutex> &lock);
  bool start_next();
  bool find_work();
  Status start_on_device(const RequestPointer &request);
  void retire();
  void take_back(Retired retired) noexcept;
  bool retire_what_is_over();
  void wait();
  void end_what_failed();
  void rest(std::chrono::milliseconds most);
  void look_again(unsigned *looks);
  void count_done(Request &request, uint64_t bytes);
  void put_back(Request &request, const Piece &piece) noexcept;
  void end_if_over(const RequestPointer &request);
  void give_back(const RequestPointer &request, const Status &status);
  void end_all(const Status &status);
  void close_device();
  Result<std::unique_ptr<GraphJob>> put_into_graph(device::Device &device, DeviceMemory &memory,
                                                   const RequestPointer &request,
                                                   const GraphUpdate &update);
  // In executor_in_stream.cpp, for callers' threads.
  using Turn = DeviceUse::Turn;
  class Alarm;
  Status await_all_in(device::Stream &stream);
  Status mark_thread_order(Request &request);
  void put_into_stream(const RequestPointer &request, Turn &turn, Alarm &alarm);
  void wake();
  void poll_until_done(Request &request, Deadline deadline);
  bool take_back_without_callback(Request &request);
  bool await_end(const Request &request, Deadline deadline, const std::function<bool()> &gives_up);

  device::Found found_;
  const PipelineOptions options_;
  const PinnedMemory &pinned_;
  CopyThreads &copy_threads_;
  HandBack hand_back_;
  Counters counters_;
  std::atomic<lc_device_state> state_ = LC_DEVICE_UNTRIED;
  std::atomic<uint64_t> load_bytes_ = 0;
  std::atomic<double> shared_rate_ = 0;
  std::atomic<bool> gave_wrong_output_ = false;
  std::atomic<bool> kernels_are_known_ = false;  // with open_properties_ and form_
  // Those of found_, or of the open device; the latter stay when it is closed.
  std::atomic<const device::Properties *> properties_ = &found_.properties;
  device::Properties open_properties_;
  LaunchForm form_;                     // of the open device
  std::atomic<bool> stopping_ = false;  // written under the lock, as the next
  std::atomic<bool> cancels_pending_ = false;

  // For the executor's thread, while chunks are under way.
  AutoResetEvent wake_event_;
  // A caller's thread may have the use of the device. It takes no other lock of this class
  // before that.
  const std::shared_ptr<DeviceUse> use_ = std::make_shared<DeviceUse>();
  std::atomic<bool> is_used_by_callers_ = false;
  // For who has the use of the device; to open and close it, for the executor's thread alone.
  std::unique_ptr<device::Device> device_;
  std::unique_ptr<DeviceMemory> memory_;
  std::unique_ptr<Pipeline> pipeline_;
  bool opened_ = false;
  std::array<bool, kBlockCipherCount> is_proven_ = {};
  std::list<RequestPointer> queue_;
  uint64_t self_test_launches_ = 0;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  Status status_;  // why it is unusable or lost
  std::list<RequestPointer> arrived_;
  std::list<Call *> calls_;
  std::list<std::unique_ptr<GraphJob>> graph_jobs_;  // used by the device's thread
  OpeningThread thread_;
};

}  // namespace lanecrypt::runtime
