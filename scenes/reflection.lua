-- Waves that reflect at walls (Kass & Miller 1990, figure 4).
--
-- A curve of water: one row of cells, drawn as a section.  A hump of water lets go, falls apart into two waves
-- that run in opposite directions, and each comes back from its wall.  There is nothing in the model that knows of
-- reflections, nor of walls: the walls are ground that rises very steeply.

scene { name = "reflection", frames = 210, fps = 30, substeps = 12 }

local cells = param("cells", 800)

local width = 9             -- m, from the left of the picture to its right
local wall = 0.55           -- m, how thick the walls are
local depth = 1.5           -- m

-- From the floor to the top of a wall within a few centimetres: a smooth step of 10 cm.
local function step(x, edge)
  local s = math.max(0, math.min(1, (x - edge) / 0.1 + 0.5))
  return s * s * (3 - 2 * s)
end

local function bottom(x)
  return -depth + (depth + 1) * (1 - step(x, wall) + step(x, width - wall))
end

-- The hump stands nearer to the left wall, so that the left wave is the first to reflect and then follows the other
-- one to the right: the last picture of the figure.
local function surface(x)
  return 0.95 * math.exp(-((x - 3.2) / 0.6)^2)
end

liquid.waves {
  size = width, cells = cells,
  ground = bottom, surface = surface,
  order = 1,
}

-- For a section the camera says which part is seen, and from the front.
camera { eye = {width / 2, -0.3, 7}, look = {width / 2, -0.3, 0}, fov = 39.8 }
film { width = 1280, height = 720 }
