// SPDX-License-Identifier: LGPL-2.1-or-later
#include "emulator.h"

#include <dlfcn.h>
#include <ucontext.h>

#include <stdexcept>
#include <vector>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/common_interface_defs.h>
#endif

namespace cudascan::gswo::test {

namespace {

constexpr std::size_t kStack = 128 << 10;

struct Place {
  int x, y, z;
};

struct Thread {
  ucontext_t context;
  std::vector<char> stack = std::vector<char>(kStack);
  bool done = false;
  void *fake_stack = nullptr;
};

std::vector<Thread> threads;
ucontext_t host;
Thread *now;
void (*code)(void **);
void **code_arguments;
[[maybe_unused]] const void *host_stack;
[[maybe_unused]] std::size_t host_stack_size;
[[maybe_unused]] void *host_fake_stack;

/// Switches from the thread back to the host.
void leave() {
#ifdef __SANITIZE_ADDRESS__
  __sanitizer_start_switch_fiber(now->done ? nullptr : &now->fake_stack, host_stack,
                                 host_stack_size);
#endif
  swapcontext(&now->context, &host);
#ifdef __SANITIZE_ADDRESS__
  __sanitizer_finish_switch_fiber(now->fake_stack, &host_stack, &host_stack_size);
#endif
}

void enter(Thread &thread) {
  now = &thread;
#ifdef __SANITIZE_ADDRESS__
  __sanitizer_start_switch_fiber(&host_fake_stack, thread.stack.data(), thread.stack.size());
#endif
  swapcontext(&host, &thread.context);
#ifdef __SANITIZE_ADDRESS__
  __sanitizer_finish_switch_fiber(host_fake_stack, nullptr, nullptr);
#endif
}

void live() {
#ifdef __SANITIZE_ADDRESS__
  __sanitizer_finish_switch_fiber(nullptr, &host_stack, &host_stack_size);
#endif
  code(code_arguments);
  now->done = true;
  leave();
}

}  // namespace

void emulate(void *library, void (*kernel)(void **), void **arguments, const int *grid,
             const int *block) {
  const auto setup =
      reinterpret_cast<void (*)(Place **, void (*)())>(dlsym(library, "emulated_setup"));
  if (!setup) throw std::runtime_error("the library was not compiled for emulation");
  Place *places[4];
  setup(places, leave);
  code = kernel;
  code_arguments = arguments;
  *places[1] = {block[0], block[1], block[2]};
  *places[3] = {grid[0], grid[1], grid[2]};
  const auto place = [](int k, const int *size) {
    return Place{k % size[0], k / size[0] % size[1], k / size[0] / size[1]};
  };
  threads.resize(static_cast<std::size_t>(block[0]) * block[1] * block[2]);
  for (int number = 0; number < grid[0] * grid[1] * grid[2]; ++number) {
    *places[0] = place(number, grid);
    for (Thread &t : threads) {
      getcontext(&t.context);
      t.context.uc_stack.ss_sp = t.stack.data();
      t.context.uc_stack.ss_size = t.stack.size();
      t.context.uc_link = nullptr;
      makecontext(&t.context, live, 0);
      t.done = false;
    }
    for (bool left = true; left;) {
      left = false;
      for (std::size_t k = 0; k < threads.size(); ++k) {
        if (threads[k].done) continue;
        *places[2] = place(static_cast<int>(k), block);
        enter(threads[k]);
        left |= !threads[k].done;
      }
    }
  }
}

}  // namespace cudascan::gswo::test
