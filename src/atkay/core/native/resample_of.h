/* Included by resample.c for each type of columns: VALUE, the SUM of such, and NAMED(name), which adds the type to a name. */

#define WIDTH ((int64_t)(LINE / sizeof(SUM)))

/* Half a line. Two additions where the machine has vectors of this length, four where they are half as long. */
typedef SUM NAMED(Half) __attribute__((vector_size(LINE / 2), aligned(LINE / 2), may_alias));

/* What each digit of a unit adds in some columns; a unit after the last one adds nothing. */
INLINE void NAMED(choose)(const Choices *R job, int64_t unit, int64_t column, SUM *R choice) {
    int64_t width = least(WIDTH, job->columns - column);
    memset(choice, 0, (size_t)job->base * LINE);
    if (unit >= job->units) return;
    int64_t step = job->alternatives * job->columns;
    const VALUE *R row = (const VALUE *)job->values + unit * step + column;
    __builtin_prefetch(row + least(AHEAD, job->units - 1 - unit) * step); /* too far apart for the machine to foresee */
    for (int64_t digit = 0; digit < job->base; digit++)
        for (int64_t c = 0; c < width; c++)
            choice[digit * WIDTH + c] = job->alternatives == 1 ? (SUM)digit * row[c] : row[digit * job->columns + c];
}

/* The sums of a group's units for each code, unit by unit. */
INLINE void NAMED(tabulate)(const Choices *R job, int64_t unit, int64_t column, SUM *R table, SUM *R choice, SUM *R rows) {
    int64_t size = 1;
    NAMED(Half) *R line = (NAMED(Half) *)table;
    memset(table, 0, LINE);
    for (int64_t u = 0; u < job->group; u++, size *= job->base) {
        const NAMED(Half) *R adds = (const NAMED(Half) *)choice;
        NAMED(choose)(job, unit + u, column, choice);
        if (job->extra) memcpy(rows + u * WIDTH, choice + WIDTH, LINE);
        for (int64_t code = size - 1; code >= 0; code--) {
            NAMED(Half) left = line[2 * code], right = line[2 * code + 1];
            for (int64_t digit = 0; digit < job->base; digit++) {
                NAMED(Half) *R to = line + 2 * (code * job->base + digit);
                to[0] = left + adds[2 * digit], to[1] = right + adds[2 * digit + 1];
            }
        }
    }
}

/* Add to each resample's sums the entries of eight tables that its codes say. */
INLINE void NAMED(look_up)(const SUM *R table, const uint64_t *R codes, int64_t resamples, SUM *R sums) {
    for (int64_t r = 0; r < resamples; r++) {
        NAMED(Half) *R sum = (NAMED(Half) *)(sums + r * WIDTH);
        NAMED(Half) left = sum[0], right = sum[1];
        uint64_t code = codes[r];
        for (int64_t n = 0; n < CODES_PER_WORD; n++) {
            /* Byte n, times the length of a line. */
            uint64_t place = (n ? code >> (8 * n - 6) : code << 6) & (MOST_CODES - 1) * LINE;
            const NAMED(Half) *R line = (const NAMED(Half) *)((const char *)table + n * MOST_CODES * LINE + place);
            left += line[0], right += line[1];
        }
        sum[0] = left, sum[1] = right;
    }
}

INLINE void NAMED(tile_body)(const Choices *R job, int64_t task, int64_t thread) {
    int64_t column = task / job->splits * WIDTH, width = least(WIDTH, job->columns - column), split = task % job->splits;
    int64_t first = edge_of(job->resamples, split, job->splits), last = edge_of(job->resamples, split + 1, job->splits);
    SUM *table = (SUM *)(job->scratch + (size_t)thread * job->scratch_size), *choice = table + CHOICE_AT * WIDTH;
    SUM *rows = table + UNIT_AT * WIDTH, *sums = table + SUMS_AT * WIDTH, *of_job = (SUM *)job->sums + column;
    memset(sums, 0, (size_t)(last - first) * LINE);
    for (int64_t r = first; r < last; r++)
        memcpy(sums + (r - first) * WIDTH, of_job + r * job->columns, (size_t)width * sizeof(SUM));
    for (int64_t word = 0; word < job->words; word++) {
        int64_t unit = word * CODES_PER_WORD * job->group;
        for (int64_t n = 0; n < CODES_PER_WORD; n++)
            NAMED(tabulate)(job, unit + n * job->group, column, table + n * MOST_CODES * WIDTH, choice,
                            rows + n * job->group * WIDTH);
        NAMED(look_up)(table, job->codes + word * job->resamples + first, last - first, sums);
        for (int64_t n = job->extra ? job->extra_start[word] : 0; job->extra && n < job->extra_start[word + 1]; n++) {
            Extra extra = job->extra[n];
            if (extra.resample < first || extra.resample >= last) continue;
            NAMED(Half) *R sum = (NAMED(Half) *)(sums + (extra.resample - first) * WIDTH);
            const NAMED(Half) *R row = (const NAMED(Half) *)(rows + (extra.unit - unit) * WIDTH);
            sum[0] += row[0], sum[1] += row[1];
        }
    }
    for (int64_t r = first; r < last; r++)
        memcpy(of_job + r * job->columns, sums + (r - first) * WIDTH, (size_t)width * sizeof(SUM));
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) static void NAMED(tile_avx2)(const Choices *job, int64_t task, int64_t thread) {
    NAMED(tile_body)(job, task, thread);
}
#endif

/* The sums of some columns and resamples. Vectors of any length add the same: additions are those of each column alone. */
static void NAMED(tile)(void *job, int64_t task, int64_t thread) {
#if defined(__x86_64__)
    if (has_avx2()) {
        NAMED(tile_avx2)(job, task, thread);
        return;
    }
#endif
    NAMED(tile_body)(job, task, thread);
}

#undef WIDTH
