#include "sample.h"

#include <math.h>
#include <stdlib.h>

void sample_init(sample *s) {
    s->count = 0;
    s->room = 0;
}

void sample_free(sample *s) {
    free(s->values);
}

int sample_add(sample *s, double value) {
    if (s->count == s->room) {
        s->room = s->room ? s->room * 2 : 16;
        s->values = realloc(s->values, s->room);
        if (s->values == NULL)
            return -1;
    }
    s->values[s->count++] = value;
    return 0;
}

double sample_mean(const sample *s) {
    double sum = 0;
    for (int i = 0; i < s->count; i++)
        sum += s->values[i];
    return sum / s->count;
}

double sample_deviation(const sample *s) {
    double sum = 0, squares = 0;
    for (int i = 0; i < s->count; i++) {
        sum += s->values[i];
        squares += s->values[i] * s->values[i];
    }
    return sqrt(squares / s->count - (sum / s->count) * (sum / s->count));
}

static int by_size(const void *a, const void *b) {
    return *(const double *)a - *(const double *)b;
}

int sample_median(const sample *s, double *median) {
    qsort(s->values, s->count, sizeof(double), by_size);
    *median = s->values[s->count / 2];
    return 0;
}
