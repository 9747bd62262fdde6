// SPDX-License-Identifier: Apache-2.0
/** Creates an element. `on` holds event listeners; text is never parsed as HTML. */
export function el(name, attributes = {}, ...children) {
  return fill(document.createElement(name), attributes, children);
}

/** Creates an SVG element. */
export function svg(name, attributes = {}, ...children) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);
}

let presses = 0;
let isPressed = false;
/** What was to be drawn while a pointer was pressed: a control that is replaced meanwhile would not be clicked. */
const postponed = new Map();

addEventListener("pointerdown", (event) => {
  if (event.button !== 0) return;
  presses += 1;
  isPressed = true;
}, true);
for (const name of ["pointerup", "pointercancel"]) addEventListener(name, release, true);
// A release that the page does not see: a menu was open, or another button was still pressed.
addEventListener("pointermove", (event) => {
  if (isPressed && (event.buttons & 1) === 0) release();
}, true);

/** Draws what was postponed, after the click that follows the release. */
function release() {
  const press = presses;
  setTimeout(() => {
    if (press !== presses) return;
    isPressed = false;
    for (const [node, children] of postponed) replace(node, ...children);
    postponed.clear();
  });
}

/** Replaces the children of `node` if their text or structure has changed, and keeps the focus. */
export function replace(node, ...children) {
  if (isPressed) {
    postponed.set(node, children);
    return;
  }
  const next = document.createElement("div");
  next.append(...children.flat(3).filter(Boolean));
  if (node.dataset.drawn === next.innerHTML) return;
  node.dataset.drawn = next.innerHTML;
  const focused = node.contains(document.activeElement) ? document.activeElement.dataset.key : null;
  node.replaceChildren(...next.childNodes);
  if (focused) node.querySelector(`[data-key="${CSS.escape(focused)}"]`)?.focus();
}

/** Creates a button; `key` finds it again after the section was drawn again. */
export function button(key, label, press, attributes = {}) {
  return el("button", { type: "button", "data-key": key, on: { click: press }, ...attributes }, label);
}

function fill(node, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (key === "on") {
      for (const [event, listener] of Object.entries(value)) node.addEventListener(event, listener);
    } else {
      node.setAttribute(key, value === true ? "" : String(value));
    }
  }
  node.append(...children.flat(3).filter((child) => child || child === 0));
  return node;
}
