-- A stirred pool (Kass & Miller 1990, figure 6).
--
-- The paper's was 32 x 32 samples at 30 frames a second; this is the same thing with 64 times as many.  Something beats
-- the water up and down at a place that wanders about, and its waves fill a square basin, reflect and cross.  The sun
-- draws them on the tiles.

scene { name = "stirred", frames = 210, fps = 30, substeps = 2 }

local cells = param("cells", 256)

local side = 8              -- m, with the rim
local rim = 0.5             -- m, its width
local depth = 0.9           -- m
local tile = 0.25           -- m

-- How far inside the rim: negative on it.
local function inside(x, z)
  return math.min(x, z, side - x, side - z) - rim
end

liquid.waves {
  size = {side, side}, cells = cells,
  ground = function(x, z)
    -- The wall falls from the rim to the floor within 12 cm, without corners.
    local s = math.max(0, math.min(1, inside(x, z) / 0.12))
    return 0.14 - (depth + 0.14) * s * s * (3 - 2 * s)
  end,
  level = 0,
  order = 2,                -- no damping but the one below
  damping = 0.15,
  stirs = {
    { center = function(t)
        -- A slow figure of eight.
        local a = 0.75 * t
        return {side / 2 + 1.9 * math.sin(a), side / 2 + 1.25 * math.sin(2 * a)}
      end,
      radius = 0.3, amplitude = 0.09, period = 0.45, stop = 5.5 },
  },
}

-- The tiles: a function that says the colour of each place.
local white, sky, blue, deep = {0.82, 0.84, 0.82}, {0.32, 0.60, 0.68}, {0.10, 0.36, 0.52}, {0.02, 0.10, 0.26}
local stone, gap = {0.45, 0.40, 0.33}, {0.55, 0.58, 0.58}

local function shade(color, by)
  return {color[1] * by, color[2] * by, color[3] * by}
end

-- A star of eight points in the middle of the pool, half of each point light and half dark, in a ring.
local function star(x, z)
  local dx, dz = x - side / 2, z - side / 2
  local r, a = math.sqrt(dx * dx + dz * dz), math.atan(dz, dx) / (math.pi / 4)
  local nearest = math.floor(a + 0.5)
  local long, short = nearest % 2 == 0 and 1.7 or 1.15, 0.5
  local angle, corner = math.abs(a - nearest) * math.pi / 4, math.pi / 8
  -- The straight edge from the tip to the corner between two tips.
  local edge = long * short * math.sin(corner) / (long * math.sin(angle) + short * math.sin(corner - angle))
  if r < edge then return a > nearest and white or deep end
  if r > 1.95 and r < 2.12 then return deep end
  return nil
end

local function tiles(x, z)
  local d = inside(x, z)
  local i, j = math.floor(x / tile), math.floor(z / tile)
  if d < 0.01 then                                   -- the rim: slabs of stone
    local gap_x, gap_z = x % (2 * tile) < 0.012, z % (2 * tile) < 0.012
    if d < -0.02 and (gap_x or gap_z) then return shade(stone, 0.55) end
    return shade(stone, 0.9 + 0.2 * hash(i // 2, j // 2, 1))
  end
  local by = 0.9 + 0.2 * hash(i, j, 2)
  if d < 0.14 then return shade(blue, by) end        -- the wall
  if x % tile < 0.014 or z % tile < 0.014 then return gap end
  if d > 2 * tile and d < 3 * tile then return shade(deep, 2 * by) end
  return shade(star(x, z) or (d < 2 * tile and blue or sky), by)
end

ground { map = tiles, texture = 0.25, wet = 0.15 }
water { color = {0.01, 0.09, 0.12}, absorption = {0.42, 0.10, 0.06}, ripples = 0.1 }
light { sun = {0.3, 0.9, 0.2}, clouds = 0.3 }

camera {
  eye = { keys = { { time = 0, at = {8.6, 4.6, 9.8} }, { time = 7, at = {6.6, 4.8, 10.4} } } },
  look = {side / 2 - 0.2, -0.7, side / 2 - 0.1}, fov = 38,
}
film { width = 960, height = 540 }
