-- Thick paint runs from the shoulder of a jointed figure down its arm over two grids (Rasmussen et al. 2004, figure 7).
--
-- The grid "torso" has the shoulder and a source on it; what leaves it by its bottom goes on in the grid "arm", which has the
-- elbow, the forearm and the hand.  The two share three layers of cells, just above the elbow.  Each is simulated in a process of its own.

scene { name = "arm", frames = 120, fps = 24 }

local cells = param("cells", 80)                     -- along the torso's grid
local viscosity, speed = 0.05, 0.6                    -- m2/s, m/s
local dx = 1.2 / cells

local function whole(length) return math.floor(length / dx + 0.5) end

local function grid(low, size)                       -- of whole cells, so that the two stand on each other
  local g = { origin = {}, size = {}, cells = {} }
  for a = 1, 3 do
    g.cells[a] = whole(size[a])
    g.size[a] = g.cells[a] * dx
    g.origin[a] = whole(low[a]) * dx
  end
  return g
end

local torso, arm = grid({0, 1, 0}, {1.2, 1, 0.6}), grid({0.5, 0, 0}, {0.9, 1, 0.6})
arm.cells[2] = whole(1) + 3
arm.size[2] = arm.cells[2] * dx

-- A jointed figure, as painters have them.
local shoulder, elbow, wrist, palm = {0.75, 1.55, 0.29}, {1.01, 0.93, 0.27}, {1.1, 0.51, 0.33}, {1.115, 0.41, 0.345}

local function limb(from, to, radius) return capsule { from = from, to = to, radius = radius } end

local figure = {
  cylinder { center = {0.42, 0.29, 0.29}, radius = 0.32, height = 0.58 },             -- plinth
  ellipsoid { center = {0.42, 0.70, 0.29}, radii = {0.28, 0.22, 0.19} },             -- hips
  ellipsoid { center = {0.42, 0.99, 0.29}, radii = {0.235, 0.30, 0.165} },            -- waist
  ellipsoid { center = {0.42, 1.35, 0.29}, radii = {0.31, 0.33, 0.20} },             -- chest
  limb({0.12, 1.57, 0.28}, {0.72, 1.57, 0.28}, 0.11),
  limb({0.42, 1.6, 0.28}, {0.42, 1.85, 0.3}, 0.085),                                 -- neck
  ellipsoid { center = {0.42, 2.02, 0.3}, radii = {0.135, 0.18, 0.16} },             -- head
  sphere { center = {0.09, 1.55, 0.28}, radius = 0.135 },                            -- right arm
  limb({0.09, 1.55, 0.28}, {-0.06, 0.96, 0.24}, 0.1),
  limb({-0.06, 0.96, 0.24}, {0.1, 0.64, 0.42}, 0.075),
  sphere { center = shoulder, radius = 0.14 },                                       -- left arm
  limb(shoulder, elbow, 0.1),
  sphere { center = elbow, radius = 0.105 },
  limb(elbow, wrist, 0.075),
  sphere { center = wrist, radius = 0.078 },
  limb(wrist, palm, 0.062),
  sphere { center = palm, radius = 0.075 },
  limb({1.1, 0.42, 0.40}, {1.09, 0.29, 0.455}, 0.032),                               -- thumb
}
for i = 0, 3 do                                      -- fingers
  local aside, low = 0.052 * (i - 1.5), 0.012 * i
  local middle = {1.155, 0.27 - low, 0.35 + 1.3 * aside}
  figure[#figure + 1] = limb({1.13, 0.38, 0.345 + aside}, middle, 0.034)
  figure[#figure + 1] = limb(middle, {1.15, 0.16 - low, 0.355 + 1.5 * aside}, 0.03)
end
local statue = { name = "statue", shape = union(figure), material = "marble" }

-- A cap on the shoulder that never ends: it slides down along the shoulder, outwards more than inwards.  Thick paint makes a coat
-- of some cells, which holds.
local cap = intersection { sphere { center = shoulder, radius = 0.21 }, plane { center = {0, 1.56, 0}, normal = {0, -1, 0} },
                           plane { center = {0.68, 0, 0}, normal = {-1, 0, 0} } }

local function slide(x, y, z, t)
  local n = {x - shoulder[1], y - shoulder[2], z - shoulder[3]}
  local into = (0.4 * n[1] - n[2]) / (n[1]^2 + n[2]^2 + n[3]^2 + 1e-6)
  return {speed * (0.4 - into * n[1]), speed * (-1 - into * n[2]), -speed * into * n[3]}
end

liquid.levelset {
  name = "torso", origin = torso.origin, size = torso.size, cells = torso.cells, open = "bottom",
  viscosity = viscosity, stick = true, spray = false,
  sources = { { shape = cap, velocity = slide } },
  solids = { statue },
}

liquid.levelset {
  name = "arm", from = "torso", origin = arm.origin, size = arm.size, cells = arm.cells, open = {"bottom", "left"},
  viscosity = viscosity, stick = true, spray = false,
  solids = { statue },
}

camera { eye = {2.0, 1.3, 2.95}, look = {0.68, 0.84, 0.3}, fov = 35 }
ground { color = {0.2, 0.2, 0.2}, texture = 0.3 }
light { sun = {0.5, 0.6, 0.6} }
water { color = {0.75, 0.32, 0.03}, absorption = {60, 120, 300}, refraction = 2.4, ripples = 0 }
film { width = 960, height = 960 }
