// Files of clients on the disk.

#include "tests/upload/folder.h"
#include "violet/web/upload/disk_file.h"
#include "violet/web/upload/saved_file.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <csignal>
#include <sys/resource.h>
#include <sys/stat.h>

namespace violet::web {
namespace {

class DiskFiles : public testing::TestWithParam<DiskNaming> {
 protected:
  Folder folder_;
};

TEST_P(DiskFiles, AreGoneUnlessTheyAreKept) {
  {
    auto file = DiskFile::create(folder_.path(), GetParam());
    ASSERT_TRUE(file);
    ASSERT_TRUE((*file)->write("secret"));
    struct stat status{};
    ASSERT_EQ(::fstat((*file)->descriptor(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0600U);
    EXPECT_EQ(folder_.names().size(), GetParam() == DiskNaming::Named ? 1U : 0U);
  }
  EXPECT_TRUE(folder_.names().empty());
}

TEST_P(DiskFiles, GetARandomNameWhenTheyAreKept) {
  std::string path;
  {
    auto file = DiskFile::create(folder_.path(), GetParam());
    ASSERT_TRUE(file);
    ASSERT_TRUE((*file)->write("con"));
    ASSERT_TRUE((*file)->write("tent"));
    auto linked = (*file)->link(".txt");
    ASSERT_TRUE(linked);
    path = *linked;
    EXPECT_EQ((*file)->link("").error().kind(), ErrorKind::Conflict);
  }
  ASSERT_EQ(folder_.names().size(), 1U);
  EXPECT_EQ(path, folder_.path() + "/" + folder_.names()[0]);
  EXPECT_EQ(folder_.names()[0].size(), 32U + 4U);
  EXPECT_EQ(folder_.read(folder_.names()[0]), "content");
}

TEST_P(DiskFiles, RefuseEndingsThatAreNone) {
  auto file = DiskFile::create(folder_.path(), GetParam());
  ASSERT_TRUE(file);
  for (const char* bad : {"txt", ".", "/x", "./x", "..", ".a.b", ".a/b", ". ", ".abcdefghijklmnop"}) {
    EXPECT_EQ((*file)->link(bad).error().kind(), ErrorKind::Invalid) << bad;
  }
}

TEST_P(DiskFiles, SayThatTheDiskIsFull) {
  auto file = DiskFile::create(folder_.path(), GetParam());
  ASSERT_TRUE(file);
  // A limit of the process stands for the disk's end.
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto old = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit tight{1024, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &tight), 0);
  const Result<void> written = (*file)->write(std::string(4096, 'x'));
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, old);
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().status(), 507);
  EXPECT_EQ(written.error().detail(), EFBIG);
}

INSTANTIATE_TEST_SUITE_P(Both, DiskFiles, testing::Values(DiskNaming::Unnamed, DiskNaming::Named),
                         [](const auto& of) { return of.param == DiskNaming::Named ? "Named" : "Unnamed"; });

TEST(DiskError, TellsAFullDiskFromOthers) {
  EXPECT_EQ(disk_error(ENOSPC).status(), 507);
  EXPECT_EQ(disk_error(EDQUOT).status(), 507);
  EXPECT_EQ(disk_error(EACCES).status(), 500);
  EXPECT_EQ(DiskFile::create("/nowhere/at/all").error().detail(), ENOENT);
}

TEST(RandomName, IsNeverTheSame) {
  const auto first = random_name();
  const auto second = random_name();
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->size(), 32U);
  EXPECT_NE(*first, *second);
}

}  // namespace
}  // namespace violet::web
