/* The compiled core of atkay: arrays in, arrays out. C11 and the operating system's threads, nothing else.
 *
 * A kernel knows no metric and no protocol. Each has a twin of the same name in core/reference.py, in a few lines of
 * NumPy, which says what it computes; tests hold the two against each other, bit by bit.
 *
 * Lists are rows of one query after the other: those of query q are rows start[q] to before start[q + 1]. A kernel is
 * called once per stage and shares its work among threads by itself. What a thread writes depends on its part of the
 * rows alone, and parts are put together in their order: results do not depend on the number of threads.
 * A kernel that needs memory of its own returns OUT_OF_MEMORY where there is none.
 */
#ifndef ATKAY_KERNELS_H
#define ATKAY_KERNELS_H

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#if defined(_WIN32)
#define KERNEL __declspec(dllexport)
#else
#define KERNEL __attribute__((visibility("default")))
#endif
#define INLINE static inline __attribute__((always_inline))
#define R restrict

#define OUT_OF_MEMORY (-1)

typedef void (*Work)(void *job, int64_t part, int64_t thread);

/* Do parts 0 to parts - 1 of a job, on so many threads at most; each takes the next part when it is done with one. */
void share(int64_t parts, int64_t threads, Work work, void *job);

/* How many parts to make of so many rows: a few for each thread, and none that is not worth a thread. */
int64_t parts_of(int64_t rows, int64_t threads);

/* Where part p of the rows begins. */
INLINE int64_t edge_of(int64_t rows, int64_t part, int64_t parts) {
    return rows / parts * part + rows % parts * part / parts;
}

/* The first query of part p, where parts have about the same number of rows. */
int64_t query_edge(const int64_t *start, int64_t queries, int64_t part, int64_t parts);

/* A column, or a chunk of one, where it lies. Text is Arrow's: views of 16 bytes and the addresses of their buffers, or
 * letters and where each text begins. */
typedef struct {
    int64_t kind, rows;
    const void *data, *more;
} Chunk;

enum { KIND_INT32, KIND_INT64, KIND_FLOAT32, KIND_FLOAT64, KIND_VIEWS, KIND_LARGE_TEXT, KIND_TEXT };

/* At least one row of a chunk, from begin on; first is the number of that row in the column. */
typedef struct {
    const Chunk *chunk;
    int64_t begin, rows, first;
} Piece;

/* Cut a column into pieces that are worth a thread, unless its chunks are smaller; NULL where there is no memory. */
Piece *pieces_of(const Chunk *chunks, int64_t n_chunks, int64_t threads, int64_t *pieces);

/* How a job begins that does a column piece by piece. Where it looks for rows, a piece writes their numbers to row, from
 * row[piece.first] on, and how many there are to found[part]. */
typedef struct {
    Piece *pieces;
    int64_t parts, *row, *found;
} Pieces;

/* Do every piece of a column. Where it is looked for rows, these are moved together in row; returns how many. */
int64_t each_piece(const Chunk *chunks, int64_t n_chunks, int64_t threads, Work work, Pieces *job);

/* Memory for rows, in large pages where the system has them: to touch small ones for the first time takes long. */
void *rows_memory(size_t bytes);

/* Give back the part of such memory, bytes long in all, that lies between two places, and is not needed any more: the next
 * call goes on where this one ends. What is in it is lost. */
void give_back(void *memory, size_t bytes, size_t from, size_t to);

INLINE int64_t least(int64_t one, int64_t other) { return one < other ? one : other; }

/* The finishing steps of splitmix64: every bit of the input moves about half the bits of the output. */
INLINE uint64_t mix(uint64_t bits) {
    bits += 0x9E3779B97F4A7C15u;
    bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9u;
    bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EBu;
    return bits ^ (bits >> 31);
}

/* Unsigned integers in the opposite order of the scores: the best score is the least deep; -0 is as deep as 0. */
INLINE uint64_t depth_f64(double score) {
    uint64_t bits;
    score += 0.0;
    memcpy(&bits, &score, 8);
    return bits >> 63 ? bits : ~(bits | (uint64_t)1 << 63);
}
INLINE uint64_t depth_i64(int64_t score) { return ~((uint64_t)score ^ (uint64_t)1 << 63); }
INLINE uint64_t depth_u64(uint64_t score) { return ~score; }

#endif
