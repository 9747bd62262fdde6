// SPDX-License-Identifier: Apache-2.0
import { el } from "../dom.js";
import { announce } from "../announce.js";
import { utcDay } from "../format.js";
import { change } from "../store.js";
import { hasText, t } from "../texts.js";
import { button, card } from "./basics.js";

/** The keys of the days after an upload: the question, the end date with a button, or why they are not shared. */
export function followingDays(state) {
  const sharing = state?.followingDays;
  if (!sharing || sharing.status === "ended") return null;
  const { status, failure } = sharing;
  return card(t("days.title"), { "data-part": "following-days", "data-status": status },
    el("p", {}, t(`days.${status}`, { day: utcDay(sharing.until) })),
    status === "active" && failure && el("p", { "data-failure": failure }, failureText(failure)),
    status === "offered" && el("div", { class: "actions" },
      button("share-days", t("days.share"), () => decide("share", "days.started"), { kind: "primary" }),
      button("decline-days", t("days.decline"), () => decide("end", "days.stopped"))),
    status === "active" && el("div", { class: "actions" },
      button("end-days", t("days.end"), () => decide("end", "days.stopped"))));
}

/** One sentence about the sharing for the history, which also tells that it was ended. */
export function followingDaysText(state) {
  const sharing = state?.followingDays;
  if (!sharing) return null;
  return t(`days.${sharing.status}`, { day: utcDay(sharing.until) });
}

function failureText(name) {
  const key = `failure.days.${name}`;
  return t(hasText(key) ? key : "failure.days.other");
}

async function decide(action, text) {
  await change(1013, { action });
  announce(t(text));
}
