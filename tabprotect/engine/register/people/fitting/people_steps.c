/* Steps of chains over the people of several releases. tests/oracles/people_steps_in_numpy.py does the same,
 * number for number, and says what each array holds. */

#include "../../../extension.h"

enum { SUMS, CHAINS, STEPS };

#define LAW 7

typedef struct {
    const int64_t *number, *kind, *low, *high, *log_starts;
    const double *logs, *penalty;
} Law;

static Law law_of(const Arrays *a)
{
    Law law = {
        a->view[0].buf, a->view[1].buf, a->view[2].buf, a->view[3].buf, a->view[4].buf, a->view[5].buf, a->view[6].buf,
    };
    return law;
}

/* Add what the log weight of a sum gains in each chain; beyond what is allowed it falls with each person. */
CLONES static void gained(const Law *law, int64_t sum, const int64_t *before, const int64_t *after, double *gain)
{
    int64_t k = law->kind[sum], low = law->low[k], high = law->high[k], chains = law->number[CHAINS];
    const double *logs = law->logs + law->log_starts[k], penalty = *law->penalty;
    int weighed = law->log_starts[k + 1] > law->log_starts[k];
    for (int64_t c = 0; c < chains; c++) {
        int64_t a = after[c] < low ? low : after[c] > high ? high : after[c];
        int64_t b = before[c] < low ? low : before[c] > high ? high : before[c];
        double more = (weighed ? logs[a - low] : 0.0) - penalty * (double)(after[c] < a ? a - after[c] : after[c] - a);
        double less = (weighed ? logs[b - low] : 0.0) - penalty * (double)(before[c] < b ? b - before[c] : before[c] - b);
        gain[c] += more - less;
    }
}

/* Parameters: the arrays of the law, the sums before and after, and what each chain gains. */
static PyObject *gains(PyObject *module, PyObject *args)
{
    PyObject *given;
    Arrays a;
    (void)module;
    if (!PyArg_ParseTuple(args, "O!", &PyTuple_Type, &given))
        return NULL;
    if (hold_all(&a, given, LAW + 3, 1 << (LAW + 2))) {
        Law law = law_of(&a);
        const int64_t *before = a.view[LAW].buf, *after = a.view[LAW + 1].buf;
        double *gain = a.view[LAW + 2].buf;
        Py_BEGIN_ALLOW_THREADS
        for (int64_t f = 0; f < law.number[SUMS]; f++)
            gained(&law, f, before + f * law.number[CHAINS], after + f * law.number[CHAINS], gain);
        Py_END_ALLOW_THREADS
    }
    return all_let_go(&a);
}

/* The sums that a step changes, in their order, with by how much. */
static int64_t changed_by(const int64_t *flat, const int64_t *each, int64_t entries, const int64_t *of_starts,
                          const int64_t *of, int64_t *change, int64_t *met)
{
    int64_t number = 0;
    for (int64_t e = 0; e < entries; e++)
        for (int64_t n = of_starts[flat[e]]; n < of_starts[flat[e] + 1]; n++) {
            int64_t at = number, sum = of[n];
            while (at && met[at - 1] > sum)
                at--;
            if (!at || met[at - 1] != sum) {
                memmove(met + at + 1, met + at, (size_t)(number++ - at) * sizeof *met);
                met[at] = sum;
            }
            change[sum] += each[e];
        }
    return number;
}

/* Parameters: the arrays of the law; where the cells of each step begin, these, and the sign of each; by how
 * many people each chain changes, and the logarithm of its chance; where the sums of each cell begin, and
 * these; the people and the sums, which are changed; room for the change of each sum, which is left at zero,
 * for the sums met, and for the sums and gains of the chains, twice each. */
static PyObject *steps(PyObject *module, PyObject *args)
{
    PyObject *given;
    Arrays a;
    (void)module;
    if (!PyArg_ParseTuple(args, "O!", &PyTuple_Type, &given))
        return NULL;
    if (hold_all(&a, given, LAW + 13, 0x3F << (LAW + 7))) {
        Law law = law_of(&a);
        const Py_buffer *view = a.view + LAW;
        const int64_t *starts = view[0].buf, *flat = view[1].buf, *each = view[2].buf, *by = view[3].buf;
        const double *chance = view[4].buf;
        const int64_t *of_starts = view[5].buf, *of = view[6].buf;
        int64_t *people = view[7].buf, *sums = view[8].buf, *change = view[9].buf, *met = view[10].buf;
        int64_t *after = view[11].buf, chains = law.number[CHAINS];
        double *gain = view[12].buf, *fewer = gain + chains;
        Py_BEGIN_ALLOW_THREADS
        for (int64_t s = 0; s < law.number[STEPS]; s++, by += chains, chance += chains) {
            int64_t entries = starts[s + 1] - starts[s];
            const int64_t *cell = flat + starts[s], *sign = each + starts[s];
            int64_t number = changed_by(cell, sign, entries, of_starts, of, change, met);
            memset(gain, 0, (size_t)(2 * chains) * sizeof *gain);
            for (int64_t n = 0; n < number; n++) {
                const int64_t *before = sums + met[n] * chains;
                if (!change[met[n]])
                    continue;
                for (int64_t c = 0; c < chains; c++)
                    after[c] = before[c] + change[met[n]] * by[c];
                gained(&law, met[n], before, after, gain);
            }
            for (int64_t e = 0; e < entries; e++)
                for (int64_t c = 0; c < chains; c++) {
                    int64_t old = people[cell[e] * chains + c], new = old + sign[e] * by[c];
                    double missing = *law.penalty * (double)(old < 0 ? -old : 0);
                    fewer[c] += missing - *law.penalty * (double)(new < 0 ? -new : 0);
                }
            for (int64_t c = 0; c < chains; c++)
                after[c] = chance[c] < gain[c] + fewer[c] ? by[c] : 0;
            for (int64_t e = 0; e < entries; e++)
                for (int64_t c = 0; c < chains; c++)
                    people[cell[e] * chains + c] += sign[e] * after[c];
            for (int64_t n = 0; n < number; n++) {
                for (int64_t c = 0; c < chains; c++)
                    sums[met[n] * chains + c] += change[met[n]] * after[c];
                change[met[n]] = 0;
            }
        }
        Py_END_ALLOW_THREADS
    }
    return all_let_go(&a);
}

static PyMethodDef methods[] = {
    {"steps", steps, METH_VARARGS, "Steps of chains over people: see fitting_people.py."},
    {"gains", gains, METH_VARARGS, "What other sums gain: see fitting_people.py."},
    {NULL, NULL, 0, NULL},
};

MODULE(people_steps, methods)
