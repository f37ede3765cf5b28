// SPDX-License-Identifier: Apache-2.0
#include "job/cipher/replays.h"

#include <string>

#include "job/cipher/cipher_check.h"

namespace lanecrypt {
namespace {

Status no_replays(const std::string &text) { return wrong_argument("capture: " + text); }

Status no_graph(const std::string &text) {
  return Status(LC_ERROR_UNSUPPORTED, "capture: " + text);
}

Status check_captured(const CipherJob &job) {
  if (job.stream == nullptr) return no_replays("no stream was given");
  if (job.stream == LC_STREAM_LEGACY || job.stream == LC_STREAM_PER_THREAD)
    return no_graph("the job must be in a stream that the program has made");
  if (!job.segments)
    return no_graph(
        "a graph can have segments alone: of GCM and ChaCha20-Poly1305 with nonces of 12 bytes and "
        "at most " +
        std::to_string(kMostSegmentAadBytes) +
        " bytes of additional data, of CTR and of ChaCha20; and with texts and tags in the "
        "device's memory");
  if (job.bytes == 0) return no_replays("there is no text");
  return Status();
}

Status check_encryption(const Segments &segments, const lc_replays &replays) {
  const lc_numbering &number = segments.given().number;
  if (number.bytes == 0)
    return no_replays(
        "every launch of the graph would use the same nonces: they must have a number");
  if (replays.count == 0) return no_replays("no launch of the graph may encrypt");
  if (replays.verdict == nullptr) return no_replays("no place for the verdict");
  const auto numbers = static_cast<unsigned __int128>(replays.count) * segments.count();
  const auto last = numbers + number.first - 1;
  if (last > UINT64_MAX || (number.bytes < 8 && last >> (8 * number.bytes) != 0))
    return no_replays(std::to_string(replays.count) + " launches of " +
                      std::to_string(segments.count()) +
                      " segments need more numbers than the nonce has bytes for");
  // Among segments that was looked at. One alone has the next launch's beside it.
  if (segments.blocks_reach_number())
    return no_replays("the blocks of a segment reach the number of the next launch");
  return Status();
}

Status check_decryption(const Segments &segments, const lc_replays &replays) {
  if (replays.verdict != nullptr)
    return no_replays("decryption has verdicts of its segments, and no other");
  if (replays.nonce != nullptr && segments.given().nonce_stride != 0)
    return no_replays("each segment's nonce is given, and that of the first one too");
  return Status();
}

// What each launch writes besides, or reads.
Status check_places(const CipherJob &job, const lc_replays &replays, bool opens) {
  Overlaps overlaps;
  job.segments->add_places(job, &overlaps);
  const MemoryRange nonce(replays.nonce, replays.nonce == nullptr ? 0 : job.iv_bytes);
  if (opens)
    overlaps.reads_all("nonce in device memory", nonce);
  else
    overlaps.writes_all("nonce in device memory", nonce);
  if (replays.verdict != nullptr)
    overlaps.writes_all("verdict of the launch", MemoryRange(replays.verdict, 1));
  const Status status = overlaps.check();
  return status.ok() ? status : no_replays(status.text());
}

}  // namespace

Result<Replays> read_replays(const lc_replays *given, const CipherJob &job,
                             lc_direction direction) {
  if (given == nullptr || given->struct_size < sizeof *given)
    return no_replays("no lc_replays, or its struct_size is too small");
  LC_TRY(check_captured(job));
  const Segments &segments = *job.segments;
  const bool opens = direction == LC_DECRYPT;
  LC_TRY(opens ? check_decryption(segments, *given) : check_encryption(segments, *given));
  LC_TRY(check_places(job, *given, opens));
  return Replays{.opens = opens,
                 .count = given->count,
                 .nonce = reinterpret_cast<uint64_t>(given->nonce),
                 .verdict = reinterpret_cast<uint64_t>(given->verdict)};
}

}  // namespace lanecrypt
