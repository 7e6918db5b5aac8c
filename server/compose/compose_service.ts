import { resolve } from "node:path";
import {
  BodyTally,
  bodyValue,
  classify,
} from "../../core/webhook_event/classify_body.ts";
import { addRefusedRequests, lookForDrift } from "../../sync/check/drift.ts";
import type { Poller } from "../../sync/polling/poller.ts";
import {
  LedgerError,
  type Mover,
  tallyOrders,
  writeWaiting,
} from "../../ledger/for_server.ts";
import { SMALL_BODY_BYTES } from "../../webhooks/body_room.ts";
import type { WebhookEndpoint } from "../../webhooks/endpoint.ts";
import type { Spool } from "../../webhooks/spool.ts";
import { bodyReport, spoolMover } from "../../webhooks/spool_mover.ts";
import { type Finding, found } from "../../resources/health/finding.ts";
import { Alarm } from "../monitoring/alarm.ts";
import { DriftWatch } from "../monitoring/drift_watch.ts";
import { OrderGauges } from "../monitoring/order_gauges.ts";
import { RecentOutcome } from "../monitoring/recent_outcome.ts";
import { RefusalLog } from "../monitoring/refusal_log.ts";
import { spoolDirectory } from "../ledger_file/spool_directory.ts";
import type { Config } from "../../core/settings/config.ts";
import type { Readiness } from "../http/http_app.ts";
import { LedgerLooks, lookAtStoring, readinessOf } from "./readiness.ts";
import { composePoller } from "./compose_poller.ts";
import { composeProjection } from "./compose_projection.ts";
import { endpointLog, KEPT_IN_SPOOL, openReception } from "./reception.ts";
import type { ServiceParts } from "./service_parts.ts";

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
