// SPDX-License-Identifier: Apache-2.0
import { el } from "../dom.js";
import { request, send } from "../bridge-client.js";
import { announce } from "../announce.js";
import { confirm } from "../dialog.js";
import { day, minutes, number, relative, time } from "../format.js";
import { button, card, facts, heading } from "../parts/basics.js";
import { followingDaysText } from "../parts/following-days.js";
import { redraw } from "../router.js";
import { store } from "../store.js";
import { plural, t } from "../texts.js";
import { levelNames } from "./home.js";

/** The number of rows of a list that are shown at first. */
const firstRows = 8;
/** The kinds of rows of message 91, in the order of the screen. */
const kinds = ["notifications", "exposures", "riskChecks"];
const expanded = new Set();

/** Past checks, notices and exposures. Each can be removed. */
export const pastEvents = {
  name: "history",
  title: "history.title",
  isLive: true,
  async render() {
    const [rows, totals] = await Promise.all([allRows(), request(103)]);
    return el("div", { class: "narrow" },
      heading(t("history.title"), el("p", { class: "lead" }, t("history.lead"))),
      summary(totals?.riskCheck), shared(),
      kinds.map((kind) => section(kind, rows?.[kind] ?? [], emptyText(kind, totals?.riskCheck))));
  },
};

/** The notices and checks of message 90, and the exposures themselves, which message 90 counts by check. */
async function allRows() {
  const [past, details] = await Promise.all([request(90), request(1001)]);
  return { ...past, exposures: details?.exposures ?? [] };
}

function summary(totals) {
  if (!totals) return null;
  return card(t("history.summary"), { "data-part": "totals" }, facts([
    [t("home.lastCheck"), totals.lastRiskCheckTimestamp ? relative(totals.lastRiskCheckTimestamp)
      : t("home.never")],
    [t("history.today"), number(totals.todayKeysCount ?? 0)],
    [t("history.week"), number(totals.last7daysKeysCount ?? 0)],
    [t("history.total"), number(totals.totalKeysCount ?? 0)],
  ]));
}

/** The times at which the user shared their keys. */
function shared() {
  const times = store.state?.positiveTest?.shared ?? [];
  const following = followingDaysText(store.state);
  if (times.length === 0) return null;
  return card(t("history.shared"), { "data-list": "shared" }, el("ul", { class: "rows" }, times.map((seconds) =>
    el("li", { class: "entry" }, el("div", {}, el("strong", {}, t("history.shared.entry")),
      el("p", { class: "muted" }, time(seconds)))))),
  following && el("p", { "data-part": "following-days" }, following));
}

/** A check that compared no new keys has no row. */
function emptyText(kind, totals) {
  return t(kind === "riskChecks" && totals ? "history.riskChecks.noKeys" : `history.${kind}.none`);
}

function section(kind, rows, none) {
  const newest = [...rows].sort((one, other) => rank(other) - rank(one));
  const shown = expanded.has(kind) ? newest : newest.slice(0, firstRows);
  return card(t(`history.${kind}`), { "data-list": kind },
    rows.length === 0 && el("p", { class: "muted" }, none),
    rows.length > 0 && el("ul", { class: "rows" }, shown.map((row) => entry(kind, row))),
    el("div", { class: "actions" },
      shown.length < rows.length && button("show-all", plural("history.showAll", rows.length), () => {
        expanded.add(kind);
        return redraw();
      }, { id: kind }),
      rows.length > 1 && button("remove-all", t(`history.${kind}.removeAll`),
        () => remove(kind, rows.map((row) => row.id)), { symbol: "trash", id: kind })));
}

/** The time of a row in seconds. */
function rank(row) {
  return row.timestamp ?? Date.parse(row.date) / 1000;
}

function entry(kind, row) {
  const { title, text } = described(kind, row);
  const when = row.date ? day(row.date) : time(row.timestamp);
  return el("li", { class: "entry", "data-entry": row.id },
    el("div", {}, el("strong", {}, title), text && el("p", {}, text),
      el("p", { class: "muted" }, when)),
    button("remove", "", () => remove(kind, [row.id]), {
      kind: "quiet", symbol: "trash", id: `${kind}-${row.id}`,
      label: t("history.remove", { name: title, time: when }),
    }));
}

function described(kind, row) {
  if (kind === "notifications") return { title: row.title, text: row.content };
  if (kind === "exposures") {
    return {
      title: t(`risk.${levelNames[row.riskLevel] ?? "none"}.short`),
      text: row.hidden ? null : minutes(row.seconds),
    };
  }
  return {
    title: plural("history.check", row.keys ?? 0),
    text: row.exposures > 0 ? plural("history.matches", row.exposures) : t("history.noMatch"),
  };
}

async function remove(kind, ids) {
  const isSure = await confirm({
    title: plural("history.confirm", ids.length), text: t(`history.${kind}.removal`),
    confirmText: t("action.delete"),
  });
  if (!isSure) return;
  const empty = Object.fromEntries(kinds.map((name) => [name, []]));
  send(91, { ...empty, [kind]: ids });
  await gone(kind, new Set(ids));
  await redraw();
  document.querySelector(`main [data-list="${kind}"] h2`)?.setAttribute("tabindex", "-1");
  document.querySelector(`main [data-list="${kind}"] h2`)?.focus();
  announce(t("delete.done"));
}

/** Waits until the phone has removed the rows: message 91 has no answer. */
async function gone(kind, ids) {
  for (let attempt = 0; attempt < 20; attempt += 1) {
    const rows = (await allRows())[kind] ?? [];
    if (!rows.some((row) => ids.has(row.id))) return;
    await new Promise((resolve) => setTimeout(resolve, 150));
  }
  throw new Error("The rows were not removed.");
}
