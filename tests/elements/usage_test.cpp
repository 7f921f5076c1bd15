// SPDX-License-Identifier: LGPL-2.1-or-later
// Who waits for whom on the GPU, with events and streams that only say what was asked of them.
#include "gst/usage.h"

#include <gtest/gtest.h>

#include <string>

namespace {

std::string said;

struct FakeEvent {
  int id = ++made;
  mutable bool is_done = false;
  static inline int made = 0;

  void record(char stream) {
    is_done = false;
    said += "record" + std::to_string(id) + stream + " ";
  }
  void make_wait(char stream) const {
    said += std::string(1, stream) + "waits" + std::to_string(id) + " ";
  }
  bool done() const { return is_done; }
  void synchronize() const {
    said += "sleep" + std::to_string(id) + " ";
    is_done = true;
  }
};

using Usage = cudascan::gst::BasicUsage<FakeEvent, char>;

class UsageTest : public testing::Test {
 protected:
  UsageTest() {
    said.clear();
    FakeEvent::made = 0;
  }
  Usage usage;
  int waits = 0;
  void read_on_cpu() {
    usage.wait_to_read([this] { ++waits; });
  }
  void write_on_cpu() {
    usage.wait_to_write([this] { ++waits; });
  }
};

TEST_F(UsageTest, AReaderIsPutBehindTheWriterOfAnotherStream) {
  usage.begin_write('a');
  usage.end_write('a');
  usage.begin_read('a');
  usage.begin_read('b');
  EXPECT_EQ(said, "record1a bwaits1 ");
}

TEST_F(UsageTest, AWriterIsPutBehindAllReaders) {
  usage.end_read('a');
  usage.end_read('b');
  usage.begin_write('c');
  EXPECT_EQ(said, "record1a record2b cwaits1 cwaits2 ");
}

TEST_F(UsageTest, AnEventOfItsOwnIsUsedAgain) {
  usage.end_write('a');
  usage.end_write('a');
  EXPECT_EQ(said, "record1a record1a ");
}

TEST_F(UsageTest, AnEventThatWasRecordedForOthersAsWellIsWaitedForAndNeverRecorded) {
  const auto end = std::make_shared<FakeEvent>();
  Usage read;
  usage.end_write('a', end);
  read.end_read('a', end);
  usage.begin_read('b');
  read.begin_write('b');
  EXPECT_EQ(said, "bwaits1 bwaits1 ");
  EXPECT_EQ(end.use_count(), 3);

  said.clear();
  usage.end_write('a');  // one of its own now
  EXPECT_EQ(said, "record2a ");
  EXPECT_EQ(end.use_count(), 2);
  EXPECT_EQ(end->id, 1);
}

TEST_F(UsageTest, TheCpuSleepsOnceForAWriter) {
  usage.end_write('a', std::make_shared<FakeEvent>());
  usage.end_read('b');
  said.clear();
  read_on_cpu();
  read_on_cpu();
  EXPECT_EQ(said, "sleep1 ");
  EXPECT_EQ(waits, 1);
  write_on_cpu();
  EXPECT_EQ(said, "sleep1 sleep2 ");
  EXPECT_EQ(waits, 2);
}

TEST_F(UsageTest, TheCpuDoesNotSleepForWhatIsDone) {
  const auto end = std::make_shared<FakeEvent>();
  usage.end_write('a', end);
  end->is_done = true;
  read_on_cpu();
  EXPECT_EQ(waits, 0);
}

}  // namespace
