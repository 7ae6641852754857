-- A dive from the 10 m platform (O'Brien & Hodgins 1995, figure 5).
--
-- The diver is a skeleton of ellipsoids led by keys (models/diver.skel): stands on the platform, jumps, turns one and a
-- half somersaults and goes in head first at 14 m/s.  The pool is 16 m x 16 m, 241 x 241 columns.

scene { name = "diver", frames = 252, fps = 24 }

local cells = param("cells", 241)
local blur = param("blur", 0)

local concrete = {0.62, 0.61, 0.58}

-- The platform and its tower are bodies that are never let go.
local function block(low, high, color)
  return { shape = box { min = low, max = high }, release = math.huge, color = color }
end

liquid.columns {
  size = {16, 16}, cells = cells, origin = {-8, -8}, ground = -5, level = 0,
  pipe_depth = 0.5, damping = 0.05, smoothing = 0.12,
  spray = { threshold = 1.6, rate = 6e5, radius = {0.0025, 0.009}, launch = {0.65, 1.6}, scatter = 0.2, drag = 0.4 },
  bodies = {
    block({-1.25, 9.75, -9.5}, {1.25, 10.0, -3.0}, concrete),
    block({-0.9, -5, -9.4}, {0.9, 9.75, -8.3}, concrete),
  },
  figures = { { file = "models/diver.skel" } },
}

ground { pattern = "tiles", tile = 0.5, grout = 0.03 }
water { absorption = {0.35, 0.06, 0.04}, color = {0.004, 0.06, 0.09}, ripples = 0.2 }
light { sun = {0.5, 0.7, 0.45}, clouds = 0.35 }
camera {
  eye = { keys = { { time = 0, at = {9.5, 8.5, 6.5} }, { time = 2.2, at = {7, 3.6, 7.2} }, { time = 3.0, at = {4.9, 2.1, 6.4} },
                   { time = 5, at = {4.6, 2.3, 6.6} }, { time = 10.5, at = {4.2, 2.6, 6.8} } } },
  look = { keys = { { time = 0, at = {0, 10.2, -3} }, { time = 1.2, at = {0, 10.8, -2.6} }, { time = 2.1, at = {0, 7, -1.4} },
                    { time = 2.9, at = {0, 0.9, -0.4} }, { time = 3.6, at = {0, 0.4, -0.2} }, { time = 10.5, at = {0, -0.2, 0.3} } } },
  fov = 38,
}
film { width = 960, height = 540, shutter = 0.015, blur = blur }
