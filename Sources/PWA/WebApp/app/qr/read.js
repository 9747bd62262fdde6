// SPDX-License-Identifier: Apache-2.0
import { contrastOf, greyOf, halved } from "./contrast.js";
import { triplesIn } from "./finders.js";
import { modulesOf } from "./grid.js";
import { gridsOf } from "./locate.js";
import { textOf, transposed } from "./symbol.js";

/** The shorter side of the smallest copy of a picture that is looked at, in pixels. */
const sideMin = 150;

/**
 * The text of the QR code in a picture, or null. The picture is an `ImageData`, or has its `width`,
 * `height` and `data`. If it has no legible code in its own size, smaller copies are tried, which have
 * less noise.
 */
export function readCode(picture) {
  let grey = greyOf(picture);
  let text = textIn(grey);
  while (text === null && Math.min(grey.width, grey.height) >= 2 * sideMin) {
    grey = halved(grey);
    text = textIn(grey);
  }
  return text;
}

/** Each step finds several candidates: only the error correction can tell which of them is right. */
function textIn(grey) {
  const contrast = contrastOf(grey);
  for (const triple of triplesIn(contrast)) {
    for (const grid of gridsOf(contrast, triple)) {
      const modules = modulesOf(contrast, grid);
      // In a mirror, the rows and columns of a code are exchanged.
      const text = textOf(modules, grid.version) ?? textOf(transposed(modules), grid.version);
      if (text !== null) return text;
    }
  }
  return null;
}
