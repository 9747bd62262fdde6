// SPDX-License-Identifier: Apache-2.0
import { drawUnpressed, isPressed } from "/firebreak/pointer-guard.js";
import { forgetAnnouncement } from "./announce.js";
import { present } from "./dom.js";
import { store } from "./store.js";
import { language, t } from "./texts.js";

let screens = {};
let guard = (path) => path;
let current = null;
let generation = 0;
let shownAddress = null;

/** Shows the screen of the address, and follows the address from then on. */
export function startRouter(table, redirect) {
  screens = table;
  guard = redirect;
  window.addEventListener("hashchange", () => show(true));
  return show(false);
}

/** Goes to a path such as `/share`. */
export function go(path) {
  if (location.hash === `#${path}`) show(true);
  else location.hash = path;
}

/** Goes to a path and leaves no trace of the current one in the browser's history. */
export function replace(path) {
  history.replaceState(null, "", `#${path}`);
  return show(true);
}

/** Draws the current screen again, with its data; the focus stays where it was. */
export function redraw() {
  return show(false, true);
}

/** Draws the current screen again if it shows the state; others keep what was typed. */
export function redrawIfLive() {
  if (guard(address().path, store.state) !== address().path) return show(true);
  return current?.isLive ? redraw() : undefined;
}

function address() {
  const [path, query] = location.hash.slice(1).split("?");
  return { path: path || "/", parameters: new URLSearchParams(query ?? "") };
}

async function show(movesFocus, isSame = false) {
  const { path, parameters } = address();
  const { hash } = location;
  // A change while the user goes to another screen: it is still the first drawing of that screen.
  if (isSame && shownAddress !== null && shownAddress !== hash) return show(true);
  const allowed = guard(path, store.state);
  if (allowed !== path) return replace(allowed);
  const screen = screens[path] ?? screens["/missing"];
  const run = ++generation;
  const main = document.getElementById("main");
  if (!isSame) {
    current?.leave?.();
    forgetAnnouncement();
  }
  main.setAttribute("aria-busy", "true");
  let content;
  try {
    content = await screen.render(parameters);
  } catch (error) {
    content = await screens["/failed"].render(parameters, error);
  }
  if (run !== generation) return;
  if (isSame && isPressed()) {
    main.removeAttribute("aria-busy");
    drawUnpressed(main, () => {
      // The click may have gone to another screen, which is being drawn.
      if (run === generation && shownAddress === location.hash) redraw();
    });
    return;
  }
  const focus = isSame ? focusKey(main) : null;
  const kept = isSame ? keptInputs(main) : [];
  current = screen;
  shownAddress = hash;
  document.documentElement.lang = language();
  main.replaceChildren(...present([content]));
  for (const restore of kept) restore(main);
  main.dataset.screen = screen.name;
  main.removeAttribute("aria-busy");
  document.title = `${t(screen.title)} – Firebreak`;
  markTab(path);
  restoreFocus(main, focus, movesFocus);
}

/** Functions that restore typed texts and opened details after a redraw. */
function keptInputs(main) {
  const typed = [...main.querySelectorAll("input[id]:not([type]), input[id][type=text]")]
    .filter((input) => input.value !== input.defaultValue)
    .map(({ id, value }) => (place) => {
      const input = place.querySelector(`#${CSS.escape(id)}`);
      if (input) input.value = value;
    });
  const opened = [...main.querySelectorAll("details")].map((details, index) => (place) => {
    const same = place.querySelectorAll("details")[index];
    if (same) same.open = details.open;
  });
  return [...typed, ...opened];
}

/** The selector of the focused element of the screen, so that it can be found again after a redraw. */
function focusKey(main) {
  const focused = document.activeElement;
  if (!focused || !main.contains(focused) || focused === main) return null;
  if (focused.id) return `#${CSS.escape(focused.id)}`;
  const action = focused.dataset.action;
  if (!action) return focused.tagName === "H1" ? "h1" : null;
  const id = focused.dataset.id;
  return `[data-action="${CSS.escape(action)}"]${id ? `[data-id="${CSS.escape(id)}"]` : ""}`;
}

function restoreFocus(main, key, movesFocus) {
  if (key) (main.querySelector(key) ?? main.querySelector("h1"))?.focus({ preventScroll: true });
  if (!movesFocus) return;
  window.scrollTo(0, 0);
  main.querySelector("h1")?.focus({ preventScroll: true });
}

function markTab(path) {
  const first = `/${path.split("/")[1]}`;
  for (const tab of document.querySelectorAll("#navigation a")) {
    const paths = tab.dataset.paths.split(" ");
    if (paths.includes(first)) tab.setAttribute("aria-current", "page");
    else tab.removeAttribute("aria-current");
  }
}
