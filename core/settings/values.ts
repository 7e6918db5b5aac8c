import { CommandError, UsageError } from "./errors.ts";
import { isCalendarDate } from "../time/service_time.ts";

/**
 * Does work that Ctrl-C may stop, and then says what was done and what was not.
 */
export async function stoppable<T>(
  signal: AbortSignal,
  work: () => Promise<T>,
  said: () => string | Promise<string>,
): Promise<T> {
  try {
    signal.throwIfAborted();
    return await work();
  } catch (error) {
    if (!isStop(error, signal)) throw error;
    throw new CommandError(`Stopped: ${await said()}`, "stopped");
  }
}

/** Whether this was thrown because the signal was aborted. */
export function isStop(error: unknown, signal: AbortSignal): boolean {
  return signal.aborted &&
    (error === signal.reason ||
      (error instanceof Error && error.name === "AbortError"));
}

/** The same values until the signal is aborted; then it throws the reason. */
export async function* untilStopped<T>(
  values: AsyncIterable<T>,
  signal: AbortSignal,
): AsyncGenerator<T> {
  for await (const value of values) {
    signal.throwIfAborted();
    yield value;
  }
}

/** Resolves when the signal is aborted. */
export function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) =>
    signal.addEventListener("abort", () => resolve(), { once: true })
  );
}

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

/** What tokens can allow; each allows what those before it do. */
const SCOPES = ["read", "support", "operate"] as const;

/**
 * What a token allows: to read; to take notes as well; everything.
 */
export type Scope = (typeof SCOPES)[number];

/** Whether a token that allows the one allows the other. */
export function allows(scope: Scope, wanted: Scope): boolean {
  return SCOPES.indexOf(scope) >= SCOPES.indexOf(wanted);
}

/** A token that opens API and console. */
export interface ApiToken {
  /** The secret. */
  readonly token: string;
  /** The name of its holder, for the log; null where none was given. */
  readonly name: string | null;
  /** What it allows. */
  readonly scope: Scope;
}

/** A shorter token could be guessed, in characters. */
const SHORTEST = 16;

/** Reads tokens: `read:TOKEN,operate@NAME:TOKEN`. */
export function readApiTokens(
  setting: string,
  text: string,
): readonly ApiToken[] {
  const entries = text.split(",").map((entry) => entry.trim())
    .filter((entry) => entry !== "");
  const wrong = (what: string) => new UsageError(`Wrong ${setting}: ${what}`);
  return entries.map((entry, index) => {
    const which = `token ${index + 1} of ${entries.length}`;
    const [, word, name, token = ""] =
      /^([a-z]+)(?:@([A-Za-z0-9._-]{1,64}))?:(.*)$/.exec(entry) ?? [];
    const scope = SCOPES.find((one) => one === word);
    if (scope === undefined) {
      throw wrong(
        `${which} does not begin with read:, support: or operate:, or its name has ` +
          "other characters than letters, digits and . _ -; write " +
          "read:TOKEN or operate@NAME:TOKEN",
      );
    }
    if (!/^[A-Za-z0-9._~+/=-]+$/.test(token)) {
      throw wrong(
        `${which} is empty, or has a character that a bearer token cannot ` +
          "have; use letters, digits and . _ ~ + / = -",
      );
    }
    if (token.length < SHORTEST) {
      throw wrong(
        `${which} has ${token.length} characters, and fewer than ${SHORTEST} ` +
          "could be guessed; a fresh one: openssl rand -hex 24",
      );
    }
    return { token, name: name ?? null, scope };
  });
}
