// SPDX-License-Identifier: Apache-2.0
import { send } from "./api.js";
import { button, el, replace } from "./dom.js";
import { t, time, title } from "./texts.js";

/** Draws the list of people, with the actions of the map, and each phone with its notices. */
export function drawPeople(state, node) {
  replace(node,
    el("h2", { id: "people-title" }, t("people.title")),
    el("ul", {}, state.people.map((person) => item(person, state))));
}

function item(person, state) {
  const name = title(person.name);
  return el("li", { "data-resident": person.name },
    el("h3", {}, name),
    el("p", { class: "muted" }, status(person)),
    person.notices.map((notice) => el("p", { class: "notice", "data-notice": person.name },
      el("strong", {}, notice.title), ` ${notice.body} (${time(notice.time)})`)),
    person.diagnosed && !person.pin && el("p", { "data-diagnosed": person.name }, t("people.diagnosed"), " ",
      state.links.console && el("a", { href: `${state.links.console}/codes/new`, target: "_blank", rel: "noopener" },
        t("people.console")), " ",
      button(`issue-${person.name}`, t("people.issue"), () => send({ action: "issue", name: person.name }),
        { "aria-label": t("people.issue.of", { name }), "data-action": `issue-${person.name}` })),
    person.pin && el("p", {}, `${t("people.pin")} `,
      el("span", { class: "pin", "data-pin": person.name }, person.pin)),
    el("div", { class: "row" },
      el("a", { href: person.web, target: "_blank", rel: "noopener", "data-phone": person.name },
        t("people.phone", { name })),
      button(`walk-${person.name}`, t(person.walks ? "people.stand" : "people.walk"),
        () => send({ action: "walk", name: person.name, walks: !person.walks }),
        { "aria-label": t(person.walks ? "people.stand.of" : "people.walk.of", { name }) }),
      button(`diagnose-${person.name}`, t("people.diagnose"),
        () => send({ action: "diagnose", name: person.name }),
        { "aria-label": t("people.diagnose.of", { name }), "data-action": `diagnose-${person.name}` }),
      button(`check-${person.name}`, t("people.check"),
        () => send({ action: "check", name: person.name }),
        { "aria-label": t("people.check.of", { name }), "data-action": `check-${person.name}` })),
    join(person, state, name));
}

function status(person) {
  if (!person.isRunning) return t("people.silent");
  const risk = person.riskLevel === null || person.riskLevel === undefined ? "unknown" : person.riskLevel;
  return [
    t(person.isEnabled ? "people.on" : "people.off"), t(`people.risk.${risk}`),
    t("people.scans", { count: person.receivingScans }),
    person.uploads > 0 ? t("people.shared") : "",
  ].filter(Boolean).join(" ");
}

function join(person, state, name) {
  const others = state.people.filter((other) => other.name !== person.name);
  return el("label", { class: "row" }, t("people.join", { name }),
    el("select", {
      "data-key": `join-${person.name}`,
      on: {
        change: (event) => {
          const other = event.target.value;
          event.target.value = "";
          if (other) send({ action: "join", name: person.name, other });
        },
      },
    }, el("option", { value: "" }, t("people.choose")),
    others.map((other) => el("option", { value: other.name }, title(other.name)))));
}
