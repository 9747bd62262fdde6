// SPDX-License-Identifier: Apache-2.0
import { el } from "../dom.js";
import { request } from "../bridge-client.js";
import { calendarDay, number, utcDay } from "../format.js";
import { button, card, facts, heading, linkButton } from "../parts/basics.js";
import { draft, draftDate } from "../parts/share-draft.js";
import { grouped, isPIN } from "../parts/pin.js";
import { replace } from "../router.js";
import { refreshState, store } from "../store.js";
import { plural, t } from "../texts.js";
import { lostPIN, stepPage } from "./share-steps.js";

/** The last step: everything that would be sent, and to which server. */
export const shareReview = {
  name: "share-review",
  title: "review.title",
  async render() {
    if (!isPIN(draft.pin) || !draft.hasAgreed) return lostPIN("review.title");
    const preview = await request(1011, { pin: draft.pin, date: draftDate() });
    return stepPage(4, "review.title", "/share/consent", t("agree.title"),
      el("p", { class: "lead" }, t("review.lead")), answers(), sent(preview),
      el("div", { class: "actions" },
        button("send", t("review.send"), sendKeys, { kind: "primary", symbol: "send" }),
        linkButton("home", t("action.cancel"), "/")));
  },
};

/** Starts the upload. Only the button does: an address that is opened again must not use up a PIN. */
export function sendKeys() {
  upload(1006, { pin: draft.pin, isInteroperabilityEnabled: draft.isAbroad, date: draftDate() });
  return replace("/share/progress");
}

/** The progress of the upload that is running, also one that began before the page was loaded. */
export const shareProgress = {
  name: "share-progress",
  title: "progress.title",
  isLive: true,
  render() {
    if (!isRunning && !store.state?.upload) {
      // The result of an upload that failed says why, also if the phone will continue it.
      if (store.state?.lastUpload) return replace("/share/result");
      if (store.state?.pendingUpload) return replace("/share/unfinished");
      return draft.result ? replace("/share/result") : lostPIN("progress.title");
    }
    const stage = store.state?.upload ?? "requestingToken";
    return el("div", { class: "narrow" },
      heading(t("progress.title"), el("p", { class: "lead" }, t("progress.text"))),
      el("div", { class: "card", role: "status", "data-stage": stage },
        el("progress", { class: "progress", "aria-label": t("progress.title") }),
        el("p", {}, t(`progress.${stage}`))));
  },
};

let isRunning = false;

/** Sends an upload or continues one, and shows its result. */
export async function upload(type, data) {
  isRunning = true;
  draft.result = null;
  // The phone forgets the result of an earlier upload as well.
  if (store.state) store.state.lastUpload = null;
  try {
    draft.result = await request(type, data);
  } catch (error) {
    const goesOn = error.code === "timeout" && await refreshState() && isKnown(store.state);
    if (!goesOn) draft.result = { result: 2, reason: error.isOffline ? "offline" : "message" };
  }
  isRunning = false;
  if (location.hash === "#/share/progress") replace(draft.result ? "/share/result" : "/share/progress");
}

/** True if the state tells how an upload goes on or how it has ended. */
function isKnown({ upload, pendingUpload, lastUpload }) {
  return Boolean(upload || pendingUpload || lastUpload);
}

function answers() {
  const { kind } = draft;
  return card(t("review.answers"), {}, facts([
    [t("pin.label"), [grouped(draft.pin), change("change-pin", "/share", t("pin.label"))]],
    [t("review.date"), [kind === "none" ? t("date.none") : `${t(`date.${kind}`)}: ${calendarDay(draft.day)}`,
      change("change-date", "/share/date", t("review.date"))]],
    [t("agree.abroad"), [t(draft.isAbroad ? "answer.yes" : "answer.no"),
      change("change-abroad", "/share/consent", t("agree.abroad"))]],
  ]));
}

function change(action, path, name) {
  return el("a", {
    class: "change", href: `#${path}`, "data-action": action,
    "aria-label": `${t("action.change")}: ${name}`,
  }, t("action.change"));
}

function sent(preview) {
  return card(t("review.sent"), { "data-part": "preview" },
    el("p", {}, plural("review.keys", preview.keys.length)),
    facts([[t("review.receiver"), preview.receiver], [t("review.region"), preview.region]]),
    preview.withheldDays.length > 0 && el("p", { "data-part": "withheld" },
      t("review.withheld", { days: preview.withheldDays.map((day) => utcDay(day)).join("; ") })),
    preview.keys.length > 0 && el("details", {},
      el("summary", { "data-action": "keys" }, t("review.details")), keyTable(preview.keys)),
    el("p", { class: "muted" }, t("review.not")));
}

function keyTable(keys) {
  const column = (text) => el("th", { scope: "col" }, text);
  return el("table", {}, el("caption", { class: "visually-hidden" }, t("review.sent")),
    el("thead", {}, el("tr", {}, column(t("review.day")), column(t("review.hours")),
      column(t("review.risk")))),
    el("tbody", {}, keys.map((key) => el("tr", {},
      el("th", { scope: "row" }, utcDay(key.day)),
      el("td", {}, number(key.rollingPeriod / 6, { maximumFractionDigits: 1 })),
      el("td", {}, number(key.transmissionRisk))))));
}
