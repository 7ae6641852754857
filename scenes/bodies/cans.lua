-- Soda cans for the container of ../cans.lua: undine float out/cans scenes/bodies/cans.lua -o out/cans_afloat

local count = param("count", 9)
local colors = { {0.62, 0.03, 0.03}, {0.03, 0.15, 0.5}, {0.75, 0.7, 0.62}, {0.05, 0.38, 0.12} }

local cans = {}
for i = 1, count do
  cans[i] = {
    shape = cylinder { radius = 0.07, height = 0.26 },
    density = 350,                                       -- nearly empty
    at = {1.3 + 0.3 * ((i - 1) // 3), 0.5, 0.18 + 0.28 * ((i - 1) % 3)},
    turn = {90, 37 * i, 0},                              -- lying, each its own way
    color = colors[(i - 1) % 4 + 1], bounce = 0.4, friction = 0.2,
  }
end
bodies(cans)

float { damping = 6 }
