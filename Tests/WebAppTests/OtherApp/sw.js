// SPDX-License-Identifier: Apache-2.0
self.addEventListener('install', function (event) {
  event.waitUntil(caches.open('other-app').then(function (cache) {
    return cache.addAll(['/', '/static/app.js', '/static/app.css']);
  }));
  self.skipWaiting();
});

self.addEventListener('activate', function (event) {
  event.waitUntil(self.clients.claim());
});

self.addEventListener('fetch', function (event) {
  if (event.request.method !== 'GET') return;
  event.respondWith(caches.match(event.request).then(function (kept) {
    return kept || fetch(event.request);
  }));
});
