// SPDX-License-Identifier: Apache-2.0
#include "faulty_device.h"
#include "device/device_enumeration.h"

#include <utility>

#include "device/host/host_fault.h"
#include "forwarding_device.h"

namespace lanecrypt::test {
namespace {

using device::Argument;
using device::Buffer;
using device::Device;
using device::Event;
using device::HostFault;
using device::Launch;
using device::MemoryKind;
using device::Stream;

using FaultPointer = std::shared_ptr<HostFault>;

// What has gone wrong in a stream up to a certain point.
struct Trouble {
  Status status;
  bool is_stuck = false;
};

class FaultyEvent : public Event {
 public:
  FaultyEvent(std::unique_ptr<Event> inner, FaultPointer fault)
      : inner_(std::move(inner)), fault_(std::move(fault)) {}

  Status wait() override { return wait_by(&Event::wait); }
  Status wait_long() override { return wait_by(&Event::wait_long); }
  bool reached() override { return trouble_.is_stuck ? fault_->is_released() : inner_->reached(); }
  uint64_t nanoseconds_since(Event &earlier) override {
    return inner_->nanoseconds_since(*static_cast<FaultyEvent &>(earlier).inner_);
  }

  Event &inner() { return *inner_; }
  const Trouble &trouble() const { return trouble_; }
  void set_trouble(const Trouble &trouble) { trouble_ = trouble; }

 private:
  Status wait_by(Status (Event::*way)()) {
    if (trouble_.is_stuck) {
      fault_->await_release();
      return HostFault::lost();
    }
    LC_TRY((*inner_.*way)());
    return trouble_.status;
  }

  std::unique_ptr<Event> inner_;
  FaultPointer fault_;
  Trouble trouble_;
};

// After a failure, or after work that never ends, the stream passes nothing to the device, as if
// the work did not run there.
class FaultyStream : public Stream {
 public:
  FaultyStream(std::unique_ptr<Stream> inner, FaultPointer fault, OnStep on_step)
      : inner_(std::move(inner)), fault_(std::move(fault)), on_step_(std::move(on_step)) {}

  Status upload(const Buffer &to, uint64_t offset, const void *from, uint64_t bytes) override {
    if (!runs()) return Status();
    if (on_step_ && fault_->is_serving()) on_step_(Step::kUpload);
    const uint64_t copied = fault_->on_upload(bytes);
    LC_TRY(inner_->upload(to, offset, from, copied));
    if (copied < bytes) trouble_.status = HostFault::lost();
    return Status();
  }
  Status download(void *to, const Buffer &from, uint64_t offset, uint64_t bytes) override {
    if (!runs()) return Status();
    const uint64_t copied = fault_->on_download(bytes);
    if (fault_->drops_download()) return Status();
    LC_TRY(inner_->download(to, from, offset, copied));
    if (copied < bytes) {
      trouble_.status = HostFault::lost();
    } else if (fault_->spoils_downloads()) {
      LC_TRY(inner_->finish());
      fault_->after_download(to, bytes);
    }
    return Status();
  }
  Status copy(const Buffer &to, uint64_t to_offset, const Buffer &from, uint64_t from_offset,
              uint64_t bytes) override {
    return runs() ? inner_->copy(to, to_offset, from, from_offset, bytes) : Status();
  }
  Status zero(const Buffer &buffer, uint64_t offset, uint64_t bytes) override {
    return runs() && !fault_->drops_zero() ? inner_->zero(buffer, offset, bytes) : Status();
  }
  Status launch(const Launch &launch) override {
    LC_TRY(fault_->on_launch());
    if (!runs()) return Status();
    trouble_.is_stuck = fault_->strikes_stuck();
    if (trouble_.is_stuck && on_step_) on_step_(Step::kStuck);
    if (trouble_.is_stuck) return Status();
    trouble_.status = fault_->on_run_if_not_stuck();
    if (!runs() || fault_->drops_kernel()) return Status();
    LC_TRY(inner_->launch(launch));
    for (const Argument &argument : launch.arguments) {
      const auto *buffer = std::get_if<const Buffer *>(&argument);
      if (buffer == nullptr || *buffer == nullptr || (*buffer)->kind() != MemoryKind::kPinned)
        continue;
      LC_TRY(inner_->finish());
      trouble_.status = fault_->after_kernel((*buffer)->host(), (*buffer)->bytes());
    }
    return Status();
  }
  Status mark(Event &event) override {
    auto &point = static_cast<FaultyEvent &>(event);
    point.set_trouble(trouble_);
    return inner_->mark(point.inner());
  }
  Status await(Event &event) override {
    auto &point = static_cast<FaultyEvent &>(event);
    trouble_.is_stuck = trouble_.is_stuck || point.trouble().is_stuck;
    if (trouble_.status.ok()) trouble_.status = point.trouble().status;
    return inner_->await(point.inner());
  }
  Status finish() override {
    LC_TRY(inner_->finish());
    if (trouble_.is_stuck) fault_->await_release();
    return trouble_.status;
  }

 private:
  bool runs() const { return trouble_.status.ok() && !trouble_.is_stuck; }

  std::unique_ptr<Stream> inner_;
  FaultPointer fault_;
  const OnStep on_step_;
  Trouble trouble_;
};

class FaultyDevice : public ForwardingDevice {
 public:
  FaultyDevice(std::unique_ptr<Device> inner, const std::string &faults, OnStep on_step)
      : ForwardingDevice(std::move(inner)),
        fault_(std::make_shared<HostFault>(faults.c_str())),
        on_step_(std::move(on_step)) {
    properties_.reaches_pinned = properties_.reaches_pinned && fault_->lets_kernels_reach();
  }
  ~FaultyDevice() override { fault_->release(); }

  Result<std::unique_ptr<Buffer>> allocate(MemoryKind kind, uint64_t bytes) override {
    LC_TRY(fault_->on_allocation());
    return inner().allocate(kind, bytes);
  }
  Result<std::unique_ptr<Stream>> make_stream() override { return wrap(inner().make_stream()); }
  Result<std::unique_ptr<Stream>> make_urgent_stream() override {
    return wrap(inner().make_urgent_stream());
  }
  Result<std::unique_ptr<Stream>> adopt_stream(void *handle) override {
    return wrap(inner().adopt_stream(handle));
  }
  Result<std::unique_ptr<Event>> make_event() override {
    Result<std::unique_ptr<Event>> event = inner().make_event();
    if (!event.ok()) return event.status();
    return std::unique_ptr<Event>(new FaultyEvent(std::move(*event), fault_));
  }
  Result<std::unique_ptr<Buffer>> pin_in_place(void *memory, uint64_t bytes) override {
    LC_TRY(fault_->on_pin());
    return inner().pin_in_place(memory, bytes);
  }
  void begin_service() override {
    fault_->begin_service();
    inner().begin_service();
  }

 private:
  Result<std::unique_ptr<Stream>> wrap(Result<std::unique_ptr<Stream>> stream) {
    if (!stream.ok() || *stream == nullptr) return stream;
    return std::unique_ptr<Stream>(new FaultyStream(std::move(*stream), fault_, on_step_));
  }

  FaultPointer fault_;
  const OnStep on_step_;
};

}  // namespace

device::Found with_faults(device::Found found, const std::string &faults, OnStep on_step) {
  return wrapped(std::move(found), [faults, on_step = std::move(on_step)](auto inner) {
    return std::make_unique<FaultyDevice>(std::move(inner), faults, on_step);
  });
}

device::Found find_device(const std::string &id) {
  for (device::Found &found : device::find_all_here())
    if (found.properties.id == id) return std::move(found);
  device::Found none;
  none.properties.id = id;
  none.properties.unusable = "it is not here";
  return none;
}

}  // namespace lanecrypt::test
