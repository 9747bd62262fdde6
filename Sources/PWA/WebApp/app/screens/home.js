// SPDX-License-Identifier: Apache-2.0
import { el } from "../dom.js";
import { dateInSentence, number, relative, time } from "../format.js";
import { riskShape } from "../icons.js";
import { button, card, bullets, facts, linkButton } from "../parts/basics.js";
import { checkNow } from "../parts/check.js";
import { followingDays } from "../parts/following-days.js";
import { problemCards } from "../parts/problems.js";
import { refreshState, store } from "../store.js";
import { plural, t } from "../texts.js";

/** The names of the risk levels in the catalogues. */
export const levelNames = ["none", "low", "medium", "high"];

/** The first screen: the risk, what to do about it, and the checks. */
export const home = {
  name: "home",
  title: "home.title",
  isLive: true,
  render() {
    const { state } = store;
    if (!state) return unreachable();
    return el("div", { class: "home" },
      el("div", { class: "home-main" }, hero(state), problemCards(state, checkNow), followingDays(state),
        advice(state)),
      el("div", { class: "home-side" }, !reportedTest(state) && pinCard(), checks(state), privacyCard()));
  },
};

function unreachable() {
  return el("div", { class: "narrow" }, el("h1", { tabindex: "-1" }, t("offline.title")),
    el("p", {}, t("offline.unknown")),
    button("reconnect", t("action.tryAgain"), refreshState, { kind: "primary" }));
}

/** The name of a state's risk in the catalogues. */
export function riskName(state) {
  return levelNames[state?.riskLevel] ?? "unknown";
}

/** The positive test that the user has reported, during its isolation and for some days after the last sharing. */
export function reportedTest(state) {
  const test = state?.positiveTest;
  return test && (!test.isOver || test.isRecent) ? test : null;
}

/** The texts at the top: those of a reported test, or of the risk, also of encounters below all levels. */
function story(state) {
  const test = reportedTest(state);
  if (test) {
    const day = time(test.shared.at(-1));
    return ["home.reported.eyebrow", "home.reported.title", "home.reported.text"].map((key) => t(key, { day }));
  }
  const isMinor = state.riskLevel === 0 && state.exposures > 0;
  const name = isMinor ? "minor" : riskName(state);
  return ["home.riskOfTwoWeeks", `risk.${name}.title`, `risk.${name}.text`].map((key) => t(key));
}

function hero(state) {
  const test = reportedTest(state);
  const [eyebrow, title, text] = story(state);
  const shape = test ? "unknown" : riskName(state);
  return el("section", {
    class: `hero risk-${shape}`, "data-risk": state.riskLevel ?? "unknown", "data-reported": test ? "yes" : null,
  },
    riskShape(test ? "reported" : state.riskLevel),
    el("div", {},
      el("p", { class: "eyebrow" }, eyebrow),
      el("h1", { tabindex: "-1" }, title),
      el("p", { class: "lead" }, text),
      state.exposures > 0 && el("p", { class: "hero-action" },
        linkButton("why", t("why.title"), "/why", { kind: "on-tint", symbol: "help" }),
        el("span", { class: "muted" }, plural("home.encounters", state.exposures)))));
}

function advice(state) {
  return card(t("home.whatToDo"), { "data-part": "advice" }, ownAdvice(state),
    el("p", {}, el("a", { href: "#/advice", "data-action": "advice" }, t("advice.link"))));
}

/** What the user should do now, and until when. */
export function ownAdvice(state) {
  const test = reportedTest(state);
  if (test) {
    const until = dateInSentence(test.until);
    return test.isOver
      ? el("p", { "data-part": "until" }, t("advice.reportedOver", { until })) : bullets("todo.reported", { until });
  }
  const until = state.advice && dateInSentence(state.advice.until);
  if (state.advice?.isOver) return el("p", { "data-part": "until" }, t("advice.over", { until }));
  return [bullets(`todo.${riskName(state)}`),
    until && el("p", { "data-part": "until" }, t("advice.until", { until }))];
}

function pinCard() {
  return el("section", { class: "card pin-card" }, el("h2", {}, t("home.positive.title")),
    el("p", {}, t("home.positive.text")),
    linkButton("enter-pin", t("home.enterPIN"), "/share", { kind: "primary", symbol: "lock" }));
}

function checks(state) {
  const isReady = state.enabled && state.authorized && state.storage === "ready";
  return card(t("home.checks"), { "data-part": "checks" },
    facts([
      [t("home.lastCheck"), state.lastCheck ? moment(state.lastCheck) : t("home.never")],
      isReady && state.nextCheck && [t("home.nextCheck"), moment(state.nextCheck)],
      state.lastCheck && [t("home.keysCompared"), number(state.lastCheckKeys ?? 0)],
    ]),
    isReady && button("check-now", state.checking ? t("home.checking") : t("home.checkNow"), checkNow,
      { symbol: "refresh" }),
    isReady && state.checking && el("p", { class: "muted", "data-part": "check-goes-on" }, t("home.checkGoesOn")));
}

function moment(seconds) {
  return [relative(seconds), el("span", { class: "muted" }, time(seconds))];
}

function privacyCard() {
  return card(t("home.privacy.title"), {}, el("p", {}, t("home.privacy.text")),
    el("p", {}, el("a", { href: "#/traffic", "data-action": "traffic" }, t("traffic.title"))));
}
