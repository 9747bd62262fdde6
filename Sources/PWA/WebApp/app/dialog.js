// SPDX-License-Identifier: Apache-2.0
import { el } from "./dom.js";
import { t } from "./texts.js";

/** Asks the user to confirm something. Returns `true` only if they pressed the confirming button. */
export function confirm({ title, text, confirmText, isDangerous = true }) {
  return new Promise((resolve) => {
    const close = (answer) => {
      dialog.returnValue = answer;
      dialog.close();
    };
    const dialog = el("dialog", {
      class: "dialog", "data-dialog": "confirm", "aria-labelledby": "dialog-title",
      "aria-describedby": "dialog-text",
      on: {
        close: () => {
          dialog.remove();
          resolve(dialog.returnValue === "yes");
        },
      },
    },
    el("h2", { id: "dialog-title" }, title), el("p", { id: "dialog-text" }, text),
    el("div", { class: "actions" },
      el("button", {
        type: "button", class: `button ${isDangerous ? "danger" : "primary"}`,
        "data-action": "confirm", on: { click: () => close("yes") },
      }, confirmText),
      el("button", {
        type: "button", class: "button", "data-action": "cancel", autofocus: true,
        on: { click: () => close("no") },
      }, t("action.cancel"))));
    document.body.append(dialog);
    dialog.showModal();
  });
}
