// SPDX-License-Identifier: Apache-2.0
import { el } from "../dom.js";
import { icon } from "../icons.js";
import { announce } from "../announce.js";
import { list, t } from "../texts.js";

/** The heading of a screen, which receives the focus when the screen opens. */
export function heading(text, ...more) {
  return el("header", { class: "screen-head" }, el("h1", { tabindex: "-1" }, text), more);
}

/** A link back to a parent screen. */
export function backLink(path, text) {
  return el("a", { class: "back", href: `#${path}`, "data-action": "back" }, icon("back"), text);
}

/** A button. `onClick` may be asynchronous: the button ignores further clicks until it ends. */
export function button(action, text, onClick, { kind = "", symbol, id, describedBy, label } = {}) {
  const node = el("button", {
    type: "button", class: `button ${kind}`, "data-action": action, "data-id": id,
    "aria-describedby": describedBy, "aria-label": label,
  }, symbol && icon(symbol), text && el("span", {}, text));
  node.addEventListener("click", () => runOnce(node, onClick));
  return node;
}

/** Runs a task of a button; the button stays focusable meanwhile. */
export async function runOnce(node, task) {
  if (node.getAttribute("aria-disabled") === "true") return;
  node.setAttribute("aria-disabled", "true");
  try {
    await task();
  } catch (error) {
    announceFailure(error);
  } finally {
    node.removeAttribute("aria-disabled");
  }
}

/** Shows that a message failed, in words. */
export function announceFailure(error) {
  const text = failureText(error);
  announce(text);
  const place = document.querySelector("main .screen-head") ?? document.querySelector("main");
  document.querySelector("main .message-failure")?.remove();
  place.append(el("p", { class: "message message-failure", "data-message": "failure" },
    icon("alert"), text));
}

/** The sentence for a failed message. */
export function failureText(error) {
  return t(error?.isOffline ? "failure.offline" : "failure.message");
}

/** A link that looks like a button. */
export function linkButton(action, text, path, { kind = "", symbol } = {}) {
  return el("a", { class: `button ${kind}`, href: `#${path}`, "data-action": action },
    symbol && icon(symbol), el("span", {}, text));
}

/** A card with a heading of the second level. */
export function card(title, attributes, ...children) {
  return el("section", { class: "card", ...attributes },
    title && el("h2", {}, title), children);
}

/** A row of a menu that leads to another screen. */
export function menuRow(action, symbol, title, text, path) {
  return el("li", {}, el("a", { class: "row", href: `#${path}`, "data-action": action },
    icon(symbol), el("span", { class: "row-text" }, el("span", { class: "row-title" }, title),
      text && el("span", { class: "muted" }, text)), icon("chevron")));
}

/** The numbered texts of a key as a list with ticks, which say that each is good. */
export function checklist(key) {
  return marked(key, {}, "checklist", "check");
}

/** The numbered texts of a key as a list with dots: for advice, risks and mixed facts. */
export function bullets(key, values) {
  return marked(key, values, "checklist bullets", "dot");
}

function marked(key, values, name, symbol) {
  return el("ul", { class: name },
    list(key, values).map((text) => el("li", {}, icon(symbol), el("span", {}, text))));
}

/** The numbered texts of a key as paragraphs. */
export function paragraphs(key) {
  return list(key).map((text) => el("p", {}, text));
}

/** A list of terms and their values. */
export function facts(pairs) {
  return el("dl", { class: "facts" }, pairs.filter(Boolean).map(([term, value]) =>
    el("div", {}, el("dt", {}, term), el("dd", {}, value))));
}
