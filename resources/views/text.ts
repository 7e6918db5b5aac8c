import type { ConfigFlags } from "../../core/settings/config.ts";
import { withoutPasswords } from "../../core/settings/settings.ts";
import { isPrintable, pathOfId, printable } from "../../core/text.ts";
import { span, thousands } from "../wording/phrases.ts";
import type { OrderState } from "../../ledger/for_resources.ts";

/** What no shell reads as anything but itself. */
const PLAIN = /^[A-Za-z0-9_./:@%+,][A-Za-z0-9_./:@%+,=#-]*$/;

/**
 * A value as one word of a printed command, so that pasting the command passes
 * exactly this value: ids come from outside, and a forged one may hold commands.
 *
 * What needs more than plain quotes is written as `$'...'` of bash, zsh and ksh
 * with octal escapes. It never holds a quote or a backslash of the value, so
 * that a shell which does not know this form runs nothing either.
 */
export function shellWord(value: string): string {
  if (PLAIN.test(value)) return value;
  if (isPrintable(value) && !/['\\!]/.test(value)) return `'${value}'`;
  const bytes = new TextEncoder().encode(value);
  const text = Array.from(
    bytes,
    (byte) =>
      byte > 0x1f && byte < 0x7f && !RESERVED.has(byte)
        ? String.fromCharCode(byte)
        : `\\${byte.toString(8).padStart(3, "0")}`,
  ).join("");
  return `$'${text}'`;
}

const RESERVED = new Set([..."'\\!"].map((sign) => sign.charCodeAt(0)));

/** Values that a printed command ends in; one that looks like a flag needs the
 * sign that no flags follow. */
export function operands(...values: readonly string[]): string {
  const words = values.map(shellWord).join(" ");
  return values.some((value) => value.startsWith("-")) ? `-- ${words}` : words;
}

/**
 * A command to go on with, as it is printed: with the flags that named the
 * ledger, because without them it would look at another one. An address that
 * holds a password is left out.
 */
export function nextCommand(
  { databaseUrl, environment }: ConfigFlags,
  command: string,
  operands: string = "",
): string {
  return [
    `  rampkit ${command}`,
    ...given("--database-url", databaseUrl),
    ...given("--environment", environment),
    ...(operands === "" ? [] : [operands]),
  ].join(" ");
}

function given(flag: string, value: string | undefined): string[] {
  return value === undefined || withoutPasswords(value) !== value
    ? []
    : [flag, shellWord(value)];
}

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

/** One column of a table for people. */
export interface Column {
  /** Heading. */
  readonly title: string;
  /** Numbers align to the right. */
  readonly align?: "left" | "right";
  /**
   * Shown whole or not at all: a truncated identifier is useless, and a
   * truncated number is wrong.
   */
  readonly whole?: boolean;
  /**
   * Order in which columns may be left out on a narrow terminal, the highest
   * number first; a column without one stays.
   */
  readonly spare?: number;
}

/**
 * Draws rows as a table without frames. Where the terminal is too narrow, spare
 * columns go in which nothing stands, long texts lose their tail, then other
 * spare columns go, and a last line names those.
 */
export function drawTable(
  head: readonly Column[],
  rows: readonly (readonly string[])[],
  columns: number | null,
): string {
  const cells = rows.map((row) =>
    row.map((text, index) =>
      shorten(printable(text), head[index]?.whole ? LONGEST : LONGEST_TEXT)
    )
  );
  const natural = head.map(({ title }, index) =>
    cells.reduce(
      (most, row) => Math.max(most, row[index]?.length ?? 0),
      title.length,
    )
  );
  const isEmpty = (index: number) => cells.every((row) => row[index] === "");
  const { shown, widths } = fit(head, natural, columns, isEmpty);
  const titles = head.map(({ title }) => title);
  const lines = [titles, ...cells].map((row) =>
    shown.map((index) => {
      const width = widths[index] ?? 0;
      const text = shorten(row[index] ?? "", width);
      return head[index]?.align === "right"
        ? text.padStart(width)
        : text.padEnd(width);
    }).join(" ".repeat(GAP)).trimEnd()
  );
  // Of what is empty nothing is missing.
  const left = head.filter((_, index) =>
    !shown.includes(index) && !isEmpty(index)
  );
  if (left.length > 0) {
    const names = left.map(({ title }) => title).join(", ");
    lines.push("", wrap(`No room for: ${names}`, columns));
  }
  return lines.join("\n");
}

const GAP = 2;

/** Longer than any identifier or amount of the service, in characters. A forged
 * one may have a million, and would push every row that far apart. */
const LONGEST = 120;

/** The same for texts. */
const LONGEST_TEXT = 1000;

/** Least width of a text column, in characters. */
const NARROWEST = 12;

function fit(
  head: readonly Column[],
  natural: readonly number[],
  columns: number | null,
  isEmpty: (index: number) => boolean,
): { shown: number[]; widths: number[] } {
  const widths = [...natural];
  let shown = head.map((_, index) => index);
  const missing = () =>
    columns === null ? 0 : shown.reduce(
      (sum, index) => sum + (widths[index] ?? 0) + GAP,
      -GAP - columns,
    );
  if (missing() > 0) {
    shown = shown.filter((index) =>
      head[index]?.spare === undefined || !isEmpty(index)
    );
  }
  for (;;) {
    for (let least = missing(); least > 0; least--) {
      const widest = shown.filter((index) => !head[index]?.whole)
        .sort((a, b) => (widths[b] ?? 0) - (widths[a] ?? 0))[0];
      if (widest === undefined || (widths[widest] ?? 0) <= NARROWEST) break;
      widths[widest] = (widths[widest] ?? 0) - 1;
    }
    const [spare] = shown.filter((index) => head[index]?.spare !== undefined)
      .sort((a, b) => (head[b]?.spare ?? 0) - (head[a]?.spare ?? 0));
    if (missing() <= 0 || spare === undefined) return { shown, widths };
    shown = shown.filter((index) => index !== spare);
    // Columns that were narrowed for this column get their width back.
    for (const index of shown) widths[index] = natural[index] ?? 0;
  }
}

function shorten(text: string, width: number | undefined): string {
  if (width === undefined || text.length <= width) return text;
  return `${text.slice(0, Math.max(width - 1, 0))}…`;
}

/** A table in words: a head, and rows as wide as the head. */
export interface WordTable {
  /** The headings. */
  readonly head: readonly string[];
  /** The cells. */
  readonly rows: readonly (readonly string[])[];
}

/** A table as the formatter writes it: every column as wide as its cells. */
export function markdownTable({ head, rows }: WordTable): string[] {
  const widths = head.map((title, index) =>
    Math.max(3, title.length, ...rows.map((row) => row[index]?.length ?? 0))
  );
  const line = (cells: readonly string[]) =>
    `| ${
      cells.map((cell, index) => cell.padEnd(widths[index] ?? 0)).join(" | ")
    } |`;
  return [
    line(head),
    `| ${widths.map((width) => "-".repeat(width)).join(" | ")} |`,
    ...rows.map(line),
  ];
}

/** Path of an order's page in the console. */
export function orderPath(orderId: string): string {
  return `/orders/${pathOfId(orderId)}`;
}

/** Path of a user's page. */
export function userPath(userId: string): string {
  return `/users/${pathOfId(userId)}`;
}

/** Path of the page of a target or a subscription. */
export function targetPath(name: string): string {
  return `/targets/${pathOfId(name)}`;
}

/** Path of the page of a delivery and its body. */
export function bodyPath(eventId: string): string {
  return `/deliveries/${pathOfId(eventId)}`;
}
