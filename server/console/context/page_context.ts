import { readFile } from "node:fs/promises";
import {
  bookedAmount,
  readMonthAt,
  readMonthPositions,
} from "../../../ledger/for_server.ts";
import type { Ledger, MonthPreview, OrderQuery } from "../../../ledger/mod.ts";
import {
  type BooksDigest,
  booksDigest,
  closedBooks,
} from "../../../resources/months/month_books.ts";
import {
  type MonthJson,
  monthJson,
} from "../../../resources/views/month_view.ts";
import { messageOf } from "../../../core/guards.ts";
import { UsageError } from "../../../core/settings/errors.ts";
import { sleep } from "../../../core/waiting/waiting.ts";
import type { OrderTotal } from "../../../ledger/types.ts";
import { AmountSum } from "../../../ledger/for_resources.ts";
import { ordersPage, type Page } from "../../../resources/queries/orders.ts";
import type { OrderJson } from "../../../resources/views/order_view.ts";
import type { DeliveryHealth } from "../../../sync/mod.ts";
import type { Operations } from "../../api/operations.ts";
import type { Waiting } from "../../../resources/health/conditions.ts";

/** A value older than this many times `oldMs` is not used. */
const TOO_OLD = 6;

/**
 * A value that takes long to find out: the last one is given at once, and
 * refreshed in the background once it is old. After a night without requests,
 * the first caller waits.
 */
export class CachedValue<Value> {
  readonly #find: () => Promise<Value>;
  readonly #now: () => number;
  readonly #oldMs: number;
  #last: { readonly value: Value; readonly atMs: number } | null = null;
  #finding: Promise<Value> | null = null;

  /** Finds nothing out until asked. */
  constructor(
    find: () => Promise<Value>,
    { now, oldMs }: { readonly now: () => number; readonly oldMs: number },
  ) {
    this.#find = find;
    this.#now = now;
    this.#oldMs = oldMs;
  }

  /** The last value; before the first, or when it is too old, the next. */
  async value(): Promise<Value> {
    const last = this.#last;
    if (last === null) return await this.find();
    const ageMs = Math.abs(this.#now() - last.atMs);
    if (ageMs >= TOO_OLD * this.#oldMs) return await this.find();
    if (ageMs >= this.#oldMs) {
      this.find().catch(() => {}); // The next caller tries again.
    }
    return last.value;
  }

  /** Looks for it now; concurrent callers get the same. */
  find(): Promise<Value> {
    return this.#finding ??= this.#find().then((value) => {
      this.#last = { value, atMs: this.#now() };
      return value;
    }).finally(() => {
      this.#finding = null;
    });
  }

  /** Waits for what is under way, so that the ledger can be closed. */
  async settled(): Promise<void> {
    await this.#finding?.catch(() => {}); // The caller has got the error.
  }
}

/** A closed month, with as many of its rows as a page shows. */
export interface ClosedMonth extends MonthJson {
  readonly books: BooksDigest;
}

/**
 * The closed months. One of them holds a row for each of its orders, and never
 * changes: each is read once, and its digest is remembered.
 */
export class ClosedBooks {
  readonly #ledger: Ledger;
  readonly #read = new Map<number, ClosedMonth | null>();

  /** Reads nothing until asked. */
  constructor(ledger: Ledger) {
    this.#ledger = ledger;
  }

  /** Every closed month, in their order. */
  async list(): Promise<ClosedMonth[]> {
    const { driver } = this.#ledger;
    const positions = await readMonthPositions(driver);
    const months = new Map<string, ClosedMonth>();
    for (const position of positions) {
      let month = this.#read.get(position);
      if (month === undefined) {
        const close = await readMonthAt(driver, position);
        month = close && {
          ...monthJson(close),
          books: booksDigest(closedBooks(close)),
        };
        this.#read.set(position, month);
      }
      if (month !== null) months.set(month.month, month);
    }
    return [...months.values()].sort((a, b) => a.month < b.month ? -1 : 1);
  }

  /** One closed month; null when it is not closed. */
  async get(month: string): Promise<ClosedMonth | null> {
    return (await this.list()).find((one) => one.month === month) ?? null;
  }
}

/** Where a transaction of a network can be looked at; `{tx}` stands for it. */
type Explorers = Readonly<Record<string, string>>;

/**
 * Public explorers by the service's names of networks. `--explorers FILE`
 * replaces and adds entries.
 */
export const EXPLORERS: Explorers = {
  amoy: "https://amoy.polygonscan.com/tx/{tx}",
  arbitrum: "https://arbiscan.io/tx/{tx}",
  arbitrum_sepolia: "https://sepolia.arbiscan.io/tx/{tx}",
  avalanche: "https://snowtrace.io/tx/{tx}",
  base: "https://basescan.org/tx/{tx}",
  base_sepolia: "https://sepolia.basescan.org/tx/{tx}",
  bitcoin: "https://mempool.space/tx/{tx}",
  bsc: "https://bscscan.com/tx/{tx}",
  concordium: "https://ccdexplorer.io/mainnet/transaction/{tx}",
  ethereum: "https://etherscan.io/tx/{tx}",
  etherlink: "https://explorer.etherlink.com/tx/{tx}",
  ghostnet: "https://ghostnet.tzkt.io/{tx}",
  hemi: "https://explorer.hemi.xyz/tx/{tx}",
  near: "https://nearblocks.io/txns/{tx}",
  opbnb: "https://opbnbscan.com/tx/{tx}",
  polygon: "https://polygonscan.com/tx/{tx}",
  puppynet: "https://puppyscan.shib.io/tx/{tx}",
  rootstock: "https://explorer.rootstock.io/tx/{tx}",
  sepolia: "https://sepolia.etherscan.io/tx/{tx}",
  shibarium: "https://www.shibariumscan.io/tx/{tx}",
  solana: "https://solscan.io/tx/{tx}",
  stacks: "https://explorer.hiro.so/txid/{tx}",
  tezos: "https://tzkt.io/{tx}",
  theta: "https://explorer.thetatoken.org/txs/{tx}",
  ton: "https://tonviewer.com/transaction/{tx}",
};

/** The address at which a transaction can be looked at. */
export function explorerUrl(
  explorers: Explorers,
  network: string | null,
  txId: string | null,
): string | null {
  if (network === null || txId === null || txId === "") return null;
  const name = network.toLowerCase();
  if (!Object.hasOwn(explorers, name)) return null;
  // These two are steps through the explorer's own pages.
  if (txId === "." || txId === "..") return null;
  return explorers[name]?.replace("{tx}", () => encodeURIComponent(txId)) ??
    null;
}

/**
 * Reads a file of explorers over those that are built in: a JSON object of
 * networks, each with an address that holds `{tx}`.
 *
 * @throws {UsageError} When it cannot be read, or an address is none.
 */
export async function readExplorers(
  path: string | undefined,
): Promise<Explorers> {
  if (path === undefined) return EXPLORERS;
  const wrong = (why: string) => new UsageError(`Wrong --explorers: ${why}`);
  let value: unknown;
  try {
    value = JSON.parse(await readFile(path, "utf8"));
  } catch (error) {
    throw wrong(`${path} cannot be read as JSON: ${messageOf(error)}`);
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw wrong(`${path} holds no JSON object of networks and addresses`);
  }
  const own: Record<string, string> = {};
  for (const [network, address] of Object.entries(value)) {
    const url = typeof address === "string" ? URL.parse(address) : null;
    if (
      url === null || !/^https?:$/.test(url.protocol) ||
      !String(address).includes("{tx}")
    ) {
      throw wrong(
        `${path}: the address of ${JSON.stringify(network)} is ` +
          `${JSON.stringify(address)}; write one like ` +
          '"https://explorer.example/tx/{tx}"',
      );
    }
    own[network.toLowerCase()] = String(address);
  }
  return { ...EXPLORERS, ...own };
}

/** A page waits at most this long for the books of an open month, ms. */
const BOOKS_PATIENCE_MS = 2_000;

/** Books older than this are computed again, ms. */
const BOOKS_OLD_MS = 60_000;

/** At most this part of the time is spent on it. */
const SHARE = 1 / 20;

/** Months whose books are remembered. */
const BOOKS_REMEMBERED = 24;

/** The books of an open month, as they were at some time. */
interface WorkedOut {
  readonly books: BooksDigest;
  /** When that was begun, ms since the epoch. */
  readonly atMs: number;
}

/** The books of an open month, as far as they are known. */
export interface OpenMonth {
  /** What was worked out last; null before the first time. */
  readonly last: WorkedOut | null;
  /** Orders that were read so far where it is worked out now; else null. */
  readonly underWay: number | null;
}

/** A month that is worked out. */
interface Work {
  orders: number;
  readonly done: Promise<void>;
}

/**
 * The books of open months. Computing them reads every order of the ledger,
 * which may take minutes: it is done in the background, one month at a time,
 * and the result is remembered.
 */
export class OpenBooks {
  readonly #ledger: Ledger;
  readonly #now: () => number;
  readonly #patienceMs: number;
  readonly #stop = new AbortController();
  readonly #last = new Map<string, WorkedOut & { readonly tookMs: number }>();
  readonly #works = new Map<string, Work>();
  readonly #whole = new Map<string, Promise<MonthPreview>>();
  #queue: Promise<void> = Promise.resolve();

  /** Works nothing out until asked. */
  constructor(
    ledger: Ledger,
    now: () => number,
    patienceMs: number = BOOKS_PATIENCE_MS,
  ) {
    this.#ledger = ledger;
    this.#now = now;
    this.#patienceMs = patienceMs;
  }

  /** The books of a month, as they are now if that is soon known. */
  async of(month: string): Promise<OpenMonth> {
    if (!this.#isFresh(month)) {
      const { done } = this.#works.get(month) ?? this.#begin(month);
      const waited = new AbortController();
      const late = sleep(this.#patienceMs, waited.signal).catch(() => {});
      try {
        await Promise.race([done, late]);
      } finally {
        waited.abort();
      }
    }
    return {
      last: this.#last.get(month) ?? null,
      underWay: this.#works.get(month)?.orders ?? null,
    };
  }

  /**
   * The books of a month with all of their rows, for its files, once they are
   * worked out; they are not remembered.
   */
  whole(month: string): Promise<MonthPreview> {
    let whole = this.#whole.get(month);
    if (whole === undefined) {
      const done = this.#queue.then(() => this.#preview(month, () => {}));
      whole = done.finally(() => this.#whole.delete(month));
      this.#whole.set(month, whole);
      this.#queue = done.then(() => {}, () => {});
    }
    return whole;
  }

  /** What is known of a month, at once; it is worked out if that is old. */
  latest(month: string): WorkedOut | null {
    if (!this.#isFresh(month) && !this.#works.has(month)) {
      // A page that asks for it shows what fails.
      this.#begin(month).done.catch(() => {});
    }
    return this.#last.get(month) ?? null;
  }

  /** Forgets what was computed, because a month was closed. */
  forget(): void {
    this.#last.clear();
  }

  /** Ends what is under way, so that the ledger can be closed. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#queue;
  }

  #isFresh(month: string): boolean {
    const last = this.#last.get(month);
    if (last === undefined) return false;
    const oldMs = Math.max(BOOKS_OLD_MS, last.tookMs / SHARE);
    return Math.abs(this.#now() - last.atMs) < oldMs;
  }

  #begin(month: string): Work {
    const done = this.#queue.then(() => this.#workOut(month)).finally(() => {
      this.#works.delete(month);
    });
    const work: Work = { orders: 0, done };
    this.#works.set(month, work);
    // The callers that wait for it get the error.
    this.#queue = done.catch(() => {});
    return work;
  }

  async #workOut(month: string): Promise<void> {
    const work = this.#works.get(month);
    const atMs = this.#now();
    const preview = await this.#preview(month, (orders) => {
      if (work !== undefined) work.orders = orders;
    });
    const tookMs = Math.abs(this.#now() - atMs);
    this.#last.delete(month);
    this.#last.set(month, { books: booksDigest(preview), atMs, tookMs });
    const [oldest = month] = this.#last.keys();
    if (this.#last.size > BOOKS_REMEMBERED) this.#last.delete(oldest);
  }

  async #preview(
    month: string,
    onProgress: (orders: number) => void,
  ): Promise<MonthPreview> {
    const { signal } = this.#stop;
    signal.throwIfAborted();
    return await this.#ledger.months.preview(month, { signal, onProgress });
  }
}

/** A list does not wait longer for its sum, ms. */
const PATIENCE_MS = 60;

/** Sums are worked out again after this long, ms. */
const OLD_MS = 5_000;

/** Lists whose sums are remembered. */
const REMEMBERED = 50;

/** A sum; or that it is worked out, or that it has to be asked for. */
export type SoonTotals = readonly OrderTotal[] | "later" | "many";

/** What is remembered of a list. */
interface List {
  readonly isMany: CachedValue<boolean>;
  readonly totals: CachedValue<readonly OrderTotal[]>;
}

/**
 * The sums of lists of orders. One of a million orders takes more than a second,
 * so that of very many is worked out where somebody asks for it, and a list
 * comes without its sum where that is not soon known.
 */
export class OrderTotals {
  readonly #ledger: Ledger;
  readonly #now: () => number;
  readonly #lists = new Map<string, List>();

  /** Adds up nothing until asked. */
  constructor(ledger: Ledger, now: () => number) {
    this.#ledger = ledger;
    this.#now = now;
  }

  /** The sum of a list, however long it takes. */
  of(query: OrderQuery): Promise<readonly OrderTotal[]> {
    return this.#list(query).totals.value();
  }

  /** The sum of a list of few enough orders, where it is soon known. */
  async soon(query: OrderQuery): Promise<SoonTotals> {
    const { isMany, totals } = this.#list(query);
    if (await isMany.value()) return "many";
    const waited = new AbortController();
    const late = sleep(PATIENCE_MS, waited.signal).then(
      () => "later" as const,
      () => "later" as const,
    );
    try {
      return await Promise.race([totals.value(), late]);
    } finally {
      waited.abort();
    }
  }

  /** Waits for what is under way, so that the ledger can be closed. */
  async settled(): Promise<void> {
    for (const { isMany, totals } of this.#lists.values()) {
      await isMany.settled();
      await totals.settled();
    }
  }

  #list(query: OrderQuery): List {
    const { stuckAtMs: _, ...lasting } = query;
    const key = JSON.stringify(lasting);
    const now = this.#now;
    const { orders } = this.#ledger;
    const aged = { now, oldMs: OLD_MS };
    const asked = () => ({ ...query, stuckAtMs: now() });
    const list = this.#lists.get(key) ?? {
      isMany: new CachedValue(() => orders.hasMany(asked()), aged),
      totals: new CachedValue(() => orders.totals(asked()), aged),
    };
    this.#lists.delete(key);
    this.#lists.set(key, list);
    const [oldest = key] = this.#lists.keys();
    if (this.#lists.size > REMEMBERED) this.#lists.delete(oldest);
    return list;
  }
}

/** Orders of one page of the walk. */
const PAGE = 500;

/** Refunds that the service owes, of one currency. */
interface RefundsDue {
  readonly orders: number;
  /** The exact sum; `unknown` where no order states an amount. */
  readonly sum: string;
}

/** By currency; empty where an order names none. */
type RefundsByCurrency = ReadonlyMap<string, RefundsDue>;

/** Refunds are refreshed after this long, ms. */
const REFUNDS_OLD_MS = 60_000;

/** The refunds that are due of the orders of months. */
export class RefundsOfMonths {
  readonly #ledger: Ledger;
  readonly #now: () => number;
  readonly #months = new Map<string, CachedValue<RefundsByCurrency>>();

  /** Looks for none until asked. */
  constructor(ledger: Ledger, now: () => number) {
    this.#ledger = ledger;
    this.#now = now;
  }

  /** Those of orders that were created in a month, in UTC. */
  of(month: string): Promise<RefundsByCurrency> {
    let refunds = this.#months.get(month);
    if (refunds === undefined) {
      const [year = 0, number = 1] = month.split("-").map(Number);
      const window = {
        from: new Date(Date.UTC(year, number - 1)).toISOString(),
        to: new Date(Date.UTC(year, number)).toISOString(),
      };
      const now = this.#now;
      refunds = new CachedValue(
        () => refundsDue(this.#ledger, window, now()),
        { now, oldMs: REFUNDS_OLD_MS },
      );
      this.#months.set(month, refunds);
    }
    return refunds.value();
  }

  /** Waits for what is under way, so that the ledger can be closed. */
  async settled(): Promise<void> {
    for (const refunds of this.#months.values()) await refunds.settled();
  }
}

/** Refunds that are due of orders created in a span of time, by currency. */
async function refundsDue(
  ledger: Ledger,
  window: { readonly from: string; readonly to: string },
  nowMs: number,
): Promise<RefundsByCurrency> {
  const sums = new Map<string, { sum: AmountSum; orders: number }>();
  let cursor: string | undefined;
  do {
    const { items, next }: Page<OrderJson> = await ordersPage(ledger, {
      ...window,
      attention: "refund_due",
      limit: PAGE,
      ...(cursor === undefined ? {} : { cursor }),
    }, nowMs);
    for (const { currency, currencyAmount } of items) {
      const key = currency ?? "";
      const one = sums.get(key) ?? { sum: new AmountSum(), orders: 0 };
      one.orders++;
      one.sum.add(bookedAmount(currencyAmount), 1);
      sums.set(key, one);
    }
    cursor = next ?? undefined;
  } while (cursor !== undefined);
  return new Map(
    [...sums].map(([currency, { sum, orders }]) => [
      currency,
      { orders, sum: sum.known ?? "unknown" },
    ]),
  );
}

/** What a page is rendered from. */
export interface PageContext {
  /** The ledger that is shown. */
  readonly ledger: Ledger;
  /** Address of the service's dashboard. */
  readonly dashboardUrl: string;
  /** Where transactions can be looked at. */
  readonly explorers: Explorers;
  /** What can be asked here, and the progress of what is under way. */
  readonly operations: Pick<
    Operations,
    "asksChain"
  >;
  /** The time of the request, ms since the epoch. */
  readonly nowMs: number;
  /** Whether the reader may take notes. */
  readonly supports: boolean;
  /** Whether the reader may do everything else too. */
  readonly operates: boolean;
  /** What the forms of the page send back. */
  readonly formToken: string;
  /** How many orders wait, and for which reason. */
  readonly waiting: CachedValue<Waiting>;
  /** Health of webhook delivery. */
  readonly delivery: CachedValue<DeliveryHealth>;
  /** The closed months. */
  readonly closedBooks: ClosedBooks;
  /** Refunds that are due. */
  readonly refunds: RefundsOfMonths;
  /** Sums of lists of orders. */
  readonly orderTotals: OrderTotals;
  /** The books of months that are not closed. */
  readonly openBooks: OpenBooks;
}
