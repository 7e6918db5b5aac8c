import type { Ledger } from "../../ledger/mod.ts";
import type { Log } from "../../server/monitoring/logger.ts";
import type { ServiceMetrics } from "../../server/monitoring/metrics.ts";
import type { AlarmTarget } from "../../server/alarms/alarm_message.ts";
import { Forwarder } from "../../server/forwarding/forwarder.ts";
import { isTargetOff } from "../../ledger/for_server.ts";
import {
  forwardMeters,
  ForwardReport,
} from "../../server/forwarding/forward_report.ts";
import { readForwarding } from "../../server/forwarding/read_targets.ts";
import { webhookSigner } from "../../server/forwarding/signed_webhook.ts";
import { targetName } from "../../server/forwarding/target_address.ts";
import type { Config } from "../../core/settings/config.ts";

/** What forwarding works with. */
export interface Forwarded {
  readonly ledger: Ledger;
  readonly log: Log;
  readonly metrics: Pick<ServiceMetrics, "meter">;
  readonly now: () => number;
}

/** Forwarding as the settings ask for it. */
export interface ConfiguredForwarding {
  /** The receivers of alarms. */
  alarms(ledger: Ledger): readonly AlarmTarget[];
  /** Forwards until the signal is aborted. */
  run(parts: Forwarded, signal: AbortSignal): Promise<void>;
}

/**
 * What forwards as the settings say; undefined when they name no target.
 *
 * @throws {UsageError} When a target, a pattern or a secret is wrong or missing.
 */
export function forwardingOf(
  config: Pick<Config, "forwardTo" | "forwardSecrets">,
): ConfiguredForwarding | undefined {
  const forwarding = readForwarding(config);
  if (forwarding === undefined) return undefined;
  const { targets, secrets } = forwarding;
  const sign = webhookSigner(secrets);
  return {
    alarms: ({ driver }) =>
      targets.map(({ name, url }) => ({
        name,
        shown: targetName(url),
        url,
        write: sign,
        isOff: () => isTargetOff(driver, name),
      })),
    run: async ({ ledger, log, metrics, now }, signal) => {
      const meters = forwardMeters(metrics.meter);
      await Promise.all(targets.map((target) => {
        const report = new ForwardReport({
          target: targetName(target.url),
          name: target.name,
          meters,
          log,
          now,
        });
        return new Forwarder({ ledger, target, sign, report, now }).run(signal);
      }));
    },
  };
}
