import { defined } from "../../core/guards.ts";
import type { Spool } from "../../webhooks/spool.ts";
import { httpApp } from "../http/http_app.ts";
import { readinessOf } from "./readiness.ts";
import {
  openReception,
  type Reception,
  type ReceptionParts,
} from "./reception.ts";

type App = ReturnType<typeof httpApp>;

interface Listener {
  /** Stops taking requests. */
  shutdown(): Promise<void>;
}

/** What is known before the ledger is open. */
export interface EarlyParts extends Omit<ReceptionParts, "spool" | "path"> {
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
export interface Early extends AsyncDisposable {
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
