-- A wave carries water over a hump (Kass & Miller 1990, figure 5).
--
-- A curve of water with a pond on the left, a hump in the middle and a dry hollow behind it.  The wave runs up the
-- hump, spills over its top, runs down the other side and leaves a puddle there.  Nobody told the model where the
-- shore is: each step finds out again which cells are wet.
--
-- As in the paper there is one large step per frame.  The implicit step then damps short waves, and the water comes over
-- the hump as a smooth tongue; with many small steps its edge is a wall.

scene { name = "hump", frames = 240, fps = 30 }

local cells = param("cells", 180)

local width = 9             -- m

local function bell(x, middle, half)
  return math.exp(-((x - middle) / half)^2)
end

-- A pond, a hump that stands 20 cm above it, a long slope down into a shallow hollow, and banks at both ends.
local function bottom(x)
  local left = math.min(1.9, 3.4 * math.max(0, 1 - x / 0.95)^2)
  local right = 1.5 * math.max(0, (x - 7.6) / 1.4)^2
  local hump = 1.4 * bell(x, 4.6, x < 4.6 and 0.9 or 1.35)
  return -1.2 + hump + left + right
end

-- A heap of water against the left bank, held by nothing; the hollow behind the hump is dry.
local function surface(x)
  return x < 4.6 and 0.9 * bell(x, 1.5, 0.95) or -10
end

liquid.waves {
  order = 1,                -- the paper's step: fine waves die
  size = width, cells = cells,
  ground = bottom, surface = surface,
  damping = 0.3,            -- the pond calms down
  viscosity = 0.002,        -- and the puddle sooner: shallow water rubs on the ground
}

camera { eye = {width / 2, -0.05, 7}, look = {width / 2, -0.05, 0}, fov = 39.8 }
film { width = 1280, height = 720 }
ground { drying = 6 }       -- s; the hump stays dark where the water was
