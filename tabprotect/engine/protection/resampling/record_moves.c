/* Records go back to where they may have come from. record_walk.py does the same in numpy. */

#include "../../extension.h"

/* Splitmix64: the upper 53 bits as a number from 0 to below 1. */
INLINE double next(uint64_t *state)
{
    uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    z ^= z >> 31;
    return (double)(z >> 11) * 0x1p-53;
}

/* Parameters: outer, categories and inner of all arrays; the mass before (outer, categories, inner) and the
 * matrix (before, after); counts after and, to be filled, before; a state of random numbers. */
static PyObject *returned(PyObject *module, PyObject *args)
{
    PyObject *given[5];
    Arrays held;
    long long outer, size, inner;
    (void)module;
    if (!PyArg_ParseTuple(args, "LLLOOOOO", &outer, &size, &inner, &given[0], &given[1], &given[2], &given[3],
                          &given[4]))
        return NULL;
    if (hold(&held, given, 5, 1 << 3 | 1 << 4)) {
        const double *mass = held.view[0].buf, *matrix = held.view[1].buf;
        const int64_t *after = held.view[2].buf;
        int64_t *before = held.view[3].buf;
        uint64_t *state = held.view[4].buf;
        double *ends = malloc((size_t)size * sizeof *ends);
        if (ends) {
            Py_BEGIN_ALLOW_THREADS
            for (int64_t o = 0; o < outer; o++)
                for (int64_t j = 0; j < size; j++)
                    for (int64_t i = 0; i < inner; i++) {
                        int64_t records = after[(o * size + j) * inner + i];
                        double sum = 0.0, stays = mass[(o * size + j) * inner + i] * matrix[j * size + j];
                        if (!records)
                            continue;
                        /* Most were where they are: those are asked about first. */
                        for (int64_t a = 0; a < size; a++)
                            ends[a] = a == j ? sum
                                             : (sum += mass[(o * size + a) * inner + i] * matrix[a * size + j]);
                        for (; records; records--) {
                            double u = next(state) * (sum + stays) - stays;
                            int64_t low = 0, high = size - 1;
                            if (u < 0.0) {
                                before[(o * size + j) * inner + i]++;
                                continue;
                            }
                            while (low < high) {
                                int64_t middle = (low + high) / 2;
                                if (ends[middle] > u)
                                    high = middle;
                                else
                                    low = middle + 1;
                            }
                            before[(o * size + low) * inner + i]++;
                        }
                    }
            Py_END_ALLOW_THREADS
        } else
            PyErr_NoMemory();
        free(ends);
    }
    return all_let_go(&held);
}

static PyMethodDef methods[] = {
    {"returned", returned, METH_VARARGS, "Where records were before they moved: see record_walk.py."},
    {NULL, NULL, 0, NULL},
};

MODULE(record_moves, methods)
