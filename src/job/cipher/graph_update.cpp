// SPDX-License-Identifier: Apache-2.0
#include "job/cipher/graph_update.h"

#include <string>

#include "job/cipher/cipher_check.h"

namespace lanecrypt {
namespace {

Status bad_graph_update(const std::string &text) { return wrong_argument("capture: " + text); }

Status no_graph(const std::string &text) {
  return Status(LC_ERROR_UNSUPPORTED, "capture: " + text);
}

Status check_captured(const CipherJob &job) {
  if (job.stream == nullptr) return bad_graph_update("no stream was given");
  if (job.stream == LC_STREAM_LEGACY || job.stream == LC_STREAM_PER_THREAD)
    return no_graph("the job must be in a stream that the program has made");
  if (!job.segments)
    return no_graph(
        "a graph can have segments alone: of GCM and ChaCha20-Poly1305 with nonces of 12 bytes and "
        "at most " +
        std::to_string(kMostSegmentAadBytes) +
        " bytes of additional data, of CTR and of ChaCha20; and with texts and tags in the "
        "device's memory");
  if (job.bytes == 0) return bad_graph_update("there is no text");
  return Status();
}

Status check_encryption(const Segments &segments, const lc_graph_update &update) {
  const lc_numbering &number = segments.given().number;
  if (number.bytes == 0)
    return bad_graph_update(
        "every launch of the graph would use the same nonces: they must have a number");
  if (update.count == 0) return bad_graph_update("no launch of the graph may encrypt");
  if (update.verdict == nullptr) return bad_graph_update("no place for the verdict");
  const auto numbers = static_cast<unsigned __int128>(update.count) * segments.count();
  const auto last = numbers + number.first - 1;
  if (last > UINT64_MAX || (number.bytes < 8 && last >> (8 * number.bytes) != 0))
    return bad_graph_update(std::to_string(update.count) + " launches of " +
                            std::to_string(segments.count()) +
                            " segments need more numbers than the nonce has bytes for");
  // Segments::check() has checked this between several segments. A single segment is followed by
  // that of the next launch.
  if (segments.blocks_reach_number())
    return bad_graph_update("the blocks of a segment reach the number of the next launch");
  return Status();
}

Status check_decryption(const Segments &segments, const lc_graph_update &update) {
  if (update.verdict != nullptr)
    return bad_graph_update("decryption has verdicts of its segments, and no other");
  if (update.nonce != nullptr && segments.given().nonce_stride != 0)
    return bad_graph_update("each segment's nonce is given, and that of the first one too");
  return Status();
}

// Checks what each launch reads and writes in addition.
Status check_places(const CipherJob &job, const lc_graph_update &update, bool opens) {
  Overlaps overlaps;
  job.segments->add_places(job, &overlaps);
  const MemoryRange nonce(update.nonce, update.nonce == nullptr ? 0 : job.iv_bytes);
  if (opens)
    overlaps.reads_all("nonce in device memory", nonce);
  else
    overlaps.writes_all("nonce in device memory", nonce);
  if (update.verdict != nullptr)
    overlaps.writes_all("verdict of the launch", MemoryRange(update.verdict, 1));
  const Status status = overlaps.check();
  return status.ok() ? status : bad_graph_update(status.text());
}

}  // namespace

Result<GraphUpdate> read_graph_update(const lc_graph_update *given, const CipherJob &job,
                                      lc_direction direction) {
  if (given == nullptr || given->struct_size < sizeof *given)
    return bad_graph_update("no lc_graph_update, or its struct_size is too small");
  LC_TRY(check_captured(job));
  const Segments &segments = *job.segments;
  const bool opens = direction == LC_DECRYPT;
  LC_TRY(opens ? check_decryption(segments, *given) : check_encryption(segments, *given));
  LC_TRY(check_places(job, *given, opens));
  return GraphUpdate{.opens = opens,
                     .count = given->count,
                     .nonce = reinterpret_cast<uint64_t>(given->nonce),
                     .verdict = reinterpret_cast<uint64_t>(given->verdict)};
}

}  // namespace lanecrypt
