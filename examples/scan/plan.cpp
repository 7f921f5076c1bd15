// SPDX-License-Identifier: LGPL-2.1-or-later
#include "plan.h"

#include <algorithm>
#include <cstdio>
#include <map>

#include "common/error.h"
#include "open_file.h"

namespace cudascan::scan {
namespace {

PageKey key_of(const std::string &name, Document &document) {
  PageKey key;
  key.size = static_cast<long long>(document.size());
  key.modified_ns = document.modified_ns();
  if (name == kStandardInput) {
    key.path = "standard input " + document.digest();
    return key;
  }
  std::error_code error;
  const auto whole = std::filesystem::canonical(name, error);
  key.path = error ? name : whole.string();
  return key;
}

}  // namespace

std::string stem_of(const Item &item) {
  std::string stem =
      item.input == kStandardInput ? "stdin" : std::filesystem::path(item.input).stem().string();
  if (item.pages > 1) {
    char number[16];
    std::snprintf(number, sizeof number, "-p%03d", item.page + 1);
    stem += number;
  }
  return stem;
}

std::string Item::name() const {
  return pages == 1 ? input
                    : input + " page " + std::to_string(page + 1) + " of " + std::to_string(pages);
}

Names::Names(std::filesystem::path folder, std::string suffix, const std::string &reserved,
             std::vector<std::string> also, const std::filesystem::path &also_folder)
    : folder_(std::move(folder)),
      also_folder_(also_folder.empty() ? folder_ : also_folder),
      suffix_(std::move(suffix)),
      also_(std::move(also)),
      taken_{reserved} {
  std::error_code error;
  for (const auto &entry : std::filesystem::directory_iterator(folder_, error))
    taken_.insert(entry.path().filename());
}

bool Names::has_room(const std::string &stem) const {
  for (const std::string &suffix : also_)
    if (taken_.contains(stem + suffix) || is_there(also_folder_ / (stem + suffix))) return false;
  return !taken_.contains(stem + suffix_) && !is_there(folder_ / (stem + suffix_));
}

bool Names::is_free(const std::string &stem) const {
  const std::lock_guard lock(mutex_);
  return has_room(stem);
}

std::string Names::take(const std::string &stem) {
  const std::lock_guard lock(mutex_);
  std::string free = stem;
  for (int i = 1; !has_room(free); ++i) free = stem + "-" + std::to_string(i);
  for (const std::string &suffix : also_) taken_.insert(free + suffix);
  return *taken_.insert(free + suffix_).first;
}

std::vector<Item> find_pages(const std::vector<std::string> &inputs) {
  std::vector<Item> plan;
  std::map<std::string, int> seen;
  for (const std::string &input : inputs) {
    Item item;
    item.input = input;
    try {
      item.document = std::make_shared<Document>(input);
      item.key = key_of(input, *item.document);
    } catch (const Error &error) {
      item.problem = error.what();
      plan.push_back(item);
      continue;
    }
    const Header &header = item.document->header();
    item.pages = static_cast<int>(header.pages.size());
    item.key.occurrence = seen[item.key.path]++;
    for (item.page = 0; item.page < item.pages; ++item.page) {
      item.key.page = item.page;
      plan.push_back(item);
    }
    if (!header.problem.empty()) {
      Item lost;
      lost.input = input;
      lost.problem = input + ": " + header.problem;
      plan.push_back(lost);
    }
  }
  return plan;
}

PageKey Item::key_of(Part part) const {
  PageKey result = key;
  result.part = static_cast<int>(part);
  return result;
}

int Item::pages_done() const {
  const auto halves_done =
      std::count_if(halves.begin(), halves.end(), [](const Half &half) { return half.done; });
  return halves_done > 0 ? static_cast<int>(halves_done) : done ? 1 : 0;
}

std::size_t place_of(std::size_t index, Part part, Split split) {
  const Part second = split == Split::right_left ? Part::left : Part::right;
  return index * kMostPages + (part == second ? 1 : 0);
}

void add_done(const Item &item, std::size_t index, Split split, std::vector<std::string> &pages) {
  if (item.done && !item.skipped) pages[place_of(index, Part::whole, split)] = item.output;
  for (const Part part : {Part::left, Part::right})
    if (const Half &half = item.half(part); half.done && !half.skipped)
      pages[place_of(index, part, split)] = half.output;
}

namespace {

/// What the journal says of a page.
/// @param page  an Item or a Half
template <typename Page>
void look_up(const Journal &journal, const PageKey &key, Page &page) {
  page.output = journal.output_of(key);
  page.skipped = page.output.empty() && journal.was_skipped(key);
  page.done = page.skipped || !page.output.empty();
  if (!page.done) page.output = journal.partly_made(key);
  page.partly = !page.done && !page.output.empty();
}

void look_up(const Journal &journal, Item &item, Split split) {
  for (const Part part : {Part::whole, Part::left, Part::right})
    for (std::string &other : journal.other_outputs_of(item.key_of(part)))
      item.others.push_back(std::move(other));
  look_up(journal, item.key, item);
  if (item.done || split == Split::no) return;
  for (const Part part : {Part::left, Part::right}) {
    Half &half = item.halves[part == Part::left ? 0 : 1];
    look_up(journal, item.key_of(part), half);
  }
  item.done = item.pages_done() == kMostPages;
  item.skipped = item.done && item.halves[0].skipped && item.halves[1].skipped;
}

}  // namespace

void name_halves(Item &item, const std::string &stem, Names &names) {
  for (const Part part : {Part::left, Part::right}) {
    Half &half = item.halves[part == Part::left ? 0 : 1];
    if (!half.done && !half.partly) half.output = names.take(stem + "-" + name_of(part));
  }
}

void name_pages(std::vector<Item> &plan, Names &names, const Journal *journal, Split split) {
  const bool always = split == Split::left_right || split == Split::right_left;
  for (Item &item : plan) {
    if (!item.problem.empty()) continue;
    if (journal) look_up(*journal, item, split);
    if (!item.done && !item.partly && !always) item.output = names.take(stem_of(item));
  }
  // Afterwards, so that they take no name from a whole page.
  for (Item &item : plan)
    if (item.problem.empty() && !item.done && split != Split::no)
      name_halves(item, stem_of(item), names);
}

}  // namespace cudascan::scan
