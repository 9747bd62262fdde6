// SPDX-License-Identifier: Apache-2.0
import { el } from "../dom.js";
import { request } from "../bridge-client.js";
import { backLink, button, card, facts, heading, paragraphs } from "../parts/basics.js";
import { redraw } from "../router.js";
import { store } from "../store.js";
import { t } from "../texts.js";

let installation = null;
window.addEventListener("beforeinstallprompt", (event) => {
  event.preventDefault();
  installation = event;
});

/** The version, the purpose of the app, and its installation. */
export const about = {
  name: "about",
  title: "about.title",
  async render() {
    const version = await request(62).catch(() => null);
    return el("div", { class: "narrow" }, backLink("/more", t("more.title")), heading(t("about.title")),
      el("div", { class: "card" }, el("p", {}, t("about.text")), facts([
        [t("about.version"), version?.appVersion ?? store.state?.version ?? ""],
        [t("about.region"), store.state?.region ?? ""],
      ])),
      installCard(), card(t("about.licence"), {}, el("p", {}, t("about.licence.text")), paragraphs("about")));
  },
};

function installCard() {
  return card(t("about.install"), {}, el("p", {}, t("about.install.text")),
    installation && button("install", t("about.install.action"), async () => {
      await installation.prompt();
      installation = null;
      await redraw();
    }, { kind: "primary" }));
}
