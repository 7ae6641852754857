-- Thin sheets of water flow over a body and off it (Rasmussen et al. 2004, figure 8).
--
-- A broad sheet, nine cells thick, falls on a figure of 35 cm with its arms spread.  It parts at the head, runs down over
-- shoulders and arms and leaves them as curtains, two to four cells thick: the figure lets it go (`separate`), where it would
-- otherwise cling to it all around by suction.  What comes to the floor leaves by the open sides.  112 x 102 x 102 cells, ten
-- times slower than in life.

scene { name = "sheets", frames = 84, fps = 240 }

local cells = param("cells", 112)
local middle = {0.22, 0, 0.2}   -- between its feet, m

local function at(x, y, z) return {middle[1] + x, middle[2] + y, middle[3] + z} end
local function ball(x, y, z, rx, ry, rz) return ellipsoid { center = at(x, y, z), radii = {rx, ry, rz} } end
local function limb(from, to, radius)
  return capsule { from = at(table.unpack(from)), to = at(table.unpack(to)), radius = radius }
end

-- What it has on both sides: s = 1 is its left, -1 its right.
local function side(s)
  return union {
    limb({0.035 * s, 0.236, 0}, {0.06 * s, 0.232, 0}, 0.025),           -- shoulder
    limb({0.06 * s, 0.232, 0}, {0.115 * s, 0.222, 0.005}, 0.021),       -- upper arm
    limb({0.115 * s, 0.222, 0.005}, {0.175 * s, 0.235, 0.02}, 0.017),   -- fore arm
    ball(0.185 * s, 0.238, 0.023, 0.022, 0.014, 0.018),                 -- hand
    limb({0.028 * s, 0.1, 0}, {0.033 * s, 0.01, 0.005}, 0.026),         -- leg
  }
end

local body = union {
  ball(0, 0.313, 0.004, 0.029, 0.038, 0.034),                           -- head
  ball(0, 0.297, 0.012, 0.021, 0.026, 0.026),                           -- jaw
  limb({0, 0.24, 0}, {0, 0.29, 0}, 0.016),                              -- neck
  ball(0, 0.215, 0, 0.056, 0.048, 0.034),                               -- chest
  ball(0, 0.17, 0, 0.042, 0.06, 0.03),                                  -- waist
  ball(0, 0.115, 0, 0.052, 0.045, 0.038),                               -- hips
  side(1), side(-1),
  cylinder { center = at(0, 0.004, 0), radius = 0.085, height = 0.02 }, -- what it stands on
}

liquid.levelset {
  size = {0.44, 0.4, 0.4}, cells = cells, open = {"left", "right", "front", "back"}, spray = false,
  sources = { { shape = box { center = at(0, 0.4, 0.004), size = {0.34, 0.06, 0.036} }, velocity = {0, -1.5, 0} } },
  solids = { { name = "body", shape = body, material = { like = "copper", roughness = 0.35 }, separate = true, friction = 0.1 } },
}

camera { eye = {0.5, 0.33, 1.15}, look = {0.22, 0.19, 0.2}, fov = 22.5 }
light { sun = {0.3, 0.6, 0.7} }
ground { color = {0.3, 0.29, 0.28}, texture = 0.3 }
water { color = {0.02, 0.2, 0.3}, absorption = {30, 9, 6}, ripples = 0 }
film { width = 960, height = 720 }
