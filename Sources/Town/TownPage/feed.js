// SPDX-License-Identifier: Apache-2.0
import { el, replace } from "./dom.js";
import { t, time, title } from "./texts.js";

/** Draws the messages between the parties, newest first: bytes, receiver, and what the receiver learns. */
export function drawFeed(state, node) {
  replace(node,
    el("h2", { id: "feed-title" }, t("feed.title")),
    el("p", { class: "muted" }, t("feed.note")),
    state.messages.length === 0
      ? el("p", {}, t("feed.empty"))
      : el("ol", { tabindex: 0, "aria-labelledby": "feed-title", "data-key": "feed" },
        state.messages.slice(0, 60).map(item)));
}

function item(message) {
  const from = message.from === "official" ? t("feed.official") : title(message.from);
  const end = message.failure ? t("feed.failed") : t("feed.status", { status: message.status ?? "\u2026" });
  const isBeacon = message.kind === "beacon";
  const to = isBeacon ? title(message.to) : t(`party.${message.to}`);
  const size = isBeacon
    ? t("feed.beacons", { count: message.count, sent: message.sent })
    : `${t("feed.bytes", { sent: message.sent, received: message.received })} \u00b7 ${end}`;
  return el("li", { "data-kind": message.kind },
    el("p", {}, el("strong", {}, `${from} \u2192 ${to}`), ` ${t(`kind.${message.kind}`)}`),
    el("p", { class: "muted" }, `${time(message.time)} \u00b7 ${size}`),
    el("p", {}, t(`learns.${message.kind}`)));
}
