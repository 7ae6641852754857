-- A source fills a channel (Wrenninge 2003, figure 5.2).
--
-- A region of 20 x 10 x 20 voxels at the left end of a channel 10 m long gives water at 3 m/s.  It runs along the dry
-- floor, hits the wall at the far end, stands up against it and breaks back over what still comes.  200 x 80 x 31 cells.

scene { name = "channel", frames = 168, fps = 24 }

local cells = param("cells", 200)

liquid.levelset {
  size = {10, 4, 1.55}, cells = cells,
  sources = { { shape = box { min = {0, 0, 0.25}, max = {1, 0.5, 1.25} }, velocity = {3, 0, 0} } },
}

camera { eye = {11.9, 2.5, 5.2}, look = {7.0, 0.35, 0.5}, fov = 34 }
ground { color = {0.2, 0.2, 0.2}, texture = 0.4 }
light { sun = {-0.35, 0.7, 0.5} }
water { color = {0.02, 0.16, 0.22}, absorption = {3, 0.9, 0.55} }
film { width = 1280, height = 720 }
