/* A scene's math: the functions that are not exact are ours, with the same bits everywhere. */
#include "base/maths.h"
#include "scene/sandbox.h"

#include <lauxlib.h>
#include <lualib.h>

static int of_one(lua_State *L, double (*function)(double))
{
    lua_pushnumber(L, function(luaL_checknumber(L, 1)));
    return 1;
}

static int sine(lua_State *L)
{
    return of_one(L, und_sin);
}

static int cosine(lua_State *L)
{
    return of_one(L, und_cos);
}

static int tangent(lua_State *L)
{
    return of_one(L, und_tan);
}

static int arc_sine(lua_State *L)
{
    return of_one(L, und_asin);
}

static int arc_cosine(lua_State *L)
{
    return of_one(L, und_acos);
}

static int exponential(lua_State *L)
{
    return of_one(L, und_exp);
}

static int arc_tangent(lua_State *L)
{
    lua_pushnumber(L, und_atan2(luaL_checknumber(L, 1), luaL_optnumber(L, 2, 1)));
    return 1;
}

static int logarithm(lua_State *L)
{
    const double x = luaL_checknumber(L, 1), base = luaL_optnumber(L, 2, 0);
    if (lua_isnoneornil(L, 2))
        lua_pushnumber(L, und_log(x));
    else
        lua_pushnumber(L, base == 2 ? und_log2(x) : base == 10 ? und_log10(x) : und_log(x) / und_log(base));
    return 1;
}

void und_math_open(lua_State *L)
{
    static const char *const exact[] = {"abs", "ceil",       "deg",       "floor",      "fmod", "huge",
                                        "max", "maxinteger", "min",       "mininteger", "modf", "pi",
                                        "rad", "sqrt",       "tointeger", "type",       "ult",  NULL};
    static const luaL_Reg ours[] = {{"acos", arc_cosine}, {"asin", arc_sine},   {"atan", arc_tangent},
                                    {"cos", cosine},      {"exp", exponential}, {"log", logarithm},
                                    {"sin", sine},        {"tan", tangent},     {NULL, NULL}};
    luaL_requiref(L, LUA_MATHLIBNAME, luaopen_math, 0);
    lua_newtable(L);
    for (int i = 0; exact[i]; i++) {
        lua_getfield(L, -2, exact[i]);
        lua_setfield(L, -2, exact[i]);
    }
    luaL_setfuncs(L, ours, 0);
    lua_setfield(L, -3, "math");
    lua_pop(L, 1);
}
