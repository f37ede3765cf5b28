// Block ciphers of device memory texts at any address, with one key and with several: every byte is
// compared with OpenSSL, and the kernels for such texts must have run. Runs on an emulator that
// executes them as a GPU does.
//
// SPDX-License-Identifier: Apache-2.0
#include "any_address.h"
#include "unit/support/warp_device.h"

namespace lanecrypt::runtime {
namespace {

class AnyAddressOfBlocks : public AnyAddress {
 protected:
  void SetUp() override {
    setenv("LANECRYPT_AES_FORM", "table4", 1);
    AnyAddress::SetUp();
  }
  ~AnyAddressOfBlocks() override { unsetenv("LANECRYPT_AES_FORM"); }
  std::unique_ptr<device::Device> device_of(std::unique_ptr<device::Device> emulator) override {
    return std::make_unique<test::WarpDevice>(std::move(emulator));
  }

  // Adds texts of up to a few tiles. Adjacent messages have different keys.
  void add_texts(lc_cipher cipher) {
    texts_.clear();
    for (const uint64_t length : {16, 40, 1000, 2048, 2064, 5000, 9000})
      add(static_cast<uint32_t>(length / 8 + 5), static_cast<uint32_t>(length / 5),
          std::max<uint64_t>(test::allowed_length(cipher, unit_bytes_, length), 16));
  }
  // Returns those of the kernels that belong to block ciphers.
  static Kernels of_blocks(const Kernels &all) {
    Kernels blocks;
    for (const std::string &name : all)
      if (name.find("_table4_") != std::string::npos) blocks.insert(name);
    return blocks;
  }
};

struct BlockCase {
  lc_cipher cipher;
  std::string block, encrypts, decrypts;  // prefixes of kernel names
  uint32_t unit_bytes = 0;
};

TEST_F(AnyAddressOfBlocks, OfOneKeyAndOfSeveral) {
  const BlockCase kCases[] = {
      {LC_AES_ECB, "aes", "ecb_encrypt", "ecb_decrypt"},
      {LC_AES_CBC, "aes", "cbc_encrypt", "cbc_decrypt"},
      {LC_AES_CTR, "aes", "ctr", "ctr"},
      {LC_AES_CFB128, "aes", "feedback", "cfb_decrypt"},
      {LC_AES_XTS, "aes", "xts_encrypt", "xts_decrypt", 512},
      {LC_AES_XTS, "aes", "xts_encrypt", "xts_decrypt", 33},
      {LC_AES_XTS, "aes", "xts_encrypt", "xts_decrypt", 4097},
      {LC_SM4_ECB, "sm4", "ecb_encrypt", "ecb_decrypt"},
      {LC_SM4_CBC, "sm4", "cbc_encrypt", "cbc_decrypt"},
      {LC_SM4_CTR, "sm4", "ctr", "ctr"},
      {LC_SM4_XTS_GB, "sm4", "xts_gb_encrypt", "xts_gb_decrypt", 512},
      {LC_CAMELLIA_CBC, "camellia", "cbc_encrypt", "cbc_decrypt"},
      {LC_CAMELLIA_CTR, "camellia", "ctr", "ctr"},
      {LC_ARIA_CBC, "aria", "cbc_encrypt", "cbc_decrypt"},
      {LC_ARIA_CFB128, "aria", "feedback", "cfb_decrypt"},
      {LC_ARIA_CTR, "aria", "ctr", "ctr"},
  };
  for (const BlockCase &one : kCases) {
    // XTS always has a reference: if OpenSSL lacks SM4-XTS, the tests compute it block by block.
    if (one.unit_bytes == 0 && !test::has_reference(one.cipher)) continue;
    unit_bytes_ = one.unit_bytes;
    add_texts(one.cipher);
    for (const uint32_t keys : {1u, 3u}) {
      SCOPED_TRACE(test::cipher_name(one.cipher, key_bytes_of(one.cipher)) + ", " +
                   std::to_string(keys) + " keys");
      key_count_ = keys;
      const auto [encrypting, decrypting] = run_both(one.cipher);
      const std::string form = one.block + (keys == 1 ? "_table4_slot_" : "_table4_");
      const auto expected = [&](const std::string &mode) {
        // CFB encryption and OFB have one kernel for all texts.
        if (mode == "feedback") return Kernels{one.block + "_table4_feedback"};
        if (one.unit_bytes == 0) return Kernels{form + mode + "_unaligned"};
        // The last units of most messages end in a partial block.
        return Kernels{form + mode + "_partial", form + mode + "_partial_ends",
                       one.block + "_table4_" + mode.substr(0, mode.rfind('_')) + "_points"};
      };
      EXPECT_EQ(expected(one.encrypts), of_blocks(encrypting));
      EXPECT_EQ(expected(one.decrypts), of_blocks(decrypting));
    }
  }
}

TEST_F(AnyAddressOfBlocks, OfManyKeys) {
  key_count_ = 40;
  for (uint32_t n = 0; n < 200; ++n) add(7 * n % 16, 11 * n % 16, 1 + n * 29 % 700);
  EXPECT_EQ(Kernels{"aes_table4_ctr_unaligned"}, of_blocks(run(LC_AES_CTR)));
  // If all texts are at multiples of 16, the other kernel runs.
  for (Text &text : texts_) text.in = text.out = (&text - texts_.data()) * 704 + 16;
  EXPECT_EQ(Kernels{"aes_table4_ctr"}, of_blocks(run(LC_AES_CTR)));
}

TEST_F(AnyAddressOfBlocks, OfKeysInPlace) {
  key_count_ = 5;
  for (uint32_t n = 0; n < 32; ++n) add(n % 16, 0, 16 + n * n * 16);
  in_place();
  EXPECT_EQ(Kernels{"aes_table4_ctr_unaligned"}, of_blocks(run(LC_AES_CTR)));
  const auto [encrypting, decrypting] = run_both(LC_AES_ECB);
  EXPECT_EQ(Kernels{"aes_table4_ecb_encrypt_unaligned"}, of_blocks(encrypting));
  EXPECT_EQ(Kernels{"aes_table4_ecb_decrypt_unaligned"}, of_blocks(decrypting));
}

// Each thread processes a stream, with its own address and length.
TEST_F(AnyAddressOfBlocks, OfManyStreams) {
  for (uint32_t n = 0; n < 150; ++n) add(7 * n % 16, n / 16 + 11 * n % 16, 16 + n * 29 % 40 * 16);
  for (const uint32_t keys : {1u, 40u}) {
    key_count_ = keys;
    const std::string form = keys == 1 ? "aes_table4_slot_" : "aes_table4_";
    const auto [encrypting, decrypting] = run_both(LC_AES_CBC);
    EXPECT_EQ(Kernels{form + "cbc_encrypt_unaligned"}, of_blocks(encrypting));
    EXPECT_EQ(Kernels{form + "cbc_decrypt_unaligned"}, of_blocks(decrypting));
  }
  // If all texts are at multiples of 16, the other kernel runs.
  for (Text &text : texts_) text.in = text.out = (&text - texts_.data()) * 704 + 16;
  for (const uint32_t keys : {1u, 40u}) {
    key_count_ = keys;
    EXPECT_EQ(Kernels{keys == 1 ? "aes_table4_slot_cbc_encrypt" : "aes_table4_cbc_encrypt"},
              of_blocks(run_both(LC_AES_CBC).first));
  }
  // One unaligned text among many is enough.
  texts_[100].out += 1;
  EXPECT_EQ(Kernels{"aes_table4_cbc_encrypt_unaligned"}, of_blocks(run_both(LC_AES_CBC).first));
}

TEST_F(AnyAddressOfBlocks, OfStreamsInPlace) {
  for (uint32_t n = 0; n < 40; ++n) add(n % 16, 0, 16 + n * n % 50 * 16);
  in_place();
  for (const uint32_t keys : {1u, 5u}) {
    key_count_ = keys;
    EXPECT_EQ(Kernels{keys == 1 ? "aes_table4_slot_cbc_encrypt_unaligned"
                                : "aes_table4_cbc_encrypt_unaligned"},
              of_blocks(run_both(LC_AES_CBC).first));
  }
}

// CBC leaves the last two blocks to kernels that access single bytes and read the keys in the
// layout for streams.
TEST_F(AnyAddressOfBlocks, OfStolenCiphertext) {
  for (uint32_t n = 0; n < 120; ++n) add(5 * n % 16, n / 16 + 3 * n % 16, 16 + n * 7 % 300);
  for (const lc_cipher cipher : {LC_AES_CBC_CS1, LC_AES_CBC_CS2, LC_AES_CBC_CS3})
    for (const uint32_t keys : {1u, 40u}) {
      key_count_ = keys;
      const std::string form = keys == 1 ? "aes_table4_slot_" : "aes_table4_";
      const auto [encrypting, decrypting] = run_both(cipher);
      EXPECT_EQ((Kernels{"aes_table4_cbc_encrypt_unaligned", "aes_table4_steal_encrypt"}),
                of_blocks(encrypting));
      EXPECT_EQ((Kernels{form + "cbc_decrypt_unaligned", "aes_table4_steal_decrypt"}),
                of_blocks(decrypting));
    }
}

// H and the masks of the tags are aligned blocks.
TEST_F(AnyAddressOfBlocks, OfKeysOfGcm) {
  for (const uint32_t keys : {1u, 6u}) {
    key_count_ = keys;
    texts_.clear();
    for (uint32_t n = 0; n < 70; ++n) add(5 * n % 16, 3 * n % 16, n * 37 % 3000);
    const std::string form = keys == 1 ? "aes_table4_slot_" : "aes_table4_";
    for (const bool tags_stay : {false, true}) {
      const Kernels kernels = run(LC_AES_GCM, tags_stay);
      EXPECT_EQ((Kernels{form + "ecb_encrypt", form + "ctr_unaligned"}), of_blocks(kernels));
      EXPECT_EQ(1u, kernels.count("ghash_runs_unaligned"));
      EXPECT_EQ(0u, kernels.count("ghash_runs"));
    }
  }
  for (Text &text : texts_) text.in = text.out = (&text - texts_.data()) * 3008 + 16;
  EXPECT_EQ(1u, run(LC_AES_GCM).count("ghash_runs"));
}

}  // namespace
}  // namespace lanecrypt::runtime
