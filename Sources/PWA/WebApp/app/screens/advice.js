// SPDX-License-Identifier: Apache-2.0
import { el } from "../dom.js";
import { riskShape } from "../icons.js";
import { backLink, card, bullets, heading, linkButton } from "../parts/basics.js";
import { store } from "../store.js";
import { t } from "../texts.js";
import { levelNames } from "./home.js";

/** The advice for each risk group; the user's own group comes first. */
export const advice = {
  name: "advice",
  title: "advice.title",
  isLive: true,
  render() {
    const level = store.state?.riskLevel;
    const others = [3, 2, 1, 0].filter((other) => other !== level);
    return el("div", { class: "narrow" }, backLink("/", t("home.title")),
      heading(t("advice.title"), el("p", { class: "lead" }, t("advice.lead"))),
      typeof level === "number" && group(level, true),
      card(t("advice.symptoms"), {}, bullets("advice.symptoms")),
      card(t("advice.vulnerable"), {}, bullets("advice.vulnerable")),
      card(t("advice.positive"), {}, bullets("advice.positive"),
        linkButton("enter-pin", t("home.enterPIN"), "/share")),
      el("h2", { class: "section-title" }, t("advice.others")), others.map((other) => group(other, false)));
  },
};

function group(level, isOwn) {
  const name = levelNames[level];
  const content = [
    el("p", {}, t(`risk.${name}.text`)), bullets(`todo.${name}`), bullets(`advice.${name}`),
  ];
  if (isOwn) {
    return el("section", { class: `card own-group risk-${name}` }, el("div", { class: "exposure-head" },
      riskShape(level), el("div", {}, el("p", { class: "eyebrow" }, t("advice.own")),
        el("h2", {}, t(`risk.${name}.short`)))), content);
  }
  return el("details", { class: `card risk-${name}`, "data-group": level },
    el("summary", { "data-action": "group", "data-id": level }, riskShape(level), t(`risk.${name}.short`)), content);
}
