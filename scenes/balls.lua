-- Floating balls (O'Brien & Hodgins 1995, figure 6).
--
-- Three balls of one density and three sizes are dropped into a tank of 2 m x 2 m and come to float.  Then a fourth,
-- heavier one falls between them and sinks, and they bob on the rings it makes.

scene { name = "balls", frames = 216, fps = 36 }

local cells = param("cells", 61)

liquid.columns {
  size = {2, 2}, cells = cells, ground = -0.6, level = 0,
  pipe_depth = 0.25, damping = 0.25,
  force = param("force", "estimate"),
  spray = { threshold = 1.5, rate = 2e6, radius = {0.0006, 0.003}, launch = {0.6, 1.5} },
  bodies = {
    { shape = sphere { radius = 0.20 }, density = 350, at = {0.50, 0.45, 0.62}, color = {0.75, 0.06, 0.04}, material = { kind = "glossy" } },
    { shape = sphere { radius = 0.14 }, density = 350, at = {1.52, 0.55, 0.50}, color = {0.85, 0.55, 0.05}, material = { kind = "glossy" } },
    { shape = sphere { radius = 0.09 }, density = 350, at = {1.40, 0.40, 1.50}, color = {0.05, 0.30, 0.65}, material = { kind = "glossy" } },
    { shape = sphere { radius = 0.13 }, density = 2600, at = {0.98, 1.50, 1.08}, release = 2.4, color = {0.10, 0.10, 0.11}, material = { kind = "glossy" } },
  },
}

ground { pattern = "tiles", tile = 0.125 }
water { absorption = {0.9, 0.18, 0.12}, ripples = 0.1 }
light { sun = {-0.5, 0.75, 0.35}, clouds = 0.3 }
camera { eye = {2.9, 1.75, 3.5}, look = {1.0, -0.08, 0.98}, fov = 33 }
film { width = 960, height = 540 }
