// SPDX-License-Identifier: Apache-2.0
import { announce } from "../announce.js";
import { request } from "../bridge-client.js";
import { MessageError } from "../message-error.js";
import { refreshState, store, subscribe } from "../store.js";
import { hasText, t } from "../texts.js";

let running = null;
let waiters = [];

subscribe(() => {
  if (store.isConnected && store.state?.checking) return;
  for (const resolve of waiters.splice(0)) resolve();
});

/** Checks for encounters and tells the result. A second call during a check waits for the same result. */
export function checkNow() {
  running ??= check().finally(() => { running = null; });
  return running;
}

async function check() {
  announce(t("home.checking"));
  const before = store.state?.lastCheck;
  let result;
  try {
    result = await request(1005);
    await refreshState();
  } catch (error) {
    if (error.code !== "timeout") throw error;
    result = await laterResult(error, before);
  }
  const failure = `failure.check.${result?.failure}`;
  if (result?.ok) announce(t(store.state?.paused ? "problem.paused.title" : "home.checked"));
  else announce(hasText(failure) ? t(failure) : t("problem.check.title"));
}

/** The result of a check that takes longer than the bridge waits: it goes on, and the state has its result. */
async function laterResult(error, before) {
  if (!await refreshState()) throw error;
  if (store.state.checking) {
    announce(t("home.checkGoesOn"));
    await new Promise((resolve) => { waiters.push(resolve); });
    if (!store.isConnected) throw new MessageError("offline");
  }
  const { lastCheck, lastFailure, paused } = store.state;
  return { ok: paused || (!lastFailure && lastCheck !== before), failure: lastFailure };
}
