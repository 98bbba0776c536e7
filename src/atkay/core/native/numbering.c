/* Numbering: codes 0, 1, 2, ... for ids of 64 bits or of text, where they lie. Text has an order and a hash, too. */
#include "kernels.h"

/* An id in 16 bytes: an integer; or the length of a text in 4 bytes, then its letters where these are at most 12, else
 * the first four of them and the address of all. Of text too long, equal first halves do not yet say that it is equal. */
typedef struct {
    uint64_t low, high;
} Key;

#define LETTERS_IN_PLACE 12

INLINE Key key_of_text(const uint8_t *letters, uint64_t length) {
    uint8_t bytes[16] = {0};
    uint32_t size = (uint32_t)length;
    uint64_t place = (uint64_t)(uintptr_t)letters;
    Key key;
    memcpy(bytes, &size, 4);
    memcpy(bytes + 4, letters, length <= LETTERS_IN_PLACE ? length : 4);
    if (length > LETTERS_IN_PLACE) memcpy(bytes + 8, &place, 8);
    memcpy(&key, bytes, 16);
    return key;
}

INLINE Key key_at(const Chunk *R ids, int64_t row, int64_t kind) {
    Key key;
    switch (kind) {
    case KIND_INT64: return (Key){(uint64_t)((const int64_t *)ids->data)[row], 0};
    case KIND_INT32: return (Key){(uint64_t)(int64_t)((const int32_t *)ids->data)[row], 0};
    case KIND_VIEWS:
        memcpy(&key, (const uint8_t *)ids->data + 16 * row, 16);
        if ((uint32_t)key.low > LETTERS_IN_PLACE) { /* the number of a buffer and the place in it, in 4 bytes each */
            const uint8_t *buffer = ((const uint8_t *const *)ids->more)[(uint32_t)key.high];
            key.high = (uint64_t)(uintptr_t)(buffer + (key.high >> 32));
        }
        return key;
    case KIND_LARGE_TEXT: {
        const int64_t *start = (const int64_t *)ids->more + row;
        return key_of_text((const uint8_t *)ids->data + start[0], (uint64_t)(start[1] - start[0]));
    }
    default: {
        const int32_t *start = (const int32_t *)ids->more + row;
        return key_of_text((const uint8_t *)ids->data + start[0], (uint64_t)(start[1] - start[0]));
    }
    }
}

INLINE int same_key(Key one, Key other, int text) {
    if (one.low != other.low) return 0;
    if (one.high == other.high) return 1;
    return text && (uint32_t)one.low > LETTERS_IN_PLACE &&
           !memcmp((const void *)(uintptr_t)one.high, (const void *)(uintptr_t)other.high, (uint32_t)one.low);
}

INLINE uint64_t scatter(uint64_t bits) { return (bits ^ (bits >> 32)) * 0xD6E8FEB86659FD93u; }

INLINE uint64_t hash_of(Key key, int text) {
    uint32_t length = (uint32_t)key.low;
    if (!text || length <= LETTERS_IN_PLACE) return scatter(scatter(key.low) ^ key.high) >> 16;
    const uint8_t *letters = (const uint8_t *)(uintptr_t)key.high;
    uint64_t hash = length, bits;
    for (uint32_t at = 0; at + 8 <= length; at += 8) memcpy(&bits, letters + at, 8), hash = scatter(hash ^ bits);
    memcpy(&bits, letters + length - 8, 8);
    return scatter(hash ^ bits) >> 16;
}

/* Codes in the order in which ids are first seen. A slot is 0, or a code + 1; at most a quarter of them is taken, and at
 * least an eighth of a large table, so that it stays in the cache. */
typedef struct {
    uint32_t *slots;
    Key *keys;
    int64_t *first; /* where each id stands first: column << 48 | row */
    int64_t n, size;
    int32_t *final; /* the code that each gets in the end */
} Codebook;

#define LEAST_SLOTS 1024
#define MOST_SLOTS_AT_FIRST 16384 /* 64 kB: clearing them takes less than to grow into them */

static int resize(Codebook *book, int64_t size, int text) {
    uint32_t *slots = rows_memory((size_t)size * sizeof *slots);
    Key *keys = realloc(book->keys, (size_t)(size / 4) * sizeof *keys);
    int64_t *first = realloc(book->first, (size_t)(size / 4) * sizeof *first);
    book->keys = keys ? keys : book->keys, book->first = first ? first : book->first;
    if (!slots || !keys || !first) return free(slots), 0;
    memset(slots, 0, (size_t)size * sizeof *slots);
    for (int64_t code = 0; code < book->n; code++) {
        uint64_t at = hash_of(keys[code], text) & (uint64_t)(size - 1);
        while (slots[at]) at = (at + 1) & (uint64_t)(size - 1);
        slots[at] = (uint32_t)code + 1;
    }
    free(book->slots);
    book->slots = slots, book->size = size;
    return 1;
}

/* The code of a key, a new one where it was not seen; -1 where there is no memory. */
INLINE int64_t code_of(Codebook *R book, Key key, int64_t place, int text) {
    if (4 * (book->n + 1) > book->size && (book->n >= INT32_MAX / 2 || !resize(book, 2 * book->size, text))) return -1;
    uint64_t mask = (uint64_t)book->size - 1, at = hash_of(key, text) & mask;
    for (uint32_t slot; (slot = book->slots[at]); at = (at + 1) & mask)
        if (same_key(book->keys[slot - 1], key, text)) return slot - 1;
    book->keys[book->n] = key, book->first[book->n] = place, book->slots[at] = (uint32_t)book->n + 1;
    return book->n++;
}

/* Each thread has a chunk of every column and numbers its ids by itself; then all get the same numbers. */
typedef struct {
    Chunk *columns;
    int32_t **codes;
    int64_t n_columns, chunks, failed;
    int text;
    Codebook *books, all;
} Numbering;

#define KEYS_AT_ONCE 32

/* Number some rows: step by step for a few of them at once, so that the memory for all is on its way while none waits
 * for another. Mostly the first slot has the id; the others are searched one by one. */
INLINE int number_rows(Codebook *R book, const Chunk *R ids, int64_t first, int64_t last, int64_t column, int32_t *R codes,
                       int64_t kind) {
    int text = kind >= KIND_VIEWS, enough = 1;
    for (int64_t row = first; enough && row < last; row += KEYS_AT_ONCE) {
        int64_t n = least(last - row, KEYS_AT_ONCE);
        const uint32_t *R slots = book->slots;
        const Key *R keys = book->keys;
        uint64_t mask = (uint64_t)book->size - 1;
        Key key[KEYS_AT_ONCE];
        uint32_t code[KEYS_AT_ONCE], other[KEYS_AT_ONCE];
        int64_t others = 0;
        for (int64_t r = 0; r < n; r++) key[r] = key_at(ids, row + r, kind);
        for (int64_t r = 0; r < n; r++) code[r] = slots[hash_of(key[r], text) & mask];
        for (int64_t r = 0; r < n; r++) { /* an empty slot is looked up as code 0, which has another key */
            uint32_t at = code[r] - (code[r] > 0);
            codes[row + r] = (int32_t)at;
            other[others] = (uint32_t)r;
            others += !(text ? same_key(keys[at], key[r], text) : keys[at].low == key[r].low);
        }
        for (int64_t r = 0; enough && r < others; r++) {
            int64_t here = code_of(book, key[other[r]], column << 48 | (row + other[r]), text);
            enough = here >= 0;
            codes[row + other[r]] = (int32_t)here;
        }
    }
    return enough;
}

static void number_chunk(void *given, int64_t chunk, int64_t thread) {
    Numbering *job = given;
    Codebook *book = job->books + chunk;
    int64_t rows = 0, slots = LEAST_SLOTS;
    for (int64_t c = 0; c < job->n_columns; c++) rows += job->columns[c].rows / job->chunks;
    while (slots < rows && slots < MOST_SLOTS_AT_FIRST) slots *= 2;
    int enough = resize(book, slots, job->text);
    (void)thread;
    for (int64_t c = 0; enough && c < job->n_columns; c++) {
        const Chunk *ids = job->columns + c;
        int64_t first = edge_of(ids->rows, chunk, job->chunks), last = edge_of(ids->rows, chunk + 1, job->chunks);
        if (first < last && !book->n) enough = code_of(book, key_at(ids, first, ids->kind), c << 48 | first, job->text) >= 0;
        switch (ids->kind) { /* a function for each kind, which need not ask for it row by row */
        case KIND_INT32: enough = enough && number_rows(book, ids, first, last, c, job->codes[c], KIND_INT32); break;
        case KIND_INT64: enough = enough && number_rows(book, ids, first, last, c, job->codes[c], KIND_INT64); break;
        case KIND_VIEWS: enough = enough && number_rows(book, ids, first, last, c, job->codes[c], KIND_VIEWS); break;
        case KIND_LARGE_TEXT: enough = enough && number_rows(book, ids, first, last, c, job->codes[c], KIND_LARGE_TEXT); break;
        default: enough = enough && number_rows(book, ids, first, last, c, job->codes[c], KIND_TEXT);
        }
    }
    if (!enough) __atomic_store_n(&job->failed, 1, __ATOMIC_RELAXED);
}

static void relabel_chunk(void *given, int64_t chunk, int64_t thread) {
    Numbering *job = given;
    const int32_t *R final = job->books[chunk].final;
    (void)thread;
    for (int64_t c = 0; c < job->n_columns; c++) {
        int32_t *R codes = job->codes[c];
        int64_t last = edge_of(job->columns[c].rows, chunk + 1, job->chunks);
        for (int64_t r = edge_of(job->columns[c].rows, chunk, job->chunks); r < last; r++) codes[r] = final[codes[r]];
    }
}

static void close_book(Codebook *book) { free(book->slots), free(book->keys), free(book->first), free(book->final); }

/* Forget a numbering. */
KERNEL int64_t forget_numbering(Numbering *job) {
    for (int64_t chunk = 0; job && job->books && chunk < job->chunks; chunk++) close_book(job->books + chunk);
    if (job) close_book(&job->all), free(job->books), free(job->columns), free(job->codes), free(job);
    return 0;
}

/* Number the ids of some columns, all of the same type, in the order in which they are first seen. codes: the
 * address of each column's codes. Returns a numbering, to be asked by the three functions
 * that follow and then forgotten, or 0 where there is no memory. */
KERNEL int64_t number_ids(const Chunk *columns, const int64_t *codes, int64_t n_columns, int64_t threads) {
    Numbering *job = calloc(1, sizeof *job);
    int64_t rows = 0;
    if (!job) return 0;
    job->n_columns = n_columns;
    job->columns = malloc((size_t)n_columns * sizeof *job->columns);
    job->codes = calloc((size_t)n_columns, sizeof *job->codes);
    if (!job->columns || !job->codes) return forget_numbering(job);
    for (int64_t c = 0; c < n_columns; c++) {
        job->codes[c] = (int32_t *)(uintptr_t)codes[c];
        job->columns[c] = columns[c];
        rows += columns[c].rows;
    }
    job->text = columns[0].kind >= KIND_VIEWS;
    job->chunks = least(threads, parts_of(rows, threads));
    job->books = calloc((size_t)job->chunks, sizeof *job->books);
    if (!job->books) return forget_numbering(job);
    share(job->chunks, threads, number_chunk, job);
    job->all = job->books[0]; /* the ids of the other chunks are added to those of the first */
    job->books[0] = (Codebook){.n = job->all.n};
    for (int64_t chunk = 0; !job->failed && chunk < job->chunks; chunk++) {
        Codebook *book = job->books + chunk;
        book->final = malloc((size_t)(book->n + 1) * sizeof *book->final);
        job->failed |= !book->final;
        for (int64_t n = 0; !job->failed && n < book->n; n++) {
            int64_t code = chunk ? code_of(&job->all, book->keys[n], book->first[n], job->text) : n;
            job->failed |= code < 0;
            if (chunk && code >= 0) job->all.first[code] = least(job->all.first[code], book->first[n]);
            book->final[n] = (int32_t)code;
        }
    }
    return job->failed ? forget_numbering(job) : (int64_t)(uintptr_t)job;
}

/* How many different ids there are. */
KERNEL int64_t numbered(const Numbering *job) { return job->all.n; }

/* Where each id was seen first: its column and its row. */
KERNEL int64_t first_seen(const Numbering *job, int64_t *column, int64_t *row) {
    for (int64_t n = 0; n < job->all.n; n++)
        column[n] = job->all.first[n] >> 48, row[n] = job->all.first[n] & (((int64_t)1 << 48) - 1);
    return 0;
}

/* Write the codes of all rows: place[n] is that of the n-th id that was seen. */
KERNEL int64_t write_codes(Numbering *job, const int32_t *place, int64_t threads) {
    for (int64_t chunk = 0; chunk < job->chunks; chunk++)
        for (int64_t n = 0; n < job->books[chunk].n; n++) job->books[chunk].final[n] = place[job->books[chunk].final[n]];
    share(job->chunks, threads, relabel_chunk, job);
    return 0;
}

/* ---- changes: where text is not that of the row before ---------------------------------------------------------------- */

static void text_changes_part(void *given, int64_t part, int64_t thread) {
    Pieces *job = given;
    const Piece *piece = job->pieces + part;
    int64_t n = 0;
    Key before = part ? key_at(piece[-1].chunk, piece[-1].begin + piece[-1].rows - 1, piece[-1].chunk->kind)
                      : key_at(piece->chunk, piece->begin, piece->chunk->kind);
    (void)thread;
    for (int64_t r = 0; r < piece->rows; r++) {
        Key here = key_at(piece->chunk, piece->begin + r, piece->chunk->kind);
        if (!same_key(here, before, 1)) job->row[piece->first + n++] = piece->first + r;
        before = here;
    }
    job->found[part] = n;
}

/* The rows whose text is not that of the row before, written to row, which has room for all rows; returns how many. */
KERNEL int64_t changes_text(const Chunk *chunks, int64_t n_chunks, int64_t threads, int64_t *row) {
    Pieces job = {.row = row};
    return each_piece(chunks, n_chunks, threads, text_changes_part, &job);
}

/* ---- order: text by its bytes, which is the order of its code points ---------------------------------------------------- */

/* A text, and the eight bytes that follow what all texts begin with, the first one the highest. */
typedef struct {
    uint64_t head;
    const uint8_t *letters;
    uint32_t length, row;
} Text;

INLINE Text text_at(const Chunk *R ids, int64_t row) {
    Text text = {0};
    switch (ids->kind) {
    case KIND_VIEWS: {
        const uint8_t *view = (const uint8_t *)ids->data + 16 * row;
        uint32_t place[2];
        memcpy(&text.length, view, 4), memcpy(place, view + 8, 8);
        text.letters = text.length <= LETTERS_IN_PLACE ? view + 4 : ((const uint8_t *const *)ids->more)[place[0]] + place[1];
        return text;
    }
    case KIND_LARGE_TEXT: {
        const int64_t *start = (const int64_t *)ids->more + row;
        text.letters = (const uint8_t *)ids->data + start[0], text.length = (uint32_t)(start[1] - start[0]);
        return text;
    }
    default: {
        const int32_t *start = (const int32_t *)ids->more + row;
        text.letters = (const uint8_t *)ids->data + start[0], text.length = (uint32_t)(start[1] - start[0]);
        return text;
    }
    }
}

static int later(const void *one, const void *other) {
    const Text *a = one, *b = other;
    uint32_t both = a->length < b->length ? a->length : b->length;
    int differ = both ? memcmp(a->letters, b->letters, both) : 0;
    if (!differ) differ = (a->length > b->length) - (a->length < b->length);
    return differ ? differ : (a->row > b->row) - (a->row < b->row);
}

/* By the bytes of the heads, the last one first; a byte that all texts share is passed over. */
static Text *by_heads(Text *R from, Text *R to, int64_t n) {
    for (int shift = 0; shift < 64; shift += 8) {
        int64_t place[257] = {0};
        for (int64_t t = 0; t < n; t++) place[(from[t].head >> shift & 255) + 1]++;
        if (place[(from[0].head >> shift & 255) + 1] == n) continue;
        for (int digit = 0; digit < 256; digit++) place[digit + 1] += place[digit];
        for (int64_t t = 0; t < n; t++) to[place[from[t].head >> shift & 255]++] = from[t];
        Text *swapped = from;
        from = to, to = swapped;
    }
    return from;
}

/* The rows of some texts, fewer than 2^31, in the order of the texts; equal ones keep theirs. */
KERNEL int64_t order_text(const Chunk *chunks, int64_t n_chunks, int64_t *order) {
    int64_t n = 0, common = INT64_MAX;
    for (int64_t c = 0; c < n_chunks; c++) n += chunks[c].rows;
    if (!n) return 0;
    Text *texts = malloc((size_t)n * 2 * sizeof *texts);
    if (!texts) return OUT_OF_MEMORY;
    for (int64_t c = 0, row = 0; c < n_chunks; c++)
        for (int64_t r = 0; r < chunks[c].rows; r++, row++) {
            texts[row] = text_at(chunks + c, r), texts[row].row = (uint32_t)row;
            common = least(common, texts[row].length);
            for (int64_t at = 0; at < common; at++)
                if (texts[row].letters[at] != texts[0].letters[at]) common = at;
        }
    for (int64_t t = 0; t < n; t++)
        for (int64_t at = common; at < common + 8; at++)
            texts[t].head = texts[t].head << 8 | (at < texts[t].length ? texts[t].letters[at] : 0);
    const Text *sorted = by_heads(texts, texts + n, n);
    for (int64_t begin = 0, end; begin < n; begin = end) {
        for (end = begin + 1; end < n && sorted[end].head == sorted[begin].head;) end++;
        if (end > begin + 1) qsort((Text *)sorted + begin, (size_t)(end - begin), sizeof *sorted, later);
    }
    for (int64_t t = 0; t < n; t++) order[t] = sorted[t].row;
    free(texts);
    return 0;
}

/* ---- numbers: a hash of each text, the same on every machine ------------------------------------------------------------ */

typedef struct {
    Pieces of;
    uint64_t base, *numbers;
} Hashed;

static void text_numbers_part(void *given, int64_t part, int64_t thread) {
    Hashed *job = given;
    const Piece *piece = job->of.pieces + part;
    (void)thread;
    for (int64_t r = 0; r < piece->rows; r++) {
        Text text = text_at(piece->chunk, piece->begin + r);
        uint64_t sum = 0;
        for (int64_t at = text.length; at-- > 0;) sum = (sum + text.letters[at] + 1) * job->base;
        job->numbers[piece->first + r] = mix(sum ^ text.length);
    }
}

/* A number per text: its bytes plus 1, each times a power of the base, added up; then mixed with the length. */
KERNEL int64_t text_numbers(const Chunk *chunks, int64_t n_chunks, int64_t base, int64_t threads, uint64_t *numbers) {
    Hashed job = {.base = (uint64_t)base, .numbers = numbers};
    return each_piece(chunks, n_chunks, threads, text_numbers_part, &job.of);
}
