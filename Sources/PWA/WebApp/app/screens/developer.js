// SPDX-License-Identifier: Apache-2.0
import { el } from "../dom.js";
import { request } from "../bridge-client.js";
import { announce } from "../announce.js";
import { resetOnboarding } from "../onboarding-guard.js";
import { backLink, button, card, heading } from "../parts/basics.js";
import { refreshState, store } from "../store.js";
import { t } from "../texts.js";

/** The actions of message 1012, in the order of the menu. */
const actions = ["detectNow", "simulateExposure", "simulateFailure", "resetExposures", "resetOnboarding",
  "resetCursor", "showKeys", "showConfiguration"];

/** The developer menu. It exists only if the phone process was started with `--developer`. */
export const developer = {
  name: "developer",
  title: "developer.title",
  render() {
    if (!store.state?.developer) {
      return el("div", { class: "narrow" }, backLink("/more", t("more.title")),
        heading(t("developer.title"), el("p", {}, t("developer.off"))));
    }
    const output = el("pre", {
      class: "output", tabindex: "0", role: "region", "aria-label": t("developer.output"), "data-part": "output",
    });
    return el("div", { class: "narrow" }, backLink("/more", t("more.title")),
      heading(t("developer.title"), el("p", { class: "lead" }, t("developer.lead"))),
      el("div", { class: "developer-actions" }, actions.map((action) =>
        button(`developer-${action}`, t(`developer.${action}`), () => run(action, output)))),
      card(t("developer.output"), {}, output));
  },
};

async function run(action, output) {
  try {
    output.textContent = (await request(1012, { action })).text;
  } catch (error) {
    output.textContent = error.message;
  }
  if (action === "resetOnboarding") resetOnboarding();
  announce(t("developer.done"));
  await refreshState();
}
