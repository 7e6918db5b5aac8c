import {
  type Operation,
  paramsOf,
} from "../../../resources/operations/operation.ts";
import { mayDo } from "../access/access.ts";
import type { PageContext } from "../context/page_context.ts";
import { type Markup, markup, NOTHING } from "../markup/markup.ts";

/** What a form has done, and where it leads. */
export interface OperationForm {
  /** What it has done, unless a button says otherwise. */
  readonly operation: Operation;
  /** Parameters that the page knows. */
  readonly given: Readonly<Record<string, string>>;
  /** The page to go back to. */
  readonly back: string;
  /** Class of the form. @default {none} */
  readonly style?: "row" | "note-form";
}

/** A form of a page; nothing for readers without permission. */
export function operationForm(
  context: Pick<PageContext, "supports" | "operates" | "formToken">,
  { operation, given, back, style }: OperationForm,
  body: Markup,
): Markup {
  if (!mayDo(context, operation)) return NOTHING;
  return markup`<form ${
    style !== undefined && markup`class="${style}"`
  } action="${pathOf(operation)}" method="post">
${hidden({ form: context.formToken, ...given, back })}
${body}</form>`;
}

/** A button of a form that has another operation done. */
export function operationButton(
  operation: Operation,
  title: string,
  style: "primary" | "grave" | "" = "",
): Markup {
  return markup`<button formaction="${
    pathOf(operation)
  }" class="${style}">${title}</button>`;
}

/** The field of a parameter, as long as the parameter may be. */
export function formField(
  operation: Operation,
  name: string,
  { label, rows }: { readonly label: string; readonly rows?: number },
): Markup {
  const { schema } = paramsOf(operation)[name] ?? {};
  if (schema?.type === "boolean") {
    return markup`<label><input type="checkbox" name="${name}" value="true"> ${label}</label>`;
  }
  const longest = String(schema?.maxLength ?? 256);
  return markup`<label>${label} ${
    rows === undefined
      ? markup`<input name="${name}" maxlength="${longest}">`
      : markup`<textarea name="${name}" rows="${
        String(rows)
      }" maxlength="${longest}"></textarea>`
  }</label>`;
}

/** Fields that a form sends back as they are. */
export function hidden(fields: Readonly<Record<string, string>>): Markup[] {
  return Object.entries(fields).map(([name, value]) =>
    markup`<input type="hidden" name="${name}" value="${value}">`
  );
}

function pathOf({ operationId }: Operation): string {
  return `/do/${operationId}`;
}
