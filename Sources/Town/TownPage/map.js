import { send } from "./api.js";
import { el, replace, svg } from "./dom.js";
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
  for (const person of state.people) draw(person, range, picture);
}

function build(node, width, height) {
  replace(node, el("h2", { id: "map-title" }),
    el("p", { class: "muted" }));
  node.append(svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "group" },
    svg("g", { class: "pairs" }), svg("g", { class: "people" })));
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

function draw(person, range, picture) {
  let group = picture.querySelector(`[data-person="${person.name}"]`);
  if (!group) {
    group = svg("g", { class: "person", "data-person": person.name, tabindex: 0, role: "button" },
      svg("circle", { class: "reach", r: range }), svg("circle", { class: "dot", r: 1.6 }),
      svg("text", { y: .6 }, title(person.name).slice(0, 1)),
      svg("text", { class: "label", y: 3.8 }, title(person.name)));
    listen(group, person.name, picture);
    picture.querySelector(".people").append(group);
  }
  group.setAttribute("class", ["person", person.sends ? "" : "silent",
    person.notices.length > 0 && person.riskLevel > 0 ? "notified" : ""].join(" ").trim());
  group.setAttribute("aria-label", t("map.person", {
    name: title(person.name), x: Math.round(person.x), y: Math.round(person.y),
  }));
  if (dragged?.name === person.name) return;
  group.dataset.x = person.x;
  group.dataset.y = person.y;
  group.setAttribute("transform", `translate(${person.x} ${person.y})`);
}

function listen(group, name, picture) {
  group.addEventListener("pointerdown", (event) => {
    dragged = { name };
    group.setPointerCapture(event.pointerId);
  });
  group.addEventListener("pointermove", (event) => {
    if (dragged?.name !== name) return;
    const point = new DOMPoint(event.clientX, event.clientY)
      .matrixTransform(picture.getScreenCTM().inverse());
    dragged.x = point.x;
    dragged.y = point.y;
    group.setAttribute("transform", `translate(${point.x} ${point.y})`);
  });
  const drop = () => {
    const last = dragged;
    dragged = null;
    if (last?.x !== undefined) send({ action: "move", name, x: last.x, y: last.y });
  };
  group.addEventListener("pointerup", drop);
  group.addEventListener("pointercancel", () => { dragged = null; });
  group.addEventListener("keydown", (event) => {
    const step = steps[event.key];
    if (!step) return;
    event.preventDefault();
    const metres = event.shiftKey ? 5 : 1;
    send({
      action: "move", name, x: Number(group.dataset.x) + step[0] * metres,
      y: Number(group.dataset.y) + step[1] * metres,
    });
  });
}
