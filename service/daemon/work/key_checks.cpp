// SPDX-License-Identifier: Apache-2.0
#include "service/daemon/work/key_checks.h"

#include <new>

#include "process/new_thread.h"
#include "service/daemon/client/session.h"
#include "service/daemon/limits.h"
#include "service/daemon/report/running.h"

namespace lanecrypt::service::daemon {
void KeyChecks::start(unsigned threads) {
  threads_.reserve(threads);  // so that push_back() cannot throw after a thread was started
  while (threads_.size() < threads) threads_.push_back(process::new_thread([this] { run(); }));
}

void KeyChecks::stop() {
  Waiting *all = nullptr;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    all = queue_.take_older(Clock::time_point::max());
    changed_.notify_all();
  }
  refuse(all);
  for (std::thread &thread : threads_) thread.join();
  threads_.clear();
}

void KeyChecks::add(const std::shared_ptr<Key> &key) {
  bool has_room = false;
  {
    const std::lock_guard lock(mutex_);
    key->since = Clock::now();
    has_room = !stopping_ && queue_.add((*key->session).*line_, *key, kMostKeysOfUser);
    if (has_room) changed_.notify_one();
  }
  if (!has_room) end(*key, false, Outcome::kBusy);
}

void KeyChecks::drop(Session &session) {
  Waiting *all = nullptr;
  {
    const std::lock_guard lock(mutex_);
    all = queue_.close(session.*line_);
  }
  refuse(all);
}

void KeyChecks::send_away_late() {
  Waiting *late = nullptr;
  {
    const std::lock_guard lock(mutex_);
    if (queue_.waiting() != 0) late = queue_.take_older(Clock::now() - kMostWait);
  }
  refuse(late);
}

void KeyChecks::refuse(Waiting *chain) {
  while (chain != nullptr) {
    Key &key = *static_cast<Key *>(chain);
    chain = chain->next;
    end(key, false, Outcome::kBusy);
  }
}

// Ends the check of a key, and answers or queues the operations that wait for it. The key may be
// destroyed on return.
void KeyChecks::end(Key &key, bool is_good, Outcome otherwise) {
  const std::shared_ptr<Session> session = key.session;
  for (const std::shared_ptr<Channel> &channel : session->end_check(key, is_good)) {
    if (is_good)
      operations_.wait(*channel);
    else
      operations_.finish(*channel, otherwise);
  }
  if (is_good) operations_.give();
}

void KeyChecks::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return stopping_ || queue_.waiting() != 0; });
    if (stopping_) return;
    Key &key = *static_cast<Key *>(queue_.take());
    lock.unlock();
    {
      const Running running(counters_.running_threads);
      const Clock::time_point begin = Clock::now();
      bool is_good = false;
      Outcome otherwise = Outcome::kBadKey;
      try {
        is_good = key.check();
      } catch (const std::bad_alloc &) {
        otherwise = Outcome::kBusy;
      } catch (const NotChecked &) {
        otherwise = Outcome::kNoDevice;
      }
      {
        // Charges the user before end() lets the client send the next key.
        const std::lock_guard charging(mutex_);
        queue_.charge((*key.session).*line_, Clock::now() - begin);
      }
      end(key, is_good, otherwise);
    }
    lock.lock();
  }
}

}  // namespace lanecrypt::service::daemon
