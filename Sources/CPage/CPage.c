// SPDX-License-Identifier: MIT
//
// One line for each file. `#embed` (C23) is known to the clang of every Swift that builds this package, which also compiles this file anew
// where one of them has changed.

#include "CPage.h"

#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char index_html[] = {
#embed "../Switchboard/Page/Files/index.html"
};
static const unsigned char style_css[] = {
#embed "../Switchboard/Page/Files/style.css"
};

#define FILE_NAMED(name, bytes) {name, bytes, sizeof bytes}

static const struct page_file files[] = {
    FILE_NAMED("index.html", index_html),
    FILE_NAMED("style.css", style_css),
};

struct page_file page_file_at(size_t place) {
  static const struct page_file none;
  return place < sizeof files / sizeof files[0] ? files[place] : none;
}
