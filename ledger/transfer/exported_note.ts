import {
  type Note,
  NOTE_ACTIONS,
  NOTED_ENTITIES,
} from "../store/tables/notes.ts";

/** A note as a line of an export. */
export interface ExportedNote {
  /** What somebody noted of an order or user. */
  readonly note: Note;
}

/** Writes a note as one line of an export. */
export function exportedNote(note: Note): string {
  const line: ExportedNote = { note };
  return JSON.stringify(line);
}

/**
 * Reads a line that {@linkcode exportedNote} wrote.
 *
 * @param line Any line.
 * @returns Null when it is another line.
 * @throws {SyntaxError} When the note lacks a field.
 */
export function importedNote(line: string): Note | null {
  if (!/^\{\s*"note"\s*:/.test(line)) return null;
  const { note } = JSON.parse(line) as { readonly note: unknown };
  const root = (typeof note === "object" ? note ?? {} : {}) as Readonly<
    Record<string, unknown>
  >;
  const text = (field: string): string => {
    const found = root[field];
    if (typeof found === "string") return found;
    throw new SyntaxError(`"${field}" of the note is missing or no text`);
  };
  const oneOf = <Value extends string>(
    field: string,
    known: readonly Value[],
  ): Value => {
    const found = known.find((value) => value === text(field));
    if (found !== undefined) return found;
    throw new SyntaxError(
      `"${field}" of the note is ${JSON.stringify(root[field])}; known are ` +
        known.join(", "),
    );
  };
  const { reasons } = root;
  if (
    !Array.isArray(reasons) ||
    !reasons.every((reason) => typeof reason === "string")
  ) throw new SyntaxError('"reasons" of the note is no list of texts');
  return {
    id: text("id"),
    entity: oneOf("entity", NOTED_ENTITIES),
    entityId: text("entityId"),
    action: oneOf("action", NOTE_ACTIONS),
    reasons,
    text: text("text"),
    author: text("author"),
    notedAt: text("notedAt"),
  };
}
