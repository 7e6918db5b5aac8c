import { html as honoHtml } from "hono/html";
import { groupedAmount, span } from "../../../resources/wording/phrases.ts";
import { printable } from "../../../core/text.ts";

/** Markup that is complete: every value in it was escaped. */
export interface Markup {
  /** The markup. */
  toString(): string;
  /** Marks it as escaped, so that it is not escaped again. */
  readonly isEscaped: true;
}

/** What a template may hold; text is escaped, and null and false are nothing. */
export type Child =
  | string
  | number
  | null
  | false
  | undefined
  | Markup
  | readonly Child[];

/**
 * Makes markup. Every value is escaped unless it is markup itself. Hono's own
 * function takes promises as well; this one does not, so it answers at once.
 */
export function markup(
  strings: TemplateStringsArray,
  ...values: Child[]
): Markup {
  return honoHtml(strings, ...values) as unknown as Markup;
}

/** No markup. */
export const NOTHING: Markup = markup``;

/** A row of facts: its name and its value; without a value it is left out. */
export type FactRow = readonly [name: string, value: Child];

/** Names and values below each other. */
export function facts(rows: readonly FactRow[]): Markup {
  const shown = rows.filter(([, value]) => isThere(value)).map(
    ([name, value]) => markup`<div><dt>${name}</dt><dd>${value}</dd></div>`,
  );
  return markup`<dl class="facts">${shown}</dl>`;
}

function isThere(value: Child): boolean {
  return value !== null && value !== undefined && value !== false &&
    String(value).trim() !== "";
}

/** How a table is sorted by a column. */
export interface SortedHead {
  /** Address where it is sorted by the column, or in the opposite order. */
  readonly href: string;
  /** How it is now; null where it is sorted by another column. */
  readonly sorted: "ascending" | "descending" | null;
}

/** A column of a table. */
interface ColumnHead {
  readonly title: string;
  /** Numbers stand to the right. */
  readonly number?: boolean;
  /** Sentences take the remaining room, and long words in them break. */
  readonly sentence?: boolean;
  /** A link that sorts the table by it. @default {none} */
  readonly sort?: SortedHead | undefined;
}

/** A table that scrolls inside its own box where it does not fit. */
export function table(
  label: string,
  heads: readonly ColumnHead[],
  rows: readonly (readonly Child[])[],
): Markup {
  const side = (at: number) =>
    heads[at]?.number === true
      ? "num"
      : heads[at]?.sentence === true
      ? "says"
      : "text";
  const head = heads.map(({ title, sort }, at) =>
    sort === undefined
      ? markup`<th scope="col" class="${side(at)}">${title}</th>`
      : markup`<th scope="col" class="${side(at)}" aria-sort="${
        sort.sorted ?? "none"
      }"><a href="${sort.href}">${title}${
        sort.sorted !== null &&
        markup` <span aria-hidden="true">${
          sort.sorted === "descending" ? "↓" : "↑"
        }</span>`
      }</a></th>`
  );
  // On a narrow screen each row is a list, and each cell says its title.
  const body = rows.map((cells) => {
    const row = cells.map((cell, at) =>
      isThere(cell)
        ? markup`<td class="${side(at)}" data-title="${
          heads[at]?.title ?? ""
        }"><div>${cell}</div></td>`
        : markup`<td class="${side(at)}"></td>`
    );
    return markup`<tr>${row}</tr>\n`;
  });
  return markup`<div class="scroll" tabindex="0" role="region" aria-label="${label}">
<table><thead><tr>${head}</tr></thead>
<tbody>${body}</tbody></table></div>`;
}

/** A part of a page with a heading. */
export function section(
  id: string,
  title: string,
  body: Child,
): Markup {
  return markup`<section aria-labelledby="${id}"><h2 id="${id}">${title}</h2>
${body}</section>`;
}

/**
 * An amount of a currency as people write it, with all its decimals:
 * `1,200.50 USD`. It is never rounded, and what is not a plain number stays as
 * it came.
 */
export function moneyText(
  amount: string | null,
  currency: string | null,
): string {
  if (amount === null) return "";
  return [sumText(amount, currency), outsideText(currency ?? "", 20)]
    .filter(Boolean).join(" ");
}

/** The same without the currency, for a column that names it. */
export function sumText(amount: string, currency: string | null): string {
  return outsideText(groupedAmount(amount, currency), 60);
}

/** More characters than this of one value are not shown. */
const SHOWN = 300;

/**
 * A value that came from outside, as plain text: nothing in it is executed,
 * changes the direction of the text around it, or is longer than a page can
 * hold.
 */
export function outsideText(value: string, most: number = SHOWN): string {
  // Cut before it is looked through: a megabyte takes time.
  const cut = value.length > most
    ? `${value.slice(0, most)}... (${value.length} characters)`
    : value;
  return printable(cut);
}

/** The same as markup, kept apart from the direction of what is around it. */
export function outside(value: string | null, most?: number): Markup {
  return value === null || value === ""
    ? markup``
    : markup`<bdi class="said">${outsideText(value, most)}</bdi>`;
}

/** An identifier, in letters of one width. */
export function code(value: string | null): Markup {
  return value === null || value === ""
    ? markup``
    : markup`<code><bdi>${outsideText(value)}</bdi></code>`;
}

/** An identifier with a button that copies it. */
export function copied(value: string | null): Markup {
  if (value === null || value === "") return markup``;
  // What is not shown as it is, is nothing to paste.
  if (outsideText(value) !== value) return code(value);
  return markup`${
    code(value)
  } <button type="button" class="quiet copy" data-copy="" data-text="${value}" aria-label="Copy ${
    outsideText(value)
  }" hidden>Copy</button>`;
}

/** Sentences that may quote values from outside. */
export function sentence(text: string): string {
  return outsideText(text, 2000);
}

/** A time as our sentences have it: UTC, ISO 8601. */
const TIME = /(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?Z)/;

/**
 * Our own sentences, in which `commands` stand between backticks. Times in them
 * are shown as everywhere on pages.
 */
export function prose(text: string): Markup[] {
  return sentence(text).split("`").flatMap((part, at) =>
    at % 2 === 1
      ? [markup`<code>${part}</code>`]
      : part.split(TIME).map((piece, index) =>
        index % 2 === 1 ? moment(piece) : markup`${piece}`
      )
  );
}

/** Longer words, such as the hash of a transaction, are not read as words. */
const LONG_WORD = /[^\s]{30,}/gu;

/** Sentences for a headline or a list: of long words both ends are shown. */
export function brief(text: string): string {
  return sentence(text).replace(LONG_WORD, (word) => {
    const letters = [...word];
    // The word joiner keeps both ends on one line.
    return `${letters.slice(0, 12).join("")}…\u2060${
      letters.slice(-6).join("")
    }`;
  });
}

/** A time of our own or of the service: `2026-11-20 09:14:05`, in UTC. */
export function timeText(time: string): string {
  return time.slice(0, 19).replace("T", " ");
}

/** How long ago a time is, or that it lies ahead. */
export function agoText(time: string, nowMs: number): string {
  const ms = nowMs - Date.parse(time);
  if (Number.isNaN(ms)) return "";
  return ms < -999 ? `in ${span(-ms)}` : `${span(Math.max(0, ms))} ago`;
}

/** A time with its distance, which machines can read as well. */
export function when(time: string | null, nowMs: number): Markup {
  if (time === null) return NOTHING;
  const at = moment(time);
  const ago = agoText(time, nowMs);
  return markup`${at} <span class="soft ago">(${ago})</span>`;
}

/** A time without its distance. */
export function moment(time: string | null): Markup {
  return time === null
    ? NOTHING
    : markup`<time datetime="${time}">${timeText(time)}</time>`;
}
