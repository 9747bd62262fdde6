// SPDX-License-Identifier: Apache-2.0
/** The paths that are open before the onboarding is finished. */
const open = new Set(["/welcome", "/how", "/consent", "/second-chance", "/ready", "/privacy",
  "/glossary", "/support", "/about"]);

/** The link with a PIN that was opened before the onboarding was finished. */
export const postponed = { path: null };

let isSkipped = false;

/** Lets the user into the app without consent, until the next start. */
export function skipOnboarding() {
  isSkipped = true;
}

/** Forgets that the onboarding was skipped. */
export function resetOnboarding() {
  isSkipped = false;
}

/** The path to show in place of `path`. */
export function allowedPath(path, state) {
  if (!state || state.onboarding === "finished" || isSkipped || open.has(path)) return path;
  // Without readable data nothing else works: the first screen says what to do.
  if (state.storage !== "ready") return path;
  if (path === "/share") postponed.path = location.hash.slice(1);
  if (state.onboarding === "declined") return "/second-chance";
  return state.onboarding === "consented" ? "/ready" : "/welcome";
}
