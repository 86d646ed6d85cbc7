#include "sample.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

void sample_init(sample *s) {
    s->values = NULL;
    s->count = 0;
    s->room = 0;
}

void sample_free(sample *s) {
    free(s->values);
    sample_init(s);
}

int sample_add(sample *s, double value) {
    if (s->count == s->room) {
        if (s->room > SIZE_MAX / sizeof(double) / 2)
            return -1;
        size_t room = s->room ? s->room * 2 : 16;
        double *values = realloc(s->values, room * sizeof(double));
        if (values == NULL)
            return -1;
        s->values = values;
        s->room = room;
    }
    s->values[s->count++] = value;
    return 0;
}

double sample_mean(const sample *s) {
    if (s->count == 0)
        return 0;
    double sum = 0;
    for (size_t i = 0; i < s->count; i++)
        sum += s->values[i];
    return sum / (double)s->count;
}

double sample_deviation(const sample *s) {
    if (s->count < 2)
        return 0;
    double mean = sample_mean(s), squares = 0;
    for (size_t i = 0; i < s->count; i++)
        squares += (s->values[i] - mean) * (s->values[i] - mean);
    return sqrt(squares / (double)(s->count - 1));
}

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int sample_median(const sample *s, double *median) {
    *median = 0;
    if (s->count == 0)
        return 0;
    double *ordered = malloc(s->count * sizeof(double));
    if (ordered == NULL)
        return -1;
    memcpy(ordered, s->values, s->count * sizeof(double));
    qsort(ordered, s->count, sizeof(double), by_size);
    size_t middle = s->count / 2;
    *median = s->count % 2 ? ordered[middle] : (ordered[middle - 1] + ordered[middle]) / 2;
    free(ordered);
    return 0;
}
