import {
  type Driver,
  ENTITIES,
  goLive,
  type Lease,
  type OrderState,
  POLL_LEASE,
  releaseLease,
  takeLease,
} from "../../ledger/for_sync.ts";
import { defined, recordBy } from "../../core/guards.ts";
import { sleep, steadyClock } from "../../core/waiting/waiting.ts";
import {
  addRead,
  NOTHING_READ,
  PollError,
  Recorder,
  type SweepRead,
} from "../recording/recorder.ts";
import { allSteps, type PollClient, type Steps } from "../walk/walk.ts";
import { watchdog } from "../watchdog/watchdog.ts";
import type {
  DeliveryAlert,
  DeliveryHealth,
} from "../watchdog/watchdog_rule.ts";
import { RequestMeter, SWEEP_KINDS, type SweepKind } from "./fair_share.ts";
import {
  type PollAlert,
  PollFailures,
  type PollHealth,
} from "./poll_health.ts";
import { type PollStatus, readPollStatus } from "./poll_status.ts";
import { readNewProgress, sweepDeep, sweepNew } from "./sweep_created.ts";
import {
  POLLER_DEFAULTS,
  RequestTurns,
  sweepConfirm,
  type SweepContext,
  sweepOpen,
} from "./sweeps.ts";

/** What a poller works with, and how. */
export interface PollerOptions {
  /** The ledger that is kept up to date. */
  readonly ledger: PollLedger;
  /** Makes the requests. */
  readonly client: PollClient;
  /** The clock that also stamps webhooks, in ms. @default {Date.now} */
  readonly now?: () => number;
  /**
   * A clock that is never set back, for pauses and for the rate, in ms.
   *
   * @default {performance.now, or where `now` is given that clock, standing
   * still while it is set back}
   */
  readonly steadyNow?: () => number;
  /** Waits, and rejects when aborted. Defaults to a timer. */
  readonly sleep?: (ms: number, signal?: AbortSignal) => Promise<void>;
  /** Random bytes for salts. Defaults to those of the runtime. */
  readonly randomBytes?: (length: number) => Uint8Array;
  /**
   * Name under which the lease is held. A poller that restarts under the same
   * name goes on at once; give each process its own.
   *
   * @default {a random name}
   */
  readonly holder?: string;
  /** How long the lease outlives its holder, in ms. @default {30000} */
  readonly leaseMs?: number;
  /** Requests per second of all sweeps together. @default {4} */
  readonly requestsPerSecond?: number;
  /**
   * Guaranteed parts of the rate; only their proportions count.
   *
   * @default {{ new: 2, open: 3, confirm: 3, deep: 2 }}
   */
  readonly shares?: Readonly<Record<SweepKind, number>>;
  /** Pause between two looks for new orders, in ms. @default {15000} */
  readonly followEveryMs?: number;
  /** Pause between two looks at what webhooks named, in ms. @default {1000} */
  readonly confirmEveryMs?: number;
  /**
   * Shortest time between two confirming reads of the same id, in ms. It keeps
   * repeated webhooks from asking the service again and again.
   *
   * @default {10000}
   */
  readonly confirmAtLeastMs?: number;
  /** Pause between two looks for open orders, in ms. @default {5000} */
  readonly openEveryMs?: number;
  /** Shortest time of one cycle through the past, in ms. @default {3600000} */
  readonly deepCycleAtLeastMs?: number;
  /** Orders or users a window should hold at most. @default {200} */
  readonly itemsPerWindow?: number;
  /**
   * How long the service may disagree with a claim before it is contradicted,
   * in ms. A shorter time ends forged claims sooner, and true ones that the
   * service shows late.
   *
   * @default {600000}
   */
  readonly contradictedAfterMs?: number;
  /** Pause between two looks of the watchdog, in ms. @default {30000} */
  readonly watchEveryMs?: number;
  /** Called after each check of webhook delivery, for a gauge. */
  readonly onWatch?: (health: DeliveryHealth) => void;
  /**
   * Called when webhook delivery fails, and when it works again. Polling
   * waits for it; where it fails, it is called again at the next look.
   */
  readonly onAlert?: (alert: DeliveryAlert) => void | Promise<void>;
  /**
   * Called once when polling fails, and once when it works again: when every
   * sweep that failed has ended well.
   */
  readonly onPollAlert?: (alert: PollAlert) => void;
  /** Called with the health of polling: on changes and watchdog checks. */
  readonly onPollHealth?: (health: PollHealth) => void;
  /** Called with each response of the service. */
  readonly onProgress?: (progress: PollProgress) => void;
  /** Called with each error; work is retried automatically. */
  readonly onError?: (error: unknown, sweep: SweepKind | null) => void;
}

/** How far a poller has come. */
export interface PollProgress extends SweepRead {
  /** Sweep that read it. */
  readonly sweep: SweepKind;
  /** Requests so far. */
  readonly requests: number;
}

/** What the poller needs of a ledger: `Ledger` fits. */
export interface PollLedger {
  /** The database. */
  readonly driver: Driver;
  /** Folds what is new, and extends the evidence chain. */
  project(options?: { readonly signal?: AbortSignal }): Promise<unknown>;
  /**
   * Calls a function whenever this process has folded webhooks. Without it, the
   * poller looks for what they named once a second.
   */
  onRequested?(listener: () => void): Disposable;
}

/** What comparing needs of a ledger: `Ledger` fits. */
export interface ReconcileLedger extends PollLedger {
  /** Orders as folded so far. */
  readonly orders: {
    /** One order by its id. */
    get(orderId: string): Promise<OrderState | null>;
    /** Orders of a stretch of creation time. */
    list(query?: {
      readonly createdAfter?: string;
      readonly createdUpTo?: string;
      readonly sort?: "newest" | "oldest";
    }): AsyncIterable<OrderState>;
  };
}

/** What a poller did. */
export type PollReport = PollCompleted | PollSkipped;

/** Another poller holds the lease; nothing was done. */
export interface PollSkipped {
  /** Marks that nothing was done. */
  readonly ran: false;
  /** Who holds it. */
  readonly heldBy: string;
  /** Time until it ends unless it is renewed, in milliseconds. */
  readonly leftMs: number;
}

/** Every sweep ran once. */
export interface PollCompleted extends SweepRead {
  /** Marks that the sweeps ran. */
  readonly ran: true;
  /** When they began, UTC ISO 8601. */
  readonly startedAt: string;
  /** When they ended, UTC ISO 8601. */
  readonly finishedAt: string;
  /** Requests made, by sweep. */
  readonly requests: Readonly<Record<SweepKind, number>>;
  /** Progress of the poller. */
  readonly status: PollStatus;
  /** Health of webhook delivery. */
  readonly delivery: DeliveryHealth;
}

/** Keeps a ledger up to date from the Data API. */
export interface Poller {
  /**
   * Runs each sweep to its end once: from nothing the whole past with proof,
   * then what is new, open, named by webhooks, and the past again.
   */
  once(options?: {
    /** Ends the work between two requests. */
    readonly signal?: AbortSignal;
    /** Which sweeps to run. @default {all of them} */
    readonly sweeps?: readonly SweepKind[];
  }): Promise<PollReport>;
  /**
   * Runs the sweeps until aborted, under one rate with guaranteed shares; waits
   * while another poller holds the lease, and takes over when it is gone.
   * Errors are passed to `onError`, and the work is retried.
   */
  run(signal: AbortSignal): Promise<void>;
  /**
   * Lets {@linkcode Poller.run} start the sweeps at once that read what is new,
   * what webhooks named and every open order, whatever they wait for.
   */
  pollNow(): boolean;
  /** Reads the progress of the poller; needs no lease. */
  status(): Promise<PollStatus>;
}

function settingsOf(options: PollerOptions) {
  const { now = Date.now } = options;
  return {
    ...POLLER_DEFAULTS,
    now,
    steadyNow: options.now === undefined
      ? () => performance.now()
      : steadyClock(now),
    sleep,
    holder: `poller-${crypto.randomUUID()}`,
    ...defined(options),
  };
}

type Settings = ReturnType<typeof settingsOf> & PollerOptions;

/**
 * Creates a poller.
 *
 * @param options Ledger, client, and how to poll.
 * @throws {RangeError} When the rate or a share is not a positive number.
 *
 * @example Poll once
 * ```ts
 * import { createPoller } from "@rampkit/onramp/sync";
 * import { openLedger } from "@rampkit/onramp/ledger";
 * import { OnrampClient } from "@rampkit/onramp/client";
 * import assert from "node:assert/strict";
 *
 * await using ledger = await openLedger({
 *   url: ":memory:",
 *   environment: "sandbox",
 * });
 * const client = new OnrampClient({
 *   environment: "sandbox",
 *   apiKey: "key",
 *   fetch: () => Promise.resolve(Response.json({ success: true, data: [], total: 0 })),
 *   requestsPerSecond: 1000,
 * });
 * const report = await createPoller({ ledger, client }).once();
 * assert.ok(report.ran && report.status.orders.complete);
 * ```
 */
export function createPoller(options: PollerOptions): Poller {
  const settings: Settings = settingsOf(options);
  const { ledger: { driver }, holder, leaseMs, now, onProgress } = settings;
  const burst = Math.max(2, settings.requestsPerSecond / 2);
  const meter = new RequestMeter({ ...settings, burst }, settings.steadyNow);
  const failures = new PollFailures(settings);
  let total = NOTHING_READ;
  let isLive = false;
  let running: Session | null = null;
  const isoNow = () => new Date(now()).toISOString();
  const status = () => readPollStatus(driver, now());

  async function begin(signal: AbortSignal = new AbortController().signal) {
    if (!isLive) await goLive(driver, undefined, now());
    isLive = true;
    const name = POLL_LEASE;
    const lease = await takeLease(driver, { name, holder, leaseMs });
    if (!("fence" in lease)) return lease;
    return pollUnder({ settings, meter, failures, lease, signal, onRead });
  }

  function onRead(sweep: SweepKind, read: SweepRead) {
    total = addRead(total, read);
    const made = Object.values(meter.requests);
    const requests = made.reduce((sum, one) => sum + one);
    onProgress?.({ sweep, requests, ...read });
  }

  const once: Poller["once"] = async (
    { signal, sweeps = SWEEP_KINDS } = {},
  ) => {
    const startedAt = isoNow();
    const session = await begin(signal);
    if ("heldBy" in session) return { ran: false, ...session };
    meter.countAnew();
    total = NOTHING_READ;
    try {
      const failure = await session.round(sweeps);
      const delivery = await session.watch();
      await failures.store();
      if (failure !== null) throw failure;
      return {
        ran: true,
        ...total,
        startedAt,
        finishedAt: isoNow(),
        requests: meter.requests,
        status: await status(),
        delivery,
      };
    } finally {
      await session.end();
    }
  };

  const run: Poller["run"] = async (signal) => {
    while (!signal.aborted) {
      try {
        const session = await begin(signal);
        if ("heldBy" in session) {
          await failures.standBy();
          const restMs = Math.min(session.leftMs, leaseMs / RENEWALS);
          await settings.sleep(Math.max(100, restMs), signal);
          continue;
        }
        running = session;
        try {
          await session.run();
        } finally {
          running = null;
          await session.end();
        }
      } catch (error) {
        if (signal.aborted) return;
        const pauseMs = await failures.failed("poller", error);
        settings.onError?.(error, null);
        await settings.sleep(pauseMs, signal).catch(() => {});
      }
    }
  };

  const pollNow = () => {
    running?.startNow();
    return running !== null;
  };
  return { once, run, pollNow, status };
}

/** Two renewals may fail before the lease is lost. */
const RENEWALS = 3;

/**
 * A sweep that failed works again once it has ended well, or has gone on for
 * this long, in ms: a first page that is answered says nothing about the next.
 */
const WORKS_AGAIN_MS = 60_000;

/** The setting that says how long a sweep rests once it has ended well. */
const PAUSE_OF = {
  new: "followEveryMs",
  confirm: "confirmEveryMs",
  open: "openEveryMs",
  deep: "deepCycleAtLeastMs",
} as const;

interface SessionParts {
  readonly settings: Settings;
  readonly meter: RequestMeter;
  readonly failures: PollFailures;
  readonly lease: Lease;
  readonly signal: AbortSignal;
  readonly onRead: (kind: SweepKind, read: SweepRead) => void;
}

type Session = ReturnType<typeof pollUnder>;

/** Polls under one lease, one request at a time. */
function pollUnder(
  { settings, meter, failures, lease, signal, onRead }: SessionParts,
) {
  const { ledger, now, randomBytes, steadyNow, sleep } = settings;
  const { driver } = ledger;
  const recorder = new Recorder({ driver, lease, now, randomBytes });
  const turns = { confirm: new RequestTurns(), open: new RequestTurns() };
  const sweeps = recordBy(SWEEP_KINDS)(() => ({
    steps: null as Steps | null,
    startedMs: 0,
    dueMs: 0,
    /** Whether it is to be started whatever the time. */
    isWanted: false,
    /** Whether it ended with a failure, and waits until it is due. */
    hasFailed: false,
  }));
  const begunMs = steadyNow();
  const renewMs = settings.leaseMs / RENEWALS;
  let renewedMs = begunMs;
  let watchMs = 0;
  let projectedMs = 0;
  /** Whether webhooks were folded since the confirm sweep was last begun. */
  let isNamed = false;
  let resting: AbortController | null = null;
  let folding: Promise<void> | null = null;
  let foldAgain = false;
  let foldFailure: { readonly error: unknown } | null = null;
  const end = () => releaseLease(driver, lease);
  return { end, watch, round, run, startNow };

  function sweep(kind: SweepKind, all: boolean): Steps {
    const context: SweepContext = {
      ...{ ...settings, signal, driver, recorder },
      onRead: (read) => onRead(kind, read),
    };
    if (kind === "open") return sweepOpen(context, { all, turns: turns.open });
    if (kind === "confirm") {
      return sweepConfirm(context, { all, turns: turns.confirm });
    }
    // Half of it: a cycle that is due must not be left out by chance.
    const pauseMs = all ? 0 : settings.deepCycleAtLeastMs / 2;
    return allSteps(
      ENTITIES.map((entity) =>
        kind === "new"
          ? sweepNew(context, entity)
          : sweepDeep(context, entity, pauseMs)
      ),
    );
  }

  function start(kind: SweepKind, all: boolean) {
    const begun = { steps: sweep(kind, all), startedMs: steadyNow() };
    return Object.assign(sweeps[kind], { ...begun, isWanted: false });
  }

  /** Looks at webhook delivery, raises the alarm, and renews the lease. */
  async function watch(
    onFailure?: (error: unknown) => void,
  ): Promise<DeliveryHealth> {
    const { health, alert, remember } = await watchdog(driver, {
      ...{ nowMs: now(), everyMs: settings.watchEveryMs },
    });
    // Called before it is stored: an alarm may be sent twice, but is never lost.
    let isTaken = true;
    try {
      settings.onWatch?.(health);
      if (alert !== null) await settings.onAlert?.(alert);
    } catch (error) {
      if (onFailure === undefined) throw error;
      onFailure(error);
      isTaken = false;
    }
    await recorder.write(isTaken ? remember : []);
    return health;
  }

  /**
   * Runs sweeps one after another, each to its end. Where one fails, the others
   * still run; the first failure is returned.
   */
  async function round(kinds: readonly SweepKind[]): Promise<unknown> {
    await failures.load();
    await ledger.project({ signal });
    const stored = await readNewProgress(driver, "order");
    const order = ["new", "confirm", "open", "deep"] as const;
    let failure: unknown = null;
    for (const kind of order.filter((one) => kinds.includes(one))) {
      // The new sweep has just walked through the whole past.
      if (kind === "deep" && stored === null && kinds.includes("new")) continue;
      const one = start(kind, true);
      try {
        while (one.steps !== null) {
          signal.throwIfAborted();
          const turn = meter.turn([kind]);
          if ("waitMs" in turn) await sleep(turn.waitMs, signal);
          else {
            const failed = await step(kind, false);
            failure ??= failed;
          }
        }
      } finally {
        await one.steps?.return();
      }
      await ledger.project({ signal });
    }
    return failure;
  }

  async function run(): Promise<void> {
    await failures.load();
    const wake = () => resting?.abort();
    signal.addEventListener("abort", wake, { once: true });
    using _named = ledger.onRequested?.(() => {
      isNamed = true;
      wake();
    });
    const ready = () => SWEEP_KINDS.filter((kind) => sweeps[kind].steps);
    try {
      while (!signal.aborted) {
        if (foldFailure !== null) throw foldFailure.error;
        const nowMs = steadyNow();
        await keepWatch(nowMs);
        startDue(nowMs);
        const kinds = ready();
        if (kinds.length === 0) {
          const dueMs = SWEEP_KINDS.map((kind) => sweeps[kind].dueMs);
          await rest(Math.min(watchMs, ...dueMs) - nowMs);
          continue;
        }
        const turn = meter.turn(kinds);
        if ("waitMs" in turn) await rest(turn.waitMs);
        else await step(turn.kind, true);
      }
    } finally {
      signal.removeEventListener("abort", wake);
      for (const kind of ready()) await sweeps[kind].steps?.return();
      await folding;
    }
  }

  /**
   * Starts the sweeps at once that read what is new, what webhooks named, and
   * every open order. One that is under way is started once more after it.
   */
  function startNow(): void {
    for (const kind of SWEEP_KINDS) sweeps[kind].isWanted = kind !== "deep";
    resting?.abort();
  }

  /** Checks delivery when it is due, and keeps the lease meanwhile. */
  async function keepWatch(nowMs: number): Promise<void> {
    if (nowMs >= watchMs) {
      // A failing `onAlert` must not stop polling.
      await watch((error) => settings.onError?.(error, null));
      await failures.store();
      watchMs = nowMs + settings.watchEveryMs;
    } else if (nowMs - renewedMs >= renewMs) await recorder.write([]);
    else return;
    renewedMs = nowMs;
  }

  function startDue(nowMs: number): void {
    const due = SWEEP_KINDS.filter((kind) => {
      const { steps, dueMs, isWanted, hasFailed } = sweeps[kind];
      const isWoken = kind === "confirm" && isNamed && !hasFailed;
      return steps === null && (isWanted || nowMs >= dueMs || isWoken);
    });
    // A sweep that has gone on for long needs fresh read models as well.
    const isFresh = nowMs - projectedMs < settings.confirmEveryMs;
    // What wakes the confirm sweep has just been folded.
    if (!isFresh || due.some((kind) => kind !== "confirm")) {
      fold();
      projectedMs = nowMs;
    }
    for (const kind of due) {
      if (kind === "confirm") isNamed = false;
      start(kind, kind === "open" && sweeps[kind].isWanted);
    }
  }

  /**
   * One step of one sweep; a failure costs this sweep a pause, no other, and is
   * returned.
   */
  async function step(kind: SweepKind, goesOn: boolean): Promise<unknown> {
    const one = sweeps[kind];
    if (one.steps === null) return null;
    const ended = (hasFailed: boolean, pauseMs: number) => {
      const dueMs = steadyNow() + pauseMs;
      Object.assign(one, { steps: null, hasFailed, dueMs });
    };
    try {
      const { done, value } = await one.steps.next();
      const nowMs = steadyNow();
      const isLong = (beganMs: number) => nowMs - beganMs >= WORKS_AGAIN_MS;
      if (done !== true) await failures.stepped();
      if (done === true || isLong(one.startedMs)) await failures.worked(kind);
      // A lease that is lost at once each time is taken well each time, too; a
      // database that took what a sweep ended with works.
      if (
        isLong(begunMs) || (done === true && failures.isOfDatabase("poller"))
      ) await failures.worked("poller");
      if (done === true) ended(false, settings[PAUSE_OF[kind]]);
      else meter.spend(kind, value);
      // What was read is reported at once.
      if (goesOn && done !== true && value > 0) fold();
      return null;
    } catch (error) {
      if (signal.aborted || error instanceof PollError) throw error;
      meter.spend(kind, 1);
      const pauseMs = await failures.failed(kind, error, goesOn);
      ended(true, pauseMs);
      if (goesOn) settings.onError?.(error, kind);
      return error;
    }
  }

  /**
   * Folds in the background, because under a flood of events folding does not
   * end. Many calls at once lead to at most two folds.
   */
  function fold(): void {
    foldAgain = true;
    folding ??= foldAll().catch((error) => {
      foldFailure = { error };
      resting?.abort();
    }).finally(() => folding = null);
  }

  async function foldAll(): Promise<void> {
    while (foldAgain && !signal.aborted) {
      foldAgain = false;
      await ledger.project({ signal });
    }
  }

  async function rest(ms: number): Promise<void> {
    if (signal.aborted) return;
    const { signal: ended } = resting = new AbortController();
    await sleep(Math.max(1, Math.min(ms, renewMs)), ended).catch((error) => {
      if (!ended.aborted) throw error;
    });
    resting = null;
  }
}
