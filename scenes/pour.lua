-- A container pours into a pool (Wrenninge 2003, figure 5.3).
--
-- A tub of water is turned until it is empty.  It is a solid that moves by keys like any other, and holds its water until
-- that runs over the rim.  96 x 84 x 60 cells; the walls are three of them thick.

scene { name = "pour", frames = 120, fps = 24 }

local cells = param("cells", 96)

-- Around the middle of the tub, m: half its width and its depth inside, and how thick its walls are.
local half, high, wall = 0.36, 0.44, 0.075
local tub = difference {
  box { size = {2 * half + 2 * wall, high + wall, 2 * half + 2 * wall} },
  box { center = {0, wall, 0}, size = {2 * half, high + wall, 2 * half} },
}
local start = {0.72, 1.45, 0.75}

liquid.levelset {
  size = {2.4, 2.1, 1.5}, cells = cells,
  level = 0.4,
  fill = box { min = {start[1] - half, start[2] - 0.5 * (high + wall) + wall, start[3] - half},
               max = {start[1] + half, start[2] + 0.12, start[3] + half} },
  solids = { { name = "tub", shape = tub, material = "glass",
               keys = { { time = 0.4, at = start }, { time = 3.2, at = {0.95, 1.4, 0.75}, turn = {0, 0, -125} } } } },
}

camera { eye = {3.9, 2.2, 4.2}, look = {1.15, 0.9, 0.75}, fov = 31 }
light { sun = {0.25, 0.7, 0.5} }
ground { color = {0.34, 0.34, 0.35}, texture = 0.3 }
water { color = {0.02, 0.18, 0.26}, absorption = {4, 1.1, 0.7} }
film { width = 1280, height = 720 }
