// SPDX-License-Identifier: Apache-2.0
/**
 * Creates an element. `attributes` are attributes, `on` holds event listeners, and `checked`,
 * `disabled`, `hidden`, `value` and the like are properties. Children are nodes or text.
 * Text is never parsed as HTML.
 */
export function el(name, attributes = {}, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (key === "on") {
      for (const [event, listener] of Object.entries(value)) node.addEventListener(event, listener);
    } else if (properties.has(key)) {
      node[key] = value;
    } else {
      node.setAttribute(key, value === true ? "" : String(value));
    }
  }
  node.append(...present(children));
  return node;
}

/** Creates an SVG element. */
export function svg(name, attributes = {}, ...children) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, String(value));
  node.append(...present(children));
  return node;
}

/** Returns the children that exist, with nested arrays flattened. */
export function present(children) {
  return children.flat(3).filter((child) => child !== null && child !== undefined && child !== false);
}

const properties = new Set(["checked", "disabled", "hidden", "value", "selected", "open", "srcObject"]);
