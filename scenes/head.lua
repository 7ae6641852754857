-- A head of liquid metal that moves from side to side and drips (Rasmussen et al. 2004, figures 1, 2 and 6).
--
-- The domain holds all of its way; the grid is a window that goes with the head and grows to hold what drips from it.
-- A coat of thick liquid sticks to the head, is carried along, runs down to the neck and drips off in a train.

scene { name = "head", frames = 96, fps = 24 }

local cells = param("cells", 192)

-- A head around its middle, m, each part `more` larger.
local function head(more)
  local function ball(at, radii)
    return ellipsoid { center = at, radii = {radii[1] + more, radii[2] + more, radii[3] + more} }
  end
  return union {
    ball({0, 0.10, -0.03}, {0.215, 0.26, 0.26}),     -- skull
    ball({0, -0.10, 0.05}, {0.165, 0.22, 0.19}),     -- face
    ball({0, -0.235, 0.12}, {0.085, 0.075, 0.09}),   -- chin
    ball({0, 0.085, 0.20}, {0.14, 0.035, 0.05}),     -- brow
    ball({0, -0.02, 0.245}, {0.036, 0.085, 0.06}),   -- nose
    ball({0, -0.135, 0.225}, {0.07, 0.03, 0.035}),   -- mouth
    ball({0.215, 0, 0}, {0.03, 0.075, 0.05}),        -- ears
    ball({-0.215, 0, 0}, {0.03, 0.075, 0.05}),
    capsule { from = {0, -0.2, -0.06}, to = {0, -0.5, -0.09}, radius = 0.11 + more },
  }
end

local start = {1.1, 1.5, 0.75}
local coat = head(0.05)

liquid.levelset {
  size = {4, 2.2, 1.5}, cells = cells, open = {"bottom"},
  viscosity = 0.08, stick = true,
  fill = coat,
  origin = {-start[1], -start[2], -start[3]},
  solids = { { name = "head", shape = head(0),
               keys = { { time = 0.2, at = {0, 0, 0} }, { time = 1.6, at = {1.6, 0, 0}, turn = {0, 20, 0} },
                        { time = 3.2, at = {0, 0, 0}, turn = {0, -20, 0} }, { time = 4, at = {0.8, 0, 0} } } } },
  window = { follow = "head", margin = 10, resize = true },
}

camera { eye = {0.8, -0.1, 3.9}, look = {0.8, -0.24, 0}, fov = 26 }
light { sun = {0.4, 0.6, 0.7} }
water { color = {0.32, 0.33, 0.35}, absorption = {90, 90, 88}, refraction = 2.6 }
film { width = 1280, height = 720 }
