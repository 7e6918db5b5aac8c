import type { Ledger } from "../../../ledger/mod.ts";
import { CommandError } from "../../../settings/errors.ts";

/** What names a subscription, for help texts. */
export const SUBSCRIPTION_NAME =
  "name of the subscription, as `subscriptions list` shows it";

/**
 * Makes sure that a subscription exists.
 *
 * @throws {CommandError} When it does not, naming those that do.
 */
export async function requireSubscription(
  ledger: Ledger,
  name: string,
): Promise<void> {
  const names = (await ledger.subscriptions.list()).map(({ name }) => name);
  if (names.includes(name)) return;
  throw new CommandError(
    `No such subscription: "${name}"; there ` +
      (names.length === 0 ? "is none yet" : `are ${names.join(", ")}`),
    "not_found",
  );
}
