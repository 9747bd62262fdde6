// SPDX-License-Identifier: Apache-2.0
// The files of the app, kept so that it opens while the phone process is not running. Everything
// comes from the network first: the copy is used only if there is no answer. Messages, events and
// whatever they carry are never kept.

const cacheName = "firebreak-files";
const files = [
  "/", "/manifest.webmanifest", "/icons/icon.svg", "/icons/icon-192.png", "/icons/icon-512.png",
  "/styles/base.css", "/styles/parts.css", "/styles/screens.css", "/firebreak/bridge.js",
  "/firebreak/pointer-guard.js",
  ...["en", "pl", "de", "uk"].map((language) => `/firebreak/texts/${language}.json`),
  ...["main", "announce", "bridge-client", "dialog", "dom", "format", "frame", "icons", "message-error",
    "onboarding-guard", "router", "routes", "screens", "store", "texts"].map((name) => `/app/${name}.js`),
  ...["bands", "basics", "check", "following-days", "form", "pin", "problems", "qr", "share-draft"]
    .map((name) => `/app/parts/${name}.js`),
  ...["blocks", "contrast", "finders", "grid", "locate", "read", "reed-solomon", "segments", "symbol", "version"]
    .map((name) => `/app/qr/${name}.js`),
  ...["about", "advice", "delete", "developer", "history", "home", "more", "onboarding", "pages",
    "settings", "share-pin", "share-result", "share-review", "share-steps", "traffic", "why"]
    .map((name) => `/app/screens/${name}.js`),
];

self.addEventListener("install", (event) => {
  event.waitUntil(keepFiles());
  self.skipWaiting();
});

self.addEventListener("activate", (event) => {
  event.waitUntil(removeOtherCaches());
  self.clients.claim();
});

self.addEventListener("fetch", (event) => {
  const { request } = event;
  const url = new URL(request.url);
  const isOurs = url.origin === self.location.origin && request.method === "GET";
  if (isOurs && isFile(url, request) && request.cache !== "no-store") {
    event.respondWith(networkFirst(request));
  }
});

function isFile(url, request) {
  return request.mode === "navigate" ? url.pathname === "/" : files.includes(url.pathname);
}

async function networkFirst(request) {
  const key = request.mode === "navigate" ? "/" : request;
  try {
    const answer = await fetch(request);
    if (answer.ok && !new URL(request.url).search) {
      const cache = await caches.open(cacheName);
      await cache.put(key, answer.clone());
    }
    return answer;
  } catch (error) {
    const kept = await caches.match(key, { cacheName });
    if (kept) return kept;
    throw error;
  }
}

async function keepFiles() {
  const cache = await caches.open(cacheName);
  await Promise.all(files.map((file) => cache.add(new Request(file, { cache: "no-cache" }))
    .catch(() => {})));
}

async function removeOtherCaches() {
  for (const name of await caches.keys()) {
    if (name.startsWith("firebreak-") && name !== cacheName) await caches.delete(name);
  }
}
