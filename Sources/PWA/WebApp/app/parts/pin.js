// SPDX-License-Identifier: Apache-2.0
/** The numbers of characters of a PIN. */
export const pinLengths = { least: 6, most: 10 };
/** The numbers of digits of a doctor's code. */
const codeLengths = { least: 6, usual: 8, most: 11 };

/** Two groups of three characters, as PINs are shown; the second may begin another pair. */
const groupPair = /(?<![\p{L}\p{N}])([0-9A-Z]{3})(?=[ \u00a0-]([0-9A-Z]{3})(?![\p{L}\p{N}]))/gu;
/** Words before a PIN that look like a group. */
const labels = new Set(["PIN", "KOD"]);

/** Cyrillic letters that look like Latin ones, and those, in the same order. */
const [cyrillic, latin] = ["АВЕІКМНОРСТУХ", "ABEIKMHOPCTYX"];

/** The letters and digits of a text, in upper case. Cyrillic letters that look like Latin ones are those. */
function characters(text) {
  const upper = text.toUpperCase().replace(/[А-ЯІ]/g, (letter) => latin[cyrillic.indexOf(letter)] ?? letter);
  return upper.replace(/[^0-9A-Z]/g, "");
}

/** The characters of a PIN in typed text, in upper case. */
export function cleaned(text) {
  const all = characters(text);
  return all.slice(0, /[A-Z]/.test(all) ? pinLengths.most : codeLengths.most);
}

/** A PIN in groups of three, as it is shown while typing. */
export function grouped(pin) {
  return pin.match(/.{1,3}/g)?.join(" ") ?? "";
}

/** True if the text is a complete PIN, or a doctor's code: six to eleven digits. */
export function isPIN(pin) {
  return isMixed(pin) || (isWithin(pin, codeLengths) && /^[0-9]+$/.test(pin));
}

/** True for six to ten letters and digits, at least one of each. Digits alone in a text may be a telephone number. */
function isMixed(pin) {
  return isWithin(pin, pinLengths) && /[0-9]/.test(pin) && /[A-Z]/.test(pin);
}

function isWithin(pin, { least, most }) {
  return pin.length >= least && pin.length <= most;
}

/**
 * The PIN in a text: after `pin=` in a link, alone in groups of three, or a word of six to ten characters, or two of
 * three. `null` if there is none, or several.
 */
export function found(text) {
  const link = /(?:^|[?&#])pin=([0-9a-z %+-]+)/i.exec(text);
  if (link) return checked(characters(decoded(link[1].replaceAll("+", " "))));
  const alone = text.trim().replace(/^PIN\b[:\s]*/i, "");
  const isGrouped = /^([0-9a-z]{3} )+[0-9a-z]{1,3}$/i.test(alone);
  if (isGrouped && isMixed(alone.toUpperCase().replaceAll(" ", ""))) return cleaned(alone);
  const words = text.toUpperCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  const groups = [...text.toUpperCase().matchAll(groupPair)].filter(([, first]) => !labels.has(first));
  const pairs = groups.map(([, first, second]) => first + second);
  for (const candidates of [words, pairs]) {
    const pins = [...new Set(candidates.filter((word) => /^[0-9A-Z]+$/.test(word) && isMixed(word)))];
    if (pins.length > 0) return pins.length === 1 ? pins[0] : null;
  }
  return checked(text.trim().length <= codeLengths.most + 3 ? characters(text) : "");
}

/** A PIN or a doctor's code of the usual length. */
function checked(pin) {
  return isMixed(pin) || (isPIN(pin) && pin.length === codeLengths.usual) ? pin : null;
}

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Formats the input while the user types and keeps the position of the cursor. */
export function format(input) {
  const before = input.value.slice(0, input.selectionStart ?? input.value.length);
  const typed = cleaned(before).length;
  input.value = grouped(cleaned(input.value));
  const position = typed + Math.max(0, Math.ceil(typed / 3) - 1);
  input.setSelectionRange(position, position);
}
