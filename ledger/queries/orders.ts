import {
  type OrderContext,
  STUCK_AFTER_MS,
  UNSEEN_AFTER_MS,
} from "../attention/attention.ts";
import type { AttentionKind } from "../outcomes/attention_kind.ts";
import {
  type FactCondition,
  OUTCOME_TABLE,
  type OutcomeCode,
  type Release,
  type ReleaseReason,
  SETTLEMENTS,
} from "../outcomes/outcome_table.ts";
import type { AnomalyKind } from "../anomalies/anomaly.ts";
import type { OrderActivity } from "../orders/order_activity.ts";
import { readOrderState } from "../projection/codec/stored_state.ts";
import type { OrderState } from "../states/order_state.ts";
import type { Status, Trust } from "../machines/transition.ts";
import type { Driver } from "../store/driver/driver.ts";
import {
  BY_ID,
  type Condition,
  type PageQuery,
  type Selection,
  WALKED,
} from "../store/tables/lists/selection.ts";
import { selectStates } from "../store/tables/lists/state_pages.ts";
import { hasMany, type OrderTotal, readTotals } from "./order_totals.ts";
import {
  openConditions,
  orderConditions,
  type OrderFilter,
  releaseConditions,
  selectClaimedByReference,
  selectConfirmedByReference,
  type StoredOutcome,
} from "../store/tables/lists/order_conditions.ts";
import {
  anyOf,
  isOfTransitions,
  waitParts,
} from "../store/tables/lists/order_waits.ts";
import { amountColumn } from "../store/tables/orders.ts";
import { wrongQuery } from "../store/tables/query_values.ts";
import { defined } from "../../core/guards.ts";
import { StateReader } from "./state_reader.ts";

/** An order as readers see it. */
export type OrderView = OrderState & {
  /** What was received about it, and when; grows with each repeat. */
  readonly activity: OrderActivity;
  /** What is known besides its state; absent from states of earlier times. */
  readonly context?: OrderContext;
};

/** Which orders to read. */
export interface OrderQuery extends PageQuery {
  /** Which come first, by when they were created. @default "newest" */
  readonly sort?: "newest" | "oldest";
  /** Only this status. */
  readonly status?: Status;
  /** Only this trust. */
  readonly trust?: Trust;
  /** Only orders of this user. */
  readonly userId?: string;
  /**
   * Only orders that the service has shown under this click id; where it has
   * shown none, those that webhooks name with it.
   */
  readonly clickId?: string;
  /** Only this asset, whatever the case of its code. */
  readonly commodity?: string;
  /**
   * True: only orders that may still change (not confirmed final, or
   * contested); false: only the others.
   */
  readonly open?: boolean;
  /** Only orders that wait for a person for this reason. */
  readonly attention?: AttentionKind;
  /** Only orders with this outcome. */
  readonly outcome?: OutcomeCode;
  /** Only this network, whatever the case of its name. */
  readonly network?: string;
  /** Only this currency, whatever the case of its code. */
  readonly currency?: string;
  /**
   * Only orders of this amount of their currency or more, a plain decimal of at
   * most six decimals.
   */
  readonly amountFrom?: string;
  /** Only orders of this amount of their currency or less, likewise. */
  readonly amountTo?: string;
  /**
   * Only orders that the partner recorded under this reference, or with this
   * external id, whatever the case.
   */
  readonly reference?: string;
  /** Only orders of this release. */
  readonly release?: Release;
  /** Only orders whose release has this reason. */
  readonly releaseReason?: ReleaseReason;
  /**
   * The time at which `stuck` and `witness_missing` are judged, in milliseconds
   * since the epoch: as a reason and as an outcome.
   *
   * @default {Date.now()}
   */
  readonly stuckAtMs?: number;
  /** True: only orders with any anomaly; or one kind of anomaly. */
  readonly anomaly?: true | AnomalyKind | (string & Record<never, never>);
}

/** One page of orders. */
export interface OrderPage {
  /** The orders. */
  readonly orders: readonly OrderView[];
  /** Value of `after` for the next page; null on the last one. */
  readonly next: string | null;
  /**
   * Up to when orders were looked through, UTC ISO 8601, if the page ended
   * because of that and not because it is full; else null.
   */
  readonly searchedTo: string | null;
}

/** The orders that a reference leads to, oldest first. */
export interface ReferencedOrders {
  /**
   * The service has shown them under it: these are what the reference means.
   */
  readonly confirmed: readonly OrderView[];
  /**
   * Only webhooks name them with it. Anybody can send such a webhook, so they
   * may be orders of somebody else.
   */
  readonly claimed: readonly OrderView[];
}

/** Orders as folded so far; behind by {@linkcode Ledger.lag} events. */
export class Orders {
  readonly #driver: Driver;
  readonly #states: StateReader<OrderView, OrderQuery>;

  /**
   * Reads orders of a database; {@linkcode openLedger} makes one.
   *
   * @param driver The database of a ledger.
   */
  constructor(driver: Driver) {
    this.#driver = driver;
    this.#states = new StateReader(driver, "order", orderSelection);
  }

  /**
   * Reads one order by its order id.
   *
   * @param orderId Order identifier.
   * @returns Null when no event names it.
   * @throws {LedgerError} When the database fails.
   */
  get(orderId: string): Promise<OrderView | null> {
    return this.#states.get(orderId);
  }

  /**
   * Reads several orders by their order ids.
   *
   * @param orderIds Which; what no event names is left out.
   * @returns The orders by order id.
   * @throws {LedgerError} When the database fails.
   */
  async getMany(
    orderIds: readonly string[],
  ): Promise<ReadonlyMap<string, OrderState>> {
    const statement = selectStates("order", orderIds);
    const [found] = await this.#driver.batch([statement], "read");
    return new Map(
      found?.rows.map(([id, state]) => [
        id as string,
        readOrderState(state as string),
      ]),
    );
  }

  /**
   * Reads the orders that a reference leads to: an order id, external id, click
   * id, session id, or the reference that the partner recorded. An order id of
   * the service leads to that order alone.
   *
   * @param reference What names them.
   * @returns Those that the service has shown under it, and apart from them
   * those that only webhooks name; of each at most the oldest hundred.
   * @throws {LedgerError} When the database fails.
   *
   * @example A webhook that names somebody's click id changes nothing
   * ```ts
   * import { openLedger } from "@rampkit/onramp/ledger";
   *
   * await using ledger = await openLedger({
   *   url: ":memory:",
   *   environment: "sandbox",
   * });
   * const { confirmed, claimed } = await ledger.orders.find("basket-7");
   * if (confirmed.length === 0 && claimed.length > 0) {
   *   console.log("Only webhooks name it: wait until the service is asked");
   * }
   * ```
   */
  async find(reference: string): Promise<ReferencedOrders> {
    const exact = await this.get(reference);
    if (exact?.confirmed) return { confirmed: [exact], claimed: [] };
    const [confirmed, claimed] = await Promise.all([
      this.#states.select(selectConfirmedByReference(reference, MOST_FOUND)),
      this.#states.select(selectClaimedByReference(reference, MOST_FOUND)),
    ]);
    if (exact === null) return { confirmed, claimed };
    const others = claimed.filter(({ orderId }) => orderId !== exact.orderId);
    return { confirmed, claimed: [exact, ...others] };
  }

  /**
   * Reads one page of orders.
   *
   * @param query Which orders; all conditions must hold.
   * @throws {RangeError} When the query is invalid.
   * @throws {LedgerError} When the database fails.
   */
  async page(query: OrderQuery = {}): Promise<OrderPage> {
    const { views, next, searchedTo } = await this.#states.page(query);
    return { orders: views, next, searchedTo: searchedTo?.sortAt ?? null };
  }

  /**
   * Walks over all orders of a query, page by page. Orders that appear or move
   * meanwhile may be read or missed, but none is read twice.
   *
   * @param query Which orders; `limit` is the size of a page.
   * @throws {RangeError} When the query is invalid.
   * @throws {LedgerError} When the database fails.
   */
  list(query: OrderQuery = {}): AsyncGenerator<OrderView> {
    return this.#states.list(query);
  }

  /**
   * Counts the orders of a query and adds up their amounts, by currency and
   * trust: of all of them, whatever page the query asks for.
   *
   * @param query Which orders.
   * @returns The totals by currency, confirmed ones before claimed ones.
   * @throws {RangeError} When the query is invalid.
   * @throws {LedgerError} When the database fails.
   */
  async totals(query: OrderQuery = {}): Promise<readonly OrderTotal[]> {
    return await readTotals(this.#driver, ofAllPages(query));
  }

  /**
   * Whether so many orders have to be looked at for {@linkcode Orders.totals}
   * that it takes seconds: more than 50,000, or more than 20,000 of which an
   * index has few, such as those that wait for a person. This check takes
   * milliseconds.
   *
   * @param query Which orders.
   * @throws {RangeError} When the query asks for what cannot be.
   * @throws {LedgerError} When the database fails.
   */
  async hasMany(query: OrderQuery = {}): Promise<boolean> {
    return await hasMany(this.#driver, ofAllPages(query));
  }
}

/** What a query selects, whatever page it asks for. */
function ofAllPages(
  { after: _after, limit: _limit, ...all }: OrderQuery,
): Selection {
  return orderSelection(all);
}

/** Where more orders share an id, the id does not say which one is meant. */
const MOST_FOUND = 100;

/**
 * What a query selects.
 *
 * @param query The query.
 */
export function orderSelection(query: OrderQuery): Selection {
  const { stuckAtMs = Date.now() } = query;
  const before = (ms: number) => new Date(stuckAtMs - ms).toISOString();
  const filter = {
    ...filterOf(query),
    stuckSince: before(STUCK_AFTER_MS),
    unseenSince: before(UNSEEN_AFTER_MS),
  };
  const waits = waitParts(filter);
  const ranges = rangesOf(query);
  // Rows of one index range each, or each looked at.
  const isByRange = ranges.length > 0;
  const either = isByRange ? ranges : waits;
  return {
    table: "orders",
    ...defined({ index: indexOf(query) }),
    isOfFew: isOfFew(query),
    where: [
      ...orderConditions(filter),
      ...(isByRange && waits.length > 0 ? [anyOf(waits)] : []),
    ],
    ...(either.length === 0 ? {} : { either }),
    amounts: defined({
      from: amountUnits("amountFrom", query.amountFrom),
      to: amountUnits("amountTo", query.amountTo),
    }),
    query,
  };
}

/**
 * The index to use where SQLite would choose a worse one.
 *
 * @returns Undefined where it chooses well.
 */
function indexOf(query: OrderQuery): string | undefined {
  // The orders of a name are few, and its links name them; so do transitions.
  if (isNamed(query) || isOfTransitions(query.attention)) return BY_ID;
  if (isOfFew(query)) return undefined;
  const { status, trust, commodity, release, releaseReason } = query;
  const { outcome, network, currency, amountFrom, amountTo } = query;
  const isGiven = (value: unknown) => value !== undefined;
  const indexed = [status, trust, commodity, release ?? releaseReason];
  const others = [outcome, network, currency, amountFrom, amountTo];
  // Only this one tells of two conditions without reading a row.
  return others.some(isGiven) || indexed.filter(isGiven).length > 1
    ? WALKED.time
    : undefined;
}

function isNamed({ clickId, reference }: OrderQuery): boolean {
  return (clickId ?? reference) !== undefined;
}

/** Whether a query asks for orders of which an index has few. */
function isOfFew(
  { userId, attention, anomaly, open, trust, ...query }: OrderQuery,
): boolean {
  return isNamed(query) || trust === "claimed" || open === true ||
    [userId, attention, anomaly].some((one) => one !== undefined);
}

/** The query as its conditions take it. */
function filterOf(query: OrderQuery): OrderFilter {
  const { outcome, reference, ...same } = query;
  return {
    ...same,
    ...defined({
      outcome: outcome && storedOutcome(outcome),
      named: reference,
    }),
  };
}

function amountUnits(
  field: string,
  amount: string | undefined,
): number | undefined {
  if (amount === undefined) return undefined;
  const units = amountColumn(amount);
  if (units !== null) return units;
  throw wrongQuery(
    field,
    amount,
    "an amount; write it like 100.50, with at most six decimals",
  );
}

/**
 * Facts that no stored state has, because they do not depend on the order
 * alone.
 */
const NOT_STORED = ["overdue", "twice"] as const;

/**
 * An outcome by what is stored. A row that asks for what is not stored hides
 * those behind it that can apply to the same order.
 */
function storedOutcome(code: OutcomeCode): StoredOutcome {
  const at = OUTCOME_TABLE.findIndex((row) => row.code === code);
  const row = OUTCOME_TABLE[at];
  if (row === undefined) return { stored: [code] };
  const asked = NOT_STORED.find((fact) => row.when[fact] !== undefined);
  const before = OUTCOME_TABLE.slice(0, at);
  const hidden = NOT_STORED.filter((fact) =>
    fact !== asked &&
    before.some(({ when }) =>
      when[fact] !== undefined && canBothApply(when, row.when)
    )
  ).map((fact) => [fact, false]);
  const stored = asked === undefined ? [row] : OUTCOME_TABLE.slice(at + 1)
    .filter((one) => canBothApply(row.when, one.when));
  return {
    stored: stored.map((one) => one.code),
    ...Object.fromEntries(
      asked === undefined ? hidden : [...hidden, [asked, true]],
    ),
  };
}

/** Whether there are facts to which both conditions apply. */
function canBothApply(a: FactCondition, b: FactCondition): boolean {
  return Object.entries(a).every(([fact, values]) => {
    const others: readonly string[] | undefined =
      b[fact as keyof FactCondition];
    return others === undefined ||
      (values as readonly string[]).some((value) => others.includes(value));
  });
}

/** Index ranges that are read side by side, where one does not hold all. */
function rangesOf(query: OrderQuery): readonly Condition[] {
  const { release, releaseReason } = query;
  if ((release ?? releaseReason) === undefined) {
    return openConditions(filterOf(query));
  }
  return releaseConditions(
    [...OUTCOME_TABLE, ...SETTLEMENTS].filter((row) =>
      (release === undefined || row.release === release) &&
      (releaseReason === undefined || row.reason === releaseReason)
    ),
    releaseReason,
  );
}
