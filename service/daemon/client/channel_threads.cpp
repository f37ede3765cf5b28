// SPDX-License-Identifier: Apache-2.0
#include "service/daemon/client/channel_threads.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

#include <new>

#include "process/new_thread.h"
#include "service/daemon/client/requests.h"
#include "service/daemon/client/session.h"
#include "service/daemon/failure.h"
#include "service/daemon/report/running.h"
#include "service/daemon/service.h"

namespace lanecrypt::service::daemon {
namespace {

// The most events that a thread handles before it passes the new operations to the library.
constexpr int kEventsOfTurn = 64;
constexpr uint64_t kWakeTag = UINT64_MAX;
// As many consecutive channels of a client are assigned to one thread. With a thread for each, each
// request would wake another thread.
constexpr size_t kChannelsTogether = 32;

}  // namespace

void ChannelThreads::start(size_t count) {
  while (threads_.size() < count) {
    auto thread = std::make_unique<Thread>();
    thread->events = Descriptor(epoll_create1(EPOLL_CLOEXEC));
    thread->wake = Descriptor(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.u64 = kWakeTag;
    if (!thread->events.ok() || !thread->wake.ok() ||
        epoll_ctl(thread->events.get(), EPOLL_CTL_ADD, thread->wake.get(), &event) != 0)
      throw Failure("cannot watch descriptors with epoll", errno);
    if (!thread->buffer.ok(kMostPacketBytes)) throw std::bad_alloc();
    threads_.push_back(std::move(thread));
    Thread &its = *threads_.back();
    its.thread = process::new_thread([this, &its] { run(its); });
  }
}

void ChannelThreads::stop() {
  stopping_ = true;
  for (const std::unique_ptr<Thread> &thread : threads_) (void)eventfd_write(thread->wake.get(), 1);
  for (const std::unique_ptr<Thread> &thread : threads_)
    if (thread->thread.joinable()) thread->thread.join();
}

bool ChannelThreads::add(const std::shared_ptr<Channel> &channel) {
  Session &session = *channel->session;
  if (session.channels_made == 0) session.first_thread = next_++;
  channel->thread =
      (session.first_thread + session.channels_made++ / kChannelsTogether) % threads_.size();
  Thread &thread = *threads_[channel->thread];
  const std::lock_guard lock(thread.mutex);
  if (thread.free.empty()) {
    thread.free.push_back(thread.entries.size());
    thread.entries.emplace_back();
    // Reserves room now, so that remove() needs no memory.
    thread.free.reserve(thread.entries.capacity());
  }
  const size_t slot = thread.free.back();
  Entry &entry = thread.entries[slot];
  epoll_event event{};
  event.events = EPOLLIN | EPOLLRDHUP;
  event.data.u64 = uint64_t{++entry.number} << 32 | slot;
  if (epoll_ctl(thread.events.get(), EPOLL_CTL_ADD, channel->socket(), &event) != 0) return false;
  thread.free.pop_back();
  entry.channel = channel;
  channel->slot = slot;
  return true;
}

void ChannelThreads::remove(Channel &channel) {
  Thread &thread = *threads_[channel.thread];
  std::shared_ptr<Channel> removed;
  const std::lock_guard lock(thread.mutex);
  if (channel.slot >= thread.entries.size()) return;
  Entry &entry = thread.entries[channel.slot];
  if (entry.channel.get() != &channel) return;
  (void)epoll_ctl(thread.events.get(), EPOLL_CTL_DEL, channel.socket(), nullptr);
  removed = std::move(entry.channel);
  ++entry.number;
  thread.free.push_back(channel.slot);
}

std::shared_ptr<Channel> ChannelThreads::find(Thread &thread, uint64_t tag) {
  const std::lock_guard lock(thread.mutex);
  const Entry &entry = thread.entries[tag & UINT32_MAX];
  return entry.number == tag >> 32 ? entry.channel : nullptr;
}

void ChannelThreads::run(Thread &thread) {
  epoll_event events[kEventsOfTurn];
  while (!stopping_) {
    const int count = epoll_wait(thread.events.get(), events, kEventsOfTurn, -1);
    const Running running(service_.counters.running_threads);
    for (int n = 0; n < count; ++n) {
      if (events[n].data.u64 == kWakeTag) continue;
      if (const std::shared_ptr<Channel> channel = find(thread, events[n].data.u64))
        serve(channel, events[n].events, {thread.buffer.data(), kMostPacketBytes});
    }
    service_.operations.give();
  }
}

void ChannelThreads::serve(const std::shared_ptr<Channel> &channel, uint32_t events,
                           std::span<uint8_t> buffer) {
  const Received received = receive_packet(channel->socket(), buffer, false);
  if (received.transfer == Transfer::kWouldBlock) return;
  if (received.transfer == Transfer::kClosed && (events & (EPOLLHUP | EPOLLRDHUP)) != 0) {
    // The client has closed this channel.
    channel->note_gone();
    remove(*channel);
    channel->session->remove(channel);
    return;
  }
  bool is_right = false;
  try {
    is_right =
        received.transfer == Transfer::kDone && handle_request(service_, *channel, received.packet);
    if (!is_right && !is_hung_up(channel->socket())) channel->session->breaks_protocol = true;
  } catch (const std::bad_alloc &) {
    // There is no memory to serve this client, so its session ends.
  }
  // An invalid packet may have any length, so the whole buffer is wiped.
  secure::wipe(buffer.data(), is_right ? received.packet.size() : buffer.size());
  if (!is_right) service_.releases.add(channel->session);
}

}  // namespace lanecrypt::service::daemon
