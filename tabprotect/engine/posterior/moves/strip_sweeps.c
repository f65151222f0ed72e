/* Sweeps over strips of swaps: tests/oracles/strip_sweeps_in_numpy.py gives the same numbers. LANES
 * strips of one shape go side by side, in the last index of every table. */

#include "../../extension.h"

#if defined(__GNUC__)
#define UNROLLED _Pragma("GCC unroll 3")
#else
#define UNROLLED
#endif

#define LANES 4
#define ROW 243
#define REACH 4
#define CHANGES (2 * REACH + 1)
#define MOST_ROWS 12

typedef double Lanes[LANES];

/* The factor of one step over x[r-1], x[r], x[r+1], y[r+1], y[r], each from -1 to 1. */
typedef Lanes Factor[3][3][3][3][3];

typedef struct {
    int64_t n, k;
    const double *table;
    const int32_t *rows;
    /* Of each change of each cell; NULL where they are all 1. */
    const double *weights;
} Strips;

static int64_t power(int64_t k)
{
    int64_t out = 1;
    while (k-- > 0)
        out *= 3;
    return out;
}

/* Memory that a test may fill with NaN, so that nothing is read before it is written. */
static Lanes *memory(int64_t entries)
{
    Lanes *out = malloc((size_t)entries * sizeof(Lanes));
#ifdef POISONED
    if (out)
        memset(out, 0xFF, (size_t)entries * sizeof(Lanes));
#endif
    return out;
}

static double weight_of(const Strips *s, int64_t column, int64_t row, int64_t lane, int64_t change)
{
    int64_t cell = (column * (s->k + 1) + row) * LANES + lane;
    return s->weights[cell * CHANGES + change + REACH];
}

/* The values of x[r-1] that a step has, from the first to the one before the last: without a swap above
 * it is 0. Those of x[r+1] and y[r+1] are 0 without a swap below. */
typedef struct {
    int64_t above, beyond, below;
} Reach;

static Reach reach_of(int64_t k, int64_t r)
{
    return (Reach){.above = r ? 0 : 1, .beyond = r ? 3 : 2, .below = r < k - 1};
}

CLONES static void side_by_side(const double *table, const int32_t *rows, Reach reach, Lanes *to)
{
    const double *given[LANES];
    int64_t first = reach.above * 81, last = reach.beyond * 81;
    for (int64_t l = 0; l < LANES; l++)
        given[l] = table + (int64_t)rows[l] * ROW;
    if (reach.below) {
        for (int64_t i = first; i < last; i++)
            for (int64_t l = 0; l < LANES; l++)
                to[i][l] = given[l][i];
        return;
    }
    for (int64_t x = first; x < last; x += 27)
        for (int64_t i = x + 12; i < x + 15; i++)
            for (int64_t l = 0; l < LANES; l++)
                to[i][l] = given[l][i];
}

static void factor_of(const Strips *s, int64_t c, int64_t r, Factor f)
{
    Lanes *to = &f[0][0][0][0][0];
    Reach all = {.above = 0, .beyond = 3, .below = 1}, own = reach_of(s->k, r);
    side_by_side(s->table, s->rows + (c * s->k + r) * LANES, s->weights ? all : own, to);
    for (int64_t l = 0; s->weights && l < LANES; l++) {
        for (int64_t i = 0; i < ROW; i++) {
            int64_t x = i / 27 % 3 - 1, x1 = i / 9 % 3 - 1, y1 = i / 3 % 3 - 1, y = i % 3 - 1;
            to[i][l] *= weight_of(s, c + 1, r + 1, l, x - x1 + y1 - y);
            if (!r)
                to[i][l] *= weight_of(s, c + 1, 0, l, y - x);
        }
    }
}

/* One step: from a table over x[0..r+1], y[r+1..] to one over x[0..r], y[r..]. The first step of a
 * column takes a table over x[0..k-1] and adds y[k-1] to it. */
INLINE void step_of(int64_t k, int64_t r, int64_t inner, const Factor f, const Lanes *from,
                    Lanes *to)
{
    int64_t first = r ? 3 : 1, outer = r ? power(r - 1) : 1;
    if (r == k - 1) {
        for (int64_t a = 0; a < outer; a++)
            for (int64_t u = 0; u < first; u++)
                for (int64_t v = 0; v < 3; v++) {
                    int64_t at = (a * first + u) * 3 + v;
                    const Lanes *m = f[r ? u : 1][v][1][1];
                    for (int64_t y = 0; y < 3; y++)
                        for (int64_t l = 0; l < LANES; l++)
                            to[at * 3 + y][l] = from[at][l] * m[y][l];
                }
        return;
    }
    int64_t side = 3 * inner;
    for (int64_t a = 0; a < outer; a++)
        for (int64_t u = 0; u < first; u++)
            for (int64_t v = 0; v < 3; v++)
                for (int64_t w = 0; w < 3; w++) {
                    int64_t at = ((a * first + u) * 3 + v) * 3 * side + w * inner;
                    const Lanes *in = from + at;
                    Lanes *out = to + at, m[3][3];
                    for (int64_t x = 0; x < 3; x++)
                        memcpy(m[x], f[r ? u : 1][v][x][w], sizeof m[x]);
                    for (int64_t b = 0; b < inner; b++)
                        for (int64_t y = 0; y < 3; y++)
                            for (int64_t l = 0; l < LANES; l++)
                                out[y * side + b][l] = in[b][l] * m[0][y][l]
                                    + in[side + b][l] * m[1][y][l]
                                    + in[2 * side + b][l] * m[2][y][l];
                }
}

/* How many entries lie side by side, where a step is not the first of its column. */
static int64_t inner_of(int64_t k, int64_t r)
{
    return r == k - 1 ? 1 : power(k - r - 2);
}

/* Short runs by their lengths: the compiler lays them out. */
CLONES static void step(int64_t k, int64_t r, const Factor f, const Lanes *from, Lanes *to)
{
    int64_t inner = inner_of(k, r);
    if (inner == 1)
        step_of(k, r, 1, f, from, to);
    else if (inner == 3)
        step_of(k, r, 3, f, from, to);
    else
        step_of(k, r, inner, f, from, to);
}

/* The same backwards: from weights of what comes out of a step to weights of what goes in, and the
 * sums over everything else of what goes in times what comes out. */
INLINE void back_of(int64_t k, int64_t r, int64_t inner, const Factor f, const Lanes *given,
                    const Lanes *outside, Lanes *to, Factor sums)
{
    int64_t first = r ? 3 : 1, outer = r ? power(r - 1) : 1;
    memset(sums, 0, sizeof(Factor));
    if (r == k - 1) {
        for (int64_t a = 0; a < outer; a++)
            for (int64_t u = 0; u < first; u++)
                for (int64_t v = 0; v < 3; v++) {
                    int64_t at = (a * first + u) * 3 + v;
                    const Lanes *m = f[r ? u : 1][v][1][1];
                    Lanes *sum = sums[r ? u : 1][v][1][1];
                    for (int64_t l = 0; l < LANES; l++) {
                        to[at][l] = outside[at * 3][l] * m[0][l] + outside[at * 3 + 1][l] * m[1][l]
                            + outside[at * 3 + 2][l] * m[2][l];
                        for (int64_t y = 0; y < 3; y++)
                            sum[y][l] += given[at][l] * outside[at * 3 + y][l];
                    }
                }
        return;
    }
    int64_t side = 3 * inner;
    for (int64_t a = 0; a < outer; a++)
        for (int64_t u = 0; u < first; u++)
            for (int64_t v = 0; v < 3; v++)
                for (int64_t w = 0; w < 3; w++) {
                    int64_t at = ((a * first + u) * 3 + v) * 3 * side + w * inner;
                    const Lanes *in = given + at, *out = outside + at;
                    Lanes *before = to + at;
                    for (int64_t x = 0; x < 3; x++) {
                        const Lanes *m = f[r ? u : 1][v][x][w];
                        Lanes *sum = sums[r ? u : 1][v][x][w], s[3];
                        memset(s, 0, sizeof s);
                        for (int64_t b = 0; b < inner; b++)
                            for (int64_t l = 0; l < LANES; l++) {
                                double o0 = out[b][l], o1 = out[side + b][l];
                                double o2 = out[2 * side + b][l], t = in[x * side + b][l];
                                before[x * side + b][l] =
                                    o0 * m[0][l] + o1 * m[1][l] + o2 * m[2][l];
                                s[0][l] += t * o0;
                                s[1][l] += t * o1;
                                s[2][l] += t * o2;
                            }
                        for (int64_t y = 0; y < 3; y++)
                            for (int64_t l = 0; l < LANES; l++)
                                sum[y][l] += s[y][l];
                    }
                }
}

CLONES static void back(int64_t k, int64_t r, const Factor f, const Lanes *given, const Lanes *outside,
                        Lanes *to, Factor sums)
{
    int64_t inner = inner_of(k, r);
    if (inner == 1)
        back_of(k, r, 1, f, given, outside, to, sums);
    else if (inner == 3)
        back_of(k, r, 3, f, given, outside, to, sums);
    else
        back_of(k, r, inner, f, given, outside, to, sums);
}

/* Divide by the sum of each lane; false where one is zero. */
CLONES static int scaled(Lanes *table, int64_t size)
{
    Lanes sum = {0};
    for (int64_t i = 0; i < size; i++)
        for (int64_t l = 0; l < LANES; l++)
            sum[l] += table[i][l];
    for (int64_t l = 0; l < LANES; l++) {
        if (!(sum[l] > 0))
            return 0;
        sum[l] = 1.0 / sum[l];
    }
    for (int64_t i = 0; i < size; i++)
        for (int64_t l = 0; l < LANES; l++)
            table[i][l] *= sum[l];
    return 1;
}

/* All tables of a column: what each step takes in, tables[k - 1] being the message of the column
 * after it, and what the last one gives in tables[k]. */
static void column(const Strips *s, int64_t c, const Lanes *message, Lanes *tables, Factor *factors)
{
    int64_t k = s->k, size = power(k + 1);
    const Lanes *from = message;
    for (int64_t r = k - 1; r >= 0; r--) {
        Lanes *to = tables + (r ? r - 1 : k) * size;
        factor_of(s, c, r, factors[r]);
        step(k, r, factors[r], from, to);
        from = to;
    }
}

static const Lanes *taken_in(const Strips *s, int64_t r, const Lanes *message, const Lanes *tables)
{
    return r == s->k - 1 ? message : tables + r * power(s->k + 1);
}

static int forward(const Strips *s, Lanes *messages, Lanes *tables, Factor *factors)
{
    int64_t k = s->k, size = power(k);
    Lanes *last = messages + (s->n - 1) * size;
    memset(last, 0, (size_t)size * sizeof(Lanes));
    for (int64_t l = 0; l < LANES; l++)
        last[size / 2][l] = 1.0;
    for (int64_t c = s->n - 2; c >= 0; c--) {
        Lanes *to = messages + c * size;
        const Lanes *end = tables + k * 3 * size;
        column(s, c, to + size, tables, factors);
        for (int64_t i = 0; i < size; i++)
            for (int64_t l = 0; l < LANES; l++)
                to[i][l] = end[i][l] + end[size + i][l] + end[2 * size + i][l];
        if (!scaled(to, size))
            return 0;
    }
    return 1;
}

static int64_t digit(int64_t at, int64_t k, int64_t position)
{
    return at / power(k - 1 - position) % 3 - 1;
}

/* Weights of the coefficients of the first column. */
static void at_the_first(const Strips *s, Lanes *to)
{
    int64_t k = s->k, size = power(k);
    for (int64_t i = 0; i < size; i++)
        for (int64_t l = 0; l < LANES; l++) {
            to[i][l] = 1.0;
            if (!s->weights)
                continue;
            for (int64_t r = 0; r <= k; r++) {
                int64_t y = r < k ? digit(i, k, r) : 0, above = r ? digit(i, k, r - 1) : 0;
                to[i][l] *= weight_of(s, 0, r, l, above - y);
            }
        }
}

INLINE void added(int64_t x, int64_t x1, int64_t y1, const Lanes *joint, const Lanes *f, Lanes *law,
                  Lanes *edge)
{
    UNROLLED for (int64_t y = 0; y < 3; y++)
        for (int64_t l = 0; l < LANES; l++) {
            double mass = joint[y][l] * f[y][l];
            law[x - x1 + y1 - y + REACH][l] += mass;
            edge[y - x + REACH][l] += mass;
        }
}

/* The laws of the change of the cell that a step ends with, and of the one at the edge, by the joint
 * sums of a step. */
CLONES static void added_up(Reach reach, const Lanes *joint, const Lanes *f, Lanes *law, Lanes *edge)
{
    memset(law, 0, CHANGES * sizeof *law);
    memset(edge, 0, CHANGES * sizeof *edge);
    joint += reach.above * 81;
    f += reach.above * 81;
    /* In the order of the joint sums; unrolled, so that every place is known. */
    for (int64_t above = reach.above; above < reach.beyond; above++, joint += 81, f += 81)
        UNROLLED for (int64_t x = 0; x < 3; x++) {
            if (!reach.below) {
                added(x, 1, 1, joint + 27 * x + 12, f + 27 * x + 12, law, edge);
                continue;
            }
            UNROLLED for (int64_t x1 = 0; x1 < 3; x1++)
                UNROLLED for (int64_t y1 = 0; y1 < 3; y1++) {
                    int64_t at = 27 * x + 9 * x1 + 3 * y1;
                    added(x, x1, y1, joint + at, f + at, law, edge);
                }
        }
}

static int read_off(double *to, const Lanes law[CHANGES])
{
    for (int64_t l = 0; l < LANES; l++) {
        double sum = 0;
        for (int64_t i = 0; i < CHANGES; i++)
            sum += law[i][l];
        if (!(sum > 0))
            return 0;
        for (int64_t i = 0; i < CHANGES; i++)
            to[l * CHANGES + i] = law[i][l] / sum;
    }
    return 1;
}

static int backward(const Strips *s, const Lanes *messages, Lanes *tables, Factor *factors,
                    Lanes *outside, Lanes *other, double *laws)
{
    int64_t k = s->k, h = k + 1, size = power(k);
    Factor sums;
    at_the_first(s, outside);
    for (int64_t r = 0; r < h; r++) {
        Lanes law[CHANGES];
        memset(law, 0, sizeof law);
        for (int64_t i = 0; i < size; i++) {
            int64_t y = r < k ? digit(i, k, r) : 0, above = r ? digit(i, k, r - 1) : 0;
            for (int64_t l = 0; l < LANES; l++)
                law[above - y + REACH][l] += messages[i][l] * outside[i][l];
        }
        if (!read_off(laws + r * LANES * CHANGES, law))
            return 0;
    }
    for (int64_t c = 0; c < s->n - 1; c++) {
        const Lanes *message = messages + (c + 1) * size;
        double *to = laws + (c + 1) * h * LANES * CHANGES;
        column(s, c, message, tables, factors);
        /* Nothing outside depends on x[0], which is summed last. */
        memcpy(other, outside, (size_t)size * sizeof(Lanes));
        memcpy(other + size, outside, (size_t)size * sizeof(Lanes));
        memcpy(other + 2 * size, outside, (size_t)size * sizeof(Lanes));
        for (int64_t r = 0; r < k; r++) {
            Lanes law[CHANGES], edge[CHANGES], *joint = &sums[0][0][0][0][0];
            const Lanes *f = &factors[r][0][0][0][0][0];
            Lanes *kept = other;
            back(k, r, factors[r], taken_in(s, r, message, tables), other, outside, sums);
            other = outside;
            outside = kept;
            added_up(reach_of(k, r), joint, f, law, edge);
            if (!read_off(to + (r + 1) * LANES * CHANGES, law))
                return 0;
            if (!r && !read_off(to, edge))
                return 0;
        }
        {
            Lanes *kept = other;
            other = outside;
            outside = kept;
        }
        if (!scaled(outside, size))
            return 0;
    }
    return 1;
}

static int64_t chosen(const double *table, int64_t side, const double *weight, int64_t apart, double u)
{
    double a = table[0], b = table[side], c = table[2 * side];
    if (weight) {
        a *= weight[0];
        b *= weight[apart];
        c *= weight[2 * apart];
    }
    b += a;
    c += b;
    u *= c;
    return u < a ? 0 : u < b ? 1 : 2;
}

/* Draw the coefficients of the column after c, int8 (draws, k, LANES), given those of column c. */
static void drawn(const Strips *s, int64_t c, const Lanes *message, Lanes *tables, Factor *factors,
                  int64_t draws, const double *u, const int8_t *given, int8_t *to)
{
    int64_t k = s->k, size = power(k), places[MOST_ROWS];
    for (int64_t i = 0; i < k; i++)
        places[i] = power(k - 1 - i);
    column(s, c, message, tables, factors);
    for (int64_t d = 0; d < draws; d++)
        for (int64_t l = 0; l < LANES; l++) {
            const int8_t *y = given + d * k * LANES + l;
            int8_t *x = to + d * k * LANES + l;
            const double *random = u + d * k * LANES + l;
            int64_t at = 0, digit_x;
            for (int64_t i = 0; i < k; i++)
                at += (y[i * LANES] + 1) * places[i];
            digit_x = chosen(&tables[k * 3 * size + at][l], size * LANES, NULL, 0, random[0]);
            x[0] = (int8_t)(digit_x - 1);
            /* The digits of x[0..r], y[r..]; then y[r] gives place to x[r + 1]. */
            at += digit_x * size;
            for (int64_t r = 0; r < k - 1; r++) {
                int64_t place = places[r], above = r ? x[(r - 1) * LANES] + 1 : 1;
                int64_t y0 = y[r * LANES] + 1, y1 = y[(r + 1) * LANES] + 1;
                const double *m = &factors[r][above][x[r * LANES] + 1][0][y1][y0][l];
                at -= y0 * place;
                digit_x = chosen(&taken_in(s, r, message, tables)[at][l], place * LANES, m,
                                 9 * LANES, random[(r + 1) * LANES]);
                x[(r + 1) * LANES] = (int8_t)(digit_x - 1);
                at += digit_x * place;
            }
        }
}

enum { TABLE, ROWS, WEIGHTS, MESSAGES, OUT, RANDOM, GIVEN, ARRAYS };

typedef struct {
    Py_buffer view[ARRAYS];
    int held[ARRAYS];
    Strips s;
    Lanes *tables;
    Factor *factors;
} Call;

static void ended(Call *call)
{
    free(call->tables);
    free(call->factors);
    for (int i = 0; i < ARRAYS; i++)
        if (call->held[i])
            PyBuffer_Release(&call->view[i]);
}

static int begun(Call *call, PyObject **given, int written)
{
    for (int i = 0; i < ARRAYS; i++) {
        if (!given[i] || given[i] == Py_None)
            continue;
        if (PyObject_GetBuffer(given[i], &call->view[i],
                               (written >> i & 1) ? PyBUF_WRITABLE : PyBUF_SIMPLE))
            return 0;
        call->held[i] = 1;
    }
    if (call->s.k < 1 || call->s.k > MOST_ROWS || call->s.n < 2) {
        PyErr_SetString(PyExc_ValueError, "strips of another height were expected");
        return 0;
    }
    call->s.table = call->view[TABLE].buf;
    call->s.rows = call->view[ROWS].buf;
    call->s.weights = call->held[WEIGHTS] ? call->view[WEIGHTS].buf : NULL;
    call->tables = memory((call->s.k + 1) * power(call->s.k + 1));
    call->factors = (Factor *)memory(call->s.k * ROW);
    if (!call->tables || !call->factors) {
        PyErr_NoMemory();
        return 0;
    }
    return 1;
}

static PyObject *swept(PyObject *module, PyObject *args)
{
    PyObject *given[ARRAYS] = {0}, *out = NULL;
    Call call;
    Lanes *outside = NULL, *other = NULL;
    int possible = 0;
    (void)module;
    memset(&call, 0, sizeof call);
    if (!PyArg_ParseTuple(args, "LLOOOOO", &call.s.n, &call.s.k, &given[TABLE], &given[ROWS],
                          &given[WEIGHTS], &given[MESSAGES], &given[OUT]))
        return NULL;
    if (!begun(&call, given, 1 << MESSAGES | 1 << OUT))
        goto done;
    outside = memory(power(call.s.k + 1));
    other = memory(power(call.s.k + 1));
    if (!outside || !other) {
        PyErr_NoMemory();
        goto done;
    }
    Py_BEGIN_ALLOW_THREADS
    possible = forward(&call.s, call.view[MESSAGES].buf, call.tables, call.factors);
    if (possible && call.held[OUT])
        possible = backward(&call.s, call.view[MESSAGES].buf, call.tables, call.factors, outside,
                            other, call.view[OUT].buf);
    Py_END_ALLOW_THREADS
    out = PyBool_FromLong(possible);
done:
    free(outside);
    free(other);
    ended(&call);
    return out;
}

static PyObject *draw(PyObject *module, PyObject *args)
{
    PyObject *given[ARRAYS] = {0}, *out = NULL;
    Call call;
    int64_t c, draws;
    (void)module;
    memset(&call, 0, sizeof call);
    if (!PyArg_ParseTuple(args, "LLLLOOOOOOO", &call.s.n, &call.s.k, &c, &draws, &given[TABLE],
                          &given[ROWS], &given[WEIGHTS], &given[MESSAGES], &given[RANDOM],
                          &given[GIVEN], &given[OUT]))
        return NULL;
    if (!begun(&call, given, 1 << OUT))
        goto done;
    Py_BEGIN_ALLOW_THREADS
    drawn(&call.s, c, (Lanes *)call.view[MESSAGES].buf + (c + 1) * power(call.s.k), call.tables,
          call.factors, draws, call.view[RANDOM].buf, call.view[GIVEN].buf, call.view[OUT].buf);
    Py_END_ALLOW_THREADS
    out = Py_NewRef(Py_None);
done:
    ended(&call);
    return out;
}

static PyMethodDef methods[] = {
    {"swept", swept, METH_VARARGS, "All messages of some strips, and the laws of their cells."},
    {"draw", draw, METH_VARARGS, "The coefficients of one column, given those before it."},
    {NULL, NULL, 0, NULL},
};

MODULE(strip_sweeps, methods)
