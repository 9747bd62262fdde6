// SPDX-License-Identifier: Apache-2.0
/** The languages of the catalogues, each with its own name. */
export const languages = { en: "English", pl: "polski", de: "Deutsch", uk: "українська" };

let catalogue = { language: "en", texts: {} };
let plurals = new Intl.PluralRules("en");

/** The language in use. */
export function language() {
  return catalogue.language;
}

/** The first language of the browser that has a catalogue. */
export function browserLanguage() {
  const known = navigator.languages.map((tag) => tag.slice(0, 2).toLowerCase());
  return known.find((tag) => tag in languages) ?? "en";
}

/** Loads a catalogue. The document takes its language when the screen is drawn. Keeps the current one on failure. */
export async function loadTexts(wanted) {
  const tag = wanted?.toLowerCase();
  if (!(tag in languages) || (tag === catalogue.language && hasText("app.name"))) return;
  try {
    const answer = await fetch(`/firebreak/texts/${tag}.json`);
    if (!answer.ok) return;
    catalogue = await answer.json();
  } catch {
    return;
  }
  plurals = new Intl.PluralRules(tag);
}

/** True if the catalogue has a text. */
export function hasText(key) {
  return key in catalogue.texts;
}

/** The text of a key with its placeholders filled. */
export function t(key, values = {}) {
  return filled(catalogue.texts[key] ?? key, values);
}

/** The text of a key in the plural form for `count`; `{count}` is the number itself. */
export function plural(key, count, values = {}) {
  const form = catalogue.texts[`${key}#${plurals.select(count)}`] ?? catalogue.texts[`${key}#other`];
  const number = new Intl.NumberFormat(catalogue.language).format(count);
  return filled(form ?? key, { count: number, ...values });
}

/** The numbered texts `KEY.1`, `KEY.2` and so on, with their placeholders filled. */
export function list(key, values) {
  const found = [];
  while (hasText(`${key}.${found.length + 1}`)) found.push(t(`${key}.${found.length + 1}`, values));
  return found;
}

function filled(text, values) {
  return text.replace(/\{(\w+)\}/g, (all, name) => (name in values ? String(values[name]) : all));
}
