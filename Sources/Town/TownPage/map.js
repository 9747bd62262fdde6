// SPDX-License-Identifier: Apache-2.0
import { send } from "./api.js";
import { el, svg } from "./dom.js";
import { t, title } from "./texts.js";

/** The person under the pointer, who is drawn where the pointer is. */
let dragged = null;
const steps = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

/** Draws the map. It is built once, so that a drag and the focus survive each new state. */
export function drawMap(state, node) {
  const { width, height, range } = state.map;
  if (!node.querySelector("svg")) build(node, width, height);
  const picture = node.querySelector("svg");
  node.querySelector("h2").textContent = t("map.title");
  node.querySelector("p").textContent = t("map.note", { metres: Math.round(range) });
  picture.setAttribute("aria-label", t("map.title"));
  picture.querySelector(".pairs").replaceChildren(...pairs(state));
  state.people.forEach((person, index) => draw(person, index, range, picture));
}

function build(node, width, height) {
  const picture = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "group" },
    svg("g", { class: "pairs" }), svg("g", { class: "people" }));
  node.replaceChildren(el("h2", { id: "map-title" }), el("p", { class: "muted" }), picture);
}

function pairs(state) {
  return state.people.flatMap((one, index) => state.people.slice(index + 1)
    .filter((other) => distance(one, other) <= state.map.range && one.sends && other.sends)
    .map((other) => svg("line", { class: "near", x1: one.x, y1: one.y, x2: other.x, y2: other.y })));
}

/** The distance of two people in metres. */
export function distance(one, other) {
  return Math.hypot(one.x - other.x, one.y - other.y);
}

function draw(person, index, range, picture) {
  const handle = picture.querySelector(`[data-person="${person.name}"]`)
    ?? add(person.name, index, range, picture);
  const group = handle.parentNode;
  group.setAttribute("class", ["person", person.sends ? "" : "silent",
    person.notices.length > 0 && person.riskLevel > 0 ? "notified" : ""].join(" ").trim());
  handle.setAttribute("aria-label", t("map.person", {
    name: title(person.name), x: Math.round(person.x), y: Math.round(person.y),
  }));
  if (dragged?.name === person.name) return;
  handle.dataset.x = person.x;
  handle.dataset.y = person.y;
  group.setAttribute("transform", `translate(${person.x} ${person.y})`);
}

function add(name, index, range, picture) {
  const handle = svg("g", { class: "handle", "data-person": name, tabindex: 0, role: "button" },
    svg("circle", { class: "hit", r: 3.5 }), svg("circle", { class: "dot", r: 1.2 }),
    svg("text", { y: .5 }, title(name).slice(0, 1)),
    // Two people who stand together have their names above and below.
    svg("text", { class: "label", y: index % 2 === 0 ? 3.2 : -1.9 }, title(name)));
  listen(handle, name, picture);
  picture.querySelector(".people").append(
    svg("g", { class: "person" }, svg("circle", { class: "reach", r: range }), handle));
  return handle;
}

function listen(handle, name, picture) {
  handle.addEventListener("pointerdown", (event) => {
    dragged = { name };
    handle.setPointerCapture(event.pointerId);
  });
  handle.addEventListener("pointermove", (event) => {
    if (dragged?.name !== name) return;
    const point = new DOMPoint(event.clientX, event.clientY)
      .matrixTransform(picture.getScreenCTM().inverse());
    dragged.x = point.x;
    dragged.y = point.y;
    handle.parentNode.setAttribute("transform", `translate(${point.x} ${point.y})`);
  });
  const drop = () => {
    const last = dragged;
    dragged = null;
    if (last?.x !== undefined) send({ action: "move", name, x: last.x, y: last.y });
  };
  handle.addEventListener("pointerup", drop);
  handle.addEventListener("pointercancel", () => { dragged = null; });
  handle.addEventListener("keydown", (event) => {
    const step = steps[event.key];
    if (!step) return;
    event.preventDefault();
    const metres = event.shiftKey ? 5 : 1;
    send({
      action: "move", name, x: Number(handle.dataset.x) + step[0] * metres,
      y: Number(handle.dataset.y) + step[1] * metres,
    });
  });
}
