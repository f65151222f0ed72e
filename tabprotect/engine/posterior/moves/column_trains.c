/* Sweeps over one strip of swaps as high as a table: the message over a column is a train of cores, one for
 * each of its swaps. See trains.py, where the error is stated. */

#include "../../extension.h"

#define ROW 243
#define REACH 4
#define CHANGES (2 * REACH + 1)
#define FLOOR 0.03
#define NEVER 1e-60
#define INFEASIBLE (-1)
#define TOO_WIDE (-2)
#define NO_MEMORY (-3)

typedef struct {
    double *at;
    int64_t size;
} Room;

/* Room for so many numbers; what it held is lost. */
static double *room(Room *r, int64_t size)
{
    if (r->size < size) {
        free(r->at);
        r->size = size + size / 2;
        r->at = malloc((size_t)r->size * sizeof(double));
        if (!r->at)
            r->size = 0;
#ifdef POISONED
        if (r->at)
            memset(r->at, 0xFF, (size_t)r->size * sizeof(double));
#endif
    }
    return r->at;
}

/* Cores (rank[k] x 3 x rank[k + 1]) over the coefficients of a column. */
typedef struct {
    int64_t *rank;
    double **core;
} Train;

typedef struct {
    int64_t n, k, most;
    double tolerance;
    const double *table, *weights;
    const int32_t *rows;
} Strip;

typedef struct {
    Strip s;
    Py_buffer view[3];
    int held, whole;
    Train *message;
    /* Of each coefficient: roots of weights; what was left out of each core by the sweeps. */
    double *root, *left_out;
    double error;
} Swept;

static void emptied(Train *t, int64_t k)
{
    for (int64_t i = 0; t->core && i < k; i++)
        free(t->core[i]);
    free(t->core);
    free(t->rank);
    t->core = NULL;
    t->rank = NULL;
}

static int begun(Train *t, int64_t k)
{
    t->core = calloc((size_t)k, sizeof *t->core);
    t->rank = malloc((size_t)(k + 1) * sizeof *t->rank);
    if (t->rank)
        t->rank[0] = t->rank[k] = 1;
    return t->core && t->rank;
}

static double *put(Train *t, int64_t i, const double *from, int64_t size)
{
    double *to = malloc((size_t)size * sizeof(double));
    if (to)
        memcpy(to, from, (size_t)size * sizeof(double));
    free(t->core[i]);
    return t->core[i] = to;
}

static double weight_of(const Strip *s, int64_t column, int64_t row, int64_t change)
{
    return s->weights[(column * (s->k + 1) + row) * CHANGES + change + REACH];
}

/* The factor of one swap over x[r-1], x[r], x[r+1], y[r+1], y[r], with the weights of its cells. */
static void factor_of(const Strip *s, int64_t c, int64_t r, double *f)
{
    const double *from = s->table + (int64_t)s->rows[c * s->k + r] * ROW;
    for (int64_t i = 0; i < ROW; i++) {
        f[i] = from[i];
        if (s->weights) {
            int64_t x = i / 27 % 3 - 1, x1 = i / 9 % 3 - 1, y1 = i / 3 % 3 - 1, y = i % 3 - 1;
            f[i] *= weight_of(s, c + 1, r + 1, x - x1 + y1 - y);
            if (!r)
                f[i] *= weight_of(s, c + 1, 0, y - x);
        }
    }
}

/* out (m x n) = a (m x l) b (l x n). */
CLONES static void product(const double *a, const double *b, double *out, int64_t m, int64_t l, int64_t n)
{
    memset(out, 0, (size_t)(m * n) * sizeof(double));
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < l; j++) {
            double by = a[i * l + j];
            for (int64_t k = 0; by != 0.0 && k < n; k++)
                out[i * n + k] += by * b[j * n + k];
        }
}

CLONES static double norm_of(const double *a, int64_t size)
{
    double sum[4] = {0.0};
    int64_t i = 0;
    for (; i + 4 <= size; i += 4)
        for (int64_t k = 0; k < 4; k++)
            sum[k] += a[i + k] * a[i + k];
    for (; i < size; i++)
        sum[0] += a[i] * a[i];
    return sqrt(sum[0] + sum[1] + (sum[2] + sum[3]));
}

static void scaled(double *a, int64_t size, double by)
{
    for (int64_t i = 0; i < size; i++)
        a[i] *= by;
}

/* Vectors that lie side by side, LANES at a time. */
#define LANES 8
#if defined(__GNUC__)
typedef double Half __attribute__((vector_size(LANES / 2 * sizeof(double)), aligned(sizeof(double))));
#define EACH(x) ((Half){x, x, x, x})

/* The squares of their norms. */
INLINE void squared(const double *vectors, int64_t length, double *norms)
{
    const Half *v = (const Half *)vectors;
    Half one = {0.0}, other = {0.0};
    for (int64_t k = 0; k < length; k++) {
        one += v[2 * k] * v[2 * k];
        other += v[2 * k + 1] * v[2 * k + 1];
    }
    memcpy(norms, &one, sizeof one);
    memcpy(norms + LANES / 2, &other, sizeof other);
}

/* What they have along a vector of norm 1 is taken from them; the squares of the norms that are left. */
INLINE void projected(double *vectors, const double *b, int64_t length, double *along, double *norms)
{
    Half *v = (Half *)vectors, one = {0.0}, other = {0.0};
    for (int64_t k = 0; k < length; k++) {
        one += v[2 * k] * EACH(b[k]);
        other += v[2 * k + 1] * EACH(b[k]);
    }
    memcpy(along, &one, sizeof one);
    memcpy(along + LANES / 2, &other, sizeof other);
    for (int64_t k = 0; k < length; k++) {
        v[2 * k] -= one * EACH(b[k]);
        v[2 * k + 1] -= other * EACH(b[k]);
    }
    squared(vectors, length, norms);
}
#else
static void squared(const double *v, int64_t length, double *norms)
{
    memset(norms, 0, LANES * sizeof *norms);
    for (int64_t k = 0; k < length; k++)
        for (int64_t j = 0; j < LANES; j++)
            norms[j] += v[k * LANES + j] * v[k * LANES + j];
}

static void projected(double *v, const double *b, int64_t length, double *along, double *norms)
{
    memset(along, 0, LANES * sizeof *along);
    for (int64_t k = 0; k < length; k++)
        for (int64_t j = 0; j < LANES; j++)
            along[j] += v[k * LANES + j] * b[k];
    for (int64_t k = 0; k < length; k++)
        for (int64_t j = 0; j < LANES; j++)
            v[k * LANES + j] -= along[j] * b[k];
    squared(v, length, norms);
}
#endif

/* Vectors (m x length) as coefficients (m x found) of an orthonormal basis (found x length): the largest of
 * those that are left goes next, until they are small together. Returns how many it takes. In ``turned``
 * vectors lie side by side, LANES at a time, so that sums are those of many at once; those that are zero, and
 * what is zero in all, are left out there. ``places`` has room for m + length. */
CLONES static int64_t split(const double *vectors, int64_t m, int64_t length, double tolerance, int64_t most,
                            double *basis, double *coefficients, double *turned, int64_t *places)
{
    int64_t *some = places, *filled = places + m, many = 0, long_ = 0, found = 0;
    double all = 0.0, left;
    memset(filled, 0, (size_t)length * sizeof *filled);
    for (int64_t i = 0; i < m; i++) {
        int64_t any = 0;
        for (int64_t k = 0; k < length; k++) {
            int64_t here = vectors[i * length + k] != 0.0;
            any |= here;
            filled[k] |= here;
        }
        if (any)
            some[many++] = i;
    }
    for (int64_t k = 0; k < length; k++)
        if (filled[k])
            filled[long_++] = k;
    int64_t limit = many < long_ ? many : long_;
    int64_t blocks = (many + LANES - 1) / LANES, each = long_ * LANES;
    double *norms = turned + blocks * each, *along = norms + blocks * LANES;
    memset(turned + (blocks - 1) * each, 0, (size_t)each * sizeof(double));
    for (int64_t i = 0; i < many; i++)
        for (int64_t k = 0; k < long_; k++)
            turned[i / LANES * each + k * LANES + i % LANES] = vectors[some[i] * length + filled[k]];
    for (int64_t i = 0; i < blocks; i++)
        squared(turned + i * each, long_, norms + i * LANES);
    for (int64_t i = 0; i < many; i++)
        all += norms[i];
    left = all;
    while (found < limit && (!found || left > tolerance * tolerance * all)) {
        double *b = basis + found * long_, size = 0.0;
        int64_t at = 0;
        if (found == most)
            return TOO_WIDE;
        for (int64_t i = 1; i < many; i++)
            if (norms[i] > norms[at])
                at = i;
        for (int64_t k = 0; k < long_; k++)
            b[k] = turned[at / LANES * each + k * LANES + at % LANES];
        for (int64_t g = 0; g < found; g++) {
            double common = 0.0;
            for (int64_t k = 0; k < long_; k++)
                common += b[k] * basis[g * long_ + k];
            for (int64_t k = 0; k < long_; k++)
                b[k] -= common * basis[g * long_ + k];
        }
        size = norm_of(b, long_);
        if (!(size > 0.0))
            break;
        scaled(b, long_, 1.0 / size);
        for (int64_t i = 0; i < blocks; i++)
            projected(turned + i * each, b, long_, along + i * LANES, norms + i * LANES);
        left = 0.0;
        for (int64_t i = 0; i < many; i++) {
            left += norms[i];
            coefficients[i * limit + found] = along[i];
        }
        found++;
    }
    /* Back among those that are zero: from the last, as what is there is still to be read. */
    for (int64_t i = 0; i < many; i++)
        memmove(coefficients + i * found, coefficients + i * limit, (size_t)found * sizeof(double));
    for (int64_t i = m - 1, j = many - 1; i >= 0; i--)
        if (j >= 0 && some[j] == i)
            memmove(coefficients + i * found, coefficients + j-- * found, (size_t)found * sizeof(double));
        else
            memset(coefficients + i * found, 0, (size_t)found * sizeof(double));
    for (int64_t g = found - 1; long_ < length && g >= 0; g--)
        for (int64_t k = length - 1, j = long_ - 1; k >= 0; k--)
            basis[g * length + k] = j >= 0 && filled[j] == k ? basis[g * long_ + j--] : 0.0;
    *norms = sqrt(left);
    *turned = *norms;
    return found;
}

typedef struct {
    Room theta, other, vectors, basis, coefficients, turned, sums, places;
} Rooms;

static void let_rooms(Rooms *r)
{
    Room *all[] = {&r->theta, &r->other, &r->vectors, &r->basis, &r->coefficients, &r->turned, &r->sums, &r->places};
    for (int i = 0; i < 8; i++)
        free(all[i]->at);
}

/* A split in the rooms: the vectors lie in ``vectors``. */
static int64_t split_in(Rooms *w, const Strip *s, int64_t m, int64_t length, double *rest)
{
    int64_t limit = m < length ? m : length;
    if (!room(&w->basis, limit * length) || !room(&w->coefficients, m * limit)
        || !room(&w->turned, (m + LANES) * (length + 2)) || !room(&w->places, m + length))
        return NO_MEMORY;
    int64_t found = split(w->vectors.at, m, length, s->tolerance, s->most, w->basis.at, w->coefficients.at,
                          w->turned.at, (int64_t *)w->places.at);
    *rest = w->turned.at[0];
    return found;
}

/* Sums of the trains' parts: of the coefficients before each bond, or from it on, times their roots. */
static void summed(const Train *t, const double *root, int64_t bond, const double *from, double *to, int left)
{
    int64_t a = t->rank[bond], b = t->rank[bond + 1];
    const double *core = t->core[bond];
    memset(to, 0, (size_t)(left ? b : a) * sizeof(double));
    for (int64_t i = 0; i < a; i++)
        for (int64_t x = 0; x < 3; x++)
            for (int64_t j = 0; j < b; j++) {
                double term = core[(i * 3 + x) * b + j] * root[x];
                if (left)
                    to[j] += term * from[i];
                else
                    to[i] += term * from[j];
            }
}

/* Left-orthonormal cores, the centre at the last, which gets the norm 1; ``left_out`` of each. */
static int64_t swept_right(Train *t, const Swept *w, const double *root, Rooms *rooms, double *left_out,
                           double *error)
{
    int64_t k = w->s.k, widest = 1;
    double before = 1.0;
    for (int64_t i = 0; i <= k; i++)
        widest = t->rank[i] > widest ? t->rank[i] : widest;
    double *right = room(&rooms->sums, (k + 2) * widest + 2 * widest), *now = right + (k + 1) * widest;
    if (!right)
        return NO_MEMORY;
    right[k * widest] = now[0] = 1.0;
    for (int64_t i = k - 1; i >= 0; i--)
        summed(t, root + 3 * i, i, right + (i + 1) * widest, right + i * widest, 0);
    double total = right[0];
    for (int64_t i = 0; i < k - 1; i++) {
        int64_t a = 3 * t->rank[i], b = t->rank[i + 1], e = t->rank[i + 2];
        double *v = room(&rooms->vectors, a * b), rest = 0.0, beyond = 1.0, *next = now + widest;
        if (!v)
            return NO_MEMORY;
        for (int64_t l = 0; l < a; l++)
            for (int64_t j = 0; j < b; j++)
                v[j * a + l] = t->core[i][l * b + j];
        int64_t found = split_in(rooms, &w->s, b, a, &rest);
        if (found <= 0)
            return found ? found : INFEASIBLE;
        for (int64_t j = i + 1; j <= k; j++)
            if (t->rank[j] == 1 && (j > i + 1 || b == 1)) {
                beyond = fabs(right[j * widest]);
                break;
            }
        /* Of a part beyond a bond of rank 1 the sum stands for the norm: it keeps its sign. */
        left_out[i] = rest;
        *error += rest * before * (beyond < 1.0 ? beyond : 1.0) / fabs(total);
        double *core = room(&rooms->other, a * found > found * 3 * e ? a * found : found * 3 * e);
        if (!core)
            return NO_MEMORY;
        for (int64_t l = 0; l < a; l++)
            for (int64_t g = 0; g < found; g++)
                core[l * found + g] = rooms->basis.at[g * a + l];
        if (!put(t, i, core, a * found))
            return NO_MEMORY;
        memset(core, 0, (size_t)(found * 3 * e) * sizeof(double));
        for (int64_t j = 0; j < b; j++)
            for (int64_t g = 0; g < found; g++) {
                double by = rooms->coefficients.at[j * found + g];
                for (int64_t l = 0; l < 3 * e; l++)
                    core[g * 3 * e + l] += by * t->core[i + 1][j * 3 * e + l];
            }
        t->rank[i + 1] = found;
        if (!put(t, i + 1, core, found * 3 * e))
            return NO_MEMORY;
        summed(t, root + 3 * i, i, now, next, 1);
        memcpy(now, next, (size_t)found * sizeof(double));
        if (found == 1)
            before = fabs(now[0]);
    }
    double size = norm_of(t->core[k - 1], t->rank[k - 1] * 3);
    scaled(t->core[k - 1], t->rank[k - 1] * 3, 1.0 / size);
    for (int64_t i = 0; i < k - 1; i++)
        left_out[i] /= size;
    return 1;
}

/* What is known at a step: see ``forward``. */
typedef struct {
    double *theta;
    int64_t left, right;
    /* The norm of what comes out of the step, and what was left out of it, where theta has the norm 1. */
    double out, rest;
} Centre;

/* Coefficients over which a factor is not zero: where its own lie, those of theta and of what comes out. */
typedef struct {
    int64_t at, from, to;
    double sum;
} Open;

/* One column of swaps: from the message of the column after it (``next``, left-orthonormal) to its own
 * (``to``, right-orthonormal). The centre is over (bond before x[r-1]; x[r-1], x[r], x[r+1], y[r+1]; bond
 * after y[r+1]). The roots of this column are found on the way unless ``known``. */
CLONES static int64_t forward(Swept *w, int64_t c, const Train *next, Train *to, Rooms *rooms, int known, Centre *centres,
                       double *laws, double *error)
{
    const Strip *s = &w->s;
    int64_t k = s->k, wide = 1, g = 1, left, status = NO_MEMORY;
    double *root = w->root + c * k * 3, *after = root + k * 3, f[ROW], before_sum = 1.0, beyond = 1.0;
    for (int64_t i = 0; i <= k; i++)
        wide = next->rank[i] > wide ? next->rank[i] : wide;
    double *sums = malloc((size_t)(k + 1) * wide * sizeof(double));
    double *right = malloc(sizeof(double)), *theta;
    Open open[ROW / 3];
    if (!sums || !right)
        goto done;
    sums[0] = right[0] = 1.0;
    for (int64_t i = 0; i < k; i++)
        summed(next, after + 3 * i, i, sums + i * wide, sums + (i + 1) * wide, 1);
    left = next->rank[k - 2];
    if (!(theta = room(&rooms->theta, left * 9)))
        goto done;
    product(next->core[k - 2], next->core[k - 1], theta, left * 3, next->rank[k - 1], 3);
    for (int64_t r = k - 1; r >= 0; r--) {
        int64_t above = r ? 3 : 1, below = r < k - 1 ? 3 : 1, inner = 3 * below * below * g;
        if (r < k - 1 && r) {
            left = next->rank[r - 1];
            double *joined = room(&rooms->other, left * 3 * inner);
            if (!joined)
                goto done;
            product(next->core[r - 1], theta, joined, left * 3, next->rank[r], inner);
            Room kept = rooms->theta;
            rooms->theta = rooms->other;
            rooms->other = kept;
            theta = joined;
        } else if (!r)
            left = 1;
        double size = norm_of(theta, left * above * inner), joint[ROW] = {0}, chance[3] = {0}, total = 0.0;
        if (!(size > 0.0)) {
            status = INFEASIBLE;
            goto done;
        }
        scaled(theta, left * above * inner, 1.0 / size);
        if (centres) {
            Centre *one = centres + r;
            one->left = left;
            one->right = g;
            one->theta = malloc((size_t)(left * above * inner) * sizeof(double));
            if (!one->theta)
                goto done;
            memcpy(one->theta, theta, (size_t)(left * above * inner) * sizeof(double));
        }
        factor_of(s, c, r, f);
        int64_t opened = 0;
        for (int64_t a = 0; a < above; a++)
            for (int64_t x = 0; x < 3; x++)
                for (int64_t x1 = 0; x1 < below; x1++)
                    for (int64_t y1 = 0; y1 < below; y1++) {
                        int64_t at = 81 * (r ? a : 1) + 27 * x + (r < k - 1 ? 9 * x1 + 3 * y1 : 12);
                        if (f[at] != 0.0 || f[at + 1] != 0.0 || f[at + 2] != 0.0) {
                            Open *one = open + opened++;
                            one->at = at;
                            one->from = ((a * 3 + x) * below + x1) * below + y1;
                            one->to = (a * 3 + x) * 3 * below + y1;
                            one->sum = 0.0;
                        }
                    }
        for (int64_t l = 0; l < left; l++)
            for (int64_t i = 0; i < opened; i++) {
                const double *t = theta + (l * above * inner / g + open[i].from) * g;
                double part = 0.0;
                for (int64_t j = 0; j < g; j++)
                    part += t[j] * right[j];
                open[i].sum += part * sums[(r ? r - 1 : 0) * wide + l];
            }
        for (int64_t i = 0; i < opened; i++) {
            int64_t at = open[i].at, x = at / 27 % 3, x1 = at / 9 % 3, y1 = at / 3 % 3;
            double sum = open[i].sum * after[3 * r + x] * (r ? after[3 * (r - 1) + at / 81] : 1.0);
            if (r < k - 1)
                sum *= after[3 * (r + 1) + x1] * root[3 * (r + 1) + y1];
            for (int64_t y = 0; y < 3; y++) {
                joint[at + y] = sum * f[at + y];
                chance[y] += joint[at + y];
            }
        }
        total = chance[0] + chance[1] + chance[2];
        if (!(fabs(total) > 0.0)) {
            status = INFEASIBLE;
            goto done;
        }
        if (!known) {
            double support = 0.0;
            for (int64_t y = 0; y < 3; y++)
                support += chance[y] / total >= NEVER;
            for (int64_t y = 0; y < 3; y++)
                root[3 * r + y] = chance[y] / total >= NEVER
                    ? sqrt((chance[y] / total + FLOOR) / (1.0 + FLOOR * support)) : 0.0;
        }
        if (laws) {
            double *law = laws + ((c + 1) * (k + 1) + r + 1) * CHANGES, *edge = law - CHANGES;
            for (int64_t i = 0; i < ROW; i++) {
                int64_t x = i / 27 % 3, x1 = i / 9 % 3, y1 = i / 3 % 3, y = i % 3;
                law[x - x1 + y1 - y + REACH] += joint[i] / total;
                if (!r)
                    edge[y - x + REACH] += joint[i] / total;
            }
        }
        /* Weighted by roots: what is summed out leaves its own, what comes gets it. */
        for (int64_t i = 0; i < ROW; i++) {
            double by = root[3 * r + i % 3];
            f[i] = by > 0.0 ? f[i] / by : 0.0;
            if (r < k - 1)
                f[i] *= after[3 * (r + 1) + i / 9 % 3];
            if (!r)
                f[i] *= after[i / 27 % 3];
        }
        int64_t m = r ? left * above * 9 : 3, length = below * g;
        double *v = room(&rooms->vectors, m * length), rest = 0.0;
        if (!v)
            goto done;
        memset(v, 0, (size_t)(m * length) * sizeof(double));
        for (int64_t l = 0; l < (r ? left : 1); l++)
            for (int64_t i = 0; i < opened; i++) {
                const double *t = theta + (l * above * inner / g + open[i].from) * g, *by = f + open[i].at;
                double *o = v + (r ? l * above * 9 * below + open[i].to : open[i].at / 3 % 3 * (below == 3)) * g;
                for (int64_t y = 0; y < 3; y++, o += length)
                    for (int64_t j = 0; by[y] != 0.0 && j < g; j++)
                        o[j] += by[y] * t[j];
            }
        double out = centres ? norm_of(v, m * length) : 0.0;
        if (r == k - 1) {
            if (!(theta = room(&rooms->theta, m)))
                goto done;
            memcpy(theta, v, (size_t)m * sizeof(double));
        } else {
            int64_t found = split_in(rooms, s, m, length, &rest);
            if (found <= 0) {
                status = found ? found : INFEASIBLE;
                goto done;
            }
            double *more = malloc((size_t)found * sizeof(double));
            to->rank[r + 1] = found;
            if (!more || !put(to, r + 1, rooms->basis.at, found * length)) {
                free(more);
                goto done;
            }
            for (int64_t b = r ? r - 1 : 0; b >= 0; b--)
                if (next->rank[b] == 1) {
                    before_sum = fabs(sums[b * wide]);
                    break;
                }
            *error += rest * before_sum * beyond / fabs(total);
            summed(to, root + 3 * (r + 1), r + 1, right, more, 0);
            free(right);
            right = more;
            g = found;
            if (g == 1)
                beyond = fabs(right[0]);
            if (!(theta = room(&rooms->theta, m * g)))
                goto done;
            memcpy(theta, rooms->coefficients.at, (size_t)(m * g) * sizeof(double));
        }
        if (centres) {
            centres[r].out = out;
            centres[r].rest = rest;
        }
    }
    status = put(to, 0, theta, 3 * g) ? 1 : NO_MEMORY;
done:
    free(sums);
    free(right);
    return status;
}

/* Overlaps of two trains before and from each bond on, (wide x wide) each, and the part of both that is
 * beyond the nearest bond where both have rank 1. */
typedef struct {
    double *left, *right, *before, *beyond;
    int64_t wide;
} Overlaps;

static void let_overlaps(Overlaps *o)
{
    free(o->left);
    free(o->right);
    free(o->before);
    free(o->beyond);
}

static int overlapped(const Train *m, const Train *t, int64_t k, Overlaps *o)
{
    int64_t wide = 1;
    for (int64_t i = 0; i <= k; i++) {
        wide = m->rank[i] > wide ? m->rank[i] : wide;
        wide = t->rank[i] > wide ? t->rank[i] : wide;
    }
    o->wide = wide;
    o->left = calloc((size_t)((k + 1) * wide * wide), sizeof(double));
    o->right = calloc((size_t)((k + 1) * wide * wide), sizeof(double));
    o->before = malloc((size_t)(k + 2) * sizeof(double));
    o->beyond = malloc((size_t)(k + 2) * sizeof(double));
    double *part = malloc((size_t)(3 * wide * wide) * sizeof(double));
    if (!o->left || !o->right || !o->before || !o->beyond || !part) {
        free(part);
        return 0;
    }
    o->left[0] = o->right[k * wide * wide] = 1.0;
    for (int64_t i = 0; i < k; i++) {
        int64_t a = m->rank[i], b = m->rank[i + 1], d = t->rank[i], e = t->rank[i + 1];
        const double *from = o->left + i * wide * wide;
        double *to = o->left + (i + 1) * wide * wide;
        /* part[d][x][b] = sum over a of from[d][a] core[a][x][b] */
        product(from, m->core[i], part, d, a, 3 * b);
        for (int64_t l = 0; l < 3 * d; l++)
            for (int64_t j = 0; j < e; j++)
                for (int64_t g = 0; g < b; g++)
                    to[j * b + g] += t->core[i][l * e + j] * part[l * b + g];
    }
    for (int64_t i = k - 1; i >= 0; i--) {
        int64_t a = m->rank[i], b = m->rank[i + 1], d = t->rank[i], e = t->rank[i + 1];
        const double *from = o->right + (i + 1) * wide * wide;
        double *to = o->right + i * wide * wide;
        /* part[a][x][e] = sum over b of core[a][x][b] from[b][e] */
        product(m->core[i], from, part, 3 * a, b, e);
        for (int64_t l = 0; l < a; l++)
            for (int64_t j = 0; j < d; j++)
                for (int64_t g = 0; g < 3 * e; g++)
                    to[l * d + j] += part[l * 3 * e + g] * t->core[i][j * 3 * e + g];
    }
    free(part);
    for (int64_t i = 0; i <= k; i++) {
        int one = m->rank[i] == 1 && t->rank[i] == 1;
        o->before[i] = one ? fabs(o->left[i * wide * wide]) : o->before[i ? i - 1 : 0];
    }
    for (int64_t i = k; i >= 0; i--) {
        int one = m->rank[i] == 1 && t->rank[i] == 1;
        o->beyond[i] = one ? fabs(o->right[i * wide * wide]) : o->beyond[i < k ? i + 1 : k];
    }
    o->beyond[k + 1] = 1.0;
    return 1;
}

/* Right-orthonormal cores, the centre at the first, which gets the norm 1. */
static int64_t swept_left(Train *t, const Strip *s, Rooms *rooms, double *left_out)
{
    for (int64_t i = s->k - 1; i > 0; i--) {
        int64_t a = t->rank[i], b = 3 * t->rank[i + 1], before = 3 * t->rank[i - 1];
        double *v = room(&rooms->vectors, a * b), rest = 0.0;
        if (!v)
            return NO_MEMORY;
        memcpy(v, t->core[i], (size_t)(a * b) * sizeof(double));
        int64_t found = split_in(rooms, s, a, b, &rest);
        if (found <= 0)
            return found ? found : INFEASIBLE;
        left_out[i - 1] = rest;
        double *core = room(&rooms->other, before * found);
        if (!core || !put(t, i, rooms->basis.at, found * b))
            return NO_MEMORY;
        product(t->core[i - 1], rooms->coefficients.at, core, before, a, found);
        t->rank[i] = found;
        if (!put(t, i - 1, core, before * found))
            return NO_MEMORY;
    }
    double size = norm_of(t->core[0], 3 * t->rank[1]);
    if (!(size > 0.0))
        return INFEASIBLE;
    scaled(t->core[0], 3 * t->rank[1], 1.0 / size);
    for (int64_t i = 0; i < s->k - 1; i++)
        left_out[i] /= size;
    return 1;
}

/* The weights of the first column, a train over its coefficients. */
static int64_t first_outside(const Swept *w, Train *t, Rooms *rooms, double *left_out)
{
    const Strip *s = &w->s;
    int64_t k = s->k, rank = s->weights ? 3 : 1;
    for (int64_t i = 0; i < k; i++) {
        int64_t a = i ? rank : 1, b = i < k - 1 ? rank : 1;
        double core[27] = {0};
        t->rank[i] = a;
        for (int64_t l = 0; l < a; l++)
            for (int64_t y = 0; y < 3; y++) {
                double by = w->root[3 * i + y];
                if (s->weights) {
                    by *= weight_of(s, 0, i, (i ? l - 1 : 0) - (y - 1));
                    if (i == k - 1)
                        by *= weight_of(s, 0, k, y - 1);
                }
                core[(l * 3 + y) * b + (b == 3 ? y : 0)] = by;
            }
        if (!put(t, i, core, a * 3 * b))
            return NO_MEMORY;
    }
    return swept_left(t, s, rooms, left_out);
}

/* The laws of the first column, whose cells change by what is above less what is at them. */
static void first_laws(const Swept *w, const Train *o, const Overlaps *lap, double *laws)
{
    int64_t k = w->s.k, wide = lap->wide;
    const Train *m = w->message;
    for (int64_t r = 0; r <= k; r++) {
        double total = 0.0, *law = laws + r * CHANGES;
        for (int64_t above = r ? 0 : 1; above < (r ? 3 : 2); above++)
            for (int64_t y = r < k ? 0 : 1; y < (r < k ? 3 : 2); y++) {
                /* Both trains with these two coefficients; before them and after them, overlaps. */
                int64_t first = r ? r - 1 : r, last = r < k ? r : r - 1, d = o->rank[first], a = m->rank[first];
                double sum = 0.0;
                const double *left = lap->left + first * wide * wide, *right = lap->right + (last + 1) * wide * wide;
                int64_t b = m->rank[last + 1], e = o->rank[last + 1];
                for (int64_t i = 0; i < a; i++)
                    for (int64_t j = 0; j < d; j++)
                        for (int64_t g = 0; g < b; g++)
                            for (int64_t h = 0; h < e; h++) {
                                double one = 0.0, two = 0.0;
                                if (first == last) {
                                    int64_t x = r ? above : y;
                                    one = m->core[first][(i * 3 + x) * b + g];
                                    two = o->core[first][(j * 3 + x) * e + h];
                                } else {
                                    int64_t p = m->rank[last], q = o->rank[last];
                                    for (int64_t n = 0; n < p; n++)
                                        one += m->core[first][(i * 3 + above) * p + n]
                                            * m->core[last][(n * 3 + y) * b + g];
                                    for (int64_t n = 0; n < q; n++)
                                        two += o->core[first][(j * 3 + above) * q + n]
                                            * o->core[last][(n * 3 + y) * e + h];
                                }
                                sum += left[j * a + i] * one * two * right[g * e + h];
                            }
                law[above - y + REACH] += sum;
                total += sum;
            }
        for (int64_t i = 0; i < CHANGES; i++)
            law[i] /= total;
    }
}

/* One column the other way: from the weights outside its message (``o``, right-orthonormal) to those of
 * the column after it (``to``, left-orthonormal, then swept), and the laws of the cells between. */
static int64_t outwards(Swept *w, int64_t c, const Train *o, Train *to, Rooms *rooms, double *laws, double *error)
{
    const Strip *s = &w->s;
    int64_t k = s->k, status = NO_MEMORY, lo = 1, go = o->rank[2 < k ? 2 : k];
    const double *root = w->root + c * k * 3, *after = root + k * 3;
    const Train *next = w->message + c + 1;
    Centre *centres = calloc((size_t)k, sizeof *centres);
    Train inner = {NULL, NULL};
    Overlaps lap = {NULL, NULL, NULL, NULL, 0};
    double *outside = malloc((size_t)(9 * go) * sizeof(double)), *more = NULL, *joined = NULL;
    double *overlap = malloc(sizeof(double)), before = 1.0, unused = 0.0, f[ROW];
    if (!centres || !outside || !overlap || !begun(&inner, k))
        goto done;
    overlap[0] = 1.0;
    if ((status = forward(w, c, next, &inner, rooms, 1, centres, NULL, &unused)) != 1)
        goto done;
    status = NO_MEMORY;
    if (!overlapped(&inner, o, k, &lap))
        goto done;
    product(o->core[0], o->core[1], outside, 3, o->rank[1], 3 * go);
    double size = norm_of(outside, 9 * go);
    /* Nothing outside depends on x[0]. */
    if (!(more = malloc((size_t)(27 * go) * sizeof(double))))
        goto done;
    for (int64_t x = 0; x < 3; x++)
        memcpy(more + x * 9 * go, outside, (size_t)(9 * go) * sizeof(double));
    free(outside);
    outside = more;
    more = NULL;
    for (int64_t r = 0; r < k; r++) {
        int64_t above = r ? 3 : 1, below = r < k - 1 ? 3 : 1, bond = r + 2 < k ? r + 2 : k;
        Centre *one = centres + r;
        int64_t left = one->left, g = one->right, rows = above * 3 * below * below;
        const double *right = lap.right + bond * lap.wide * lap.wide;
        double *part = malloc((size_t)(lo * rows * g) * sizeof(double)), joint[ROW] = {0}, total = 0.0;
        double *whole = malloc((size_t)(lo * rows * go) * sizeof(double));
        if (!part || !whole) {
            free(part);
            free(whole);
            goto done;
        }
        if (r)
            size = norm_of(outside, lo * above * 9 * below * go);
        product(overlap, one->theta, part, lo, left, rows * g);
        product(part, right, whole, lo * rows, g, go);
        factor_of(s, c, r, f);
        for (int64_t i = 0; i < ROW; i++) {
            double by = root[3 * r + i % 3];
            f[i] = by > 0.0 ? f[i] / by : 0.0;
            if (r < k - 1)
                f[i] *= after[3 * (r + 1) + i / 9 % 3];
            if (!r)
                f[i] *= after[i / 27 % 3];
        }
        if (!(more = calloc((size_t)(lo * rows * go), sizeof(double)))) {
            free(part);
            free(whole);
            goto done;
        }
        for (int64_t l = 0; l < lo; l++)
            for (int64_t a = 0; a < above; a++)
                for (int64_t x = 0; x < 3; x++)
                    for (int64_t x1 = 0; x1 < below; x1++)
                        for (int64_t y1 = 0; y1 < below; y1++) {
                            int64_t to_ = ((((l * above + a) * 3 + x) * below + x1) * below + y1) * go;
                            int64_t at = 81 * (r ? a : 1) + 27 * x + (r < k - 1 ? 9 * x1 + 3 * y1 : 12);
                            for (int64_t y = 0; y < 3; y++) {
                                const double *out =
                                    outside + ((((l * above + a) * 3 + x) * 3 + y) * below + y1) * go;
                                double sum = 0.0;
                                for (int64_t h = 0; h < go; h++) {
                                    sum += whole[to_ + h] * out[h];
                                    more[to_ + h] += f[at + y] * out[h];
                                }
                                joint[at + y] += f[at + y] * sum;
                            }
                        }
        free(part);
        free(whole);
        for (int64_t i = 0; i < ROW; i++)
            total += joint[i];
        if (!(fabs(total) > 0.0)) {
            status = INFEASIBLE;
            goto done;
        }
        double *law = laws + ((c + 1) * (k + 1) + r + 1) * CHANGES, *edge = law - CHANGES;
        for (int64_t i = 0; i < ROW; i++) {
            int64_t x = i / 27 % 3, x1 = i / 9 % 3, y1 = i / 3 % 3, y = i % 3;
            law[x - x1 + y1 - y + REACH] += joint[i] / total;
            if (!r)
                edge[y - x + REACH] += joint[i] / total;
        }
        *error += total > 0.0 ? one->rest * size * before * lap.beyond[bond] / total : INFINITY;
        free(outside);
        outside = more;
        more = NULL;
        double rest = 0.0;
        if (r) {
            /* The coefficient above is split off to the left. */
            int64_t length = 3 * lo, m = rows / 3 * go;
            double *v = room(&rooms->vectors, m * length);
            if (!v)
                goto done;
            for (int64_t l = 0; l < length; l++)
                for (int64_t j = 0; j < m; j++)
                    v[j * length + l] = outside[l * m + j];
            int64_t found = split_in(rooms, s, m, length, &rest);
            if (found <= 0) {
                status = found ? found : INFEASIBLE;
                goto done;
            }
            *error += total > 0.0 ? rest * before * lap.beyond[bond] / total : INFINITY;
            double *core = room(&rooms->other, length * found);
            if (!core)
                goto done;
            for (int64_t l = 0; l < length; l++)
                for (int64_t j = 0; j < found; j++)
                    core[l * found + j] = rooms->basis.at[j * length + l];
            to->rank[r - 1] = lo;
            to->rank[r] = found;
            if (!put(to, r - 1, core, length * found))
                goto done;
            for (int64_t j = 0; j < m; j++)
                for (int64_t i = 0; i < found; i++)
                    outside[i * m + j] = rooms->coefficients.at[j * found + i];
            if (found * m > lo * rows * go)
                goto done;
            int64_t a = next->rank[r - 1], b = next->rank[r];
            part = malloc((size_t)(lo * 3 * b) * sizeof(double));
            more = calloc((size_t)(found * b), sizeof(double));
            if (!part || !more) {
                free(part);
                goto done;
            }
            product(overlap, next->core[r - 1], part, lo, a, 3 * b);
            for (int64_t l = 0; l < length; l++)
                for (int64_t j = 0; j < found; j++)
                    for (int64_t i = 0; i < b; i++)
                        more[j * b + i] += core[l * found + j] * part[l * b + i];
            free(part);
            free(overlap);
            overlap = more;
            more = NULL;
            lo = found;
            if (lo == 1 && b == 1)
                before = fabs(overlap[0]);
        }
        if (r == k - 1) {
            to->rank[k - 1] = lo;
            to->rank[k] = 1;
            if (!put(to, k - 1, outside, lo * 3))
                goto done;
            break;
        }
        if (r + 2 < k) {
            int64_t further = o->rank[r + 3];
            if (!(joined = malloc((size_t)(lo * 27 * 3 * further) * sizeof(double))))
                goto done;
            product(outside, o->core[r + 2], joined, lo * 27, go, 3 * further);
            free(outside);
            outside = joined;
            joined = NULL;
            go = further;
        }
        size = norm_of(outside, lo * 27 * (r + 2 < k ? 3 : 1) * go);
        if (!(size > 0.0)) {
            status = INFEASIBLE;
            goto done;
        }
        scaled(outside, lo * 27 * (r + 2 < k ? 3 : 1) * go, 1.0 / size);
    }
    status = 1;
done:
    for (int64_t r = 0; centres && r < k; r++)
        free(centres[r].theta);
    free(centres);
    free(outside);
    free(more);
    free(joined);
    free(overlap);
    emptied(&inner, k);
    let_overlaps(&lap);
    return status;
}

/* All messages; where each step is a law and the rest weighs nothing, all laws but the first column's. */
static int64_t all_messages(Swept *w, double *laws, int kept)
{
    const Strip *s = &w->s;
    int64_t n = s->n, k = s->k, status = NO_MEMORY;
    Rooms rooms;
    memset(&rooms, 0, sizeof rooms);
    if (!begun(w->message + n - 1, k))
        goto done;
    for (int64_t i = 0; i < k; i++) {
        double nobody[3] = {0.0, 1.0, 0.0};
        w->message[n - 1].rank[i] = 1;
        memcpy(w->root + ((n - 1) * k + i) * 3, nobody, sizeof nobody);
        if (!put(w->message + n - 1, i, nobody, 3))
            goto done;
    }
    for (int64_t c = n - 2; c >= 0; c--) {
        if (!begun(w->message + c, k))
            goto done;
        double *left_out = w->left_out + c * k;
        status = forward(w, c, w->message + c + 1, w->message + c, &rooms, 0, NULL, laws, &w->error);
        if (status == 1)
            status = swept_right(w->message + c, w, w->root + c * k * 3, &rooms, left_out, &w->error);
        if (status != 1)
            goto done;
        if (!kept)
            emptied(w->message + c + 1, k);
        status = NO_MEMORY;
    }
    status = 1;
done:
    let_rooms(&rooms);
    return status;
}

/* The laws of all cells; ``whole``: where messages alone tell those of all columns but the first. */
static int64_t all_laws(Swept *w, double *laws)
{
    const Strip *s = &w->s;
    int64_t n = s->n, k = s->k, status = NO_MEMORY;
    Train now = {NULL, NULL}, next = {NULL, NULL};
    Rooms rooms;
    double error = 0.0, *left_out = calloc((size_t)k, sizeof *left_out);
    memset(&rooms, 0, sizeof rooms);
    if (!left_out || !begun(&now, k) || (status = first_outside(w, &now, &rooms, left_out)) != 1)
        goto done;
    for (int64_t c = 0; c < n - 1; c++) {
        Overlaps lap = {NULL, NULL, NULL, NULL, 0};
        status = NO_MEMORY;
        if (!overlapped(w->message + c, &now, k, &lap)) {
            let_overlaps(&lap);
            goto done;
        }
        double total = lap.right[0];
        for (int64_t i = 0; i < k - 1; i++)
            error += total > 0.0 ? (left_out[i] + w->left_out[c * k + i]) * lap.before[i] * lap.beyond[i + 2] / total
                                 : INFINITY;
        if (!c)
            first_laws(w, &now, &lap, laws);
        let_overlaps(&lap);
        if (w->whole)
            break;
        if (!begun(&next, k) || (status = outwards(w, c, &now, &next, &rooms, laws, &error)) != 1)
            goto done;
        if ((status = swept_left(&next, s, &rooms, left_out)) != 1)
            goto done;
        emptied(&now, k);
        now = next;
        next.core = NULL;
        next.rank = NULL;
    }
    if (!w->whole)
        w->error = error;
    status = 1;
done:
    free(left_out);
    emptied(&now, k);
    emptied(&next, k);
    let_rooms(&rooms);
    return status;
}

/* Draws of the coefficients of a column, given those of the column before it; of the first for c = -1. */
static int64_t drawn(const Swept *w, int64_t c, int64_t number, const double *random, const int8_t *given, int8_t *out)
{
    const Strip *s = &w->s;
    int64_t k = s->k, wide = 1, status = NO_MEMORY;
    const Train *m = w->message + c + 1;
    const double *root = w->root + (c + 1) * k * 3;
    for (int64_t i = 0; i <= k; i++)
        wide = m->rank[i] > wide ? m->rank[i] : wide;
    /* Of what comes after x[r]: over the bond, x[r-1] and x[r]. */
    double *after = malloc((size_t)(k * wide * 9) * sizeof(double)), *left = malloc((size_t)(8 * wide) * sizeof(double));
    double *factors = malloc((size_t)(c < 0 ? 1 : k * ROW) * sizeof(double));
    if (!after || !left || !factors)
        goto done;
    for (int64_t r = 0; c >= 0 && r < k; r++)
        factor_of(s, c, r, factors + r * ROW);
    for (int64_t d = 0; d < number; d++) {
        const int8_t *y = given + d * k;
        int8_t *x = out + d * k;
        double *now = left, *then = left + 4 * wide;
        for (int64_t r = k - 1; r >= 0; r--) {
            double *to = after + r * wide * 9;
            int64_t b = m->rank[r + 1], e = r < k - 1 ? m->rank[r + 2] : 1;
            for (int64_t i = 0; i < b; i++)
                for (int64_t u = 0; u < 3; u++)
                    for (int64_t v = 0; v < 3; v++) {
                        double sum = 0.0, by = 1.0;
                        int64_t at = 0;
                        if (c >= 0)
                            at = 81 * u + 27 * v + (r < k - 1 ? 3 * (y[r + 1] + 1) : 3) + y[r] + 1;
                        if (r == k - 1) {
                            sum = c >= 0 ? factors[r * ROW + at + 9] : s->weights ? weight_of(s, 0, k, v - 1) : 1.0;
                        } else
                            for (int64_t n = 0; n < 3; n++) {
                                double part = 0.0;
                                for (int64_t j = 0; j < e; j++)
                                    part += m->core[r + 1][(i * 3 + n) * e + j]
                                        * after[(r + 1) * wide * 9 + (j * 3 + v) * 3 + n];
                                by = c >= 0 ? factors[r * ROW + at + 9 * n] : s->weights ? weight_of(s, 0, r + 1, v - n) : 1.0;
                                sum += by * root[3 * (r + 1) + n] * part;
                            }
                        to[(i * 3 + u) * 3 + v] = sum;
                    }
        }
        int64_t u = 1;
        now[0] = 1.0;
        for (int64_t r = 0; r < k; r++) {
            int64_t a = m->rank[r], b = m->rank[r + 1], chosen = 2;
            double weight[3], below = 0.0, all;
            memset(then, 0, (size_t)(3 * b) * sizeof(double));
            for (int64_t i = 0; i < a; i++)
                for (int64_t v = 0; v < 3; v++)
                    for (int64_t j = 0; j < b; j++)
                        then[v * b + j] += now[i] * m->core[r][(i * 3 + v) * b + j];
            for (int64_t v = 0; v < 3; v++) {
                double sum = 0.0, by = root[3 * r + v];
                for (int64_t j = 0; j < b; j++)
                    sum += then[v * b + j] * after[r * wide * 9 + (j * 3 + u) * 3 + v];
                if (c >= 0 && r)
                    by *= factors[(r - 1) * ROW + 81 * (r > 1 ? x[r - 2] + 1 : 1) + 27 * u + 9 * v + 3 * (y[r] + 1) + y[r - 1] + 1];
                if (c < 0 && s->weights)
                    by *= weight_of(s, 0, r, u - v);
                weight[v] = by * sum > 0.0 ? by * sum : 0.0;
            }
            all = weight[0] + weight[1] + weight[2];
            if (!(all > 0.0)) {
                status = INFEASIBLE;
                goto done;
            }
            for (int64_t v = 0; v < 3; v++) {
                below += weight[v];
                if (random[d * k + r] * all < below) {
                    chosen = v;
                    break;
                }
            }
            while (!(weight[chosen] > 0.0))
                chosen--;
            x[r] = (int8_t)(chosen - 1);
            double size = norm_of(then + chosen * b, b);
            for (int64_t j = 0; j < b; j++)
                now[j] = then[chosen * b + j] / (size > 0.0 ? size : 1.0);
            u = chosen;
        }
    }
    status = 1;
done:
    free(after);
    free(left);
    free(factors);
    return status;
}

static const char NAME[] = "tabprotect.column_trains";

static void let_swept(Swept *w)
{
    for (int64_t c = 0; w->message && c < w->s.n; c++)
        emptied(w->message + c, w->s.k);
    free(w->message);
    free(w->root);
    free(w->left_out);
    while (w->held)
        PyBuffer_Release(&w->view[--w->held]);
    free(w);
}

static void destroyed(PyObject *capsule)
{
    let_swept(PyCapsule_GetPointer(capsule, NAME));
}

static PyObject *ended(int64_t status)
{
    if (status == NO_MEMORY)
        return PyErr_NoMemory();
    return PyLong_FromLongLong(status);
}

/* Parameters: columns, swaps of a column, the largest rank, the tolerance; whether each step is a law and
 * nothing else weighs, and whether messages are kept; the table of factors, its row for each swap, weights of
 * changes (or None); laws of all cells, zeros at first, or None. Returns how it ended, the messages, and the
 * error. */
static PyObject *swept(PyObject *module, PyObject *args)
{
    PyObject *given[3], *laws;
    Py_buffer law = {0};
    Swept *w = calloc(1, sizeof *w);
    int kept;
    int64_t status = NO_MEMORY;
    (void)module;
    if (!w)
        return PyErr_NoMemory();
    if (!PyArg_ParseTuple(args, "LLLdppOOOO", &w->s.n, &w->s.k, &w->s.most, &w->s.tolerance, &w->whole, &kept,
                          &given[0], &given[1], &given[2], &laws)) {
        free(w);
        return NULL;
    }
    for (int i = 0; i < (given[2] == Py_None ? 2 : 3); i++, w->held++)
        if (PyObject_GetBuffer(given[i], &w->view[i], PyBUF_SIMPLE)) {
            let_swept(w);
            return NULL;
        }
    if (laws != Py_None && PyObject_GetBuffer(laws, &law, PyBUF_WRITABLE)) {
        let_swept(w);
        return NULL;
    }
    w->s.table = w->view[0].buf;
    w->s.rows = w->view[1].buf;
    w->s.weights = w->held == 3 ? w->view[2].buf : NULL;
    Py_BEGIN_ALLOW_THREADS
    w->message = calloc((size_t)w->s.n, sizeof *w->message);
    w->root = calloc((size_t)(w->s.n * w->s.k * 3), sizeof(double));
    w->left_out = calloc((size_t)(w->s.n * w->s.k), sizeof(double));
    if (w->message && w->root && w->left_out)
        status = all_messages(w, laws != Py_None && w->whole ? law.buf : NULL, kept || !w->whole);
    if (status == 1 && laws != Py_None)
        status = all_laws(w, law.buf);
    Py_END_ALLOW_THREADS
    if (laws != Py_None)
        PyBuffer_Release(&law);
    if (status == NO_MEMORY) {
        let_swept(w);
        return PyErr_NoMemory();
    }
    double error = w->error;
    PyObject *capsule = PyCapsule_New(w, NAME, destroyed);
    if (!capsule) {
        let_swept(w);
        return NULL;
    }
    return Py_BuildValue("(LNd)", (long long)status, capsule, error);
}

/* Parameters: kept messages, the column before (-1 for the first), how many; what was drawn for each
 * coefficient, the coefficients of the column before, and those that are drawn. */
static PyObject *draw(PyObject *module, PyObject *args)
{
    PyObject *capsule, *given[3];
    Arrays a = {.held = 0};
    long long c, number;
    int64_t status;
    (void)module;
    if (!PyArg_ParseTuple(args, "OLLOOO", &capsule, &c, &number, &given[0], &given[1], &given[2]))
        return NULL;
    Swept *w = PyCapsule_GetPointer(capsule, NAME);
    if (!w)
        return NULL;
    if (!hold(&a, given, 3, 1 << 2)) {
        let_go(&a);
        return NULL;
    }
    Py_BEGIN_ALLOW_THREADS
    status = drawn(w, c, number, a.view[0].buf, a.view[1].buf, a.view[2].buf);
    Py_END_ALLOW_THREADS
    let_go(&a);
    return ended(status);
}

static PyMethodDef methods[] = {
    {"swept", swept, METH_VARARGS, "All messages of a strip, and the laws of its cells: see trains.py."},
    {"draw", draw, METH_VARARGS, "The coefficients of one column, given those before it."},
    {NULL, NULL, 0, NULL},
};

MODULE(column_trains, methods)
