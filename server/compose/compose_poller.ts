import { defined } from "../../core/guards.ts";
import { createPoller } from "../../sync/polling/poller.ts";
import type { Poller } from "../../sync/polling/poller.ts";
import { POLLER_DEFAULTS } from "../../sync/polling/sweeps.ts";
import { logDeliveryAlert, logPollAlert } from "../monitoring/log_alerts.ts";
import { StalledPoller } from "../monitoring/stalled_poller.ts";
import { VARIABLES } from "../../core/settings/settings.ts";
import { serviceClient } from "./service_client.ts";
import type { ServiceParts } from "./service_parts.ts";

/** The poller, and what notices that it makes no progress. */
export interface ComposedPoller {
  /** Null without an API key, or when polling is off. */
  readonly poller: Poller | null;
  /** Null where nothing runs between requests. */
  readonly stalled: StalledPoller | null;
}

/** As long as one attempt may take, ms. */
const DEADLINE_MS = 10_000;

/** Makes the poller, whose alerts are logged and whose progress is measured. */
export function composePoller(
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
