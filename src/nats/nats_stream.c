/* nats_stream.c. SPDX-License-Identifier: MIT */
#include "nats_stream.h"

#include "os.h"

#include <stdio.h>
#include <string.h>

const char *perftrace__nats_error(natsStatus s) {
    natsStatus last = NATS_OK;
    const char *why = nats_GetLastError(&last);
    const char *end = why && *why == '(' ? strstr(why, "): ") : NULL;
    why = end ? end + 3 : why;
    return why && *why ? why : natsStatus_GetText(s);
}

/* What a request failed of. */
static void tell(const char *what, natsStatus s, jsErrCode code, char *problem, size_t size) {
    const char *why = perftrace__nats_error(s);
    char number[24] = "";
    if (code) {
        snprintf(number, sizeof number, " (%d)", (int)code);
    }
    snprintf(problem, size, "%s: %s%s", what, why, number);
}

/* A request may take what is left of the time to open. */
static jsOptions *until(jsOptions *jo, uint64_t until_ns) {
    uint64_t now = perftrace__os_mono_ns();
    jsOptions_Init(jo);
    jo->Wait = (int64_t)(until_ns > now ? (until_ns - now) / 1000000u + 1 : 1);
    return jo;
}

bool perftrace__nats_stream_have(jsCtx *js, const perftrace__nats_stream_t *stream, char *problem,
                                 size_t size) {
    uint64_t until_ns = stream->until_ns;
    jsStreamInfo *info = NULL;
    jsErrCode code = 0;
    jsOptions jo;
    natsStatus s = js_GetStreamInfo(&info, js, stream->name, until(&jo, until_ns), &code);
    if (s == NATS_NOT_FOUND) {
        jsStreamConfig c;
        char subject[128];
        const char *subjects[] = {subject};
        jsStreamConfig_Init(&c);
        snprintf(subject, sizeof subject, "perftrace.%s.data.>", stream->run);
        c.Name = stream->name;
        c.Subjects = subjects;
        c.SubjectsLen = 1;
        c.Storage = js_FileStorage;
        c.Replicas = (int64_t)stream->replicas;
        code = 0;
        s = js_AddStream(&info, js, &c, until(&jo, until_ns), &code);
        if (s != NATS_OK) { /* another rank may have been first, with other replicas */
            tell("the stream cannot be made", s, code, problem, size);
            s = js_GetStreamInfo(&info, js, stream->name, until(&jo, until_ns), &code);
        }
    } else if (s != NATS_OK) {
        tell("the stream cannot be used", s, code, problem, size);
    }
    if (s == NATS_OK && info->Config && info->Config->Replicas < (int64_t)stream->replicas) {
        /* Made by somebody who wanted fewer: more are a matter of the server's. Where it has not as
         * many, or does not let us ask, the stream is of use as it is. */
        info->Config->Replicas = (int64_t)stream->replicas;
        until(&jo, until_ns);
        jo.Wait = PT_MIN(jo.Wait, PERFTRACE__NATS_EXTRA_WAIT_MS);
        js_UpdateStream(NULL, js, info->Config, &jo, &code);
    }
    jsStreamInfo_Destroy(info);
    return s == NATS_OK;
}
