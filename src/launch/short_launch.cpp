// Short messages whose tags stay on the device: one launch, in which a thread block does each
// message whole. Where kernels reach the host's memory, not even a copy comes before it.
//
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

#include "launch/aead_launch.h"
#include "secure/wiped_bytes.h"

namespace lanecrypt::runtime {
namespace {

using device::Argument;

// A device has so many thread blocks at once.
constexpr size_t kMostMessages = 64;

void put(uint32_t words[2], uint64_t value) {
  words[0] = static_cast<uint32_t>(value);
  words[1] = static_cast<uint32_t>(value >> 32);
}

// The last part of a message is its text; additional data come before it.
const AeadPart &text_of(const AeadWork &aead, const TagCheck &check) {
  return aead.parts[check.first_sum + check.sum_count - 1];
}

uint64_t aad_bytes(const AeadWork &aead, const TagCheck &check) {
  return check.sum_count == 1 ? 0 : aead.parts[check.first_sum].length;
}

bool is_short_message(const AeadWork &aead, const TagCheck &check) {
  return check.length <= SHORT_TEXT_BYTES && aad_bytes(aead, check) <= SHORT_AAD_BYTES;
}

}  // namespace

bool AeadLaunch::is_short(const ChunkWork &work) const {
  const AeadWork &aead = work.aead;
  const device::Properties &properties = device_.properties();
  const bool gcm = work.kind.is_gcm();
  // Those that list their kernels are for other work.
  if (!work.kind.info().is_aead || work.kind.is_ccm() || !properties.kernels.empty()) return false;
  if (gcm && !(blocks_.has_tables() && work.kind.info().block->has_short_gcm &&
               properties.shared_bytes >= GCM_SHORT_SHARED_WORDS * 4))
    return false;
  return aead.tags_stay_on_device && !aead.segments && !aead.checks.empty() &&
         aead.checks.size() <= kMostMessages &&
         std::all_of(aead.checks.begin(), aead.checks.end(),
                     [&](const TagCheck &check) { return is_short_message(aead, check); });
}

Status AeadLaunch::upload_short(device::Stream &stream, AeadWorkspace &workspace,
                                const CipherWork &work, const AeadWork &aead) {
  // Their keys are wiped however this ends.
  std::vector<ShortMessage, secure::WipingAllocator<ShortMessage>> messages;
  messages.reserve(aead.checks.size());
  for (const TagCheck &check : aead.checks) {
    const AeadPart &text = text_of(aead, check);
    ShortMessage &message = messages.emplace_back();
    memcpy(message.key, work.keys[text.key], work.kind.key_bytes);
    memcpy(message.start, text.start.data(), sizeof message.start);
    std::copy(text.lengths.begin(), text.lengths.end(), message.lengths);
    std::copy(std::begin(check.tag), std::end(check.tag), message.tag);
    if (text.piece != AeadPart::kNoPiece) put(message.in, work.pieces[text.piece].in);
    put(message.out, check.at);
    put(message.tag_at, check.tag_at);
    put(message.verdict_at, check.verdict_at);
    message.length = static_cast<uint32_t>(check.length);
    message.aad_length = static_cast<uint32_t>(aad_bytes(aead, check));
    if (message.aad_length != 0)
      message.aad_at = static_cast<uint32_t>(aead.parts[check.first_sum].aad_at);
    message.tag_bytes = check.tag_bytes;
    message.is = check.is;
  }
  Staging staging(device_);
  staging.add(workspace.messages, messages, true);
  stage_aad(staging, workspace, aead);
  return device_.properties().reaches_pinned ? staging.run_in_reach(workspace.staged)
                                             : staging.run(stream, workspace.staged);
}

Status AeadLaunch::launch_short(device::Stream &stream, AeadWorkspace &workspace,
                                const CipherWork &work, const AeadWork &aead) {
  const device::Buffer *const messages = workspace.messages.get();
  const auto staged = [&](const device::Buffer *buffer) {
    return device_.properties().reaches_pinned ? Argument(buffer->address()) : Argument(buffer);
  };
  const bool gcm = work.kind.is_gcm();
  std::vector<Argument> arguments = {staged(messages),
                                     staged(aead.aad.empty() ? messages : workspace.aad.get())};
  if (gcm) arguments.push_back(work.kind.key_bytes / 4);
  for (const Argument &argument :
       {Argument(work.kind.direction == LC_DECRYPT ? 1u : 0u), Argument(base(work.in, messages)),
        Argument(base(work.out, messages)), Argument(base(aead.tags, messages)),
        Argument(base(aead.verdicts, messages))})
    arguments.push_back(argument);
  return start(stream,
               gcm ? (std::string(work.kind.info().block->name) + "_table1_gcm_short").c_str()
                   : "chacha20_poly1305_short",
               aead.checks.size(), gcm ? GCM_SHORT_THREADS : CHACHA20_SHORT_THREADS,
               gcm ? GCM_SHORT_SHARED_WORDS : CHACHA20_SHORT_SHARED_WORDS, arguments);
}

}  // namespace lanecrypt::runtime
