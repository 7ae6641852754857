-- A sluice gate opens (Foster & Metaxas 1996, figure 11).
--
-- The wave runs along a channel, over a submerged pyramid that leaves a trail behind it, round a corner of ninety degrees, and
-- breaks over a rock that stands half out of the water before it leaves the scene.  40 x 12 x 40 cells.

scene { name = "sluice", frames = 360, fps = 30 }

local pyramid = {}
for i = 0, 3 do
  local half = 1.25 - 0.25 * i
  pyramid[#pyramid + 1] = box { min = {4 - half, 0, 2.5 - half}, max = {4 + half, 0.25 * (i + 1), 2.5 + half} }
end

liquid.cells {
  size = {10, 3, 10}, cells = {40, 12, 40},
  track = "height", level = 1.3,
  solids = {
    box { min = {0, 0, 5}, max = {5, 2.5, 10} },
    union(pyramid),
    box { min = {7, 0, 6}, max = {8, 1.5, 7.25} },
  },
  gates = {
    { side = "left", shape = box { min = {-1, 0, 0.5}, max = {1, 1.25, 4.5} }, kind = "inflow",
      velocity = function(t) return {1.8 * math.min(t / 0.6, 1) * (t < 3 and 1 or math.exp(-(t - 3) / 1.5)), 0, 0} end },
    { side = "front", shape = box { min = {5, 1.25, 9}, max = {10, 3, 11} }, kind = "outflow" },
  },
  spray = { threshold = 1.5, rate = 2500, radius = {0.006, 0.02} },
  foam = { life = 0.08 },
}

camera { eye = {13.5, 7, -4.5}, look = {5.3, 0.6, 4.2}, fov = 40 }
light { sun = {-0.45, 0.6, -0.5}, clouds = 0.3 }
water { color = {0.01, 0.07, 0.09}, absorption = {0.8, 0.3, 0.25}, caustics = 1 }
ground { texture = 0.4, rock_slope = 89,
         map = function(x, z)
           if math.abs(x - 4) < 1.25 and math.abs(z - 2.5) < 1.25 then return {0.42, 0.2, 0.09} end      -- the pyramid
           if x > 6.9 and x < 8.1 and z > 5.9 and z < 7.4 then return {0.16, 0.14, 0.12} end              -- the rock
           return {0.4, 0.4, 0.38}                                                                        -- concrete
         end }
film { width = 1280, height = 720 }
