import {
  addNote,
  type Note,
  NOTE_ACTIONS,
  NOTED_ENTITIES,
} from "../../../ledger/for_server.ts";
import type { Ledger } from "../../../ledger/mod.ts";
import { ownPath } from "../access/guards.ts";
import { LONGEST_NOTE } from "../parts/notes.ts";

/** Longest identifier that a note can be about, in characters. */
const LONGEST_ID = 500;

/** What came of a form that notes something. */
export type TakenNote =
  | { readonly note: Note; readonly back: string }
  | { readonly wrong: string };

/**
 * Stores what the form of a page notes.
 *
 * @param fields The fields of the form, whatever they hold.
 * @param author Who sent it.
 */
export async function takeNote(
  { driver }: Ledger,
  fields: Readonly<Record<string, string>>,
  { author, nowMs }: { readonly author: string; readonly nowMs: number },
): Promise<TakenNote> {
  const { id = "", text: written = "", reasons = "", back = "" } = fields;
  // What is noted of an order belongs to its case.
  const entity = NOTED_ENTITIES.find((one) =>
    one === fields.entity && one !== "order"
  );
  const action = NOTE_ACTIONS.find((one) => one === fields.action);
  const text = written.replaceAll("\r\n", "\n").trim();
  if (entity === undefined || action === undefined || id === "") {
    return { wrong: "The form is incomplete; load the page again and repeat" };
  }
  if (id.length > LONGEST_ID || text.length > LONGEST_NOTE) {
    return {
      wrong: `The note has ${text.length} characters; ${LONGEST_NOTE} can be ` +
        "stored",
    };
  }
  if (action === "note" && text === "") {
    return { wrong: "The note is empty; write something, or acknowledge" };
  }
  const note = await addNote(driver, {
    entity,
    entityId: id,
    action,
    reasons: reasons.split(" ").filter((reason) => /^\w{1,64}$/.test(reason))
      .slice(0, 20),
    text,
    author,
  }, nowMs);
  return { note, back: ownPath(back) };
}
