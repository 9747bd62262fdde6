// SPDX-License-Identifier: Apache-2.0
import { now } from "./store.js";
import { language, plural, t } from "./texts.js";

/** A number by the rules of the language. */
export function number(value, options) {
  return new Intl.NumberFormat(language(), options).format(value);
}

/** A number of bytes in a short form. */
export function bytes(count) {
  if (count < 1000) return number(count, { style: "unit", unit: "byte", unitDisplay: "long" });
  const unit = count < 1_000_000 ? "kilobyte" : "megabyte";
  const value = count / (unit === "kilobyte" ? 1000 : 1_000_000);
  return number(value, { style: "unit", unit, maximumFractionDigits: 1 });
}

/** Seconds as whole minutes, at least one. */
export function minutes(seconds) {
  return plural("unit.minutes", seconds > 0 ? Math.max(1, Math.round(seconds / 60)) : 0);
}

/** A day `YYYY-MM-DD` in words. */
export function day(text, options = { weekday: "long", day: "numeric", month: "long" }) {
  const [year, month, date] = text.split("-").map(Number);
  const value = new Date(Date.UTC(year, month - 1, date));
  return new Intl.DateTimeFormat(language(), { ...options, timeZone: "UTC" }).format(value);
}

/** A time in Unix seconds with its day. */
export function time(seconds) {
  const format = { dateStyle: "medium", timeStyle: "short" };
  return new Intl.DateTimeFormat(language(), format).format(seconds * 1000);
}

/** The distance of a time from now in words: "5 minutes ago". */
export function relative(seconds) {
  const distance = seconds - now();
  const [unit, length] = units.find(([, length]) => Math.abs(distance) >= length) ?? ["minute", 60];
  const rounded = Math.round(distance / length);
  if (rounded === 0) return t(distance > 0 ? "time.soon" : "time.justNow");
  const format = new Intl.RelativeTimeFormat(language(), { numeric: "auto" });
  return format.format(rounded, unit);
}

/** The number of days from `text` (`YYYY-MM-DD`) until today in words. */
export function daysAgo(text) {
  const [year, month, date] = text.split("-").map(Number);
  const today = new Date(now() * 1000);
  const days = (Date.UTC(today.getFullYear(), today.getMonth(), today.getDate()) -
    Date.UTC(year, month - 1, date)) / 86_400_000;
  return new Intl.RelativeTimeFormat(language(), { numeric: "auto" }).format(-Math.round(days), "day");
}

/** The last `count` days as `YYYY-MM-DD`, today first. */
export function lastDays(count) {
  const today = new Date(now() * 1000);
  return Array.from({ length: count }, (_, index) => {
    const date = new Date(today.getFullYear(), today.getMonth(), today.getDate() - index);
    const two = (value) => String(value).padStart(2, "0");
    return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  });
}

const units = [["day", 86_400], ["hour", 3_600], ["minute", 60]];
