import type { Command } from "commander";
import type { Ledger } from "../../ledger/mod.ts";
import type { Log } from "../../server/monitoring/logger.ts";
import type { ServiceMetrics } from "../../server/monitoring/metrics.ts";
import { SETTINGS } from "../program/options.ts";
import { Option } from "commander";
import type { WatchHealthParts } from "../../server/alarms/watch_health.ts";
import { Forwarder } from "../../server/forwarding/forwarder.ts";
import {
  forwardMeters,
  ForwardReport,
} from "../../server/forwarding/forward_report.ts";
import { readForwarding } from "../../server/forwarding/read_targets.ts";
import { webhookSigner } from "../../server/forwarding/signed_webhook.ts";
import { targetName } from "../../server/forwarding/target_address.ts";
import { isTargetOff } from "../../server/forwarding/target_state.ts";

/** Flags for forwarding, as commander hands them over. */
export interface ForwardFlags {
  readonly forwardTo?: readonly string[];
}

/** Adds the flags for forwarding. */
export function forwardOptions(command: Command): Command {
  return command.addOption(
    new Option(
      "--forward-to <target>",
      "forward transitions as webhooks signed with RAMPKIT_FORWARD_SECRET: an address, or 'ADDRESS PATTERN...', for example 'https://shop.example/hooks order.confirmed.*'; may be given several times (RAMPKIT_FORWARD_TO)",
    ).argParser((value: string, before: readonly string[] = []) => [
      ...before,
      value,
    ]).helpGroup(SETTINGS),
  );
}

/** What forwarding works with. */
export interface Forwarded {
  readonly ledger: Ledger;
  readonly log: Log;
  readonly metrics: Pick<ServiceMetrics, "meter">;
  readonly now: () => number;
}

/** Forwarding as flags and variables ask for it. */
export interface ConfiguredForwarding {
  /** Who is told of alarms. */
  alarms(ledger: Ledger): NonNullable<WatchHealthParts["told"]>;
  /** Forwards until the signal is aborted. */
  run(parts: Forwarded, signal: AbortSignal): Promise<void>;
}

/**
 * What forwards as flags and variables say; undefined when they name no target.
 *
 * @throws {UsageError} When a target, a pattern or a secret is wrong or missing.
 */
export function forwardingOf(
  { forwardTo = [] }: ForwardFlags,
  env: (name: string) => string | undefined,
): ConfiguredForwarding | undefined {
  const forwarding = readForwarding(forwardTo, env);
  if (forwarding === undefined) return undefined;
  const { targets, secrets } = forwarding;
  const sign = webhookSigner(secrets);
  return {
    alarms: ({ driver }) => ({
      targets,
      sign,
      isOff: (name) => isTargetOff(driver, name),
    }),
    run: async ({ ledger, log, metrics, now }, signal) => {
      const meters = forwardMeters(metrics.meter("@rampkit/onramp/forwarding"));
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
