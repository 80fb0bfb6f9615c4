/* collect_options.c: the command line of perf-trace-collect. SPDX-License-Identifier: MIT */
#include "collect_options.h"

#include "address_shown.h"
#include "message.h"
#include "stream_message.h"

#include <stdlib.h>
#include <string.h>

#define S pt_collect_options_t
static const pt_option_t options[] = {
    PT_OPTION_HEADING("From where"),
    PT_OPTION_STRING(
        S, listen, 'l', "listen", "[HOST:]PORT",
        "serve senders that connect: a port (0: any free one) of 127.0.0.1 or of HOST, "
        "or unix:PATH"),
    PT_OPTION_LIST(
        S, nats, 'N', "nats", "URL,...",
        "take what the NATS server at URL keeps (JetStream): nats://[USER:PASSWORD@]HOST, "
        "nats://TOKEN@HOST, tls://HOST; several are servers of one cluster"),
    PT_OPTION_LIST(S, runs, 'r', "run", "ID",
                   "collect this run only; others are refused and counted (may be given again)"),
    PT_OPTION_STRING(
        S, token, 't', "token", "TEXT",
        "what senders must know (default: PERFTRACE_FORWARD_TOKEN); needed where other "
        "machines reach the address"),
    PT_OPTION_FLAG(S, insecure, 0, "insecure", "do without a token there: anybody may send"),
    PT_OPTION_UINT64(S, replicas, 0, "replicas", "N", 1, 5,
                     "servers that keep a run's stream, where it is not there yet (default 1)"),
    PT_OPTION_STRING(S, creds, 0, "creds", "FILE", "a NATS user's credentials"),
    PT_OPTION_STRING(S, tls_ca, 0, "tls-ca", "FILE", "certificates that NATS servers are known by"),
    PT_OPTION_STRING(S, tls_cert, 0, "tls-cert", "FILE", "our own certificate"),
    PT_OPTION_STRING(S, tls_key, 0, "tls-key", "FILE",
                     "its key (default: in the certificate's file)"),
    PT_OPTION_HEADING("To where"),
    PT_OPTION_STRING(S, dir, 'o', "output", "DIR", "write to DIR/RUN/ (default: .)"),
    PT_OPTION_STRING(S, one_file, '1', "one-file", "NAME",
                     "the traces of all ranks in one file of this name; trace_events.jsonl is the "
                     "usual one"),
    PT_OPTION_SIZE(S, rotate_size, 0, "rotate-size", "SIZE",
                   "go on in a new part, traces-r3.part2.jsonl, when a file has this size"),
    PT_OPTION_DURATION(S, rotate_ns, 0, "rotate-time", "TIME", "or this age"),
    PT_OPTION_UINT64(S, keep, 0, "keep", "N", 1, 1000000,
                     "keep N parts of each file: older ones are deleted, and counted"),
    PT_OPTION_SIZE(S, keep_bytes, 0, "keep-bytes", "SIZE",
                   "keep parts of SIZE bytes in all of each file, and the one that is written"),
    PT_OPTION_FLAG(S, sync, 0, "sync",
                   "acknowledge only what is on the disk, so that it survives the machine"),
    PT_OPTION_HEADING("Watching"),
    PT_OPTION_FLAG(S, follow, 'f', "follow", "print a line for each rank, again and again"),
    PT_OPTION_DURATION(S, interval_ns, 0, "interval", "TIME", "how often (default 1s)"),
    PT_OPTION_STRING(S, status, 0, "status", "[HOST:]PORT",
                     "serve the same over HTTP: /status as JSON, /metrics for Prometheus"),
    PT_OPTION_HEADING("The end"),
    PT_OPTION_FLAG(S, until_done, 'u', "until-done",
                   "end when every rank of the world has sent its footer"),
    PT_OPTION_UINT64(S, world_size, 'n', "world-size", "N", 1, 10000000,
                     "how many ranks there are, where senders do not know it; goes with "
                     "--until-done, which it implies"),
    PT_OPTION_DURATION(S, timeout_ns, 0, "timeout", "TIME",
                       "end after TIME in any case, and name the ranks that are missing"),
    PT_OPTION_HEADING("Limits"),
    PT_OPTION_UINT64(S, max_connections, 0, "max-connections", "N", 1, 1000000,
                     "connections at once (default 10000)"),
    PT_OPTION_UINT64(S, max_streams, 0, "max-streams", "N", 1, 10000000,
                     "files of all runs together, and runs (default 100000)"),
    PT_OPTION_UINT64(S, max_files, 0, "max-files", "N", 4, 1000000,
                     "files that are open at once (default 256)"),
    PT_OPTION_SIZE(S, max_held, 0, "max-held", "SIZE",
                   "bytes of pieces on their way, of all senders together (default 64M)"),
    PT_OPTION_DURATION(S, hello_ns, 0, "hello-timeout", "TIME",
                       "longest wait for a connection's hello (default 10s)"),
    PT_OPTION_DURATION(S, piece_ns, 0, "piece-timeout", "TIME",
                       "longest pause within a message (default 60s)"),
    PT_OPTION_DURATION(S, idle_ns, 0, "idle-timeout", "TIME",
                       "longest pause between two messages (default 10m)"),
};
#undef S

static const char *const synopsis[] = {"--listen [HOST:]PORT [OPTION]...",
                                       "--nats URL,... [OPTION]...", NULL};

static const pt_text_t examples[] = {
    {"perf-trace-collect --listen 7400 -o traces", "all senders of this machine, until Ctrl-C"},
    {"perf-trace-collect --listen 10.0.0.1:7400 -o traces --run job-17 --until-done",
     "one run of a cluster (PERFTRACE_FORWARD_TOKEN is set), until all its ranks have ended"},
    {"perf-trace-collect --nats nats://node1,nats://node2 -o traces --run job-17 --until-done",
     "from NATS; the same command on another machine at the same folder shares the work"},
    {"perf-trace-collect --listen 7400 --follow --status 7401",
     "with the state of each rank in the terminal and over HTTP"},
    {NULL, NULL}};

static const pt_text_t sections[] = {
    {"ENVIRONMENT", "PERFTRACE_FORWARD_TOKEN gives the token where --token does not; it is not "
                    "seen in the list of processes."},
    {NULL, NULL}};

static const pt_text_t exits[] = {
    {"0", "all is collected; or, without --until-done, it was ended by a signal"},
    {"1", "what was collected has a fault: a footer's account does not balance, or pieces were "
          "refused, or files are not there any more"},
    {"2", "the command line is wrong"},
    {"3", "ranks are missing at the end of --timeout, the address cannot be listened on, "
          "or a file that --nats needs cannot be read"},
    {"4", "the folder cannot be made, or files could not be written at the end"},
    {"5", "out of memory, or an internal limit was reached"},
    {"130", "a signal came before --until-done was; ranks that are missing are named"},
    {NULL, NULL}};

const pt_tool_t pt_collect_tool = {
    .name = "perf-trace-collect",
    .version = PERFTRACE_TOOL_VERSION,
    .purpose = "collect the traces of many processes in one place",
    .synopsis = synopsis,
    .description =
        "Takes what processes forward (PERFTRACE_FORWARD) and writes the files of each as they lie "
        "with it, byte for byte: DIR/RUN/[ROLE/]traces-r3.jsonl. Nothing is written twice and "
        "nothing is left out, also when the collector, a sender or the network was gone in "
        "between: the files themselves say how far it is.\n\n"
        "It serves until SIGINT or SIGTERM, or with --until-done until every rank has ended. Then "
        "each footer's account is compared with what is there.",
    .options = options,
    .option_count = PT_ARRAY_LEN(options),
    .examples = examples,
    .sections = sections,
    .see_also = "perf-trace-convert(1), perf-trace-run(1), perftrace(7)",
    .exits = exits,
};

/* False: the usage error is told. */
static bool parse_address(const char *option, const char *text, perftrace__listen_address_t *ret) {
    const char *problem = NULL;
    if (text != NULL && perftrace__listen_address_parse(text, ret, &problem) != 0) {
        pt_option_usage_error(&pt_collect_tool, "%s %s: %s", option, text, problem);
        return false;
    }
    return true;
}

static int check(pt_collect_options_t *o) {
    char shown[512];
    if (!parse_address("--listen", o->listen, &o->address) ||
        !parse_address("--status", o->status, &o->status_address)) {
        return PT_EXIT_USAGE;
    }
    if (o->listen == NULL && o->nats.count == 0) {
        return pt_option_usage_error(
            &pt_collect_tool, "nothing is said about where from: --listen PORT or --nats URL");
    }
#ifndef PT_HAVE_NATS
    if (o->nats.count > 0) {
        return pt_option_usage_error(&pt_collect_tool,
                                     "--nats: built without libnats (Debian: libnats-dev)");
    }
#endif
    if (o->one_file != NULL && !perftrace__stream_name_ok(o->one_file)) {
        return pt_option_usage_error(&pt_collect_tool,
                                     "--one-file %s: a name without directories, that does not "
                                     "begin with a dot, belongs there",
                                     o->one_file);
    }
    bool rotates = o->rotate_size > 0 || o->rotate_ns > 0;
    if (o->one_file != NULL && rotates) {
        return pt_option_usage_error(&pt_collect_tool, "--one-file is not written in parts");
    }
    if ((o->keep > 0 || o->keep_bytes > 0) && !rotates) {
        return pt_option_usage_error(&pt_collect_tool, "--keep and --keep-bytes go with "
                                                       "--rotate-size or --rotate-time");
    }
    if (o->tls_key != NULL && o->tls_cert == NULL) {
        return pt_option_usage_error(&pt_collect_tool, "--tls-key without --tls-cert");
    }
    if (o->nats.count == 0 &&
        (o->creds != NULL || o->tls_ca != NULL || o->tls_cert != NULL || o->replicas != 0)) {
        return pt_option_usage_error(&pt_collect_tool,
                                     "--creds, --tls-... and --replicas go with --nats: what comes "
                                     "by --listen is not encrypted");
    }
    for (size_t i = 0; i < o->nats.count; i++) {
        const char *url = o->nats.items[i]; /* of several the later ones are often a host alone */
        if (strstr(url, "://") != NULL && strncmp(url, "nats://", 7) != 0 &&
            strncmp(url, "tls://", 6) != 0) {
            perftrace__address_shown(url, shown, sizeof shown);
            return pt_option_usage_error(&pt_collect_tool,
                                         "--nats %s: a URL is nats://HOST or tls://HOST", shown);
        }
    }
    bool has_token = o->token != NULL && o->token[0] != '\0';
    if (o->listen != NULL && !o->address.local && !has_token && !o->insecure) {
        return pt_option_usage_error(&pt_collect_tool,
                                     "--listen %s: other machines reach it, so a token is needed "
                                     "(--token, PERFTRACE_FORWARD_TOKEN), or --insecure",
                                     o->listen);
    }
    if (o->status != NULL && !o->status_address.local && !has_token && !o->insecure) {
        return pt_option_usage_error(&pt_collect_tool,
                                     "--status %s: other machines reach it, so a token is needed "
                                     "(--token, PERFTRACE_FORWARD_TOKEN), or --insecure",
                                     o->status);
    }
    for (size_t i = 0; i < o->runs.count; i++) {
        size_t len = strlen(o->runs.items[i]);
        if (len == 0 || len > 64) {
            return pt_option_usage_error(&pt_collect_tool, "--run: an id has 1 to 64 bytes");
        }
    }
    if (o->interval_ns < 50000000u) {
        return pt_option_usage_error(&pt_collect_tool, "--interval: 50ms is the least");
    }
    return PT_OPTION_GO_ON;
}

int pt_collect_options_parse(pt_collect_options_t *ret, int argc, char *const *argv) {
    pt_string_list_t operands = PT_STRING_LIST_INIT;
    *ret = (pt_collect_options_t){.dir = ".",
                                  .interval_ns = UINT64_C(1000000000),
                                  .max_connections = 10000,
                                  .max_streams = 100000,
                                  .max_files = 256,
                                  .max_held = UINT64_C(64000000),
                                  .hello_ns = UINT64_C(10000000000),
                                  .piece_ns = UINT64_C(60000000000),
                                  .idle_ns = UINT64_C(600000000000)};
    int status = pt_option_parse(&pt_collect_tool, ret, argc, argv, &operands);
    if (status == PT_OPTION_GO_ON && operands.count > 0) {
        status =
            pt_option_usage_error(&pt_collect_tool, "%s: there are no operands", operands.items[0]);
    }
    pt_string_list_free(&operands);
    if (status != PT_OPTION_GO_ON) {
        return status;
    }
    ret->token = ret->token != NULL ? ret->token : getenv("PERFTRACE_FORWARD_TOKEN");
    ret->until_done = ret->until_done || ret->world_size > 0;
    status = check(ret);
    ret->replicas = ret->replicas != 0 ? ret->replicas : 1;
    return status;
}

void pt_collect_options_free(pt_collect_options_t *o) {
    pt_string_list_free(&o->runs);
    pt_string_list_free(&o->nats);
}
