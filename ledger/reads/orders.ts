/** Orders as readers see them: one, a list, what a reference means, and sums. */
import type { AssetTable } from "../../core/assets/environment.ts";
import type { AnomalyKind } from "../anomalies/anomaly.ts";
import {
  attentionOf,
  type OrderContext,
  outcomeNow,
  STUCK_AFTER_MS,
  UNSEEN_AFTER_MS,
} from "../attention/attention.ts";
import type { Status, Trust } from "../machines/transition.ts";
import { type OrderActivity, orderActivity } from "../orders/order_fold.ts";
import type { OrderFold } from "../orders/order_fold.ts";
import type { AttentionKind } from "../outcomes/attention_kind.ts";
import {
  OUTCOME_TABLE,
  type OutcomeCode,
  type Release,
  type ReleaseReason,
  SETTLEMENTS,
} from "../outcomes/outcome_table.ts";
import type { OrderState } from "../states/order_state.ts";
import type { Driver, SqlValue } from "../store/driver/driver.ts";
import { unpackOrder } from "../projection/doc.ts";
import { amountUnits, orderAtMs, orderView } from "../projection/rows.ts";
import type { LookupHash, LookupKind } from "../projection/lookup_hash.ts";
import { listed, read } from "../store/database.ts";
import {
  isLinked,
  isOfSession,
  isOfTerms,
  namesOf,
  readHash,
  readLinks,
  readSessions,
  RECORDED,
  STATED,
} from "./names.ts";
import {
  ALL,
  allOf,
  anyOf,
  type Condition,
  hasMore,
  type List,
  type ListReader,
  type ListSort,
  type PageQuery,
  type Range,
  readAll,
  readPage,
  readSums,
  timesOf,
  wrongQuery,
} from "./pages.ts";

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
  readonly sort?: ListSort;
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

/** Where more orders share an id, the id does not say which one is meant. */
const MOST_FOUND = 100;

/** With so many orders to look at, adding them up takes longer than a page may. */
const MANY = 50_000;

/** Orders as folded so far; behind by {@linkcode Ledger.lag} events. */
export class Orders {
  readonly #driver: Driver;
  readonly #assets: AssetTable;

  /**
   * Reads orders of a database; {@linkcode openLedger} makes one.
   *
   * @param driver The database of a ledger.
   * @param assets Asset table that gives the precision of amounts.
   */
  constructor(driver: Driver, assets: AssetTable) {
    this.#driver = driver;
    this.#assets = assets;
  }

  /**
   * Reads one order by its order id.
   *
   * @param orderId Order identifier.
   * @returns Null when no event names it.
   * @throws {LedgerError} When the database fails.
   */
  async get(orderId: string): Promise<OrderView | null> {
    const [found] = await this.#select("r.id = ?", [orderId]);
    return found?.order ?? null;
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
  ): Promise<ReadonlyMap<string, OrderView>> {
    const found = await this.#select(
      "r.id IN (SELECT value FROM json_each(?))",
      [listed(orderIds)],
    );
    return new Map(found.map(({ order }) => [order.orderId, order]));
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
    const hash = await readHash(this.#driver);
    const of = (kinds: readonly LookupKind[]) =>
      kinds.map((kind) => hash.of(kind, reference));
    const [stated, recorded, claimed] = await Promise.all([
      this.#linked(SHOWN, of(STATED), (one) => isLinked(one, reference)),
      this.#linked(SHOWN, of(RECORDED), (one) => isOfTerms(one, reference)),
      this.#linked(
        NAMED,
        of([...STATED, "session"]),
        (one) => isLinked(one, reference),
      ),
    ]);
    const confirmed = [...stated, ...recorded];
    if (!confirmed.some(({ order }) => isOfSession(order, reference))) {
      confirmed.push(...await this.#ofSession(hash, reference));
    }
    const shown = oldestFirst(confirmed);
    const ids = new Set(shown.map(({ orderId }) => orderId));
    const others = oldestFirst(claimed).filter(({ orderId }) =>
      !ids.has(orderId) && orderId !== exact?.orderId
    );
    return {
      confirmed: shown,
      claimed: exact === null ? others : [exact, ...others],
    };
  }

  /**
   * Reads one page of orders.
   *
   * @param query Which orders; all conditions must hold.
   * @throws {RangeError} When the query is invalid.
   * @throws {LedgerError} When the database fails.
   */
  async page(query: OrderQuery = {}): Promise<OrderPage> {
    const plan = await planOf(this.#driver, query);
    const { views, next, searchedTo } = await readPage(
      this.#driver,
      plan.list,
      this.#reader(plan),
      query,
    );
    return { orders: views.map(({ order }) => order), next, searchedTo };
  }

  /**
   * Walks over all orders of a query, page by page. Orders that appear or move
   * meanwhile may be read or missed, but none is read twice.
   *
   * @param query Which orders; `limit` is the size of a page.
   * @throws {RangeError} When the query is invalid.
   * @throws {LedgerError} When the database fails.
   */
  async *list(query: OrderQuery = {}): AsyncGenerator<OrderView> {
    const plan = await planOf(this.#driver, query);
    const all = readAll(this.#driver, plan.list, this.#reader(plan), query);
    for await (const { order } of all) yield order;
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
  async totals(
    { after: _after, limit: _limit, ...query }: OrderQuery = {},
  ): Promise<readonly OrderTotal[]> {
    const { list, holds } = await planOf(this.#driver, query);
    const sums = new Sums();
    if (holds === undefined) {
      for await (const row of readSums(this.#driver, list, SUMS)) sums.add(row);
    } else {
      for await (
        const { currency, trust, currencyAmount } of this.list(query)
      ) {
        const amount = amountUnits(currencyAmount);
        const counted = amount === null ? [0, 0] : [1, amount];
        sums.add([currency, trust, 1, ...counted]);
      }
    }
    return sums.all;
  }

  /**
   * Whether more than 50,000 orders have to be looked at for
   * {@linkcode Orders.totals}, so that it takes seconds. This check takes
   * milliseconds.
   *
   * @param query Which orders.
   * @throws {RangeError} When the query asks for what cannot be.
   * @throws {LedgerError} When the database fails.
   */
  async hasMany(query: OrderQuery = {}): Promise<boolean> {
    const { list } = await planOf(this.#driver, query);
    return await hasMore(this.#driver, list, MANY);
  }

  /** The orders that lookups find. */
  async #linked(
    hits: string,
    links: readonly number[],
    holds: (found: FoundOrder) => boolean,
  ): Promise<FoundOrder[]> {
    const found = await this.#select(
      `r.no IN (${hits}) ORDER BY +r.at, r.no LIMIT ${MOST_FOUND}`,
      [listed(links)],
    );
    return found.filter(holds);
  }

  /** The orders that are shown under the click id of a recorded session. */
  async #ofSession(
    hash: LookupHash,
    session: string,
  ): Promise<FoundOrder[]> {
    const sessions = await readSessions(this.#driver, hash, session);
    const clicks = sessions.filter(({ sessionId }) => sessionId === session)
      .map(({ clickId }) => clickId);
    const orders: FoundOrder[] = [];
    for (const click of new Set(clicks)) {
      const links = [hash.of("click", click)];
      const found = await this.#linked(
        SHOWN,
        links,
        (one) => isLinked(one, click),
      );
      orders.push(...found);
    }
    return orders;
  }

  #reader({ holds }: Plan): ListReader<FoundOrder> {
    return {
      columns: ORDER_COLUMNS,
      viewOf: (row) => orderOfRow(row, this.#assets),
      holds,
    };
  }

  async #select(
    where: string,
    args: readonly SqlValue[],
  ): Promise<FoundOrder[]> {
    const [rows = []] = await read(this.#driver, [{
      sql: `SELECT ${ORDER_COLUMNS} FROM orders AS r WHERE ${where}`,
      args,
    }]);
    return rows.map((row) => orderOfRow(row, this.#assets));
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

/** Orders that the service has shown under what is hashed. */
const SHOWN = `SELECT no FROM lookup
  WHERE hash IN (SELECT value FROM json_each(?1)) AND shown = 1`;

/** Orders that only webhooks name with it. */
const NAMED = `SELECT no FROM lookup
  WHERE hash IN (SELECT value FROM json_each(?1)) AND shown = 0
  EXCEPT ${SHOWN}`;

/** How the orders of a query are found. */
interface Plan {
  readonly list: List;
  readonly holds?: ((found: FoundOrder) => boolean) | undefined;
}

/**
 * Of what is asked for the first that an index tells of says which rows are
 * looked through, and the rest is looked at in each of them.
 */
async function planOf(driver: Driver, query: OrderQuery): Promise<Plan> {
  const { stuckAtMs: nowMs = Date.now(), sort = "newest" } = query;
  const { clickId, reference, userId, attention, outcome } = query;
  const indexed = [
    clickId === undefined ? null : await ofClick(driver, clickId),
    reference === undefined ? null : await ofReference(driver, reference),
    userId === undefined ? null : [
      is("user_hash = ?", (await readHash(driver)).of("user", userId)),
    ],
    attention === undefined
      ? null
      : attention === "not_comparable" && !await isComparing(driver)
      ? [is("0")]
      : waitingFor(attention, nowMs),
    outcome === undefined ? null : overdueWith(outcome, nowMs),
    query.anomaly === undefined ? null : [oddWith(query.anomaly)],
    releaseRanges(query),
    query.status === undefined ? null : [is("status = ?", query.status)],
  ].filter((ranges) => ranges !== null);
  const [ranges = [ALL], ...others] = indexed;
  const tests: ((found: FoundOrder) => boolean)[] = [];
  if (attention !== undefined) {
    tests.push(({ order }) => attentionOf(order, nowMs).includes(attention));
  }
  if (outcome !== undefined) {
    tests.push(({ order }) => outcomeNow(order, nowMs).code === outcome);
  }
  if (reference !== undefined) {
    const name = reference.toLowerCase();
    tests.push(({ order, fold }) =>
      namesOf(order, fold).some(({ field, value }) =>
        (field === "reference" || field === "externalOrderId") &&
        value.toLowerCase() === name
      )
    );
  }
  return {
    list: {
      table: "orders",
      ranges,
      where: [...others.map(anyOf), ...conditionsOf(query)],
      sort: sortOf(sort),
      ...timesOf(query),
    },
    ...(tests.length > 0 && {
      holds: (found) => tests.every((test) => test(found)),
    }),
  };
}

function sortOf(sort: string): ListSort {
  if (sort === "newest" || sort === "oldest") return sort;
  throw wrongQuery("sort", sort, "newest or oldest");
}

function is(sql: string, ...args: readonly SqlValue[]): Condition {
  return { sql, args };
}

/** Those that the service has shown, else those that webhooks name. */
async function ofClick(driver: Driver, clickId: string): Promise<Range[]> {
  const hash = (await readHash(driver)).of("click", clickId);
  return [is(
    `no IN (SELECT no FROM lookup WHERE hash = ? AND shown =
      (SELECT max(shown) FROM lookup WHERE hash = ?))`,
    hash,
    hash,
  )].map(few);
}

async function ofReference(
  driver: Driver,
  reference: string,
): Promise<Range[]> {
  const links = await readLinks(driver, ["reference", "external"], reference);
  return [is(
    `no IN (SELECT no FROM lookup
      WHERE hash IN (SELECT value FROM json_each(?)))`,
    links,
  )].map(few);
}

function few(condition: Condition): Range {
  return { ...condition, isFew: true };
}

/** Where nothing was ever recorded no order waits for a comparison. */
async function isComparing(driver: Driver): Promise<boolean> {
  const [rows] = await read(driver, [{
    sql: "SELECT 1 FROM expected LIMIT 1",
    args: [],
  }]);
  return rows?.length === 1;
}

const OVERDUE_AFTER_MS = {
  stuck: STUCK_AFTER_MS,
  witness_missing: UNSEEN_AFTER_MS,
};

function waitingFor(kind: AttentionKind, nowMs: number): Range[] {
  if (kind === "stuck" || kind === "witness_missing") {
    return [is(
      `waiting_since <= ? AND (reason = 'witness_open') = ?`,
      nowMs - OVERDUE_AFTER_MS[kind],
      kind === "stuck" ? 0 : 1,
    )].map(few);
  }
  const stored = is(
    `attention IS NOT NULL AND attention <> ' not_comparable '
      AND instr(attention, ?) > 0`,
    ` ${kind} `,
  );
  if (kind !== "not_comparable") return [stored];
  const alone = "attention = ' not_comparable '";
  return [
    stored,
    is(`release = 'unchecked' AND ${alone}`),
    few(is(`waiting_since IS NOT NULL AND release = 'wait' AND ${alone}`)),
  ];
}

/** Time alone makes an order overdue, so that no column says this outcome. */
function overdueWith(code: OutcomeCode, nowMs: number): Range[] | null {
  return code === "stuck" || code === "witness_missing"
    ? waitingFor(code, nowMs)
    : null;
}

function oddWith(kind: true | string): Condition {
  return kind === true
    ? is("anomalies IS NOT NULL")
    : is("anomalies IS NOT NULL AND instr(anomalies, ?) > 0", ` ${kind} `);
}

function releaseRanges(
  { release, releaseReason }: OrderQuery,
): Condition[] | null {
  const reason = releaseReason === undefined
    ? []
    : [is("reason = ?", releaseReason)];
  if (release !== undefined) {
    return [allOf([is("release = ?", release), ...reason])];
  }
  if (releaseReason === undefined) return null;
  const releases = [...OUTCOME_TABLE, ...SETTLEMENTS].filter((row) =>
    row.reason === releaseReason
  )
    .map((row) => row.release);
  return [...new Set(releases)].map((one) =>
    allOf([is("release = ?", one), ...reason])
  );
}

/** What no index tells of. */
function conditionsOf(query: OrderQuery): Condition[] {
  const { trust, commodity, open, outcome, network, currency } = query;
  const from = unitsOf("amountFrom", query.amountFrom);
  const to = unitsOf("amountTo", query.amountTo);
  const conditions = [
    trust !== undefined && is("trust = ?", trust),
    commodity !== undefined && is("asset = ?", commodity.toUpperCase()),
    open !== undefined && is("open = ?", open ? 1 : 0),
    outcome !== undefined && overdueWith(outcome, 0) === null &&
    is("outcome = ?", outcome),
    network !== undefined && is("network = ? COLLATE NOCASE", network),
    currency !== undefined && is("currency = ? COLLATE NOCASE", currency),
    from !== null && is("amount >= ?", from),
    to !== null && is("amount <= ?", to),
  ];
  return conditions.filter((one) => one !== false);
}

function unitsOf(field: string, amount: string | undefined): number | null {
  if (amount === undefined) return null;
  const units = amountUnits(amount);
  if (units !== null) return units;
  throw wrongQuery(
    field,
    amount,
    "an amount; write it like 100.50, with at most six decimals",
  );
}

/** Rows of currency, trust, orders, amounts, and their sum in two parts. */
const SUMS = {
  of: ["currency", "trust", "amount"],
  columns: "upper(currency), trust, count(*), count(amount), " +
    "sum(amount % 1000000), sum(amount / 1000000)",
  groupBy: "upper(currency), trust",
};

/** Sums by currency and trust. */
class Sums {
  readonly #sums = new Map<
    string,
    Omit<OrderTotal, "sum"> & { readonly units: bigint }
  >();

  /** Adds a row of {@linkcode SUMS}. */
  add(
    [currency, trust, orders, amounts, units, wholes]: readonly SqlValue[],
  ): void {
    const code = currency === null ? null : String(currency).toUpperCase();
    const key = `${trust} ${code}`;
    const known = this.#sums.get(key);
    const count = Number(orders);
    this.#sums.set(key, {
      currency: code,
      trust: trust as Trust,
      orders: (known?.orders ?? 0) + count,
      notSummed: (known?.notSummed ?? 0) + count - Number(amounts),
      units: (known?.units ?? 0n) + BigInt(Number(units ?? 0)) +
        BigInt(Number(wholes ?? 0)) * 1_000_000n,
    });
  }

  /** By currency, those without one last; confirmed ones before claimed ones. */
  get all(): readonly OrderTotal[] {
    const rank = (
      { currency, trust }: Pick<OrderTotal, "currency" | "trust">,
    ) =>
      `${currency === null ? 1 : 0} ${currency} ${
        trust === "confirmed" ? 0 : 1
      }`;
    return [...this.#sums.values()].sort((a, b) => rank(a) < rank(b) ? -1 : 1)
      .map(({ units, ...one }) => ({ ...one, sum: decimalOf(units) }));
  }
}

/** Millionths as a plain decimal. */
function decimalOf(units: bigint): string {
  const decimals = String(units % 1_000_000n).padStart(6, "0")
    .replace(/0+$/, "");
  return `${units / 1_000_000n}${decimals && `.${decimals}`}`;
}
