import type {
  Ledger,
  QueuedTransition,
  SubscriptionStatus,
} from "../../ledger/mod.ts";
import type { FiredHistory } from "../../ledger/types.ts";

/** Progress of a subscription, and its dead letters. */
export interface SubscriptionJson extends SubscriptionStatus {
  /** Its dead letters, by order of the log. */
  readonly deadLetters: readonly (QueuedTransition & {
    readonly name: string;
  })[];
}

/**
 * How many dead letters are tried again, and how many others are tried at once.
 */
export interface Retried {
  /** Dead letters that are tried again. */
  readonly retried: number;
  /** Others that are tried at once. */
  readonly hastened: number;
}

/** How many dead letters were dropped. */
export interface Dropped {
  /** Dead letters that were dropped. */
  readonly dropped: number;
}

/** Whether the target was on before. */
export interface Stopped {
  /** Whether the target was on before. */
  readonly stopped: boolean;
}

/** Whether the target was switched off before. */
export interface Resumed {
  /** Whether the target was switched off before. */
  readonly resumed: boolean;
}

/** How many states will be sent. */
export interface Fired {
  /** States that subscriptions will receive. */
  readonly fired: number;
}

/** How much of the past a subscription receives. */
export interface FiredHistoryJson extends FiredHistory {
  /** How many it will receive. */
  readonly fired: number;
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
