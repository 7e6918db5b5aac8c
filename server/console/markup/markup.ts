import { html as honoHtml } from "hono/html";

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
export interface ColumnHead {
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
