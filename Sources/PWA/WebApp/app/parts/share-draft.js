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

function empty() {
  return { pin: "", kind: null, day: null, isAbroad: false, hasAgreed: false, result: null };
}
