// SPDX-License-Identifier: LGPL-2.1-or-later
// The lines of the publications' tables, made from times that are given.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <sstream>

#include "bench/nick_published.h"
#include "kernels/nick/baseline.h"

namespace cudascan::bench {
namespace {

/// Times in proportion to the pixels; those with copies are twice as long.
NickColumn column(NickCode code, int window, double ns_per_pixel, bool cuda, int block = 0,
                  bool all_images = true) {
  NickColumn column{code, window, block, all_images};
  for (const Size &size : kNickImages) {
    const bool left_out = !all_images && size != kNickImages.back();
    column.us.push_back(left_out ? kUnknown : size.pixels() * ns_per_pixel / 1e3);
    if (cuda)
      column.transfers.push_back({column.us.back(), 2 * column.us.back(), 3 * column.us.back()});
  }
  return column;
}

/// Fields of a row by their names.
using Fields = std::map<std::string, std::string>;

std::vector<std::string> split(const std::string &line) {
  std::vector<std::string> words(1);
  bool quoted = false;
  for (const char c : line)
    if (c == '"')
      quoted = !quoted;
    else if (c == ',' && !quoted)
      words.emplace_back();
    else
      words.back() += c;
  return words;
}

/// The rows of a section as they are written.
std::vector<Fields> rows_of(const Report &report, const std::string &section) {
  const std::string path = testing::TempDir() + "papers_test.csv";
  report.write_csv(path);
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  const auto names = split(line);
  std::vector<Fields> rows;
  while (std::getline(file, line)) {
    const auto words = split(line);
    if (words[0] != section) continue;
    Fields &fields = rows.emplace_back();
    for (std::size_t i = 0; i < names.size(); ++i) fields[names[i]] = words[i];
  }
  return rows;
}

class NickTables : public testing::Test {
 protected:
  void print() {
    for (const int window : nick::kPublishedWindows) {
      cpu_.push_back(column(NickCode::serial, window, 100, false));
      cpu_.push_back(column(NickCode::ours, window, 1, false));
      cuda_.push_back(column(NickCode::ours, window, 0.002, true));
      for (const int block : nick::kPublishedBlocks) {
        const bool all = block == 16 || (block == 32 && window == 33);
        cuda_.push_back(column(NickCode::global, window, 0.02, true, block, all));
        cuda_.push_back(column(NickCode::global_shared, window, 0.05, true, block, block == 16));
        if (nick::is_published(nick::PublishedKernel::shared, block, window))
          cuda_.push_back(column(NickCode::shared, window, window == 9 ? 0.01 : 0.04, true, block,
                                 block == 16));
      }
    }
    print_nick_published(cpu_, cuda_, report_);
  }
  std::vector<NickColumn> cpu_, cuda_;
  Report report_;
};

TEST_F(NickTables, Table3SaysWhereSharedIsSlower) {
  print();
  const auto rows = rows_of(report_, "paper 000 table 3");
  ASSERT_EQ(rows.size(), 4u * 9 + 2 * 9);
  EXPECT_EQ(rows[8].at("name"), "Image 9, Global 9*9");
  EXPECT_EQ(rows[8].at("published_speedup"), "142");
  EXPECT_EQ(rows[8].at("speedup"), "5000");
  EXPECT_EQ(rows[8].at("baseline_us"), "200");
  EXPECT_EQ(rows[8].at("us"), "20");
  int slower = 0;
  for (const Fields &row : rows) {
    if (row.at("note").starts_with("slower than Global")) {
      ++slower;
      EXPECT_NE(row.at("name").find("Shared 15*15"), std::string::npos) << row.at("name");
    }
  }
  EXPECT_EQ(slower, 9);
}

TEST_F(NickTables, Table4HasTheCopies) {
  print();
  const auto rows = rows_of(report_, "paper 000 table 4");
  ASSERT_EQ(rows.size(), 3u * 9);
  EXPECT_EQ(rows[24].at("baseline_us"), "400");
  EXPECT_EQ(rows[25].at("name"), "Image 9, Shared 15*15, non-pinned");
  EXPECT_EQ(rows[25].at("baseline_us"), "1200");
  EXPECT_EQ(rows[26].at("baseline_us"), "800");
  EXPECT_EQ(rows[26].at("speedup"), "1250");
  EXPECT_EQ(rows[26].at("published_speedup"), "118");
}

TEST_F(NickTables, Table5HasTheModels) {
  print();
  const auto rows = rows_of(report_, "paper 000 table 5");
  ASSERT_EQ(rows.size(), 6u);
  EXPECT_EQ(rows[2].at("name"), "Global 33*33, block 32*32");
  EXPECT_EQ(rows[2].at("published_ms_per_pixel"), "1.9e-05");
  EXPECT_NEAR(std::stod(rows[2].at("baseline_ms_per_pixel")), 4e-8, 1e-14);
  EXPECT_NEAR(std::stod(rows[2].at("baseline_ms_offset")), 0, 1e-9);
  EXPECT_NEAR(std::stod(rows[2].at("baseline_r2")), 1, 1e-9);
  EXPECT_NEAR(std::stod(rows[2].at("ms_per_pixel")), 4e-9, 1e-15);
  EXPECT_EQ(rows[5].at("name"), "serial 15*15");
  EXPECT_NEAR(std::stod(rows[5].at("baseline_ms_per_pixel")), 1e-4, 1e-10);
}

TEST_F(NickTables, FiguresHaveEveryWindowAndBlock) {
  print();
  const auto kernels = rows_of(report_, "paper 000 figure 3"),
             whole = rows_of(report_, "paper 000 figure 5");
  EXPECT_EQ(kernels.size(), 22u + 1);  // two GPUs have Shared 15*15 with the same block
  EXPECT_EQ(whole.size(), 22u + 1 + 2);
  EXPECT_EQ(kernels[0].at("name"), "Global 9*9, block 8*8");
  EXPECT_EQ(kernels[0].at("value"), "8");
  EXPECT_EQ(kernels[0].at("published_speedup"), "");
  EXPECT_EQ(kernels[1].at("published_speedup"), "142");
  EXPECT_EQ(kernels[8].at("published_speedup"), "171");
  EXPECT_EQ(whole[0].at("baseline_us"), "400");
  EXPECT_EQ(whole.back().at("name"), "Global-shared, the best of its bars");
  EXPECT_EQ(whole.back().at("published_speedup"), "132");
  EXPECT_EQ(whole.back().at("speedup"), "1000");
  EXPECT_EQ(rows_of(report_, "paper 000 figure 4").size(), 27u);
}

TEST(NickModels, LeastSquares) {
  std::vector<double> us;
  for (const Size &size : kNickImages) us.push_back(size.pixels() * 0.5 + 7000);
  us[3] = kUnknown;
  const LinearModel model = fit(us);
  EXPECT_NEAR(model.slope, 0.0005, 1e-12);
  EXPECT_NEAR(model.offset, 7, 1e-6);
  EXPECT_NEAR(model.r2, 1, 1e-12);
  EXPECT_NEAR(model.us({1000, 10, 8}), 12000, 1e-3);
  us[8] *= 2;
  EXPECT_LT(fit(us).r2, 0.999);
  EXPECT_TRUE(std::isnan(fit({1, 2}).slope));
}

}  // namespace
}  // namespace cudascan::bench
