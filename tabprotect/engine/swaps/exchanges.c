/* Pairs of records exchanged one after the other: see swap_plan.py. */

#include "../extension.h"

/* Whether a count is small before or after it changes by one. */
INLINE int small_beside(int64_t count, int64_t change, int64_t most)
{
    int64_t then = count + change;
    return (count >= 1 && count <= most) || (then >= 1 && then <= most);
}

/* Parameters: the sizes (pairs, records of a copy, units, kinds, tables, the largest small count); the
 * chances where counts are small and elsewhere; then pairs, what was drawn for each, the kind of each
 * record, the unit of each place, the category of each kind in each table, where the counts of each table
 * start and their categories; then the place of each record and the counts, both of which change. */
static PyObject *exchange(PyObject *module, PyObject *args)
{
    PyObject *given[9];
    Arrays a = {.held = 0};
    long long number, records, units, kinds, tables, most;
    double hi, lo;
    (void)module;
    if (!PyArg_ParseTuple(args, "(LLLLLL)(dd)OOOOOOOOO", &number, &records, &units, &kinds, &tables,
                          &most, &hi, &lo, &given[0], &given[1], &given[2], &given[3], &given[4],
                          &given[5], &given[6], &given[7], &given[8]))
        return NULL;
    if (hold(&a, given, 9, 1 << 7 | 1 << 8)) {
        const int64_t *pairs = a.view[0].buf;
        const double *drawn = a.view[1].buf;
        const int64_t *kind = a.view[2].buf, *unit = a.view[3].buf, *target = a.view[4].buf;
        const int64_t *starts = a.view[5].buf, *sizes = a.view[6].buf;
        int64_t *place = a.view[7].buf, *counts = a.view[8].buf;
        const double highest = hi > lo ? hi : lo;
        Py_BEGIN_ALLOW_THREADS
        for (int64_t p = 0; p < number; p++) {
            int64_t i = pairs[2 * p], j = pairs[2 * p + 1];
            int64_t g = unit[place[i]], h = unit[place[j]];
            int small = 0;
            if (g == h || drawn[p] >= highest)
                continue;
            g += i / records * units;
            h += i / records * units;
            for (int64_t t = 0; t < tables && !small; t++) {
                const int64_t *of = target + t * kinds, *table = counts + starts[t];
                int64_t first = of[kind[i]], second = of[kind[j]];
                const int64_t *in_g = table + g * sizes[t], *in_h = table + h * sizes[t];
                int64_t one = first != second;
                small = small_beside(in_g[first], -one, most) || small_beside(in_h[second], -one, most)
                        || small_beside(in_h[first], one, most) || small_beside(in_g[second], one, most);
            }
            if (drawn[p] >= (small ? hi : lo))
                continue;
            int64_t moved = place[i];
            place[i] = place[j];
            place[j] = moved;
            for (int64_t t = 0; t < tables; t++) {
                const int64_t *of = target + t * kinds;
                int64_t *table = counts + starts[t], first = of[kind[i]], second = of[kind[j]];
                table[g * sizes[t] + first]--;
                table[h * sizes[t] + second]--;
                table[h * sizes[t] + first]++;
                table[g * sizes[t] + second]++;
            }
        }
        Py_END_ALLOW_THREADS
    }
    return all_let_go(&a);
}

static PyMethodDef methods[] = {
    {"exchange", exchange, METH_VARARGS, "Pairs exchanged in order: see swap_plan.py."},
    {NULL, NULL, 0, NULL},
};

MODULE(exchanges, methods)
