/** The numbers of characters of a PIN. */
export const pinLengths = { least: 6, most: 10 };

/** The characters of a PIN in typed text, in upper case. */
export function cleaned(text) {
  return text.toUpperCase().replace(/[^0-9A-Z]/g, "").slice(0, pinLengths.most);
}

/** A PIN in groups of three, as it is shown while typing. */
export function grouped(pin) {
  return pin.match(/.{1,3}/g)?.join(" ") ?? "";
}

/** True if the text is a complete PIN: six to ten letters and digits, at least one of each. */
export function isPIN(pin) {
  const { least, most } = pinLengths;
  return pin.length >= least && pin.length <= most && /[0-9]/.test(pin) && /[A-Z]/.test(pin);
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
  const position = typed + Math.max(0, Math.ceil(typed / 3) - 1);
  input.setSelectionRange(position, position);
}
