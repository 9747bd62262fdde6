// SPDX-License-Identifier: Apache-2.0
import { el } from "../dom.js";
import { announce } from "../announce.js";
import { button, card, heading, linkButton } from "../parts/basics.js";
import { draft } from "../parts/share-draft.js";
import { cleaned, format, found, grouped, isPIN } from "../parts/pin.js";
import { qrReader } from "../parts/qr.js";
import { go } from "../router.js";
import { setNotificationsOn, store } from "../store.js";
import { t } from "../texts.js";

/** The entry of a PIN: typed, pasted, from a link or from a QR code. */
export const sharePIN = {
  name: "share",
  title: "share.title",
  render(parameters) {
    takeLink(parameters);
    if (store.state?.upload) return running();
    if (store.state?.pendingUpload) return unfinishedFirst();
    if (store.state && !(store.state.enabled && store.state.authorized)) return notEnabled();
    return el("div", { class: "narrow" },
      heading(t("share.title"), el("p", { class: "lead" }, t("share.lead"))),
      form(), otherWays(), card(t("share.noPIN"), {}, el("p", {}, t("share.noPIN.text")),
        el("p", {}, el("a", { class: "change", href: "#/support", "data-action": "support" }, t("support.title")))));
  },
};

/** Takes the PIN out of the address, so that it does not remain in the browser's history. */
function takeLink(parameters) {
  const pin = parameters.get("pin");
  if (pin === null) return;
  draft.pin = found(`pin=${pin}`) ?? "";
  history.replaceState(null, "", "#/share");
}

function form() {
  const error = el("p", { class: "field-error", id: "pin-error", "data-message": "pin-error", hidden: true });
  const input = el("input", {
    id: "pin", class: "pin", name: "pin", type: "text", value: grouped(draft.pin), autocomplete: "one-time-code",
    autocapitalize: "characters", spellcheck: "false", enterkeyhint: "next", "data-action": "pin",
    "aria-describedby": "pin-help",
  });
  const take = (text) => {
    const pin = found(text);
    if (pin === null) return showError(input, error, t("pin.notFound"));
    input.value = grouped(pin);
    draft.pin = pin;
    return showError(input, error, null);
  };
  input.addEventListener("input", () => {
    format(input);
    draft.pin = cleaned(input.value);
    if (isPIN(draft.pin)) showError(input, error, null);
  });
  input.addEventListener("paste", (event) => {
    event.preventDefault();
    take(event.clipboardData?.getData("text") ?? "");
  });
  return el("form", {
    class: "card", novalidate: true,
    on: {
      submit: (event) => {
        event.preventDefault();
        if (isPIN(draft.pin)) return go("/share/date");
        showError(input, error, t(draft.pin === "" ? "pin.missing" : "pin.wrong"));
        input.focus();
      },
      "pin-found": (event) => {
        take(event.detail);
        if (isPIN(draft.pin)) announce(t("pin.taken"));
        input.focus();
      },
    },
  },
  el("div", { class: "field" }, el("label", { for: "pin" }, t("pin.label")),
    el("p", { class: "muted", id: "pin-help" }, t("pin.help")), input, error),
  el("div", { class: "actions" },
    el("button", { type: "submit", class: "button primary", "data-action": "continue" }, t("action.next")),
    navigator.clipboard?.readText && button("paste", t("pin.paste"), async () => {
      try {
        take(await navigator.clipboard.readText());
      } catch {
        showError(input, error, t("pin.pasteFailed"));
      }
      input.focus();
    }, { symbol: "paste" })));
}

function showError(input, place, text) {
  place.hidden = text === null;
  place.textContent = text ?? "";
  if (text === null) {
    input.removeAttribute("aria-invalid");
    input.setAttribute("aria-describedby", "pin-help");
  } else {
    input.setAttribute("aria-invalid", "true");
    input.setAttribute("aria-describedby", "pin-error pin-help");
    announce(text);
  }
}

function otherWays() {
  return el("details", { class: "card" },
    el("summary", { "data-action": "qr" }, t("qr.title")), el("p", {}, t("qr.text")),
    qrReader((text) => {
      document.querySelector("main form")?.dispatchEvent(new CustomEvent("pin-found", { detail: text }));
    }));
}

function running() {
  return el("div", { class: "narrow" }, heading(t("share.title")),
    card(t("progress.title"), {}, el("p", {}, t("progress.text")),
      linkButton("progress", t("progress.look"), "/share/progress", { kind: "primary" })));
}

function unfinishedFirst() {
  return el("div", { class: "narrow" }, heading(t("share.title")),
    card(t("unfinished.title"), {}, el("p", {}, t("unfinished.short")),
      linkButton("unfinished", t("unfinished.look"), "/share/unfinished", { kind: "primary" })));
}

function notEnabled() {
  return el("div", { class: "narrow" }, heading(t("share.title")),
    card(t("problem.off.title"), {}, el("p", {}, t("failure.upload.notEnabled")),
      button("turn-on", t("action.turnOn"), async () => {
        await setNotificationsOn(true);
        go("/");
      }, { kind: "primary" })));
}
