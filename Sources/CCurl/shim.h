// SPDX-License-Identifier: MIT
// The part of libcurl's C interface that is used, to be called through addresses that dlsym(3) found: the library is loaded with the first
// request and not with the process, since it and what it needs would double the time of a start. So nothing here needs libcurl's headers;
// the numbers are those of curl/curl.h, which libcurl promises to keep. curl_easy_setopt and curl_easy_getinfo take a variable argument, which
// only C can pass.
#ifndef SWITCHBOARD_CURL_H
#define SWITCHBOARD_CURL_H

enum switchboard_curl_option {
    SWITCHBOARD_CURLOPT_URL = 10002,
    SWITCHBOARD_CURLOPT_WRITEDATA = 10001,
    SWITCHBOARD_CURLOPT_ERRORBUFFER = 10010,
    SWITCHBOARD_CURLOPT_POSTFIELDS = 10015,
    SWITCHBOARD_CURLOPT_HTTPHEADER = 10023,
    SWITCHBOARD_CURLOPT_HEADERDATA = 10029,
    SWITCHBOARD_CURLOPT_CUSTOMREQUEST = 10036,
    SWITCHBOARD_CURLOPT_NOPROGRESS = 43,
    SWITCHBOARD_CURLOPT_NOBODY = 44,
    SWITCHBOARD_CURLOPT_XFERINFODATA = 10057,
    SWITCHBOARD_CURLOPT_POSTFIELDSIZE = 60,
    SWITCHBOARD_CURLOPT_NOSIGNAL = 99,
    SWITCHBOARD_CURLOPT_TIMEOUT_MS = 155,
    SWITCHBOARD_CURLOPT_PROTOCOLS = 181,
    SWITCHBOARD_CURLOPT_WRITEFUNCTION = 20011,
    SWITCHBOARD_CURLOPT_NOPROXY = 10177,
    SWITCHBOARD_CURLOPT_HEADERFUNCTION = 20079,
    SWITCHBOARD_CURLOPT_XFERINFOFUNCTION = 20219,
    SWITCHBOARD_CURLINFO_RESPONSE_CODE = 0x200002
};

typedef unsigned long (*switchboard_curl_write)(const char *bytes, unsigned long one, unsigned long count, void *context);
typedef int (*switchboard_curl_progress)(void *context, long long, long long, long long, long long);

static inline int switchboard_curl_set_number(void *setopt, void *handle, int option, long value) {
    return ((int (*)(void *, int, ...))setopt)(handle, option, value);
}
static inline int switchboard_curl_set_pointer(void *setopt, void *handle, int option, const void *value) {
    return ((int (*)(void *, int, ...))setopt)(handle, option, value);
}
static inline int switchboard_curl_set_write(void *setopt, void *handle, int option, switchboard_curl_write value) {
    return ((int (*)(void *, int, ...))setopt)(handle, option, value);
}
static inline int switchboard_curl_set_progress(void *setopt, void *handle, int option, switchboard_curl_progress value) {
    return ((int (*)(void *, int, ...))setopt)(handle, option, value);
}
static inline int switchboard_curl_get_number(void *getinfo, void *handle, int info, long *value) {
    return ((int (*)(void *, int, ...))getinfo)(handle, info, value);
}
static inline void *switchboard_curl_init(void *init) { return ((void *(*)(void))init)(); }
static inline int switchboard_curl_global_init(void *init) { return ((int (*)(long))init)(3 /* CURL_GLOBAL_ALL */); }
static inline int switchboard_curl_perform(void *perform, void *handle) { return ((int (*)(void *))perform)(handle); }
static inline void switchboard_curl_call(void *function, void *argument) { ((void (*)(void *))function)(argument); }
static inline void *switchboard_curl_append(void *append, void *list, const char *line) {
    return ((void *(*)(void *, const char *))append)(list, line);
}
static inline const char *switchboard_curl_error(void *strerror, int code) { return ((const char *(*)(int))strerror)(code); }

#endif
