import type {
  AppendDelivery,
  Driver,
  FoldCode,
  Lane,
  PollClient,
  TransitionHandler,
} from "../../ledger/mod.ts";
import type { Spool, UnansweredDelivery } from "../../webhooks/mod.ts";
import type { VirtualClock } from "../../sandbox/mod.ts";

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
  /** Every batch to the database. */
  readonly driver: (next: Driver, tools: PortTools) => Driver;
  /** What the endpoint stores by. */
  readonly append: (next: AppendDelivery, tools: PortTools) => AppendDelivery;
  /** What the endpoint notes unanswered deliveries by. */
  readonly unanswered: (
    next: (unanswered: UnansweredDelivery) => Promise<void>,
  ) => (unanswered: UnansweredDelivery) => Promise<void>;
  /** Where the endpoint keeps what the ledger does not take. */
  readonly spool: (next: Spool) => Spool;
  /** The endpoint as the service sees it. */
  readonly endpoint: (
    next: (request: Request) => Promise<Response>,
  ) => (request: Request) => Promise<Response>;
  /** What the client sends requests by. */
  readonly fetch: (next: typeof fetch) => typeof fetch;
  /** What the poller asks. */
  readonly pollClient: (next: PollClient) => PollClient;
  /** Whom a subscription tells. */
  readonly handler: (
    next: TransitionHandler,
    tools: PortTools,
  ) => TransitionHandler;
  /** The fold. */
  readonly fold: FoldCode;
  /** The sweeps that are run. */
  readonly sweeps: readonly Lane[];
}
