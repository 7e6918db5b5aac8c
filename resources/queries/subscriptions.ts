import type {
  Ledger,
  QueuedTransition,
  SubscriptionStatus,
} from "../../ledger/mod.ts";

/** The stable `--json` shape of a subscription. */
export interface SubscriptionJson extends SubscriptionStatus {
  /** What it has given up on, by order of the log. */
  readonly deadLetters: readonly (QueuedTransition & {
    readonly name: string;
  })[];
}

/** Every subscription as `subscriptions list --json` prints it. */
export async function subscriptionList(
  ledger: Ledger,
): Promise<SubscriptionJson[]> {
  const list: SubscriptionJson[] = [];
  for (const status of await ledger.subscriptions.list()) {
    const { name } = status;
    const dead = await ledger.subscriptions.deadLetters(name);
    const deadLetters = dead.map((letter) => ({ name, ...letter }));
    list.push({ ...status, deadLetters });
  }
  return list;
}
