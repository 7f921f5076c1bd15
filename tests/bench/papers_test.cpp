// SPDX-License-Identifier: LGPL-2.1-or-later
// The lines of the publications' tables, made from times that are given.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <sstream>

#include "bench/linearopen_published.h"
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

// ---- Karas et al. -------------------------------------------------------------------------------

/// Times that follow from the names of cases.
class KarasTables : public testing::Test {
 protected:
  KarasTables() {
    for (const bool cuda : {true, false})
      backends_.push_back({cuda ? "CUDA" : "one CPU core", cuda, [=](const Case &c) {
                             Row row;
                             row.backend = cuda ? "cuda" : "cpu";
                             row.size = c.size;
                             row.us = us(c) * (cuda ? 1 : 50);
                             if (c.peer.index() == 0) return row;
                             row.peer = cuda ? "NPP" : "OpenCV";
                             row.peer_us = 7 * row.us;
                             return row;
                           }});
  }
  static double us(const Case &c) {
    const auto has = [&](const char *word) { return c.variant.find(word) != std::string::npos; };
    if (has(" by Bartovsky, zones 4")) return 250;
    if (has(" by Bartovsky, zones 2")) return 600;
    if (has(" by ")) return 1000;
    return has(" morard") ? 3000 : has(" bartovsky") ? 4000 : has(" zones") ? 500 : 10;
  }
  void print() {
    KarasTimes times(options_, backends_);
    print_karas_tables(times, report_);
    print_karas_figures(times, report_);
  }
  std::vector<Fields> rows(const std::string &table) const {
    return rows_of(report_, "paper 002 " + table);
  }
  Options options_;
  std::vector<Backend> backends_;
  Report report_;
};

TEST_F(KarasTables, Table2HasAllColumnsAndSpeedups) {
  print();
  const auto rows = this->rows("table 2");
  ASSERT_EQ(rows.size(), 15u);
  EXPECT_EQ(rows[0].at("name"), "Fingerprint, CPU (Bart)");
  EXPECT_EQ(std::stod(rows[0].at("published_us")), 3768700);
  EXPECT_EQ(rows[0].at("baseline_us"), "200000");
  EXPECT_EQ(rows[0].at("speedup"), "");
  EXPECT_EQ(rows[13].at("name"), "Music2, CPU (Mor)");
  EXPECT_EQ(rows[13].at("baseline_us"), "150000");
  EXPECT_EQ(rows[14].at("name"), "Music2, GPU (Bart)");
  EXPECT_EQ(rows[14].at("published_speedup"), "36.3");
  EXPECT_EQ(rows[14].at("baseline_us"), "500");
  EXPECT_EQ(rows[14].at("speedup"), "300");  // over Morard's
  EXPECT_EQ(rows[14].at("us"), "10");
}

TEST_F(KarasTables, FiguresHaveEveryAlgorithm) {
  print();
  EXPECT_EQ(rows("table 1").size(), 9u * 4);
  EXPECT_EQ(rows("figure 2").size(), 5u * 2 * 4);
  EXPECT_EQ(rows("figure 5").size(), 2u * 2 * 4);
  EXPECT_EQ(rows("figure 8").size(), 4u * 2 * 4);
  EXPECT_EQ(rows("figure 9").size(), 2u * 3 * 4);
  EXPECT_EQ(rows("figure 10").size(), 2u * 3 * 2 * 7);
  const Fields row = rows("figure 2")[3];
  EXPECT_EQ(row.at("name"), "VanD, horizontal");
  EXPECT_EQ(row.at("width"), "6480");
  EXPECT_EQ(std::stod(row.at("value")), 41990400);
  EXPECT_EQ(row.at("baseline_us"), "50000");
  EXPECT_EQ(row.at("us"), "500");
}

TEST_F(KarasTables, Figures9And10HaveOtherLibraries) {
  print();
  for (const char *const figure : {"figure 9", "figure 10"}) {
    const auto rows = this->rows(figure);
    const Fields &cpu = rows.front(), &gpu = rows.back();
    EXPECT_EQ(cpu.at("peer"), "OpenCV");
    EXPECT_EQ(cpu.at("peer_us"), "3500");
    EXPECT_EQ(cpu.at("speedup"), "");
    EXPECT_EQ(gpu.at("peer"), "NPP");
    EXPECT_EQ(gpu.at("peer_us"), "70");
    EXPECT_EQ(gpu.at("baseline_us"), "1000");
    EXPECT_EQ(gpu.at("speedup"), "50");  // over the CPU
  }
}

TEST_F(KarasTables, Figure11ComparesZonesWithOneZone) {
  print();
  const auto rows = this->rows("figure 11");
  ASSERT_EQ(rows.size(), 4u * 5 * 3);
  const char *const names[] = {"Z = 1, length 11", "Z = 2, length 11", "Z = 4, length 11"};
  const double measured[] = {1, 1000. / 600, 4}, predicted[] = {1, 1.934375, 3.60625};
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(rows[i].at("name"), names[i]);
    EXPECT_NEAR(std::stod(rows[i].at("speedup")), measured[i], 1e-4);
    EXPECT_NEAR(std::stod(rows[i].at("published_speedup")), predicted[i], 1e-4);
  }
  // Length 161 of 640 pixels: equation 5 is negative for 4 zones.
  EXPECT_EQ(rows[14].at("name"), "Z = 4, length 161");
  EXPECT_EQ(rows[14].at("published_speedup"), "");
}

TEST_F(KarasTables, OneBackend) {
  backends_.erase(backends_.begin());
  print();
  EXPECT_EQ(rows("table 2").size(), 10u);
  EXPECT_EQ(rows("figure 2").size(), 40u);
  EXPECT_EQ(rows("figure 9").size(), 12u);
  for (const char *const of_gpu : {"table 1", "figure 5", "figure 8", "figure 11"})
    EXPECT_TRUE(rows(of_gpu).empty()) << of_gpu;
}

/// Larger images are left out if the smaller ones say that they take too long.
TEST_F(KarasTables, LeavesOutWhatTakesTooLong) {
  options_.filter = "paper 002 figure 2";
  options_.patience_s = 0.25;  // every image that is measured takes 50 ms
  print();
  const auto rows = this->rows("figure 2");
  EXPECT_EQ(rows[1].at("baseline_us"), "50000");
  EXPECT_EQ(rows[2].at("baseline_us"), "50000");
  EXPECT_EQ(rows[3].at("baseline_us"), "");
  EXPECT_EQ(rows[3].at("us"), "500");
  EXPECT_TRUE(this->rows("table 2").empty());
}

}  // namespace
}  // namespace cudascan::bench
