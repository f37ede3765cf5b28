// SPDX-License-Identifier: Apache-2.0
#include "ml_dsa/ml_dsa_request.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "cpu/ml_dsa/cpu_ml_dsa.h"
#include "cpu/ml_dsa/host_ml_dsa.h"
#include "cpu/rsa/cpu_rsa.h"
#include "secure/key_memory.h"

namespace lanecrypt::runtime {
namespace {

Status draw_from(const MlDsaRandom &source, std::span<uint8_t> to) {
  if (source.function == nullptr) return cpu::random_bytes(to.data(), to.size());
  return source.function(source.argument, to.data(), to.size()) == 1
             ? Status()
             : Status(LC_ERROR_INTERNAL, "the caller's random function failed");
}

Status make_key(const MlDsaSizes &sizes, const MlDsaItem &item) {
  secure::KeyMemory whole(sizes.public_bytes + sizes.private_bytes);
  if (!whole.ok(sizes.public_bytes + sizes.private_bytes))
    return Status(LC_ERROR_MEMORY, "no memory for a new key");
  LC_TRY(cpu::host_ml_dsa_key(sizes, item.random,
                              {whole.data(), sizes.public_bytes + sizes.private_bytes}));
  std::memcpy(item.public_key, whole.data(), sizes.public_bytes);
  std::memcpy(item.private_key, whole.data() + sizes.public_bytes, sizes.private_bytes);
  return Status();
}

}  // namespace

Status run_ml_dsa_on_cpu(lc_ml_dsa_operation operation, const MlDsaSizes &sizes,
                         const MlDsaItem &item) {
  if (operation == LC_ML_DSA_GENERATE) return make_key(sizes, item);
  const std::span<uint8_t> signature(item.signature, sizes.signature_bytes);
  if (operation == LC_ML_DSA_SIGN)
    return cpu::ml_dsa_sign(*item.key, item.mu, item.random, signature);
  Result<uint8_t> verdict = cpu::ml_dsa_verify(*item.key, item.mu, signature);
  if (!verdict.ok()) return verdict.status();
  *item.verdict = *verdict;
  return Status();
}

MlDsaRequest::MlDsaRequest(MlDsaJob job, Callback on_end)
    : BatchRequest(job.messages.size(), std::move(on_end)),
      device_number(job.device),
      operation_(job.operation),
      sizes_(job.sizes),
      keys_(std::move(job.keys)),
      items_(job.messages.size()) {}

MlDsaRequest::~MlDsaRequest() {
  // Seeds are as secret as the keys that are made of them.
  for (MlDsaItem &item : items_) secure::wipe(item.random.data(), item.random.size());
}

Result<MlDsaRequestPointer> MlDsaRequest::make(MlDsaJob job, Callback on_end) {
  const auto request = std::make_shared<MlDsaRequest>(job, std::move(on_end));
  for (size_t n = 0; n < job.messages.size(); ++n) {
    const MlDsaMessage &message = job.messages[n];
    MlDsaItem &item = request->items_[n];
    item.signature = message.signature;
    item.public_key = message.public_key;
    item.private_key = message.private_key;
    if (job.verdicts != nullptr) item.verdict = job.verdicts + n;
    if (job.operation == LC_ML_DSA_GENERATE) continue;
    item.key = request->keys_[message.key].get();
    cpu::ml_dsa_mu(job.encoding, item.key->tr, message.context, message.message, item.mu);
  }
  if (job.operation == LC_ML_DSA_VERIFY)
    std::erase_if(request->todo, [&](uint32_t n) { return !job.messages[n].has_right_length; });
  else if (const Status status = request->draw(job); !status.ok())
    return status;
  return request;
}

// What the caller gives is copied. The rest of it is drawn for all operations at once where
// they have one source.
Status MlDsaRequest::draw(const MlDsaJob &job) {
  std::vector<MlDsaItem *> undrawn;
  for (size_t n = 0; n < job.messages.size(); ++n) {
    MlDsaItem &item = items_[n];
    if (const uint8_t *given = job.messages[n].random; given != nullptr)
      std::memcpy(item.random.data(), given, item.random.size());
    else if (operation_ == LC_ML_DSA_GENERATE || !job.is_deterministic)
      undrawn.push_back(&item);
  }
  const auto source_of = [&](const MlDsaItem &item) -> const MlDsaRandom & {
    return item.key == nullptr ? job.random : item.key->random;
  };
  for (size_t first = 0, end = 0; first < undrawn.size(); first = end) {
    const MlDsaRandom &source = source_of(*undrawn[first]);
    while (end < undrawn.size() && source_of(*undrawn[end]).function == source.function &&
           source_of(*undrawn[end]).argument == source.argument)
      ++end;
    std::vector<uint8_t> drawn((end - first) * kMlDsaRandomBytes);
    const Status status = draw_from(source, drawn);
    for (size_t n = first; status.ok() && n < end; ++n)
      std::memcpy(undrawn[n]->random.data(), &drawn[(n - first) * kMlDsaRandomBytes],
                  kMlDsaRandomBytes);
    secure::wipe(drawn.data(), drawn.size());
    if (!status.ok()) return status;
  }
  return Status();
}

}  // namespace lanecrypt::runtime
