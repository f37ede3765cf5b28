// The shapes of segmented jobs that the tests of graphs capture.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "job/cipher/cipher_info.h"
#include "lanecrypt/lanecrypt.h"
#include "unit/support/reference.h"

namespace lanecrypt::test {

struct Shape {
  const char *name;
  lc_cipher cipher;
  uint64_t text_bytes, segment_bytes, first_bytes = 0;
  bool in_place = false, tags_behind = false;
  lc_numbering number = {};
  int last_flag = 0;
  uint32_t last_flag_at = 0;
  // Threads per thread block. 32 selects hashes by matrices, which are slow on the emulator.
  uint32_t threads = 1;
  uint64_t launches = 3;  // launches that encrypt
  uint32_t aad_bytes = 0;
  lc_memory aad_memory = LC_MEMORY_HOST;
  lc_numbering aad_number = {};
  uint32_t key_bytes = 32;
  const char *kernel = nullptr;  // a kernel that the graph must contain
  bool as_card = false;          // use a GPU's kernels for block ciphers, which need 32 threads
};

inline constexpr Shape kShapes[] = {
    {"OneOfGcm", LC_AES_GCM, 5000, 5000, 0, false, false, {8, 4, 0, 7}, 0, 0},
    {"OneShorterThanItMayBe", LC_AES_GCM, 77, 4096, 0, true, true, {0, 8, 1, 1ull << 40}, 0, 0},
    {"AsInTink", LC_AES_GCM, 4500, 1000, 800, false, true, {7, 4, 0, 0}, 1, 11},
    {"InPlace", LC_AES_GCM, 3001, 1000, 0, true, false, {9, 3, 1, 0xfffff4}, 0, 0},
    {"OneOfChaCha20", LC_CHACHA20_POLY1305, 5000, 5000, 0, true, true, {4, 8, 0, 9}, 0, 0},
    {"ManyOfChaCha20", LC_CHACHA20_POLY1305, 5003, 333, 0, false, false, {0, 2, 0, 65000}, 0, 0},
    {"Poly1305ByMatrices",
     LC_CHACHA20_POLY1305,
     (1 << 20) + 40,
     2 << 20,
     0,
     true,
     true,
     {8, 4, 0, 1},
     0,
     0,
     32,
     1,
     20,
     LC_MEMORY_DEVICE},
    {.name = "OneOfGcmWithAad",
     .cipher = LC_AES_GCM,
     .text_bytes = 100,
     .segment_bytes = 100,
     .number = {8, 4, 0, 7},
     .launches = 20,
     .aad_bytes = 13,
     .aad_memory = LC_MEMORY_DEVICE},
    {.name = "AadOfTheHost",
     .cipher = LC_AES_GCM,
     .text_bytes = 4500,
     .segment_bytes = 1000,
     .first_bytes = 800,
     .tags_behind = true,
     .number = {7, 4, 0, 0},
     .last_flag = 1,
     .last_flag_at = 11,
     .aad_bytes = 16},
    {.name = "NumbersInAad",
     .cipher = LC_AES_GCM,
     .text_bytes = 999,
     .segment_bytes = 333,
     .in_place = true,
     .number = {9, 3, 1, 5},
     .aad_bytes = 4096,
     .aad_memory = LC_MEMORY_DEVICE,
     .aad_number = {4080, 9, 1, 0xfe}},
    {.name = "NumbersInAadOfChaCha20",
     .cipher = LC_CHACHA20_POLY1305,
     .text_bytes = 5003,
     .segment_bytes = 333,
     .number = {0, 2, 0, 65000},
     .aad_bytes = 33,
     .aad_number = {31, 2, 0, 0xfe}},
    // The IV has a block counter behind the number: it begins at the end of a window, and carries.
    {.name = "OneOfCtr",
     .cipher = LC_AES_CTR,
     .text_bytes = 70000,
     .segment_bytes = 70000,
     .number = {8, 4, 0, 7},
     .launches = 20},
    {.name = "ManyOfCtrInPlace",
     .cipher = LC_AES_CTR,
     .text_bytes = 10001,
     .segment_bytes = 999,
     .first_bytes = 100,
     .in_place = true,
     .number = {0, 14, 0, 0xfffff0}},
    {.name = "BlocksOfCtr",
     .cipher = LC_CAMELLIA_CTR,
     .text_bytes = 777,
     .segment_bytes = 16,
     .number = {12, 4, 0, 0xfffffe0}},
    {.name = "OneOfChaCha20WithoutTag",
     .cipher = LC_CHACHA20,
     .text_bytes = 9000,
     .segment_bytes = 9000,
     .in_place = true,
     .number = {4, 12, 1, 1}},
    {.name = "ManyOfChaCha20WithoutTags",
     .cipher = LC_CHACHA20,
     .text_bytes = 5003,
     .segment_bytes = 333,
     .number = {13, 3, 0, 65000},
     .launches = 20},
    {.name = "GcmOfAria",
     .cipher = LC_ARIA_GCM,
     .text_bytes = 777,
     .segment_bytes = 300,
     .in_place = true,
     .tags_behind = true,
     .number = {8, 4, 0, 7},
     .aad_bytes = 13,
     .aad_memory = LC_MEMORY_DEVICE},
    {.name = "GcmOfSm4",
     .cipher = LC_SM4_GCM,
     .text_bytes = 777,
     .segment_bytes = 300,
     .number = {8, 4, 0, 7},
     .aad_bytes = 13,
     .key_bytes = 16},
    // Segments at any address, on a device with warps.
    {.name = "AnyAddressOfChaCha20",
     .cipher = LC_CHACHA20,
     .text_bytes = 30003,
     .segment_bytes = 3333,
     .number = {13, 3, 0, 65000},
     .threads = 32,
     .kernel = "chacha20_unaligned"},
    {.name = "AnyAddressOfChaCha20Poly1305",
     .cipher = LC_CHACHA20_POLY1305,
     .text_bytes = 30003,
     .segment_bytes = 3333,
     .in_place = true,
     .number = {0, 2, 0, 65000},
     .threads = 32,
     .kernel = "chacha20_poly1305_runs_unaligned"},
    {.name = "AnyAddressOfGcm",
     .cipher = LC_AES_GCM,
     .text_bytes = 30003,
     .segment_bytes = 3333,
     .first_bytes = 1000,
     .tags_behind = true,
     .number = {7, 4, 0, 0},
     .last_flag = 1,
     .last_flag_at = 11,
     .threads = 32,
     .kernel = "aes_table4_ctr_unaligned",
     .as_card = true},
    {.name = "AnyAddressOfGcmOfSm4InPlace",
     .cipher = LC_SM4_GCM,
     .text_bytes = 5003,
     .segment_bytes = 1001,
     .in_place = true,
     .number = {8, 4, 0, 7},
     .threads = 32,
     .key_bytes = 16,
     .kernel = "sm4_table4_ctr_unaligned",
     .as_card = true},
    {.name = "AnyAddressOfGcmOfAria",
     .cipher = LC_ARIA_GCM,
     .text_bytes = 5003,
     .segment_bytes = 2050,
     .number = {8, 4, 0, 7},
     .threads = 32,
     .kernel = "aria_table4_ctr_unaligned",
     .as_card = true},
    {.name = "AnyAddressOfCtr",
     .cipher = LC_AES_CTR,
     .text_bytes = 70001,
     .segment_bytes = 9999,
     .number = {8, 4, 0, 7},
     .threads = 32,
     .launches = 5,
     .kernel = "aes_table4_ctr_unaligned",
     .as_card = true},
    {.name = "AnyAddressOfCtrOfCamelliaInPlace",
     .cipher = LC_CAMELLIA_CTR,
     .text_bytes = 10001,
     .segment_bytes = 999,
     .first_bytes = 100,
     .in_place = true,
     .number = {0, 14, 0, 0xfffff0},
     .threads = 32,
     .kernel = "camellia_table4_ctr_unaligned",
     .as_card = true},
    {.name = "AlignedCtrOfACard",
     .cipher = LC_AES_CTR,
     .text_bytes = 20000,
     .segment_bytes = 4096,
     .number = {8, 4, 0, 7},
     .threads = 32,
     .kernel = "aes_table4_ctr",
     .as_card = true},
};

// Returns the shapes for which OpenSSL can compute an answer.
inline std::vector<Shape> shapes() {
  std::vector<Shape> made;
  for (const Shape &shape : kShapes)
    if (!cipher_info(shape.cipher).is_aead || has_reference(shape.cipher)) made.push_back(shape);
  return made;
}

}  // namespace lanecrypt::test
