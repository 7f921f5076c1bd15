// SPDX-License-Identifier: LGPL-2.1-or-later
// The threshold methods computed by teams of threads, for teams of all sizes.
#include <gtest/gtest.h>

#include <barrier>
#include <cstring>
#include <thread>

#include "tests/kernels/autothreshold/histograms.h"

namespace cudascan::threshold {
namespace {

/// Data that the threads of a team share.
struct Meeting {
  explicit Meeting(int members) : barrier(members), slots(members) {}

  std::barrier<> barrier;
  struct alignas(16) Slot {
    unsigned char bytes[192];
  };
  std::vector<Slot> slots;
  alignas(16) unsigned char memory[kTeamMemory];
};

/// A member of a team of threads. Members combine their values in different orders.
class ThreadTeam {
 public:
  ThreadTeam(const Counts &h, Meeting &meeting, int member, int members)
      : h_(h), meeting_(meeting), member_(member), members_(members) {}

  int levels() const { return static_cast<int>(h_.size()); }
  std::uint32_t count(int level) const { return h_[level]; }
  int begin() const { return static_cast<int>(h_.size() * member_ / members_); }
  int end() const { return static_cast<int>(h_.size() * (member_ + 1) / members_); }

  template <typename T>
  T before(const T &mine, T &all) {
    give(mine);
    T below{};
    all = T{};
    for (int i = 0; i < members_; ++i) {
      if (i < member_) below += given<T>(i);
      all += given<T>(i);
    }
    sync();
    return below;
  }
  template <typename T, typename Op>
  T reduce(const T &mine, const Op &op) {
    give(mine);
    T result = mine;
    for (int i = 1; i < members_; ++i) {
      const T other = given<T>((member_ + i) % members_);
      result = i % 2 ? op(result, other) : op(other, result);
    }
    sync();
    return result;
  }
  int member() const { return member_; }
  int members() const { return members_; }
  void *memory() { return meeting_.memory; }
  void sync() { meeting_.barrier.arrive_and_wait(); }

  static constexpr int kNear = 1, kMostLevels = kSmallLevels;
  int near_member() const { return 0; }
  int near_begin() const { return begin(); }
  int near_end() const { return end(); }
  double value_before(double) const { return 0; }
  double value_after(double) const { return 0; }

  template <typename T, typename Work>
  void share(int n, T *results, const Work &work) {
    sync();
    HostTeam worker(h_.data(), levels());
    for (int i = member_; i < n; i += members_) results[i] = work(i, worker);
    sync();
  }

 private:
  template <typename T>
  void give(const T &mine) {
    static_assert(sizeof(T) <= sizeof(Meeting::Slot) && std::is_trivially_copyable_v<T>);
    std::memcpy(meeting_.slots[member_].bytes, &mine, sizeof(T));
    sync();
  }
  template <typename T>
  T given(int member) const {
    T x;
    std::memcpy(&x, meeting_.slots[member].bytes, sizeof(T));
    return x;
  }

  const Counts &h_;
  Meeting &meeting_;
  int member_, members_;
};

/// The results of all suitable methods for one member.
template <typename Team>
std::vector<int> everything(Team &team) {
  std::vector<int> results;
  for (Method method : kMethods)
    if (team.levels() <= kSmallLevels || !is_small(method, 2))
      results.push_back(find_any(team, method));
  if (team.levels() > kSmallLevels) return results;
  for (int classes = 2; classes <= 4; ++classes) {
    results.resize(results.size() + classes - 1);
    find_classes(team, classes, &results[results.size() - (classes - 1)]);
  }
  return results;
}

void expect_same_in_teams(int members, const std::vector<Counts> &histograms) {
  Meeting meeting(members);
  std::vector<std::vector<std::vector<int>>> results(members);
  std::vector<std::thread> threads;
  for (int member = 0; member < members; ++member)
    threads.emplace_back([&, member] {
      for (const Counts &h : histograms) {
        ThreadTeam team(h, meeting, member, members);
        results[member].push_back(everything(team));
      }
    });
  for (std::thread &thread : threads) thread.join();
  for (std::size_t i = 0; i < histograms.size(); ++i) {
    HostTeam team(histograms[i].data(), static_cast<int>(histograms[i].size()));
    const std::vector<int> expected = everything(team);
    for (int member = 0; member < members; ++member)
      ASSERT_EQ(results[member][i], expected)
          << "histogram " << i << ", member " << member << " of " << members;
  }
}

TEST(ThresholdTeams, AnySizeGivesTheSame) {
  std::vector<Counts> histograms;
  for (unsigned seed : {0, 1, 2, 3, 4, 9, 10}) histograms.push_back(random_histogram(seed, 256));
  histograms.push_back(random_histogram(2, 64));
  histograms.push_back(random_histogram(1, 4096));
  histograms.push_back(Counts(256));
  for (int members : {1, 3, 7}) expect_same_in_teams(members, histograms);
  // Large teams synchronise slowly, so these histograms have two modes after few smoothings.
  const std::vector<Counts> few{with(256, {{50, 100}, {60, 3}, {200, 100}}),
                                random_histogram(1, 1024)};
  for (int members : {256, 1000}) expect_same_in_teams(members, few);
}

}  // namespace
}  // namespace cudascan::threshold
