-- A spring on a hill (Kass & Miller 1990, figure 8).
--
-- A thick liquid wells up near the top of a bumpy hill and creeps down, around the bumps.  Its damping is so high that
-- there are hardly any waves: what is to be seen is how the edge finds its way.

scene { name = "spring_hill", frames = 240, fps = 30, substeps = 4, seed = 3 }

local cells = param("cells", 256)

local side = 4              -- m
local top = {1.35, 1.25}    -- of the hill: x, z

-- A hill that falls towards the viewer, strewn with round boulders: most of them below the spring.
local bumps = {}
for i = 1, 60 do
  local a, r = 6.283 * hash(i, 1), 0.62 + 2.6 * hash(i, 2)
  bumps[i] = { x = top[1] + r * math.cos(a), z = top[2] + r * math.sin(a), radius = 0.08 + 0.13 * hash(i, 3)^2 }
end

local function hill(x, z)
  local dx, dz = x - top[1], z - top[2]
  local h = 1.3 * math.exp(-(dx * dx + dz * dz) / 3.4) + 0.05 * fbm(1.1 * x, 1.1 * z, 4)
  for _, b in ipairs(bumps) do
    local ex, ez = (x - b.x) / b.radius, (z - b.z) / b.radius
    local r2 = ex * ex + ez * ez
    if r2 < 1 then h = h + 0.62 * b.radius * (1 - r2 * r2) * (1 - 0.35 * r2) end
  end
  return h
end

liquid.waves {
  order = 1,                -- the paper's step: fine waves die
  size = {side, side}, cells = cells,
  ground = hill, level = -1,
  springs = { { center = {top[1] + 0.05, top[2] + 0.08}, radius = 0.16,
                rate = function(x, z, t) return 0.085 * math.min(1, t / 2) end } },
  damping = 16,             -- 1/s: of any motion hardly anything is left after a fifth of a second
  edges = { left = "fall", right = "fall", front = "fall", back = "fall" },
}

ground { color = {0.36, 0.32, 0.275}, rock = {0.20, 0.18, 0.16}, rock_slope = 42, drying = 30, grain = 0.3 }
water { color = {0.46, 0.10, 0.004}, absorption = {3, 9, 50}, ripples = 0, caustics = 0, refraction = 1.48 }
light { sun = {-0.8, 0.62, 0.3}, zenith = {0.16, 0.24, 0.42}, clouds = 0.5 }
camera {
  eye = { keys = { { time = 0, at = {3.9, 2.5, 5.6} }, { time = 8, at = {5.0, 2.6, 5.3} } } },
  look = {1.75, 0.5, 1.75}, fov = 32,
}
film { width = 960, height = 540 }
