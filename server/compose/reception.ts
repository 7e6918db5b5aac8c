import { defined } from "../../core/guards.ts";
import type { Ledger } from "../../ledger/for_server.ts";
import {
  type WebhookEndpoint,
  webhookEndpoint,
} from "../../webhooks/endpoint.ts";
import type {
  WebhookLogCode,
  WebhookLogEntry,
} from "../../webhooks/endpoint_log.ts";
import type { WebhookEndpointOptions } from "../../webhooks/endpoint_options.ts";
import type { Spool } from "../../webhooks/spool.ts";
import { WEBHOOK_PATH } from "../http/http_app.ts";
import { isLogged, type Log, type LogEvent } from "../monitoring/logger.ts";
import type { ServiceMetrics } from "../monitoring/metrics.ts";

/** What taking deliveries needs. */
export interface ReceptionParts {
  /** Secrets that the webhook address may end in. */
  readonly secrets: readonly string[];
  /** The log. */
  readonly log: Log;
  /** The metrics. */
  readonly metrics: ServiceMetrics;
  /** Clock, ms since the epoch. */
  readonly now: () => number;
  /**
   * What the path of a delivery begins with; null for any path.
   *
   * @default {WEBHOOK_PATH}
   */
  readonly path?: string | null;
  /** Where webhooks are accepted from. @default {anywhere} */
  readonly admission?: Pick<
    WebhookEndpointOptions,
    "allowlist" | "clientAddress"
  >;
  /**
   * Where deliveries are kept from their answer until the ledger has them.
   *
   * @default {the ledger has them before the answer}
   */
  readonly spool?: Spool;
  /** Called with each request that the endpoint answers. @default {none} */
  readonly onAnswer?: WebhookEndpointOptions["onAnswer"];
}

/** What the ledger does with deliveries, once it is open. */
export interface Reached {
  /** Stores a delivery where there is no spool. */
  readonly append: WebhookEndpointOptions["append"];
  /** Stores a note of one that was not answered in time, likewise. */
  readonly recordUnanswered: Ledger["recordUnanswered"];
}

/** The endpoint, which can take deliveries before the ledger is open. */
export interface Reception {
  /** Takes deliveries. */
  readonly endpoint: WebhookEndpoint;
  /** To be called once the ledger is open. */
  reached(ledger: Reached): void;
}

/** What becomes of deliveries while the ledger takes nothing, for the log. */
export const KEPT_IN_SPOOL: string =
  "Deliveries are kept in the spool, and answered 204";
/** The same where there is no spool. */
export const ANSWERED_503: string =
  "Deliveries are answered 503, and the service sends them again";

/**
 * Makes the endpoint. With a spool it takes deliveries at once; without one it
 * answers 503 until the ledger is open, and the service sends them again.
 */
export function openReception(parts: ReceptionParts): Reception {
  const { metrics, log, now, spool, path = WEBHOOK_PATH } = parts;
  let ledger: Reached | null = null;
  const opened = (): Reached => {
    if (ledger === null) throw new Error("The ledger could not be opened yet");
    return ledger;
  };
  const endpoint = webhookEndpoint({
    append: spool?.put ?? (async (delivery) => {
      await opened().append(delivery);
    }),
    ...defined({ noRoomFor: spool?.noRoomFor }),
    unanswered: spool?.note ?? (async (note) => {
      await opened().recordUnanswered(note);
    }),
    secrets: parts.secrets,
    ...path === null ? {} : { path },
    meter: metrics.meter,
    now,
    ...parts.admission,
    ...defined({ onAnswer: parts.onAnswer }),
    log: endpointLog(log, spool === undefined ? {} : SPOOL_EVENTS),
  });
  return {
    endpoint,
    reached: (reached) => {
      ledger = reached;
    },
  };
}

/** What the endpoint's events are called where it stores in the spool. */
const SPOOL_EVENTS = {
  append_failing: "spool_failed",
  append_recovered: "spool_recovered",
} as const;

/** Writes what endpoint and spool report into the log of the program. */
export function endpointLog(
  log: Log,
  events: Readonly<Partial<Record<WebhookLogCode, LogEvent>>> = {},
): (entry: Omit<WebhookLogEntry, "at"> & { readonly at?: string }) => void {
  return ({ level, code, at: _, ...fields }) => {
    if (level !== "debug" && isLogged(code)) {
      log(level, events[code] ?? code, fields);
    }
  };
}
