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
