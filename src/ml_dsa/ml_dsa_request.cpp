// SPDX-License-Identifier: Apache-2.0
#include "ml_dsa/ml_dsa_request.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "cpu/ml_dsa/cpu_ml_dsa.h"
#include "cpu/ml_dsa/host_ml_dsa.h"
#include "cpu/random.h"
#include "secure/key_memory.h"

namespace lanecrypt::runtime {
namespace {

Status make_key(const MlDsaSizes &sizes, const MlDsaItem &item) {
  secure::KeyMemory whole(sizes.public_bytes + sizes.private_bytes);
  if (!whole.ok(sizes.public_bytes + sizes.private_bytes))
    return Status(LC_ERROR_MEMORY, "no memory for a new key");
  LC_TRY(cpu::host_ml_dsa_key(sizes, {item.random, kMlDsaSeedBytes},
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
    return cpu::ml_dsa_sign(*item.key, item.mu, {item.random, kMlDsaRandomBytes}, signature);
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

Repaired MlDsaRequest::repair_on_cpu(uint32_t operation) {
  if (operation_ != LC_ML_DSA_SIGN) return BatchRequest::repair_on_cpu(operation);
  const MlDsaSizes &sizes = sizes_of(operation);
  std::vector<uint8_t> made(sizes.signature_bytes);
  MlDsaItem item = items_[operation];
  item.signature = made.data();
  if (Status status = run_ml_dsa_on_cpu(operation_, sizes, item); !status.ok())
    return {Repaired::Fault::kUnknown, std::move(status)};
  Result<uint8_t> verdict = cpu::ml_dsa_verify(*item.key, item.mu, made);
  if (!verdict.ok()) return {Repaired::Fault::kUnknown, verdict.status()};
  if (*verdict != 1)
    return {Repaired::Fault::kKey,
            wrong_argument("the ML-DSA key is at fault: its signatures do not verify")};
  std::memcpy(items_[operation].signature, made.data(), made.size());
  return {};
}

void MlDsaRequest::withdraw_results() {
  for (const MlDsaItem &item : items_)
    if (item.verdict != nullptr) *item.verdict = 0;
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

// Copies the random bytes that the caller gives, and draws the others. Consecutive operations with
// the same source share a draw.
Status MlDsaRequest::draw(const MlDsaJob &job) {
  const size_t count = items_.size(), bytes = count * kMlDsaRandomBytes;
  random_ = secure::KeyMemory(bytes);
  if (!random_.ok(bytes)) return Status(LC_ERROR_MEMORY, "no memory for random numbers");
  const auto source_of = [&](size_t n) -> const RandomSource & {
    return items_[n].key == nullptr ? job.random : items_[n].key->random;
  };
  const auto is_drawn = [&](size_t n) {
    return job.messages[n].random == nullptr &&
           (operation_ == LC_ML_DSA_GENERATE || !job.is_deterministic);
  };
  for (size_t n = 0, end = 0; n < count; n = end) {
    uint8_t *const to = random_.data() + n * kMlDsaRandomBytes;
    end = n + 1;
    if (const uint8_t *given = job.messages[n].random; given != nullptr)
      std::memcpy(to, given, kMlDsaRandomBytes);
    if (!is_drawn(n)) continue;
    while (end < count && is_drawn(end) && source_of(end) == source_of(n)) ++end;
    LC_TRY(cpu::random_bytes_from(source_of(n), to, (end - n) * kMlDsaRandomBytes));
  }
  for (size_t n = 0; n < count; ++n) items_[n].random = random_.data() + n * kMlDsaRandomBytes;
  return Status();
}

}  // namespace lanecrypt::runtime
