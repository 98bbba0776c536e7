/* Included by ids.c for each type of ids: ID, and NAMED(name), which adds the type to a name. */

static void NAMED(span_part)(void *given, int64_t part, int64_t thread) {
    Ids *job = given;
    const ID *R ids = job->ids;
    int64_t first = edge_of(job->rows, part, job->parts), last = edge_of(job->rows, part + 1, job->parts);
    ID lows[4] = {ids[first], ids[first], ids[first], ids[first]}, highs[4] = {ids[first], ids[first], ids[first], ids[first]};
    int64_t r = first;
    (void)thread;
    for (; r + 4 <= last; r += 4) /* four at a time, none of which waits for another */
        for (int64_t n = 0; n < 4; n++) {
            lows[n] = ids[r + n] < lows[n] ? ids[r + n] : lows[n];
            highs[n] = ids[r + n] > highs[n] ? ids[r + n] : highs[n];
        }
    ID low = lows[0], high = highs[0];
    for (int64_t n = 1; n < 4; n++) low = lows[n] < low ? lows[n] : low, high = highs[n] > high ? highs[n] : high;
    for (; r < last; r++) low = ids[r] < low ? ids[r] : low, high = ids[r] > high ? ids[r] : high;
    job->ends[part][0] = low, job->ends[part][1] = high;
}

/* The lowest and the highest of the ids, of which there is at least one. */
KERNEL int64_t NAMED(span)(const ID *ids, int64_t rows, int64_t threads, int64_t *ends) {
    Ids job = {.ids = ids, .rows = rows, .parts = parts_of(rows, threads)};
    job.ends = malloc((size_t)job.parts * sizeof *job.ends);
    if (!job.ends) return OUT_OF_MEMORY;
    share(job.parts, threads, NAMED(span_part), &job);
    ends[0] = ends[1] = ids[0];
    for (int64_t part = 0; part < job.parts; part++) {
        if (job.ends[part][0] < ends[0]) ends[0] = job.ends[part][0];
        if (job.ends[part][1] > ends[1]) ends[1] = job.ends[part][1];
    }
    free(job.ends);
    return 0;
}

static void NAMED(changes_part)(void *given, int64_t part, int64_t thread) {
    Ids *job = given;
    const ID *R ids = job->ids;
    int64_t first = edge_of(job->rows, part, job->parts), last = edge_of(job->rows, part + 1, job->parts), n = 0;
    int64_t *row = job->row + first;
    (void)thread;
    int64_t r = first ? first : 1;
    for (; r + IDS_AT_ONCE <= last; r += IDS_AT_ONCE) {
        ID differ = 0;
        for (int64_t at = r; at < r + IDS_AT_ONCE; at++) differ |= ids[at] ^ ids[at - 1];
        for (int64_t at = r; differ && at < r + IDS_AT_ONCE; at++)
            if (ids[at] != ids[at - 1]) row[n++] = at;
    }
    for (; r < last; r++)
        if (ids[r] != ids[r - 1]) row[n++] = r;
    job->found[part] = n;
}

/* The rows that each part has written where it begins, moved together; returns how many there are. */
static int64_t NAMED(gather)(Ids *job, int64_t threads, Work work) {
    int64_t n = 0;
    job->found = malloc((size_t)job->parts * sizeof *job->found);
    if (!job->found) return OUT_OF_MEMORY;
    share(job->parts, threads, work, job);
    for (int64_t part = 0; part < job->parts; part++) {
        int64_t from = edge_of(job->rows, part, job->parts);
        memmove(job->row + n, job->row + from, (size_t)job->found[part] * sizeof *job->row);
        n += job->found[part];
    }
    free(job->found);
    return n;
}

/* The rows whose id is not that of the row before, written to row, which has room for all rows; returns how many. */
KERNEL int64_t NAMED(changes)(const ID *ids, int64_t rows, int64_t threads, int64_t *row) {
    Ids job = {.ids = ids, .rows = rows, .parts = parts_of(rows, threads), .row = row};
    return NAMED(gather)(&job, threads, NAMED(changes_part));
}

static void NAMED(count_part)(void *given, int64_t part, int64_t thread) {
    Ids *job = given;
    const ID *R ids = job->ids;
    int64_t last = edge_of(job->rows, part + 1, job->parts), n = 0;
    (void)thread;
    for (int64_t r = edge_of(job->rows, part, job->parts); r < last; r++) n += job->marked[ids[r]];
    __atomic_fetch_add(&job->total, n, __ATOMIC_RELAXED);
}

/* How many of the ids are marked. */
KERNEL int64_t NAMED(count)(const uint8_t *marked, const ID *ids, int64_t rows, int64_t threads) {
    Ids job = {.ids = ids, .rows = rows, .parts = parts_of(rows, threads), .marked = marked};
    share(job.parts, threads, NAMED(count_part), &job);
    return job.total;
}

static void NAMED(find_part)(void *given, int64_t part, int64_t thread) {
    Ids *job = given;
    const ID *R ids = job->ids;
    int64_t first = edge_of(job->rows, part, job->parts), last = edge_of(job->rows, part + 1, job->parts), n = 0;
    (void)thread;
    for (int64_t r = first; r < last; r++)
        if (job->marked[ids[r]]) job->row[first + n++] = r;
    job->found[part] = n;
}

/* The rows whose id is marked, written to row, which has room for all rows; returns how many. */
KERNEL int64_t NAMED(find)(const uint8_t *marked, const ID *ids, int64_t rows, int64_t threads, int64_t *row) {
    Ids job = {.ids = ids, .rows = rows, .parts = parts_of(rows, threads), .marked = marked, .row = row};
    return NAMED(gather)(&job, threads, NAMED(find_part));
}

static void NAMED(mark_part)(void *given, int64_t part, int64_t thread) {
    Ids *job = given;
    const ID *R ids = job->ids;
    uint8_t *marks = job->marks;
    int64_t low = job->low, last = edge_of(job->rows, part + 1, job->parts);
    (void)thread;
    for (int64_t r = edge_of(job->rows, part, job->parts); r < last; r++) {
        uint8_t *mark = marks + (ids[r] - low);
        if (!__atomic_load_n(mark, __ATOMIC_RELAXED)) __atomic_store_n(mark, 1, __ATOMIC_RELAXED);
    }
}

/* Mark the ids that occur, which are numbers from low on. */
KERNEL int64_t NAMED(mark)(const ID *ids, int64_t rows, int64_t low, int64_t threads, uint8_t *marks) {
    Ids job = {.ids = ids, .rows = rows, .parts = parts_of(rows, threads), .marks = marks, .low = low};
    share(job.parts, threads, NAMED(mark_part), &job);
    return 0;
}

static void NAMED(codes_part)(void *given, int64_t part, int64_t thread) {
    Ids *job = given;
    const ID *R ids = job->ids;
    uint64_t size = (uint64_t)job->size;
    int64_t last = edge_of(job->rows, part + 1, job->parts);
    (void)thread;
    for (int64_t r = edge_of(job->rows, part, job->parts); r < last; r++) {
        uint64_t place = (uint64_t)ids[r] - (uint64_t)job->low;
        job->codes[r] = place >= size ? -1 : job->lookup ? job->lookup[place] : (int32_t)place;
    }
}

/* The codes of ids, of which there are size from low on: their place there, or what stands at that place in lookup; -1
 * for others. */
KERNEL int64_t NAMED(codes)(const ID *ids, int64_t rows, int64_t low, int64_t size, const int32_t *lookup,
                            int64_t threads, int32_t *codes) {
    Ids job = {.ids = ids, .rows = rows, .parts = parts_of(rows, threads), .low = low, .size = size, .lookup = lookup,
               .codes = codes};
    share(job.parts, threads, NAMED(codes_part), &job);
    return 0;
}

static void NAMED(rising_part)(void *given, int64_t part, int64_t thread) {
    Ids *job = given;
    const ID *R ids = job->ids;
    int64_t first = edge_of(job->rows, part, job->parts), last = edge_of(job->rows, part + 1, job->parts);
    (void)thread;
    for (int64_t r = first ? first : 1; r < last && !__atomic_load_n(&job->total, __ATOMIC_RELAXED);) {
        int64_t end = least(r + ROWS_AT_ONCE, last), falls = 0;
        for (; r < end; r++) falls += ids[r] < ids[r - 1];
        if (falls) __atomic_store_n(&job->total, 1, __ATOMIC_RELAXED);
    }
}

/* Whether no id is below the one before. */
KERNEL int64_t NAMED(rising)(const ID *ids, int64_t rows, int64_t threads) {
    Ids job = {.ids = ids, .rows = rows, .parts = parts_of(rows, threads)};
    share(job.parts, threads, NAMED(rising_part), &job);
    return !job.total;
}
