"""The closed forms of Duncan and Keller-McNulty with sliders: risk and utility are computed in the chart itself.

Notation as in `confide.theory.noise` and `theory.swap`, with sigma = 1: v = lambda^2, pi the rate, d the
difference of the areas.
"""

from __future__ import annotations

from typing import Any

from confide.show.charts.drawing import COLOURS, INK, QUIET, WORDS
from confide.show.charts.plan_charts import finished

WIDE, NARROW, HEIGHT = 560, 270, 320
RECORDS = 100
AREA, OTHER = 3, 2
"""People of the two areas, as in print."""
UTILITY = "Utility kept: U of the release / U of the original"

# Mean squared errors; R = 1 / MSE is infinite at 0, so a height R / (1 + R) = 1 / (1 + MSE) is drawn.
NOISE = {
    "linked": ("by the target's own noisy value", "{v}"),
    "shrink_known": ("by that value, shrunk to a known mean", "{v} / (1 + {v})"),
    "mean": ("by the mean of all", f"({RECORDS - 1} + {{v}}) / {RECORDS}"),
}
SWAP = {
    "attribute": ("by the value at the target's place", "{pi} * (2 + {d} * {d})"),
    "mean": (
        "by the mean of the target's area",
        f"1 - 1 / {AREA} + {{pi}} * (2 / {AREA} + {{d}} * {{d}} / {AREA**2})",
    ),
}


def noise_slider(title: str = "", narrow: bool = False) -> Any:
    """Risk and utility of a mean under noise whose variance a slider sets, in variances of the records; n = 100.

    >>> [p["bind"]["max"] for p in noise_slider().to_dict()["params"]]
    [4]
    """
    import altair as alt

    slider = alt.binding_range(min=0, max=4, step=0.05, name="Variance of the noise, in variances of the records")
    params = [alt.param(name="noise_variance", value=0.5, bind=slider)]
    steps = alt.sequence(0, 4.001, 0.02, as_="v")
    here = {"v": "noise_variance"}
    said = "'Variance ' + format(noise_variance, '.2f') + ': utility kept ' + format(datum.utility, '.4f')"
    return _chart(steps, {"v": "datum.v"}, here, "1 / (1 + {v})", NOISE, said, params, title, narrow)


def swap_slider(title: str = "", narrow: bool = False) -> Any:
    """Risk and utility of a difference of two areas, 3 and 2 people, under swapping; sliders for rate and difference.

    >>> [p["name"] for p in swap_slider().to_dict()["params"]]
    ['swap_rate', 'area_difference']
    """
    import altair as alt

    rate = alt.binding_range(min=0, max=1, step=0.01, name="Swapping rate")
    apart = alt.binding_range(min=0, max=3, step=0.1, name="Difference of the areas' means, in standard deviations")
    params = [
        alt.param(name="swap_rate", value=0.3, bind=rate),
        alt.param(name="area_difference", value=1.0, bind=apart),
    ]
    steps = alt.sequence(0, 1.0001, 0.005, as_="pi")
    h = f"(1 / {AREA} + 1 / {OTHER})"
    said = (
        "'Rate ' + format(swap_rate, '.2f') + ': utility kept ' "
        "+ format(datum.utility, '.4f') + ', link right ' + format(1 - swap_rate, '.2f')"
    )
    on = {"pi": "datum.pi", "d": "area_difference"}
    here = {"pi": "swap_rate", "d": "area_difference"}
    return _chart(steps, on, here, f"1 / (1 + {h} * {{pi}} * {{d}} * {{d}})", SWAP, said, params, title, narrow)


def _chart(
    steps: Any, on: dict[str, str], here: dict[str, str], utility: str, snoopers: dict[str, tuple[str, str]], said: str,
    params: list[Any], title: str, narrow: bool,
) -> Any:  # fmt: skip
    """Curves over all settings; a dot and a line of words for each snooper at the setting of the sliders."""
    import altair as alt

    width = NARROW if narrow else WIDE
    axis = alt.Axis(format=".0%", tickCount=5)
    x = alt.X(
        "utility:Q",
        title="Utility kept" if narrow else UTILITY,
        scale=alt.Scale(domain=[0, 1.04], nice=False),
        axis=axis,
    )
    y = alt.Y("height:Q", title="Risk R, at height R / (1 + R)", scale=alt.Scale(domain=[0, 1.04], nice=False),
              axis=_risk_axis())  # fmt: skip
    one = alt.InlineData(values=[{}])
    words = alt.Chart(one).transform_calculate(utility=utility.format(**here), said=said)
    text = words.mark_text(align="left", fontSize=12, fontWeight="bold", color=INK, limit=width + 60)
    layers = [text.encode(x=alt.value(-40), y=alt.value(HEIGHT + 62), text="said:N")]
    for k, (name, mse) in enumerate(snoopers.values()):
        curve = alt.Chart(steps).transform_calculate(utility=utility.format(**on), mse=mse.format(**on))
        curve = curve.transform_calculate(height="1 / (1 + datum.mse)")
        order = f"{next(iter(on))}:Q"
        layers.append(curve.mark_line(strokeWidth=2.2, color=COLOURS[k]).encode(x=x, y=y, order=order))
        dot = alt.Chart(one).transform_calculate(utility=utility.format(**here), mse=mse.format(**here))
        risk = f"'R = ' + (datum.mse > 0 ? format(1 / datum.mse, '.4f') : '∞') + ' {_quoted(name)}'"
        dot = dot.transform_calculate(height="1 / (1 + datum.mse)", said=risk)
        mark = dot.mark_point(size=110, filled=True, opacity=1, stroke="white", color=COLOURS[k])
        layers.append(mark.encode(x=x, y=y))
        line = dot.mark_text(align="left", fontSize=12, color=WORDS[COLOURS[k]], limit=width + 60)
        layers.append(line.encode(x=alt.value(-40), y=alt.value(HEIGHT + 82 + 19 * k), text="said:N"))
    rule = alt.Chart(one).transform_calculate(utility=utility.format(**here))
    layers.insert(0, rule.mark_rule(color=QUIET, strokeDash=[3, 3]).encode(x=x))
    return finished(layers, width, HEIGHT, title).add_params(*params)


def _quoted(text: str) -> str:
    return text.replace("'", "\\'")


def _risk_axis() -> Any:
    import altair as alt

    marks = {0.0: "0", 1 / 6: "0.2", 1 / 3: "0.5", 0.5: "1", 2 / 3: "2", 5 / 6: "5", 1.0: "∞"}
    words = " : ".join(f"abs(datum.value - {at}) < 1e-6 ? '{t}'" for at, t in marks.items()) + " : ''"
    return alt.Axis(values=list(marks), labelExpr=words, labelFlush=False)
