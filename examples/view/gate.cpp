// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gate.h"

namespace cudascan::view {

Gate::Gate(GstPad *pad)
    : pad_(GST_PAD(gst_object_ref(pad))),
      probe_(gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, on_frame, this, nullptr)) {}

Gate::~Gate() {
  gst_pad_remove_probe(pad_, probe_);
  gst_object_unref(pad_);
  gst_clear_buffer(&held_);
}

void Gate::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
}

void Gate::open() {
  const std::lock_guard lock(mutex_);
  closed_ = false;
}

void Gate::step() {
  const std::lock_guard lock(mutex_);
  gst_clear_buffer(&held_);
}

GstPadProbeReturn Gate::on_frame(GstPad *, GstPadProbeInfo *info, gpointer user) {
  auto &self = *static_cast<Gate *>(user);
  GstBuffer *const coming = GST_PAD_PROBE_INFO_BUFFER(info);
  const std::lock_guard lock(self.mutex_);
  if (!self.closed_) {
    gst_clear_buffer(&self.held_);
  } else if (!self.held_) {
    self.held_ = gst_buffer_ref(coming);
  } else {
    GstBuffer *again = gst_buffer_copy(self.held_);
    gst_buffer_copy_into(again, coming, GST_BUFFER_COPY_TIMESTAMPS, 0, -1);
    gst_buffer_unref(coming);
    GST_PAD_PROBE_INFO_DATA(info) = again;
  }
  return GST_PAD_PROBE_OK;
}

}  // namespace cudascan::view
