/* Threads: kept for a moment after a job, as the next one mostly follows soon; then they end by themselves. */
#if defined(_WIN32)
#define WIN32_LEAN_AND_MEAN
#include <windows.h> /* before our own, whose short names it takes for its fields */
typedef SRWLOCK Lock;
typedef CONDITION_VARIABLE Signal;
#define LOCK_READY SRWLOCK_INIT
#define SIGNAL_READY CONDITION_VARIABLE_INIT
#else
#include <pthread.h>
#include <time.h>
typedef pthread_mutex_t Lock;
typedef pthread_cond_t Signal;
#define LOCK_READY PTHREAD_MUTEX_INITIALIZER
#define SIGNAL_READY PTHREAD_COND_INITIALIZER
#endif
#if defined(__linux__)
#include <sys/mman.h>
#endif

#include "kernels.h"

#define MOST_THREADS 256 /* as in core/threads.py */
#define PARTS_PER_THREAD 8
#define IDLE_MILLISECONDS 50 /* longer than what Python does between two kernels */

/* A job of a call, on its stack; all but next is read and written under the lock. */
typedef struct Shared {
    Work work;
    void *job;
    int64_t parts, next;
    int64_t threads, joined, running; /* at most so many; how many have come; how many others are at work */
    Signal finished;
    struct Shared *following;
} Shared;

static Lock lock = LOCK_READY;
static Signal job_there = SIGNAL_READY;
static Shared *open_jobs;
static int64_t waiting, alive; /* threads: without a job, and in all */

static void *wait_for_jobs(void *unused);

#if defined(_WIN32)
static void take_lock(void) { AcquireSRWLockExclusive(&lock); }
static void release_lock(void) { ReleaseSRWLockExclusive(&lock); }
static void wait_for(Signal *signal) { SleepConditionVariableSRW(signal, &lock, INFINITE, 0); }
static int wait_a_moment(Signal *signal) { return SleepConditionVariableSRW(signal, &lock, IDLE_MILLISECONDS, 0) != 0; }
static void tell_one(Signal *signal) { WakeConditionVariable(signal); }
static DWORD WINAPI run(LPVOID unused) { return wait_for_jobs(unused), 0; }
static int start_thread(void) {
    HANDLE thread = CreateThread(NULL, 0, run, NULL, 0, NULL);
    return thread && CloseHandle(thread);
}
static void watch_forks(void) {}
#else
static void take_lock(void) { pthread_mutex_lock(&lock); }
static void release_lock(void) { pthread_mutex_unlock(&lock); }
static void wait_for(Signal *signal) { pthread_cond_wait(signal, &lock); }
static int wait_a_moment(Signal *signal) {
    struct timespec end;
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_nsec += IDLE_MILLISECONDS * 1000000L;
    if (end.tv_nsec >= 1000000000L) end.tv_sec++, end.tv_nsec -= 1000000000L;
    return !pthread_cond_timedwait(signal, &lock, &end);
}
static void tell_one(Signal *signal) { pthread_cond_signal(signal); }
static int start_thread(void) {
    pthread_t thread;
    return !pthread_create(&thread, NULL, wait_for_jobs, NULL) && !pthread_detach(thread);
}
/* A forked process has one thread, and none of the jobs that the others were at. */
static void in_child(void) {
    pthread_mutex_init(&lock, NULL), pthread_cond_init(&job_there, NULL);
    open_jobs = NULL, waiting = alive = 0;
}
static void watch_forks(void) {
    static int watched;
    if (!watched) watched = !pthread_atfork(take_lock, release_lock, in_child);
}
#endif

static void work_through(Shared *shared, int64_t thread) {
    int64_t part;
    while ((part = __atomic_fetch_add(&shared->next, 1, __ATOMIC_RELAXED)) < shared->parts)
        shared->work(shared->job, part, thread);
}

/* An open job that another thread can help with. */
static Shared *next_job(void) {
    Shared *shared = open_jobs;
    while (shared && (shared->joined == shared->threads ||
                      __atomic_load_n(&shared->next, __ATOMIC_RELAXED) >= shared->parts)) shared = shared->following;
    return shared;
}

static void *wait_for_jobs(void *unused) {
    (void)unused;
    take_lock();
    for (int told = 1; told;) {
        Shared *shared = next_job();
        if (!shared) {
            waiting++, told = wait_a_moment(&job_there), waiting--;
            told = told || next_job();
            continue;
        }
        int64_t thread = shared->joined++;
        shared->running++;
        release_lock();
        work_through(shared, thread);
        take_lock();
        if (!--shared->running) tell_one(&shared->finished);
    }
    alive--;
    release_lock();
    return NULL;
}

void share(int64_t parts, int64_t threads, Work work, void *job) {
    Shared shared = {.work = work, .job = job, .parts = parts, .joined = 1, .finished = SIGNAL_READY};
    shared.threads = least(least(threads, parts), MOST_THREADS);
    if (shared.threads < 2) {
        work_through(&shared, 0);
        return;
    }
    take_lock();
    watch_forks();
    shared.following = open_jobs, open_jobs = &shared;
    int64_t others = shared.threads - 1, told = least(others, waiting), missing = least(others - told, MOST_THREADS - alive);
    for (int64_t n = 0; n < told; n++) tell_one(&job_there);
    alive += missing > 0 ? missing : 0;
    release_lock();
    /* Where a thread cannot be started, the others do its work. */
    while (missing > 0 && start_thread()) missing--;
    work_through(&shared, 0);
    take_lock();
    alive -= missing > 0 ? missing : 0;
    Shared **place = &open_jobs;
    while (*place != &shared) place = &(*place)->following;
    *place = shared.following; /* nobody joins any more */
    while (shared.running) wait_for(&shared.finished);
    release_lock();
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

#define LARGE_PAGE ((size_t)1 << 21)

void give_back(void *memory, size_t bytes, size_t from, size_t to) {
#if defined(__linux__) && defined(MADV_HUGEPAGE)
    from &= ~(LARGE_PAGE - 1), to &= ~(LARGE_PAGE - 1); /* the rest of a page goes with what follows */
    if (bytes >= 2 * LARGE_PAGE && from < to) madvise((char *)memory + from, to - from, MADV_DONTNEED);
#else
    (void)memory, (void)bytes, (void)from, (void)to;
#endif
}

void *rows_memory(size_t bytes) {
#if defined(__linux__) && defined(MADV_HUGEPAGE)
    void *memory;
    if (bytes >= 2 * LARGE_PAGE) {
        if (posix_memalign(&memory, LARGE_PAGE, bytes)) return NULL;
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
