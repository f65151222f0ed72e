/* Ways through the hidden cells of a two-way table: see two_way_flows.py, and
 * tests/oracles/two_way_routes_in_numpy.py, which finds the same ones. */

#include "../../../extension.h"

#define ARRAYS 6
#define PART 16

typedef struct {
    int64_t rows, columns, i, j, need, turn;
    uint8_t *open;
    double *weight;
    int64_t *forward, *back;
    const int64_t *barred;
    int64_t number;
    /* Labels of a search, a path by its places, and what moves in all: places and amounts. */
    int64_t *from_row, *from_column, *edge, *fresh, *last, *path, *place, *by;
    double *to_row, *to_column;
    int64_t length, moved, room;
} Ways;

typedef struct {
    int64_t at, forward, back;
    double weight;
    uint8_t open;
} Before;

typedef struct {
    Before *one;
    int64_t number, room;
} Undo;

static int kept(Undo *undo, Ways *w, int64_t at)
{
    if (undo->number == undo->room) {
        int64_t room = 2 * undo->room + 64;
        Before *more = realloc(undo->one, (size_t)room * sizeof *more);
        if (!more)
            return 0;
        undo->one = more;
        undo->room = room;
    }
    undo->one[undo->number++] =
        (Before){at, w->forward[at], w->back[at], w->weight[at], w->open[at]};
    return 1;
}

static int add(Ways *w, int64_t at, int64_t by)
{
    int64_t k = 0;
    while (k < w->moved && w->place[k] != at)
        k++;
    if (k == w->moved) {
        if (w->moved == w->room) {
            int64_t room = 2 * w->room + 64;
            int64_t *more = realloc(w->place, (size_t)room * sizeof *more);
            if (!more)
                return 0;
            w->place = more;
            more = realloc(w->by, (size_t)room * sizeof *more);
            if (!more)
                return 0;
            w->by = more;
            w->room = room;
        }
        w->place[k] = at;
        w->by[k] = 0;
        w->moved++;
    }
    w->by[k] += by;
    return 1;
}

static int barred(const Ways *w, int64_t at)
{
    for (int64_t k = 0; k < w->number; k++)
        if (w->barred[k] == at)
            return 1;
    return 0;
}

/* Three other cells that make up for it. 1: found, 0: none, -1: no memory. */
static int rectangle(Ways *w)
{
    int64_t n = w->columns, down = 0, across = 0, *rows = w->last, *columns = w->fresh;
    for (int64_t r = 0; r < w->rows; r++) {
        int64_t at = r * n + w->j;
        if (r != w->i && w->open[at] && w->forward[at] >= w->need && !barred(w, at))
            rows[down++] = r;
    }
    for (int64_t c = 0; c < n; c++) {
        int64_t at = w->i * n + c;
        if (c != w->j && w->open[at] && w->forward[at] >= w->need && !barred(w, at))
            columns[across++] = c;
    }
    for (int64_t part = PART;; part = w->rows + n) {
        for (int64_t k = 0; k < down && k < part; k++)
            for (int64_t m = 0; m < across && m < part; m++) {
                int64_t at = rows[k] * n + columns[m], by = w->turn * w->need;
                if (w->open[at] && w->back[at] >= w->need && !barred(w, at))
                    return add(w, w->i * n + w->j, by) && add(w, w->i * n + columns[m], -by) &&
                                   add(w, at, by) && add(w, rows[k] * n + w->j, -by)
                               ? 1
                               : -1;
            }
        if (part >= down && part >= across)
            return 0;
    }
}

static void traced(Ways *w)
{
    int64_t column = w->j, n = w->columns, length = 0;
    for (;;) {
        int64_t row = w->from_row[column];
        w->path[length++] = row * n + column;
        if (row == w->i)
            break;
        column = w->from_column[row];
        w->path[length++] = row * n + column;
    }
    for (int64_t k = 0; k < length / 2; k++) {
        int64_t swapped = w->path[k];
        w->path[k] = w->path[length - 1 - k];
        w->path[length - 1 - k] = swapped;
    }
    w->length = length;
}

/* The rows that the new columns lead back to; how many. */
static int64_t backward(Ways *w, const int64_t *rows, int64_t number, int64_t fresh, int64_t amount,
                        int64_t *edge)
{
    int64_t found = 0;
    for (int64_t k = 0; k < number; k++) {
        int64_t row = rows[k], at = row * w->columns;
        for (int64_t m = 0; m < fresh; m++)
            if (w->open[at + w->fresh[m]] && w->back[at + w->fresh[m]] >= amount) {
                w->from_column[row] = w->fresh[m];
                edge[found++] = row;
                break;
            }
    }
    return found;
}

/* Breadth first. */
static int fewest(Ways *w, int64_t amount)
{
    int64_t n = w->columns, edges = 1, lasting = 0;
    for (int64_t c = 0; c < n; c++)
        w->from_row[c] = -1;
    for (int64_t r = 0; r < w->rows; r++) {
        w->from_column[r] = -1;
        if (w->open[r * n + w->j] && w->forward[r * n + w->j] >= amount)
            w->last[lasting++] = r;
    }
    w->from_column[w->i] = n;
    w->edge[0] = w->i;
    while (edges && lasting) {
        int64_t fresh = 0, found, others = 0;
        for (int64_t k = 0; k < lasting; k++)
            if (w->from_column[w->last[k]] >= 0) {
                w->from_row[w->j] = w->last[k];
                traced(w);
                return 1;
            }
        for (int64_t k = 0; k < edges; k++) {
            int64_t at = w->edge[k] * n;
            for (int64_t c = 0; c < n; c++)
                if (w->from_row[c] == -1 && w->open[at + c] && w->forward[at + c] >= amount)
                    w->from_row[c] = -2 - w->edge[k];
        }
        /* In order, as they are all found at once. */
        for (int64_t c = 0; c < n; c++)
            if (w->from_row[c] < -1) {
                w->from_row[c] = -2 - w->from_row[c];
                w->fresh[fresh++] = c;
            }
        if (!fresh)
            break;
        found = backward(w, w->last, lasting, fresh, amount, w->edge);
        if (!found) {
            int64_t *left = w->path;
            for (int64_t r = 0; r < w->rows; r++)
                if (w->from_column[r] < 0)
                    left[others++] = r;
            found = backward(w, left, others, fresh, amount, w->edge);
        }
        edges = found;
    }
    return 0;
}

/* Least weight, by correcting labels. */
static int shortest(Ways *w, int64_t amount)
{
    int64_t n = w->columns, edges = 1;
    for (int64_t c = 0; c < n; c++) {
        w->to_column[c] = INFINITY;
        w->from_row[c] = -1;
    }
    for (int64_t r = 0; r < w->rows; r++) {
        w->to_row[r] = INFINITY;
        w->from_column[r] = -1;
    }
    w->to_row[w->i] = 0.0;
    w->edge[0] = w->i;
    while (edges) {
        double limit = w->to_column[w->j];
        int64_t fresh = 0, kept_ = 0;
        for (int64_t c = 0; c < n; c++) {
            double least = INFINITY;
            int64_t best = -1;
            for (int64_t k = 0; k < edges; k++) {
                int64_t at = w->edge[k] * n + c;
                double there = w->forward[at] >= amount ? w->weight[at] + w->to_row[w->edge[k]]
                                                        : INFINITY;
                if (there < least) {
                    least = there;
                    best = w->edge[k];
                }
            }
            if (least < w->to_column[c] && least < limit) {
                w->to_column[c] = least;
                w->from_row[c] = best;
                w->fresh[fresh++] = c;
            }
        }
        for (int64_t m = 0; m < fresh; m++)
            if (w->fresh[m] != w->j && w->to_column[w->fresh[m]] < w->to_column[w->j])
                w->fresh[kept_++] = w->fresh[m];
        if (!kept_)
            break;
        edges = 0;
        for (int64_t r = 0; r < w->rows; r++) {
            double least = INFINITY;
            int64_t best = -1;
            for (int64_t m = 0; m < kept_; m++) {
                int64_t at = r * n + w->fresh[m];
                double again = w->back[at] >= amount ? w->weight[at] + w->to_column[w->fresh[m]]
                                                     : INFINITY;
                if (again < least) {
                    least = again;
                    best = w->fresh[m];
                }
            }
            if (least < w->to_row[r] && least < w->to_column[w->j]) {
                w->to_row[r] = least;
                w->from_column[r] = best;
                w->edge[edges++] = r;
            }
        }
    }
    if (!isfinite(w->to_column[w->j]))
        return 0;
    traced(w);
    return 1;
}

/* How much of what is left a path carries; 0: there is none. */
static int64_t reached(Ways *w, int64_t left, int (*search)(Ways *, int64_t))
{
    for (; left; left /= 2)
        if (search(w, left))
            return left;
    return 0;
}

/* 1: found, 0: there is no way, -1: no memory. */
static int routed(Ways *w, int pay, double step, int few)
{
    Undo undo = {NULL, 0, 0};
    int64_t own = w->i * w->columns + w->j, left = w->need;
    int found = 1;
    if (w->number <= few && (found = rectangle(w)))
        return found;
    found = add(w, own, w->turn * w->need) ? 1 : -1;
    for (int64_t k = 0; k <= w->number && found > 0; k++) {
        int64_t at = k < w->number ? w->barred[k] : own;
        if (!kept(&undo, w, at))
            found = -1;
        w->forward[at] = w->back[at] = 0;
    }
    while (left && found > 0) {
        int paid = 0;
        int64_t amount = reached(w, left, fewest);
        if (!amount && pay) {
            amount = reached(w, left, shortest);
            paid = 1;
        }
        if (!amount)
            found = 0;
        for (int64_t k = 0; amount && k < w->length && found > 0; k++) {
            int64_t at = w->path[k], by = k % 2 ? -amount : amount;
            if (!kept(&undo, w, at) || !add(w, at, -w->turn * by))
                found = -1;
            if (paid) {
                w->open[at] = 1;
                w->weight[at] = step;
            }
            w->forward[at] -= by;
            w->back[at] += by;
        }
        left -= amount;
    }
    while (undo.number) {
        Before *one = &undo.one[--undo.number];
        w->forward[one->at] = one->forward;
        w->back[one->at] = one->back;
        w->weight[one->at] = one->weight;
        w->open[one->at] = one->open;
    }
    free(undo.one);
    return found;
}

static int prepared(Ways *w)
{
    int64_t side = w->rows + w->columns;
    int64_t *whole = calloc((size_t)(7 * side + 8), sizeof *whole);
    double *real = calloc((size_t)side, sizeof *real);
    w->from_row = whole;
    w->to_row = real;
    if (!whole || !real)
        return 0;
    w->from_column = whole + side;
    w->edge = whole + 2 * side;
    w->fresh = whole + 3 * side;
    w->last = whole + 4 * side;
    w->path = whole + 5 * side;
    w->to_column = real + w->rows;
    return 1;
}

/* Parameters: whether cells are open, weights, what goes from rows to columns and back, barred places,
 * (row, column, need, turn); then rows, columns, whether to pay, the weight of what is open, and up to
 * how many barred places rectangles are looked for. Returns places and amounts as bytes, or None. */
static PyObject *route(PyObject *module, PyObject *args)
{
    PyObject *given[ARRAYS], *out = NULL;
    Arrays a;
    Ways w = {0};
    long long rows, columns;
    int pay, few, found = -1;
    double step;
    (void)module;
    if (!PyArg_ParseTuple(args, "OOOOOOLLpdi", &given[0], &given[1], &given[2], &given[3], &given[4],
                          &given[5], &rows, &columns, &pay, &step, &few))
        return NULL;
    if (hold(&a, given, ARRAYS, 15)) {
        const int64_t *what = a.view[5].buf;
        w.rows = rows;
        w.columns = columns;
        w.open = a.view[0].buf;
        w.weight = a.view[1].buf;
        w.forward = a.view[2].buf;
        w.back = a.view[3].buf;
        w.barred = a.view[4].buf;
        w.number = a.view[4].len / (Py_ssize_t)sizeof(int64_t);
        w.i = what[0], w.j = what[1], w.need = what[2], w.turn = what[3];
        if (prepared(&w))
            found = routed(&w, pay, step, few);
        if (found < 0)
            PyErr_NoMemory();
        else if (!found)
            out = Py_NewRef(Py_None);
        else
            out = Py_BuildValue("y#y#", (char *)w.place, (Py_ssize_t)(w.moved * 8), (char *)w.by,
                                (Py_ssize_t)(w.moved * 8));
        free(w.from_row);
        free(w.to_row);
        free(w.place);
        free(w.by);
    }
    let_go(&a);
    return out;
}

#define NETWORK 7

/* Hidden cells by rows, and their numbers by columns; what goes from row to column and back, and what
 * went. */
typedef struct {
    int64_t rows, columns, own;
    const int64_t *row_start, *column, *column_start, *by_column, *forward, *back;
    int64_t *gone, *row_of, *parent, *queue;
} Network;

/* The cells of the shortest path from row i to column j whose arcs carry the amount, as parents of
 * nodes (columns after rows); 0: there is none. */
static int carried(Network *n, int64_t i, int64_t j, int64_t amount)
{
    int64_t begin = 0, end = 1;
    for (int64_t k = 0; k < n->rows + n->columns; k++)
        n->parent[k] = -1;
    n->queue[0] = i;
    n->parent[i] = -2;
    while (begin < end) {
        int64_t node = n->queue[begin++], column = node - n->rows;
        int64_t at = column < 0 ? n->row_start[node] : n->column_start[column];
        int64_t last = column < 0 ? n->row_start[node + 1] : n->column_start[column + 1];
        for (; at < last; at++) {
            int64_t cell = column < 0 ? at : n->by_column[at];
            int64_t to = column < 0 ? n->rows + n->column[cell] : n->row_of[cell];
            int64_t left = column < 0 ? n->forward[cell] - n->gone[cell]
                                      : n->back[cell] + n->gone[cell];
            if (n->parent[to] != -1 || left < amount || cell == n->own)
                continue;
            n->parent[to] = cell;
            if (to == n->rows + j)
                return 1;
            n->queue[end++] = to;
        }
    }
    return 0;
}

/* The largest flow from row i to column j, or as much as is asked: wide paths first. */
static int64_t flowed(Network *n, int64_t i, int64_t j, int64_t most)
{
    int64_t amount = most, left = most;
    while (left && amount) {
        if (!carried(n, i, j, amount)) {
            amount /= 2;
            continue;
        }
        int64_t by = left;
        for (int64_t node = n->rows + j; node != i;) {
            int64_t cell = n->parent[node], out = node >= n->rows;
            int64_t there = out ? n->forward[cell] - n->gone[cell] : n->back[cell] + n->gone[cell];
            by = there < by ? there : by;
            node = out ? n->row_of[cell] : n->rows + n->column[cell];
        }
        for (int64_t node = n->rows + j; node != i;) {
            int64_t cell = n->parent[node], out = node >= n->rows;
            n->gone[cell] += out ? by : -by;
            node = out ? n->row_of[cell] : n->rows + n->column[cell];
        }
        left -= by;
        amount = left < amount ? left : amount;
    }
    return most - left;
}

/* Parameters: where each row's cells begin, their columns, where each column's begin, their numbers,
 * what can go from row to column and back, what goes (to be filled); then row, column and number of the
 * cell in question (-1: none), and the most that is asked for. Returns how much there is. */
static PyObject *largest(PyObject *module, PyObject *args)
{
    PyObject *given;
    Arrays a;
    Network n;
    long long i, j, own, most, found = -1;
    (void)module;
    if (!PyArg_ParseTuple(args, "OLLLL", &given, &i, &j, &own, &most))
        return NULL;
    if (hold_all(&a, given, NETWORK, 64)) {
        int64_t cells = a.view[1].len / 8, nodes;
        n.row_start = a.view[0].buf, n.column = a.view[1].buf, n.column_start = a.view[2].buf;
        n.by_column = a.view[3].buf, n.forward = a.view[4].buf, n.back = a.view[5].buf;
        n.gone = a.view[6].buf, n.own = own;
        n.rows = a.view[0].len / 8 - 1, n.columns = a.view[2].len / 8 - 1;
        nodes = n.rows + n.columns;
        int64_t *whole = malloc((size_t)(cells + 2 * nodes) * sizeof *whole);
        if (whole) {
            n.row_of = whole, n.parent = whole + cells, n.queue = n.parent + nodes;
            for (int64_t r = 0; r < n.rows; r++)
                for (int64_t at = n.row_start[r]; at < n.row_start[r + 1]; at++)
                    n.row_of[at] = r;
            memset(n.gone, 0, (size_t)cells * sizeof *n.gone);
            found = flowed(&n, i, j, most);
            free(whole);
        } else
            PyErr_NoMemory();
    }
    let_go(&a);
    return found < 0 ? NULL : PyLong_FromLongLong(found);
}

static PyMethodDef methods[] = {
    {"largest", largest, METH_VARARGS, "The largest flow through hidden cells."},
    {"route", route, METH_VARARGS, "A way through hidden cells: see two_way_flows.py."},
    {NULL, NULL, 0, NULL},
};

MODULE(two_way_routes, methods)
