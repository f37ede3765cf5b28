// Tests which sockets a client trusts.
//
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <pwd.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <string>

#include "service/client/test_key.h"

namespace service_test {
namespace {

// A socket in a folder, with a listener, each of any user.
class ServiceAddressTest : public testing::Test {
 protected:
  static constexpr uid_t kOther = 12345, kThird = 12346;

  std::string path() const { return folder_.path() + "/folder/socket"; }
  // Whether the test runs as root, and so can make files of other users.
  static bool is_root() { return geteuid() == 0; }
  void make(uid_t folder_of, mode_t mode, uid_t socket_of, uid_t listens = geteuid()) {
    const std::string above = folder_.path() + "/folder";
    ASSERT_EQ(0, mkdir(above.c_str(), 0700));
    chmod(folder_.path().c_str(), 0755);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path().data(), path().size());
    listener_ = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    ASSERT_EQ(0, bind(listener_, reinterpret_cast<sockaddr *>(&address), sizeof address));
    chmod(path().c_str(), 0777);
    const uid_t self = geteuid();
    ASSERT_TRUE(socket_of == self || chown(path().c_str(), socket_of, gid_t(-1)) == 0);
    ASSERT_TRUE(folder_of == self || chown(above.c_str(), folder_of, gid_t(-1)) == 0);
    ASSERT_EQ(0, chmod(above.c_str(), mode));
    // The kernel takes the peer's credentials from the caller of listen().
    ASSERT_TRUE(listens == self || seteuid(listens) == 0);
    const int listening = listen(listener_, 8);
    ASSERT_TRUE(listens == self || seteuid(self) == 0);
    ASSERT_EQ(0, listening);
  }
  // `owner`: the other owner of sockets that the settings name.
  bool is_trusted(const std::string &owner = "") { return is_trusted_at(path(), owner); }
  bool is_trusted_at(const std::string &path, const std::string &owner = "") {
    const client::ServiceAddress address = client::ServiceAddress::named(path, owner);
    client::Reached reached = client::reach(address, client::Clock::now() + milliseconds(250));
    why_ = reached.why;
    // The result is the same whether settings or the environment name a socket.
    client::ServiceAddress usual = client::ServiceAddress::usual(owner);
    usual.paths = {path};
    const client::Reached again = client::reach(usual, client::Clock::now() + milliseconds(250));
    EXPECT_EQ(reached.socket.is_there(), again.socket.is_there());
    return reached.socket.is_there();
  }
  void TearDown() override {
    if (listener_ >= 0) close(listener_);
  }

  const lanecrypt::test::TemporaryFolder folder_;
  int listener_ = -1;
  std::string why_;
};

TEST_F(ServiceAddressTest, OfThisUser) {
  make(geteuid(), 0755, geteuid());
  EXPECT_TRUE(is_trusted()) << why_;
}

TEST_F(ServiceAddressTest, WhereOthersMayWrite) {
  make(geteuid(), 0777, geteuid());
  EXPECT_FALSE(is_trusted());
  EXPECT_NE(std::string::npos, why_.find("others than its owner may write"));
}

TEST_F(ServiceAddressTest, WhereAGroupMayWrite) {
  make(geteuid(), 0770, geteuid());
  EXPECT_FALSE(is_trusted());
}

// A folder such as /tmp, in which no user can rename files of other users.
TEST_F(ServiceAddressTest, InAStickyFolder) {
  make(geteuid(), 01777, geteuid());
  EXPECT_TRUE(is_trusted()) << why_;
}

TEST_F(ServiceAddressTest, OfAnotherUserInAStickyFolder) {
  if (!is_root()) GTEST_SKIP() << "only root makes sockets of others";
  make(0, 01777, kOther, kOther);
  EXPECT_FALSE(is_trusted());
  EXPECT_FALSE(is_trusted(std::to_string(kThird)));
  EXPECT_TRUE(is_trusted(std::to_string(kOther))) << why_;
}

TEST_F(ServiceAddressTest, BelowAFolderWhereOthersMayWrite) {
  make(geteuid(), 0755, geteuid());
  for (const mode_t mode : {0777, 0775, 0757}) {
    ASSERT_EQ(0, chmod(folder_.path().c_str(), mode));
    EXPECT_FALSE(is_trusted()) << std::oct << mode;
  }
  for (const mode_t mode : {01777, 0755, 0700}) {
    ASSERT_EQ(0, chmod(folder_.path().c_str(), mode));
    EXPECT_TRUE(is_trusted()) << std::oct << mode << why_;
  }
}

TEST_F(ServiceAddressTest, BelowAFolderOfAnotherUser) {
  if (!is_root()) GTEST_SKIP() << "only root gives folders away";
  make(0, 0755, 0);
  ASSERT_EQ(0, chown(folder_.path().c_str(), kOther, gid_t(-1)));
  EXPECT_FALSE(is_trusted());
  EXPECT_FALSE(is_trusted(std::to_string(kThird)));
  EXPECT_TRUE(is_trusted(std::to_string(kOther))) << why_;
}

// Settings that name the socket do not make its owner trusted: they may name a folder that no
// longer exists, which any user could create.
TEST_F(ServiceAddressTest, OfAnotherUser) {
  if (!is_root()) GTEST_SKIP() << "only root makes sockets of others";
  make(kOther, 0755, kOther, kOther);
  EXPECT_FALSE(is_trusted());
  EXPECT_FALSE(is_trusted(std::to_string(kThird)));
  EXPECT_TRUE(is_trusted(std::to_string(kOther))) << why_;
}

TEST_F(ServiceAddressTest, WhoseOwnerIsNamed) {
  if (!is_root()) GTEST_SKIP() << "only root makes sockets of others";
  const passwd *const nobody = getpwnam("nobody");
  if (nobody == nullptr) GTEST_SKIP() << "there is no user nobody";
  make(nobody->pw_uid, 0755, nobody->pw_uid, nobody->pw_uid);
  EXPECT_TRUE(is_trusted("nobody")) << why_;
  for (const char *wrong :
       {"nobody-else", "-1", "4294967295", "99999999999999999999", "0x0", " ", "1 "}) {
    EXPECT_FALSE(is_trusted(wrong)) << wrong;
    EXPECT_NE(std::string::npos, why_.find("there is no user")) << why_;
  }
}

TEST_F(ServiceAddressTest, InAFolderOfAnotherUser) {
  if (!is_root()) GTEST_SKIP() << "only root makes sockets of others";
  make(kOther, 0755, 0);
  EXPECT_FALSE(is_trusted());
  EXPECT_TRUE(is_trusted(std::to_string(kOther))) << why_;
}

// A link such as /var/run.
TEST_F(ServiceAddressTest, BehindALinkToAFolder) {
  make(geteuid(), 0755, geteuid());
  const std::string link = folder_.path() + "/link";
  for (const char *to : {"folder", "./folder/../folder/", ""}) {
    const std::string target = *to == '\0' ? folder_.path() + "/folder" : to;
    ASSERT_EQ(0, symlink(target.c_str(), link.c_str()));
    EXPECT_TRUE(is_trusted_at(link + "/socket")) << target << why_;
    if (is_root()) {
      ASSERT_EQ(0, lchown(link.c_str(), kOther, gid_t(-1)));
      EXPECT_FALSE(is_trusted_at(link + "/socket"));
    }
    ASSERT_EQ(0, unlink(link.c_str()));
  }
  ASSERT_EQ(0, symlink("link", link.c_str()));
  EXPECT_FALSE(is_trusted_at(link + "/socket"));
}

TEST_F(ServiceAddressTest, WhereAnotherThanTheOwnerListens) {
  if (!is_root()) GTEST_SKIP() << "only root makes sockets of others";
  make(0, 0755, 0, kOther);
  EXPECT_FALSE(is_trusted(std::to_string(kOther)));
  EXPECT_FALSE(is_trusted());
  EXPECT_NE(std::string::npos, why_.find("its owner is not who listens"));
}

// As with systemd's socket activation.
TEST_F(ServiceAddressTest, WhereRootListensForItsOwner) {
  if (!is_root()) GTEST_SKIP() << "only root makes sockets of others";
  make(0, 0755, kOther, 0);
  EXPECT_FALSE(is_trusted());
  EXPECT_TRUE(is_trusted(std::to_string(kOther))) << why_;
}

TEST_F(ServiceAddressTest, ThatIsALink) {
  make(geteuid(), 0755, geteuid());
  const std::string real = folder_.path() + "/folder/real";
  ASSERT_EQ(0, rename(path().c_str(), real.c_str()));
  ASSERT_EQ(0, symlink(real.c_str(), path().c_str()));
  EXPECT_FALSE(is_trusted());
}

TEST_F(ServiceAddressTest, ThatIsNoSocket) {
  ASSERT_EQ(0, mkdir((folder_.path() + "/folder").c_str(), 0755));
  EXPECT_FALSE(is_trusted());
  close(open(path().c_str(), O_CREAT | O_WRONLY, 0600));
  EXPECT_FALSE(is_trusted());
  EXPECT_NE(std::string::npos, why_.find("it is no socket"));
}

TEST(ServiceAddress, TooLong) {
  const client::ServiceAddress address =
      client::ServiceAddress::named("/tmp/" + std::string(200, 'x'));
  EXPECT_FALSE(client::reach(address, client::Clock::now() + milliseconds(50)).socket.is_there());
}

TEST(ServiceAddress, TheUsualOnes) {
  setenv("XDG_RUNTIME_DIR", "/some/where", 1);
  EXPECT_EQ((std::vector<std::string>{"/run/lanecrypt/socket", "/some/where/lanecrypt/socket"}),
            client::ServiceAddress::usual().paths);
  setenv("XDG_RUNTIME_DIR", "not/absolute", 1);
  EXPECT_EQ((std::vector<std::string>{"/run/lanecrypt/socket"}),
            client::ServiceAddress::usual().paths);
  unsetenv("XDG_RUNTIME_DIR");
}

// A service that does not call accept() does not block a client for long.
TEST_F(ServiceAddressTest, WhereNobodyAccepts) {
  make(geteuid(), 0755, geteuid());
  std::vector<client::Reached> all;
  const auto began = client::Clock::now();
  for (int n = 0; n < 12; ++n)
    all.push_back(client::reach(client::ServiceAddress::named(path()),
                                client::Clock::now() + milliseconds(50)));
  EXPECT_TRUE(all.front().socket.is_there());
  EXPECT_FALSE(all.back().socket.is_there());
  EXPECT_LT(client::Clock::now() - began, seconds(10));
}

}  // namespace
}  // namespace service_test
