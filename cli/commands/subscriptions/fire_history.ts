import type { Ledger } from "../../../ledger/mod.ts";
import { CommandError, UsageError } from "../../../settings/errors.ts";
import { confirmed } from "../../program/confirm.ts";
import { type Io, jsonLine, line } from "../../program/io.ts";
import type { FiredHistoryJson } from "../../../resources/queries/subscriptions.ts";
import { counted } from "../../../resources/views/counted.ts";
import { printable } from "../../../resources/views/printable.ts";
import { requireSubscription } from "../../../resources/operations/subscription_operations.ts";

/** Flags of `subscriptions fire NAME --historic`. */
export interface FireHistoryFlags {
  readonly json?: boolean;
  readonly dryRun?: boolean;
  readonly yes?: true;
}

/**
 * Tells one subscription of what had happened before the ledger went live: says
 * how much it is, asks, and does it.
 *
 * @param operands What was named on the command line: the subscription.
 */
export async function fireHistory(
  io: Io,
  ledger: Ledger,
  operands: readonly string[],
  { json, dryRun = false, yes }: FireHistoryFlags,
): Promise<void> {
  const [name, ...more] = operands;
  if (name === undefined || more.length > 0) {
    throw new UsageError("--historic needs the name of one subscription");
  }
  await requireSubscription(ledger, name);
  const { signal } = io;
  const { subscriptions } = ledger;
  const plan = await subscriptions.fireHistoric(name, { dryRun: true, signal });
  if (!json) {
    line(
      io,
      `${printable(name)} was never told of ${
        counted(plan.transitions, "transition")
      } from before the ledger went live`,
    );
    if (plan.released > 0) {
      line(
        io,
        `Left out: ${counted(plan.released, "release")}, because the goods ` +
          "may have been handed over before; one that is to be shipped: " +
          "rampkit subscriptions fire order:ORDER:release.yes",
      );
    }
  }
  const isNothing = dryRun || plan.transitions === 0;
  const goesOn = !isNothing && (yes ?? (json ? false : await confirmed(
    io,
    `Tell ${printable(name)} of them? Type yes: `,
  )));
  if (!goesOn) {
    if (json) return jsonLine<FiredHistoryJson>(io, { ...plan, fired: 0 });
    if (isNothing) return;
    throw new CommandError(
      "Nothing was fired: add --yes where nobody can be asked",
    );
  }
  const { transitions } = await subscriptions.fireHistoric(name, { signal });
  if (json) {
    return jsonLine<FiredHistoryJson>(io, { ...plan, fired: transitions });
  }
  line(
    io,
    `${counted(transitions, "transition")} to be told, by the process that ` +
      "runs the subscription",
  );
}
