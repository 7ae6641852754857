/* Deterministic noise for terrain: functions of the place and the scene's seed. */
#include "base/random.h"
#include "scene/sandbox.h"

#include <lauxlib.h>
#include <math.h>
#include <string.h>

enum { STREAM_HASH = 101, STREAM_NOISE, STREAM_RANDOM };

/* The gradient at a lattice point is one of the 12 edges of a cube, after Perlin, "Improving Noise", 2002. */
static double slope(uint64_t bits, double x, double z, double t)
{
    static const signed char edge[12][3] = {{1, 1, 0}, {-1, 1, 0}, {1, -1, 0}, {-1, -1, 0},
                                            {1, 0, 1}, {-1, 0, 1}, {1, 0, -1}, {-1, 0, -1},
                                            {0, 1, 1}, {0, -1, 1}, {0, 1, -1}, {0, -1, -1}};
    const signed char *g = edge[bits % 12];
    return g[0] * x + g[1] * z + g[2] * t;
}

static double fade(double t)
{
    return t * t * t * (t * (t * 6 - 15) + 10);
}

static double mix(double a, double b, double t)
{
    return a + (b - a) * t;
}

static double noise(uint64_t seed, double x, double z, double t)
{
    double cell[3] = {floor(x), floor(z), floor(t)}, p[3] = {x - cell[0], z - cell[1], t - cell[2]};
    double layer[2] = {0, 0}, row[2];
    uint64_t bits = und_random_bits(seed, STREAM_NOISE, 0);
    for (int k = 0; k < 2 - (p[2] == 0); k++) { /* between layers only where t is */
        uint64_t at_t = und_random_mix(bits ^ (uint64_t)((int64_t)cell[2] + k));
        for (int j = 0; j < 2; j++) {
            uint64_t at_z = und_random_mix(at_t ^ (uint64_t)((int64_t)cell[1] + j));
            uint64_t low = und_random_mix(at_z ^ (uint64_t)(int64_t)cell[0]);
            uint64_t high = und_random_mix(at_z ^ (uint64_t)((int64_t)cell[0] + 1));
            row[j] = mix(slope(low, p[0], p[1] - j, p[2] - k), slope(high, p[0] - 1, p[1] - j, p[2] - k),
                         fade(p[0]));
        }
        layer[k] = mix(row[0], row[1], fade(p[1]));
    }
    return mix(layer[0], layer[1], fade(p[2]));
}

static double coordinate(lua_State *L, int i)
{
    double x = i > lua_gettop(L) ? 0 : luaL_checknumber(L, i);
    if (!(fabs(x) <= 1e9))
        luaL_argerror(L, i, "expected a number from -1e9 to 1e9");
    return x;
}

/* noise(x, z, t): smooth, about -1 to 1, 0 at whole numbers; z and t may be left out. */
static int lua_noise(lua_State *L)
{
    double x = coordinate(L, 1), z = coordinate(L, 2), t = coordinate(L, 3);
    lua_pushnumber(L, noise(und_sandbox_of(L)->seed, x, z, t));
    return 1;
}

/* fbm(x, z, octaves, t): octaves of noise, each of twice the frequency and half the height. */
static int lua_fbm(lua_State *L)
{
    double x = coordinate(L, 1), z = coordinate(L, 2), t = coordinate(L, 4);
    lua_Integer octaves = luaL_optinteger(L, 3, 5);
    if (octaves < 1 || octaves > 16)
        luaL_argerror(L, 3, "expected 1 to 16 octaves");
    double sum = 0, scale = 1;
    for (lua_Integer i = 0; i < octaves; i++, scale *= 2)
        sum += noise(und_sandbox_of(L)->seed + (uint64_t)i, x * scale, z * scale, t) / scale;
    lua_pushnumber(L, sum);
    return 1;
}

/* hash(i, j, k): a number in [0, 1) that depends on its arguments alone. */
static int lua_hash(lua_State *L)
{
    uint64_t bits = und_sandbox_of(L)->seed;
    for (int i = 1; i <= 3; i++) {
        double x = i > lua_gettop(L) ? 0 : luaL_checknumber(L, i);
        uint64_t word;
        x += 0.0; /* -0 is 0 */
        memcpy(&word, &x, sizeof word);
        bits = und_random_bits(bits, STREAM_HASH, word);
    }
    lua_pushnumber(L, (double)(bits >> 11) * 0x1p-53);
    return 1;
}

/* math.random as Lua has it, but the same in every run; a function called later has no "next number". */
static int lua_random(lua_State *L)
{
    und_sandbox *box = und_sandbox_of(L);
    if (!box->loading)
        return luaL_error(L, "math.random works only while the scene is loaded; use hash(i) or noise(x, z)");
    double r = und_random(box->seed, STREAM_RANDOM, box->drawn++);
    if (lua_gettop(L) == 0) {
        lua_pushnumber(L, r);
        return 1;
    }
    lua_Integer low = lua_gettop(L) == 1 ? 1 : luaL_checkinteger(L, 1);
    lua_Integer high = luaL_checkinteger(L, lua_gettop(L) == 1 ? 1 : 2);
    if (low > high || (double)high - (double)low > 0x1p52)
        return luaL_error(L, "math.random: the interval from %I to %I is empty or too long", low, high);
    lua_pushinteger(L, low + (lua_Integer)(r * ((double)(high - low) + 1)));
    return 1;
}

void und_noise_open(lua_State *L)
{
    static const luaL_Reg functions[] = {{"noise", lua_noise}, {"fbm", lua_fbm}, {"hash", lua_hash}, {0}};
    luaL_setfuncs(L, functions, 0);
    lua_getfield(L, -1, "math");
    lua_pushcfunction(L, lua_random);
    lua_setfield(L, -2, "random");
    lua_pop(L, 2);
}
