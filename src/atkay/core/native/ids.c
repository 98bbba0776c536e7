/* Ids: how far they reach, and where they change. */
#include "kernels.h"

#define IDS_AT_ONCE 32   /* mostly none of so many differs */
#define ROWS_AT_ONCE 4096 /* then it is seen whether another thread has the answer */

typedef struct {
    Pieces of;
    int64_t (*ends)[2];
    const uint8_t *marked;
    uint8_t *marks;
    int64_t low, size;
    const int32_t *lookup;
    int32_t *codes;
    int64_t total;
} Ids;

#define ID int32_t
#define NAMED(name) name##_i32
#include "ids_of.h"
#undef ID
#undef NAMED
#define ID int64_t
#define NAMED(name) name##_i64
#include "ids_of.h"
