// SPDX-License-Identifier: Apache-2.0
// Checks of WCAG 2.2 criteria that axe does not check, or only in part. The body of a function that is run in the page
// under test; it returns the violations as a list of {rule, selector, detail}, and leaves the page as it was.
'use strict';

const violations = [];
const report = (rule, element, detail) =>
  violations.push({ rule, selector: selectorOf(element), detail });

function selectorOf(element) {
  if (!element || element === document.documentElement) return 'html';
  if (element.id) return `#${element.id}`;
  const parent = element.parentElement;
  const name = element.localName;
  if (!parent) return name;
  const place = [...parent.children].indexOf(element) + 1;
  return `${selectorOf(parent)} > ${name}:nth-child(${place})`;
}

const interactive = [
  'a[href]', 'button', 'input:not([type=hidden])', 'select', 'textarea', 'summary', '[tabindex]',
  '[role=button]', '[role=link]', '[role=tab]', '[role=switch]', '[role=checkbox]', '[role=radio]',
].join(',');

const isVisible = element => element.checkVisibility({ opacityProperty: true, visibilityProperty: true })
  && element.getClientRects().length > 0;
// Content for screen readers only, and links that appear when they get the focus.
const isClippedAway = element => {
  const box = element.getBoundingClientRect();
  return box.width <= 1 || box.height <= 1 || box.right <= 0 || box.bottom <= 0;
};
const targets = [...document.querySelectorAll(interactive)].filter(element =>
  isVisible(element) && !element.disabled && !element.closest('[inert]')
  && !(element.tabIndex < 0 && !element.matches('a[href],button,input,select,textarea,summary')));

// ---- 2.5.8 Target Size (Minimum) ----

const minimumSize = 24;

// A link in a line of text, whose height the text determines.
function isInline(element) {
  if (!element.matches('a[href]') || getComputedStyle(element).display !== 'inline') return false;
  const block = element.parentElement.closest('p,li,dd,dt,td,th,blockquote,figcaption,label,span,div');
  return !!block && block.textContent.trim().length > element.textContent.trim().length;
}

// A control inside its label is as large as the label.
function boxOfTarget(element) {
  const box = element.getBoundingClientRect();
  const label = element.matches('input') && element.labels && element.labels[0];
  if (!label) return box;
  const other = label.getBoundingClientRect();
  return other.width * other.height > box.width * box.height ? other : box;
}

// The bar or the dialog that stays where it is while the page scrolls. What scrolls under it can be scrolled out again.
function fixedPart(element) {
  for (let node = element; node; node = node.parentElement) {
    if (['fixed', 'sticky'].includes(getComputedStyle(node).position)) return node;
  }
  return null;
}

function checkTargetSizes() {
  const boxes = targets.filter(element => !isInline(element) && !isClippedAway(element))
    .map(element => ({ element, box: boxOfTarget(element), part: fixedPart(element) }));
  const isSmall = ({ box }) => box.width < minimumSize - 0.01 || box.height < minimumSize - 0.01;
  for (const small of boxes.filter(isSmall)) {
    const x = small.box.x + small.box.width / 2;
    const y = small.box.y + small.box.height / 2;
    const neighbour = boxes.find(other => {
      if (other === small || other.part !== small.part || other.element.contains(small.element)
        || small.element.contains(other.element)) return false;
      if (isSmall(other)) {
        const dx = other.box.x + other.box.width / 2 - x;
        const dy = other.box.y + other.box.height / 2 - y;
        return Math.hypot(dx, dy) < minimumSize;
      }
      const dx = Math.max(other.box.left - x, 0, x - other.box.right);
      const dy = Math.max(other.box.top - y, 0, y - other.box.bottom);
      return Math.hypot(dx, dy) < minimumSize / 2;
    });
    if (neighbour) {
      report('target-size', small.element, `${Math.round(small.box.width)} by `
        + `${Math.round(small.box.height)} px, too close to ${selectorOf(neighbour.element)}`);
    }
  }
}

// ---- 1.4.10 Reflow, 1.4.12 Text Spacing, 1.4.4 Resize Text ----

function checkOverflow(rule, includesPage = true) {
  const page = document.scrollingElement;
  if (includesPage && page.scrollWidth > window.innerWidth + 1) {
    const wide = [...document.body.querySelectorAll('*')].filter(element =>
      isVisible(element) && !isClippedAway(element)
      && element.getBoundingClientRect().right > window.innerWidth + 1);
    report(rule, wide.at(-1) ?? document.documentElement,
      `the page is ${page.scrollWidth} px wide in a window of ${window.innerWidth} px`);
  }
  for (const element of document.body.querySelectorAll('*')) {
    if (!isVisible(element) || !element.textContent.trim() || isClippedAway(element)) continue;
    const style = getComputedStyle(element);
    const clips = overflow => overflow === 'hidden' || overflow === 'clip';
    if (clips(style.overflowX) && element.scrollWidth > element.clientWidth + 1) {
      report(rule, element, 'text is cut off at the right');
    }
    if (clips(style.overflowY) && element.scrollHeight > element.clientHeight + 1) {
      report(rule, element, 'text is cut off at the bottom');
    }
  }
}

function withStyle(rules, check) {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(rules);
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
  try {
    check();
  } finally {
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter(other => other !== sheet);
  }
}

function checkText() {
  checkOverflow('reflow');
  withStyle(`* { line-height: 1.5 !important; letter-spacing: 0.12em !important;
    word-spacing: 0.16em !important } p { margin-bottom: 2em !important }`,
  () => checkOverflow('text-spacing'));
  // A page that is too wide with larger text can be zoomed instead, which `reflow` checks in the small window.
  withStyle('html { font-size: 200% !important }', () => checkOverflow('resize-text', false));
}

// ---- 2.4.7 Focus Visible, 2.4.11 Focus Not Obscured, 2.4.3 Focus Order ----

const canvas = Object.assign(document.createElement('canvas'), { width: 1, height: 1 });
const pixels = canvas.getContext('2d', { willReadFrequently: true });

function channels(color) {
  pixels.clearRect(0, 0, 1, 1);
  pixels.fillStyle = color;
  pixels.fillRect(0, 0, 1, 1);
  return [...pixels.getImageData(0, 0, 1, 1).data];
}

function backgroundBehind(element) {
  for (let node = element; node; node = node.parentElement) {
    const color = channels(getComputedStyle(node).backgroundColor);
    if (color[3] === 255) return color;
  }
  return channels('Canvas');
}

function contrast(first, second) {
  const luminance = color => {
    const [r, g, b] = color.slice(0, 3).map(value => {
      const part = value / 255;
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const [dark, light] = [luminance(first), luminance(second)].sort((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}

const contrastMinimum = 3;
const outlineMinimum = 2;

function checkIndicator(element) {
  const style = getComputedStyle(element);
  const width = parseFloat(style.outlineWidth);
  // The browser's own ring has two colors, one of which contrasts.
  if (style.outlineStyle === 'auto') return;
  if (style.outlineStyle === 'none' || width < outlineMinimum) {
    report('focus-visible', element, `no outline of at least ${outlineMinimum} px`);
    return;
  }
  const behind = backgroundBehind(
    parseFloat(style.outlineOffset) >= 0 ? element.parentElement ?? element : element);
  const ratio = contrast(channels(style.outlineColor), behind);
  if (ratio < contrastMinimum) {
    report('focus-visible', element, `the outline has a contrast of ${ratio.toFixed(2)}`);
  }
}

function checkObscured(element) {
  const box = element.getBoundingClientRect();
  if (box.bottom <= 0 || box.top >= window.innerHeight || box.right <= 0
    || box.left >= window.innerWidth) {
    report('focus-not-obscured', element, 'the focused element is outside of the window');
    return;
  }
  const left = Math.max(box.left, 0) + 1;
  const right = Math.min(box.right, window.innerWidth) - 1;
  const top = Math.max(box.top, 0) + 1;
  const bottom = Math.min(box.bottom, window.innerHeight) - 1;
  const points = [0.02, 0.25, 0.5, 0.75, 0.98].flatMap(x =>
    [0.05, 0.5, 0.95].map(y => [left + x * (right - left), top + y * (bottom - top)]));
  const isSeen = ([x, y]) => {
    const hit = document.elementFromPoint(x, y);
    return !!hit && (element.contains(hit) || hit.contains(element)
      || [...(element.labels ?? [])].some(label => label.contains(hit)));
  };
  if (!points.some(isSeen)) {
    report('focus-not-obscured', element, 'the focused element is covered by other content');
  }
}

function checkFocus() {
  const focused = document.activeElement;
  const [x, y] = [window.scrollX, window.scrollY];
  const stops = targets.filter(element => element.tabIndex >= 0);
  for (const element of stops) {
    element.focus({ focusVisible: true });
    if (document.activeElement !== element) continue;
    checkIndicator(element);
    checkObscured(element);
    if (element.tabIndex > 0) report('focus-order', element, 'tabindex is positive');
  }
  if (focused && focused !== document.body) focused.focus({ preventScroll: true });
  else document.activeElement?.blur();
  window.scrollTo(x, y);
}

// ---- 1.4.3 Contrast of text in forced colors, where axe reads the colors of the style sheet instead ----

const textContrastMinimum = 4.5;

function checkForcedColors() {
  if (!matchMedia('(forced-colors: active)').matches) return;
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const { parentElement, data } = texts.currentNode;
    if (!data.trim() || !isVisible(parentElement) || isClippedAway(parentElement)) continue;
    const ratio = contrast(
      channels(getComputedStyle(parentElement).color), backgroundBehind(parentElement));
    if (ratio < textContrastMinimum) {
      report('forced-colors', parentElement, `its text has a contrast of ${ratio.toFixed(2)}`);
    }
  }
}

// ---- 1.4.11 Non-text Contrast of fields ----

function checkFields() {
  for (const field of document.querySelectorAll('input,select,textarea')) {
    if (!isVisible(field) || field.disabled || ['hidden', 'range', 'file'].includes(field.type)
      || isClippedAway(field)) continue;
    const style = getComputedStyle(field);
    if (['checkbox', 'radio'].includes(field.type) && style.appearance !== 'none') continue;
    const around = backgroundBehind(field.parentElement ?? field);
    const colors = [backgroundBehind(field)];
    if (parseFloat(style.borderBottomWidth) >= 1 && style.borderBottomStyle !== 'none') {
      colors.push(channels(style.borderBottomColor));
    }
    const ratio = Math.max(...colors.map(color => contrast(color, around)));
    if (ratio < contrastMinimum) {
      report('field-contrast', field, `its border has a contrast of ${ratio.toFixed(2)}`);
    }
  }
}

// ---- 2.5.3 Label in Name, 2.5.7 Dragging Movements, 2.3.3 Motion, 3.3.8 and 1.3.5 codes ----

const words = text => text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, ' ').trim();

function checkNames() {
  for (const element of targets.filter(element => element.hasAttribute('aria-label'))) {
    const shown = words(element.innerText ?? '');
    if (shown && !words(element.getAttribute('aria-label')).includes(shown)) {
      report('label-in-name', element, `its name does not contain "${shown}"`);
    }
  }
}

function checkMovement() {
  for (const element of document.querySelectorAll('[draggable=true],input[type=range]')) {
    if (isVisible(element)) report('dragging', element, 'it needs a dragging movement');
  }
  if (!matchMedia('(prefers-reduced-motion: reduce)').matches) return;
  for (const animation of document.getAnimations()) {
    const { activeDuration } = animation.effect.getComputedTiming();
    if (animation.playState === 'running' && activeDuration > 5000) {
      report('reduced-motion', animation.effect.target, 'it moves although reduced motion is set');
    }
  }
}

function checkCodes() {
  for (const field of document.querySelectorAll('input[autocomplete="one-time-code"],input[name=pin]')) {
    const before = field.value;
    const clipboardData = new DataTransfer();
    clipboardData.setData('text', 'AB12CD');
    const paste = new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true });
    // The page may insert the text itself, in its own format.
    if (!field.dispatchEvent(paste) && !words(field.value).replaceAll(' ', '').includes('ab12cd')) {
      report('accessible-authentication', field, 'pasting is prevented');
    }
    field.value = before;
    field.dispatchEvent(new Event('input', { bubbles: true }));
    if (field.autocomplete !== 'one-time-code') {
      report('input-purpose', field, 'autocomplete is not one-time-code');
    }
  }
}

// ---- 2.4.2, 1.3.1, 3.1.1: title, headings, language, and texts without translation ----

function checkDocument() {
  const headings = [...document.querySelectorAll('h1')].filter(isVisible);
  if (headings.length !== 1) {
    report('one-heading', headings[1] ?? document.body, `${headings.length} headings of level 1`);
  }
  if (!document.title.trim()) report('page-titled', document.documentElement, 'no title');
  if (!document.documentElement.lang) report('language', document.documentElement, 'no language');
  let level = 0;
  for (const heading of [...document.querySelectorAll('h1,h2,h3,h4,h5,h6')].filter(isVisible)) {
    const next = Number(heading.localName[1]);
    if (next > level + 1) report('heading-order', heading, `level ${next} after level ${level}`);
    level = next;
  }
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const { parentElement, data } = texts.currentNode;
    if (parentElement.closest('script,style,template,code,pre,[lang=zxx]')) continue;
    if (/^[a-z]+(\.[a-zA-Z0-9-]+)+(#[a-z]+)?$/.test(data.trim()) || /\{[a-zA-Z]+\}/.test(data)
      || /\b(undefined|NaN|null|\[object \w+\]|Invalid Date)\b/.test(data)) {
      report('translated', parentElement, `the text "${data.trim()}"`);
    }
  }
}

checkTargetSizes();
checkText();
checkForcedColors();
checkFields();
checkNames();
checkMovement();
checkCodes();
checkDocument();
checkFocus();
return violations;
