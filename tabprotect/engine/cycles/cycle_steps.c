/* Cycles applied one after the other, and their layers: see forward_walk.py, layers.py, reach.py,
 * open_cycles.py, sampling.py and signatures.py, which do the same in numpy. */

#include "../extension.h"

enum { ANY_ZERO, NEGATIVE, NONE };

#define FAR 16384

/* Parameters: starts, cells, the last layer of each cell (zeros), the layer of each cycle. */
static PyObject *layer_numbers(PyObject *module, PyObject *args)
{
    PyObject *given[4];
    Arrays a = {.held = 0};
    long long cycles;
    (void)module;
    if (!PyArg_ParseTuple(args, "LOOOO", &cycles, &given[0], &given[1], &given[2], &given[3]))
        return NULL;
    if (hold(&a, given, 4, 12)) {
        const int64_t *starts = a.view[0].buf, *cells = a.view[1].buf;
        int64_t *last = a.view[2].buf, *out = a.view[3].buf;
        Py_BEGIN_ALLOW_THREADS
        for (int64_t i = 0; i < cycles; i++) {
            int64_t layer = 0;
            for (int64_t e = starts[i]; e < starts[i + 1]; e++)
                if (last[cells[e]] > layer)
                    layer = last[cells[e]];
            out[i] = layer;
            for (int64_t e = starts[i]; e < starts[i + 1]; e++)
                last[cells[e]] = layer + 1;
        }
        Py_END_ALLOW_THREADS
    }
    return all_let_go(&a);
}

/* Parameters: starts, cells, signs, then the cells that can be positive and the cycles that can be taken,
 * both of which grow. */
static PyObject *reached(PyObject *module, PyObject *args)
{
    PyObject *given[5];
    Arrays a = {.held = 0};
    long long cycles;
    (void)module;
    if (!PyArg_ParseTuple(args, "LOOOOO", &cycles, &given[0], &given[1], &given[2], &given[3],
                          &given[4]))
        return NULL;
    if (hold(&a, given, 5, 1 << 3 | 1 << 4)) {
        const int64_t *starts = a.view[0].buf, *cells = a.view[1].buf;
        const int8_t *signs = a.view[2].buf;
        uint8_t *positive = a.view[3].buf, *out = a.view[4].buf;
        Py_BEGIN_ALLOW_THREADS
        for (int64_t i = 0; i < cycles; i++) {
            uint8_t up = 1, down = 1;
            for (int64_t e = starts[i]; e < starts[i + 1]; e++)
                if (!positive[cells[e]])
                    *(signs[e] < 0 ? &up : &down) = 0;
            out[i] |= up | down;
            for (int64_t e = starts[i]; e < starts[i + 1]; e++)
                positive[cells[e]] |= signs[e] > 0 ? up : down;
        }
        Py_END_ALLOW_THREADS
    }
    return all_let_go(&a);
}

/* Parameters: whether coins add, subtract and leave; starts, cells, signs, then the least and the largest
 * count of each cell after these cycles, which become those before them, and the cycles that matter. */
static PyObject *undoable(PyObject *module, PyObject *args)
{
    PyObject *given[6];
    Arrays a = {.held = 0};
    long long cycles;
    int adds, subtracts, leaves;
    (void)module;
    if (!PyArg_ParseTuple(args, "LiiiOOOOOO", &cycles, &adds, &subtracts, &leaves, &given[0], &given[1],
                          &given[2], &given[3], &given[4], &given[5]))
        return NULL;
    if (hold(&a, given, 6, 1 << 3 | 1 << 4 | 1 << 5)) {
        const int64_t *starts = a.view[0].buf, *cells = a.view[1].buf;
        const int8_t *signs = a.view[2].buf;
        int64_t *least = a.view[3].buf, *most = a.view[4].buf;
        uint8_t *out = a.view[5].buf;
        Py_BEGIN_ALLOW_THREADS
        for (int64_t i = cycles - 1; i >= 0; i--) {
            int up = adds, down = subtracts, empty = 0, full = leaves;
            for (int64_t e = starts[i]; e < starts[i + 1]; e++) {
                int64_t c = cells[e];
                if (most[c] < 2)
                    *(signs[e] > 0 ? &up : &down) = 0;
                empty |= most[c] < 1;
                full &= least[c] > 0;
            }
            out[i] |= up || down || !(empty || full);
            for (int64_t e = starts[i]; e < starts[i + 1]; e++) {
                int64_t c = cells[e];
                most[c] += signs[e] > 0 ? down : up;
                if (least[c] > 1)
                    least[c] -= signs[e] > 0 ? up : down;
            }
        }
        Py_END_ALLOW_THREADS
    }
    return all_let_go(&a);
}

/* Parameters: starts, cells, signs, then state, coins, what was taken, what was blocked. */
static PyObject *walk(PyObject *module, PyObject *args)
{
    PyObject *given[7];
    Arrays a = {.held = 0};
    long long cycles, copies;
    int rule;
    (void)module;
    if (!PyArg_ParseTuple(args, "LLiOOOOOOO", &cycles, &copies, &rule, &given[0], &given[1],
                          &given[2], &given[3], &given[4], &given[5], &given[6]))
        return NULL;
    if (hold(&a, given, 7, 1 << 3 | 1 << 5 | 1 << 6)) {
        const int64_t *starts = a.view[0].buf, *cells = a.view[1].buf;
        const int8_t *signs = a.view[2].buf, *coins = a.view[4].buf;
        int64_t *state = a.view[3].buf;
        int8_t *effective = a.view[5].buf;
        uint8_t *blocked = a.view[6].buf;
        Py_BEGIN_ALLOW_THREADS
        for (int64_t i = 0; i < cycles; i++) {
            const int8_t *coin = coins + i * copies;
            uint8_t *stuck = blocked + i * copies;
            int8_t *take = effective + i * copies;
            memset(stuck, 0, (size_t)copies);
            for (int64_t e = starts[i]; e < starts[i + 1]; e++) {
                const int64_t *at = state + cells[e] * copies;
                if (rule == ANY_ZERO)
                    for (int64_t c = 0; c < copies; c++)
                        stuck[c] |= at[c] < 1;
                else if (rule == NEGATIVE)
                    for (int64_t c = 0; c < copies; c++)
                        stuck[c] |= at[c] + signs[e] * coin[c] < 0;
            }
            for (int64_t c = 0; c < copies; c++)
                take[c] = stuck[c] ? 0 : coin[c];
            for (int64_t e = starts[i]; e < starts[i + 1]; e++) {
                int64_t *at = state + cells[e] * copies;
                for (int64_t c = 0; c < copies; c++)
                    at[c] += signs[e] * take[c];
            }
        }
        Py_END_ALLOW_THREADS
    }
    return all_let_go(&a);
}

/* Draws that are worked on together: their counts stay near, and the compiler takes many at a time. */
#define LANES 256

typedef struct {
    double total[16], minus[16], plus[16];
} Coins;

CLONES static void smaller(int64_t lanes, const int16_t *count, int16_t *least)
{
    for (int64_t d = 0; d < lanes; d++)
        least[d] = count[d] < least[d] ? count[d] : least[d];
}

CLONES static void taken_from(int64_t lanes, int16_t sign, const int16_t *times, int16_t *count)
{
    for (int64_t d = 0; d < lanes; d++)
        count[d] = (int16_t)(count[d] - sign * times[d]);
}

/* The coefficients of one cycle in some draws, by its smallest counts on both sides. */
CLONES static void drawn(int64_t lanes, const int16_t (*low)[LANES], const Coins *coins,
                  const double *random, int16_t *coefficient)
{
    uint8_t at[LANES];
    for (int64_t d = 0; d < lanes; d++) {
        int16_t up = low[0][d] < -1 ? -1 : low[0][d] > 2 ? 2 : low[0][d];
        int16_t down = low[1][d] < -1 ? -1 : low[1][d] > 2 ? 2 : low[1][d];
        at[d] = (uint8_t)((up + 1) * 4 + down + 1);
    }
    for (int64_t d = 0; d < lanes; d++) {
        double u = random[d] * coins->total[at[d]];
        coefficient[d] = (int16_t)((u >= coins->plus[at[d]]) - (u < coins->minus[at[d]]));
    }
}

/* Parameters: the cycles of a layer, where they start, their groups and signs; masses (3, 16) of the
 * coefficients -1, 0, 1 by the smallest counts; random numbers (cycles, draws); then the sums of the
 * coefficients of each cycle and the counts of each group, both of so many draws. */
static PyObject *undo(PyObject *module, PyObject *args)
{
    PyObject *given[8];
    Arrays a = {.held = 0};
    long long cycles, entries, draws;
    (void)module;
    if (!PyArg_ParseTuple(args, "LLLOOOOOOOO", &cycles, &entries, &draws, &given[0], &given[1],
                          &given[2], &given[3], &given[4], &given[5], &given[6], &given[7]))
        return NULL;
    if (hold(&a, given, 8, 3 << 6)) {
        const int64_t *numbers = a.view[0].buf, *starts = a.view[1].buf, *groups = a.view[2].buf;
        const int16_t *signs = a.view[3].buf;
        const double *masses = a.view[4].buf, *random = a.view[5].buf;
        int16_t *walk = a.view[6].buf, *counts = a.view[7].buf;
        Coins coins;
        for (int k = 0; k < 16; k++) {
            double below = masses[k] + masses[16 + k];
            coins.minus[k] = masses[k];
            coins.total[k] = below + masses[32 + k];
            /* Without a chance of +1 no number is large enough. */
            coins.plus[k] = masses[32 + k] > 0 ? below : INFINITY;
        }
        Py_BEGIN_ALLOW_THREADS
        for (int64_t i = 0; i < cycles; i++) {
            int64_t first = starts[i], end = i + 1 < cycles ? starts[i + 1] : entries;
            for (int64_t begin = 0; begin < draws; begin += LANES) {
                int64_t lanes = draws - begin < LANES ? draws - begin : LANES;
                int16_t low[2][LANES], coefficient[LANES];
                int16_t *sum = walk + numbers[i] * draws + begin;
                for (int64_t d = 0; d < LANES; d++)
                    low[0][d] = low[1][d] = FAR;
                for (int64_t e = first; e < end; e++)
                    smaller(lanes, counts + groups[e] * draws + begin, low[signs[e] < 0]);
                drawn(lanes, low, &coins, random + i * draws + begin, coefficient);
                taken_from(lanes, -1, coefficient, sum);
                for (int64_t e = first; e < end; e++)
                    taken_from(lanes, signs[e], coefficient, counts + groups[e] * draws + begin);
            }
        }
        Py_END_ALLOW_THREADS
    }
    return all_let_go(&a);
}

/* Parameters: groups, where the entries of each start (one more than groups), their cycles and signs; how
 * often each cycle was taken (cycles, draws); then the changes of all groups (rows, draws). */
static PyObject *added(PyObject *module, PyObject *args)
{
    PyObject *given[6];
    Arrays a = {.held = 0};
    long long number, draws;
    (void)module;
    if (!PyArg_ParseTuple(args, "LLOOOOOO", &number, &draws, &given[0], &given[1], &given[2],
                          &given[3], &given[4], &given[5]))
        return NULL;
    if (hold(&a, given, 6, 1 << 5)) {
        const int64_t *groups = a.view[0].buf, *starts = a.view[1].buf, *cycles = a.view[2].buf;
        const int8_t *signs = a.view[3].buf;
        const int16_t *total = a.view[4].buf;
        int16_t *out = a.view[5].buf;
        Py_BEGIN_ALLOW_THREADS
        for (int64_t g = 0; g < number; g++) {
            int16_t *here = out + groups[g] * draws;
            memset(here, 0, (size_t)draws * sizeof *here);
            for (int64_t e = starts[g]; e < starts[g + 1]; e++)
                taken_from(draws, signs[e], total + cycles[e] * draws, here);
        }
        Py_END_ALLOW_THREADS
    }
    return all_let_go(&a);
}

/* Parameters: changes (groups, draws), then how often each group had each change from -span to span. */
static PyObject *tallied(PyObject *module, PyObject *args)
{
    PyObject *given[2];
    Arrays a = {.held = 0};
    long long groups, draws, span;
    int within = 1;
    (void)module;
    if (!PyArg_ParseTuple(args, "LLLOO", &groups, &draws, &span, &given[0], &given[1]))
        return NULL;
    if (hold(&a, given, 2, 1 << 1)) {
        const int16_t *changes = a.view[0].buf;
        int64_t *out = a.view[1].buf, columns = 2 * span + 1;
        Py_BEGIN_ALLOW_THREADS
        for (int64_t g = 0; g < groups; g++)
            for (int64_t d = 0; d < draws; d++) {
                uint64_t at = (uint64_t)(changes[g * draws + d] + span);
                if (at < (uint64_t)columns)
                    out[g * columns + (int64_t)at]++;
                else
                    within = 0;
            }
        Py_END_ALLOW_THREADS
        if (!within)
            PyErr_SetString(PyExc_ValueError, "a change is larger than the span");
    }
    return all_let_go(&a);
}

typedef struct {
    const int64_t *bounds, *touches;
    int64_t *group_of_cell, *first_cell, *starts, *table, mask;
} Groups;

/* The place of the touches of a cell in the table: that of the same ones, or an empty one. */
static int64_t place_of(const Groups *g, int64_t cell)
{
    const int64_t *own = g->touches + g->bounds[cell];
    int64_t length = g->bounds[cell + 1] - g->bounds[cell];
    uint64_t hash = (uint64_t)length;
    for (int64_t i = 0; i < length; i++) {
        hash = (hash ^ (uint64_t)own[i]) * 0x9E3779B97F4A7C15u;
        hash ^= hash >> 32;
    }
    for (int64_t at = (int64_t)(hash & (uint64_t)g->mask);; at = (at + 1) & g->mask) {
        if (g->table[at] < 0)
            return at;
        int64_t other = g->first_cell[g->table[at]];
        if (g->bounds[other + 1] - g->bounds[other] == length
            && !memcmp(own, g->touches + g->bounds[other], (size_t)length * sizeof *own))
            return at;
    }
}

/* Parameters: how many cells and cycles there are; where the entries of each cycle start (one more than
 * cycles), their cells and signs; then, all written: bounds of the touches of each cell (zeros, cells +
 * 2), the touches, a table of 2^n places (each -1), the group of each cell; and of each group the first
 * cell, where its touches start, their cycles and signs. Returns how many groups there are. */
static PyObject *grouped(PyObject *module, PyObject *args)
{
    PyObject *given[11];
    Arrays a = {.held = 0};
    long long cells, cycles, groups = 0;
    (void)module;
    if (!PyArg_ParseTuple(args, "LLOOOOOOOOOOO", &cells, &cycles, &given[0], &given[1], &given[2],
                          &given[3], &given[4], &given[5], &given[6], &given[7], &given[8],
                          &given[9], &given[10]))
        return NULL;
    if (hold(&a, given, 11, 0x7F8)) {
        const int64_t *starts = a.view[0].buf, *cell = a.view[1].buf;
        const int8_t *sign = a.view[2].buf;
        int64_t *bounds = a.view[3].buf, *touches = a.view[4].buf, *out = a.view[9].buf;
        int8_t *signs = a.view[10].buf;
        Groups g = {.bounds = bounds, .touches = touches, .table = a.view[5].buf,
                    .mask = a.view[5].len / (Py_ssize_t)sizeof(int64_t) - 1,
                    .group_of_cell = a.view[6].buf, .first_cell = a.view[7].buf,
                    .starts = a.view[8].buf};
        Py_BEGIN_ALLOW_THREADS
        for (int64_t e = 0; e < starts[cycles]; e++)
            bounds[cell[e] + 2]++;
        for (int64_t c = 0; c < cells; c++)
            bounds[c + 2] += bounds[c + 1];
        for (int64_t i = 0; i < cycles; i++)
            for (int64_t e = starts[i]; e < starts[i + 1]; e++)
                touches[bounds[cell[e] + 1]++] = 2 * i + (sign[e] > 0);
        g.starts[0] = 0;
        for (int64_t c = 0; c < cells; c++) {
            if (bounds[c] == bounds[c + 1]) {
                g.group_of_cell[c] = -1;
                continue;
            }
            int64_t at = place_of(&g, c);
            if (g.table[at] < 0) {
                int64_t to = g.starts[groups];
                for (int64_t e = bounds[c]; e < bounds[c + 1]; e++, to++) {
                    out[to] = touches[e] >> 1;
                    signs[to] = touches[e] & 1 ? 1 : -1;
                }
                g.first_cell[groups] = c;
                g.table[at] = groups++;
                g.starts[groups] = to;
            }
            g.group_of_cell[c] = g.table[at];
        }
        Py_END_ALLOW_THREADS
    }
    let_go(&a);
    return PyErr_Occurred() ? NULL : PyLong_FromLongLong(groups);
}

/* Coins that are turned together, and all that depends on them: see coin_chains.py. */
typedef struct {
    const int64_t *of_steps, *steps, *ways, *of_affected, *affected, *own, *of_entries, *by;
    const int64_t *of_groups, *groups, *changes, *of_bounds, *bounds, *more, *first, *split, *coin;
    const double *logs;
    double price;
} Turns;

typedef struct {
    int64_t *coins, *after, *change, *sum;
    double *log;
} Chain;

static double step_log(const Turns *t, int64_t step, int64_t coin, const int64_t *after)
{
    int64_t low[2] = {FAR, FAR}, length = t->first[step + 1] - t->first[step];
    int64_t split = t->split[step] - t->first[step];
    for (int64_t e = 0; e < length; e++)
        if (after[e] < low[e >= split])
            low[e >= split] = after[e];
    for (int k = 0; k < 2; k++)
        low[k] = low[k] < -1 ? 0 : low[k] > 2 ? 3 : low[k] + 1;
    return t->logs[(t->coin[step] * 3 + coin + 1) * 16 + low[0] * 4 + low[1]];
}

static void turn_one(const Turns *t, int64_t n, double random, int pick, Chain *c, int64_t *after,
                     double *log)
{
    int64_t first = t->of_steps[n], last = t->of_steps[n + 1], by = pick ? 1 : -1;
    if (last - first == 1) {
        int64_t old = c->coins[t->steps[first]];
        by = (old + 2 + pick) % 3 - 1 - old;
    }
    for (int64_t k = first; k < last; k++) {
        int64_t coin = c->coins[t->steps[k]] + t->ways[k] * by;
        if (coin < -1 || coin > 1)
            return;
    }
    double gain = 0;
    for (int64_t k = t->of_bounds[n]; k < t->of_bounds[n + 1]; k++) {
        int64_t now = c->sum[t->bounds[k]], then = now + t->more[k] * by;
        int64_t worse = (then < 0 ? then : 0) - (now < 0 ? now : 0);
        gain += t->price * (double)worse;
    }
    int64_t e = t->of_entries[n], at = 0;
    for (int64_t k = t->of_affected[n]; k < t->of_affected[n + 1]; k++) {
        int64_t step = t->affected[k], *to = after + at;
        for (int64_t i = t->first[step]; i < t->first[step + 1]; i++)
            after[at++] = c->after[i] + t->by[e++] * by;
        double found = step_log(t, step, c->coins[step] + t->own[k] * by, to);
        if (found == -INFINITY)
            return;
        log[k - t->of_affected[n]] = found;
        gain += found - c->log[step];
    }
    if (!(random < exp(gain)))
        return;
    at = 0;
    for (int64_t k = t->of_affected[n]; k < t->of_affected[n + 1]; k++) {
        int64_t step = t->affected[k];
        for (int64_t i = t->first[step]; i < t->first[step + 1]; i++)
            c->after[i] = after[at++];
        c->log[step] = log[k - t->of_affected[n]];
    }
    for (int64_t k = first; k < last; k++)
        c->coins[t->steps[k]] += t->ways[k] * by;
    for (int64_t k = t->of_groups[n]; k < t->of_groups[n + 1]; k++)
        c->change[t->groups[k]] += t->changes[k] * by;
    for (int64_t k = t->of_bounds[n]; k < t->of_bounds[n + 1]; k++)
        c->sum[t->bounds[k]] += t->more[k] * by;
}

/* Parameters: how many chains, and of each of its states; turns to be tried; the most that one of them
 * affects; the price of a person beyond a bound; 17 arrays of Turns, in order, and its logs; the order of
 * the turns, random numbers and ways (turns, chains); then the states of all chains: coins, counts after
 * each step, changes, sums and logs. */
static PyObject *turned(PyObject *module, PyObject *args)
{
    PyObject *given;
    Arrays a = {.held = 0};
    long long chains, turns, most, entries, steps, groups, bounds;
    double price;
    (void)module;
    if (!PyArg_ParseTuple(args, "LLLLLLLdO", &chains, &turns, &most, &entries, &steps, &groups,
                          &bounds, &price, &given))
        return NULL;
    if (hold_all(&a, given, 26, 0x1F << 21)) {
        const int64_t *of[17];
        for (int k = 0; k < 17; k++)
            of[k] = a.view[k].buf;
        Turns t = {of[0], of[1], of[2], of[3], of[4], of[5], of[6], of[7], of[8], of[9], of[10], of[11],
                   of[12], of[13], of[14], of[15], of[16], a.view[17].buf, price};
        const int64_t *order = a.view[18].buf;
        const double *random = a.view[19].buf;
        const int8_t *pick = a.view[20].buf;
        int64_t *after = malloc((size_t)most * sizeof *after);
        double *log = malloc((size_t)most * sizeof *log);
        if (!after || !log)
            PyErr_NoMemory();
        else {
            Py_BEGIN_ALLOW_THREADS
            for (int64_t d = 0; d < chains; d++) {
                Chain c = {(int64_t *)a.view[21].buf + d * steps, (int64_t *)a.view[22].buf + d * entries,
                           (int64_t *)a.view[23].buf + d * groups, (int64_t *)a.view[24].buf + d * bounds,
                           (double *)a.view[25].buf + d * steps};
                for (int64_t n = 0; n < turns; n++)
                    turn_one(&t, order[n], random[n * chains + d], pick[n * chains + d], &c, after, log);
            }
            Py_END_ALLOW_THREADS
        }
        free(after);
        free(log);
    }
    return all_let_go(&a);
}

static PyMethodDef methods[] = {
    {"turned", turned, METH_VARARGS, "Coins turned in many chains: see coin_chains.py."},
    {"undo", undo, METH_VARARGS, "One layer of cycles undone: see sampling.py."},
    {"added", added, METH_VARARGS, "Changes of groups by how often cycles were taken: see sampling.py."},
    {"tallied", tallied, METH_VARARGS, "How often each group had each change: see sampling.py."},
    {"grouped", grouped, METH_VARARGS, "Cells that the same cycles touch: see signatures.py."},
    {"layer_numbers", layer_numbers, METH_VARARGS, "The layer of each cycle: see layers.py."},
    {"reached", reached, METH_VARARGS, "The cycles that coins can take: see reach.py."},
    {"undoable", undoable, METH_VARARGS, "The cycles that may have been taken: see open_cycles.py."},
    {"walk", walk, METH_VARARGS, "One pass of the cycles: see forward_walk.py."},
    {NULL, NULL, 0, NULL},
};

MODULE(cycle_steps, methods)
