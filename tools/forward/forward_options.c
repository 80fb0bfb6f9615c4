/* forward_options.c: the command line of perf-trace-forward. SPDX-License-Identifier: MIT */
#include "forward_options.h"

#include "address_form.h"
#include "address_shown.h"
#include "human.h"
#include "message.h"
#include "paths.h"
#include "ring_dirs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UNSET      UINT64_MAX
#define TIMEOUT_NS UINT64_C(30000000000)

#define S pt_forward_options_t
static const pt_option_t options[] = {
    PT_OPTION_HEADING("To where"),
    PT_OPTION_STRING(S, to, 't', "to", "ADDRESS",
                     "tcp:HOST:PORT or tcp:unix:PATH of a perf-trace-collect, or "
                     "nats://HOST[:PORT][,...] or tls://... of NATS JetStream (default: "
                     "PERFTRACE_FORWARD)"),
    PT_OPTION_STRING(S, token_file, 0, "token-file", "FILE",
                     "the first line of FILE is the secret that the other side wants to hear "
                     "(default: PERFTRACE_FORWARD_TOKEN)"),
    PT_OPTION_STRING(S, creds, 0, "creds", "FILE",
                     "NATS credentials (default: PERFTRACE_FORWARD_CREDS)"),
    PT_OPTION_STRING(S, tls_ca, 0, "tls-ca", "FILE",
                     "certificates that a tls:// server's own is checked with (default: "
                     "PERFTRACE_FORWARD_TLS_CA, else the system's)"),
    PT_OPTION_UINT64(S, replicas, 0, "replicas", "N", 1, 5,
                     "servers of a NATS cluster that keep the stream, if it is made now (default: "
                     "PERFTRACE_FORWARD_REPLICAS, else 1)"),
    PT_OPTION_UINT64(S, level, 0, "level", "N", 1, 9,
                     "how hard pieces are packed, 1 (fast) to 9 (small; default: "
                     "PERFTRACE_FORWARD_LEVEL, else 1)"),
    PT_OPTION_HEADING("Which files"),
    PT_OPTION_FLAG(S, recover, 0, "recover",
                   "finish what killed processes left before it is sent (default)"),
    PT_OPTION_LIST(S, ring_dirs, 0, "ring-dir", "DIR",
                   "look for rings in DIR too (besides PERFTRACE_RING_DIR, /dev/shm and /tmp)"),
    PT_OPTION_STRING(S, run, 'r', "run-id", "ID",
                     "the run that files belong to which do not tell; a sessions file without its "
                     "trace is taken as complete then"),
    PT_OPTION_FLAG(S, unfinished, 0, "unfinished",
                   "also send what never will be complete: no footer, and no ring to finish it "
                   "from, as after a restart of the machine"),
    PT_OPTION_HEADING("How long"),
    PT_OPTION_DURATION(S, timeout_ns, 0, "timeout", "TIME",
                       "give up when nothing was acknowledged for TIME (default 30s, with --follow "
                       "0: never)"),
    PT_OPTION_FLAG(S, follow, 'f', "follow",
                   "go on until a signal comes: files that become complete are sent, too"),
    PT_OPTION_DURATION(S, until_idle_ns, 0, "until-idle", "TIME",
                       "follow, and end when there was nothing to send for TIME"),
    PT_OPTION_HEADING("Output"),
    PT_OPTION_FLAG(S, json, 0, "json", "print one JSON object instead of a table"),
};
#undef S

static const char *const synopsis[] = {"[OPTION]... [--to ADDRESS] DIR|FILE...", NULL};

static const pt_text_t examples[] = {
    {"perf-trace-forward traces --to tcp:10.0.0.1:7400",
     "what a job left on this node goes to the collector; only what it lacks is sent"},
    {"perf-trace-forward --follow /scratch/job-17/traces",
     "beside the workers of a node (PERFTRACE_FORWARD is set): files of forked children and of "
     "killed workers go as soon as they are complete"},
    {"perf-trace-forward traces --to tls://nats-1,nats-2 --creds job.creds --until-idle 1m",
     "to JetStream, until nothing new came for a minute"},
    {NULL, NULL}};

static const pt_text_t sections[] = {
    {"FILES",
     "traces-*.jsonl and sessions-*.jsonl in DIR and below, so those of AReaL's perf_tracer and "
     "session_tracer and of folders for roles, too. A trace is complete when it ends with its "
     "footer and its process is gone; a sessions file when the trace of its process is, which is "
     "looked for beside it (sessions-r3.jsonl: traces-r3.jsonl) or in perf_tracer.\n\n"
     "The files are not changed, but for those that recovery finishes (perf-trace-recover(1))."},
    {"ENVIRONMENT",
     "PERFTRACE_FORWARD, PERFTRACE_FORWARD_TOKEN, PERFTRACE_FORWARD_CREDS, "
     "PERFTRACE_FORWARD_TLS_CA, PERFTRACE_FORWARD_REPLICAS and PERFTRACE_FORWARD_LEVEL are those "
     "of the library. What stands on a command line is seen in the list of processes: a password "
     "in a nats:// address is better kept in PERFTRACE_FORWARD."},
    {NULL, NULL}};

static const pt_text_t exits[] = {
    {"0", "all files are at the other side"},
    {"1", "all complete files are; others were left out and are named: not complete, or no traces"},
    {"2", "the command line is wrong"},
    {"3", "a file could not be read, or is no trace though it was named, or there is none"},
    {"4", "the other side was not reached, or did not take everything, within --timeout; it is "
          "told how much is left"},
    {"5", "out of memory"},
    {"130", "a signal came before everything was sent"},
    {NULL, NULL}};

const pt_tool_t pt_forward_tool = {
    .name = "perf-trace-forward",
    .version = PERFTRACE_TOOL_VERSION,
    .purpose = "bring trace files to a collector",
    .synopsis = synopsis,
    .description =
        "Sends the files of traced processes to perf-trace-collect, or to NATS JetStream, from "
        "which it takes them: those that a process could not forward itself (PERFTRACE_FORWARD), "
        "since it was killed, or the collector was not there, or it had no such setting.\n\n"
        "What the other side has already is not sent again, so it can be ended at any moment and "
        "started again. Traces of killed processes are finished first. Files of running processes "
        "are left out: their end may still change.",
    .options = options,
    .option_count = PT_ARRAY_LEN(options),
    .examples = examples,
    .sections = sections,
    .operand_glob = "*.jsonl",
    .see_also = "perf-trace-collect(1), perf-trace-recover(1)",
    .exits = exits,
};

static int usage(const char *name, const char *what) {
    return pt_option_usage_error(&pt_forward_tool, "%s: %s", name, what);
}

/* A number of the environment, as the library reads it. False: wrong. */
static bool number_of(const char *name, uint64_t max, uint64_t *value) {
    const char *text = getenv(name);
    if (*value != UNSET || !text || !*text) {
        *value = *value == UNSET ? 1 : *value;
        return true;
    }
    return pt_parse_uint64(text, value) && *value >= 1 && *value <= max;
}

static const char *text_of(const char *given, const char *name) {
    const char *text = given ? given : getenv(name);
    return text ? text : "";
}

/* The file's first line; PT_OPTION_GO_ON or the exit status. */
static int read_token(pt_forward_options_t *o) {
    if (!o->token_file) {
        const char *text = text_of(NULL, "PERFTRACE_FORWARD_TOKEN");
        if (strlen(text) >= sizeof o->token) {
            return usage("PERFTRACE_FORWARD_TOKEN", "longer than 255 bytes");
        }
        snprintf(o->token, sizeof o->token, "%s", text);
        return PT_OPTION_GO_ON;
    }
    errno = 0;
    FILE *f = fopen(o->token_file, "re");
    char *line = f ? fgets(o->token, sizeof o->token, f) : NULL;
    int err = errno;
    int next = line ? fgetc(f) : EOF;
    if (f) {
        fclose(f);
    }
    if (!line) {
        pt_error("--token-file %s: %s (the secret itself goes into PERFTRACE_FORWARD_TOKEN)",
                 o->token_file, err ? strerror(err) : "is empty");
        return PT_EXIT_INPUT;
    }
    size_t len = strcspn(line, "\r\n");
    if (!line[len] && next != EOF) {
        pt_error("--token-file %s: its first line is longer than 254 bytes", o->token_file);
        return PT_EXIT_INPUT;
    }
    line[len] = '\0';
    if (len == 0) {
        pt_error("--token-file %s: its first line is empty", o->token_file);
        return PT_EXIT_INPUT;
    }
    return PT_OPTION_GO_ON;
}

/* PT_OPTION_GO_ON or the exit status. */
static int check_address(const char *to) {
    char shown[512];
    if (!to[0] || strcmp(to, "off") == 0) {
        return usage("--to", "it is not said where to, nor does PERFTRACE_FORWARD");
    }
    const char *problem = perftrace__address_problem(to);
    if (!problem) {
        return PT_OPTION_GO_ON;
    }
    perftrace__address_shown(to, shown, sizeof shown);
    return pt_option_usage_error(&pt_forward_tool, "--to %s: %s", shown, problem);
}

static int check(pt_forward_options_t *o, size_t operands) {
    int status = check_address(o->to);
    if (status != PT_OPTION_GO_ON) {
        return status;
    }
    if (operands == 0) {
        return pt_option_usage_error(&pt_forward_tool, "no directory and no file is given");
    }
    if (o->run && (!*o->run || strlen(o->run) > 64)) {
        return usage("--run-id", "expected 1 to 64 bytes");
    }
    if (!number_of("PERFTRACE_FORWARD_REPLICAS", 5, &o->replicas)) {
        return usage("PERFTRACE_FORWARD_REPLICAS", "expected 1..5");
    }
    if (!number_of("PERFTRACE_FORWARD_LEVEL", 9, &o->level)) {
        return usage("PERFTRACE_FORWARD_LEVEL", "expected 1..9");
    }
    /* Else it would fail at each attempt to connect, and only there. */
    bool good = pt_path_can_read("--creds", o->creds) && pt_path_can_read("--tls-ca", o->tls_ca);
    return good ? read_token(o) : PT_EXIT_INPUT;
}

int pt_forward_options_parse(pt_forward_options_t *ret, int argc, char *const *argv,
                             pt_string_list_t *ret_operands) {
    *ret = (pt_forward_options_t){.replicas = UNSET,
                                  .level = UNSET,
                                  .timeout_ns = UNSET,
                                  .recover = true,
                                  .ring_dirs = PT_STRING_LIST_INIT};
    int status = pt_option_parse(&pt_forward_tool, ret, argc, argv, ret_operands);
    if (status != PT_OPTION_GO_ON) {
        return status;
    }
    ret->follow = ret->follow || ret->until_idle_ns > 0;
    if (ret->timeout_ns == UNSET) {
        ret->timeout_ns = ret->follow ? 0 : TIMEOUT_NS;
    }
    ret->to = text_of(ret->to, "PERFTRACE_FORWARD");
    ret->creds = text_of(ret->creds, "PERFTRACE_FORWARD_CREDS");
    ret->tls_ca = text_of(ret->tls_ca, "PERFTRACE_FORWARD_TLS_CA");
    status = check(ret, ret_operands->count);
    if (status == PT_OPTION_GO_ON && !pt_ring_dirs_add_usual(&ret->ring_dirs)) {
        pt_error("out of memory");
        status = PT_EXIT_INTERNAL;
    }
    return status;
}

void pt_forward_options_free(pt_forward_options_t *o) {
    pt_string_list_free(&o->ring_dirs);
}
