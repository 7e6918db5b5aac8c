import { CHANGE_CASE } from "../../../resources/operations/case_operation.ts";
import { readValues } from "../../../resources/operations/operation.ts";
import { CommandError, UsageError } from "../../../settings/errors.ts";
import type { Operations } from "../../api/operations.ts";
import type { Reader } from "../access/access.ts";
import { ownPath } from "../access/guards.ts";
import type { ActionResult } from "./settle_dead_letters.ts";

/**
 * Records what whoever sent the form of a page did about an order.
 *
 * @param fields The fields of the form, whatever they hold.
 * @param reader Who sent it.
 */
export async function changeCase(
  actions: Pick<Operations, "operate">,
  fields: Readonly<Record<string, string>>,
  { name }: Reader,
): Promise<ActionResult> {
  const given: Readonly<Record<string, string>> = { ...fields, by: name };
  try {
    const values = readValues(CHANGE_CASE, (field) => {
      const text = given[field]?.replaceAll("\r\n", "\n").trim();
      // A page that shows an order which waits for nothing says that too.
      return text === "" && field !== "seen" ? undefined : text;
    });
    await actions.operate({ name, scope: "support" }, CHANGE_CASE, values);
    return { back: ownPath(fields.back ?? "") };
  } catch (error) {
    if (error instanceof UsageError || error instanceof CommandError) {
      return { wrong: error.message };
    }
    throw error;
  }
}
