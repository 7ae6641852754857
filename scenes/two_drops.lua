-- Two drops collide (Rasmussen et al. 2004, figure 5).  The air between them gets out of the way sideways and they
-- become one; with --set air=0 some of it stays in the liquid, and volume is lost.  Nothing falls.  96 x 72 x 72 cells.

scene { name = "two_drops", frames = 40, fps = 96 }

local cells = param("cells", 96)
local air = param("air", 1)
local R, U = 0.15, 0.55

local function drop(side)
  return { shape = sphere { center = {0.5 + 1.15 * side * R, 0.375, 0.375}, radius = R }, velocity = {-side * U, 0, 0} }
end

liquid.levelset {
  size = {1, 0.75, 0.75}, cells = cells, gravity = {0, 0, 0},
  fill = { drop(-1), drop(1) },
  free_air = air ~= 0,
}

camera { eye = {1.15, 0.95, 1.75}, look = {0.5, 0.37, 0.375}, fov = 30 }
ground { color = {0.13, 0.14, 0.16}, texture = 0.2 }
light { sun = {-0.5, 0.6, 0.25} }
water { color = {0.02, 0.2, 0.3}, absorption = {9, 2.5, 1.5} }
film { width = 960, height = 540 }
