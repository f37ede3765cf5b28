// The openssl.cnf that `lanecrypt run` makes from user files in several forms. libcrypto reads
// each, as a program does.
//
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <openssl/conf.h>
#include <stdlib.h>
#include <unistd.h>

#include <fstream>
#include <memory>
#include <string>

#include "cli/run/configuration.h"

namespace lanecrypt::cli {
namespace {

class RunConfiguration : public testing::Test {
 protected:
  RunConfiguration() { EXPECT_NE(mkdtemp(folder_.data()), nullptr); }
  ~RunConfiguration() override {
    for (const char *name : {"/user.cnf", "/run.cnf"}) unlink((folder_ + name).c_str());
    rmdir(folder_.c_str());
  }

  // Writes `users` to the user's file, and reads the configuration that is made of it.
  void make(const std::string &users) {
    const std::string path = folder_ + "/user.cnf";
    std::ofstream(path) << users;
    read(make_configuration(path, kWanted));
  }
  void read(const Configuration &configuration) {
    note_ = configuration.note;
    const std::string path = folder_ + "/run.cnf";
    std::ofstream(path) << configuration.text;
    conf_.reset(NCONF_new(nullptr));
    ASSERT_EQ(NCONF_load(conf_.get(), path.c_str(), nullptr), 1) << configuration.text;
  }

  // Returns the value of a name, whose section is found by a path from the default section.
  std::string value(std::initializer_list<const char *> path) const {
    std::string section = "default";
    for (const char *name : path) {
      const STACK_OF(CONF_VALUE) *const values = NCONF_get_section(conf_.get(), section.c_str());
      std::string found = "nothing";
      for (int n = 0; n < sk_CONF_VALUE_num(values); ++n)
        if (sk_CONF_VALUE_value(values, n)->name == std::string(name))
          found = sk_CONF_VALUE_value(values, n)->value;
      section = found;
    }
    return section;
  }
  std::string gpu(const char *name, const char *application = "openssl_conf") const {
    return value({application, "providers", "gpu", name});
  }
  std::string properties(const char *application = "openssl_conf") const {
    return value({application, "alg_section", "default_properties"});
  }

  const ConfigurationWanted kWanted = {"/a folder/gpu.so", "/tmp/a \"b\" $c \\d #e/socket"};
  std::string note_;

 private:
  std::string folder_ = testing::TempDir() + "lanecrypt.XXXXXX";
  std::unique_ptr<CONF, decltype(&NCONF_free)> conf_{nullptr, NCONF_free};
};

TEST_F(RunConfiguration, WithoutAFile) {
  read(make_configuration("", kWanted));
  for (const char *application : {"openssl_conf", "nodejs_conf"}) {
    EXPECT_EQ(gpu("activate", application), "1");
    EXPECT_EQ(gpu("module", application), kWanted.module);
    EXPECT_EQ(gpu("service", application), kWanted.socket);
    EXPECT_EQ(value({application, "providers", "default", "activate"}), "1");
    EXPECT_EQ(properties(application), "?provider=gpu");
  }
  EXPECT_EQ(note_, "");
}

// The form that OpenSSL installs: its default provider is named, and not activated.
TEST_F(RunConfiguration, SectionsKeepTheirNamesAndWhatTheyHave) {
  make(
      "HOME = .\nopenssl_conf = openssl_init\n[openssl_init]\nproviders = provider_sect\n"
      "ssl_conf = ssl_sect\n[provider_sect]\ndefault = default_sect\n[default_sect]\n"
      "# activate = 1\n[ssl_sect]\nsystem_default = tls\n[tls]\nMinProtocol = TLSv1.3\n"
      "[req]\ndistinguished_name = dn\n");
  EXPECT_EQ(value({"openssl_conf"}), "openssl_init");
  EXPECT_EQ(value({"openssl_conf", "providers"}), "provider_sect");
  EXPECT_EQ(value({"openssl_conf", "providers", "default"}), "default_sect");
  EXPECT_EQ(value({"openssl_conf", "providers", "default", "activate"}), "1");
  EXPECT_EQ(value({"openssl_conf", "ssl_conf", "system_default", "MinProtocol"}), "TLSv1.3");
  EXPECT_EQ(gpu("service"), kWanted.socket);
  EXPECT_EQ(properties(), "?provider=gpu");
  // Node did not read these settings before, and does not read them now.
  EXPECT_EQ(value({"nodejs_conf", "ssl_conf"}), "nothing");
  EXPECT_EQ(gpu("service", "nodejs_conf"), kWanted.socket);
}

TEST_F(RunConfiguration, ProvidersThatWereChosenStayAlone) {
  make(
      "openssl_conf = a\n[a]\nproviders = b\nalg_section = c\n[b]\nfips = d\nbase = e\n"
      "[c]\ndefault_properties = fips=yes\n[d]\nactivate = 1\n[e]\nactivate = yes\n");
  EXPECT_EQ(value({"openssl_conf", "providers", "default"}), "nothing");
  EXPECT_EQ(value({"openssl_conf", "providers", "fips", "activate"}), "1");
  EXPECT_EQ(properties(), "fips=yes,?provider=gpu");
}

TEST_F(RunConfiguration, AProviderThatIsSwitchedOffIsNoChoice) {
  make("openssl_conf = a\n[a]\nproviders = b\n[b]\nlegacy = c\n[c]\nactivate = off\n");
  EXPECT_EQ(value({"openssl_conf", "providers", "default", "activate"}), "1");
}

TEST_F(RunConfiguration, SettingsOfTheProviderStay) {
  make(
      "openssl_conf = a\n[a]\nproviders = b\nalg_section = f\n[b]\ngpu = c\ndefault = d\n"
      "[c]\nmodule = /opt/gpu.so\nrsa = always\nservice = off\n[d]\nactivate = 1\n"
      "[f]\ndefault_properties = ?provider=gpu\n");
  EXPECT_EQ(gpu("module"), "/opt/gpu.so");
  EXPECT_EQ(gpu("rsa"), "always");
  EXPECT_EQ(gpu("activate"), "1");
  // The last assignment takes effect.
  EXPECT_EQ(gpu("service"), kWanted.socket);
  EXPECT_EQ(properties(), "?provider=gpu");
  EXPECT_EQ(note_, "");
}

TEST_F(RunConfiguration, AnotherPreferenceIsNotOverruled) {
  make("openssl_conf = a\n[a]\nalg_section = b\n[b]\ndefault_properties = ?provider=other\n");
  EXPECT_EQ(properties(), "?provider=other");
  EXPECT_NE(note_.find("prefers another provider (?provider=other)"), std::string::npos) << note_;
}

// NCONF_get_string() would find such values in every section.
TEST_F(RunConfiguration, NamesOfTheDefaultSectionAreNotThoseOfOthers) {
  make(
      "providers = x\nalg_section = x\ngpu = x\nmodule = x\nactivate = 1\n"
      "openssl_conf = a\n[a]\n");
  EXPECT_NE(value({"openssl_conf", "providers"}), "x");
  EXPECT_EQ(gpu("module"), kWanted.module);
}

TEST_F(RunConfiguration, AFileThatCannotBeReadIsLeftOut) {
  make("[unfinished\n");
  EXPECT_EQ(gpu("service"), kWanted.socket);
  EXPECT_NE(note_.find("is left out, since OpenSSL cannot read it"), std::string::npos) << note_;
}

}  // namespace
}  // namespace lanecrypt::cli
