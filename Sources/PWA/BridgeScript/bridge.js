// SPDX-License-Identifier: Apache-2.0
// The bridge between a page and the phone: ProteGO Safe's interfaces for iOS and Android, over HTTP to the phone that
// served the page. Texts from either side are passed as values and never become code.
(() => {
  'use strict';
  if (window.top !== window || window.NativeBridge) return;

  // The address of the phone's server and a secret, in a copy of the pages that a browser shows from files.
  const { phone = '', secret = '' } = document.currentScript?.dataset ?? {};
  const PLACE = `${phone}/firebreak/`;
  const KEY = secret && `?secret=${secret}`;
  const SMS = 105;
  // The messages whose answers wait for servers: uploads and checks.
  const LONG = new Set([43, 1005, 1006, 1007, 1012]);
  const PUSHES_MAX = 100;

  // MARK: Calls of the page's functions

  // Calls wait, in their order, until the page has defined the function.
  const waiting = [];
  let delay = 0;
  let timer = null;

  function call(name, ...values) {
    waiting.push({ name, values });
    if (waiting.length > PUSHES_MAX) waiting.shift();
    deliver();
  }

  function deliver() {
    for (let index = 0; index < waiting.length;) {
      const { name, values } = waiting[index];
      if (typeof window[name] !== 'function') {
        index += 1;
        continue;
      }
      waiting.splice(index, 1);
      // An error in the page must not stop the bridge.
      try { window[name](...values); } catch (error) { console.error(error); }
    }
    if (waiting.length === 0) delay = 0;
    else if (timer === null) look();
  }

  // Looks for the missing function again, with a delay that grows to a second.
  function look() {
    delay = Math.min(1000, delay * 2 || 20);
    timer = setTimeout(() => {
      timer = null;
      deliver();
    }, delay);
  }

  const push = (type, json) => call('onBridgeData', type, json);
  const answer = (body, type, id) => call('bridgeDataResponse', body, String(type), id);

  function failure(code, message) {
    return JSON.stringify({ error: { code, message } });
  }

  // MARK: Messages

  async function post(path, body, options = {}) {
    const headers = secret ? { 'Content-Type': 'text/plain' }
      : { 'Content-Type': 'application/json', 'X-Firebreak-Bridge': '1' };
    return fetch(PLACE + path + KEY, {
      method: 'POST', credentials: secret ? 'omit' : 'same-origin', cache: 'no-store', redirect: 'error',
      headers, body, ...options,
    });
  }

  // A page that was opened before the phone's restart has an old secret.
  async function renewSession() {
    if (secret) return false;
    try { return (await post('session', '')).ok; } catch { return false; }
  }

  async function exchange(message, signal) {
    const body = JSON.stringify(message);
    let response = await post('messages', body, { signal });
    if (response.status === 403 && await renewSession()) {
      response = await post('messages', body, { signal });
    }
    if (response.ok) return (await response.json()).body;
    if (response.status === 403) {
      return failure('offline', 'Open the address that firebreak phone run printed.');
    }
    if (response.status === 413) return failure('tooLarge', 'A message has at most 64 KiB.');
    return failure('badRequest', 'The phone does not understand this message.');
  }

  async function ask(message) {
    const stop = new AbortController();
    const timer = setTimeout(() => stop.abort(), LONG.has(message.type) ? 300000 : 30000);
    try {
      return await exchange(message, stop.signal);
    } catch {
      return stop.signal.aborted
        ? failure('timeout', 'The phone did not answer in time: try again.')
        : failure('offline', 'The phone is not running: start it with firebreak phone run.');
    } finally {
      clearTimeout(timer);
    }
  }

  // A message is sent when the phone has handled all short messages before it.
  let done = Promise.resolve();

  function send(type, data, requestId = null) {
    const number = Number(type);
    const text = data == null || typeof data === 'string' ? data ?? null : JSON.stringify(data);
    if (number === SMS && requestId === null) return Promise.resolve(openMessages(text));
    const message = { type: number, data: text, requestId };
    const result = done.then(() => ask(message));
    if (!LONG.has(number) && requestId === null) done = result.catch(() => {});
    return result;
  }

  // The browser asks the owner before it opens the program for texts.
  function openMessages(text) {
    try {
      const { number, text: body } = JSON.parse(text);
      if (!/^\+?[0-9]{3,20}$/.test(number)) return;
      window.location.href = `sms:${number}?body=${encodeURIComponent(body ?? '')}`;
    } catch (error) { console.error(error); }
  }

  function set(type, data) {
    send(type, data);
  }

  function get(type, data, requestId) {
    send(type, data, requestId == null ? '' : String(requestId))
      .then((body) => answer(body, type, requestId));
  }

  // MARK: The interfaces

  const parsed = (message) => (typeof message === 'string' ? JSON.parse(message) : message);
  const handler = (receive) => ({
    postMessage(message) {
      const { type, data, requestId } = parsed(message);
      receive(type, data, requestId);
      return Promise.resolve();
    },
  });
  const handlers = {
    setBridgeData: handler(set),
    getBridgeData: handler(get),
    bridgeDataRequest: handler(get),
    // The confirmation of an answer. Nothing waits for it.
    bridgeDataReceived: handler(() => {}),
  };
  window.webkit = window.webkit || {};
  window.webkit.messageHandlers = Object.assign(window.webkit.messageHandlers || {}, handlers);
  window.NativeBridge = {
    setBridgeData: set,
    getBridgeData: get,
    bridgeDataRequest: get,
    bridgeDataReceived() {},
  };

  // MARK: Events

  let events = null;
  let isReplaced = false;
  let pause = 1000;

  function connect() {
    isReplaced = false;
    // A page that is shown again may connect before the end of a pause.
    events?.close();
    events = new EventSource(PLACE + 'events' + KEY);
    events.addEventListener('open', () => { pause = 1000; });
    events.addEventListener('push', (event) => {
      const { type, data } = JSON.parse(event.data);
      push(type, data);
    });
    // A newer page takes the place of this one, which connects again when it becomes visible.
    events.addEventListener('replaced', () => {
      isReplaced = true;
      events.close();
    });
    events.addEventListener('error', async () => {
      // Our page asks at once whether the phone still runs; other pages do not know the event.
      if (!isReplaced) window.dispatchEvent(new Event('firebreak-interrupted'));
      // The browser reconnects after an interruption, but not after an error status.
      if (events.readyState !== EventSource.CLOSED || isReplaced) return;
      await renewSession();
      setTimeout(connect, pause);
      pause = Math.min(30000, pause * 2);
    });
  }

  document.addEventListener('visibilitychange', () => {
    const isVisible = document.visibilityState === 'visible';
    if (isVisible && isReplaced) connect();
    else push(11, JSON.stringify({ appState: isVisible ? 1 : 2 }));
  });
  window.addEventListener('focus', () => { if (isReplaced) connect(); });
  window.addEventListener('pagehide', () => events?.close());
  window.addEventListener('pageshow', (event) => { if (event.persisted) connect(); });
  connect();
})();
