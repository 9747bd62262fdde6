// SPDX-License-Identifier: Apache-2.0
import { MessageError } from "./message-error.js";

/** The time-out of requests, in milliseconds: later than the answers with which the bridge reports its own. */
const timeout = 310_000;

/** Checks, uploads and developer actions: without an answer in time, the phone process may still be working on them. */
const slow = new Set([1005, 1006, 1007, 1012]);

const pending = new Map();
const pushListeners = new Set();
let count = 0;
let connectionListener = () => {};

/** Installs the two functions that the phone process calls. */
export function connectBridge(onConnection) {
  connectionListener = onConnection;
  window.bridgeDataResponse = receiveAnswer;
  window.onBridgeData = receivePush;
}

/** Calls `listener(type, value)` for each push. */
export function onPush(listener) {
  pushListeners.add(listener);
}

/** Sends a request and returns its answer, parsed; an empty answer is `null`. */
export function request(type, data) {
  const handler = window.webkit?.messageHandlers?.getBridgeData;
  if (!handler) return failed("offline");
  const requestId = `request-${++count}`;
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => settle(requestId, { error: { code: "timeout" } }), timeout);
    pending.set(requestId, { type, resolve, reject, timer });
    handler.postMessage({ type, data: encoded(data), requestId });
  });
}

/** Sends a message that has no answer. */
export function send(type, data) {
  window.webkit?.messageHandlers?.setBridgeData?.postMessage({ type, data: encoded(data) });
}

function encoded(data) {
  return data === undefined ? undefined : JSON.stringify(data);
}

function failed(code) {
  connectionListener(false);
  return Promise.reject(new MessageError(code));
}

function receiveAnswer(body, type, requestId) {
  if (!pending.has(requestId)) return;
  window.webkit.messageHandlers.bridgeDataReceived?.postMessage({ type: Number(type), requestId });
  settle(requestId, parsed(body));
}

function settle(requestId, value) {
  const entry = pending.get(requestId);
  if (!entry) return;
  pending.delete(requestId);
  clearTimeout(entry.timer);
  const code = value?.error?.code;
  if (code) {
    const isLost = code === "offline" || (code === "timeout" && !slow.has(entry.type));
    if (isLost) connectionListener(false);
    entry.reject(new MessageError(code, value.error.message));
  } else {
    connectionListener(true);
    entry.resolve(value);
  }
}

function receivePush(type, body) {
  const value = parsed(body);
  for (const listener of pushListeners) listener(Number(type), value);
}

function parsed(body) {
  if (body === "" || body === undefined || body === null) return null;
  try {
    return typeof body === "string" ? JSON.parse(body) : body;
  } catch {
    return { error: { code: "badAnswer", message: "The answer is not JSON." } };
  }
}
