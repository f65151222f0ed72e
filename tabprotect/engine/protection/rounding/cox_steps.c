/* Cox's rounding without chance, of many tables: see cox_rounding.py. */

#include "../../extension.h"

typedef struct {
    int64_t rows, columns, base;
    int64_t *rest;   /* (rows, columns), bordered */
    uint8_t *up;     /* those that went up */
    int64_t *at;     /* where the walk met each row, then each column; -1 for not yet */
    int64_t *path;   /* the cells of the walk */
} Work;

/* Round one table by closed walks through rests, each by its shorter step. */
static void rounded(Work *w)
{
    const int64_t m = w->rows, n = w->columns, base = w->base;
    for (int64_t first = 0; first < m;) {
        int64_t column = 0, length = 0, row = first, begin, least[2] = {base, base}, most[2] = {0, 0};
        while (column < n && !w->rest[first * n + column])
            column++;
        if (column == n) {
            first++;
            continue;
        }
        for (int64_t node = 0; node < m + n; node++)
            w->at[node] = -1;
        w->at[row] = 0;
        column = -1;
        for (;;) {
            int64_t to = 0, cell;
            while (to == column || !w->rest[row * n + to])
                to++;
            column = to;
            cell = row * n + column;
            w->path[length++] = cell;
            if (w->at[m + column] >= 0) {
                begin = w->at[m + column];
                break;
            }
            w->at[m + column] = length;
            to = 0;
            while (to == row || !w->rest[to * n + column])
                to++;
            row = to;
            cell = row * n + column;
            w->path[length++] = cell;
            if (w->at[row] >= 0) {
                begin = w->at[row];
                break;
            }
            w->at[row] = length;
        }
        for (int64_t k = begin; k < length; k++) {
            int64_t rest = w->rest[w->path[k]], odd = (k - begin) & 1;
            least[odd] = rest < least[odd] ? rest : least[odd];
            most[odd] = rest > most[odd] ? rest : most[odd];
        }
        int64_t more = base - most[0] < least[1] ? base - most[0] : least[1];
        int64_t less = least[0] < base - most[1] ? least[0] : base - most[1];
        int64_t amount = more < less ? more : -less;
        for (int64_t k = begin; k < length; k++) {
            int64_t *rest = w->rest + w->path[k];
            *rest += (k - begin) & 1 ? -amount : amount;
            if (*rest == base) {
                w->up[w->path[k]] = 1;
                *rest = 0;
            }
        }
    }
}

/* Parameters: tables, rows and columns of one, the base; then counts, and where the rounded ones go. */
static PyObject *round_all(PyObject *module, PyObject *args)
{
    PyObject *given[2];
    Arrays a = {.held = 0};
    long long tables, rows, columns, base;
    (void)module;
    if (!PyArg_ParseTuple(args, "LLLLOO", &tables, &rows, &columns, &base, &given[0], &given[1]))
        return NULL;
    if (hold(&a, given, 2, 1 << 1)) {
        const int64_t *counts = a.view[0].buf;
        int64_t *out = a.view[1].buf;
        int64_t m = rows + 1, n = columns + 1;
        Work w = {m, n, base, calloc((size_t)(m * n), 8), calloc((size_t)(m * n), 1),
                  calloc((size_t)(m + n), 8), calloc((size_t)(2 * (m + n)), 8)};
        if (!w.rest || !w.up || !w.at || !w.path)
            PyErr_NoMemory();
        else {
            Py_BEGIN_ALLOW_THREADS
            for (int64_t t = 0; t < tables; t++) {
                const int64_t *table = counts + t * rows * columns;
                int64_t *to = out + t * rows * columns, total = 0;
                memset(w.up, 0, (size_t)(m * n));
                for (int64_t c = 0; c < n; c++)
                    w.rest[rows * n + c] = 0;
                for (int64_t r = 0; r < rows; r++) {
                    int64_t sum = 0;
                    for (int64_t c = 0; c < columns; c++) {
                        int64_t rest = table[r * columns + c] % base;
                        w.rest[r * n + c] = rest;
                        w.rest[rows * n + c] += rest;
                        sum += rest;
                    }
                    total += sum;
                    w.rest[r * n + columns] = (base - sum % base) % base;
                }
                for (int64_t c = 0; c < columns; c++)
                    w.rest[rows * n + c] = (base - w.rest[rows * n + c] % base) % base;
                w.rest[rows * n + columns] = total % base;
                rounded(&w);
                for (int64_t r = 0; r < rows; r++)
                    for (int64_t c = 0; c < columns; c++) {
                        int64_t count = table[r * columns + c];
                        to[r * columns + c] = count - count % base + (w.up[r * n + c] ? base : 0);
                    }
            }
            Py_END_ALLOW_THREADS
        }
        free(w.rest);
        free(w.up);
        free(w.at);
        free(w.path);
    }
    return all_let_go(&a);
}

static PyMethodDef methods[] = {
    {"round_all", round_all, METH_VARARGS, "Many tables rounded: see cox_rounding.py."},
    {NULL, NULL, 0, NULL},
};

MODULE(cox_steps, methods)
