-- Waves on a beach, then rain: figure 9 of Kass & Miller 1990.
--
-- A swell comes in from the left, which is the far side of the picture.  Its crests are straight out at sea and
-- bend into the shape of the bay, since waves are slower where it is shallow.  They run up the sand, run back
-- and leave it dark and wet; then it begins to rain, and the rain runs down the sand to the sea.

scene { name = "beach", frames = 240, fps = 30, substeps = 2 }

local cells = param("cells", 256)           -- undine run scenes/beach.lua --set cells=128
local amplitude = param("amplitude", 0.2)   -- of the swell, m
local period, depth = 3.6, 1.2              -- of the swell, s; of the sea off the beach, m

-- 0 below a, 1 above b, and smooth between.
local function smooth(a, b, x)
  local t = math.max(0, math.min(1, (x - a) / (b - a)))
  return t * t * (3 - 2 * t)
end

-- Where the water meets the sand at rest: a bay between two points.
local function shore(z) return 15.0 + 2.9 * math.cos(2 * math.pi * (z - 11.5) / 21) end

local rocks = { -- x, z, radius, height of the top
  { 11.6, 4.9, 1.1, 0.62 }, { 12.9, 4.2, 0.8, 0.42 }, { 10.4, 4.1, 0.7, 0.30 }, { 12.6, 6.1, 0.4, 0.16 },
}

-- The height of a rock: a cone that noise makes lumpy.
local function rock(r, x, z)
  local d = math.sqrt((x - r[1])^2 + (z - r[2])^2) / r[3]
  if d > 2 then return -math.huge end
  d = d * (1 + 0.35 * fbm(0.9 * x / r[3], 0.9 * z / r[3], 3))
  return r[4] - (0.35 + 0.9 * r[4]) * d^1.4 + 0.16 * r[3] * fbm(1.6 * x, 1.6 * z, 4)
end

local function land(x, z)
  local s = x - shore(z)                                        -- metres inland
  local y = math.max(s < 0 and 0.085 * s or 0.11 * s, -depth)
  local dry, wet = smooth(0.5, 2.5, s), smooth(-7, 0, s)
  y = y + 0.05 * wet * fbm(0.3 * x + 7, 0.3 * z, 4)             -- uneven sand
  y = y + 0.08 * dry * math.abs(noise(0.4 * x, 1.2 * z))        -- furrows, in which rain runs down
  for _, r in ipairs(rocks) do y = math.max(y, rock(r, x, z)) end
  return y
end

-- The swell is already there when the film begins: a wave that travels with the speed of long waves.  `train`
-- lets it end before the beach.
local omega = 2 * math.pi / period
local number = omega / math.sqrt(9.81 * depth)
local function train(x) return amplitude * (1 - smooth(7, 10.5, x)) end

liquid.waves {
  order = 1,                -- the paper's step: fine waves die
  size = {24, 24}, cells = cells,
  ground = land,
  surface = function(x) return -train(x) * math.sin(number * x) end,
  rising = function(x) return omega * train(x) * math.cos(number * x) end,
  damping = 0.05,
  viscosity = 2e-5,      -- thin films of rain run slowly down the sand
  edges = { left = { kind = "open", level = 0, amplitude = amplitude, period = period } },
  foam = { threshold = 1.15, rate = 1.2, life = 1.0 },
  rain = { rate = function(x, z, t) return 30 * smooth(4.3, 6.8, t) end, peak = 30, start = 4.3,
           radius = 0.024, top = 6, speed = 8, wind = {0.6, 0.2} },
}

-- From above the dry sand, out to sea; the domain fills the picture.
camera { eye = {26.5, 8.6, 12.6}, look = {12.9, -1, 12}, fov = 31 }
light { sun = {-0.25, 0.42, 0.8}, clouds = 0.35 }
water { ripples = 0.15, shore = 0.003, caustics = 1 }   -- thin water on sand is seen as water
ground { grain = 0.16, rock_slope = 19 }        -- no sand here is as steep as that: rock
film { width = 960, height = 540, rain_width = 0.003, shutter = 1 / 90 }   -- --size 1920x1080 for more
