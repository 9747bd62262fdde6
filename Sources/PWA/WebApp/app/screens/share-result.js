// SPDX-License-Identifier: Apache-2.0
import { el } from "../dom.js";
import { icon, riskShape } from "../icons.js";
import { confirm } from "../dialog.js";
import { request } from "../bridge-client.js";
import { announce } from "../announce.js";
import { time } from "../format.js";
import { button, card, bullets, heading, linkButton } from "../parts/basics.js";
import { followingDays } from "../parts/following-days.js";
import { draft, forgetDraft, resultTitle } from "../parts/share-draft.js";
import { isPIN } from "../parts/pin.js";
import { go, replace } from "../router.js";
import { refreshState, store } from "../store.js";
import { hasText, list, t } from "../texts.js";
import { ownAdvice, reportedTest } from "./home.js";
import { sendKeys, upload } from "./share-review.js";

/** Failures after which the same PIN can be used again. */
const repeatable = new Set(["paused", "keysUnreadable", "systemFailed", "noDeviceToken", "serverBusy", "noInternet",
  "stopped", "storage", "alreadyRunning", "notAgreed", "clockWrong", "offline", "message"]);
/** Failures after which the PIN must be entered again. */
const otherPIN = new Set(["invalidPIN", "pinRefused", "pinUsed", "uploadRefused"]);

/** The result of an upload. */
export const shareResult = {
  name: "share-result",
  title: "result.title",
  isLive: true,
  render() {
    // The phone keeps a result until it was shown. It may be that of a later upload, on another page or by a command.
    const result = store.state?.lastUpload ?? draft.result;
    if (!result) return nothing();
    draft.result = result;
    if (store.state?.lastUpload) request(1007, { action: "seen" }).catch(() => {});
    return result.result === 1 ? success() : failure(result);
  },
  leave() {
    if (draft.result?.result === 1) forgetDraft();
  },
};

/** An upload that was interrupted: to be continued or forgotten. */
export const shareUnfinished = {
  name: "share-unfinished",
  title: "unfinished.title",
  isLive: true,
  render() {
    if (store.state?.upload) return replace("/share/progress");
    if (!store.state?.pendingUpload) return nothing();
    return el("div", { class: "narrow" },
      heading(t("unfinished.title"), el("p", { class: "lead" }, t("unfinished.text"))),
      el("div", { class: "actions" },
        button("continue-upload", t("unfinished.continue"), resume, { kind: "primary", symbol: "send" }),
        button("forget-upload", t("unfinished.forget"), forget, { symbol: "trash" })),
      el("p", { class: "muted" }, t("unfinished.note")));
  },
};

function success() {
  return el("div", { class: "narrow", "data-result": "1" },
    el("div", { class: "risk-none ready-shape" }, riskShape(0)),
    heading(t("result.done.title"), el("p", { class: "lead" }, t("result.done.text"))),
    followingDays(store.state),
    card(t("result.next"), {}, reportedTest(store.state) ? ownAdvice(store.state) : bullets("advice.positive")),
    el("div", { class: "actions" }, linkButton("home", t("action.home"), "/", { kind: "primary" }),
      linkButton("traffic", t("traffic.title"), "/traffic")));
}

function failure({ result, reason, until }) {
  const name = reason ?? (result === 4 ? "noInternet" : "message");
  const key = `failure.upload.${name}`;
  return el("div", { class: "narrow", "data-result": result, "data-reason": name },
    heading(t(resultTitle({ result, reason }))),
    el("div", { class: "card problem" }, icon(name === "locked" ? "lock" : "alert"),
      el("div", {}, el("p", { class: "lead" }, hasText(key) ? t(key) : t("failure.upload.message")),
        name !== "pinUsed" && el("p", {}, t("result.failed.text")), name === "locked" && lockDetails(until))),
    el("div", { class: "actions" }, nextAction(name), linkButton("home", t("action.home"), "/")),
    el("p", {}, el("a", { href: "#/support", "data-action": "support" }, t("support.title"))));
}

function lockDetails(until) {
  return [typeof until === "number" && el("p", {}, el("strong", {}, t("lock.until", { time: time(until) }))),
    el("p", {}, t("lock.rule")), el("ul", {}, list("lock.limit").map((text) => el("li", {}, text)))];
}

function nextAction(name) {
  if (name === "locked") return null;
  if (otherPIN.has(name)) {
    return button("other-pin", t("result.otherPIN"), () => {
      draft.pin = "";
      go("/share");
    }, { kind: "primary" });
  }
  if (name === "notEnabled") return linkButton("settings", t("settings.title"), "/settings", { kind: "primary" });
  if (!repeatable.has(name)) return null;
  return button("try-again", t("action.tryAgain"), async () => {
    await refreshState();
    if (store.state?.pendingUpload) return resume();
    return isPIN(draft.pin) && draft.hasAgreed ? sendKeys() : replace("/share");
  }, { kind: "primary" });
}

function nothing() {
  return el("div", { class: "narrow" }, heading(t("result.title"), el("p", {}, t("result.nothing"))),
    linkButton("home", t("action.home"), "/", { kind: "primary" }));
}

function resume() {
  upload(1007, { action: "continue" });
  return replace("/share/progress");
}

async function forget() {
  const isSure = await confirm({
    title: t("unfinished.forget"), text: t("unfinished.forget.text"), confirmText: t("unfinished.forget"),
  });
  if (!isSure) return;
  const { reason } = await request(1007, { action: "forget" });
  await refreshState();
  // Another page has begun an upload.
  if (reason) return replace("/share/progress");
  forgetDraft();
  announce(t("unfinished.forgotten"));
  go("/");
}
