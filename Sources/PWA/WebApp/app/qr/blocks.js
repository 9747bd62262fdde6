// SPDX-License-Identifier: Apache-2.0
import { corrected } from "./reed-solomon.js";

/**
 * The check codewords of each block and the number of blocks, by level and then by version from 1 to 40.
 */
const checksPerBlock = {
  L: [7, 10, 15, 20, 26, 18, 20, 24, 30, 18, 20, 24, 26, 30, 22, 24, 28, 30, 28, 28,
    28, 28, 30, 30, 26, 28, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30],
  M: [10, 16, 26, 18, 24, 16, 18, 22, 22, 26, 30, 22, 22, 24, 24, 28, 28, 26, 26, 26,
    26, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28],
  Q: [13, 22, 18, 26, 18, 24, 18, 22, 20, 24, 28, 26, 24, 20, 30, 24, 28, 28, 26, 30,
    28, 30, 30, 30, 30, 28, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30],
  H: [17, 28, 22, 16, 22, 28, 26, 26, 24, 28, 24, 28, 22, 24, 24, 30, 28, 28, 26, 28,
    30, 24, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30],
};
const blocks = {
  L: [1, 1, 1, 1, 1, 2, 2, 2, 2, 4, 4, 4, 4, 4, 6, 6, 6, 6, 7, 8,
    8, 9, 9, 10, 12, 12, 12, 13, 14, 15, 16, 17, 18, 19, 19, 20, 21, 22, 24, 25],
  M: [1, 1, 1, 2, 2, 4, 4, 4, 5, 5, 5, 8, 9, 9, 10, 10, 11, 13, 14, 16,
    17, 17, 18, 20, 21, 23, 25, 26, 28, 29, 31, 33, 35, 37, 38, 40, 43, 45, 47, 49],
  Q: [1, 1, 2, 2, 4, 4, 6, 6, 8, 8, 8, 10, 12, 16, 12, 17, 16, 18, 21, 20,
    23, 23, 25, 27, 29, 34, 34, 35, 38, 40, 43, 45, 48, 51, 53, 56, 59, 62, 65, 68],
  H: [1, 1, 2, 4, 4, 4, 5, 6, 8, 8, 11, 11, 16, 16, 18, 16, 19, 21, 25, 25,
    25, 34, 30, 32, 35, 37, 40, 42, 45, 48, 51, 54, 57, 60, 63, 66, 70, 74, 77, 81],
};
/** The check codewords of small codes that only detect errors, so that a wrong correction is unlikely. */
const detectingOnly = { L: [3, 2, 1], M: [2], Q: [1], H: [1] };

/** The data of the codewords of a code, corrected; null if there are too many errors. */
export function dataOf(codewords, version, level) {
  const count = blocks[level][version - 1];
  const checks = checksPerBlock[level][version - 1];
  const correctable = (checks - (detectingOnly[level][version - 1] ?? 0)) >> 1;
  const parts = [];
  for (const block of separated(codewords, count, checks)) {
    const right = corrected(block, checks, correctable);
    if (!right) return null;
    parts.push(...right.subarray(0, right.length - checks));
  }
  return Uint8Array.from(parts);
}

/**
 * The blocks of codewords that alternate: first the data of all blocks, then their check codewords. The
 * last blocks may have one data codeword more than the first ones.
 */
function separated(codewords, count, checks) {
  const shortest = Math.floor(codewords.length / count) - checks;
  const longer = codewords.length % count;
  const found = Array.from({ length: count }, (_, index) =>
    new Uint8Array(shortest + checks + (index >= count - longer ? 1 : 0)));
  let next = 0;
  for (let at = 0; at <= shortest; at += 1) {
    for (const block of found) if (at < block.length - checks) block[at] = codewords[next++];
  }
  for (let at = checks; at > 0; at -= 1) {
    for (const block of found) block[block.length - at] = codewords[next++];
  }
  return found;
}
