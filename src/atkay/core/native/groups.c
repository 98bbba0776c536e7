/* Groups: the different items of each list. */
#include "kernels.h"

typedef struct {
    int32_t item, number;
    uint32_t list; /* the list that named the item, and 1: other lists find the slot empty */
} Slot;

typedef struct {
    const int64_t *start;
    const int32_t *row, *item;
    int64_t lists, n_items, parts, size;
    Slot *slots;       /* a table for each thread */
    int64_t *distinct; /* of each part: how many numbers it gave, then those of the parts before it */
    int32_t *number;
} Numbering;

/* A power of two, so large that at most half of the slots is taken. */
INLINE int64_t slots_for(int64_t rows, int64_t n_items) {
    int64_t size = 16;
    while (size < 2 * least(rows, n_items)) size *= 2;
    return size;
}

static void number_part(void *given, int64_t part, int64_t thread) {
    Numbering *job = given;
    Slot *R slots = job->slots + job->size * thread;
    int64_t last = query_edge(job->start, job->lists, part + 1, job->parts);
    int32_t next = 0;
    for (int64_t list = query_edge(job->start, job->lists, part, job->parts); list < last; list++) {
        int64_t begin = job->start[list], end = job->start[list + 1];
        uint64_t mask = (uint64_t)slots_for(end - begin, job->n_items) - 1;
        for (int64_t r = begin; r < end; r++) {
            int32_t item = job->item[job->row[r]];
            uint64_t at = ((uint64_t)item * 0x9E3779B97F4A7C15u) >> 32 & mask;
            while (slots[at].list == (uint32_t)list + 1 && slots[at].item != item) at = (at + 1) & mask;
            if (slots[at].list != (uint32_t)list + 1) slots[at] = (Slot){item, next++, (uint32_t)list + 1};
            job->number[job->row[r]] = slots[at].number;
        }
    }
    job->distinct[part] = next;
}

static void shift_part(void *given, int64_t part, int64_t thread) {
    Numbering *job = given;
    int64_t end = job->start[query_edge(job->start, job->lists, part + 1, job->parts)];
    (void)thread;
    for (int64_t r = job->start[query_edge(job->start, job->lists, part, job->parts)]; r < end; r++)
        job->number[job->row[r]] += (int32_t)job->distinct[part];
}

/* A number for each row, the same for the same list and item: 0, 1, 2, ... from list to list, and within a list by where
 * an item comes first. Returns how many there are. The rows of a list are row[start[list]] to before
 * row[start[list + 1]]; there are fewer than 2^32 - 1 lists, and fewer than 2^31 rows and items. */
KERNEL int64_t number_pairs(const int64_t *start, int64_t lists, const int32_t *row, const int32_t *item, int64_t n_items,
                            int64_t threads, int32_t *number) {
    Numbering job = {start, row, item, lists, n_items, parts_of(start[lists], threads), 16, NULL, NULL, number};
    int64_t result = OUT_OF_MEMORY;
    for (int64_t list = 0; list < lists; list++)
        if (start[list + 1] - start[list] > job.size / 2) job.size = slots_for(start[list + 1] - start[list], n_items);
    job.slots = calloc((size_t)(job.size * least(threads, job.parts)), sizeof *job.slots);
    job.distinct = calloc((size_t)job.parts, sizeof *job.distinct);
    if (job.slots && job.distinct) {
        share(job.parts, threads, number_part, &job);
        result = 0;
        for (int64_t part = 0; part < job.parts; part++) {
            int64_t here = job.distinct[part];
            job.distinct[part] = result;
            result += here;
        }
        if (job.parts > 1) share(job.parts, threads, shift_part, &job);
    }
    free(job.slots), free(job.distinct);
    return result;
}

/* ---- cooccurrence: how many lists two items share -------------------------------------------------------------------- */

typedef struct {
    const int32_t *item, *last, *row;
    const int64_t *of_item;
    int64_t n_items, parts;
    int32_t *count, *touched; /* of each thread and item: lists shared with the item at hand; the items that share any */
    int64_t *start;
    int32_t *near, *lists;
} Sharing;

static int rising(const void *one, const void *other) {
    int32_t a = *(const int32_t *)one, b = *(const int32_t *)other;
    return (a > b) - (a < b);
}

/* The neighbours of some items: how many each item has, or, where there is room for them, what they are. */
static void sharing_part(void *given, int64_t part, int64_t thread) {
    Sharing *job = given;
    int32_t *R count = job->count + job->n_items * thread, *R touched = job->touched + job->n_items * thread;
    int64_t last = query_edge(job->of_item, job->n_items, part + 1, job->parts);
    for (int64_t item = query_edge(job->of_item, job->n_items, part, job->parts); item < last; item++) {
        int64_t n = 0;
        for (int64_t r = job->of_item[item]; r < job->of_item[item + 1]; r++)
            for (int64_t at = job->row[r] + 1; at < job->last[job->row[r]]; at++)
                if (!count[job->item[at]]++) touched[n++] = job->item[at];
        if (!job->near) job->start[item] = n;
        else if (16 * n > job->n_items - item) { /* then to go through all items is faster than to sort */
            n = 0;
            for (int64_t near = item + 1; near < job->n_items; near++)
                if (count[near]) touched[n++] = (int32_t)near;
        } else qsort(touched, (size_t)n, sizeof *touched, rising);
        for (int64_t at = 0; at < n; at++) {
            if (job->near) job->near[job->start[item] + at] = touched[at];
            if (job->near) job->lists[job->start[item] + at] = count[touched[at]];
            count[touched[at]] = 0;
        }
    }
}

/* For each item the higher items that share lists with it, rising, in near, and how many lists, from start[item] on. The
 * items of a list rise, and last has for each row where its list ends; row has the rows of each item, from of_item[item]
 * on. Without near (NULL) start gets the number of such items for each item. */
KERNEL int64_t cooccurrence(const int32_t *item, const int32_t *last, const int64_t *of_item, const int32_t *row,
                            int64_t n_items, int64_t threads, int64_t *start, int32_t *near, int32_t *lists) {
    Sharing job = {item, last, row, of_item, n_items, parts_of(of_item[n_items], threads), NULL, NULL, start, near, lists};
    size_t room = (size_t)(n_items * least(threads, job.parts));
    job.count = calloc(room, sizeof *job.count), job.touched = malloc(room * sizeof *job.touched);
    int64_t result = job.count && job.touched ? 0 : OUT_OF_MEMORY;
    if (!result) share(job.parts, threads, sharing_part, &job);
    free(job.count), free(job.touched);
    return result;
}

typedef struct {
    const int64_t *start, *one, *other;
    const int32_t *near, *lists;
    int64_t rows, parts, *out;
} Shared;

static void shared_part(void *given, int64_t part, int64_t thread) {
    Shared *job = given;
    int64_t last = edge_of(job->rows, part + 1, job->parts);
    (void)thread;
    for (int64_t r = edge_of(job->rows, part, job->parts); r < last; r++) {
        int64_t one = job->one[r], other = job->other[r], item = least(one, other), high = one + other - item;
        int64_t low = job->start[item], end = job->start[item + 1];
        while (low < end) { /* the first neighbour that is not below the other item */
            int64_t middle = low + (end - low) / 2;
            if (job->near[middle] < high) low = middle + 1;
            else end = middle;
        }
        job->out[r] = low < job->start[item + 1] && job->near[low] == high ? job->lists[low] : 0;
    }
}

/* How many lists two items share, pair by pair: what cooccurrence has found. */
KERNEL int64_t shared(const int64_t *start, const int32_t *near, const int32_t *lists, const int64_t *one,
                      const int64_t *other, int64_t rows, int64_t threads, int64_t *out) {
    Shared job = {start, one, other, near, lists, rows, parts_of(rows, threads), out};
    share(job.parts, threads, shared_part, &job);
    return 0;
}
