/* MRR@k in C, for `cc -o mrr mrr.c && atkay conform ./mrr -m mrr@5`. Equal scores stand in reverse order of their rows. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct row {
    char item[64];
    double score;
};

/* The grade of an item in {"a": 1, "b": 2}, 0 where it has none. */
static double grade_of(const char *grades, const char *item) {
    size_t length = strlen(item);
    for (const char *at = strchr(grades, '"'); at; at = strchr(at + 1, '"'))
        if (!strncmp(at + 1, item, length) && !strncmp(at + 1 + length, "\": ", 3)) return atof(at + length + 4);
    return 0;
}

static double reciprocal_rank(char *list, const char *grades, int k) {
    static struct row rows[1000];
    int n = 0;
    for (char *at = strstr(list, "[\""); at && n < 1000; at = strstr(at + 1, "[\"")) {
        sscanf(at, "[\"%63[^\"]\", %lf", rows[n].item, &rows[n].score);
        int place = n++;
        struct row row = rows[place];
        for (; place > 0 && rows[place - 1].score <= row.score; place--) rows[place] = rows[place - 1];
        rows[place] = row;
    }
    for (int rank = 1; rank <= n && rank <= k; rank++)
        if (grade_of(grades, rows[rank - 1].item) > 0) return 1.0 / rank;
    return 0;
}

int main(void) {
    static char line[1 << 20], key[100];
    while (fgets(line, sizeof line, stdin)) {
        int k = atoi(strstr(line, "\"k\": ") + 5), users = 0;
        double sum = 0;
        char *truth = strstr(line, "\"truth\": {"), *recs = strstr(line, "\"recs\": {") + 9;
        char *end = strstr(line, "\"exclude\": ");
        if (end) *end = 0;
        *(truth - 1) = 0;
        for (char *at = strchr(truth + 10, '"'); at; at = strchr(at, '"')) {
            char *open = strchr(at, '{'), *shut = strchr(open, '}'), *item = open;
            *open = *shut = 0;
            int relevant = 0;
            for (item = strstr(open + 1, "\": "); item; item = strstr(item + 1, "\": ")) relevant |= atof(item + 3) > 0;
            snprintf(key, sizeof key, "%s[[", at);
            char *list = strstr(recs, key), *stop = list ? strstr(list, "]]") : NULL;
            if (relevant) {
                users++;
                if (stop) {
                    *stop = 0;
                    sum += reciprocal_rank(list + strlen(key) - 1, open + 1, k);
                    *stop = ']';
                }
            }
            at = shut + 1;
        }
        if (users) printf("%.17g\n", sum / users); else puts("null");
    }
    return 0;
}
