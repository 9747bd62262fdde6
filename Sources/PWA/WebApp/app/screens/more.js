// SPDX-License-Identifier: Apache-2.0
import { el } from "../dom.js";
import { heading, menuRow } from "../parts/basics.js";
import { store } from "../store.js";
import { t } from "../texts.js";

/** The menu of all other screens. */
export const more = {
  name: "more",
  title: "more.title",
  isLive: true,
  render: () => el("div", { class: "narrow" }, heading(t("more.title")),
    menu(row("settings", "settings"), row("traffic", "send"), row("advice", "people")),
    menu(row("privacy", "shield"), row("glossary", "book"), row("support", "help"), row("about", "info")),
    store.state?.developer && menu(row("developer", "tools"))),
};

function menu(...rows) {
  return el("ul", { class: "menu card" }, rows);
}

function row(name, symbol) {
  return menuRow(`open-${name}`, symbol, t(`${name}.title`), t(`more.${name}`), `/${name}`);
}
