// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests which GPU work waits for which other work, with events and streams that only record calls.
#include "gst/usage.h"

#include <gtest/gtest.h>

#include <string>

#include "gst/timeline.h"

namespace {

std::string said;

struct FakeEvent {
  int id = ++made;
  mutable bool is_done = false;
  static inline int made = 0;
  static inline int finished = 0;  ///< events up to this number are done

  void record(char stream) {
    is_done = false;
    said += "record" + std::to_string(id) + stream + " ";
  }
  void make_wait(char stream) const {
    said += std::string(1, stream) + "waits" + std::to_string(id) + " ";
  }
  bool done() const { return is_done || id <= finished; }
  void synchronize() const {
    said += "sleep" + std::to_string(id) + " ";
    is_done = true;
  }
};

using Timeline = cudascan::gst::BasicTimeline<FakeEvent, char>;
using Moment = cudascan::gst::BasicMoment<FakeEvent, char>;
using Usage = cudascan::gst::BasicUsage<Moment, char>;

class TimelineTest : public testing::Test {
 protected:
  TimelineTest() {
    said.clear();
    FakeEvent::made = FakeEvent::finished = 0;
  }
  std::shared_ptr<Timeline> a = std::make_shared<Timeline>('a'),
                            b = std::make_shared<Timeline>('b');

  static std::shared_ptr<Moment> now(const std::shared_ptr<Timeline> &timeline) {
    return std::make_shared<Moment>(timeline);
  }
};

TEST_F(TimelineTest, NothingIsRecordedBeforeSomebodyAsks) {
  const auto first = now(a);
  EXPECT_FALSE(first->done());
  EXPECT_EQ(said, "");
  first->make_wait('b');
  EXPECT_EQ(said, "record1a bwaits1 ");
}

TEST_F(TimelineTest, OneEventTellsOfAllBeforeIt) {
  const auto first = now(a), second = now(a), third = now(a);
  second->mark();  // records an event after the third moment, as that work has been queued already
  first->make_wait('b');
  third->make_wait('c');
  EXPECT_EQ(said, "record1a bwaits1 cwaits1 ");
  FakeEvent::finished = 1;
  EXPECT_TRUE(first->done());
  EXPECT_TRUE(third->done());
}

TEST_F(TimelineTest, TheFirstEventBehindAPlaceIsAsked) {
  const auto first = now(a);
  first->mark();
  const auto second = now(a);
  second->mark();
  first->make_wait('b');
  second->make_wait('b');
  EXPECT_EQ(said, "record1a record2a bwaits1 bwaits2 ");
  FakeEvent::finished = 1;
  EXPECT_TRUE(first->done());
  EXPECT_FALSE(second->done());
}

TEST_F(TimelineTest, AnEarlierEventDoesNotTellOfLaterWork) {
  now(a)->mark();
  const auto second = now(a);
  FakeEvent::finished = 1;
  EXPECT_FALSE(second->done());
  second->synchronize();
  EXPECT_EQ(said, "record1a record1a sleep1 ");  // the first event is reused, as it was done
  EXPECT_TRUE(second->done());
}

TEST_F(TimelineTest, NobodyWaitsForWhatIsKnownToBeDone) {
  const auto first = now(a);
  first->synchronize();
  EXPECT_TRUE(first->done());
  said.clear();
  first->mark();
  first->make_wait('b');
  first->synchronize();
  EXPECT_EQ(said, "");
}

TEST_F(TimelineTest, EventsAreUsedAgainThoughNobodyAsksWhatIsDone) {
  FakeEvent::finished = 1000;
  for (int i = 0; i < 1000; ++i) now(a)->mark();
  EXPECT_LT(FakeEvent::made, 20);
}

TEST_F(TimelineTest, AMomentTellsWhetherItWasOnlyFollowed) {
  const auto end = now(a);
  EXPECT_FALSE(end->only_followed());
  end->set_followed();
  EXPECT_TRUE(end->only_followed());
  end->set_awaited();
  EXPECT_FALSE(end->only_followed());
}

class UsageTest : public TimelineTest {
 protected:
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
  const auto written = now(a);
  usage.end_write(written);
  usage.begin_read('a');
  EXPECT_EQ(said, "");
  EXPECT_TRUE(written->only_followed());
  usage.begin_read('b');
  EXPECT_EQ(said, "record1a bwaits1 ");
  EXPECT_FALSE(written->only_followed());
}

TEST_F(UsageTest, AReaderOfAnotherContextFindsTheEventOfTheWriter) {
  usage.mark_writer();  // nobody has written
  const auto written = now(a);
  usage.end_write(written);
  usage.mark_writer();
  EXPECT_EQ(said, "record1a ");
  usage.begin_read('b');
  EXPECT_EQ(said, "record1a bwaits1 ");
  EXPECT_FALSE(written->only_followed());
}

TEST_F(UsageTest, AWriterIsPutBehindAllReaders) {
  usage.end_read(now(a));
  usage.end_read(now(b));
  usage.begin_write('c');
  EXPECT_EQ(said, "record1a cwaits1 record2b cwaits2 ");
}

TEST_F(UsageTest, OfTheReadersOfAStreamTheLastCounts) {
  const auto first = now(a);
  first->mark();
  usage.end_read(first);
  usage.end_read(now(a));
  usage.begin_write('b');
  EXPECT_EQ(said, "record1a record2a bwaits2 ");
}

TEST_F(UsageTest, WhoWritesAgainDoesNotFollow) {
  const auto written = now(a);
  usage.end_write(written);
  usage.begin_write('a');
  EXPECT_FALSE(written->only_followed());
}

TEST_F(UsageTest, TheCpuSleepsOnceForAWriter) {
  const auto written = now(a);
  usage.end_write(written);
  usage.end_read(now(b));
  read_on_cpu();
  read_on_cpu();
  EXPECT_EQ(said, "record1a sleep1 ");
  EXPECT_EQ(waits, 1);
  EXPECT_FALSE(written->only_followed());
  write_on_cpu();
  EXPECT_EQ(said, "record1a sleep1 record2b sleep2 ");
  EXPECT_EQ(waits, 2);
}

TEST_F(UsageTest, TheCpuDoesNotSleepForWhatIsDone) {
  const auto end = now(a);
  end->mark();
  usage.end_write(end);
  FakeEvent::finished = 1;
  read_on_cpu();
  EXPECT_EQ(waits, 0);
}

}  // namespace
