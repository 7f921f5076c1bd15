// SPDX-License-Identifier: LGPL-2.1-or-later
// Tells the thread sanitizer about the locks and queues of GLib, which uses futexes and is not
// built with the sanitizer. These functions replace GLib's and call them. Without the sanitizer
// this file is empty.
#ifdef __SANITIZE_THREAD__
#include <dlfcn.h>
#include <glib-object.h>

extern "C" {
void __tsan_acquire(void *address);
void __tsan_release(void *address);
}

namespace {

/// The function of GLib that has the same name.
template <typename Function>
Function *real(Function *, const char *name) {
  return reinterpret_cast<Function *>(dlsym(RTLD_NEXT, name));
}

}  // namespace

#define REAL(name) static const auto call = real(name, #name)

#define LOCK(name, Lock)  \
  void name(Lock *lock) { \
    REAL(name);           \
    call(lock);           \
    __tsan_acquire(lock); \
  }
#define TRYLOCK(name, Lock)             \
  gboolean name(Lock *lock) {           \
    REAL(name);                         \
    const gboolean locked = call(lock); \
    if (locked) __tsan_acquire(lock);   \
    return locked;                      \
  }
#define UNLOCK(name, Lock) \
  void name(Lock *lock) {  \
    REAL(name);            \
    __tsan_release(lock);  \
    call(lock);            \
  }

extern "C" {

LOCK(g_mutex_lock, GMutex)
TRYLOCK(g_mutex_trylock, GMutex)
UNLOCK(g_mutex_unlock, GMutex)
LOCK(g_rec_mutex_lock, GRecMutex)
TRYLOCK(g_rec_mutex_trylock, GRecMutex)
UNLOCK(g_rec_mutex_unlock, GRecMutex)

/// A thread that waits has released the lock.
void g_cond_wait(GCond *condition, GMutex *mutex) {
  REAL(g_cond_wait);
  __tsan_release(mutex);
  call(condition, mutex);
  __tsan_acquire(mutex);
}

/// All threads have released an object before it is freed.
void(g_object_unref)(gpointer object) {
  static const auto call = real(&(g_object_unref), "g_object_unref");
  __tsan_release(object);
  __tsan_acquire(object);
  call(object);
}

void g_async_queue_push(GAsyncQueue *queue, gpointer data) {
  REAL(g_async_queue_push);
  __tsan_release(queue);
  call(queue, data);
}
gpointer g_async_queue_try_pop(GAsyncQueue *queue) {
  REAL(g_async_queue_try_pop);
  const gpointer data = call(queue);
  __tsan_acquire(queue);
  return data;
}
gpointer g_async_queue_timeout_pop(GAsyncQueue *queue, guint64 timeout) {
  REAL(g_async_queue_timeout_pop);
  const gpointer data = call(queue, timeout);
  __tsan_acquire(queue);
  return data;
}

}  // extern "C"
#endif
