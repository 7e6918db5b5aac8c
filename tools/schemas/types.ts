/**
 * The types that have a schema, by the name of their component. One that stands
 * here is described by its comment.
 *
 * @module
 */
import type * as ledger from "../../ledger/mod.ts";
import type * as facts from "../../ledger/types.ts";
import type { Check } from "../../resources/health/finding.ts";
import type { Worded } from "../../resources/views/order_view.ts";
import type {
  ForwardedTransition as Message,
  WebhookBody,
} from "../../server/forwarding/transition_message.ts";
import type { Readiness as Ready } from "../../server/http/http_app.ts";
import type { ReconcileFinding as Finding } from "../../sync/mod.ts";
import type { FloodReport } from "../../tests/sim/long_flood.ts";
import type { Caught } from "../../tests/sim/mutations/mutation_table.ts";
import type { Tally } from "../../tests/sim/tally.ts";

export type {
  Import as Imported,
  OrderState,
  RecordedRelease,
  Refold,
  Release,
  Status as OrderStatus,
  StoredDelivery as Delivery,
  Transition,
  Trust,
  UserState,
} from "../../ledger/mod.ts";
export type {
  ParsedWebhook as Webhook,
  VerificationState,
  WebhookOrder,
  WebhookUser,
} from "../../core/webhook_event/webhook_event.ts";
export type { OrderJson as Order } from "../../resources/views/order_view.ts";
export type {
  Freshness,
  PollFailureCause,
  PollStatus,
  UnprovenReason,
} from "../../sync/mod.ts";
export type { FoundBy } from "../../resources/views/order_view.ts";
export type { OrderReleaseJson as OrderRelease } from "../../resources/operations/order_operations.ts";
export type { OrderDetailJson as OrderDetail } from "../../resources/queries/orders.ts";
export type { OrderTotalsJson as OrderTotals } from "../../resources/views/order_view.ts";
export type { AttentionJson as AttentionItem } from "../../resources/views/attention_view.ts";
export type { DeliveryDetailJson as DeliveryDetail } from "../../resources/queries/deliveries.ts";
export type { ErrorJson as CommandError } from "../../cli/program/report_error.ts";
export type { FeedEntry } from "../../resources/queries/deliveries.ts";
export type {
  ActivityLabel as EventLabel,
  ChainBreak,
  EventKind,
  IncompleteReason,
  MonthSummary,
  Unfired,
} from "../../ledger/types.ts";
export type {
  Dropped,
  Fired,
  FiredHistoryJson as FiredHistory,
  Resumed,
  Retried,
  Stopped,
  SubscriptionJson as Subscription,
} from "../../resources/queries/deliveries.ts";
export type {
  Accepted,
  OrderAccepted,
} from "../../resources/operations/service_operations.ts";
export type { Note } from "../../ledger/for_resources.ts";
export type {
  MachineJson as Machine,
  MachinesJson as Machines,
} from "../../resources/views/machine/machine_view.ts";
export type {
  ExplainedEventJson as ExplainedEvent,
  ExplanationJson as Explanation,
} from "../../resources/views/explanation_view.ts";
export type { UserJson as User } from "../../resources/views/user_view.ts";
export type { UserDetailJson as UserDetail } from "../../resources/queries/users.ts";
export type {
  ErasedPeople,
  ErasureJson as Erasure,
} from "../../resources/views/user_view.ts";
export type { ForwardedTransition as TransitionMessage } from "../../server/forwarding/transition_message.ts";
export type {
  AlarmBody as ForwardedAlarm,
  ForwardedAlarm as AlarmMessage,
} from "../../server/alarms/alarm_message.ts";
export type { FoundJson as Found } from "../../resources/views/attention_view.ts";
export type { FindJson as FindResult } from "../../resources/queries/find.ts";
export type {
  StatesVerificationJson as StatesVerification,
  VerificationJson as Verification,
} from "../../resources/views/ledger_view.ts";
export type { PruneJson as Pruning } from "../../resources/operations/ledger_operations.ts";
export type { Backup } from "../../resources/operations/ledger_operations.ts";
export type { Restored } from "../../resources/operations/operation.ts";
export type { ExportedLine } from "../../ledger/for_cli.ts";
export type {
  MonthDetailJson as MonthDetail,
  MonthJson as Month,
  MonthRecomputationJson as MonthRecomputation,
} from "../../resources/views/month_view.ts";
export type {
  DeliveryHealthJson as DeliveryHealth,
  PollReportJson as PollReport,
  ServiceStatusJson as ServiceStatus,
} from "../../resources/queries/service_status.ts";
export type {
  ExpectationJson as Expectation,
  SessionJson as Session,
} from "../../resources/views/ledger_view.ts";
export type { SandboxPlaces as Sandbox } from "../../cli/commands/sandbox.ts";
export type { ListenPlaces as Listening } from "../../cli/listen/run_listen.ts";
export type { Activity } from "../../cli/listen/activity_printer.ts";
export type { Triggered } from "../../cli/commands/trigger.ts";
export type { DemoReport as Demo } from "../../cli/demo/run_demo.ts";
export type { BenchmarkJson as Benchmark } from "../bench/main.ts";
export type { TotalRow as DailyTotal } from "../../resources/views/order_export.ts";
export type { ListedShape } from "../../resources/schemas/shapes.ts";
export type {
  ReconcileJson as ReconcileReport,
  ReconcileRowJson as ReconcileRow,
  RecoverJson as RecoverReport,
} from "../../resources/views/ledger_view.ts";
export type { ConformRow } from "../../sync/check/conform.ts";
export type { ConformReport } from "../../cli/commands/conform.ts";
export type {
  ChainStateJson as ChainState,
  LedgerStatsJson as LedgerStats,
} from "../../resources/queries/service_status.ts";
export type { ConditionCode } from "../../resources/health/conditions.ts";
export type { Readable } from "../../resources/operations/delivery_operations.ts";
export type { ChainsFile, OrderLook, Verdict } from "../../witness/mod.ts";
export type { AssetJson as Asset } from "../../resources/views/ledger_view.ts";
export type { Replayed } from "../../resources/operations/delivery_operations.ts";
export type { Sent } from "../../cli/commands/webhook_send.ts";

/** Something odd that a person may have to look at, distinguished by kind. */
export type Anomaly = Worded<ledger.Anomaly>;
/** Why the status of an order is what it is. */
export type OrderReason = Worded<ledger.OrderReason>;
/** What an event says. */
export type EventContent = Worded<facts.EventContent>;
/** Why an event did what it did. */
export type EffectReason = Worded<facts.EffectReason>;
/** The one thing to know of a user first. */
export type UserVerdict = Worded<ledger.UserVerdict>;
/** Why the trust in the status of a user is what it is. */
export type UserReason = Worded<facts.UserReason>;
/** Why a position of the ledger counts as damaged. */
export type DamageReason = Worded<facts.DamageReason>;
/** What was found about one order. */
export type ReconcileFinding = Worded<Finding>;
/** The body of a forwarded webhook about a transition. */
export type ForwardedTransition = WebhookBody<Message>;
/** What was checked, what was found, and what to do about it. */
export type Checks = {
  /** Whether no check failed. */
  readonly ok: boolean;
  /** Every check, in the order in which it was made. */
  readonly checks: readonly Check[];
};
/**
 * What seeds of the simulator found; of `--flood`, how soon true orders were
 * confirmed; of `--mutations`, which seed noticed.
 */
export type Simulation =
  | (Tally & { readonly tookMs: number })
  | (FloodReport & { readonly tookMs: number })
  | readonly Caught[];
/** Whether deliveries are kept durably, and what else is wrong. */
export type Readiness = Ready & {
  /** Whether deliveries are kept durably. */
  readonly ok: boolean;
};
