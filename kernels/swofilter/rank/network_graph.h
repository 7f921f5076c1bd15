// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Sets of cells of a window, and the graph of minima and maxima of their samples.
#pragma once
#include <algorithm>
#include <compare>
#include <iterator>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

namespace cudascan::swo::networks {

/// Cells, in ascending order of x, then y. The position of a set in the image is stored separately:
/// as a key, its leftmost cell has x = 0.
struct Cell {
  int x, y;
  friend auto operator<=>(const Cell &, const Cell &) = default;
};
using Cells = std::vector<Cell>;

inline Cells moved(Cells cells, int x, int y = 0) {
  for (Cell &cell : cells) cell.x += x, cell.y += y;
  return cells;
}
inline Cells without(const Cells &a, const Cells &b) {
  Cells rest;
  std::set_difference(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(rest));
  return rest;
}
inline Cells common(const Cells &a, const Cells &b) {
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

/// The answer for a window: values that count, and values to subtract from their sum.
struct Answer {
  Sorted plus, minus;
};

}  // namespace cudascan::swo::networks
