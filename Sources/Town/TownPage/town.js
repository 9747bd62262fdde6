// SPDX-License-Identifier: Apache-2.0
import { follow, onProblem, redraw, start } from "./api.js";
import { drawClock } from "./clock.js";
import { el, replace } from "./dom.js";
import { drawFeed } from "./feed.js";
import { drawMap } from "./map.js";
import { drawPeople } from "./people.js";
import { language, languages, loadTexts, t } from "./texts.js";
import { drawTour } from "./tour.js";

const byID = (id) => document.getElementById(id);

function drawLinks(state) {
  const names = ["verification", "keys", "console"].filter((name) => state.links[name]);
  replace(byID("links"),
    el("h2", { id: "links-title" }, t("links.title")),
    el("ul", {}, names.map((name) => el("li", {},
      `${t(`links.${name}`)}: `,
      // The servers have no pages, the console has.
      name === "console"
        ? el("a", { href: state.links[name], target: "_blank", rel: "noopener" }, state.links[name])
        : el("code", {}, state.links[name])))));
}

function drawFrame() {
  for (const node of document.querySelectorAll("[data-text]")) node.textContent = t(node.dataset.text);
  document.title = t("document");
}

const menu = byID("language");
menu.append(...Object.entries(languages).map(([tag, name]) => el("option", { value: tag, lang: tag }, name)));
menu.addEventListener("change", async () => {
  await loadTexts(menu.value);
  drawFrame();
  redraw();
});

onProblem((sentence) => {
  const node = byID("problem");
  node.hidden = sentence === null;
  node.textContent = sentence === "gone" ? t("gone") : sentence ?? "";
});

await loadTexts();
menu.value = language();
drawFrame();
for (const [id, draw] of Object.entries({
  tour: drawTour, clock: drawClock, map: drawMap, people: drawPeople, feed: drawFeed, links: drawLinks,
})) follow((state) => draw(state, byID(id)));
follow(() => byID("main").removeAttribute("aria-busy"));
start();
