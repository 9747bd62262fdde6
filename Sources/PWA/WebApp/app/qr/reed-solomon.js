// SPDX-License-Identifier: Apache-2.0
// Numbers from 0 to 255 as elements of the field with 256 elements: sums are exclusive ors, and products
// are sums of logarithms, with the polynomial x⁸ + x⁴ + x³ + x² + 1.
const order = 255;
const powers = new Uint8Array(2 * order);
const logarithms = new Uint8Array(order + 1);
for (let exponent = 0, value = 1; exponent < order; exponent += 1) {
  powers[exponent] = value;
  powers[exponent + order] = value;
  logarithms[value] = exponent;
  value = value < 128 ? value << 1 : (value << 1) ^ 0x11d;
}

function product(one, other) {
  return one === 0 || other === 0 ? 0 : powers[logarithms[one] + logarithms[other]];
}

function quotient(one, other) {
  return one === 0 ? 0 : powers[logarithms[one] + order - logarithms[other]];
}

/** The value of a polynomial whose coefficients begin with the constant one. */
function valueAt(coefficients, x) {
  let value = 0;
  for (let index = coefficients.length - 1; index >= 0; index -= 1) {
    value = product(value, x) ^ coefficients[index];
  }
  return value;
}

/**
 * A block of a Reed-Solomon code without its errors; null if there are more than `correctable`.
 * The last `checks` codewords are the check codewords.
 */
export function corrected(block, checks, correctable) {
  const syndromes = syndromesOf(block, checks);
  if (syndromes.every((value) => value === 0)) return block;
  const locator = locatorOf(syndromes);
  const errors = locator.length - 1;
  if (errors > correctable) return null;
  const evaluator = evaluatorOf(syndromes, locator);
  // The odd terms of the locator are, in this field, the terms of its derivative.
  const slope = locator.map((value, index) => (index % 2 === 1 ? value : 0)).slice(1);
  const result = Uint8Array.from(block);
  let found = 0;
  for (let position = 0; position < block.length; position += 1) {
    const inverse = powers[(order - position) % order];
    if (valueAt(locator, inverse) !== 0) continue;
    found += 1;
    result[block.length - 1 - position] ^=
      product(powers[position], quotient(valueAt(evaluator, inverse), valueAt(slope, inverse)));
  }
  return found === errors && syndromesOf(result, checks).every((value) => value === 0) ? result : null;
}

/** The values of the block at the roots of the generator: all zero if there is no error. */
function syndromesOf(block, checks) {
  const coefficients = Uint8Array.from(block).reverse();
  return Array.from({ length: checks }, (_, index) => valueAt(coefficients, powers[index]));
}

/**
 * The shortest recurrence of the syndromes, by the algorithm of Berlekamp and Massey. Its roots are the
 * places of the errors.
 */
function locatorOf(syndromes) {
  let locator = [1];
  let older = [1];
  let length = 0;
  let shift = 1;
  let olderDifference = 1;
  syndromes.forEach((_, index) => {
    let difference = 0;
    for (let at = 0; at < locator.length; at += 1) {
      if (at <= index) difference ^= product(locator[at], syndromes[index - at]);
    }
    if (difference === 0) {
      shift += 1;
      return;
    }
    const factor = quotient(difference, olderDifference);
    const next = [...locator];
    older.forEach((value, at) => {
      next[at + shift] = (next[at + shift] ?? 0) ^ product(factor, value);
    });
    for (let at = 0; at < next.length; at += 1) next[at] ??= 0;
    if (2 * length <= index) {
      length = index + 1 - length;
      older = locator;
      olderDifference = difference;
      shift = 1;
    } else {
      shift += 1;
    }
    locator = next;
  });
  while (locator.length > 1 && locator.at(-1) === 0) locator.pop();
  return locator;
}

/** The product of syndromes and locator without its high terms, which gives the sizes of the errors. */
function evaluatorOf(syndromes, locator) {
  return syndromes.map((_, index) => {
    let sum = 0;
    for (let at = 0; at < locator.length && at <= index; at += 1) {
      sum ^= product(locator[at], syndromes[index - at]);
    }
    return sum;
  });
}
