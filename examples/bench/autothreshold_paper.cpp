// SPDX-License-Identifier: LGPL-2.1-or-later
// Figure 6 of Prahara, Pranolo, Anwar, Mao, "Parallel Approach of Adaptive Image Thresholding
// Algorithm on GPU", 2021. The figure is a plot; the only number in the text is "4-6 times" the
// speed of the CPU. It does not say whether times of the GPU include the copies of Algorithm 1, so
// both are measured.
#include "bench/operator_cases.h"
#include "bench/paper.h"

namespace cudascan::bench {
namespace {

using Method = AutothresholdMethod;

struct Part {
  const char *letter, *name;
  Method method;
};
constexpr Part kParts[] = {
    {"a", "Otsu", Method::otsu}, {"b", "ISODATA", Method::isodata}, {"c", "MCET", Method::mcet}};

constexpr int kSides[] = {256, 512, 1024, 2048, 4096};

/// The lines of one size: the kernels, the same with the copies of Algorithm 1, and the CPU.
class Lines {
 public:
  Lines(const Options &options, const std::vector<Backend> &backends, const Part &part, int side)
      : options_(options), part_(part), size_{side, side, 8} {
    for (const Backend &backend : backends) add(backend);
    // Speed-ups are over the publication's code for the CPU, if that was measured as well.
    if (rows_.back().backend == "cuda") return;
    for (Row &row : rows_) {
      if (row.backend != "cuda") continue;
      row.speedup = rows_.back().baseline_us / row.baseline_us;
      row.published = "GTX 1050, Core i7-7700HQ";
      row.note = "published: 4 to 6 times the speed of the CPU";
    }
  }
  const std::vector<Row> &rows() const { return rows_; }

 private:
  void add(const Backend &backend) {
    const Case published = autothreshold_case(size_, part_.method, AutothresholdAlgorithm::prahara);
    Case ours = autothreshold_case(size_, part_.method);
    if (!backend.cuda) ours.peer = opencv_threshold(part_.method);
    Row row = backend.time(ours);
    set_baseline(row, backend.time(published));
    add(row, backend.cuda ? "GPU" : "CPU");
    if (!backend.cuda) return;
    const auto theirs = time_transfers(options_, {size_}, published.runner),
               mine = time_transfers(options_, {size_}, ours.runner);
    if (theirs.empty() || mine.empty()) return;
    Row with_copies;
    with_copies.backend = "cuda";
    with_copies.op = row.op;
    with_copies.size = size_;
    with_copies.us = mine.front().pageable;
    with_copies.baseline_us = theirs.front().pageable;
    add(with_copies, "GPU with copies");
  }
  void add(Row row, const std::string &where) {
    row.series = std::string(part_.name) + ", " + where;
    row.name = row.series;
    row.parameter = "side";
    row.value = size_.width;
    rows_.push_back(row);
  }

  const Options &options_;
  const Part &part_;
  const Size size_;
  std::vector<Row> rows_;
};

}  // namespace

/// Figure 6 of Prahara et al., 2021.
void autothreshold_paper(const Options &options, bool with_cuda, Report &report) {
  std::vector<Backend> backends;
  for (const Part &part : kParts) {
    const std::string name = std::string("paper 003 figure 6") + part.letter;
    if (!options.wants(name)) continue;
    if (backends.empty()) backends = table_backends(options, with_cuda);
    PaperTable table(report, name,
                     std::string("FIGURE 6") + part.letter + " of Prahara et al.: " + part.name);
    for (const int side : kSides) {
      if (options.quick && side != 256 && side != 1024) continue;
      const Lines lines(options, backends, part, side);
      for (const Row &row : lines.rows()) table.add(row);
    }
  }
}

}  // namespace cudascan::bench
