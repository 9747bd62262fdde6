// SPDX-License-Identifier: Apache-2.0
import { request } from "../bridge-client.js";
import { el } from "../dom.js";
import { day, daysAgo, minutes, number } from "../format.js";
import { riskShape } from "../icons.js";
import { backLink, button, card, facts, heading, linkButton, paragraphs } from "../parts/basics.js";
import { bandTable } from "../parts/bands.js";
import { change, store } from "../store.js";
import { t } from "../texts.js";
import { levelNames } from "./home.js";

/** The reason of the risk level: each exposure with its day, minutes per distance and score. */
export const why = {
  name: "why",
  title: "why.title",
  isLive: true,
  async render() {
    const { exposures } = await request(1001);
    return el("div", { class: "narrow" }, backLink("/", t("home.title")),
      heading(t("why.title"), el("p", { class: "lead" }, t("why.lead"))),
      exposures.length === 0 && el("p", { class: "card empty" }, t("why.none")),
      exposures.map(exposureCard), privacySwitch(exposures), explanation(),
      card(t("why.next"), {}, el("p", {}, t("why.next.text")),
        linkButton("advice", t("advice.link"), "/advice", { kind: "primary" })));
  },
};

function exposureCard(exposure) {
  const name = levelNames[exposure.riskLevel] ?? "none";
  const title = day(exposure.date);
  return el("section", { class: `card exposure risk-${name}`, "data-exposure": exposure.id },
    el("div", { class: "exposure-head" }, riskShape(exposure.riskLevel),
      el("div", {}, el("h2", {}, title),
        el("p", { class: "muted" }, `${t(`risk.${name}.short`)} · ${daysAgo(exposure.date)}`))),
    isHidden(exposure) ? el("p", {}, t("why.hidden")) : details(exposure, title));
}

function isHidden(exposure) {
  return exposure.hidden || store.state?.hidesDetails;
}

function details(exposure, title) {
  const counted = exposure.normalizedMinutes;
  return [bandTable(exposure, t("why.caption", { day: title })),
    facts([
      [t("why.total"), minutes(exposure.seconds)],
      typeof counted === "number" && [t("why.counted"), minutes(counted * 60)],
      [t("why.score"), number(exposure.score)],
    ])];
}

function privacySwitch(exposures) {
  if (exposures.length === 0) return null;
  const hides = Boolean(store.state?.hidesDetails);
  return el("p", {}, button("toggle-details", t(hides ? "why.show" : "why.hide"),
    () => change(1010, { hidesDetails: !hides })));
}

function explanation() {
  return el("details", { class: "card" },
    el("summary", { "data-action": "explanation" }, t("why.explanation")), paragraphs("why.explanation"));
}
