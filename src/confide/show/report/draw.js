(() => {
  "use strict";
  // "ast": expressions are interpreted, so that the page needs no permission to evaluate text.
  const options = { ast: true, actions: false, renderer: "svg", mode: "vega-lite", config: { aria: false } };
  const WIDE = 600;

  async function embed(figure, kind) {
    const place = figure.querySelector(".drawing");
    const spec = JSON.parse(figure.querySelector("script[type='application/json']").textContent)[kind];
    const sliders = figure.querySelector(".sliders");
    if (sliders) sliders.replaceChildren();
    if (figure.finish) figure.finish();
    const made = await window.vegaEmbed(place, spec, sliders ? { ...options, bind: sliders } : options);
    figure.finish = () => made.finalize();
    figure.dataset.drawn = kind;
    return place.querySelector("svg").getBoundingClientRect().width;
  }

  async function draw(figure) {
    const place = figure.querySelector(".chart");
    const room = figure.clientWidth;
    if (!room || figure.dataset.room === String(room)) return;
    figure.dataset.room = String(room);
    let needed = room < WIDE ? Infinity : await embed(figure, "wide");
    if (needed > room) needed = await embed(figure, "narrow");
    if (needed > room) place.tabIndex = 0; else place.removeAttribute("tabindex");
  }

  const figures = [...document.querySelectorAll("figure[data-chart]")];
  async function all() {
    for (const figure of figures) await draw(figure);
    document.documentElement.dataset.drawn = "yes";
  }
  let waiting = 0;
  window.addEventListener("resize", () => { clearTimeout(waiting); waiting = setTimeout(all, 200); });
  document.addEventListener("toggle", (e) => { if (e.target.open) all(); }, true);
  all();
})();
