// CCM: a message is a chain, which the launch of the block cipher does by itself; here is what
// its kernel wants to know beside.
//
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <numeric>

#include "launch/aead_launch.h"

namespace lanecrypt::runtime {

Status AeadLaunch::upload_ccm(device::Stream &stream, AeadWorkspace &workspace, CipherWork &work,
                              AeadWork &aead) {
  // Threads side by side then end together.
  const auto blocks = [&](uint32_t n) {
    return aead.parts[n].header_bytes / kBlockBytes + hash_blocks(aead.parts[n].length);
  };
  std::vector<uint32_t> order(aead.parts.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](uint32_t a, uint32_t b) { return blocks(a) > blocks(b); });
  std::vector<CipherPiece> pieces;
  for (const uint32_t n : order) {
    const AeadPart &part = aead.parts[n];
    CcmStream made = {};
    made.header = part.aad_at;
    made.header_bytes = part.header_bytes;
    made.first_block = part.first_block;
    memcpy(made.counter, part.start.data(), sizeof made.counter);
    made.result = n;
    made.ends = part.closes ? 1 : 0;
    aead.streams.push_back(made);
    pieces.push_back(work.pieces[part.piece]);
  }
  work.pieces = std::move(pieces);
  work.is_sorted = work.secret_starts = true;
  Staging staging(device_);
  blocks_.stage(staging, workspace.text, work);
  staging.add(workspace.streams, aead.streams);
  staging.add(workspace.checks, aead.checks);
  staging.add(workspace.aad, aead.headers, true);
  reserve_sums(staging, workspace, work, aead);
  LC_TRY(staging.run(stream, workspace.staged));
  const device::Buffer *headers = aead.headers.empty() ? work.in : workspace.aad.get();
  work.more = {workspace.streams.get(), headers, workspace.sums_to(aead),
               work.kind.direction == LC_DECRYPT ? 1u : 0u};
  return Status();
}

}  // namespace lanecrypt::runtime
