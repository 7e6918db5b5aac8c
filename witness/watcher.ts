import { sleep as realSleep, steadyClock } from "../core/waiting/waiting.ts";
import {
  type ChainReading,
  LEASE_MS,
  LeaseTurn,
  readLastSeq,
  readOrderFold,
  WITNESS_LEASE,
} from "../ledger/for_witness.ts";
import { type Ledger, LedgerError, type OrderView } from "../ledger/mod.ts";
import type { Chain, Chains } from "./chains_file.ts";
import { whyNotAsked } from "./chain_witness.ts";
import {
  lastLook,
  lookAtOrder,
  namesTransaction,
  type OrderLook,
} from "./look_at_order.ts";
import type { ChainWitness } from "./transfer.ts";

/** What a watcher works with. */
export interface WatcherOptions {
  /** The ledger. */
  readonly ledger: Ledger;
  /** Asks the nodes. */
  readonly witness: ChainWitness;
  /** The networks that can be asked. */
  readonly chains: Chains;
  /** Clock, milliseconds since 1970. @default {Date.now} */
  readonly now?: () => number;
  /** Waits. @default {a timer} */
  readonly sleep?: (ms: number, signal?: AbortSignal) => Promise<void>;
  /** Makes the salt of what is recorded. @default {that of the runtime} */
  readonly randomBytes?: (length: number) => Uint8Array;
  /** Called with each look. @default {none} */
  readonly onLook?: (look: OrderLook) => void;
  /**
   * Called with each failure: of the ledger, or of a look at one order, which is
   * tried again later. Watching continues.
   *
   * @default {none; `once` then throws the first one when all else is done}
   */
  readonly onError?: (error: unknown) => void;
}

/** Looks at the transaction of each confirmed success, until it is settled. */
export interface Watcher {
  /**
   * Looks at all that is due now, once.
   *
   * @param options Since when orders count. @default {the last thirty days}
   * @returns What was looked at.
   */
  once(options?: {
    readonly since?: string;
    readonly signal?: AbortSignal;
  }): Promise<readonly OrderLook[]>;
  /**
   * Looks again and again until the signal is aborted, while this process holds
   * the ledger's lease for it.
   */
  run(signal: AbortSignal): Promise<void>;
}

/** Interval between two looks for new orders. */
const TICK_MS = 2_000;
/** So often orders are read again, because the service may have changed them. */
const REREAD_MS = 3_600_000;
/** How far back that goes. */
const REREAD_BACK_MS = 3 * 86_400_000;
/** Transitions read at once. */
const AT_ONCE = 1000;
/** Looks of one network in one turn, so that none keeps the others waiting. */
const TURN = 20;
/** A pause after the ledger has failed. */
const FAILED_MS = 10_000;

/** An order that waits for a look. */
interface Waiting {
  readonly orderId: string;
  readonly chain: Chain;
  readonly dueMs: number;
  /** Whether nobody has looked yet. */
  readonly isNew: boolean;
  /** Looks in a row that failed. */
  readonly failed: number;
}

type Report = (error: unknown) => void;

/**
 * Creates a watcher of a ledger. Networks are asked independently, so that one
 * that does not answer delays no other; half of a network's turns go to orders
 * that were never looked at.
 *
 * @param options What it works with.
 */
export function createWatcher(options: WatcherOptions): Watcher {
  return new LedgerWatcher(options);
}

class LedgerWatcher implements Watcher {
  readonly #options: WatcherOptions;
  readonly #now: () => number;
  readonly #waiting = new Map<string, Waiting>();
  readonly #busy = new Map<Chain, Promise<unknown>>();

  constructor(options: WatcherOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
  }

  async once(
    { since, signal }: {
      readonly since?: string;
      readonly signal?: AbortSignal;
    } = {},
  ): Promise<readonly OrderLook[]> {
    const unheard: unknown[] = [];
    const { chains, onError = (error) => unheard.push(error) } = this.#options;
    const sinceMs = since === undefined
      ? this.#now() - GIVEN_UP_AFTER_MS
      : Date.parse(since);
    await this.#read(sinceMs, onError);
    const looks = await Promise.all(
      [...chains.values()].map((chain) =>
        this.#turn(this.#due(chain), onError, signal)
      ),
    );
    if (unheard.length > 0) throw unheard[0];
    return looks.flat();
  }

  async run(signal: AbortSignal): Promise<void> {
    const { ledger, onError = () => {}, sleep = realSleep } = this.#options;
    while (!signal.aborted) {
      try {
        const turn = await LeaseTurn.take({
          driver: ledger.driver,
          name: WITNESS_LEASE,
          holder: crypto.randomUUID(),
          leaseMs: LEASE_MS,
          steadyNow: steadyClock(this.#now),
          sleep,
          onError,
        });
        if (!(turn instanceof LeaseTurn)) {
          await sleep(Math.max(100, turn.leftMs), signal);
          continue;
        }
        try {
          await this.#watch(AbortSignal.any([signal, turn.signal]), onError);
        } finally {
          await turn.end();
        }
      } catch (error) {
        if (signal.aborted) return;
        onError(error);
        await sleep(FAILED_MS, signal).catch(() => {});
      }
    }
  }

  async #watch(signal: AbortSignal, report: Report): Promise<void> {
    const { ledger, chains, sleep = realSleep } = this.#options;
    // What is entered while orders are read is read again from here.
    let seq = await readLastSeq(ledger.driver);
    await this.#read(this.#now() - GIVEN_UP_AFTER_MS, report);
    let readMs = this.#now();
    try {
      while (!signal.aborted) {
        const entered = await ledger.transitions({
          after: seq,
          entity: "order",
          limit: AT_ONCE,
        });
        // A release moves where the service corrects what it had shown.
        const moved = entered.filter(({ machine, trust, status }) =>
          (machine === "order" || machine === "release") &&
          trust === "confirmed" && status === "success"
        );
        for (const id of new Set(moved.map(({ id }) => id))) {
          const order = await ledger.orders.get(id);
          if (order !== null) await this.#tryAdd(order, report);
        }
        seq = entered.at(-1)?.seq ?? seq;
        if (this.#now() - readMs > REREAD_MS) {
          await this.#read(this.#now() - REREAD_BACK_MS, report);
          readMs = this.#now();
        }
        for (const chain of chains.values()) this.#begin(chain, report, signal);
        if (entered.length < AT_ONCE) {
          await sleep(TICK_MS, signal).catch(() => {});
        }
      }
    } finally {
      await Promise.all(this.#busy.values());
    }
  }

  /** Begins a turn of a network, unless one is under way. */
  #begin(chain: Chain, report: Report, signal: AbortSignal): void {
    if (this.#busy.has(chain)) return;
    const due = this.#due(chain).slice(0, TURN);
    if (due.length === 0) return;
    const turn = this.#turn(due, report, signal).catch((error) => {
      if (!signal.aborted) report(error);
    }).finally(() => this.#busy.delete(chain));
    this.#busy.set(chain, turn);
  }

  async #turn(
    due: readonly Waiting[],
    report: Report,
    signal?: AbortSignal,
  ): Promise<readonly OrderLook[]> {
    const looks: OrderLook[] = [];
    for (const one of due) {
      if (signal?.aborted) break;
      looks.push(...await this.#look(one, report, signal));
    }
    return looks;
  }

  /** What is due of a network: new ones and others in turn, each oldest first. */
  #due(chain: Chain): readonly Waiting[] {
    const nowMs = this.#now();
    const due = [...this.#waiting.values()]
      .filter((one) => one.chain === chain && one.dueMs <= nowMs)
      .sort((a, b) => a.dueMs - b.dueMs);
    const fresh = due.filter(({ isNew }) => isNew);
    const again = due.filter(({ isNew }) => !isNew);
    return due.flatMap((_, at) =>
      [fresh[at], again[at]].filter((one) => one !== undefined)
    );
  }

  async #record(orderId: string, signal?: AbortSignal): Promise<OrderLook> {
    const { ledger, witness, randomBytes, onLook = () => {} } = this.#options;
    const looked = await lookAtOrder(ledger, orderId, {
      ...{ witness, now: this.#now },
      ...randomBytes && { randomBytes },
      ...signal && { signal },
    });
    if (looked.recorded) await ledger.project();
    onLook(looked);
    return looked;
  }

  /** Looks at an order; none where that fails, which is tried again later. */
  async #look(
    waiting: Waiting,
    report: Report,
    signal?: AbortSignal,
  ): Promise<readonly OrderLook[]> {
    const { orderId, failed } = waiting;
    try {
      const looked = await this.#record(orderId, signal);
      const order = await this.#options.ledger.orders.get(orderId);
      this.#waiting.delete(orderId);
      if (order !== null) await this.#add(order, looked);
      return [looked];
    } catch (error) {
      if (signal?.aborted) throw error;
      report(error);
      this.#waiting.set(orderId, {
        ...waiting,
        dueMs: this.#now() + Math.min(MOST_MS, LEAST_MS * 2 ** failed),
        ...{ isNew: false, failed: failed + 1 },
      });
      return [];
    }
  }

  /** Reads the successes since a time, and notes when each is due. */
  async #read(sinceMs: number, report: Report): Promise<void> {
    const orders = this.#options.ledger.orders.list({
      status: "success",
      trust: "confirmed",
      createdAfter: new Date(sinceMs).toISOString(),
    });
    for await (const order of orders) await this.#tryAdd(order, report);
  }

  async #tryAdd(order: OrderView, report: Report): Promise<void> {
    try {
      await this.#add(order);
    } catch (error) {
      // Where the ledger fails, orders are read again after a pause.
      if (error instanceof LedgerError) throw error;
      report(error);
    }
  }

  /** Notes when an order is due; forgets it where it never is. */
  async #add(order: OrderView, looked: OrderLook | null = null): Promise<void> {
    const { ledger, chains } = this.#options;
    const { orderId, network, commodity } = order;
    if (order.status !== "success") return;
    const chain = chains.get((network ?? "").toLowerCase());
    const why = whyNotAsked(chains, {
      network: network ?? "",
      asset: commodity ?? "",
      isContract: order.cryptoType === "sc",
    });
    // What cannot be looked at is looked at where somebody asks for it, and
    // where the release waits for the ledger to know that.
    if (why !== null && order.facts.required === "no") return;
    const fold = await readOrderFold(ledger.driver, orderId);
    const shown = fold?.latest ?? null;
    if (fold === null || shown === null || shown.erasedTx !== null) return;
    if (!namesTransaction(shown)) return;
    const last = lastLook(fold);
    if (chain === undefined || why !== null) {
      if (last === null) await this.#record(orderId);
      return;
    }
    // It was released because nobody could look, and is not looked at again.
    if (fold.required === "supported" && last?.verdict === "unsupported") {
      return;
    }
    // A look that said nothing new was made all the same.
    const readAt = looked === null || looked.look === null
      ? last?.readAt
      : new Date(this.#now()).toISOString();
    const sinceMs = Date.parse(order.changedAt ?? order.createdAt ?? "") || 0;
    const confirmations = looked?.look?.confirmations ?? last?.confirmations ??
      null;
    const dueMs = nextLookMs({
      last: last === null || readAt === undefined
        ? null
        : { ...last, confirmations, readAt },
      sinceMs,
      blockMs: chain.blockMs,
      confirmations: chain.confirmations,
    });
    if (dueMs === null) this.#waiting.delete(orderId);
    else {
      const isNew = last === null;
      this.#waiting.set(orderId, { orderId, chain, dueMs, isNew, failed: 0 });
    }
  }
}

/** What decides when an order is looked at next. */
export interface NextLookOptions {
  /** The last look at what the service shows now; null before the first. */
  readonly last:
    | Pick<ChainReading, "verdict" | "final" | "confirmations" | "readAt">
    | null;
  /** Since when there is something to look at, milliseconds since 1970. */
  readonly sinceMs: number;
  /** Time between two blocks, in milliseconds. */
  readonly blockMs: number;
  /** Blocks that count as final. */
  readonly confirmations: number;
}

/** Shortest time between two looks. */
const LEAST_MS = 5_000;
/** Longest time between two looks while an order is looked at. */
const MOST_MS = 6 * 3_600_000;
/** Time after which a transaction is no longer looked for. */
const GIVEN_UP_AFTER_MS = 30 * 86_400_000;

/**
 * When an order is looked at next: at once, then once the missing confirmations
 * can be there; what has no block yet, or was not decided, after a growing
 * while. After a final verdict never, but after a reorganisation again.
 */
export function nextLookMs(
  { last, sinceMs, blockMs, confirmations }: NextLookOptions,
): number | null {
  if (last === null) return sinceMs;
  if (last.final && last.verdict !== "reorged") return null;
  const readMs = Date.parse(last.readAt);
  const ageMs = Math.max(0, readMs - sinceMs);
  if (ageMs >= GIVEN_UP_AFTER_MS) return null;
  const missing = last.confirmations === null
    ? null
    : confirmations - last.confirmations;
  const waitMs = missing !== null && missing > 0
    ? missing * blockMs
    : Math.max(blockMs, ageMs / 4);
  return readMs + Math.min(MOST_MS, Math.max(LEAST_MS, waitMs));
}
