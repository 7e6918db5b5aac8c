import { defined } from "../../core/guards.ts";
import type { Spool } from "../../webhooks/spool.ts";
import { httpApp } from "../http/http_app.ts";
import {
  openReception,
  readinessOf,
  type Reception,
  type ReceptionParts,
} from "./readiness.ts";
import { backoffMs, sleep as sleepFor } from "../../core/waiting/waiting.ts";
import { type Ledger, LedgerError } from "../../ledger/for_server.ts";
import { Alarm } from "../monitoring/alarm.ts";
import type { Log } from "../monitoring/logger.ts";

type App = ReturnType<typeof httpApp>;

interface Listener {
  /** Stops taking requests. */
  shutdown(): Promise<void>;
}

/** What is known before the ledger is open. */
interface EarlyParts extends Omit<ReceptionParts, "spool" | "path"> {
  /** Where deliveries are kept. */
  readonly spool: Spool | undefined;
  /** Why the ledger is not open. */
  readonly problem: () => Error;
  /** Writes the metrics for Prometheus. */
  readonly metricsText: () => string;
  /** Listens, and answers with the app. */
  readonly listen: (app: App) => Promise<Listener>;
}

/**
 * What takes deliveries before the ledger is open. Disposed of, it stops, unless
 * it was handed over.
 */
interface Early extends AsyncDisposable {
  /** Where it stores them; undefined when it stores none. */
  readonly spool: Spool | undefined;
  /** The endpoint. */
  readonly reception: Reception;
  /**
   * Lets another app answer from now on, whose owner then stops all of this.
   */
  handOver(app: App): Listener;
}

/**
 * Listens before the ledger is open: deliveries go into the spool, and are
 * answered 503 where there is none. `/readyz` says what is wrong.
 *
 * @throws {CommandError} When the address cannot be listened on.
 */
export async function openEarly(
  { spool, problem, metricsText, listen, ...parts }: EarlyParts,
): Promise<Early> {
  const kept = defined({ spool });
  const reception = openReception({ ...parts, ...kept });
  const { endpoint } = reception;
  let app = httpApp({
    endpoint,
    readiness: () =>
      readinessOf({
        open: () => Promise.reject(problem()),
        ...kept,
        now: parts.now,
      }),
    metrics: metricsText,
  });
  let isHandedOver = false;
  const server = await listen((request, info) => app(request, info));
  return {
    spool,
    reception,
    handOver: (other) => {
      app = other;
      isHandedOver = true;
      return server;
    },
    [Symbol.asyncDispose]: async () => {
      if (isHandedOver) return;
      await server.shutdown();
      await endpoint.drain();
      await spool?.close();
    },
  };
}

/** How a ledger is waited for. */
interface ReachOptions<Early> {
  /** Opens the ledger. */
  readonly open: () => Promise<Ledger>;
  /**
   * Starts what works without the ledger. Called once, when the ledger does not
   * answer.
   */
  readonly meanwhile: (problem: () => LedgerError) => Promise<Early>;
  /** What becomes of deliveries meanwhile, for the log. */
  readonly effect: string;
  /** The log. */
  readonly log: Log;
  /** Clock, ms since the epoch. */
  readonly now: () => number;
  /** Ends the waiting. */
  readonly signal: AbortSignal;
  /** Waits. @default {a timer} */
  readonly sleep?: (ms: number, signal: AbortSignal) => Promise<void>;
}

/** A ledger that is open. */
interface ReachedLedger<Early> {
  /** The ledger. */
  readonly ledger: Ledger;
  /** What was started meanwhile; null when it was open at once. */
  readonly early: Early | null;
}

/** Waits between attempts, ms. */
const AGAIN = { firstMs: 500, longestMs: 15_000 };

/**
 * Opens the ledger. Where its server does not answer it is tried again and
 * again, as when it is lost later. Any other error is thrown at once: retrying
 * does not help against a refused token or another program's database.
 *
 * @throws {LedgerError} Any but `unreachable`.
 */
export async function reachLedger<Early extends AsyncDisposable>(
  options: ReachOptions<Early>,
): Promise<ReachedLedger<Early> | null> {
  const { open, meanwhile, effect, log, now, signal } = options;
  const { sleep = sleepFor } = options;
  const notReady = new Alarm(log, "not_ready", now);
  let early: Early | null = null;
  let problem: LedgerError;
  for (let failures = 1; !signal.aborted; failures++) {
    try {
      const ledger = await open();
      notReady.clear();
      return { ledger, early };
    } catch (error) {
      if (!isUnreachable(error)) {
        await early?.[Symbol.asyncDispose]();
        throw error;
      }
      problem = error;
    }
    notReady.raise({ message: problem.message, effect });
    early ??= await meanwhile(() => problem);
    await sleep(backoffMs(failures, AGAIN), signal).catch(() => {});
  }
  await early?.[Symbol.asyncDispose]();
  return null;
}

function isUnreachable(error: unknown): error is LedgerError {
  return error instanceof LedgerError && error.code === "unreachable";
}
