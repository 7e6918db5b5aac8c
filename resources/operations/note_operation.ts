import {
  addNote,
  LONGEST_NOTE,
  type Note,
  NOTE_ACTIONS,
  NOTED_ENTITIES,
  outcomeNow,
  readNotes,
} from "../../ledger/for_resources.ts";
import { CommandError, UsageError } from "../../core/settings/errors.ts";
import {
  needed,
  type Param,
  textParam,
  wordParam,
} from "../../core/settings/params.ts";
import { printable } from "../../core/printable.ts";
import { deliveryDetail } from "../queries/deliveries.ts";
import { minuteText, wrap } from "../views/text.ts";
import { findOrder } from "./find_order.ts";
import {
  type Items,
  type Operation,
  operation,
  type OperationContext,
} from "./operation.ts";

/** Longest identifier that a note can be about, in characters. */
const LONGEST_ID = 500;

/** A text of at most so many characters. */
function shortText(maxLength: number, description: string): Param<string> {
  const param = textParam(description);
  return {
    ...param,
    schema: { ...param.schema, maxLength },
    read: (name, text) => {
      if (text.length <= maxLength) return param.read(name, text);
      throw new UsageError(
        `Wrong ${name}: it has ${text.length} characters; ${maxLength} can be ` +
          "stored",
      );
    },
  };
}

const ABOUT = {
  entity: {
    ...needed(wordParam("What it is about", NOTED_ENTITIES)),
    place: "<entity>",
  },
  id: {
    ...needed(shortText(LONGEST_ID, "Which one; of an order any name of it")),
    place: "<id>",
  },
} as const;

/** `note` of something, without a text. */
export const NOTES: Operation = operation({
  command: "note",
  path: "/v1/notes",
  scope: "read",
  operationId: "listNotes",
  summary: "Show what people noted of an order, user, delivery or subscription",
  examples: ["order 01KA00000000000000000000"],
  params: ABOUT,
  result: {
    schema: "Note",
    description: "The notes, the oldest first",
    many: "list",
  },
  folds: true,
  run: async (context, { entity, id }): Promise<Items<Note>> => {
    const { entityId } = await aboutWhat(context, entity, id);
    const notes = await readNotes(context.ledger.driver, entity, [entityId]);
    return { items: notes.get(entityId) ?? [] };
  },
  says: ({ items }, _, { columns }) =>
    items.length === 0
      ? "Nothing is noted"
      : items.map((note) => wrap(printable(noteText(note)), columns, 2)),
});

/** `note` with who notes it. */
export const TAKE_NOTE: Operation = operation({
  command: "note",
  path: "/v1/notes",
  scope: "support",
  operationId: "takeNote",
  action: "note",
  summary: "Note something of what waits for a person, or acknowledge it",
  description:
    "Whoever acknowledges deals with the reasons for which it waits now; a " +
    "reason that comes later is not covered. A note decides nothing: what you " +
    "delivered or refunded is recorded by `release`.",
  examples: [
    "order 01KA00000000000000000000 --by Ada --text 'told the customer'",
    "delivery 01KB00000000000000000000 --acknowledge --by Ada",
  ],
  params: {
    ...ABOUT,
    action: {
      ...wordParam("What is done; a note where it is left out", NOTE_ACTIONS),
      words: {
        acknowledge: "you deal with what it waits for",
        reopen: "it waits again",
      },
    },
    text: shortText(
      LONGEST_NOTE,
      "The note; needed where that is all. Erasing a person deletes it",
    ),
    reasons: {
      ...textParam(
        "Why it waits, as words that spaces separate; by default what an " +
          "order waits for",
      ),
      read: (_: string, text: string): readonly string[] =>
        text.split(" ").filter((reason) => /^\w{1,64}$/.test(reason))
          .slice(0, 20),
      only: "request" as const,
    },
    by: {
      ...needed(textParam("Who notes it")),
      operand: "<name>",
      isCaller: true as const,
    },
  },
  inBody: true,
  result: { schema: "Note", description: "The note as it is stored" },
  folds: true,
  conflicts: true,
  run: async (
    context,
    { entity, id, action = "note", text = "", reasons, by: author },
  ): Promise<Note> => {
    if (action === "note" && text === "") {
      throw new UsageError(
        `Missing ${context.named("text")}: the note is empty; write ` +
          "something, or acknowledge",
      );
    }
    const { entityId, waitsFor } = await aboutWhat(context, entity, id);
    const stored = await addNote(context.ledger.driver, {
      ...{ entity, entityId, action, reasons: reasons ?? waitsFor },
      ...{ text, author },
    }, context.nowMs);
    if (stored !== null) return stored;
    throw new CommandError(
      `Cannot note anything of ${
        printable(entityId)
      }: its person was erased, ` +
        "and a note may name a person",
    );
  },
  logged: ({ entity, entityId, action }) => ({
    ...{ noted: action, entity, entityId },
  }),
  says: (note, _, { columns }) => wrap(printable(noteText(note)), columns, 2),
});

/** One line about a note. */
function noteText(
  { entity, entityId, action, text, author, notedAt }: Note,
): string {
  const did = {
    note: "noted",
    acknowledge: "acknowledged it",
    reopen: "opened it again",
  }[action];
  return `${minuteText(notedAt)}  ${entity} ${entityId}: ${author} ${did}` +
    (text === "" ? "" : `: ${text}`);
}

/**
 * Which one is meant, and why it waits now.
 *
 * @throws {CommandError} When the ledger has none of that name.
 */
async function aboutWhat(
  context: OperationContext,
  entity: Note["entity"],
  id: string,
): Promise<{
  readonly entityId: string;
  readonly waitsFor: readonly string[];
}> {
  const { ledger, nowMs } = context;
  if (entity === "order") {
    const { order } = await findOrder(context, id);
    const { attention } = outcomeNow(order, nowMs);
    return { entityId: order.orderId, waitsFor: attention };
  }
  const waitsFor = [REASON[entity]];
  const isThere = entity === "user"
    ? await ledger.users.get(id) !== null
    : entity === "delivery"
    ? await deliveryDetail(ledger, id) !== null
    : (await ledger.subscriptions.list()).some(({ name }) => name === id);
  if (isThere) return { entityId: id, waitsFor };
  throw new CommandError(
    `No such ${entity}: ${printable(id)} is not in the ledger`,
    "not_found",
  );
}

/** Why anything but an order waits for a person. */
const REASON = {
  user: "verification_retry",
  delivery: "quarantined",
  subscription: "dead_letters",
} as const;
