// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/swofilter/rank/network.h"

#include <algorithm>
#include <list>
#include <mutex>

#include "kernels/swofilter/rank/network_schedule.h"
#include "kernels/swofilter/rank/network_sorter.h"
#include "kernels/swofilter/rank/rank.h"

namespace cudascan::swo {
namespace {

using namespace networks;

/// Plans the common parts of the windows [first, last) of several rows, recursively in halves.
void share(Sorter &sorter, const std::vector<Cells> &windows, std::size_t first, std::size_t last,
           const Cells &known) {
  Cells both = windows[first];
  for (std::size_t i = first + 1; i < last; ++i) both = common(both, windows[i]);
  if (!known.empty() && known.size() < both.size()) sorter.set_part(both, known);
  if (last - first == 1) return;
  share(sorter, windows, first, (first + last) / 2, both);
  share(sorter, windows, (first + last) / 2, last, both);
}

std::vector<Answer> ask(Graph &g, const Mask &mask, const Question &q, int outputs) {
  Cells window;
  for (int x = 0; x < mask.width; ++x)
    for (int y = 0; y < mask.height; ++y)
      if (mask.at(x, y) == Mask::on) window.push_back({x, y});
  std::vector<Cells> windows;
  for (int y = 0; y < outputs; ++y) windows.push_back(moved(window, 0, y));

  Sorter sorter(g);
  share(sorter, windows, 0, windows.size(), {});
  const bool sum = q.kind == Question::mean;
  for (const Cells &cells : windows)
    sum ? sorter.need_halves(cells, q.first, q.last) : sorter.need(cells, q.first, q.last);

  std::vector<Answer> answers;
  for (const Cells &cells : windows) {
    if (!sum) {
      const Sorted all = sorter.sorted(cells);
      answers.push_back({{all.begin() + q.first, all.begin() + q.last + 1}, {}});
      continue;
    }
    if (cells.size() == 1) {
      answers.push_back({sorter.sorted(cells), {}});
      continue;
    }
    const auto [a, b] = sorter.halves(cells);
    const Slices slices(sorter.sorted(a), sorter.sorted(b), q.first, q.last);
    const int below = q.first - slices.dropped;
    const int kept = q.last - q.first + 1;
    answers.push_back(
        {smallest(g, slices.a, slices.b, below + kept), smallest(g, slices.a, slices.b, below)});
  }
  return answers;
}

std::vector<Answer> ask_directions(Graph &g, const Mask &mask, int outputs) {
  std::vector<Answer> answers;
  const int rx = mask.rx(), ry = mask.ry();
  for (int y = 0; y < outputs; ++y) {
    const auto line = [&](int dx, int dy, int reach) {
      Cells cells;
      for (int i = -reach; i <= reach; ++i) cells.push_back({rx + i * dx, y + ry + i * dy});
      std::ranges::sort(cells);
      Sorter sorter(g);
      sorter.need(cells, reach, reach);
      return sorter.sorted(cells)[reach];
    };
    const int reach = std::min(rx, ry);
    const Value medians[] = {line(1, 0, rx), line(0, 1, ry), line(1, 1, reach), line(1, -1, reach)};
    Value low = medians[0], high = medians[0];
    for (const Value median : medians) low = g.minimum(low, median), high = g.maximum(high, median);
    answers.push_back({{g.maximum(low, g.minimum(high, g.sample({rx, y + ry})))}, {}});
  }
  return answers;
}

}  // namespace

Question question_of(const FilterJob &job, int n) {
  switch (job.op) {
    case SwoFilterOperator::median:
      return {Question::nth, n / 2, n / 2};
    case SwoFilterOperator::rank:
      return {Question::nth, rank_of(n, job.percentile), rank_of(n, job.percentile)};
    case SwoFilterOperator::alpha_trimmed_mean: {
      const int t = trimmed(n, job.alpha);
      return {Question::mean, t, n - 1 - t, 1. / (2 * (n - 2 * t))};
    }
    case SwoFilterOperator::mode:
      return {Question::mode, 0, n - 1};
    default:
      return {Question::directional, 0, 0};
  }
}

int Network::cost() const {
  std::size_t operations = 0;
  for (const Step &step : steps) operations += step.kind == Step::both ? 2 : 1;
  const std::size_t per_sample = question.kind == Question::mode   ? 5
                                 : question.kind == Question::mean ? 2
                                                                   : 0;
  for (const Output &out : outputs) operations += per_sample * (out.plus.size() + out.minus.size());
  return static_cast<int>(operations / outputs.size());
}

Network make_network(const Mask &mask, const Question &question, int outputs) {
  Network network;
  network.question = question;
  network.width = mask.width;
  network.inputs = mask.height + outputs - 1;
  Graph g;
  const auto answers = question.kind == Question::directional ? ask_directions(g, mask, outputs)
                                                              : ask(g, mask, question, outputs);
  schedule(g, answers, network);
  return network;
}

std::shared_ptr<const Network> find_network(const Mask &mask, const Question &question) {
  struct Kept {
    int width, height;
    std::vector<Mask::Cell> cells;
    Question question;
    std::shared_ptr<const Network> network;
  };
  constexpr std::size_t kMostKept = 32;
  static std::mutex mutex;
  static std::list<Kept> all;  // most recently used first
  const std::lock_guard lock(mutex);
  const auto found = std::ranges::find_if(all, [&](const Kept &kept) {
    return kept.width == mask.width && kept.height == mask.height && kept.cells == mask.cells &&
           kept.question == question;
  });
  if (found != all.end()) {
    all.splice(all.begin(), all, found);
    return found->network;
  }
  auto best = std::make_shared<const Network>(make_network(mask, question, 1));
  for (int outputs = 2; outputs <= 4 && mask.height > 1; outputs *= 2) {
    auto network = std::make_shared<const Network>(make_network(mask, question, outputs));
    if (network->cost() >= best->cost()) break;
    best = std::move(network);
  }
  if (all.size() == kMostKept) all.pop_back();
  all.push_front({mask.width, mask.height, mask.cells, question, best});
  return best;
}

}  // namespace cudascan::swo
