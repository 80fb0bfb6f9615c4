/* convert_plan.c: what must be decided before the first event is converted.
 * SPDX-License-Identifier: MIT */
#include "convert_plan.h"

#include "convert_label.h"
#include "convert_pass.h"
#include "file_rank.h"
#include "message.h"

#include <inttypes.h>
#include <stdlib.h>

#define MAX_MISSING  65536                        /* ranks named as missing at most */
#define EPOCH_TS     INT64_C(1000000000000000000) /* larger times (2001) count from the epoch */
#define EPOCH_TS_END INT64_C(4500000000000000000)

/* ---- ranks ---- */

static void adopt_survey(pt_convert_input_t *in) {
    pt_source_t *s = &in->source;
    if (!s->ours && in->survey.has_rank && in->survey.rank >= 0) {
        s->has_rank = true;
        s->rank = in->survey.rank;
    }
    if (!s->ours && in->survey.world_size > 0) {
        s->world_size = in->survey.world_size;
    }
}

/* Whether --ranks takes the file, or of a merged trace some processes. */
static bool ranks_take(pt_convert_input_t *in, const pt_convert_options_t *options) {
    bool any = false;
    if (!in->survey.several_ranks || options->ranks == NULL) {
        return pt_convert_options_rank(options, in->source.rank);
    }
    for (size_t i = 0; i < in->tracks.process_count; i++) {
        pt_process_t *p = in->tracks.process[i];
        p->left_out = p->rank < 0 || !pt_convert_options_rank(options, p->rank);
        any |= !p->left_out;
    }
    in->some_left_out = true;
    return any;
}

static bool rank_is_taken(const pt_convert_plan_t *plan, int64_t rank) {
    for (size_t i = 0; i < plan->count; i++) {
        if (plan->order[i]->source.has_rank && plan->order[i]->source.rank == rank) {
            return true;
        }
    }
    return false;
}

static void guess_ranks(pt_convert_plan_t *plan) {
    int64_t next = 0;
    size_t unknown = 0;
    for (size_t i = 0; i < plan->count; i++) {
        pt_convert_input_t *in = plan->order[i];
        int64_t rank = in->source.has_rank ? -1 : pt_file_rank(in->path->name);
        if (rank >= 0) {
            in->source.has_rank = in->source.rank_guessed = true;
            in->source.rank = rank;
        }
    }
    for (size_t i = 0; i < plan->count; i++) {
        pt_convert_input_t *in = plan->order[i];
        if (!in->source.has_rank) {
            while (rank_is_taken(plan, next)) {
                next++;
            }
            in->source.has_rank = in->source.rank_guessed = true;
            in->source.rank = next;
            in->named_rank = plan->count > 1 && !in->source.ours;
            if (in->source.ours) {
                continue; /* its program has no ranks: its process' name is all there is to say */
            }
            pt_warn_some(&unknown,
                         "%s: no rank is recorded in the file or its name: taken as rank %" PRId64,
                         in->name, next);
        } else {
            in->named_rank = plan->count > 1 || in->source.ours || !in->source.rank_guessed;
        }
    }
    pt_warn_more(unknown, "files without a rank");
}

static int compare_text(const char *a, const char *b) {
    if (a == NULL || b == NULL) {
        return (a != NULL) - (b != NULL);
    }
    return strcmp(a, b);
}

/* Named roles before unnamed ones; runs of one rank by their start. */
static int by_rank(const void *a, const void *b) {
    const pt_convert_input_t *x = *(pt_convert_input_t *const *)a;
    const pt_convert_input_t *y = *(pt_convert_input_t *const *)b;
    if (x->source.rank != y->source.rank) {
        return (x->source.rank > y->source.rank) - (x->source.rank < y->source.rank);
    }
    bool named = x->source.role != NULL && y->source.role != NULL;
    int role = named ? strcmp(x->source.role, y->source.role)
                     : (x->source.role == NULL) - (y->source.role == NULL);
    if (role != 0) {
        return role;
    }
    if (x->source.epoch_ns != y->source.epoch_ns) {
        return (x->source.epoch_ns > y->source.epoch_ns) -
               (x->source.epoch_ns < y->source.epoch_ns);
    }
    return (x->index > y->index) - (x->index < y->index);
}

static bool same_rank(const pt_convert_input_t *x, const pt_convert_input_t *y) {
    return x->source.rank == y->source.rank && compare_text(x->source.role, y->source.role) == 0;
}

static void number_runs(pt_convert_plan_t *plan) {
    for (size_t from = 0, to; from < plan->count; from = to) {
        for (to = from; to < plan->count && same_rank(plan->order[from], plan->order[to]); to++) {
            plan->order[to]->run = (unsigned)(to - from) + 1;
        }
        for (size_t i = from; i < to; i++) {
            plan->order[i]->runs = (unsigned)(to - from);
        }
    }
}

static bool find_missing(pt_convert_plan_t *plan) {
    int64_t top = -1;
    plan->world_size = -1;
    for (size_t i = 0; i < plan->count; i++) {
        const pt_source_t *s = &plan->order[i]->source;
        plan->world_size = PT_MAX(plan->world_size, s->world_size);
        top = PT_MAX(top, s->rank);
    }
    int64_t world = PT_MIN(PT_MAX(plan->world_size, top + 1), (int64_t)MAX_MISSING);
    plan->missing = calloc((size_t)world + 1, sizeof *plan->missing);
    if (plan->missing == NULL) {
        return false;
    }
    size_t at = 0;
    for (int64_t rank = 0; rank < world; rank++) { /* the order is by rank */
        while (at < plan->count && plan->order[at]->source.rank < rank) {
            at++;
        }
        if (at == plan->count || plan->order[at]->source.rank != rank) {
            plan->missing[plan->missing_count++] = rank;
        }
    }
    return true;
}

static void warn_missing(const pt_convert_plan_t *plan, const pt_convert_options_t *options) {
    perftrace__strbuf_t list = PERFTRACE__STRBUF_INIT;
    size_t shown = 0;
    for (size_t i = 0; i < plan->missing_count; i++) {
        if (!pt_convert_options_rank(options, plan->missing[i])) {
            continue;
        }
        if (shown++ < 20) {
            perftrace__strbuf_printf(&list, "%s%" PRId64, shown == 1 ? "" : ", ", plan->missing[i]);
        }
    }
    if (shown > 20) {
        perftrace__strbuf_puts(&list, ", ...");
    }
    if (shown > 0) {
        if (plan->world_size > 0) {
            perftrace__strbuf_printf(&list, " of %" PRId64, plan->world_size);
        }
        pt_warn("missing rank%s %s", shown == 1 ? "" : "s", perftrace__strbuf_cstr(&list));
    }
    perftrace__strbuf_free(&list);
}

/* How many files of the plan have a run id; NULL without memory. */
static uint64_t *files_of(perftrace__hashmap_t *runs, const char *id) {
    return perftrace__hashmap_put(runs, id, strlen(id), 0, NULL);
}

/* The run id that most files of the plan have, of equal ones the first; NULL when none has one.
 * *ret_count: how many. */
static const char *main_run(const pt_convert_plan_t *plan, size_t *ret_count) {
    perftrace__hashmap_t runs = PERFTRACE__HASHMAP_INIT;
    const char *best = NULL;
    *ret_count = 0;
    for (size_t i = 0; i < plan->count; i++) {
        const char *id = plan->order[i]->source.run_id;
        uint64_t *n = id != NULL ? files_of(&runs, id) : NULL;
        *(n != NULL ? n : &(uint64_t){0}) += 1;
    }
    for (size_t i = 0; i < plan->count; i++) {
        const char *id = plan->order[i]->source.run_id;
        const uint64_t *n = id != NULL ? files_of(&runs, id) : NULL;
        if (n != NULL && *n > *ret_count) {
            best = id;
            *ret_count = (size_t)*n;
        }
    }
    perftrace__hashmap_free(&runs);
    return best;
}

static void warn_runs(pt_convert_plan_t *plan) {
    size_t most = 0, runs = 0, odd = 0;
    const char *usual = main_run(plan, &most);
    for (size_t i = 0; i < plan->count; i++) {
        const char *id = plan->order[i]->source.run_id;
        runs += id != NULL;
        plan->odd_runs += id != NULL && strcmp(id, usual) != 0;
    }
    if (most == 1 && runs > 1) {
        pt_warn("no two of the %zu files belong to the same run; all are merged", runs);
        return;
    }
    for (size_t i = 0; i < plan->count; i++) {
        const pt_convert_input_t *in = plan->order[i];
        if (in->source.run_id != NULL && strcmp(in->source.run_id, usual) != 0) {
            pt_warn_some(&odd, "%s: belongs to run %s, most other files to run %s", in->name,
                         in->source.run_id, usual);
        }
    }
    pt_warn_more(odd, "files of other runs");
}

/* ---- clocks ---- */

static bool has_several_clocks(const pt_convert_plan_t *plan) {
    for (size_t i = 1; i < plan->count; i++) {
        const pt_source_t *a = &plan->order[0]->source, *b = &plan->order[i]->source;
        if (!a->has_mono || !b->has_mono || a->boot_id == NULL || b->boot_id == NULL ||
            strcmp(a->boot_id, b->boot_id) != 0) {
            return true;
        }
    }
    return false;
}

static pt_clock_in_t clock_of(const pt_convert_input_t *in) {
    const pt_source_t *s = &in->source;
    const pt_survey_t *v = &in->survey;
    pt_clock_in_t c = {.boot_id = s->boot_id,
                       .has_mono = s->has_mono && s->ours,
                       .epoch_ns = s->epoch_ns,
                       .mono_ns = s->mono_ns,
                       .first_ts = v->first_ts,
                       .last_ts = v->last_ts,
                       .notes = &v->clock};
    bool absolute = !s->ours && v->first_ts >= EPOCH_TS && v->last_ts < EPOCH_TS_END;
    if (s->ours ? s->has_epoch : (v->has_base || absolute)) {
        c.kind = PT_CLOCK_EPOCH;
    }
    if (!s->ours) {
        c.epoch_ns = v->has_base && !absolute ? v->base_ns : 0;
    } else {
        c.last_ts = pt_clock_notes_last(&v->clock);
    }
    return c;
}

/* Lets those inputs be read that may say something of clocks. */
static bool look_for_marks(const pt_convert_plan_t *plan, unsigned threads) {
    pt_convert_input_t **some = calloc(plan->count, sizeof(pt_convert_input_t *));
    size_t count = 0;
    for (size_t i = 0; some != NULL && i < plan->count; i++) {
        pt_convert_input_t *input = plan->order[i];
        if (input->source.ours && !input->path->is_stdin) {
            some[count++] = input;
        }
    }
    bool ok =
        some != NULL && pt_convert_pass(some, count, threads, pt_convert_input_marks) == PT_EXIT_OK;
    free(some);
    return ok;
}

static bool align(pt_convert_plan_t *plan, unsigned threads) {
    pt_clock_in_t *in = calloc(plan->count, sizeof *in);
    pt_clock_out_t *out = calloc(plan->count, sizeof *out);
    bool ok = in != NULL && out != NULL;
    bool several = has_several_clocks(plan);
    ok = ok && (!several || look_for_marks(plan, threads));
    for (size_t i = 0; i < plan->count && ok; i++) {
        if (!several) { /* some may have been opened beside files that --ranks leaves out */
            pt_clock_notes_free(&plan->order[i]->survey.clock);
        }
        in[i] = clock_of(plan->order[i]);
    }
    ok = ok && pt_clock_align(in, plan->count, out, &plan->base_epoch_ns);
    for (size_t i = 0; i < plan->count && ok; i++) {
        plan->order[i]->clock = out[i];
        pt_clock_notes_free(&plan->order[i]->survey.clock);
    }
    plan->knows_base = plan->base_epoch_ns != INT64_MIN;
    free(in);
    free(out);
    return ok;
}

/* ---- numbers ---- */

static int by_orig(const void *a, const void *b) {
    const pt_process_t *x = *(pt_process_t *const *)a, *y = *(pt_process_t *const *)b;
    bool nx = x->orig != NULL && x->orig[0] != '"', ny = y->orig != NULL && y->orig[0] != '"';
    if (nx != ny) {
        return ny - nx;
    }
    if (nx) {
        long long m = strtoll(x->orig, NULL, 10), n = strtoll(y->orig, NULL, 10);
        if (m != n) {
            return (m > n) - (m < n);
        }
    }
    return compare_text(x->orig, y->orig);
}

/* Whether one rank has several processes: their order needs more than the rank. */
static bool shares_a_rank(const pt_convert_input_t *in) {
    perftrace__hashmap_t seen = PERFTRACE__HASHMAP_INIT;
    bool shared = in->tracks.process_count > 1 && !in->survey.several_ranks;
    for (size_t i = 0; i < in->tracks.process_count && in->survey.several_ranks && !shared; i++) {
        bool is_new = true;
        perftrace__hashmap_put_u64(&seen, (uint64_t)in->tracks.process[i]->rank, 0, &is_new);
        shared = !is_new;
    }
    perftrace__hashmap_free(&seen);
    return shared;
}

/* Processes are numbered from 1 in the order of the plan. Files of our writer have one; what they
 * hold besides is met, and numbered, later. */
static bool number_processes(pt_convert_plan_t *plan) {
    uint32_t next = 1;
    bool multi = false, hosts = false;
    for (size_t i = 0; i < plan->count; i++) {
        pt_convert_input_t *in = plan->order[i];
        in->slot = (unsigned)i;
        in->slots = (unsigned)plan->count;
        in->several = plan->count > 1;
        in->tracks.file = in->slot;
        in->tracks.files = in->slots;
        multi |= shares_a_rank(in);
        hosts |= in->source.host != NULL && plan->order[0]->source.host != NULL &&
                 strcmp(in->source.host, plan->order[0]->source.host) != 0;
        if (in->source.ours) {
            pt_tracks_init(&in->tracks, in->slot, in->slots);
            pt_ident_t pid = {PT_IDENT_INT, in->source.pid, {NULL, 0}};
            if (in->source.pid > 0 && pt_tracks_process(&in->tracks, &pid) == NULL) {
                return false;
            }
        }
        if (in->tracks.process_count == 0) {
            in->first_pid = next++;
            continue;
        }
        qsort(in->tracks.process, in->tracks.process_count, sizeof(pt_process_t *), by_orig);
        for (size_t k = 0; k < in->tracks.process_count; k++) {
            pt_process_number(&in->tracks, in->tracks.process[k], next++);
        }
    }
    for (size_t i = 0; i < plan->count; i++) {
        plan->order[i]->show_host = hosts;
        plan->order[i]->order_scale = multi ? 1000 : 1;
    }
    return true;
}

pt_exit_t pt_convert_plan_make(pt_convert_plan_t *plan, pt_convert_input_t *inputs, size_t count,
                               const pt_convert_options_t *options, unsigned threads) {
    *plan = (pt_convert_plan_t){.world_size = -1};
    plan->order = calloc(count + 1, sizeof(pt_convert_input_t *));
    if (plan->order == NULL) {
        return PT_EXIT_INTERNAL;
    }
    size_t taken = 0;
    for (size_t i = 0; i < count; i++) {
        adopt_survey(&inputs[i]);
        if (inputs[i].used) {
            plan->order[taken++] = &inputs[i];
        }
    }
    plan->count = taken;
    if (taken == 0) {
        pt_error("there is no trace among the inputs");
        return PT_EXIT_INPUT;
    }
    guess_ranks(plan);
    qsort(plan->order, plan->count, sizeof(pt_convert_input_t *), by_rank);
    number_runs(plan);
    bool several = plan->count > 1 || plan->order[0]->source.world_size > 1;
    if (several && !find_missing(plan)) {
        return PT_EXIT_INTERNAL;
    }
    warn_missing(plan, options);
    warn_runs(plan);
    size_t kept = 0;
    for (size_t i = 0; i < plan->count; i++) {
        plan->order[i]->used = ranks_take(plan->order[i], options);
        plan->order[kept] = plan->order[i];
        kept += plan->order[i]->used;
    }
    plan->count = kept;
    if (kept == 0) {
        pt_error("none of the inputs is of a rank that --ranks names");
        return PT_EXIT_INPUT;
    }
    return align(plan, threads) && number_processes(plan) ? PT_EXIT_OK : PT_EXIT_INTERNAL;
}

void pt_convert_plan_free(pt_convert_plan_t *plan) {
    free(plan->order);
    free(plan->missing);
}
