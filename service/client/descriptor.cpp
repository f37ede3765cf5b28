// SPDX-License-Identifier: Apache-2.0
#include "service/client/descriptor.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace lanecrypt::client {
namespace {

constexpr int kHighNumber = 1000, kFirstOrdinary = 3;

// Moves a descriptor to the lowest free number from `least` on. Returns -1 if there is none; the
// descriptor is then unchanged.
int move(int descriptor, int least) {
  const int moved = fcntl(descriptor, F_DUPFD_CLOEXEC, least);
  if (moved >= 0) (void)::close(descriptor);
  return moved;
}

}  // namespace

OwnDescriptor::OwnDescriptor(int descriptor, Number number) {
  if (descriptor < 0) return;
  int taken = descriptor;
  if (number == Number::kHigh && descriptor < kHighNumber)
    if (const int moved = move(descriptor, kHighNumber); moved >= 0) taken = moved;
  if (taken < kFirstOrdinary)
    if (const int moved = move(taken, kFirstOrdinary); moved >= 0) taken = moved;
  struct stat file;
  if (taken < kFirstOrdinary || fstat(taken, &file) != 0) {
    (void)::close(taken);
    return;
  }
  descriptor_ = taken;
  device_ = file.st_dev;
  inode_ = file.st_ino;
}

OwnDescriptor &OwnDescriptor::operator=(OwnDescriptor &&other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(device_, other.device_);
  std::swap(inode_, other.inode_);
  return *this;
}

bool OwnDescriptor::is_ours() const {
  struct stat file;
  return descriptor_ >= 0 && fstat(descriptor_, &file) == 0 && file.st_dev == device_ &&
         file.st_ino == inode_;
}

void OwnDescriptor::close() {
  if (is_ours()) (void)::close(descriptor_);
  descriptor_ = -1;
}

}  // namespace lanecrypt::client
