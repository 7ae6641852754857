/* Share of unpolarised light that is reflected: the Fresnel equations, as in Born & Wolf, Principles of
 * Optics, section 1.5.2.  `ratio` is the index behind the surface over the index in front.  C takes this text
 * twice, for double and for float; shaders take it once. */
OPTICS REAL FRESNEL(REAL cosine, REAL ratio)
{
    REAL c = cosine > 0.0f ? cosine : 0.0f;
    c = c < 1.0f ? c : 1.0f;
    REAL s2 = (1.0f - c * c) / (ratio * ratio); /* square of the sine behind the surface */
    if (s2 >= 1.0f)
        return 1.0f;
    REAL t = ROOT(1.0f - s2);
    REAL rs = (c - ratio * t) / (c + ratio * t);
    REAL rp = (ratio * c - t) / (ratio * c + t);
    return 0.5f * (rs * rs + rp * rp);
}
