// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Asks for files.
#pragma once
#include <gtk/gtk.h>

#include <functional>
#include <string>

namespace cudascan::view {

/// Shows one dialog at a time. The main loop goes on meanwhile.
class FileDialog {
 public:
  using OnPath = std::function<void(const std::string &)>;

  /// @param window  what the dialogs belong to; it must outlive this
  explicit FileDialog(GtkWidget *window) : window_(window) {}
  ~FileDialog() { close(); }
  FileDialog(const FileDialog &) = delete;
  FileDialog &operator=(const FileDialog &) = delete;

  /// Calls `on_path` when the user has chosen a file.
  void ask(OnPath on_path);
  /// The same for a file that is to be written.
  /// @param name  proposed name
  void ask_for_target(const char *title, const char *name, OnPath on_path);

 private:
  void show(GtkFileChooserNative *dialog, OnPath on_path);
  void close();

  GtkWidget *const window_;
  GtkFileChooserNative *dialog_ = nullptr;
  OnPath on_path_;
};

}  // namespace cudascan::view
