-- Rain in a bowl (Kass & Miller 1990, figure 7).
--
-- It begins to rain on dry ground shaped like a bowl.  The drops roll down, run together on their way, leave
-- the sand wet behind them and gather at the lowest point to a puddle, and the drops that still fall make rings on it,
-- which cross, reflect at the shore and bend where the puddle gets shallow.

scene { name = "rain_bowl", frames = 210, fps = 30, substeps = 8, seed = 7 }

local cells = param("cells", 256)

local side = 3              -- m
local middle = side / 2

-- The bowl, with hollows and ridges that lead the water on its way down.
local function bottom(x, z)
  local dx, dz = x - middle, z - middle
  local r2 = (dx * dx + dz * dz) / (middle * middle)
  return 0.62 * r2 - 0.12 * r2 * r2 + 0.07 * (0.3 + r2) * fbm(1.4 * x + 3, 1.4 * z, 3)
end

-- Drops per square metre and second: more and more at first, and none on the rim.
local function rate(x, z, t)
  local inside = math.min(x, z, side - x, side - z)
  return inside > 0.15 and 16 * math.min(1, t / 1.2) or 0
end

liquid.waves {
  order = 1,                -- the paper's step: fine waves die
  size = {side, side}, cells = cells,
  ground = bottom, level = -1,  -- below all ground: dry
  rain = { rate = rate, peak = 16,
           radius = 0.034, splash = 0.075, top = 2.4, speed = 4.5, wind = {0.25, 0.1} },
  -- The ground slows a film of water much and the puddle hardly; without it the film would roll down in steps.
  viscosity = 5e-5,
}

ground { color = {0.50, 0.37, 0.24}, grain = 0.5, drying = 25, sheen = 0.7 }
water { color = {0.008, 0.045, 0.05}, absorption = {4, 1.5, 1.1}, ripples = 0.05 }
light { sun = {-0.45, 0.8, 0.4}, clouds = 0.5 }
camera {
  eye = { keys = { { time = 0, at = {middle + 1.0, 2.35, side + 1.75} },
                   { time = 7, at = {middle + 0.45, 1.95, side + 1.05} } } },
  look = { keys = { { time = 0, at = {middle, 0.15, middle + 0.05} }, { time = 7, at = {middle, 0.1, middle + 0.05} } } },
  fov = 36,
}
film { width = 960, height = 540, rain_width = 0.006, shutter = 0.02 }
