// SPDX-License-Identifier: MIT
//
// Two lines for each file. `#embed` (C23) is known to the clang of every Swift that builds this package, which also compiles this file anew
// where one of them has changed.

#include "CPage.h"

#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char again_js[] = {
#embed "../Switchboard/Page/Files/again.js"
};
static const unsigned char api_js[] = {
#embed "../Switchboard/Page/Files/api.js"
};
static const unsigned char call_js[] = {
#embed "../Switchboard/Page/Files/call.js"
};
static const unsigned char calls_js[] = {
#embed "../Switchboard/Page/Files/calls.js"
};
static const unsigned char dom_js[] = {
#embed "../Switchboard/Page/Files/dom.js"
};
static const unsigned char findings_js[] = {
#embed "../Switchboard/Page/Files/findings.js"
};
static const unsigned char flows_js[] = {
#embed "../Switchboard/Page/Files/flows.js"
};
static const unsigned char graph_js[] = {
#embed "../Switchboard/Page/Files/graph.js"
};
static const unsigned char health_js[] = {
#embed "../Switchboard/Page/Files/health.js"
};
static const unsigned char index_html[] = {
#embed "../Switchboard/Page/Files/index.html"
};
static const unsigned char json_js[] = {
#embed "../Switchboard/Page/Files/json.js"
};
static const unsigned char ladder_js[] = {
#embed "../Switchboard/Page/Files/ladder.js"
};
static const unsigned char list_js[] = {
#embed "../Switchboard/Page/Files/list.js"
};
static const unsigned char live_js[] = {
#embed "../Switchboard/Page/Files/live.js"
};
static const unsigned char main_js[] = {
#embed "../Switchboard/Page/Files/main.js"
};
static const unsigned char play_js[] = {
#embed "../Switchboard/Page/Files/play.js"
};
static const unsigned char setup_js[] = {
#embed "../Switchboard/Page/Files/setup.js"
};
static const unsigned char step_js[] = {
#embed "../Switchboard/Page/Files/step.js"
};
static const unsigned char store_js[] = {
#embed "../Switchboard/Page/Files/store.js"
};
static const unsigned char style_css[] = {
#embed "../Switchboard/Page/Files/style.css"
};
static const unsigned char told_js[] = {
#embed "../Switchboard/Page/Files/told.js"
};
static const unsigned char users_js[] = {
#embed "../Switchboard/Page/Files/users.js"
};
static const unsigned char words_js[] = {
#embed "../Switchboard/Page/Files/words.js"
};

#define FILE_NAMED(name, bytes) {name, bytes, sizeof bytes}

static const struct page_file files[] = {
    FILE_NAMED("again.js", again_js),
    FILE_NAMED("api.js", api_js),
    FILE_NAMED("call.js", call_js),
    FILE_NAMED("calls.js", calls_js),
    FILE_NAMED("dom.js", dom_js),
    FILE_NAMED("findings.js", findings_js),
    FILE_NAMED("flows.js", flows_js),
    FILE_NAMED("graph.js", graph_js),
    FILE_NAMED("health.js", health_js),
    FILE_NAMED("index.html", index_html),
    FILE_NAMED("json.js", json_js),
    FILE_NAMED("ladder.js", ladder_js),
    FILE_NAMED("list.js", list_js),
    FILE_NAMED("live.js", live_js),
    FILE_NAMED("main.js", main_js),
    FILE_NAMED("play.js", play_js),
    FILE_NAMED("setup.js", setup_js),
    FILE_NAMED("step.js", step_js),
    FILE_NAMED("store.js", store_js),
    FILE_NAMED("style.css", style_css),
    FILE_NAMED("told.js", told_js),
    FILE_NAMED("users.js", users_js),
    FILE_NAMED("words.js", words_js),
};

struct page_file page_file_at(size_t place) {
  static const struct page_file none;
  return place < sizeof files / sizeof files[0] ? files[place] : none;
}
