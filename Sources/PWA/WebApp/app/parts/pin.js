/** The number of characters of a PIN. */
export const pinLength = 6;

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

/** The PIN in a text: a link with `pin=`, a sentence that has one, or the PIN alone. */
export function found(text) {
  const link = /[?&#]pin=([0-9a-z %+-]+)/i.exec(text);
  if (link) return cleaned(decodeURIComponent(link[1].replaceAll("+", " ")));
  const words = text.toUpperCase().match(/[0-9A-Z]+/g) ?? [];
  return words.find(isPIN) ?? cleaned(text);
}

/** Formats the input while the user types and keeps the position of the cursor. */
export function format(input) {
  const before = input.value.slice(0, input.selectionStart ?? input.value.length);
  const typed = cleaned(before).length;
  input.value = grouped(cleaned(input.value));
  const position = typed > 3 ? typed + 1 : typed;
  input.setSelectionRange(position, position);
}
