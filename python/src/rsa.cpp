// SPDX-License-Identifier: Apache-2.0
#include "rsa.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <string>

#include "view.h"

namespace lanecrypt::python {
namespace {

// Returns the bytes of an object in host memory. The view keeps them alive.
Bytes bytes_of(const View &view) {
  if (view.memory_space() != MemorySpace::kHost)
    raise(PyExc_ValueError, "it must lie in host memory");
  return {view.data(), view.bytes()};
}

// The state of lc_rsa_generate()'s callbacks.
struct Generation {
  bool as_pem;
  nb::object progress;
  std::vector<secure::KeyMemory> keys;
  bool lacks_memory = false;

  int take(const lc_rsa_parts &parts) {
    secure::KeyMemory der = write_private_key(parts);
    if (as_pem && der.size() != 0) der = write_pem({der.data(), der.size()});
    lacks_memory = der.size() == 0;
    try {
      keys.push_back(std::move(der));
    } catch (const std::bad_alloc &) {  // no exception may pass through the library
      lacks_memory = true;
    }
    return lacks_memory ? 0 : 1;
  }
  // Returns 0, with a Python exception set, if a signal handler or the progress function raised
  // one.
  int tell(const lc_rsa_progress &so_far) {
    const nb::gil_scoped_acquire acquired;
    if (PyErr_CheckSignals() != 0) return 0;
    if (progress.is_none()) return 1;
    const nb::object told = nb::steal(PyObject_CallFunction(
        progress.ptr(), "KKKK", static_cast<unsigned long long>(so_far.candidates),
        static_cast<unsigned long long>(so_far.tests),
        static_cast<unsigned long long>(so_far.primes),
        static_cast<unsigned long long>(so_far.keys)));
    return told.is_valid() ? 1 : 0;
  }
};

nb::list generate(Context &context, uint32_t bits, uint64_t count, nb::handle exponent, bool as_pem,
                  nb::object progress) {
  const View view(exponent, false, {});
  const Bytes e = bytes_of(view);
  Generation made = {.as_pem = as_pem, .progress = std::move(progress), .keys = {}};
  lc_rsa_generation generation = {};
  generation.struct_size = sizeof generation;
  generation.bits = bits;
  generation.exponent = {e.data(), e.size()};
  generation.count = count;
  generation.device = LC_ANY_DEVICE;
  generation.argument = &made;
  generation.on_key = [](void *argument, uint64_t, const lc_rsa_parts *parts) {
    return static_cast<Generation *>(argument)->take(*parts);
  };
  generation.on_progress = [](void *argument, const lc_rsa_progress *so_far) {
    return static_cast<Generation *>(argument)->tell(*so_far);
  };
  const Outcome outcome =
      context.call([&](lc_context *c) { return lc_rsa_generate(c, &generation, nullptr); });
  if (PyErr_Occurred()) throw nb::python_error();
  if (made.lacks_memory) raise({LC_ERROR_MEMORY, "no memory for the keys"});
  check(outcome);
  nb::list keys;
  for (const secure::KeyMemory &key : made.keys) keys.append(nb::bytes(key.data(), key.size()));
  return keys;
}

nb::bytes exclusive_or(nb::handle a, nb::handle b) {
  const View first(a, false, {}), second(b, false, {});
  const Bytes x = bytes_of(first), y = bytes_of(second);
  if (x.size() != y.size()) raise(PyExc_ValueError, "they are not of one length");
  const std::unique_ptr<View> result = View::of_new_bytes(x.size());
  for (size_t n = 0; n < x.size(); ++n) result->data()[n] = x[n] ^ y[n];
  return nb::borrow<nb::bytes>(result->owner());
}

// The last step of RSAES-OAEP decryption (RFC 8017, section 7.1.2, step 3g). Returns None if
// anything is wrong. Its running time reveals only whether all is right, and then the length of the
// message.
nb::object oaep_message(uint8_t first, nb::handle data_block, nb::handle label_hash) {
  const View db_view(data_block, false, {}), hash_view(label_hash, false, {});
  const Bytes db = bytes_of(db_view), hash = bytes_of(hash_view);
  if (db.size() <= hash.size()) return nb::none();
  uint32_t wrong = first;
  for (size_t n = 0; n < hash.size(); ++n) wrong |= db[n] ^ hash[n];
  // 1 while only zeros have been seen, 0 afterwards.
  uint32_t in_padding = 1;
  size_t begin = 0;
  for (size_t n = hash.size(); n < db.size(); ++n) {
    const uint32_t byte = db[n];
    const uint32_t is_zero = (byte - 1) >> 31, is_one = ((byte ^ 1) - 1) >> 31;
    wrong |= in_padding & ~(is_zero | is_one) & 1;
    const size_t ends_here = size_t{0} - (in_padding & is_one);
    begin |= ends_here & (n + 1);
    in_padding &= is_zero;
  }
  wrong |= in_padding;
  if (wrong != 0) return nb::none();
  return nb::bytes(db.data() + begin, db.size() - begin);
}

}  // namespace

RsaKey::RsaKey(nb::handle encoded, bool wipes) {
  const View view(encoded, wipes, {});
  const Bytes given = bytes_of(view);
  std::string why = "this is no RSA private key of two primes: PKCS#8 or PKCS#1, DER or PEM";
  secure::KeyMemory decoded;
  Bytes der = given;
  if (!given.empty() && given[0] != 0x30) {
    decoded = read_pem(given, &why);
    der = {decoded.data(), decoded.size()};
  }
  lc_rsa_parts parts;
  Outcome outcome = {LC_ERROR_ARGUMENT, why};
  if (read_private_key(der, &parts)) {
    outcome.status = lc_rsa_key_new(&parts, &key_);
    if (outcome.status != LC_OK) outcome.text = lc_last_error();
    const auto *n = static_cast<const uint8_t *>(parts.n.bytes);
    modulus_.assign(std::find_if(n, n + parts.n.length, [](uint8_t byte) { return byte != 0; }),
                    n + parts.n.length);
  }
  if (wipes) secure::wipe(view.data(), view.bytes());
  check(outcome);
}

RsaTask::RsaTask(nb::object context, nb::object key)
    : Task(std::move(context)), key_(nb::cast<const RsaKey &>(key)) {
  keep(key);
}

RsaTask::~RsaTask() { secure::wipe(numbers_.data(), numbers_.size()); }

bool RsaTask::add(nb::handle number) {
  check_not_begun();
  const View view(number, false, {});
  const Bytes bytes = bytes_of(view);
  const std::vector<uint8_t> &modulus = key_.modulus();
  if (bytes.size() != modulus.size() ||
      !std::lexicographical_compare(bytes.begin(), bytes.end(), modulus.begin(), modulus.end()))
    return false;
  numbers_.insert(numbers_.end(), bytes.begin(), bytes.end());
  ++count_;
  return true;
}

void RsaTask::add_pkcs1v15(nb::handle digest_info) {
  check_not_begun();
  const View view(digest_info, false, {});
  const Bytes info = bytes_of(view);
  if (info.size() + 11 > key_.bytes())
    raise(PyExc_ValueError, "the key is too short for this digest");
  numbers_.resize(numbers_.size() + key_.bytes(), 0xFF);
  uint8_t *const at = numbers_.data() + count_ * key_.bytes();
  at[0] = 0;
  at[1] = 1;
  at[key_.bytes() - info.size() - 1] = 0;
  std::copy(info.begin(), info.end(), at + key_.bytes() - info.size());
  ++count_;
}

nb::bytes RsaTask::result(size_t number) const {
  if (number >= count_) raise(PyExc_IndexError, "there is no such message");
  return nb::bytes(numbers_.data() + number * key_.bytes(), key_.bytes());
}

void RsaTask::prepare() {
  messages_.resize(count_);
  for (size_t n = 0; n < count_; ++n) {
    uint8_t *const at = numbers_.data() + n * key_.bytes();
    messages_[n] = {key_.get(), at, at};
  }
  job_.struct_size = sizeof job_;
  job_.operation = LC_RSA_PRIVATE;
  job_.messages = messages_.data();
  job_.message_count = count_;
  job_.message_size = sizeof(lc_rsa_message);
  job_.device = context().place_rsa(key_.bits(), count_, numbers_.size());
  job_.has_device = 1;
}

void bind_rsa(nb::module_ &module) {
  nb::class_<RsaKey>(module, "RsaKey")
      .def(nb::init<nb::handle, bool>(), nb::arg("encoded").none(), nb::arg("wipes") = false)
      .def_prop_ro("nbytes", &RsaKey::bytes)
      .def_prop_ro("bits", &RsaKey::bits);
  nb::class_<RsaTask, Task>(module, "RsaTask")
      .def(nb::init<nb::object, nb::object>(), nb::arg("context"), nb::arg("key"))
      .def("add", &RsaTask::add, nb::arg("number"))
      .def("add_pkcs1v15", &RsaTask::add_pkcs1v15, nb::arg("digest_info"))
      .def("result", &RsaTask::result, nb::arg("number"))
      .def_prop_ro("count", &RsaTask::count);
  module.def(
      "generate_rsa_keys", &generate, nb::arg("context"), nb::arg("bits"), nb::arg("count"),
      nb::arg("exponent"), nb::arg("as_pem"), nb::arg("progress").none(),
      nb::sig("def generate_rsa_keys(context: Context, bits: int, count: int, exponent: object, "
              "as_pem: bool, progress: object | None) -> list[bytes]"));
  module.def("exclusive_or", &exclusive_or, nb::arg("a"), nb::arg("b"));
  module.def("oaep_message", &oaep_message, nb::arg("first"), nb::arg("data_block"),
             nb::arg("label_hash"),
             nb::sig("def oaep_message(first: int, data_block: object, label_hash: object) -> "
                     "bytes | None"));
}

}  // namespace lanecrypt::python
