import { markup } from "../markup/markup.ts";
import { sentence } from "../markup/outside.ts";
import type { PageParts } from "./layout.ts";

/** A page that says one thing. */
export function messagePage(title: string, text: string): PageParts {
  return {
    title,
    body: markup`
      <h1>${title}</h1>
      <p>${sentence(text)}</p>
    `,
  };
}
