import { messageOf } from "../../core/guards.ts";
import { type Ledger, recover, type RecoverReport } from "../../ledger/mod.ts";
import type { PollClient } from "../../ledger/polling/poll_client.ts";
import type { Poller } from "../../ledger/polling/poll_report.ts";
import { requestOrder } from "../../ledger/polling/requests/request_order.ts";
import type { Log } from "../monitoring/logger.ts";
import type { Caller } from "./callers.ts";
import { ApiProblem } from "./problem.ts";

/** The longest window that is read again at once, ms. */
const LONGEST_WINDOW_MS = 31 * 24 * 3_600_000;

/** What the operations work with. */
export interface OperationsOptions {
  /** The ledger. */
  readonly ledger: Ledger;
  /** Gets one line for each operation. */
  readonly log: Log;
  /** Clock, ms since the epoch. */
  readonly now: () => number;
  /** Polls in this process; null when nothing does. */
  readonly poller: Pick<Poller, "pollNow"> | null;
  /** Makes what asks the service; null without an API key. */
  readonly client: (() => PollClient) | null;
  /** Ends what is under way. */
  readonly signal: AbortSignal;
}

/** A window that is read again, or was. */
export interface RecoveryJson {
  /** Number of the recovery, from 1, in this process. */
  readonly id: number;
  /** Where it stands. */
  readonly state: "running" | "ended" | "failed";
  /** Name of the token that asked for it. */
  readonly by: string;
  /** Start of the window, UTC ISO 8601. */
  readonly from: string;
  /** End of the window, UTC ISO 8601. */
  readonly to: string;
  /** When it began, UTC ISO 8601. */
  readonly startedAt: string;
  /** When it ended, UTC ISO 8601; null while it runs. */
  readonly endedAt: string | null;
  /** Orders read so far. */
  readonly orders: number;
  /** Users read so far. */
  readonly users: number;
  /** What `recover --json` prints; null until it has ended well. */
  readonly report: RecoverReport | null;
  /** Why it failed; null when it did not. */
  readonly error: string | null;
}

/**
 * What can be done from outside while the service runs. Each operation leaves a
 * line in the log that names who asked for it.
 */
export class Operations {
  readonly #options: OperationsOptions;
  #recovery: RecoveryJson | null = null;
  #recovering: Promise<void> = Promise.resolve();

  /** @param options What they work with. */
  constructor(options: OperationsOptions) {
    this.#options = options;
  }

  /** The last recovery that this process was asked for; null before. */
  get recovery(): RecoveryJson | null {
    return this.#recovery;
  }

  /**
   * Lets the poller ask the service at once.
   *
   * @throws {ApiProblem} When no poller of this process is at work.
   */
  pollNow(caller: Caller): void {
    this.#startPoller();
    this.#tell(caller, "poll", {});
  }

  /**
   * Has one order read again, before all that is not as urgent.
   *
   * @throws {ApiProblem} When no poller of this process is at work.
   */
  async readOrder(caller: Caller, orderId: string): Promise<void> {
    const { ledger, now, poller } = this.#options;
    if (poller === null) throw nothingPolls();
    await requestOrder(ledger.driver, orderId, now());
    this.#startPoller();
    this.#tell(caller, "read_order", { orderId });
  }

  /**
   * Begins to read a window again, behind the answer.
   *
   * @param window Its start and end, in ms since the epoch.
   * @throws {ApiProblem} When it is too long, ends before it starts, or another
   * runs; or without an API key.
   */
  recover(
    caller: Caller,
    window: { readonly fromMs: number; readonly toMs: number },
  ): RecoveryJson {
    const { client } = this.#options;
    const { fromMs, toMs } = window;
    if (client === null) {
      throw new ApiProblem(
        "conflict",
        "The service cannot be asked without an API key: set RAMPKIT_API_KEY",
      );
    }
    if (toMs <= fromMs || toMs - fromMs > LONGEST_WINDOW_MS) {
      throw new ApiProblem(
        "bad_request",
        "Wrong window: it has to end after it starts, and to be at most 31 " +
          "days long; for a longer one use the command recover",
      );
    }
    if (this.#recovery?.state === "running") {
      throw new ApiProblem(
        "conflict",
        `Recovery ${this.#recovery.id} is running; see GET /v1/recovery`,
      );
    }
    const recovery: RecoveryJson = {
      id: (this.#recovery?.id ?? 0) + 1,
      state: "running",
      by: caller.name,
      from: new Date(fromMs).toISOString(),
      to: new Date(toMs).toISOString(),
      startedAt: this.#isoNow(),
      endedAt: null,
      orders: 0,
      users: 0,
      report: null,
      error: null,
    };
    this.#recovery = recovery;
    this.#recovering = this.#recover(client(), window);
    const { id, from, to } = recovery;
    this.#tell(caller, "recover", { id, from, to });
    return recovery;
  }

  /** Has dead letters delivered again: one, or all of a subscription. */
  async retry(
    caller: Caller,
    name: string,
    key: string | undefined,
  ): Promise<number> {
    const retried = await this.#options.ledger.subscriptions.retry(name, key);
    this.#tell(caller, "retry", { subscription: name, key, retried });
    return retried;
  }

  /** Gives up a dead letter. */
  async drop(caller: Caller, name: string, key: string): Promise<number> {
    const dropped = await this.#options.ledger.subscriptions.drop(name, key);
    this.#tell(caller, "drop", { subscription: name, key, dropped });
    return dropped;
  }

  /** Sends again to a target that was switched off. */
  async resume(caller: Caller, name: string): Promise<boolean> {
    const resumed = await this.#options.ledger.subscriptions.resume(name);
    this.#tell(caller, "resume", { subscription: name, resumed });
    return resumed;
  }

  /** Tells subscriptions of a state that none of them was told of. */
  async fire(caller: Caller, key: string): Promise<number> {
    const fired = await this.#options.ledger.subscriptions.fire([key]);
    this.#tell(caller, "fire", { key, fired });
    return fired;
  }

  /** Resolves when nothing is under way. */
  async stop(): Promise<void> {
    await this.#recovering;
  }

  async #recover(
    client: PollClient,
    window: { readonly fromMs: number; readonly toMs: number },
  ): Promise<void> {
    const { ledger, now, signal } = this.#options;
    try {
      const report = await recover({
        ledger,
        client,
        ...window,
        now,
        signal,
        onProgress: ({ orders, users }) => {
          const { orders: o = 0, users: u = 0 } = this.#recovery ?? {};
          this.#update({ orders: o + orders, users: u + users });
        },
      });
      this.#update({ state: "ended", endedAt: this.#isoNow(), report });
    } catch (error) {
      this.#update({
        state: "failed",
        endedAt: this.#isoNow(),
        error: signal.aborted ? "The process was stopped" : messageOf(error),
      });
    }
  }

  #update(fields: Partial<RecoveryJson>): void {
    if (this.#recovery !== null) {
      this.#recovery = { ...this.#recovery, ...fields };
    }
  }

  #startPoller(): void {
    const { poller } = this.#options;
    if (poller === null) throw nothingPolls();
    if (!poller.pollNow()) {
      throw new ApiProblem(
        "conflict",
        "Another process polls this ledger, or the poller is just starting: " +
          "ask that process, or try again in a moment",
      );
    }
  }

  #tell(
    { name }: Caller,
    action: string,
    facts: Readonly<Record<string, unknown>>,
  ): void {
    this.#options.log("info", "operated", { action, by: name, ...facts });
  }

  #isoNow(): string {
    return new Date(this.#options.now()).toISOString();
  }
}

function nothingPolls(): ApiProblem {
  return new ApiProblem(
    "conflict",
    "Nothing polls in this process: start serve with an API key and without " +
      "--no-poll",
  );
}
