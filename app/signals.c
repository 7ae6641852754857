#include "app.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

static volatile sig_atomic_t asked; /* how often the program was asked to stop */

static void on_signal(int number)
{
    (void)number;
    if (asked)
        _exit(UND_STOPPED);
    asked = 1;
}

void signals_install(void)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_signal;
    action.sa_flags = SA_RESTART; /* files being written are written whole */
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

bool signals_stop(void)
{
    return asked != 0;
}
