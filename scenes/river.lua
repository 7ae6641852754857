-- A river that winds through a meadow and runs over a ford.
--
-- Water flows in at the left, which is the far end of the valley, stands behind a bar of gravel and stones, runs
-- over it, white, and leaves at the right, under the camera, where it falls off the edge.  The foam is carried by the
-- water's velocity.

scene { name = "river", frames = 240, fps = 30, substeps = 2 }

local cells = param("cells", 512)     -- along the valley; undine run scenes/river.lua --set cells=256
local flow = param("flow", 0.30)      -- water that comes in, m3/s per metre of the river's width

-- 0 below a, 1 above b, and smooth between.
local function smooth(a, b, x)
  local t = math.max(0, math.min(1, (x - a) / (b - a)))
  return t * t * (3 - 2 * t)
end

-- The river's course: where its middle is, half its width, and its bed, which has a bar at 14 m, the ford.
local function middle(x) return 8 + 2.2 * math.sin(2 * math.pi * (x + 2) / 24) end
local function half(x) return 2.3 + 0.3 * math.sin(0.6 * x) + 0.4 * math.exp(-((x - 15) / 3)^2) end
local function bed(x) return 0.25 - 0.02 * x + 0.22 * math.exp(-((x - 14) / 2.4)^2) - 0.12 * smooth(14, 19, x) end

local stones = {}
for i = 1, 70 do
  local x = 11 + 8 * hash(i, 1)
  local radius = 0.14 + 0.42 * hash(i, 3)^3      -- many small ones, few large ones
  stones[i] = { x = x, z = middle(x) + 3.6 * (2 * hash(i, 2) - 1), radius = radius,
                height = radius * (0.45 + 0.35 * hash(i, 4)) }
end

-- A stone stands on the bed: round, flat on top, lumpy.
local function stone(s, x, z)
  local d2 = ((x - s.x)^2 + (z - s.z)^2) / s.radius^2
  if d2 > 2.5 then return -math.huge end
  d2 = d2 * (1 + 0.3 * noise(1.3 * x + 5, 1.3 * z))
  return d2 < 1.6 and bed(s.x) + 0.08 + s.height * (1 - d2 * d2) + 0.12 * s.radius * fbm(2.5 * x, 2.5 * z, 3)
    or -math.huge
end

local function land(x, z)
  local d = math.abs(z - middle(x)) - half(x)    -- metres from the river's edge
  local y = bed(x) + 0.30 * smooth(-half(x), -0.2, d)^2 + 0.55 * smooth(-0.4, 2.2, d)
  y = y + 0.018 * x * smooth(0, 4, d)            -- the meadow falls less than the river
  y = y + 0.09 * math.max(0, d - 1) + 1.1 * smooth(2, 8, d) * (0.8 + 0.5 * noise(0.12 * x + 4, 0.12 * z))
  y = y + 0.22 * fbm(0.25 * x, 0.25 * z, 5) * smooth(0, 2, d) + 0.04 * fbm(0.8 * x, 0.8 * z, 4)
  for _, s in ipairs(stones) do y = math.max(y, stone(s, x, z)) end
  return y
end

liquid.waves {
  order = 1,                -- the paper's step: fine waves die
  size = {32, 16}, cells = cells,
  ground = land,
  -- A pool behind the ford, and a sheet of water that follows the bed below it.
  surface = function(x) return math.max(bed(x) + 0.26, 0.56 - 0.6 * math.max(0, x - 12.5)) end,
  damping = 0.3,  -- the bed holds the water back
  edges = {
    -- Only where the ground lies below the level does water come in.
    left = { kind = "flow", level = 0.5, rate = function(x, z, t) return flow * math.min(1, 0.3 + 0.2 * t) end },
    right = "fall",
  },
  foam = { threshold = 0.85, rate = 0.7, life = 2.5 },
}

camera { eye = {24.8, 2.7, 8.1}, look = {14.5, -0.35, 7.6}, fov = 32 }
light { sun = {0.1, 0.7, 0.5}, clouds = 0.5 }
water { ripples = 0.4, color = {0.012, 0.05, 0.04}, absorption = {0.9, 0.45, 0.55} }   -- green, a little turbid
ground { color = {0.30, 0.26, 0.2}, grass = {0.06, 0.078, 0.028}, grass_height = 0.72, rock_slope = 40,
         grain = 0.09, texture = 1.4 }
