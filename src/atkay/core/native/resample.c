/* Resample: sums of columns over units that are drawn with replacement, or of which each has one of several rows; for many
 * resamples at once.
 *
 * Units are taken in groups. All sums that a group can contribute are put in a table first, and a resample then costs one
 * addition per group instead of one per unit. A code says which of the sums it is: a number with a digit for each unit of
 * the group, that of the first unit the highest. A code is a byte, and eight of them are a word; codes has a row for each
 * word and a column for each resample. Columns are worked on as many at a time as fit in a line of the cache.
 */
#include "kernels.h"

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
#define LANES 8 /* resamples that are drawn in one part: a line of the codes */

typedef struct {
    uint64_t key;
    const int64_t *number;
    int64_t resamples, units, words;
    uint64_t *codes;
    uint8_t *times;   /* of each thread, how often each unit is drawn */
    uint64_t *packed; /* of each thread, the codes of the lanes */
    Extra **extra;    /* of each part */
    int64_t *extras;
    int64_t failed;
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

static void draw_part(void *given, int64_t part, int64_t thread) {
    Drawing *job = given;
    int64_t first = part * LANES, last = least(first + LANES, job->resamples), room = 0, n = 0;
    uint8_t *R times = job->times + thread * job->words * UNITS_PER_WORD;
    uint64_t *R packed = job->packed + thread * job->words * LANES;
    Extra *extra = NULL;
    for (int64_t r = first; r < last; r++) {
        draw(mix(job->key + (uint64_t)job->number[r]), (uint32_t)job->units, times);
        for (int64_t word = 0; word < job->words; word++) {
            uint64_t codes = 0;
            for (int64_t code = 0; code < CODES_PER_WORD; code++) {
                uint8_t *four = times + word * UNITS_PER_WORD + code * UNITS_PER_CODE;
                uint32_t all;
                memcpy(&all, four, sizeof all);
                for (int64_t u = 0; u < UNITS_PER_CODE && all & ~(MOST_TIMES * 0x01010101u); u++)
                    for (; four[u] > MOST_TIMES; four[u]--) {
                        if (n == room) {
                            Extra *longer = realloc(extra, (size_t)(room = 2 * room + 1024) * sizeof *extra);
                            if (!longer) {
                                __atomic_store_n(&job->failed, 1, __ATOMIC_RELAXED);
                                free(extra);
                                return;
                            }
                            extra = longer;
                        }
                        extra[n++] = (Extra){(uint32_t)r, (uint32_t)(four + u - times)};
                    }
                memcpy(&all, four, sizeof all);
                /* The product has the first of four bytes in its highest two bits, the last one in bits 24 and 25. */
                codes |= (uint64_t)(all * (1u << 30 | 1u << 20 | 1u << 10 | 1u) >> 24) << 8 * code;
            }
            packed[word * LANES + r - first] = codes;
        }
    }
    for (int64_t word = 0; word < job->words; word++)
        memcpy(job->codes + word * job->resamples + first, packed + word * LANES, (size_t)(last - first) * 8);
    job->extra[part] = extra, job->extras[part] = n;
}

/* The extra rows of all parts, put together word by word; within a word they stay in their order. */
static Extra *by_word(const Drawing *job, int64_t parts, int64_t *start) {
    for (int64_t part = 0; part < parts; part++)
        for (int64_t n = 0; n < job->extras[part]; n++) start[job->extra[part][n].unit / UNITS_PER_WORD + 1]++;
    for (int64_t word = 0; word < job->words; word++) start[word + 1] += start[word];
    Extra *sorted = malloc((size_t)(start[job->words] + 1) * sizeof *sorted);
    if (!sorted) return NULL;
    for (int64_t part = 0; part < parts; part++)
        for (int64_t n = 0; n < job->extras[part]; n++)
            sorted[start[job->extra[part][n].unit / UNITS_PER_WORD]++] = job->extra[part][n];
    memmove(start + 1, start, (size_t)job->words * sizeof *start); /* each start has moved to its end */
    start[0] = 0;
    return sorted;
}

/* Draw as many units as there are, with replacement, for each of the numbered resamples, and add up the rows of those that
 * were drawn: values (units x columns) and small ones (units x small_columns), whose sums are below 2^32. Sums of values
 * add up four units at first, and these in order; after 32 units come rows that are drawn more than three times. */
KERNEL int64_t resampled_sums(int64_t key, const int64_t *number, int64_t resamples, int64_t units, const double *values,
                              int64_t columns, const uint16_t *small, int64_t small_columns, int64_t threads, double *sums,
                              uint32_t *small_sums) {
    int64_t words = (units + UNITS_PER_WORD - 1) / UNITS_PER_WORD, parts = (resamples + LANES - 1) / LANES;
    int64_t workers = parts_of(units * resamples, threads) > 1 ? least(threads, parts) : 1, result = OUT_OF_MEMORY;
    Drawing drawing = {.key = (uint64_t)key, .number = number, .resamples = resamples, .units = units, .words = words};
    int64_t *extra_start = calloc((size_t)words + 1, sizeof *extra_start);
    Extra *extra = NULL;
    drawing.codes = malloc((size_t)(words * resamples + 1) * 8);
    drawing.times = calloc((size_t)(workers * words + 1), UNITS_PER_WORD);
    drawing.packed = malloc((size_t)(workers * words * LANES + 1) * 8);
    drawing.extra = calloc((size_t)parts + 1, sizeof *drawing.extra);
    drawing.extras = calloc((size_t)parts + 1, sizeof *drawing.extras);
    if (extra_start && drawing.codes && drawing.times && drawing.packed && drawing.extra && drawing.extras) {
        share(units ? parts : 0, workers, draw_part, &drawing);
        if (!drawing.failed && (extra = by_word(&drawing, parts, extra_start))) {
            Choices job = {.values = values, .units = units, .alternatives = 1, .columns = columns, .base = MOST_TIMES + 1,
                           .group = UNITS_PER_CODE, .codes = drawing.codes, .words = words, .resamples = resamples,
                           .extra = extra, .extra_start = extra_start, .sums = sums};
            result = do_choices(&job, LINE / sizeof(double), threads, tile_f64);
            job.values = small, job.columns = small_columns, job.sums = small_sums;
            if (!result) result = do_choices(&job, LINE / sizeof(uint32_t), threads, tile_u16);
        }
    }
    for (int64_t part = 0; drawing.extra && part < parts; part++) free(drawing.extra[part]);
    free(drawing.codes), free(drawing.times), free(drawing.packed), free(drawing.extra), free(drawing.extras);
    free(extra_start), free(extra);
    return result;
}
