-- A marble drops into a bowl of thick soup (Foster & Metaxas 1996, figures 7 and 9).
--
-- Two dimensions, 15 x 30 cells: the bowl's side is a series of steps, and a half round drop of soup at the left side
-- stands for the marble.  Chains of 150 and 50 markers follow the outlines, and turned about that side they are the
-- round surface that is drawn.  The drop has the marble's size, so that the soup stands as much higher in the end.
-- The marble that is seen is a body that is led where the drop falls, a bit larger so that it hides it; then it sinks.

scene { name = "soup", frames = 90, fps = 60 }

local start, speed, radius = 0.094, 0.2, 0.015           -- of the drop: m, m/s, m
local keys = {}
for i = 0, 10 do
  local t = 0.006 * i
  keys[i + 1] = { time = t, at = {0, start - speed * t - 9.81 / 2 * t * t, 0.0025} }
end
keys[12] = { time = 0.25, at = {0, 0.034, 0.0025} }      -- on the floor

liquid.cells {
  size = {0.075, 0.15, 0.005}, cells = {15, 30, 1},
  viscosity = 0.003,
  solids = difference { box { max = {0.075, 0.085, 1} }, sphere { center = {0, 0.083, 0.0025}, radius = 0.066 } },
  track = "chains",
  fill = { { shape = box { max = {0.075, 0.06, 1} }, chain = 150 },
           { shape = sphere { center = {0, start, 0.0025}, radius = radius }, velocity = {0, -speed, 0}, chain = 50 } },
  revolve = { along = 2 },
  bodies = { { shape = sphere { radius = 1.08 * radius }, color = {0.02, 0.08, 0.4}, keys = keys, easing = "linear" } },
}

camera { eye = {0.1, 0.28, 0.25}, look = {0, 0.045, 0}, fov = 28 }
light { sun = {-0.5, 0.8, 0.35} }
water { color = {0.35, 0.11, 0.02}, absorption = {60, 160, 400}, ripples = 0 }
ground { color = {0.3, 0.17, 0.09}, texture = 0.6 }
film { width = 1280, height = 720 }
