/* Validation cases of the optics. */
#include "validate/cases.h"

#include "stage/optics.h"

static und_status fresnel(case_sink *sink, und_error *err)
{
    (void)err;
    double n = 1.333, normal = (n - 1) / (n + 1), pi = acos(-1);
    case_report(sink, (case_result){"reflectance at 0 degrees", und_fresnel(1, n), normal * normal, 1e-15,
                                    "((n - 1) / (n + 1))^2"});
    /* at Brewster's angle the p half vanishes, and the s half is ((n^2 - 1) / (n^2 + 1))^2 */
    double brewster = atan(n), s = (n * n - 1) / (n * n + 1);
    case_report(sink, (case_result){"reflectance at Brewster's angle", und_fresnel(cos(brewster), n),
                                    0.5 * s * s, 1e-15, "Born & Wolf, section 1.5.3"});
    case_report(sink, (case_result){"reflectance at 90 degrees", und_fresnel(0, n), 1, 1e-15,
                                    "grazing light is all reflected"});
    double under = asin(1 / n) + 1e-6;
    case_report(sink, (case_result){"reflectance past the critical angle", und_fresnel(cos(under), 1 / n), 1,
                                    0, "total reflection from below"});
    double sine = und_snell_sine(cos(pi / 4), n);
    case_report(sink, (case_result){"angle behind the surface for 45, degrees", asin(sine) * 180 / pi,
                                    asin(sqrt(0.5) / n) * 180 / pi, 1e-12, "Snell's law"});
    return UND_OK;
}

const validation_case render_cases[] = {{"fresnel", "render", fresnel}, {0}};
