// SPDX-License-Identifier: LGPL-2.1-or-later
#include "plan.h"

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

Names::Names(std::filesystem::path folder, std::string suffix, const std::string &reserved)
    : folder_(std::move(folder)), suffix_(std::move(suffix)), taken_{reserved} {
  std::error_code error;
  for (const auto &entry : std::filesystem::directory_iterator(folder_, error))
    taken_.insert(entry.path().filename());
}

bool Names::has_room(const std::string &stem) const {
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

void name_pages(std::vector<Item> &plan, Names &names, const Journal *journal) {
  for (Item &item : plan) {
    if (!item.problem.empty()) continue;
    if (journal) item.output = journal->output_of(item.key);
    if (journal) item.others = journal->other_outputs_of(item.key);
    item.skipped = journal && item.output.empty() && journal->was_skipped(item.key);
    item.done = item.skipped || !item.output.empty();
    if (!item.done) item.output = names.take(stem_of(item));
  }
}

}  // namespace cudascan::scan
