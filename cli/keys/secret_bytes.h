// Memory for keys and passphrases. It is locked if the system allows it, excluded from core dumps,
// and erased at the end.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace lanecrypt::cli {

// A buffer of fixed size in its own pages. It can be moved but not copied.
class SecretBytes {
 public:
  SecretBytes() = default;
  explicit SecretBytes(size_t bytes);
  SecretBytes(SecretBytes &&other) noexcept;
  SecretBytes &operator=(SecretBytes &&other) noexcept;
  ~SecretBytes();

  // Copies `text`. The caller erases the original.
  static SecretBytes copy_of(std::string_view text);

  uint8_t *data() { return data_; }
  const uint8_t *data() const { return data_; }
  size_t size() const { return bytes_; }
  char *text() { return reinterpret_cast<char *>(data_); }
  const char *text() const { return reinterpret_cast<const char *>(data_); }
  // Reduces the size to `bytes`, and erases the rest.
  void shorten(size_t bytes);

 private:
  uint8_t *data_ = nullptr;
  size_t bytes_ = 0;
  size_t mapped_bytes_ = 0;
};

}  // namespace lanecrypt::cli
