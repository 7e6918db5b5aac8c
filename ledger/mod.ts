/**
 * The ledger: an append-only log of everything the service said, and the
 * state of each order and user that follows from it.
 *
 * - **Open**: {@linkcode openLedger} opens a file, a server, or memory.
 * - **Append**: {@linkcode Ledger.appendDelivery} stores a webhook delivery as
 *   it came, {@linkcode Ledger.recordSession} a widget session of yours.
 * - **Project**: {@linkcode Ledger.project} folds new events into states. The
 *   result is the same in any order of arrival and with any repeats.
 * - **Query**: `ledger.orders` and `ledger.users` read states,
 *   {@linkcode Ledger.explain} tells which event each field comes from.
 * - **Months**: {@linkcode Months.close} closes the books of a month, which
 *   never change again; {@linkcode Months.recompute} tells what did since.
 * - **Subscribe**: {@linkcode Ledger.subscribe} calls a handler for each change
 *   of status, at least once.
 * - **Run**: {@linkcode Ledger.run} does all of it until its signal. It asks the
 *   service only where it is given a poller, which `@rampkit/onramp/sync` makes: a
 *   webhook _claims_ a status, a reading of the Data API _confirms_ it.
 * - **Evidence**: {@linkcode Ledger.verify} computes the hash chain of all
 *   events again, {@linkcode Ledger.verifyStates} all states.
 *
 * The types inside of what is given, such as one event of an explanation, are in
 * {@linkcode LedgerTypes}.
 *
 * @example Open, append, subscribe, project, query
 * ```ts
 * import { openLedger } from "@rampkit/onramp/ledger";
 * import assert from "node:assert/strict";
 *
 * await using ledger = await openLedger({
 *   url: ":memory:",
 *   environment: "sandbox",
 * });
 * const seen: string[] = [];
 * const subscription = await ledger.subscribe(
 *   "print",
 *   { on: "order.*.success", start: false },
 *   ({ key }) => {
 *     seen.push(key);
 *   },
 * );
 * await ledger.appendDelivery({
 *   id: "01KA0000000000000000000000",
 *   receivedAt: "2026-11-20T09:00:00.000Z",
 *   body: new TextEncoder().encode(JSON.stringify({
 *     type: "order_complete",
 *     click_id: "basket-7",
 *     order: { id: "01KA0000000000000000000ABC" },
 *   })),
 * });
 * await ledger.project();
 *
 * const { claimed: [order] } = await ledger.orders.find("basket-7");
 * assert.equal(order?.status, "success");
 * assert.equal(order?.trust, "claimed");
 * await subscription.dispatch();
 * assert.deepEqual(seen, ["order:01KA0000000000000000000ABC:claimed.success"]);
 * ```
 *
 * @example Poll once, then compare
 * ```ts
 * import { createPoller, reconcile } from "@rampkit/onramp/sync";
 * import { openLedger } from "@rampkit/onramp/ledger";
 * import { OnrampClient } from "@rampkit/onramp/client";
 * import { createSandbox } from "@rampkit/onramp/sandbox";
 * import assert from "node:assert/strict";
 *
 * await using sandbox = createSandbox();
 * sandbox.createOrder();
 * const client = new OnrampClient({
 *   environment: "sandbox",
 *   apiKey: sandbox.apiKey,
 *   fetch: (input, init) => sandbox.fetch(new Request(input, init)),
 *   requestsPerSecond: 1000,
 * });
 * await using ledger = await openLedger({
 *   url: ":memory:",
 *   environment: "sandbox",
 * });
 *
 * const report = await createPoller({ ledger, client }).once();
 * assert.equal(report.ran, true);
 * const { disagreements } = await reconcile({ ledger, client });
 * assert.equal(disagreements, 0);
 * ```
 *
 * @module
 */
// Open
export { Ledger, type Stats } from "./ledger.ts";
export {
  type ClientLedgerOptions,
  openLedger,
  type OpenLedgerOptions,
} from "./open_ledger.ts";
export type { WitnessRule } from "../core/chain/verdict.ts";
export type {
  LedgerClient,
  OpenClientOptions,
} from "./store/connections/client_driver.ts";
export { openDriver } from "./thread/open_driver.ts";
export { LedgerError, type LedgerErrorCode } from "./store/database.ts";

// Append
export type { AppendDelivery, Delivery } from "../core/wire/objects.ts";
export type { ExpectedTerms, NewEvent } from "./events/event.ts";

// Project
export type { Projection } from "./projection/catch_up.ts";
export type { Refold, RefoldOptions } from "./projection/refold.ts";
export type { Import } from "./transfer/transfer.ts";

// Query
export type { Explanation } from "./explain/explain_order.ts";
export {
  type DeliveryQuery,
  listDeliveries,
  type Occurrence,
  readDelivery,
  type StoredDelivery,
} from "./reads/deliveries.ts";
export type { AttentionKind } from "./outcomes/outcome_table.ts";
export type {
  OutcomeCode,
  Release,
  ReleaseReason,
} from "./outcomes/outcome_table.ts";
export type { Anomaly, AnomalyKind } from "./anomalies/anomaly.ts";
export type { OrderReason, OrderState } from "./states/order_state.ts";
export type {
  LoggedRelease,
  ReleaseEntry,
  Status,
  Transition,
  Trust,
} from "./machines/transition.ts";
export type { ByHand } from "./outcomes/match.ts";
export type { AttentionItem } from "./reads/orders.ts";
export type { FindResult, Found } from "./reads/find.ts";
export {
  type OrderPage,
  type OrderQuery,
  Orders,
  type OrderView,
  type ReferencedOrders,
} from "./reads/orders.ts";
export {
  type UserPage,
  type UserQuery,
  Users,
  type UserView,
} from "./reads/users.ts";
export {
  type NextStep,
  type UserState,
  type UserVerdict,
  userVerdictOf,
} from "./users/user_state.ts";

// Months
export {
  type CloseMonthOptions,
  type MonthClosing,
  type MonthPreview,
  Months,
  type PreviewMonthOptions,
} from "./months/months.ts";
export type { MonthClose } from "./months/months.ts";
export type { MonthRecomputation } from "./months/months.ts";

// Subscribe
export { type TransitionPattern, unlisted } from "./machines/pattern.ts";
export type { ForwardTarget } from "./subscriptions/subscriptions.ts";
export {
  type QueuedTransition,
  Subscriptions,
  type SubscriptionStatus,
} from "./subscriptions/subscriptions.ts";
export { Subscription } from "./subscriptions/dispatcher.ts";
export type {
  SubscribeOptions,
  TransitionHandler,
} from "./subscriptions/outbox.ts";
export type { TransitionQuery } from "./reads/releases.ts";

// Expect and run
export {
  ExpectationError,
  type ExpectationErrorCode,
  type ExpectationIssue,
  type OrderExpectation,
  type SessionToRecord,
  type TermsToRecord,
} from "./recording/terms.ts";
export type { HandOutcome, StandingOutcome } from "./events/event.ts";
export {
  type RecordedRelease,
  type ReleaseByHand,
  ReleaseError,
  type ReleaseErrorCode,
} from "./releases/release_by_hand.ts";

// Evidence
export type {
  ErasePersonOptions,
  Erasure,
  ErasurePlan,
  Erasures,
} from "./erasure/erasures.ts";
export type { PruneOptions, Pruning } from "./erasure/redact.ts";
export type { ErasedPerson } from "./store/aliases.ts";
export type {
  Verification as ChainVerification,
  VerifyOptions,
} from "./evidence/evidence.ts";
export type {
  StatesVerification,
  VerifyStatesOptions,
} from "./projection/refold.ts";

import type * as LedgerTypes from "./types.ts";
/** The types inside of these: of an explanation, a month, a verification. */
export type { LedgerTypes };
