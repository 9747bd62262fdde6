// SPDX-License-Identifier: Apache-2.0
import { dataOf } from "./blocks.js";
import { textFrom } from "./segments.js";
import { place, placesOf } from "./version.js";

/** The levels of error correction in the order of their numbers. */
const levels = ["M", "L", "H", "Q"];
/** The generator polynomial of the formats' BCH code, and the mask of the formats. */
const formatGenerator = 0b10100110111;
const formatPattern = 0b101010000010010;
/** The number of wrong bits that can be corrected in a format. */
const formatErrorsMax = 3;

/** The masks by number: a module is inverted if the value for its row and column is zero. */
const masks = [
  (row, column) => (row + column) % 2,
  (row) => row % 2,
  (row, column) => column % 3,
  (row, column) => (row + column) % 3,
  (row, column) => ((row >> 1) + Math.floor(column / 3)) % 2,
  (row, column) => ((row * column) % 2) + ((row * column) % 3),
  (row, column) => (((row * column) % 2) + ((row * column) % 3)) % 2,
  (row, column) => (((row + column) % 2) + ((row * column) % 3)) % 2,
];

/** All formats: a level, a mask and the fifteen bits that stand for them. */
const formats = Array.from({ length: 32 }, (_, number) => {
  let rest = number << 10;
  for (let bit = 14; bit >= 10; bit -= 1) if ((rest >> bit) & 1) rest ^= formatGenerator << (bit - 10);
  const bits = ((number << 10) | rest) ^ formatPattern;
  return { level: levels[number >> 3], mask: masks[number & 7], bits };
});

/** The text of a code, or null. `modules` has a 1 for every dark module, row by row. */
export function textOf(modules, version) {
  const side = Math.sqrt(modules.length);
  const format = formatOf(modules, side);
  if (!format) return null;
  const data = dataOf(codewordsOf(modules, version, side, format.mask), version, format.level);
  return data && textFrom(data, version);
}

/** The format, which is written twice with fifteen bits each; null if neither is legible. */
function formatOf(modules, side) {
  const copies = [0, 0];
  for (let bit = 14; bit >= 0; bit -= 1) {
    const [near, far] = placesOfFormat(bit, side);
    copies[0] = (copies[0] << 1) | modules[near[0] * side + near[1]];
    copies[1] = (copies[1] << 1) | modules[far[0] * side + far[1]];
  }
  let best = null;
  let fewest = Infinity;
  for (const format of formats) {
    const [one, other] = copies.map((copy) => ones(copy ^ format.bits)).sort((a, b) => a - b);
    // The better copy decides; the other copy breaks ties.
    const errors = one + other / 16;
    if (one <= formatErrorsMax && errors < fewest) [best, fewest] = [format, errors];
  }
  return best;
}

/** The rows and columns of a bit of the format: around the first finder pattern, and at the other two. */
function placesOfFormat(bit, side) {
  // The timing patterns are skipped.
  if (bit < 8) return [[bit < 6 ? bit : bit + 1, 8], [8, side - 1 - bit]];
  return [[8, bit === 8 ? 7 : 14 - bit], [side - 15 + bit, 8]];
}

function ones(bits) {
  let count = 0;
  for (let left = bits; left > 0; left >>= 1) count += left & 1;
  return count;
}

/** The codewords: columns in pairs from right to left, up and down in turn. */
function codewordsOf(modules, version, side, mask) {
  const places = placesOf(version);
  const codewords = [];
  let bits = 1;
  let goesUp = true;
  for (let right = side - 1; right > 0; right -= 2) {
    // The column of the vertical timing pattern has no data.
    if (right === 6) right -= 1;
    for (let step = 0; step < side; step += 1) {
      const row = goesUp ? side - 1 - step : step;
      for (const column of [right, right - 1]) {
        if (places[row * side + column] !== place.data) continue;
        bits = 2 * bits + (modules[row * side + column] ^ (mask(row, column) === 0 ? 1 : 0));
        if (bits < 256) continue;
        codewords.push(bits - 256);
        bits = 1;
      }
    }
    goesUp = !goesUp;
  }
  return codewords;
}

/** The modules with rows and columns exchanged. */
export function transposed(modules) {
  const side = Math.sqrt(modules.length);
  return modules.map((_, index) => modules[(index % side) * side + Math.floor(index / side)]);
}
