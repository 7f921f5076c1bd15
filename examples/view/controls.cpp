// SPDX-License-Identifier: LGPL-2.1-or-later
#include "controls.h"

#include <algorithm>

namespace cudascan::view {
namespace {

GtkWidget *new_rows() {
  return gtk_box_new(GTK_ORIENTATION_VERTICAL, 2);
}

}  // namespace

Controls::Controls(Player &player, std::size_t place,
                   std::function<void(const std::string &)> on_refused)
    : player_(player),
      place_(place),
      on_refused_(std::move(on_refused)),
      box_(gtk_box_new(GTK_ORIENTATION_VERTICAL, 4)),
      technical_(gtk_expander_new("Technical")) {
  gtk_widget_set_tooltip_text(technical_, "Properties that do not change the picture");
  gtk_box_pack_end(GTK_BOX(box_), technical_, FALSE, FALSE, 0);
}

void Controls::run(const std::function<void()> &change) {
  try {
    change();
  } catch (const std::exception &error) {
    on_refused_(error.what());
  }
  show_values();
}

bool Controls::is_set(const std::string &name) const {
  const Settings &settings = player_.chain()[place_].settings;
  return std::any_of(settings.begin(), settings.end(),
                     [&](const auto &setting) { return setting.first == name; });
}

void Controls::update() {
  std::vector<std::pair<std::string, Use>> uses;
  for (const auto &[property, use] : uses_of(player_.element(place_)))
    // One that does not count, but has been set, can be reset.
    if (use != Use::unused || is_set(property->name)) uses.emplace_back(property->name, use);
  if (uses != uses_) {
    uses_ = uses;
    rebuild();
  }
  show_values();
}

void Controls::rebuild() {
  if (rows_) gtk_widget_destroy(rows_);
  if (technical_rows_) gtk_widget_destroy(technical_rows_);
  controls_.clear();
  rows_ = new_rows();
  technical_rows_ = new_rows();
  for (const auto &[property, use] : uses_of(player_.element(place_))) {
    const std::string name = property->name;
    if (use == Use::unused && !is_set(name)) continue;
    controls_.push_back(std::make_unique<PropertyControl>(
        property,
        [this, name](const std::string &text) { run([&] { player_.set(place_, name, text); }); },
        [this, name] { run([&] { player_.reset(place_, name); }); }));
    GtkWidget *rows = use == Use::technical ? technical_rows_ : rows_;
    gtk_box_pack_start(GTK_BOX(rows), controls_.back()->widget(), FALSE, FALSE, 0);
  }
  gtk_box_pack_start(GTK_BOX(box_), rows_, FALSE, FALSE, 0);
  gtk_container_add(GTK_CONTAINER(technical_), technical_rows_);
  gtk_widget_show_all(box_);
  const auto is_technical = [](const auto &use) { return use.second == Use::technical; };
  gtk_widget_set_visible(technical_, std::any_of(uses_.begin(), uses_.end(), is_technical));
}

void Controls::show_values() {
  for (const auto &control : controls_)
    control->show(text_of(player_.element(place_), control->property()),
                  is_set(control->property()->name));
}

}  // namespace cudascan::view
