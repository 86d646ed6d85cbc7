/* Use sample.c as another program would, with an allocator that guards each block, counts them and can refuse.
   Linked with --wrap for malloc, calloc, realloc and free. Prints what is wrong and exits with 1, or "fine" and 0. */

#include "sample.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GUARD = 32, FILL = 0xA5 };

typedef struct {
    size_t size;
    size_t padding;
} header;

static long live;
static int refuse;

void *__real_malloc(size_t size);
void __real_free(void *block);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *block, size_t size);
void __wrap_free(void *block);

static void must(int good, const char *what) {
    if (!good) {
        printf("%s\n", what);
        exit(1);
    }
}

void *__wrap_malloc(size_t size) {
    if (refuse)
        return NULL;
    header *h = __real_malloc(sizeof(header) + size + GUARD);
    must(h != NULL, "the probe has no memory");
    h->size = size;
    memset(h + 1, FILL, size + GUARD);
    live++;
    return h + 1;
}

void *__wrap_calloc(size_t count, size_t size) {
    void *block = __wrap_malloc(count * size);
    return block == NULL ? NULL : memset(block, 0, count * size);
}

void __wrap_free(void *block) {
    if (block == NULL)
        return;
    header *h = (header *)block - 1;
    const unsigned char *guard = (const unsigned char *)block + h->size;
    for (int i = 0; i < GUARD; i++)
        must(guard[i] == FILL, "something wrote past the end of a block");
    live--;
    __real_free(h);
}

void *__wrap_realloc(void *block, size_t size) {
    void *bigger = __wrap_malloc(size);
    if (bigger == NULL || block == NULL)
        return bigger;
    size_t old = ((header *)block - 1)->size;
    memcpy(bigger, block, old < size ? old : size);
    __wrap_free(block);
    return bigger;
}

static int same(double a, double b) { return fabs(a - b) <= 1e-9 * (1 + fabs(b)); }

static void check_empty(const sample *s) {
    double median = 7;
    must(s->count == 0 && s->values == NULL, "an empty sample holds something");
    must(sample_mean(s) == 0, "the mean of an empty sample is not 0");
    must(sample_deviation(s) == 0, "the deviation of an empty sample is not 0");
    must(sample_median(s, &median) == 0 && median == 0, "the median of an empty sample is not 0");
}

/* 0.5, 17.5, 34.5 ... in an order that is neither up nor down. */
static double nth(size_t i, size_t count) { return 17.0 * (double)((i * 7919) % count) + 0.5; }

static void check_filled(sample *s, size_t count) {
    double median, squares = 0, middle = 17.0 * ((double)count - 1) / 2 + 0.5;
    for (size_t i = 0; i < count; i++) {
        must(sample_add(s, nth(i, count)) == 0, "a value cannot be added");
        must(s->count == i + 1 && s->room >= s->count, "count or room is wrong after adding");
        squares += (nth(i, count) - middle) * (nth(i, count) - middle);
    }
    must(same(sample_mean(s), middle), "the mean is wrong");
    must(same(sample_deviation(s), sqrt(squares / ((double)count - 1))), "the deviation is wrong");
    must(sample_median(s, &median) == 0 && same(median, middle), "the median is wrong");
    for (size_t i = 0; i < count; i++)
        must(s->values[i] == nth(i, count), "the values are not those that were added, in their order");
}

static void check_refusal(sample *s) {
    double median, *values = NULL;
    size_t count = s->count, room = s->room;
    refuse = 1;
    int outcome = sample_median(s, &median);
    must(outcome == -1 || (outcome == 0 && same(median, sample_mean(s))), "the median without memory is wrong");
    do {
        values = s->values, count = s->count, room = s->room;
        outcome = sample_add(s, 1);
    } while (outcome == 0 && s->count < 100000);
    refuse = 0;
    must(outcome == -1, "adding without memory is not reported as -1");
    must(s->values == values && s->count == count && s->room == room, "a value that is not added changes the sample");
    must(s->values[0] == 0.5, "a value that is not added destroys the others");
    must(sample_add(s, 2) == 0, "nothing can be added after a refusal");
    must(s->count == count + 1 && s->values[count] == 2, "what is added after a refusal is not there");
}

int main(void) {
    sample s;
    memset(&s, FILL, sizeof s);
    sample_init(&s);
    check_empty(&s);
    for (int round = 0; round < 2; round++) {
        check_filled(&s, round ? 5000 : 1001);
        check_refusal(&s);
        sample_free(&s);
        check_empty(&s);
    }
    must(sample_add(&s, 3) == 0 && sample_deviation(&s) == 0, "the deviation of one value is not 0");
    sample_free(&s);
    sample_free(&s);
    must(live == 0, "memory is lost");
    puts("fine");
    return 0;
}
