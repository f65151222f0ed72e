/* Pivots of a tableau of changes: see tableau.py, which does the same in numpy, number for number. */

#include "../../../extension.h"

#define NOTHING 1e-11
#define SLACK 1e-9

CLONES static void take_off(double *to, const double *row, double times, int64_t columns)
{
    for (int64_t k = 0; k < columns; k++) {
        double left = to[k] - times * row[k];
        to[k] = fabs(left) < NOTHING ? 0.0 : left;
    }
}

CLONES static void add_on(double *to, const double *row, double times, int64_t columns)
{
    for (int64_t k = 0; k < columns; k++)
        to[k] += times * row[k];
}

/* Solve rows for one column each, in their order; -1 for a row that says nothing. */
static void solve(double *a, int64_t rows, int64_t columns, int64_t *pivot)
{
    for (int64_t r = 0; r < rows; r++) {
        double *row = a + r * columns, most = SLACK, by;
        pivot[r] = -1;
        for (int64_t k = 0; k < columns; k++)
            if (fabs(row[k]) > most) {
                most = fabs(row[k]);
                pivot[r] = k;
            }
        if (pivot[r] < 0)
            continue;
        by = row[pivot[r]];
        for (int64_t k = 0; k < columns; k++)
            row[k] /= by;
        for (int64_t i = 0; i < rows; i++)
            if (i != r && a[i * columns + pivot[r]] != 0.0)
                take_off(a + i * columns, row, a[i * columns + pivot[r]], columns);
    }
}

/* How far a number goes at a rate until it meets an end. */
static double room_of(double rate, double x, double low, double high)
{
    double room = rate > SLACK ? (high - x) / rate : rate < -SLACK ? (low - x) / rate : INFINITY;
    return room > 0 ? room : 0.0;
}

/* Pivots that push a number: see tableau.py. How many were needed; -1 if it does not go so far. */
static int64_t push(double *a, int64_t rows, int64_t columns, int64_t *basic, int64_t *beside,
                    const double *low, const double *high, double *x, int64_t number, double need,
                    int64_t most, double *rooms)
{
    double sign = need < 0 ? -1.0 : 1.0;
    int64_t mine = -1, own = -1;
    for (int64_t i = 0; i < rows; i++)
        if (basic[i] == number)
            mine = i;
    for (int64_t k = 0; k < columns; k++)
        if (beside[k] == number)
            own = k;
    for (int64_t done = 0; done < most; done++) {
        int64_t j = -1, leaves = -1, at;
        double best = SLACK, way, cap, own_room, nearest = INFINITY, step, steepest = 0.0;
        for (int64_t k = 0; k < columns; k++) {
            double gain = mine >= 0 ? sign * a[mine * columns + k] : k == own ? sign : 0.0;
            at = beside[k];
            if (fabs(gain) > best && (gain > 0 ? x[at] < high[at] - SLACK : x[at] > low[at] + SLACK)) {
                best = fabs(gain);
                j = k;
            }
        }
        if (j < 0)
            return -1;
        at = beside[j];
        way = (mine >= 0 ? sign * a[mine * columns + j] : sign) > 0 ? 1.0 : -1.0;
        cap = (fabs(need) - sign * x[number]) / best;
        own_room = at == number ? INFINITY : way > 0 ? high[at] - x[at] : x[at] - low[at];
        for (int64_t i = 0; i < rows; i++) {
            rooms[i] = room_of(way * a[i * columns + j], x[basic[i]], low[basic[i]], high[basic[i]]);
            if (i == mine)
                rooms[i] = INFINITY;
            if (rooms[i] < nearest)
                nearest = rooms[i];
        }
        step = nearest < own_room ? nearest : own_room;
        step = cap < step ? cap : step;
        for (int64_t i = 0; i < rows; i++)
            if (rooms[i] <= nearest + SLACK && fabs(a[i * columns + j]) > steepest) {
                steepest = fabs(a[i * columns + j]);
                leaves = i;
            }
        x[at] += way * step;
        for (int64_t i = 0; i < rows; i++)
            x[basic[i]] += way * a[i * columns + j] * step;
        if (sign * x[number] >= fabs(need) - SLACK)
            return done + 1;
        if (own_room <= nearest)
            continue;
        double *row = a + leaves * columns, by = row[j];
        for (int64_t k = 0; k < columns; k++)
            row[k] /= -by;
        row[j] = 1.0 / by;
        for (int64_t i = 0; i < rows; i++) {
            double times = a[i * columns + j];
            if (i == leaves || times == 0.0)
                continue;
            a[i * columns + j] = 0.0;
            add_on(a + i * columns, row, times, columns);
        }
        beside[j] = basic[leaves];
        basic[leaves] = at;
        if (own == j) {
            own = -1;
            mine = leaves;
        }
    }
    return -1;
}

static PyObject *solved(PyObject *module, PyObject *args)
{
    Py_buffer a, pivot;
    (void)module;
    if (!PyArg_ParseTuple(args, "w*w*", &a, &pivot))
        return NULL;
    int64_t rows = pivot.len / 8;
    if (rows)
        solve(a.buf, rows, a.len / 8 / rows, pivot.buf);
    PyBuffer_Release(&a);
    PyBuffer_Release(&pivot);
    Py_RETURN_NONE;
}

static PyObject *pushed(PyObject *module, PyObject *args)
{
    Py_buffer a, basic, beside, low, high, x;
    long long number, most, done;
    double need;
    (void)module;
    if (!PyArg_ParseTuple(args, "w*w*w*y*y*w*LdL", &a, &basic, &beside, &low, &high, &x, &number,
                          &need, &most))
        return NULL;
    double *rooms = PyMem_Malloc((size_t)basic.len + 8);
    done = -1;
    if (rooms)
        done = push(a.buf, basic.len / 8, beside.len / 8, basic.buf, beside.buf, low.buf, high.buf,
                    x.buf, number, need, most, rooms);
    PyMem_Free(rooms);
    PyBuffer_Release(&a);
    PyBuffer_Release(&basic);
    PyBuffer_Release(&beside);
    PyBuffer_Release(&low);
    PyBuffer_Release(&high);
    PyBuffer_Release(&x);
    return rooms ? PyLong_FromLongLong(done) : PyErr_NoMemory();
}

static PyMethodDef methods[] = {
    {"solved", solved, METH_VARARGS, "Rows solved for a column each: see tableau.py."},
    {"pushed", pushed, METH_VARARGS, "Pivots that push a number: see tableau.py."},
    {NULL, NULL, 0, NULL},
};

MODULE(pivots, methods)
