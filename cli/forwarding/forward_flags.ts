import type { Command } from "commander";
import type { Ledger } from "../../ledger/mod.ts";
import type { Log } from "../monitoring/logger.ts";
import type { ServiceMetrics } from "../monitoring/metrics.ts";
import { SETTINGS } from "../program/options.ts";
import { Option } from "commander";
import { Forwarder } from "./forwarder.ts";
import { forwardMeters, ForwardReport } from "./forward_report.ts";
import { readForwarding } from "./read_targets.ts";
import { webhookSigner } from "./signed_webhook.ts";
import { targetName } from "./target_address.ts";

/** Flags for forwarding, as commander hands them over. */
export interface ForwardFlags {
  readonly forwardTo?: readonly string[];
}

/** Adds the flags for forwarding. */
export function forwardOptions(command: Command): Command {
  return command.addOption(
    new Option(
      "--forward-to <target>",
      "send transitions on, as webhooks signed by RAMPKIT_FORWARD_SECRET: an address, or 'ADDRESS PATTERN...', for example 'https://shop.example/hooks order.confirmed.*'; may be given several times (RAMPKIT_FORWARD_TO)",
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
  return async ({ ledger, log, metrics, now }, signal) => {
    const meters = forwardMeters(metrics.meter("@rampkit/onramp/forwarding"));
    await Promise.all(forwarding.targets.map((target) => {
      const report = new ForwardReport({
        target: targetName(target.url),
        meters,
        log,
        now,
      });
      return new Forwarder({ ledger, target, sign, report, now }).run(signal);
    }));
  };
}
