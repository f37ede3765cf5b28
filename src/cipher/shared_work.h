// One job on several devices at once. Each takes more of it whenever it is free, so each
// does as much as it can.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "work/chunk.h"

namespace lanecrypt::runtime {

class Executor;

// Each device has a request of its own, its part. It is handed to the device like any
// other request, and takes its work from here. Any thread may call this, but the calls
// about a part are made by the thread that has the part.
class SharedWork : public std::enable_shared_from_this<SharedWork> {
 public:
  // Makes others do what is left of the whole, when no device that shares it does.
  using PlaceAgain = std::function<void(const RequestPointer &whole, const Status &why)>;

  SharedWork(RequestPointer whole, PlaceAgain place_again)
      : whole_(std::move(whole)),
        place_again_(std::move(place_again)),
        left_bytes_(whole_->text_left()) {}

  // Comes before all other calls: makes a part for a device, which takes as much as it
  // can, or a part that does the pieces that are `its` and no others.
  RequestPointer add(Executor &executor, uint64_t load_bytes);
  RequestPointer add(Executor &executor, const std::function<bool(const Piece &)> &its);
  // Then called for each part. The last of them may end the whole.
  void begin(const RequestPointer &part);

  enum class TakeResult {
    kTaken,
    kLater,  // the others will have done all of it before this device would end a chunk
    kNothingLeft,
  };
  TakeResult take(Request &part, const ChunkLimits &limits);
  // How many bytes the size of its chunks goes by: fewer at first, and towards the end.
  uint64_t waiting_bytes(const Request &part);
  bool has_nothing_left();

  // A chunk of a part came back well. is_over: the part takes no more.
  void report(Request &part, bool is_over);
  // Its device cannot do this part.
  void leave(Request &part, const Status &why);

 private:
  using Clock = std::chrono::steady_clock;
  struct Member {
    Executor *executor = nullptr;
    bool is_here = true;
    // It has taken work that has not come back.
    bool has_work = false;
    uint64_t taken_bytes = 0;  // taken and not done yet
    uint64_t done_bytes = 0;
    // How long it had work.
    Clock::duration busy{0};
    Clock::time_point begun, last_heard = Clock::now();
    double known_rate = 0;  // in its last job
  };

  bool is_closed() const;
  double rate(const Member &member, Clock::time_point now) const;
  bool is_worth_it(const Member &member, uint64_t bytes, Clock::time_point now) const;
  void begin_work(Member &member, uint64_t bytes);
  void end_work(Member &member);
  void add_result(Request &part);
  void conclude_if_over();
  void conclude();

  const RequestPointer whole_;
  const PlaceAgain place_again_;
  std::mutex mutex_;
  std::vector<Member> members_;
  uint64_t left_bytes_;
  bool must_start_over_ = false;
  bool is_concluded_ = false;
  Status why_;  // why the last device left
};

}  // namespace lanecrypt::runtime
