-- An island harbour behind a breakwater.
--
-- A swell comes in from the left.  The breakwater stops it; at its end, by the lighthouse, the waves bend round into
-- the calm water behind (diffraction), and over the shallows their crests turn towards the shore (refraction).  A
-- boat comes home, faster than the waves in the harbour, so that its wake is a wedge.

scene { name = "harbour", frames = 210, fps = 30, substeps = 2 }

local cells = param("cells", 1024)                    -- undine run scenes/harbour.lua --set cells=512
local amplitude = param("amplitude", 0.5)             -- of the swell, m
local period, depth = 2.5, 4.2                        -- of the swell, s; of the sea, m
local west, north = -44, -24                          -- the domain's corner

-- 0 below a, 1 above b, and smooth between.
local function smooth(a, b, x)
  local t = math.max(0, math.min(1, (x - a) / (b - a)))
  return t * t * (3 - 2 * t)
end

-- How far inland a place lies, in metres; below 0 at sea.  Three pieces of land: the largest counts.
local function inland(x, z)
  local wobble = 7 * fbm(0.03 * x, 0.03 * z, 4)
  local right = x - 146 - 9 * math.sin((z - 40) / 26)
  local back = 26 - z + 30 * smooth(80, 150, x) - 70 * (1 - smooth(40, 105, x))
  local islet = 17 - math.sqrt((x - 96)^2 + (z - 166)^2)
  return math.max(right, back, islet) + wobble
end

-- Distance to the middle line of the breakwater.
local wall = { {112, 24}, {98, 52}, {88, 84}, {87, 112} }
local function to_wall(x, z)
  local best = math.huge
  for i = 1, #wall - 1 do
    local ax, az, dx, dz = wall[i][1], wall[i][2], wall[i + 1][1] - wall[i][1], wall[i + 1][2] - wall[i][2]
    local t = math.max(0, math.min(1, ((x - ax) * dx + (z - az) * dz) / (dx * dx + dz * dz)))
    best = math.min(best, (x - ax - t * dx)^2 + (z - az - t * dz)^2)
  end
  return math.sqrt(best)
end

local function land(x, z)
  local f = inland(x, z)
  local uneven = 0.25 * fbm(0.08 * x, 0.08 * z, 4)
  local y
  if f < 0 then      -- a sandy slope down to the sea's floor, which is higher in the harbour
    y = math.max(0.13 * f, 1.4 * smooth(95, 125, x) - depth) + uneven * smooth(-30, -4, f)
  else               -- a beach, then hills
    y = 0.12 * math.min(f, 8) + smooth(6, 60, f) * (11 + 9 * fbm(0.02 * x + 3, 0.02 * z, 4)) + uneven
  end
  local d = to_wall(x, z)
  if d < 12 then     -- a ridge of rubble
    y = math.max(y, 1.8 - 0.85 * math.max(0, d - 1.2) + 0.8 * smooth(0.6, 2, d) * fbm(0.5 * x, 0.5 * z, 3))
  end
  return y
end

local objects = {}
local function add(object) objects[#objects + 1] = object end

-- A boat: its bow points to +x, and 0 is its water line.
local hull = difference {
  ellipsoid { center = {0, 0.35, 0}, radii = {3.2, 0.9, 1.15} },
  box { min = {-4, 0.62, -2}, max = {4, 3, 2} },
}
local cabin = box { center = {-0.5, 1.0, 0}, size = {1.8, 1.0, 1.2} }
local function boat(color, keys)
  add { shape = hull, color = color, keys = keys }
  add { shape = cabin, color = {0.7, 0.72, 0.7}, keys = keys }
end

boat({0.75, 0.08, 0.05}, {
  { time = 0, at = {78, 0, 139}, turn = {0, 8, 0} },
  { time = 2.5, at = {96, 0, 135}, turn = {0, 18, 0} },
  { time = 5, at = {113, 0, 126}, turn = {0, 36, 0} },
  { time = 8, at = {129, 0, 108}, turn = {0, 60, 0} },
})

-- Boats at their moorings.
local paint = { {0.75, 0.75, 0.7}, {0.08, 0.2, 0.5}, {0.1, 0.35, 0.25}, {0.8, 0.5, 0.1} }
for i = 1, 9 do
  local x, z = 116 + 16 * hash(i, 1), 46 + 5.5 * i + 3 * hash(i, 2)
  boat(paint[1 + i % 4], { { time = 0, at = {x, 0, z}, turn = {0, 140 + 60 * hash(i, 3), 0} } })
end

-- A village above the beach; its roofs are boxes that stand on an edge.
for i = 1, 26 do
  local x, z = 138 + 34 * hash(i, 11), 26 + 108 * hash(i, 12)
  local f = inland(x, z)
  if f > 7 and f < 30 then
    local y, long, turn = land(x, z), 4.5 + 2 * hash(i, 13), 90 * (i % 2) + 20 * hash(i, 14)
    add { shape = box { center = {0, 0.3, 0}, size = {long, 4, 3.6} }, color = {0.75, 0.7, 0.62},
          keys = { { time = 0, at = {x, y, z}, turn = {0, turn, 0} } } }
    add { shape = box { size = {long + 0.5, 2.75, 2.75} }, color = {0.5, 0.16, 0.08},
          keys = { { time = 0, at = {x, y + 2.2, z}, turn = {45, turn, 0} } } }
  end
end

-- The lighthouse at the breakwater's end.
add { shape = cylinder { center = {87, 4.2, 112}, radius = 0.9, height = 6 }, color = {0.8, 0.8, 0.78} }
add { shape = cylinder { center = {87, 7.7, 112}, radius = 0.7, height = 1.4 }, color = {0.6, 0.06, 0.04} }

-- The swell has already reached the breakwater when the film begins.
local omega = 2 * math.pi / period
local number = omega / math.sqrt(9.81 * depth)
local function train(x) return amplitude * (1 - smooth(55, 95, x)) end

liquid.waves {
  order = 1,                -- the paper's step: fine waves die
  size = {224, 224}, origin = {west, north}, cells = cells,
  ground = land,
  surface = function(x) return -train(x) * math.sin(number * (x - west)) end,
  rising = function(x) return omega * train(x) * math.cos(number * (x - west)) end,
  damping = 0.01,
  edges = { left = { kind = "open", level = 0, amplitude = amplitude, period = period }, front = "open" },
  objects = objects,
  foam = { threshold = 1.4, rate = 0.7, life = 2.5 },
}

camera { eye = {146, 70, 190}, look = {104, 0, 95}, fov = 32 }
light { sun = {-0.75, 0.42, 0.1}, clouds = 0.3 }
water { ripples = 0.35, ripple_size = 1.5, caustics = 1 }
ground { grass = {0.06, 0.09, 0.027}, grass_height = 2.2, rock_slope = 36, grain = 0.12 }
