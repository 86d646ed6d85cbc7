#ifndef SAMPLE_H
#define SAMPLE_H

#include <stddef.h>

/* A sample: any number of values, in the order in which they were added. */

typedef struct {
    double *values; /* the first `count` of them are valid; NULL when nothing was ever added */
    size_t count;
    size_t room; /* how many values fit before the array must grow */
} sample;

/* An empty sample. */
void sample_init(sample *s);

/* Free what the sample holds and make it empty again. */
void sample_free(sample *s);

/* Add a value at the end. Returns 0, or -1 when there is no memory; the sample is then as it was before. */
int sample_add(sample *s, double value);

/* The arithmetic mean. The mean of an empty sample is 0. */
double sample_mean(const sample *s);

/* The sample standard deviation: the root of the sum of squared distances from the mean over count - 1.
   It is 0 when there are fewer than two values. */
double sample_deviation(const sample *s);

/* The middle value in order of size; of an even number of values the mean of the middle two; 0 of an empty sample.
   The order of the sample's values does not change. Returns 0, or -1 when there is no memory. */
int sample_median(const sample *s, double *median);

#endif
