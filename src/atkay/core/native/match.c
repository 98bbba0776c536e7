/* Match: which listed items the truth has, and which stand twice. */
#include "kernels.h"

#define MARKED_ITEMS (1 << 18) /* so many codes have marks that stay near; of more, each query has a table of its own */
#define LAST_MARK 254          /* marks are bytes, and set to 0 when they run out: two for each query */

typedef struct {
    int64_t item;
    uint32_t mark, place;
} Slot;

typedef struct {
    uint8_t *mark;   /* of each code: the last query that named it */
    uint32_t *place; /* of each code that the truth names: where */
    Slot *slots;
    int64_t size;
} Scratch;

typedef struct {
    int64_t hits, first, again, truth_again; /* first: how many hits the parts before have */
} Matched;

/* A hit: its place in the list, and in the truth of its query. */
typedef struct {
    uint32_t row, at;
} Found;

typedef struct {
    const int64_t *start, *truth_start;
    int64_t queries, n_items, parts;
    const uint64_t *numbers, *places;
    Scratch *scratch; /* one for each thread */
    Matched *matched; /* one for each part */
    Found *found;
    uint32_t *count; /* hits of each query */
    int64_t hits, *out;
    uint64_t *hash;
} Matching;

/* Where a part writes its hits: no query has more than rows of truth, and one more is written after the last. */
INLINE Found *found_by(const Matching *job, int64_t part) {
    return job->found + job->truth_start[query_edge(job->start, job->queries, part, job->parts)] + part;
}

/* A power of two, so large that at most a quarter of the slots is taken. */
INLINE uint64_t table_size(int64_t rows) {
    uint64_t size = 16;
    while (size < 4 * (uint64_t)rows) size *= 2;
    return size;
}

static void free_scratch(Scratch *scratch, int64_t workers) {
    for (int64_t n = 0; scratch && n < workers; n++) free(scratch[n].mark), free(scratch[n].place), free(scratch[n].slots);
    free(scratch);
}

static Scratch *new_scratch(const int64_t *start, const int64_t *truth_start, int64_t queries, int64_t n_items,
                            int64_t workers) {
    Scratch *scratch = calloc((size_t)workers, sizeof *scratch);
    int64_t longest = 0;
    for (int64_t q = 0; n_items > MARKED_ITEMS && q < queries; q++) {
        int64_t rows = start[q + 1] - start[q] + truth_start[q + 1] - truth_start[q];
        longest = rows > longest ? rows : longest;
    }
    for (int64_t n = 0; scratch && n < workers; n++) {
        Scratch *one = scratch + n;
        if (n_items > MARKED_ITEMS) {
            one->size = (int64_t)table_size(longest);
            one->slots = malloc((size_t)one->size * sizeof *one->slots);
        } else {
            one->mark = malloc((size_t)n_items + 1);
            one->place = malloc(((size_t)n_items + 1) * sizeof *one->place);
        }
        if (!one->slots && !(one->mark && one->place)) return free_scratch(scratch, workers), NULL;
    }
    return scratch;
}

/* Put the hits of a part behind those of the parts before. */
static void join_part(void *given, int64_t part, int64_t thread) {
    const Matching *job = given;
    int64_t last = query_edge(job->start, job->queries, part + 1, job->parts), hits = job->hits;
    const Found *R found = found_by(job, part);
    int64_t *R query = job->out + job->matched[part].first, *R row = query + hits, *R at = row + hits, *R rank = at + hits;
    (void)thread;
    for (int64_t q = query_edge(job->start, job->queries, part, job->parts); q < last; q++)
        for (uint32_t left = job->count[q]; left; left--, found++) {
            *query++ = q, *row++ = job->start[q] + found->row;
            *at++ = job->truth_start[q] + found->at, *rank++ = (int64_t)found->row + 1;
        }
}

/* Find the hits of all parts and join them. */
static int64_t match_lists(Matching *job, int64_t threads, Work match_part, int64_t *repeated) {
    int64_t rows = job->start[job->queries] + job->truth_start[job->queries], workers, result = OUT_OF_MEMORY;
    job->parts = parts_of(rows, threads), workers = least(threads, job->parts);
    job->matched = calloc((size_t)job->parts, sizeof *job->matched);
    job->found = malloc((size_t)(job->truth_start[job->queries] + job->parts) * sizeof *job->found);
    job->count = malloc((size_t)(job->queries + 1) * sizeof *job->count);
    job->scratch = new_scratch(job->start, job->truth_start, job->queries, job->n_items, workers);
    if (job->matched && job->found && job->count && job->scratch) {
        share(job->parts, threads, match_part, job);
        repeated[0] = repeated[1] = 0;
        for (int64_t part = 0; part < job->parts; part++) {
            Matched *one = job->matched + part;
            one->first = job->hits, job->hits += one->hits;
            repeated[0] |= one->again, repeated[1] |= one->truth_again;
        }
        share(job->parts, threads, join_part, job);
        result = job->hits;
    }
    free_scratch(job->scratch, workers);
    free(job->matched), free(job->found), free(job->count);
    return result;
}

#define ITEM int32_t
#define NAMED(name) name##_i32
#include "match_of.h"
#undef ITEM
#undef NAMED
#define ITEM int64_t
#define NAMED(name) name##_i64
#include "match_of.h"
