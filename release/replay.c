/* Replay: make the calls of kernels that record.py has written, and compare what they return and write, bit by bit.
 *
 *     replay libkernels.so calls
 */
#if defined(_WIN32)
#define WIN32_LEAN_AND_MEAN
#include <windows.h>
#define dlopen(path, mode) ((void *)LoadLibraryA(path))
#define dlsym(library, name) ((void *)GetProcAddress((HMODULE)(library), name))
#define dlerror() "LoadLibrary fails"
#else
#include <dlfcn.h>
#endif
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_ARGUMENTS 24

static int64_t read_number(FILE *file) {
    int64_t number;
    if (fread(&number, sizeof number, 1, file) != 1) exit(3);
    return number;
}

static char *read_bytes(FILE *file, int64_t size) {
    char *bytes = malloc(size ? (size_t)size : 1);
    if (!bytes || fread(bytes, 1, (size_t)size, file) != (size_t)size) exit(3);
    return bytes;
}

/* A column as kernels take it: of each chunk its type, its rows, its address, and another one that numbers do not have. */
static char *read_column(FILE *file, int64_t chunks) {
    int64_t *column = calloc((size_t)(4 * chunks + 1), sizeof *column);
    for (int64_t chunk = 0; column && chunk < chunks; chunk++) {
        column[4 * chunk] = read_number(file), column[4 * chunk + 1] = read_number(file);
        column[4 * chunk + 2] = (int64_t)(intptr_t)read_bytes(file, read_number(file));
    }
    return (char *)column;
}

static void free_column(char *column, int64_t chunks) {
    for (int64_t chunk = 0; chunk < chunks; chunk++) free((void *)(intptr_t)((int64_t *)column)[4 * chunk + 2]);
}

static int64_t call(void *kernel, int64_t *a) {
    int64_t (*of)(int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t,
                  int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t,
                  int64_t, int64_t);
    memcpy(&of, &kernel, sizeof of); /* arguments that a kernel does not take are left alone by it */
    return of(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11], a[12], a[13], a[14], a[15],
              a[16], a[17], a[18], a[19], a[20], a[21], a[22], a[23]);
}

int main(int count, char **words) {
    void *library = count == 3 ? dlopen(words[1], RTLD_NOW) : NULL;
    FILE *file = count == 3 ? fopen(words[2], "rb") : NULL;
    char name[32];
    int64_t calls = 0, wrong = 0;
    if (!library || !file) return fprintf(stderr, "cannot open: %s\n", library ? words[2] : dlerror()), 2;
    for (; fread(name, sizeof name, 1, file) == 1; calls++) {
        int64_t n = read_number(file), result = read_number(file), argument[MOST_ARGUMENTS] = {0}, size[MOST_ARGUMENTS];
        char *array[MOST_ARGUMENTS] = {0}, *after[MOST_ARGUMENTS] = {0}, *column[MOST_ARGUMENTS] = {0};
        void *kernel = dlsym(library, name);
        if (!kernel || n > MOST_ARGUMENTS) return fprintf(stderr, "cannot call %s\n", name), 2;
        for (int64_t k = 0; k < n; k++) {
            int64_t is_array = read_number(file);
            argument[k] = size[k] = read_number(file);
            if (!is_array) continue;
            if (is_array == 2) {
                column[k] = read_column(file, size[k]);
                argument[k] = (int64_t)(intptr_t)column[k];
                continue;
            }
            array[k] = read_bytes(file, size[k]), after[k] = read_bytes(file, size[k]);
            argument[k] = (int64_t)(intptr_t)array[k];
        }
        int same = call(kernel, argument) == result;
        for (int64_t k = 0; k < n; k++) {
            same &= !array[k] || !memcmp(array[k], after[k], (size_t)size[k]);
            if (column[k]) free_column(column[k], size[k]);
            free(array[k]), free(after[k]), free(column[k]);
        }
        if (!same) wrong++, printf("call %lld, of %s, gives something else\n", (long long)calls, name);
    }
    printf("%lld calls, %lld wrong\n", (long long)calls, (long long)wrong);
    return wrong || !calls;
}
