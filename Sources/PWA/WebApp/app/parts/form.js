// SPDX-License-Identifier: Apache-2.0
import { el } from "../dom.js";

/** A switch with a label and an explanation. `change(isOn)` is called when the user flips it. */
export function toggle(action, { title, text, isOn, change }) {
  const id = `toggle-${action}`;
  const input = el("input", {
    type: "checkbox", role: "switch", id, class: "switch", "data-action": action, checked: isOn,
    "aria-describedby": text ? `${id}-text` : null,
    on: { change: () => change(input.checked) },
  });
  return el("div", { class: "toggle" },
    el("div", {}, el("label", { for: id }, title),
      text && el("p", { class: "muted", id: `${id}-text` }, text)),
    input);
}

/** A check box with a label and an explanation. */
export function checkbox(action, { title, text, isOn, change }) {
  const id = `check-${action}`;
  const input = el("input", {
    type: "checkbox", id, "data-action": action, checked: isOn,
    "aria-describedby": text ? `${id}-text` : null,
    on: { change: () => change(input.checked) },
  });
  return el("div", { class: "choice" }, input,
    el("div", {}, el("label", { for: id }, title),
      text && el("p", { class: "muted", id: `${id}-text` }, text)));
}

/** A group of radio buttons. */
export function choices(name, { legend, options, chosen, change }) {
  return el("fieldset", { class: "choices" }, el("legend", {}, legend), options.map((option) => {
    const id = `${name}-${option.value}`;
    return el("div", { class: "choice" },
      el("input", {
        type: "radio", name, id, value: option.value, checked: option.value === chosen,
        "data-action": id, "aria-describedby": option.text ? `${id}-text` : null,
        on: { change: () => change(option.value) },
      }),
      el("div", {}, el("label", { for: id }, option.title),
        option.text && el("p", { class: "muted", id: `${id}-text` }, option.text)));
  }));
}

/** A menu of values with a label. */
export function select(action, { title, text, options, chosen, change }) {
  const id = `select-${action}`;
  const node = el("select", {
    id, "data-action": action, "aria-describedby": text ? `${id}-text` : null,
    on: { change: () => change(node.value) },
  }, options.map(([value, label, lang]) =>
    el("option", { value, lang, selected: value === chosen }, label)));
  return el("div", { class: "field" }, el("label", { for: id }, title),
    text && el("p", { class: "muted", id: `${id}-text` }, text), node);
}
