// SPDX-License-Identifier: LGPL-2.1-or-later
#include "say_plan.h"

#include <iostream>

namespace cudascan::scan {

std::string outputs_of(const Item &item, const Place &place) {
  const auto path = [&](const std::string &name) { return (place.folder() / name).string(); };
  const Half &left = item.half(Part::left), &right = item.half(Part::right);
  if (left.output.empty() && right.output.empty()) return path(item.output);
  const auto half = [&](const Half &one) {
    return one.skipped ? std::string("nothing, as it is blank") : path(one.output);
  };
  const std::string both = half(left) + " and " + half(right);
  if (item.output.empty() || left.done || right.done) return both;
  return path(item.output) + ", or " + both + " if it is an open book";
}

void say_plan(const std::vector<Item> &plan, const Inputs &inputs, const Place &place,
              const std::vector<std::string> &also) {
  for (const Item &item : plan) {
    if (!item.problem.empty())
      std::cout << "cannot be read: " << item.problem << '\n';
    else if (item.skipped)
      std::cout << item.name() << " is blank and stays left out\n";
    else if (place.kind() == OutputKind::stream)
      std::cout << item.name() << " -> standard output\n";
    else
      std::cout << item.name() << " -> " << outputs_of(item, place)
                << (item.done ? " (done)"
                    : !item.others.empty()
                        ? " (made before with other settings: " + item.others[0] + ")"
                        : "")
                << '\n';
    for (const std::string &output :
         {item.output, item.half(Part::left).output, item.half(Part::right).output})
      for (const std::string &suffix : output.empty() ? std::vector<std::string>() : also)
        std::cout << "    and "
                  << (place.also_folder() / std::filesystem::path(output).stem()).string() << suffix
                  << '\n';
  }
  for (const auto &[path, why] : inputs.ignored)
    std::cout << "ignored: " << path << ": " << why << '\n';
  if (place.is_file()) std::cout << "then all of them -> " << place.file().string() << '\n';
}

}  // namespace cudascan::scan
