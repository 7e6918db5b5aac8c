import { type Child, html, type Markup } from "./html.ts";

/** A row of facts: what it is called, and what it is; without a value it is left out. */
export type FactRow = readonly [name: string, value: Child];

/** Names and values below each other. */
export function facts(rows: readonly FactRow[]): Markup {
  const shown = rows.filter(([, value]) => String(value ?? "") !== "");
  return html`<dl class="facts">${
    shown.map(([name, value]) =>
      html`
        <div>
          <dt>${name}</dt>
          <dd>${value}</dd>
        </div>
      `
    )
  }</dl>`;
}

/** A column of a table. */
export interface ColumnHead {
  readonly title: string;
  /** Numbers stand to the right. */
  readonly number?: boolean;
}

/**
 * A table that scrolls inside its own box on a narrow screen.
 *
 * @param label What the table holds, for a screen reader.
 */
export function table(
  label: string,
  heads: readonly ColumnHead[],
  rows: readonly (readonly Child[])[],
): Markup {
  return html`
    <div class="scroll" tabindex="0" role="region" aria-label="${label}">
      <table>
        <thead>
          <tr>${heads.map(({ title, number }) =>
            html`
              <th scope="col" ${number === true && html`
                class="num"
              `}>${title}</th>
            `
          )}</tr>
        </thead>
        <tbody>${rows.map((cells) =>
          html`
            <tr>${cells.map((cell, at) =>
              html`<td${
                heads[at]?.number === true && html`
                  class="num"
                `
              }>${cell}</td>`
            )}</tr>
          `
        )}</tbody>
      </table>
    </div>
  `;
}

/** A part of a page with a heading. */
export function section(
  id: string,
  title: string,
  body: Child,
): Markup {
  return html`<section aria-labelledby="${id}"><h2 id="${id}">${title}</h2>
${body}</section>`;
}
