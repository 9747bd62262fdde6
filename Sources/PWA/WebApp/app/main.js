// SPDX-License-Identifier: Apache-2.0
import { onPush } from "./bridge-client.js";
import { forgetAnnouncement } from "./announce.js";
import { drawFrame } from "./frame.js";
import { allowedPath } from "./onboarding-guard.js";
import { go, redraw, redrawIfLive, startRouter } from "./router.js";
import { pathOfRoute } from "./routes.js";
import { screens } from "./screens.js";
import { refreshState, startStore, store, subscribe } from "./store.js";
import { browserLanguage, language, loadTexts } from "./texts.js";

/** The interval after which times such as "5 minutes ago" are drawn again, in milliseconds. */
const redrawInterval = 60_000;

/** The language of the phone's last state. Only a change of it overrules the person's latest choice. */
let phoneLanguage;

async function start() {
  startStore();
  onPush((type, value) => {
    const path = type === 69 ? pathOfRoute(value) : null;
    if (path) go(path);
  });
  await Promise.all([loadTexts(browserLanguage()), refreshState()]);
  phoneLanguage = store.state?.language;
  // Before the owner has chosen a language, the first pages have that of the browser.
  const isBrowserLanguage = store.state?.onboarding === "new" && !store.state.languageChosen;
  if (!isBrowserLanguage) await loadTexts(phoneLanguage);
  drawFrame();
  await startRouter(screens, allowedPath);
  subscribe(update);
  setInterval(() => {
    if (document.visibilityState === "visible") redrawIfLive();
  }, redrawInterval);
  navigator.serviceWorker?.register("/service-worker.js").catch(() => {});
}

async function update() {
  const before = language();
  if (store.state?.language !== phoneLanguage) {
    phoneLanguage = store.state?.language;
    await loadTexts(phoneLanguage);
  }
  drawFrame();
  if (before === language()) return redrawIfLive();
  forgetAnnouncement();
  return redraw();
}

start();
