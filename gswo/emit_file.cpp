// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gswo/emit_file.h"

#include <clang/AST/DeclTemplate.h>

#include <algorithm>
#include <sstream>

#include "gswo/emit_kernel.h"

namespace cudascan::gswo {

using namespace clang;

namespace {

/// Removes text except for its line ends and macro definitions.
void remove(const Unit &unit, Range range, Edits &edits) {
  const std::string &text = unit.source.text();
  if (range.end < text.size() && text[range.end] == ';') ++range.end;
  const auto blank = [&](unsigned end) {
    const auto lines = std::count(text.begin() + range.begin, text.begin() + end, '\n');
    edits.insert({range.begin, end, std::string(static_cast<std::size_t>(lines), '\n')});
  };
  for (const MacroLine &macro : macro_lines(unit.source, unit.notes)) {
    if (macro.begin < range.begin || macro.end > range.end) continue;
    blank(macro.begin);
    range.begin = macro.end;
  }
  blank(range.end);
}

class File {
 public:
  File(const Unit &unit, const std::vector<std::unique_ptr<Kernel>> &kernels,
       const std::map<const FunctionDecl *, std::string> &replaced, bool host)
      : unit_(unit), replaced_(replaced), host_(host) {
    for (const auto &k : kernels) {
      edits_.insert(k->function_edits.begin(), k->function_edits.end());
      for (const FunctionDecl *f : k->functions) functions_.insert(f->getCanonicalDecl());
      globals_.insert(k->globals.begin(), k->globals.end());
    }
  }

  std::string write() {
    for (const auto &[function, text] : replaced_) {
      const auto range = range_of(unit_, function);
      if (!range) {
        unit_.error(unit_.place(function->getLocation()),
                    "this function comes from a macro; write it out here");
        return {};
      }
      edits_.insert({range->begin, range->end,
                     text + unit_.source.line_directive(unit_.source.line(range->end))});
    }
    for (const FunctionDecl *f : functions_)
      for (const FunctionDecl *declared : f->redecls())
        if (unit_.in_file(declared->getLocation()) && !declared->isImplicit())
          if (const auto place = unit_.typed(declared->getBeginLoc()))
            edits_.insert({*place, *place, host_ ? "GSWO_HOST_DEVICE " : "GSWO_DEVICE "});
    for (const VarDecl *v : globals_) mark(v);
    if (!host_)
      for (const Decl *d : unit_.ast.getTranslationUnitDecl()->decls()) leave_out(d);
    const auto size = static_cast<unsigned>(unit_.source.text().size());
    return unit_.source.line_directive(1) + apply(unit_.source, {0, size}, edits_);
  }

 private:
  /// Constants that kernels read from memory. Compilers treat integers as constants anyway, and
  /// nvcc treats other numbers so, too.
  void mark(const VarDecl *v) {
    const auto place = unit_.typed(v->getBeginLoc());
    const QualType type = v->getType();
    if (place && !v->isConstexpr() && !(host_ ? type->isArithmeticType() : type->isIntegerType()))
      edits_.insert({*place, *place, "GSWO_CONST "});
  }

  /// `const float a = 1, b = 2;` is kept or removed as a whole.
  bool is_kept(const VarDecl *v) const {
    for (const Decl *d : v->getDeclContext()->decls()) {
      const auto *other = dyn_cast<VarDecl>(d);
      if (!other || other->getBeginLoc() != v->getBeginLoc()) continue;
      const QualType type = other->getType();
      if (globals_.count(other) || (unit_.is_constant(type) && type->isIntegerType())) return true;
    }
    return false;
  }

  void leave_out(const Decl *d) {
    if (d->isImplicit() || !unit_.in_file(d->getLocation())) return;
    if (isa<LinkageSpecDecl>(d) || isa<NamespaceDecl>(d)) {
      for (const Decl *inner : cast<DeclContext>(d)->decls()) leave_out(inner);
      return;
    }
    const auto *f = dyn_cast<FunctionDecl>(d);
    if (const auto *t = dyn_cast<FunctionTemplateDecl>(d)) f = t->getTemplatedDecl();
    const auto *v = dyn_cast<VarDecl>(d);
    const bool keep =
        f ? replaced_.count(f) || functions_.count(f->getCanonicalDecl()) : !v || is_kept(v);
    const auto *linkage = dyn_cast<LinkageSpecDecl>(d->getLexicalDeclContext());
    const bool alone = linkage && !linkage->hasBraces();
    const auto range = unit_.typed(alone ? linkage->getSourceRange() : d->getSourceRange());
    if (!keep && range) remove(unit_, *range, edits_);
  }

  const Unit &unit_;
  const std::map<const FunctionDecl *, std::string> &replaced_;
  const bool host_;
  Edits edits_;
  std::set<const FunctionDecl *> functions_;
  std::set<const VarDecl *> globals_;
};

class Manifest {
 public:
  Manifest(const Unit &unit, const Chain &chain) : unit_(unit), chain_(chain) {}

  std::string write() {
    line() << "function " << chain_.function->getNameAsString() << "\n";
    scalars();
    for (const Buffer &b : chain_.buffers) {
      static const char *const kPlaces[] = {"scratch", "source", "destination", "other"};
      if (b.used)
        line() << "image " << b.name << " " << kPlaces[b.place] << " : " << b.type << "\n";
    }
    for (const Step &s : chain_.steps) step(s);
    line() << "done\n";
    return out_.str();
  }

 private:
  std::ostream &line() { return out_ << "//@gswo "; }
  const std::string &name(int buffer) const { return chain_.buffers[buffer].name; }

  void scalars() {
    std::vector<std::string> unused;
    for (const ParmVarDecl *p : chain_.function->parameters()) {
      const QualType type = p->getType().getNonReferenceType();
      if (!type->isArithmeticType() && !type->isEnumeralType()) continue;  // an image
      if (const Constant *constant = unit_.constant(p))
        line() << "constant " << name_of(p) << " " << constant->text << "\n";
      else if (!name_of(p).empty())
        unused.push_back(name_of(p));
    }
    std::map<std::string, Scalar> all;
    std::vector<std::string> order;
    const auto add = [&](const Scalar &s) {
      const auto [at, added] = all.try_emplace(s.name, s);
      if (added) order.push_back(s.name);
      if (at->second.role == Role::value) at->second.role = s.role;
    };
    for (const Step &s : chain_.steps)
      if (s.what)
        for (const Scalar &scalar : s.what->scalars) add(scalar);
    for (const Scalar &scalar : chain_.counts) add(scalar);
    for (const std::string &n : order) {
      const Scalar &s = all.at(n);
      line() << "scalar " << n
             << (s.role == Role::height  ? " height"
                 : s.role == Role::width ? " width"
                 : s.role == Role::turn  ? " turn"
                                         : " value")
             << default_of(s) << " : " << s.type << "\n";
    }
    for (const std::string &n : unused)
      if (!all.count(n)) line() << "unused " << n << "\n";
  }

  std::string default_of(const Scalar &s) const {
    const auto *p = dyn_cast<ParmVarDecl>(s.variable);
    if (!p || !p->hasDefaultArg() || p->hasUninstantiatedDefaultArg() || p->hasUnparsedDefaultArg())
      return {};
    Expr::EvalResult value;
    if (p->getDefaultArg()->isValueDependent() ||
        !p->getDefaultArg()->EvaluateAsRValue(value, unit_.ast))
      return {};
    std::ostringstream text;
    text.precision(17);
    if (value.Val.isInt() && value.Val.getInt().getActiveBits() < 63)
      text << " " << value.Val.getInt().getExtValue();
    else if (value.Val.isFloat() && value.Val.getFloat().isFinite()) {
      llvm::APFloat number = value.Val.getFloat();
      bool lost = false;
      number.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &lost);
      text << " " << number.convertToDouble();
    }
    return text.str();
  }

  void step(const Step &s) {
    switch (s.kind) {
      case Step::kernel:
        return kernel(*s.what);
      case Step::copy:
        line() << "copy " << s.name << " " << name(s.from) << " " << name(s.to) << "\n";
        return;
      case Step::clear:
        line() << "clear " << name(s.to) << "\n";
        return;
      case Step::repeat:
        line() << "repeat " << s.count << " " << (s.name.empty() ? "-" : s.name);
        if (!s.turn.empty()) out_ << " turn " << s.turn << " " << s.first << " " << s.step;
        out_ << "\n";
        return;
      case Step::end:
        line() << "end\n";
        return;
      case Step::swap:
        line() << "swap " << name(s.from) << " " << name(s.to) << "\n";
        return;
    }
  }

  void kernel(const Kernel &k) {
    // Columns may start up to a chunk before the loop; the grid then needs that much more at its
    // end.
    const int lead = k.lead(unit_, k.columns());
    const int before = lead && k.takes_neighbours() ? k.chunk_x - 1 : 0;
    line() << "kernel " << k.name << " block " << k.tile_x / k.chunk_x << " "
           << k.tile_y / k.chunk_y << " tile " << k.tile_x << " " << k.tile_y << " origin "
           << k.origin(unit_, k.rows()) << " " << k.origin(unit_, k.columns()) << " lead "
           << k.lead(unit_, k.rows()) << " " << lead + before << " shared "
           << tile_bytes(unit_, k, &chain_) << "\n";
    for (const Image &i : k.images)
      if (i.read)
        line() << "read " << name(i.read_buffer) << " " << i.y0 << " " << i.y1 << " " << i.x0 << " "
               << i.x1 << (i.known ? "" : " unbounded") << "\n";
    for (const Image &i : k.images)
      if (i.written) line() << "write " << name(i.write_buffer) << "\n";
    for (const Scalar &s : k.scalars) line() << "value " << s.name << "\n";
    line() << "launch\n";
  }

  const Unit &unit_;
  const Chain &chain_;
  std::ostringstream out_;
};

}  // namespace

std::optional<Range> range_of(const Unit &unit, const FunctionDecl *function) {
  const auto *linkage = dyn_cast<LinkageSpecDecl>(function->getLexicalDeclContext());
  const bool alone = linkage && !linkage->hasBraces();
  return unit.typed(alone ? linkage->getSourceRange() : function->getSourceRange());
}

std::string with_linkage(const FunctionDecl *function, const std::string &text) {
  const auto *linkage = dyn_cast<LinkageSpecDecl>(function->getLexicalDeclContext());
  return linkage && linkage->hasBraces() ? "\nextern \"C++\" {" + text + "}\n" : text;
}

std::string edited_file(const Unit &unit, const std::vector<std::unique_ptr<Kernel>> &kernels,
                        const std::map<const FunctionDecl *, std::string> &replaced, bool host) {
  return File(unit, kernels, replaced, host).write();
}

std::string clones_text(const std::vector<std::unique_ptr<Kernel>> &kernels,
                        const FunctionDecl *function, std::set<std::string> &done) {
  std::string text;
  for (const auto &k : kernels)
    if (k->function == function)
      for (const auto &[name, clone] : k->clones)
        if (done.insert(name).second)
          text += "// " + name + ": with this number known, its loops can be unrolled\n" + clone +
                  kHere;
  return text;
}

std::string copy_text(const Chain &chain, const Step &s) {
  const std::string types =
      chain.buffers[s.from].memory_type() + ", " + chain.buffers[s.to].memory_type();
  if (!s.margins) return "GSWO_COPY_KERNEL(" + s.name + ", " + types + ")\n";
  std::string edges;
  for (const long n : {s.margins->above, s.margins->below, s.margins->left, s.margins->right})
    edges += ", " + std::to_string(n);
  return "GSWO_COPY_EDGES(" + s.name + ", " + types + edges + ")\n";
}

std::string kernel_file(const Unit &unit, const std::vector<std::unique_ptr<Kernel>> &kernels,
                        const std::vector<Chain> &chains) {
  std::string manifest = "//@gswo manifest " + std::to_string(kManifestVersion) + "\n";
  std::map<const FunctionDecl *, std::string> replaced;
  std::set<std::string> clones;
  for (const Chain &chain : chains) {
    manifest += Manifest(unit, chain).write();
    std::string text = "\n" + std::string(kHere) + clones_text(kernels, chain.function, clones);
    for (const auto &k : kernels)
      if (k->function == chain.function) text += kernel_text(unit, *k, &chain);
    for (const Step &s : chain.steps)
      if (s.kind == Step::copy) text += copy_text(chain, s);
    replaced[chain.function] = with_linkage(chain.function, text);
  }
  const std::string text = "// Written by gswo-cc " GSWO_VERSION " from " + unit.source.name() +
                           ". You may edit it and use the edited file as the filter.\n" + manifest +
                           "#include \"gswo_rt.h\"\n" + edited_file(unit, kernels, replaced, false);
  return number_lines(unit.options, text);
}

std::string number_lines(const Options &options, const std::string &text) {
  const std::string here = std::string(kHere, std::char_traits<char>::length(kHere) - 1);
  const std::string name = options.output.empty() ? "generated.cu" : options.output;
  const Source output(name, "");
  std::istringstream lines(text);
  std::string result, one;
  for (unsigned line = 2; std::getline(lines, one); ++line)
    result += one == here ? output.line_directive(line) : one + "\n";
  return result;
}

}  // namespace cudascan::gswo
