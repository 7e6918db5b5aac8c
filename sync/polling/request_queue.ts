import {
  drawUnknown,
  type Driver,
  type Entity,
  keepUp,
  queueConfirms,
  type QueueName,
  selectKnown,
  selectUpkeep,
  type Waiting,
  waitingOf,
} from "../../ledger/for_sync.ts";
import { ITEMS_PER_REQUEST } from "./staleness.ts";
import type { SweepContext } from "./sweep_context.ts";
import type { UnknownShare } from "./fair_share.ts";

/** Ids for one request. */
export interface IdBatch {
  /** Orders or users. */
  readonly entity: Entity;
  /** At most 20; one where it has to be requested alone. */
  readonly waiting: readonly Waiting[];
  /** Counts the requests that they took. */
  readonly spend: (requests: number) => void;
}

/** How to choose among what waits. */
export interface ChooseOptions {
  /** Which queue. */
  readonly queue: QueueName;
  /** Kinds of entities in it. */
  readonly entities: readonly Entity[];
  /** Ids that are due later are left alone, in ms since the epoch. */
  readonly untilMs: number;
  /** Holds unknown ids to their share. */
  readonly share: UnknownShare;
}

/**
 * Chooses the ids of the next request: known ones that are due longest, or
 * unknown ones by their share, drawn at random.
 *
 * @param context What to work with.
 * @param options How to choose.
 * @returns Null when nothing waits.
 */
export async function nextBatch(
  context: SweepContext,
  { queue, entities, untilMs, share }: ChooseOptions,
): Promise<IdBatch | null> {
  const { driver, recorder } = context;
  const until = new Date(untilMs).toISOString();
  const choice = entities.flatMap((entity) => [
    selectKnown(queue, entity, until, ITEMS_PER_REQUEST),
    drawUnknown(queue, entity, fraction(context), ITEMS_PER_REQUEST),
  ]);
  const nowMs = context.now();
  let [upkeep, ...found] = await driver.batch(
    [selectUpkeep(queue, nowMs), ...choice],
    "read",
  );
  if (upkeep?.rows[0]?.[0] === 1) {
    await recorder.write(keepUp(queue, nowMs));
    found = await driver.batch(choice, "read");
  }
  const lists = found.map((set) =>
    waitingOf(set).filter(({ dueAt }) => dueAt <= until)
  );
  const known = oldest(lists.filter((_, at) => at % 2 === 0));
  const unknown = oldest(lists.filter((_, at) => at % 2 === 1));
  const both = known !== null && unknown !== null;
  const isUnknown = known === null || (both && share.allowsUnknown);
  const waiting = isUnknown ? unknown : known;
  const [first] = waiting ?? [];
  if (waiting === null || first === undefined) return null;
  return {
    entity: first.entity,
    waiting: first.alone ? [first] : waiting.filter(({ alone }) => !alone),
    spend: (requests) => {
      if (both) share.spend(isUnknown ? "unknown" : "known", requests);
    },
  };
}

/** The list whose first has been due longest. */
function oldest(lists: readonly Waiting[][]): Waiting[] | null {
  return lists.reduce<Waiting[] | null>((best, list) => {
    const [first, other] = [list[0]?.dueAt, best?.[0]?.dueAt];
    if (first === undefined) return best;
    return other === undefined || first < other ? list : best;
  }, null);
}

function fraction({ randomBytes }: SweepContext): number {
  const [a = 0, b = 0, c = 0, d = 0] = randomBytes(4);
  return (((a * 256 + b) * 256 + c) * 256 + d) / 2 ** 32;
}

/**
 * Puts an order among those that the poller reads next, as a webhook that names
 * it does.
 *
 * @param driver The ledger's database.
 * @param orderId The order.
 * @param nowMs The time, in milliseconds since the epoch.
 * @throws {LedgerError} When the database fails.
 */
export async function requestOrder(
  driver: Driver,
  orderId: string,
  nowMs: number,
): Promise<void> {
  const row = ["order", orderId, new Date(nowMs).toISOString(), 0] as const;
  await driver.batch([queueConfirms([row])], "write");
}
