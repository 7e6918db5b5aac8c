import {
  askedAtOf,
  type Expectation,
  type ExpectationWindow,
  purchaseKey,
  purchaseOf,
  validUntil,
} from "../events/expectation.ts";
import { decodeOrderFold, decodeUserFold } from "./codec/fold_codec.ts";
import type { RecordedEvent } from "../events/event.ts";
import { type Fact, isExpectation, isWitnessRule } from "../events/fact.ts";
import {
  evolveOrder,
  initialOrderFold,
  type OrderFold,
} from "../orders/order_fold.ts";
import {
  expectationWindow,
  firstOrderAfter,
  sameWindow,
} from "../orders/expectations.ts";
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
  type LaterTerms,
  selectExpectations,
  selectLaterTerms,
} from "../store/tables/events/expectations.ts";
import {
  selectOrderFolds,
  selectSuccessesSince,
} from "../store/tables/orders.ts";
import { selectUserFolds } from "../store/tables/users.ts";
import type { BatchEvent, LoadedStates } from "./batch.ts";
import { expectationLinks, type Link, linkKey } from "../events/links.ts";
import { lostRace } from "../store/driver/retrying_driver.ts";

/** {@linkcode LoadedStates} while they are being read. */
export interface MutableLoadedStates extends LoadedStates {
  readonly orders: Map<string, OrderFold>;
  readonly users: Map<string, UserFold>;
  readonly expectations: Expectation[];
  readonly successes: string[];
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
  const { orders, users, ordersOf, termsOf, rulesFrom } = missing;
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
  ask([...termsOf.values()], selectLaterTerms, takeExpectations);
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
  ask([...rulesFrom], selectSuccessesSince, (result) => {
    addFolds(states.orders, result, decodeOrderFold);
    for (const [id] of result?.rows ?? []) states.successes.push(id as string);
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

/** What has to be loaded before a batch can be folded. */
export interface MissingKeys {
  /** Orders whose folds are not known. */
  readonly orders: Set<string>;
  /** Users whose folds are not known. */
  readonly users: Set<string>;
  /** Links whose orders are not known, and the earliest expectation of each. */
  readonly ordersOf: Map<string, LinkOfExpectation>;
  /**
   * Purchases of new expectations, and when the earliest of each was asked for:
   * what was recorded before and was asked for later counts in its place.
   */
  readonly termsOf: Map<string, LaterTerms>;
  /** From when on new rules hold, by which successes wait for the chain. */
  readonly rulesFrom: Set<string>;
}

/** A link of new expectations. */
export interface LinkOfExpectation extends Link {
  /** When the earliest of them was asked for, UTC ISO 8601. */
  readonly askedAt: string;
  /** When the first of them expires, UTC ISO 8601. */
  readonly validUntil: string;
}

/**
 * Lists what a batch needs to know.
 *
 * @param events The batch.
 */
export function missingKeys(events: readonly BatchEvent[]): MissingKeys {
  const missing: MissingKeys = {
    orders: new Set(),
    users: new Set(),
    ordersOf: new Map(),
    termsOf: new Map(),
    rulesFrom: new Set(),
  };
  for (const { fact } of events) {
    if (fact.orderId !== null) missing.orders.add(fact.orderId);
    if (fact.userId !== null) missing.users.add(fact.userId);
    if (isWitnessRule(fact)) missing.rulesFrom.add(fact.change.from);
    if (!isExpectation(fact)) continue;
    const { expectation } = fact;
    const askedAt = askedAtOf(expectation);
    const until = validUntil(expectation);
    for (const link of expectationLinks(expectation)) {
      const key = linkKey(link);
      const other = missing.ordersOf.get(key);
      missing.ordersOf.set(key, {
        ...link,
        askedAt: earlier(other?.askedAt, askedAt),
        validUntil: earlier(other?.validUntil, until),
      });
    }
    const purchase = purchaseOf(expectation);
    if (purchase === null) continue;
    const key = purchaseKey(expectation);
    const known = missing.termsOf.get(key)?.askedAt;
    const first = earlier(known, askedAt);
    missing.termsOf.set(key, { ...purchase, askedAt: first });
  }
  return missing;
}

/**
 * Whether anything has to be loaded.
 *
 * @param missing What a batch needs to know.
 */
export function isAnyMissing(missing: MissingKeys): boolean {
  return Object.values(missing).some(({ size }) => size > 0);
}

/**
 * Where to look for expectations of the orders of a batch: wherever one of its
 * readings moves the latest click id, the beginning or the first success of an
 * order.
 *
 * @param events The batch.
 * @param orders The orders before it.
 */
export function movedWindows(
  events: readonly BatchEvent[],
  orders: ReadonlyMap<string, OrderFold>,
): ExpectationWindow[] {
  const found = new Map<string, ExpectationWindow>();
  const folds = new Map<string, OrderFold>();
  for (const { fact } of events) {
    if (fact.kind !== "order_snapshot" || fact.orderId === null) continue;
    const { orderId } = fact;
    const before = folds.get(orderId) ?? orders.get(orderId) ??
      initialOrderFold(orderId);
    const after = evolveOrder(before, fact);
    folds.set(orderId, after);
    const window = expectationWindow(after);
    if (window === null || sameWindow(window, expectationWindow(before))) {
      continue;
    }
    found.set(Object.values(window).join(" "), window);
  }
  return [...found.values()];
}

function earlier(a: string | undefined, b: string): string {
  return a === undefined || b < a ? b : a;
}
