// SPDX-License-Identifier: Apache-2.0
import { el } from "../dom.js";
import { request } from "../bridge-client.js";
import { riskShape } from "../icons.js";
import { bullets, button, checklist, heading, linkButton, paragraphs } from "../parts/basics.js";
import { select } from "../parts/form.js";
import { postponed, resetOnboarding, skipOnboarding } from "../onboarding-guard.js";
import { go } from "../router.js";
import { change, store } from "../store.js";
import { language, languages, t } from "../texts.js";
import { chooseLanguage } from "./settings.js";

/** The steps of the first start. */
export const onboarding = {
  "/welcome": {
    name: "welcome",
    title: "welcome.title",
    isLive: true,
    render: () => step(1, t("welcome.title"), [
      el("p", { class: "lead" }, t("welcome.lead")), paragraphs("welcome.text"),
      select("language", {
        title: t("settings.language"), chosen: language(), change: chooseLanguage,
        options: Object.entries(languages).map(([tag, name]) => [tag, name, tag]),
      }),
    ], [linkButton("next", t("action.next"), "/how", { kind: "primary" })]),
  },
  "/how": {
    name: "how",
    title: "how.title",
    render: () => step(2, t("how.title"), [steps("how.step"), el("p", { class: "muted" }, t("how.note"))],
      [linkButton("next", t("action.next"), "/consent", { kind: "primary" }),
        linkButton("back", t("action.back"), "/welcome")]),
  },
  "/consent": {
    name: "consent",
    title: "consent.title",
    render: () => step(3, t("consent.title"), [
      el("p", { class: "lead" }, t("consent.lead")), checklist("consent.point"),
      el("p", {}, el("a", { href: "#/privacy", "data-action": "privacy" }, t("privacy.title"))),
    ], [button("agree", t("consent.agree"), agree, { kind: "primary" }),
      button("decline", t("action.notNow"), decline)]),
  },
  "/second-chance": {
    name: "second-chance",
    title: "second.title",
    render: () => step(3, t("second.title"), [
      el("p", { class: "lead" }, t("second.lead")), bullets("second.point"),
    ], [button("agree", t("consent.agree"), agree, { kind: "primary" }),
      button("skip-consent", t("second.skip"), skip)]),
  },
  "/ready": {
    name: "ready",
    title: "ready.title",
    isLive: true,
    render: () => step(4, t("ready.title"), [
      el("div", { class: "risk-none ready-shape" }, riskShape(0)),
      el("p", { class: "lead" }, t("ready.lead")), bullets("ready.point"),
    ], [button("finish", t("ready.finish"), finish, { kind: "primary" }),
      !store.state?.notifications && button("notifications", t("ready.notifications"),
        () => change(1010, { notifications: true }))]),
  },
};

function step(number, title, content, actions) {
  return el("div", { class: "narrow onboarding" },
    el("p", { class: "eyebrow" }, t("onboarding.step", { number, total: 4 })),
    heading(title), content, el("div", { class: "actions" }, actions));
}

function steps(key) {
  return el("ol", { class: "steps" }, [1, 2, 3, 4].map((number) =>
    el("li", {}, el("strong", {}, t(`${key}.${number}.title`)), el("p", {}, t(`${key}.${number}.text`)))));
}

/** The language in which the owner has read the pages is that of the phone's notices. */
async function keepLanguage() {
  if (store.state?.language !== language()) await change(1010, { language: language() });
}

async function agree() {
  await keepLanguage();
  await change(1004, { step: "consent" });
  const { onboarding: reached, enabled } = store.state;
  if (reached === "declined" || (!enabled && reached === "new")) return go("/second-chance");
  return go(reached === "finished" ? "/" : "/ready");
}

async function decline() {
  await keepLanguage();
  await change(1004, { step: "decline" });
  go("/second-chance");
}

function skip() {
  skipOnboarding();
  go("/");
}

async function finish() {
  await request(1004, { step: "finish" });
  const path = postponed.path ?? "/";
  postponed.path = null;
  skipOnboarding();
  await change(1000);
  if (store.state.onboarding === "finished") resetOnboarding();
  go(path);
}
