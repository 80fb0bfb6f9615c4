/* fetch_options.c: the command line of perf-trace-fetch. SPDX-License-Identifier: MIT */
#include "fetch_options.h"

#include "message.h"

#include <string.h>

#define BUCKET_VARIABLE  "PROFILING_S3_BUCKET"
#define COMMAND_VARIABLE "PROFILING_LOG_COMMAND"
/* It makes the folder JOB where it runs. */
#define COMMAND_DEFAULT "anyscale logs job --id \"$1\" --download --download-dir ."

#define S pt_fetch_options_t
static const pt_option_t options[] = {
    PT_OPTION_STRING(S, directory, 'd', "directory", "DIR",
                     "make the folder JOB in DIR (default: here)"),
    PT_OPTION_HEADING("Logs"),
    PT_OPTION_FLAG(S, logs, 0, "logs", "run the log command (on)"),
    PT_OPTION_STRING(S, log_command, 'l', "log-command", "COMMAND",
                     "what brings the logs, for sh; $1 is JOB, $2 its folder (default: "
                     "PROFILING_LOG_COMMAND, else Anyscale's)"),
    PT_OPTION_DURATION(S, log_timeout_ns, 0, "log-timeout", "TIME",
                       "stop the log command after TIME (default 30m; 0: never)"),
    PT_OPTION_HEADING("Uploaded files"),
    PT_OPTION_FLAG(S, copy, 0, "copy", "copy what lies under PREFIX (on)"),
    PT_OPTION_STRING(S, bucket_option, 'b', "bucket", "NAME",
                     "the bucket (default: PROFILING_S3_BUCKET)"),
    PT_OPTION_STRING(S, endpoint_url, 'e', "endpoint-url", "URL",
                     "a server that speaks S3 (default: AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL, "
                     "else Amazon's)"),
    PT_OPTION_FLAG(S, no_sign_request, 0, "no-sign-request",
                   "ask without credentials, for public buckets"),
    PT_OPTION_LIST(S, kind_words, 'k', "kinds", "NAME,...",
                   "only files of these kinds; see UPLOADED FILES, or other"),
    PT_OPTION_LIST(S, patterns, 'p', "pattern", "GLOB,...", "only files whose name fits one"),
    PT_OPTION_STRING(S, aws, 0, "aws", "PROGRAM", "the aws CLI (default: aws)"),
    PT_OPTION_DURATION(S, timeout_ns, 0, "timeout", "TIME",
                       "longest wait for an answer of the server, in whole seconds (default 60s)"),
    PT_OPTION_HEADING("Output"),
    PT_OPTION_FLAG(S, dry_run, 'n', "dry-run", "ask what there is, and write and run nothing"),
    PT_OPTION_FLAG(S, json, 0, "json", "print one JSON object instead of tables"),
};
#undef S

static const char *const synopsis[] = {"[OPTION]... JOB PREFIX", "[OPTION]... --no-copy JOB", NULL};

static const pt_text_t examples[] = {
    {"perf-trace-fetch prodjob_abc123 image-embedding/prodjob_abc123",
     "logs and telemetry into prodjob_abc123/"},
    {"perf-trace-fetch --dry-run prodjob_abc123 image-embedding/prodjob_abc123",
     "what is there, and what is still missing here"},
    {"perf-trace-fetch --kinds pyspy,perf --no-logs JOB PREFIX", "only sampled stacks"},
    {"perf-trace-fetch --log-command 'ray job logs \"$1\"' JOB s3://BUCKET/PREFIX",
     "logs of a Ray cluster: what the command prints is put into JOB/job_output.log"},
    {"perf-trace-fetch --endpoint-url http://minio:9000 JOB PREFIX", "from another server"},
    {NULL, NULL}};

static const pt_text_t sections[] = {
    {"UPLOADED FILES", "By their names, as the profiling of Ray Data uploads them:\n\n"
#define X(name, word, pattern, what) "  " word ": " pattern "\n      " what "\n"
     PT_UPLOAD_KINDS(X)
#undef X
    },
    {"ENVIRONMENT",
     BUCKET_VARIABLE " names the bucket, " COMMAND_VARIABLE
                     " the log command. The aws CLI takes its own variables: credentials, "
                     "AWS_PROFILE, AWS_REGION, AWS_MAX_ATTEMPTS."},
    {NULL, NULL}};

static const pt_text_t exits[] = {
    {"0", "all that is asked for is there, of the size that the bucket says"},
    {"1", "something is missing: a file, one whose key was refused, the logs"},
    {"2", "the command line is wrong"},
    {"3", "the bucket could not be asked, or nothing lies under PREFIX"},
    {"4", "the output cannot be written"},
    {"5", "out of memory, or an internal limit was reached"},
    {"130", "interrupted; the next run goes on"},
    {NULL, NULL}};

const pt_tool_t pt_fetch_tool = {
    .name = "perf-trace-fetch",
    .version = PERFTRACE_TOOL_VERSION,
    .purpose = "download a job's logs and the profiles that it uploaded",
    .synopsis = synopsis,
    .description =
        "Makes a folder named JOB: a command brings the logs, and the aws CLI copies what lies "
        "under PREFIX of the bucket. PREFIX may be s3://BUCKET/PREFIX.\n\n"
        "It may be run again: what is there, has its size and is not older stays. A file has its "
        "name only when it is complete. Keys that would lead out of the folder are refused.",
    .options = options,
    .option_count = PT_ARRAY_LEN(options),
    .examples = examples,
    .sections = sections,
    .see_also = "perf-trace-stacks(1), perf-trace-analyze(1), aws(1)",
    .exits = exits,
};

static int out_of_memory(void) {
    pt_error("out of memory");
    return PT_EXIT_INTERNAL;
}

/* The job's name becomes that of a folder, and an argument. */
static int take_job(pt_fetch_options_t *o, const char *job) {
    bool control = false;
    for (const char *p = job; *p; p++) {
        control = control || (unsigned char)*p < 0x20 || *p == 0x7f;
    }
    if (!*job || strchr(job, '/') || strcmp(job, ".") == 0 || strcmp(job, "..") == 0 ||
        *job == '-' || control || strlen(job) > 255) {
        return pt_option_usage_error(&pt_fetch_tool,
                                     "\"%s\" is no job: its name becomes that of a folder", job);
    }
    o->job = job;
    const char *dir = o->directory ? o->directory : ".";
    size_t n = strlen(dir);
    perftrace__strbuf_printf(&o->folder, "%s%s%s", strcmp(dir, ".") == 0 ? "" : dir,
                             strcmp(dir, ".") == 0 || dir[n - 1] == '/' ? "" : "/", job);
    return PT_OPTION_GO_ON;
}

static int take_prefix(pt_fetch_options_t *o, const char *text, pt_fetch_env_fn env) {
    static const char scheme[] = "s3://";
    const char *bucket = o->bucket_option;
    if (strncmp(text, scheme, sizeof(scheme) - 1) == 0) {
        text += sizeof(scheme) - 1;
        size_t n = strcspn(text, "/");
        if (bucket && (strlen(bucket) != n || strncmp(bucket, text, n) != 0)) {
            return pt_option_usage_error(&pt_fetch_tool,
                                         "--bucket and PREFIX name different buckets");
        }
        perftrace__strbuf_append(&o->bucket, text, n);
        text += text[n] ? n + 1 : n;
    } else {
        bucket = bucket ? bucket : env(BUCKET_VARIABLE);
        if (!bucket || !*bucket) {
            return pt_option_usage_error(&pt_fetch_tool,
                                         "no bucket is given: set " BUCKET_VARIABLE
                                         ", or use --bucket NAME or s3://BUCKET/PREFIX");
        }
        perftrace__strbuf_puts(&o->bucket, bucket);
    }
    const char *name = perftrace__strbuf_cstr(&o->bucket);
    if (!*name || strpbrk(name, "/ \t\r\n")) {
        return pt_option_usage_error(&pt_fetch_tool, "\"%s\" is no name of a bucket", name);
    }
    size_t n = strlen(text);
    while (n > 0 && text[n - 1] == '/') {
        n--;
    }
    if (n == 0) {
        return pt_option_usage_error(&pt_fetch_tool, "PREFIX is empty: that is the whole bucket");
    }
    perftrace__strbuf_append(&o->prefix, text, n);
    perftrace__strbuf_putc(&o->prefix, '/');
    return PT_OPTION_GO_ON;
}

static int take_kinds(pt_fetch_options_t *o) {
    for (size_t i = 0; i < PT_UPLOAD_COUNT; i++) {
        o->kinds[i] = o->kind_words.count == 0;
    }
    for (size_t i = 0; i < o->kind_words.count; i++) {
        const char *near = NULL;
        pt_upload_kind_t kind = pt_upload_find(o->kind_words.items[i], &near);
        if (kind == PT_UPLOAD_COUNT) {
            return pt_option_usage_error(&pt_fetch_tool, "--kinds: there is no %s%s%s%s",
                                         o->kind_words.items[i], near ? "; is " : "",
                                         near ? near : "", near ? " meant?" : "");
        }
        o->kinds[kind] = true;
    }
    return PT_OPTION_GO_ON;
}

static void take_defaults(pt_fetch_options_t *o, pt_fetch_env_fn env) {
    static const char *const endpoints[] = {"AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"};
    const char *command = env(COMMAND_VARIABLE);
    if (!o->log_command) {
        o->log_command = command && *command ? command : COMMAND_DEFAULT;
    }
    for (size_t i = 0; i < PT_ARRAY_LEN(endpoints); i++) {
        const char *url = env(endpoints[i]);
        o->endpoint_url = o->endpoint_url ? o->endpoint_url : url && *url ? url : NULL;
    }
}

static int take(pt_fetch_options_t *o, const pt_string_list_t *operands, pt_fetch_env_fn env) {
    if (!o->logs && !o->copy) {
        return pt_option_usage_error(&pt_fetch_tool, "--no-logs and --no-copy leave nothing to do");
    }
    if (operands->count != (o->copy ? 2U : 1U)) {
        return pt_option_usage_error(&pt_fetch_tool, o->copy
                                                         ? "a job and a prefix are needed"
                                                         : "with --no-copy, only a job is needed");
    }
    if (o->directory && !*o->directory) {
        return pt_option_usage_error(&pt_fetch_tool, "--directory needs a name");
    }
    take_defaults(o, env);
    int status = take_job(o, operands->items[0]);
    if (status == PT_OPTION_GO_ON && o->copy) {
        status = take_prefix(o, operands->items[1], env);
    }
    return status == PT_OPTION_GO_ON ? take_kinds(o) : status;
}

int pt_fetch_options_parse(pt_fetch_options_t *o, int argc, char *const *argv,
                           pt_fetch_env_fn env) {
    pt_string_list_t operands = PT_STRING_LIST_INIT;
    *o = (pt_fetch_options_t){.logs = true,
                              .copy = true,
                              .aws = "aws",
                              .log_timeout_ns = UINT64_C(1800000000000),
                              .timeout_ns = UINT64_C(60000000000)};
    int status = pt_option_parse(&pt_fetch_tool, o, argc, argv, &operands);
    if (status == PT_OPTION_GO_ON) {
        status = take(o, &operands, env);
    }
    if (status == PT_OPTION_GO_ON && (o->prefix.failed || o->bucket.failed || o->folder.failed)) {
        status = out_of_memory();
    }
    /* What is kept of an operand must outlive the list. */
    if (status == PT_OPTION_GO_ON) {
        o->job = strrchr(perftrace__strbuf_cstr(&o->folder), '/');
        o->job = o->job ? o->job + 1 : perftrace__strbuf_cstr(&o->folder);
    }
    pt_string_list_free(&operands);
    return status;
}

void pt_fetch_options_free(pt_fetch_options_t *o) {
    perftrace__strbuf_free(&o->prefix);
    perftrace__strbuf_free(&o->bucket);
    perftrace__strbuf_free(&o->folder);
    pt_string_list_free(&o->kind_words);
    pt_string_list_free(&o->patterns);
}
