// SPDX-License-Identifier: Apache-2.0
#include "pipeline/slot_layout.h"

#include "job/cipher/ccm_format.h"

namespace lanecrypt::runtime {

void lay_out(Slot &slot, KeyNumbers &key_numbers, bool stages_all) {
  ChunkTransfer &share = slot.share;
  share.in.clear();
  share.out.clear();
  slot.device_input.clear();
  share.may_pin = true;
  share.stages_all = stages_all;
  uint64_t header_bytes_of_all = 0;
  for (const ChunkPiece &part : slot.pieces)
    if (part.request->job.kind.is_ccm())
      header_bytes_of_all += part.piece.length - part.request->text_of(part.piece).length;
  slot.headers.resize(header_bytes_of_all);
  uint8_t *header = slot.headers.data();
  const Request *request = nullptr;
  uint64_t at = 0;
  slot.places.clear();
  slot.places.reserve(slot.pieces.size());
  slot.work.pieces.reserve(slot.pieces.size());
  for (const ChunkPiece &part : slot.pieces) {
    const CipherMessage &message = part.request->job.messages[part.piece.message];
    if (part.request != request) {
      request = part.request;
      key_numbers.begin(request->job.key_count);
    }
    const uint32_t keys = static_cast<uint32_t>(slot.work.keys.size());
    const uint32_t key = key_numbers.number_of(message.key, keys);
    if (key == keys) slot.work.keys.push_back(request->job.key(message.key));

    const bool is_aad = part.piece.is_aad;
    // CCM's header is not the caller's, and has no output.
    const TextSpan text = request->text_of(part.piece);
    const uint64_t header_bytes = is_aad ? 0 : part.piece.length - text.length;
    if (header_bytes != 0) {
      copy_ccm_header(request->job, part.piece.message, part.piece.offset, header_bytes, header);
      share.in.add(header, at, header_bytes);
      header += header_bytes;
    }
    const uint64_t text_at = at + header_bytes;
    slot.places.push_back(text_at);
    const uint64_t length = is_aad ? part.piece.length : text.length;
    const uint8_t *const in = is_aad ? request->job.aead[part.piece.message].aad + part.piece.offset
                                     : message.in + text.offset;
    if (request->job.reads_device() && !is_aad) {
      slot.device_input.add(reinterpret_cast<uint64_t>(in), text_at, length);
      share.in.leave_gap();
    } else {
      share.in.add(in, text_at, length);
    }
    if (!is_aad)
      share.out.add(message.out + text.offset, text_at, length, message.in == message.out);
    share.may_pin = share.may_pin && request->may_pin;
    CipherPiece piece = describe(*request, part.piece);
    piece.in = piece.out = text_at;
    piece.key = key;
    piece.chain = slot.sliced != nullptr ? part.piece.message
                                         : static_cast<uint32_t>(slot.work.pieces.size());
    if (request->aead != nullptr)
      slot.work.aead.parts.push_back(describe_part(
          *request, part.piece, static_cast<uint32_t>(slot.work.pieces.size()), key, at));
    if (!is_aad && part.piece.length != 0) slot.work.pieces.push_back(piece);
    at = text_at + whole_blocks(length);
  }
  slot.bytes = at;
}

}  // namespace lanecrypt::runtime
