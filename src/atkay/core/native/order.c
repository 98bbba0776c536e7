/* Order: rows by query, and those of a query by falling score. Equal scores stay in the order of the input. */
#include "kernels.h"

/* Rows of a column of integers of 4 or 8 bytes, or of scores: row r is data[r]. */
typedef struct {
    const void *data;
    int64_t kind;
} Column;

INLINE int64_t integer_at(Column column, int64_t row) {
    return column.kind == KIND_INT32 ? ((const int32_t *)column.data)[row] : ((const int64_t *)column.data)[row];
}

INLINE uint64_t depth_at(Column column, int64_t row) {
    switch (column.kind) {
    case KIND_INT32: return depth_i64(((const int32_t *)column.data)[row]);
    case KIND_INT64: return depth_i64(((const int64_t *)column.data)[row]);
    case KIND_FLOAT32: return depth_f64(((const float *)column.data)[row]);
    default: return depth_f64(((const double *)column.data)[row]);
    }
}

/* A column of scores in one or several chunks, and the number of each chunk's first row, then of all rows. */
typedef struct {
    const Chunk *chunks;
    int64_t n_chunks, *first;
} Scores;

static int open_scores(Scores *scores, const Chunk *chunks, int64_t n_chunks) {
    *scores = (Scores){chunks, n_chunks, calloc((size_t)(n_chunks + 1), sizeof *scores->first)};
    for (int64_t c = 0; scores->first && c < n_chunks; c++) scores->first[c + 1] = scores->first[c] + chunks[c].rows;
    return scores->first != NULL;
}

/* The rows from row to before *end, in one piece; *end is set to where the chunk ends, if that is before. */
static Column stretch(const Scores *scores, int64_t row, int64_t *end) {
    int64_t low = 0, high = scores->n_chunks;
    while (high - low > 1) { /* the last chunk that begins at the row, or before it */
        int64_t middle = low + (high - low) / 2;
        if (scores->first[middle] <= row) low = middle;
        else high = middle;
    }
    const Chunk *chunk = scores->chunks + low;
    int64_t width = chunk->kind == KIND_INT32 || chunk->kind == KIND_FLOAT32 ? 4 : 8;
    *end = least(*end, scores->first[low + 1]);
    return (Column){(const void *)((uintptr_t)chunk->data - (uintptr_t)(scores->first[low] * width)), chunk->kind};
}

/* ---- steps: where scores rise or stay equal along the lists --------------------------------------------------------- */

typedef struct {
    const int64_t *start, *order;
    Scores score;
    int64_t queries, parts;
    int64_t *equal;
    int64_t (*of_part)[2]; /* the first row that rises, or -1, and how many are equal */
} Steps;

#define FALLS(TYPE)                                                                                                    \
    for (int64_t r = begin + 1; r < end; r++) odd += !(((const TYPE *)score.data)[r] < ((const TYPE *)score.data)[r - 1])

/* Whether all scores fall: mostly they do, and comparing one by one is not needed. */
static int all_fall(Column score, int64_t begin, int64_t end) {
    int64_t odd = 0;
    switch (score.kind) {
    case KIND_INT32: FALLS(int32_t); break;
    case KIND_INT64: FALLS(int64_t); break;
    case KIND_FLOAT32: FALLS(float); break;
    default: FALLS(double);
    }
    return !odd;
}

static void steps_part(void *given, int64_t part, int64_t thread) {
    Steps *job = given;
    int64_t first = query_edge(job->start, job->queries, part, job->parts);
    int64_t last = query_edge(job->start, job->queries, part + 1, job->parts);
    int64_t rising = -1, *equal = job->equal + job->start[first], n = 0;
    (void)thread;
    for (int64_t q = first; q < last; q++) {
        int64_t begin = job->start[q], end = job->start[q + 1], stop = begin;
        uint64_t before = 0;
        Column score = {NULL, 0};
        for (int64_t r = begin; r < end; r++) {
            if (r == stop) {
                score = stretch(&job->score, job->order ? 0 : r, (stop = end, &stop));
                if (r == begin && stop == end && !job->order && all_fall(score, begin, end)) break;
            }
            uint64_t depth = depth_at(score, job->order ? job->order[r] : r);
            if (r > begin && depth == before) equal[n++] = r;
            if (r > begin && depth < before && rising < 0) rising = r;
            before = depth;
        }
    }
    job->of_part[part][0] = rising, job->of_part[part][1] = n;
}

/* The rows whose score is that of the row before in the same list, written to equal, which has room for all rows;
 * returns how many. order: the rows in another order, where the scores are one chunk, or NULL. rising: the first row that
 * has a higher score than the one before, -1 where there is none. */
KERNEL int64_t steps(const int64_t *start, int64_t queries, const Chunk *chunks, int64_t n_chunks, const int64_t *order,
                     int64_t threads, int64_t *equal, int64_t *rising) {
    Steps job = {.start = start, .order = order, .queries = queries, .equal = equal};
    int64_t n = 0;
    job.parts = parts_of(start[queries], threads);
    job.of_part = calloc((size_t)job.parts, sizeof *job.of_part);
    if (!open_scores(&job.score, chunks, n_chunks) || !job.of_part)
        return free(job.of_part), free(job.score.first), OUT_OF_MEMORY;
    share(job.parts, threads, steps_part, &job);
    *rising = -1;
    for (int64_t part = 0; part < job.parts; part++) {
        int64_t *of_part = job.of_part[part], from = start[query_edge(start, queries, part, job.parts)];
        memmove(equal + n, equal + from, (size_t)of_part[1] * sizeof *equal);
        n += of_part[1];
        if (*rising < 0) *rising = of_part[0];
    }
    free(job.of_part), free(job.score.first);
    return n;
}

/* ---- by_score: the rows of each list by falling score --------------------------------------------------------------- */

typedef struct {
    uint64_t depth, tie;
    int64_t row;
} Ranked;

INLINE int after(Ranked one, Ranked other) {
    return one.depth > other.depth || (one.depth == other.depth && one.tie > other.tie);
}

/* Insertion into runs of 16, which are then merged: stable, and fast for short lists. */
static void sort_ranked(Ranked *R rows, Ranked *R spare, int64_t n) {
    for (int64_t r = 1; r < n; r++) {
        int64_t at = r, first = r & ~(int64_t)15;
        Ranked moved = rows[r];
        for (; at > first && after(rows[at - 1], moved); at--) rows[at] = rows[at - 1];
        rows[at] = moved;
    }
    for (int64_t width = 16; width < n; width *= 2)
        for (int64_t low = 0; low + width < n; low += 2 * width) {
            int64_t left = 0, right = low + width, end = least(right + width, n), at = low;
            memcpy(spare, rows + low, (size_t)width * sizeof *rows);
            while (left < width && right < end) rows[at++] = after(spare[left], rows[right]) ? rows[right++] : spare[left++];
            memcpy(rows + at, spare + left, (size_t)(width - left) * sizeof *rows);
        }
}

typedef struct {
    const int64_t *start;
    Column score;
    const uint64_t *tie;
    int64_t queries, parts, longest;
    Ranked *rows; /* for each thread twice the longest list */
    int64_t *order;
} ByScore;

static void by_score_part(void *given, int64_t part, int64_t thread) {
    ByScore *job = given;
    int64_t first = query_edge(job->start, job->queries, part, job->parts);
    int64_t last = query_edge(job->start, job->queries, part + 1, job->parts);
    Ranked *rows = job->rows + 2 * job->longest * thread;
    for (int64_t q = first; q < last; q++) {
        int64_t begin = job->start[q], n = job->start[q + 1] - begin, stands = 1;
        for (int64_t r = 0; r < n; r++) {
            rows[r] = (Ranked){depth_at(job->score, begin + r), job->tie ? job->tie[begin + r] : 0, begin + r};
            if (r) stands &= !after(rows[r - 1], rows[r]);
        }
        if (!stands) sort_ranked(rows, rows + job->longest, n);
        for (int64_t r = 0; r < n; r++) job->order[begin + r] = rows[r].row;
    }
}

static int64_t longest_list(const int64_t *start, int64_t queries) {
    int64_t longest = 0;
    for (int64_t q = 0; q < queries; q++) longest = start[q + 1] - start[q] > longest ? start[q + 1] - start[q] : longest;
    return longest;
}

/* The rows of each list by falling score, equal scores by the rising tie (none: NULL), then as they stand. */
KERNEL int64_t by_score(const int64_t *start, int64_t queries, const void *score, int64_t kind, const uint64_t *tie,
                        int64_t threads, int64_t *order) {
    ByScore job = {start, {score, kind}, tie, queries, parts_of(start[queries], threads), 0, NULL, order};
    job.longest = longest_list(start, queries);
    job.rows = malloc((size_t)(2 * job.longest * least(threads, job.parts) + 1) * sizeof *job.rows);
    if (!job.rows) return OUT_OF_MEMORY;
    share(job.parts, threads, by_score_part, &job);
    free(job.rows);
    return 0;
}

/* ---- falling: the values of each list, the highest first --------------------------------------------------------------- */

typedef struct {
    const int64_t *start;
    int64_t queries, parts, longest;
    double *values, *spare;
} Falling;

#define COUNTED_VALUES 64

/* Whole numbers from 0 to before COUNTED_VALUES, such as grades, are counted and written again; other lists are not. */
static int count_down(double *R rows, int64_t n) {
    uint32_t count[COUNTED_VALUES] = {0};
    int64_t others = 0, at = 0;
    for (int64_t r = 0; r < n; r++) {
        int32_t whole = rows[r] >= 0 && rows[r] < COUNTED_VALUES ? (int32_t)rows[r] : 0;
        others |= (double)whole != rows[r];
        count[whole]++;
    }
    if (others) return 0;
    for (int32_t whole = COUNTED_VALUES - 1; whole >= 0; whole--)
        for (uint32_t left = count[whole]; left; left--) rows[at++] = whole;
    return 1;
}

static void falling_part(void *given, int64_t part, int64_t thread) {
    Falling *job = given;
    int64_t last = query_edge(job->start, job->queries, part + 1, job->parts);
    double *R spare = job->spare + job->longest * thread;
    for (int64_t q = query_edge(job->start, job->queries, part, job->parts); q < last; q++) {
        int64_t n = job->start[q + 1] - job->start[q];
        double *R rows = job->values + job->start[q];
        if (count_down(rows, n)) continue;
        for (int64_t r = 1; r < n; r++) {
            int64_t at = r, first = r & ~(int64_t)31;
            double moved = rows[r];
            for (; at > first && rows[at - 1] < moved; at--) rows[at] = rows[at - 1];
            rows[at] = moved;
        }
        for (int64_t width = 32; width < n; width *= 2)
            for (int64_t low = 0; low + width < n; low += 2 * width) {
                int64_t left = 0, right = low + width, end = least(right + width, n), at = low;
                memcpy(spare, rows + low, (size_t)width * sizeof *rows);
                while (left < width && right < end) rows[at++] = spare[left] < rows[right] ? rows[right++] : spare[left++];
                memcpy(rows + at, spare + left, (size_t)(width - left) * sizeof *rows);
            }
    }
}

/* Put the values of each list in order, the highest first; equal ones stay in theirs. */
KERNEL int64_t falling(const int64_t *start, int64_t queries, int64_t threads, double *values) {
    Falling job = {start, queries, parts_of(start[queries], threads), longest_list(start, queries), values, NULL};
    job.spare = malloc((size_t)(job.longest * least(threads, job.parts) + 1) * sizeof *job.spare);
    if (!job.spare) return OUT_OF_MEMORY;
    share(job.parts, threads, falling_part, &job);
    free(job.spare);
    return 0;
}

/* ---- arrange: rows that stand anywhere, brought together by query ---------------------------------------------------- */

/* Rows are dealt out to bins of 2^shift queries each, and a bin is put in order where it lies in the cache. A row is
 * written in 12 bytes: two halves of the depth of its score, and its query within the bin, with the item, or the number
 * of the row, in the lower bits. */
typedef struct {
    uint32_t high, low, who;
} Row;

#define ROWS_PER_BIN 32768
#define DIGIT_BITS 11
#define DIGITS (1 << DIGIT_BITS)

typedef struct {
    Column query, item;
    Scores score;
    int64_t low, rows, queries, shift, bins, item_bits, chunks;
    int64_t *place; /* of each chunk of the input and bin: where its rows go */
    int64_t *edge;  /* of each bin: where it begins */
    Row *dealt, *spare;
    uint32_t *count;
    int64_t largest, counters;
    int64_t *start, *equal, *n_equal;
    int32_t *items;
    uint8_t *done;               /* of each bin */
    int64_t given_back, giving;  /* bins whose memory was given back; whether a thread is at it */
} Grouping;

static void count_chunk(void *given, int64_t chunk, int64_t thread) {
    Grouping *job = given;
    int64_t *count = job->place + chunk * job->bins, end = edge_of(job->rows, chunk + 1, job->chunks);
    (void)thread;
    for (int64_t r = edge_of(job->rows, chunk, job->chunks); r < end; r++)
        count[(integer_at(job->query, r) - job->low) >> job->shift]++;
}

static void deal_chunk(void *given, int64_t chunk, int64_t thread) {
    Grouping *job = given;
    int64_t *place = job->place + chunk * job->bins, end = edge_of(job->rows, chunk + 1, job->chunks);
    int64_t within = ((int64_t)1 << job->shift) - 1;
    (void)thread;
    int64_t first = edge_of(job->rows, chunk, job->chunks), stop = first;
    Column score = {NULL, 0};
    for (int64_t r = first; r < end; r++) {
        if (r == stop && job->score.chunks) score = stretch(&job->score, r, (stop = end, &stop));
        int64_t query = integer_at(job->query, r) - job->low;
        uint64_t depth = job->score.chunks ? depth_at(score, r) : 0;
        uint32_t item = (uint32_t)(job->item.data ? integer_at(job->item, r) : r);
        job->dealt[place[query >> job->shift]++] =
            (Row){(uint32_t)(depth >> 32), (uint32_t)depth, (uint32_t)((uint64_t)(query & within) << job->item_bits) | item};
    }
}

/* One pass of a radix sort: rows by DIGIT_BITS bits of the depth's upper half. */
static void by_digit(const Row *R from, Row *R to, int64_t n, int shift, uint32_t *R count) {
    uint32_t before = 0;
    memset(count, 0, DIGITS * sizeof *count);
    for (int64_t r = 0; r < n; r++) count[from[r].high >> shift & (DIGITS - 1)]++;
    for (int64_t digit = 0; digit < DIGITS; digit++) {
        uint32_t here = count[digit];
        count[digit] = before;
        before += here;
    }
    for (int64_t r = 0; r < n; r++) to[count[from[r].high >> shift & (DIGITS - 1)]++] = from[r];
}

INLINE uint64_t depth_of(Row row) { return (uint64_t)row.high << 32 | row.low; }

/* Sort rows by their whole depth; they are nearly in order. */
static void finish_list(Row *R rows, Row *R spare, int64_t n) {
    int64_t stands = 1;
    for (int64_t r = 1; r < n; r++) stands &= depth_of(rows[r - 1]) <= depth_of(rows[r]);
    if (stands) return;
    for (int64_t r = 1; r < n; r++) {
        int64_t at = r, first = r & ~(int64_t)15;
        Row moved = rows[r];
        for (; at > first && depth_of(rows[at - 1]) > depth_of(moved); at--) rows[at] = rows[at - 1];
        rows[at] = moved;
    }
    for (int64_t width = 16; width < n; width *= 2)
        for (int64_t low = 0; low + width < n; low += 2 * width) {
            int64_t left = 0, right = low + width, end = least(right + width, n), at = low;
            if (depth_of(rows[right - 1]) <= depth_of(rows[right])) continue;
            memcpy(spare, rows + low, (size_t)width * sizeof *rows);
            while (left < width && right < end)
                rows[at++] = depth_of(spare[left]) <= depth_of(rows[right]) ? spare[left++] : rows[right++];
            memcpy(rows + at, spare + left, (size_t)(width - left) * sizeof *rows);
        }
}

/* A bin is done: its rows are not needed any more, which makes room for the items. */
static void give_back_bins(Grouping *job, int64_t bin) {
    __atomic_store_n(job->done + bin, 1, __ATOMIC_RELEASE);
    if (__atomic_exchange_n(&job->giving, 1, __ATOMIC_ACQUIRE)) return;
    int64_t first = job->given_back, last = first;
    while (last < job->bins && __atomic_load_n(job->done + last, __ATOMIC_ACQUIRE)) last++;
    job->given_back = last;
    give_back(job->dealt, (size_t)job->rows * sizeof(Row), (size_t)job->edge[first] * sizeof(Row),
              (size_t)job->edge[last] * sizeof(Row));
    __atomic_store_n(&job->giving, 0, __ATOMIC_RELEASE);
}

/* Put a bin in order: 22 bits of the depths by counting, then the queries by counting, then what differs in later bits. */
static void arrange_bin(void *given, int64_t bin, int64_t thread) {
    Grouping *job = given;
    int64_t base = job->edge[bin], n = job->edge[bin + 1] - base, bits = job->item_bits;
    int64_t first = bin << job->shift, queries = least(job->queries - first, (int64_t)1 << job->shift);
    Row *from = job->dealt + base, *to = job->spare + job->largest * thread, *swap;
    uint32_t *count = job->count + job->counters * thread, before = 0;
    if (job->score.chunks && n) {
        uint32_t any = 0, all = ~(uint32_t)0;
        for (int64_t r = 0; r < n; r++) any |= from[r].high, all &= from[r].high;
        int top = any == all ? 0 : 32 - __builtin_clz(any ^ all), low = top > 2 * DIGIT_BITS ? top - 2 * DIGIT_BITS : 0;
        if (top > DIGIT_BITS) by_digit(from, to, n, low, count), swap = from, from = to, to = swap;
        if (top) by_digit(from, to, n, top > DIGIT_BITS ? low + DIGIT_BITS : 0, count), swap = from, from = to, to = swap;
    }
    memset(count, 0, (size_t)queries * sizeof *count);
    for (int64_t r = 0; r < n; r++) count[(uint64_t)from[r].who >> bits]++;
    for (int64_t q = 0; q < queries; q++) {
        uint32_t here = count[q];
        job->start[first + q] = base + before;
        count[q] = before;
        before += here;
    }
    for (int64_t r = 0; r < n; r++) to[count[(uint64_t)from[r].who >> bits]++] = from[r];
    int64_t equal = 0, begin = 0;
    for (int64_t q = 0; q < queries; begin = count[q++]) {
        if (job->score.chunks) finish_list(to + begin, from + begin, count[q] - begin);
        for (int64_t r = begin; r < count[q]; r++) {
            job->items[base + r] = (int32_t)(to[r].who & (uint32_t)(((uint64_t)1 << bits) - 1));
            if (job->equal && r > begin && depth_of(to[r]) == depth_of(to[r - 1])) job->equal[base + equal++] = base + r;
        }
    }
    if (job->n_equal) job->n_equal[bin] = equal;
    give_back_bins(job, bin);
}

/* The items of each query, by falling score where there are scores (else NULL), then in the order of the rows, and where
 * each query starts. Returns how many rows have the score of the row before in the same list, and writes these to equal,
 * which has room for all. Queries are numbers from low on, and there is at least one; items are below 2^item_bits, at most
 * 2^31. Without items (NULL) these are the numbers of the rows. */
KERNEL int64_t arrange(const void *query, int64_t query_kind, int64_t low, int64_t rows, int64_t queries, const void *item,
                       int64_t item_kind, int64_t item_bits, const Chunk *score, int64_t score_chunks, int64_t threads,
                       int64_t *start, int32_t *items, int64_t *equal) {
    Grouping grouping = {.query = {query, query_kind}, .item = {item, item_kind}, .low = low,
                         .rows = rows, .queries = queries, .item_bits = item_bits, .start = start, .items = items,
                         .equal = score ? equal : NULL}, *job = &grouping;
    int64_t result = OUT_OF_MEMORY, per_bin = job->rows ? ROWS_PER_BIN * job->queries / job->rows : 1, workers;
    while (job->shift < 32 - job->item_bits && ((int64_t)2 << job->shift) <= per_bin) job->shift++;
    job->bins = ((job->queries - 1) >> job->shift) + 1;
    job->chunks = least(threads, parts_of(job->rows, threads));
    workers = least(threads, job->bins);
    job->counters = DIGITS > (1 << job->shift) ? DIGITS : (int64_t)1 << job->shift;
    job->place = calloc((size_t)(job->chunks * job->bins), sizeof *job->place);
    job->edge = malloc((size_t)(job->bins + 1) * sizeof *job->edge);
    job->n_equal = calloc((size_t)job->bins, sizeof *job->n_equal);
    job->done = calloc((size_t)job->bins, sizeof *job->done);
    job->dealt = rows_memory((size_t)job->rows * sizeof *job->dealt);
    job->count = malloc((size_t)(job->counters * workers) * sizeof *job->count);
    int opened = open_scores(&job->score, score, score_chunks);
    if (opened && job->place && job->edge && job->n_equal && job->done && job->dealt && job->count) {
        share(job->chunks, threads, count_chunk, job);
        int64_t before = 0;
        for (int64_t bin = 0; bin < job->bins; bin++) {
            job->edge[bin] = before;
            for (int64_t chunk = 0; chunk < job->chunks; chunk++) {
                int64_t here = job->place[chunk * job->bins + bin];
                job->place[chunk * job->bins + bin] = before;
                before += here;
            }
            job->largest = before - job->edge[bin] > job->largest ? before - job->edge[bin] : job->largest;
        }
        job->edge[job->bins] = job->start[job->queries] = job->rows;
        if ((job->spare = rows_memory((size_t)(job->largest * workers) * sizeof *job->spare))) {
            share(job->chunks, threads, deal_chunk, job);
            share(job->bins, threads, arrange_bin, job);
            result = 0;
            for (int64_t bin = 0; job->equal && bin < job->bins; bin++) {
                memmove(job->equal + result, job->equal + job->edge[bin], (size_t)job->n_equal[bin] * sizeof *job->equal);
                result += job->n_equal[bin];
            }
        }
    }
    free(job->place), free(job->edge), free(job->n_equal), free(job->done), free(job->dealt), free(job->spare), free(job->count);
    free(job->score.first);
    return result;
}

/* ---- take: values in another order ---------------------------------------------------------------------------------- */

typedef struct {
    const char *values;
    char *out;
    const int64_t *order;
    int64_t rows, width, parts;
} Take;

static void take_part(void *given, int64_t part, int64_t thread) {
    Take *job = given;
    int64_t first = edge_of(job->rows, part, job->parts), last = edge_of(job->rows, part + 1, job->parts);
    (void)thread;
    if (job->width == 8)
        for (int64_t r = first; r < last; r++) ((int64_t *)job->out)[r] = ((const int64_t *)job->values)[job->order[r]];
    else if (job->width == 4)
        for (int64_t r = first; r < last; r++) ((int32_t *)job->out)[r] = ((const int32_t *)job->values)[job->order[r]];
    else
        for (int64_t r = first; r < last; r++)
            memcpy(job->out + r * job->width, job->values + job->order[r] * job->width, (size_t)job->width);
}

/* Values of so many bytes each, in the given order. */
KERNEL int64_t take(const void *values, int64_t width, const int64_t *order, int64_t rows, int64_t threads, void *out) {
    Take job = {values, out, order, rows, width, parts_of(rows, threads)};
    share(job.parts, threads, take_part, &job);
    return 0;
}

/* ---- take_runs: rows that stand together, in another order of the runs ------------------------------------------------- */

typedef struct {
    const char *values;
    char *out;
    const int64_t *first, *start; /* where each run begins, before and after */
    int64_t runs, width, parts;
} TakeRuns;

static void take_runs_part(void *given, int64_t part, int64_t thread) {
    TakeRuns *job = given;
    int64_t last = query_edge(job->start, job->runs, part + 1, job->parts), width = job->width;
    (void)thread;
    for (int64_t run = query_edge(job->start, job->runs, part, job->parts); run < last; run++)
        memcpy(job->out + job->start[run] * width, job->values + job->first[run] * width,
               (size_t)((job->start[run + 1] - job->start[run]) * width));
}

/* Values of so many bytes each: run n, which begins at row first[n], becomes rows start[n] to before start[n + 1]. */
KERNEL int64_t take_runs(const void *values, int64_t width, const int64_t *first, const int64_t *start, int64_t runs,
                         int64_t threads, void *out) {
    TakeRuns job = {values, out, first, start, runs, width, parts_of(start[runs], threads)};
    share(job.parts, threads, take_runs_part, &job);
    return 0;
}
