// SPDX-License-Identifier: Apache-2.0
#include "cli/provider_module.h"

#include <filesystem>
#include <system_error>

namespace lanecrypt::cli {

std::string find_provider_module() {
  std::error_code error;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) return "";
  // In the build folder, and where it is installed.
  for (const char *folder : {"../lib", LANECRYPT_MODULES_FROM_COMMAND}) {
    const std::filesystem::path module =
        (self.parent_path() / folder / "gpu.so").lexically_normal();
    if (std::filesystem::exists(module, error)) return module.string();
  }
  return "";
}

std::string quoted_for_openssl(std::string_view text) {
  std::string in_quotes = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') in_quotes += '\\';
    in_quotes += c;
  }
  return in_quotes + "\"";
}

}  // namespace lanecrypt::cli
