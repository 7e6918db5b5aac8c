import { messageOf } from "../../core/guards.ts";
import { printable } from "../../core/text.ts";
import type { ErasurePlan } from "../../ledger/mod.ts";
import { CommandError } from "../../core/settings/errors.ts";
import { flagParam, needed, textParam } from "../../core/settings/params.ts";
import { VARIABLES } from "../../core/settings/settings.ts";
import { wholeNumber } from "../../core/settings/values.ts";
import { readOrders } from "../../sync/mod.ts";
import { PAGE, refuseEmptyWindow, SORT } from "../queries/orders.ts";
import { USER_FILTERS, userDetail, usersPage } from "../queries/users.ts";
import {
  erasedLines,
  type ErasedPeople,
  erasedPeopleLines,
  type ErasureJson,
  erasureJson,
  NOT_REACHED,
  planLines,
  userLines,
  userTable,
} from "../views/user_view.ts";
import { counted } from "../views/text.ts";
import { pollAdvice } from "./find_order.ts";
import {
  filesOf,
  type Operation,
  operation,
  type OperationContext,
  type OperationParam,
} from "./operation.ts";

/** `users list`. */
export const USERS: Operation = operation({
  command: "users list",
  path: "/v1/users",
  scope: "read",
  operationId: "listUsers",
  summary: "List users, newest first unless sorted otherwise",
  examples: ["--status success --limit 20"],
  params: { ...PAGE, ...USER_FILTERS, sort: SORT },
  result: {
    schema: "User",
    description: "One page",
    many: { rows: "users", first: "first" },
  },
  folds: true,
  checks: (query, { named }) => refuseEmptyWindow(query, named),
  run: ({ ledger }, query) => usersPage(ledger, query),
  says: ({ items }, _, { columns }) =>
    items.length === 0 ? "No users" : [userTable(items, columns)],
});

/** `users show`. */
export const USER: Operation = operation({
  command: "users show",
  path: "/v1/users/{id}",
  scope: "read",
  operationId: "getUser",
  summary: "Show one user: verification, bans, limits, cards",
  examples: ["01KA00000000000000000000 --json"],
  params: { id: { ...needed(textParam("User id")), place: "<id>" } },
  result: {
    schema: "UserDetail",
    description: "The user, and how fresh it is",
  },
  folds: true,
  run: async (context, { id }) => {
    const { ledger, nowMs } = context;
    const user = await ledger.users.get(id);
    if (user !== null) return await userDetail(ledger, user, nowMs);
    const erased = await ledger.erasures.find(id);
    throw new CommandError(
      erased === null
        ? `No such user: the ledger has no user "${id}"; ` +
          await pollAdvice(context)
        : `No such user: "${id}" was erased at ${erased.erasedAt}; see ` +
          "rampkit users erased",
      "not_found",
    );
  },
  says: (user, _, { columns, nowMs }) => userLines(user, columns, nowMs, user),
});

/** `users erase`. */
export const ERASE_USER: Operation = operation({
  command: "users erase",
  path: null,
  onlyCommand: "It cannot be undone: a person sees first what goes. It reads " +
    "the spool of processes that ended, and writes the ledger's file anew.",
  scope: "operate",
  operationId: "eraseUser",
  summary: "Erase a person: show what will be erased, ask, and erase it",
  description: "Orders stay, without names. With --json and without --yes " +
    "nothing is erased. This command cannot reach " +
    `${NOT_REACHED.join("; ")}.`,
  examples: ["01KA00000000000000000000"],
  params: {
    id: { ...needed(textParam("User id")), place: "<id>" },
    dryRun: flagParam(
      "Show what would be erased, also what is found by comparing every event " +
        "with the person's ids, and change nothing",
    ),
    force: flagParam(
      "Erase even while an order is in progress, a refund is due, or the " +
        "service cannot be asked whose an order is",
    ),
  },
  result: { schema: "Erasure", description: "What was erased" },
  asks: "claims",
  confirms: async (context, { id, dryRun = false, force }, { columns }) => {
    const { ledger, signal } = context;
    if (!dryRun) await drain(context);
    await ledger.project({ signal });
    if (!dryRun) await askForClaims(context, id);
    const plan = await ledger.erasures.plan(id);
    if (isNothing(plan)) return null;
    return {
      shows: planLines(plan, columns),
      question: dryRun
        ? null
        : "Erase this person? It cannot be undone. Type yes: ",
      instead: erasureJson({
        ...plan,
        ...{ pseudonym: null, erased: false, cleaned: false },
      }),
      refusal: "Nothing was erased: add --yes where nobody can be asked",
      obstacle: force ? null : obstacleOf(plan),
    };
  },
  run: async (context, { id, force = false }): Promise<ErasureJson> => {
    const { ledger, signal } = context;
    const plan = await ledger.erasures.plan(id);
    if (!isNothing(plan)) {
      const done = await ledger.erasures.erase(id, { force });
      await ledger.project({ signal });
      const cleaned = await clean(context);
      return erasureJson({ ...done, erased: true, cleaned });
    }
    if (await ledger.erasures.find(id) === null) {
      throw new CommandError(
        `No such user: no event of the ledger names "${id}"; what was posted ` +
          "as no JSON is listed by `deliveries list --quarantined`",
        "not_found",
      );
    }
    // A kill may have come between the erasure and this.
    const cleaned = await clean(context);
    const again = { pseudonym: null, erased: true, cleaned };
    return erasureJson({ ...plan, ...again });
  },
  says: (erasure, _, { columns }) => erasedLines(erasure, columns),
});

/** Whether the ledger has nothing of a person. */
function isNothing({ orders, events }: ErasurePlan): boolean {
  return orders.length === 0 && Object.keys(events).length === 0;
}

/**
 * Takes into the ledger what processes that ended have left in the spool: it
 * may be about the person.
 *
 * @throws {CommandError} When something is left that cannot be read.
 */
async function drain(context: OperationContext): Promise<void> {
  const { waiting, damaged } = await filesOf(context).drain();
  const left = [...waiting, ...damaged];
  if (left.length === 0) return;
  throw new CommandError(
    "Nothing was erased: these files of the spool may hold deliveries of the " +
      `person, and cannot be taken into the ledger: ${left.join(", ")}; ` +
      "read the service again over that time with rampkit recover, move them " +
      "elsewhere, and run this again",
  );
}

/**
 * Asks the service for orders that only webhooks name as the person's: anybody
 * can send such a webhook. Where it cannot be asked they stay as they are.
 */
async function askForClaims(
  { ledger, service, now, signal, note }: OperationContext,
  userId: string,
): Promise<void> {
  const { claims } = await ledger.erasures.plan(userId);
  const unasked = claims.filter(({ isAsked }) => !isAsked)
    .map(({ orderId }) => orderId);
  if (unasked.length === 0 || service === null) return;
  note(
    `Asking the service for ${counted(unasked.length, "order")} that only ` +
      "webhooks name as the person's ...",
  );
  try {
    const client = service.lists();
    await readOrders({ ledger, client, now, signal }, unasked);
  } catch (error) {
    signal.throwIfAborted();
    note(`The service could not be asked: ${messageOf(error)}`);
  }
}

/** Why a person is not to be erased now; null where nothing is in the way. */
function obstacleOf({ claims, orders }: ErasurePlan): string | null {
  const unasked = claims.filter(({ isAsked }) => !isAsked);
  if (unasked.length > 0) {
    const ids = unasked.map(({ orderId }) => printable(orderId)).join(", ");
    return "Nothing was erased: only webhooks name these orders as the " +
      `person's, and the service was not asked for them: ${ids}; set ` +
      `${VARIABLES.apiKey}, or add --force: what webhooks say of the person ` +
      "then goes, and the orders stay";
  }
  return orders.some(({ blocks }) => blocks.length > 0)
    ? "Nothing was erased: an order is under way or a refund is due; wait for " +
      "it, or add --force"
    : null;
}

/** Takes out of the file what was deleted; says so where it cannot. */
async function clean({ ledger, note }: OperationContext): Promise<boolean> {
  note("Writing the file anew, so that no page holds what was erased ...");
  return await ledger.erasures.clean();
}

/** Positions of events, one a flag. */
function positions(description: string): OperationParam<readonly number[]> {
  return {
    description: `${description}; may be given several times`,
    schema: { type: "integer", minimum: 1 },
    read: (name, text) => [
      wholeNumber(1, Number.MAX_SAFE_INTEGER)(name, text),
    ],
    many: true,
    operand: "<position>",
  };
}

/** `users erased`. */
export const ERASED_USERS: Operation = operation({
  command: "users erased",
  path: null,
  onlyCommand: "It looks at the files of deliveries beside the ledger too.",
  scope: "operate",
  operationId: "listErased",
  summary: "List who was erased, and orders that came later",
  description:
    "A finding is an event that holds an id of somebody erased and " +
    "was not blanked: it is about somebody else whom the service has shown, is " +
    "no JSON, or holds a click id that a customer may have chosen. Look at it " +
    "with deliveries show, then blank or keep it.",
  examples: ["01KA00000000000000000000"],
  params: {
    id: { ...textParam("Say whether this user was erased"), place: "[id]" },
    blank: positions("Blank the body of a listed event"),
    keep: positions("Leave a listed event"),
  },
  result: {
    schema: "ErasedPeople",
    description: "Who was erased, and what came later",
    exitCodes: "Exit code 3 while data of an erased person may remain.",
  },
  run: async (context, { id, blank = [], keep = [] }) => {
    const { erasures } = context.ledger;
    const user = id === undefined ? null : await erasures.find(id);
    if (id !== undefined && user === null) {
      throw new CommandError(
        `Nobody of that id was erased from this ledger: "${id}"`,
        "not_found",
      );
    }
    await erasures.settle(blank, "blank");
    await erasures.settle(keep, "keep");
    const found: ErasedPeople = {
      user,
      people: await erasures.list(),
      returned: await erasures.returned(),
      findings: await erasures.findings(),
      // An erasure compares every event itself.
      isCompared: true,
      spool: await filesOf(context).left(),
    };
    return found;
  },
  exit: ({ people, findings, spool: { waiting, damaged } }) =>
    people.length === 0 ||
      (waiting.length + damaged.length === 0 &&
        findings.every(({ settled }) => settled !== null))
      ? "fine"
      : "disagreement",
  says: (found, _, { columns }) => erasedPeopleLines(found, columns),
});
