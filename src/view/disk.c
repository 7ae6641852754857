#include "view/disk.h"

#include <pthread.h>

/* One for the process, since what it guards is: HDF5 has its state in globals. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

void und_disk_lock(void)
{
    pthread_mutex_lock(&mutex);
}

void und_disk_unlock(void)
{
    pthread_mutex_unlock(&mutex);
}
