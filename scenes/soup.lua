-- A marble drops into a bowl of thick soup (Foster & Metaxas 1996, figures 7 and 9).
--
-- Two dimensions, 15 x 30 cells: the bowl's side is a series of steps, and a half round drop of soup at the left side
-- stands for the marble.  Chains of 150 and 50 markers follow the outlines, and turned about that side they are the
-- round surface that is drawn.  The drop has the marble's size, so that the soup stands as much higher in the end.
-- The marble that is seen is a body that is led where the drop falls, a bit larger so that it hides it; then it sinks.
-- The paper tells the viscosity, 0.003, but no lengths: in a small bowl such soup is at rest after one swing, and in
-- one half a metre wide it goes on swinging, as the paper has it.

scene { name = "soup", frames = 150, fps = 60 }

local start, speed, radius = 0.316, 0.2, 0.05             -- of the drop: m, m/s, m
local keys = {}
for i = 0, 10 do
  local t = 0.012 * i
  keys[i + 1] = { time = t, at = {0, start - speed * t - 9.81 / 2 * t * t, 0.01} }
end
keys[12] = { time = 0.5, at = {0, 0.136, 0.01} }      -- on the floor

liquid.cells {
  size = {0.3, 0.6, 0.02}, cells = {15, 30, 1},
  viscosity = 0.003,
  solids = difference { box { max = {0.3, 0.34, 1} }, sphere { center = {0, 0.332, 0.01}, radius = 0.264 } },
  track = "chains",
  fill = { { shape = box { max = {0.3, 0.24, 1} }, chain = 150 },
           { shape = sphere { center = {0, start, 0.01}, radius = radius }, velocity = {0, -speed, 0}, chain = 50 } },
  revolve = { along = 2 },
  bodies = { { shape = sphere { radius = 1.08 * radius }, color = {0.02, 0.08, 0.4}, keys = keys, easing = "linear" } },
}

camera { eye = {0.4, 1.12, 1}, look = {0, 0.18, 0}, fov = 28 }
light { sun = {-0.5, 0.8, 0.35} }
water { color = {0.35, 0.11, 0.02}, absorption = {15, 40, 100}, ripples = 0 }
ground { color = {0.3, 0.17, 0.09}, texture = 0.6 }
film { width = 1280, height = 720 }
