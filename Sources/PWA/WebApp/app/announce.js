// SPDX-License-Identifier: Apache-2.0
/** The time after which a message may be repeated to a screen reader, in milliseconds. */
const pause = 100;

/** Tells a screen reader something without moving the focus. */
export function announce(text) {
  const place = document.getElementById("announcements");
  place.textContent = "";
  setTimeout(() => {
    place.textContent = text;
  }, pause);
}

/** Removes what was said on another screen or in another language. */
export function forgetAnnouncement() {
  document.getElementById("announcements").textContent = "";
}
