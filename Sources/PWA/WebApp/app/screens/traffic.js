// SPDX-License-Identifier: Apache-2.0
import { el } from "../dom.js";
import { request } from "../bridge-client.js";
import { bytes, number, time, utcDay } from "../format.js";
import { backLink, button, card, facts, heading, bullets } from "../parts/basics.js";
import { redraw } from "../router.js";
import { plural, t } from "../texts.js";

/** The number of messages that are shown at first, and by which the list grows. */
const pageRows = 20;
const receivers = ["keyServer", "verificationServer", "statistics"];
let shownRows = pageRows;

/** Everything that this phone sent and received, and what each party could learn from it. */
export const traffic = {
  name: "traffic",
  title: "traffic.title",
  async render() {
    const { messages, beacons } = await request(1002);
    return el("div", { class: "narrow" }, backLink("/more", t("more.title")),
      heading(t("traffic.title"), el("p", { class: "lead" }, t("traffic.lead"))),
      receivers.map((receiver) => summary(receiver, messages.filter((one) => one.receiver === receiver))),
      beaconCard(beacons ?? []), messageList(messages),
      card(t("traffic.risks"), {}, el("p", {}, t("traffic.risks.text")), bullets("traffic.risk")));
  },
  leave() {
    shownRows = pageRows;
  },
};

function summary(receiver, messages) {
  if (messages.length === 0 && receiver === "statistics") return null;
  const sum = (name) => messages.reduce((total, one) => total + one[name], 0);
  const hosts = [...new Set(messages.map((one) => one.host))].join(", ");
  return card(t(`receiver.${receiver}`), { "data-receiver": receiver },
    messages.length === 0 ? el("p", {}, t("traffic.nothing")) : facts([
      [t("traffic.messages"), number(messages.length)],
      [t("traffic.sent"), bytes(sum("sent"))], [t("traffic.received"), bytes(sum("received"))],
      [t("traffic.host"), hosts],
    ]),
    el("p", {}, el("strong", {}, t("traffic.learned")), " ", t(`receiver.${receiver}.learned`)));
}

function beaconCard(beacons) {
  const column = (text) => el("th", { scope: "col" }, text);
  return card(t("traffic.beacons"), { "data-part": "beacons" }, el("p", {}, t("traffic.beacons.text")),
    beacons.length > 0 && el("details", {},
      el("summary", { "data-action": "beacons" }, t("traffic.beacons.days")),
      el("table", {}, el("caption", { class: "visually-hidden" }, t("traffic.beacons")),
        el("thead", {}, el("tr", {}, column(t("review.day")), column(t("traffic.sent")),
          column(t("traffic.received")))),
        el("tbody", {}, beacons.map((one) => el("tr", {},
          el("th", { scope: "row" }, utcDay(one.date)),
          el("td", {}, number(one.sent)), el("td", {}, number(one.received))))))));
}

function messageList(messages) {
  return card(t("traffic.list"), { "data-part": "messages" },
    messages.length === 0 && el("p", { class: "muted" }, t("traffic.nothing")),
    el("ul", { class: "rows" }, messages.slice(0, shownRows).map(entry)),
    messages.length > shownRows && button("show-more", plural("traffic.more", messages.length - shownRows), () => {
      shownRows += pageRows;
      return redraw();
    }));
}

function entry(message) {
  return el("li", { "data-kind": message.kind, "data-entry": message.id }, el("details", {},
    el("summary", { class: "traffic-row", "data-action": "message", "data-id": message.id },
      el("span", { class: "row-title" }, t(`kind.${message.kind}`)),
      el("span", { class: "muted" }, `${time(message.time)} · ${t("traffic.both", {
        sent: bytes(message.sent), received: bytes(message.received),
      })}`)),
    facts([
      [t("traffic.receiver"), t(`receiver.${message.receiver}`)], [t("traffic.host"), message.host],
      [t("traffic.answer"), message.status ? String(message.status) : t("traffic.noAnswer")],
      [t("traffic.learned"), t(`kind.${message.kind}.learned`)],
      [t("traffic.remaining"), t(`kind.${message.kind}.risk`)],
    ])));
}
