/* Scenes that are wrong: each gives UND_INVALID and one message with the fragment. */
#include "tests/test.h"

#include "scene/read.h"

#include <time.h>

typedef struct wrong_scene {
    const char *text, *fragment;
} wrong_scene;

/* W("..."): within a liquid that is right otherwise, on line 2. */
#define W(text_) "liquid.waves { size = {4, 2}, cells = 8,\n  " text_ " }"
#define S(text_) "liquid.waves { size = {4, 2}, cells = 8 }\n" text_

static const wrong_scene language[] = {
    {"", "e.lua: no liquid: expected liquid.waves { ... }, liquid.columns { ... }, liquid.cells { ... } or "
         "liquid.levelset { ... }"},
    {"scene {", "e.lua:1: unexpected symbol near <eof>"},
    {"scene {\n frames = 3\n fps = 24 }",
     "e.lua:3: '}' expected (to close '{' at line 1) near 'fps' (is a comma missing before this?)"},
    {"scene { 1 2 }", "near '2' (is a comma missing before this?)"},
    {"scene { 'a' \"b\" 'c' }", "near '\"b\"' (is a comma missing before this?)"},
    {"scene { frames = 3 )", "e.lua:1: '}' expected near ')'"},
    {"scene = nil\nscene {}", "e.lua:2: unknown name \"scene\""},
    {"lquid.waves {}", "e.lua:1: unknown name \"lquid\" (did you mean \"liquid\"?)"},
    {"liquid.wave {}", "e.lua:1: unknown name \"liquid.wave\" (did you mean \"waves\"?)"},
    {"liquid.flip {}", "e.lua:1: unknown name \"liquid.flip\"; there are: liquid.cells, liquid.columns, "
                       "liquid.levelset, liquid.waves"},
    {"liquid { size = 1 }", "e.lua:1: liquid is not a function; there are: liquid.cells, liquid.columns, "},
    {"liquid.levelset { size = {1, 1, 1}, cells = 8, bodies = {} }",
     "e.lua:1: liquid.levelset: unknown key \"bodies\": bodies float in liquid.waves, liquid.columns and "},
    {"math.sine(1)", "unknown name \"math.sine\" (did you mean \"sin\"?)"},
    {"os.execute('true')", "e.lua:1: os is not available: a scene cannot run programs"},
    {"io.open('x')", "io is not available"},
    {"require 'x'", "require is not available"},
    {"load('x')", "load is not available"},
    {"dofile('x')", "dofile is not available"},
    {"debug.getinfo(1)", "debug is not available"},
    {"setmetatable({}, {})", "setmetatable is not available"},
    {"coroutine.wrap(print)", "coroutine is not available"},
    {"('x'):gsub('x', 'y')", "string.gsub is not available"},
    {"string.dump(print)", "string.dump is not available"},
    {"error('my own words')", "e.lua:1: my own words"},
    {"error({})", "e.lua: the scene raised an error without a text"},
    {"error()", "e.lua: the scene raised an error without a text"},
    {"\x1bLua", "e.lua: attempt to load a binary chunk"},
    {"error('bare', 0)", "e.lua: bare"},
    {"local function f() return 1 + f() end f()", "e.lua:1: stack overflow"},
    {"math.random(3, 1)", "the interval from 3 to 1 is empty"},
    {"noise(1/0)", "expected a number from -1e9 to 1e9"},
    {"fbm(1, 1, 100)", "expected 1 to 16 octaves"},
    {"for k in pairs({[{}] = 1}) do end", "pairs: keys must be numbers or strings, found a table"},
    {"string.format('%p', {})", "%p is not available"},
    {"string.format('%d', {})", "number expected, got table"},
    {"table.sort(3)", "table expected, got number"},
    {"table.sort({1, 'x'})", "attempt to compare"},
    {"param(3, 4)", "param: expected a name and a default"},
    {"param('x')", "param: expected a default that is a number, a string, true or false, found nothing"},
};

static const wrong_scene blocks[] = {
    {S("light { sun = {0, 1e300, 0} }"),
     "e.lua:2: light.sun: expected numbers from -1e+09 to 1e+09, found 1e+300"},
    {S("camera { eye = {0, 0, -2e9}, look = {0, 0, 0} }"),
     "camera.eye: expected numbers from -1e+09 to 1e+09"},
    {S("liquid.waves { size = 1, cells = 8 }"), "e.lua:2: liquid.waves: a scene has only one"},
    {S("scene(3)"), "e.lua:2: scene: expected a table { key = value, ... }, found 3"},
    {S("scene()"), "scene: expected a table { key = value, ... }, found nothing"},
    {S("scene { 'x' }"), "expected keys with names (key = value), found a value at 1"},
    {S("scene {\n\n  frame = 3 }"), "e.lua:4: scene: unknown key \"frame\" (did you mean \"frames\"?)"},
    {S("scene { zzzzzz = 3 }"), "unknown key \"zzzzzz\"; there are: name, start, frames"},
    {S("scene { frames = 0 }"), "scene.frames: expected a whole number from 1 to 1e+06, found 0"},
    {S("scene { frames = 1.5 }"), "scene.frames: expected a whole number"},
    {S("scene { frames = '24' }"), "found \"24\""},
    {S("scene { fps = -24 }"), "expected a number from 0.001 to 100000 (frames per second), found -24"},
    {S("scene { fps = 0/0 }"),
     "scene.fps: expected a finite number from 0.001 to 100000 (frames per second), found nan"},
    {S("scene { fps = -(0/0) }"), "found nan"},
    {S("light { color = 0/0 }"), "light.color: expected a finite number, found nan"},
    {S("light { color = {1, 1, -(0/0)} }"), "light.color[3]: expected a finite number, found nan"},
    {S("scene { name = 'a b' }"), "scene.name: expected a name of letters, digits, _ and -"},
    {S("scene { name = '../x' }"), "scene.name: expected a name"},
    {S("scene { seed = -1 }"), "scene.seed: expected a whole number"},
    {S("camera { eye = {1, 2} }"), "camera.eye: expected {x, y, z}, a function(t) that returns it"},
    {S("camera { eye = {1, 2, 'x'} }"), "camera.eye[3]: expected a number, found \"x\""},
    {S("camera { eye = function(t) return 3 end }"), "camera.eye: expected the function to return {x, y, z}"},
    {S("camera { eye = { keys = {} } }"), "camera.eye"},
    {S("camera { eye = { keys = {{ time = 1, at = {0,0,0} }, { time = 0, at = {1,0,0} }} } }"), "camera.eye"},
    {S("camera {\n eye = {1, 2, 3}, look = {1, 2, 3} }"),
     "e.lua:2: camera: expected look to be another point than eye, found {1, 2, 3} for both"},
    {S("camera { fov = 180 }"), "camera.fov: expected a number from 1 to 150 (degrees), found 180"},
    {S("light { color = {1, 2} }"), "light.color: expected a colour {red, green, blue}, found 2 numbers"},
    {S("light { color = {1, 2, -1} }"), "expected colours from 0 to 1000, found -1"},
    {S("light { sky = 'none.png' }"), "light.sky: cannot open \"none.png\": No such file or directory"},
    {S("light { sky = '/sky.png' }"),
     "light.sky: expected a name relative to the scene's folder, found the absolute name \"/sky.png\""},
    {S("light { sky = '' }"), "light.sky: expected the name of a file in the scene's folder, found \"\""},
    {S("light { sun = {0, 0, 0} }"), "light: expected a direction towards the sun"},
    {S("ground { map = 5 }"), "ground.map: expected a PNG file or a function(x, z) that returns a colour"},
    {S("ground { map = function(x, z) return {1, 2} end }"),
     "ground.map: expected a colour {red, green, blue}"},
    {S("ground { map = function(x, z) return -1 end }"),
     "ground.map: expected colours from 0 to 1000, found -1"},
    {"ground { map = function(x, z) return 1 end }", "ground.map: expected the liquid before a map"},
    {S("light { sky = 5 }"), "light.sky: expected the name of a PNG, EXR or HDR file, found 5"},
    {S("film { tone = 1 }"), "film.tone: expected true or false, found 1"},
    {S("film { width = 1e9 }"), "film.width: expected a whole number from 1 to 16384 (pixels)"},
};

static const wrong_scene waves[] = {
    {"liquid.waves { cells = 8 }", "liquid.waves: missing key \"size\""},
    {"liquid.waves { size = 4 }", "liquid.waves: missing key \"cells\""},
    {"liquid.waves { size = {1, 2, 3}, cells = 8 }", "expected a length, or {x, z} (m), found 3 numbers"},
    {"liquid.waves { size = -1, cells = 8 }", "expected lengths from 1e-06 to 1e+09 (m), found -1"},
    {"liquid.waves { size = {0/0, 1}, cells = 8 }",
     "liquid.waves.size[1]: expected a finite number, found nan"},
    {"liquid.waves { size = -(0/0), cells = 8 }",
     "liquid.waves.size: expected a finite number (m), found nan"},
    {"liquid.waves { size = 1, cells = 0/0 }", "liquid.waves.cells: expected a finite number, found nan"},
    {"liquid.waves { size = 1, cells = 1 }",
     "liquid.waves.cells: expected a whole number from 2 to 32768, found 1"},
    {"liquid.waves { size = 1, cells = 40000 }", "expected a whole number from 2 to 32768, found 40000"},
    {"liquid.waves { size = 1, cells = 8.5 }", "found 8.5"},
    {"liquid.waves { size = {1, 1}, cells = {32768, 32769} }", "found 32769"},
    {"liquid.waves { size = {32768, 32768}, cells = 32768 }", ""},
    {"liquid.waves { size = {10, 7}, cells = 64 }",
     "cells must be square: 64 of them along 10 m are 0.15625 m long, and 7 m is 44.8 of them; "
     "size = {10, 7.03125} would fit, or cells = 60"},
    {"liquid.waves { size = {10, 5}, cells = {10, 10} }", "cells must be square"},
    {W("cell = 9"), "e.lua:2: liquid.waves: unknown key \"cell\" (did you mean \"cells\"?)"},
    {W("level = 1, surface = 2"), "expected either level or surface, found both"},
    {W("level = function() return 1 end"),
     "liquid.waves.level: expected a number from -1e+06 to 1e+06 (m), found a function"},
    {W("ground = 'deep'"),
     "liquid.waves.ground: expected a number, a function(x, z, t), a table of rows or map{}, found \"deep\""},
    {W("ground = function() return -(0/0) end"),
     "expected the function to return a finite number, found nan at x = 2, z = 1, t = 0"},
    {W("ground = 1/0"), "liquid.waves.ground: expected a finite number from -1e+06 to 1e+06 (m), found inf"},
    {W("ground = {}"), "expected a table of rows of numbers"},
    {W("ground = {1, 2, 3}"), "found a single row"},
    {W("ground = {{1, 2}, {1}}"), "liquid.waves.ground[2]: expected a row of 2 numbers"},
    {W("ground = {{1, 2}, {1, 'x'}}"), "liquid.waves.ground[2][2]: expected a number, found \"x\""},
    {W("ground = function(x) return y + x end"), "e.lua:2: unknown name \"y\""},
    {W("ground = function(x) return x .. 'm' end"),
     "expected the function to return a finite number, found a string"},
    {W("ground = sphere { radius = 1 }"), "found a shape"},
    {W("gravity = 0"), "liquid.waves.gravity: expected a number from 1e-06 to 10000 (m/s2), found 0"},
    {W("order = 3"), "liquid.waves.order: expected a whole number from 1 to 2, found 3"},
    {W("edges = { left = 'opne' }"), "e.lua:2: liquid.waves.edges.left: expected \"wall\", \"open\", "
                                     "\"flow\" or \"fall\", found \"opne\" (did you mean \"open\"?)"},
    {"liquid.waves { size = {4, 2}, cells = 8,\n edges = {\n  left = {\n   kind = 'opne' } } }",
     "e.lua:4: liquid.waves.edges.left.kind: expected \"wall\", \"open\", \"flow\" or \"fall\", found "
     "\"opne\" (did you mean \"open\"?)"},
    {W("edges = { letf = 'open' }"), "liquid.waves.edges: unknown key \"letf\" (did you mean \"left\"?)"},
    {W("edges = { left = {} }"), "liquid.waves.edges.left: missing key \"kind\""},
    {W("edges = { left = 'flow' }"), "missing key \"rate\""},
    {W("edges = { left = { kind = 'wall', level = 1 } }"),
     "only an edge of kind \"open\" or \"flow\" has a level, this one is \"wall\""},
    {W("edges = { left = { kind = 'open', rate = 1 } }"), "only an edge of kind \"flow\" has a rate"},
    {W("edges = { left = { kind = 'open', amplitude = 1 } }"), "missing key \"period\""},
    {"liquid.waves { size = 4, cells = 8, edges = { front = 'open' } }",
     "a curve has only the edges left and right"},
    {W("springs = { center = {1, 1} }"), "liquid.waves.springs: expected a list of tables"},
    {W("springs = { { center = {1, 1}, radius = 1 } }"), "liquid.waves.springs[1]: missing key \"rate\""},
    {W("springs = { { rate = 1 } }"), "missing keys \"center\" and \"radius\", or \"shape\""},
    {W("springs = {\n { rate = 1, center = {1, 1}, radius = 1 },\n { rate = 1, center = {1, 1}, radius = -2 "
       "} }"),
     "e.lua:4: liquid.waves.springs[2].radius: expected a number from 1e-06 to 1e+09 (m), found -2"},
    {W("drains = { { rate = 1, radius = 1, center = {1, 1}, shape = sphere { radius = 1 } } }"),
     "expected either a shape or center and radius"},
    {W("drops = { { center = {1, 1}, radius = 1 } }"), "expected either \"volume\" (m3) or \"height\" (m)"},
    {W("drops = { { center = 3, radius = 1, volume = 1 } }"),
     "liquid.waves.drops[1].center: expected a place {x, z}, found 3"},
    {W("rain = { rate = function() return 1 end }"), "liquid.waves.rain: missing key \"peak\""},
    {W("rain = { rate = 10, peak = 5 }"), "the rate, 10, is above its peak, 5"},
    {W("rain = true"), "liquid.waves.rain: expected a table"},
    {W("stirs = { { center = {1, 1}, radius = 1, amplitude = 1 } }"),
     "liquid.waves.stirs[1]: missing key \"period\""},
    {W("objects = { { shape = 'ball' } }"), "liquid.waves.objects[1].shape: expected a shape: sphere{}"},
    {W("objects = { { shape = sphere { radius = 1 }, keys = {{ time = 0 }} } }"),
     "liquid.waves.objects[1].keys[1]: missing key \"at\""},
    {W("objects = { { shape = sphere { radius = 0 } } }"),
     "sphere.radius: expected a number from 1e-06 to 1e+06 (m), found 0"},
    {W("objects = { { shape = sphere {} } }"), "sphere: missing key \"radius\""},
    {W("objects = { { shape = box { size = {1, 1, 0} } } }"), "a box's edges must be longer than 0"},
    {W("objects = { { shape = box { max = {1, 1, 1}, size = {1, 1, 1} } } }"),
     "expected either min and max or center and size"},
    {W("objects = { { shape = union {} } }"), "union: expected a list of shapes"},
    {W("objects = { { shape = difference { sphere { radius = 1 }, 3 } } }"),
     "difference[2]: expected a shape"},
    {W("foam = 3"), "liquid.waves.foam: expected true, false or { threshold"},
    {W("ground = map { file = 7 }"), "map.file: expected the name of a PNG or EXR file, found 7"},
    {W("balls = { { radius = 1, density = 5, at = {1, 1, 1} } }"),
     "balls[1].density: expected a number from 10 to"},
    {W("balls = { { radius = 1, density = 500 } }"), "missing key \"at\""},
    {W("ground = map { file = 'a.png', hihg = 3 }"), "map: unknown key \"hihg\" (did you mean \"high\"?)"},
};

/* C("..."): the same for the other liquid; B("..."): in a body of it. */
#define C(text_) "liquid.columns { size = {4, 2}, cells = 8,\n  " text_ " }"
#define B(text_) C("bodies = { { shape = sphere { radius = 1 }, " text_ " } }")

static const wrong_scene columns[] = {
    {B("density = 1, velocity = {1e300, 0, 0}"),
     "velocity: expected numbers from -1e+09 to 1e+09, found 1e+300"},
    {"liquid.columns { cells = 8 }", "liquid.columns: missing key \"size\""},
    {"liquid.columms {}", "e.lua:1: unknown name \"liquid.columms\" (did you mean \"columns\"?)"},
    {S("liquid.columns { size = 1, cells = 8 }"),
     "e.lua:2: liquid.columns: a scene has only one liquid, and this one has liquid.waves already"},
    {C("level = 1, surface = 2"), "liquid.columns: expected either level or surface, found both"},
    {C("gravty = 3"), "e.lua:2: liquid.columns: unknown key \"gravty\" (did you mean \"gravity\"?)"},
    {C("pipedepth = 3"), "liquid.columns: unknown key \"pipedepth\" (did you mean \"pipe_depth\"?)"},
    {C("zzzzzz = 3"), "unknown key \"zzzzzz\"; there are: size, cells, origin"},
    {C("order = 2"), "liquid.columns: unknown key \"order\""},
    {C("edges = { letf = 'open' }"), "liquid.columns.edges: unknown key \"letf\" (did you mean \"left\"?)"},
    {C("springs = { { rate = 1 } }"), "liquid.columns.springs[1]: missing keys \"center\""},
    {C("ground = function() return 0/0 end"), "liquid.columns.ground: expected the function to return"},
    {C("pipe_depth = 0"), "liquid.columns.pipe_depth: expected a number of at least 1e-06 (m), found 0"},
    {C("pipe_depth = 0/0"), "liquid.columns.pipe_depth: expected a finite number"},
    {C("diagonal = 2"), "liquid.columns.diagonal: expected a number from 0 to 1, found 2"},
    {C("flow = 'old'"), "liquid.columns.flow: expected \"new\" or \"mean\", found \"old\""},
    {C("force = 'serach'"),
     "expected \"estimate\" or \"search\", found \"serach\" (did you mean \"search\"?)"},
    {C("spray = 3"),
     "liquid.columns.spray: expected true, false or { threshold = ..., rate = ..., ... }, found 3"},
    {C("spray = { treshold = 3 }"),
     "e.lua:2: liquid.columns.spray: unknown key \"treshold\" (did you mean \"threshold\"?)"},
    {C("spray = { radius = {1, 2, 3} }"),
     "liquid.columns.spray.radius: expected a number or {smallest, largest}, found 3 numbers"},
    {C("spray = { radius = 'big' }"),
     "liquid.columns.spray.radius: expected a number or {smallest, largest}"},
    {C("spray = { radius = {0.2, 0.1} }"), "expected the smaller radius first, found {0.2, 0.1}"},
    {C("spray = { radius = {0, 0.1} }"), "expected radii from 1e-06 to 10 (m), found 0"},
    {C("spray = { most = 0 }"), "liquid.columns.spray.most: expected a whole number from 1 to 6.71089e+07"},
    {C("spray = { wind = {1, 2} }"), "liquid.columns.spray.wind: expected {x, y, z}, a function(t)"},
    {C("spray = { sheets = 1 }"),
     "liquid.columns.spray.sheets: expected true, false or { tear = ..., cohesion = ... }, found 1"},
    {C("bodies = { shape = sphere { radius = 1 } }"), "liquid.columns.bodies: expected a list of tables"},
    {C("bodies = { { density = 1 } }"), "liquid.columns.bodies[1]: missing key \"shape\""},
    {C("bodies = {\n {\n shape = plane {}, density = 1 } }"),
     "e.lua:3: liquid.columns.bodies[1]: expected a shape of finite size, found one without end"},
    {B("at = {0, 0, 0}"), "liquid.columns.bodies[1]: missing key \"density\" (kg/m3) or \"mass\" (kg)"},
    {B("release = 3, keys = {{ time = 0, at = {0, 0, 0} }}"), "missing key \"density\""},
    {B("density = 1, mass = 1"), "expected either density or mass, found both"},
    {B("density = 0"),
     "liquid.columns.bodies[1].density: expected a number from 0.001 to 1e+06 (kg/m3), found 0"},
    {B("density = 0/0"), "liquid.columns.bodies[1].density: expected a finite number"},
    {B("mass = -1"), "liquid.columns.bodies[1].mass: expected a number from 1e-09 to 1e+12 (kg), found -1"},
    {B("density = 1, at = {1, 2}"), "liquid.columns.bodies[1].at: expected three numbers {x, y, z}"},
    {B("density = 1, at = {1, 2, 1/0}"),
     "liquid.columns.bodies[1].at[3]: expected a finite number, found inf"},
    {B("at = {0, 0, 0}, keys = {{ time = 0, at = {0, 0, 0} }}"),
     "expected either keys or \"at\", found both"},
    {B("spin = {0, 0, 0}, keys = {{ time = 0, at = {0, 0, 0} }}"), "expected either keys or \"spin\""},
    {B("keys = {}"), "liquid.columns.bodies[1]: "},
    {B("density = 1, release = -1"), "liquid.columns.bodies[1].release: expected a number of at least 0 (s)"},
    {B("density = 1, bounce = 2"), "liquid.columns.bodies[1].bounce: expected a number from 0 to 1, found 2"},
    {C("figures = { {} }"), "liquid.columns.figures[1]: missing key \"file\""},
    {C("figures = { { file = 3 } }"),
     "liquid.columns.figures[1].file: expected the name of a skeleton's file, found 3"},
    {C("figures = { { file = '../x.skel' } }"), "leads out of the scene's folder"},
    {C("figures = { { file = 'none.skel' } }"), "cannot open \"none.skel\": No such file or directory"},
};

/* L("..."): within cells that are right otherwise, on line 2; F("..."): the same one cell deep. */
#define L(text_) "liquid.cells { size = {4, 2, 1}, cells = 8,\n  " text_ " }"
#define F(text_) "liquid.cells { size = {4, 2}, cells = 8,\n  " text_ " }"
#define G(text_) L("gates = {{ " text_ " }}")

static const wrong_scene cells[] = {
    {L(""), ""},
    {F("walls = { left = 'stick' }, gates = {{ side = 'top', kind = 'outflow' }}"), ""},
    {S("liquid.cells { size = {1, 1}, cells = 8 }"),
     "e.lua:2: liquid.cells: a scene has only one liquid, and this one has liquid.waves already"},
    {"liquid.cells { cells = 8 }", "e.lua:1: liquid.cells: missing key \"size\""},
    {"liquid.cells { size = {1, 1} }", "liquid.cells: missing key \"cells\""},
    {"liquid.cells { size = 1, cells = 8 }", "liquid.cells.size: expected lengths {x, y, z}, or {x, y} (m)"},
    {"liquid.cells { size = {1, 0, 1}, cells = 8 }", "expected lengths from 1e-06 to 1e+06 (m), found 0"},
    {"liquid.cells { size = {1, 0/0, 1}, cells = 8 }", "liquid.cells.size[2]: expected a finite number"},
    {"liquid.cells { size = {1, 1, 1}, cells = 8.5 }", "expected a whole number, or {nx, ny, nz}, found 8.5"},
    {"liquid.cells { size = {1, 1, 1}, cells = 0 }", "liquid.cells.cells: expected a number from 1 to 4096"},
    {"liquid.cells { size = {1, 1, 1}, cells = {8, 8} }", "expected a number of cells, or {nx, ny, nz}"},
    {"liquid.cells { size = {1, 1, 1}, cells = {8, 8, -1} }", "whole numbers from 1 to 4096, found -1"},
    {"liquid.cells { size = {1, 1}, cells = {8, 8, 2} }", "is a domain one cell deep; found 2 along z"},
    {"liquid.cells { size = {1, 1, 1}, cells = 1000 }", "expected at most 2^28 cells in all"},
    {L("visosity = 3"), "e.lua:2: liquid.cells: unknown key \"visosity\" (did you mean \"viscosity\"?)"},
    {L("viscosity = -1"), "liquid.cells.viscosity: expected a number from 0 to 1e+06 (m2/s), found -1"},
    {L("viscosity = 0/0"), "liquid.cells.viscosity: expected a finite number"},
    {L("gravity = {0, -9.81}"), "liquid.cells.gravity: expected a number or {x, y, z}, found 2 numbers"},
    {L("gravity = {0, 1/0, 0}"), "liquid.cells.gravity[2]: expected a finite number"},
    {L("origin = 3"), "liquid.cells.origin: expected {x, y, z}, found 3"},
    {L("pressure = 'gauss'"), "liquid.cells.pressure: expected \"multigrid\" or \"relax\", found \"gauss\""},
    {L("pressure = 101325"), "liquid.cells.pressure: expected \"multigrid\" or \"relax\", found 101325"},
    {L("surface_pressure = {}"), "expected a number or a function(x, y, z, t), found a table"},
    {L("surface_pressure = function(x, y, z, t) return 0/0 end"),
     "liquid.cells.surface_pressure: expected the function to return a finite number, found nan at x = 2, y "
     "= "
     "1, z = 0.5, t = 0"},
    {L("level = function(x, z) return nil end"), "liquid.cells.level: expected the function to return"},
    {L("level = {{1, 2}, {3}}"), "expected a row of 2 numbers"},
    {L("track = 'marker'"), "found \"marker\" (did you mean \"markers\"?)"},
    {L("track = 'chains'"), "chains follow a liquid in two dimensions: expected one cell along z, found 2"},
    {L("spray = true"), "only track = \"height\" has spray, this is \"markers\""},
    {L("track = 'height', spray = { sheets = true }"), "liquid.cells.spray: unknown key \"sheets\""},
    {L("track = 'height', foam = true"), "foam is where spray lands, and there is no spray"},
    {F("revolve = true"), "only track = \"chains\" has revolve, this is \"markers\""},
    {F("track = 'chains', revolve = { around = 2 }"), "revolve.around: expected a whole number from 3"},
    {L("relaxation = 2"), "liquid.cells.relaxation: expected a number from 1 to 1.999, found 2"},
    {L("epsilon = 0"), "liquid.cells.epsilon: expected a number from 1e-12 to 1e+06 (1/s), found 0"},
    {L("courant = 1.5"), "liquid.cells.courant: expected a number from 0.001 to 1, found 1.5"},
    {L("markers = 2.5"), "liquid.cells.markers: expected a whole number"},
    {L("walls = { letf = 'slip' }"), "liquid.cells.walls: unknown key \"letf\" (did you mean \"left\"?)"},
    {L("walls = { left = 'sticky' }"), "found \"sticky\" (did you mean \"stick\"?)"},
    {L("walls = { left = 'inflow' }"), "an inflow has a velocity: { kind = \"inflow\", velocity = {...} }"},
    {L("walls = { left = { velocity = {1, 0, 0} } }"), "liquid.cells.walls.left: missing key \"kind\""},
    {L("walls = {\n left = { kind = 'inflow' } }"),
     "e.lua:3: liquid.cells.walls.left: missing key \"velocity\" (m/s) of what comes in"},
    {L("walls = { top = { kind = 'slip', velocity = {1, 0, 0} } }"),
     "only what is \"inflow\" or \"stick\" has a velocity, this is \"slip\""},
    {L("walls = { top = { kind = 'stick', markers = 5 } }"), "only an \"inflow\" has markers"},
    {L("walls = { top = { kind = 'stick', velocity = {1, 0} } }"), "expected {x, y, z}, or a function(t)"},
    {L("walls = { top = { kind = 'stick', velocity = {1e9, 0, 0} } }"), "from -1e+06 to 1e+06, found 1e+09"},
    {F("walls = { back = 'stick' }"), "a domain one cell deep has no \"back\""},
    {L("solids = 3"), "liquid.cells.solids: expected a shape, or a list of shapes"},
    {L("solids = { 3 }"), "liquid.cells.solids[1]: expected a shape: sphere{}"},
    {L("solids = { { wall = 'stick' } }"), "liquid.cells.solids[1]: missing key \"shape\""},
    {L("solids = { shape = 3 }"), "liquid.cells.solids.shape: expected a shape"},
    {L("solids = { wall = 'stick' }"), "found a table with names in it"},
    {L("fill = { { shape = sphere { radius = 1 }, velocity = 3 } }"),
     "liquid.cells.fill[1].velocity: expected {x, y, z}, or a function(t)"},
    {L("fill = { { shape = sphere { radius = 1 }, chain = -1 } }"), "fill[1].chain: expected a whole number"},
    {L("gates = { side = 'left', kind = 'outflow' }"), "liquid.cells.gates: expected a list of tables"},
    {G("kind = 'outflow'"), "liquid.cells.gates[1]: missing key \"shape\" or \"side\""},
    {G("side = 'left'"), "liquid.cells.gates[1]: missing key \"kind\""},
    {G("side = 'high x', kind = 'outflow'"), "liquid.cells.gates[1].side: expected \"left\", \"right\""},
    {G("side = 'left', kind = 'inflow'"), "liquid.cells.gates[1]: missing key \"velocity\""},
    {G("side = 'left', kind = 'outflow', start = 2, stop = 2"), "found start = 2, stop = 2"},
    {G("side = 'left', kind = 'inflow', velocity = function(t) return 1, 2 end"),
     "gates[1].velocity: expected the function to return {x, y, z}, found nil at t = 0"},
    {G("side = 'left', kind = 'inflow', velocity = function(t) return {1, 0} end"),
     "gates[1].velocity: expected the function to return {x, y, z}, found a table at t = 0"},
    {G("side = 'left', kind = 'inflow', velocity = function(x, y, z, t) return {1, 2, 0/0} end"),
     "expected the function to return {x, y, z}, found nan at x = 2, y = 1, z = 0.5, t = 0"},
    {G("side = 'left', kind = 'inflow', velocity = function(t) return 1, 0/0, 0 end"), "found nan at t = 0"},
    {G("side = 'left', kind = 'inflow', velocity = function(t) return t.x end"), "attempt to index a number"},
    {F("gates = {{ side = 'front', kind = 'outflow' }}"), "a domain one cell deep has no \"front\""},
    {L("wave_makers = {{ amplitude = 1, wavelength = 2 }}"), "missing key \"depth\""},
    {L("wave_makers = {{ amplitude = 1, wavelength = 0, depth = 1, time = 1 }}"), "wavelength: expected"},
};

static void check(const wrong_scene *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        und_error err = {0};
        und_scene *scene = und_scene_from_text(list[i].text, "e.lua", NULL, 0, &err);
        if (*list[i].fragment == '\0') { /* the largest that is still right */
            assert_non_null(scene);
            und_scene_destroy(scene);
            continue;
        }
        if (scene)
            fail_msg("this loads: %s", list[i].text);
        assert_int_equal(err.status, UND_INVALID);
        if (!strstr(err.text, list[i].fragment))
            fail_msg("%s\ngives \"%s\"\nwithout \"%s\"", list[i].text, err.text, list[i].fragment);
    }
}

static void wrong_language(void **state)
{
    (void)state;
    check(language, sizeof language / sizeof *language);
}

static void wrong_blocks(void **state)
{
    (void)state;
    check(blocks, sizeof blocks / sizeof *blocks);
}

static void wrong_waves(void **state)
{
    (void)state;
    check(waves, sizeof waves / sizeof *waves);
}

static void wrong_columns(void **state)
{
    (void)state;
    check(columns, sizeof columns / sizeof *columns);
}

static void wrong_cells(void **state)
{
    (void)state;
    check(cells, sizeof cells / sizeof *cells);
}

/* Programs without end, or without measure, stop at a limit, whatever they do to catch it. */
static void limits_hold(void **state)
{
    (void)state;
    static const wrong_scene endless[] = {
        {"\nwhile true do end", "l.lua:2: stopped after 3e+06 instructions"},
        {"while true do pcall(function() while true do end end) end", "stopped after"},
        {"local function f() pcall(f) f() end f()", "stopped"},
        {"repeat until pcall(error)", "stopped after"},
        {"local t = {} while true do t[#t + 1] = {} end", "stopped"},
        {"local s = 'x'\nwhile true do\ns = s .. s end", "l.lua:3: stopped at a string of more than 64 KiB"},
        {"while true do pcall(string.rep, 'x', 1e7) end", "l.lua:1: stopped at a string"},
        {"\n('x'):rep(2^16)", "l.lua:2: stopped at a string"},
        {"local a, b = ('x'):rep(6e4), ('x'):rep(6e4)\nfor i = 1, 1e5 do local c = a < b end",
         "l.lua:2: stopped after 3e+06 instructions"},
        {"local a, b = ('x'):rep(6e4), ('x'):rep(6e4)\nfor i = 1, 1e5 do local c = a == b end",
         "l.lua:2: stopped after 3e+06 instructions"},
        {"(''):rep(1e18)", "stopped after"},
        {"local s, t = ('x'):rep(6e4), {} for i = 1, 1000 do t[i] = s end table.sort(t)", "stopped after"},
        {"local s = ('x'):rep(6e4) for i = 1, 100 do s:byte(1, -1) end", "l.lua:1: stopped after"},
        {"while true do pcall(string.rep, '', 1e18) end", "stopped after"},
        {"local function f() return 1 + f() end f()", "memory limit"},
        {"local t = {} for i = 1, 1e5 do t[i] = i end while true do table.insert(t, 1, 0) end",
         "stopped after"},
        {"local t = {} for i = 1, 1e5 do t[i] = i end while true do table.sort(t) end", "stopped after"},
        {"local t = {} for i = 1, 1e4 do t[i] = i end while true do table.concat(t) end", "stopped after"},
        {"local s = sphere { radius = 1 } for i = 1, 100 do s = union { s, s } end",
         "more than 100000 shapes"},
        {"for i = 1, 1100 do pcall(map, { file = 'x.png' }) end map { file = 'x.png' }",
         "more than 1024 files"},
        {"local k = {} for i = 1, 1e4 do k[i] = { time = i, at = {0, 0, 0} } end\n"
         "local o = { shape = sphere { radius = 1 }, keys = k } local list = {} for i = 1, 1e4 do list[i] = "
         "o end\n"
         "liquid.waves { size = 4, cells = 8, objects = list }",
         "l.lua"},
        {"local t = {} for i = 1, 5e4 do t[i] = i end\n"
         "local function g() end local function f(...) while true do g(...) end end f(table.unpack(t))",
         "l.lua:2: stopped after"},
        {"liquid.waves { size = 4, cells = 8, ground = function() while true do end end }",
         "liquid.waves.ground: stopped after 100000 instructions"},
        {"pcall(liquid.waves, { size = 4, cells = 8, ground = function() while true do end end })",
         "liquid.waves.ground: stopped after 100000 instructions"},
    };
    und_limits limits = {
        .memory = 16 << 20, .load_work = 3e6, .call_work = 1e5, .step_work = 1e6, .seconds = 60};
    for (size_t i = 0; i < sizeof endless / sizeof *endless; i++) {
        und_error err = {0};
        const char *text = endless[i].text;
        assert_null(und_scene_load_text(text, strlen(text), "l.lua", NULL, 0, &limits, &err));
        assert_int_equal(err.status, UND_INVALID);
        if (!strstr(err.text, endless[i].fragment))
            fail_msg("%s\ngives \"%s\"\nwithout \"%s\"", text, err.text, endless[i].fragment);
        assert_null(strstr(err.text, "processor time")); /* work is counted, whatever it is */
    }
}

/* All calls for the start are one, and those for a step another. */
static void calls_together_are_limited(void **state)
{
    (void)state;
    const char *text = "liquid.waves { size = {4, 4}, cells = 32, level = 0, ground = function()\n"
                       "  local s = 0 for i = 1, n do s = s + i end return s * 0 - 1\n"
                       "end }";
    for (int slow = 0; slow < 2; slow++) {
        und_limits limits = {.memory = 16 << 20, .load_work = 3e6, .call_work = 1e5, .seconds = 60};
        und_error err = {0};
        char whole[400];
        limits.step_work = slow ? 1e6 : 1e7;
        snprintf(whole, sizeof whole, "local n = 1000 %s", text);
        und_scene *scene = und_scene_load_text(whole, strlen(whole), "l.lua", NULL, 0, &limits, &err);
        assert_non_null(scene);
        und_sim *sim = und_sim_create(scene, 1, &err);
        assert_int_equal(err.status, slow ? UND_INVALID : UND_OK);
        assert_int_equal(sim != NULL, slow == 0);
        if (slow)
            assert_non_null(strstr(err.text, "l.lua:2: liquid.waves.ground: stopped after 1e+06 instructions "
                                             "in all calls together (at x = "));
        und_sim_destroy(sim);
        und_scene_destroy(scene);
    }
}

static void time_is_limited(void **state)
{
    (void)state;
    const char *text = "while true do end";
    und_limits limits = {
        .memory = 16 << 20, .load_work = 1e15, .call_work = 1e15, .step_work = 1e15, .seconds = 0.05};
    und_error err = {0};
    clock_t start = clock();
    assert_null(und_scene_load_text(text, strlen(text), "t.lua", NULL, 0, &limits, &err));
    assert_int_equal(err.status, UND_INVALID);
    assert_non_null(strstr(err.text, "t.lua:1: stopped after 0.05 s of processor time"));
    assert_true((double)(clock() - start) / CLOCKS_PER_SEC >= 0.05);
}

/* Calls that fail deep in others cost Lua more than their instructions: the work that is counted for them
 * must not take longer than other work. */
static void deep_calls_count(void **state)
{
    (void)state;
    const char *text = "local function f() pcall(f) f() end f()";
    und_limits limits = und_limits_default();
    limits.load_work = 5e8;
    limits.seconds = 1.5;
    und_error err = {0};
    assert_null(und_scene_load_text(text, strlen(text), "d.lua", NULL, 0, &limits, &err));
    assert_non_null(strstr(err.text, "d.lua:1: stopped after 5e+08 instructions"));
}

/* Compiling is not counted, so what makes it slow is refused. */
static void endless_conditions_are_refused(void **state)
{
    (void)state;
    enum { COUNT = 100000 };
    char *text = calloc(COUNT + 1, 5);
    und_error err = {0};
    assert_non_null(text);
    memcpy(text, "x = 1", 5);
    for (int i = 1; i < COUNT; i++)
        memcpy(text + 5 * i, " or 1", 5);
    und_scene *scene = und_scene_from_text(text, "c.lua", NULL, 0, &err);
    free(text);
    assert_null(scene);
    assert_non_null(strstr(err.text, "c.lua: more than 20000 conditions"));
}

static void missing_files_say_so(void **state)
{
    (void)state;
    und_error err = {0};
    assert_null(und_scene_load("no-such-scene.lua", NULL, 0, &err));
    assert_int_equal(err.status, UND_INVALID);
    assert_non_null(strstr(err.text, "no-such-scene.lua: cannot open the scene: No such file or directory"));
    assert_null(und_scene_load(".", NULL, 0, &err));
    assert_int_equal(err.status, UND_INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(wrong_language),
                                       cmocka_unit_test(wrong_blocks),
                                       cmocka_unit_test(wrong_waves),
                                       cmocka_unit_test(wrong_columns),
                                       cmocka_unit_test(wrong_cells),
                                       cmocka_unit_test(limits_hold),
                                       cmocka_unit_test(calls_together_are_limited),
                                       cmocka_unit_test(time_is_limited),
                                       cmocka_unit_test(deep_calls_count),
                                       cmocka_unit_test(endless_conditions_are_refused),
                                       cmocka_unit_test(missing_files_say_so)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
