/** The number of characters of a PIN. */
export const pinLength = 6;

/** Two groups of three characters, as PINs are shown; the second may begin another pair. */
const groupPair = /(?<![\p{L}\p{N}])([0-9A-Z]{3})(?=[ \u00a0-]([0-9A-Z]{3})(?![\p{L}\p{N}]))/gu;
/** Words before a PIN that look like a group. */
const labels = new Set(["PIN", "KOD"]);

/** The characters of a PIN in typed text, in upper case. */
export function cleaned(text) {
  return text.toUpperCase().replace(/[^0-9A-Z]/g, "").slice(0, pinLength);
}

/** A PIN in two groups of three, as it is shown while typing. */
export function grouped(pin) {
  return pin.length > 3 ? `${pin.slice(0, 3)} ${pin.slice(3)}` : pin;
}

/** True if the text is a complete PIN: six letters and digits, at least one of each. */
export function isPIN(pin) {
  return pin.length === pinLength && /[0-9]/.test(pin) && /[A-Z]/.test(pin);
}

/**
 * The PIN in a text: after `pin=` in a link, or a word of six characters, or two of three. `null` if there is none, or
 * several.
 */
export function found(text) {
  const link = /(?:^|[?&#])pin=([0-9a-z %+-]+)/i.exec(text);
  if (link) return checked(cleaned(decoded(link[1].replaceAll("+", " "))));
  const words = text.toUpperCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  const groups = [...text.toUpperCase().matchAll(groupPair)].filter(([, first]) => !labels.has(first));
  const pairs = groups.map(([, first, second]) => first + second);
  for (const candidates of [words, pairs]) {
    const pins = [...new Set(candidates.filter((word) => /^[0-9A-Z]+$/.test(word) && isPIN(word)))];
    if (pins.length > 0) return pins.length === 1 ? pins[0] : null;
  }
  return checked(cleaned(text.trim().length <= pinLength + 3 ? text : ""));
}

function checked(pin) {
  return isPIN(pin) ? pin : null;
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
  const position = typed > 3 ? typed + 1 : typed;
  input.setSelectionRange(position, position);
}
