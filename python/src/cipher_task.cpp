// SPDX-License-Identifier: Apache-2.0
#include "cipher_task.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <tuple>

namespace lanecrypt::python {
namespace {

bool takes_segments(lc_cipher cipher) {
  switch (cipher) {
    case LC_AES_CTR:
    case LC_AES_GCM:
    case LC_AES_CCM:
    case LC_CHACHA20:
    case LC_CHACHA20_POLY1305:
    case LC_SM4_CTR:
    case LC_SM4_GCM:
    case LC_SM4_CCM:
    case LC_CAMELLIA_CTR:
    case LC_ARIA_CTR:
    case LC_ARIA_GCM:
    case LC_ARIA_CCM:
      return true;
    default:
      return false;
  }
}

lc_numbering numbering_of(nb::handle given) {
  if (given.is_none()) return {};
  const auto [at, bytes, is_little, first] =
      nb::cast<std::tuple<uint32_t, uint32_t, bool, uint64_t>>(given);
  return {.at = at, .bytes = bytes, .little_endian = is_little ? 1 : 0, .first = first};
}

}  // namespace

CipherTask::CipherTask(nb::object context, int cipher, bool encrypts, nb::object key,
                       uint32_t iv_bytes, uint32_t tag_bytes, uint64_t data_unit_bytes,
                       std::optional<uintptr_t> stream)
    : Task(std::move(context)),
      key_(nb::cast<const SecretKey &>(key)),
      iv_bytes_(iv_bytes),
      tag_bytes_(tag_bytes),
      location_(stream) {
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

const View *CipherTask::keep_view(nb::handle given) {
  if (given.is_none()) return nullptr;
  const nb::object kept = nb::isinstance<View>(given)
                              ? nb::borrow(given)
                              : nb::cast(new View(given, false, {}), nb::rv_policy::take_ownership);
  keep(kept);
  return &nb::cast<const View &>(kept);
}

CipherTask::Data CipherTask::keep_aad(nb::handle aad) {
  const View *const view = keep_view(aad);
  if (view == nullptr) return {};
  if (view->memory_space() != MemorySpace::kHost)
    raise(PyExc_ValueError, "the associated data must lie in host memory");
  return {view->data(), view->bytes()};
}

// Adds an output. Only encryption may write to host memory while the input is on a device;
// plaintext stays on its device.
void CipherTask::add_output(const View &view) {
  if (job_.direction == LC_ENCRYPT)
    location_.add_output(view);
  else
    location_.add(view);
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
  ++count_;
  bytes_ += length;
}

void CipherTask::add(nb::handle iv, nb::object in, uint64_t in_offset, uint64_t length,
                     nb::object out, uint64_t out_offset, nb::handle aad) {
  check_not_begun();
  const View &from = nb::cast<const View &>(in), &to = nb::cast<const View &>(out);
  from.check_range(in_offset, length);
  to.check_range(out_offset, length);
  location_.add(from);
  add_output(to);
  keep(in);
  keep(out);
  add_iv(iv, iv_bytes_, "the nonce or IV");
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
  location_.add(from);
  add_output(to);
  keep(in);
  keep(out);
  add_iv(ivs, iv_bytes_ * rows, "the nonces or IVs");
  const bool has_each =
      !aad.is_none() && (nb::isinstance<nb::list>(aad) || nb::isinstance<nb::tuple>(aad));
  if (has_each && nb::len(aad) != rows)
    raise(PyExc_ValueError, "there are associated data for " + std::to_string(nb::len(aad)) +
                                " messages, and " + std::to_string(rows) + " messages");
  const Data one = has_each ? Data{} : keep_aad(aad);
  if (!has_each && length != 0 && messages_.empty() && takes_segments(job_.cipher)) {
    lc_segments rows_of_one = {};
    rows_of_one.in = from.data();
    rows_of_one.out = to.data();
    rows_of_one.text_bytes = from.bytes();
    rows_of_one.segment_bytes = length;
    rows_of_one.nonce_stride = iv_bytes_;
    rows_of_one.aad = one.bytes;
    rows_of_one.aad_length = one.length;
    segments_ = rows_of_one;
    count_ = rows;
    bytes_ = from.bytes();
    return;
  }
  messages_.reserve(rows);
  for (uint64_t row = 0; row < rows; ++row)
    append(has_each ? keep_aad(aad[row]) : one, from.data() + row * length,
           to.data() + row * length, length);
}

void CipherTask::set_segments(nb::handle iv, uint64_t iv_stride, nb::object number,
                              std::optional<uint32_t> last_flag_at, bool is_end, nb::object in,
                              nb::object out, uint64_t text_bytes, uint64_t segment_bytes,
                              uint64_t first_bytes, bool tags_inside, nb::handle aad,
                              nb::object aad_number) {
  check_not_begun();
  if (segment_bytes == 0) raise(PyExc_ValueError, "segments have one byte at least");
  const View &from = nb::cast<const View &>(in), &to = nb::cast<const View &>(out);
  const uint64_t first = first_bytes != 0 ? first_bytes : segment_bytes;
  const uint64_t rest = text_bytes - std::min(text_bytes, first);
  count_ = 1 + rest / segment_bytes + (rest % segment_bytes != 0 ? 1 : 0);
  const uint64_t inside = tags_inside ? count_ * tag_bytes_ : 0;
  const bool encrypts = job_.direction == LC_ENCRYPT;
  from.check_range(0, text_bytes + (encrypts ? 0 : inside));
  to.check_range(0, text_bytes + (encrypts ? inside : 0));
  location_.add(from);
  add_output(to);
  keep(in);
  keep(out);
  add_iv(iv, iv_stride != 0 ? iv_stride * count_ : iv_bytes_, "the nonces");
  lc_segments all = {};
  all.in = from.data();
  all.out = to.data();
  all.text_bytes = bytes_ = text_bytes;
  all.segment_bytes = segment_bytes;
  all.first_bytes = first_bytes;
  all.number = numbering_of(number);
  all.last_flag = last_flag_at ? 1 : 0;
  all.last_flag_at = last_flag_at.value_or(0);
  all.is_end = is_end ? 1 : 0;
  all.nonce_stride = iv_stride;
  if (const View *const additional = keep_view(aad); additional != nullptr) {
    all.aad = additional->data();
    all.aad_length = additional->bytes();
    if (additional->memory_space() != MemorySpace::kHost) {
      location_.add_further(*additional, "the associated data");
      all.aad_memory = LC_MEMORY_DEVICE;
    }
  }
  all.aad_number = numbering_of(aad_number);
  segments_ = all;
  tags_inside_ = tags_inside;
}

void CipherTask::add_iv(nb::handle iv, uint64_t bytes, const char *which) {
  if (iv_bytes_ == 0) return;
  const auto append_iv = [&](const uint8_t *from, uint64_t given) {
    if (given != bytes)
      raise(PyExc_ValueError, which + std::string(bytes == iv_bytes_ ? " has " : " have ") +
                                  std::to_string(given) + " bytes, not " + std::to_string(bytes));
    ivs_.insert(ivs_.end(), from, from + bytes);
  };
  // The usual case, which needs no View.
  if (PyBytes_CheckExact(iv.ptr()))
    return append_iv(reinterpret_cast<const uint8_t *>(PyBytes_AsString(iv.ptr())),
                     static_cast<uint64_t>(PyBytes_Size(iv.ptr())));
  const View view(iv, false, {});
  if (view.memory_space() != MemorySpace::kHost)
    raise(PyExc_ValueError, which + std::string(" must lie in host memory"));
  append_iv(view.data(), view.bytes());
}

uint8_t *CipherTask::host_tags() {
  tags_.resize(count_ * tag_bytes_);
  return tags_.data();
}

void CipherTask::prepare_tags() {
  if (tag_bytes_ == 0) return;
  uint8_t *const tags = tags_outside_ != nullptr ? tags_outside_
                        : tags_inside_           ? nullptr
                                                 : host_tags();
  if (segments_) segments_->tags = tags;
  for (size_t n = 0; n < messages_.size(); ++n) messages_[n].tag = tags + n * tag_bytes_;
  if (tags_on_device_) job_.tag_memory = LC_MEMORY_DEVICE;
  if (job_.direction == LC_ENCRYPT) return;
  if (verdicts_ != nullptr) {
    job_.verdicts = verdicts_->data();
  } else {
    statuses_.assign(count_, LC_OK);
    job_.message_status = statuses_.data();
  }
}

void CipherTask::prepare() {
  job_.stream = location_.stream();
  for (size_t n = 0; n < messages_.size(); ++n)
    messages_[n].iv = iv_bytes_ == 0 ? nullptr : ivs_.data() + n * iv_bytes_;
  if (count_ != 0) prepare_tags();
  if (segments_) {
    segments_->struct_size = sizeof *segments_;
    segments_->key = key_.data();
    segments_->nonce = ivs_.data();
    job_.segments = &*segments_;
  } else {
    job_.messages = messages_.data();
    job_.message_count = messages_.size();
  }
  job_.memory = location_.memory();
  job_.device = location_.is_host()
                    ? context().place(job_.cipher, job_.direction, job_.key_bytes, count_, bytes_)
                    : location_.device(context());
  job_.has_device = 1;
}

std::vector<size_t> CipherTask::failed() const {
  std::vector<size_t> numbers;
  if (is_single_) return numbers;
  for (size_t n = 0; n < statuses_.size(); ++n)
    if (statuses_[n] == LC_ERROR_TAG) numbers.push_back(n);
  return numbers;
}

void CipherTask::put_tags(nb::object to, uint64_t offset) {
  check_not_begun();
  const View &view = nb::cast<const View &>(to);
  view.check_range(offset, count_ * tag_bytes_);
  if (count_ == 0) return;
  tags_on_device_ = view.memory_space() != MemorySpace::kHost;
  if (tags_on_device_) location_.add_further(view, "the tags");
  keep(to);
  tags_outside_ = view.data() + offset;
}

void CipherTask::set_verdicts(nb::object to) {
  check_not_begun();
  const View &view = nb::cast<const View &>(to);
  view.check_range(0, count_);
  if (count_ == 0) return;
  if (view.memory_space() == MemorySpace::kHost)
    raise(PyExc_ValueError, "the verdicts must lie on the device of the data");
  location_.add_further(view, "the verdicts");
  keep(to);
  verdicts_ = &view;
}

void CipherTask::check_verdicts() {
  if (verdicts_ == nullptr) return;
  std::vector<uint8_t> verdicts(count_);
  check(context().call([&](lc_context *c) {
    return lc_copy_from_device(c, job_.device, verdicts.data(), verdicts_->data(), count_);
  }));
  std::vector<size_t> wrong;
  for (size_t n = 0; n < count_; ++n)
    if (verdicts[n] != 1) wrong.push_back(n);
  if (!wrong.empty()) raise({LC_ERROR_TAG, {}}, is_single_ ? std::vector<size_t>() : wrong);
}

void CipherTask::load_tag(size_t number, nb::handle bytes) {
  check_not_begun();
  const View view(bytes, false, {});
  if (number >= count_) raise(PyExc_IndexError, "there is no such message");
  if (view.memory_space() != MemorySpace::kHost)
    raise(PyExc_ValueError, "the tag must lie in host memory");
  if (view.bytes() != tag_bytes_)
    raise(PyExc_ValueError, "the tag has " + std::to_string(view.bytes()) + " bytes, not " +
                                std::to_string(tag_bytes_));
  std::memcpy(host_tags() + number * tag_bytes_, view.data(), tag_bytes_);
}

nb::bytes CipherTask::tag(size_t number) const {
  if (number >= count_) raise(PyExc_IndexError, "there is no such message");
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
      .def("set_segments", &CipherTask::set_segments, nb::arg("iv"), nb::arg("iv_stride"),
           nb::arg("number").none(), nb::arg("last_flag_at").none(), nb::arg("is_end"),
           nb::arg("input"), nb::arg("output"), nb::arg("text_bytes"), nb::arg("segment_bytes"),
           nb::arg("first_bytes"), nb::arg("tags_inside"), nb::arg("aad").none(),
           nb::arg("aad_number").none())
      .def_prop_ro("count", &CipherTask::count)
      .def("set_outputs_apart", &CipherTask::set_outputs_apart)
      .def("set_single", &CipherTask::set_single)
      .def("put_tags", &CipherTask::put_tags, nb::arg("place"), nb::arg("offset"))
      .def("set_verdicts", &CipherTask::set_verdicts, nb::arg("place"))
      .def("check_verdicts", &CipherTask::check_verdicts)
      .def("load_tag", &CipherTask::load_tag, nb::arg("number"), nb::arg("tag"))
      .def("tag", &CipherTask::tag, nb::arg("number"));
}

}  // namespace lanecrypt::python
