// SPDX-License-Identifier: Apache-2.0
import { el } from "../dom.js";
import { announce } from "../announce.js";
import { calendarDay, calendarDaysAgo, lastDays } from "../format.js";
import { backLink, button, card, bullets, heading, linkButton } from "../parts/basics.js";
import { checkbox, choices, select } from "../parts/form.js";
import { draft, forgetDraft } from "../parts/share-draft.js";
import { isPIN } from "../parts/pin.js";
import { go } from "../router.js";
import { t } from "../texts.js";

/** The number of days that can be chosen: keys are at most fourteen days old. */
const dayCount = 15;

/** The step that asks for the day of the test or of the first symptoms. */
export const shareDate = {
  name: "share-date",
  title: "date.title",
  render() {
    if (!isPIN(draft.pin)) return lostPIN("date.title");
    const days = lastDays(dayCount);
    draft.day ??= days[0];
    const error = el("p", { class: "field-error", id: "date-error", hidden: true, "data-message": "date-error" });
    const chooser = el("div", { hidden: !draft.kind || draft.kind === "none" }, select("day", {
      title: t("date.day"), chosen: draft.day,
      options: days.map((value) => [value, `${calendarDay(value)} (${calendarDaysAgo(value)})`]),
      change: (value) => { draft.day = value; },
    }));
    return stepPage(2, "date.title", "/share", t("share.title"),
      el("p", { class: "lead" }, t("date.lead")),
      el("div", { class: "card" }, choices("date", {
        legend: t("date.question"), chosen: draft.kind,
        options: ["symptoms", "test", "none"].map((value) =>
          ({ value, title: t(`date.${value}`), text: t(`date.${value}.text`) })),
        change: (value) => {
          draft.kind = value;
          chooser.hidden = value === "none";
          error.hidden = true;
        },
      }), chooser, error),
      el("div", { class: "actions" }, button("continue", t("action.next"), () => {
        if (draft.kind) return go("/share/consent");
        error.textContent = t("date.missing");
        error.hidden = false;
        announce(error.textContent);
        document.querySelector("main input[type=radio]").focus();
      }, { kind: "primary" })));
  },
};

/** The step that asks for consent. */
export const shareConsent = {
  name: "share-consent",
  title: "agree.title",
  render() {
    if (!isPIN(draft.pin)) return lostPIN("agree.title");
    return stepPage(3, "agree.title", "/share/date", t("date.title"),
      el("p", { class: "lead" }, t("agree.lead")),
      card(t("agree.what"), {}, bullets("agree.point")),
      el("div", { class: "card" }, checkbox("abroad", {
        title: t("agree.abroad"), text: t("agree.abroad.text"), isOn: draft.isAbroad,
        change: (isOn) => { draft.isAbroad = isOn; },
      })),
      el("div", { class: "actions" },
        button("agree", t("agree.yes"), () => {
          draft.hasAgreed = true;
          go("/share/review");
        }, { kind: "primary" }),
        button("refuse", t("agree.no"), () => {
          forgetDraft();
          go("/share/refused");
        })));
  },
};

/** The screen after a refused consent. */
export const shareRefused = {
  name: "share-refused",
  title: "refused.title",
  render: () => el("div", { class: "narrow" },
    heading(t("refused.title"), el("p", { class: "lead" }, t("refused.text"))),
    el("div", { class: "actions" }, linkButton("home", t("action.home"), "/", { kind: "primary" }),
      linkButton("share-again", t("refused.again"), "/share"))),
};

/** A page of the four steps, with the place in them and the way back. */
export function stepPage(number, title, backPath, backText, ...content) {
  return el("div", { class: "narrow" }, backLink(backPath, backText),
    el("p", { class: "eyebrow" }, t("onboarding.step", { number, total: 4 })),
    heading(t(title)), content);
}

/** The page in place of a step if the page was loaded again and the PIN is no longer known. */
export function lostPIN(title) {
  return el("div", { class: "narrow" }, heading(t(title), el("p", {}, t("share.lost"))),
    linkButton("share-again", t("home.enterPIN"), "/share", { kind: "primary" }));
}
