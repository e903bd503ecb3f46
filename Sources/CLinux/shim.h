// SPDX-License-Identifier: MIT
// What Swift's Glibc module leaves out on Linux. Elsewhere this header is empty and the code that would use it is not compiled.
#if defined(__linux__)
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timex.h>
// accept4(2) hides behind _GNU_SOURCE, which must not be defined here: it changes structures that other modules have imported already. The
// symbol is declared under a name of its own.
extern int switchboard_accept4(int socket, void *address, void *length, int flags) __asm__("accept4");
// memmem(3) hides there too.
extern void *switchboard_memmem(const void *text, unsigned long count, const void *wanted, unsigned long length) __asm__("memmem");
// Whether the kernel says that its clock is kept right (adjtimex(2), without changing anything): 1 or 0; -1 where it may not be asked.
static inline int switchboard_clock_is_synchronized(void) {
    struct timex clock = {0};
    return adjtimex(&clock) < 0 ? -1 : !(clock.status & STA_UNSYNC);
}
#endif
