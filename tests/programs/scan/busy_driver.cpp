// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// A SANE driver, "busy:0", whose pages are black squares of 64 pixels. Like SANE's own drivers
/// (sanei_thread.c), it reads in a thread with asynchronous cancellation, and cancels that thread
/// when the page is complete. The thread still computes at that time. If cancellation stopped it
/// there, the page would count as lost.
#include <pthread.h>
#include <sane/sane.h>

#include <algorithm>
#include <atomic>
#include <chrono>

namespace {

constexpr int kSide = 64;
constexpr std::chrono::milliseconds kWork{50};

int handle;
int sent;
pthread_t reader;
bool reading;
std::atomic<bool> at_work, cancelled, done;

extern "C" void *read_page(void *) {
  pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, nullptr);
  at_work = true;
  while (!cancelled) continue;
  const auto end = std::chrono::steady_clock::now() + kWork;
  while (std::chrono::steady_clock::now() < end) continue;
  done = true;
  return nullptr;
}

/// Ends the thread.
/// @return whether the thread had already ended by itself
bool finish() {
  if (!reading) return true;
  pthread_cancel(reader);
  cancelled = true;
  pthread_join(reader, nullptr);
  reading = false;
  return done;
}

}  // namespace

extern "C" {

SANE_Status sane_busy_init(SANE_Int *version, SANE_Auth_Callback) {
  if (version != nullptr) *version = SANE_VERSION_CODE(1, 0, 0);
  return SANE_STATUS_GOOD;
}

void sane_busy_exit() {}

SANE_Status sane_busy_get_devices(const SANE_Device ***devices, SANE_Bool) {
  static const SANE_Device device = {"0", "Noname", "busy", "virtual device"};
  static const SANE_Device *list[] = {&device, nullptr};
  *devices = list;
  return SANE_STATUS_GOOD;
}

SANE_Status sane_busy_open(SANE_String_Const, SANE_Handle *opened) {
  *opened = &handle;
  return SANE_STATUS_GOOD;
}

void sane_busy_close(SANE_Handle) {}

const SANE_Option_Descriptor *sane_busy_get_option_descriptor(SANE_Handle, SANE_Int) {
  return nullptr;
}

SANE_Status sane_busy_control_option(SANE_Handle, SANE_Int, SANE_Action, void *, SANE_Int *) {
  return SANE_STATUS_INVAL;
}

SANE_Status sane_busy_get_parameters(SANE_Handle, SANE_Parameters *parameters) {
  *parameters = {SANE_FRAME_GRAY, SANE_TRUE, kSide, kSide, kSide, 8};
  return SANE_STATUS_GOOD;
}

SANE_Status sane_busy_start(SANE_Handle) {
  finish();
  sent = 0;
  at_work = cancelled = done = false;
  if (pthread_create(&reader, nullptr, read_page, nullptr) != 0) return SANE_STATUS_NO_MEM;
  reading = true;
  while (!at_work) continue;
  return SANE_STATUS_GOOD;
}

SANE_Status sane_busy_read(SANE_Handle, SANE_Byte *bytes, SANE_Int most, SANE_Int *got) {
  *got = std::min(kSide * kSide - sent, most);
  std::fill_n(bytes, *got, SANE_Byte{0});
  sent += *got;
  if (*got > 0) return SANE_STATUS_GOOD;
  return finish() ? SANE_STATUS_EOF : SANE_STATUS_IO_ERROR;
}

void sane_busy_cancel(SANE_Handle) {
  finish();
}

SANE_Status sane_busy_set_io_mode(SANE_Handle, SANE_Bool without_blocking) {
  return without_blocking ? SANE_STATUS_UNSUPPORTED : SANE_STATUS_GOOD;
}

SANE_Status sane_busy_get_select_fd(SANE_Handle, SANE_Int *) {
  return SANE_STATUS_UNSUPPORTED;
}

}  // extern "C"
