-- The duck race.
--
-- Fifty rubber ducks wait behind a bar in a winding channel of tiles.  The bar goes up, the water runs down to the lower
-- level beyond, more wells up behind the ducks in beats, and the current carries them to the finish, among patches of
-- pressure that stir it.  They bump into each other and into the walls; a weight low in each keeps it upright.  One of
-- them is red.  The water moves the ducks and the ducks move the water: columns joined by pipes, O'Brien & Hodgins 1995.

scene { name = "ducks", frames = 240, fps = 24, seed = 7 }

local cells = param("cells", 256)

local long, wide = 9.6, 4.8    -- m, with the garden
local head = 1                 -- m, where the channel begins
local half = 0.85              -- m, of its width
local depth = 0.3              -- m
local fall = 0.1               -- m, by which the water stands lower beyond the start
local deck = 0.12              -- m, of the stones above the water
local start, finish = 3.2, 6.8
local big = 2                  -- a rubber duck is 11 cm long; these are twice that

-- The middle of the channel, and how far inside its walls a place is.
local function middle(x) return 2.9 + 0.24 * math.sin(2 * math.pi * (x - 2) / 7) end
local function inside(x, z) return math.min(half - math.abs(z - middle(x)), x - head) end

-- From 0 to 1, smoothly, from a place or time on and within a stretch.
local function ramp(x, from, within)
  local s = math.max(0, math.min(1, (x - from) / within))
  return s * s * (3 - 2 * s)
end

-- The ducks stand in rows behind the bar, each a little askew.
local duck = mesh { file = "models/duck.obj", scale = big }
local bodies = {}
for i = 0, 49 do
  local row, place = i // 7, i % 7
  local x = start - 0.18 - 0.25 * row + 0.03 * (hash(i, 1) - 0.5)
  local z = middle(x) + 0.228 * (place - (i == 49 and 0 or 3)) + 0.03 * (hash(i, 2) - 0.5)
  bodies[#bodies + 1] = {
    shape = duck, density = 120, ballast = { mass = 0.12, at = {0, -0.031 * big, 0} }, at = {x, 0.023 * big, z}, turn = {0, 30 * (hash(i, 3) - 0.5), 0},
    bounce = 0.3, friction = 0.02, color = i == 24 and {0.75, 0.03, 0.02} or nil,
  }
end

-- The bar across the start, just above the water, goes up at once.
local bar = {start, 0.05, middle(start)}
bodies[#bodies + 1] = {
  shape = box { size = {0.04, 0.04, 2 * half + 0.24} }, color = {0.75, 0.1, 0.05},
  keys = { { time = 0, at = bar }, { time = 0.2, at = bar }, { time = 0.8, at = {start, 0.75, bar[3]} } },
}

-- Posts beside the channel, and a banner of black and white squares over the finish.
local function posts(x)
  local z, off = middle(x), half + 0.14
  return union { cylinder { center = {x, 0.4, z - off}, radius = 0.03, height = 0.8 },
                 cylinder { center = {x, 0.4, z + off}, radius = 0.03, height = 0.8 } }
end
local squares, side = { {}, {} }, (2 * half + 0.28) / 16
for i = 0, 15 do
  for j = 0, 1 do
    local list = squares[(i + j) % 2 + 1]
    list[#list + 1] = box { center = {finish, 0.62 + side * j, middle(finish) + side * (i - 7.5)},
                            size = {0.02, side, side} }
  end
end
for i, shape in ipairs { posts(start), posts(finish), union(squares[1]), union(squares[2]) } do
  bodies[#bodies + 1] = { shape = shape, release = math.huge, color = i == 3 and 0.02 or 0.8 }
end

-- Water wells up where the channel begins, in beats, and leaves at its end.
local speed = 0.7              -- m/s, of the current
local function well(x, z, t)
  return 2 * half * (depth - fall) * speed * ramp(t, 0, 2.5) * (1 + 0.3 * math.sin(2 * math.pi * t / 1.2))
end

-- Three patches of pressure wander ahead of the ducks and among them, from wall to wall.
local stirs = {}
for i = 0, 2 do
  stirs[#stirs + 1] = {
    center = function(t)
      local x = 4 + 1.1 * i + 0.25 * t
      return {x, middle(x) + 0.5 * math.sin(1.3 * t + 2 * i)}
    end,
    radius = 0.25, amplitude = 0.015, period = 0.6 + 0.07 * i,
  }
end

liquid.columns {
  size = {long, wide}, cells = cells, damping = 0.1,
  surface = function(x) return -fall * ramp(x, start, 1.2) end,
  ground = function(x, z)
    local d = inside(x, z)
    if d < 0 then
      local hedge = ramp(math.max(0.55 - z, 0.45 - x), 0, 0.15)
      return deck + (0.75 + 0.07 * fbm(7 * x, 7 * z, 3)) * hedge
    end
    return deck - (depth + deck) * math.min(1, d / 0.1)
  end,
  springs = { { shape = box { center = {head + 0.2, 0, middle(head)}, size = {0.3, 9, 2 * half - 0.2} }, rate = well } },
  edges = { right = "open" },
  stirs = stirs,
  bodies = bodies,
}

-- Tiles in the channel, stones along it, lawn and a hedge; a checkered strip under the finish.
local tile = 0.12
local function floor(x, z)
  local d = inside(x, z)
  if d < -0.27 then
    local hedge = math.max(0.6 - z, 0.5 - x) > 0
    local g = 0.75 + (hedge and 0.5 or 0.22) * fbm(12 * x, 12 * z, 4)
    return hedge and {0.035 * g, 0.10 * g, 0.02 * g} or {0.11 * g, 0.22 * g, 0.035 * g}
  end
  if d < 0.005 then
    if d < -0.26 or x % 0.36 < 0.014 then return {0.26, 0.24, 0.21} end
    local by = 0.9 + 0.2 * hash(x // 0.36, z > middle(x) and 1 or 0)
    return {0.60 * by, 0.56 * by, 0.49 * by}
  end
  local i, j = x // tile, z // tile
  local by = 0.88 + 0.24 * hash(i, j)
  if math.abs(x - finish) < tile and d > 0.06 then
    return (math.floor((x - finish) / tile) + j) % 2 == 0 and {0.9, 0.9, 0.88} or {0.02, 0.02, 0.03}
  end
  if x % tile < 0.011 or z % tile < 0.011 then return {0.80, 0.86, 0.86} end
  return {0.20 * by, 0.55 * by, 0.66 * by}
end

ground { map = floor, texture = 0.15, wet = 0.15 }
water { color = {0.01, 0.12, 0.16}, absorption = {0.55, 0.10, 0.06}, ripples = 0.12 }
light { sun = {0.35, 0.75, 0.45}, clouds = 0.35 }

-- The camera goes along with the race, beside it and a little ahead.
camera {
  eye = { keys = { { time = 0, at = {4.6, 1.35, 4.95} }, { time = 3, at = {5.3, 1.3, 4.9} },
                   { time = 10, at = {8.6, 1.1, 4.6} } } },
  look = { keys = { { time = 0, at = {2.7, 0.1, 2.9} }, { time = 3, at = {3.4, 0.1, 2.95} },
                    { time = 10, at = {6.7, 0.1, 2.7} } } }, fov = 40,
}
film { width = 1280, height = 720 }
