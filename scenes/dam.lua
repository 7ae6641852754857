-- A dam breaks, and the water meets a post.
--
-- Markers all over the liquid follow it wherever it goes, in three dimensions; the surface that is drawn is a skin of
-- triangles around them.

scene { name = "dam", frames = 72, fps = 36 }

local cells = param("cells", 48)

liquid.cells {
  size = {1.5, 1, 1}, cells = cells,
  track = "markers", markers = 8,
  fill = box { max = {0.4, 0.6, 1} },
  solids = box { min = {0.94, 0, 0.375}, max = {1.125, 0.75, 0.625} },
}

camera { eye = {2.3, 1.35, 2.7}, look = {0.75, 0.28, 0.45}, fov = 32 }
light { sun = {-0.35, 0.7, 0.5} }
water { color = {0.02, 0.2, 0.3}, absorption = {9, 2.5, 1.5} }
film { width = 1280, height = 720 }
