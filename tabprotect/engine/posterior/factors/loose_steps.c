/* Steps of chains over counts whose sums are loose. tests/oracles/loose_steps_in_python.py does the same in
 * Python, number for number, and says what each array holds. */

#include "../../extension.h"

enum { CELLS, SUMS, AXES, ORDERS, REACH, CHAINS, STEPS, SEEKING };

#define ARRAYS 21
#define WRITTEN (1 << 18 | 1 << 19 | 1 << 20)
#define CORNERS 8
#define MOST_CHANGED 512
#define MOST_SOUGHT 64

typedef struct {
    const int64_t *number, *low, *high, *at, *of_starts, *of, *sum_low, *sum_high, *sum_at;
    const double *logs, *penalty;
    const int64_t *line, *line_starts, *line_cells, *place, *sum_starts, *sum_cells, *strides;
    const int64_t *grid;
} Model;

/* Splitmix64: the upper 53 bits as a number from 0 to below 1. */
INLINE double next(uint64_t *state)
{
    uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    z ^= z >> 31;
    return (double)(z >> 11) * 0x1p-53;
}

/* The natural logarithm to some 1e-10, by the same sums and products on every machine. */
static double logarithm(double u)
{
    int power;
    double t, s, part = frexp(u, &power);
    if (u <= 0.0)
        return -1e9;
    if (part < 0.70710678118654752) {
        part *= 2.0;
        power--;
    }
    t = (part - 1.0) / (part + 1.0);
    s = t * t;
    t *= 2.0 + s * (2.0 / 3.0 + s * (2.0 / 5.0 + s * (2.0 / 7.0 + s * (2.0 / 9.0 + s * (2.0 / 11.0)))));
    return (double)power * 0.69314718055994531 + t;
}

/* The log weight of a sum; outside its range it falls by the penalty for each step. */
INLINE double weight(const Model *m, int64_t sum, int64_t value)
{
    if (value < m->sum_low[sum])
        return m->logs[m->sum_at[sum] + m->sum_low[sum]] - *m->penalty * (double)(m->sum_low[sum] - value);
    if (value > m->sum_high[sum])
        return m->logs[m->sum_at[sum] + m->sum_high[sum]] - *m->penalty * (double)(value - m->sum_high[sum]);
    return m->logs[m->sum_at[sum] + value];
}

/* A cell of a sum that is out of its range, if such a one is soon found; else any cell. */
static int64_t astray(const Model *m, const int64_t *sums, uint64_t *state)
{
    for (int64_t attempt = 0; attempt < MOST_SOUGHT; attempt++) {
        int64_t sum = (int64_t)(next(state) * (double)m->number[SUMS]), first = m->sum_starts[sum];
        if (sums[sum] < m->sum_low[sum] || sums[sum] > m->sum_high[sum])
            return m->sum_cells[first + (int64_t)(next(state) * (double)(m->sum_starts[sum + 1] - first))];
    }
    return (int64_t)(next(state) * (double)m->number[CELLS]);
}

/* The corners of a box around a random cell along random axes; 0: some corner is not there. */
static int box(const Model *m, const int64_t *sums, uint64_t *state, int64_t *corner)
{
    const int64_t *n = m->number;
    int64_t order = (int64_t)(next(state) * (double)n[ORDERS]), first, shift = 0;
    int64_t corners = 1, cell = n[SEEKING] ? astray(m, sums, state) : (int64_t)(next(state) * (double)n[CELLS]);
    corner[0] = cell;
    if (!order)
        return 1;
    /* The axes from a random one on, round and round. */
    first = (int64_t)(next(state) * (double)n[AXES]);
    for (int64_t k = 0; k < order; k++) {
        int64_t axis = (first + k) % n[AXES], line = m->line[axis * n[CELLS] + cell];
        int64_t begin = m->line_starts[line], size = m->line_starts[line + 1] - begin;
        int64_t other = m->line_cells[begin + (int64_t)(next(state) * (double)size)];
        if (other == cell)
            return 0;
        shift = (m->place[axis * n[CELLS] + other] - m->place[axis * n[CELLS] + cell]) * m->strides[axis];
        for (int64_t c = 0; c < corners; c++) {
            /* The last entry of a cell's places is where it is in the grid. */
            int64_t where = m->place[n[AXES] * n[CELLS] + corner[c]] + shift;
            int64_t there = m->grid[where];
            if (there < 0)
                return 0;
            corner[corners + c] = there;
        }
        corners *= 2;
    }
    return (int)corners;
}

static int parity(int k)
{
    return (k ^ k >> 1 ^ k >> 2) & 1;
}

static void stepped(const Model *m, int64_t *table, int64_t *sums, uint64_t *state)
{
    int64_t corner[CORNERS], what[MOST_CHANGED], change[MOST_CHANGED], changed = 0;
    int corners = box(m, sums, state, corner);
    int64_t by = 1 + (int64_t)(next(state) * (double)m->number[REACH]);
    double gain = 0.0, chance = next(state);
    if (next(state) < 0.5)
        by = -by;
    if (!corners)
        return;
    for (int k = 0; k < corners; k++) {
        int64_t cell = corner[k], value = table[cell] + (parity(k) ? -by : by);
        if (value < m->low[cell] || value > m->high[cell])
            return;
        gain += m->logs[m->at[cell] + value] - m->logs[m->at[cell] + table[cell]];
    }
    for (int k = 0; k < corners; k++)
        for (int64_t e = m->of_starts[corner[k]]; e < m->of_starts[corner[k] + 1]; e++) {
            int64_t f = 0;
            while (f < changed && what[f] != m->of[e])
                f++;
            if (f == changed) {
                if (changed == MOST_CHANGED)
                    return;
                what[changed] = m->of[e];
                change[changed++] = 0;
            }
            change[f] += parity(k) ? -by : by;
        }
    for (int64_t f = 0; f < changed; f++)
        if (change[f])
            gain += weight(m, what[f], sums[what[f]] + change[f]) - weight(m, what[f], sums[what[f]]);
    if (gain < 0.0 && !(logarithm(chance) < gain))
        return;
    for (int k = 0; k < corners; k++)
        table[corner[k]] += parity(k) ? -by : by;
    for (int64_t f = 0; f < changed; f++)
        sums[what[f]] += change[f];
}

/* Parameters: the arrays; each chain takes so many steps as they say. */
static PyObject *steps(PyObject *module, PyObject *args)
{
    PyObject *given;
    Arrays held;
    (void)module;
    if (!PyArg_ParseTuple(args, "O!", &PyTuple_Type, &given))
        return NULL;
    if (hold_all(&held, given, ARRAYS, WRITTEN)) {
        Model m = {
            held.view[0].buf,  held.view[1].buf,  held.view[2].buf,  held.view[3].buf,  held.view[4].buf,  held.view[5].buf,
            held.view[6].buf,  held.view[7].buf,  held.view[8].buf,  held.view[9].buf,  held.view[10].buf, held.view[11].buf,
            held.view[12].buf, held.view[13].buf, held.view[14].buf, held.view[15].buf, held.view[16].buf, held.view[17].buf,
            NULL,
        };
        int64_t *tables = held.view[18].buf, *sums = held.view[19].buf;
        uint64_t *states = held.view[20].buf;
        const int64_t *n = m.number;
        /* The strides come first, then the grid. */
        m.grid = m.strides + n[AXES];
        Py_BEGIN_ALLOW_THREADS
        for (int64_t chain = 0; chain < n[CHAINS]; chain++)
            for (int64_t k = 0; k < n[STEPS]; k++)
                stepped(&m, tables + chain * n[CELLS], sums + chain * n[SUMS], states + chain);
        Py_END_ALLOW_THREADS
    }
    return all_let_go(&held);
}

static PyMethodDef methods[] = {
    {"steps", steps, METH_VARARGS, "Steps of chains: see loose_chains.py."},
    {NULL, NULL, 0, NULL},
};

MODULE(loose_steps, methods)
