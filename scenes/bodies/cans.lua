-- Soda cans for the container of ../cans.lua: undine float out/cans scenes/bodies/cans.lua -o out/cans_afloat

local count = param("count", 9)
local colors = { {0.62, 0.03, 0.03}, {0.03, 0.15, 0.5}, {0.75, 0.7, 0.62}, {0.05, 0.38, 0.12} }

local cans = {}
for i = 1, count do
  cans[i] = {
    shape = cylinder { radius = 0.07, height = 0.26 },
    density = 350,                                       -- nearly empty
    at = {0.5 + 0.2 * (i - 1), 0.5, ({0.14, 0.4, 0.28})[i % 3 + 1]},
    turn = {90, 37 * i, 0},                              -- lying, each its own way
    color = colors[(i - 1) % 4 + 1], bounce = 0.4, friction = 0.2,
  }
end
-- The container's post: a height field shows it with sloping sides.
cans[#cans + 1] = { shape = box { size = {0.38, 0.81, 0.38} }, color = {0.6, 0.6, 0.58},
                    keys = { { time = 0, at = {1.55, 0.405, 0.75} } } }
bodies(cans)

float { damping = 6 }
