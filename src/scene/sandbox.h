/* A Lua state for text that nobody vouches for: only harmless functions, and limits on memory, work and time.
 * What a program in it computes depends on its text and its seed alone. */
#ifndef UND_SCENE_SANDBOX_H
#define UND_SCENE_SANDBOX_H

#include <lua.h>

#include <undine/types.h>

typedef struct und_limits {
    size_t memory;    /* bytes, 256 MiB */
    double load_work; /* instructions (allocations count too) while the file runs, 2e9 */
    double call_work; /* and in one call of one of its functions, 1e7 */
    double step_work; /* and in all calls together for the start, or for a step, 2e10 */
    double seconds;   /* of processor time, of either; 60 */
} und_limits;

und_limits und_limits_default(void);

typedef enum und_limit {
    UND_LIMIT_NONE,
    UND_LIMIT_WORK,
    UND_LIMIT_STEP,
    UND_LIMIT_TIME,
    UND_LIMIT_MEMORY,
    UND_LIMIT_STRING
} und_limit;

typedef struct und_sandbox {
    lua_State *lua;
    und_limits limits;
    size_t used;      /* bytes now */
    size_t longest;   /* string so far, bytes: what one instruction may compare */
    bool refused;     /* the last refusal of memory was the limit's, not the machine's */
    double work_left; /* of the call in progress */
    double unchecked; /* work since the clock was read */
    double deadline;  /* s of the thread's processor time; 0: not yet set */
    double work;      /* what it was given */
    double step_left; /* of all calls together, before the one in progress */
    und_limit hit;    /* a limit was hit: nothing in the scene may catch that */
    int hit_line;
    double hit_work;
    uint64_t seed;
    uint64_t drawn; /* random numbers drawn so far */
    bool loading;
    int printed; /* lines */
} und_sandbox;

und_status und_sandbox_open(und_sandbox *box, const und_limits *limits, und_error *err);
void und_sandbox_close(und_sandbox *box);

/* lua_pcall within `work` instructions; a Lua status.  `hit` then says whether a limit ended it. */
int und_sandbox_call(und_sandbox *box, int arguments, int results, double work);

/* The calls that follow belong together. */
void und_sandbox_begin(und_sandbox *box);

/* "stopped after ...": the limit that was hit. */
void und_sandbox_explain(const und_sandbox *box, char *text, size_t size);

/* Counts work done outside Lua on the scene's behalf; a Lua error where that was too much. */
void und_sandbox_charge(lua_State *L, double work);

/* The sandbox a state belongs to. */
und_sandbox *und_sandbox_of(lua_State *L);

/* Makes reading a missing key of the table on top of the stack an error with a suggestion; `what` names the
 * table in it ("math", or "" for the globals). */
void und_sandbox_strict(lua_State *L, const char *what);

/* math, into the globals table on top of the stack; without random. */
void und_math_open(lua_State *L);

/* hash(), noise(), fbm() and math.random's replacement, into the globals table on top of the stack. */
void und_noise_open(lua_State *L);

#endif
