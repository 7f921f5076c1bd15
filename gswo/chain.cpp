// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gswo/chain.h"

#include <algorithm>

namespace cudascan::gswo {

using namespace clang;

namespace {

class Builder {
 public:
  Builder(const Unit &unit, const FunctionDecl *function, std::vector<Kernel *> kernels)
      : unit_(unit), kernels_(std::move(kernels)) {
    chain_.function = function;
    for (const Pragma &p : unit.notes.pragmas)
      if (p.name == "copy2darrayto1darray" && p.arguments[5] == "2DTo1D")
        aliases_[p.arguments[4]] = p.arguments[0];
  }

  Chain build() {
    choose_input();
    choose_output();
    for (const Kernel *k : kernels_)
      for (const Image &image : k->images) bind(image);
    walk(chain_.function->getBody());
    finish_output();
    return std::move(chain_);
  }

 private:
  std::string key(const Image &image) const { return key(image.name); }
  std::string key(const std::string &name) const {
    const auto alias = aliases_.find(name);
    return alias == aliases_.end() ? name : alias->second;
  }

  /// The frame is the image that is read before it is written; of several, the one of `single
  /// transfer`.
  void choose_input() {
    std::set<std::string> written;
    bool transferred = false;
    for (const Kernel *k : kernels_) {
      for (const Image &image : k->images) {
        if (!image.read || written.count(key(image)) || transferred) continue;
        if (input_.empty() || image.in_transfer) input_ = key(image);
        transferred |= image.in_transfer;
      }
      for (const Image &image : k->images)
        if (image.written) written.insert(key(image));
    }
  }

  /// The result is the image that is written last; of several, the one of `single assign`.
  void choose_output() {
    std::vector<std::string>
        results;  // of the last kernel, unless `single assign` names the result
    for (const Kernel *k : kernels_) {
      results.clear();
      bool is_said = false;
      for (const Image &image : k->images) {
        if (!image.written || is_said) continue;
        results.push_back(output_ = key(image));
        is_said = image.in_assign;
      }
      if (is_said) results.clear();
    }
    for (const Pragma &p : unit_.notes.pragmas)
      if (p.name == "copymalloc1darray" && p.arguments.size() > 5)
        for (const Kernel *k : kernels_)
          for (const Image &image : k->images)
            if (image.name == p.arguments[0] && image.written)
              output_ = key(image), results.clear();
    if (results.size() > 1)
      unit_.source.note(kernels_.back()->pragma->begin,
                        "'" + results.front() + "' and '" + output_ +
                            "' are written, but an element has one result: '" + output_ +
                            "'; write the one you want under 'single assign'");
  }

  int add_buffer(const std::string &image, const std::string &type, Buffer::Place place) {
    const int number = versions_[image]++;
    chain_.buffers.push_back(
        {place, number ? image + "_" + std::to_string(number) : image, type, false});
    return static_cast<int>(chain_.buffers.size()) - 1;
  }

  void bind(const Image &image) {
    const std::string name = key(image);
    if (!current_.count(name)) {
      const bool other = !is_written_before_read(name) && name != input_;
      current_[name] = add_buffer(name, image.type,
                                  name == input_ ? Buffer::source
                                  : other        ? Buffer::other
                                                 : Buffer::scratch);
    }
    if (chain_.buffers[current_[name]].type != image.type)
      unit_.error(unit_.place(image.variable->getLocation()),
                  "'" + image.name + "' and '" + name +
                      "' exchange images, but their pixels have different types; use one type");
  }

  bool is_written_before_read(const std::string &name) const {
    for (const Kernel *k : kernels_)
      for (const Image &image : k->images)
        if (key(image) == name) return !image.read || output_ == name;
    return true;
  }

  void refuse(const Stmt *s, const std::string &what) {
    unit_.error(unit_.place(s), what + "; use --emit standalone");
  }

  bool has_kernel(const Stmt *s) const {
    if (!s) return false;
    for (const Kernel *k : kernels_)
      if (s == k->nest[0].statement) return true;
    return std::any_of(s->child_begin(), s->child_end(),
                       [&](const Stmt *child) { return has_kernel(child); });
  }

  void walk(const Stmt *s) {
    if (!s || isa<NullStmt>(s)) return;
    for (Kernel *k : kernels_)
      if (s == k->nest[0].statement) return kernel(*k);
    if (const auto *block = dyn_cast<CompoundStmt>(s)) {
      for (const Stmt *child : block->body()) walk(child);
    } else if (const auto *declaration = dyn_cast<DeclStmt>(s)) {
      for (const Decl *d : declaration->decls())
        if (const auto *v = dyn_cast<VarDecl>(d);
            v && v->hasInit() && v->getType()->isPointerType())
          assign(s, name_of(v), v->getInit());
    } else if (const auto *loop = dyn_cast<ForStmt>(s); loop && has_kernel(loop)) {
      repeat(*loop);
    } else if (const auto *e = dyn_cast<Expr>(s)) {
      expression(e);
    } else if (!(isa<ReturnStmt>(s) && !cast<ReturnStmt>(s)->getRetValue())) {
      refuse(s, "an element can't run this host code between the kernels");
    }
  }

  void expression(const Expr *e) {
    e = e->IgnoreParenImpCasts();
    if (const auto *cleanups = dyn_cast<ExprWithCleanups>(e))
      return expression(cleanups->getSubExpr());
    if (const auto *set = dyn_cast<BinaryOperator>(e); set && set->isAssignmentOp()) {
      const VarDecl *v = variable_of(set->getLHS());
      if (v && v->getType()->isPointerType() && set->getOpcode() == BO_Assign)
        return assign(e, name_of(v), set->getRHS());
      if (v && v->isLocalVarDecl() && v->getType()->isArithmeticType() &&
          read_code(unit_, set->getRHS()).calls.empty())
        return;
    }
    if (const auto *unary = dyn_cast<UnaryOperator>(e); unary && unary->isIncrementDecrementOp())
      if (const VarDecl *v = variable_of(unary->getSubExpr());
          v && v->getType()->isArithmeticType())
        return;
    const auto *call = dyn_cast<CallExpr>(e);
    const FunctionDecl *f = call ? call->getDirectCallee() : nullptr;
    if (f && f->getNameAsString() == "swap" && call->getNumArgs() == 2) {
      const VarDecl *a = variable_of(call->getArg(0)), *b = variable_of(call->getArg(1));
      if (a && b && current_.count(key(name_of(a))) && current_.count(key(name_of(b))))
        return std::swap(current_[key(name_of(a))], current_[key(name_of(b))]);
    }
    refuse(e, "an element can't run this host code between the kernels");
  }

  void assign(const Stmt *at, const std::string &name, const Expr *value) {
    const VarDecl *v = variable_of(value);
    const auto image = v ? current_.find(key(name_of(v))) : current_.end();
    if (image == current_.end())
      return refuse(at, "an element can exchange images only by '" + name + " = IMAGE'");
    current_[name] = image->second;
  }

  void copy(int from, int to, const std::optional<Margins> &margins = {}) {
    const std::string name = chain_.function->getNameAsString() + "_c" + std::to_string(copies_++);
    chain_.steps.push_back(
        {.kind = Step::copy, .name = name, .from = from, .to = to, .margins = margins});
    read_.insert(from);
    filled_.insert(to);
  }

  /// Images that were not written yet hold the input, or zeros if there is none.
  void begin_with(int from, int to, const std::optional<Margins> &margins = {}) {
    if (from >= 0 && from != to) return copy(from, to, margins);
    chain_.steps.push_back({.kind = Step::clear, .to = to});
    filled_.insert(to);
  }

  /// A value computed outside the loops may be the number of the current repetition.
  void check_scalars(Kernel &k) {
    for (Scalar &s : k.scalars) {
      if (!s.from_host) continue;
      for (const std::size_t at : repeats_)
        if (loops_.at(at).variable == s.variable) {
          const auto first = constant_of(loops_.at(at).first, unit_.ast);
          if (!first) break;
          Step &step = chain_.steps[at];
          step.turn = s.name, step.first = *first, step.step = loops_.at(at).step;
          s.role = Role::turn;
        }
      if (s.role != Role::turn)
        unit_.error(unit_.place(s.variable->getLocation()),
                    "'" + s.name +
                        "' is computed outside the loops, which an element can't do; "
                        "compute it in the window, or use --emit standalone");
    }
  }

  void kernel(Kernel &k) {
    check_scalars(k);
    std::vector<Image> &images = k.images;
    const std::map<std::string, int> before = current_;
    // The filtered image, and the image whose pixels stay where no window writes.
    const int seen = input_.empty() ? -1 : before.at(input_);
    for (Image &image : images)
      if (image.read) {
        image.read_buffer = before.at(key(image));
        if (chain_.buffers[image.read_buffer].place == Buffer::scratch &&
            !filled_.count(image.read_buffer))
          begin_with(seen, image.read_buffer);
        read_.insert(image.read_buffer);
      }
    for (Image &image : images) {
      if (!image.written) continue;
      const int old = before.at(key(image));
      const bool reuse = chain_.buffers[old].place == Buffer::scratch &&
                         std::none_of(images.begin(), images.end(), [&](const Image &i) {
                           return i.read && i.read_buffer == old;
                         });
      const int to = reuse ? old : add_buffer(key(image), image.type, Buffer::scratch);
      if (!pixels_left_out(unit_, k, image).empty() && !(reuse && filled_.count(old))) {
        const int from = reuse ? seen : old;
        begin_with(from, to, image.sets_each_pixel() ? k.margins(unit_) : std::nullopt);
        if (key(image) == output_)
          note_left_out(unit_, k, image, from < 0 || from == to ? "" : chain_.buffers[from].name);
      }
      image.write_buffer = to;
      filled_.insert(to);
      current_[key(image)] = to;
    }
    chain_.steps.push_back({.kind = Step::kernel, .what = &k});
  }

  /// What repetitions write piece by piece must be filled before the first one.
  void fill(const Stmt *body) {
    for (const Kernel *k : kernels_) {
      if (!is_in(body, k->nest[0].statement)) continue;
      for (const Image &image : k->images) {
        const int to = current_.at(key(image));
        if (!image.written || chain_.buffers[to].place != Buffer::scratch ||
            pixels_left_out(unit_, *k, image).empty() || filled_.count(to))
          continue;
        begin_with(input_.empty() ? -1 : current_.at(input_), to);
      }
    }
  }

  bool is_in(const Stmt *outer, const Stmt *inner) const {
    return outer == inner ||
           std::any_of(outer->child_begin(), outer->child_end(),
                       [&](const Stmt *child) { return child && is_in(child, inner); });
  }

  /// Buffers that are read and written in a loop have the user's type, so that each repetition may
  /// follow any other. At the end of a repetition every image must be where the next one expects
  /// it.
  void repeat(const ForStmt &statement) {
    std::string why;
    const auto loop = read_loop(&statement, unit_.ast, why);
    if (!loop) return refuse(&statement, "an element can't repeat kernels in this loop: " + why);
    Step step{.kind = Step::repeat};
    if (!count(*loop, step))
      return refuse(&statement,
                    "an element can repeat kernels only a constant number of times or a "
                    "parameter's, such as 'for (k = 0; k < n; k++)'");
    std::set<std::string> names, written;
    const WindowBody code = read_code(unit_, statement.getBody());
    for (const Reference &r : code.references)
      if (current_.count(key(name_of(r.variable)))) {
        names.insert(key(name_of(r.variable)));
        if (r.access.write) written.insert(key(name_of(r.variable)));
      }
    for (const Kernel *k : kernels_)
      for (const Image &image : k->images)
        if (image.written && names.count(key(image))) written.insert(key(image));
    for (const std::string &name : names)
      if (const int old = current_[name];
          written.count(name) && chain_.buffers[old].place != Buffer::scratch) {
        current_[name] = add_buffer(name, chain_.buffers[old].type, Buffer::scratch);
        copy(old, current_[name]);
      }
    fill(statement.getBody());
    // Pointers that are not images serve to exchange images.
    for (auto c = current_.begin(); c != current_.end();)
      c = versions_.count(c->first) ? std::next(c) : current_.erase(c);
    const std::map<std::string, int> entry = current_;
    repeats_.push_back(chain_.steps.size());
    loops_[repeats_.back()] = *loop;
    chain_.steps.push_back(step);
    walk(statement.getBody());
    repeats_.pop_back();
    close(&statement, entry);
    chain_.steps.push_back({.kind = Step::end});
    current_ = entry;
  }

  bool count(const Loop &loop, Step &step) {
    const WindowBody none;
    const std::vector<Loop> no_nest;
    Evaluator value(unit_, no_nest, none);
    if (const auto turns = value.turns(loop)) return step.count = *turns, true;
    const MaybeForm first = value(loop.first), bound = value(loop.bound);
    const MaybeForm n = loop.upwards() ? plus(bound, first, -1) : plus(first, bound, -1);
    if (std::abs(loop.step) != 1 || !n || n->terms.size() != 1 || n->terms.begin()->second != 1 ||
        n->low != n->high)
      return false;
    const VarDecl *v = n->terms.begin()->first;
    if (!isa<ParmVarDecl>(v)) return false;
    step.name = name_of(v);
    step.count = n->low + (loop.inclusive() ? 1 : 0);
    chain_.counts.push_back({v, step.name, unit_.type_name(v->getType().getCanonicalType()),
                             Role::value, false, false});
    return true;
  }

  /// Moves the contents of each name back to the buffer where it began.
  void close(const Stmt *at, const std::map<std::string, int> &entry) {
    std::map<int, int> moved;  // buffer at the beginning -> where its contents are now
    std::set<int> used;
    for (const auto &[name, buffer] : entry) {
      const int now = current_.at(name);
      const auto known = moved.find(buffer);
      if (known != moved.end() ? known->second != now : !used.insert(now).second)
        return refuse(at, "an element can't tell the images of this loop apart when it repeats");
      moved[buffer] = now;
    }
    for (auto m = moved.begin(); m != moved.end(); ++m) {
      if (m->first == m->second) continue;
      chain_.steps.push_back({.kind = Step::swap, .from = m->first, .to = m->second});
      swapped_.insert({m->first, m->second});
      for (auto later = std::next(m); later != moved.end(); ++later)
        if (later->second == m->first) later->second = m->second;
    }
  }

  void finish_output() {
    if (output_.empty()) return;
    const int last = current_[output_];
    if (chain_.buffers[last].place == Buffer::scratch && !read_.count(last) &&
        !swapped_.count(last)) {
      chain_.buffers[last].place = Buffer::destination;
    } else {
      const int to = add_buffer(output_, chain_.buffers[last].type, Buffer::destination);
      copy(last, to);
    }
    for (Step &s : chain_.steps) {
      for (const int buffer : {s.from, s.to})
        if (buffer >= 0) chain_.buffers[buffer].used = true;
      if (s.what)
        for (const Image &image : s.what->images)
          for (const int buffer : {image.read_buffer, image.write_buffer})
            if (buffer >= 0) chain_.buffers[buffer].used = true;
    }
  }

  const Unit &unit_;
  std::vector<Kernel *> kernels_;
  Chain chain_;
  std::string input_, output_;
  std::map<std::string, std::string> aliases_;
  std::map<std::string, int> current_, versions_;
  std::set<int> read_, filled_, swapped_;
  int copies_ = 0;
  std::vector<std::size_t> repeats_;   // steps, open now
  std::map<std::size_t, Loop> loops_;  // of these
};

}  // namespace

std::vector<Chain> make_chains(const Unit &unit,
                               const std::vector<std::unique_ptr<Kernel>> &kernels) {
  std::vector<Chain> chains;
  std::set<const FunctionDecl *> done;
  for (const auto &first : kernels) {
    if (!done.insert(first->function).second) continue;
    std::vector<Kernel *> mine;
    for (const auto &k : kernels)
      if (k->function == first->function) mine.push_back(k.get());
    chains.push_back(Builder(unit, first->function, std::move(mine)).build());
  }
  return chains;
}

}  // namespace cudascan::gswo
