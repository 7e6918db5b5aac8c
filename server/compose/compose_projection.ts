import { messageOf } from "../../core/guards.ts";
import {
  HistoryReport,
  type Ledger,
  ProjectionWorker,
} from "../../ledger/for_server.ts";
import { Alarm } from "../monitoring/alarm.ts";
import { ChainLog } from "../monitoring/chain_log.ts";
import type { Projection } from "./projection.ts";
import { ProjectionOnDemand } from "./projection_on_demand.ts";
import type { ServiceParts } from "./service_parts.ts";

/** What folds, and what is known of how it goes. */
export interface ComposedProjection {
  /** Folds and chains. */
  readonly projection: Projection;
  /** Since when stored events are not folded; null while they are. */
  readonly foldFailingSince: () => string | null;
}

/**
 * Folds and chains by a worker where the process is long-lived, and after each
 * append otherwise.
 *
 * @param parts What the service is made of.
 * @param checkReplaced Called with each error: another file may be in the
 * ledger's place.
 */
export function composeProjection(
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
    metrics.chain(chain);
  };
  const report = new HistoryReport({
    read: () => ledger.historic(),
    tell: ({ orders, users, listed }) =>
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
      catchUp: async (signal, pace) => {
        await report.look();
        await catchUp({ signal, pace });
        metrics.lag(await ledger.lag());
      },
    })
    : new ProjectionOnDemand(catchUp, events);
  return {
    projection,
    foldFailingSince: () => failing.since,
  };
}
