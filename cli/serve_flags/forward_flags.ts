import type { Command } from "commander";
import type { Ledger } from "../../ledger/mod.ts";
import type { Log } from "../../server/monitoring/logger.ts";
import type { ServiceMetrics } from "../../server/monitoring/metrics.ts";
import { SETTINGS } from "../program/options.ts";
import { Option } from "commander";
import {
  forwardAlarms,
  type ForwardAlarmsParts,
} from "../../server/alarms/forward_alarms.ts";
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
  /** What alarms are of; they are sent to every target. @default {none are} */
  readonly alarms?: Pick<
    ForwardAlarmsParts,
    | "databaseUrl"
    | "readiness"
    | "foldFailingSince"
    | "chainBroken"
    | "refusing"
  >;
}

/**
 * What forwards as flags and variables say, until its signal is aborted;
 * undefined when they name no target.
 *
 * @throws {UsageError} When a target, a pattern or a secret is wrong or missing.
 */
export function forwardingOf(
  { forwardTo = [] }: ForwardFlags,
  env: (name: string) => string | undefined,
): ((parts: Forwarded, signal: AbortSignal) => Promise<void>) | undefined {
  const forwarding = readForwarding(forwardTo, env);
  if (forwarding === undefined) return undefined;
  const sign = webhookSigner(forwarding.secrets);
  return async ({ ledger, log, metrics, now, alarms }, signal) => {
    const meters = forwardMeters(metrics.meter("@rampkit/onramp/forwarding"));
    const { targets } = forwarding;
    const telling = alarms === undefined ? undefined : forwardAlarms({
      ...{ ...alarms, ledger, targets, sign, log, now },
      isOff: (name) => isTargetOff(ledger.driver, name),
    }, signal);
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
    await telling;
  };
}
