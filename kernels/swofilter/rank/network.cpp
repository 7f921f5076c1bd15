// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/swofilter/rank/network.h"

#include <algorithm>
#include <compare>
#include <list>
#include <map>
#include <mutex>
#include <tuple>

#include "kernels/swofilter/rank/rank.h"

namespace cudascan::swo {
namespace {

/// Cells, in ascending order of x, then y. The position of a set in the image is stored separately:
/// as a key, its leftmost cell has x = 0.
struct Cell {
  int x, y;
  friend auto operator<=>(const Cell &, const Cell &) = default;
};
using Cells = std::vector<Cell>;

Cells moved(Cells cells, int x, int y = 0) {
  for (Cell &cell : cells) cell.x += x, cell.y += y;
  return cells;
}
Cells without(const Cells &a, const Cells &b) {
  Cells rest;
  std::set_difference(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(rest));
  return rest;
}
Cells common(const Cells &a, const Cells &b) {
  Cells both;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both));
  return both;
}

/// A value for each pixel: the value of a node `dx` pixels to the right.
struct Value {
  int node = -1, dx = 0;
  friend auto operator<=>(const Value &, const Value &) = default;
};

struct Node {
  enum Kind { sample, minimum, maximum } kind;
  Value a, b;  ///< of minimum and maximum; the smaller dx is 0
  int y = 0;   ///< of sample
};

/// The minima and maxima, each only once.
class Graph {
 public:
  const Node &operator[](int node) const { return nodes_[node]; }
  int size() const { return static_cast<int>(nodes_.size()); }

  Value sample(const Cell &cell) { return {find({Node::sample, {}, {}, cell.y}), cell.x}; }
  Value minimum(Value a, Value b) { return extremum(Node::minimum, a, b); }
  Value maximum(Value a, Value b) { return extremum(Node::maximum, a, b); }
  /// The node with the same operands and the other operation; -1 if there is none.
  int sibling(int node) const {
    Node other = nodes_[node];
    other.kind = other.kind == Node::minimum ? Node::maximum : Node::minimum;
    const auto found = numbers_.find(key(other));
    return found == numbers_.end() ? -1 : found->second;
  }

 private:
  using Key = std::tuple<Node::Kind, Value, Value, int>;
  static Key key(const Node &n) { return {n.kind, n.a, n.b, n.y}; }
  int find(const Node &node) {
    const auto [at, is_new] = numbers_.try_emplace(key(node), size());
    if (is_new) nodes_.push_back(node);
    return at->second;
  }
  Value extremum(Node::Kind kind, Value a, Value b) {
    if (a == b || b.node < 0) return a;
    if (a.node < 0) return b;
    const int dx = std::min(a.dx, b.dx);
    a.dx -= dx, b.dx -= dx;
    if (b < a) std::swap(a, b);
    return {find({kind, a, b}), dx};
  }

  std::vector<Node> nodes_;
  std::map<Key, int> numbers_;
};

/// Values in ascending order; only the requested ones need to exist (node >= 0).
using Sorted = std::vector<Value>;

/// The relevant parts of two sorted sequences for numbers [first, last] of their merged sequence:
/// below a sample are those before it in its sequence, and at most all of the other sequence.
struct Slices {
  Sorted a, b;
  int dropped;  ///< samples before the remaining ones

  static Sorted slice(const Sorted &s, int others, int first, int last) {
    const int begin = std::clamp(first - others, 0, static_cast<int>(s.size()));
    const int end = std::clamp(last + 1, begin, static_cast<int>(s.size()));
    return {s.begin() + begin, s.begin() + end};
  }
  Slices(const Sorted &x, const Sorted &y, int first, int last)
      : a(slice(x, static_cast<int>(y.size()), first, last)),
        b(slice(y, static_cast<int>(x.size()), first, last)),
        dropped(std::max(first - static_cast<int>(y.size()), 0) +
                std::max(first - static_cast<int>(x.size()), 0)) {}
};

Sorted every_second(const Sorted &s, std::size_t from) {
  Sorted half;
  for (std::size_t i = from; i < s.size(); i += 2) half.push_back(s[i]);
  return half;
}

/// Batcher's odd-even merge, for any lengths.
Sorted odd_even_merge(Graph &g, const Sorted &a, const Sorted &b) {
  if (a.empty()) return b;
  if (b.empty()) return a;
  if (a.size() == 1 && b.size() == 1) return {g.minimum(a[0], b[0]), g.maximum(a[0], b[0])};
  const Sorted even = odd_even_merge(g, every_second(a, 0), every_second(b, 0));
  const Sorted odd = odd_even_merge(g, every_second(a, 1), every_second(b, 1));
  Sorted all{even[0]};
  std::size_t i = 0;
  for (; i < odd.size() && i + 1 < even.size(); ++i) {
    all.push_back(g.minimum(odd[i], even[i + 1]));
    all.push_back(g.maximum(odd[i], even[i + 1]));
  }
  for (std::size_t j = i; j < odd.size(); ++j) all.push_back(odd[j]);
  for (std::size_t j = i + 1; j < even.size(); ++j) all.push_back(even[j]);
  return all;
}

/// Number k of two merged sequences: for some i, i of the first k + 1 samples are in b.
Value select(Graph &g, const Sorted &a, const Sorted &b, int k) {
  const int na = static_cast<int>(a.size()), nb = static_cast<int>(b.size());
  Value smallest;
  for (int i = std::max(0, k + 1 - na); i <= std::min(nb, k + 1); ++i) {
    const Value from_a = i <= k ? a[k - i] : Value{}, from_b = i > 0 ? b[i - 1] : Value{};
    smallest = g.minimum(g.maximum(from_a, from_b), smallest);
  }
  return smallest;
}

/// The k smallest of two sorted sequences, in any order.
Sorted smallest(Graph &g, const Sorted &a, const Sorted &b, int k) {
  Sorted all;
  for (int i = 0; i < k; ++i) {
    const int j = k - 1 - i;
    const Value from_a = i < static_cast<int>(a.size()) ? a[i] : Value{};
    const Value from_b = j < static_cast<int>(b.size()) ? b[j] : Value{};
    all.push_back(g.minimum(from_a, from_b));
  }
  // i beyond a and j beyond b at once is impossible, because k is at most the sum of both.
  std::erase_if(all, [](Value v) { return v.node < 0; });
  return all;
}

/// Sorts sets of cells by merging two subsets each, and only as far as needed.
class Sorter {
 public:
  explicit Sorter(Graph &g) : g_(g) {}

  /// Plans to merge `whole` from `part` and the rest.
  void set_part(const Cells &whole, const Cells &part) {
    parts_.try_emplace(at_origin(whole), at(whole, part));
  }

  /// Requests numbers [first, last]. All requests must come before sorted().
  void need(const Cells &set, int first, int last) {
    if (set.size() < 2) return;
    Known &known = known_[at_origin(set)];
    if (known.first <= first && known.last >= last) return;
    known.first = std::min(known.first, first), known.last = std::max(known.last, last);
    need_halves(set, known.first, known.last);
  }
  void need_halves(const Cells &set, int first, int last) {
    const auto [a, b] = halves(set);
    const int na = static_cast<int>(a.size()), nb = static_cast<int>(b.size());
    need(a, std::max(first - nb, 0), std::min(last, na - 1));
    need(b, std::max(first - na, 0), std::min(last, nb - 1));
  }

  Sorted sorted(const Cells &set) {
    if (set.empty()) return {};
    if (set.size() == 1) return {g_.sample(set[0])};
    Known &known = known_.at(at_origin(set));
    if (known.sorted.empty()) {
      const auto [a, b] = halves(at_origin(set));
      const Slices slices(sorted(a), sorted(b), known.first, known.last);
      known.sorted.resize(set.size());
      if (known.first == known.last)
        known.sorted[known.first] = select(g_, slices.a, slices.b, known.first - slices.dropped);
      else
        std::ranges::copy(odd_even_merge(g_, slices.a, slices.b),
                          known.sorted.begin() + slices.dropped);
    }
    Sorted all = known.sorted;
    for (Value &v : all) v.dx += set[0].x;
    return all;
  }

  std::pair<Cells, Cells> halves(const Cells &set) const {
    if (const auto part = parts_.find(at_origin(set)); part != parts_.end()) {
      const Cells a = moved(part->second, set[0].x);
      return {a, without(set, a)};
    }
    // Half of a column; of several columns, a power of two.
    std::size_t n = set.size() / 2;
    if (const int columns = set.back().x - set.front().x + 1; columns > 1) {
      int left = 1;
      while (2 * left < columns) left *= 2;
      n = std::ranges::lower_bound(set, Cell{set[0].x + left, -256}) - set.begin();
    }
    return {{set.begin(), set.begin() + n}, {set.begin() + n, set.end()}};
  }

 private:
  struct Known {
    int first = 1 << 30, last = -1;
    Sorted sorted;
  };
  static Cells at_origin(const Cells &set) { return moved(set, -set[0].x); }
  static Cells at(const Cells &origin, const Cells &set) { return moved(set, -origin[0].x); }

  Graph &g_;
  std::map<Cells, Cells> parts_;
  std::map<Cells, Known> known_;
};

struct Answer {
  Sorted plus, minus;
};

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

/// Orders the needed nodes and assigns their results to rows. A row is reused when its contents are
/// no longer needed.
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

Question question_of(const Job &job, int n) {
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
  Scheduler(g, network).run(answers);
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
