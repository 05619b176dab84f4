// Processor time of this process, and the line that every program here ends with.
#pragma once

#include <sys/resource.h>

#include <cstdio>

inline double processor_seconds() {
    rusage used;
    getrusage(RUSAGE_SELF, &used);
    return used.ru_utime.tv_sec + used.ru_stime.tv_sec + 1e-6 * (used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

// `seconds` are those of the event loop; `figure` is what tells that the work was the intended one.
inline void report(double units, double seconds, const char *name, double figure) {
    printf("units=%.0f ns_per_unit=%.3f %s=%.4f\n", units, seconds / units * 1e9, name, figure);
    fflush(stdout);
}
