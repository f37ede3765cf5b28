// SPDX-License-Identifier: Apache-2.0
#include "verify/sample.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "cpu/cpu_aead.h"
#include "cpu/cpu_cipher.h"
#include "cpu/cpu_xts.h"

namespace lanecrypt::verify {
namespace {

uint64_t block_bytes(const CipherInfo &info) {
  return info.is_block_cipher() ? kBlockBytes : kChaChaBlockBytes;
}

bool counts(const CipherInfo &info) {
  return info.continuation == Continuation::kCounter ||
         info.continuation == Continuation::kChaChaCounter ||
         info.continuation == Continuation::kMessage || info.continuation == Continuation::kMac;
}

// Returns the number of bytes, from the start of a piece or a data unit, before its stolen blocks.
uint64_t plain_bytes(const Span &span, uint64_t length) {
  const CipherInfo &info = span.kind.info();
  const bool has_units = info.continuation == Continuation::kDataUnits;
  if (!has_units && !(info.steals() && span.ends_message)) return length;
  if (length <= kBlockBytes || (has_units && length % kBlockBytes == 0)) return length;
  const uint64_t stolen = kBlockBytes + (length - 1) % kBlockBytes + 1;
  return length - std::min(length, stolen);
}

// Whether a sample is the two blocks of ciphertext stealing.
bool is_stolen(const Span &span, const Sample &sample) {
  return span.kind.info().is_block_cipher() && sample.length > kBlockBytes;
}

// Returns the mode that processes the blocks before the stolen ones.
CipherKind plain_kind(const CipherKind &kind) {
  const CipherInfo &info = kind.info();
  if (info.steals()) return kind.as(Mode::kCbc, kind.direction);
  if (!info.is_aead) return kind;
  return kind.as(info.is_block_cipher() ? Mode::kCtr : Mode::kChaCha20, LC_ENCRYPT);
}

Iv iv_of_block(const Span &span, const Sample &sample, const uint8_t *out_before) {
  const CipherInfo &info = span.kind.info();
  if (sample.offset == 0) return span.iv;
  const uint64_t blocks = sample.offset / block_bytes(info);
  if (info.is_aead && !span.kind.is_ccm()) return cpu::aead_counter(span.kind, span.iv, blocks);
  Iv iv = {};
  switch (info.continuation) {
    case Continuation::kCounter:
    case Continuation::kMac:
      return advance_counter(span.iv, blocks);
    case Continuation::kChaChaCounter:
      return advance_chacha20(span.iv, blocks);
    case Continuation::kCiphertext:
      if (span.kind.direction == LC_DECRYPT) return sample.in_before;
      memcpy(iv.data(), out_before, iv.size());
      break;
    case Continuation::kKeystream:
      for (size_t n = 0; n < iv.size(); ++n) iv[n] = sample.in_before[n] ^ out_before[n];
      break;
    default:
      break;
  }
  return iv;
}

// Computes blocks within a data unit; OpenSSL would begin at the unit's start.
Status run_xts(const Span &span, const Sample &sample, uint8_t *to) {
  const uint64_t unit = span.data_unit_bytes == 0 ? span.length : span.data_unit_bytes;
  return cpu::run_xts_unit(span.kind, span.key, advance_tweak(span.iv, sample.offset / unit),
                           sample.offset % unit / kBlockBytes, sample.in.data(), to, sample.length);
}

Status recompute(const Span &span, const Sample &sample, const uint8_t *out_before, uint8_t *to) {
  if (span.kind.info().continuation == Continuation::kDataUnits) return run_xts(span, sample, to);
  const CipherKind kind = is_stolen(span, sample) ? span.kind : plain_kind(span.kind);
  return cpu::run_cipher(kind, {span.key, iv_of_block(span, sample, out_before)}, sample.in.data(),
                         to, sample.length);
}

// The error if the CPU failed, which says nothing about the device.
Status not_checked(const Status &status) {
  return Status(LC_ERROR_MEMORY, "the output could not be checked: " + status.text());
}

}  // namespace

Status wrong_output(const CipherKind &kind) {
  return Status(LC_ERROR_DEVICE, "wrong output of " + kind.name() + ", as the CPU found");
}

Sample take_sample(const Span &span, const uint8_t *in, uint64_t near) {
  const CipherInfo &info = span.kind.info();
  Sample sample;
  if (span.length == 0) return sample;
  const bool has_units = info.continuation == Continuation::kDataUnits;
  const uint64_t unit = has_units && span.data_unit_bytes != 0 ? span.data_unit_bytes : span.length;
  const uint64_t start = near / unit * unit;
  const uint64_t all = std::min(unit, span.length - start), plain = plain_bytes(span, all);
  const uint64_t block = block_bytes(info);
  uint64_t at = std::min((near - start) / block * block, plain);
  // If the IV is not known, takes the second block, whose IV follows from the first block.
  if (!span.iv_is_known && at == 0 && !counts(info) && info.iv_bytes != 0) at = block;
  if (at >= all) return sample;
  sample.offset = start + at;
  sample.length = static_cast<uint32_t>(at < plain ? std::min(block, plain - at) : all - plain);
  memcpy(sample.in.data(), in + sample.offset, sample.length);
  if (sample.offset != 0)
    memcpy(sample.in_before.data(), in + sample.offset - kBlockBytes, kBlockBytes);
  return sample;
}

Status check_sample(const Span &span, const Sample &sample, const uint8_t *out,
                    const uint8_t *out_before) {
  std::array<uint8_t, kChaChaBlockBytes> right;
  if (const Status status = recompute(span, sample, out_before, right.data()); !status.ok())
    return not_checked(status);
  const bool same = memcmp(right.data(), out, sample.length) == 0;
  secure::wipe(right.data(), right.size());
  return same ? Status() : wrong_output(span.kind);
}

Status check_all(const Span &span, const uint8_t *in, const uint8_t *out) {
  const CipherInfo &info = span.kind.info();
  uint64_t from = 0;
  Sample first;
  if (!span.iv_is_known && !counts(info) && info.iv_bytes != 0) from = kBlockBytes;
  if (from >= span.length) return Status();
  CipherKind kind = span.kind;
  if ((info.steals() && !span.ends_message) || info.is_aead) kind = plain_kind(kind);
  first.offset = from;
  if (from != 0) memcpy(first.in_before.data(), in, kBlockBytes);
  const cpu::CipherInput input = {span.key, iv_of_block(span, first, out), span.data_unit_bytes};
  std::vector<uint8_t> right(span.length - from);
  if (const Status status =
          cpu::run_cipher(kind, input, in + from, right.data(), span.length - from);
      !status.ok())
    return not_checked(status);
  const bool same = memcmp(right.data(), out + from, right.size()) == 0;
  secure::wipe(right.data(), right.size());
  return same ? Status() : wrong_output(kind);
}

}  // namespace lanecrypt::verify
