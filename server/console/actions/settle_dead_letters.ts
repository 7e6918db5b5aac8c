import {
  actionOf,
  type Operation,
  readValues,
} from "../../../resources/operations/operation.ts";
import {
  DROP,
  RESUME,
  RETRY,
  STOP,
} from "../../../resources/operations/subscription_operations.ts";
import { CommandError, UsageError } from "../../../settings/errors.ts";
import type { Operations } from "../../api/operations.ts";
import { targetPath } from "../parts/order_table.ts";
import type { Reader } from "../access/access.ts";

/** Sends dead letters again, or drops them; each leaves a line in the log. */
export type DeadLetterActions = Pick<Operations, "operate">;

/** What came of a form of a page: where to go on, or what was wrong. */
export type ActionResult = { readonly back: string } | {
  readonly wrong: string;
};

const SETTLE: readonly Operation[] = [RETRY, DROP];

const STEER: readonly Operation[] = [RETRY, STOP, RESUME];

/**
 * Does what the form of a target's page asks for: `retry`, `stop`, `resume`.
 *
 * @param fields The fields of the form, whatever they hold.
 * @param reader Who sent it.
 */
export async function steerTarget(
  actions: DeadLetterActions,
  fields: Readonly<Record<string, string>>,
  { name }: Reader,
): Promise<ActionResult> {
  const operation = STEER.find((one) => actionOf(one) === fields.action);
  if (operation === undefined) return { wrong: NOT_WHOLE };
  try {
    const values = readValues(operation, (field) => fields[field]);
    await actions.operate({ name, scope: "operate" }, operation, values);
    return { back: targetPath(fields.subscription ?? "") };
  } catch (error) {
    if (error instanceof CommandError) return { wrong: error.message };
    if (error instanceof UsageError) return { wrong: NOT_WHOLE };
    throw error;
  }
}

/**
 * Does what the form beside a dead letter asks for: `retry` of one or of all
 * of a subscription, `drop` of one.
 *
 * @param fields The fields of the form, whatever they hold.
 * @param reader Who sent it.
 */
export async function settleDeadLetters(
  actions: DeadLetterActions,
  fields: Readonly<Record<string, string>>,
  { name }: Reader,
): Promise<ActionResult> {
  const operation = SETTLE.find((one) => actionOf(one) === fields.action);
  if (operation === undefined) return { wrong: NOT_WHOLE };
  const caller = { name, scope: "operate" } as const;
  try {
    const values = readValues(operation, (field) => fields[field]);
    const settled = await actions.operate(caller, operation, values);
    return Object.values(settled).some((count) => count > 0)
      ? { back: "/attention#dead" }
      : { wrong: GONE };
  } catch (error) {
    if (error instanceof CommandError) return { wrong: GONE };
    if (error instanceof UsageError) return { wrong: NOT_WHOLE };
    throw error;
  }
}

const NOT_WHOLE = "The form is incomplete; load the page again and repeat";
const GONE =
  "This dead letter is no longer there: it was sent again or dropped meanwhile";
