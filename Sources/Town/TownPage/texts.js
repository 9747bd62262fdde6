// SPDX-License-Identifier: Apache-2.0
/** The languages of the page, each with its own name. */
export const languages = { en: "English", pl: "polski" };

let texts = {};
let current = "en";

/** The language in use. */
export function language() {
  return current;
}

/** Loads the catalogue of the chosen language, or of the first one of the browser that has one. */
export async function loadTexts(wanted) {
  const tags = [wanted, localStorage.getItem("language"), ...navigator.languages.map((tag) => tag.slice(0, 2))];
  current = tags.find((tag) => tag in languages) ?? "en";
  if (wanted) localStorage.setItem("language", current);
  texts = await (await fetch(`texts/${current}.json`)).json();
  document.documentElement.lang = current;
}

/** The text for `key`, with the values of `{name}` in it. */
export function t(key, values = {}) {
  return (texts[key] ?? key).replace(/\{(\w+)\}/g, (_, name) => values[name] ?? "");
}

/** A person's name as it is shown. */
export function title(name) {
  return name.charAt(0).toUpperCase() + name.slice(1);
}

/** The simulated time, in UTC as the keys of phones are. */
export function time(seconds, options = { dateStyle: "medium", timeStyle: "short" }) {
  return new Intl.DateTimeFormat(current, { timeZone: "UTC", ...options }).format(seconds * 1000);
}
