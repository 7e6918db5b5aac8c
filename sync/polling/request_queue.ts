import {
  drawUnknown,
  type Entity,
  keepUp,
  type QueueName,
  type ResultSet,
  selectKnown,
  type Waiting,
  waitingOf,
} from "../../ledger/for_sync.ts";
import { ITEMS_PER_REQUEST, PLACES_FOR_OTHERS } from "./staleness.ts";
import type { SweepContext } from "./sweep_context.ts";
import type { QuarterShare, RequestTurns } from "./request_turns.ts";

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
  /** Kinds of entities in it, in their order. */
  readonly entities: readonly Entity[];
  /** Ids that are due later are left alone, in ms since the epoch. */
  readonly untilMs: number;
  /** Holds unknown ids and users to their shares. */
  readonly turns: RequestTurns;
}

/** What may be requested next of one kind of entity; at most 20 each. */
interface Waits {
  readonly known: readonly Waiting[];
  readonly unknown: readonly Waiting[];
}

/**
 * Chooses the ids of the next request: known ones, or unknown ones by their
 * share, drawn at random; orders, or users by theirs; the urgent ones first.
 * Unknown ones also get the places that known ones leave free, as long as that
 * does not take them more than their share of the requests.
 *
 * @param context What to work with.
 * @param options How to choose.
 * @returns Null when nothing waits.
 */
export async function nextBatch(
  context: SweepContext,
  options: ChooseOptions,
): Promise<IdBatch | null> {
  const { turns, untilMs } = options;
  const lists = (await readChoice(context, options)).map((set) =>
    waitingOf(set).filter(({ dueAtMs }) => dueAtMs <= untilMs)
  );
  const waits = options.entities.map((_, at): Waits => ({
    known: oneRequest(lists[2 * at] ?? []),
    unknown: (lists[2 * at + 1] ?? []).slice(0, ITEMS_PER_REQUEST),
  }));
  const known = turnOf(waits.map((one) => one.known), turns.users);
  const unknown = turnOf(waits.map((one) => one.unknown), turns.users);
  const either = turnOf(
    [known?.waiting ?? [], unknown?.waiting ?? []],
    turns.unknown,
  );
  const [first] = either?.waiting ?? [];
  if (either === null || first === undefined) return null;
  const { waiting } = either;
  const isKnown = known?.waiting === waiting;
  const chosen = isKnown ? known : unknown;
  const together = waiting.filter(({ alone }) => !alone);
  const { entity } = first;
  const beside = isKnown && !first.alone && turns.unknown.allowsBeside
    ? (waits[options.entities.indexOf(entity)]?.unknown ?? [])
      .filter(({ alone }) => !alone)
      .slice(0, ITEMS_PER_REQUEST - together.length)
    : [];
  let spent = 0;
  return {
    entity,
    waiting: first.alone ? [first] : [...together, ...beside],
    spend: (requests) => {
      // One would have done, but for the unknown ones.
      if (spent > 0 && beside.length > 0) {
        turns.unknown.spend("second", requests);
      } else either.spend(requests);
      chosen?.spend(requests);
      spent += requests;
    },
  };
}

/** Reads what waits, known and unknown of each kind, after the upkeep. */
async function readChoice(
  context: SweepContext,
  { queue, entities, untilMs, turns }: ChooseOptions,
): Promise<ResultSet[]> {
  const { driver, recorder } = context;
  const nowMs = context.now();
  const choice = entities.flatMap((entity) => [
    selectKnown(queue, entity, untilMs, ITEMS_PER_REQUEST),
    drawUnknown(queue, entity, {
      nowMs: untilMs,
      offset: fraction(context),
      limit: ITEMS_PER_REQUEST,
    }),
  ]);
  if (turns.looksAhead(nowMs)) await recorder.write(keepUp(queue, nowMs));
  return await driver.batch(choice, "read");
}

/** What fits one request: the urgent first, but others have their places. */
function oneRequest(waiting: readonly Waiting[]): readonly Waiting[] {
  const urgent = waiting.filter(({ urgency }) => urgency > 0);
  const others = waiting.filter(({ urgency }) => urgency === 0);
  const places = Math.max(
    ITEMS_PER_REQUEST - Math.min(others.length, PLACES_FOR_OTHERS),
    ITEMS_PER_REQUEST - others.length,
  );
  return [...urgent.slice(0, places), ...others].slice(0, ITEMS_PER_REQUEST);
}

/** One of two lists that wait, and how to count the requests for it. */
interface TurnOf {
  readonly waiting: readonly Waiting[];
  readonly spend: (requests: number) => void;
}

/** The first list that waits, or the second by its share. */
function turnOf(
  [first = [], second = []]: readonly (readonly Waiting[])[],
  share: QuarterShare,
): TurnOf | null {
  if (first.length === 0 && second.length === 0) return null;
  if (first.length === 0 || second.length === 0) {
    return { waiting: first.length === 0 ? second : first, spend: () => {} };
  }
  return share.allowsSecond
    ? { waiting: second, spend: (requests) => share.spend("second", requests) }
    : { waiting: first, spend: (requests) => share.spend("first", requests) };
}

function fraction({ randomBytes }: SweepContext): number {
  const [a = 0, b = 0, c = 0, d = 0] = randomBytes(4);
  return (((a * 256 + b) * 256 + c) * 256 + d) / 2 ** 32;
}
