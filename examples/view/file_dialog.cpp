// SPDX-License-Identifier: LGPL-2.1-or-later
#include "file_dialog.h"

namespace cudascan::view {

void FileDialog::ask(OnPath on_path) {
  close();
  show(gtk_file_chooser_native_new("Open", GTK_WINDOW(window_), GTK_FILE_CHOOSER_ACTION_OPEN,
                                   nullptr, nullptr),
       std::move(on_path));
}

void FileDialog::ask_for_target(const char *title, const char *name, OnPath on_path) {
  close();
  GtkFileChooserNative *dialog = gtk_file_chooser_native_new(
      title, GTK_WINDOW(window_), GTK_FILE_CHOOSER_ACTION_SAVE, nullptr, nullptr);
  gtk_file_chooser_set_current_name(GTK_FILE_CHOOSER(dialog), name);
  gtk_file_chooser_set_do_overwrite_confirmation(GTK_FILE_CHOOSER(dialog), TRUE);
  show(dialog, std::move(on_path));
}

void FileDialog::show(GtkFileChooserNative *dialog, OnPath on_path) {
  dialog_ = dialog;
  on_path_ = std::move(on_path);
  g_signal_connect(
      dialog, "response", G_CALLBACK(+[](GtkNativeDialog *dialog, gint response, FileDialog *self) {
        g_autofree gchar *path = gtk_file_chooser_get_filename(GTK_FILE_CHOOSER(dialog));
        if (response == GTK_RESPONSE_ACCEPT && path) self->on_path_(path);
      }),
      this);
  gtk_native_dialog_show(GTK_NATIVE_DIALOG(dialog));
}

void FileDialog::close() {
  if (!dialog_) return;
  gtk_native_dialog_destroy(GTK_NATIVE_DIALOG(dialog_));
  g_object_unref(dialog_);
  dialog_ = nullptr;
}

}  // namespace cudascan::view
