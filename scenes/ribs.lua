-- Water flows down the chest of a skeleton (Rasmussen et al. 2004, figure 4, right).
--
-- It comes down on the collar bones, runs over breast bone and ribs, hangs from rib to rib as sheets and threads, and comes
-- to the floor, where it leaves by the open sides.  A chest of 32 cm in 90 x 112 x 67 cells, three times slower than in life.

scene { name = "ribs", frames = 72, fps = 72 }

local cells = param("cells", 112)                    -- along the height
local middle, back = 0.16, 0.075                     -- x and z of the spine, m

local bones = {}
local function bone(from, to, radius) bones[#bones + 1] = capsule { from = from, to = to, radius = radius } end

-- The spine, a breast bone before it, and the collar bones.
bone({middle, 0, back}, {middle, 0.37, back}, 0.013)
for i = 0, 9 do
  bones[#bones + 1] = ellipsoid { center = {middle, 0.06 + 0.033 * i, back}, radii = {0.02, 0.012, 0.02} }
end
bone({middle, 0.16, 0.172}, {middle, 0.315, 0.155}, 0.012)
for s = -1, 1, 2 do
  bone({middle + 0.012 * s, 0.322, 0.152}, {middle + 0.115 * s, 0.335, 0.105}, 0.009)
  bones[#bones + 1] = sphere { center = {middle + 0.12 * s, 0.333, 0.1}, radius = 0.016 }
end

-- Ribs: from the spine around to the front, where they come down; the lower ones are wider and end before the breast bone.
local function rib(s, k)
  local top, wide, deep, drop = 0.335 - 0.033 * k, 0.07 + 0.045 * math.sin(0.5 * (k + 0.4)), 0.05, 0.03 + 0.004 * k
  local whole = k < 5 and 1 or 1 - 0.13 * (k - 4)
  local last
  for i = 0, 10 do
    local a = math.pi * whole * i / 10
    local at = {middle + s * (0.012 + (wide - 0.004) * math.sin(a)), top - drop * (i / 10)^1.5,
                back + deep * (1 - math.cos(a))}
    if last then bone(last, at, 0.0075) end
    last = at
  end
end
for k = 0, 6 do
  rib(-1, k)
  rib(1, k)
end

liquid.levelset {
  size = {0.32, 0.4, 0.24}, cells = cells, open = {"left", "right", "front", "back"}, spray = false,
  sources = { { shape = capsule { from = {middle - 0.075, 0.37, 0.16}, to = {middle + 0.075, 0.37, 0.16}, radius = 0.013 },
                velocity = {0, -0.6, 0.05} } },
  solids = { { name = "bones", shape = union(bones), material = { kind = "glossy", color = {0.72, 0.66, 0.52}, roughness = 0.35 },
               friction = 0.3 } },
}

camera { eye = {0.36, 0.34, 0.95}, look = {0.16, 0.2, 0.11}, fov = 26 }
light { sun = {0.3, 0.6, 0.7} }
ground { color = {0.2, 0.2, 0.21}, texture = 0.3 }
water { color = {0.02, 0.2, 0.3}, absorption = {30, 9, 6}, ripples = 0 }
film { width = 720, height = 960 }
