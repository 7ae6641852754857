-- A glass tank to paint in: `undine view scenes/tank.lua`.
--
-- Two dimensions, a metre and a half of shallow water with a step in its ground.  In the viewer walls, inflows and more
-- water are painted with the mouse while it runs; colours show pressure, speed or vorticity.

scene { name = "tank", frames = 72, fps = 48 }

local cells = param("cells", 96)
local width, height = 1.6, 1
local cell = width / cells

liquid.cells {
  size = {width, height, cell}, cells = {cells, math.floor(height / cell + 0.5), 1},
  track = param("track", "markers"), markers = 9,
  level = 0.15,
  fill = box { max = {0.35, 0.55, 1} },
  solids = box { min = {0.95, 0, -1}, max = {1.2, 0.1, 1} },
}

film { width = 1280, height = 800, plot = {"markers+velocity"} }
