// SPDX-License-Identifier: Apache-2.0
import { drawUnpressed } from "./pointer-guard.js";

/** Creates an element. `on` holds event listeners; text is never parsed as HTML. */
export function el(name, attributes = {}, ...children) {
  return fill(document.createElement(name), attributes, children);
}

/** Creates an SVG element. */
export function svg(name, attributes = {}, ...children) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);
}

/**
 * Replaces the children of `node` if their text or structure has changed, and keeps the focus. While a pointer is
 * pressed, it waits.
 */
export function replace(node, ...children) {
  drawUnpressed(node, () => draw(node, children));
}

function draw(node, children) {
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
