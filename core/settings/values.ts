import { isCalendarDate } from "../time/service_time.ts";
import { UsageError } from "./errors.ts";

/** Reads a whole number. */
export function wholeNumber(
  min: number,
  max: number,
): (name: string, text: string) => number {
  return (name, text) => {
    const number = /^\d+$/.test(text) ? Number(text) : NaN;
    if (number >= min && number <= max) return number;
    throw new UsageError(
      `Wrong ${name}: "${text}" is not a whole number from ${min} to ${max}`,
    );
  };
}

/** Reads one of a few words. */
export function oneOf<const Word extends string>(
  words: readonly Word[],
): (name: string, text: string) => Word {
  return (name, text) => {
    const word = words.find((one) => one === text);
    if (word !== undefined) return word;
    throw new UsageError(
      `Wrong ${name}: "${text}" is not one of ${words.join(", ")}`,
    );
  };
}

/**
 * Reads a length of time such as `30m`, `6h` or `1d`, from a minute to 30 days.
 */
export function lengthOfTime(name: string, text: string): number {
  const [, count, unit = ""] = /^(\d{1,5})([mhd])$/.exec(text) ?? [];
  const ms = Number(count) * (UNITS_MS[unit] ?? NaN);
  if (ms >= 60_000 && ms <= 30 * DAY_MS) return ms;
  throw new UsageError(
    `Wrong ${name}: "${text}" is not a length of time from 1m to 30d; ` +
      "write minutes, hours or days like 30m, 6h or 1d",
  );
}

/** How times are written in help texts. */
export const TIME_FORMAT = "2026-11-20 or 2026-11-20T14:30:00Z";

/**
 * Reads a moment: `2026-11-20`, its first moment in UTC, or ISO 8601 with a
 * zone. A time without a zone is refused, because people mean different ones.
 */
export function moment(name: string, text: string): string {
  return new Date(readTime(name, text)).toISOString();
}

/** Reads the end of a window: a moment, or a day that is to be in it whole. */
export function windowEnd(name: string, text: string): string {
  const wholeMs = DAY.test(text) ? DAY_MS : 0;
  return new Date(readTime(name, text) + wholeMs).toISOString();
}

/** A moment as a number, ms since the epoch; undefined where none was given. */
export function epochMs(time: string | undefined): number | undefined {
  return time === undefined ? undefined : Date.parse(time);
}

const DAY = /^\d{4}-\d{2}-\d{2}$/;
const DAY_MS = 86_400_000;
const UNITS_MS: Readonly<Record<string, number>> = {
  m: 60_000,
  h: 3_600_000,
  d: DAY_MS,
};
const ZONED =
  /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})$/;

function readTime(flag: string, value: string): number {
  const time = DAY.test(value) || ZONED.test(value) ? Date.parse(value) : NaN;
  if (!Number.isNaN(time) && isCalendarDate(value.slice(0, 10))) return time;
  throw new UsageError(
    `Wrong ${flag}: "${value}" is not a time; write a day (2026-11-20, in UTC) ` +
      "or a time with its zone (2026-11-20T14:30:00Z)",
  );
}
