import { html } from "../markup/html.ts";
import { sentence } from "../markup/outside.ts";
import type { PageParts } from "./layout.ts";

/** A page that says one thing. */
export function messagePage(title: string, text: string): PageParts {
  return {
    title,
    body: html`
      <h1>${title}</h1>
      <p>${sentence(text)}</p>
    `,
  };
}
