/* One exchange of units between two cells of a stratum: which cells, and what it is worth. */

#ifndef TABPROTECT_EXCHANGE_STEPS_H
#define TABPROTECT_EXCHANGE_STEPS_H

#include "../extension.h"

/* The cells of one stratum that are not empty, and where each stands in that list. */
typedef struct {
    int64_t *cell, *at, number;
} Filled;

INLINE void emptied(Filled *f, int64_t cell)
{
    int64_t last = f->cell[--f->number];
    f->cell[f->at[cell]] = last;
    f->at[last] = f->at[cell];
}

INLINE void filled_now(Filled *f, int64_t cell)
{
    f->at[cell] = f->number;
    f->cell[f->number++] = cell;
}

/* The cells p and q of a pair that lose a unit, then those that get one. */
INLINE void four_cells(int64_t p, int64_t q, int64_t columns, int64_t *four)
{
    four[0] = p, four[1] = q;
    four[2] = p / columns * columns + q % columns;
    four[3] = q / columns * columns + p % columns;
}

/* Whether the pair differs in both, and nobody comes where nobody can be. */
INLINE int differing(const int64_t *four, const uint8_t *closed)
{
    return four[2] != four[0] && four[2] != four[1] && !closed[four[2]] && !closed[four[3]];
}

/* The worth of what comes of a step beside what is there. */
INLINE double worth_of(const Filled *f, const int64_t *now, const int64_t *four, double theta)
{
    int64_t p = four[0], q = four[1], r = four[2], s = four[3], m = f->number;
    int64_t then = m - (now[p] == 1) - (now[q] == 1) + (now[r] == 0) + (now[s] == 0);
    double share = (double)m / (double)then, worth = share * share;
    if (theta != 0.0) {
        double odds = (double)now[p] * (double)now[q] / ((double)(now[r] + 1) * (double)(now[s] + 1));
        worth *= theta == 1.0 ? odds : pow(odds, theta);
    }
    return worth;
}

/* A unit leaves each of the first two cells for one of the others. */
INLINE void moved(Filled *f, int64_t *now, int64_t p, int64_t q, int64_t r, int64_t s)
{
    if (!--now[p])
        emptied(f, p);
    if (!--now[q])
        emptied(f, q);
    if (!now[r]++)
        filled_now(f, r);
    if (!now[s]++)
        filled_now(f, s);
}

#endif
