-- A drop falls into a shallow pool (Foster & Metaxas 1996, figure 4 e to h).
--
-- Two dimensions, 30 x 40 cells, 25 markers in each that is full.  The waves of the impact run to the sides and come back,
-- and the water rebounds in the middle.

scene { name = "drop", frames = 144, fps = 72 }

liquid.cells {
  size = {0.6, 0.8, 0.02}, cells = {30, 40, 1},
  viscosity = 1e-5,
  track = "markers", markers = 25,
  level = 0.16,
  fill = { { shape = sphere { center = {0.3, 0.5, 0.01}, radius = 0.07 }, velocity = {0, -1.5, 0} } },
}

film { width = 720, height = 900, plot = {"markers+velocity"} }
