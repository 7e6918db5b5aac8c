import { TAKE_NOTE } from "../../../resources/operations/note_operation.ts";
import { RELEASE_BY_HAND } from "../../../resources/operations/order_operations.ts";
import { CLOSE_MONTH } from "../../../resources/operations/month_operations.ts";
import {
  type Operation,
  paramsOf,
  readValues,
} from "../../../resources/operations/operation.ts";
import { READ_ORDER } from "../../../resources/operations/poll_operations.ts";
import {
  DROP,
  RESUME,
  RETRY,
  STOP,
} from "../../../resources/operations/subscription_operations.ts";
import { LOOK_AT_CHAIN } from "../../../resources/operations/witness_operation.ts";
import { CommandError, UsageError } from "../../../core/settings/errors.ts";
import type { Operations } from "../../api/operations.ts";
import type { Reader } from "../access/access.ts";
import { ownPath } from "../access/guards.ts";
import type { FormFields } from "../access/read_form.ts";

/** What the forms of pages have done. */
export const FORM_OPERATIONS: readonly Operation[] = [
  ...[RELEASE_BY_HAND, TAKE_NOTE, READ_ORDER, LOOK_AT_CHAIN],
  ...[RETRY, DROP, STOP, RESUME, CLOSE_MONTH],
];

/** Result of a form of a page: the next page, or what was wrong. */
export type FormResult =
  | { readonly back: string }
  | { readonly wrong: string };

/** Does what the form of a page asks for. */
export async function takeForm(
  operations: Pick<Operations, "operate">,
  operation: Operation,
  fields: FormFields,
  { name }: Reader,
): Promise<FormResult> {
  const { final } = operation;
  if (final !== undefined && fields.sure !== "yes") return { wrong: final };
  const params = paramsOf(operation);
  try {
    const values = readValues(operation, (field) => {
      if (params[field]?.isCaller) return name;
      const text = fields[field]?.replaceAll("\r\n", "\n").trim();
      return text === "" && !params[field]?.takesEmpty ? undefined : text;
    });
    const result = await operations.operate({ name }, operation, values);
    const wrong = operation.idle?.(result) ?? null;
    return wrong === null ? { back: ownPath(fields.back ?? "") } : { wrong };
  } catch (error) {
    if (error instanceof UsageError || error instanceof CommandError) {
      return { wrong: error.message };
    }
    throw error;
  }
}
