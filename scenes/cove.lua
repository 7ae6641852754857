-- Moonlight Cove (Foster & Metaxas 1996, figures 8 and 10).
--
-- Two large waves run into a shallow cove between rocks.  The rocks and the sea floor are a map of voxels, as an editor
-- leaves it.  The plane of cells opposite the cove pushes the water in and out as equation 20 has it, u' = a w^2 cos w t,
-- for two waves; then it lets what it added leave at its natural rate, and is a wall.
--
-- 50 x 15 x 40 cells as in the paper; --set fine=true is the same cove with 200 x 60 x 160.

scene { name = "cove", frames = 480, fps = 30 }

local fine = param("fine", false)
local a, period = 0.55, 4
local w = 2 * math.pi / period

local rocks
if fine then
  rocks = voxels { layers = "models/cove/%02d.png", count = 60, what = "dark", min = {0, 0, 0}, max = {20, 6, 16} }
else
  rocks = voxels { file = "models/cove.vox", what = "#", min = {0, 0, 0}, max = {20, 6, 16} }
end

liquid.cells {
  size = {20, 6, 16}, cells = fine and {200, 60, 160} or {50, 15, 40},
  track = "height", level = 3.2,
  solids = { rocks },
  gates = {
    { side = "left", kind = "inflow", velocity = function(t) return {a * w * math.sin(w * t), 0, 0} end, stop = 2 * period },
    { side = "left", kind = "outflow", start = 2 * period, stop = 2 * period + 1.7 },
  },
  spray = { threshold = 1.7, rate = 1500, radius = {0.01, 0.03} },
  foam = { life = 0.05 },
}

camera { eye = {3, 8.5, 23.5}, look = {10.5, 2.6, 7}, fov = 36 }
light { sun = {-0.08, 0.38, -0.85}, color = {1.2, 1.4, 1.7}, zenith = {0.016, 0.032, 0.08}, horizon = {0.1, 0.145, 0.24},
        clouds = 0.2 }                                   -- the moon
water { color = {0.001, 0.012, 0.025}, absorption = {0.7, 0.25, 0.15}, ripples = 0.8, ripple_size = 0.4 }
ground { color = {0.3, 0.28, 0.25}, rock = {0.13, 0.125, 0.12} }
film { width = 1280, height = 720 }
