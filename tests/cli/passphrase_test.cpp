// Passphrases and keys are read from their sources, and nothing is read beyond their line.
//
// SPDX-License-Identifier: Apache-2.0
#include "cli/keys/passphrase.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <string>

#include "cli/failure.h"
#include "cli/io/file_descriptor.h"

namespace lanecrypt::cli {
namespace {

std::string read_source(const std::string &source) {
  const SecretBytes secret = read_passphrase_source(SecretBytes::copy_of(source));
  return std::string(secret.text(), secret.size());
}

TEST(Passphrase, WhatFollowsTheLineStaysInTheDescriptor) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const FileDescriptor from(ends[0]);
  FileDescriptor to(ends[1]);
  ASSERT_EQ(write(to.get(), "secret\nrest", 11), 11);
  to.close();
  EXPECT_EQ(read_source("fd:" + std::to_string(from.get())), "secret");
  char rest[8] = {};
  EXPECT_EQ(read(from.get(), rest, sizeof rest), 4);
  EXPECT_STREQ(rest, "rest");
}

TEST(Passphrase, AnEmptyLineIsAPassphraseAndNoLineIsNone) {
  for (const bool with_line : {true, false}) {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    const FileDescriptor from(ends[0]);
    FileDescriptor to(ends[1]);
    if (with_line) {
      ASSERT_EQ(write(to.get(), "\n", 1), 1);
    }
    to.close();
    const std::string source = "fd:" + std::to_string(from.get());
    if (with_line)
      EXPECT_EQ(read_source(source), "");
    else
      EXPECT_THROW(read_source(source), Failure);
  }
}

TEST(Passphrase, AKeyIsItsLineWithoutCarriageReturns) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const FileDescriptor from(ends[0]);
  FileDescriptor to(ends[1]);
  ASSERT_EQ(write(to.get(), "0a1B\r\nrest", 10), 10);
  to.close();
  const SecretBytes key = read_key_source(SecretBytes::copy_of("fd:" + std::to_string(from.get())));
  EXPECT_EQ(std::string(key.text(), key.size()), "0a1B");
  char rest[8] = {};
  EXPECT_EQ(read(from.get(), rest, sizeof rest), 4);
  EXPECT_STREQ(rest, "rest");
}

TEST(Passphrase, AKeyIsNoSourceOfItself) {
  for (const char *wrong : {"pass:00112233", "00112233", ""}) {
    try {
      read_key_source(SecretBytes::copy_of(wrong));
      FAIL() << wrong;
    } catch (const Failure &failure) {
      EXPECT_EQ(std::string(failure.what()).find("00112233"), std::string::npos);
    }
  }
}

TEST(Passphrase, UnknownSourcesAreNotQuoted) {
  try {
    read_source("hunter2");
    FAIL();
  } catch (const Failure &failure) {
    EXPECT_EQ(std::string(failure.what()).find("hunter2"), std::string::npos);
  }
}

}  // namespace
}  // namespace lanecrypt::cli
