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

/** A date `YYYY-MM-DD` of the user's calendar in words. */
export function calendarDay(text, options = longDay) {
  return new Intl.DateTimeFormat(language(), { ...options, timeZone: "UTC" }).format(startOfUTCDay(text));
}

/** A date `YYYY-MM-DD` of the user's calendar in a sentence: "6 December". */
export function dateInSentence(text) {
  return calendarDay(text, { day: "numeric", month: "long" });
}

/** The UTC day `YYYY-MM-DD` of an encounter: as a date in UTC, elsewhere as the local time that it spans until now. */
export function day(text) {
  const start = startOfUTCDay(text);
  const end = Math.min(start + dayMilliseconds, Math.max(now() * 1000, start));
  if (new Date(start).getTimezoneOffset() === 0 && new Date(end).getTimezoneOffset() === 0) return calendarDay(text);
  const format = { weekday: "short", day: "numeric", month: "short", hour: "numeric", minute: "2-digit" };
  return new Intl.DateTimeFormat(language(), { ...format, timeZoneName: "short" }).formatRange(start, end);
}

/** The UTC day `YYYY-MM-DD` of a key or of a count, with its time zone. */
export function utcDay(text) {
  return `${calendarDay(text, { day: "numeric", month: "short" })} (UTC)`;
}

/** A time in Unix seconds with its day and time zone. */
export function time(seconds) {
  const format = { year: "numeric", month: "short", day: "numeric", hour: "numeric", minute: "2-digit" };
  return new Intl.DateTimeFormat(language(), { ...format, timeZoneName: "short" }).format(seconds * 1000);
}

/** The distance of a time from now in words: "5 minutes ago", and from a day on in days of the user's calendar. */
export function relative(seconds) {
  const distance = seconds - now();
  if (Math.abs(distance) >= 86_400) return inDays(localDay(seconds * 1000) - today());
  const [unit, length] = units.find(([, length]) => Math.abs(distance) >= length) ?? ["minute", 60];
  const rounded = Math.round(distance / length);
  if (rounded === 0) return t(distance > 0 ? "time.soon" : "time.justNow");
  const format = new Intl.RelativeTimeFormat(language(), { numeric: "auto" });
  return format.format(rounded, unit);
}

/** The number of days from a date of the user's calendar until today in words. */
export function calendarDaysAgo(text) {
  return inDays(Math.round(startOfUTCDay(text) / dayMilliseconds) - today());
}

/** The number of days from the UTC day of an encounter until today in words. The encounter was before now. */
export function daysAgo(text) {
  const noon = startOfUTCDay(text) + dayMilliseconds / 2;
  return inDays(localDay(Math.min(noon, now() * 1000)) - today());
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

const dayMilliseconds = 86_400_000;
const longDay = { weekday: "long", day: "numeric", month: "long" };
const units = [["hour", 3_600], ["minute", 60]];

function startOfUTCDay(text) {
  const [year, month, date] = text.split("-").map(Number);
  return Date.UTC(year, month - 1, date);
}

/** The number of the date of the user's calendar at a moment. */
function localDay(milliseconds) {
  const date = new Date(milliseconds);
  return Math.round(Date.UTC(date.getFullYear(), date.getMonth(), date.getDate()) / dayMilliseconds);
}

function today() {
  return localDay(now() * 1000);
}

function inDays(days) {
  return new Intl.RelativeTimeFormat(language(), { numeric: "auto" }).format(days, "day");
}
