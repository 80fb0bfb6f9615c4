/* bench_ranks.c: many ranks that send what they trace, without the processes.
 * SPDX-License-Identifier: MIT
 *
 * bench_ranks tcp|nats PORT RUN RANKS RATE SECONDS FLUSH_MS SUMS
 *
 * Each rank has a connection of its own, as a process has, and every FLUSH_MS sends a piece with
 * the events of that time, RATE a second. The ranks take turns evenly within FLUSH_MS. At the end
 * each sends its footer and waits until everything is acknowledged. Writes a line "name size crc"
 * for each rank to SUMS; prints events, bytes of files, packed bytes, pieces, seconds, and the
 * longest time in ms from when a piece was due until it was acknowledged (and the middle one).
 *
 * TCP: docs/formats/STREAM.md. NATS: its text protocol (docs.nats.io, "Client Protocol"); the
 * collector makes the stream. What breaks ends the program: this is no test of breakages. */
#include "bench_rank_text.h"
#include "stream_message.h"
#include "stream_pack.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>
#ifdef BENCH_ISAL
#    include <isa-l/igzip_lib.h>
#endif

#define NS_A_SECOND  UINT64_C(1000000000)
#define WAIT_ACKS_NS (60 * NS_A_SECOND)
#define ON_THE_WAY   1024u /* pieces of one rank that are not acknowledged */
#define BUCKETS      100000u

typedef struct on_the_way {
    uint64_t end;
    uint64_t due_ns;
} on_the_way_t;

typedef struct rank {
    bench_rank_text_t text;
    perftrace__stream_key_t key;
    int fd;
    bool last_acked;
    uint32_t crc;
    uint64_t offset;
    uint64_t acked;
    perftrace__strbuf_t out; /* not taken by the socket yet */
    char in[4096];
    size_t in_len;
    on_the_way_t *way; /* [first, first + count) */
    unsigned first, count;
} rank_t;

static bool is_nats;
static rank_t *ranks;
static unsigned rank_count, rate, flush_ms;
static uint64_t begin_ns, epoch_0;
static perftrace__stream_packer_t *packer;
static uint64_t total_bytes, total_packed, total_pieces;
static uint32_t waits[BUCKETS]; /* acknowledgements by 0.1 ms */
static uint64_t longest_ns;

static _Noreturn void die(const char *what) {
    fprintf(stderr, "bench_ranks: %s%s%s\n", what, errno ? ": " : "", errno ? strerror(errno) : "");
    exit(1);
}

static uint64_t now_of(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * NS_A_SECOND + (uint64_t)t.tv_nsec;
}

/* ---- bytes -------------------------------------------------------------------------------------
 */

static void push(rank_t *r) {
    size_t done = 0;
    while (done < r->out.len) {
        ssize_t n = send(r->fd, r->out.data + done, r->out.len - done, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n < 0 && errno != EAGAIN) {
            die("a connection");
        }
        if (n < 0) {
            break;
        }
        done += (size_t)n;
    }
    r->out.len -= done;
    memmove(r->out.data, r->out.data + done, r->out.len);
}

static void take_ack(rank_t *r, uint64_t end, bool last) {
    uint64_t now = now_of(CLOCK_MONOTONIC);
    while (r->count > 0 && r->way[r->first].end <= end) {
        uint64_t waited = now - r->way[r->first].due_ns;
        waits[waited / 100000 < BUCKETS ? waited / 100000 : BUCKETS - 1]++;
        longest_ns = waited > longest_ns ? waited : longest_ns;
        r->first = (r->first + 1) % ON_THE_WAY;
        r->count--;
    }
    r->acked = end > r->acked ? end : r->acked;
    r->last_acked = r->last_acked || last;
}

/* ---- TCP ---------------------------------------------------------------------------------------
 */

static void take_line(rank_t *r, const char *line, size_t len) {
    perftrace__stream_message_t m;
    const char *problem = NULL;
    if (!perftrace__stream_parse(line, len, &m, &problem)) {
        die(problem);
    }
    if (m.type == PERFTRACE__STREAM_ACK) {
        take_ack(r, m.offset, m.last);
    } else if (m.type != PERFTRACE__STREAM_HELLO &&
               !(m.type == PERFTRACE__STREAM_HAVE && m.offset == 0 && r->offset == 0)) {
        errno = 0;
        die(m.type == PERFTRACE__STREAM_ERROR ? m.text : "an answer that is none");
    }
}

/* ---- NATS --------------------------------------------------------------------------------------
 */

/* An answer of the server's to a piece: subject _INBOX.<rank>.<its end>.<last>. */
static void take_publish_ack(rank_t *r, const char *subject, const char *body) {
    const char *dot = strchr(subject, '.');
    dot = dot != NULL ? strchr(dot + 1, '.') : NULL;
    char *after = NULL;
    uint64_t end = dot != NULL ? strtoull(dot + 1, &after, 10) : 0;
    if (strstr(body, "\"error\"") != NULL || strstr(body, "\"seq\"") == NULL || after == NULL ||
        *after != '.') {
        errno = 0;
        die(body);
    }
    take_ack(r, end, after[1] == '1');
}

/* The bytes that the message at p takes; 0: it is not complete. */
static size_t take_protocol(rank_t *r, char *p, size_t len) {
    char *eol = memchr(p, '\n', len);
    size_t used = eol != NULL ? (size_t)(eol + 1 - p) : 0;
    if (used == 0) {
        return 0;
    }
    if (strncmp(p, "MSG ", 4) == 0 || strncmp(p, "HMSG ", 5) == 0) {
        char subject[128];
        *eol = '\0';
        const char *number = strrchr(p, ' ');
        size_t size = strtoul(number + 1, NULL, 10);
        if (len < used + size + 2) {
            *eol = '\n';
            return 0;
        }
        if (p[0] == 'H' || sscanf(p, "MSG %127s", subject) != 1) {
            errno = 0;
            die("the server has no such stream");
        }
        p[used + size] = '\0';
        take_publish_ack(r, subject, p + used);
        return used + size + 2;
    }
    if (strncmp(p, "PING", 4) == 0) {
        perftrace__strbuf_puts(&r->out, "PONG\r\n");
        push(r);
    } else if (p[0] == '-') {
        *eol = '\0';
        errno = 0;
        die(p);
    }
    return used;
}

static void take_bytes(rank_t *r) {
    size_t done = 0;
    for (size_t used = 1; used > 0 && done < r->in_len; done += used) {
        if (is_nats) {
            used = take_protocol(r, r->in + done, r->in_len - done);
        } else {
            const char *eol = memchr(r->in + done, '\n', r->in_len - done);
            used = eol != NULL ? (size_t)(eol + 1 - r->in) - done : 0;
            if (used > 0) {
                take_line(r, r->in + done, used);
            }
        }
    }
    r->in_len -= done;
    memmove(r->in, r->in + done, r->in_len);
}

static void pull(rank_t *r, bool once) {
    do {
        if (r->in_len == sizeof r->in - 1) {
            errno = 0;
            die("an answer is too long");
        }
        ssize_t n = recv(r->fd, r->in + r->in_len, sizeof r->in - 1 - r->in_len, 0);
        if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) {
            errno = n == 0 ? ECONNRESET : errno;
            die("a connection");
        }
        if (n < 0 && errno == EAGAIN) {
            return;
        }
        r->in_len += n > 0 ? (size_t)n : 0;
        take_bytes(r);
    } while (!once);
}

/* ---- connecting --------------------------------------------------------------------------------
 */

static void dial(rank_t *r, unsigned port) {
    const struct sockaddr_in to = {.sin_family = AF_INET,
                                   .sin_port = htons((uint16_t)port),
                                   .sin_addr = {htonl(INADDR_LOOPBACK)}};
    const int yes = 1;
    r->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (r->fd < 0 || connect(r->fd, (const struct sockaddr *)&to, sizeof to) != 0 ||
        setsockopt(r->fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes) != 0) {
        die("a connection");
    }
    if (is_nats) {
        perftrace__strbuf_printf(&r->out,
                                 "CONNECT {\"verbose\":false,\"pedantic\":false,\"headers\":true,"
                                 "\"no_responders\":true,\"name\":\"rank %u\"}\r\n"
                                 "SUB _INBOX.%u.> 1\r\n",
                                 r->text.rank, r->text.rank);
    } else {
        perftrace__stream_put_hello(&r->out, r->key.run, "");
        perftrace__stream_put_have(&r->out, &r->key);
    }
    push(r);
    pull(r, true); /* INFO, or the answers */
    if (fcntl(r->fd, F_SETFL, O_NONBLOCK) != 0) {
        die("fcntl");
    }
}

/* ---- pieces ------------------------------------------------------------------------------------
 */

/* Ranks pack on machines of their own; here it is to take as little from the others as it can. */
static bool pack(const perftrace__strbuf_t *plain, perftrace__strbuf_t *packed) {
#ifdef BENCH_ISAL
    static uint8_t level_buf[ISAL_DEF_LVL1_DEFAULT];
    struct isal_zstream z;
    size_t room = plain->len + plain->len / 8 + 1024;
    if (!perftrace__strbuf_reserve(packed, room)) {
        return false;
    }
    isal_deflate_stateless_init(&z);
    z.level = 1;
    z.level_buf = level_buf;
    z.level_buf_size = sizeof level_buf;
    z.gzip_flag = IGZIP_ZLIB;
    z.end_of_stream = 1;
    z.next_in = (uint8_t *)plain->data;
    z.avail_in = (uint32_t)plain->len;
    z.next_out = (uint8_t *)packed->data;
    z.avail_out = (uint32_t)room;
    bool good = isal_deflate_stateless(&z) == COMP_OK && z.avail_in == 0;
    packed->len = good ? z.total_out : 0;
    return good;
#else
    return perftrace__stream_pack(packer, plain->data, plain->len, packed);
#endif
}

static void send_piece(rank_t *r, const perftrace__strbuf_t *plain, uint64_t due_ns, bool last) {
    static perftrace__strbuf_t packed, line;
    perftrace__strbuf_clear(&packed);
    perftrace__strbuf_clear(&line);
    if (!pack(plain, &packed)) {
        die("packing");
    }
    perftrace__stream_put_data(&line, &r->key, r->offset, plain->len, packed.len, r->acked, last);
    if (is_nats) {
        char header[96];
        int head = snprintf(header, sizeof header,
                            "NATS/1.0\r\nNats-Msg-Id: %016" PRIx64 "-%" PRIu64 "\r\n\r\n",
                            r->key.stream, r->offset);
        perftrace__strbuf_printf(
            &r->out,
            "HPUB perftrace.%s.data.%u.%016" PRIx64 " _INBOX.%u.%" PRIu64 ".%d %d %zu\r\n%s",
            r->key.run, r->text.rank, r->key.stream, r->text.rank, r->offset + plain->len,
            (int)last, head, (size_t)head + line.len + packed.len, header);
    }
    perftrace__strbuf_append(&r->out, line.data, line.len);
    perftrace__strbuf_append(&r->out, packed.data, packed.len);
    if (is_nats) {
        perftrace__strbuf_puts(&r->out, "\r\n");
    }
    if (r->out.failed || r->count == ON_THE_WAY) {
        errno = 0;
        die("too much is not acknowledged");
    }
    r->crc = (uint32_t)crc32(r->crc, (const Bytef *)plain->data, (uInt)plain->len);
    r->offset += plain->len;
    r->way[(r->first + r->count++) % ON_THE_WAY] = (on_the_way_t){r->offset, due_ns};
    total_bytes += plain->len;
    total_packed += packed.len;
    total_pieces++;
    push(r);
}

static void begin_text(rank_t *r, perftrace__strbuf_t *plain) {
    r->text.epoch_ns = epoch_0;
    r->text.mono_ns = begin_ns;
    bench_rank_begin(plain, &r->text);
}

/* The events of the time before due_ns; and the footer. */
static void make_piece(rank_t *r, uint64_t tick, uint64_t due_ns, bool last) {
    static perftrace__strbuf_t plain;
    perftrace__strbuf_clear(&plain);
    if (r->offset == 0) {
        begin_text(r, &plain);
    }
    uint64_t wanted = (tick + 1) * flush_ms * rate / 1000;
    uint64_t end = due_ns - begin_ns, more = wanted - r->text.events;
    for (uint64_t i = more; i > 0; i--) {
        bench_rank_event(&plain, &r->text, end - (i - 1) * flush_ms * 1000000u / more);
    }
    if (last) {
        bench_rank_end(&plain, &r->text);
    }
    send_piece(r, &plain, due_ns, last);
}

/* ---- the run -----------------------------------------------------------------------------------
 */

static void make_ranks(const char *run, unsigned port) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
    begin_ns = now_of(CLOCK_MONOTONIC);
    epoch_0 = now_of(CLOCK_REALTIME);
    ranks = calloc(rank_count, sizeof *ranks);
    for (unsigned i = 0; i < rank_count; i++) {
        rank_t *r = &ranks[i];
        perftrace__strbuf_t text = PERFTRACE__STRBUF_INIT;
        r->way = calloc(ON_THE_WAY, sizeof *r->way);
        r->text = (bench_rank_text_t){.rank = i, .world_size = rank_count};
        begin_text(r, &text);
        const char *eol = strchr(text.data, '\n');
        r->key = (perftrace__stream_key_t){
            .rank = i,
            .world_size = rank_count,
            .pid = BENCH_PID_0 + i,
            .stream = perftrace__stream_id(text.data, (size_t)(eol + 1 - text.data))};
        snprintf(r->key.run, sizeof r->key.run, "%s", run);
        snprintf(r->key.name, sizeof r->key.name, "traces-r%u.jsonl", i);
        bench_rank_host(i, r->key.host);
        perftrace__strbuf_free(&text);
        dial(r, port);
    }
}

static bool all_acked(void) {
    for (unsigned i = 0; i < rank_count; i++) {
        if (ranks[i].count > 0 || !ranks[i].last_acked) {
            return false;
        }
    }
    return true;
}

static void serve(int epoll, uint64_t until_ns) {
    struct epoll_event events[256];
    uint64_t now = now_of(CLOCK_MONOTONIC);
    int ms = until_ns > now ? (int)((until_ns - now) / 1000000) + 1 : 0;
    int n = epoll_wait(epoll, events, 256, ms);
    for (int i = 0; i < n; i++) {
        rank_t *r = events[i].data.ptr;
        push(r);
        pull(r, false);
    }
}

static void run(uint64_t ticks) {
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    for (unsigned i = 0; i < rank_count; i++) {
        struct epoll_event e = {.events = EPOLLIN | EPOLLOUT | EPOLLET, .data = {.ptr = &ranks[i]}};
        if (epoll < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, ranks[i].fd, &e) != 0) {
            die("epoll");
        }
    }
    /* Times of events count from begin_ns, before the connections were made. */
    uint64_t first_ns = now_of(CLOCK_MONOTONIC);
    uint64_t flush_ns = (uint64_t)flush_ms * 1000000u;
    for (uint64_t i = 0; i < ticks * rank_count; i++) {
        uint64_t due = first_ns + flush_ns + i * flush_ns / rank_count;
        while (now_of(CLOCK_MONOTONIC) < due) {
            serve(epoll, due);
        }
        make_piece(&ranks[i % rank_count], i / rank_count, due, i / rank_count + 1 == ticks);
        if (i % 64 == 63) {
            serve(epoll, 0);
        }
    }
    uint64_t end = now_of(CLOCK_MONOTONIC) + WAIT_ACKS_NS;
    while (!all_acked()) {
        uint64_t now = now_of(CLOCK_MONOTONIC);
        if (now > end) {
            errno = 0;
            die("not everything was acknowledged");
        }
        serve(epoll, now + 10000000u);
    }
    close(epoll);
}

static double middle_wait_ms(void) {
    uint64_t seen = 0;
    for (unsigned i = 0; i < BUCKETS; i++) {
        seen += waits[i];
        if (seen * 2 >= total_pieces) {
            return i / 10.0;
        }
    }
    return 0;
}

int main(int argc, char **argv) {
    if (argc != 9 || (strcmp(argv[1], "tcp") != 0 && strcmp(argv[1], "nats") != 0)) {
        fprintf(stderr, "usage: %s tcp|nats PORT RUN RANKS RATE SECONDS FLUSH_MS SUMS\n", argv[0]);
        return 2;
    }
    is_nats = strcmp(argv[1], "nats") == 0;
    rank_count = (unsigned)strtoul(argv[4], NULL, 10);
    rate = (unsigned)strtoul(argv[5], NULL, 10);
    flush_ms = (unsigned)strtoul(argv[7], NULL, 10);
    packer = perftrace__stream_packer_new(1);
    make_ranks(argv[3], (unsigned)strtoul(argv[2], NULL, 10));
    uint64_t from = now_of(CLOCK_MONOTONIC), events = 0;
    run(strtoul(argv[6], NULL, 10) * 1000 / flush_ms);
    double seconds = (double)(now_of(CLOCK_MONOTONIC) - from) / 1e9;
    FILE *sums = fopen(argv[8], "w");
    for (unsigned i = 0; sums != NULL && i < rank_count; i++) {
        fprintf(sums, "%s %" PRIu64 " %08x\n", ranks[i].key.name, ranks[i].offset, ranks[i].crc);
        events += ranks[i].text.events;
    }
    if (sums == NULL || fclose(sums) != 0) {
        die(argv[8]);
    }
    printf("{\"events\": %" PRIu64 ", \"bytes\": %" PRIu64 ", \"packed\": %" PRIu64
           ", \"pieces\": %" PRIu64
           ", \"seconds\": %.3f, \"ack_ms\": %.1f, \"ack_max_ms\": %.1f}\n",
           events, total_bytes, total_packed, total_pieces, seconds, middle_wait_ms(),
           (double)longest_ns / 1e6);
    return 0;
}
