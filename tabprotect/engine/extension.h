/* What the compiled parts share: how they are compiled, arrays from Python, and the module's end. */

#ifndef TABPROTECT_EXTENSION_H
#define TABPROTECT_EXTENSION_H

#define Py_LIMITED_API 0x030b0000
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#if defined(__GNUC__) && !defined(__clang__) && !defined(POISONED)
#pragma GCC optimize("O3")
#endif
/* The wider registers of later processors. */
#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__gnu_linux__) \
    && !defined(POISONED)
#define CLONES __attribute__((target_clones("avx2", "default")))
#else
#define CLONES
#endif
/* A product and a sum are two roundings on every processor: the same numbers everywhere. */
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#pragma GCC optimize("fp-contract=off")
#elif defined(_MSC_VER)
#pragma fp_contract(off)
#endif

#if defined(__GNUC__)
#define INLINE static inline __attribute__((always_inline))
#else
#define INLINE static inline
#endif

#define MOST_ARRAYS 32

typedef struct {
    Py_buffer view[MOST_ARRAYS];
    int held;
} Arrays;

/* Hold the memory of all that is given, or nothing new; ``written``: a bit for each that is changed. */
static inline int hold(Arrays *a, PyObject *const *given, int number, uint32_t written)
{
    for (a->held = 0; a->held < number; a->held++)
        if (PyObject_GetBuffer(given[a->held], &a->view[a->held],
                               (written >> a->held & 1) ? PyBUF_WRITABLE : PyBUF_SIMPLE))
            return 0;
    return 1;
}

/* The same of a tuple of just so many. */
static inline int hold_all(Arrays *a, PyObject *tuple, int number, uint32_t written)
{
    PyObject *given[MOST_ARRAYS];
    a->held = 0;
    if (PyTuple_Size(tuple) != number) {
        PyErr_Format(PyExc_TypeError, "%d arrays were expected", number);
        return 0;
    }
    for (int i = 0; i < number; i++)
        given[i] = PyTuple_GetItem(tuple, i);
    return hold(a, given, number, written);
}

static inline void let_go(Arrays *a)
{
    while (a->held)
        PyBuffer_Release(&a->view[--a->held]);
}

/* The end of a function that changed its arrays: None, or the error that was met. */
static inline PyObject *all_let_go(Arrays *a)
{
    let_go(a);
    return PyErr_Occurred() ? NULL : Py_NewRef(Py_None);
}

#define MODULE(NAME, METHODS)                                                                 \
    static PyModuleDef_Slot NAME##_slots[] = {{0, NULL}};                                     \
    static struct PyModuleDef NAME##_module = {                                               \
        PyModuleDef_HEAD_INIT, #NAME, NULL, 0, METHODS, NAME##_slots, NULL, NULL, NULL,       \
    };                                                                                        \
    PyMODINIT_FUNC PyInit_##NAME(void)                                                        \
    {                                                                                         \
        return PyModuleDef_Init(&NAME##_module);                                              \
    }

#endif
