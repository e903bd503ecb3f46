// SPDX-License-Identifier: MIT
//
// The files of the page as they lie in Sources/Switchboard/Page/Files, by name.

#ifndef CPAGE_H
#define CPAGE_H

#include <stddef.h>

struct page_file {
  const char *name;
  const unsigned char *bytes;
  size_t length;
};

/// The file at this place, from 0 on; its name is null behind the last.
struct page_file page_file_at(size_t place);

#endif
