/* Cycles applied one after the other, and their layers: see forward_walk.py, layers.py and reach.py,
 * which do the same in numpy. */

#define Py_LIMITED_API 0x030b0000
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <string.h>

enum { ANY_ZERO, NEGATIVE, NONE };

#define MOST 8
#define FAR 16384

typedef struct {
    Py_buffer view[MOST];
    int held;
} Arrays;

static int taken(Arrays *a, PyObject **given, int number, int written)
{
    for (a->held = 0; a->held < number; a->held++)
        if (PyObject_GetBuffer(given[a->held], &a->view[a->held],
                               (written >> a->held & 1) ? PyBUF_WRITABLE : PyBUF_SIMPLE))
            return 0;
    return 1;
}

static PyObject *given_back(Arrays *a)
{
    while (a->held)
        PyBuffer_Release(&a->view[--a->held]);
    return PyErr_Occurred() ? NULL : Py_NewRef(Py_None);
}

/* Parameters: starts, cells, the last layer of each cell (zeros), the layer of each cycle. */
static PyObject *layer_numbers(PyObject *module, PyObject *args)
{
    PyObject *given[4];
    Arrays a = {.held = 0};
    long long cycles;
    (void)module;
    if (!PyArg_ParseTuple(args, "LOOOO", &cycles, &given[0], &given[1], &given[2], &given[3]))
        return NULL;
    if (taken(&a, given, 4, 12)) {
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
    return given_back(&a);
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
    if (taken(&a, given, 5, 1 << 3 | 1 << 4)) {
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
    return given_back(&a);
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
    if (taken(&a, given, 7, 1 << 3 | 1 << 5 | 1 << 6)) {
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
    return given_back(&a);
}

static int64_t within(int64_t low)
{
    return low < -1 ? 0 : low > 2 ? 3 : low + 1;
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
    if (taken(&a, given, 8, 3 << 6)) {
        const int64_t *numbers = a.view[0].buf, *starts = a.view[1].buf, *groups = a.view[2].buf;
        const int16_t *signs = a.view[3].buf;
        const double *masses = a.view[4].buf, *random = a.view[5].buf;
        int16_t *walk = a.view[6].buf, *counts = a.view[7].buf;
        Py_BEGIN_ALLOW_THREADS
        for (int64_t i = 0; i < cycles; i++) {
            int64_t first = starts[i], end = i + 1 < cycles ? starts[i + 1] : entries;
            int16_t *sum = walk + numbers[i] * draws;
            for (int64_t d = 0; d < draws; d++) {
                int64_t low[2] = {FAR, FAR}, at;
                double minus, leave, plus, u;
                int16_t coefficient;
                for (int64_t e = first; e < end; e++) {
                    int64_t side = signs[e] < 0, count = counts[groups[e] * draws + d];
                    if (count < low[side])
                        low[side] = count;
                }
                at = within(low[0]) * 4 + within(low[1]);
                minus = masses[at];
                leave = masses[16 + at];
                plus = masses[32 + at];
                u = random[i * draws + d] * (minus + leave + plus);
                coefficient = (int16_t)((u >= minus + leave && plus > 0) - (u < minus));
                if (!coefficient)
                    continue;
                sum[d] = (int16_t)(sum[d] + coefficient);
                for (int64_t e = first; e < end; e++) {
                    int16_t *count = counts + groups[e] * draws + d;
                    *count = (int16_t)(*count - signs[e] * coefficient);
                }
            }
        }
        Py_END_ALLOW_THREADS
    }
    return given_back(&a);
}

static PyMethodDef methods[] = {
    {"undo", undo, METH_VARARGS, "One layer of cycles undone: see sampling.py."},
    {"layer_numbers", layer_numbers, METH_VARARGS, "The layer of each cycle: see layers.py."},
    {"reached", reached, METH_VARARGS, "The cycles that coins can take: see reach.py."},
    {"walk", walk, METH_VARARGS, "One pass of the cycles: see forward_walk.py."},
    {NULL, NULL, 0, NULL},
};

static PyModuleDef_Slot slots[] = {{0, NULL}};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "cycle_steps", NULL, 0, methods, slots, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit_cycle_steps(void)
{
    return PyModuleDef_Init(&definition);
}
