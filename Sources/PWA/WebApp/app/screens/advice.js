// SPDX-License-Identifier: Apache-2.0
import { el } from "../dom.js";
import { riskShape } from "../icons.js";
import { backLink, card, bullets, heading, linkButton } from "../parts/basics.js";
import { store } from "../store.js";
import { t } from "../texts.js";
import { levelNames, ownAdvice, reportedTest } from "./home.js";

/** The advice for each risk group; the user's own group comes first. */
export const advice = {
  name: "advice",
  title: "advice.title",
  isLive: true,
  render() {
    const test = reportedTest(store.state);
    const level = test ? null : store.state?.riskLevel;
    const others = [3, 2, 1, 0].filter((other) => other !== level);
    return el("div", { class: "narrow" }, backLink("/", t("home.title")),
      heading(t("advice.title"), el("p", { class: "lead" }, t("advice.lead"))),
      test && ownGroup("unknown", riskShape("reported"), t("home.reported.eyebrow"), ownAdvice(store.state)),
      typeof level === "number" && ownGroup(levelNames[level], riskShape(level),
        t(`risk.${levelNames[level]}.short`), [
          el("p", {}, t(`risk.${levelNames[level]}.text`)), ownAdvice(store.state),
          bullets(`advice.${levelNames[level]}`),
        ]),
      card(t("advice.symptoms"), {}, bullets("advice.symptoms")),
      card(t("advice.vulnerable"), {}, bullets("advice.vulnerable")),
      card(t("advice.positive"), {}, bullets("advice.positive"), !test && el("p", {}, t("advice.positivePIN")),
        !test && linkButton("enter-pin", t("home.enterPIN"), "/share")),
      el("h2", { class: "section-title" }, t("advice.others")), others.map(group));
  },
};

function ownGroup(name, shape, title, content) {
  return el("section", { class: `card own-group risk-${name}` }, el("div", { class: "exposure-head" },
    shape, el("div", {}, el("p", { class: "eyebrow" }, t("advice.own")), el("h2", {}, title))), content);
}

function group(level) {
  const name = levelNames[level];
  return el("details", { class: `card risk-${name}`, "data-group": level },
    el("summary", { "data-action": "group", "data-id": level }, riskShape(level), t(`risk.${name}.short`)),
    el("p", {}, t(`risk.${name}.text`)), bullets(`todo.${name}`), bullets(`advice.${name}`));
}
