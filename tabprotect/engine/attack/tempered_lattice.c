/* Sweeps of the tempered chain over tables of whole counts: tests/oracles/tempered_lattice_in_python.py is the
 * same in Python, bit for bit. Whole numbers only. */

#include "../extension.h"

#define IMPOSSIBLE INT64_MIN
#define FARTHEST 4096
#define WORST_SPREAD 64
#define LN2 726817
#define MOST_CORNERS 64
#define BEYOND 8

/* Groups lie anywhere in memory: what will be read soon is fetched beforehand. */
#if defined(__GNUC__)
#define FETCH(address) __builtin_prefetch(address)
#else
#define FETCH(address) (void)(address)
#endif

typedef struct {
    const int64_t *shape, *stride, *cstart, *csums, *kind, *low, *high, *kstart, *kmin, *logs;
    const int64_t *least, *top, *own, *beta, *log_table, *first, *hstart, *odds;
    const uint64_t *words, *salt;
    int64_t *kept, *held;
    /* Log likelihoods with the fall beyond supports, a little beyond them too, law by law. */
    int64_t *table, *base;
    int64_t n, sums, axes, levels, shared, most, wide, lambda;
    uint64_t rng;
} Model;

/* Sums over the same records: how many, their laws added up and squared, the sum; the law of one of
 * them, kept to spare divisions. */
typedef struct {
    int64_t g2, t;
    int32_t m, g1, law, mark;
} Group;

typedef struct {
    /* The group of each sum that holds somebody. */
    int64_t *x, *t, *at;
    uint64_t *key;
    int64_t weight;
    /* An open hash table: its keys are apart, as they are what is searched through. */
    uint64_t *keys;
    Group *groups;
    int64_t used;
} Level;

typedef struct {
    int64_t *dt, *mark, *list, *to;
    uint64_t *dk;
    int64_t *seen, *inserted;
    Group *old;
    int64_t stamp, cap;
} Scratch;

static uint64_t draw(uint64_t *state)
{
    uint64_t z = (*state += 0x9E3779B97F4A7C15ULL);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 31);
}

static int64_t below(uint64_t r, int64_t n)
{
    return (int64_t)(((r >> 32) * (uint64_t)n) >> 32);
}

/* -log of a uniform number, in units of 2^-20. */
static int64_t exponential(const Model *m, uint64_t r)
{
    int64_t k = 1, at, part;
    r |= 1;
    while (!(r >> 63)) {
        r <<= 1;
        k++;
    }
    r <<= 1;
    at = (int64_t)(r >> 52);
    part = (int64_t)((r << 12) >> 48);
    return k * LN2 - m->log_table[at]
        - (((m->log_table[at + 1] - m->log_table[at]) * part) >> 16);
}

static int64_t outside(const Model *m, int64_t kind, int64_t t)
{
    int64_t low = m->low[kind], high = m->high[kind], start = m->kstart[kind];
    if (t < low)
        return low - t > FARTHEST ? FARTHEST : low - t;
    if (t > high)
        return t - high > FARTHEST ? FARTHEST : t - high;
    return start >= 0 && m->logs[start + t - low] == IMPOSSIBLE;
}

static int64_t weight(const Model *m, int64_t kind, int64_t t)
{
    int64_t start = m->kstart[kind], far = outside(m, kind, t);
    if (far)
        return m->kmin[kind] - m->lambda * far;
    return start >= 0 ? m->logs[start + t - m->low[kind]] : 0;
}

static int64_t weigh(const Model *m, int64_t kind, int64_t t)
{
    int64_t at = t - m->low[kind] + BEYOND;
    if ((uint64_t)at < (uint64_t)(m->base[kind + 1] - m->base[kind]))
        return m->table[m->base[kind] + at];
    return weight(m, kind, t);
}

/* Unequal numbers of one group. */
static int64_t spread(const Group *g)
{
    int64_t found = g->m * g->g2 - (int64_t)g->g1 * g->g1;
    if (!found)
        return 0;
    found /= g->m;
    return 1 + (found > WORST_SPREAD ? WORST_SPREAD : found);
}

static int64_t weigh_group(const Model *m, Group *g)
{
    int64_t size = g->m;
    if (!size)
        return 0;
    if (g->law * size != g->g1)
        g->law = (int32_t)(g->g1 / size);
    return weigh(m, g->law, g->t) - m->lambda * spread(g);
}

/* Whether a table is within all supports, and equal records have equal numbers. */
static int possible(const Model *m, const Level *v)
{
    for (int64_t c = 0; c < m->n; c++)
        if (m->own[c] >= 0 && outside(m, m->own[c], v->x[c]))
            return 0;
    for (int64_t s = 0; s < m->sums; s++)
        if (m->kind[s] >= 0) {
            if (outside(m, m->kind[s], v->t[s]))
                return 0;
            if (m->shared && v->key[s] && spread(&v->groups[v->at[s]]))
                return 0;
        }
    return 1;
}

static int64_t first_slot(uint64_t key, int64_t cap)
{
    return (int64_t)((key * 0x9E3779B97F4A7C15ULL) >> 32) & (cap - 1);
}

static int64_t slot(const Level *v, uint64_t key, int64_t cap)
{
    int64_t at = first_slot(key, cap);
    while (v->keys[at] && v->keys[at] != key)
        at = (at + 1) & (cap - 1);
    return at;
}

static void into_group(const Model *m, Level *v, int64_t s, int64_t cap)
{
    uint64_t key = v->key[s] ^ m->salt[s];
    int64_t g = slot(v, key, cap), kind = m->kind[s];
    v->at[s] = g;
    if (!v->keys[g]) {
        v->keys[g] = key;
        memset(&v->groups[g], 0, sizeof(Group));
        v->used++;
    }
    v->groups[g].m++;
    v->groups[g].g1 += (int32_t)kind;
    v->groups[g].g2 += kind * kind;
    v->groups[g].t = v->t[s];
}

static void regroup(const Model *m, Level *v, int64_t cap)
{
    memset(v->keys, 0, (size_t)cap * sizeof(uint64_t));
    v->used = 0;
    for (int64_t s = 0; s < m->sums; s++)
        if (v->key[s] && m->kind[s] >= 0)
            into_group(m, v, s, cap);
}

static void begin(const Model *m, Level *v, int64_t cap)
{
    int64_t d = 0;
    memset(v->t, 0, (size_t)m->sums * sizeof(int64_t));
    memset(v->key, 0, (size_t)m->sums * sizeof(uint64_t));
    for (int64_t c = 0; c < m->n; c++)
        if (m->own[c] >= 0)
            d += weigh(m, m->own[c], v->x[c]);
    for (int64_t c = 0; c < m->n; c++)
        if (v->x[c])
            for (int64_t e = m->cstart[c]; e < m->cstart[c + 1]; e++) {
                v->t[m->csums[e]] += v->x[c];
                v->key[m->csums[e]] ^= m->words[c];
            }
    if (m->shared) {
        regroup(m, v, cap);
        for (int64_t g = 0; g < cap; g++)
            if (v->keys[g])
                d += weigh_group(m, &v->groups[g]);
    }
    for (int64_t s = 0; s < m->sums; s++)
        if (m->kind[s] >= 0 && (!m->shared || !v->key[s]))
            d += weigh(m, m->kind[s], v->t[s]);
    v->weight = d;
}

static int64_t see(const Model *m, Level *v, Scratch *z, int64_t g, int64_t *seen)
{
    if (v->groups[g].mark == z->stamp)
        return 0;
    v->groups[g].mark = (int32_t)z->stamp;
    z->old[*seen] = v->groups[g];
    z->seen[(*seen)++] = g;
    return weigh_group(m, &v->groups[g]);
}

static void propose(Model *m, Level *v, Scratch *z, int64_t b)
{
    const int64_t *odds = m->odds + b * m->n, beta = m->beta[b];
    int64_t corner[MOST_CORNERS], change[MOST_CORNERS], offset[6], order[64];
    int64_t n = m->n, listed = 0, seen = 0, still = 0, new = 0, corners, guess = 0, d = 0;
    uint64_t flips = 0;
    int64_t cell = below(draw(&m->rng), n);
    uint64_t r = draw(&m->rng);
    int64_t eighth = (r >> 1) & 7, size, sign;
    size = m->wide ? (int64_t)1 << (eighth % (m->wide + 1)) : eighth ? 1 : 2;
    sign = (r & 1) ? size : -size;
    if (((r >> 4) & 0xFFFF) < 6554) {
        int64_t other = below(draw(&m->rng), n);
        if (other == cell)
            return;
        corner[0] = cell;
        change[0] = sign;
        corner[1] = other;
        change[1] = -sign;
        corners = 2;
    } else {
        int64_t j = 0, most = m->axes < 6 ? m->axes : 6;
        uint64_t bits = r >> 20;
        while (j < most && (bits & 1)) {
            j++;
            bits >>= 1;
        }
        for (int64_t k = 0; k < m->axes; k++)
            order[k] = k;
        for (int64_t k = 0; k < j; k++) {
            int64_t p = k + below(draw(&m->rng), m->axes - k), axis = order[p], at, other;
            order[p] = order[k];
            order[k] = axis;
            at = cell / m->stride[axis] % m->shape[axis];
            other = below(draw(&m->rng), m->shape[axis] - 1);
            other += other >= at;
            offset[k] = (other - at) * m->stride[axis];
        }
        corners = (int64_t)1 << j;
        corner[0] = cell;
        change[0] = sign;
        for (int64_t k = 0; k < j; k++)
            for (int64_t q = 0; q < (int64_t)1 << k; q++) {
                corner[q + ((int64_t)1 << k)] = corner[q] + offset[k];
                change[q + ((int64_t)1 << k)] = -change[q];
            }
    }
    for (int64_t q = 0; q < corners; q++) {
        int64_t value = v->x[corner[q]] + change[q];
        if (value < m->least[corner[q]] || value > m->top[corner[q]])
            return;
        if (!v->x[corner[q]] != !value)
            guess += value ? odds[corner[q]] : -odds[corner[q]];
    }
    if (guess < 0 && guess + exponential(m, draw(&m->rng)) < 0)
        return;
    for (int64_t q = 0; q < corners; q++)
        if (m->own[corner[q]] >= 0) {
            d -= weigh(m, m->own[corner[q]], v->x[corner[q]]);
            d += weigh(m, m->own[corner[q]], v->x[corner[q]] + change[q]);
        }
    if (m->shared && v->used + m->sums > z->cap / 4 * 3)
        regroup(m, v, z->cap);
    z->stamp++;
    for (int64_t q = 0; q < corners; q++) {
        int64_t c = corner[q], had = v->x[c];
        uint64_t word = (!had != !(had + change[q])) ? m->words[c] : 0;
        flips |= word;
        for (int64_t e = m->cstart[c]; e < m->cstart[c + 1]; e++) {
            int64_t s = m->csums[e];
            if (z->mark[s] != z->stamp) {
                z->mark[s] = z->stamp;
                z->dt[s] = 0;
                z->dk[s] = 0;
                z->list[listed++] = s;
                FETCH(&v->groups[v->at[s]]);
            }
            z->dt[s] += change[q];
            z->dk[s] ^= word;
        }
    }
    if (!m->shared) {
        for (int64_t i = 0; i < listed; i++) {
            int64_t s = z->list[i];
            if (z->dt[s] && m->kind[s] >= 0) {
                d -= weigh(m, m->kind[s], v->t[s]);
                d += weigh(m, m->kind[s], v->t[s] + z->dt[s]);
            }
        }
    } else if (!flips) {
        /* All sums of a group change alike. */
        for (int64_t i = 0; i < listed; i++) {
            int64_t s = z->list[i];
            Group *g;
            if (m->kind[s] < 0 || !z->dt[s])
                continue;
            g = &v->groups[v->at[s]];
            if (g->mark == z->stamp)
                continue;
            g->mark = (int32_t)z->stamp;
            if ((int64_t)g->law * g->m != g->g1)
                g->law = g->g1 / g->m;
            d += weigh(m, g->law, g->t + z->dt[s]) - weigh(m, g->law, g->t);
            z->seen[still] = v->at[s];
            z->to[still++] = z->dt[s];
        }
    } else {
        for (int64_t i = 0; i < listed; i++) {
            int64_t s = z->list[i];
            uint64_t to = v->key[s] ^ z->dk[s];
            if (z->dk[s] && to)
                FETCH(&v->keys[first_slot(to ^ m->salt[s], z->cap)]);
        }
        for (int64_t i = 0; i < listed; i++) {
            int64_t s = z->list[i], kind = m->kind[s], g;
            uint64_t from = v->key[s], to = from ^ z->dk[s];
            if (kind < 0 || (!z->dt[s] && !z->dk[s]))
                continue;
            if (!from)
                d -= weigh(m, kind, 0);
            else {
                g = v->at[s];
                d -= see(m, v, z, g, &seen);
                if (z->dk[s]) {
                    v->groups[g].m--;
                    v->groups[g].g1 -= (int32_t)kind;
                    v->groups[g].g2 -= kind * kind;
                } else
                    v->groups[g].t = v->t[s] + z->dt[s];
            }
            if (!z->dk[s])
                continue;
            z->to[i] = -1;
            if (!to) {
                d += weigh(m, kind, 0);
                continue;
            }
            to ^= m->salt[s];
            g = slot(v, to, z->cap);
            z->to[i] = g;
            if (!v->keys[g]) {
                v->keys[g] = to;
                memset(&v->groups[g], 0, sizeof(Group));
                v->used++;
                z->inserted[new++] = g;
            }
            d -= see(m, v, z, g, &seen);
            v->groups[g].m++;
            v->groups[g].g1 += (int32_t)kind;
            v->groups[g].g2 += kind * kind;
            v->groups[g].t = v->t[s] + z->dt[s];
        }
        for (int64_t i = 0; i < seen; i++)
            d += weigh_group(m, &v->groups[z->seen[i]]);
    }
    {
        int64_t gain = d * beta - 256 * guess;
        if (gain < 0 && gain + 256 * exponential(m, draw(&m->rng)) < 0) {
            for (int64_t i = 0; i < seen; i++)
                v->groups[z->seen[i]] = z->old[i];
            /* The last in is the first out, so that no search breaks off early. */
            while (new)
                v->keys[z->inserted[--new]] = 0, v->used--;
            return;
        }
    }
    for (int64_t i = 0; i < still; i++)
        v->groups[z->seen[i]].t += z->to[i];
    v->weight += d;
    for (int64_t q = 0; q < corners; q++)
        v->x[corner[q]] += change[q];
    for (int64_t i = 0; i < listed; i++) {
        int64_t s = z->list[i];
        v->t[s] += z->dt[s];
        v->key[s] ^= z->dk[s];
        if (m->shared && z->dk[s] && m->kind[s] >= 0)
            v->at[s] = z->to[i];
    }
}

static void record(const Model *m, const Level *v, int64_t *hist)
{
    for (int64_t c = 0; c < m->n + m->sums; c++) {
        int64_t value = c < m->n ? v->x[c] : v->t[c - m->n];
        int64_t at = m->hstart[c] + value - m->first[c];
        if (value >= m->first[c] && at < m->hstart[c + 1])
            hist[at]++;
    }
}

static int64_t run(Model *m, Level *levels, Scratch *z, int64_t *state, int64_t sweeps, int64_t *hist,
                   int recording)
{
    int64_t *place = state + 3;
    int64_t feasible = 0;
    for (int64_t sweep = 0; sweep < sweeps; sweep++) {
        for (int64_t b = 0; b < m->levels; b++)
            for (int64_t i = 0; i < 2 * m->n; i++)
                propose(m, &levels[place[b]], z, b);
        for (int64_t b = m->levels - 1; b > 0; b--) {
            Level *hot = &levels[place[b]], *cold = &levels[place[b - 1]];
            int64_t gain = (hot->weight - cold->weight) * (m->beta[b - 1] - m->beta[b]);
            if (gain >= 0 || gain + 256 * exponential(m, draw(&m->rng)) >= 0) {
                int64_t kept = place[b];
                place[b] = place[b - 1];
                place[b - 1] = kept;
            }
        }
        for (int64_t b = 0; b < m->levels; b++)
            for (int64_t c = 0; c < m->n; c++)
                m->held[b * m->n + c] += levels[place[b]].x[c] > 0;
        if (possible(m, &levels[place[0]])) {
            feasible++;
            if (recording)
                record(m, &levels[place[0]], hist);
            if (recording && state[2] < m->most)
                memcpy(m->kept + m->n * state[2]++, levels[place[0]].x, (size_t)m->n * sizeof(int64_t));
        }
    }
    return feasible;
}

enum { X, STATE, HIST, KEPT, HELD, NUMBERS, SHAPE, STRIDE, CSTART, CSUMS, KIND, LOW, HIGH, KSTART, KMIN, LOGS,
       LEAST, TOP, OWN, BETA, LOGTABLE, FIRST, HSTART, WORDS, SALT, ODDS, ARRAYS };

/* The values of a law that are laid out: none of one that is wide. */
static int64_t laid_out(const Model *m, int64_t kind)
{
    int64_t values = m->high[kind] - m->low[kind];
    return values < 512 ? values + 2 * BEYOND + 1 : 0;
}

static PyObject *sweeps(PyObject *module, PyObject *args)
{
    PyObject *given;
    Arrays a;
    Model m;
    Level *levels = NULL;
    Scratch z = {0};
    Group *groups = NULL, *old = NULL;
    uint64_t *keys = NULL;
    int64_t laws, values = 0, *state, *memory = NULL, cap = 1024, count, total, feasible = 0;
    int recording;
    (void)module;
    if (!PyArg_ParseTuple(args, "O!p", &PyTuple_Type, &given, &recording))
        return NULL;
    if (!hold_all(&a, given, ARRAYS, (2 << HELD) - 1))
        goto done;
    state = a.view[STATE].buf;
    m.n = ((int64_t *)a.view[NUMBERS].buf)[0];
    m.sums = ((int64_t *)a.view[NUMBERS].buf)[1];
    m.axes = ((int64_t *)a.view[NUMBERS].buf)[2];
    m.levels = ((int64_t *)a.view[NUMBERS].buf)[3];
    m.shared = ((int64_t *)a.view[NUMBERS].buf)[4];
    count = ((int64_t *)a.view[NUMBERS].buf)[5];
    m.most = ((int64_t *)a.view[NUMBERS].buf)[6];
    m.wide = ((int64_t *)a.view[NUMBERS].buf)[7];
    m.kept = a.view[KEPT].buf;
    m.held = a.view[HELD].buf;
    m.odds = a.view[ODDS].buf;
    m.own = a.view[OWN].buf;
    m.salt = a.view[SALT].buf;
    m.shape = a.view[SHAPE].buf;
    m.stride = a.view[STRIDE].buf;
    m.cstart = a.view[CSTART].buf;
    m.csums = a.view[CSUMS].buf;
    m.kind = a.view[KIND].buf;
    m.low = a.view[LOW].buf;
    m.high = a.view[HIGH].buf;
    m.kstart = a.view[KSTART].buf;
    m.kmin = a.view[KMIN].buf;
    m.logs = a.view[LOGS].buf;
    m.least = a.view[LEAST].buf;
    m.top = a.view[TOP].buf;
    m.beta = a.view[BETA].buf;
    m.log_table = a.view[LOGTABLE].buf;
    m.first = a.view[FIRST].buf;
    m.hstart = a.view[HSTART].buf;
    m.words = a.view[WORDS].buf;
    m.rng = (uint64_t)state[0];
    m.lambda = state[1];
    laws = a.view[LOW].len / (Py_ssize_t)sizeof(int64_t);
    for (int64_t k = 0; k < laws; k++)
        values += laid_out(&m, k);
    while (cap < 4 * m.sums)
        cap *= 2;
    if (!m.shared)
        cap = 1;
    z.cap = cap;
    total = m.levels * 3 * m.sums + 8 * m.sums + laws + 1 + values;
    levels = calloc((size_t)m.levels, sizeof(Level));
    memory = calloc((size_t)total, sizeof(int64_t));
    groups = calloc((size_t)(m.levels * cap), sizeof(Group));
    keys = calloc((size_t)(m.levels * cap), sizeof(uint64_t));
    old = calloc((size_t)(2 * m.sums), sizeof(Group));
    if (!levels || !memory || !groups || !keys || !old) {
        PyErr_NoMemory();
        goto done;
    }
    {
        int64_t *free_ = memory;
        for (int64_t b = 0; b < m.levels; b++) {
            Level *v = &levels[b];
            v->x = (int64_t *)a.view[X].buf + b * m.n;
            v->t = free_, free_ += m.sums;
            v->at = free_, free_ += m.sums;
            v->key = (uint64_t *)free_, free_ += m.sums;
            v->groups = groups + b * cap;
            v->keys = keys + b * cap;
        }
        z.dt = free_, free_ += m.sums;
        z.mark = free_, free_ += m.sums;
        z.list = free_, free_ += m.sums;
        z.to = free_, free_ += m.sums;
        z.dk = (uint64_t *)free_, free_ += m.sums;
        z.seen = free_, free_ += 2 * m.sums;
        z.inserted = free_, free_ += m.sums;
        z.old = old;
        m.base = free_, free_ += laws + 1;
        m.table = free_;
        for (int64_t k = 0; k < laws; k++) {
            m.base[k + 1] = m.base[k] + laid_out(&m, k);
            for (int64_t at = m.base[k]; at < m.base[k + 1]; at++)
                m.table[at] = weight(&m, k, m.low[k] - BEYOND + at - m.base[k]);
        }
    }
    Py_BEGIN_ALLOW_THREADS
    for (int64_t b = 0; b < m.levels; b++)
        begin(&m, &levels[b], cap);
    feasible = run(&m, levels, &z, state, count, a.view[HIST].buf, recording);
    Py_END_ALLOW_THREADS
    state[0] = (int64_t)m.rng;
done:
    free(levels);
    free(memory);
    free(groups);
    free(keys);
    free(old);
    let_go(&a);
    return PyErr_Occurred() ? NULL : PyLong_FromLongLong(feasible);
}

static PyMethodDef methods[] = {
    {"sweeps", sweeps, METH_VARARGS, "Sweeps of all levels of one chain: see attack/chain.py."},
    {NULL, NULL, 0, NULL},
};

MODULE(tempered_lattice, methods)
