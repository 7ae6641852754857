-- A head of liquid metal that moves from side to side and drips (Rasmussen et al. 2004, figures 1, 2 and 6).
--
-- A plain solid core moves by keys, with a coat of thick liquid around it.  The face is in the liquid alone: particles of the
-- level set, one for every cell or so of its surface, keep brow, eyes, nose and mouth sharp, and particles of hard velocity
-- carry them along.  Below the mouth the velocity is the liquid's own: there the coat runs down, pulls threads and drips off,
-- and more of it wells up at the neck.  The grid is a window that goes with the head and grows to hold the drops.

scene { name = "head", frames = 96, fps = 24 }

local cells = param("cells", 224)
local size = {2.8, 1.75, 1.2}
local cell = size[1] / cells

-- ---- The way of the head: to the right and back, with a look to where it goes ----

local across, period, last = 1, 4, 4.25
local function way(t)
  local a = 2 * math.pi * t / period
  return {0.5 * across * (1 - math.cos(a)), 0, 0}, {0, 24 * math.sin(a), 0}
end
local times = {}
for i = 0, 8 * last do times[#times + 1] = i / 8 end
-- Turns v with the head, from its own coordinates.
local function turned(v, t)
  local _, turn = way(t)
  local c, s = math.cos(math.rad(turn[2])), math.sin(math.rad(turn[2]))
  return {c * v[1] + s * v[3], v[2], c * v[3] - s * v[1]}
end

-- ---- The face: about how far a place is outside it, m, in the head's own coordinates ----

local function ball(x, y, z, cx, cy, cz, rx, ry, rz)
  local u, v, w = (x - cx) / rx, (y - cy) / ry, (z - cz) / rz
  local k = math.sqrt(u * u + v * v + w * w)
  local g = math.sqrt((u / rx)^2 + (v / ry)^2 + (w / rz)^2)
  return g > 0 and k * (k - 1) / g or -math.min(rx, ry, rz)
end
local function rod(x, y, z, ax, ay, az, bx, by, bz, ra, rb)
  local dx, dy, dz = bx - ax, by - ay, bz - az
  local s = ((x - ax) * dx + (y - ay) * dy + (z - az) * dz) / (dx * dx + dy * dy + dz * dz)
  s = math.min(math.max(s, 0), 1)
  return math.sqrt((x - ax - s * dx)^2 + (y - ay - s * dy)^2 + (z - az - s * dz)^2) - (ra + s * (rb - ra))
end
-- Union and difference with a fillet of about k.
local function join(a, b, k)
  local h = math.max(k - math.abs(a - b), 0) / k
  return math.min(a, b) - 0.25 * h * h * k
end
local function cut(a, b, k) return -join(-a, b, k) end

local function face(x, y, z)
  local m = math.abs(x)  -- both sides are alike
  local d = ball(m, y, z, 0, 0.10, -0.03, 0.195, 0.225, 0.245)                     -- skull
  d = join(d, ball(m, y, z, 0, -0.10, 0.055, 0.145, 0.215, 0.16), 0.06)            -- jaw
  d = join(d, rod(m, y, z, 0, -0.15, -0.06, 0, -0.52, -0.08, 0.105, 0.11), 0.05)    -- neck
  d = join(d, ball(m, y, z, 0, -0.262, 0.135, 0.062, 0.05, 0.058), 0.05)           -- chin
  d = join(d, ball(m, y, z, 0.105, -0.045, 0.125, 0.05, 0.04, 0.055), 0.05)        -- cheeks
  d = cut(d, ball(m, y, z, 0.075, 0.022, 0.235, 0.062, 0.042, 0.06), 0.03)         -- sockets
  d = join(d, rod(m, y, z, 0.02, 0.078, 0.212, 0.125, 0.092, 0.145, 0.026, 0.018), 0.02)  -- brow
  d = join(d, ball(m, y, z, 0.073, 0.018, 0.152, 0.042, 0.034, 0.042), 0.008)       -- eyes
  d = join(d, rod(m, y, z, 0, 0.07, 0.205, 0, -0.055, 0.258, 0.02, 0.03), 0.025)    -- nose
  d = join(d, ball(m, y, z, 0.03, -0.068, 0.228, 0.021, 0.018, 0.026), 0.015)       -- and its wings
  d = join(d, ball(m, y, z, 0, -0.165, 0.178, 0.075, 0.045, 0.045), 0.03)           -- mouth
  d = join(d, rod(m, y, z, 0, -0.142, 0.215, 0.05, -0.153, 0.192, 0.016, 0.01), 0.012)   -- lips
  d = join(d, rod(m, y, z, 0, -0.18, 0.208, 0.045, -0.172, 0.19, 0.018, 0.011), 0.012)
  d = cut(d, rod(m, y, z, 0, -0.162, 0.237, 0.062, -0.160, 0.205, 0.009, 0.007), 0.008)  -- between them
  d = join(d, ball(m, y, z, 0.193, 0.0, -0.03, 0.026, 0.066, 0.042), 0.02)          -- ears
  return d
end

-- ---- Control: where lines from the middle of the head meet the face ----

local control = {}
local low = -0.235  -- below this, under the mouth, the surface is hardly led and the velocity is not

-- A particle that goes with the head; what has a normal, and so shapes the face, does so within half a second.
local function lead(kind, p, n, strength, radius, length)
  local keys = {}
  for i, t in ipairs(times) do
    local at, v = way(t), turned(p, t)
    keys[i] = { time = t, at = {at[1] + v[1], at[2] + v[2], at[3] + v[3]}, normal = n and turned(n, t),
                strength = n and strength * math.min(0.02 * 10^(4 * t), 1) or strength }
  end
  control[#control + 1] = { kind = kind, keys = keys, radius = radius, length = length }
end

-- Where a line from inside meets the face, and which way that looks.
local function meet(cx, cy, cz, dx, dy, dz)
  local inner, outer = 0, 0.6
  for _ = 1, 24 do
    local s = 0.5 * (inner + outer)
    if face(cx + s * dx, cy + s * dy, cz + s * dz) < 0 then inner = s else outer = s end
  end
  local x, y, z, e = cx + inner * dx, cy + inner * dy, cz + inner * dz, 0.3 * cell
  local n = {face(x + e, y, z) - face(x - e, y, z), face(x, y + e, z) - face(x, y - e, z), face(x, y, z + e) - face(x, y, z - e)}
  local l = math.sqrt(n[1]^2 + n[2]^2 + n[3]^2)
  return {x, y, z}, {n[1] / l, n[2] / l, n[3] / l}
end

-- n directions all around.
local function spread(n, use)
  for i = 0, n - 1 do
    local up = 1 - 2 * (i + 0.5) / n
    local out, angle = math.sqrt(1 - up * up), i * math.pi * (3 - math.sqrt(5))
    use(out * math.cos(angle), up, out * math.sin(angle))
  end
end

local area = 0.95  -- of the head, seen from its middle, m2
spread(math.floor(area / (1.2 * cell)^2), function(dx, dy, dz)
  local p, n = meet(0, 0.02, 0.02, dx, dy, dz)
  local firm = math.min(math.max((p[2] - low) / 0.05, 0), 1)^2
  if p[2] > -0.33 and (firm > 0 or p[3] > 0) then
    lead("level_set", p, n, math.max(firm, 0.1), 1.3 * cell, 5 * cell)
  end
end)
-- All liquid above is carried along, so that none is caught between what is led and the core.
local step = math.max(2 * cell, 0.03)
for i = -math.ceil(0.25 / step), math.ceil(0.25 / step) do
  for j = math.ceil((low + 0.03) / step), math.ceil(0.35 / step) do
    for k = -math.ceil(0.3 / step), math.ceil(0.3 / step) do
      local x, y, z = i * step, j * step, k * step
      local d = face(x, y, z)
      if d < 0.7 * step and d > -0.13 then
        lead("velocity", {x, y, z}, nil, 1, step)
      end
    end
  end
end
-- What drips off wells up again: around the neck, below the jaw, it is never dry.
for i = 1, 16 do
  local a = 2 * math.pi * i / 16
  lead("adder", {0.065 * math.sin(a), -0.25, 0.065 * math.cos(a) - 0.055}, nil, 1, 0.03)
end

-- ---- The scene ----

local core = union {
  ellipsoid { center = {0, 0.10, -0.03}, radii = {0.13, 0.16, 0.18} },
  ellipsoid { center = {0, -0.10, 0.04}, radii = {0.09, 0.15, 0.10} },
  capsule { from = {0, -0.15, -0.06}, to = {0, -0.47, -0.08}, radius = 0.06 },
}
local coat = union {
  ellipsoid { center = {0, 0.10, -0.03}, radii = {0.2, 0.23, 0.25} },
  ellipsoid { center = {0, -0.10, 0.055}, radii = {0.15, 0.22, 0.165} },
  ellipsoid { center = {0, -0.262, 0.135}, radii = {0.065, 0.055, 0.06} },
  ellipsoid { center = {0, -0.02, 0.2}, radii = {0.06, 0.09, 0.08} },
  capsule { from = {0, -0.15, -0.06}, to = {0, -0.5, -0.08}, radius = 0.105 },
}
local keys = {}
for i, t in ipairs(times) do
  local at, turn = way(t)
  keys[i] = { time = t, at = at, turn = turn }
end

liquid.levelset {
  size = size, cells = cells, origin = {-0.9, -1.2, -0.6}, open = {"bottom"},
  viscosity = 0.05, stick = true, spray = false,
  fill = coat,
  solids = { { name = "head", shape = core, keys = keys } },
  control = control,
  window = { follow = "head", margin = math.max(math.floor(0.12 / cell), 8), resize = true },
}

camera { eye = {0.5 * across, 0, 2.3}, look = {0.5 * across, -0.14, 0}, fov = 27 }
-- A dark room with a bright ceiling and two tall windows behind the camera: metal looks like what it mirrors.
local function window(x)
  return { at = {0.5 * across + x, 0.3, 1.9}, size = {0.7, 2.4}, towards = {0.5 * across, -0.1, 0}, power = 40, hidden = true }
end
light { sun = {0.7, 0.6, 0.5}, clouds = 0, zenith = {0.7, 0.8, 1}, horizon = {0.07, 0.08, 0.1},
        lamps = { window(-1.9), window(1.9) } }
ground { color = {0.045, 0.048, 0.053}, texture = 0.2 }
water { color = {0.1, 0.1, 0.105}, absorption = {200, 200, 200}, refraction = 4, ripples = 0, material = "mercury" }
film { width = 1280, height = 720 }
