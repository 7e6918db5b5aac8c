import { defined, messageOf } from "../../core/guards.ts";
import { type Ledger, LedgerError } from "../../ledger/for_server.ts";
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
import { type Readiness, WEBHOOK_PATH } from "../http/http_app.ts";
import { isLogged, type Log, type LogEvent } from "../monitoring/logger.ts";
import type { ServiceMetrics } from "../monitoring/metrics.ts";
import { sleep } from "../../core/waiting/waiting.ts";
import type { SweepFailure } from "../../sync/polling/poll_health.ts";
import {
  type Finding,
  gathered,
  lookedAt,
  stands,
} from "../../resources/health/finding.ts";
import {
  lookAtPolling,
  storingFindings,
} from "../../resources/health/stored_health.ts";

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
interface Reached {
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

/** What readiness depends on. */
interface ReadinessOptions {
  /** Gives the ledger, or throws why there is none. */
  readonly open: () => Ledger | Promise<Ledger>;
  /** Why the ledger refused the latest group; null where it did not. */
  readonly refusal?: unknown;
  /** Looks of this process into the ledger. @default {one that waits for it} */
  readonly looks?: LedgerLooks;
  /** Where deliveries are stored first; absent where the ledger is. */
  readonly spool?: Pick<Spool, "depth" | "oldestMs" | "ready">;
  /** Clock, ms since the epoch. */
  readonly now: () => number;
  /** The problem of this process's poller; null when there is none. */
  readonly stuck?: SweepFailure | null;
  /** What else was found lately. @default {nothing} */
  readonly found?: readonly Finding[];
}

/**
 * Checks whether deliveries are stored durably, and what else is wrong.
 *
 * It is a problem only when nothing durable takes them: a load balancer then
 * takes the endpoint out, and the service switches delivery off. Everything
 * else is `degraded`, or a condition.
 */
export async function readinessOf(
  options: ReadinessOptions,
): Promise<Readiness> {
  const { writable, lag, spooled, problem, findings } = await lookAtStoring(
    options,
    // Without a spool whatever is slow here delays deliveries as well.
    options.spool === undefined ? HEALTH_PATIENCE_MS : READY_PATIENCE_MS,
  );
  const standing = findings.filter(stands);
  const seenNow = new Set(findings.map(({ subject }) => subject));
  const before = options.found?.filter(({ subject }) => !seenNow.has(subject));
  return {
    writable,
    lag,
    spooled,
    problem,
    degraded: problem === null ? standing.map(({ detail }) => detail) : [],
    conditions: gathered([findings, before ?? []]).filter(stands)
      .map(({ code, level, since }) => ({ code, level, since })),
  };
}

/** What one look into the ledger found. */
interface LedgerLook {
  readonly refusal: unknown;
  readonly lag: number | null;
  readonly polling: readonly Finding[];
}

/** Looks into the ledger one at a time, and remembers what the last one found. */
export class LedgerLooks {
  #underWay: Promise<LedgerLook> | null = null;
  #last: LedgerLook | null = null;

  /**
   * Waits a while for the look that is under way: a lock that another process
   * holds must keep nobody who asks.
   */
  async look(
    { open, now, stuck = null }: ReadinessOptions,
    patienceMs: number,
  ): Promise<LedgerLook> {
    this.#underWay ??= lookIntoLedger(open, now, stuck).then((found) => {
      this.#underWay = null;
      return this.#last = found;
    });
    const last = this.#last;
    // What failed just before is known without waiting for the next failure.
    const isFailing = last !== null && last.refusal !== null;
    const waited = new AbortController();
    const late = sleep(
      isFailing ? Math.min(patienceMs, READY_PATIENCE_MS) : patienceMs,
      waited.signal,
    ).then(() => null, () => null);
    const found = await Promise.race([this.#underWay, late]);
    waited.abort();
    return found ?? {
      lag: last?.lag ?? null,
      polling: last?.polling ?? [],
      refusal: isFailing ? last.refusal : SLOW,
    };
  }
}

const SLOW = new LedgerError(
  "busy",
  "The ledger does not take a write at once: another process holds its write " +
    "lock, or its disk or server is slow",
);

/** How long `/readyz` waits for the ledger, ms. */
const READY_PATIENCE_MS = 400;
/** How long a look at the health of everything does, ms. */
const HEALTH_PATIENCE_MS = 2500;

async function lookIntoLedger(
  open: ReadinessOptions["open"],
  now: () => number,
  stuck: SweepFailure | null,
): Promise<LedgerLook> {
  let lag: number | null = null;
  let polling: readonly Finding[] = [];
  try {
    const ledger = await open();
    lag = await ledger.lag();
    polling = await lookedAt(
      "polling",
      () => lookAtPolling(ledger.driver, now(), stuck),
    );
    await ledger.probe();
    return { refusal: null, lag, polling };
  } catch (refusal) {
    return { refusal, lag, polling };
  }
}

/** Where deliveries are stored, and how polling is. */
export async function lookAtStoring(
  options: ReadinessOptions,
  patienceMs: number = HEALTH_PATIENCE_MS,
): Promise<
  & Pick<Readiness, "writable" | "lag" | "spooled" | "problem">
  & { readonly findings: readonly Finding[] }
> {
  const { refusal = null, spool, now, looks = new LedgerLooks() } = options;
  const { lag, polling, ...look } = await looks.look(options, patienceMs);
  const error = look.refusal ?? refusal;
  const why = error === null ? null : messageOf(error);
  const cause = error instanceof LedgerError ? error.code : null;
  const problem = spool === undefined ? why : await spool.ready().then(
    () => null,
    (error) => `${messageOf(error)}${why === null ? "" : `; ${why}`}`,
  );
  const spooled = spool?.depth ?? 0;
  const oldestMs = spool?.oldestMs ?? null;
  const storing = { problem, refusal: why, cause, spooled, oldestMs };
  return {
    writable: why === null,
    lag,
    spooled,
    problem,
    findings: [
      ...storingFindings(storing, now()),
      // Whether nobody polls is no matter of deliveries.
      ...polling.filter(({ level }) => level !== "warning"),
    ],
  };
}
