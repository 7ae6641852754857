-- A ball plunged into a pool (Wrenninge 2003, figure 5.1).
--
-- The ball is led by keys, fast into the water and to rest under it.  What it drives aside stands up around it as a crown,
-- a thin sheet which only the particles of the level set hold together; then the water closes over the ball and a column shoots
-- up.  The ball lets the water go (`separate`): otherwise it would cling to it by suction.  140 x 91 x 111 cells.

scene { name = "plunge", frames = 72, fps = 24 }

local cells = param("cells", 140)

liquid.levelset {
  size = {2.8, 1.82, 2.22}, cells = cells,
  level = 0.8,
  solids = {
    { name = "ball", shape = sphere { radius = 0.27 }, material = { like = "plastic", color = {0.75, 0.06, 0.04} }, easing = "linear",
      separate = true,
      keys = { { time = 0.04, at = {1.4, 1.5, 1.11} }, { time = 0.22, at = {1.4, 0.56, 1.11} },
               { time = 0.4, at = {1.4, 0.36, 1.11} } } },
  },
}

camera { eye = {2.9, 1.8, 4.1}, look = {1.4, 0.85, 1.1}, fov = 29 }
ground { color = {0.2, 0.2, 0.2}, texture = 0.4 }
light { sun = {-0.5, 0.6, 0.25} }
water { color = {0.02, 0.16, 0.24}, absorption = {1.8, 0.4, 0.25} }
film { width = 1280, height = 720 }
