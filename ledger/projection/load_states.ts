import type { ExpectationWindow } from "../events/expectation.ts";
import { decodeOrderFold, decodeUserFold } from "./codec/fold_codec.ts";
import type { RecordedEvent } from "../events/event.ts";
import type { Expectation } from "../events/expectation.ts";
import { type Fact, isExpectation } from "../events/fact.ts";
import type { OrderFold } from "../orders/order_fold.ts";
import { firstOrderAfter } from "../orders/expectations.ts";
import type { UserFold } from "../users/user_fold.ts";
import type { Driver, ResultSet, Statement } from "../store/driver/driver.ts";
import { recordedEvent } from "../store/tables/events/event_rows.ts";
import {
  type Checkpoint,
  checkpointsOf,
  type ProjectionSlot,
  sameCheckpoint,
  selectCheckpoints,
} from "../store/tables/checkpoints.ts";
import { selectLinkedOrders } from "../store/tables/events/links.ts";
import {
  selectExpectations,
  selectLaterTerms,
} from "../store/tables/events/expectations.ts";
import { selectOrderFolds } from "../store/tables/orders.ts";
import { selectUserFolds } from "../store/tables/users.ts";
import type { LoadedStates } from "./batch.ts";
import { type Link, linkKey } from "../events/links.ts";
import type { MissingKeys } from "./missing_keys.ts";
import { lostRace } from "../store/driver/retry_lost_races.ts";

/** {@linkcode LoadedStates} while they are being read. */
export interface MutableLoadedStates extends LoadedStates {
  readonly orders: Map<string, OrderFold>;
  readonly users: Map<string, UserFold>;
  readonly expectations: Expectation[];
  readonly linkedOrders: Map<string, string[]>;
}

/** What to load. */
export interface LoadStatesOptions {
  /** `write` reads from the primary. */
  readonly mode: "read" | "write";
  /** Which states. */
  readonly slot: ProjectionSlot;
  /** What is missing. */
  readonly missing: MissingKeys;
  /** Where expectations of orders are missing. */
  readonly windows: readonly ExpectationWindow[];
  /** Where it is put. */
  readonly states: MutableLoadedStates;
  /** Turns events into facts. */
  readonly readFact: (event: RecordedEvent) => Fact;
}

/**
 * Reads what is missing.
 *
 * @param at The checkpoint that everything else was read at.
 * @param options What is missing, and where it goes.
 * @throws {LedgerError} `conflict` when the checkpoint has moved meanwhile.
 */
export async function loadStates(
  driver: Driver,
  at: Checkpoint,
  { mode, slot, missing, windows, states, readFact }: LoadStatesOptions,
): Promise<void> {
  const statements: Statement[] = [selectCheckpoints];
  const readers: ((result: ResultSet | undefined) => void)[] = [];
  // A statement without keys would still cost a plan, and a join a walk.
  const ask = <Key>(
    keys: readonly Key[],
    select: (generation: number, keys: readonly Key[]) => Statement,
    read: (result: ResultSet | undefined) => void,
  ) => {
    if (keys.length === 0) return;
    statements.push(select(at.generation, keys));
    readers.push(read);
  };
  const { orders, users, ordersOf, termsOf } = missing;
  ask(
    [...orders],
    selectOrderFolds,
    (rows) => addFolds(states.orders, rows, decodeOrderFold),
  );
  ask(
    [...users],
    selectUserFolds,
    (rows) => addFolds(states.users, rows, decodeUserFold),
  );
  const takeExpectations = (result: ResultSet | undefined) => {
    for (const row of result?.rows ?? []) {
      const fact = readFact(recordedEvent(row));
      if (isExpectation(fact)) states.expectations.push(fact.expectation);
    }
  };
  ask(
    windows,
    (generation, windows) => selectExpectations(windows, { generation }),
    takeExpectations,
  );
  ask([...termsOf], selectLaterTerms, takeExpectations);
  const links = [...ordersOf.values()].map((link) => ({
    ...link,
    beganBy: firstOrderAfter(link.askedAt),
  }));
  ask(links, selectLinkedOrders, (result) => {
    for (const row of result?.rows ?? []) {
      const [, , id, fold] = row;
      const orderId = id as string;
      append(states.linkedOrders, keyOfRow(row), orderId);
      if (!states.orders.has(orderId)) {
        states.orders.set(orderId, decodeOrderFold(fold as string));
      }
    }
  });
  if (readers.length === 0) return;
  const [checkpoints, ...results] = await driver.batch(statements, mode);
  if (!sameCheckpoint(checkpointsOf(checkpoints)[slot], at)) throw lostRace();
  readers.forEach((read, place) => read(results[place]));
}

/**
 * Decodes stored folds.
 *
 * @param folds Where they are put, by id; those that are there already stay.
 * @param result Rows of an id and a fold.
 * @param decode Decodes one fold.
 */
export function addFolds<Fold>(
  folds: Map<string, Fold>,
  result: ResultSet | undefined,
  decode: (text: string) => Fold,
): void {
  for (const [id, fold] of result?.rows ?? []) {
    const key = id as string;
    if (!folds.has(key)) folds.set(key, decode(fold as string));
  }
}

function append<Item>(
  lists: Map<string, Item[]>,
  key: string,
  item: Item,
): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [item]);
  else list.push(item);
}

function keyOfRow([kind, link]: ResultSet["rows"][number]): string {
  return linkKey({ kind: kind as Link["kind"], link: link as string });
}
