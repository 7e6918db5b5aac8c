/** Orders as readers see them: one, a list, what a reference means, and sums. */
// @ts-types="@types/big.js"
import Big from "big.js";
import type { AssetTable } from "../../core/assets/environment.ts";
import type { AnomalyKind } from "../anomalies/anomaly.ts";
import {
  isLinked,
  isOfSession,
  isOfTerms,
  namesOf,
  readRecorded,
  RECORDED,
  STATED,
} from "./names.ts";
import {
  attentionOf,
  type OrderContext,
  type OrderState,
  outcomeNow,
  OVERDUE_AFTER_MS,
} from "../states/order_state.ts";
import type { Status, Trust } from "../machines/transition.ts";
import { type OrderActivity, orderActivity } from "../orders/order_status.ts";
import type { OrderFold } from "../orders/order_fold.ts";
import {
  ATTENTION_KINDS,
  type AttentionKind,
  OUTCOME_TABLE,
  type OutcomeCode,
  type Release,
  type ReleaseReason,
  SETTLEMENTS,
} from "../outcomes/outcome_table.ts";
import {
  type Driver,
  listed,
  select,
  selectValue,
  type SqlValue,
} from "../store/database.ts";
import {
  amountUnits,
  lookupText,
  orderAtMs,
  orderView,
  unpackOrder,
} from "../projection/rows.ts";
import type { LookupKind } from "../projection/guard.ts";
import {
  ALL,
  allOf,
  asked,
  byCreation,
  type Condition,
  decodeCursor,
  encodeCursor,
  given,
  type List,
  MOST_PAGE_BYTES,
  MOST_SEARCHED,
  type PageQuery,
  pageSize,
  type Range,
  readAll,
  readHash,
  readPage,
  readSums,
  selectEnd,
  where,
  wrongCursor,
  wrongQuery,
} from "./pages.ts";
import { jsonBytes } from "../../core/bytes.ts";
import { timeOf } from "../store/events.ts";

/** An order as readers see it. */
export type OrderView = OrderState & {
  /** What was received about it, and when; grows with each repeat. */
  readonly activity: OrderActivity;
  /** What is known besides its state; absent from states of earlier times. */
  readonly context?: OrderContext;
};

/** Which orders to read. */
export interface OrderQuery extends PageQuery {
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
   * since the epoch, as a reason and as an outcome.
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

/** Orders of one currency and trust, and the sum of their amounts. */
export interface OrderTotal {
  /** Code of the currency; null for orders that name none. */
  readonly currency: string | null;
  /**
   * `confirmed`: the service has shown them. `claimed`: only webhooks say so,
   * and anybody can send one.
   */
  readonly trust: Trust;
  /** How many orders there are. */
  readonly orders: number;
  /** The exact sum of the amounts that can be added, a plain decimal. */
  readonly sum: string;
  /**
   * How many amounts are not in the sum: they are not known, are no plain
   * decimal of at most six decimals, or have more than nine digits before them.
   */
  readonly notSummed: number;
}

/** What {@linkcode orderOfRow} reads, of `orders AS r`. */
export const ORDER_COLUMNS =
  "r.id, r.fold, r.told, EXISTS (SELECT 1 FROM expected)";

/** An order, and what it was folded from. */
export interface FoundOrder {
  readonly order: OrderView;
  readonly fold: OrderFold;
}

/** Reads a row of {@linkcode ORDER_COLUMNS}: the state is worked out of the fold. */
export function orderOfRow(
  [id, document, told, compares]: readonly SqlValue[],
  assets: AssetTable,
): FoundOrder {
  const fold = unpackOrder(String(id), String(document));
  const state = orderView({ fold, told: JSON.parse(String(told)) }, {
    assets,
    compares: compares === 1,
  });
  return { order: { ...state, activity: orderActivity(fold) }, fold };
}

/** Where more orders share a name, it does not say which one is meant. */
export const MOST_FOUND = 100;

/** An order that a whole name leads to. */
export interface NamedOrder extends FoundOrder {
  /** What the name is. */
  readonly kind: LookupKind;
  readonly trust: Trust;
}

function isShown({ trust }: NamedOrder): boolean {
  return trust === "confirmed";
}

/**
 * Reads the orders that a whole name of some kinds leads to: of those that the
 * service has shown, and of those that webhooks name, so many of the first.
 */
export async function readNamed(
  driver: Driver,
  assets: AssetTable,
  kinds: readonly LookupKind[],
  name: string,
): Promise<NamedOrder[]> {
  const hash = await readHash(driver);
  const byHash = new Map(
    kinds.map((kind) => [hash.of(kind, lookupText(kind, name)), kind]),
  );
  const hits = (shown: 0 | 1) =>
    `SELECT * FROM (SELECT hash, shown, no FROM lookup
      WHERE hash IN (SELECT value FROM json_each(?1)) AND shown = ${shown}
      LIMIT ${MOST_FOUND + 1})`;
  const rows = await select(
    driver,
    `SELECT l.hash, l.shown, ${ORDER_COLUMNS}
      FROM (${hits(1)} UNION ALL ${hits(0)}) AS l
      CROSS JOIN orders AS r ON r.no = l.no`,
    listed(byHash.keys()),
  );
  return rows.map(([at, shown, ...row]) => ({
    ...orderOfRow(row, assets),
    kind: byHash.get(Number(at)) ?? "tx",
    trust: shown === 1 ? "confirmed" : "claimed",
  }));
}

/**
 * Orders as folded so far; behind by {@linkcode Ledger.lag} events. Every method throws
 * a {@linkcode LedgerError} where the database fails.
 */
export class Orders {
  readonly #driver: Driver;
  readonly #assets: AssetTable;

  /** Reads orders of a database; {@linkcode openLedger} makes one. */
  constructor(driver: Driver, assets: AssetTable) {
    this.#driver = driver;
    this.#assets = assets;
  }

  /**
   * Reads one order by its order id.
   *
   * @returns Null when no event names it.
   */
  async get(orderId: string): Promise<OrderView | null> {
    const [found] = await this.#select("r.id = ?", orderId);
    return found?.order ?? null;
  }

  /**
   * Reads several orders by their order ids.
   *
   * @param orderIds Which; what no event names is left out.
   */
  async getMany(
    orderIds: readonly string[],
  ): Promise<ReadonlyMap<string, OrderView>> {
    const found = await this.#select(
      "r.id IN (SELECT value FROM json_each(?))",
      listed(orderIds),
    );
    return new Map(found.map(({ order }) => [order.orderId, order]));
  }

  /**
   * Reads the orders that a reference leads to: an order id, external id, click
   * id, session id, or the reference that the partner recorded. An order id of
   * the service leads to that order alone.
   *
   * @returns Those that the service has shown under it, and apart from them
   * those that only webhooks name; of each at most the oldest hundred.
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
    const hits = await this.#named([...STATED, ...RECORDED], reference);
    const shown = hits.filter(isShown);
    const confirmed = shown.filter((hit) =>
      (STATED.includes(hit.kind) ? isLinked : isOfTerms)(hit, reference)
    );
    if (!confirmed.some(({ order }) => isOfSession(order, reference))) {
      for (const one of await readRecorded(this.#driver, [reference])) {
        const { sessionId, clickId } = one;
        if (sessionId !== reference || clickId === null) continue;
        const ofClick = (await this.#named(["click"], clickId)).filter(isShown);
        confirmed.push(...ofClick.filter((hit) => isLinked(hit, clickId)));
      }
    }
    const others = hits.filter((hit) =>
      !isShown(hit) && hit.kind !== "reference" && isLinked(hit, reference)
    );
    const known = new Set(
      [...confirmed, ...shown.filter(({ kind }) => kind !== "reference")]
        .map(({ order }) => order.orderId),
    );
    const claimed = oldestFirst(others).filter(({ orderId }) =>
      !known.has(orderId) && orderId !== reference
    );
    return {
      confirmed: oldestFirst(confirmed),
      claimed: exact === null ? claimed : [exact, ...claimed],
    };
  }

  /**
   * Reads one page of orders.
   *
   * @throws {RangeError} When the query is invalid.
   */
  async page(query: OrderQuery = {}): Promise<OrderPage> {
    const list = await this.#listOf(query);
    const { items, ...ends } = await readPage(this.#driver, list, query);
    return { orders: items.map(({ order }) => order), ...ends };
  }

  /**
   * Walks over all orders of a query, page by page. Orders that appear or move
   * meanwhile may be read or missed, but none is read twice.
   *
   * @param query Which orders; `limit` is the size of a page.
   * @throws {RangeError} When the query is invalid.
   */
  async *list(query: OrderQuery = {}): AsyncGenerator<OrderView> {
    const list = await this.#listOf(query);
    const all = readAll(query, (page) => readPage(this.#driver, list, page));
    for await (const { order } of all) yield order;
  }

  /**
   * Counts the orders of a query and adds up their amounts, by currency and
   * trust: of all of them, whatever page the query asks for.
   *
   * @returns The totals by currency, confirmed ones before claimed ones.
   * @throws {RangeError} When the query is invalid.
   */
  async totals(
    { after: _after, limit: _limit, ...query }: OrderQuery = {},
  ): Promise<readonly OrderTotal[]> {
    const list = await this.#listOf(query);
    return await addUp(
      list.holds === undefined
        ? readSums(this.#driver, list, query)
        : sumsOf(this.list(query)),
    );
  }

  /**
   * Whether more than 50,000 orders have to be looked at for
   * {@linkcode Orders.totals}, so that it takes seconds. This check takes
   * milliseconds.
   *
   * @throws {RangeError} When the query asks for what cannot be.
   */
  async hasMany(query: OrderQuery = {}): Promise<boolean> {
    const list = await this.#listOf(query);
    const many = selectEnd(list, query, null, MOST_SEARCHED + 1);
    return (await select(this.#driver, many.sql, ...many.args)).length === 1;
  }

  #named(kinds: readonly LookupKind[], name: string): Promise<NamedOrder[]> {
    return readNamed(this.#driver, this.#assets, kinds, name);
  }

  async #select(where: string, arg: string): Promise<FoundOrder[]> {
    const sql = `SELECT ${ORDER_COLUMNS} FROM orders AS r WHERE ${where}`;
    const rows = await select(this.#driver, sql, arg);
    return rows.map((row) => orderOfRow(row, this.#assets));
  }

  /**
   * Of what is asked for the first that an index tells of says which rows are
   * looked through, and the rest is looked at in each of them.
   */
  async #listOf(query: OrderQuery): Promise<List<FoundOrder>> {
    const { stuckAtMs: nowMs = Date.now() } = query;
    const { attention, outcome, reference } = query;
    const hash = await readHash(this.#driver);
    // Where nothing was ever recorded no order waits for a comparison.
    const isNone = attention === "not_comparable" &&
      (await select(this.#driver, "SELECT 1 FROM expected LIMIT 1"))
          .length === 0;
    const [ranges = [ALL], ...others] = [
      // Those that the service has shown, else those that webhooks name.
      ...asked(query.clickId, (clickId) => {
        const click = hash.of("click", clickId);
        const sql = `no IN (SELECT no FROM lookup WHERE hash = ? AND shown =
          (SELECT max(shown) FROM lookup WHERE hash = ?))`;
        return [few(sql, click, click)];
      }),
      ...asked(reference, (name) => [few(
        "no IN (SELECT no FROM lookup WHERE hash IN (?, ?))",
        ...[hash.of("reference", name), hash.of("external", name)],
      )]),
      ...asked(query.userId, (userId) => [
        where("user_hash = ?", hash.of("user", userId)),
      ]),
      ...asked(
        attention,
        (kind) => isNone ? [where("0")] : waitingFor(kind, nowMs),
      ),
      // Time alone makes an order overdue, so that no column says this outcome.
      ...(isOverdue(outcome) ? [waitingFor(outcome, nowMs)] : []),
      ...asked(query.anomaly, () => [where("anomalies IS NOT NULL")]),
      ...releasedAs(query),
      ...asked(query.status, (status) => [where("status = ?", status)]),
    ];
    const holds = (found: FoundOrder) =>
      (attention === undefined ||
        attentionOf(found.order, nowMs).includes(attention)) &&
      (outcome === undefined ||
        outcomeNow(found.order, nowMs).code === outcome) &&
      (reference === undefined || isReferredTo(found, reference));
    return {
      ...{ ...byCreation("orders", query), ranges, columns: ORDER_COLUMNS },
      where: [...others.map((one) => allOf(one, "OR")), ...lookedAt(query)],
      viewsOf: (rows) => rows.map((row) => orderOfRow(row, this.#assets)),
      ...(attention ?? outcome ?? reference) !== undefined && { holds },
    };
  }
}

/** Each order once. */
function oldestFirst(found: readonly FoundOrder[]): OrderView[] {
  const sorted = found.toSorted((a, b) =>
    orderAtMs(a.fold) - orderAtMs(b.fold)
  );
  const byId = new Map(sorted.map(({ order }) => [order.orderId, order]));
  return [...byId.values()].slice(0, MOST_FOUND);
}

function few(...condition: Parameters<typeof where>): Range {
  return { ...where(...condition), isFew: true };
}

function isReferredTo({ order, fold }: FoundOrder, reference: string): boolean {
  return namesOf(order, fold).some(({ field, value }) =>
    (field === "reference" || field === "externalOrderId") &&
    value.toLowerCase() === reference.toLowerCase()
  );
}

function isOverdue(
  kind: string | undefined,
): kind is keyof typeof OVERDUE_AFTER_MS {
  return kind === "stuck" || kind === "witness_missing";
}

function waitingFor(kind: AttentionKind, nowMs: number): Range[] {
  if (isOverdue(kind)) {
    return [few(
      `waiting_since <= ? AND (reason = 'witness_open') = ?`,
      ...[nowMs - OVERDUE_AFTER_MS[kind], kind === "stuck" ? 0 : 1],
    )];
  }
  const stored = where(
    "attention IS NOT NULL AND attention <> ' not_comparable '",
  );
  if (kind !== "not_comparable") return [stored];
  const alone = "attention = ' not_comparable '";
  return [
    stored,
    where(`release = 'unchecked' AND ${alone}`),
    few(`waiting_since IS NOT NULL AND release = 'wait' AND ${alone}`),
  ];
}

/** A reason is of few releases. */
function releasedAs({ release, releaseReason }: OrderQuery): Range[][] {
  if ((release ?? releaseReason) === undefined) return [];
  const releases = release !== undefined
    ? [release]
    : [...OUTCOME_TABLE, ...SETTLEMENTS]
      .filter(({ reason }) => reason === releaseReason)
      .map((row) => row.release);
  const ranges = [...new Set(releases)].map((one) => where("release = ?", one));
  return [ranges.length > 0 ? ranges : [where("false")]];
}

/** What no index tells of. */
function lookedAt(query: OrderQuery): Condition[] {
  const { outcome, anomaly, attention, amountFrom, amountTo } = query;
  return given({
    "instr(attention, ?) > 0": attention === undefined || isOverdue(attention)
      ? undefined
      : ` ${attention} `,
    "instr(anomalies, ?) > 0": typeof anomaly === "string"
      ? ` ${anomaly} `
      : undefined,
    "reason = ?": query.releaseReason,
    "trust = ?": query.trust,
    "asset = ?": query.commodity?.toUpperCase(),
    "outcome = ?": isOverdue(outcome) ? undefined : outcome,
    "network = ? COLLATE NOCASE": query.network,
    "currency = ? COLLATE NOCASE": query.currency,
    "amount >= ?": unitsOf("amountFrom", amountFrom),
    "amount <= ?": unitsOf("amountTo", amountTo),
  });
}

function unitsOf(field: string, amount?: string): number | undefined {
  if (amount === undefined) return;
  const units = amountUnits(amount);
  if (units !== null) return units;
  throw wrongQuery(
    field,
    amount,
    "an amount; write it like 100.50, with at most six decimals",
  );
}

/** The rows of {@linkcode readSums}, of each order one. */
async function* sumsOf(
  orders: AsyncIterable<OrderView>,
): AsyncGenerator<readonly SqlValue[]> {
  for await (const { currency, trust, currencyAmount } of orders) {
    const amount = amountUnits(currencyAmount);
    yield [currency, trust, 1, amount === null ? 0 : 1, String(amount ?? 0)];
  }
}

async function addUp(
  rows: AsyncIterable<readonly SqlValue[]>,
): Promise<OrderTotal[]> {
  const sums = new Map<string, Omit<OrderTotal, "sum"> & { sum: Big }>();
  for await (const [code, trust, orders, amounts, units] of rows) {
    const currency = code === null ? null : String(code).toUpperCase();
    // Those without a currency come last, and confirmed ones before claimed ones.
    const isClaimed = trust === "claimed";
    const key = `${+(currency === null)} ${currency} ${+isClaimed}`;
    const known = sums.get(key) ?? { orders: 0, notSummed: 0, sum: new Big(0) };
    sums.set(key, {
      currency,
      trust: trust as Trust,
      orders: known.orders + Number(orders),
      notSummed: known.notSummed + Number(orders) - Number(amounts),
      sum: known.sum.plus(String(units)),
    });
  }
  return [...sums].sort(([a], [b]) => a < b ? -1 : 1).map(([, one]) => ({
    ...one,
    sum: one.sum.times("0.000001").toFixed(),
  }));
}

/** An order that waits for a person. */
export interface AttentionItem {
  /** Why, the gravest first; never empty. */
  readonly kinds: readonly [AttentionKind, ...AttentionKind[]];
  /** The order. */
  readonly order: OrderView;
}

/** Which orders that wait for a person to read. */
interface AttentionQuery extends Pick<PageQuery, "after" | "limit"> {
  /** Only those that wait for this reason, whatever else they wait for. */
  readonly kind?: AttentionKind;
}

/**
 * One page of the orders that wait for a person, each once: those with the gravest
 * reason first, and of one reason the oldest first.
 */
export async function readAttentionPage(
  orders: Orders,
  nowMs: number,
  { kind: only, after: cursor, limit }: AttentionQuery,
): Promise<{ items: AttentionItem[]; next: string | null }> {
  const kinds = only === undefined ? ATTENTION_KINDS : [only];
  const size = pageSize(limit);
  let [after, begun] = cursor === undefined
    ? ["", kinds[0]]
    : decodeCursor(cursor);
  let place = kinds.findIndex((kind) => kind === begun);
  if (place < 0) throw wrongCursor(cursor ?? "");
  const items: AttentionItem[] = [];
  let bytes = 0;
  let kind = kinds[place];
  // Another page of orders could be too much for this one.
  while (
    kind !== undefined && items.length < size && bytes <= MOST_PAGE_BYTES / 4
  ) {
    // Never more than are still wanted, so that the cursor is the last one's.
    const page = await orders.page({
      ...{ attention: kind, stuckAtMs: nowMs, sort: "oldest" },
      ...{ limit: size - items.length, ...after !== "" && { after } },
    });
    for (const order of page.orders) {
      const [first, ...others] = attentionOf(order, nowMs);
      if (first === undefined || (first !== kind && only === undefined)) {
        continue;
      }
      items.push({ kinds: [first, ...others], order });
      bytes += jsonBytes(order);
    }
    after = page.next ?? "";
    if (after === "") kind = kinds[++place];
  }
  const next = kind === undefined ? null : encodeCursor(after, kind);
  return { items, next };
}

/** Walks over all of them, page by page. */
export function listAttention(
  orders: Orders,
  nowMs: number,
  kind?: AttentionKind,
): AsyncGenerator<AttentionItem> {
  // Few pages: each sorts anew what waits for time alone.
  const query: AttentionQuery = { limit: 1000, ...kind && { kind } };
  return readAll(query, (page) => readAttentionPage(orders, nowMs, page));
}

/**
 * Since when orders have succeeded in a ledger that never recorded an
 * expectation, UTC ISO 8601; null where orders are compared, or none has succeeded
 * since the ledger went live. None of its orders can be compared, and none of them
 * waits for a person.
 */
export async function uncheckedSince(driver: Driver): Promise<string | null> {
  // What was created before the ledger went live was not released by it.
  return timeOf(
    await selectValue(
      driver,
      `SELECT at FROM orders
      WHERE release = 'unchecked' AND NOT EXISTS (SELECT 1 FROM expected)
        AND at >= coalesce((SELECT live_from FROM ledger), 0)
      ORDER BY at LIMIT 1`,
    ),
  );
}
