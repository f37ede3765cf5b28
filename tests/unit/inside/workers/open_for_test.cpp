// Opening a device for a family: the steps and their order, and what happens if one of them fails.
// A fake engine and device are used.
//
// SPDX-License-Identifier: Apache-2.0
#include "batch/open_for.h"

#include <gtest/gtest.h>

#include <new>
#include <vector>

#include "cipher/executor.h"
#include "verify/self_test.h"

namespace lanecrypt::runtime {
namespace {

struct Log {
  std::vector<std::string> steps;
  Status open, self_test;
  bool is_stuck = false;
  int alive = 0;
};

class Engine {
 public:
  virtual ~Engine() = default;
};

class LoggedEngine : public Engine {
 public:
  LoggedEngine(std::unique_ptr<device::Device>, Log *log, const DeviceTrust &) : log_(*log) {
    ++log_.alive;
  }
  ~LoggedEngine() override { --log_.alive; }
  Status open() { return step("open", log_.open); }
  Status self_test() { return step("self-test", log_.self_test); }
  void begin_service() { (void)step("service", Status()); }
  bool is_stuck() const { return log_.is_stuck; }

 private:
  Status step(const char *name, const Status &status) {
    log_.steps.emplace_back(name);
    return status;
  }
  Log &log_;
};

class OpenFor : public testing::Test {
 protected:
  OpenFor() {
    found_.properties.id = "card:0";
    found_.open = [this](device::KernelSet set) -> Result<std::unique_ptr<device::Device>> {
      log_.steps.push_back("driver " + std::string(row_of(set).subject));
      return std::unique_ptr<device::Device>();
    };
  }
  Result<std::unique_ptr<Engine>> open() {
    return open_for<Engine, LoggedEngine>(device::KernelSet::kRsa, found_, trust_, &log_);
  }

  using Steps = std::vector<std::string>;
  device::Found found_;
  DeviceTrust trust_;
  Log log_;
};

TEST_F(OpenFor, ADeviceProvesItselfBeforeItServes) {
  Result<std::unique_ptr<Engine>> engine = open();
  ASSERT_TRUE(engine.ok());
  EXPECT_EQ((Steps{"driver RSA", "open", "self-test", "service"}), log_.steps);
  engine->reset();
  EXPECT_EQ(0, log_.alive);
}

TEST_F(OpenFor, TestsMayLeaveOutTheSelfTest) {
  trust_.skip_self_test = true;
  ASSERT_TRUE(open().ok());
  EXPECT_EQ((Steps{"driver RSA", "open", "service"}), log_.steps);
}

TEST_F(OpenFor, AWrongAnswerEndsItByName) {
  log_.self_test = verify::failed_self_test("wrong output of RSA-2048");
  const Status status = open().status();
  EXPECT_EQ(LC_ERROR_SELF_TEST, status.code());
  EXPECT_EQ("card:0: its self-test failed: wrong output of RSA-2048", status.text());
  EXPECT_EQ((Steps{"driver RSA", "open", "self-test"}), log_.steps);
  EXPECT_EQ(0, log_.alive);
}

TEST_F(OpenFor, WhatDoesNotOpenIsAskedNothing) {
  log_.open = Status(LC_ERROR_MEMORY, "no streams");
  EXPECT_EQ("card:0: no streams", open().status().text());
  EXPECT_EQ((Steps{"driver RSA", "open"}), log_.steps);
}

TEST_F(OpenFor, AnUnusableDeviceIsNotOpened) {
  found_.properties.unusable = "too old";
  const Status status = open().status();
  EXPECT_EQ(LC_ERROR_NO_DEVICE, status.code());
  EXPECT_EQ("card:0: too old", status.text());
  EXPECT_EQ(Steps{}, log_.steps);
}

// An exception on the device's thread would end the process.
TEST_F(OpenFor, WantOfMemoryForCiphersEndsNoProcess) {
  found_.open = [](device::KernelSet) -> Result<std::unique_ptr<device::Device>> {
    throw std::bad_alloc();
  };
  CopyThreads copy_threads;
  const PinnedMemory pinned;
  Executor executor(found_, PipelineOptions(), pinned, copy_threads,
                    [](const RequestPointer &, const Status &) {});
  EXPECT_EQ(LC_ERROR_MEMORY, executor.make_ready().code());
  EXPECT_EQ(LC_DEVICE_UNUSABLE, executor.state());
}

TEST_F(OpenFor, OneThatIsStuckStays) {
  Log &log = *new Log();  // never freed: the stuck engine may use it until the process ends
  log.self_test = Status(LC_ERROR_DEVICE, "stuck");
  log.is_stuck = true;
  const Status status =
      open_for<Engine, LoggedEngine>(device::KernelSet::kRsa, found_, trust_, &log).status();
  EXPECT_EQ("card:0: stuck", status.text());
  EXPECT_EQ(1, log.alive);
}

TEST(SelfTest, AsksUntilAnAnswerIsWrong) {
  struct Answer {
    const char *name;
    bool is_right;
    std::string subject() const { return std::string("output of ") + name; }
  };
  const std::vector<Answer> answers = {{"A", true}, {"B", false}, {"C", false}};
  std::string asked;
  const Status status = verify::self_test(answers, [&](const Answer &answer) -> Result<bool> {
    asked += answer.name;
    return answer.is_right;
  });
  EXPECT_EQ(LC_ERROR_SELF_TEST, status.code());
  EXPECT_EQ("its self-test failed: wrong output of B", status.text());
  EXPECT_EQ("AB", asked);
}

TEST(SelfTest, TellsWhyItCouldNotAsk) {
  struct Answer {
    std::string subject() const { return "output"; }
  };
  const Status status = verify::self_test(
      std::vector<Answer>(1),
      [](const Answer &) -> Result<bool> { return Status(LC_ERROR_DEVICE, "it is lost"); });
  EXPECT_EQ(LC_ERROR_DEVICE, status.code());
  EXPECT_EQ("it is lost", status.text());
}

}  // namespace
}  // namespace lanecrypt::runtime
