import type { AssetTable } from "../client/environment.ts";
import type {
  AppendDelivery,
  UnansweredDelivery,
} from "../webhooks/delivery.ts";
import type { NewEvent, SessionCreatedBody } from "./event/event.ts";
import {
  deliveryUnanswered,
  sessionCreated,
  webhookEvent,
} from "./event/mint.ts";
import type { ChainOrigin } from "./evidence/chain.ts";
import {
  type ChainHead,
  chainHead,
  extendChain,
} from "./evidence/chain_projection.ts";
import {
  type Verification,
  verifyChain,
  type VerifyOptions,
} from "./evidence/verify.ts";
import { migrations } from "./migrations.ts";
import { Orders } from "./projection/orders.ts";
import { type FoldCode, Projector } from "./projection/projector.ts";
import { randomPool } from "./projection/random_pool.ts";
import { type LedgerStats, readLag, readStats } from "./projection/stats.ts";
import { Users } from "./projection/users.ts";
import type { Driver } from "./store/driver.ts";
import { EventLog } from "./store/event_log.ts";
import { migrate, readStamp } from "./store/migrate.ts";
import { openDriver, type OpenDriverOptions } from "./store/open_driver.ts";

/** Which ledger to open, and how. */
export interface OpenLedgerOptions extends OpenDriverOptions {
  /**
   * Environment the ledger belongs to. A new ledger is stamped with it, and
   * opening it with another is refused.
   *
   * @default the ledger's own stamp
   */
  readonly environment?: string;
  /**
   * Environment a new ledger is stamped with when `environment` is left out.
   */
  readonly defaultEnvironment?: string;
  /**
   * Asset table that gives the precision of amounts. Every process that folds
   * the ledger must name the same.
   *
   * @default "sandbox" in the environment `sandbox`, else "production"
   */
  readonly assets?: AssetTable;
  /** The clock, in ms. @default Date.now */
  readonly now?: () => number;
  /** Random bytes for salts. @default crypto.getRandomValues */
  readonly randomBytes?: (length: number) => Uint8Array;
}

/** {@linkcode LedgerStats} with the evidence chain. */
export interface Stats extends LedgerStats {
  /** How far the evidence chain reaches: what to keep elsewhere. */
  readonly chain: {
    /** Events in the chain. */
    readonly count: number;
    /** Hash of the last of them, 64 hex digits. */
    readonly hash: string;
    /** Position of the last of them. */
    readonly position: number;
  };
}

/** What {@linkcode Ledger.project} came to. */
export interface Projection {
  /** Position of the last event folded. */
  readonly position: number;
  /** Events folded by this call. */
  readonly events: number;
  /**
   * `newer_fold` when a newer version of this package has folded the ledger:
   * this one then stops folding, and goes on appending.
   */
  readonly stopped: null | "newer_fold";
}

/** How to project or to extend the chain. */
export interface CatchUpOptions {
  /** Stops between two steps. */
  readonly signal?: AbortSignal;
  /** Told after each step. */
  readonly onProgress?: (progress: {
    /** Position reached. */
    readonly position: number;
    /** Events so far. */
    readonly events: number;
  }) => void;
}

/**
 * Opens a ledger: creates its tables when it is new, brings those of an older
 * version up to date, and checks that it belongs to the environment.
 *
 * @param options Which ledger, and how.
 * @throws {TypeError} When a new ledger has no environment.
 * @throws {LedgerError} `not_a_database`, `not_a_ledger`, `newer_schema`,
 * `wrong_environment`, `unauthorised`, `unreachable` and others.
 *
 * @example Open a ledger in memory
 * ```ts
 * import { openLedger } from "@rampkit/onramp/ledger";
 * import assert from "node:assert/strict";
 *
 * await using ledger = await openLedger({
 *   url: ":memory:",
 *   environment: "sandbox",
 * });
 * assert.equal((await ledger.stats()).orders, 0);
 * ```
 */
export async function openLedger(options: OpenLedgerOptions): Promise<Ledger> {
  const driver = await openDriver(options);
  try {
    return await prepared(driver, options);
  } catch (error) {
    await driver.close();
    throw error;
  }
}

async function prepared(
  driver: Driver,
  options: OpenLedgerOptions,
): Promise<Ledger> {
  const now = options.now ?? Date.now;
  const randomBytes = options.randomBytes ?? randomPool();
  const environment = options.environment ??
    (await readStamp(driver))?.environment ?? options.defaultEnvironment;
  if (environment === undefined) {
    throw new TypeError(
      "Cannot create a ledger without an environment: pass " +
        '`environment`, for example "sandbox"',
    );
  }
  const stamp = await migrate(driver, {
    migrations,
    environment,
    now,
    randomBytes,
  });
  return new Ledger({
    driver,
    now,
    randomBytes,
    origin: { environment, ledgerId: stamp.ledgerId },
    assets: options.assets ??
      (environment === "sandbox" ? "sandbox" : "production"),
  });
}

/** What a {@linkcode Ledger} works with; {@linkcode openLedger} makes it. */
export interface LedgerParts {
  /** A database that has been migrated. */
  readonly driver: Driver;
  /** Environment and identity of the ledger. */
  readonly origin: ChainOrigin;
  /** Asset table that gives the precision of amounts. */
  readonly assets: AssetTable;
  /** The clock, in ms. */
  readonly now: () => number;
  /** Random bytes for salts. */
  readonly randomBytes: (length: number) => Uint8Array;
  /** @default the fold of this version */
  readonly fold?: FoldCode;
}

/**
 * The ledger: facts go in and are never changed; orders and users come out as
 * far as the facts say.
 */
export class Ledger implements AsyncDisposable {
  /** The database. */
  readonly driver: Driver;
  /** Environment the ledger belongs to. */
  readonly environment: string;
  /** Orders as folded so far. */
  readonly orders: Orders;
  /** Users as folded so far. */
  readonly users: Users;
  readonly #parts: LedgerParts;
  readonly #log: EventLog;
  readonly #projector: Projector;
  #projecting: Promise<unknown> = Promise.resolve();

  /** @param parts What it works with; use {@linkcode openLedger}. */
  constructor(parts: LedgerParts) {
    this.#parts = parts;
    this.driver = parts.driver;
    this.environment = parts.origin.environment;
    this.#log = new EventLog(parts.driver);
    this.#projector = new Projector(parts);
    this.orders = new Orders(parts.driver);
    this.users = new Users(parts.driver);
  }

  /**
   * Stores a delivery, whatever it says. Pass it to `webhookEndpoint`; it needs
   * no `this`.
   *
   * @throws {LedgerError} When the delivery could not be stored.
   */
  readonly appendDelivery: AppendDelivery = (delivery) =>
    this.#log.append([
      webhookEvent(delivery, this.#parts.randomBytes(16)),
    ]);

  /**
   * Records that a stored delivery was not answered in time. It needs no
   * `this`.
   *
   * @throws {LedgerError} When it could not be stored.
   */
  readonly recordUnanswered = (
    unanswered: UnansweredDelivery,
  ): Promise<void> =>
    this.#log.append([
      deliveryUnanswered({
        unanswered,
        recordedAt: this.#time(),
        salt: this.#parts.randomBytes(16),
      }),
    ]);

  /**
   * Records a session that this partner made, so that orders can be compared
   * with what was asked for. It needs no `this`.
   *
   * @throws {TypeError} When the session has no id.
   * @throws {LedgerError} When it could not be stored.
   */
  readonly recordSession = async (
    session: SessionCreatedBody,
  ): Promise<void> => {
    await this.#log.append([
      sessionCreated({
        session,
        recordedAt: this.#time(),
        salt: this.#parts.randomBytes(16),
      }),
    ]);
  };

  /**
   * Appends events, all or none; those stored already are passed over.
   *
   * @param events What happened.
   * @returns After the commit that holds them.
   * @throws {LedgerError} When they could not be stored.
   */
  append(events: readonly NewEvent[]): Promise<void> {
    return this.#log.append(events);
  }

  /**
   * Folds events into orders and users until none is left. Any number of
   * processes may do so at once.
   *
   * A ledger that an older version has folded is folded again from nothing
   * first, beside the states that readers see.
   *
   * @param options Signal and progress.
   * @throws {LedgerError} When the database fails.
   */
  project(options: CatchUpOptions = {}): Promise<Projection> {
    // One at a time in this process: two would only undo each other's steps.
    const projection = this.#projecting.then(() => this.#project(options));
    this.#projecting = projection.catch(() => {});
    return projection;
  }

  async #project(options: CatchUpOptions): Promise<Projection> {
    let events = 0;
    for (;;) {
      options.signal?.throwIfAborted();
      const step = await this.#projector.step("live");
      const version = step.checkpoints.live?.foldVersion;
      if (version !== undefined && version > this.#projector.foldVersion) {
        return { position: step.position, events, stopped: "newer_fold" };
      }
      if (step.events === 0) {
        return { position: step.position, events, stopped: null };
      }
      events += step.events;
      options.onProgress?.({ position: step.position, events });
    }
  }

  /**
   * Extends the evidence chain until it reaches the last event.
   *
   * @param options Signal.
   * @throws {LedgerError} When the database fails.
   */
  chain(options: { readonly signal?: AbortSignal } = {}): Promise<ChainHead> {
    return extendChain(this.driver, this.#parts.origin, options);
  }

  /**
   * Computes the evidence chain again, and everything that bodies determine.
   *
   * @param options What to hold it against, progress and signal.
   * @throws {LedgerError} When the database fails.
   */
  verify(options: VerifyOptions = {}): Promise<Verification> {
    return verifyChain(this.driver, this.#parts.origin, options);
  }

  /**
   * Counts what the ledger holds, and says how far it is folded and chained.
   *
   * @throws {LedgerError} When the database fails.
   */
  async stats(): Promise<Stats> {
    const stats = await readStats(this.driver);
    const { position, events, hash } = await chainHead(
      this.driver,
      this.#parts.origin,
    );
    return { ...stats, chain: { count: events, hash, position } };
  }

  /**
   * Counts events that are not folded yet. Cheap while they are few.
   *
   * @throws {LedgerError} When the database fails.
   */
  lag(): Promise<number> {
    return readLag(this.driver);
  }

  /**
   * Makes sure that the ledger takes writes, by a write that changes nothing.
   *
   * @throws {LedgerError} Why it does not.
   */
  async probe(): Promise<void> {
    await this.driver.batch([{
      sql: "UPDATE rampkit SET schema_version = schema_version",
      args: [],
    }], "write");
  }

  /**
   * Copies the ledger, which may be in use, into a new file.
   *
   * @param path File that does not exist yet.
   * @throws {TypeError} When the ledger is on a server.
   * @throws {LedgerError} When the file exists or cannot be written.
   */
  async backup(path: string): Promise<void> {
    if (this.driver.copyTo === undefined) {
      throw new TypeError(
        "Cannot copy a ledger on a server into a file: use the server's own " +
          "backup, or export the events",
      );
    }
    await this.driver.copyTo(path);
  }

  /** Waits for appends on their way, and closes the database. */
  async close(): Promise<void> {
    await this.#log.close();
    await this.#projecting;
    await this.driver.close();
  }

  /** Same as {@linkcode Ledger.close}. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #time(): string {
    return new Date(this.#parts.now()).toISOString();
  }
}
