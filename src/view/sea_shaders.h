/* Pieces of shaders of the painter of height fields. */
#ifndef UND_VIEW_SEA_SHADERS_H
#define UND_VIEW_SEA_SHADERS_H

extern const char und_sea_plan_glsl[];
extern const char und_sea_light_glsl[];
extern const char und_sea_film_glsl[];
extern const char und_sea_ground_glsl[];
extern const char und_sea_around_glsl[];
extern const char und_sea_grid_glsl[];
extern const char und_sea_dry_glsl[];
extern const char und_sea_water_glsl[];
extern const char und_sea_side_glsl[];
extern const char und_sea_cut_ground_glsl[];
extern const char und_sea_cut_water_glsl[];
extern const char und_sea_floor_glsl[];
extern const char und_sea_kind_glsl[];
extern const char und_sea_sort_glsl[];
extern const char und_sea_pass_glsl[];
extern const char und_sea_each_glsl[];
extern const char und_sea_sky_glsl[];
extern const char und_sea_bend_glsl[];
extern const char und_sea_gather_glsl[];
extern const char und_sea_thing_glsl[];
extern const char und_sea_thing_light_glsl[];
extern const char und_sea_lit_thing_glsl[];
extern const char und_sea_drop_glsl[];
extern const char und_sea_drops_glsl[];
extern const char und_sea_sheet_glsl[];
extern const char und_sea_film_of_water_glsl[];
extern const char und_sea_smooth_glsl[];
extern const char und_sea_compose_glsl[];

#endif
