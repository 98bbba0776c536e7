/* Resample: sums of columns over units that are drawn with replacement, or of which each has one of several rows; for many
 * resamples at once.
 *
 * Units are taken in groups. All sums that a group can contribute are put in a table first, and a resample then costs one
 * addition per group instead of one per unit. A code says which of the sums it is: a number with a digit for each unit of
 * the group, that of the first unit the highest. A code is a byte, and eight of them are a word; codes has a row for each
 * word and a column for each resample. Columns are worked on as many at a time as fit in a line of the cache.
 */
#include "kernels.h"
#if defined(__x86_64__)
#include <cpuid.h>

/* Whether this processor has AVX2, and the system keeps its registers. What compilers offer needs a part of their own
 * library that not every linker finds. */
static int has_avx2(void) {
    static int known; /* 0: not looked yet, 1: no, 2: yes */
    int answer = __atomic_load_n(&known, __ATOMIC_RELAXED);
    if (!answer) {
        unsigned a, b, c = 0, d, kept = 0, more = 0;
        if (__get_cpuid(1, &a, &b, &c, &d) && (c >> 27 & 1)) __asm__("xgetbv" : "=a"(kept), "=d"(d) : "c"(0));
        if (__get_cpuid_count(7, 0, &a, &b, &c, &d)) more = b;
        answer = (kept & 6) == 6 && (more >> 5 & 1) ? 2 : 1;
        __atomic_store_n(&known, answer, __ATOMIC_RELAXED);
    }
    return answer == 2;
}
#endif

#define LINE 64
#define MOST_CODES 256
#define CODES_PER_WORD 8
#define GOLDEN 0x9E3779B97F4A7C15u /* by what the state of splitmix64 moves on */

/* A unit's row, once more: what a code has no digit for. */
typedef struct {
    uint32_t resample, unit;
} Extra;

typedef struct {
    const void *values; /* units x alternatives x columns */
    int64_t units, alternatives, columns;
    int64_t base, group; /* choices for a unit, units of a code; digit d of the one alternative adds d times the row */
    const uint64_t *codes;
    int64_t words, resamples, splits;
    const Extra *extra; /* those of a word: from extra_start[word] on; NULL for none */
    const int64_t *extra_start;
    char *scratch; /* of each thread */
    size_t scratch_size;
    void *sums; /* resamples x columns, which is added to */
} Choices;

/* In a thread's scratch: tables, the rows of one unit, those of the units of a word, sums. */
#define CHOICE_AT (MOST_CODES * CODES_PER_WORD)
#define UNIT_AT (CHOICE_AT + MOST_CODES)
#define SUMS_AT (UNIT_AT + 8 * CODES_PER_WORD)

#define AHEAD 32 /* units whose rows are fetched beforehand */

#define VALUE double
#define SUM double
#define NAMED(name) name##_f64
#include "resample_of.h"
#undef VALUE
#undef SUM
#undef NAMED
#define VALUE uint16_t
#define SUM uint32_t
#define NAMED(name) name##_u16
#include "resample_of.h"

/* Do a job's tiles of columns, and resamples in several parts where there are more threads than tiles. */
static int64_t do_choices(Choices *job, int64_t tile, int64_t threads, Work work) {
    int64_t tiles = (job->columns + tile - 1) / tile;
    if (!tiles || !job->resamples) return 0;
    if (parts_of(job->words * job->resamples * tiles, threads) < 2) threads = 1;
    job->splits = threads < 2 ? 1 : least((2 * threads + tiles - 1) / tiles, (job->resamples + MOST_CODES - 1) / MOST_CODES);
    threads = least(threads, tiles * job->splits);
    job->scratch_size = (size_t)(SUMS_AT + job->resamples / job->splits + 1) * LINE;
    char *memory = malloc(job->scratch_size * (size_t)threads + LINE);
    if (!memory) return OUT_OF_MEMORY;
    job->scratch = memory + (LINE - (uintptr_t)memory % LINE);
    share(tiles * job->splits, threads, work, job);
    free(memory);
    return 0;
}

/* Add to the sums of each resample, for each unit, the row that the unit's digit says. */
KERNEL int64_t choice_sums(const double *values, int64_t units, int64_t alternatives, int64_t columns, int64_t base,
                           int64_t group, const uint64_t *codes, int64_t words, int64_t resamples, int64_t threads,
                           double *sums) {
    Choices job = {.values = values, .units = units, .alternatives = alternatives, .columns = columns, .base = base,
                   .group = group, .codes = codes, .words = words, .resamples = resamples, .sums = sums};
    return do_choices(&job, LINE / sizeof(double), threads, tile_f64);
}

typedef struct {
    uint64_t key;
    int64_t first, resamples, parts, words, limit;
    uint64_t *codes;
} Random;

static void random_part(void *given, int64_t part, int64_t thread) {
    Random *job = given;
    int64_t last = edge_of(job->words, part + 1, job->parts);
    uint64_t limit = (uint64_t)job->limit;
    (void)thread;
    for (int64_t word = edge_of(job->words, part, job->parts); word < last; word++) {
        uint64_t *R codes = job->codes + word * job->resamples, start = mix(job->key + (uint64_t)word);
        for (int64_t r = 0; r < job->resamples; r++) {
            uint64_t state = start + (uint64_t)(job->first + r) * (CODES_PER_WORD / 2) * GOLDEN, all = 0;
            for (int64_t n = 0; n < CODES_PER_WORD / 2; n++, state += GOLDEN) {
                uint64_t bits = mix(state), low = (bits & 0xFFFFFFFFu) * limit >> 32, high = (bits >> 32) * limit >> 32;
                all |= (high << 8 | low) << 16 * n;
            }
            codes[r] = all;
        }
    }
}

/* Random codes below a limit of at most 256, for the resamples from the first one on. Each row of words has the numbers of
 * splitmix64 from its own start on, and a number two codes: its halves times the limit, over 2^32. */
KERNEL int64_t random_codes(int64_t key, int64_t first, int64_t words, int64_t resamples, int64_t limit, int64_t threads,
                            uint64_t *codes) {
    Random job = {(uint64_t)key, first, resamples, 1, words, limit, codes};
    job.parts = words ? least(parts_of(words * resamples, threads), words) : 0;
    share(job.parts, threads, random_part, &job);
    return 0;
}

/* ---- resampled sums: units drawn with replacement -------------------------------------------------------------------- */

#define MOST_TIMES 3 /* a digit; a unit that is drawn more often is extra */
#define UNITS_PER_CODE 4
#define UNITS_PER_WORD (UNITS_PER_CODE * CODES_PER_WORD)
#define LANES 16 /* resamples that are drawn in one part: two lines of the codes */

typedef struct {
    uint64_t key;
    const int64_t *number;
    int64_t resamples, units, words;
    uint64_t *codes;
    uint8_t *times;   /* of each thread, how often each unit is drawn */
    uint64_t *packed; /* of each thread, the codes of the lanes */
    Extra **extra;    /* of each part, by rising word */
    int64_t *extras;  /* how many each part has */
    int64_t failed, parts, ranges;
    Extra *merged;
    int64_t *start; /* of each word in them */
} Drawing;

/* As many units as there are, by splitmix64. A word has two numbers below 2^32, the lower half first; times the units, the
 * upper half says which one. So that all have the same chance, a few of the lower halves are left out (Lemire, 2019). */
static void draw(uint64_t state, uint32_t units, uint8_t *R times) {
    uint32_t least_kept = (0u - units) % units, left = units;
    memset(times, 0, units);
    for (;; state += GOLDEN) {
        uint64_t word = mix(state), one = (word & 0xFFFFFFFFu) * units, other = (word >> 32) * units;
        if ((uint32_t)one >= least_kept) {
            times[one >> 32]++; /* no unit is drawn 256 times: with 300 units the chance is 10^-580, with more it is less */
            if (!--left) return;
        }
        if ((uint32_t)other >= least_kept) {
            times[other >> 32]++;
            if (!--left) return;
        }
    }
}

typedef struct {
    Extra *all;
    int64_t n, room;
} Extras;

/* Take off what is drawn more than MOST_TIMES of eight units, and list it; 0 where there is no memory. */
static int take_extra(uint8_t *R times, int64_t unit, int64_t resample, Extras *R extra) {
    for (int64_t u = unit; u < unit + 8; u++)
        for (; times[u] > MOST_TIMES; times[u]--) {
            if (extra->n == extra->room) {
                extra->room = 2 * extra->room + 1024;
                Extra *longer = realloc(extra->all, (size_t)extra->room * sizeof *longer);
                if (!longer) return 0;
                extra->all = longer;
            }
            extra->all[extra->n++] = (Extra){(uint32_t)resample, (uint32_t)u};
        }
    return 1;
}

/* The same by rising word, those of a word in their order; NULL without memory. */
static Extra *by_word(const Extras *R extra, int64_t words) {
    int64_t *start = calloc((size_t)words + 1, sizeof *start);
    Extra *sorted = malloc((size_t)(extra->n + 1) * sizeof *sorted);
    if (start && sorted) {
        for (int64_t n = 0; n < extra->n; n++) start[extra->all[n].unit / UNITS_PER_WORD + 1]++;
        for (int64_t word = 0; word < words; word++) start[word + 1] += start[word];
        for (int64_t n = 0; n < extra->n; n++) sorted[start[extra->all[n].unit / UNITS_PER_WORD]++] = extra->all[n];
    } else {
        free(sorted), sorted = NULL;
    }
    free(start);
    return sorted;
}

static void draw_part(void *given, int64_t part, int64_t thread) {
    Drawing *job = given;
    int64_t first = part * LANES, last = least(first + LANES, job->resamples), units = job->words * UNITS_PER_WORD;
    uint8_t *R times = job->times + thread * units;
    uint64_t *packed = job->packed + thread * job->words * LANES;
    Extras extra = {NULL, 0, 0};
    int there = 1;
    for (int64_t r = first; r < last && there; r++) {
        uint8_t *R codes = (uint8_t *)(packed + (r - first) * job->words); /* bytes from the lowest on */
        draw(mix(job->key + (uint64_t)job->number[r]), (uint32_t)job->units, times);
        for (int64_t u = 0; u < units && there; u += 8) {
            uint64_t eight;
            memcpy(&eight, times + u, sizeof eight);
            if (eight & ~(MOST_TIMES * 0x0101010101010101u)) there = take_extra(times, u, r, &extra);
        }
        for (int64_t code = 0; code < units / UNITS_PER_CODE; code++) {
            uint32_t four;
            memcpy(&four, times + code * UNITS_PER_CODE, sizeof four);
            /* The product has the first of four bytes in its highest two bits, and the last one in bits 24 and 25. */
            codes[code] = (uint8_t)(four * (1u << 30 | 1u << 20 | 1u << 10 | 1u) >> 24);
        }
    }
    for (int64_t word = 0; word < job->words; word++)
        for (int64_t r = first; r < last; r++)
            job->codes[word * job->resamples + r] = packed[(r - first) * job->words + word];
    job->extra[part] = there ? by_word(&extra, job->words) : NULL, job->extras[part] = extra.n;
    if (!job->extra[part]) __atomic_store_n(&job->failed, 1, __ATOMIC_RELAXED);
    free(extra.all);
}

/* The first of a part's extras whose unit is not before the given one. */
static int64_t extra_from(const Drawing *R job, int64_t part, int64_t unit) {
    int64_t low = 0, high = job->extras[part];
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (job->extra[part][middle].unit / UNITS_PER_WORD < unit / UNITS_PER_WORD) low = middle + 1;
        else high = middle;
    }
    return low;
}

/* Merge the extras of a range of words: of each word those of all parts, in their order. */
static void merge_part(void *given, int64_t range, int64_t thread) {
    Drawing *job = given;
    int64_t word = edge_of(job->words, range, job->ranges), end = edge_of(job->words, range + 1, job->ranges), at = 0;
    int64_t *next = job->start + job->words + 1 + range * job->parts; /* of each part */
    (void)thread;
    for (int64_t part = 0; part < job->parts; part++)
        at += next[part] = extra_from(job, part, word * UNITS_PER_WORD);
    for (; word < end; word++) {
        job->start[word] = at;
        for (int64_t part = 0; part < job->parts; part++)
            for (const Extra *R of_part = job->extra[part];
                 next[part] < job->extras[part] && of_part[next[part]].unit < (word + 1) * UNITS_PER_WORD;)
                job->merged[at++] = of_part[next[part]++];
    }
}

/* Draw as many units as there are, with replacement, for each of the numbered resamples, and add up the rows of those that
 * were drawn: values (units x columns) and small ones (units x small_columns), whose sums are below 2^32. Sums of values
 * add up four units at first, and these in order; after 32 units come rows that are drawn more than three times. */
KERNEL int64_t resampled_sums(int64_t key, const int64_t *number, int64_t resamples, int64_t units, const double *values,
                              int64_t columns, const uint16_t *small, int64_t small_columns, int64_t threads, double *sums,
                              uint32_t *small_sums) {
    if (!units) return 0;
    int64_t words = (units + UNITS_PER_WORD - 1) / UNITS_PER_WORD, parts = (resamples + LANES - 1) / LANES;
    int64_t workers = parts_of(units * resamples, threads) > 1 ? least(threads, parts) : 1, result = OUT_OF_MEMORY;
    Drawing drawing = {.key = (uint64_t)key, .number = number, .resamples = resamples, .units = units, .words = words};
    drawing.parts = parts, drawing.ranges = least(4 * workers, words);
    drawing.codes = malloc((size_t)(words * resamples + 1) * 8);
    drawing.times = calloc((size_t)(workers * words + 1), UNITS_PER_WORD);
    drawing.packed = malloc((size_t)(workers * words * LANES + 1) * 8);
    drawing.extra = calloc((size_t)parts + 1, sizeof *drawing.extra);
    drawing.extras = calloc((size_t)parts + 1, sizeof *drawing.extras);
    drawing.start = malloc((size_t)(words + 1 + drawing.ranges * parts) * sizeof *drawing.start);
    if (drawing.codes && drawing.times && drawing.packed && drawing.extra && drawing.extras && drawing.start) {
        int64_t extras = 0;
        share(parts, workers, draw_part, &drawing);
        for (int64_t part = 0; part < parts; part++) extras += drawing.extras[part];
        drawing.merged = drawing.failed ? NULL : malloc((size_t)(extras + 1) * sizeof *drawing.merged);
        if (drawing.merged) {
            share(drawing.ranges, workers, merge_part, &drawing);
            drawing.start[words] = extras;
            Choices job = {.values = values, .units = units, .alternatives = 1, .columns = columns, .base = MOST_TIMES + 1,
                           .group = UNITS_PER_CODE, .codes = drawing.codes, .words = words, .resamples = resamples,
                           .extra = drawing.merged, .extra_start = drawing.start, .sums = sums};
            result = do_choices(&job, LINE / sizeof(double), threads, tile_f64);
            job.values = small, job.columns = small_columns, job.sums = small_sums;
            if (!result) result = do_choices(&job, LINE / sizeof(uint32_t), threads, tile_u16);
        }
    }
    for (int64_t part = 0; drawing.extra && part < parts; part++) free(drawing.extra[part]);
    free(drawing.codes), free(drawing.times), free(drawing.packed), free(drawing.extra), free(drawing.extras);
    free(drawing.start), free(drawing.merged);
    return result;
}
