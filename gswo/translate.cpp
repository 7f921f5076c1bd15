// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gswo/translate.h"

#include <clang/Frontend/ASTUnit.h>

#include "gswo/check_generated.h"
#include "gswo/compile.h"
#include "gswo/emit_file.h"
#include "gswo/emit_standalone.h"
#include "gswo/strict.h"

namespace cudascan::gswo {

namespace {

/// Refuses what only programs can do.
void check_for_element(const Unit &unit, const std::vector<std::unique_ptr<Kernel>> &kernels) {
  for (const auto &k : kernels)
    if (k->is_volume())
      unit.error(k->pragma->begin,
                 "an element has frames, but nest(3) is for volumes; use --emit standalone");
    else if (!k->reductions.empty())
      unit.error(k->pragma->begin,
                 "an element can't use the result of 'reduction'; use --emit standalone");
    else if (k->needs_program())
      unit.error(k->pragma->begin,
                 "the pixels of an element are numbers, not structures; use --emit standalone");
}

}  // namespace

std::optional<std::string> translate(Source &source, const Options &options) {
  const Annotations notes = read_pragmas(source);
  if (options.system_headers && !source.errors()) check_files(source, options, notes);
  if (source.errors()) return {};
  if (options.emit == Emit::plain) return notes.plain;

  const auto ast =
      parse(options, notes.plain, source.name(), arguments_for(source.name()), nullptr);
  if (!ast || ast->getDiagnostics().hasErrorOccurred()) return {};
  Unit unit{options, source, notes, ast->getASTContext(), ast->getSourceManager(), {}};
  const auto kernels = find_kernels(unit);
  if (kernels.empty() && !source.errors())
    source.error(0,
                 "no '#pragma parallel' with a '#pragma for' in it; annotate the loops over the "
                 "image");
  if (source.errors()) return {};
  if (options.strict) check_strict(unit, kernels);
  if (source.errors()) return {};

  std::string text;
  if (options.emit == Emit::standalone) {
    check_generated(source, options, kernels, kernel_file(unit, kernels, unchained(kernels)));
    if (!source.errors()) text = standalone_file(unit, kernels);
  } else {
    check_for_element(unit, kernels);
    if (source.errors()) return {};
    const auto chains = make_chains(unit, kernels);
    if (source.errors()) return {};
    text = kernel_file(unit, kernels, chains);
    check_generated(source, options, kernels, text);
  }
  if (source.errors()) return {};
  return text;
}

}  // namespace cudascan::gswo
