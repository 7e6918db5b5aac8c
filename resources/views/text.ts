import { thousands } from "../wording/money.ts";
import { printable } from "../../core/printable.ts";
import type { OrderState } from "../../ledger/for_resources.ts";
import { span } from "../wording/phrases.ts";

/** A number and what it counts: `1 order`, `2,000 orders`. */
export function counted(count: number, noun: string): string {
  return `${countText(count)} ${count === 1 ? noun : `${noun}s`}`;
}

/** A whole number as people write it: `20,000`. */
export function countText(count: number): string {
  return thousands(String(count));
}

/**
 * Breaks a line at spaces so that it fits a terminal. A word that is longer
 * than the line stays whole: hashes and commands are there to be copied.
 */
export function wrap(
  text: string,
  columns: number | null,
  hang: number = indentOf(text),
): string {
  if (columns === null || text.length <= columns) return text;
  const lines: string[] = [];
  let current = " ".repeat(indentOf(text));
  let empty = true;
  // Two spaces and more are a layout; only single ones may become a break.
  for (const word of text.trimStart().split(/(?<! ) (?! )/)) {
    const longer = empty ? current + word : `${current} ${word}`;
    if (empty || longer.length <= columns) current = longer;
    else {
      lines.push(current);
      current = " ".repeat(Math.min(hang, columns >> 1)) + word;
    }
    empty = false;
  }
  return [...lines, current].join("\n");
}

/** Sentences for people, a line each, broken where the terminal is narrower. */
export function fitted(
  columns: number | null,
  ...sentences: readonly string[]
): string[] {
  return sentences.map((one) => wrap(printable(one), columns));
}

function indentOf(text: string): number {
  return text.length - text.trimStart().length;
}

/** A fact for people. */
export interface Fact {
  /** Its title. */
  readonly label: string;
  /** Its value; null or empty when unknown. */
  readonly text: string | null;
  /** What kind of text it is. @default "value" */
  readonly form?:
    | "advice"
    | "name"
    | "orders"
    | "sentence"
    | "time"
    | "user"
    | "value";
}

/** Rows of a label and a value; those without a value are left out. */
export function labelled(
  rows: readonly (readonly [string, string | null])[],
  columns: number | null,
  least = 15,
): string[] {
  const shown = rows.filter(([, value]) => value);
  const width = Math.max(least, ...shown.map(([label]) => label.length + 1));
  const room = columns === null ? null : Math.max(columns - width, 20);
  return shown.map(([label, value]) =>
    label.padEnd(width) +
    wrap(printable(value ?? ""), room, 0).replaceAll(
      "\n",
      `\n${" ".repeat(width)}`,
    )
  );
}

/**
 * How old an order is, and how long ago it changed, by the service's times;
 * null where the service has stated none.
 */
export function ageText(
  { createdAt, changedAt }: Pick<OrderState, "createdAt" | "changedAt">,
  nowMs: number,
): string | null {
  if (createdAt === null) return null;
  const age = ago(createdAt, nowMs);
  return changedAt === null || changedAt === createdAt
    ? `created ${age}`
    : `created ${age}, changed ${ago(changedAt, nowMs)}`;
}

function ago(time: string, nowMs: number): string {
  const ms = nowMs - Date.parse(time);
  return ms < 0 ? `in the future, at ${time}` : `${span(ms)} ago`;
}

/** A time to the minute, in UTC; empty where it is not known. */
export function minuteText(time: string | null): string {
  return time === null ? "" : time.slice(0, 16).replace("T", " ");
}

/** A sentence that follows a colon: with a small first letter. */
export function lower(sentence: string): string {
  return sentence.charAt(0).toLowerCase() + sentence.slice(1);
}
