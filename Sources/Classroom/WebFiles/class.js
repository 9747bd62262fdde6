// SPDX-License-Identifier: Apache-2.0
// Keeps a page up to date: after each change of the lesson, its parts with `data-live` are loaded again.
import { drawUnpressed } from './pointer-guard.js';

const connection = document.getElementById('connection');
const page = document.body.classList.contains('teacher') ? '/teacher' : '/phone';
let isLoading = false;
let isStale = false;
let loads = 0;

// Replaces the parts that have changed. A button that has the focus keeps it. While a pointer is pressed, it waits.
function show(html) {
  drawUnpressed('page', () => draw(html));
}

function draw(html) {
  const next = new DOMParser().parseFromString(html, 'text/html');
  const focused = document.activeElement?.id;
  for (const part of document.querySelectorAll('[data-live]')) {
    const content = next.getElementById(part.id);
    if (content && content.innerHTML !== part.innerHTML) part.innerHTML = content.innerHTML;
  }
  if (focused && document.activeElement?.id !== focused) document.getElementById(focused)?.focus();
}

async function load() {
  if (isLoading) {
    isStale = true;
    return;
  }
  isLoading = true;
  loads += 1;
  try {
    const response = await fetch(page);
    if (response.ok && !response.redirected) show(await response.text());
    else location.reload();
  } catch {
    // The stream of events reports that the server is reachable again.
  }
  isLoading = false;
  if (isStale) {
    isStale = false;
    load();
  }
}

let events = null;

function showLoss() {
  document.body.dataset.stream = 'lost';
  connection.textContent = connection.dataset.lost;
}

function follow() {
  events?.close();
  events = new EventSource(`${page}/events`);
  events.addEventListener('change', load);
  events.addEventListener('open', () => {
    document.body.dataset.stream = 'open';
    connection.textContent = '';
  });
  events.addEventListener('error', () => {
    showLoss();
    // The browser gives up if the server refuses: the phone was given back, or the class was started again.
    if (events.readyState === EventSource.CLOSED) setTimeout(() => location.reload(), 3000);
  });
}

// Sends forms without leaving the page. The response is the page with the result, or a message.
document.addEventListener('submit', async (event) => {
  const form = event.target;
  if (form.action.endsWith('/leave')) return;
  event.preventDefault();
  const loadsBefore = loads;
  try {
    const response = await fetch(form.action, {
      method: 'POST', body: new URLSearchParams(new FormData(form)),
    });
    const html = await response.text();
    if (response.ok) {
      connection.textContent = '';
      // The response may be older than a page that was loaded meanwhile.
      if (loads === loadsBefore) show(html);
      load();
      form.reset();
    } else {
      const message = new DOMParser().parseFromString(html, 'text/html').querySelector('main p');
      connection.textContent = message?.textContent ?? '';
    }
  } catch {
    connection.textContent = connection.dataset.lost;
  }
});

// A stream that has lost its network may stay open for minutes without an error.
addEventListener('offline', showLoss);
addEventListener('online', follow);
// A page that comes back from the browser's memory has no stream.
addEventListener('pageshow', (event) => { if (event.persisted) follow(); });
follow();
