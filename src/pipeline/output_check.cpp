// SPDX-License-Identifier: Apache-2.0
#include "pipeline/output_check.h"

#include <algorithm>
#include <cstring>

namespace lanecrypt::runtime {
namespace {

// A smaller chunk takes some tens of microseconds in all, so only one sample is checked.
constexpr uint64_t kLargeBytes = 1 << 20;

verify::Span span_of(const Request &request, const Piece &piece) {
  const CipherJob &job = request.job;
  const CipherMessage &message = job.messages[piece.message];
  const TextSpan text = request.text_of(piece);
  verify::Span span = {.kind = job.kind,
                       .key = job.key(message.key),
                       .iv = piece.iv,
                       .iv_is_known = !piece.continues,
                       .ends_message = request.ends_message(piece),
                       .length = text.length,
                       .data_unit_bytes = job.data_unit_bytes};
  if (request.aead != nullptr) {
    const uint64_t block = job.kind.info().is_block_cipher() ? kBlockBytes : kChaChaBlockBytes;
    const Iv &start = request.aead->start(piece.message);
    const uint64_t number = (job.aead[piece.message].text_before() + text.offset) / block + 1;
    span.iv = job.kind.is_ccm() ? advance_counter(start, number)
                                : cpu::aead_counter(job.kind, start, number);
  }
  return span;
}

const uint8_t *input_of(const ChunkPiece &part) {
  return part.request->job.messages[part.piece.message].in +
         part.request->text_of(part.piece).offset;
}

Status check_whole_aead(const ChunkPiece &part, const uint8_t *out, const cpu::AeadSum &sum) {
  const Request &request = *part.request;
  const CipherJob &job = request.job;
  const CipherMessage &message = job.messages[part.piece.message];
  const AeadMessage &aead_message = job.aead[part.piece.message];
  const uint8_t *key = job.key(message.key);
  const Iv &start = request.aead->start(part.piece.message);
  std::vector<uint8_t> right(part.piece.is_aad ? 0 : part.piece.length);
  cpu::AeadSum right_sum = {};
  LC_TRY(cpu::run_aead_piece(
      job.kind, key, start,
      {.in = part.piece.is_aad ? aead_message.aad + part.piece.offset : input_of(part),
       .out = right.data(),
       .length = part.piece.length,
       .offset = aead_message.text_before() + part.piece.offset,
       .exponent = aead_exponent(job, part.piece),
       .is_aad = part.piece.is_aad},
      &right_sum));
  if (closes(request, part.piece))
    LC_TRY(
        cpu::close_aead(job.kind, key, start, aead_message.aad_length, message.length, &right_sum));
  // Different sums may make the same tag.
  const bool same = (right.empty() || memcmp(right.data(), out, right.size()) == 0) &&
                    cpu::aead_tag(job.kind, right_sum) == cpu::aead_tag(job.kind, sum);
  secure::wipe(right.data(), right.size());
  secure::wipe(&right_sum, sizeof right_sum);
  return same ? Status() : verify::wrong_output(job.kind);
}

}  // namespace

void OutputCheck::clear() {
  secure::wipe(entries_.data(), entries_.size() * sizeof(Entry));
  entries_.clear();
}

void OutputCheck::choose(const std::vector<ChunkPiece> &pieces, const std::vector<uint64_t> &places,
                         uint64_t bytes, verify::RandomSampler &sampler) {
  clear();
  const size_t wanted = bytes < kLargeBytes ? 1 : kMostSamples;
  // Additional data have no output, and some pieces have no sample.
  for (size_t tries = 0; tries < 8 * wanted && entries_.size() < wanted; ++tries) {
    const uint64_t place = sampler.uniform_below(bytes);
    const auto after = std::upper_bound(places.begin(), places.end(), place);
    if (after == places.begin()) continue;
    const size_t n = static_cast<size_t>(after - places.begin() - 1);
    const ChunkPiece &part = pieces[n];
    const uint64_t length = part.request->text_of(part.piece).length;
    if (length == 0 || part.request->job.reads_device()) continue;
    const uint64_t near = std::min(place - places[n], length - 1);
    const verify::Sample sample =
        verify::take_sample(span_of(*part.request, part.piece), input_of(part), near);
    if (sample.length != 0) entries_.push_back({n, places[n] + sample.offset, sample});
  }
}

Status OutputCheck::compare(const std::vector<ChunkPiece> &pieces, const Read &read) const {
  std::array<uint8_t, kMostBytes> output;
  Status status;
  for (size_t n = 0; n < entries_.size() && status.ok(); ++n) {
    const Entry &entry = entries_[n];
    const ChunkPiece &part = pieces[entry.piece];
    read(n, output.data());
    status = verify::check_sample(span_of(*part.request, part.piece), entry.sample,
                                  output.data() + entry.before(), output.data());
  }
  secure::wipe(output.data(), output.size());
  return status;
}

Status check_whole(const ChunkPiece &part, const uint8_t *out, const cpu::AeadSum *sum) {
  if (part.request->aead != nullptr && !part.request->job.kind.is_ccm())
    return check_whole_aead(part, out, *sum);
  return verify::check_all(span_of(*part.request, part.piece), input_of(part), out);
}

}  // namespace lanecrypt::runtime
