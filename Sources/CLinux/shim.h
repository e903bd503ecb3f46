// SPDX-License-Identifier: MIT
// What Swift's Glibc module leaves out on Linux. Elsewhere this header is empty and the code that would use it is not compiled.
#if defined(__linux__)
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
// `accept4` hides behind _GNU_SOURCE, which the importer may not define; the prototype is the one of the manual page.
extern int accept4(int socket, struct sockaddr *address, socklen_t *length, int flags);
#endif
