-- A jet of water into a concrete tank (Foster & Metaxas 1996, figure 4 a to d).
--
-- Two dimensions, 30 x 40 cells.  Water comes in at 0.8 m/s, with 500 markers a second.  It shoots along the floor and up the
-- walls; a lip throws it off the right one, back at the jet, and at the left one it folds over.  When it is switched off the eddies
-- slow down and the surface settles.

scene { name = "jet", frames = 240, fps = 48 }

local stop = param("stop", 1.7)

liquid.cells {
  size = {0.6, 0.8, 0.02}, cells = {30, 40, 1},
  viscosity = 1e-5,
  track = "markers",
  solids = { box { min = {0, 0, -1}, max = {0.6, 0.04, 1} },
             box { min = {0, 0, -1}, max = {0.04, 0.44, 1} },
             box { min = {0.38, 0, -1}, max = {0.6, 0.4, 1} },
             box { min = {0.34, 0.16, -1}, max = {0.6, 0.2, 1} } },
  gates = { { side = "left", shape = box { min = {-0.1, 0.56, -1}, max = {0.1, 0.62, 1} },
              kind = "inflow", velocity = {0.8, 0, 0}, markers = 500, stop = stop } },
}

film { width = 720, height = 900, plot = {"markers+velocity"} }
