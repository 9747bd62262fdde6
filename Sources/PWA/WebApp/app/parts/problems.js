// SPDX-License-Identifier: Apache-2.0
import { el } from "../dom.js";
import { announce } from "../announce.js";
import { confirm } from "../dialog.js";
import { icon } from "../icons.js";
import { hasText, t } from "../texts.js";
import { change, refreshState, setNotificationsOn } from "../store.js";
import { announceFailure, button, linkButton } from "./basics.js";
import { resultTitle } from "./share-draft.js";

/** The problems of the phone as cards, the most serious first, each with one action. */
export function problemCards(state, checkNow) {
  return problems(state, checkNow).map((problem) => el("section", {
    class: `card problem ${problem.tone ?? ""}`, "data-problem": problem.name,
  },
  icon(problem.symbol ?? "alert"),
  el("div", {}, el("h2", {}, problem.title), el("p", {}, problem.text), problem.action)));
}

function problems(state, checkNow) {
  const found = [
    storageProblem(state, checkNow), uploadResult(state), ...state.damaged.map((kind) => damage(kind, checkNow)),
    consentProblem(state), clockProblem(state, checkNow), bluetoothProblem(state), unfinishedUpload(state), pause(state),
    configurationProblem(state, checkNow), checkProblem(state, checkNow),
  ];
  return found.filter(Boolean);
}

function storageProblem({ storage }, checkNow) {
  if (storage === "ready") return null;
  const text = hasText(`storage.${storage}`) ? t(`storage.${storage}`) : t("storage.damaged");
  const action = storage === "unreadable"
    ? button("check-storage", t("action.tryAgain"), checkNow, { kind: "primary" })
    : button("start-over", t("storage.startOver"), startOver, { kind: "primary" });
  return { name: "storage", title: t("storage.title"), text, action };
}

/** Sets the damaged data aside. Keys and received identifiers of the phone stay. */
async function startOver() {
  const isSure = await confirm({
    title: t("storage.startOver"), text: t("storage.startOver.text"), confirmText: t("storage.startOver"),
  });
  if (!isSure) return;
  try {
    await change(1008, { what: "damaged" });
    announce(t("storage.startedOver"));
  } catch (error) {
    announceFailure(error);
  }
}

/** The result of an upload whose page was left. */
function uploadResult({ lastUpload }) {
  if (!lastUpload) return null;
  return {
    name: "upload-result", symbol: lastUpload.result === 1 ? "info" : "alert", tone: "calm",
    title: t(resultTitle(lastUpload)),
    text: t("result.arrived"),
    action: linkButton("upload-result", t("result.title"), "/share/result", { kind: "primary" }),
  };
}

function damage(kind, checkNow) {
  const key = `damage.${kind}`;
  return {
    name: `damage-${kind}`, tone: "calm", title: t("damage.title"),
    text: hasText(key) ? t(key) : t("damage.settings"),
    action: kind === "upload"
      ? linkButton("damage-share", t("home.enterPIN"), "/share")
      : button("damage-check", t("home.checkNow"), checkNow, { id: kind }),
  };
}

function consentProblem(state) {
  if (state.permissionUnreadable) {
    return {
      name: "permission", title: t("problem.permission.title"), text: t("problem.permission.text"),
      action: button("read-permission", t("action.tryAgain"), refreshState, { kind: "primary" }),
    };
  }
  if (!state.supported) {
    return {
      name: "unsupported", title: t("problem.unsupported.title"), text: t("problem.unsupported.text"),
      action: linkButton("problem-support", t("support.title"), "/support"),
    };
  }
  if ((state.enabled && state.authorized) || state.storage !== "ready") return null;
  return {
    name: "off", title: t("problem.off.title"), text: t("problem.off.text"),
    action: button("turn-on", t("action.turnOn"),
      () => setNotificationsOn(true), { kind: "primary" }),
  };
}

function bluetoothProblem(state) {
  if (state.bluetooth || !state.enabled || !state.supported) return null;
  if (state.radio === "none") {
    return {
      name: "radio", title: t("problem.radio.title"), text: t("problem.radio.text"),
      action: linkButton("problem-support", t("support.title"), "/support"),
    };
  }
  return {
    name: "bluetooth", title: t("notice.bluetooth-off.title"),
    text: `${t("notice.bluetooth-off.body")} ${t("problem.bluetooth.action")}`,
    action: linkButton("problem-support", t("support.title"), "/support"),
  };
}

function unfinishedUpload(state) {
  if (!state.pendingUpload || state.upload) return null;
  return {
    name: "upload", symbol: "send", tone: "calm", title: t("unfinished.title"), text: t("unfinished.short"),
    action: linkButton("unfinished", t("unfinished.look"), "/share/unfinished", { kind: "primary" }),
  };
}

/** The clock stays wrong although a later check fails for another reason. */
function clockProblem(state, checkNow) {
  if (!state.clockWrong) return null;
  return {
    name: "clock", title: t("notice.clock-wrong.title"), text: t("notice.clock-wrong.body"),
    action: button("check-again", t("problem.check.action"), checkNow, { id: "clock" }),
  };
}

/** A pause may be seen only by a wrong clock; then the check says so. */
function pause(state) {
  if (!state.paused || state.lastFailure === "clockWrong") return null;
  return {
    name: "paused", symbol: "info", tone: "calm", title: t("problem.paused.title"),
    text: t("problem.paused.text"), action: linkButton("problem-support", t("support.title"), "/support"),
  };
}

function configurationProblem(state, checkNow) {
  // A wrong clock makes a valid document seem expired.
  if (!state.configurationRefused || state.clockWrong) return null;
  return {
    name: "configuration", title: t("problem.configuration.title"), text: t("problem.configuration.text"),
    action: button("check-configuration", t("action.tryAgain"), checkNow),
  };
}

/** A failed check is a problem only while nothing else on the screen explains it. */
function checkProblem(state, checkNow) {
  const explained = ["notAuthorized", "notEnabled", "storageUnavailable"];
  if (!state.lastFailure || explained.includes(state.lastFailure)) return null;
  if (state.lastFailure === "notConfigured" && state.configurationRefused) return null;
  if (state.clockWrong && state.lastFailure === "clockWrong") return null;
  const key = `failure.check.${state.lastFailure}`;
  return {
    name: "check", tone: "calm", symbol: "info", title: t("problem.check.title"),
    text: hasText(key) ? t(key) : t("failure.check.detectionFailed"),
    action: button("check-again", t("problem.check.action"), checkNow),
  };
}
