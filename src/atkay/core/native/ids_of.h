/* Included by ids.c for each type of ids: ID, and NAMED(name), which adds the type to a name. */

INLINE const ID *NAMED(ids_of)(const Piece *piece) { return (const ID *)piece->chunk->data + piece->begin; }

/* The id before those of a part; the first part's own. */
INLINE ID NAMED(id_before)(const Piece *piece, int64_t part) {
    return part ? NAMED(ids_of)(piece - 1)[piece[-1].rows - 1] : *NAMED(ids_of)(piece);
}

static void NAMED(span_part)(void *given, int64_t part, int64_t thread) {
    Ids *job = given;
    const ID *R ids = NAMED(ids_of)(job->of.pieces + part);
    ID lows[4] = {ids[0], ids[0], ids[0], ids[0]}, highs[4] = {ids[0], ids[0], ids[0], ids[0]};
    int64_t r = 0, rows = job->of.pieces[part].rows;
    (void)thread;
    for (; r + 4 <= rows; r += 4) /* four at a time, none of which waits for another */
        for (int64_t n = 0; n < 4; n++) {
            lows[n] = ids[r + n] < lows[n] ? ids[r + n] : lows[n];
            highs[n] = ids[r + n] > highs[n] ? ids[r + n] : highs[n];
        }
    ID low = lows[0], high = highs[0];
    for (int64_t n = 1; n < 4; n++) low = lows[n] < low ? lows[n] : low, high = highs[n] > high ? highs[n] : high;
    for (; r < rows; r++) low = ids[r] < low ? ids[r] : low, high = ids[r] > high ? ids[r] : high;
    job->ends[part][0] = low, job->ends[part][1] = high;
}

/* The lowest and the highest of the ids, of which there is at least one. */
KERNEL int64_t NAMED(span)(const Chunk *chunks, int64_t n_chunks, int64_t threads, int64_t *ends) {
    Ids job = {.ends = malloc((size_t)(n_chunks + parts_of(INT64_MAX, threads)) * sizeof *job.ends)};
    int64_t failed = job.ends ? each_piece(chunks, n_chunks, threads, NAMED(span_part), &job.of) : OUT_OF_MEMORY;
    for (int64_t part = 0; !failed && part < job.of.parts; part++) {
        if (!part || job.ends[part][0] < ends[0]) ends[0] = job.ends[part][0];
        if (!part || job.ends[part][1] > ends[1]) ends[1] = job.ends[part][1];
    }
    free(job.ends);
    return failed;
}

static void NAMED(changes_part)(void *given, int64_t part, int64_t thread) {
    Ids *job = given;
    Piece *piece = job->of.pieces + part;
    const ID *R ids = NAMED(ids_of)(piece);
    int64_t *row = job->of.row + piece->first, n = 0, r = 1;
    (void)thread;
    if (ids[0] != NAMED(id_before)(piece, part)) row[n++] = piece->first;
    for (; r + IDS_AT_ONCE <= piece->rows; r += IDS_AT_ONCE) {
        ID differ = 0;
        for (int64_t at = r; at < r + IDS_AT_ONCE; at++) differ |= ids[at] ^ ids[at - 1];
        for (int64_t at = r; differ && at < r + IDS_AT_ONCE; at++)
            if (ids[at] != ids[at - 1]) row[n++] = piece->first + at;
    }
    for (; r < piece->rows; r++)
        if (ids[r] != ids[r - 1]) row[n++] = piece->first + r;
    job->of.found[part] = n;
}

/* The rows whose id is not that of the row before, written to row, which has room for all rows; returns how many. */
KERNEL int64_t NAMED(changes)(const Chunk *chunks, int64_t n_chunks, int64_t threads, int64_t *row) {
    Ids job = {.of.row = row};
    return each_piece(chunks, n_chunks, threads, NAMED(changes_part), &job.of);
}

static void NAMED(count_part)(void *given, int64_t part, int64_t thread) {
    Ids *job = given;
    const ID *R ids = NAMED(ids_of)(job->of.pieces + part);
    int64_t rows = job->of.pieces[part].rows, n = 0;
    (void)thread;
    for (int64_t r = 0; r < rows; r++) n += job->marked[ids[r]];
    __atomic_fetch_add(&job->total, n, __ATOMIC_RELAXED);
}

/* How many of the ids are marked. */
KERNEL int64_t NAMED(count)(const uint8_t *marked, const Chunk *chunks, int64_t n_chunks, int64_t threads) {
    Ids job = {.marked = marked};
    int64_t failed = each_piece(chunks, n_chunks, threads, NAMED(count_part), &job.of);
    return failed ? failed : job.total;
}

static void NAMED(find_part)(void *given, int64_t part, int64_t thread) {
    Ids *job = given;
    const ID *R ids = NAMED(ids_of)(job->of.pieces + part);
    int64_t first = job->of.pieces[part].first, rows = job->of.pieces[part].rows, n = 0;
    (void)thread;
    for (int64_t r = 0; r < rows; r++)
        if (job->marked[ids[r]]) job->of.row[first + n++] = first + r;
    job->of.found[part] = n;
}

/* The rows whose id is marked, written to row, which has room for all rows; returns how many. */
KERNEL int64_t NAMED(find)(const uint8_t *marked, const Chunk *chunks, int64_t n_chunks, int64_t threads, int64_t *row) {
    Ids job = {.marked = marked, .of.row = row};
    return each_piece(chunks, n_chunks, threads, NAMED(find_part), &job.of);
}

static void NAMED(mark_part)(void *given, int64_t part, int64_t thread) {
    Ids *job = given;
    const ID *R ids = NAMED(ids_of)(job->of.pieces + part);
    uint8_t *marks = job->marks;
    int64_t low = job->low, rows = job->of.pieces[part].rows, marked = 0;
    (void)thread;
    for (int64_t r = 0; r < rows;) {
        for (int64_t end = least(r + ROWS_AT_ONCE, rows); r < end; r++) {
            uint8_t *mark = marks + (ids[r] - low);
            if (!__atomic_load_n(mark, __ATOMIC_RELAXED)) __atomic_store_n(mark, 1, __ATOMIC_RELAXED);
        }
        while (marked < job->size && __atomic_load_n(marks + marked, __ATOMIC_RELAXED)) marked++;
        if (marked == job->size) return; /* there is none that does not occur */
    }
}

/* Mark the ids that occur, which are numbers from low to before low + size. */
KERNEL int64_t NAMED(mark)(const Chunk *chunks, int64_t n_chunks, int64_t low, int64_t size, int64_t threads,
                           uint8_t *marks) {
    Ids job = {.marks = marks, .low = low, .size = size};
    return each_piece(chunks, n_chunks, threads, NAMED(mark_part), &job.of);
}

static void NAMED(codes_part)(void *given, int64_t part, int64_t thread) {
    Ids *job = given;
    const ID *R ids = NAMED(ids_of)(job->of.pieces + part);
    int32_t *R codes = job->codes + job->of.pieces[part].first;
    uint64_t size = (uint64_t)job->size;
    int64_t rows = job->of.pieces[part].rows;
    (void)thread;
    for (int64_t r = 0; r < rows; r++) {
        uint64_t place = (uint64_t)ids[r] - (uint64_t)job->low;
        codes[r] = place >= size ? -1 : job->lookup ? job->lookup[place] : (int32_t)place;
    }
}

/* The codes of ids, of which there are size from low on: their place there, or what stands at that place in lookup; -1
 * for others. */
KERNEL int64_t NAMED(codes)(const Chunk *chunks, int64_t n_chunks, int64_t low, int64_t size, const int32_t *lookup,
                            int64_t threads, int32_t *codes) {
    Ids job = {.low = low, .size = size, .lookup = lookup, .codes = codes};
    return each_piece(chunks, n_chunks, threads, NAMED(codes_part), &job.of);
}

static void NAMED(rising_part)(void *given, int64_t part, int64_t thread) {
    Ids *job = given;
    Piece *piece = job->of.pieces + part;
    const ID *R ids = NAMED(ids_of)(piece);
    (void)thread;
    if (ids[0] < NAMED(id_before)(piece, part)) __atomic_store_n(&job->total, 1, __ATOMIC_RELAXED);
    for (int64_t r = 1; r < piece->rows && !__atomic_load_n(&job->total, __ATOMIC_RELAXED);) {
        int64_t end = least(r + ROWS_AT_ONCE, piece->rows), falls = 0;
        for (; r < end; r++) falls += ids[r] < ids[r - 1];
        if (falls) __atomic_store_n(&job->total, 1, __ATOMIC_RELAXED);
    }
}

/* Whether no id is below the one before. */
KERNEL int64_t NAMED(rising)(const Chunk *chunks, int64_t n_chunks, int64_t threads) {
    Ids job = {.total = 0};
    int64_t failed = each_piece(chunks, n_chunks, threads, NAMED(rising_part), &job.of);
    return failed ? failed : !job.total;
}
