/* Light, 0 to 1, as the numbers of a picture: IEC 61966-2-1.  C takes this text for double (image.c), shaders
 * for float. */
SRGB_FUNCTION SRGB_REAL encode_srgb(SRGB_REAL v)
{
    return v <= 0.0031308 ? 12.92 * v : 1.055 * SRGB_POW(v, 1.0 / 2.4) - 0.055;
}
