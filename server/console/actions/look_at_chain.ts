import { LOOK_AT_CHAIN } from "../../../resources/operations/witness_operation.ts";
import { readValues } from "../../../resources/operations/operation.ts";
import { CommandError, UsageError } from "../../../settings/errors.ts";
import type { Operations } from "../../api/operations.ts";
import type { Reader } from "../access/access.ts";
import { ownPath } from "../access/guards.ts";
import type { ActionResult } from "./settle_dead_letters.ts";

/**
 * Asks the partner's chain nodes about the order of a page.
 *
 * @param fields The fields of the form, whatever they hold.
 * @param reader Who sent it.
 */
export async function lookAtChain(
  actions: Pick<Operations, "operate">,
  fields: Readonly<Record<string, string>>,
  { name }: Reader,
): Promise<ActionResult> {
  try {
    const values = readValues(LOOK_AT_CHAIN, (field) => fields[field]);
    await actions.operate({ name, scope: "operate" }, LOOK_AT_CHAIN, values);
    return { back: ownPath(fields.back ?? "") };
  } catch (error) {
    if (error instanceof UsageError || error instanceof CommandError) {
      return { wrong: error.message };
    }
    throw error;
  }
}
