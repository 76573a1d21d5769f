// float_control.h: how the processor treats floating-point numbers in this thread: rounding, traps, numbers too small for their full precision.
#ifndef MDLC_RUNTIME_MODEL_FLOAT_CONTROL_H
#define MDLC_RUNTIME_MODEL_FLOAT_CONTROL_H

#if defined(__x86_64__) || defined(__i386__)
#include <xmmintrin.h>

enum { FLOAT_USUAL = 0x1f80, FLOAT_FLUSH = 0x8040 }; // nothing traps, rounding to nearest; such numbers are 0, as results and as arguments

static inline unsigned
float_control(void)
{
    return _mm_getcsr();
}

static inline void
float_control_set(unsigned control)
{
    _mm_setcsr(control);
}
#elif defined(__aarch64__)
enum { FLOAT_USUAL = 0, FLOAT_FLUSH = 1 << 24 };

static inline unsigned
float_control(void)
{
    unsigned long control;
    __asm__ volatile("mrs %0, fpcr" : "=r"(control));
    return (unsigned)control;
}

static inline void
float_control_set(unsigned control)
{
    __asm__ volatile("msr fpcr, %0" : : "r"((unsigned long)control));
}
#else
#error "float_control.h does not know the control register of this processor"
#endif

#endif
