// The memory that the messages of a cipher job read and write.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "job/cipher/cipher_job.h"
#include "job/overlap.h"

namespace lanecrypt {

// `MessagePlaces` is the memory of one message.
struct MessagePlaces {
  MemoryRange in, out;  // a tag that follows its text may be in the text's range
  MemoryRange tag, aad, part;
};

inline MessagePlaces places_of(const CipherMessage &message) {
  MessagePlaces places;
  places.out = MemoryRange(message.out, message.length);
  if (message.in != message.out) places.in = MemoryRange(message.in, message.length);
  return places;
}

// The same for an authenticated mode. If the message is in place, its input is the output. With
// `joins_tags`, a tag that follows its text is in the text's range, so that records of text and tag
// are one kind of ascending ranges. Decryption in place does not write the tag: an overlap that is
// found so must be checked again without `joins_tags`.
inline MessagePlaces places_of(const CipherMessage &message, const AeadMessage &aead_message,
                               uint32_t tag_bytes, bool encrypts, bool joins_tags) {
  MessagePlaces places;
  const bool in_place = message.in == message.out, joins = joins_tags && message.length != 0;
  const bool behind_out =
      joins && (encrypts || in_place) && aead_message.tag == message.out + message.length;
  const bool behind_in =
      joins && !encrypts && !in_place && aead_message.tag == message.in + message.length;
  places.out = MemoryRange(message.out, message.length + (behind_out ? tag_bytes : 0));
  if (!in_place) places.in = MemoryRange(message.in, message.length + (behind_in ? tag_bytes : 0));
  if (!behind_out && !behind_in && aead_message.tag != nullptr)
    places.tag = MemoryRange(aead_message.tag, tag_bytes);
  places.aad = MemoryRange(aead_message.aad, aead_message.aad_length);
  if (aead_message.part != nullptr)
    places.part = MemoryRange(aead_message.part, sizeof *aead_message.part);
  return places;
}

// `MessageExtents` is the extents of all messages of a job, or of some consecutive ones.
struct MessageExtents {
  void add(const MessagePlaces &places) {
    in.add(places.in);
    out.add(places.out);
    tag.add(places.tag);
    aad.add(places.aad);
    part.add(places.part);
  }
  void add(const MessageExtents &later) {
    in.add(later.in);
    out.add(later.out);
    tag.add(later.tag);
    aad.add(later.aad);
    part.add(later.part);
  }

  Extent in, out, tag, aad, part;
};

// Checks whether a job writes memory that it also reads, or writes twice. `extents` are those of
// its messages with joined tags, and `count` is the number of the caller's messages.
Status check_overlaps(const CipherJob &job, uint64_t count, const MessageExtents &extents);
// Adds what a job writes in addition to the outputs of `count` messages.
void add_statuses(const CipherJob &job, uint64_t count, Overlaps *overlaps);

}  // namespace lanecrypt
