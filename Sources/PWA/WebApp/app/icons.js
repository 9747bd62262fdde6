// SPDX-License-Identifier: Apache-2.0
import { svg } from "./dom.js";

/** The lines of the icons, on a grid of 24 by 24. */
const lines = {
  home: "M4 11 12 4l8 7v8a1 1 0 0 1-1 1h-4v-6H9v6H5a1 1 0 0 1-1-1z",
  share: "M12 15V4m0 0L8 8m4-4 4 4M5 12v7a1 1 0 0 0 1 1h12a1 1 0 0 0 1-1v-7",
  history: "M12 7v5l3.500 2M20 12a8 8 0 1 1-2.600-5.900M20 3v4h-4",
  more: "M5 12h.01M12 12h.01M19 12h.01",
  check: "m5 12.500 4.500 4.500L19 7.500",
  dot: "M12 12h.01",
  alert: "M12 8v5m0 3.500h.01M12 3 2.500 20h19z",
  info: "M12 11v6m0-9.500h.01M21 12a9 9 0 1 1-18 0 9 9 0 0 1 18 0",
  offline: "M3 3l18 18M8.500 15.500a5 5 0 0 1 7 0M5 12a10 10 0 0 1 4-2.400m5.500.2A10 10 0 0 1 19 12M12 19h.01",
  trash: "M5 7h14M10 7V4h4v3m3 0-1 13H8L7 7m3 4v5m4-5v5",
  chevron: "m9 5 7 7-7 7",
  back: "m15 5-7 7 7 7",
  paste: "M9 5H6v16h12V5h-3M9 3h6v4H9z",
  qr: "M4 4h6v6H4zm10 0h6v6h-6zM4 14h6v6H4zm10 0h3v3m3 3v-3m-6 3h.01",
  lock: "M6 11h12v9H6zm2 0V8a4 4 0 0 1 8 0v3",
  settings: "M4 7h10m4 0h2M4 17h2m4 0h10M14 4.500v5M10 14.500v5",
  send: "M21 3 3 10.500l7 3.500 3.500 7zM10 14l5-5",
  book: "M5 4h6a2 2 0 0 1 2 2v14a2 2 0 0 0-2-2H5zm14 0h-4a2 2 0 0 0-2 2v14a2 2 0 0 1 2-2h4z",
  help: "M9 9.500a3 3 0 1 1 4.500 2.600c-1 .6-1.500 1-1.500 2.400M12 17.500h.01M21 12a9 9 0 1 1-18 0 9 9 0 0 1 18 0",
  shield: "M12 3 4.500 6v5.500c0 4.500 3 7.800 7.500 9.500 4.500-1.700 7.500-5 7.500-9.500V6z",
  people: "M9 11a3.500 3.500 0 1 0 0-7 3.500 3.500 0 0 0 0 7m-6 9c0-3.500 2.500-6 6-6s6 2.500 6 6m1-9.500a3 3 0 0 0 0-6m5 15.500c0-3-1.500-5-3.500-5.700",
  tools: "m8 8-5 4 5 4m8-8 5 4-5 4M14 5l-4 14",
  refresh: "M20 12a8 8 0 1 1-2.600-5.900M20 3v4h-4",
  phone: "M8 3h8a1 1 0 0 1 1 1v16a1 1 0 0 1-1 1H8a1 1 0 0 1-1-1V4a1 1 0 0 1 1-1m4 14.500h.01",
  bell: "M6 16V11a6 6 0 0 1 12 0v5l1.500 2h-15zm4.500 4.500h3",
};

/** A decorative icon; the text beside it says the same. */
export function icon(name) {
  return svg("svg", { class: "icon", viewBox: "0 0 24 24", "aria-hidden": "true", focusable: "false" },
    svg("path", { d: lines[name] }));
}

/** The shapes of the risk levels and of a reported test on a grid of 64 by 64: each is different without its colour. */
const shapes = {
  unknown: ["M32 6a26 26 0 1 0 0 52 26 26 0 0 0 0-52", "M25 26a7 7 0 1 1 10.500 6c-2.500 1.500-3.500 2.500-3.500 5.500m0 8h.01"],
  reported: ["M32 6a26 26 0 1 0 0 52 26 26 0 0 0 0-52", "M32 45 20 33a7 7 0 0 1 12-8 7 7 0 0 1 12 8z"],
  0: ["M32 4a28 28 0 1 0 0 56 28 28 0 0 0 0-56", "m20 33 8.500 8.500L45 24"],
  1: ["M32 3 61 32 32 61 3 32z", "M32 30v15m0-25h.01"],
  2: ["M32 5 61 57H3z", "M32 24v15m0 9h.01"],
  3: ["M21 4h22l17 17v22L43 60H21L4 43V21z", "M32 17v20m0 10h.01"],
};

/** The shape of a risk level, or of a reported test. */
export function riskShape(level) {
  const [shape, glyph] = shapes[level ?? "unknown"];
  return svg("svg", { class: "shape", viewBox: "0 0 64 64", "aria-hidden": "true", focusable: "false" },
    svg("path", { class: "shape-fill", d: shape }), svg("path", { class: "shape-glyph", d: glyph }));
}
