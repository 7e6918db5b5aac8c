import { resolve } from "node:path";
import {
  historyReport,
  type Ledger,
  LedgerError,
  type Mover,
  ProjectionWorker,
  tallyOrders,
  writeWaiting,
} from "../../ledger/for_server.ts";
import {
  createPoller,
  type Poller,
  type PollerOptions,
} from "../../sync/polling/poller.ts";
import type { Config } from "../../core/settings/config.ts";
import {
  endpointLog,
  KEPT_IN_SPOOL,
  LedgerLooks,
  lookAtStoring,
  openReception,
  readinessOf,
  type Reception,
  type ReceptionParts,
} from "./readiness.ts";
import { defined, messageOf } from "../../core/guards.ts";
import { POLLER_DEFAULTS } from "../../sync/polling/sweeps.ts";
import {
  ChainLog,
  logDeliveryAlert,
  logPollAlert,
  RecentOutcome,
  RefusalLog,
  StalledPoller,
} from "../monitoring/log_alerts.ts";
import { Alarm } from "../monitoring/alarm.ts";
import { VARIABLES } from "../../core/settings/settings.ts";
import { serviceClient } from "./service_client.ts";
import {
  BodyTally,
  bodyValue,
  classify,
} from "../../core/webhook_event/classify_body.ts";
import { addRefusedRequests, lookForDrift } from "../../sync/check/drift.ts";
import { SMALL_BODY_BYTES } from "../../webhooks/body_room.ts";
import type { WebhookEndpoint } from "../../webhooks/endpoint.ts";
import type { Spool } from "../../webhooks/spool.ts";
import { bodyReport, spoolMover } from "../../webhooks/spool_mover.ts";
import { type Finding, found } from "../../resources/health/finding.ts";
import { DriftWatch, OrderGauges } from "../monitoring/order_gauges.ts";
import { spoolDirectory } from "../ledger_file/spool_directory.ts";
import type { Readiness } from "../http/http_app.ts";

/** What the service is made of, and where `serve` and Deploy differ. */
export interface ServiceParts extends ReceptionParts {
  /** Settings. */
  readonly config: Config;
  /** The open ledger; the caller closes it after the service. */
  readonly ledger: Ledger;
  /**
   * What has taken deliveries since before the ledger was open, with the same
   * spool.
   *
   * @default {made of the parts}
   */
  readonly reception?: Reception;
  /**
   * Whether the process runs until it is stopped. Then a worker folds at all
   * times, and timers watch the poller and refused requests. Otherwise nothing
   * runs between requests: an append is followed by a fold.
   */
  readonly longLived: boolean;
  /** Whether the service is asked at all. @default true */
  readonly poll?: boolean;
  /** Requests a second to the service. @default {those of client and poller} */
  readonly requestsPerSecond?: number;
  /** Pauses and shares of polling. @default {as the poller does} */
  readonly polling?: Pick<
    PollerOptions,
    "confirmAtLeastMs" | "followEveryMs" | "sleep"
  >;
  /**
   * How long the service may disagree with a claim, in ms.
   *
   * @default {that of the poller}
   */
  readonly contradictedAfterMs?: number;
  /** Sends requests to the service. @default {globalThis.fetch} */
  readonly fetch?: typeof fetch;
}

/** The poller, and what notices that it makes no progress. */
interface ComposedPoller {
  /** Null without an API key, or when polling is off. */
  readonly poller: Poller | null;
  /** Null where nothing runs between requests. */
  readonly stalled: StalledPoller | null;
}

/** As long as one attempt may take, ms. */
const DEADLINE_MS = 10_000;

/** Makes the poller, whose alerts are logged and whose progress is measured. */
function composePoller(
  { config, ledger, log, metrics, now, longLived, ...parts }: ServiceParts,
): ComposedPoller {
  if (parts.poll === false) return { poller: null, stalled: null };
  if (config.apiKey === null) {
    log("warn", "no_api_key", {
      effect:
        "Webhooks are kept, but nothing is confirmed and lost ones are not found",
      advice: `Set ${VARIABLES.apiKey}` +
        (longLived ? ", or say --no-poll" : ""),
    });
    return { poller: null, stalled: null };
  }
  const { requestsPerSecond = POLLER_DEFAULTS.requestsPerSecond } = parts;
  const stalled = longLived
    ? new StalledPoller({
      now,
      onAlert: (alert) => logPollAlert(log, alert),
    })
    : null;
  const poller = createPoller({
    ledger: {
      driver: ledger.driver,
      project: (options) => ledger.project(options),
      onRequested: (listener) => ledger.onRequested(listener),
    },
    client: serviceClient(config, ledger.environment, {
      // The poller says who is next; this keeps each request, also one that is
      // tried again, as far from the one before as the rate says.
      requestsPerSecond,
      // The poller tries again by itself, and says sooner that nothing answers.
      deadlineMs: DEADLINE_MS,
      ...defined({ fetch: parts.fetch }),
    }),
    now,
    requestsPerSecond,
    ...parts.polling,
    ...defined({ contradictedAfterMs: parts.contradictedAfterMs }),
    onPollAlert: (alert) => logPollAlert(log, alert),
    onPollHealth: (health) => {
      stalled?.reported(health);
      metrics.polling(health);
    },
    onWatch: (health) => {
      metrics.delivery(health);
      // A failure to read this gauge must not stop polling.
      poller.status().then(
        (status) => metrics.backlog(status, now()),
        () => {},
      );
    },
    onAlert: (alert) => logDeliveryAlert(log, alert),
  });
  return { poller, stalled };
}

/** The projection, and its state. */
interface ComposedProjection {
  /** Folds and chains. */
  readonly projection: Projection;
  /** Since when stored events are not folded; null while they are. */
  readonly foldFailingSince: () => string | null;
}

/**
 * Folds and chains by a worker where the process is long-lived, and after each
 * append otherwise.
 */
function composeProjection(
  { ledger, log, metrics, now, longLived }: ServiceParts,
  checkReplaced: (error: unknown) => void,
): ComposedProjection {
  const chainLog = new ChainLog({ log, now });
  const failing = new Alarm(log, "projection_failing", now);
  const catchUp = async (
    options?: Parameters<Ledger["project"]>[0],
  ): Promise<void> => {
    const { chain } = await ledger.project(options);
    chainLog.take(chain);
  };
  const reportHistory = historyReport({
    read: () => ledger.historic(),
    report: ({ orders, users, listed }) =>
      log("info", "history_withheld", { orders, users, listed }),
    now,
  });
  const events = {
    onDone: () => failing.clear(),
    onError: (error: unknown) => {
      checkReplaced(error);
      failing.raise({ message: messageOf(error) });
    },
  };
  const projection = longLived
    ? new ProjectionWorker({
      ...events,
      catchUp: async (signal) => {
        await reportHistory();
        await catchUp({ signal });
        metrics.lag(await ledger.lag());
      },
    })
    : new ProjectionOnDemand(catchUp, events);
  return {
    projection,
    foldFailingSince: () => failing.since,
  };
}

/** Folds and chains what was appended, behind the endpoint's answer. */
interface Projection {
  /** Reports that events were appended. */
  wake(): void;
  /** Ends the work that is under way, and resolves. */
  stop(): Promise<void>;
}

/** Callbacks for the results of folding. */
interface ProjectionEvents {
  /** Called with each error. */
  readonly onError: (error: unknown) => void;
  /** Called after each success. */
  readonly onDone: () => void;
}

/**
 * Folds only after appends, for a runtime that may stop between two requests.
 * One fold runs at a time; one more folds what arrives meanwhile. A fold that
 * failed is tried again after the next append.
 */
export class ProjectionOnDemand implements Projection {
  readonly #catchUp: () => Promise<void>;
  readonly #events: ProjectionEvents;
  #running: Promise<void> | null = null;
  #again = false;

  /** Waits for the first append. */
  constructor(catchUp: () => Promise<void>, events: ProjectionEvents) {
    this.#catchUp = catchUp;
    this.#events = events;
  }

  /** Folds now, or once more after the fold that is under way. */
  wake(): void {
    this.#again = true;
    this.#running ??= this.#run();
  }

  /** Resolves when no fold is under way. */
  async stop(): Promise<void> {
    await this.#running;
  }

  async #run(): Promise<void> {
    try {
      while (this.#again) {
        this.#again = false;
        await this.#catchUp();
      }
      this.#events.onDone();
    } catch (error) {
      this.#events.onError(error);
    } finally {
      this.#running = null;
    }
  }
}

/** Endpoint, projection and poller on one ledger. */
export interface Service extends AsyncDisposable {
  /** Takes deliveries. */
  readonly endpoint: WebhookEndpoint;
  /** Asks the service; null without an API key, or when polling is off. */
  readonly poller: Poller | null;
  /** Counts and logs refused requests. */
  readonly refusals: RefusalLog;
  /** Finds out whether deliveries can be stored, and what else is wrong. */
  readonly readiness: (found?: readonly Finding[]) => Promise<Readiness>;
  /** What only this process knows of itself. */
  readonly health: () => Promise<readonly Finding[]>;
  /** Stores and folds what is under way, and releases all resources. */
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * Wires everything that works on the ledger of a running service, for `serve`
 * and for the Deploy entry. A delivery goes from the endpoint to the spool, and
 * the mover takes it to the ledger; without a spool it goes to the ledger at
 * once. That wakes the projection, which folds and chains. The poller asks the
 * service and appends what it reads.
 */
export function composeService(parts: ServiceParts): Service {
  const { ledger, log, metrics, now, longLived, spool } = parts;
  const replaced = new Alarm(log, "ledger_replaced", now);
  const checkReplaced = (error: unknown) => {
    if (!(error instanceof LedgerError) || error.code !== "replaced") return;
    replaced.raise({
      message: error.message,
      effect: KEPT_IN_SPOOL,
    });
  };
  const { projection, foldFailingSince } = composeProjection(
    parts,
    checkReplaced,
  );
  const appends = new RecentOutcome(now);
  const stored = async <Result>(
    commit: () => Promise<Result>,
  ): Promise<Result> => {
    try {
      const result = await appends.of(metrics.timed(commit));
      projection.wake();
      return result;
    } catch (error) {
      checkReplaced(error);
      throw error;
    }
  };
  const meter = metrics.meter;
  const mover = spool === undefined ? null : spoolMover({
    spool,
    take: (records) => stored(() => ledger.appendRecords(records)),
    reportWaiting: (waiting) =>
      writeWaiting(
        ledger.driver,
        moverOf(parts.config, spool),
        waiting,
        now(),
      ),
    now,
    meter,
    log: endpointLog(log),
  });
  if (spool !== undefined) metrics.spool(spool);
  const write = endpointLog(log);
  const bodies = bodyReport(
    meter,
    (level, code, message, more) => write({ level, code, message, ...more }),
  );
  const reception = parts.reception ?? openReception(parts);
  const { endpoint } = reception;
  reception.reached({
    append: async (delivery) => {
      await stored(() => ledger.appendDelivery(delivery));
      const tally = new BodyTally();
      tally.add(delivery.id, classify(bodyValue(delivery.body)));
      bodies(tally);
    },
    recordUnanswered: ledger.recordUnanswered,
  });
  const refusals = new RefusalLog({
    refused: () => endpoint.stats().refused,
    lastNotAllowed: () => endpoint.stats().lastNotAllowed,
    keep: (more) => addRefusedRequests(ledger.driver, more, now()),
    log,
    timer: longLived,
  });
  const { poller, stalled } = composePoller(parts);
  const counting = new AbortController();
  const counted = longLived
    ? new OrderGauges({
      meter: metrics.meter,
      tally: () => tallyOrders(ledger.driver),
      now,
    }).run(counting.signal)
    : null;
  const drifting = longLived
    ? new DriftWatch({
      meter: metrics.meter,
      look: () => lookForDrift(ledger.driver, now()),
    }).run(counting.signal)
    : null;
  const looks = new LedgerLooks();
  const storing = () => ({
    open: () => ledger,
    refusal: longLived ? appends.problem : null,
    looks,
    ...(spool === undefined ? {} : { spool }),
    now,
    stuck: stalled?.stuck ?? null,
  });
  /** Bodies that are refused for their size alone. */
  const room = (): readonly Finding[] => {
    const { large, allButSmall } = endpoint.stats().refusing;
    if (allButSmall !== null || spool?.noRoomFor(SMALL_BODY_BYTES + 1)) {
      return [found("spool_nearly_full", { since: allButSmall })];
    }
    return large === null
      ? []
      : [found("large_bodies_refused", { since: large })];
  };
  // Ended twice, the spool would be asked after it was closed.
  let ending: Promise<void> | null = null;
  const end = async () => {
    stalled?.[Symbol.dispose]();
    counting.abort();
    await counted;
    await drifting;
    await endpoint.drain();
    await mover?.stop();
    await spool?.close();
    await refusals[Symbol.asyncDispose]();
    await projection.stop();
  };
  return {
    endpoint,
    poller,
    refusals,
    readiness: (found = []) => readinessOf({ ...storing(), found }),
    health: async () => {
      const failingSince = foldFailingSince();
      const { findings } = await lookAtStoring(storing());
      return [
        ...findings,
        replaced.since === null
          ? found("serve_running", { more: "this process" })
          : found("ledger_replaced", { since: replaced.since }),
        ...failingSince === null
          ? []
          : [found("events_not_folded", { since: failingSince })],
        ...room(),
      ];
    },
    [Symbol.asyncDispose]: () => ending ??= end(),
  };
}

/** The process that moves deliveries, as commands in other processes see it. */
function moverOf(config: Config, { writers }: Spool): Mover {
  const place = resolve(spoolDirectory(config) ?? "");
  const { own, ...seen } = writers;
  return { place, process: own, ...seen };
}
