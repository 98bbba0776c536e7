/* Threads that live as long as one call: nothing is left behind that a fork could lose. */
#if defined(_WIN32)
#define WIN32_LEAN_AND_MEAN
#include <windows.h> /* before our own, whose short names it takes for its fields */
typedef HANDLE Thread;
#else
#include <pthread.h>
typedef pthread_t Thread;
#endif
#if defined(__linux__)
#include <sys/mman.h>
#endif

#include "kernels.h"

#define MOST_THREADS 256 /* as in core/threads.py */
#define PARTS_PER_THREAD 8

typedef struct {
    Work work;
    void *job;
    int64_t parts, next, threads;
} Shared;

typedef struct {
    Shared *shared;
    int64_t thread;
} Worker;

static void work_through(Worker *worker) {
    Shared *shared = worker->shared;
    int64_t part;
    while ((part = __atomic_fetch_add(&shared->next, 1, __ATOMIC_RELAXED)) < shared->parts)
        shared->work(shared->job, part, worker->thread);
}

#if defined(_WIN32)
static DWORD WINAPI run(LPVOID worker) {
    work_through(worker);
    return 0;
}
static int start_thread(Thread *thread, Worker *worker) {
    return (*thread = CreateThread(NULL, 0, run, worker, 0, NULL)) != NULL;
}
static void wait_for(Thread thread) {
    WaitForSingleObject(thread, INFINITE);
    CloseHandle(thread);
}
#else
static void *run(void *worker) {
    work_through(worker);
    return NULL;
}
static int start_thread(Thread *thread, Worker *worker) { return !pthread_create(thread, NULL, run, worker); }
static void wait_for(Thread thread) { pthread_join(thread, NULL); }
#endif

void share(int64_t parts, int64_t threads, Work work, void *job) {
    Shared shared = {work, job, parts, 0, 0};
    Worker workers[MOST_THREADS];
    Thread running[MOST_THREADS];
    int64_t others = least(least(threads, parts), MOST_THREADS) - 1, started = 0;
    for (int64_t n = 0; n <= (others > 0 ? others : 0); n++) workers[n] = (Worker){&shared, n};
    /* Where a thread cannot be started, the others do its work. */
    while (started < others && start_thread(running + started, workers + started + 1)) started++;
    work_through(workers);
    for (int64_t n = 0; n < started; n++) wait_for(running[n]);
}

static int64_t rows_per_part = 65536; /* what takes about as long as starting a thread */

/* For tests: other parts. */
KERNEL int64_t set_rows_per_part(int64_t rows) { return rows_per_part = rows; }

int64_t parts_of(int64_t rows, int64_t threads) {
    int64_t worth = rows / rows_per_part;
    if (threads < 2 || worth < 2) return 1;
    return least(threads * PARTS_PER_THREAD, worth);
}

Piece *pieces_of(const Chunk *chunks, int64_t n_chunks, int64_t threads, int64_t *pieces) {
    int64_t rows = 0, first = 0, parts;
    for (int64_t c = 0; c < n_chunks; c++) rows += chunks[c].rows;
    parts = parts_of(rows, threads);
    Piece *all = malloc((size_t)(n_chunks + parts) * sizeof *all);
    *pieces = 0;
    for (int64_t c = 0; all && c < n_chunks; c++) {
        int64_t n = chunks[c].rows ? 1 + chunks[c].rows * (parts - 1) / rows : 0; /* in all fewer than chunks + parts */
        for (int64_t p = 0; p < n; p++) {
            int64_t begin = edge_of(chunks[c].rows, p, n), end = edge_of(chunks[c].rows, p + 1, n);
            all[(*pieces)++] = (Piece){chunks + c, begin, end - begin, first + begin};
        }
        first += chunks[c].rows;
    }
    return all;
}

int64_t each_piece(const Chunk *chunks, int64_t n_chunks, int64_t threads, Work work, Pieces *job) {
    int64_t n = OUT_OF_MEMORY;
    job->pieces = pieces_of(chunks, n_chunks, threads, &job->parts);
    job->found = calloc((size_t)(job->parts + 1), sizeof *job->found);
    if (job->pieces && job->found) {
        share(job->parts, threads, work, job);
        n = 0;
        for (int64_t part = 0; job->row && part < job->parts; part++) {
            memmove(job->row + n, job->row + job->pieces[part].first, (size_t)job->found[part] * sizeof *job->row);
            n += job->found[part];
        }
    }
    free(job->pieces), free(job->found);
    return n;
}

void *rows_memory(size_t bytes) {
#if defined(__linux__) && defined(MADV_HUGEPAGE)
    const size_t page = (size_t)1 << 21;
    void *memory;
    if (bytes >= 2 * page) {
        if (posix_memalign(&memory, page, bytes)) return NULL;
        madvise(memory, bytes, MADV_HUGEPAGE);
        return memory;
    }
#endif
    return malloc(bytes ? bytes : 1);
}

int64_t query_edge(const int64_t *start, int64_t queries, int64_t part, int64_t parts) {
    int64_t row = edge_of(start[queries], part, parts), low = 0, high = queries;
    if (part == 0) return 0;
    if (part == parts) return queries;
    while (low < high) { /* the first query that begins at the row, or after it */
        int64_t middle = low + (high - low) / 2;
        if (start[middle] < row) low = middle + 1;
        else high = middle;
    }
    return low;
}

/* The checksum of the sources, which build.py passes to the compiler. */
KERNEL int64_t kernels_version(void) { return SOURCES_CHECKSUM; }
