// SPDX-License-Identifier: Apache-2.0
import { send } from "./api.js";
import { button, el, replace } from "./dom.js";
import { t, time } from "./texts.js";

/** Simulated seconds per second, and the text of each. */
const rates = { 0: "clock.stop", 1: "clock.real", 60: "clock.minute", 600: "clock.tenMinutes" };

/** Draws the simulated time and its controls. */
export function drawClock(state, node) {
  replace(node,
    el("h2", { id: "clock-title" }, t("clock.title")),
    el("p", { class: "time" }, time(state.time, { dateStyle: "full", timeStyle: "short" })),
    el("div", { class: "row", role: "group", "aria-label": t("clock.speed") },
      Object.entries(rates).map(([rate, text]) => button(`rate-${rate}`, t(text),
        () => send({ action: "rate", rate: Number(rate) }),
        { "aria-pressed": String(state.rate === Number(rate)), "data-action": `rate-${rate}` }))),
    el("div", { class: "row" },
      button("hour", t("clock.hour"), () => send({ action: "jump", seconds: 3600 }), { "data-action": "hour" }),
      button("tomorrow", t("clock.tomorrow"), () => send({ action: "tomorrow" }), { "data-action": "tomorrow" })),
    el("p", { class: "muted" }, t("clock.note")));
}
