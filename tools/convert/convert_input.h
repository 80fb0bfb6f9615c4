/* convert_input.h: one input file on its way through the converter. SPDX-License-Identifier: MIT */
#ifndef PERFTRACE_CONVERT_INPUT_H
#define PERFTRACE_CONVERT_INPUT_H
#include "clock_align.h"
#include "convert_options.h"
#include "flow_table.h"
#include "flow_wait.h"
#include "input.h"
#include "live_sessions.h"
#include "mixed_ranks.h"
#include "paths.h"
#include "survey.h"
#include "trace_reader.h"
#include "trace_source.h"

/* Bytes that are read and converted at a time. */
#define PT_CONVERT_CHUNK ((size_t)1 << 20)

/* Events of a phase. */
typedef struct pt_phase_count {
    char phase;
    uint64_t in, out;
} pt_phase_count_t;

/* What went through one input; see convert_account. */
typedef struct pt_convert_counts {
    uint64_t *in, *out;      /* by phase, 128 each, while it is converted */
    pt_phase_count_t *phase; /* the same afterwards: there may be very many inputs */
    unsigned phases;
    uint64_t filtered;   /* left out because an option said so */
    uint64_t unfinished; /* scopes that had no end */
    uint64_t moved;      /* scopes moved to lanes or made async */
    uint64_t unsure;     /* of these, how many may have nested */
    uint64_t lost;       /* events that the writer says it dropped */
    uint64_t flows_open;
    uint64_t nonfinite;
    uint64_t sessions[PT_SESSION_END_COUNT];
    int64_t first_ns,
        last_ns; /* range of what was written, in merged time; first > last: nothing */
} pt_convert_counts_t;

#define PT_CONVERT_LOSSES 16U
#define PT_PHASES         128U /* phases are ASCII */

/* A cause of loss, as the writer of the file names it. */
typedef struct pt_convert_loss {
    char cause[32];
    uint64_t footer, records; /* as the footer says; summed up from drop records */
} pt_convert_loss_t;

/* What the inputs that were opened so far say of their machines; shared by all threads. */
typedef struct pt_convert_machines {
    uint64_t first;   /* atomic: the name of one machine's clock, not 0; 0: none yet */
    uint32_t several; /* atomic: there is another, or one without a name */
} pt_convert_machines_t;

typedef struct pt_convert_input {
    const pt_path_t *path;
    const char *name; /* for messages */
    unsigned index;   /* among the inputs; its number in the book of problems */
    unsigned slot;    /* file's place among those converted, for ids and numbers */
    pt_source_t source;
    pt_survey_t survey; /* not for files of our writer */
    pt_tracks_t tracks;
    pt_clock_out_t clock;
    int64_t window_shift_ns; /* from the times written to those of the merged trace: for a bundle */
    char *role;              /* JSON string with quotes; NULL: none */
    bool used;               /* it is a trace and takes part */
    bool several;            /* more than one input takes part: ids are kept apart */
    unsigned slots;          /* how many take part */
    bool filtering;          /* an option narrows down what is taken */
    bool plain;              /* no option asks for a look into the events of our own files */
    int64_t last_ts;     /* last time on the file's clock of an event that was not just copied */
    uint32_t first_pid;  /* the process number kept for a file's first process */
    bool show_host;      /* the ranks run on several hosts: labels say on which */
    bool some_left_out;  /* processes of a merged trace, since --ranks says so */
    bool named_rank;     /* labels give the rank: there is more than one file, or it is known */
    int64_t order_scale; /* sort index = rank times this plus the process' place in the file */
    unsigned run, runs;  /* this is run number `run` (from 1) of `runs` of its rank */
    int spool;           /* descriptor of a copy of what can be read once only; -1: none */
    pt_convert_machines_t *machines;
    pt_exit_t opened;            /* what came of opening it */
    perftrace__strbuf_t problem; /* and what is to be told of that */
    pt_mixed_ranks_t ranks;      /* of a file of our writer: the processes met */
    bool packed;                 /* as it was when it was opened first */
    bool has_marks;              /* what its lines say of the clock is in survey.clock */

    /* Conversion. */
    pt_input_t *handle;
    pt_problems_t *book;
    pt_trace_reader_t *reader; /* NULL but during a pass that looks at all events */
    uint64_t read_offset;
    bool no_memory; /* it could not be opened for want of memory */
    bool done;      /* all is converted; only its lane looks at it */
    bool has_header, has_footer;
    pt_id_space_t ids;
    pt_flow_table_t flows;
    pt_flow_table_t session_flows;      /* may stay open: so may sessions */
    pt_live_sessions_t sessions;        /* of a file of our writer */
    pt_flow_wait_t waiting;             /* flow events before their start */
    pt_flow_wait_t early;               /* async begins before the window */
    perftrace__hashmap_t written_links; /* with a filter: numbers of flows and async events */
    pt_convert_counts_t counts;
    pt_convert_loss_t *loss; /* PT_CONVERT_LOSSES at most; more causes count as the last one's */
    unsigned loss_count;
    perftrace__strbuf_t *out;  /* where events go */
    perftrace__strbuf_t *meta; /* where names go */
    perftrace__strbuf_t scratch[3];
    struct pt_held_scope
        *held; /* begins or ends that wait for their partner, by slot of the plan */
    const pt_convert_options_t *options;
} pt_convert_input_t;

/* Makes an input of a path: number `index` in the book. All pointers must live as long as it. */
void pt_convert_input_init(pt_convert_input_t *input, const pt_path_t *path, unsigned index,
                           const pt_convert_options_t *options, pt_problems_t *book,
                           pt_convert_machines_t *machines);
/* Opens the input and sees what it is: input->opened is PT_EXIT_OK (a file that is no trace is OK
 * too, with shape PT_SHAPE_NONE), or PT_EXIT_INPUT or PT_EXIT_INTERNAL (no memory) with
 * input->problem. Of a file of our writer the marks are taken with it once the machines are known
 * to be several: it is open now. buf as for survey. Always true; any thread for a regular file,
 * only one for what can be read once. */
bool pt_convert_input_open(pt_convert_input_t *input, char *buf);
/* The first pass over a file that is not of our writer. Reads the whole file, through buf
 * (PT_CONVERT_CHUNK + PT_EVENT_PAD bytes). False without memory or when reading fails (told). Any
 * thread; one input at a time. */
bool pt_convert_input_survey(pt_convert_input_t *input, char *buf);
/* Makes what reads the events of a pass; false without memory. */
bool pt_convert_input_reader(pt_convert_input_t *input);
/* Its halves, for bytes from elsewhere: in between they are fed to input->reader. */
bool pt_convert_input_survey_begin(pt_convert_input_t *input); /* false without memory */
bool pt_convert_input_survey_end(pt_convert_input_t *input);
/* Looks only for what lines say of the clock, in a file of our writer, unless it was done when the
 * file was opened; else as survey. */
bool pt_convert_input_marks(pt_convert_input_t *input, char *buf);

/* Reads the next chunk into buf (PT_EVENT_PAD bytes more than size). Returns its length; *ret_last
 * when the file ends with it. Damage is told to the book and ends the file. */
size_t pt_convert_input_read(pt_convert_input_t *input, char *buf, size_t size, bool *ret_last);
/* Makes the counts by phase, all zero; false without memory. */
bool pt_convert_input_count(pt_convert_input_t *input);
/* What was counted of a phase, before and after pt_convert_input_end. */
void pt_convert_input_counted(const pt_convert_input_t *input, uint64_t in[PT_PHASES],
                              uint64_t out[PT_PHASES]);
/* Goes back to the start for another pass. False when reading fails (told). */
bool pt_convert_input_rewind(pt_convert_input_t *input);
void pt_convert_input_close(pt_convert_input_t *input); /* the file only */
void pt_convert_input_end(pt_convert_input_t *input);   /* and what only its conversion needs */
void pt_convert_input_free(pt_convert_input_t *input);  /* everything */

#endif
