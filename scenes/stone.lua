-- A stone thrown into a pond (O'Brien & Hodgins 1995, figure 7).
--
-- A heavy stone falls into still water.  It opens a cavity and throws up a crown, and when the cavity closes behind it a
-- column of water shoots up in the middle; rings run out to the edges, which are open.  A height field cannot hold a
-- column up, so what rises fastest leaves as drops: only what is faster than most of the crown, or they would hide it.

scene { name = "stone", frames = 150, fps = 60 }

local cells = param("cells", 200)
local speed = param("speed", 6)       -- m/s at which the stone is thrown down
local sheets = param("sheets", false)

local side = 4

liquid.columns {
  size = {side, side}, cells = cells, ground = -1.2, level = 0,
  pipe_depth = 0.3, damping = 0.05, smoothing = 0.1,
  edges = { left = "open", right = "open", back = "open", front = "open" },
  spray = { threshold = sheets and 8 or 13, rate = 5e6, radius = {0.0015, 0.005}, launch = {0.3, sheets and 1.5 or 0.35},
            scatter = 0.12, drag = 0.8, sheets = sheets },
  bodies = {
    { shape = ellipsoid { radii = {0.25, 0.2, 0.25} }, density = 4000, at = {2, 0.9, 2}, bounce = 0, friction = 2,
      velocity = {0, -speed, 0}, spin = {40, 0, 70}, color = {0.22, 0.20, 0.18} },
  },
}

ground { color = {0.25, 0.22, 0.14}, grain = 0.3 }
water { color = {0.01, 0.05, 0.05}, absorption = {1.6, 0.7, 0.6}, ripples = 0.15 }
light { sun = {-0.55, 0.5, -0.5}, clouds = 0.4 }
camera { eye = {2.1, 1.5, 5.4}, look = {2, 0.35, 2}, fov = 36 }
film { width = 960, height = 540, shutter = 0.012 }
