import type { LoggedRelease } from "../machines/transition.ts";
import type { KnownReleases, Purchase } from "../releases/log_releases.ts";
import {
  addRelease,
  NO_RELEASES,
  type OrderReleases,
  purchaseDigest,
} from "../releases/release_log.ts";
import type { Driver, ResultSet } from "../store/driver/driver.ts";
import { lostRace } from "../store/driver/retrying_driver.ts";
import {
  type Checkpoint,
  checkpointsOf,
  sameCheckpoint,
  selectCheckpoints,
} from "../store/tables/checkpoints.ts";
import {
  purchasesOf,
  selectPurchaseKey,
  selectPurchases,
  selectPurchasesOf,
  selectPurchaseWaits,
} from "../store/tables/purchases.ts";
import { selectReleases } from "../store/tables/transitions.ts";
import type { CollectedTransition } from "./batch.ts";
import type { CatchUp } from "./catch_up.ts";

/** How what was logged is read. */
export interface LoadReleasesOptions {
  /** `write` reads from the primary. */
  readonly mode: "read" | "write";
  /** The checkpoint that the step starts from. */
  readonly from: Checkpoint;
  /** What is in memory while many events wait; null while few do. */
  readonly catchUp: CatchUp | null;
}

/** Reads what was logged of orders and purchases. */
export class ReleaseLoader {
  readonly #driver: Driver;
  #key: Uint8Array | null = null;

  /** @param driver The database. */
  constructor(driver: Driver) {
    this.#driver = driver;
  }

  /**
   * Reads what the log says of orders whose release changed, and which of
   * their purchases are taken. Of an order whose first release this is, nothing
   * is read.
   *
   * @param collected What was collected of a batch.
   * @param options From where.
   * @throws {LedgerError} `conflict` when the checkpoint has moved meanwhile.
   */
  async load(
    collected: readonly CollectedTransition[],
    { mode, from, catchUp }: LoadReleasesOptions,
  ): Promise<KnownReleases> {
    const key = await this.#readKey();
    const digestOf: KnownReleases["digestOf"] = (purchase) =>
      purchaseDigest(key, purchase);
    const ids = new Set<string>();
    const digests = new Set<string>();
    const moved = new Set<string>();
    for (const one of collected) {
      if ("now" in one) {
        const { isFirst, orderId, now: { release, purchase } } = one;
        if (!isFirst) ids.add(orderId);
        if (release === "yes" && purchase !== null) {
          digests.add(digestOf(purchase));
        }
      } else if ("took" in one) {
        ids.add(one.orderId);
        for (const purchase of [one.gave, one.took]) {
          if (purchase !== null) moved.add(digestOf(purchase));
        }
      }
    }
    if (moved.size > 0) {
      for (const digest of moved) digests.add(digest);
      return await this.#loadMoved({ ids, digests, digestOf, mode, from });
    }
    const orders = new Map<string, OrderReleases>();
    const purchases = new Map<string, Purchase>();
    catchUp?.takeReleases(from, { ids, digests, orders, purchases });
    if (ids.size === 0 && digests.size === 0) {
      return { orders, purchases, digestOf };
    }
    const [checkpoints, logged, held, taken] = await this.#driver.batch([
      selectCheckpoints,
      selectReleases([...ids]),
      selectPurchasesOf([...ids]),
      selectPurchases([...digests]),
    ], mode);
    const at = checkpointsOf(checkpoints).live;
    // While the step before is written, its checkpoint may not be there yet.
    const isAhead = sameCheckpoint(catchUp?.at ?? null, from);
    if (!sameCheckpoint(at, from) && !(isAhead && catchUp?.completes(at))) {
      throw lostRace();
    }
    addLogged(orders, logged);
    addHeld(orders, held);
    for (const [digest, one] of purchasesOf(taken)) purchases.set(digest, one);
    return { orders, purchases, digestOf };
  }

  /**
   * Reads what has to be known where a person moved purchases: also of the orders
   * that have taken them, and of those that wait for them.
   */
  async #loadMoved(
    { ids, digests, digestOf, mode, from }: {
      readonly ids: Set<string>;
      readonly digests: ReadonlySet<string>;
      readonly digestOf: KnownReleases["digestOf"];
      readonly mode: "read" | "write";
      readonly from: Checkpoint;
    },
  ): Promise<KnownReleases> {
    const [taken, waiting] = await this.#driver.batch([
      selectPurchases([...digests]),
      selectPurchaseWaits([...digests]),
    ], mode);
    const purchases = new Map(purchasesOf(taken));
    const waits = waiting?.rows.map(([id]) => id as string) ?? [];
    for (const { own, hands } of purchases.values()) {
      for (const id of [...hands, ...own === null ? [] : [own]]) ids.add(id);
    }
    for (const id of waits) ids.add(id);
    const all = [...ids];
    const [checkpoints, logged, held] = await this.#driver.batch([
      selectCheckpoints,
      selectReleases(all),
      selectPurchasesOf(all),
    ], mode);
    // Nothing of this changes while the checkpoint stands.
    if (!sameCheckpoint(checkpointsOf(checkpoints).live, from)) {
      throw lostRace();
    }
    const orders = new Map<string, OrderReleases>();
    addLogged(orders, logged);
    addHeld(orders, held);
    return { orders, purchases, digestOf, waiting: waits };
  }

  async #readKey(): Promise<Uint8Array> {
    if (this.#key !== null) return this.#key;
    const [rows] = await this.#driver.batch([selectPurchaseKey], "read");
    const key = rows?.rows[0]?.[0];
    if (!(key instanceof Uint8Array)) throw lostRace();
    return this.#key = key;
  }
}

function addLogged(
  orders: Map<string, OrderReleases>,
  result: ResultSet | undefined,
): void {
  for (const row of result?.rows ?? []) {
    const [orderId, entered, reason, entry, live, withheld] = row;
    const logged = {
      entered,
      release: entered === "restored" ? "yes" : entered,
      reason,
    } as LoggedRelease;
    const id = orderId as string;
    orders.set(
      id,
      addRelease(orders.get(id) ?? NO_RELEASES, {
        logged,
        entry: entry as number,
        live: live === 1,
        withheld: withheld === 1,
      }),
    );
  }
}

function addHeld(
  orders: Map<string, OrderReleases>,
  result: ResultSet | undefined,
): void {
  for (const [id, own, digest, position] of result?.rows ?? []) {
    const orderId = id as string;
    orders.set(orderId, {
      ...orders.get(orderId) ?? NO_RELEASES,
      own: own as string | null,
      wait: digest === null
        ? null
        : { orderId, digest: digest as string, position: position as number },
    });
  }
}
