#include "base/parallel.h"

#include <omp.h>

enum { MAX_THREADS = 256 };

int und_threads(int asked)
{
    int threads = asked > 0 ? asked : omp_get_num_procs();
    return threads < MAX_THREADS ? threads : MAX_THREADS;
}
