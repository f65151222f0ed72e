/* Pairs of records, and units of cells, exchanged one after the other: see swap_plan.py, exchange_plan.py. */

#include "exchange_steps.h"

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

/* One step in a stratum; its four cells where it is taken. No step leads where nobody can be. */
static int stepped(Filled *f, int64_t *now, const uint8_t *closed, int64_t columns, double theta,
                   const double *drawn, int64_t *four)
{
    int64_t m = f->number, first = (int64_t)(drawn[0] * (double)m), second = (int64_t)(drawn[1] * (double)m);
    four_cells(f->cell[first < m ? first : m - 1], f->cell[second < m ? second : m - 1], columns, four);
    if (!differing(four, closed) || drawn[2] >= worth_of(f, now, four, theta))
        return 0;
    moved(f, now, four[0], four[1], four[2], four[3]);
    return 1;
}

/* What all steps did to each cell, when it is met last; backwards they are undone. */
static int64_t undone(int64_t *now, int64_t *by_cell, const int64_t *touched, int64_t seen, int64_t first,
                      int64_t copy, int64_t *const out[3], int64_t written)
{
    for (int64_t k = 0; k < seen; k++)
        by_cell[touched[k]] = 0;
    for (int64_t k = 0; k < seen; k++)
        by_cell[touched[k]] += k % 4 < 2 ? -1 : 1;
    for (int64_t k = 0; k < seen; k++) {
        int64_t cell = touched[k], change = by_cell[cell];
        if (!change)
            continue;
        out[0][written] = first + cell;
        out[1][written] = change;
        out[2][written++] = copy;
        now[cell] -= change;
        by_cell[cell] = 0;
    }
    return written;
}

/* Parameters: the sizes (copies, strata, rows, columns), theta; the cells in which nobody can be, where the
 * steps of each stratum start, three random numbers for each step of each copy, the counts (which are
 * restored), room for the cells that are not empty and for where they stand, twice each, and for those that
 * are touched; then, stratum by stratum, the cells that changed, by how much, and in which copy; and how
 * many of these there are. */
static PyObject *steps(PyObject *module, PyObject *args)
{
    PyObject *given[11];
    Arrays a = {.held = 0};
    long long copies, strata, rows, columns;
    double theta;
    (void)module;
    if (!PyArg_ParseTuple(args, "(LLLL)dOOOOOOOOOOO", &copies, &strata, &rows, &columns, &theta, &given[0],
                          &given[1], &given[2], &given[3], &given[4], &given[5], &given[6], &given[7],
                          &given[8], &given[9], &given[10]))
        return NULL;
    if (hold(&a, given, 11, 0x7F8)) {
        const uint8_t *closed = a.view[0].buf;
        const int64_t *starts = a.view[1].buf;
        const double *drawn = a.view[2].buf;
        int64_t *counts = a.view[3].buf, size = rows * columns, written = 0;
        int64_t *cells = a.view[4].buf, *at = a.view[5].buf, *touched = a.view[6].buf;
        int64_t *const out[3] = {a.view[7].buf, a.view[8].buf, a.view[9].buf};
        Py_BEGIN_ALLOW_THREADS
        for (int64_t w = 0; w < strata; w++) {
            int64_t *now = counts + w * size;
            Filled all = {cells + size, at + size, 0};
            if (starts[w] == starts[w + 1])
                continue;
            for (int64_t k = 0; k < size; k++)
                if (now[k])
                    filled_now(&all, k);
            for (int64_t c = 0; c < copies; c++) {
                Filled f = {cells, at, all.number};
                int64_t seen = 0;
                memcpy(cells, all.cell, (size_t)all.number * sizeof *cells);
                memcpy(at, all.at, (size_t)size * sizeof *at);
                for (int64_t n = starts[w]; n < starts[w + 1] && f.number; n++)
                    seen += 4 * stepped(&f, now, closed + w * size, columns, theta,
                                        drawn + 3 * (c * starts[strata] + n), touched + seen);
                written = undone(now, at, touched, seen, w * size, c, out, written);
            }
        }
        *(int64_t *)a.view[10].buf = written;
        Py_END_ALLOW_THREADS
    }
    return all_let_go(&a);
}

/* Parameters: how many; where each is counted, and the numbers so far. */
static PyObject *tally(PyObject *module, PyObject *args)
{
    PyObject *given[2];
    Arrays a = {.held = 0};
    long long number;
    (void)module;
    if (!PyArg_ParseTuple(args, "LOO", &number, &given[0], &given[1]))
        return NULL;
    if (hold(&a, given, 2, 1 << 1)) {
        const int64_t *place = a.view[0].buf;
        int32_t *seen = a.view[1].buf;
        Py_BEGIN_ALLOW_THREADS
        for (int64_t k = 0; k < number; k++)
            seen[place[k]]++;
        Py_END_ALLOW_THREADS
    }
    return all_let_go(&a);
}

static PyMethodDef methods[] = {
    {"tally", tally, METH_VARARGS, "How often each change was met: see infer_exchange.py."},
    {"steps", steps, METH_VARARGS, "Units of two cells exchanged step by step: see exchange_plan.py."},
    {"exchange", exchange, METH_VARARGS, "Pairs exchanged in order: see swap_plan.py."},
    {NULL, NULL, 0, NULL},
};

MODULE(exchanges, methods)
