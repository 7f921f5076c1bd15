// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gswo/kernel.h"

#include <clang/AST/RecursiveASTVisitor.h>

#include <algorithm>
#include <array>

namespace cudascan::gswo {

using namespace clang;

namespace {

/// All loops of the file, with the functions they are in.
struct Loops : RecursiveASTVisitor<Loops> {
  explicit Loops(const Unit &u) : unit(u) {}
  const Unit &unit;
  const FunctionDecl *function = nullptr;
  std::map<unsigned, std::pair<const FunctionDecl *, const ForStmt *>> by_place;

  bool shouldVisitTemplateInstantiations() const { return false; }
  template <typename Declaration, typename Traverse>
  bool in_function(Declaration *d, Traverse traverse) {
    const FunctionDecl *outer = function;
    function = d;
    const bool on = (this->*traverse)(d);
    function = outer;
    return on;
  }
  bool TraverseFunctionDecl(FunctionDecl *f) {
    return in_function(f, &RecursiveASTVisitor::TraverseFunctionDecl);
  }
  bool TraverseCXXMethodDecl(CXXMethodDecl *f) {
    return in_function(f, &RecursiveASTVisitor::TraverseCXXMethodDecl);
  }
  bool VisitForStmt(ForStmt *loop) {
    if (function && unit.in_file(loop->getForLoc()))
      by_place.try_emplace(unit.place(loop->getForLoc()), function, loop);
    return true;
  }
};

/// The nest of two loops after a pragma.
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
                      "outer of the two loops over the image"),
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
  for (int depth = 0; depth < 2; ++depth) {
    while (const auto *block = dyn_cast<CompoundStmt>(statement)) {
      if (block->size() != 1) break;
      statement = block->body_front();
    }
    const auto *loop = dyn_cast<ForStmt>(statement);
    if (!loop)
      return unit.error(unit.place(statement),
                        "two 'for' loops with nothing between them are needed here; move the code "
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
  return true;
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
  const Loop &inner = kernel.nest[1];
  for (const Expr *e : {inner.first, inner.bound})
    for (const VarDecl *v : variables_in(e))
      if (v == kernel.nest[0].variable)
        unit.error(unit.place(e),
                   "the bounds of the inner loop depend on the outer one; let it run "
                   "over whole rows and use a condition in the window");
  if (inner.variable == kernel.nest[0].variable)
    unit.error(unit.place(inner.statement->getForLoc()), "both loops count the same variable");
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
  for (const Role role : {Role::height, Role::width}) {
    const Loop &loop = role == Role::height ? kernel.rows() : kernel.columns();
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

/// Whether a window keeps samples in its own array, which neighbours cannot share.
bool has_array(const Kernel &kernel) {
  const auto is_array = [](const VarDecl *v) { return v->getType()->isArrayType(); };
  const WindowBody &w = kernel.window;
  return std::any_of(w.own.begin(), w.own.end(), is_array) ||
         std::any_of(w.initialised.begin(), w.initialised.end(), is_array);
}

/// Default number of pixels for a thread, columns and rows: as many as share much work and fit into
/// registers.
std::array<int, 2> best_chunk(const Kernel &kernel) {
  if (!kernel.takes_neighbours()) return {1, 1};
  // Each block adds its table to that of the image.
  if (std::any_of(kernel.reductions.begin(), kernel.reductions.end(),
                  [](const Reduction &r) { return r.is_table(); }))
    return {4, 16};
  long rows = 1, columns = 1;
  for (const Image &i : kernel.images) {
    if (!i.read) continue;
    if (!i.known) return {1, 1};
    rows = std::max(rows, i.y1 - i.y0 + 1L);
    columns = std::max(columns, i.x1 - i.x0 + 1L);
  }
  if (rows * columns == 1) return {4, kernel.reductions.empty() ? 1 : 4};
  if (kernel.sorts) return {1, 8};
  if (has_array(kernel)) return rows * columns <= 9 ? std::array{4, 2} : std::array{1, 1};
  if (rows * columns > 256) return {1, 1};
  return columns <= 3 ? std::array{2, 8} : columns <= 5 ? std::array{2, 12} : std::array{4, 4};
}

/// The largest divisor of `whole` up to `best`; `best` itself if `whole` is 0.
int divisor(int whole, int best) {
  while (whole % best != 0) --best;
  return best;
}

void find_block(const Unit &unit, Kernel &kernel) {
  constexpr int kBlockWidth = 32, kBlockHeight = 4;  // threads
  const Pragma &p = *kernel.pragma;
  const Options &o = unit.options;
  const auto given = [](int option, int pragma) { return option ? option : pragma; };
  kernel.tile_x = given(o.tile_width, p.tile_x), kernel.tile_y = given(o.tile_height, p.tile_y);
  kernel.chunk_x = given(o.chunk_width, p.chunk_x);
  kernel.chunk_y = given(o.chunk_height, p.chunk_y);
  const auto [best_x, best_y] = best_chunk(kernel);
  // A tile without a chunk has a thread for each pixel, as in the paper.
  if (!kernel.chunk_x) kernel.chunk_x = p.tile_x ? 1 : divisor(kernel.tile_x, best_x);
  if (!kernel.chunk_y) kernel.chunk_y = p.tile_x ? 1 : divisor(kernel.tile_y, best_y);
  if (!kernel.tile_x) kernel.tile_x = kBlockWidth * kernel.chunk_x;
  if (!kernel.tile_y) kernel.tile_y = kBlockHeight * kernel.chunk_y;
  const int threads = (kernel.tile_x / kernel.chunk_x) * (kernel.tile_y / kernel.chunk_y);
  if (kernel.tile_x % kernel.chunk_x || kernel.tile_y % kernel.chunk_y || threads > 1024)
    unit.error(p.begin, "a tile of " + std::to_string(kernel.tile_x) + " x " +
                            std::to_string(kernel.tile_y) + " pixels and a chunk of " +
                            std::to_string(kernel.chunk_x) + " x " +
                            std::to_string(kernel.chunk_y) +
                            ": the tile must be a multiple of the chunk and give at most 1024 "
                            "threads, tile / chunk; " +
                            (o.tile_width || o.tile_height || o.chunk_width || o.chunk_height
                                 ? "change tile-width, tile-height, chunk-width and chunk-height"
                                 : "write tile(32, 8)"));
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

bool Kernel::covers(const Unit &unit) const {
  Evaluator value(unit, nest, window);
  for (const Loop *loop : {&rows(), &columns()}) {
    if (origin(unit, *loop)) continue;
    const MaybeForm low = value(loop->upwards() ? loop->first : loop->bound);
    const MaybeForm high = value(loop->upwards() ? loop->bound : loop->first);
    if (!low || !high || std::abs(loop->step) != 1) return false;
    const long begin = low->high + (!loop->upwards() && !loop->inclusive() ? 1 : 0);
    const long end = high->low + (loop->upwards() && !loop->inclusive() ? 0 : 1);
    const Scalar *size = scalar(loop == &rows() ? Role::height : Role::width);
    if (!low->is_constant() || begin > 0 || !size || !high->follows(size->variable) || end < 0)
      return false;
  }
  return true;
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
