/* Records counted by their codes, with the sums of their keys. */

#include "../extension.h"

#define BLOCK 4096

/* The cells of some records, after one more column of codes. */
#define FURTHER(TYPE)                                            \
    do {                                                         \
        const TYPE *codes = (const TYPE *)columns.view[c].buf + first; \
        for (int64_t i = 0; i < number; i++)                     \
            cell[i] = cell[i] * size + codes[i];                 \
    } while (0)

CLONES static void count_all(const Arrays *given, int64_t records, const int64_t *sizes, const uint32_t *keys,
                             uint64_t *pairs)
{
    const Arrays columns = *given;
    uint32_t cell[BLOCK];
    for (int64_t first = 0; first < records; first += BLOCK) {
        int64_t number = records - first < BLOCK ? records - first : BLOCK;
        memset(cell, 0, sizeof cell);
        for (int c = 0; c < columns.held; c++) {
            uint32_t size = (uint32_t)sizes[c];
            if (columns.view[c].itemsize == 1)
                FURTHER(uint8_t);
            else
                FURTHER(uint16_t);
        }
        for (int64_t i = 0; i < number; i++) {
            uint64_t *pair = pairs + 2 * (uint64_t)cell[i];
            pair[0]++;
            pair[1] += keys[first + i];
        }
    }
}

/* Parameters: a tuple of columns of codes, one or two bytes each; the categories of each; the keys; and, to be
 * filled, the count and the sum of the keys of each cell. */
static PyObject *counted(PyObject *module, PyObject *args)
{
    PyObject *codes, *given[3];
    Arrays columns, held;
    (void)module;
    if (!PyArg_ParseTuple(args, "O!OOO", &PyTuple_Type, &codes, &given[0], &given[1], &given[2]))
        return NULL;
    if (PyTuple_Size(codes) > MOST_ARRAYS) {
        PyErr_SetString(PyExc_ValueError, "too many columns");
        return NULL;
    }
    if (hold(&held, given, 3, 1 << 2)) {
        if (hold_all(&columns, codes, (int)PyTuple_Size(codes), 0)) {
            Py_BEGIN_ALLOW_THREADS
            count_all(&columns, (int64_t)(held.view[1].len / (Py_ssize_t)sizeof(uint32_t)), held.view[0].buf,
                      held.view[1].buf, held.view[2].buf);
            Py_END_ALLOW_THREADS
        }
        let_go(&columns);
    }
    return all_let_go(&held);
}

static PyMethodDef methods[] = {
    {"counted", counted, METH_VARARGS, "Counts and sums of keys: see coded_records.py."},
    {NULL, NULL, 0, NULL},
};

MODULE(coded_counts, methods)
