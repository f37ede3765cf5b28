// SPDX-License-Identifier: Apache-2.0
#include "cipher_task.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <cstring>
#include <string>

namespace lanecrypt::python {
namespace {

// CUDA's legacy default stream, as lc_cipher_job.stream has it. Frameworks call it 0 too.
constexpr uintptr_t kLegacyStream = 1;

}  // namespace

CipherTask::CipherTask(nb::object context, int cipher, bool encrypts, nb::object key,
                       uint32_t iv_bytes, uint32_t tag_bytes, uint64_t data_unit_bytes,
                       std::optional<uintptr_t> stream)
    : Task(std::move(context)),
      key_(nb::cast<const SecretKey &>(key)),
      iv_bytes_(iv_bytes),
      tag_bytes_(tag_bytes),
      given_stream_(stream) {
  keep(key);
  job_.struct_size = sizeof job_;
  job_.cipher = static_cast<lc_cipher>(cipher);
  job_.direction = encrypts ? LC_ENCRYPT : LC_DECRYPT;
  job_.key_bytes = static_cast<uint32_t>(key_.size());
  job_.iv_bytes = iv_bytes;
  job_.tag_bytes = tag_bytes;
  job_.data_unit_bytes = data_unit_bytes;
  job_.message_size = sizeof(lc_message);
}

void CipherTask::use(const View &view) {
  if (!room_) {
    room_ = view.room();
    ordinal_ = view.ordinal();
  } else if (*room_ != view.room() || (*room_ != Room::kHost && ordinal_ != view.ordinal())) {
    raise(PyExc_ValueError, "the input and the output do not all lie on one device");
  }
  if (!framework_stream_) framework_stream_ = view.stream();
}

CipherTask::Data CipherTask::keep_aad(nb::handle aad) {
  if (aad.is_none()) return {};
  const nb::object kept = nb::isinstance<View>(aad)
                              ? nb::borrow(aad)
                              : nb::cast(new View(aad, false, {}), nb::rv_policy::take_ownership);
  const View &view = nb::cast<const View &>(kept);
  if (view.room() != Room::kHost)
    raise(PyExc_ValueError, "the associated data must lie in host memory");
  keep(kept);
  return {view.data(), view.bytes()};
}

void CipherTask::append(Data aad, const uint8_t *in, uint8_t *out, uint64_t length) {
  lc_message message = {};
  message.key = key_.data();
  message.in = in;
  message.out = out;
  message.length = length;
  message.aad = aad.bytes;
  message.aad_length = aad.length;
  messages_.push_back(message);
  bytes_ += length;
}

void CipherTask::add(nb::handle iv, nb::object in, uint64_t in_offset, uint64_t length,
                     nb::object out, uint64_t out_offset, nb::handle aad) {
  check_not_begun();
  const View &from = nb::cast<const View &>(in), &to = nb::cast<const View &>(out);
  from.check_range(in_offset, length);
  to.check_range(out_offset, length);
  use(from);
  use(to);
  keep(in);
  keep(out);
  if (iv_bytes_ != 0) {
    const View view(iv, false, {});
    if (view.room() != Room::kHost) raise(PyExc_ValueError, "the nonce must lie in host memory");
    if (view.bytes() != iv_bytes_)
      raise(PyExc_ValueError, "the nonce or IV has " + std::to_string(view.bytes()) +
                                  " bytes, not " + std::to_string(iv_bytes_));
    ivs_.insert(ivs_.end(), view.data(), view.data() + view.bytes());
  }
  tags_.resize(tags_.size() + tag_bytes_);
  append(keep_aad(aad), from.data() + in_offset, to.data() + out_offset, length);
}

void CipherTask::add_rows(nb::handle ivs, nb::object in, nb::object out, uint64_t rows,
                          nb::handle aad) {
  check_not_begun();
  const View &from = nb::cast<const View &>(in), &to = nb::cast<const View &>(out);
  if (rows == 0) return;
  const uint64_t length = from.bytes() / rows;
  if (length * rows != from.bytes() || to.bytes() != from.bytes())
    raise(PyExc_ValueError, "the input and the output have not as many bytes each in " +
                                std::to_string(rows) + " equal messages");
  use(from);
  use(to);
  keep(in);
  keep(out);
  if (iv_bytes_ != 0) {
    const View view(ivs, false, {});
    if (view.room() != Room::kHost) raise(PyExc_ValueError, "the nonces must lie in host memory");
    if (view.bytes() != iv_bytes_ * rows)
      raise(PyExc_ValueError, "the nonces have " + std::to_string(view.bytes()) + " bytes, not " +
                                  std::to_string(iv_bytes_) + " for each of " +
                                  std::to_string(rows) + " messages");
    ivs_.insert(ivs_.end(), view.data(), view.data() + view.bytes());
  }
  tags_.resize(tags_.size() + rows * tag_bytes_);
  messages_.reserve(messages_.size() + rows);
  const bool has_each =
      !aad.is_none() && (nb::isinstance<nb::list>(aad) || nb::isinstance<nb::tuple>(aad));
  if (has_each && nb::len(aad) != rows)
    raise(PyExc_ValueError, "there are associated data for " + std::to_string(nb::len(aad)) +
                                " messages, and " + std::to_string(rows) + " messages");
  const Data one = has_each ? Data{} : keep_aad(aad);
  for (uint64_t row = 0; row < rows; ++row)
    append(has_each ? keep_aad(aad[row]) : one, from.data() + row * length,
           to.data() + row * length, length);
}

uint32_t CipherTask::device() {
  switch (*room_) {
    case Room::kHost:
      return context().place(job_.cipher, job_.direction, job_.key_bytes, messages_.size(), bytes_);
    case Room::kCuda:
      return context().index_of("cuda:" + std::to_string(ordinal_));
    case Room::kDevice:
      return static_cast<uint32_t>(ordinal_);
  }
  return LC_ANY_DEVICE;
}

void *CipherTask::stream() const {
  if (*room_ == Room::kHost) return nullptr;
  std::optional<uintptr_t> stream = given_stream_ ? given_stream_ : framework_stream_;
  if (!stream) return nullptr;  // what is in the memory is ready
  return reinterpret_cast<void *>(*stream == 0 ? kLegacyStream : *stream);
}

void CipherTask::prepare() {
  if (messages_.empty()) room_ = Room::kHost;
  if (given_stream_ && *room_ != Room::kCuda)
    raise(PyExc_ValueError, "a stream goes with memory of a CUDA device only");
  for (size_t n = 0; n < messages_.size(); ++n) {
    messages_[n].iv = iv_bytes_ == 0 ? nullptr : ivs_.data() + n * iv_bytes_;
    if (tag_bytes_ != 0)
      messages_[n].tag = tags_outside_ != nullptr ? tags_outside_ + n * tag_bytes_ : tag_of(n);
  }
  if (tag_bytes_ != 0 && job_.direction == LC_DECRYPT) {
    statuses_.assign(messages_.size(), LC_OK);
    job_.message_status = statuses_.data();
  }
  job_.messages = messages_.data();
  job_.message_count = messages_.size();
  job_.memory = *room_ == Room::kHost ? LC_MEMORY_HOST : LC_MEMORY_DEVICE;
  job_.device = device();
  job_.stream = stream();
}

std::vector<size_t> CipherTask::failed() const {
  std::vector<size_t> numbers;
  for (size_t n = 0; n < statuses_.size(); ++n)
    if (statuses_[n] == LC_ERROR_TAG) numbers.push_back(n);
  return numbers;
}

void CipherTask::wait_for_stream() {
  // A copy by the library is in no stream of the caller's.
  if (void *const handle = stream(); handle != nullptr) context().wait_for_stream(device(), handle);
}

void CipherTask::load_tags(const View &from, uint64_t offset) {
  check_not_begun();
  from.check_range(offset, tags_.size());
  if (tags_.empty()) return;
  if (from.room() == Room::kHost) {
    std::memcpy(tags_.data(), from.data() + offset, tags_.size());
    return;
  }
  use(from);
  wait_for_stream();
  const uint32_t index = device();
  check(context().call([&](lc_context *c) {
    return lc_copy_from_device(c, index, tags_.data(), from.data() + offset, tags_.size());
  }));
}

void CipherTask::put_tags(nb::object to, uint64_t offset) {
  check_not_begun();
  const View &view = nb::cast<const View &>(to);
  view.check_range(offset, tags_.size());
  if (tags_.empty()) return;
  keep(to);
  if (view.room() == Room::kHost) {
    tags_outside_ = view.data() + offset;
  } else {
    use(view);
    tags_on_device_ = view.data() + offset;
  }
}

void CipherTask::store_tags() {
  if (tags_on_device_ == nullptr) return;
  check(context().call([&](lc_context *c) {
    return lc_copy_to_device(c, job_.device, tags_on_device_, tags_.data(), tags_.size());
  }));
}

void CipherTask::load_tag(size_t number, nb::handle bytes) {
  check_not_begun();
  const View view(bytes, false, {});
  if (number >= messages_.size()) raise(PyExc_IndexError, "there is no such message");
  if (view.room() != Room::kHost) raise(PyExc_ValueError, "the tag must lie in host memory");
  if (view.bytes() != tag_bytes_)
    raise(PyExc_ValueError, "the tag has " + std::to_string(view.bytes()) + " bytes, not " +
                                std::to_string(tag_bytes_));
  std::memcpy(tag_of(number), view.data(), tag_bytes_);
}

nb::bytes CipherTask::tag(size_t number) const {
  if (number >= messages_.size()) raise(PyExc_IndexError, "there is no such message");
  return nb::bytes(tags_.data() + number * tag_bytes_, tag_bytes_);
}

void bind_cipher_task(nb::module_ &module) {
  nb::class_<CipherTask, Task>(module, "CipherTask")
      .def(nb::init<nb::object, int, bool, nb::object, uint32_t, uint32_t, uint64_t,
                    std::optional<uintptr_t>>(),
           nb::arg("context"), nb::arg("cipher"), nb::arg("encrypts"), nb::arg("key"),
           nb::arg("iv_bytes"), nb::arg("tag_bytes"), nb::arg("data_unit_bytes"),
           nb::arg("stream").none())
      .def("add", &CipherTask::add, nb::arg("iv").none(), nb::arg("input"), nb::arg("input_offset"),
           nb::arg("length"), nb::arg("output"), nb::arg("output_offset"), nb::arg("aad").none())
      .def("add_rows", &CipherTask::add_rows, nb::arg("ivs").none(), nb::arg("input"),
           nb::arg("output"), nb::arg("rows"), nb::arg("aad").none())
      .def("load_tags", &CipherTask::load_tags, nb::arg("source"), nb::arg("offset"))
      .def("put_tags", &CipherTask::put_tags, nb::arg("target"), nb::arg("offset"))
      .def("store_tags", &CipherTask::store_tags)
      .def("load_tag", &CipherTask::load_tag, nb::arg("number"), nb::arg("tag"))
      .def("tag", &CipherTask::tag, nb::arg("number"));
}

}  // namespace lanecrypt::python
