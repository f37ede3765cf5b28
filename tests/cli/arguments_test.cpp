// Command-line words are translated for the argument parser: openssl's spellings are accepted, and
// secrets are moved out of argv.
//
// SPDX-License-Identifier: Apache-2.0
#include "cli/arguments.h"

#include <gtest/gtest.h>

namespace lanecrypt::cli {
namespace {

const std::vector<OptionName> kNames = {{"in", "in", true},
                                        {"k", "passphrase", true, true},
                                        {"kfile", "kfile", true},
                                        {"d", "decrypt"}};

// argv as main() gets it: writable.
struct Argv {
  explicit Argv(std::vector<std::string> given) : words(std::move(given)) {
    for (std::string &word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
  }
  Arguments translate() {
    return translate_arguments(static_cast<int>(words.size()), pointers.data(), 0, kNames);
  }
  std::vector<std::string> words;
  std::vector<char *> pointers;
};

using Words = std::vector<std::string>;

TEST(Arguments, OneDashOrTwo) {
  EXPECT_EQ(Argv({"-in", "f", "--in", "g", "-in=h"}).translate().words,
            (Words{"--in=f", "--in=g", "--in=h"}));
}

TEST(Arguments, AValueIsTakenAsItStands) {
  EXPECT_EQ(Argv({"-in", "-d", "-d"}).translate().words, (Words{"--in=-d", "--decrypt"}));
  EXPECT_EQ(Argv({"-in", "", "-d"}).translate().words, (Words{"--in", "", "--decrypt"}));
  EXPECT_EQ(Argv({"-in"}).translate().words, (Words{"--in"}));
}

TEST(Arguments, ALongerNameIsNotAShorterOne) {
  EXPECT_EQ(Argv({"-kfile", "k"}).translate().words, (Words{"--kfile=k"}));
}

TEST(Arguments, CiphersAreOptions) {
  EXPECT_EQ(Argv({"-aes-256-ctr", "--AES-128-CBC", "aes-128-ecb"}).translate().words,
            (Words{"--cipher=aes-256-ctr", "--cipher=AES-128-CBC", "aes-128-ecb"}));
}

TEST(Arguments, OthersStay) {
  EXPECT_EQ(Argv({"--nonsense", "-", "--", "x"}).translate().words,
            (Words{"--nonsense", "-", "--", "x"}));
}

TEST(Arguments, NothingIsAnOptionAfterTwoDashes) {
  EXPECT_EQ(Argv({"-d", "--", "-d", "-nonsense", "-aes-256-ctr"}).translate().words,
            (Words{"--decrypt", "--", "-d", "-nonsense", "-aes-256-ctr"}));
}

TEST(Arguments, NoFileIsAList) {
  EXPECT_EQ(Argv({"[a,b]", "--", "[c]"}).translate().words, (Words{"./[a,b]", "--", "./[c]"}));
  for (const std::string word : {"[a,b]", "./[a,b]", "././[", ".[", "./x", "x", ""})
    EXPECT_EQ(word_as_written(Argv({word}).translate().words[0]), word);
}

TEST(Arguments, OneDashIsTwoOfOthersToo) {
  EXPECT_EQ(Argv({"-nonsense", "-k0"}).translate().words, (Words{"--nonsense", "--k0"}));
}

TEST(Arguments, SecretsAreMovedAsideAndHidden) {
  Argv argv({"-k", "hunter2", "--k=swordfish"});
  const Arguments arguments = argv.translate();
  EXPECT_EQ(arguments.words, (Words{"--passphrase=0", "--passphrase=1"}));
  ASSERT_EQ(arguments.secrets.size(), 2u);
  EXPECT_EQ(std::string(arguments.secrets[0].text(), arguments.secrets[0].size()), "hunter2");
  EXPECT_EQ(std::string(arguments.secrets[1].text(), arguments.secrets[1].size()), "swordfish");
  EXPECT_EQ(argv.words[1], "xxxxxxx");
  EXPECT_EQ(argv.words[2], "--k=xxxxxxxxx");
}

}  // namespace
}  // namespace lanecrypt::cli
