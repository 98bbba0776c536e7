/* Fingerprint: a hash of lists, the same on every machine. */
#include "kernels.h"

typedef struct {
    const int64_t *start;
    const void *item;
    int64_t wide, low, queries, parts;
    const uint64_t *numbers, *query, *places, *hash;
    const double *grade;
    uint64_t *of_part;
} Hashing;

/* The number of an item: that of its code in the table, or the id itself. */
INLINE uint64_t number_at(const Hashing *job, int64_t row) {
    int64_t code = job->wide ? ((const int64_t *)job->item)[row] : ((const int32_t *)job->item)[row];
    return job->numbers ? job->numbers[code] : (uint64_t)(code + job->low);
}

static uint64_t hash_ranked(const Hashing *job, int64_t begin, int64_t end) {
    const uint64_t *restrict places = job->places, low = (uint64_t)job->low;
    const int64_t *restrict wide = (const int64_t *)job->item + begin;
    const int32_t *restrict narrow = (const int32_t *)job->item + begin;
    int64_t n = end - begin;
    uint64_t sum = 0;
    if (job->numbers)
        for (int64_t r = 0; r < n; r++) sum += job->numbers[job->wide ? wide[r] : narrow[r]] * places[r];
    else if (job->wide)
        for (int64_t r = 0; r < n; r++) sum += ((uint64_t)wide[r] + low) * places[r];
    else
        for (int64_t r = 0; r < n; r++) sum += ((uint64_t)(int64_t)narrow[r] + low) * places[r];
    return sum;
}

/* Where codes are less than the ids, that adds to each row the same number times its place's. */
INLINE uint64_t hash_given(const Hashing *job, int64_t query, int64_t rows) {
    return job->hash[query] + (job->numbers ? 0 : (uint64_t)job->low * job->places[rows]);
}

static uint64_t hash_set(const Hashing *job, int64_t begin, int64_t end) {
    uint64_t sum = 0, bits;
    for (int64_t r = begin; r < end; r++) {
        uint64_t hash = mix(number_at(job, r) ^ 1);
        if (job->grade && job->grade[r] != 1) memcpy(&bits, job->grade + r, 8), hash = mix(hash ^ bits);
        sum += hash;
    }
    return sum;
}

static void hash_part(void *given, int64_t part, int64_t thread) {
    Hashing *job = given;
    int64_t last = query_edge(job->start, job->queries, part + 1, job->parts);
    uint64_t sum = 0;
    (void)thread;
    for (int64_t q = query_edge(job->start, job->queries, part, job->parts); q < last; q++) {
        int64_t begin = job->start[q], end = job->start[q + 1];
        if (begin == end) continue;
        uint64_t of_list = job->hash     ? hash_given(job, q, end - begin)
                           : job->places ? hash_ranked(job, begin, end)
                                         : hash_set(job, begin, end);
        sum += mix(mix(mix(job->query[q] ^ 2) ^ of_list) ^ (uint64_t)(end - begin));
    }
    job->of_part[part] = sum;
}

/* The sum of a hash per list. A ranked list is the sum of its items' numbers, each times that of its place; any other
 * that of its rows' hashes (places: NULL), in which a grade of 1 is the same as none. Sums wrap around, losing nothing.
 * hash (or NULL): those of ranked lists as match has them; then places has the running sums, from 0. */
KERNEL int64_t fingerprint(const int64_t *start, int64_t queries, const void *item, int64_t wide, int64_t low,
                           const uint64_t *numbers, const uint64_t *query, const uint64_t *places, const uint64_t *hash,
                           const double *grade, int64_t threads, uint64_t *out) {
    int64_t parts = parts_of(hash ? queries : start[queries], threads);
    Hashing job = {start, item, wide, low, queries, parts, numbers, query, places, hash, grade, NULL};
    job.of_part = calloc((size_t)job.parts, sizeof *job.of_part);
    if (!job.of_part) return OUT_OF_MEMORY;
    share(job.parts, threads, hash_part, &job);
    *out = 0;
    for (int64_t part = 0; part < job.parts; part++) *out += job.of_part[part];
    free(job.of_part);
    return 0;
}
