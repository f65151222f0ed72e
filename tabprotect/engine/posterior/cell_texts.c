/* The JSON objects of a posterior's cells: see columns.py, which writes the same bytes in Python. */

#include "../extension.h"

#define HELD 11
/* Characters of the longest whole number, and of the longest number with a fraction. */
#define WHOLE 20
#define FRACTION 24
#define FIXED 200
#define PAIR (WHOLE + FRACTION + 6)
/* The least power of ten in the table. */
#define LEAST (-292)

typedef struct {
    uint64_t high, low;
} Wide;

static char *literal(char *to, const char *text)
{
    size_t length = strlen(text);
    memcpy(to, text, length);
    return to + length;
}

static char *natural(char *to, uint64_t value)
{
    char digits[WHOLE];
    int at = WHOLE;
    do
        digits[--at] = (char)('0' + value % 10);
    while (value /= 10);
    memcpy(to, digits + at, (size_t)(WHOLE - at));
    return to + WHOLE - at;
}

static char *whole(char *to, int64_t value)
{
    if (value < 0)
        *to++ = '-';
    return natural(to, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

static Wide product(uint64_t a, uint64_t b)
{
#if defined(__SIZEOF_INT128__) && !defined(NARROW)
    unsigned __int128 all = (unsigned __int128)a * b;
    return (Wide){(uint64_t)(all >> 64), (uint64_t)all};
#else
    uint64_t a0 = (uint32_t)a, a1 = a >> 32, b0 = (uint32_t)b, b1 = b >> 32;
    uint64_t low = a0 * b0, first = a1 * b0 + (low >> 32), second = a0 * b1 + (uint32_t)first;
    return (Wide){a1 * b1 + (first >> 32) + (second >> 32), second << 32 | (uint32_t)low};
#endif
}

/* A power of ten times a number, in whole 2^-128; the last bit says whether anything was cut. */
static uint64_t scaled(Wide power, uint64_t number)
{
    Wide x = product(power.low, number), y = product(power.high, number);
    y.low += x.high;
    y.high += y.low < x.high;
    return y.high | (y.low > 1);
}

static int32_t floor_shifted(int32_t value, int bits)
{
    return value >= 0 ? value >> bits : ~(~value >> bits);
}

/* The shortest decimal digits that read back as this number, of equally short ones the nearest, and
 * their exponent: R. Giulietti, The Schubfach way to render doubles (2020). */
static uint64_t shortest(uint64_t bits, const Wide *powers, int32_t *exponent)
{
    uint64_t fraction = bits & 0xFFFFFFFFFFFFF, c = fraction;
    int32_t e = (int32_t)(bits >> 52 & 0x7FF), q = -1074;
    if (e) {
        c |= (uint64_t)1 << 52;
        q = e - 1075;
        if (q <= 0 && q > -53 && !(c & (((uint64_t)1 << -q) - 1))) {
            *exponent = 0;
            return c >> -q;
        }
    }
    int closer = !fraction && e > 1;
    uint64_t odd = c & 1;
    int32_t k = floor_shifted(q * 1262611 - (closer ? 524031 : 0), 22);
    int32_t h = q + floor_shifted(-k * 1741647, 19) + 1;
    Wide power = powers[-k - LEAST];
    uint64_t lower = scaled(power, (4 * c - 2 + (uint64_t)closer) << h) + odd;
    uint64_t middle = scaled(power, 4 * c << h);
    uint64_t upper = scaled(power, (4 * c + 2) << h) - odd;
    uint64_t s = middle / 4, tens = s / 10;
    *exponent = k;
    if (s >= 10) {
        int below = lower <= 40 * tens, above = 40 * tens + 40 <= upper;
        if (below != above) {
            *exponent = k + 1;
            return tens + (uint64_t)above;
        }
    }
    int below = lower <= 4 * s, above = 4 * s + 4 <= upper;
    if (below != above)
        return s + (uint64_t)above;
    uint64_t half = 4 * s + 2;
    return s + (uint64_t)(middle > half || (middle == half && (s & 1)));
}

/* As Python writes it. */
static char *fraction(char *to, double value, const Wide *powers)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    if (value != value)
        return literal(to, "nan");
    if (bits >> 63)
        *to++ = '-';
    bits &= ~((uint64_t)1 << 63);
    if (!bits)
        return literal(to, "0.0");
    if (bits >> 52 == 0x7FF)
        return literal(to, "inf");
    int32_t exponent;
    uint64_t number = shortest(bits, powers, &exponent);
    while (number % 10 == 0)
        number /= 10, exponent++;
    char digits[WHOLE];
    int length = (int)(natural(digits, number) - digits), point = length + exponent;
    if (point > 16 || point < -3) {
        *to++ = digits[0];
        if (length > 1) {
            *to++ = '.';
            memcpy(to, digits + 1, (size_t)length - 1);
            to += length - 1;
        }
        to = literal(to, point > 0 ? "e+" : "e-");
        int size = point > 0 ? point - 1 : 1 - point;
        if (size < 10)
            *to++ = '0';
        return natural(to, (uint64_t)size);
    }
    if (point <= 0) {
        to = literal(to, "0.");
        memset(to, '0', (size_t)-point);
        memcpy(to - point, digits, (size_t)length);
        return to - point + length;
    }
    if (point >= length) {
        memcpy(to, digits, (size_t)length);
        memset(to + length, '0', (size_t)(point - length));
        return literal(to + point, ".0");
    }
    memcpy(to, digits, (size_t)point);
    to[point] = '.';
    memcpy(to + point + 1, digits + point, (size_t)(length - point));
    return to + length + 1;
}

typedef struct {
    int64_t width, nothing;
    const char *texts;
    const int64_t *bounds, *pieces, *published, *modes, *firsts, *groups;
    const double *means, *chances;
    const Wide *powers;
} Cells;

static int64_t most_characters(const Cells *c, int64_t i, const double *chances)
{
    int64_t most = FIXED;
    for (int p = 0; p < 4; p++) {
        int64_t piece = c->pieces[4 * i + p];
        most += c->bounds[piece + 1] - c->bounds[piece];
    }
    for (int64_t w = 0; w < c->width; w++)
        most += chances[w] > 0 ? PAIR : 0;
    return most;
}

static char *cell(const Cells *c, int64_t i, const double *chances, char *to)
{
    for (int p = 0; p < 4; p++) {
        int64_t piece = c->pieces[4 * i + p], length = c->bounds[piece + 1] - c->bounds[piece];
        memcpy(to, c->texts + c->bounds[piece], (size_t)length);
        to += length;
    }
    to = literal(to, "], \"published\": ");
    to = c->published[i] == c->nothing ? literal(to, "null") : whole(to, c->published[i]);
    to = fraction(literal(to, ", \"mean\": "), c->means[i], c->powers);
    to = whole(literal(to, ", \"mode\": "), c->modes[i]);
    to = literal(to, ", \"distribution\": {");
    int any = 0;
    for (int64_t w = 0; w < c->width; w++)
        if (chances[w] > 0) {
            to = literal(to, any ? ", \"" : "\"");
            to = literal(whole(to, c->firsts[i] + w), "\": ");
            to = fraction(to, chances[w], c->powers);
            any = 1;
        }
    return literal(to, "}}");
}

/* Parameters: the cells, the first to write, columns of a row, what stands for no published count,
 * texts one after the other and their bounds, the four texts of each cell, its published count, mean,
 * mode, first count and row, the rows, the powers of ten, and where to write.
 * Returns the first cell that has no room and the characters that were written. */
static PyObject *written(PyObject *module, PyObject *args)
{
    PyObject *given[HELD];
    Arrays a;
    long long cells, from, width, nothing, length = 0;
    (void)module;
    if (!PyArg_ParseTuple(args, "LLLLOOOOOOOOOOO", &cells, &from, &width, &nothing, &given[0],
                          &given[1], &given[2], &given[3], &given[4], &given[5], &given[6],
                          &given[7], &given[8], &given[9], &given[10]))
        return NULL;
    if (hold(&a, given, HELD, 1 << (HELD - 1))) {
        Cells c = {.width = width, .nothing = nothing, .texts = a.view[0].buf, .bounds = a.view[1].buf,
                   .pieces = a.view[2].buf, .published = a.view[3].buf, .means = a.view[4].buf,
                   .modes = a.view[5].buf, .firsts = a.view[6].buf, .groups = a.view[7].buf,
                   .chances = a.view[8].buf, .powers = a.view[9].buf};
        char *begin = a.view[10].buf, *to = begin, *end = begin + a.view[10].len;
        Py_BEGIN_ALLOW_THREADS
        for (; from < cells; from++) {
            const double *chances = c.chances + c.groups[from] * width;
            if (most_characters(&c, from, chances) > end - to)
                break;
            to = cell(&c, from, chances, to);
        }
        length = to - begin;
        Py_END_ALLOW_THREADS
    }
    let_go(&a);
    return PyErr_Occurred() ? NULL : Py_BuildValue("LL", from, length);
}

static PyMethodDef methods[] = {
    {"written", written, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

MODULE(cell_texts, methods)
