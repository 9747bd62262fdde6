// SPDX-License-Identifier: Apache-2.0
import { el } from "./dom.js";
import { icon } from "./icons.js";
import { store } from "./store.js";
import { hasText, t } from "./texts.js";

const tabs = [
  { name: "home", path: "/", icon: "home", paths: "/" },
  { name: "share", path: "/share", icon: "share", paths: "/share" },
  { name: "history", path: "/history", icon: "history", paths: "/history" },
  {
    name: "more", path: "/more", icon: "more",
    paths: "/more /settings /delete /traffic /privacy /glossary /support /about /developer",
  },
];

/** Draws what surrounds each screen: the tabs, the link past them, and the banner. */
export function drawFrame() {
  const skip = document.getElementById("skip");
  if (hasText("app.skip")) skip.textContent = t("app.skip");
  skip.onclick = (event) => {
    event.preventDefault();
    document.querySelector("main h1")?.focus();
  };
  drawTabs();
  drawBanner();
}

function drawTabs() {
  const place = document.getElementById("navigation");
  place.setAttribute("aria-label", t("app.navigation"));
  const label = tabs.map((tab) => t(`tab.${tab.name}`)).join();
  if (place.dataset.label === label) return;
  place.dataset.label = label;
  const current = place.querySelector("[aria-current]")?.dataset.action;
  place.replaceChildren(...tabs.map((tab) => {
    const action = `tab-${tab.name}`;
    return el("a", {
      class: "tab", href: `#${tab.path}`, "data-action": action, "data-paths": tab.paths,
      "aria-current": action === current ? "page" : null,
    }, icon(tab.icon), el("span", {}, t(`tab.${tab.name}`)));
  }));
}

function drawBanner() {
  const place = document.getElementById("banner");
  const isShown = place.childElementCount > 0;
  if (store.isConnected === !isShown) return;
  if (store.isConnected) place.replaceChildren();
  else {
    place.replaceChildren(el("p", { class: "banner", "data-banner": "offline" },
      icon("offline"), el("span", {}, el("strong", {}, t("offline.title")), " ", t("offline.text"))));
  }
}
