-- The same shot, fine and coarse (Wrenninge 2003, figure 5.4).
--
-- A dam breaks along z and the water meets a ball.  80 x 77 x 113 cells, and with --set fine=false 40 x 36 x 56: the same
-- motion, without the fine detail.

scene { name = "same_shot", frames = 60, fps = 30 }

local fine = param("fine", true)

local cell = fine and 0.02 or 0.04
local cells = fine and {80, 77, 113} or {40, 36, 56}

liquid.levelset {
  size = {cells[1] * cell, cells[2] * cell, cells[3] * cell}, cells = cells,
  fill = box { max = {1.6, 0.9, 0.72} },
  solids = sphere { center = {0.8, 0.1, 1.5}, radius = 0.26 },
}

camera { eye = {4.9, 2.2, 3.6}, look = {0.8, 0.45, 1.15}, fov = 30 }
light { sun = {0.5, 0.7, 0.35} }
water { color = {0.02, 0.18, 0.26}, absorption = {4, 1.1, 0.7} }
film { width = 1280, height = 720 }
