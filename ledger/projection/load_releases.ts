import type { LoggedRelease } from "../machines/transition.ts";
import type { KnownByHand, KnownReleases } from "../releases/log_releases.ts";
import {
  addRelease,
  type HandChange,
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
  purchaseWaitsOf,
  selectHandReleases,
  selectPurchaseKey,
  selectPurchases,
  selectPurchasesOf,
  selectPurchaseWaits,
} from "../store/tables/purchases.ts";
import { selectReleases } from "../store/tables/transitions.ts";
import { selectBegunReleases } from "../store/tables/subscriptions/release_deliveries.ts";
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
    const changes = collected.filter((one) => "now" in one);
    const orders = new Map<string, OrderReleases>();
    const purchases = new Map<string, string>();
    const ids = new Set<string>();
    const digests = new Set<string>();
    for (const { isFirst, orderId, now: { release, purchase } } of changes) {
      if (!isFirst) ids.add(orderId);
      if (release === "yes" && purchase !== null) {
        digests.add(digestOf(purchase));
      }
    }
    const hands = collected.filter((one) => "hand" in one);
    if (hands.length > 0) {
      for (const { orderId } of changes) ids.add(orderId);
      const { byHand, ...loaded } = await this.#loadByHand(hands, {
        ids,
        digests,
        digestOf,
        mode,
        from,
      });
      return { ...loaded, digestOf, byHand };
    }
    catchUp?.takeReleases(from, { ids, digests, orders, purchases });
    if (ids.size === 0 && digests.size === 0) {
      return { orders, purchases, digestOf };
    }
    const [checkpoints, logged, taken] = await this.#driver.batch([
      selectCheckpoints,
      selectReleases([...ids]),
      selectPurchases([...digests]),
    ], mode);
    const at = checkpointsOf(checkpoints).live;
    // While the step before is written, its checkpoint may not be there yet.
    const isAhead = sameCheckpoint(catchUp?.at ?? null, from);
    if (!sameCheckpoint(at, from) && !(isAhead && catchUp?.completes(at))) {
      throw lostRace();
    }
    addLogged(orders, logged);
    for (const [digest, orderId] of taken?.rows ?? []) {
      purchases.set(digest as string, orderId as string);
    }
    return { orders, purchases, digestOf };
  }

  /**
   * Reads what has to be known where a person did something: also of the orders
   * that have the purchases, and of those that wait for them.
   */
  async #loadByHand(
    hands: readonly HandChange[],
    { ids, digests, digestOf, mode, from }: {
      readonly ids: Set<string>;
      readonly digests: Set<string>;
      readonly digestOf: KnownReleases["digestOf"];
      readonly mode: "read" | "write";
      readonly from: Checkpoint;
    },
  ): Promise<
    Pick<KnownReleases, "orders" | "purchases"> & {
      readonly byHand: KnownByHand;
    }
  > {
    for (const { orderId, purchase } of hands) {
      ids.add(orderId);
      if (purchase !== null) digests.add(digestOf(purchase));
    }
    const [held, taken] = await this.#driver.batch([
      selectPurchasesOf([...ids]),
      selectPurchases([...digests]),
    ], mode);
    const purchases = new Map<string, string>();
    for (const [digest, id] of [...held?.rows ?? [], ...taken?.rows ?? []]) {
      purchases.set(digest as string, id as string);
      digests.add(digest as string);
      ids.add(id as string);
    }
    const [waiting] = await this.#driver.batch([
      selectPurchaseWaits([...digests]),
    ], mode);
    const waits = purchaseWaitsOf(waiting);
    for (const { orderId } of waits) ids.add(orderId);
    const all = [...ids];
    const [checkpoints, logged, begun, released] = await this.#driver.batch([
      selectCheckpoints,
      selectReleases(all),
      selectBegunReleases(all),
      selectHandReleases(all),
    ], mode);
    // Nothing of this changes while the checkpoint stands.
    if (!sameCheckpoint(checkpointsOf(checkpoints).live, from)) {
      throw lostRace();
    }
    const orders = new Map<string, OrderReleases>();
    addLogged(orders, logged);
    return {
      orders,
      purchases,
      byHand: { waits, begun: idsOf(begun), released: idsOf(released) },
    };
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

function idsOf(result: ResultSet | undefined): Set<string> {
  return new Set(result?.rows.map(([id]) => id as string));
}
