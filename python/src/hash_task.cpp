// SPDX-License-Identifier: Apache-2.0
#include "hash_task.h"

#include <nanobind/stl/optional.h>

#include <string>

#include "secret_key.h"
#include "view.h"

namespace lanecrypt::python {
namespace {

constexpr struct {
  const char *name;
  lc_hash hash;
  uint32_t digest_bytes;
  bool any_digest_bytes;
} kHashes[] = {
    {"sha224", LC_SHA_224, 28, false},
    {"sha256", LC_SHA_256, 32, false},
    {"sha384", LC_SHA_384, 48, false},
    {"sha512", LC_SHA_512, 64, false},
    {"sha3-224", LC_SHA3_224, 28, false},
    {"sha3-256", LC_SHA3_256, 32, false},
    {"sha3-384", LC_SHA3_384, 48, false},
    {"sha3-512", LC_SHA3_512, 64, false},
    {"shake128", LC_SHAKE_128, 32, true},
    {"shake256", LC_SHAKE_256, 64, true},
    {"blake3", LC_BLAKE3, 32, true},
    {"blake3-keyed", LC_BLAKE3_KEYED, 32, true},
    {"blake3-derive-key", LC_BLAKE3_DERIVE_KEY, 32, true},
    {"merkle-sha256", LC_MERKLE_SHA_256, 32, false},
};

}  // namespace

nb::dict hashes() {
  nb::dict rows;
  for (const auto &row : kHashes)
    rows[row.name] = nb::make_tuple(int(row.hash), row.digest_bytes, row.any_digest_bytes);
  return rows;
}

HashTask::HashTask(nb::object context, int hash, uint64_t digest_bytes, uint64_t leaf_bytes,
                   nb::object key, nb::bytes text, std::optional<uintptr_t> stream)
    : Task(std::move(context)), location_(stream) {
  job_.struct_size = sizeof job_;
  job_.hash = static_cast<lc_hash>(hash);
  job_.digest_bytes = digest_bytes;
  job_.leaf_bytes = leaf_bytes;
  job_.message_size = sizeof(lc_hash_message);
  if (!key.is_none()) {
    const SecretKey &secret = nb::cast<const SecretKey &>(key);
    keep(key);
    job_.key = secret.data();
    job_.key_bytes = secret.size();
  }
  keep(text);
  job_.text = text.c_str();
  job_.text_bytes = text.size();
}

void HashTask::add(nb::object in) { add_rows(std::move(in), 1); }

void HashTask::add_rows(nb::object in, uint64_t rows) {
  check_not_begun();
  const View &from = nb::cast<const View &>(in);
  if (rows == 0) return;
  const uint64_t length = from.bytes() / rows;
  if (length * rows != from.bytes())
    raise(PyExc_ValueError, std::to_string(from.bytes()) + " bytes are not " +
                                std::to_string(rows) + " equal messages");
  location_.add(from);
  keep(in);
  messages_.reserve(messages_.size() + rows);
  for (uint64_t row = 0; row < rows; ++row)
    messages_.push_back({from.data() + row * length, length, nullptr});
  bytes_ += from.bytes();
}

void HashTask::put_digests(nb::object to) {
  check_not_begun();
  const View &view = nb::cast<const View &>(to);
  view.check_range(0, count() * job_.digest_bytes);
  if (count() == 0) return;
  if (view.memory_space() != MemorySpace::kHost) {
    location_.add_further(view, "the digests");
    job_.digest_memory = LC_MEMORY_DEVICE;
  }
  keep(to);
  digests_outside_ = view.data();
}

nb::bytes HashTask::digest(size_t number) const {
  if (number >= count()) raise(PyExc_IndexError, "there is no such message");
  return nb::bytes(digests_.data() + number * job_.digest_bytes, job_.digest_bytes);
}

void HashTask::prepare() {
  uint8_t *digests = digests_outside_;
  if (digests == nullptr) {
    digests_.resize(count() * job_.digest_bytes);
    digests = digests_.data();
  }
  for (size_t n = 0; n < count(); ++n) messages_[n].digest = digests + n * job_.digest_bytes;
  job_.messages = messages_.data();
  job_.message_count = messages_.size();
  job_.memory = location_.memory();
  job_.stream = location_.stream();
  job_.device = location_.is_host() ? context().place_hash(bytes_) : location_.device(context());
  job_.has_device = 1;
}

void bind_hash_task(nb::module_ &module) {
  module.def("hashes", &hashes, nb::sig("def hashes() -> dict[str, tuple[int, int, bool]]"));
  nb::class_<HashTask, Task>(module, "HashTask")
      .def(nb::init<nb::object, int, uint64_t, uint64_t, nb::object, nb::bytes,
                    std::optional<uintptr_t>>(),
           nb::arg("context"), nb::arg("hash"), nb::arg("digest_bytes"), nb::arg("leaf_bytes"),
           nb::arg("key").none(), nb::arg("text"), nb::arg("stream").none())
      .def("add", &HashTask::add, nb::arg("input"))
      .def("add_rows", &HashTask::add_rows, nb::arg("input"), nb::arg("rows"))
      .def_prop_ro("count", &HashTask::count)
      .def("put_digests", &HashTask::put_digests, nb::arg("place"))
      .def("digest", &HashTask::digest, nb::arg("number"));
}

}  // namespace lanecrypt::python
