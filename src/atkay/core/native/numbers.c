/* Numbers: sums up to each cutoff, and exact sums. */
#include "kernels.h"

/* ---- sums: per query, over what is ranked at most k, for each k ------------------------------------------------------ */

#define MOST_CUTOFFS 64
#define RANKS_LOOKED_UP 1024

typedef struct {
    const int64_t *query, *rank, *cutoff, *column;
    const double *weight;
    int64_t rows, cutoffs, queries, parts;
    double *out;
    int64_t unsorted;
    uint8_t first_cutoff[RANKS_LOOKED_UP + 1]; /* of each rank: the first cutoff that reaches it */
} Summing;

/* The first row of a part: where a query begins. */
static int64_t sums_edge(const Summing *job, int64_t part) {
    int64_t row = edge_of(job->rows, part, job->parts);
    while (row > 0 && row < job->rows && job->query[row] == job->query[row - 1]) row++;
    return row;
}

INLINE int64_t first_cutoff(const Summing *job, int64_t rank) {
    int64_t k = job->first_cutoff[rank <= RANKS_LOOKED_UP ? (rank > 0 ? rank : 0) : RANKS_LOOKED_UP];
    while (rank > RANKS_LOOKED_UP && k < job->cutoffs && rank > job->cutoff[k]) k++;
    return k;
}

/* The sums of one query, whose rows are first to before last. As long as ranks rise, the sum of a cutoff is the running
 * sum at the last rank that it reaches: the same additions in the same order. Else it is done cutoff by cutoff.
 * Where queries do not rise, two parts may write the same sum, which nobody reads; atomic stores cost 10 %. */
__attribute__((no_sanitize("thread")))
static void sums_of_query(const Summing *R job, int64_t query, int64_t first, int64_t last) {
    double running = 0, before = 0, sum[MOST_CUTOFFS + 1];
    int64_t reached[MOST_CUTOFFS + 1], falls = 0;
    for (int64_t k = 0; k < job->cutoffs; k++) reached[k] = 0;
    for (int64_t row = first; row < last; row++) {
        int64_t k = first_cutoff(job, job->rank[row]);
        falls |= row > first && job->rank[row] < job->rank[row - 1];
        running += job->weight ? job->weight[row] : 1;
        sum[k] = running, reached[k] = 1;
    }
    for (int64_t k = 0; k < job->cutoffs; k++) {
        before = reached[k] ? sum[k] : before;
        job->out[job->column[k] * job->queries + query] = before;
    }
    for (int64_t k = 0; falls && k < job->cutoffs; k++) {
        running = 0;
        for (int64_t row = first; row < last; row++)
            if (job->rank[row] <= job->cutoff[k]) running += job->weight ? job->weight[row] : 1;
        job->out[job->column[k] * job->queries + query] = running;
    }
}

static void sums_part(void *given, int64_t part, int64_t thread) {
    Summing *job = given;
    int64_t row = sums_edge(job, part), end = sums_edge(job, part + 1);
    if (part && row == job->rows) return; /* the part before goes to the end */
    int64_t filled = row ? job->query[row - 1] + 1 : 0; /* those before are another part's */
    int64_t until = end == job->rows ? job->queries : job->query[end - 1] + 1;
    (void)thread;
    while (row < end) {
        int64_t q = job->query[row], first = row;
        if (filled < 0 || q < filled || q >= job->queries) {
            __atomic_store_n(&job->unsorted, 1, __ATOMIC_RELAXED);
            return;
        }
        while (row < end && job->query[row] == q) row++;
        for (; filled < q; filled++) sums_of_query(job, filled, first, first); /* queries without rows */
        sums_of_query(job, q, first, row);
        filled = q + 1;
    }
    for (; filled >= 0 && filled < until; filled++) sums_of_query(job, filled, end, end);
}

/* The sums of weights (NULL: 1 each) per query over what is ranked at most cutoff[k]; the cutoffs rise, and the sums of
 * cutoff k go to row column[k] of out. Each cutoff is summed by itself, in the order of the rows. Returns 1 where queries
 * do not rise. */
KERNEL int64_t sums(const int64_t *query, const int64_t *rank, const double *weight, int64_t rows, const int64_t *cutoff,
                    const int64_t *column, int64_t cutoffs, int64_t queries, int64_t threads, double *out) {
    Summing job = {query, rank, cutoff, column, weight, rows, cutoffs, queries, parts_of(rows, threads), out, 0, {0}};
    for (int64_t at = 0, k = 0; at <= RANKS_LOOKED_UP; at++) {
        while (k < cutoffs && at > cutoff[k]) k++;
        job.first_cutoff[at] = (uint8_t)k;
    }
    share(job.parts, threads, sums_part, &job);
    return job.unsorted;
}

/* ---- exact sums: of values and of products, without rounding --------------------------------------------------------- */

/* A sum is a whole number of units of 2^-2148, the finest that a product of two floats can have, in digits of 32 bits; a
 * digit is kept in 64 bits and may be negative, so that carries wait. A value is 53 bits at a place between the digits. */
#define FINEST 2148
#define SUM_DIGITS 134

/* Add bits · 2^place units, bits below 2^106. */
INLINE void add_bits(int64_t *R digit, unsigned __int128 bits, int64_t place, int negative) {
    int64_t at = place >> 5, shift = place & 31;
    uint64_t low = (uint64_t)bits, high = (uint64_t)(bits >> 64);
    unsigned __int128 lower = (unsigned __int128)low << shift, upper = (unsigned __int128)high << shift;
    int64_t pieces[5] = {(int64_t)(uint32_t)lower, (int64_t)(uint32_t)(lower >> 32),
                         (int64_t)(uint32_t)(lower >> 64) + (int64_t)(uint32_t)upper, (int64_t)(uint32_t)(upper >> 32),
                         (int64_t)(uint32_t)(upper >> 64)};
    for (int64_t n = 0; n < 5; n++) digit[at + n] += negative ? -pieces[n] : pieces[n];
}

/* Whether numbers are finite: the bits of the exponent are not all 1. No number waits for the one before. */
INLINE int are_finite(const double *R value, int64_t n) {
    const uint64_t exponent = (uint64_t)2047 << 52;
    uint64_t odd = 0, bits;
    for (int64_t r = 0; r < n; r++) {
        memcpy(&bits, value + r, 8);
        odd |= ((bits & exponent) + ((uint64_t)1 << 52)) >> 63; /* carries over where all are 1 */
    }
    return !odd;
}

/* A float as sign, whole number and power of 2. */
typedef struct {
    uint64_t whole;
    int64_t power;
    int negative;
} Parts;

INLINE Parts parts_of_float(double value) {
    uint64_t bits;
    memcpy(&bits, &value, 8);
    int64_t exponent = bits >> 52 & 2047;
    uint64_t fraction = bits & (((uint64_t)1 << 52) - 1), normal = exponent != 0;
    return (Parts){fraction | normal << 52, exponent + !normal - 1075, (int)(bits >> 63)};
}

#define WINDOW_BITS 62      /* so far a value is shifted within a window of 128 bits */
#define VALUES_PER_WINDOW 1024

/* Add up to VALUES_PER_WINDOW finite values: what lies within a window below the largest is summed in a register. */
static void add_values(int64_t *R digit, const double *R value, int64_t n) {
    int64_t highest = 1, base;
    __int128 sum = 0;
    for (int64_t r = 0; r < n; r++) {
        uint64_t bits;
        memcpy(&bits, value + r, 8);
        int64_t exponent = bits >> 52 & 2047;
        highest = exponent > highest ? exponent : highest;
    }
    base = highest - 1075 - WINDOW_BITS;
    for (int64_t r = 0; r < n; r++) {
        Parts parts = parts_of_float(value[r]);
        int64_t shift = (parts.power - base) & -(int64_t)(parts.whole != 0); /* zeros are many: no branch on them */
        if (shift < 0) {
            add_bits(digit, parts.whole, parts.power + FINEST, parts.negative);
            continue;
        }
        __int128 sign = -(__int128)parts.negative;
        sum += (((__int128)parts.whole << shift) ^ sign) - sign;
    }
    unsigned __int128 size = sum < 0 ? -(unsigned __int128)sum : (unsigned __int128)sum;
    /* Two pieces, of which each is below 2^106. */
    add_bits(digit, size & (((unsigned __int128)1 << 64) - 1), base + FINEST, sum < 0);
    add_bits(digit, size >> 64, base + FINEST + 64, sum < 0);
}

#define LANES 4
#define PIECE_BITS 42 /* with those of VALUES_PER_WINDOW and one to spare, what a float holds */

/* The same for values that two pieces of PIECE_BITS hold, as most do: a value is rounded to its first bits by adding and
 * taking off a large number, and the sums of these pieces are exact in floats. Returns 0 where some value has more bits;
 * then nothing was added. */
static int add_in_pieces(int64_t *R digit, const double *R value, int64_t n) {
    double most[LANES] = {0}, first[LANES] = {0}, second[LANES] = {0}, rest = 0;
    int64_t whole = n / LANES * LANES;
    int power;
    for (int64_t r = 0; r < whole; r += LANES)
        for (int64_t lane = 0; lane < LANES; lane++) {
            double size = fabs(value[r + lane]);
            most[lane] = most[lane] > size ? most[lane] : size;
        }
    for (int64_t r = whole; r < n; r++) most[0] = most[0] > fabs(value[r]) ? most[0] : fabs(value[r]);
    for (int64_t lane = 1; lane < LANES; lane++) most[0] = most[0] > most[lane] ? most[0] : most[lane];
    if (most[0] == 0) return 1;
    frexp(most[0], &power);
    if (power < -800 || power > 900) return 0;
    double round = ldexp(1.5, power - PIECE_BITS + 52), again = ldexp(1.5, power - 2 * PIECE_BITS + 52);
    for (int64_t r = 0; r < whole; r += LANES)
        for (int64_t lane = 0; lane < LANES; lane++) {
            double one = (value[r + lane] + round) - round, left = value[r + lane] - one;
            double other = (left + again) - again;
            first[lane] += one, second[lane] += other;
            rest += fabs(left - other);
        }
    for (int64_t r = whole; r < n; r++) {
        double one = (value[r] + round) - round, left = value[r] - one, other = (left + again) - again;
        first[0] += one, second[0] += other, rest += fabs(left - other);
    }
    if (rest != 0) return 0;
    for (int64_t lane = 0; lane < LANES; lane++) {
        Parts sums[2] = {parts_of_float(first[lane]), parts_of_float(second[lane])};
        for (int64_t n = 0; n < 2; n++) add_bits(digit, sums[n].whole, sums[n].power + FINEST, sums[n].negative);
    }
    return 1;
}

INLINE void add_product(int64_t *R digit, double one, double other) {
    Parts a = parts_of_float(one), b = parts_of_float(other);
    add_bits(digit, (unsigned __int128)a.whole * b.whole, a.power + b.power + FINEST, a.negative != b.negative);
}

/* Make every digit but the last one at least 0 and less than 2^32. */
static void carry(int64_t *digit) {
    for (int64_t n = 0; n + 1 < SUM_DIGITS; n++) {
        int64_t over = digit[n] >> 32;
        digit[n] -= over * ((int64_t)1 << 32);
        digit[n + 1] += over;
    }
}

typedef struct {
    const double *one, *other;
    int64_t columns, rows, stride, other_stride, parts;
    int64_t *digits;  /* of each part and column */
    int64_t *odd;     /* whether a value is not finite */
} Exact;

static void exact_part(void *given, int64_t task, int64_t thread) {
    Exact *job = given;
    int64_t column = task / job->parts, part = task % job->parts;
    int64_t first = edge_of(job->rows, part, job->parts), last = edge_of(job->rows, part + 1, job->parts);
    const double *R one = job->one + column * job->stride, *R other = job->other ? job->other + column * job->other_stride : NULL;
    int64_t *R digit = job->digits + task * SUM_DIGITS;
    (void)thread;
    for (int64_t row = first; row < last; row += VALUES_PER_WINDOW) {
        int64_t end = least(row + VALUES_PER_WINDOW, last);
        if (!are_finite(one + row, end - row) || (other && !are_finite(other + row, end - row))) {
            job->odd[task] = 1;
            return;
        }
        if (!other && !add_in_pieces(digit, one + row, end - row)) add_values(digit, one + row, end - row);
        for (int64_t r = row; other && r < end; r++) add_product(digit, one[r], other[r]);
        carry(digit);
    }
}

/* The exact sum of each column's values, or of the products of two columns' values (other: NULL for none), in units of
 * 2^-2148: digits to the base 2^32, the lowest first, the last with a sign. A column has its values one after the other,
 * from stride to stride. Returns 1 where a value is not finite. */
KERNEL int64_t exact_sums(const double *one, int64_t stride, const double *other, int64_t other_stride, int64_t columns,
                          int64_t rows, int64_t threads, int64_t *digits) {
    Exact job = {one, other, columns, rows, stride, other_stride, parts_of(rows, threads), NULL, NULL};
    int64_t result = OUT_OF_MEMORY, tasks = columns * job.parts;
    job.digits = calloc((size_t)tasks * SUM_DIGITS + 1, sizeof *job.digits);
    job.odd = calloc((size_t)tasks + 1, sizeof *job.odd);
    if (job.digits && job.odd) {
        share(tasks, parts_of(columns * rows, threads) > 1 ? threads : 1, exact_part, &job);
        result = 0;
        for (int64_t task = 0; task < tasks; task++) {
            int64_t *of_column = digits + task / job.parts * SUM_DIGITS;
            for (int64_t n = 0; n < SUM_DIGITS; n++) of_column[n] += job.digits[task * SUM_DIGITS + n];
            result |= job.odd[task];
        }
        for (int64_t column = 0; column < columns; column++) carry(digits + column * SUM_DIGITS);
    }
    free(job.digits), free(job.odd);
    return result;
}

/* ---- within: places in groups ---------------------------------------------------------------------------------------- */

typedef struct {
    const int64_t *group;
    int64_t rows, parts, *out;
} Within;

static void within_part(void *given, int64_t part, int64_t thread) {
    Within *job = given;
    const int64_t *R group = job->group;
    int64_t *R out = job->out;
    int64_t first = edge_of(job->rows, part, job->parts), last = edge_of(job->rows, part + 1, job->parts), place = 1;
    (void)thread;
    for (int64_t r = first; r > 0 && r < last && group[r - 1] == group[r]; r--) place++; /* those before the part */
    for (int64_t r = first; r < last; r++) {
        if (r > first) place = group[r] == group[r - 1] ? place + 1 : 1;
        out[r] = place;
    }
}

/* The place of each row among those with the same number, from 1; these stand together. */
KERNEL int64_t within(const int64_t *group, int64_t rows, int64_t threads, int64_t *out) {
    Within job = {group, rows, parts_of(rows, threads), out};
    share(job.parts, threads, within_part, &job);
    return 0;
}

/* ---- divide: quotients, and something else where there is nothing to divide by --------------------------------------- */

typedef struct {
    const double *numerator;
    const void *denominator;
    int64_t whole, rows, columns, parts;                 /* whole: the denominators are integers */
    int64_t row_step, column_step, low_row, low_column;  /* from one to the next, of numerators and of denominators */
    double empty, *out;
    int64_t out_step;
} Division;

static void divide_part(void *given, int64_t part, int64_t thread) {
    Division *job = given;
    int64_t first = edge_of(job->columns, part, job->parts), last = edge_of(job->columns, part + 1, job->parts);
    int64_t step = job->column_step, low_step = job->low_column;
    double empty = job->empty;
    (void)thread;
    for (int64_t row = 0; row < job->rows; row++) {
        const double *R above = job->numerator + row * job->row_step, *R below = job->denominator;
        const int64_t *R whole = job->denominator;
        double *R out = job->out + row * job->out_step;
        below += row * job->low_row, whole += row * job->low_row;
        for (int64_t column = first; column < last; column++) {
            double by = job->whole ? (double)whole[column * low_step] : below[column * low_step];
            out[column] = by == 0 ? empty : above[column * step] / by;
        }
    }
}

/* Numerators over denominators, row by row and column by column, and empty where a denominator is 0. Steps are counted in
 * numbers of 8 bytes; a step of 0 is the same number again. out_step: from row to row of out. */
KERNEL int64_t divide(const double *numerator, int64_t row_step, int64_t column_step, const void *denominator,
                      int64_t whole, int64_t low_row, int64_t low_column, int64_t rows, int64_t columns,
                      const double *empty, int64_t out_step, int64_t threads, double *out) {
    Division job = {numerator, denominator, whole, rows, columns, parts_of(rows * columns, threads), row_step, column_step,
                    low_row, low_column, *empty, out, out_step};
    share(job.parts, threads, divide_part, &job);
    return 0;
}

/* ---- copy and check columns ------------------------------------------------------------------------------------------ */

typedef struct {
    const double *from;
    double *to;
    int64_t rows, columns, step, to_step, parts;
} Copying;

static void copy_part(void *given, int64_t part, int64_t thread) {
    Copying *job = given;
    int64_t first = edge_of(job->columns, part, job->parts), last = edge_of(job->columns, part + 1, job->parts);
    (void)thread;
    for (int64_t row = 0; row < job->rows; row++)
        memcpy(job->to + row * job->to_step + first, job->from + row * job->step + first, (size_t)(last - first) * 8);
}

/* Rows of numbers to another place; steps are counted in numbers. */
KERNEL int64_t copy_rows(const double *from, int64_t step, int64_t rows, int64_t columns, int64_t to_step, int64_t threads,
                         double *to) {
    Copying job = {from, to, rows, columns, step, to_step, parts_of(rows * columns, threads)};
    share(job.parts, threads, copy_part, &job);
    return 0;
}

typedef struct {
    Pieces of;
    int64_t odd;
} Finite;

static void finite_part(void *given, int64_t part, int64_t thread) {
    Finite *job = given;
    const Piece *piece = job->of.pieces + part;
    (void)thread;
    if (!are_finite((const double *)piece->chunk->data + piece->begin, piece->rows))
        __atomic_store_n(&job->odd, 1, __ATOMIC_RELAXED);
}

/* Whether all numbers of a column are finite. */
KERNEL int64_t all_finite(const Chunk *chunks, int64_t n_chunks, int64_t threads) {
    Finite job = {.odd = 0};
    int64_t failed = each_piece(chunks, n_chunks, threads, finite_part, &job.of);
    return failed ? failed : !job.odd;
}

/* ---- sums along lists ------------------------------------------------------------------------------------------------ */

typedef struct {
    const int64_t *start, *cutoff;
    const double *value, *divisor;
    int64_t queries, cutoffs, parts;
    double *out;
} AlongLists;

static void along_lists_part(void *given, int64_t part, int64_t thread) {
    AlongLists *job = given;
    int64_t last = query_edge(job->start, job->queries, part + 1, job->parts);
    (void)thread;
    for (int64_t q = query_edge(job->start, job->queries, part, job->parts); q < last; q++) {
        int64_t begin = job->start[q], length = job->start[q + 1] - begin, place = 0;
        double sum = 0;
        for (int64_t k = 0; k < job->cutoffs; k++) {
            for (; place < length && place < job->cutoff[k]; place++) sum += job->value[begin + place] / job->divisor[place];
            job->out[k * job->queries + q] = sum;
        }
    }
}

/* Per query and cutoff the sum of the values at its first places, each divided by that of the place; the cutoffs rise, and
 * out has a row for each. */
KERNEL int64_t along_lists(const int64_t *start, int64_t queries, const double *value, const double *divisor,
                           const int64_t *cutoff, int64_t cutoffs, int64_t threads, double *out) {
    AlongLists job = {start, cutoff, value, divisor, queries, cutoffs, parts_of(start[queries], threads), out};
    share(job.parts, threads, along_lists_part, &job);
    return 0;
}

/* ---- sums of groups -------------------------------------------------------------------------------------------------- */

#define AT_ONCE 4 /* columns, so that an addition does not wait for the one before */

typedef struct {
    const double *values;
    const int64_t *group;
    int64_t step, rows, columns, groups;
    double *sums, *counts;
    int64_t failed;
} Grouping;

static void group_part(void *given, int64_t part, int64_t thread) {
    Grouping *job = given;
    int64_t first = part * AT_ONCE, width = least(AT_ONCE, job->columns - first);
    double *R sum = calloc((size_t)(job->groups * 2 * AT_ONCE) + 1, sizeof *sum);
    const double *column[AT_ONCE];
    (void)thread;
    if (!sum) {
        __atomic_store_n(&job->failed, 1, __ATOMIC_RELAXED);
        return;
    }
    for (int64_t c = 0; c < AT_ONCE; c++) column[c] = job->values + (first + least(c, width - 1)) * job->step;
    for (int64_t row = 0; row < job->rows; row++) {
        if (job->group[row] < 0) continue;
        double *R to = sum + job->group[row] * 2 * AT_ONCE;
        for (int64_t c = 0; c < AT_ONCE; c++) {
            double value = column[c][row];
            to[c] += value == value ? value : 0.0, to[AT_ONCE + c] += value == value ? 1.0 : 0.0;
        }
    }
    for (int64_t c = 0; c < width; c++)
        for (int64_t g = 0; g < job->groups; g++) {
            job->sums[(first + c) * job->groups + g] = sum[g * 2 * AT_ONCE + c];
            job->counts[(first + c) * job->groups + g] = sum[g * 2 * AT_ONCE + AT_ONCE + c];
        }
    free(sum);
}

/* For each column and group the sum of the rows that are not NaN, in their order, and how many these are; a row of group
 * -1 counts nowhere. Steps from column to column are counted in numbers; sums and counts have a row for each column. */
KERNEL int64_t group_sums(const double *values, int64_t step, int64_t columns, const int64_t *group, int64_t rows,
                          int64_t groups, int64_t threads, double *sums, double *counts) {
    Grouping job = {values, group, step, rows, columns, groups, sums, counts, 0};
    int64_t parts = (columns + AT_ONCE - 1) / AT_ONCE;
    share(parts, parts_of(rows * columns, threads) > 1 ? threads : 1, group_part, &job);
    return job.failed ? OUT_OF_MEMORY : 0;
}
