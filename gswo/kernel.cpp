// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gswo/kernel.h"

#include <algorithm>

#include "gswo/ast_walker.h"

namespace cudascan::gswo {

using namespace clang;

namespace {

/// All loops of the file, with the functions they are in.
struct Loops : AstWalker {
  explicit Loops(const Unit &u) : unit(u) {}
  const Unit &unit;
  const FunctionDecl *function = nullptr;
  std::map<unsigned, std::pair<const FunctionDecl *, const ForStmt *>> by_place;

  template <typename Walk>
  bool in_function(FunctionDecl *f, Walk walk) {
    const FunctionDecl *outer = std::exchange(function, f);
    const bool on = walk();
    function = outer;
    return on;
  }
  bool TraverseFunctionDecl(FunctionDecl *f) override {
    return in_function(f, [&] { return AstWalker::TraverseFunctionDecl(f); });
  }
  bool TraverseCXXMethodDecl(CXXMethodDecl *f) override {
    return in_function(f, [&] { return AstWalker::TraverseCXXMethodDecl(f); });
  }
  bool VisitForStmt(ForStmt *loop) override {
    if (function && unit.in_file(loop->getForLoc()))
      by_place.try_emplace(unit.place(loop->getForLoc()), function, loop);
    return true;
  }
};

/// The nest of loops after a pragma.
bool find_nest(const Unit &unit, Kernel &kernel, const Loops &loops) {
  const Pragma &pragma = *kernel.pragma;
  const std::vector<Token> &tokens = unit.notes.tokens;
  std::size_t k = 0;
  while (k < tokens.size() && (tokens[k].begin < pragma.end || tokens[k].directive)) ++k;
  const auto found =
      k < tokens.size() ? loops.by_place.find(tokens[k].begin) : loops.by_place.end();
  if (found == loops.by_place.end())
    return unit.error(pragma.begin,
                      "no 'for' loop follows this pragma; put it before the "
                      "outermost of the loops over the image"),
           false;
  kernel.function = found->second.first;
  const unsigned at = unit.place(kernel.function->getLocation());
  const std::string called = "'" + kernel.function->getNameAsString() + "'";
  if (kernel.function->isDependentContext())
    return unit.error(at, called + " is a template; write a function with its types spelled out"),
           false;
  if (isa<CXXMethodDecl>(kernel.function))
    return unit.error(at, called + " belongs to a class or is a lambda; write a free function"),
           false;
  if (kernel.function->isVariadic() || kernel.function->isMain())
    return unit.error(at, called +
                              " can't be a filter; write a function of its own, with the "
                              "images and numbers as parameters"),
           false;
  const Stmt *statement = found->second.second;
  for (int depth = 0; depth < pragma.nest; ++depth) {
    while (const auto *block = dyn_cast<CompoundStmt>(statement)) {
      if (block->size() != 1) break;
      statement = block->body_front();
    }
    const auto *loop = dyn_cast<ForStmt>(statement);
    if (!loop)
      return unit.error(unit.place(statement),
                        std::string(pragma.nest == 3 ? "three" : "two") +
                            " 'for' loops with nothing between them are needed here; move the code "
                            "between them into the inner one"),
             false;
    std::string why;
    const auto read = read_loop(loop, unit.ast, why);
    if (!read)
      return unit.error(unit.place(loop->getForLoc()), "this loop can't become threads: " + why),
             false;
    kernel.nest.push_back(*read);
    statement = loop->getBody();
  }
  kernel.body = statement;
  if (pragma.nest == 3) kernel.z = 0, kernel.y = 1, kernel.x = 2;
  return true;
}

void check_loops(const Unit &unit, const Loop &outer, const Loop &inner) {
  for (const Expr *e : {inner.first, inner.bound})
    for (const VarDecl *v : variables_in(e))
      if (v == outer.variable)
        unit.error(unit.place(e),
                   "the bounds of the inner loop depend on the outer one; let it run "
                   "over whole rows and use a condition in the window");
  if (inner.variable == outer.variable)
    unit.error(unit.place(inner.statement->getForLoc()), "both loops count the same variable");
}

void check_jumps(const Unit &unit, const Kernel &kernel) {
  const WindowBody &w = kernel.window;
  for (const Stmt *s : w.breaks)
    unit.error(unit.place(s),
               "'break' ends the loop over the image, so later windows would depend on "
               "this one; use 'continue' or a condition");
  for (const Stmt *s : w.exits)
    unit.error(unit.place(s),
               "'return' and 'goto' can't leave a window; use 'continue' or a "
               "condition");
  for (const Expr *e : w.dereferences)
    unit.error(unit.place(e), "a window can't follow pointers; write a subscript instead of '*'");
  for (const Reference &r : w.references)
    for (const Loop &loop : kernel.nest)
      if (r.variable == loop.variable && r.access.write)
        unit.error(unit.place(r.name), "the window changes the loop variable '" +
                                           name_of(r.variable) +
                                           "'; copy it into another variable first");
  for (std::size_t k = 1; k < kernel.nest.size(); ++k)
    for (std::size_t outer = 0; outer < k; ++outer)
      check_loops(unit, kernel.nest[outer], kernel.nest[k]);
}

/// 'continue' ends this window.
void edit_continues(const Unit &unit, Kernel &kernel) {
  for (const Stmt *s : kernel.window.continues) {
    if (const auto range = unit.typed(s->getSourceRange()))
      kernel.edits.insert({range->begin, range->end, "return"});
    else
      unit.error(unit.place(s), "this 'continue' comes from a macro; write it out here");
  }
}

/// Loop bounds tell which parameters are the size of the image.
void find_roles(const Unit &unit, Kernel &kernel) {
  Evaluator value(unit, kernel.nest, kernel.window);
  for (const Role role : {Role::height, Role::width, Role::depth}) {
    if (role == Role::depth && !kernel.is_volume()) continue;
    const Loop &loop = role == Role::height  ? kernel.rows()
                       : role == Role::width ? kernel.columns()
                                             : kernel.slices();
    const MaybeForm end = value(loop.upwards() ? loop.bound : loop.first);
    for (Scalar &s : kernel.scalars)
      if (end && end->terms.count(s.variable) && end->terms.at(s.variable) == 1 &&
          s.role == Role::value && !kernel.scalar(role))
        s.role = role;
  }
  for (const Image &image : kernel.images)
    for (Scalar &s : kernel.scalars)
      if (s.variable == image.stride_variable && s.role == Role::value &&
          !kernel.scalar(Role::width))
        s.role = Role::width;
}

/// The loops of a pragma, before their variables are analysed.
std::unique_ptr<Kernel> read_kernel(const Unit &unit, const Pragma &pragma, const Loops &loops) {
  auto kernel = std::make_unique<Kernel>();
  kernel->pragma = &pragma;
  for (const Pragma &p : unit.notes.pragmas)
    if (p.kind == PragmaKind::parallel && p.holds(pragma.begin)) kernel->parallel = &p;
  if (!kernel->parallel)
    return unit.error(pragma.begin, "'#pragma for' must be in the block of a '#pragma parallel'"),
           nullptr;
  if (!find_nest(unit, *kernel, loops)) return nullptr;
  kernel->window = read_window(unit, kernel->body, kernel->function);
  return kernel;
}

/// A loop can become threads only once: refuses a kernel whose loops belong to another kernel or
/// are inside its window.
bool is_apart(const Unit &unit, const Kernel &earlier, const Kernel &kernel) {
  const clang::ForStmt *outer = earlier.nest[0].statement, *loop = kernel.nest[0].statement;
  const unsigned at = unit.place(loop);
  if (at < unit.place(outer) || at > unit.place(outer->getEndLoc())) return true;
  unit.error(kernel.pragma->begin,
             loop == outer ? "this loop already has a '#pragma for'; remove one of them"
                           : "this loop is inside another one with a '#pragma for', which becomes "
                             "threads; remove this pragma");
  return false;
}

/// Of the block of `parallel` only the loops run in a program.
void check_blocks(const Unit &unit, const std::vector<std::unique_ptr<Kernel>> &kernels) {
  const auto is_in_windows = [&](unsigned place) {
    return std::any_of(kernels.begin(), kernels.end(), [&](const auto &k) {
      const ForStmt *loop = k->nest[0].statement;
      return unit.place(loop) <= place && place <= unit.place(loop->getEndLoc());
    });
  };
  for (const auto &k : kernels) {
    const WindowBody code = read_code(unit, k->function->getBody());
    for (const Reference &r : code.references)
      if (const unsigned place = unit.place(r.name);
          code.access_of(r).write && k->parallel->holds(place) && !is_in_windows(place))
        unit.error(place, "'" + name_of(r.variable) +
                              "' is set in the block of 'parallel'. Only its loops run; set it "
                              "before the block");
  }
}

/// Generated code contains the windows of a function, not its other lines.
void check_macros(const Unit &unit, const std::vector<std::unique_ptr<Kernel>> &kernels) {
  for (const MacroLine &macro : macro_lines(unit.source, unit.notes))
    if (std::any_of(kernels.begin(), kernels.end(), [&](const auto &k) {
          const auto body = unit.typed(k->function->getSourceRange());
          return body && body->begin <= macro.begin && macro.begin < body->end;
        }))
      unit.error(macro.begin,
                 "a function with windows can't have '#define' or '#undef' in it; move this line "
                 "before the function");
}

void find_parts(const Unit &unit, Kernel &kernel) {
  check_jumps(unit, kernel);
  edit_continues(unit, kernel);
  const int errors = unit.source.errors();
  find_reductions(unit, kernel);
  if (unit.source.errors() != errors) return;
  find_images(unit, kernel);
  if (!unit.source.errors() && kernel.reductions.empty() &&
      std::none_of(kernel.images.begin(), kernel.images.end(),
                   [](const Image &i) { return i.written; }))
    unit.error(kernel.pragma->begin,
               "no image is written here; assign the result of a window, such as out[y][x] = ...");
  find_variables(unit, kernel);
  find_roles(unit, kernel);
  find_functions(unit, kernel);
  find_edges(unit, kernel);
  find_sorts(unit, kernel);
  find_sums(unit, kernel);
  find_block(unit, kernel);
}

}  // namespace

Image *Kernel::image(const VarDecl *variable) {
  for (Image &i : images)
    if (i.variable == variable) return &i;
  return nullptr;
}

const Reduction *Kernel::reduction(const VarDecl *variable) const {
  for (const Reduction &r : reductions)
    if (r.variable == variable) return &r;
  return nullptr;
}

bool Kernel::needs_program() const {
  return is_volume() || !reductions.empty() || !tables.empty() ||
         std::any_of(images.begin(), images.end(), [](const Image &i) { return i.record; });
}

const Scalar *Kernel::scalar(Role role) const {
  for (const Scalar &s : scalars)
    if (s.role == role) return &s;
  return nullptr;
}

int Kernel::origin(const Unit &unit, const Loop &loop) const {
  Evaluator value(unit, nest, window);
  const MaybeForm first = value(loop.first), bound = value(loop.bound);
  if (!first || !bound || !first->is_number() || first->low == 0 || loop.step != 1) return 0;
  const MaybeForm count =
      plus(plus(bound, first, -1), LinearForm::number(loop.inclusive() ? 1 : 0));
  const bool whole = count && count->terms.size() == 1 && count->terms.begin()->second == 1 &&
                     count->low == 0 && count->high == 0;
  return whole ? static_cast<int>(first->low) : 0;
}

int Kernel::lead(const Unit &unit, const Loop &loop) const {
  Evaluator value(unit, nest, window);
  const MaybeForm first = value(loop.first);
  if (!first) return 0;
  if (loop.upwards() && first->is_number())
    return static_cast<int>(std::clamp(origin(unit, loop) - first->low, 0L, 65535L));
  // Downwards from height + 3: the last row is height - 1.
  const bool from_size = first->terms.size() == 1 && first->terms.begin()->second == 1;
  return !loop.upwards() && from_size ? static_cast<int>(std::clamp(first->low + 1, 0L, 65535L))
                                      : 0;
}

std::optional<Margins> Kernel::margins(const Unit &unit) const {
  Evaluator value(unit, nest, window);
  Margins found;
  for (const Loop *loop : {&rows(), &columns()}) {
    if (origin(unit, *loop)) continue;
    const MaybeForm low = value(loop->upwards() ? loop->first : loop->bound);
    const MaybeForm high = value(loop->upwards() ? loop->bound : loop->first);
    if (!low || !high || std::abs(loop->step) != 1) return {};
    const bool is_rows = loop == &rows();
    const Scalar *size = scalar(is_rows ? Role::height : Role::width);
    if (!low->is_number() || !size || !high->follows(size->variable) || high->low != high->high)
      return {};
    const long begin = low->low + (!loop->upwards() && !loop->inclusive() ? 1 : 0);
    const long end = high->low + (loop->upwards() && !loop->inclusive() ? 0 : 1);
    (is_rows ? found.above : found.left) = std::max(begin, 0L);
    (is_rows ? found.below : found.right) = std::max(-end, 0L);
  }
  return found;
}

std::vector<std::unique_ptr<Kernel>> find_kernels(Unit &unit) {
  Loops loops(unit);
  loops.TraverseDecl(unit.ast.getTranslationUnitDecl());
  std::vector<std::unique_ptr<Kernel>> kernels;
  std::map<std::string, int> numbers;
  for (const Pragma &pragma : unit.notes.pragmas)
    if (pragma.kind == PragmaKind::loop)
      if (auto kernel = read_kernel(unit, pragma, loops)) {
        const std::string called = kernel->function->getNameAsString();
        kernel->name = called + "_k" + std::to_string(numbers[called]++);
        if (!std::all_of(kernels.begin(), kernels.end(),
                         [&](const auto &earlier) { return is_apart(unit, *earlier, *kernel); }))
          continue;
        find_sizes(unit, *kernel);
        kernels.push_back(std::move(kernel));
      }
  check_macros(unit, kernels);
  if (unit.options.emit == Emit::standalone) check_blocks(unit, kernels);
  for (const auto &kernel : kernels) {
    check_constants(unit, *kernel);
    find_parts(unit, *kernel);
  }
  for (const Pragma &pragma : unit.notes.pragmas)
    if (pragma.kind == PragmaKind::parallel &&
        std::none_of(unit.notes.pragmas.begin(), unit.notes.pragmas.end(), [&](const Pragma &p) {
          return p.kind == PragmaKind::loop && pragma.holds(p.begin);
        }))
      unit.error(pragma.begin,
                 "the block of this pragma has no '#pragma for'; put one before the "
                 "two loops over the image");
  return kernels;
}

}  // namespace cudascan::gswo
