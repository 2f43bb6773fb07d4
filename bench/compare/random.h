/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Reproducible random numbers: a comparison must not depend on when it is made. */
#ifndef POVBENCH_COMPARE_RANDOM_H
#define POVBENCH_COMPARE_RANDOM_H

#include <math.h>
#include <stdint.h>

/* SplitMix64 (Steele, Lea, Flood 2014); the state is any number. */
static inline uint64_t random_next(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

/* Uniform in 0 … 1, without 1. */
static inline double random_unit(uint64_t *state)
{
	return (double)(random_next(state) >> 11) * 0x1p-53;
}

/* Normal distribution with mean 0 and standard deviation 1 (Box and Muller). */
static inline double random_normal(uint64_t *state)
{
	double radius = sqrt(-2 * log(1 - random_unit(state)));

	return radius * cos(2 * M_PI * random_unit(state));
}

#endif
