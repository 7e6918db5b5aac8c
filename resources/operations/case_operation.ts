import { defined } from "../../core/guards.ts";
import {
  addNote,
  ATTENTION_KINDS,
  CASE_ACTIONS,
  LONGEST_NOTE,
  type Note,
  NOTE_ACTIONS,
  NOTED_ENTITIES,
} from "../../ledger/for_resources.ts";
import { CommandError, UsageError } from "../../core/settings/errors.ts";
import {
  needed,
  type Param,
  textParam,
  timeParam,
  wordParam,
} from "../../core/settings/params.ts";
import { caseJson, caseLines } from "../views/case_view.ts";
import { findOrder, ORDER_REF } from "./find_order.ts";
import { type Operation, operation } from "./operation.ts";
import { refusedRecord } from "./refused.ts";

/** A text whose longest length the ledger knows, and says what is wrong of it. */
function longText(maxLength: number, description: string): Param<string> {
  const param = textParam(description);
  return { ...param, schema: { ...param.schema, maxLength } };
}

const ORDER = { ...ORDER_REF, place: "<order>" } as const;

/** `case`. */
export const CASE: Operation = operation({
  command: "case",
  path: "/v1/orders/{ref}/case",
  scope: "read",
  operationId: "getCase",
  summary: "Show the case of an order: what people did about it",
  examples: ["01KA00000000000000000000 asked --by Ada"],
  params: { ref: ORDER },
  result: { schema: "Case", description: "The case, and its history" },
  folds: true,
  run: async (context, { ref }) => {
    const { order: { orderId } } = await findOrder(context, ref);
    const found = await context.ledger.cases.get(orderId);
    if (found !== null) return caseJson(found);
    throw new CommandError(`There is no order ${orderId}`, "not_found");
  },
  says: (found, _, { columns }) => caseLines(found, columns),
});

/** `case` with what was done. */
export const CHANGE_CASE: Operation = operation({
  command: "case",
  path: "/v1/orders/{ref}/case",
  scope: "support",
  operationId: "changeCase",
  summary: "Record what you do about an order that waits for a person",
  description:
    "What is recorded holds until the service changes the order, or the order " +
    "waits for another reason; then the case is open again. A delivery is a " +
    "release by hand: no handler and no target gets its `order.release.yes` " +
    "afterwards. The same holds for an order that was refunded.",
  examples: [
    "01KA00000000000000000000 refunded --reference RF-17 --by Ada " +
    "--note 'told the customer'",
  ],
  params: {
    ref: ORDER,
    change: {
      ...needed(wordParam("What you do", CASE_ACTIONS)),
      place: "[change]",
    },
    by: {
      ...needed(textParam("Who does it")),
      operand: "<name>",
      isCaller: true as const,
    },
    note: longText(
      LONGEST_NOTE,
      `A note, at most ${LONGEST_NOTE} characters; erasing the order's ` +
        "person deletes it",
    ),
    reference: longText(
      256,
      "Reference of the refund, or of the purchase that was delivered; name " +
        "no customer: erasures keep it",
    ),
    since: {
      ...timeParam("When the service was asked; now by default"),
      operand: "<time>",
    },
    seen: {
      // A page that shows an order which waits for nothing says that too.
      ...textParam(
        "The reasons why the order waits, as you saw them, separated by " +
          "commas; if they have changed, nothing is recorded",
      ),
      read: (_: string, text: string) => text,
      takesEmpty: true as const,
      operand: "<reasons>",
    },
  },
  inBody: true,
  result: { schema: "Case", description: "The case, and its history" },
  folds: true,
  conflicts: true,
  run: async (context, { ref, change, by, seen, ...rest }) => {
    const { order: { orderId } } = await findOrder(context, ref);
    const reasons = seen?.split(",").map((one) => one.trim());
    const { note, reference, since } = rest;
    const recorded = await context.ledger.cases.change(orderId, {
      change,
      by,
      ...defined({
        note,
        reference,
        since,
        seen: reasons &&
          ATTENTION_KINDS.filter((kind) => reasons.includes(kind)),
      }),
    }).catch(refusedRecord(context.named("reference")));
    return caseJson(recorded);
  },
  logged: ({ orderId }, { change, by }) => ({ orderId, change, person: by }),
  says: ({ orderId, case: found }) =>
    `Order ${orderId}: ${found?.message ?? "noted"}`,
});

/** Longest identifier that a note can be about, in characters. */
const LONGEST_ID = 500;

/** A text of at most so many characters. */
function shortText(maxLength: number, description: string): Param<string> {
  const param = longText(maxLength, description);
  return {
    ...param,
    read: (name, text) => {
      if (text.length <= maxLength) return param.read(name, text);
      throw new UsageError(
        `Wrong ${name}: it has ${text.length} characters; ${maxLength} can be ` +
          "stored",
      );
    },
  };
}

/** What is noted of a user, a target or the service; an order has its case. */
export const TAKE_NOTE: Operation = operation({
  command: null,
  onlyRequest:
    "The console notes what its pages list; of an order `case` does.",
  path: "/v1/notes",
  scope: "support",
  operationId: "takeNote",
  action: "note",
  summary: "Note something of what waits for a person, or acknowledge it",
  description: "What is noted of an order belongs to its case.",
  params: {
    entity: needed(wordParam(
      "What it is about",
      NOTED_ENTITIES.filter((one) => one !== "order"),
    )),
    id: needed(shortText(LONGEST_ID, "Which one it is about")),
    action: needed(wordParam("What is done", NOTE_ACTIONS)),
    text: shortText(LONGEST_NOTE, "The note; needed where that is all"),
    reasons: {
      ...textParam("Why it waits, as words that spaces separate"),
      read: (_: string, text: string): readonly string[] =>
        text.split(" ").filter((reason) => /^\w{1,64}$/.test(reason))
          .slice(0, 20),
    },
    by: {
      ...needed(textParam("Who notes it")),
      isCaller: true as const,
    },
  },
  inBody: true,
  result: { schema: "Note", description: "The note as it is stored" },
  run: (
    { ledger, nowMs },
    { entity, id: entityId, action, text = "", reasons = [], by: author },
  ): Promise<Note> => {
    if (action === "note" && text === "") {
      throw new UsageError(
        "Missing text: the note is empty; write something, or acknowledge",
      );
    }
    const note = { entity, entityId, action, reasons, text, author };
    return addNote(ledger.driver, note, nowMs);
  },
  logged: ({ entity, entityId, action }) => ({
    ...{ noted: action, entity, entityId },
  }),
});
