// SPDX-License-Identifier: Apache-2.0
import { el } from "../dom.js";
import { backLink, card, failureText, heading, linkButton, paragraphs } from "../parts/basics.js";
import { hasText, t } from "../texts.js";

/** The pages of text: privacy, glossary, support, and the two for addresses that cannot be shown. */
export const textPages = {
  "/privacy": {
    name: "privacy",
    title: "privacy.title",
    render: () => page("privacy.title", el("p", { class: "lead" }, t("privacy.lead")), sections("privacy"),
      linkButton("traffic", t("traffic.title"), "/traffic")),
  },
  "/glossary": {
    name: "glossary",
    title: "glossary.title",
    render: () => page("glossary.title", el("dl", { class: "glossary card" },
      numbered("glossary").map((key) => el("div", {}, el("dt", {}, t(`${key}.title`)),
        el("dd", {}, t(`${key}.text`)))))),
  },
  "/support": {
    name: "support",
    title: "support.title",
    render: () => page("support.title", el("p", { class: "lead" }, t("support.lead")), contact(),
      sections("support")),
  },
  "/missing": {
    name: "missing",
    title: "missing.title",
    render: () => el("div", { class: "narrow" }, heading(t("missing.title"), el("p", {}, t("missing.text"))),
      linkButton("home", t("action.home"), "/", { kind: "primary" })),
  },
  "/failed": {
    name: "failed",
    title: "failed.title",
    isLive: true,
    render: (_, error) => el("div", { class: "narrow" },
      heading(t("failed.title"), el("p", {}, failureText(error))),
      linkButton("home", t("action.home"), "/", { kind: "primary" })),
  },
};

function page(title, ...content) {
  return el("div", { class: "narrow" }, backLink("/more", t("more.title")), heading(t(title)), content);
}

function sections(key) {
  return numbered(key).map((section) =>
    card(t(`${section}.title`), {}, el("p", {}, t(`${section}.text`)), paragraphs(section)));
}

/** The keys `KEY.1`, `KEY.2` and so on that have a title. */
function numbered(key) {
  const keys = [];
  while (hasText(`${key}.${keys.length + 1}.title`)) keys.push(`${key}.${keys.length + 1}`);
  return keys;
}

function contact() {
  const telephone = t("support.phone");
  const address = t("support.email");
  return el("section", { class: "card contact" },
    el("h2", {}, t("support.contact")),
    el("p", {}, el("a", { href: `tel:${telephone.replace(/[^+0-9]/g, "")}`, "data-action": "call" }, telephone)),
    el("p", {}, el("a", { href: `mailto:${address}`, "data-action": "mail" }, address)),
    el("p", { class: "muted" }, t("support.hours")));
}
