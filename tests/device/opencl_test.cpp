// What only OpenCL has: compiling, the cache of binaries on disk, and kernel arguments. The tests
// use a small program of their own, on the first usable OpenCL device.
//
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>

#include "cache/file_cache.h"
#include "device/opencl/info.h"
#include "device/opencl/opencl_device.h"
#include "tests/device/test_devices.h"
#include "tests/temporary_folder.h"

namespace lanecrypt::device::opencl {
namespace {

namespace fs = std::filesystem;

constexpr char kProgram[] = R"(
__kernel void add(__global uint *to, __global const uint *from, uint n, ulong more) {
  if (get_global_id(0) < n) to[get_global_id(0)] = from[get_global_id(0)] + (uint)(more >> 32);
}
__kernel void is_null(__global uint *to, __global const uint *from) {
  if (get_global_id(0) == 0) to[0] = from == 0;
}
__kernel void reverse(__global uint *values, __local uint *shared) {
  uint thread = get_local_id(0), threads = get_local_size(0);
  __global uint *mine = values + get_group_id(0) * threads;
  shared[thread] = mine[thread];
  barrier(CLK_LOCAL_MEM_FENCE);
  mine[thread] = shared[threads - 1 - thread];
}
)";

// PoCL has its own cache, in the same folder as Lanecrypt's unless a variable names another one.
// That folder must exist as long as the process runs.
class PoclCache : public testing::Environment {
 public:
  void SetUp() override {
    folder_.emplace();
    setenv("POCL_CACHE_DIR", folder_->path().c_str(), 1);
  }
  void TearDown() override { folder_.reset(); }

 private:
  std::optional<test::TemporaryFolder> folder_;
};
const testing::Environment *const pocl_cache = testing::AddGlobalTestEnvironment(new PoclCache);

// Each test has its own cache folder.
class OpenClTest : public testing::Test {
 protected:
  void SetUp() override {
    setenv("XDG_CACHE_HOME", home_.c_str(), 1);
    // Uses Lanecrypt's cache with PoCL too, as with drivers that have no cache.
    setenv("LANECRYPT_OPENCL_CACHE", "1", 1);
  }
  void TearDown() override {
    unsetenv("XDG_CACHE_HOME");
    unsetenv("LANECRYPT_OPENCL_CACHE");
  }

  // Opens the first usable device with this program. Returns null after a skip.
  std::unique_ptr<Device> open(std::string_view text = kProgram, std::string_view sha256 = "test") {
    return open(ProgramSource{{"", text, sha256}});
  }
  std::unique_ptr<Device> open(const ProgramSource &source) {
    for (Found &found : find_devices([&](KernelSet) { return source; })) {
      if (!wanted(found.properties) || !found.properties.unusable.empty()) continue;
      auto device = found.open(KernelSet::kCiphers);
      status_ = device.status();
      return device.ok() ? std::move(*device) : nullptr;
    }
    status_ = Status(LC_ERROR_NO_DEVICE, "none");
    return nullptr;
  }

  fs::path folder() const { return home_ / "lanecrypt" / "opencl"; }
  std::vector<fs::path> files() const {
    std::vector<fs::path> all;
    if (!fs::exists(folder())) return all;
    for (const auto &entry : fs::directory_iterator(folder())) all.push_back(entry.path());
    return all;
  }

  const test::TemporaryFolder own_;
  const fs::path home_ = own_.path();
  Status status_;
};

#define OPEN_OR_SKIP(device)                                     \
  auto device = open();                                          \
  if (device == nullptr && status_.code() == LC_ERROR_NO_DEVICE) \
    GTEST_SKIP() << "no OpenCL device";                          \
  ASSERT_NE(device, nullptr) << status_.text()

// Runs the kernel `add` over 100 words, from and to the given buffers.
void expect_adds(Device &device, const Buffer &to, const Buffer &from) {
  auto stream = device.make_stream();
  ASSERT_TRUE(stream.ok());
  std::vector<uint32_t> in(100), out(100);
  for (uint32_t i = 0; i < 100; ++i) in[i] = i * i;
  EXPECT_STATUS_OK((*stream)->upload(from, 0, in.data(), 400));
  const Argument arguments[] = {&to, &from, 100u, uint64_t{7} << 32};
  EXPECT_STATUS_OK((*stream)->launch({"add", 4, 32, 0, arguments}));
  EXPECT_STATUS_OK((*stream)->download(out.data(), to, 0, 400));
  EXPECT_STATUS_OK((*stream)->finish());
  for (uint32_t i = 0; i < 100; ++i) ASSERT_EQ(out[i], i * i + 7) << i;
}

void expect_works(Device &device) {
  auto to = device.allocate(MemoryKind::kDevice, 400);
  auto from = device.allocate(MemoryKind::kDevice, 400);
  ASSERT_TRUE(to.ok() && from.ok());
  expect_adds(device, **to, **from);
}

// Servers use SIGUSR1 and SIGHUP, and LLVM in a driver sets handlers for both.
TEST_F(OpenClTest, LeavesTheProgramItsSignalHandlers) {
  const int heard[] = {SIGUSR1, SIGHUP, SIGTERM};
  const int unheard[] = {SIGUSR2, SIGPIPE};
  static volatile sig_atomic_t times;
  times = 0;
  for (const int number : heard) signal(number, [](int) { times = times + 1; });
  for (const int number : unheard) signal(number, SIG_IGN);
  OPEN_OR_SKIP(device);
  auto to = device->allocate(MemoryKind::kDevice, 400);
  auto from = device->allocate(MemoryKind::kDevice, 400);
  ASSERT_TRUE(to.ok() && from.ok());
  expect_adds(*device, **to, **from);
  for (const int number : heard) raise(number);
  for (const int number : unheard) raise(number);
  EXPECT_EQ(3, times);
  for (const int number : heard) signal(number, SIG_DFL);
  for (const int number : unheard) signal(number, SIG_DFL);
}

TEST_F(OpenClTest, TakesBuffersAndScalars) {
  OPEN_OR_SKIP(device);
  expect_works(*device);
}

TEST_F(OpenClTest, TakesViewsWhereTheDeviceAllows) {
  OPEN_OR_SKIP(device);
  auto all = device->allocate(MemoryKind::kDevice, 1 << 20);
  ASSERT_TRUE(all.ok());
  auto from = device->view((*all)->address(), 400);
  auto to = device->view((*all)->address() + 65536, 400);
  ASSERT_TRUE(from.ok() && to.ok());
  expect_adds(*device, **to, **from);
  auto odd = device->view((*all)->address() + 4, 400);
  ASSERT_TRUE(odd.ok());
  auto stream = device->make_stream();
  const Argument arguments[] = {odd->get(), from->get(), 100u, uint64_t{0}};
  const Status status = (*stream)->launch({"add", 4, 32, 0, arguments});
  EXPECT_EQ(status.code(), LC_ERROR_UNSUPPORTED) << status.text();
  EXPECT_NE(status.text().find("multiples of"), std::string::npos) << status.text();
}

TEST_F(OpenClTest, AViewOutlivesItsBufferAndItsDevice) {
  OPEN_OR_SKIP(device);
  auto buffer = device->allocate(MemoryKind::kDevice, 400);
  auto other = device->allocate(MemoryKind::kDevice, 400);
  const uint64_t address = (*buffer)->address();
  auto view = device->view(address, 400);
  ASSERT_TRUE(view.ok());
  *buffer = nullptr;
  expect_adds(*device, **view, **other);
  EXPECT_TRUE(device->view(address, 1).ok());
  *view = nullptr;
  EXPECT_FALSE(device->view(address, 1).ok()) << "its last owner is gone";
  device = nullptr;  // `other` is freed after the device
}

TEST_F(OpenClTest, SharedMemoryIsTheLastParameter) {
  OPEN_OR_SKIP(device);
  auto buffer = device->allocate(MemoryKind::kDevice, 256);
  auto stream = device->make_stream();
  std::vector<uint32_t> values(64);
  for (uint32_t i = 0; i < 64; ++i) values[i] = i;
  EXPECT_STATUS_OK((*stream)->upload(**buffer, 0, values.data(), 256));
  const Argument arguments[] = {buffer->get()};
  EXPECT_STATUS_OK((*stream)->launch({"reverse", 2, 32, 128, arguments}));
  EXPECT_STATUS_OK((*stream)->download(values.data(), **buffer, 0, 256));
  EXPECT_STATUS_OK((*stream)->finish());
  for (uint32_t i = 0; i < 64; ++i) ASSERT_EQ(values[i], i / 32 * 32 + 31 - i % 32);
}

TEST_F(OpenClTest, PassesANullPointer) {
  OPEN_OR_SKIP(device);
  auto buffer = device->allocate(MemoryKind::kDevice, 4);
  auto stream = device->make_stream();
  uint32_t answer = 0;
  const Argument arguments[] = {buffer->get(), static_cast<const Buffer *>(nullptr)};
  EXPECT_STATUS_OK((*stream)->launch({"is_null", 1, 1, 0, arguments}));
  EXPECT_STATUS_OK((*stream)->download(&answer, **buffer, 0, 4));
  EXPECT_STATUS_OK((*stream)->finish());
  EXPECT_EQ(answer, 1u);
}

TEST_F(OpenClTest, RefusesWrongLaunchesAndRanges) {
  OPEN_OR_SKIP(device);
  auto buffer = device->allocate(MemoryKind::kDevice, 400);
  auto pinned = device->allocate(MemoryKind::kPinned, 400);
  auto stream = device->make_stream();
  const Argument few[] = {buffer->get()};
  const Argument host[] = {pinned->get()};
  uint8_t byte = 0;
  EXPECT_EQ((*stream)->launch({"add", 1, 32, 0, few}).code(), LC_ERROR_INTERNAL);
  EXPECT_EQ((*stream)->launch({"reverse", 1, 32, 0, few}).code(), LC_ERROR_INTERNAL);
  EXPECT_EQ((*stream)->launch({"reverse", 1, 1u << 30, 128, few}).code(), LC_ERROR_DEVICE);
  EXPECT_EQ((*stream)->launch({"reverse", 0, 32, 128, few}).code(), LC_ERROR_DEVICE);
  EXPECT_EQ((*stream)->launch({"reverse", 1, 32, 128, host}).code(), LC_ERROR_ARGUMENT);
  EXPECT_EQ((*stream)->upload(**buffer, 400, &byte, 1).code(), LC_ERROR_ARGUMENT);
  EXPECT_EQ((*stream)->upload(**pinned, 0, &byte, 1).code(), LC_ERROR_ARGUMENT);
  EXPECT_EQ((*stream)->download(&byte, **buffer, UINT64_MAX, 2).code(), LC_ERROR_ARGUMENT);
  EXPECT_EQ((*stream)->zero(**buffer, 1, UINT64_MAX).code(), LC_ERROR_ARGUMENT);
  EXPECT_FALSE(device->allocate(MemoryKind::kDevice, 0).ok());
  EXPECT_STATUS_OK((*stream)->finish());
  // A buffer of another user of the device is refused too. Its address may be viewed as long as it
  // exists, since a user that opens the device for hashes gets memory that others allocated.
  auto second = open();
  ASSERT_NE(second, nullptr);
  auto foreign = second->allocate(MemoryKind::kDevice, 400);
  EXPECT_EQ((*stream)->upload(**foreign, 0, &byte, 1).code(), LC_ERROR_ARGUMENT);
  const auto address = (*foreign)->address();
  EXPECT_TRUE(device->view(address, 400).ok());
  EXPECT_FALSE(device->view(address, 401).ok());
  foreign->reset();
  EXPECT_FALSE(device->view(address, 1).ok());
}

TEST_F(OpenClTest, UsersHaveOneContext) {
  OPEN_OR_SKIP(device);
  OPEN_OR_SKIP(other);
  const auto context_of = [](Device &one) {
    return static_cast<OpenClDevice &>(one).session().context->get();
  };
  EXPECT_EQ(context_of(*device), context_of(*other));
  device.reset();
  // The device stays open as long as any of its users.
  EXPECT_TRUE(other->allocate(MemoryKind::kDevice, 400).ok());
}

TEST_F(OpenClTest, AdoptsAQueueOfItsContext) {
  OPEN_OR_SKIP(device);
  const Session &session = static_cast<OpenClDevice &>(*device).session();
  cl_int code = CL_SUCCESS;
  QueueHandle queue(cl().clCreateCommandQueue(session.context->get(), session.device, 0, &code));
  ASSERT_EQ(code, CL_SUCCESS);
  auto buffer = device->allocate(MemoryKind::kDevice, 4);
  {
    auto stream = device->adopt_stream(queue.get());
    ASSERT_TRUE(stream.ok()) << stream.status().text();
    auto start = device->make_event(), end = device->make_event();
    EXPECT_STATUS_OK((*stream)->mark(**start));
    EXPECT_STATUS_OK((*stream)->zero(**buffer, 0, 4));
    EXPECT_STATUS_OK((*stream)->mark(**end));
    EXPECT_STATUS_OK((*end)->wait());
    EXPECT_EQ((*end)->nanoseconds_since(**start), 0u) << "the queue does not tell the time";
  }
  uint32_t word = 1;  // the queue still works for the caller
  EXPECT_EQ(cl().clFinish(queue.get()), CL_SUCCESS);
  auto stream = device->make_stream();
  EXPECT_STATUS_OK((*stream)->download(&word, **buffer, 0, 4));
  EXPECT_STATUS_OK((*stream)->finish());
  EXPECT_EQ(word, 0u);

  const ContextHandle own(
      cl().clCreateContext(nullptr, 1, &session.device, nullptr, nullptr, &code));
  ASSERT_EQ(code, CL_SUCCESS);
  QueueHandle foreign(cl().clCreateCommandQueue(own.get(), session.device, 0, &code));
  ASSERT_EQ(code, CL_SUCCESS);
  EXPECT_EQ(device->adopt_stream(foreign.get()).status().code(), LC_ERROR_UNSUPPORTED);
  EXPECT_EQ(device->adopt_stream(nullptr).status().code(), LC_ERROR_ARGUMENT);
}

TEST_F(OpenClTest, SaysWhyTheCompilerRefuses) {
  auto device = open("__kernel void broken( {", "broken");
  if (status_.code() == LC_ERROR_NO_DEVICE) GTEST_SKIP() << "no OpenCL device";
  ASSERT_EQ(device, nullptr);
  EXPECT_EQ(status_.code(), LC_ERROR_DEVICE);
  EXPECT_NE(status_.text().find("refuses the kernels: "), std::string::npos) << status_.text();
  EXPECT_NE(status_.text().find("error"), std::string::npos) << status_.text();
  EXPECT_TRUE(files().empty());
}

// The names of a part's kernels tell which part is needed. The last part has all other kernels.
TEST_F(OpenClTest, CompilesAPartWhenItIsUsed) {
  constexpr char kNine[] = "__kernel void nine_of(__global uint *to) { to[0] = 9; }";
  const std::unique_ptr<Device> device = open(
      ProgramSource{{"nine_", kNine, "nine"}, {"no_", "no program", "no"}, {"", kProgram, "test"}});
  if (device == nullptr && status_.code() == LC_ERROR_NO_DEVICE) GTEST_SKIP() << "no OpenCL device";
  ASSERT_NE(device, nullptr) << status_.text();
  expect_works(*device);
  EXPECT_EQ(files().size(), 1u) << "what nobody used was compiled";

  auto buffer = device->allocate(MemoryKind::kDevice, 4);
  ASSERT_TRUE(buffer.ok()) << buffer.status().text();
  auto stream = device->make_stream();
  ASSERT_TRUE(stream.ok());
  uint32_t nine = 0;
  const Argument to[] = {buffer->get()};
  EXPECT_STATUS_OK((*stream)->launch({"nine_of", 1, 1, 0, to}));
  EXPECT_STATUS_OK((*stream)->download(&nine, **buffer, 0, 4));
  EXPECT_STATUS_OK((*stream)->finish());
  EXPECT_EQ(nine, 9u);
  EXPECT_EQ(files().size(), 2u);

  const Status refused = (*stream)->launch({"no_such", 1, 1, 0, to});
  EXPECT_EQ(refused.code(), LC_ERROR_DEVICE);
  EXPECT_NE(refused.text().find("refuses the kernels: "), std::string::npos) << refused.text();
  expect_works(*device);
}

// ---- The cache on disk -----------------------------------------------------

// No compiler accepts this program text, so it opens only if its binary was cached.
TEST_F(OpenClTest, OpensFromTheCache) {
  OPEN_OR_SKIP(first);
  ASSERT_EQ(files().size(), 1u);
  struct stat info;
  ASSERT_EQ(stat(folder().c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0700u);
  ASSERT_EQ(stat(files()[0].c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
  auto second = open("no program at all", "test");
  ASSERT_NE(second, nullptr) << status_.text();
  expect_works(*second);
  EXPECT_EQ(open("no program at all", "another"), nullptr) << "another source, another binary";
}

TEST_F(OpenClTest, LeavesPoclsProgramsToPoclsCache) {
  unsetenv("LANECRYPT_OPENCL_CACHE");
  for (int time = 0; time < 2; ++time) {
    OPEN_OR_SKIP(device);
    if (device->properties().platform != "Portable Computing Language") GTEST_SKIP() << "not PoCL";
    expect_works(*device);
    EXPECT_TRUE(files().empty());
  }
}

class DamagedCache : public OpenClTest {
 protected:
  // Checks that the cached binary is not used, and that the device still opens.
  void expect_ignored() {
    EXPECT_EQ(open("no program at all", "test"), nullptr) << "the cached binary was used";
    auto device = open();
    ASSERT_NE(device, nullptr) << status_.text();
    expect_works(*device);
  }
  void rewrite(const std::function<void(std::string &)> &change) {
    ASSERT_EQ(files().size(), 1u);
    std::ifstream in(files()[0], std::ios::binary);
    std::string bytes((std::istreambuf_iterator<char>(in)), {});
    change(bytes);
    std::ofstream(files()[0], std::ios::binary | std::ios::trunc) << bytes;
  }
  std::string key_;
};

TEST_F(DamagedCache, AByteInTheBinary) {
  OPEN_OR_SKIP(first);
  rewrite([](std::string &bytes) { bytes[bytes.size() / 2] ^= 1; });
  expect_ignored();
  EXPECT_NE(open("no program at all", "test"), nullptr) << "the damage was not mended";
}

TEST_F(DamagedCache, CutShort) {
  OPEN_OR_SKIP(first);
  rewrite([](std::string &bytes) { bytes.resize(bytes.size() - 1); });
  expect_ignored();
}

TEST_F(DamagedCache, Empty) {
  OPEN_OR_SKIP(first);
  rewrite([](std::string &bytes) { bytes.clear(); });
  expect_ignored();
}

TEST_F(DamagedCache, OfAnotherKey) {
  OPEN_OR_SKIP(first);
  rewrite([](std::string &bytes) { bytes[40] ^= 1; });
  expect_ignored();
}

TEST_F(DamagedCache, WhatTheDriverDoesNotTake) {
  OPEN_OR_SKIP(first);
  // A complete and undamaged file with the right key, but without a binary.
  rewrite([this](std::string &bytes) {
    uint64_t key_bytes = 0;
    std::memcpy(&key_bytes, bytes.data() + 8, 8);
    key_ = bytes.substr(32, key_bytes);
  });
  cache::store("opencl", key_, "no binary of any driver");
  ASSERT_EQ(files().size(), 1u);
  ASSERT_EQ(cache::load("opencl", key_), "no binary of any driver");
  EXPECT_EQ(cache::load("opencl", key_ + "x"), std::nullopt);
  expect_ignored();
}

TEST_F(DamagedCache, AFileThatOthersCanWrite) {
  OPEN_OR_SKIP(first);
  ASSERT_EQ(chmod(files()[0].c_str(), 0620), 0);
  expect_ignored();
}

TEST_F(DamagedCache, AFolderThatOthersCanWrite) {
  OPEN_OR_SKIP(first);
  ASSERT_EQ(chmod(folder().c_str(), 0702), 0);
  expect_ignored();
}

TEST_F(DamagedCache, ALinkInPlaceOfTheFile) {
  OPEN_OR_SKIP(first);
  const fs::path file = files()[0], moved = home_ / "moved";
  fs::rename(file, moved);
  fs::create_symlink(moved, file);
  EXPECT_EQ(open("no program at all", "test"), nullptr) << "the link was followed";
}

TEST_F(DamagedCache, AFifoInPlaceOfTheFile) {
  OPEN_OR_SKIP(first);
  const fs::path file = files()[0];
  fs::remove(file);
  ASSERT_EQ(mkfifo(file.c_str(), 0600), 0);
  expect_ignored();
}

TEST_F(DamagedCache, AFileOfAnotherUser) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
  OPEN_OR_SKIP(first);
  ASSERT_EQ(chown(files()[0].c_str(), 65534, 65534), 0);
  expect_ignored();
}

TEST_F(OpenClTest, WorksWithoutAPlaceForTheCache) {
  unsetenv("XDG_CACHE_HOME");
  const char *home = std::getenv("HOME");
  const std::string kept = home != nullptr ? home : "";
  for (const char *place : {"", "relative", "/proc/no/such/place", "/dev/null"}) {
    setenv("XDG_CACHE_HOME", place, 1);
    unsetenv("HOME");
    auto device = open();
    if (status_.code() == LC_ERROR_NO_DEVICE) break;
    ASSERT_NE(device, nullptr) << place << ": " << status_.text();
    expect_works(*device);
  }
  if (home != nullptr) setenv("HOME", kept.c_str(), 1);
}

TEST_F(OpenClTest, LeavesNoTemporaryFile) {
  cache::store("opencl", "key", std::string(100000, 'x'));
  ASSERT_EQ(files().size(), 1u);
  EXPECT_EQ(files()[0].extension(), ".bin");
}

// ---- Properties of a device ---------------------------------------------------

TEST_F(OpenClTest, AChildOfForkOpensNothing) {
  OPEN_OR_SKIP(device);
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);  // a hang is a failure too
    const ProgramSource source = {{"", kProgram, "test"}};
    const auto found = find_devices([&](KernelSet) { return source; });
    _exit(found.empty() && why_no_opencl().find("forked") != std::string::npos ? 0 : 1);
  }
  int how = 0;
  ASSERT_EQ(waitpid(child, &how, 0), child);
  EXPECT_TRUE(WIFEXITED(how) && WEXITSTATUS(how) == 0) << how;
}

TEST(OpenClOptions, TellOfGroupsAndLoops) {
  Properties properties;
  properties.max_thread_block_size = 256;
  EXPECT_EQ(build_options(properties), "-cl-std=CL1.2 -w -DLC_RSA_U32=1 -DLC_MOST_THREADS=256");
  properties.is_gpu = true;
  EXPECT_EQ(build_options(properties),
            "-cl-std=CL1.2 -w -DLC_RSA_U32=1 -DLC_MOST_THREADS=256 -DLC_UNROLL=1");
  properties.chain_thread_block_size = 128;
  EXPECT_EQ(build_options(properties),
            "-cl-std=CL1.2 -w -DLC_RSA_U32=1 -DLC_MOST_THREADS=256 -DLC_UNROLL=1 "
            "-DLC_CHAIN_THREADS=128");
}

TEST(OpenClResidency, IsBoundByMemoryThreadsAndGroups) {
  const Residency h200 = {228 << 10, 1024, 2048, 16};
  EXPECT_EQ(thread_blocks_at_once(h200, 132, 512, 32 << 10), 132u * 4);
  EXPECT_EQ(thread_blocks_at_once(h200, 132, 128, 32 << 10), 132u * 6);
  EXPECT_EQ(thread_blocks_at_once(h200, 132, 128, 0), 132u * 16);
  EXPECT_EQ(thread_blocks_at_once(h200, 132, 1024, 1 << 20), 132u);
  EXPECT_EQ(thread_blocks_at_once({0, 0, 4096, 1}, 0, 0, 0), 1u);
  EXPECT_EQ(thread_blocks_at_once({0, 0, 4096, 1}, 1, 256, 0, 256), 1u);
}

TEST(OpenClResidency, IsBoundByRegistersWhereTheyAreKnown) {
  const Residency h200 = {228 << 10, 1024, 2048, 16, 65536};
  EXPECT_EQ(thread_blocks_at_once(h200, 132, 512, 32 << 10, thread_registers("aes_table1_ctr")),
            132u * 2);
  EXPECT_EQ(thread_blocks_at_once(h200, 132, 256, 0, thread_registers("aes_bitslice_ctr")), 132u);
  EXPECT_EQ(thread_blocks_at_once(h200, 132, 128, 0, thread_registers("ghash_runs")), 132u * 16);
}

TEST(OpenClErrors, AreNamedAndSorted) {
  EXPECT_TRUE(check("clFlush", CL_SUCCESS).ok());
  const Status lost = check("clFlush", CL_OUT_OF_RESOURCES);
  EXPECT_EQ(lost.code(), LC_ERROR_DEVICE);
  EXPECT_EQ(lost.text(), "OpenCL: clFlush failed with CL_OUT_OF_RESOURCES (-5)");
  EXPECT_EQ(check("x", CL_MEM_OBJECT_ALLOCATION_FAILURE).code(), LC_ERROR_MEMORY);
  EXPECT_EQ(check("x", CL_OUT_OF_HOST_MEMORY).code(), LC_ERROR_MEMORY);
  EXPECT_STREQ(error_name(-1001), "CL_PLATFORM_NOT_FOUND_KHR");
  EXPECT_STREQ(error_name(-9999), "unknown error");
}

}  // namespace
}  // namespace lanecrypt::device::opencl
