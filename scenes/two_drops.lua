-- Two drops collide (Rasmussen et al. 2004, figure 5): the air between them gets out of the way, or with
-- --set air=0 it does not, and some of it stays in the liquid.
local cells = param("cells", 128)
local air = param("air", 1)
local R = 0.16

scene { name = "two_drops", frames = 72, fps = 120 }

liquid.levelset {
  size = {1, 0.75, 0.75}, cells = cells, gravity = {0, 0, 0},
  fill = {
    { shape = sphere { center = {0.5 - 1.2 * R, 0.375, 0.375}, radius = R }, velocity = {1.2, 0, 0} },
    { shape = sphere { center = {0.5 + 1.2 * R, 0.375, 0.375}, radius = R }, velocity = {-1.2, 0, 0} },
  },
  free_air = air ~= 0,
}

camera { eye = {0.95, 0.75, 1.9}, look = {0.5, 0.36, 0.375}, fov = 32 }
