// SPDX-License-Identifier: Apache-2.0
import { el } from "../dom.js";
import { announce } from "../announce.js";
import { confirm } from "../dialog.js";
import { resetOnboarding } from "../onboarding-guard.js";
import { backLink, button, heading } from "../parts/basics.js";
import { forgetDraft } from "../parts/share-draft.js";
import { go } from "../router.js";
import { change } from "../store.js";
import { t } from "../texts.js";

/** The kinds of data that can be deleted, from the smallest to everything. */
const kinds = ["exposures", "history", "notices", "everything"];

/** The deletion of data, each kind with its consequences. */
export const deletion = {
  name: "delete",
  title: "delete.title",
  render: () => el("div", { class: "narrow" }, backLink("/settings", t("settings.title")),
    heading(t("delete.title"), el("p", { class: "lead" }, t("delete.lead"))),
    kinds.map((kind) => el("section", { class: "card", "data-kind": kind },
      el("h2", {}, t(`delete.${kind}`)), el("p", {}, t(`delete.${kind}.text`)),
      button(`delete-${kind}`, t(`delete.${kind}.action`), () => remove(kind),
        { kind: kind === "everything" ? "danger" : "", symbol: "trash" }))),
    el("p", { class: "muted" }, t("delete.note"))),
};

async function remove(what) {
  const isSure = await confirm({
    title: t(`delete.${what}`), text: t(`delete.${what}.text`), confirmText: t(`delete.${what}.action`),
  });
  if (!isSure) return;
  await change(1008, { what });
  announce(t("delete.done"));
  if (what === "everything") {
    forgetDraft();
    resetOnboarding();
    go("/");
  } else {
    const place = document.querySelector(`main [data-kind="${what}"]`);
    place?.querySelector(".message")?.remove();
    place?.append(el("p", { class: "message message-done", "data-message": "done" }, t("delete.done")));
  }
}
