// SPDX-License-Identifier: LGPL-2.1-or-later
// Figure 6 of Prahara, Pranolo, Anwar, Mao, "Parallel Approach of Adaptive Image Thresholding
// Algorithm on GPU", 2021. The figure is a plot; the only number in the text is "4-6 times" the
// speed of the CPU.
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
    for (const int side : {256, 512, 1024, 2048, 4096}) {
      if (options.quick && side != 256 && side != 1024) continue;
      const Size size{side, side, 8};
      std::vector<Row> rows;
      for (const Backend &backend : backends) {
        const Case published =
            autothreshold_case(size, part.method, AutothresholdAlgorithm::prahara);
        Case ours = autothreshold_case(size, part.method);
        if (!backend.cuda) ours.peer = opencv_threshold(part.method);
        Row row = backend.time(ours);
        row.name = std::string(part.name) + (backend.cuda ? ", GPU" : ", CPU");
        set_baseline(row, backend.time(published));
        rows.push_back(row);
      }
      if (rows.size() == 2) {
        rows[0].speedup = rows[1].baseline_us / rows[0].baseline_us;
        rows[0].published = "GTX 1050, Core i7-7700HQ";
        rows[0].note = "published: 4 to 6 times the speed of the CPU";
      }
      for (const Row &row : rows) table.add(row);
    }
  }
}

}  // namespace cudascan::bench
