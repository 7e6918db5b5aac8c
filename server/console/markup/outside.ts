import { printable } from "../../../core/printable.ts";
import { type Markup, markup } from "./markup.ts";
import { moment } from "./times.ts";

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
