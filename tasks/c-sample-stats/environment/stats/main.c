/* stats: read numbers, print how many there are, their mean, standard deviation and median.

   Numbers are separated by white space of any amount, line ends included, and written as strtod reads them. The output
   is four lines, "count 3", "mean 2.000", "deviation 1.000" and "median 2.000", each figure with three decimals; without
   any number it is "count 0" alone. The exit status is 0.

   A word that is not wholly a finite number stops the program: it prints `stats: not a number: WORD` to standard error,
   nothing to standard output, and exits with 1. When there is no memory it exits with 2. Words longer than 63 characters
   are never numbers; of those the first 63 characters are printed. */

#include "sample.h"

#include <stdio.h>
#include <string.h>

int main(void) {
    sample s;
    char word[64];
    double median;

    sample_init(&s);
    while (scanf("%s", word) == 1) {
        char *end;
        double value = strtod(word, &end);
        if (end == word) {
            printf("stats: not a number: %s\n", word);
            return 1;
        }
        if (sample_add(&s, value) == -1)
            return 2;
    }
    sample_median(&s, &median);
    printf("count %d\n", s.count);
    printf("mean %.2f\n", sample_mean(&s));
    printf("deviation %.2f\n", sample_deviation(&s));
    printf("median %.2f\n", median);
}
