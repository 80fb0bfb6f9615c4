/* abi_layout.c: what compiled programs know of our structures stays where it is.
 * SPDX-License-Identifier: MIT
 *
 * Programs are compiled with these sizes and offsets (and Python's bindings repeat them): a change
 * here is a change of the ABI. Structures with struct_size may grow at their end only. The numbers
 * are those of LP64 systems, the only ones there are. */
#include <perftrace/perftrace.h>
#include <perftrace/profiler.h>

#include <stddef.h>
#include <stdio.h>

#define SIZE(type, bytes)       _Static_assert(sizeof(type) == (bytes), #type " has kept its size")
#define AT(type, member, bytes) _Static_assert(offsetof(type, member) == (bytes), #member " stays")

SIZE(perftrace_i_arg_t, 16);
AT(perftrace_i_arg_t, type, 8);

SIZE(perftrace_i_site_t, 64);
AT(perftrace_i_site_t, word, 0);
AT(perftrace_i_site_t, kind, 4);
AT(perftrace_i_site_t, nargs, 6);
AT(perftrace_i_site_t, name, 8);
AT(perftrace_i_site_t, category, 16);
AT(perftrace_i_site_t, file, 24);
AT(perftrace_i_site_t, args, 32);
AT(perftrace_i_site_t, line, 40);
AT(perftrace_i_site_t, id, 44);

SIZE(perftrace_i_slot_t, 32);
AT(perftrace_i_slot_t, word, 0);
AT(perftrace_i_slot_t, mask, 16);
AT(perftrace_i_thread_t, slot, 0);
AT(perftrace_i_thread_t, word, 8);
AT(perftrace_i_thread_t, limit, 16);
AT(perftrace_i_thread_t, mask, 24);
AT(perftrace_i_thread_t, run, 32);

SIZE(perftrace_i_open_t, 16);
AT(perftrace_i_open_t, site, 8);
AT(perftrace_i_open_t, name, 12);

SIZE(perftrace_i_begun_t, 16);

AT(perftrace_config_t, struct_size, 0);
AT(perftrace_config_t, config_path, 8);
AT(perftrace_config_t, dir, 16);
AT(perftrace_config_t, role, 48);
AT(perftrace_config_t, ranks, 56);
AT(perftrace_config_t, log, 104);
AT(perftrace_config_t, ring_size, 120);
AT(perftrace_config_t, enabled, 128);
AT(perftrace_config_t, rank, 132);
AT(perftrace_config_t, save_interval, 180);

AT(perftrace_stats_t, struct_size, 0);
AT(perftrace_stats_t, emitted, 8);
AT(perftrace_stats_t, written, 16);
AT(perftrace_stats_t, pending_bytes, 24);
AT(perftrace_stats_t, dropped, 32);
AT(perftrace_stats_t, write_errors, 160);
AT(perftrace_stats_t, unfinished, 168);
AT(perftrace_stats_t, threads, 176);

AT(perftrace_schedule_t, skip_first_wait, 48);
AT(perftrace_schedule_t, steps, 56);
AT(perftrace_schedule_t, max_iterations_exceeded, 80);
SIZE(perftrace_schedule_window_t, 24);
AT(perftrace_trace_name_t, first_step, 40);
AT(perftrace_trace_name_t, rank, 56);
AT(perftrace_trace_name_t, pid, 88);
AT(perftrace_trace_name_t, aborted, 160);
AT(perftrace_profiler_window_t, path, 16);
AT(perftrace_profiler_window_t, first_step, 48);
AT(perftrace_profiler_window_t, aborted, 96);
AT(perftrace_profiler_back_end_t, start, 32);
AT(perftrace_profiler_back_end_t, user, 64);
AT(perftrace_profiler_status_t, role, 56);

/* Parts of the ring format that inline code carries into programs. */
_Static_assert(PERFTRACE_I_DATA_AT == 65536 && PERFTRACE_I_OPEN_AT == 32, "places in a slot");
_Static_assert(PERFTRACE_I_MAX_DEPTH == 200 && PERFTRACE_I_MAX_ARGS == 12, "limits");
_Static_assert(PERFTRACE_I_KIND_ASYNC_END == 9 && PERFTRACE_I_TYPE_STR == 5 &&
                   PERFTRACE_I_TYPE_JSON == 6,
               "numbers");
_Static_assert(PERFTRACE_ERR_DISABLED == -14, "status codes are append only");

int main(void) {
    printf("config %zu bytes, stats %zu, span %zu, scope %zu\n", sizeof(perftrace_config_t),
           sizeof(perftrace_stats_t), sizeof(perftrace_span_t), sizeof(perftrace_i_scope_t));
    return 0;
}
