/* All steps from an original to each of its releases, drawn by a chain: see exchange_paths.py. */

#include "exchange_steps.h"

/* A slot of a path: the pair that was drawn, and whether its step was taken. */
typedef struct {
    int64_t p, q;
    double weight;
    int taken, edited;
} Slot;

enum { AS_BEFORE, OTHER_PAIR, NOW_TAKEN, NO_LONGER };

typedef struct {
    int64_t rows, columns, releases;
    const uint8_t *closed;
    const int64_t *starts, *mix;
    const double *theta;
    double prior;
    int64_t *now;
    Filled f;
    Slot *slot;
    Slot saved[8];
    int64_t at[8], edits, *found;
    double *then;
    uint64_t rng;
} Paths;

static uint64_t bits(Paths *x)
{
    uint64_t z = (x->rng += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

static double uniform(Paths *x)
{
    return (double)(bits(x) >> 11) * 0x1p-53;
}

static int64_t below(Paths *x, int64_t n)
{
    int64_t k = (int64_t)(uniform(x) * (double)n);
    return k < n ? k : n - 1;
}

/* The chance to draw the pair of a slot and to do with it what was done; 0: that cannot be. */
static double weight_of(const Paths *x, const Slot *one, double theta, int64_t *four)
{
    double m = (double)x->f.number, taken = 0.0;
    if (x->now[one->p] < 1 || x->now[one->q] < 1)
        return 0.0;
    four_cells(one->p, one->q, x->columns, four);
    if (differing(four, x->closed)) {
        double worth = worth_of(&x->f, x->now, four, theta);
        taken = worth < 1.0 ? worth : 1.0;
    }
    return (one->taken ? taken : 1.0 - taken) / (m * m);
}

/* A pair that is drawn now and not taken; 0 where it is taken. */
static int stays(Paths *x, Slot *one, double theta)
{
    int64_t four[4];
    Slot drawn = {x->f.cell[below(x, x->f.number)], x->f.cell[below(x, x->f.number)], 0.0, 0, 0};
    double m = (double)x->f.number;
    drawn.weight = weight_of(x, &drawn, theta, four);
    if (uniform(x) >= drawn.weight * m * m)
        return 0;
    drawn.edited = one->edited;
    *one = drawn;
    return 1;
}

static void forth(Paths *x, const Slot *one)
{
    int64_t four[4];
    if (one->taken) {
        four_cells(one->p, one->q, x->columns, four);
        moved(&x->f, x->now, four[0], four[1], four[2], four[3]);
    }
}

static void back(Paths *x, const Slot *one)
{
    int64_t four[4];
    if (one->taken) {
        four_cells(one->p, one->q, x->columns, four);
        moved(&x->f, x->now, four[2], four[3], four[0], four[1]);
    }
}

/* Another content of a slot, until it is kept or taken back. Without a pair it is drawn on the way. */
static void edit(Paths *x, int64_t k, int64_t p, int64_t q, int taken)
{
    Slot *one = &x->slot[k];
    x->saved[x->edits] = *one;
    x->at[x->edits++] = k;
    one->edited = !taken ? NO_LONGER : one->taken ? OTHER_PAIR : NOW_TAKEN;
    one->p = p, one->q = q, one->taken = taken;
}

/* The chances of the slots between two of a release beside those before; a pair that is drawn anew, before
 * or now, is drawn as it is weighed. Leaves the table as it was. */
static double along(Paths *x, int64_t release, int64_t from, int64_t to)
{
    int64_t four[4], k = x->starts[release];
    double ratio = 1.0, theta = x->theta[release];
    for (; k < from; k++)
        forth(x, &x->slot[k]);
    for (; k <= to; k++) {
        Slot *one = &x->slot[k];
        double before = one->edited == NOW_TAKEN ? 1.0 : one->weight;
        if (one->edited == NO_LONGER) {
            if (!stays(x, one, theta)) {
                ratio = 0.0;
                break;
            }
            x->then[k] = one->weight;
            one->weight = before;
            ratio /= before;
        } else {
            x->then[k] = weight_of(x, one, theta, four);
            ratio *= x->then[k] / before;
            if (ratio <= 0.0)
                break;
        }
        forth(x, one);
    }
    for (k--; k >= x->starts[release]; k--)
        back(x, &x->slot[k]);
    return ratio;
}

static void restore(Paths *x)
{
    while (x->edits) {
        x->edits--;
        x->slot[x->at[x->edits]] = x->saved[x->edits];
    }
}

static void keep(Paths *x, int64_t from, int64_t to)
{
    for (int64_t k = from; k <= to; k++)
        x->slot[k].weight = x->then[k], x->slot[k].edited = AS_BEFORE;
}

/* Keep the edits of one release by their chance, else take them back. */
static void decided(Paths *x, int64_t release, double odds)
{
    int64_t from = x->at[0], to = x->at[0];
    for (int64_t e = 1; e < x->edits; e++) {
        from = x->at[e] < from ? x->at[e] : from;
        to = x->at[e] > to ? x->at[e] : to;
    }
    if (uniform(x) < odds * along(x, release, from, to)) {
        keep(x, from, to);
        x->edits = 0;
    } else
        restore(x);
}

/* Where slots of a release stay, from one on; how many. */
static int64_t staying(Paths *x, int64_t from, int64_t to)
{
    int64_t n = 0;
    for (int64_t k = from; k < to; k++)
        if (!x->slot[k].taken)
            x->found[n++] = k;
    return n;
}

/* Where two given cells lose a unit, from a slot on; how many. */
static int64_t losing(Paths *x, int64_t from, int64_t to, int64_t p, int64_t q)
{
    int64_t n = 0;
    for (int64_t k = from; k < to; k++) {
        const Slot *one = &x->slot[k];
        if (one->taken && ((one->p == p && one->q == q) || (one->p == q && one->q == p)))
            x->found[n++] = k;
    }
    return n;
}

/* A step is taken at another time; two that are taken change their times. */
static void at_another_time(Paths *x, int64_t release, int64_t i)
{
    int64_t first = x->starts[release], k = first + below(x, x->starts[release + 1] - first);
    Slot one = x->slot[i], other = x->slot[k];
    if (i == k || !(one.taken || other.taken))
        return;
    edit(x, i, other.p, other.q, other.taken);
    edit(x, k, one.p, one.q, one.taken);
    decided(x, release, 1.0);
}

static void edit_either_way(Paths *x, int64_t k, int64_t p, int64_t q)
{
    if (bits(x) >> 63)
        edit(x, k, p, q, 1);
    else
        edit(x, k, q, p, 1);
}

/* A step that is undone later, or no such one. */
static void there_and_back(Paths *x, int64_t release, int64_t i)
{
    int64_t end = x->starts[release + 1], four[4], number, k;
    Slot one = x->slot[i];
    double m;
    if (one.taken) {
        four_cells(one.p, one.q, x->columns, four);
        if (!(number = losing(x, i + 1, end, four[2], four[3])))
            return;
        k = x->found[below(x, number)];
        double odds = (double)number / 2.0 / (double)(staying(x, i + 1, end) + 1);
        for (int64_t j = x->starts[release]; j < i; j++)
            forth(x, &x->slot[j]);
        m = (double)x->f.number;
        for (int64_t j = i - 1; j >= x->starts[release]; j--)
            back(x, &x->slot[j]);
        edit(x, i, 0, 0, 0);
        edit(x, k, 0, 0, 0);
        decided(x, release, odds / (m * m));
        return;
    }
    if (!(number = staying(x, i + 1, end)))
        return;
    k = x->found[below(x, number)];
    for (int64_t j = x->starts[release]; j < i; j++)
        forth(x, &x->slot[j]);
    m = (double)x->f.number;
    one.p = x->f.cell[below(x, x->f.number)];
    one.q = x->f.cell[below(x, x->f.number)];
    for (int64_t j = i - 1; j >= x->starts[release]; j--)
        back(x, &x->slot[j]);
    four_cells(one.p, one.q, x->columns, four);
    if (!differing(four, x->closed))
        return;
    double odds = 2.0 * m * m * (double)number / (double)(losing(x, i + 1, end, four[2], four[3]) + 1);
    edit(x, i, one.p, one.q, 1);
    edit_either_way(x, k, four[2], four[3]);
    decided(x, release, odds);
}

/* Whether two steps are one by way of a third column (1), or a third row (2). */
static int as_one(const Paths *x, const Slot *one, const Slot *other)
{
    int64_t c = x->columns;
    if (!one->taken || !other->taken)
        return 0;
    if (one->p / c == other->p / c && one->q / c == other->q / c && one->q % c == other->p % c
        && one->p % c != other->q % c)
        return 1;
    if (one->p % c == other->p % c && one->q / c == other->p / c && one->q % c == other->q % c
        && one->p / c != other->q / c)
        return 2;
    return 0;
}

static int64_t joinable(Paths *x, int64_t release, int64_t i)
{
    int64_t n = 0;
    for (int64_t k = x->starts[release]; k < x->starts[release + 1]; k++)
        if (k != i && as_one(x, &x->slot[i], &x->slot[k]))
            x->found[n++] = k;
    return n;
}

/* One step becomes two by way of a third column or row, or two become one. */
static void by_a_third(Paths *x, int64_t release, int64_t i)
{
    int64_t first = x->starts[release], end = x->starts[release + 1], c = x->columns, number, k;
    Slot one = x->slot[i];
    int joins = (int)(bits(x) >> 63);
    if (!one.taken)
        return;
    if (joins) {
        if (!(number = joinable(x, release, i)))
            return;
        k = x->found[below(x, number)];
        double ways = as_one(x, &one, &x->slot[k]) == 1 ? (double)c : (double)x->rows;
        double odds = (double)number / 2.0 / ways / (double)(staying(x, first, end) + 1);
        edit(x, i, one.p, x->slot[k].q, 1);
        edit(x, k, 0, 0, 0);
        decided(x, release, odds);
        return;
    }
    if (!(number = staying(x, first, end)))
        return;
    k = x->found[below(x, number)];
    int by_column = (int)(bits(x) >> 63);
    int64_t ways = by_column ? c : x->rows, third = below(x, ways), q, p;
    if (by_column) {
        if (third == one.p % c || third == one.q % c)
            return;
        q = one.q / c * c + third, p = one.p / c * c + third;
    } else {
        if (third == one.p / c || third == one.q / c)
            return;
        q = third * c + one.q % c, p = third * c + one.p % c;
    }
    edit(x, i, one.p, q, 1);
    edit(x, k, p, one.q, 1);
    double odds = 2.0 * (double)ways * (double)number / (double)joinable(x, release, i);
    decided(x, release, odds);
}

/* The cell that one step fills and another empties; -1 where there is none, or two. */
static int64_t passed_on(const Paths *x, const Slot *one, const Slot *other)
{
    int64_t four[4];
    if (!one->taken || !other->taken)
        return -1;
    four_cells(one->p, one->q, x->columns, four);
    int first = other->p == four[2] || other->q == four[2];
    int second = other->p == four[3] || other->q == four[3];
    return first == second ? -1 : first ? four[2] : four[3];
}

static int64_t following(Paths *x, int64_t release, int64_t i)
{
    int64_t n = 0;
    for (int64_t k = x->starts[release]; k < x->starts[release + 1]; k++)
        if (k != i && passed_on(x, &x->slot[i], &x->slot[k]) >= 0)
            x->found[n++] = k;
    return n;
}

/* Three units change their columns in a ring by two steps, which two of them begin. */
static void around_three(Paths *x, int64_t release, int64_t i)
{
    int64_t c = x->columns, number = following(x, release, i);
    if (!number)
        return;
    int64_t k = x->found[below(x, number)];
    Slot one = x->slot[i], other = x->slot[k];
    int64_t cell = passed_on(x, &one, &other), h = other.p == cell ? other.q : other.p;
    /* The first loses b of row a and d of row e, and fills b of e; the other empties that, and g of h. */
    int64_t ab = cell % c == one.p % c ? one.p : one.q, ed = ab == one.p ? one.q : one.p;
    int64_t a = ab / c, b = ab % c, e = ed / c, d = ed % c, g = h % c;
    h /= c;
    if (h == a || g == d)
        return;
    if (bits(x) >> 63) {
        edit_either_way(x, i, e * c + d, h * c + g);
        edit_either_way(x, k, a * c + b, h * c + d);
    } else {
        edit_either_way(x, i, a * c + b, h * c + g);
        edit_either_way(x, k, a * c + g, e * c + d);
    }
    int64_t back_again = following(x, release, i);
    if (back_again)
        decided(x, release, (double)number / (double)back_again);
    else
        restore(x);
}

/* So many of the first slots of a release as there are. */
static int64_t first_slots(const Paths *x, int64_t release, int64_t most)
{
    int64_t slots = x->starts[release + 1] - x->starts[release];
    return slots < most ? slots : most;
}

/* A step of one release, or a new one, is taken before all of them: there it goes, and the others undo it. */
static void before_all(Paths *x)
{
    int64_t four[4], to[8], again = 0, n = 0, most = (int64_t)1 << below(x, 7);
    int fresh = bits(x) >> 60 == 0;
    double ratio = 1.0, m = (double)x->f.number, chance = 0.0, chance_again = 0.0;
    int64_t of = below(x, x->releases), slots = first_slots(x, of, most);
    Slot one;
    if (!slots)
        return;
    one = x->slot[x->starts[of] + below(x, slots)];
    if (fresh) {
        one.p = x->f.cell[below(x, x->f.number)];
        one.q = x->f.cell[below(x, x->f.number)];
    }
    four_cells(one.p, one.q, x->columns, four);
    if (!(fresh || one.taken) || !differing(four, x->closed) || x->now[one.p] < 1 || x->now[one.q] < 1)
        return;
    for (int64_t j = 0; j < x->releases; j++) {
        int64_t first = x->starts[j], end = first + first_slots(x, j, most);
        int64_t undone = losing(x, first, end, four[2], four[3]), stay = staying(x, first, end);
        int64_t same = losing(x, first, end, one.p, one.q);
        if (same ? fresh || undone : !(stay = staying(x, first, end))) {
            restore(x);
            return;
        }
        to[j] = x->found[below(x, same ? same : stay)];
        if (same) {
            chance += (double)same / (double)(end - first);
            ratio *= (double)same / 2.0 / (double)(stay + 1);
            edit(x, to[j], 0, 0, 0);
        } else {
            ratio *= 2.0 * (double)stay / (double)(undone + 1);
            again += undone + 1;
            chance_again += (double)(undone + 1) / (double)(end - first);
            edit_either_way(x, to[j], four[2], four[3]);
        }
    }
    if (x->prior != 0.0)
        ratio *= pow((double)x->now[four[0]] * (double)x->now[four[1]]
                         / ((double)(x->now[four[2]] + 1) * (double)(x->now[four[3]] + 1)),
                     x->prior);
    moved(&x->f, x->now, four[0], four[1], four[2], four[3]);
    double all = (double)x->releases, then = (double)x->f.number;
    ratio *= (again ? 15.0 * chance_again / all : 2.0 / (then * then))
             / (fresh ? 2.0 / (m * m) : 15.0 * chance / all);
    for (n = 0; n < x->releases && ratio > 0.0; n++)
        ratio *= along(x, n, x->starts[n], to[n]);
    if (uniform(x) < ratio) {
        for (n = 0; n < x->releases; n++)
            keep(x, x->starts[n], to[n]);
        x->edits = 0;
    } else {
        moved(&x->f, x->now, four[2], four[3], four[0], four[1]);
        restore(x);
    }
}

/* New pairs where no step was taken, and either order of those of steps. */
static void drawn_again(Paths *x, int64_t release)
{
    int64_t first = x->starts[release], end = x->starts[release + 1];
    for (int64_t k = first; k < end; k++) {
        Slot *one = &x->slot[k];
        if (!one->taken)
            stays(x, one, x->theta[release]);
        else if (bits(x) >> 63) {
            int64_t p = one->p;
            one->p = one->q, one->q = p;
        }
        forth(x, one);
    }
    for (int64_t k = end - 1; k >= first; k--)
        back(x, &x->slot[k]);
}

/* Take in the slots; weights are worked out, and pairs below 0 drawn. 0 where a step cannot be taken. */
static int begun(Paths *x, const int64_t *p, const int64_t *q, const uint8_t *taken)
{
    int64_t four[4];
    int possible = 1;
    for (int64_t j = 0; j < x->releases; j++) {
        int64_t k = x->starts[j];
        for (; k < x->starts[j + 1] && possible; k++) {
            Slot *one = &x->slot[k];
            *one = (Slot){p[k], q[k], 0.0, taken[k], AS_BEFORE};
            if (p[k] < 0)
                while (!stays(x, one, x->theta[j]))
                    ;
            one->weight = weight_of(x, one, x->theta[j], four);
            possible = one->weight > 0.0;
            if (possible)
                forth(x, one);
        }
        for (k -= 1 + !possible; k >= x->starts[j]; k--)
            back(x, &x->slot[k]);
    }
    return possible;
}

static void swept(Paths *x)
{
    int64_t all = x->starts[x->releases];
    for (int64_t j = 0; j < x->releases; j++)
        drawn_again(x, j);
    for (int64_t n = 0; n < all; n++) {
        int64_t i = below(x, all), release = 0;
        while (x->starts[release + 1] <= i)
            release++;
        int64_t which = (int64_t)(bits(x) >> 60);
        if (which < x->mix[0])
            there_and_back(x, release, i);
        else if (which < x->mix[1])
            by_a_third(x, release, i);
        else if (which < x->mix[2])
            around_three(x, release, i);
        else if (which < x->mix[3])
            before_all(x);
        else
            at_another_time(x, release, i);
    }
}

/* Parameters: the sizes (releases, rows, columns, originals, sweeps for each of these); theta of the prior; the cells in which nobody can
 * be, where the steps of each release start, and its theta; then, all of which change: the original, the
 * pair of each step (below 0: to be drawn) and whether it is taken, and the state of chance; then the
 * originals; and, of sixteen moves, where those of each kind end: there and back, by a third, around three,
 * before all, and the rest at another time. */
static PyObject *chained(PyObject *module, PyObject *args)
{
    PyObject *given[10];
    Arrays a = {.held = 0};
    long long releases, rows, columns, originals, each;
    Paths x = {0};
    int possible = 1;
    (void)module;
    if (!PyArg_ParseTuple(args, "(LLLLL)dOOOOOOOOOO", &releases, &rows, &columns, &originals, &each, &x.prior,
                          &given[0], &given[1], &given[2], &given[3], &given[4], &given[5], &given[6],
                          &given[7], &given[8], &given[9]))
        return NULL;
    if (hold(&a, given, 10, 0x1F8)) {
        int64_t *p = a.view[4].buf, *q = a.view[5].buf, *state = a.view[7].buf;
        uint8_t *taken = a.view[6].buf;
        int32_t *out = a.view[8].buf;
        int64_t size = rows * columns, slots;
        x.rows = rows, x.columns = columns, x.releases = releases;
        x.closed = a.view[0].buf, x.starts = a.view[1].buf, x.theta = a.view[2].buf, x.now = a.view[3].buf;
        x.mix = a.view[9].buf;
        x.rng = (uint64_t)state[0];
        slots = x.starts[releases];
        x.slot = malloc((size_t)slots * sizeof *x.slot);
        x.then = malloc((size_t)slots * sizeof *x.then);
        x.found = malloc((size_t)(slots + 2 * size) * sizeof *x.found);
        if (!x.slot || !x.then || !x.found)
            PyErr_NoMemory();
        else {
            Py_BEGIN_ALLOW_THREADS
            x.f = (Filled){x.found + slots, x.found + slots + size, 0};
            for (int64_t k = 0; k < size; k++)
                if (x.now[k])
                    filled_now(&x.f, k);
            possible = begun(&x, p, q, taken);
            for (int64_t n = 0; n < originals && possible; n++) {
                for (int64_t one = 0; one < each; one++)
                    swept(&x);
                for (int64_t k = 0; k < size; k++)
                    out[n * size + k] = (int32_t)x.now[k];
            }
            for (int64_t k = 0; k < slots && possible; k++)
                p[k] = x.slot[k].p, q[k] = x.slot[k].q, taken[k] = (uint8_t)x.slot[k].taken;
            state[0] = (int64_t)x.rng;
            Py_END_ALLOW_THREADS
            if (!possible)
                PyErr_SetString(PyExc_ValueError, "a step cannot be taken where it stands");
        }
        free(x.slot);
        free(x.then);
        free(x.found);
    }
    return all_let_go(&a);
}

static PyMethodDef methods[] = {
    {"chained", chained, METH_VARARGS, "Steps from an original to its releases: see exchange_paths.py."},
    {NULL, NULL, 0, NULL},
};

MODULE(path_moves, methods)
