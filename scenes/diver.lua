-- A dive from the 10 m platform (O'Brien & Hodgins 1995, figure 5).
--
-- The diver is a skeleton of ellipsoids led by keys (models/diver.skel): stands on the platform, jumps, turns one and a
-- half somersaults and goes in head first at 14 m/s.  Under water it is let go: its joints give way, it slows down, turns
-- and floats up.  The pool is 12 m x 12 m of tiles with a rim around it; 241 x 241 columns.

scene { name = "diver", frames = 300, fps = 24 }

local cells = param("cells", 241)
local blur = param("blur", 0)
local release = param("release", 3.3)   -- s; under water, braked
local hold = param("hold", 0.15)        -- strength that is left in the joints

local concrete = {0.62, 0.61, 0.58}
local half, front, back = 6, -5, 7      -- m: half the pool's width, and where it begins and ends along z
local deck = 0.3                        -- m above the water

-- How far inside the pool's walls a place is.
local function inside(x, z) return math.min(half - math.abs(x), z - front, back - z) end

-- The platform and its tower are bodies that are never let go.
local function block(low, high, color)
  return { shape = box { min = low, max = high }, release = math.huge, color = color }
end

liquid.columns {
  size = {16, 16}, cells = cells, origin = {-8, -8}, level = 0,
  ground = function(x, z) return inside(x, z) > 0 and -5 or deck end,
  pipe_depth = 0.5, damping = 0.05, smoothing = 0.12,
  spray = { threshold = 1.6, rate = 6e5, radius = {0.0025, 0.009}, launch = {0.65, 1.6}, scatter = 0.2, drag = 0.4 },
  bodies = {
    block({-1.25, 9.75, -9.5}, {1.25, 10.0, -3.0}, concrete),
    block({-0.9, deck, -7.6}, {0.9, 9.75, -6.6}, concrete),
  },
  figures = { { file = "models/diver.skel", release = release, hold = hold } },
}

-- Tiles in the pool, a dark line along its edge, pale slabs around it.
ground {
  map = function(x, z)
    local d = inside(x, z)
    if d < 0 then
      if d > -0.35 then return x % 0.7 < 0.02 and {0.45, 0.44, 0.42} or {0.80, 0.78, 0.74} end
      local seam = x % 1.2 < 0.03 or z % 1.2 < 0.03
      return seam and {0.34, 0.32, 0.29} or {0.56, 0.53, 0.48}
    end
    if d < 0.25 then return {0.03, 0.10, 0.30} end
    local by = 0.9 + 0.2 * hash(x // 0.5, z // 0.5)
    if x % 0.5 < 0.03 or z % 0.5 < 0.03 then return {0.72, 0.82, 0.86} end
    return {0.30 * by, 0.62 * by, 0.74 * by}
  end,
  texture = 0.1,
}
water { absorption = {0.35, 0.06, 0.04}, color = {0.004, 0.06, 0.09}, ripples = 0.2 }
light { sun = {0.5, 0.7, 0.45}, clouds = 0.35 }
camera {
  eye = { keys = { { time = 0, at = {6.0, 10.6, 1.0} }, { time = 1.2, at = {5.6, 10.4, 1.4} }, { time = 2.2, at = {4.6, 4.4, 4.0} },
                   { time = 2.75, at = {3.4, 1.7, 3.6} }, { time = 4, at = {3.4, 1.9, 3.7} }, { time = 7, at = {2.6, 2.4, 3.6} },
                   { time = 12.5, at = {2.2, 2.6, 3.6} } } },
  look = { keys = { { time = 0, at = {0, 10.6, -3} }, { time = 1.3, at = {0, 11.0, -2.6} }, { time = 2.2, at = {0, 6.6, -1.2} },
                    { time = 2.75, at = {0, 1.5, -0.3} }, { time = 3.1, at = {0, 0.5, -0.1} }, { time = 4, at = {0, 0.2, 0.1} },
                    { time = 12.5, at = {0, -0.3, 0.5} } } },
  fov = 42,
}
film { width = 960, height = 540, shutter = 0.015, blur = blur }
