/* local_time.c: local time, for names. SPDX-License-Identifier: MIT */
#include "local_time.h"

#include <pthread.h>

/* Nothing else is called with it held, so its place among the locks of a fork does not matter. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void take_lock(void) {
    pthread_mutex_lock(&lock);
}

static void leave_lock(void) {
    pthread_mutex_unlock(&lock);
}

__attribute__((constructor)) static void install(void) {
    pthread_atfork(take_lock, leave_lock, leave_lock);
}

bool perftrace__local_time(time_t seconds, struct tm *ret) {
    take_lock();
    const bool ok = localtime_r(&seconds, ret) != NULL;
    leave_lock();
    return ok;
}

time_t perftrace__local_seconds(struct tm *tm) {
    take_lock();
    const time_t seconds = mktime(tm);
    leave_lock();
    return seconds;
}
