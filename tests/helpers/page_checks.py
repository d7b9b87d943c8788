"""What every page must keep, checked by our own script in the browser: contrast, names of pictures, headings, tables,
labels, sizes of letters, nothing cut off or covered."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.helpers.browser import opened

SCRIPT = r"""
(least) => {
  const found = [];
  const words = (t) => t.replace(/\s+/g, " ").trim().slice(0, 40);
  const blame = (what, where) => found.push(what + ": " + words(where));

  const colour = (text) => {
    const m = text.match(/rgba?\(([^)]+)\)/);
    if (!m) return null;
    const p = m[1].split(/[ ,/]+/).map(Number);
    return [p[0], p[1], p[2], p.length > 3 ? p[3] : 1];
  };
  const over = (a, b) => [0, 1, 2].map((k) => a[k] * a[3] + b[k] * (1 - a[3])).concat([1]);
  const light = (c) => {
    const [r, g, b] = c.slice(0, 3).map((v) => { v /= 255; return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ratio = (a, b) => { const [x, y] = [light(a), light(b)].sort((p, q) => q - p); return (x + 0.05) / (y + 0.05); };
  const behind = (e) => {
    const layers = [];
    for (let n = e; n; n = n.parentElement) {
      const c = colour(getComputedStyle(n).backgroundColor);
      if (c && c[3] > 0) { layers.push(c); if (c[3] === 1) break; }
    }
    return layers.reverse().reduce((below, c) => over(c, below), [255, 255, 255, 1]);
  };
  const beneath = (text, box) => {  // the last shape drawn before a word that holds its middle
    const x = box.x + box.width / 2, y = box.y + box.height / 2;
    let under = behind(text);
    for (const s of text.ownerSVGElement.querySelectorAll("path, rect")) {
      if (!(s.compareDocumentPosition(text) & Node.DOCUMENT_POSITION_FOLLOWING)) break;
      const style = getComputedStyle(s), fill = colour(style.fill), way = s.getScreenCTM();
      if (!fill || style.fill === "none" || !way) continue;
      if (s.isPointInFill(new DOMPoint(x, y).matrixTransform(way.inverse()))) {
        under = over([fill[0], fill[1], fill[2], fill[3] * Number(style.fillOpacity) * Number(style.opacity)], under);
      }
    }
    return under;
  };
  const seen = (e) => e.checkVisibility({ checkOpacity: true, checkVisibilityCSS: true }) && !e.closest(".hidden-name");

  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode, e = node.parentElement;
    if (!node.data.trim() || e.closest("script, style, noscript, template, option") || !seen(e)) continue;
    const range = document.createRange(); range.selectNodeContents(node);
    const box = range.getBoundingClientRect();
    if (!box.width || !box.height) continue;
    const style = getComputedStyle(e), svg = e instanceof SVGElement, size = parseFloat(style.fontSize);
    const ink = colour(svg ? style.fill : style.color);
    if (!ink) continue;
    ink[3] *= svg ? Number(style.fillOpacity) * Number(style.opacity) : 1;
    const under = svg ? beneath(e, box) : behind(e);
    const r = ratio(over(ink, under), under);
    const large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    if (r < (large ? 3 : 4.5)) blame("contrast " + r.toFixed(2), node.data);
    if (size < least) blame("letters of " + size + " px", node.data);
  }

  for (const e of document.querySelectorAll("img, svg, canvas")) {
    if (e.closest("[aria-hidden=true]") || e.closest("noscript")) continue;
    const named = e.closest("[role=img]");
    const text = named ? named.getAttribute("aria-label") : e.tagName === "IMG" ? e.getAttribute("alt") : "";
    if (!text || text.length < 10) blame("picture without words", e.closest("[id]") ? e.closest("[id]").id : e.tagName);
  }
  for (const svg of document.querySelectorAll("figure svg")) {
    const frame = svg.getBoundingClientRect();
    if (!frame.width) continue;
    const texts = [...svg.querySelectorAll("text")].filter((t) => t.textContent.trim() && seen(t));
    const boxes = texts.map((t) => t.getBoundingClientRect());
    texts.forEach((t, k) => {
      const b = boxes[k];
      if (b.left < frame.left - 1 || b.right > frame.right + 1 || b.top < frame.top - 1 || b.bottom > frame.bottom + 1)
        blame("word cut off in " + svg.closest("figure").id, t.textContent);
      for (let j = 0; j < k; j++) {
        const c = boxes[j];
        const w = Math.min(b.right, c.right) - Math.max(b.left, c.left), h = Math.min(b.bottom, c.bottom) - Math.max(b.top, c.top);
        if (w > 2 && h > 4) blame("words covered in " + svg.closest("figure").id, t.textContent + " / " + texts[j].textContent);
      }
    });
  }

  const levels = [...document.querySelectorAll("h1, h2, h3, h4, h5, h6")].map((h) => Number(h.tagName[1]));
  if (levels.filter((k) => k === 1).length !== 1) blame("headings", "not one h1");
  levels.forEach((k, i) => { if (i && k > levels[i - 1] + 1) blame("heading level skipped", String(k)); });
  if (levels[0] !== 1) blame("headings", "the first is not h1");
  for (const t of document.querySelectorAll("table")) {
    const heads = [...t.querySelectorAll("th")];
    if (!heads.length || heads.some((h) => !["col", "row"].includes(h.scope))) blame("table heads without scope", t.textContent);
    if ([...t.tBodies].some((b) => [...b.rows].some((r) => r.cells[0].tagName !== "TH"))) blame("row without a name", t.textContent);
  }
  for (const i of document.querySelectorAll("input, select, textarea")) {
    const name = [...(i.labels || [])].map((l) => l.textContent).join(" ") || i.getAttribute("aria-label") || "";
    if (name.trim().length < 3) blame("input without a label", i.name || i.type);
  }
  for (const e of document.querySelectorAll("*")) {
    if (e.scrollWidth > e.clientWidth + 1 && ["auto", "scroll"].includes(getComputedStyle(e).overflowX) && e.clientWidth
        && e !== document.documentElement && e !== document.body && e.tabIndex < 0) blame("scrolls, but not by keyboard", e.className || e.tagName);
  }
  const ids = [...document.querySelectorAll("[id]")].map((e) => e.id);
  ids.filter((id, k) => ids.indexOf(id) !== k).forEach((id) => blame("id twice", id));
  if (!document.documentElement.lang) blame("page", "no language");
  if (!document.title.trim()) blame("page", "no title");
  const width = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth > window.innerWidth) {
    const wide = [...document.body.querySelectorAll("*")].filter((e) => e.getBoundingClientRect().right > width + 1);
    blame("page wider than the window by " + (document.documentElement.scrollWidth - window.innerWidth),
          wide.length ? wide[wide.length - 1].outerHTML : "");
  }
  return found;
}
"""


def page_faults(page: Any, least: float = 12) -> list[str]:
    """What is wrong with a page as it stands: sentences, none where nothing is. `least`: pixels of the smallest letters."""
    found: list[str] = page.evaluate(SCRIPT, least)
    return found


def faults_in(browser: Any, page: Path, width: int, scheme: str) -> list[str]:
    """What is wrong with a page in a window: errors, requests, what does not fit or cannot be read."""
    with opened(browser, page, width, color_scheme=scheme) as seen:
        wide = seen.page.evaluate("document.documentElement.scrollWidth") > width
        return [*seen.errors, *seen.outside, *(["wider than its window"] if wide else []), *page_faults(seen.page)]
