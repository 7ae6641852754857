/* control = {...} of the level set liquid: control particles into und_control_particle_defs. */
#include "scene/levelset_block.h"
#include "scene/particles_block.h"

#include <math.h>
#include <string.h>

enum { SAMPLES_MAX = 4096, SAMPLES = 257 };

typedef struct control_key {
    double time;
    und_vec3 at, velocity, normal;
    double radius, strength, value;
    bool has_velocity;
} control_key;

typedef struct control_read {
    und_control_particle_def guide;
    int key_count;
    const control_key *keys;
    und_points points;
    und_vec3 at;
    const und_particles *files;
} control_read;

#define CONTROL(member_) .offset = offsetof(control_read, guide.member_)

static const char *const kinds[] = {"velocity", "viscosity", "level_set", "divergence",
                                    "eraser",   "adder",     NULL};
static const char *const shapes[] = {"sphere", "cylinder", NULL};
static const char *const falloffs[] = {"box", "hat", "cubic", NULL};

/* ---- The curve ---- */

static void sample_function(reader *r, double *out)
{
    for (int i = 0; i < SAMPLES; i++) {
        lua_pushvalue(r->L, -1);
        lua_pushnumber(r->L, (double)i / (SAMPLES - 1));
        lua_call(r->L, 1, 1);
        if (lua_type(r->L, -1) != LUA_TNUMBER)
            und_read_expected(r, "a number from 0 to 1 from the function");
        out[i] = lua_tonumber(r->L, -1);
        lua_pop(r->L, 1);
    }
}

static void read_falloff(reader *r, const field *f, void *def)
{
    und_control_particle_def *g = &((control_read *)def)->guide;
    int type = lua_type(r->L, -1), choice = 0;
    if (type == LUA_TSTRING) {
        und_read_choice(r, falloffs, &choice);
        g->falloff = (und_falloff)choice;
        return;
    }
    if (type != LUA_TTABLE && type != LUA_TFUNCTION)
        und_read_expected(r, f->expected);
    double *samples = und_scene_alloc(r, SAMPLES_MAX, sizeof *samples);
    g->falloff = UND_FALLOFF_CURVE;
    g->samples = samples;
    g->sample_count = SAMPLES;
    if (type == LUA_TFUNCTION)
        sample_function(r, samples);
    else
        g->sample_count = und_read_numbers(r, samples, 2, SAMPLES_MAX, f->expected);
    for (int i = 0; i < g->sample_count; i++)
        if (!(samples[i] >= 0 && samples[i] <= 1))
            und_read_fail(r, "expected a curve from 0 to 1, found %g", samples[i]);
}

/* ---- Keys ---- */

#define KEY(member_) .offset = offsetof(control_key, member_)

static const field key_fields[] = {
    {"time", F_NUMBER, "s", -UND_FOREVER, UND_FOREVER, true, KEY(time), .doc = "when"},
    {"at", F_POINT, "m", .required = true, KEY(at), .doc = "where it is then"},
    {"velocity", F_POINT, "m/s", KEY(velocity),
     .doc = "with which it passes; else as the keys around it have it"},
    {"normal", F_POINT, NULL, KEY(normal), .doc = "of a cylinder"},
    {"radius", F_NUMBER, "m", 0, 1e6, KEY(radius), .doc = "of its shape"},
    {"strength", F_NUMBER, NULL, 0, 1, KEY(strength), .doc = "that alpha is multiplied by"},
    {"value", F_NUMBER, NULL, -1e9, 1e9, KEY(value), .doc = "that is asked for"},
    {0}};

static void init_key(void *item)
{
    control_key *k = item;
    k->normal.x = k->radius = k->strength = k->value = NAN; /* as the particle has it */
}

static void finish_key(reader *r, void *item)
{
    ((control_key *)item)->has_velocity = und_read_has(r, "velocity");
}

static void read_keys(reader *r, const field *f, void *def)
{
    control_read *c = def;
    c->keys = und_read_list(r, f->inside, sizeof *c->keys, init_key, finish_key, &c->key_count);
}

static float *three(reader *r, und_vec3 v)
{
    float *out = und_scene_alloc(r, 3, sizeof *out);
    out[0] = (float)v.x;
    out[1] = (float)v.y;
    out[2] = (float)v.z;
    return out;
}

static float *one(reader *r, double key, double same)
{
    float *out = und_scene_alloc(r, 1, sizeof *out);
    *out = (float)(isnan(key) ? same : key);
    return out;
}

static void use_keys(reader *r, control_read *c)
{
    const und_control_particle_def *g = &c->guide;
    const und_vec3 normal = und_vec(g->normal[0], g->normal[1], g->normal[2]);
    und_control_particle_frame *frames = und_scene_alloc(r, (size_t)c->key_count, sizeof *frames);
    for (int i = 0; i < c->key_count; i++) {
        const control_key *k = &c->keys[i];
        if (i > 0 && !(k->time > c->keys[i - 1].time))
            und_read_fail(r, "expected keys in the order of time, found one at %g s after one at %g s",
                          k->time, c->keys[i - 1].time);
        frames[i] = (und_control_particle_frame){
            .time = k->time,
            .count = 1,
            .at = (const float(*)[3])three(r, k->at),
            .velocity = k->has_velocity ? (const float(*)[3])three(r, k->velocity) : NULL,
            .normal = (const float(*)[3])three(r, isnan(k->normal.x) ? normal : k->normal),
            .radius = one(r, k->radius, g->radius),
            .strength = one(r, k->strength, g->strength),
            .value = one(r, k->value, g->value)};
    }
    c->guide.frames = frames;
    c->guide.frame_count = c->key_count;
}

static void use_points(reader *r, control_read *c, const double (*at)[3], int count)
{
    float(*place)[3] = und_scene_alloc(r, (size_t)count, sizeof *place);
    und_control_particle_frame *frame = und_scene_alloc(r, 1, sizeof *frame);
    for (int i = 0; i < count; i++)
        for (int a = 0; a < 3; a++)
            place[i][a] = (float)at[i][a];
    *frame = (und_control_particle_frame){.count = count, .at = (const float(*)[3])place};
    c->guide.frames = frame;
    c->guide.frame_count = 1;
}

static void read_particles(reader *r, const field *f, void *def)
{
    control_read *c = def;
    c->files = und_read_particles(r, f);
}

/* ---- All of it ---- */

const field und_control_fields[] = {
    {"kind", F_CHOICE, .required = true, CONTROL(kind), .choices = kinds,
     .doc = "what it leads: \"velocity\", \"viscosity\", \"level_set\", \"divergence\"; or an \"adder\" of "
            "liquid, "
            "an \"eraser\""},
    {"at", F_POINT, "m", .offset = offsetof(control_read, at), .doc = "where it stands"},
    {"points", F_POINTS, "m", .offset = offsetof(control_read, points), .doc = "several that stand, instead"},
    {"keys", F_OTHER, .read = read_keys, .inside = key_fields,
     .expected = "a list of keys {{ time = 0, at = {...} }, ...}",
     .doc = "where it is and when, in the order of time, instead"},
    {"particles", F_OTHER, .read = read_particles, .inside = und_particles_fields,
     .expected = "a table { file = ... }", .doc = "any number of them from files, instead"},
    {"shape", F_CHOICE, CONTROL(shape), .choices = shapes,
     .doc = "\"sphere\" or \"cylinder\"; what leads the level set is a cylinder"},
    {"radius", F_NUMBER, "m", 0, 1e6, CONTROL(radius), .doc = "of the shape"},
    {"length", F_NUMBER, "m", 0, 1e6, CONTROL(length), .doc = "of a cylinder; 0: twice its radius"},
    {"normal", F_POINT, NULL, CONTROL(normal),
     .doc = "a cylinder's axis; of what leads the level set, out of the liquid"},
    {"falloff", F_OTHER, .read = read_falloff,
     .expected = "\"box\", \"hat\", \"cubic\", numbers from the middle out, or function(s)",
     .doc = "alpha by s, the distance from the middle or the axis over the radius: a word, samples at even "
            "s, or a "
            "function of s"},
    {"strength", F_NUMBER, NULL, 0, 1, CONTROL(strength), .doc = "that alpha is multiplied by"},
    {"hard", F_NUMBER, NULL, 0, 1, CONTROL(hard),
     .doc = "a velocity is fixed where alpha is above this; 1: nowhere"},
    {"velocity", F_POINT, "m/s", CONTROL(velocity), .doc = "asked for instead of the particles' own"},
    {"value", F_NUMBER, NULL, -1e9, 1e9, CONTROL(value),
     .doc = "asked for: a viscosity, m2/s; a divergence, 1/s, below 0 where liquid is to vanish"},
    {"still", F_FLAG, CONTROL(still),
     .doc = "velocities of frames are asked of the liquid, and do not move the particles"},
    {"start", F_NUMBER, "s", -UND_FOREVER, INFINITY, CONTROL(start), .doc = "when it begins to act"},
    {"stop", F_NUMBER, "s", -UND_FOREVER, INFINITY, CONTROL(end), .doc = "when it ends"},
    {"name", F_NAME, CONTROL(name), .doc = "for messages"},
    {0}};

static void init_control(void *item)
{
    ((control_read *)item)->guide = und_control_particle_def_default();
    ((control_read *)item)->guide.radius = NAN;
}

static void check_control(reader *r, const und_control_particle_def *g)
{
    bool valued = g->kind == UND_CONTROL_VISCOSITY || g->kind == UND_CONTROL_DIVERGENCE;
    if (g->kind == UND_CONTROL_SURFACE && g->shape != UND_CONTROL_CYLINDER)
        und_read_fail(r,
                      "what leads the level set is a cylinder: its normal says which way the surface looks");
    if (g->kind == UND_CONTROL_VISCOSITY && g->value < 0)
        und_read_fail(r, "expected a viscosity of 0 or more, found %g", g->value);
    if (!valued && und_read_has(r, "value"))
        und_read_fail(r, "\"value\" is of \"viscosity\" and \"divergence\", and this leads \"%s\"",
                      kinds[g->kind]);
    if (g->kind != UND_CONTROL_VELOCITY && (und_read_has(r, "velocity") || und_read_has(r, "hard")))
        und_read_fail(r, "\"velocity\" and \"hard\" are of what leads the velocity, and this leads \"%s\"",
                      kinds[g->kind]);
    if (g->shape != UND_CONTROL_CYLINDER && (und_read_has(r, "length") || und_read_has(r, "normal")))
        und_read_fail(r, "\"length\" and \"normal\" are of a cylinder, and this is a sphere");
    if (!(g->normal[0] * g->normal[0] + g->normal[1] * g->normal[1] + g->normal[2] * g->normal[2] > 0))
        und_read_fail(r, "expected a normal that points somewhere, found {0, 0, 0}");
    if (!(g->end > g->start))
        und_read_fail(r, "expected it to stop after it starts, found start = %g, stop = %g", g->start,
                      g->end);
}

static void finish_control(reader *r, void *item)
{
    static const char *const places[] = {"at", "points", "keys", "particles"};
    control_read *c = item;
    und_control_particle_def *g = &c->guide;
    const char *first = NULL;
    for (int i = 0; i < 4; i++)
        if (und_read_has(r, places[i])) {
            if (first)
                und_read_fail(r, "expected either \"%s\" or \"%s\", found both", first, places[i]);
            first = places[i];
        }
    if (!first)
        und_read_fail(r, "missing key \"at\", \"points\", \"keys\" or \"particles\"");
    if (g->kind == UND_CONTROL_SURFACE && !und_read_has(r, "shape"))
        g->shape = UND_CONTROL_CYLINDER;
    g->has_velocity = und_read_has(r, "velocity");
    g->radius = isnan(g->radius) ? r->scene->view.levelset.dx : g->radius;
    check_control(r, g);
    if (c->key_count > 0)
        use_keys(r, c);
    else if (c->files) {
        g->frames = c->files->frames;
        g->frame_count = c->files->frame_count;
        g->loader = c->files->loader;
    } else if (c->points.count > 0)
        use_points(r, c, c->points.at, c->points.count);
    else
        use_points(r, c, (const double[1][3]){{c->at.x, c->at.y, c->at.z}}, 1);
}

void und_read_control(reader *r, const field *f, void *levelset)
{
    und_levelset_def *l = levelset;
    const control_read *read =
        und_read_list(r, f->inside, sizeof *read, init_control, finish_control, &l->control_particle_count);
    und_control_particle_def *control_particles =
        und_scene_alloc(r, (size_t)l->control_particle_count, sizeof *control_particles);
    for (int i = 0; i < l->control_particle_count; i++)
        control_particles[i] = read[i].guide;
    l->control_particles = control_particles;
}
