// SPDX-License-Identifier: Apache-2.0
import { announce } from "../announce.js";
import { request } from "../bridge-client.js";
import { el } from "../dom.js";
import { number, relative, time } from "../format.js";
import { riskShape } from "../icons.js";
import { button, card, bullets, facts, linkButton } from "../parts/basics.js";
import { problemCards } from "../parts/problems.js";
import { refreshState, store } from "../store.js";
import { hasText, plural, t } from "../texts.js";

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
    const name = levelNames[state.riskLevel] ?? "unknown";
    return el("div", { class: "home" },
      el("div", { class: "home-main" }, hero(state, name), problemCards(state, checkNow), advice(name)),
      el("div", { class: "home-side" }, pinCard(), checks(state), privacyCard()));
  },
};

function unreachable() {
  return el("div", { class: "narrow" }, el("h1", { tabindex: "-1" }, t("offline.title")),
    el("p", {}, t("offline.unknown")),
    button("reconnect", t("action.tryAgain"), refreshState, { kind: "primary" }));
}

function hero(state, name) {
  return el("section", { class: `hero risk-${name}`, "data-risk": state.riskLevel ?? "unknown" },
    riskShape(state.riskLevel),
    el("div", {},
      el("p", { class: "eyebrow" }, t("home.riskOfTwoWeeks")),
      el("h1", { tabindex: "-1" }, t(`risk.${name}.title`)),
      el("p", { class: "lead" }, t(`risk.${name}.text`)),
      state.exposures > 0 && el("p", { class: "hero-action" },
        linkButton("why", t("why.title"), "/why", { kind: "on-tint", symbol: "help" }),
        el("span", { class: "muted" }, plural("home.encounters", state.exposures)))));
}

function advice(name) {
  return card(t("home.whatToDo"), { "data-part": "advice" }, bullets(`todo.${name}`),
    el("p", {}, el("a", { href: "#/advice", "data-action": "advice" }, t("advice.link"))));
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
      { symbol: "refresh" }));
}

function moment(seconds) {
  return [relative(seconds), el("span", { class: "muted" }, time(seconds))];
}

function privacyCard() {
  return card(t("home.privacy.title"), {}, el("p", {}, t("home.privacy.text")),
    el("p", {}, el("a", { href: "#/traffic", "data-action": "traffic" }, t("traffic.title"))));
}

async function checkNow() {
  announce(t("home.checking"));
  const result = await request(1005);
  await refreshState();
  const failure = `failure.check.${result?.failure}`;
  if (result?.ok) announce(t("home.checked"));
  else announce(hasText(failure) ? t(failure) : t("problem.check.title"));
}
