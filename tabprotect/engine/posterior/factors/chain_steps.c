/* Steps of chains side by side along random directions. tests/oracles/chain_steps_in_numpy.py does the
 * same in numpy, number for number, and says what each array holds. */

#include "../../extension.h"

enum { CELLS, CHAINS, LOOSE, NODES, MOVES, FLAT_CELLS, FLAT_SUMS, TRIES, LONGEST, MOST_ADDED, SQUARES };

#define ARRAYS 24
#define WRITTEN (1 << 20 | 1 << 21)

typedef struct {
    const int64_t *number;
    const int64_t *edge_starts, *edge, *edge_to, *edge_sign, *starts;
    const int64_t *move_starts, *move_cells, *move_values, *near_starts, *near;
    const int64_t *loose_starts, *loose;
    const int64_t *low, *high, *sum_low, *sum_high;
    const int64_t *cell_at, *sum_at;
    const double *logs;
    int64_t *tables, *sums;
    const double *random, *log_random;
    int64_t start_nodes, used;
    /* A direction: its cells and how often each moves, and its changes of the loose sums. */
    int64_t *which, *times, *value, *what, *changes, *seen, *path;
    int64_t touched, changed;
} Chains;

static double next(Chains *a)
{
    return a->random[a->used++];
}

static void moved(Chains *a, int64_t cell, int64_t by)
{
    /* A cell keeps its place from when it is first touched. */
    if (!a->value[cell]) {
        int64_t k = 0;
        while (k < a->touched && a->which[k] != cell)
            k++;
        if (k == a->touched)
            a->which[a->touched++] = cell;
    }
    a->value[cell] += by;
}

static int64_t one_edge(Chains *a, int64_t node)
{
    int64_t first = a->edge_starts[node], edges = a->edge_starts[node + 1] - first;
    return first + (int64_t)(next(a) * (double)edges);
}

static void along(Chains *a, int64_t e, int64_t sign)
{
    if (a->edge[e] < a->number[CELLS])
        moved(a, a->edge[e], sign * a->edge_sign[e]);
}

/* A ring of four nodes: two edges from one, one edge from the end of the first, and one that closes it. */
static int rectangle(Chains *a)
{
    for (int64_t attempt = 0; attempt < a->number[SQUARES]; attempt++) {
        int64_t at = a->starts[(int64_t)(next(a) * (double)a->start_nodes)];
        int64_t first = one_edge(a, at), last = one_edge(a, at);
        int64_t from = a->edge_to[first], to = a->edge_to[last], second = one_edge(a, from);
        int64_t across = a->edge_to[second];
        if (from == to || across == at)
            continue;
        for (int64_t e = a->edge_starts[to]; e < a->edge_starts[to + 1]; e++)
            if (a->edge_to[e] == across) {
                along(a, first, 1);
                along(a, second, 1);
                along(a, e, -1);
                along(a, last, -1);
                return a->touched > 0;
            }
    }
    return 0;
}

/* Mostly a rectangle; else walk at random until a node repeats, and take the ring since its first visit.
 * 0: none was found. */
static int circuit(Chains *a)
{
    int64_t begin = a->used, cells = a->number[CELLS];
    if (!a->start_nodes)
        return 0;
    if (next(a) < 0.875 && rectangle(a))
        return 1;
    for (int64_t attempt = 0; attempt < a->number[TRIES]; attempt++) {
        int64_t at, length = 0, found = 0;
        if (a->used - begin >= a->number[LONGEST])
            return 0;
        at = a->starts[(int64_t)(next(a) * (double)a->start_nodes)];
        for (int64_t k = 0; k < a->number[NODES]; k++)
            a->seen[k] = -1;
        a->seen[at] = 0;
        for (;;) {
            int64_t first = a->edge_starts[at], edges = a->edge_starts[at + 1] - first, e;
            if (a->used - begin >= a->number[LONGEST] || !edges)
                break;
            e = first + (int64_t)(next(a) * (double)edges);
            if (length && a->edge[e] == a->edge[a->path[length - 1]]) {
                if (edges == 1)
                    break;
                continue;
            }
            a->path[length++] = e;
            at = a->edge_to[e];
            if (a->seen[at] >= 0) {
                for (int64_t k = a->seen[at]; k < length; k++)
                    if (a->edge[a->path[k]] < cells) {
                        moved(a, a->edge[a->path[k]], a->edge_sign[a->path[k]]);
                        found = 1;
                    }
                break;
            }
            a->seen[at] = length;
        }
        if (found)
            return 1;
    }
    return 0;
}

static void added(Chains *a, int64_t move, int64_t sign)
{
    for (int64_t e = a->move_starts[move]; e < a->move_starts[move + 1]; e++)
        moved(a, a->move_cells[e], sign * a->move_values[e]);
}

/* One move, or the sum of a few: mostly neighbours, sometimes any. */
static void combined(Chains *a)
{
    int64_t moves = a->number[MOVES], at = (int64_t)(next(a) * (double)moves);
    added(a, at, 1);
    for (int64_t more = 0; more < a->number[MOST_ADDED] && next(a) < 0.4; more++) {
        int64_t beside = a->near_starts[at + 1] - a->near_starts[at];
        if (next(a) < 0.8)
            at = a->near[a->near_starts[at] + (int64_t)(next(a) * (double)beside)];
        else
            at = (int64_t)(next(a) * (double)moves);
        added(a, at, next(a) < 0.5 ? 1 : -1);
    }
}

static void directed(Chains *a)
{
    int64_t kept = 0;
    a->touched = a->changed = 0;
    if (a->number[NODES] && (!a->number[MOVES] || next(a) < 0.5))
        circuit(a);
    else if (a->number[MOVES])
        combined(a);
    for (int64_t k = 0; k < a->touched; k++) {
        int64_t cell = a->which[k], by = a->value[cell];
        a->value[cell] = 0;
        if (!by)
            continue;
        a->which[kept] = cell;
        a->times[kept++] = by;
        for (int64_t e = a->loose_starts[cell]; e < a->loose_starts[cell + 1]; e++) {
            int64_t sum = a->loose[e], f = 0;
            while (f < a->changed && a->what[f] != sum)
                f++;
            if (f == a->changed) {
                a->what[a->changed] = sum;
                a->changes[a->changed++] = 0;
            }
            a->changes[f] += by;
        }
    }
    a->touched = kept;
    kept = 0;
    for (int64_t f = 0; f < a->changed; f++)
        if (a->changes[f]) {
            a->what[kept] = a->what[f];
            a->changes[kept++] = a->changes[f];
        }
    a->changed = kept;
}

CLONES static void room(int64_t chains, const int64_t *now, int64_t by, int64_t low, int64_t high,
                        int64_t *least, int64_t *most)
{
    int64_t size = by < 0 ? -by : by;
    if (size == 1) {
        int64_t first = by > 0 ? low : high;
        int64_t last = by > 0 ? high : low;
        int64_t sign = by > 0 ? 0 : -1;
        for (int64_t c = 0; c < chains; c++) {
            /* Minus one is all ones: its two's complement without a product. */
            int64_t back = ((first - now[c]) ^ sign) - sign;
            int64_t on = ((last - now[c]) ^ sign) - sign;
            least[c] = back > least[c] ? back : least[c];
            most[c] = on < most[c] ? on : most[c];
        }
        return;
    }
    for (int64_t c = 0; c < chains; c++) {
        int64_t down = now[c] - low, up = high - now[c];
        int64_t forward, backward;
        if (size == 2) {
            down >>= 1;
            up >>= 1;
        } else {
            down /= size;
            up /= size;
        }
        forward = by > 0 ? up : down;
        backward = by > 0 ? down : up;
        if (-backward > least[c])
            least[c] = -backward;
        if (forward < most[c])
            most[c] = forward;
    }
}

CLONES static void taken(int64_t chains, int64_t *now, int64_t by, const int64_t *times)
{
    if (by == 1)
        for (int64_t c = 0; c < chains; c++)
            now[c] += times[c];
    else if (by == -1)
        for (int64_t c = 0; c < chains; c++)
            now[c] -= times[c];
    else
        for (int64_t c = 0; c < chains; c++)
            now[c] += by * times[c];
}

/* The gain in log weight, added up over the cells or sums that move. */
static void gained(int64_t chains, int64_t number, const int64_t *which, const int64_t *by,
                   const int64_t *now, const int64_t *at, const double *logs, const int64_t *times,
                   double *gain)
{
    for (int64_t c = 0; c < chains; c++) {
        double sum = 0.0;
        for (int64_t k = 0; k < number; k++) {
            const double *log = logs + at[which[k]];
            int64_t here = now[which[k] * chains + c];
            sum += log[here + by[k] * times[c]] - log[here];
        }
        gain[c] += sum;
    }
}

/* How far each chain is to go: to any point within its room, or to a neighbour. */
CLONES static void proposed(int64_t chains, int flat, const double *near, const double *far,
                          const int64_t *least, const int64_t *most, int64_t *times)
{
    for (int64_t c = 0; c < chains; c++) {
        int64_t long_way = least[c] + (int64_t)floor(far[c] * (double)(most[c] - least[c] + 1));
        int64_t short_way = far[c] < 0.5 ? -1 : 1;
        if (long_way > most[c])
            long_way = most[c];
        if (short_way < least[c] || short_way > most[c])
            short_way = 0;
        times[c] = flat || near[c] < 0.5 ? long_way : short_way;
    }
}

static void stepped(Chains *a, int64_t *least, int64_t *most, int64_t *times, double *gain)
{
    int64_t chains = a->number[CHAINS];
    int flat = a->number[FLAT_CELLS] && a->number[FLAT_SUMS];
    const double *near, *far, *accept;
    directed(a);
    if (!a->touched)
        return;
    for (int64_t c = 0; c < chains; c++) {
        least[c] = INT64_MIN;
        most[c] = INT64_MAX;
        gain[c] = 0.0;
    }
    for (int64_t k = 0; k < a->touched; k++)
        room(chains, a->tables + a->which[k] * chains, a->times[k], a->low[a->which[k]],
             a->high[a->which[k]], least, most);
    for (int64_t f = 0; f < a->changed; f++)
        room(chains, a->sums + a->what[f] * chains, a->changes[f], a->sum_low[a->what[f]],
             a->sum_high[a->what[f]], least, most);
    near = a->random + a->used;
    far = near + chains;
    accept = a->log_random + a->used + 2 * chains;
    a->used += flat ? 2 * chains : 3 * chains;
    proposed(chains, flat, near, far, least, most, times);
    if (!a->number[FLAT_CELLS])
        gained(chains, a->touched, a->which, a->times, a->tables, a->cell_at, a->logs, times, gain);
    if (!a->number[FLAT_SUMS])
        gained(chains, a->changed, a->what, a->changes, a->sums, a->sum_at, a->logs, times, gain);
    if (!flat)
        for (int64_t c = 0; c < chains; c++)
            if (!(accept[c] < gain[c]))
                times[c] = 0;
    for (int64_t k = 0; k < a->touched; k++)
        taken(chains, a->tables + a->which[k] * chains, a->times[k], times);
    for (int64_t f = 0; f < a->changed; f++)
        taken(chains, a->sums + a->what[f] * chains, a->changes[f], times);
}

static int64_t run(Chains *a, int64_t steps, int64_t length)
{
    const int64_t *n = a->number;
    int64_t done = -1, chains = n[CHAINS], spare = n[LONGEST] + 4 * n[MOST_ADDED] + 8 + 3 * chains;
    int64_t rows = 3 * n[CELLS] + 2 * (n[LOOSE] + 1) + n[NODES] + n[LONGEST] + 3 * chains + 8;
    int64_t *held = calloc((size_t)rows, sizeof *held), *to = held;
    double *gain = calloc((size_t)chains, sizeof *gain);
    if (held && gain) {
        a->which = to, to += n[CELLS];
        a->times = to, to += n[CELLS];
        a->value = to, to += n[CELLS];
        a->what = to, to += n[LOOSE] + 1;
        a->changes = to, to += n[LOOSE] + 1;

        a->seen = to, to += n[NODES];
        a->path = to, to += n[LONGEST] + 8;
        for (done = 0; done < steps && a->used + spare <= length; done++)
            stepped(a, to, to + chains, to + 2 * chains, gain);
    }
    free(held);
    free(gain);
    return done;
}

/* Parameters: the arrays, and how many steps. Returns how many the random numbers were enough for. */
static PyObject *steps(PyObject *module, PyObject *args)
{
    PyObject *given, *out = NULL;
    Arrays held;
    long long number, done = -1;
    (void)module;
    if (!PyArg_ParseTuple(args, "O!L", &PyTuple_Type, &given, &number))
        return NULL;
    if (hold_all(&held, given, ARRAYS, WRITTEN)) {
        Chains a = {
            held.view[0].buf,  held.view[1].buf,  held.view[2].buf,  held.view[3].buf,  held.view[4].buf,  held.view[5].buf,
            held.view[6].buf,  held.view[7].buf,  held.view[8].buf,  held.view[9].buf,  held.view[10].buf, held.view[11].buf,
            held.view[12].buf, held.view[13].buf, held.view[14].buf, held.view[15].buf, held.view[16].buf, held.view[17].buf,
            held.view[18].buf, held.view[19].buf, held.view[20].buf, held.view[21].buf, held.view[22].buf, held.view[23].buf,
        };
        a.start_nodes = held.view[5].len / (Py_ssize_t)sizeof(int64_t);
        Py_BEGIN_ALLOW_THREADS
        done = run(&a, number, held.view[22].len / (Py_ssize_t)sizeof(double));
        Py_END_ALLOW_THREADS
        out = done < 0 ? PyErr_NoMemory() : PyLong_FromLongLong(done);
    }
    let_go(&held);
    return out;
}

/* Parameters: swaps, corners of each, chains; the cells of the corners (corners, swaps) and their signs; low
 * and high of the cells; random numbers (swaps, chains), then the tables. */
static PyObject *swept(PyObject *module, PyObject *args)
{
    PyObject *given[6];
    Arrays held;
    long long swaps, corners, chains;
    (void)module;
    if (!PyArg_ParseTuple(args, "LLLOOOOOO", &swaps, &corners, &chains, &given[0], &given[1],
                          &given[2], &given[3], &given[4], &given[5]))
        return NULL;
    if (hold(&held, given, 6, 1 << 5)) {
        const int64_t *cells = held.view[0].buf, *signs = held.view[1].buf;
        const int64_t *low = held.view[2].buf, *high = held.view[3].buf;
        const double *random = held.view[4].buf;
        int64_t *tables = held.view[5].buf, *least = malloc(3 * (size_t)chains * sizeof *least);
        if (least) {
            int64_t *most = least + chains, *times = most + chains;
            Py_BEGIN_ALLOW_THREADS
            for (int64_t s = 0; s < swaps; s++) {
                for (int64_t c = 0; c < chains; c++) {
                    least[c] = INT64_MIN;
                    most[c] = INT64_MAX;
                }
                for (int64_t k = 0; k < corners; k++) {
                    int64_t cell = cells[k * swaps + s];
                    room(chains, tables + cell * chains, signs[k], low[cell], high[cell], least,
                         most);
                }
                proposed(chains, 1, random, random + s * chains, least, most, times);
                for (int64_t k = 0; k < corners; k++)
                    taken(chains, tables + cells[k * swaps + s] * chains, signs[k], times);
            }
            Py_END_ALLOW_THREADS
        } else
            PyErr_NoMemory();
        free(least);
    }
    return all_let_go(&held);
}

static PyMethodDef methods[] = {
    {"steps", steps, METH_VARARGS, "Steps of chains: see chains.py."},
    {"swept", swept, METH_VARARGS, "Swaps all over the table, every count likely: see chains.py."},
    {NULL, NULL, 0, NULL},
};

MODULE(chain_steps, methods)
