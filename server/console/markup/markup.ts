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
