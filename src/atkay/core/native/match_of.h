/* Included by match.c for each type of item codes: ITEM, and NAMED(name), which adds the type to a name. */

typedef struct {
    const int64_t *start, *truth_start;
    const ITEM *item, *truth_item;
    int64_t queries, n_items, parts;
    Scratch *scratch; /* one for each thread */
    int64_t *query, *row, *at;
    Matched *matched; /* one for each part */
} NAMED(Match);

/* The hits of some queries, written to query, row and at; items are looked up in tables of all codes. */
static void NAMED(by_code)(const NAMED(Match) *R job, const Scratch *R scratch, int64_t first, int64_t last,
                           Matched *R matched, int64_t *R query, int64_t *R row, int64_t *R at) {
    uint8_t *R mark = scratch->mark, wanted = LAST_MARK, again = 0, truth_again = 0;
    uint32_t *R place = scratch->place;
    int64_t hits = 0;
    for (int64_t q = first; q < last; q++) {
        int64_t begin = job->start[q], end = job->start[q + 1], truth_begin = job->truth_start[q];
        const ITEM *R truth = job->truth_item + truth_begin;
        if (wanted == LAST_MARK) memset(mark, 0, (size_t)job->n_items), wanted = 0;
        wanted += 2; /* what the truth names is marked so, what was listed with the next number */
        uint8_t listed = wanted + 1;
        int64_t n = job->truth_start[q + 1] - truth_begin;
        for (int64_t r = 0; r < n; r++) {
            truth_again |= mark[truth[r]] == wanted;
            mark[truth[r]] = wanted, place[truth[r]] = (uint32_t)r;
        }
        for (int64_t r = begin; r < end; r++) {
            ITEM item = job->item[r];
            uint8_t before = mark[item];
            mark[item] = listed;
            again |= before == listed;
            if (before == wanted) query[hits] = q, row[hits] = r, at[hits++] = truth_begin + place[item];
        }
    }
    matched->hits = hits, matched->again = again, matched->truth_again = truth_again;
}

/* The slot of an item in the table of one query: its own, or an empty one. */
INLINE Slot *NAMED(slot)(Slot *R slots, uint64_t mask, ITEM item, uint32_t wanted) {
    uint64_t at = ((uint64_t)item * 0x9E3779B97F4A7C15u) >> 32 & mask;
    while (slots[at].mark >= wanted && slots[at].item != (int64_t)item) at = (at + 1) & mask;
    return slots + at;
}

/* The same with a table for each query, which stays in the cache however many codes there are. */
static void NAMED(by_hash)(const NAMED(Match) *R job, const Scratch *R scratch, int64_t first, int64_t last,
                           Matched *R matched, int64_t *R query, int64_t *R row, int64_t *R at) {
    Slot *R slots = scratch->slots;
    int64_t hits = 0, again = 0, truth_again = 0;
    memset(slots, 0, (size_t)scratch->size * sizeof *slots);
    for (int64_t q = first; q < last; q++) {
        int64_t begin = job->start[q], end = job->start[q + 1];
        int64_t truth_begin = job->truth_start[q], truth_end = job->truth_start[q + 1];
        uint64_t mask = table_size(end - begin + truth_end - truth_begin) - 1;
        uint32_t wanted = (uint32_t)(q - first) * 2 + 2; /* lower marks are of other queries: such a slot is empty */
        for (int64_t r = truth_begin; r < truth_end; r++) {
            Slot *slot = NAMED(slot)(slots, mask, job->truth_item[r], wanted);
            truth_again |= slot->mark >= wanted;
            *slot = (Slot){job->truth_item[r], wanted, (uint32_t)(r - truth_begin)};
        }
        for (int64_t r = begin; r < end; r++) {
            Slot *slot = NAMED(slot)(slots, mask, job->item[r], wanted);
            again |= slot->mark > wanted;
            if (slot->mark == wanted) query[hits] = q, row[hits] = r, at[hits++] = truth_begin + slot->place;
            slot->item = job->item[r], slot->mark = wanted + 1;
        }
    }
    matched->hits = hits, matched->again = again, matched->truth_again = truth_again;
}

static void NAMED(match_part)(void *given, int64_t part, int64_t thread) {
    NAMED(Match) *job = given;
    int64_t first = query_edge(job->start, job->queries, part, job->parts);
    int64_t last = query_edge(job->start, job->queries, part + 1, job->parts);
    int64_t room = job->truth_start[first]; /* no query has more hits than rows of truth */
    (job->scratch->slots ? NAMED(by_hash) : NAMED(by_code))(job, job->scratch + thread, first, last,
        job->matched + part, job->query + room, job->row + room, job->at + room);
}

/* The listed rows that the truth has: query, row, and the row of the truth. Returns how many there are.
 * The three have room for every row of the truth. repeated: whether a list, or the truth, has an item twice; then the
 * rows are not to be trusted. */
KERNEL int64_t NAMED(match)(const int64_t *start, const ITEM *item, const int64_t *truth_start, const ITEM *truth_item,
                            int64_t queries, int64_t n_items, int64_t threads, int64_t *query, int64_t *row, int64_t *at,
                            int64_t *repeated) {
    NAMED(Match) job = {start, truth_start, item, truth_item, queries, n_items, 0, NULL, query, row, at, NULL};
    job.parts = parts_of(start[queries] + truth_start[queries], threads);
    int64_t hits = OUT_OF_MEMORY, workers = least(threads, job.parts);
    job.matched = calloc((size_t)job.parts, sizeof *job.matched);
    job.scratch = new_scratch(start, truth_start, queries, n_items, workers);
    if (job.matched && job.scratch) {
        share(job.parts, threads, NAMED(match_part), &job);
        hits = repeated[0] = repeated[1] = 0;
        for (int64_t part = 0; part < job.parts; part++) {
            Matched one = job.matched[part];
            int64_t from = truth_start[query_edge(start, queries, part, job.parts)];
            memmove(query + hits, query + from, (size_t)one.hits * sizeof *query);
            memmove(row + hits, row + from, (size_t)one.hits * sizeof *row);
            memmove(at + hits, at + from, (size_t)one.hits * sizeof *at);
            hits += one.hits, repeated[0] |= one.again, repeated[1] |= one.truth_again;
        }
    }
    free_scratch(job.scratch, workers);
    free(job.matched);
    return hits;
}
