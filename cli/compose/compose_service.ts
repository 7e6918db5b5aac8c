import { resolve } from "node:path";
import { pid } from "node:process";
import { messageOf } from "../../core/guards.ts";
import { defined } from "../../core/defined.ts";
import { BodyTally } from "../../core/webhook_event/body_classes.ts";
import { bodyValue, classify } from "../../core/webhook_event/classify_body.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import { addRefusedRequests } from "../../ledger/polling/requests/refused_requests.ts";
import type { PollerOptions } from "../../ledger/polling/poller_options.ts";
import type { Poller } from "../../ledger/polling/poll_report.ts";
import { createPoller } from "../../ledger/polling/poller.ts";
import { tallyOrders } from "../../ledger/queries/order_tally.ts";
import { writeWaiting } from "../../ledger/queries/waiting_deliveries.ts";
import { LedgerError } from "../../ledger/store/driver/errors.ts";
import type { MoverName } from "../../ledger/store/tables/deliveries.ts";
import {
  type WebhookEndpoint,
  webhookEndpoint,
} from "../../webhooks/endpoint/endpoint.ts";
import type { WebhookEndpointOptions } from "../../webhooks/endpoint/endpoint_options.ts";
import type { UntimedLogEntry } from "../../webhooks/endpoint/endpoint_log.ts";
import type { WebhookLogCode } from "../../webhooks/endpoint/log.ts";
import type { Spool } from "../../webhooks/spool/spool.ts";
import { spoolMover } from "../../webhooks/spool/spool_mover.ts";
import { BodyReport } from "../../webhooks/storing/body_report.ts";
import { Alarm } from "../monitoring/alarm.ts";
import { ChainLog } from "../monitoring/chain_log.ts";
import { isLogged, type LogEvent } from "../monitoring/log_events.ts";
import type { Log } from "../monitoring/logger.ts";
import type { ServiceMetrics } from "../monitoring/metrics.ts";
import { OrderGauges } from "../monitoring/order_gauges.ts";
import { logDeliveryAlert, logPollAlert } from "../monitoring/log_alerts.ts";
import { RecentOutcome } from "../monitoring/recent_outcome.ts";
import { RefusalLog } from "../monitoring/refusal_log.ts";
import { StalledPoller } from "../monitoring/stalled_poller.ts";
import { spoolDirectory } from "../ledger_file/spool_directory.ts";
import { type Config, VARIABLES } from "../program/config.ts";
import { serviceClient } from "../program/service.ts";
import {
  PUBLIC_PATHS,
  type Readiness,
  WEBHOOK_PATH,
} from "../serving/http_app.ts";
import type { Projection } from "./projection.ts";
import { ProjectionOnDemand } from "./projection_on_demand.ts";
import { ProjectionWorker } from "../../ledger/projection/projection_worker.ts";
import { readinessOf } from "./readiness.ts";

/** What the service is made of, and in what `serve` and Deploy differ. */
export interface ServiceParts {
  /** Settings. */
  readonly config: Config;
  /** Secrets that the webhook address may end in. */
  readonly secrets: readonly string[];
  /** The open ledger; the caller closes it after the service. */
  readonly ledger: Ledger;
  /** The log. */
  readonly log: Log;
  /** The metrics. */
  readonly metrics: ServiceMetrics;
  /** Clock, ms since the epoch. */
  readonly now: () => number;
  /**
   * Whether the process runs until it is told to stop. Then a worker folds at
   * all times, and timers watch the poller and refused requests. Otherwise
   * nothing runs between requests: an append is followed by a fold.
   */
  readonly longLived: boolean;
  /** Whether the service is asked at all. @default true */
  readonly poll?: boolean;
  /** Requests a second to the service. @default {those of client and poller} */
  readonly requestsPerSecond?: number;
  /** How eagerly it is asked. @default {as the poller does} */
  readonly polling?: Pick<PollerOptions, "confirmAtLeastMs" | "followEveryMs">;
  /**
   * How long the service may disagree with a claim, in ms.
   *
   * @default {that of the poller}
   */
  readonly contradictedAfterMs?: number;
  /** From where webhooks are taken. @default {anywhere} */
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
  /** Told of each request that the endpoint answers. @default {nobody is} */
  readonly onAnswer?: WebhookEndpointOptions["onAnswer"];
}

/** Endpoint, projection and poller on one ledger. */
export interface Service extends AsyncDisposable {
  /** Takes deliveries. */
  readonly endpoint: WebhookEndpoint;
  /** Asks the service; null without an API key, or when polling is off. */
  readonly poller: Poller | null;
  /** Counts and logs refused requests. */
  readonly refusals: RefusalLog;
  /** Tells whether deliveries can be stored, and what else is wrong. */
  readonly readiness: () => Promise<Readiness>;
  /** Since when stored events are not folded; null while they are. */
  readonly foldFailingSince: () => string | null;
  /** Whether the evidence chain is broken; null until it was looked at. */
  readonly chainBroken: () => boolean | null;
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
      effect: "Deliveries are kept in the spool, and answered 204",
    });
  };
  const { projection, foldFailingSince, chainBroken } = composeProjection(
    parts,
    checkReplaced,
  );
  const appends = new RecentOutcome(now);
  const stored = async <Result>(
    commit: () => Promise<Result>,
    count: number,
  ): Promise<Result> => {
    try {
      const result = await appends.of(metrics.timed(commit));
      projection.wake(count);
      return result;
    } catch (error) {
      checkReplaced(error);
      throw error;
    }
  };
  const meter = metrics.meter("@rampkit/onramp/webhooks");
  const mover = spool === undefined ? null : spoolMover({
    spool,
    take: (records, count) =>
      stored(() => ledger.appendRecords(records), count),
    reportWaiting: (waiting) =>
      writeWaiting(ledger.driver, moverOf(parts.config), waiting, now()),
    now,
    meter,
    log: endpointLog(log),
  });
  if (spool !== undefined) metrics.spool(spool);
  const bodies = new BodyReport({ meter, log: endpointLog(log) });
  const endpoint = webhookEndpoint({
    append: spool?.put ?? (async (delivery) => {
      await stored(() => ledger.appendDelivery(delivery), 1);
      const tally = new BodyTally();
      tally.add(delivery.id, classify(bodyValue(delivery.body)));
      bodies.take(tally);
    }),
    unanswered: spool?.note ?? ledger.recordUnanswered,
    secrets: parts.secrets,
    path: WEBHOOK_PATH,
    tracedPaths: PUBLIC_PATHS,
    meter,
    now,
    ...parts.admission,
    ...defined({ onAnswer: parts.onAnswer }),
    log: endpointLog(log, spool === undefined ? {} : SPOOL_EVENTS),
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
      meter: metrics.meter("@rampkit/onramp"),
      tally: () => tallyOrders(ledger.driver),
      now,
    }).run(counting.signal)
    : null;
  // Ended twice, the spool would be asked after it was closed.
  let ending: Promise<void> | null = null;
  const end = async () => {
    stalled?.[Symbol.dispose]();
    counting.abort();
    await counted;
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
    readiness: () =>
      readinessOf({
        open: () => ledger,
        refusal: longLived ? appends.problem ?? null : null,
        ...(spool === undefined ? {} : { spool }),
        now,
        stuck: stalled?.stuck ?? null,
      }),
    foldFailingSince,
    chainBroken,
    [Symbol.asyncDispose]: () => ending ??= end(),
  };
}

/** The process that moves deliveries, as commands in other processes see it. */
function moverOf(config: Config): MoverName {
  const place = resolve(spoolDirectory(config) ?? "");
  return { place, process: String(pid) };
}

function composeProjection(
  { ledger, log, metrics, now, longLived }: ServiceParts,
  checkReplaced: (error: unknown) => void,
):
  & { readonly projection: Projection }
  & Pick<Service, "foldFailingSince" | "chainBroken"> {
  const chainLog = new ChainLog({ log, now });
  const failing = new Alarm(log, "projection_failing", now);
  let broken: boolean | null = null;
  const catchUp = async (
    options?: Parameters<Ledger["project"]>[0],
  ): Promise<void> => {
    const { chain } = await ledger.project(options);
    broken = chain.broken !== null;
    chainLog.take(chain);
    metrics.chain(chain);
  };
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
      catchUp: async (signal, pace) => {
        await catchUp({ signal, pace });
        metrics.lag(await ledger.lag());
      },
    })
    : new ProjectionOnDemand(catchUp, events);
  return {
    projection,
    foldFailingSince: () => failing.since,
    chainBroken: () => broken,
  };
}

function composePoller(
  { config, ledger, log, metrics, now, longLived, ...parts }: ServiceParts,
): { readonly poller: Poller | null; readonly stalled: StalledPoller | null } {
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
  const rate = defined({ requestsPerSecond: parts.requestsPerSecond });
  const stalled = longLived
    ? new StalledPoller({
      now,
      onAlert: (alert) => logPollAlert(log, alert),
    })
    : null;
  const poller = createPoller({
    ledger,
    client: serviceClient(config, ledger.environment, rate),
    now,
    ...rate,
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

/** What the endpoint's events are called where it stores in the spool. */
const SPOOL_EVENTS = {
  append_failing: "spool_failed",
  append_recovered: "spool_recovered",
} as const;

function endpointLog(
  log: Log,
  events: Readonly<Partial<Record<WebhookLogCode, LogEvent>>> = {},
): (entry: UntimedLogEntry & { readonly at?: string }) => void {
  return ({ level, code, at: _, ...fields }) => {
    if (level !== "debug" && isLogged(code)) {
      log(level, events[code] ?? code, fields);
    }
  };
}
