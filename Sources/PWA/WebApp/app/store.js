// SPDX-License-Identifier: Apache-2.0
import { connectBridge, onPush, request, send } from "./bridge-client.js";
import { MessageError } from "./message-error.js";

/** The delays between attempts to reach the phone process again, in milliseconds. */
const retry = { first: 2_000, last: 15_000 };

/** The last known state of the phone, and the connection to it. */
export const store = { state: null, isConnected: true, receivedAt: 0 };

const listeners = new Set();
let retryTimer = null;
let retryDelay = retry.first;

/** Calls `listener()` after each change of the state or of the connection. */
export function subscribe(listener) {
  listeners.add(listener);
}

/** Connects to the phone process and follows its pushes. */
export function startStore() {
  connectBridge(setConnected);
  // The stream of events has ended: a request tells whether the phone process still runs.
  window.addEventListener("firebreak-interrupted", refreshState);
  onPush((type, value) => {
    if (type === 1000 && value) accept(value);
    else if ((type === 11 && value?.appState === 1) || type === 51 || type === 61) refreshState();
  });
}

/** Reads the state. Returns `false` if the phone process did not answer. */
export async function refreshState() {
  try {
    accept(await request(1000));
    return true;
  } catch {
    return false;
  }
}

/** Sends a request whose answer is the new state. */
export async function change(type, data) {
  accept(await request(type, data));
}

/** Turns exposure notifications on or off. Message 52 has no answer: the state, which is read after it, has the result. */
export async function setNotificationsOn(isOn) {
  send(52, { enableExposureNotificationService: isOn });
  const hasAnswer = await refreshState();
  if (!hasAnswer || store.state.enabled !== isOn) throw new MessageError(hasAnswer ? "failed" : "offline");
}

/** The time of the phone, in seconds: its clock may differ from the browser's. */
export function now() {
  if (!store.state?.now) return Date.now() / 1000;
  return store.state.now + (performance.now() - store.receivedAt) / 1000;
}

function accept(state) {
  if (!state || typeof state !== "object" || !("onboarding" in state)) return;
  const before = withoutTime(store.state);
  store.state = state;
  store.receivedAt = performance.now();
  if (before !== withoutTime(state)) notify();
}

function withoutTime(state) {
  return JSON.stringify({ ...state, now: 0 });
}

function setConnected(isConnected) {
  if (!isConnected) scheduleRetry();
  else retryDelay = retry.first;
  if (store.isConnected === isConnected) return;
  store.isConnected = isConnected;
  notify();
}

function scheduleRetry() {
  if (retryTimer) return;
  retryTimer = setTimeout(async () => {
    retryTimer = null;
    await refreshState();
  }, retryDelay);
  retryDelay = Math.min(retryDelay * 2, retry.last);
}

function notify() {
  for (const listener of listeners) listener();
}
