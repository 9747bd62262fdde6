import { el } from "../dom.js";
import { send } from "../bridge-client.js";
import { icon } from "../icons.js";
import { hasText, t } from "../texts.js";
import { button, linkButton } from "./basics.js";

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
    storageProblem(state, checkNow), ...state.damaged.map((kind) => damage(kind, checkNow)),
    consentProblem(state), bluetoothProblem(state), unfinishedUpload(state), pause(state),
    configurationProblem(state, checkNow), checkProblem(state, checkNow),
  ];
  return found.filter(Boolean);
}

function storageProblem({ storage }, checkNow) {
  if (storage === "ready") return null;
  const text = hasText(`storage.${storage}`) ? t(`storage.${storage}`) : t("storage.damaged");
  const action = storage === "unreadable"
    ? button("check-storage", t("action.tryAgain"), checkNow, { kind: "primary" })
    : linkButton("start-over", t("storage.startOver"), "/delete", { kind: "primary" });
  return { name: "storage", title: t("storage.title"), text, action };
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
  if (!state.supported) {
    return {
      name: "unsupported", title: t("problem.unsupported.title"), text: t("problem.unsupported.text"),
      action: linkButton("problem-support", t("support.title"), "/support"),
    };
  }
  if (state.enabled && state.authorized) return null;
  return {
    name: "off", title: t("problem.off.title"), text: t("problem.off.text"),
    action: button("turn-on", t("action.turnOn"),
      () => send(52, { enableExposureNotificationService: true }), { kind: "primary" }),
  };
}

function bluetoothProblem(state) {
  if (state.bluetooth || !state.enabled || !state.supported) return null;
  return {
    name: "bluetooth", title: t("notice.bluetooth-off.title"), text: t("notice.bluetooth-off.body"),
    action: button("turn-on-bluetooth", t("problem.bluetooth.action"), () => send(52, { enableBt: true }),
      { kind: "primary" }),
  };
}

function unfinishedUpload(state) {
  if (!state.pendingUpload || state.upload) return null;
  return {
    name: "upload", symbol: "send", tone: "calm", title: t("unfinished.title"), text: t("unfinished.short"),
    action: linkButton("unfinished", t("unfinished.look"), "/share/unfinished", { kind: "primary" }),
  };
}

function pause(state) {
  if (!state.paused) return null;
  return {
    name: "paused", symbol: "info", tone: "calm", title: t("problem.paused.title"),
    text: t("problem.paused.text"), action: linkButton("problem-support", t("support.title"), "/support"),
  };
}

function configurationProblem(state, checkNow) {
  if (!state.configurationRefused) return null;
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
  const key = `failure.check.${state.lastFailure}`;
  return {
    name: "check", tone: "calm", symbol: "info", title: t("problem.check.title"),
    text: hasText(key) ? t(key) : t("failure.check.detectionFailed"),
    action: button("check-again", t("problem.check.action"), checkNow),
  };
}
