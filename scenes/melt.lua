-- A creature that melts by viscosity (Rasmussen et al. 2004, figures 3 and 4).
--
-- For half a second it stands, stiff as cold wax.  Then heat comes down from its horns to its feet: what it has reached
-- is as runny as warm honey and flows over what is still cold, where it sets again.  In the end it is a puddle.
-- 112 x 90 x 90 cells.  `undine texture out/melt` and `undine render out/melt-texture` show it in veined jade.

scene { name = "melt", frames = 120, fps = 24 }

local cells = param("cells", 112)
local middle = {1, 0, 0.8}   -- between its feet, m

local function at(x, y, z) return {middle[1] + x, middle[2] + y, middle[3] + z} end
local function ball(x, y, z, rx, ry, rz) return ellipsoid { center = at(x, y, z), radii = {rx, ry or rx, rz or rx} } end
local function limb(from, to, radius)
  return capsule { from = at(table.unpack(from)), to = at(table.unpack(to)), radius = radius }
end

-- What it has on both sides: s = 1 is its left, -1 its right.
local function side(s)
  local parts = {
    limb({0.13 * s, 0.4, 0}, {0.19 * s, 0.08, 0.02}, 0.11),           -- leg and foot
    ball(0.2 * s, 0.05, 0.1, 0.12, 0.09, 0.17),
    limb({0.17 * s, 0.82, 0}, {0.42 * s, 0.74, 0.06}, 0.075),         -- arm, hand and three fingers
    limb({0.42 * s, 0.74, 0.06}, {0.52 * s, 0.96, 0.16}, 0.06),
    ball(0.53 * s, 1.0, 0.18, 0.075),
    limb({0.53 * s, 1.0, 0.18}, {0.43 * s, 1.12, 0.2}, 0.034),
    limb({0.53 * s, 1.0, 0.18}, {0.55 * s, 1.17, 0.2}, 0.034),
    limb({0.53 * s, 1.0, 0.18}, {0.66 * s, 1.09, 0.19}, 0.034),
    ball(0.09 * s, 1.2, 0.15, 0.075, 0.035, 0.06),                    -- brow and ear
    ball(0.2 * s, 1.1, 0, 0.09, 0.05, 0.04),
  }
  -- A horn goes outwards, bends upwards and ends in a point.
  for i = 0, 12 do
    local u = i / 12
    parts[#parts + 1] = ball((0.1 + 0.19 * math.sin(1.7 * u)) * s, 1.2 + 0.13 * u + 0.13 * u * u, 0.02 - 0.05 * u,
                             0.065 - 0.027 * u)
  end
  return union(parts)
end

local creature = difference {
  union {
    ball(0, 0.5, 0, 0.27, 0.27, 0.23),                                -- belly
    ball(0, 0.76, -0.01, 0.22, 0.2, 0.17),                            -- chest
    ball(0, 1.08, 0.02, 0.19, 0.19, 0.18),                            -- head
    ball(0, 1.01, 0.16, 0.115, 0.085, 0.1),                           -- snout
    side(1), side(-1),
    limb({0, 0.35, -0.2}, {0.12, 0.12, -0.4}, 0.075),                 -- tail
    limb({0.12, 0.12, -0.4}, {0.4, 0.12, -0.42}, 0.06),
    limb({0.4, 0.12, -0.42}, {0.52, 0.27, -0.38}, 0.05),
  },
  ball(0.085, 1.125, 0.215, 0.048), ball(-0.085, 1.125, 0.215, 0.048),  -- eyes
  ball(0, 0.975, 0.27, 0.09, 0.022, 0.08),                            -- mouth
}

-- Heat comes down: a cell is cold below the front and hot above it, and in between, over `width`, its viscosity grows
-- evenly in its logarithm, m2/s.
local cold, hot = 1e4, 0.1
local hold, top, speed, width = 0.5, 1.5, 0.45, 0.3   -- s, m, m/s, m

local function viscosity(x, y, z, t)
  local front = top - speed * math.max(0, t - hold)
  local coldness = math.min(1, math.max(0, (front - y) / width + 0.5))
  return hot * (cold / hot) ^ coldness
end

liquid.levelset {
  size = {2, 1.6, 1.6}, cells = cells, stick = true, spray = false,
  fill = creature,
  viscosity = viscosity, viscosity_solver = "coupled",
}

camera { eye = {1.9, 1.4, 4.1}, look = {1, 0.68, 0.8}, fov = 30 }
light { sun = {-0.3, 0.75, 0.65} }
ground { color = {0.3, 0.29, 0.28}, texture = 0.3 }
water { color = {0.06, 0.24, 0.12}, absorption = {120, 120, 120}, ripples = 0,
        material = { kind = "glossy", color = {0.1, 0.42, 0.2}, roughness = 0.15 },
        texture = "marble", texture_size = 0.13, texture_color = {0.22, 0.5, 0.3}, texture_other = {0.03, 0.16, 0.1} }
film { width = 960, height = 720 }
