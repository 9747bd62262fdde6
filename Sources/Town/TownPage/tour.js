// SPDX-License-Identifier: Apache-2.0
import { send } from "./api.js";
import { button, el, replace } from "./dom.js";
import { distance } from "./map.js";
import { t, title } from "./texts.js";

/** The state that was drawn last: a button may be older. */
let latest = null;

/** The place in the tour; it survives a reload of the page. Null before the start. */
let progress = JSON.parse(sessionStorage.getItem("tour") ?? "null");

/** Scans in which two phones have to receive each other: about half an hour. */
const scansNeeded = 7;

const find = (state, name) => state.people.find((person) => person.name === name);

/** Each step: its action, and the condition that ends it. `a` is diagnosed, `b` was near. */
const steps = [
  {
    name: "meet",
    action: ({ a, b }) => send({ action: "join", name: b.name, other: a.name }),
    isDone: ({ a, b, state }) => distance(a, b) <= Math.min(2, state.map.range),
    leave: ({ b }) => ({ scans: b.receivingScans }),
  },
  {
    name: "wait",
    action: () => send({ action: "rate", rate: 60 }),
    isDone: ({ b }) => b.receivingScans >= (progress.scans ?? 0) + scansNeeded,
    leave: ({ state }) => {
      send({ action: "rate", rate: 1 });
      return { day: Math.floor(state.time / 86400) };
    },
  },
  {
    name: "tomorrow",
    action: () => send({ action: "tomorrow" }),
    isDone: ({ state }) => Math.floor(state.time / 86400) > progress.day,
  },
  {
    name: "diagnose",
    action: ({ a }) => send({ action: "diagnose", name: a.name }),
    isDone: ({ a }) => (a.diagnosed ?? 0) > progress.diagnosed,
  },
  { name: "share", links: true, isDone: ({ a }) => a.uploads > progress.uploads },
  {
    name: "publish",
    action: () => send({ action: "jump", seconds: 7200 }),
    isDone: ({ state }) => state.time >= progress.since + 7200,
  },
  {
    name: "notice",
    action: ({ b }) => send({ action: "check", name: b.name }),
    isDone: ({ b }) => b.riskLevel > 0 && b.lastCheck >= Math.floor(progress.since),
  },
];

/** Draws the step that is next. A step ends by itself when the town has reached its condition. */
export function drawTour(state, node) {
  latest = state;
  const [a, b] = [find(state, "ada"), find(state, "ben")];
  const place = { state, a, b };
  if (progress && progress.step < steps.length && steps[progress.step].isDone(place)) {
    const more = steps[progress.step].leave?.(place) ?? {};
    keep({ ...progress, ...more, step: progress.step + 1, since: state.time });
  }
  const values = { a: title(a.name), b: title(b.name) };
  const heading = el("h2", { id: "tour-title" }, t("tour.title"));
  const begin = (label) => button("tour-start", t(label), () => {
    // In a second tour, what was reached in the first does not count.
    const first = find(latest, "ada");
    keep({ step: 0, diagnosed: first.diagnosed ?? 0, uploads: first.uploads });
    drawTour(latest, node);
  }, { class: "main", "data-action": "tour-start" });
  if (!progress) return replace(node, heading, el("p", {}, t("tour.intro", values)), begin("tour.start"));
  const step = steps[progress.step];
  if (!step) {
    node.dataset.step = "done";
    return replace(node, heading, el("p", { "data-tour": "done" }, t("tour.done", values)), begin("tour.again"));
  }
  node.dataset.step = step.name;
  replace(node, heading,
    el("p", { class: "muted" }, t("tour.step", { number: progress.step + 1, count: steps.length })),
    el("p", { "data-tour": step.name }, t(`tour.${step.name}`, values)),
    el("div", { class: "row" },
      step.action && button("tour-action", t(`tour.${step.name}.action`, values),
        () => step.action(place), { class: "main", "data-action": "tour-action" }),
      step.links && state.links.console && el("a",
        { href: `${state.links.console}/codes/new`, target: "_blank", rel: "noopener" }, t("people.console")),
      step.links && el("a", { href: a.web, target: "_blank", rel: "noopener" },
        t("people.phone", { name: values.a })),
      button("tour-end", t("tour.end"), () => {
        keep(null);
        drawTour(latest, node);
      })));
}

function keep(next) {
  const isNewStep = next?.step !== progress?.step;
  progress = next;
  sessionStorage.setItem("tour", JSON.stringify(next));
  if (isNewStep && next) {
    document.getElementById("announcement").textContent =
      t("tour.step", { number: Math.min(next.step + 1, steps.length), count: steps.length });
  }
}
