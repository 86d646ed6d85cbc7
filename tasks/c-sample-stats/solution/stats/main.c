/* stats: read numbers, print how many there are, their mean, standard deviation and median.

   Numbers are separated by white space of any amount, line ends included, and written as strtod reads them. The output
   is four lines, "count 3", "mean 2.000", "deviation 1.000" and "median 2.000", each figure with three decimals; without
   any number it is "count 0" alone. The exit status is 0.

   A word that is not wholly a finite number stops the program: it prints `stats: not a number: WORD` to standard error,
   nothing to standard output, and exits with 1. When there is no memory it exits with 2. Words longer than 63 characters
   are never numbers; of those the first 63 characters are printed. */

#include "sample.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define LONGEST 63

/* The next word, cut after LONGEST characters: its whole length, 0 at the end of the input. */
static size_t next_word(char word[LONGEST + 1]) {
    size_t length = 0;
    int c = getchar();
    while (c != EOF && isspace(c))
        c = getchar();
    for (; c != EOF && !isspace(c); c = getchar()) {
        if (length < LONGEST)
            word[length] = (char)c;
        length++;
    }
    word[length < LONGEST ? length : LONGEST] = '\0';
    return length;
}

/* Whether the word, of that whole length, is a finite number. */
static int is_number(const char *word, size_t length, double *value) {
    char *end;
    *value = strtod(word, &end);
    return length <= LONGEST && end == word + length && isfinite(*value);
}

int main(void) {
    sample s;
    char word[LONGEST + 1];
    double value, median;
    size_t length;

    sample_init(&s);
    while ((length = next_word(word)) > 0) {
        if (!is_number(word, length, &value)) {
            fprintf(stderr, "stats: not a number: %s\n", word);
            return 1;
        }
        if (sample_add(&s, value) != 0)
            return 2;
    }
    if (sample_median(&s, &median) != 0)
        return 2;
    printf("count %zu\n", s.count);
    if (s.count > 0) {
        printf("mean %.3f\n", sample_mean(&s));
        printf("deviation %.3f\n", sample_deviation(&s));
        printf("median %.3f\n", median);
    }
    sample_free(&s);
    return 0;
}
