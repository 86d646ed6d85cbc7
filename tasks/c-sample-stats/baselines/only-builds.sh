#!/bin/sh
# Do what the compiler asks for and no more: it builds without a warning, and computes what it always has.
cd /app/stats || exit
sed -i '1i #include <stddef.h>' sample.h
sed -i '1i #include <stdlib.h>' main.c
sed -i 's/"count %d/"count %zu/' main.c
sed -i 's/int i = 0/size_t i = 0/' sample.c
sed -i -e 's/^stats: main.o/& sample.o/' -e 's/-o stats main.o/& sample.o -lm/' Makefile
sed -i 's/rm -f stats/& main.o sample.o/' Makefile
make
