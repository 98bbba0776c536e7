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
    int64_t hits, again, truth_again;
} Matched;

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

#define ITEM int32_t
#define NAMED(name) name##_i32
#include "match_of.h"
#undef ITEM
#undef NAMED
#define ITEM int64_t
#define NAMED(name) name##_i64
#include "match_of.h"
