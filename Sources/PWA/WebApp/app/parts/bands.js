// SPDX-License-Identifier: Apache-2.0
import { el, svg } from "../dom.js";
import { minutes, number } from "../format.js";
import { hasText, t } from "../texts.js";

/** The names of the distance bands, by their number: with four bands the framework's own. */
const names = { 2: [0, 3], 3: [0, 1, 3], 4: [0, 1, 2, 3] };

/** A table of the minutes per distance band; the bars repeat the numbers for the eye. */
export function bandTable(exposure, captionText) {
  const most = Math.max(1, ...exposure.bands.map((band) => band.seconds));
  return el("table", { class: "bands" },
    el("caption", { class: "visually-hidden" }, captionText),
    el("thead", {}, el("tr", {}, column(t("why.distance")), column(t("why.time")),
      column(t("why.weight")))),
    el("tbody", {}, exposure.bands.map((band, index) => el("tr", {},
      el("th", { scope: "row" }, el("span", { class: "band-name" }, bandName(index, exposure.bands.length)),
        el("span", { class: "muted band-signal" }, signal(exposure.bands, index))),
      el("td", { class: "band-time" }, bar(band.seconds / most), el("span", {}, minutes(band.seconds))),
      el("td", {}, number(band.weightPercent / 100, { style: "percent" }))))));
}

function column(text) {
  return el("th", { scope: "col" }, text);
}

function bandName(index, count) {
  const key = `band.${(names[count] ?? [])[index]}`;
  return hasText(key) ? t(key) : t("band.numbered", { number: index + 1 });
}

function signal(bands, index) {
  const maximum = bands[index].maximumAttenuation;
  const before = bands[index - 1]?.maximumAttenuation;
  if (maximum !== null) return t("band.upTo", { value: maximum });
  return before ? t("band.above", { value: before }) : "";
}

function bar(share) {
  return svg("svg", { class: "bar-chart", viewBox: "0 0 100 8", preserveAspectRatio: "none", "aria-hidden": "true" },
    svg("rect", { class: "bar-track", width: 100, height: 8 }),
    svg("rect", { class: "bar-value", width: (share * 100).toFixed(1), height: 8 }));
}
