/* Sheets against rings of drops whose surface is known; tearing, cohesion, bits, restore. */
#include "tests/test.h"

#include "base/random.h"
#include "spray/sheet.h"

static const double G = 9.81, RING = 0.3, OUT = 1.5, UP = 3, DT = 0.01;
static const float RADIUS = 0.006f;
enum { DROPS = 96, SECTORS = 32, ROWS = 5 };

static und_spray *a_spray(double tear, double cohesion, int threads)
{
    und_error err = {0};
    und_spray_def def = {.on = true,
                         .most = 20000,
                         .rate = 40000,
                         .sheets = true,
                         .sheet_tear = tear,
                         .sheet_cohesion = cohesion};
    und_spray *spray = und_spray_create(&def, G, 3, threads, &err);
    assert_non_null(spray);
    return spray;
}

static void step(und_spray *spray)
{
    static const float none[1] = {0};
    und_spray_floor floor = {
        .nx = 1, .nz = 1, .stride = 1, .dx = 0.02, .origin = {1e3, 1e3}, .height = none, .outside = -0.01};
    und_spray_step(spray, 0, DT, &floor);
    und_spray_remove(spray);
}

static void throw_ring(und_spray *spray, double noise, uint64_t stream)
{
    for (int i = 0; i < DROPS; i++) {
        double turn = 2 * M_PI * i / DROPS, place[3] = {RING * cos(turn), 0, RING * sin(turn)};
        double speed[3] = {OUT * cos(turn), UP, OUT * sin(turn)};
        for (int a = 0; a < 3; a++)
            speed[a] += noise * (2 * und_random(9, stream + (uint64_t)a, (uint64_t)i) - 1);
        float radius =
            RADIUS * (float)(1 + fmin(noise, 0.5) * (2 * und_random(9, stream + 3, (uint64_t)i) - 1));
        assert_true(und_spray_add(spray, place, speed, radius));
    }
}

/* A step is as long as a row: one ring a row. */
static void throw_rings(und_spray *spray, int rows, double noise)
{
    for (int r = 0; r < rows; r++) {
        throw_ring(spray, noise, 10 * (uint64_t)r);
        step(spray);
    }
}

static int quads_of(const und_sheets *sheets)
{
    int count = 0;
    for (int i = 0; i < UND_SHEET_NODES; i++) {
        assert_int_not_equal(sheets->quad[i], UND_QUAD_NEW);
        count += sheets->quad[i] == UND_QUAD_WHOLE;
    }
    return count;
}

/* Radius and height of the nodes of a row that has flown for t seconds; a node weighs its drops, three a
 * sector, by their distance. */
static void ring_at(double t, double *radius, double *height)
{
    double turn = 2 * M_PI / DROPS;
    *radius = (RING + OUT * t) * (1 + 4.0 / 3 * cos(turn) + 2.0 / 3 * cos(2 * turn)) / 3;
    *height = UP * t - G * t * t / 2;
}

/* Of one of the flat trapezoids between rows that have flown for t and t - DT. */
static double area_at(double t)
{
    double r[2], y[2], half = M_PI / SECTORS;
    ring_at(t, &r[0], &y[0]);
    ring_at(t - DT, &r[1], &y[1]);
    return (r[0] + r[1]) * sin(half) * hypot((r[0] - r[1]) * cos(half), y[0] - y[1]);
}

static void rings_make_a_closed_sheet(void **state)
{
    (void)state;
    und_spray *spray = a_spray(0, 0, 2);
    und_sheets *sheets = spray->sheets;
    throw_rings(spray, ROWS, 0);
    und_sheets_measure(sheets, spray);
    assert_true(sheets->born == 1);
    assert_true(sheets->impact[0].sectors == SECTORS);
    assert_int_equal(quads_of(sheets), SECTORS * (ROWS - 1));
    double volume = und_spray_volume(RADIUS) * DROPS / SECTORS, sum = 0;
    for (int r = 0; r + 1 < ROWS; r++)
        for (int a = 0; a < SECTORS; a++) {
            int corner[4];
            und_sheet_corners(sheets, 0, r, a, corner);
            double area = area_at(DT * (ROWS - r)), thickness = und_sheet_thickness(sheets, corner);
            /* Nodes of the outer rows have two quads to give their volume to, others four. */
            double part = (r == 0 ? 2.0 : 1.0) / 2 + (r + 2 == ROWS ? 2.0 : 1.0) / 2;
            assert_double_near(und_sheet_area(sheets, corner), area, 1e-5 * area);
            assert_double_near(thickness, volume * part / area, 1e-5 * volume / area);
            sum += thickness * und_sheet_area(sheets, corner);
        }
    assert_double_near(sum, und_spray_in_flight(spray), 1e-9 * sum);
    for (int i = 0; i < spray->count; i++)
        assert_true(und_sheets_hold(sheets, spray, i));
    und_spray_destroy(spray);
}

/* A line of drops makes a curtain, open at its ends, of as many quads as nodes get drops. */
static void lines_make_a_curtain(void **state)
{
    (void)state;
    const double half = 0.6, tilt = 0.3;
    und_spray *spray = a_spray(0, 0, 1);
    und_sheets *sheets = spray->sheets;
    double squares = 0, sum = 0, area = 0;
    for (int i = 0; i < DROPS; i++)
        squares += pow(half * (2.0 * i / (DROPS - 1) - 1), 2) / DROPS;
    for (int r = 0; r < ROWS; r++) {
        for (int i = 0; i < DROPS; i++) {
            double x = half * (2.0 * i / (DROPS - 1) - 1);
            double place[3] = {x * cos(tilt), 0, x * sin(tilt)}, speed[3] = {0, UP, 0};
            assert_true(und_spray_add(spray, place, speed, RADIUS));
        }
        step(spray);
    }
    und_sheets_measure(sheets, spray);
    int sectors = (int)sheets->impact[0].sectors, filled = 0;
    double length = 1.3 * sqrt(12 * squares), apart = length / (sectors - 1);
    for (int k = 0; k < sectors; k++)
        filled += fabs(k * apart - length / 2) < half + apart;
    assert_int_equal(sectors, SECTORS);
    assert_in_range(filled, 20, SECTORS - 4);
    assert_int_equal(quads_of(sheets), (filled - 1) * (ROWS - 1));
    for (int i = 0; i < UND_SHEET_NODES; i++)
        if (sheets->quad[i]) {
            int corner[4];
            und_sheet_corners(sheets, 0, i / UND_SHEET_SECTORS, i % UND_SHEET_SECTORS, corner);
            area += und_sheet_area(sheets, corner);
            sum += und_sheet_area(sheets, corner) * und_sheet_thickness(sheets, corner);
        }
    /* As long as the line, as high as its oldest drops are above its newest. */
    double high = UP * DT * (ROWS - 1) - G * DT * DT * (ROWS * ROWS - 1) / 2;
    assert_double_near(area, 2 * half * high, 0.03 * area);
    assert_double_near(sum, und_spray_in_flight(spray), 1e-9 * sum);
    und_spray_destroy(spray);
}

/* Two impacts, apart, are two sheets; a handful of drops is none. */
static void impacts_are_told_apart(void **state)
{
    (void)state;
    und_spray *spray = a_spray(0, 0, 1);
    for (int r = 0; r < 3; r++) {
        throw_ring(spray, 0, 0);
        for (int i = 0; i < 48; i++) {
            double turn = 2 * M_PI * i / 48, place[3] = {2 + 0.2 * cos(turn), 0, 0.2 * sin(turn)};
            double few[3] = {-2 + 0.1 * cos(turn), 0, 0}, speed[3] = {cos(turn), 3, sin(turn)};
            assert_true(und_spray_add(spray, place, speed, RADIUS));
            assert_true(i % 4 || und_spray_add(spray, few, speed, RADIUS));
        }
        step(spray);
    }
    assert_true(spray->sheets->born == 2);
    assert_true(spray->sheets->impact[1].sectors == 16);
    assert_int_equal(quads_of(spray->sheets), 2 * (SECTORS + 16));
    for (int i = 0; i < spray->count; i++)
        assert_int_equal(spray->sheets->node[i] >= 0, spray->place[0][i] > -1);
    und_spray_destroy(spray);
}

/* Drops that leave at all speeds make no sheet; they fly as if there were none. */
static void wild_drops_stay_drops(void **state)
{
    (void)state;
    und_spray *spray = a_spray(0, 20, 1);
    throw_rings(spray, ROWS, 3);
    step(spray);
    assert_int_equal(quads_of(spray->sheets), 0);
    und_error err = {0};
    und_frame frame = und_frame_empty(0, 0, (und_grid){.n = {1, 1, 1}, .dx = 1, .origin = {0, 0, 0}});
    assert_int_equal(und_spray_frame(spray, &frame, &err), UND_OK);
    assert_true(und_frame_find(&frame, "spray/position")->dim[0] == (size_t)spray->count);
    assert_true(und_frame_find(&frame, "sheet/mesh_position")->dim[0] == 0);
    und_frame_clear(&frame);
    und_spray_destroy(spray);
}

/* How much the drops of a ring differ from their ring's radial and vertical speed. */
static double roughness(const und_spray *spray)
{
    double sum = 0;
    for (int i = 0; i < spray->count; i++) {
        double turn = 2 * M_PI * (spray->id[i] % DROPS) / DROPS;
        double x = spray->speed[0][i] - OUT * cos(turn), z = spray->speed[2][i] - OUT * sin(turn);
        sum += x * x + z * z;
    }
    return sum;
}

/* What leaves inside a ring that is there, or in a ring that closes, is a jet: drops. */
static void jets_stay_drops(void **state)
{
    (void)state;
    und_spray *spray = a_spray(0, 20, 1);
    for (int r = 0; r < ROWS; r++) {
        throw_ring(spray, 0, 0);
        for (int i = 0; i < 60; i++) {
            double turn = 2 * M_PI * i / 60, away = 0.11 - 0.015 * r, out = 0.3;
            double near[3] = {away * cos(turn), 0, away * sin(turn)};
            double apart[3] = {3 + 2 * away * cos(turn), 0, 2 * away * sin(turn)};
            double speed[3] = {out * cos(turn), UP, out * sin(turn)};
            assert_true(und_spray_add(spray, apart, speed, RADIUS));
            assert_true(r < 2 || und_spray_add(spray, near, speed, RADIUS));
        }
        step(spray);
    }
    und_sheets_measure(spray->sheets, spray);
    assert_int_equal(quads_of(spray->sheets), SECTORS * (ROWS - 1));
    for (int i = 0; i < spray->count; i++)
        assert_int_equal(und_sheets_hold(spray->sheets, spray, i),
                         fabs((double)spray->speed[0][i]) > 0.5 || fabs((double)spray->speed[2][i]) > 0.5);
    und_spray_destroy(spray);
}

/* What is random in a drop's velocity comes when it is on its own: not in a sheet, all of it once torn. */
static void scatter_waits_for_tearing(void **state)
{
    (void)state;
    for (int torn = 0; torn < 2; torn++) {
        und_spray *spray = a_spray(torn ? 1 : 0, 0, 1);
        spray->sheets->scatter = 0.2;
        throw_rings(spray, ROWS, 0);
        for (int n = 0; n < 30 * torn; n++)
            step(spray);
        /* Two parts of a speed, even between -0.2 and 0.2 of it: 0.04 / 3 of its square each.  Its upward
         * part is between UP and nothing when the drop tears loose. */
        double rough = roughness(spray) / spray->count, part = 2 * 0.04 / 3;
        if (torn)
            assert_true(rough > 0.85 * part * OUT * OUT && rough < 1.15 * part * (OUT * OUT + UP * UP));
        else
            assert_true(rough < 1e-9);
        und_spray_destroy(spray);
    }
}

/* An impact that begins with few drops gets a finer lattice once it throws many. */
static void impacts_outgrow_their_lattice(void **state)
{
    (void)state;
    und_spray *spray = a_spray(0, 0, 1);
    for (int i = 0; i < 30; i++) {
        double turn = 2 * M_PI * i / 30, place[3] = {RING * cos(turn), 0, RING * sin(turn)};
        double speed[3] = {OUT * cos(turn), UP, OUT * sin(turn)};
        assert_true(und_spray_add(spray, place, speed, RADIUS));
    }
    step(spray);
    assert_true(spray->sheets->born == 1 && spray->sheets->impact[0].sectors == 12);
    throw_rings(spray, ROWS, 0);
    assert_true(spray->sheets->born == 2 && spray->sheets->impact[1].sectors == SECTORS);
    assert_int_equal(quads_of(spray->sheets), SECTORS * (ROWS - 1));
    und_spray_destroy(spray);
}

/* No hole opens where the sheet is thicker than asked for; where it is thinner all of it tears, for good. */
static void thin_sheets_tear(void **state)
{
    (void)state;
    und_spray *thick = a_spray(0, 0, 1);
    throw_rings(thick, ROWS, 0);
    und_sheets_measure(thick->sheets, thick);
    int corner[4];
    und_sheet_corners(thick->sheets, 0, 1, 0, corner);
    double thickness = und_sheet_thickness(thick->sheets, corner);
    for (int thin = 0; thin < 2; thin++) {
        und_spray *spray = a_spray(thin ? 3 * thickness : 0.9 * thickness, 0, 1);
        throw_rings(spray, ROWS, 0);
        for (int r = 1; r + 2 < ROWS; r++) /* away from the rim */
            for (int a = 0; a < SECTORS; a++)
                assert_int_equal(spray->sheets->left[und_sheet_at(0, r, a)] < 1, thin);
        int before = quads_of(spray->sheets);
        for (int n = 0; n < 30; n++) {
            step(spray);
            assert_true(quads_of(spray->sheets) <= before);
            before = quads_of(spray->sheets);
        }
        assert_int_equal(spray->count, ROWS * DROPS);
        if (thin) {
            assert_int_equal(before, 0);
            assert_true(spray->sheets->impact[0].number == 0);
            for (int i = 0; i < spray->count; i++)
                assert_int_equal(spray->sheets->node[i], UND_SHEET_FREE);
        }
        und_spray_destroy(spray);
    }
    und_spray_destroy(thick);
}

static void momentum_of(const und_spray *spray, double sum[3], double *size)
{
    *size = 0;
    for (int a = 0; a < 3; a++) {
        sum[a] = 0;
        for (int i = 0; i < spray->count; i++) {
            sum[a] += und_spray_volume(spray->radius[i]) * spray->speed[a][i];
            *size += und_spray_volume(spray->radius[i]) * fabs((double)spray->speed[a][i]);
        }
    }
}

static void cohesion_keeps_momentum(void **state)
{
    (void)state;
    und_spray *spray = a_spray(0.0002, 20, 2);
    und_spray *loose = a_spray(0.0002, 0, 2);
    throw_rings(spray, ROWS, 0.5);
    throw_rings(loose, ROWS, 0.5);
    double before[3], after[3], size, rough = roughness(loose), volume = und_spray_in_flight(spray);
    momentum_of(spray, before, &size);
    for (int n = 0; n < 10; n++)
        und_sheets_step(spray->sheets, spray, DT, 0.02); /* nothing but the sheets */
    momentum_of(spray, after, &size);
    for (int a = 0; a < 3; a++)
        assert_double_near(after[a], before[a], 1e-8 * size); /* rounding of the drops' float speeds */
    /* What a drop has to itself is gone; what is left is its node's, the mean of three or four. */
    assert_true(roughness(spray) < 0.3 * rough);
    assert_true(und_spray_in_flight(spray) == volume);
    und_spray_destroy(loose);
    und_spray_destroy(spray);
}

enum { DENSE = 5 }; /* enough drops for threads to share */

/* A splash that lands again: rings for a while, then flight. */
static void run(und_spray *spray, int from, int to)
{
    for (int n = from; n < to; n++) {
        for (int k = 0; k < DENSE && n < 12; k++)
            throw_ring(spray, 0.4, 10 * (uint64_t)(n * DENSE + k));
        step(spray);
    }
}

static uint64_t hash_of(und_spray *spray)
{
    und_error err = {0};
    und_frame state = und_frame_empty(0, 0, (und_grid){.n = {1, 1, 1}, .dx = 1, .origin = {0, 0, 0}});
    assert_int_equal(und_spray_save(spray, &state, &err), UND_OK);
    assert_int_equal(und_spray_frame(spray, &state, &err), UND_OK);
    uint64_t hash = und_frame_hash(&state, 1);
    und_frame_clear(&state);
    return hash;
}

/* Landed drops leave with their nodes: the age and direction of each other drop are still those of its row
 * and sector. */
static void drops_keep_their_nodes(void **state)
{
    (void)state;
    und_spray *spray = a_spray(1e-4, 20, 2);
    const und_sheets *sheets = spray->sheets;
    int held = 0, whole = 0;
    run(spray, 0, 66);
    assert_in_range(spray->count, 100, 12 * DENSE * DROPS - 100);
    for (int i = 0; i < spray->count; i++)
        if (sheets->node[i] >= 0) {
            int row = sheets->node[i] / UND_SHEET_SECTORS % UND_SHEET_ROWS;
            double sector = sheets->node[i] % UND_SHEET_SECTORS + (double)sheets->share[i];
            double turn = (double)(spray->id[i] % DROPS) / DROPS * sheets->impact[0].sectors;
            assert_double_near(spray->age[i], DT * (66 - row), 1e-4);
            assert_double_near(remainder(sector - turn, sheets->impact[0].sectors), 0, 1);
            whole += sheets->share[i] > 0;
            if (sheets->share[i] > 0) /* otherwise it may have gone over to one of its nodes */
                assert_double_near(remainder(sector - turn, sheets->impact[0].sectors), 0, 1e-3);
            held++;
        }
    assert_true(held > 200 && whole > 100);
    und_spray_destroy(spray);
}

static void same_bits_at_any_thread_count(void **state)
{
    (void)state;
    const int threads[] = {1, 2, 7};
    uint64_t hash[3][2];
    for (int i = 0; i < 3; i++) {
        und_spray *spray = a_spray(5e-4, 20, threads[i]);
        run(spray, 0, 30);
        assert_in_range(quads_of(spray->sheets), 20, 94 * 11 - 20); /* of a closed sheet, some are torn */
        hash[i][0] = hash_of(spray);
        run(spray, 30, 62);
        hash[i][1] = hash_of(spray);
        und_spray_destroy(spray);
    }
    for (int k = 0; k < 2; k++)
        assert_true(hash[0][k] == hash[1][k] && hash[0][k] == hash[2][k]);
}

static void restored_sheets_go_on_alike(void **state)
{
    (void)state;
    const int when[] = {5, 20, 55};
    for (int k = 0; k < 3; k++) {
        und_error err = {0};
        und_spray *spray = a_spray(5e-4, 20, 2), *other = a_spray(5e-4, 20, 1);
        und_frame saved = und_frame_empty(0, 0, (und_grid){.n = {1, 1, 1}, .dx = 1, .origin = {0, 0, 0}});
        run(spray, 0, when[k]);
        assert_int_equal(und_spray_save(spray, &saved, &err), UND_OK);
        assert_int_equal(und_spray_restore(other, &saved, &err), UND_OK);
        und_frame_clear(&saved);
        run(spray, when[k], 62);
        run(other, when[k], 62);
        assert_true(hash_of(spray) == hash_of(other));
        und_spray_destroy(spray);
        und_spray_destroy(other);
    }
}

static void damaged_sheets_are_refused(void **state)
{
    (void)state;
    const char *names[] = {"sheet_node", "sheet_impact", "sheet_quad", "sheet_share", "sheet_row"};
    for (int k = 0; k < 5; k++) {
        und_error err = {0};
        und_spray *spray = a_spray(5e-4, 20, 1), *other = a_spray(5e-4, 20, 1);
        und_frame saved = und_frame_empty(0, 0, (und_grid){.n = {1, 1, 1}, .dx = 1, .origin = {0, 0, 0}});
        run(spray, 0, 12);
        assert_int_equal(und_spray_save(spray, &saved, &err), UND_OK);
        void *data = und_frame_find(&saved, names[k])->data;
        if (k == 0)
            ((int32_t *)data)[40] = UND_SHEET_NODES - 1;
        else if (k == 1)
            ((double *)data)[1] = 1e9;
        else if (k == 2)
            ((uint8_t *)data)[7] = 200;
        else if (k == 3)
            ((float *)data)[3] = NAN;
        else
            ((double *)data)[0] = NAN;
        assert_int_equal(und_spray_restore(other, &saved, &err), UND_FAILED);
        assert_non_null(strstr(err.text, "damaged"));
        und_frame_clear(&saved);
        und_spray_destroy(spray);
        und_spray_destroy(other);
    }
}

/* The mesh of a closed sheet has its area and its volume, but for the smoothing of its rims. */
static void meshes_have_the_sheets_area(void **state)
{
    (void)state;
    und_error err = {0};
    und_spray *spray = a_spray(0, 0, 1);
    und_frame frame = und_frame_empty(0, 0, (und_grid){.n = {1, 1, 1}, .dx = 1, .origin = {0, 0, 0}});
    double area = 0, volume = 0, expected = 0;
    throw_rings(spray, ROWS, 0);
    step(spray); /* it has left the water */
    assert_int_equal(und_spray_frame(spray, &frame, &err), UND_OK);
    const und_item *position = und_frame_find(&frame, "sheet/mesh_position"),
                   *velocity = und_frame_find(&frame, "sheet/mesh_velocity"),
                   *thickness = und_frame_find(&frame, "sheet/mesh_thickness"),
                   *drops = und_frame_find(&frame, "spray/position");
    assert_true(position && velocity && thickness && drops);
    assert_true(position->dim[0] == thickness->dim[0] && velocity->dim[0] == thickness->dim[0]);
    assert_true(thickness->dim[0] % 3 == 0 && position->dim[1] == 3 && velocity->dim[1] == 3);
    assert_true(drops->dim[0] == 0); /* all are in the sheet */
    for (size_t t = 0; t < thickness->dim[0]; t += 3) {
        const float *p = (const float *)position->data + 3 * t, *h = (const float *)thickness->data + t;
        double a[3], b[3];
        for (int k = 0; k < 3; k++) {
            a[k] = p[3 + k] - p[k];
            b[k] = p[6 + k] - p[k];
        }
        double x = a[1] * b[2] - a[2] * b[1], y = a[2] * b[0] - a[0] * b[2], z = a[0] * b[1] - a[1] * b[0];
        double one = 0.5 * sqrt(x * x + y * y + z * z);
        area += one;
        volume += one * (h[0] + h[1] + h[2]) / 3;
    }
    for (int r = 0; r + 1 < ROWS; r++)
        expected += SECTORS * area_at(DT * (ROWS + 1 - r));
    assert_double_near(area, expected, 0.01 * expected);
    assert_double_near(volume, und_spray_in_flight(spray), 0.02 * volume);
    und_frame_clear(&frame);
    und_spray_destroy(spray);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rings_make_a_closed_sheet),     cmocka_unit_test(lines_make_a_curtain),
        cmocka_unit_test(impacts_are_told_apart),        cmocka_unit_test(wild_drops_stay_drops),
        cmocka_unit_test(impacts_outgrow_their_lattice), cmocka_unit_test(thin_sheets_tear),
        cmocka_unit_test(cohesion_keeps_momentum),       cmocka_unit_test(drops_keep_their_nodes),
        cmocka_unit_test(same_bits_at_any_thread_count), cmocka_unit_test(restored_sheets_go_on_alike),
        cmocka_unit_test(damaged_sheets_are_refused),    cmocka_unit_test(jets_stay_drops),
        cmocka_unit_test(scatter_waits_for_tearing),     cmocka_unit_test(meshes_have_the_sheets_area),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
