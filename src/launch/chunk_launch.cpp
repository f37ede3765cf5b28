// SPDX-License-Identifier: Apache-2.0
#include "launch/chunk_launch.h"

#include "launch/aead_launch.h"
#include "launch/block_launch.h"

namespace lanecrypt::runtime {

Result<LaunchForm> choose_launch_form(const device::Properties &properties) {
  Result<BlockForm> blocks = choose_block_form(properties);
  if (!blocks.ok()) return blocks.status();
  Result<BlockGrid> grid = read_block_grid(properties, *blocks);
  if (!grid.ok()) return grid.status();
  // AeadLaunch asks for itself.
  if (const Result<bool> matrices = choose_matrices(properties); !matrices.ok())
    return matrices.status();
  return LaunchForm{*blocks, *grid};
}

bool has_kernels(const device::Properties &properties, const LaunchForm &form,
                 const CipherKind &kind) {
  return has_kernel(properties, form.blocks, kind);
}

std::vector<std::unique_ptr<ChunkLaunch>> make_chunk_launches(device::Device &device,
                                                              const LaunchForm &form) {
  auto blocks = std::make_unique<BlockLaunch>(device, form.blocks, form.grid);
  auto aead = std::make_unique<AeadLaunch>(device, *blocks);
  std::vector<std::unique_ptr<ChunkLaunch>> all;
  all.push_back(std::move(blocks));
  all.push_back(std::move(aead));
  return all;
}

}  // namespace lanecrypt::runtime
