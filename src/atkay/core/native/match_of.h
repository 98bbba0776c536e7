/* Included by match.c for each type of item codes: ITEM, and NAMED(name), which adds the type to a name. */

typedef struct {
    Matching of;
    const ITEM *item, *truth_item;
} NAMED(Match);

/* The sum of the numbers of a list's items, each times that of its place; without a table, a code is its own number. */
INLINE uint64_t NAMED(hash_list)(const Matching *R job, const ITEM *R item, int64_t n) {
    const uint64_t *R numbers = job->numbers, *R places = job->places;
    uint64_t sum = 0;
    if (numbers)
        for (int64_t r = 0; r < n; r++) sum += numbers[item[r]] * places[r];
    else
        for (int64_t r = 0; r < n; r++) sum += (uint64_t)(int64_t)item[r] * places[r];
    return sum;
}

/* The hits of some queries, written to found; items are looked up in tables of all codes. */
static void NAMED(by_code)(const NAMED(Match) *R all, const Scratch *R scratch, int64_t first, int64_t last,
                           Matched *R matched, Found *R found) {
    const Matching *R job = &all->of;
    uint8_t *R mark = scratch->mark, wanted = LAST_MARK, again = 0, truth_again = 0;
    uint32_t *R place = scratch->place;
    int64_t hits = 0;
    for (int64_t q = first; q < last; q++) {
        const ITEM *R item = all->item + job->start[q], *R truth = all->truth_item + job->truth_start[q];
        int64_t rows = job->start[q + 1] - job->start[q], n = job->truth_start[q + 1] - job->truth_start[q], before = hits;
        if (wanted == LAST_MARK) memset(mark, 0, (size_t)job->n_items), wanted = 0;
        wanted += 2; /* what the truth names is marked so, what was listed with the next number */
        uint8_t listed = wanted + 1;
        for (int64_t r = 0; r < n; r++) {
            truth_again |= mark[truth[r]] == wanted;
            mark[truth[r]] = wanted, place[truth[r]] = (uint32_t)r;
        }
        /* Every row is written, and stays if it is a hit: a branch would be mispredicted at each. */
        for (int64_t r = 0; r < rows; r++) {
            uint8_t marked = mark[item[r]];
            mark[item[r]] = listed;
            again |= marked == listed;
            found[hits].row = (uint32_t)r;
            hits += marked == wanted;
        }
        for (int64_t hit = before; hit < hits; hit++) found[hit].at = place[item[found[hit].row]];
        job->count[q] = (uint32_t)(hits - before);
        if (job->hash) job->hash[q] = NAMED(hash_list)(job, item, rows);
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
static void NAMED(by_hash)(const NAMED(Match) *R all, const Scratch *R scratch, int64_t first, int64_t last,
                           Matched *R matched, Found *R found) {
    const Matching *R job = &all->of;
    Slot *R slots = scratch->slots;
    int64_t hits = 0, again = 0, truth_again = 0;
    memset(slots, 0, (size_t)scratch->size * sizeof *slots);
    for (int64_t q = first; q < last; q++) {
        const ITEM *R item = all->item + job->start[q], *R truth = all->truth_item + job->truth_start[q];
        int64_t rows = job->start[q + 1] - job->start[q], n = job->truth_start[q + 1] - job->truth_start[q], before = hits;
        uint64_t mask = table_size(rows + n) - 1;
        uint32_t wanted = (uint32_t)(q - first) * 2 + 2; /* lower marks are of other queries: such a slot is empty */
        for (int64_t r = 0; r < n; r++) {
            Slot *slot = NAMED(slot)(slots, mask, truth[r], wanted);
            truth_again |= slot->mark >= wanted;
            *slot = (Slot){truth[r], wanted, (uint32_t)r};
        }
        for (int64_t r = 0; r < rows; r++) {
            Slot *slot = NAMED(slot)(slots, mask, item[r], wanted);
            again |= slot->mark > wanted;
            if (slot->mark == wanted) found[hits++] = (Found){(uint32_t)r, slot->place};
            slot->item = item[r], slot->mark = wanted + 1;
        }
        job->count[q] = (uint32_t)(hits - before);
        if (job->hash) job->hash[q] = NAMED(hash_list)(job, item, rows);
    }
    matched->hits = hits, matched->again = again, matched->truth_again = truth_again;
}

static void NAMED(match_part)(void *given, int64_t part, int64_t thread) {
    NAMED(Match) *all = given;
    Matching *job = &all->of;
    int64_t first = query_edge(job->start, job->queries, part, job->parts);
    int64_t last = query_edge(job->start, job->queries, part + 1, job->parts);
    (job->scratch->slots ? NAMED(by_hash) : NAMED(by_code))(all, job->scratch + thread, first, last, job->matched + part,
                                                            found_by(job, part));
}

/* The listed rows that the truth has, the hits: query, row, the row of the truth, and rank from 1, one column after the
 * other in out, which has room for four numbers per row of the truth. Returns how many hits there are.
 * repeated: whether a list, or the truth, has an item twice; then the rows are not to be trusted.
 * hash (or NULL): a number per list, the sum of its items' numbers (numbers: those of the codes, or NULL for the codes
 * themselves), each times that of its place (places). */
KERNEL int64_t NAMED(match)(const int64_t *start, const ITEM *item, const int64_t *truth_start, const ITEM *truth_item,
                            int64_t queries, int64_t n_items, const uint64_t *numbers, const uint64_t *places,
                            int64_t threads, int64_t *out, int64_t *repeated, uint64_t *hash) {
    NAMED(Match) job = {{.start = start, .truth_start = truth_start, .queries = queries, .n_items = n_items,
                         .numbers = numbers, .places = places, .out = out, .hash = hash}, item, truth_item};
    return match_lists(&job.of, threads, NAMED(match_part), repeated);
}
