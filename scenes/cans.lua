-- Soda cans afloat (Foster & Metaxas 1996, figure 12).
--
-- Water flows into a closed container whose walls hold it back, past a square post, and is turned off.  30 x 10 x 20 cells.  It is
-- thick, so that it comes to rest soon.  The cans are added afterwards, without simulating the water again:
--
--   undine sim scenes/cans.lua
--   undine float out/cans scenes/bodies/cans.lua -o out/cans_afloat
--   undine render out/cans_afloat --preview

scene { name = "cans", frames = 240, fps = 30 }

liquid.cells {
  size = {3, 1, 2}, cells = {30, 10, 20},
  track = "height", level = 0.42, viscosity = 0.03,
  walls = { left = "stick", right = "stick", back = "stick", front = "stick", bottom = "stick" },
  solids = { { shape = box { min = {1.36, 0, 0.56}, max = {1.74, 0.8, 0.94} }, wall = "stick" } },
  gates = { { side = "left", shape = box { min = {-1, 0, 0}, max = {1, 0.6, 0.5} }, kind = "inflow", stop = 3,
              velocity = function(t) local s = math.min(t, 1) return {2.2 * s, 0, -0.3 * s} end } },
}

camera { eye = {-0.7, 2.1, 3.5}, look = {1.6, 0.3, 0.95}, fov = 36 }
light { sun = {-0.5, 0.75, 0.45} }
ground { pattern = "tiles", tile = 0.2 }
water { color = {0.02, 0.12, 0.16}, absorption = {0.9, 0.18, 0.12} }
film { width = 1280, height = 720 }
