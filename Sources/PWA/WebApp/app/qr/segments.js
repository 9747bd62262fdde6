// SPDX-License-Identifier: Apache-2.0
const alphanumeric = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ $%*+-./:";
/** The designator that announces UTF-8. */
const utf8 = 26;

/**
 * The kinds of segments by their mode: the bits of the number of characters in small, middle and large
 * versions, and the characters.
 */
const kinds = {
  1: { countBits: [10, 12, 14], read: digits },
  2: { countBits: [9, 11, 13], read: capitals },
  4: { countBits: [8, 16, 16], read: bytes },
};
const endMode = 0;
const designatorMode = 7;

/** The text of the data of a code; null if it ends too early or has a segment that is not text. */
export function textFrom(data, version) {
  const source = { data, position: 0 };
  const size = version < 10 ? 0 : version < 27 ? 1 : 2;
  let text = "";
  let designator = null;
  while (8 * data.length - source.position >= 4) {
    const mode = take(source, 4);
    if (mode === endMode) break;
    if (mode === designatorMode) {
      designator = takeDesignator(source);
      continue;
    }
    const kind = kinds[mode];
    const part = kind?.read(source, take(source, kind.countBits[size]), designator);
    if (part === undefined || part === null) return null;
    text += part;
  }
  return source.position <= 8 * data.length ? text : null;
}

/** The next bits as a number. Bits after the end are zero. */
function take(source, count) {
  let value = 0;
  for (const end = source.position + count; source.position < end; source.position += 1) {
    const byte = source.data[source.position >> 3] ?? 0;
    value = 2 * value + ((byte >> (7 - (source.position & 7))) & 1);
  }
  return value;
}

/** The number of a character set, in one, two or three bytes. */
function takeDesignator(source) {
  const first = take(source, 8);
  if (first < 0x80) return first;
  return first < 0xc0 ? ((first & 0x3f) << 8) | take(source, 8) : ((first & 0x1f) << 16) | take(source, 16);
}

function digits(source, count) {
  return groups(count, 3, (length) => {
    const value = take(source, [0, 4, 7, 10][length]);
    return value < 10 ** length ? String(value).padStart(length, "0") : null;
  });
}

function capitals(source, count) {
  const base = alphanumeric.length;
  return groups(count, 2, (length) => {
    const value = take(source, [0, 6, 11][length]);
    if (value >= base ** length) return null;
    return (length === 2 ? alphanumeric[Math.floor(value / base)] : "") + alphanumeric[value % base];
  });
}

/** The characters of groups of at most `most` characters; null if one of them is not valid. */
function groups(count, most, read) {
  let text = "";
  for (let left = count; left > 0; left -= most) {
    const group = read(Math.min(left, most));
    if (group === null) return null;
    text += group;
  }
  return text;
}

/** Without a designator the characters are UTF-8 if they can be, as most programs write them. */
function bytes(source, count, designator) {
  const values = Uint8Array.from({ length: count }, () => take(source, 8));
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(values);
  } catch {
    return designator === utf8 ? null : new TextDecoder("windows-1252").decode(values);
  }
}
