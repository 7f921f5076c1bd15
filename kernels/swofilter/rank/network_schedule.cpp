// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/swofilter/rank/network_schedule.h"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace cudascan::swo::networks {
namespace {

class Scheduler {
 public:
  Scheduler(const Graph &g, Network &network) : g_(g), network_(network), places_(g.size()) {}

  void run(const std::vector<Answer> &answers) {
    for (const Answer &answer : answers)
      for (const Sorted *values : {&answer.plus, &answer.minus})
        for (const Value v : *values) mark(v);
    for (const Answer &answer : answers) {
      Network::Output out;
      for (const Sorted *values : {&answer.plus, &answer.minus})
        for (const Value v : *values) {
          compute(v.node);
          (values == &answer.plus ? out.plus : out.minus).push_back(place(v));
        }
      for (const Sorted *values : {&answer.plus, &answer.minus})
        for (const Value v : *values) release(v.node);
      out.steps = static_cast<int>(network_.steps.size());
      network_.outputs.push_back(std::move(out));
    }
    network_.rows = rows_;
    for (Network::Step &step : network_.steps) {
      const auto &[low, high] = nodes_of_[&step - network_.steps.data()];
      step.excess = static_cast<std::uint8_t>(
          std::max(low < 0 ? 0 : places_[low].excess, high < 0 ? 0 : places_[high].excess));
    }
  }

 private:
  struct NodePlace {
    int row = -1, uses = 0, excess = 0;
    bool wanted = false;
  };

  void mark(Value v) {
    NodePlace &p = places_[v.node];
    ++p.uses;
    const bool again = p.wanted;
    const bool longer = v.dx > p.excess;
    p.wanted = true;
    p.excess = std::max(p.excess, v.dx);
    const Node &node = g_[v.node];
    if (node.kind == Node::sample || (again && !longer)) return;
    for (const Value operand : {node.a, node.b}) {
      const int dx = operand.dx + p.excess;
      if (again) {
        lengthen({operand.node, dx});
      } else {
        mark({operand.node, dx});
      }
    }
  }
  void lengthen(Value v) {
    NodePlace &p = places_[v.node];
    if (v.dx <= p.excess) return;
    p.excess = v.dx;
    const Node &node = g_[v.node];
    if (node.kind == Node::sample) return;
    for (const Value operand : {node.a, node.b}) lengthen({operand.node, operand.dx + v.dx});
  }

  Network::Place place(Value v) const {
    const Node &node = g_[v.node];
    const int row = node.kind == Node::sample ? node.y : places_[v.node].row;
    return {static_cast<std::uint16_t>(row), static_cast<std::uint8_t>(v.dx)};
  }

  void release(int node) {
    NodePlace &p = places_[node];
    if (--p.uses == 0 && g_[node].kind != Node::sample) free_.push_back(p.row);
  }
  int take_row() {
    if (free_.empty()) return rows_++;
    const int row = free_.back();
    free_.pop_back();
    return row;
  }

  void compute(int number) {
    if (g_[number].kind == Node::sample || places_[number].row >= 0) return;
    const Node &node = g_[number];
    compute(node.a.node);
    compute(node.b.node);
    int other = g_.sibling(number);
    if (other >= 0 && !places_[other].wanted) other = -1;
    Network::Step step{};
    step.a = place(node.a), step.b = place(node.b);
    for (const int user : {number, other}) {
      if (user < 0) continue;
      release(node.a.node);
      release(node.b.node);
    }
    const bool is_low = node.kind == Node::minimum;
    const int low = is_low ? number : other, high = is_low ? other : number;
    step.kind = other >= 0 ? Network::Step::both
                : is_low   ? Network::Step::minimum
                           : Network::Step::maximum;
    if (low >= 0) step.low = static_cast<std::uint16_t>(places_[low].row = take_row());
    if (high >= 0) step.high = static_cast<std::uint16_t>(places_[high].row = take_row());
    network_.steps.push_back(step);
    nodes_of_.push_back({low, high});
  }

  const Graph &g_;
  Network &network_;
  std::vector<NodePlace> places_;
  std::vector<std::pair<int, int>> nodes_of_;
  std::vector<int> free_;
  int rows_ = network_.inputs;
};

}  // namespace

void schedule(const Graph &g, const std::vector<Answer> &answers, Network &network) {
  Scheduler(g, network).run(answers);
}

}  // namespace cudascan::swo::networks
