import type { AppendDelivery, TransitionHandler } from "../../../ledger/mod.ts";
import type { Driver } from "../../../ledger/for_sync.ts";
import type { FoldCode } from "../../../ledger/testing/mod.ts";
import type {
  PollClient,
  PollLedger,
  ReconcileLedger,
  SweepKind,
} from "../../../sync/mod.ts";
import type { Spool, UnansweredDelivery } from "../../../webhooks/mod.ts";
import type { VirtualClock } from "../../../sandbox/mod.ts";
import type { ChainsFile, ChainWitness } from "../../../witness/mod.ts";

/** What a wrapper may use. */
export interface PortTools {
  readonly clock: VirtualClock;
  /** A new delivery id. */
  readonly newId: () => string;
}

/**
 * The places at which a rule can be broken on purpose: each is a port that
 * our parts take from outside, so that nothing in them knows of it.
 */
export interface Ports {
  /** Every batch to the database of a process, which runs a version of the fold. */
  readonly driver: (
    next: Driver,
    tools: PortTools & { readonly foldVersion: number },
  ) => Driver;
  /** What the endpoint stores by. */
  readonly append: (next: AppendDelivery, tools: PortTools) => AppendDelivery;
  /** What the endpoint notes unanswered deliveries by. */
  readonly unanswered: (
    next: (unanswered: UnansweredDelivery) => Promise<void>,
  ) => (unanswered: UnansweredDelivery) => Promise<void>;
  /** Where the endpoint stores, and the mover takes from. */
  readonly spool: (next: Spool) => Spool;
  /** The endpoint as the service sees it. */
  readonly endpoint: (
    next: (request: Request) => Promise<Response>,
  ) => (request: Request) => Promise<Response>;
  /** What the client sends requests by. */
  readonly fetch: (next: typeof fetch) => typeof fetch;
  /** What the poller times its pauses by. */
  readonly steadyNow: (now: () => number) => () => number;
  /** What the poller folds, and is woken by. */
  readonly pollLedger: (next: PollLedger) => PollLedger;
  /** What the poller asks. */
  readonly pollClient: (next: PollClient) => PollClient;
  /** What a recovery asks. */
  readonly recoverClient: (next: PollClient) => PollClient;
  /** What a comparison asks. */
  readonly reconcileClient: (next: PollClient) => PollClient;
  /** What a comparison takes the ledger to say. */
  readonly reconcileLedger: (next: ReconcileLedger) => ReconcileLedger;
  /** Every batch to a database that is made from ours. */
  readonly copyDriver: (next: Driver) => Driver;
  /** How what a dead process left in its spool is taken in. */
  readonly leftSpool: (next: () => Promise<void>) => () => Promise<void>;
  /** How the database is copied into a new file. */
  readonly backup: (
    next: (path: string) => Promise<void>,
    database: string | null,
  ) => (path: string) => Promise<void>;
  /** Whom a subscription tells. */
  readonly handler: (
    next: TransitionHandler,
    tools: PortTools,
  ) => TransitionHandler;
  /** The file that names the chain's nodes. */
  readonly chains: (next: ChainsFile) => ChainsFile;
  /** What asks the chain's nodes. */
  readonly witness: (next: ChainWitness) => ChainWitness;
  /** The fold. */
  readonly fold: FoldCode;
  /** The sweeps that are run. */
  readonly sweeps: readonly SweepKind[];
}
