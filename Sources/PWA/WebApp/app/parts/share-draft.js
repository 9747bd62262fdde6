// SPDX-License-Identifier: Apache-2.0
/**
 * The answers of a user who shares a diagnosis. They are kept in memory only, so a PIN is never written by
 * the browser; they last as long as the page, without a time limit.
 */
export const draft = empty();

/** Forgets all answers. */
export function forgetDraft() {
  Object.assign(draft, empty());
}

/** The date as the phone process expects it. */
export function draftDate() {
  return { kind: draft.kind, day: draft.kind === "none" ? null : draft.day };
}

/** The title of the result of an upload, as a key of the catalogue. */
export function resultTitle({ result, reason }) {
  if (result === 1) return "result.done.title";
  return { locked: "lock.title", pinUsed: "refused.title" }[reason] ?? "result.failed.title";
}

function empty() {
  return { pin: "", kind: null, day: null, isAbroad: false, hasAgreed: false, result: null };
}
