// SPDX-License-Identifier: Apache-2.0
#include "work/request.h"

#include <algorithm>
#include <cstring>
#include <exception>

#include "job/cipher/ccm_format.h"

namespace lanecrypt::runtime {

Request::Request(CipherJob whole, Callback on_end)
    : Completion(std::move(on_end)),
      whole_job(std::make_shared<CipherJob>(std::move(whole))),
      load_bytes(whole_job->bytes) {
  todo.begin();
  if (job.kind.info().is_aead && !job.segments) {
    aead = std::make_shared<AeadTally>();
    failure = aead->begin(job);
  }
}

Request::Request(const Request &whole, std::shared_ptr<SharedWork> work, uint32_t its_member,
                 uint64_t its_load_bytes)
    : Completion(nullptr),
      whole_job(whole.whole_job),
      shared(std::move(work)),
      member(its_member),
      load_bytes(its_load_bytes),
      aead(whole.aead),
      is_settled_(true) {}

void Request::start_over() {
  must_start_over = shared != nullptr;
  if (must_start_over) return;
  if (job.memory != LC_MEMORY_HOST) return;
  const auto is_whole = [&](uint32_t n) { return job.messages[n].in != job.messages[n].out; };
  std::erase_if(todo.all(), [&](const Piece &piece) { return is_whole(piece.message); });
  for (uint32_t n = 0; n < job.messages.size(); ++n) {
    if (!is_whole(n)) continue;
    if (aead != nullptr) aead->start_over(job, n);
    todo.push_back_message(n);
  }
  result.cpu_bytes = 0;
  result.device_bytes = job.bytes - text_left();
}

TextSpan Request::text_of(const Piece &piece) const {
  if (piece.is_aad) return {0, 0};
  if (!job.kind.is_ccm()) return {piece.offset, piece.length};
  const uint64_t header = ccm_header_bytes(job.aead[piece.message].aad_length);
  const uint64_t begin = std::max(piece.offset, header);
  const uint64_t end = std::max(piece.offset + piece.length, header);
  return {begin - header, end - begin};
}

uint64_t Request::text_left() const {
  uint64_t bytes = 0;
  for (const Piece &piece : todo.made()) bytes += text_of(piece).length;
  todo.each_unmade([&](uint32_t message) { bytes += job.messages[message].length; });
  return bytes;
}

void Request::put_back(const Piece &piece) {
  Piece whole = piece;
  if (job.kind.is_chain()) {
    // The slices after it were cut from the same message, and need its output. They
    // become one piece again, which begins with an IV that the host knows. All pieces of
    // this message have been made.
    std::deque<Piece> &made = todo.made();
    for (auto other = made.begin(); other != made.end();) {
      if (other->message != piece.message) {
        ++other;
        continue;
      }
      const uint64_t end = std::max(whole.offset + whole.length, other->offset + other->length);
      if (other->offset < whole.offset) {
        whole.offset = other->offset;
        whole.iv = other->iv;
        whole.continues = other->continues;
      }
      whole.length = end - whole.offset;
      other = made.erase(other);
    }
    // Another device does not have its chain value.
    if (whole.continues) whole.iv = chain_value(whole);
    whole.continues = false;
  }
  todo.push_front(whole);
}

void Request::leave_device() {
  for (Piece &piece : todo.made()) {
    if (!piece.continues) continue;
    piece.iv = chain_value(piece);
    piece.continues = false;
  }
  chain.reset();
  is_sliced = false;
}

// The chain value that the slice before a piece hands on. That slice is back on the host.
Iv Request::chain_value(const Piece &piece) const {
  if (job.kind.is_ccm()) return aead->mac(piece.message);
  const CipherMessage &message = job.messages[piece.message];
  Iv value;
  memcpy(value.data(), message.out + piece.offset - value.size(), value.size());
  if (job.kind.info().continuation != Continuation::kKeystream) return value;
  if (message.in == message.out) return keystream[piece.message];
  for (size_t n = 0; n < value.size(); ++n) value[n] ^= message.in[piece.offset - value.size() + n];
  return value;
}

void Request::settle() noexcept {
  if (aead == nullptr || is_settled_) return;
  is_settled_ = true;
  Status status;
  try {
    status = aead->finish(job);
  } catch (const std::exception &) {  // want of memory
    aead->withhold(job);
    status = out_of_memory();
  }
  if (failure.ok()) failure = status;
}

void Request::refuse_equal_nonces() {
  const Status &status = nonces->outcome(job);
  if (status.ok()) return;
  for (size_t n = 0; n < job.messages.size(); ++n) {
    secure::wipe(job.messages[n].out, job.messages[n].length);
    if (job.aead[n].tag != nullptr) secure::wipe(job.aead[n].tag, job.tag_bytes);
  }
  failure = status;
}

void Request::end() {
  settle();
  if (nonces != nullptr) refuse_equal_nonces();
  // The key is no longer needed, even if the request is still referenced.
  secure::wipe(job.keys.data(), job.keys.size());
  if (!keystream.empty()) secure::wipe(keystream.data(), keystream.size() * sizeof(Iv));
  result.failed_devices = tried.size();
  complete();
}

}  // namespace lanecrypt::runtime
