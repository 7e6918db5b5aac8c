import type { SandboxPlaces } from "../../cli/commands/sandbox.ts";
import type { Triggered } from "../../cli/commands/trigger.ts";
import type { Sent } from "../../cli/commands/webhook_send.ts";
import type { DemoReport } from "../../cli/demo/run_demo.ts";
import type { Activity } from "../../cli/listen/activity.ts";
import type { ListenPlaces } from "../../cli/listen/run_listen.ts";
import type { ErrorJson } from "../../cli/program/report_error.ts";
import type {
  UnrecognisedWebhook,
  VerificationState,
  WebhookOrder,
  WebhookUser,
} from "../../core/webhook_event/webhook_event.ts";
import type {
  Anomaly,
  Import,
  OrderReason,
  OrderState,
  RecordedRelease,
  Refold,
  Release,
  Status,
  StoredDelivery,
  Transition,
  Trust,
  UserState,
  UserVerdict,
} from "../../ledger/mod.ts";
import type { ExportedLine } from "../../ledger/for_cli.ts";
import type { LedgerCopy } from "../../ledger/for_ledger_file.ts";
import type { Note } from "../../ledger/for_resources.ts";
import type {
  ActivityLabel,
  ChainBreak,
  DamageReason,
  EffectReason,
  EventContent,
  EventKind,
  IncompleteReason,
  MonthSummary,
  Unfired,
  UserReason,
} from "../../ledger/types.ts";
import type { ChainsFile, OrderLook, Verdict } from "../../witness/mod.ts";
import type { ConditionCode } from "../../resources/health/conditions.ts";
import type { Check } from "../../resources/health/finding.ts";
import type { DeliveryDetailJson } from "../../resources/queries/deliveries.ts";
import type {
  DeliveryHealthJson,
  PollReportJson,
  ServiceStatusJson,
} from "../../resources/queries/service_status.ts";
import type {
  ChainStateJson,
  LedgerStatsJson,
} from "../../resources/queries/ledger_stats.ts";
import type { OrderDetailJson } from "../../resources/queries/order.ts";
import type { OrderTotalsJson } from "../../resources/views/order_totals.ts";
import type {
  Dropped,
  Fired,
  FiredHistoryJson,
  Resumed,
  Retried,
  Stopped,
  SubscriptionJson,
} from "../../resources/queries/subscriptions.ts";
import type { FeedEntry } from "../../resources/queries/transitions.ts";
import type { UserDetailJson } from "../../resources/queries/users.ts";
import type { ListedShape } from "../../resources/schemas/shapes.ts";
import type { AttentionJson } from "../../resources/views/attention_view.ts";
import type { AssetJson } from "../../resources/views/asset_view.ts";
import type { TotalRow } from "../../resources/views/order_export.ts";
import type {
  ErasedPeople,
  ErasureJson,
} from "../../resources/views/erasure_view.ts";
import type {
  ExplainedEventJson,
  ExplanationJson,
} from "../../resources/views/explanation_view.ts";
import type { Readable } from "../../resources/operations/feed_operations.ts";
import type { Restored } from "../../resources/operations/ledger_files.ts";
import type { OrderReleaseJson } from "../../resources/operations/order_operations.ts";
import type { PruneJson } from "../../resources/operations/ledger_operations.ts";
import type { Replayed } from "../../resources/operations/replay_operation.ts";
import type { Backup } from "../../resources/operations/transfer_operations.ts";
import type {
  Accepted,
  OrderAccepted,
} from "../../resources/operations/poll_operations.ts";
import type { FindJson } from "../../resources/queries/find.ts";
import type { FoundJson } from "../../resources/views/find_view.ts";
import type { FoundBy } from "../../resources/views/found_by.ts";
import type {
  MachineJson,
  MachinesJson,
} from "../../resources/views/machine/machine_view.ts";
import type {
  MonthDetailJson,
  MonthJson,
  MonthRecomputationJson,
} from "../../resources/views/month_view.ts";
import type { OrderJson, Worded } from "../../resources/views/order_view.ts";
import type { ConformReport } from "../../cli/commands/conform.ts";
import type { ConformRow } from "../../sync/conformance/conform.ts";
import type {
  ReconcileJson,
  ReconcileRowJson,
  RecoverJson,
} from "../../resources/views/reconcile_view.ts";
import type {
  ExpectationJson,
  SessionJson,
} from "../../resources/views/session_view.ts";
import type { UserJson } from "../../resources/views/user_view.ts";
import type {
  StatesVerificationJson,
  VerificationJson,
} from "../../resources/views/verification_view.ts";
import type {
  AlarmBody,
  ForwardedAlarm,
} from "../../server/alarms/alarm_message.ts";
import type { WebhookBody } from "../../server/forwarding/signed_webhook.ts";
import type { ForwardedTransition } from "../../server/forwarding/transition_message.ts";
import type { Readiness } from "../../server/http/http_app.ts";
import type {
  Freshness,
  PollFailureCause,
  PollStatus,
  ReconcileFinding,
  UnprovenReason,
} from "../../sync/mod.ts";
import type { FloodReport } from "../../tests/sim/long_flood.ts";
import type { Caught } from "../../tests/sim/mutations/mutation_table.ts";
import type { Tally } from "../../tests/sim/tally.ts";
import type { BenchmarkJson } from "../bench/main.ts";
import type * as webhooks from "./webhooks.ts";

/**
 * The types that have a schema, by the name of its component. A component is
 * described by the comment of its type, or else by the one here.
 */
export interface Components {
  readonly OrderStatus: Status;
  readonly Trust: Trust;
  readonly VerificationState: VerificationState;
  /**
   * Something odd that a person may have to look at, distinguished by kind.
   */
  readonly Anomaly: Worded<Anomaly>;
  /** Why the status of an order is what it is. */
  readonly OrderReason: Worded<OrderReason>;
  readonly Release: Release;
  readonly OrderState: OrderState;
  readonly Order: OrderJson;
  readonly Freshness: Freshness;
  readonly FoundBy: FoundBy;
  readonly RecordedRelease: RecordedRelease;
  readonly OrderRelease: OrderReleaseJson;
  readonly OrderDetail: OrderDetailJson;
  readonly OrderTotals: OrderTotalsJson;
  readonly AttentionItem: AttentionJson;
  readonly Delivery: StoredDelivery;
  readonly DeliveryDetail: DeliveryDetailJson;
  readonly CommandError: ErrorJson;
  readonly Transition: Transition;
  readonly FeedEntry: FeedEntry;
  readonly Unfired: Unfired;
  readonly Subscription: SubscriptionJson;
  readonly Retried: Retried;
  readonly Dropped: Dropped;
  readonly Resumed: Resumed;
  readonly Stopped: Stopped;
  readonly Accepted: Accepted;
  readonly OrderAccepted: OrderAccepted;
  readonly Note: Note;
  readonly Fired: Fired;
  readonly FiredHistory: FiredHistoryJson;
  readonly Machine: MachineJson;
  readonly Machines: MachinesJson;
  readonly EventKind: EventKind;
  readonly EventLabel: ActivityLabel;
  /** What an event says. */
  readonly EventContent: Worded<EventContent>;
  /** Why an event did what it did. */
  readonly EffectReason: Worded<EffectReason>;
  readonly ExplainedEvent: ExplainedEventJson;
  readonly Explanation: ExplanationJson;
  /** The one thing to know of a user first. */
  readonly UserVerdict: Worded<UserVerdict>;
  /** Why the trust in the status of a user is what it is. */
  readonly UserReason: Worded<UserReason>;
  readonly UserState: UserState;
  readonly User: UserJson;
  readonly UserDetail: UserDetailJson;
  readonly Erasure: ErasureJson;
  readonly ErasedPeople: ErasedPeople;
  readonly TransitionMessage: ForwardedTransition;
  /** The body of a forwarded webhook about a transition. */
  readonly ForwardedTransition: WebhookBody<ForwardedTransition>;
  readonly AlarmMessage: ForwardedAlarm;
  readonly ForwardedAlarm: AlarmBody;
  readonly Found: FoundJson;
  readonly FindResult: FindJson;
  /** Why a position of the ledger counts as damaged. */
  readonly DamageReason: Worded<DamageReason>;
  readonly Verification: VerificationJson;
  readonly StatesVerification: StatesVerificationJson;
  readonly Refold: Refold;
  readonly Pruning: PruneJson;
  readonly Imported: Import;
  readonly Backup: Backup;
  readonly Restored: Restored;
  readonly LedgerCopy: LedgerCopy;
  readonly ExportedLine: ExportedLine;
  readonly Month: MonthJson;
  readonly MonthDetail: MonthDetailJson;
  readonly MonthSummary: MonthSummary;
  readonly MonthRecomputation: MonthRecomputationJson;
  readonly DeliveryHealth: DeliveryHealthJson;
  readonly PollStatus: PollStatus;
  readonly PollReport: PollReportJson;
  readonly Session: SessionJson;
  readonly Expectation: ExpectationJson;
  /** What was checked, what was found, and what to do about it. */
  readonly Checks: {
    /** Whether no check failed. */
    readonly ok: boolean;
    /** Every check, in the order in which it was made. */
    readonly checks: readonly Check[];
  };
  readonly Sandbox: SandboxPlaces;
  readonly Listening: ListenPlaces;
  readonly Activity: Activity;
  readonly Triggered: Triggered;
  readonly Demo: DemoReport;
  /**
   * What seeds of the simulator found; of `--flood`, how soon true orders were
   * confirmed; of `--mutations`, which seed noticed.
   */
  readonly Simulation:
    | (Tally & { readonly tookMs: number })
    | (FloodReport & { readonly tookMs: number })
    | readonly Caught[];
  readonly Benchmark: BenchmarkJson;
  readonly DailyTotal: TotalRow;
  readonly ListedShape: ListedShape;
  readonly IncompleteReason: IncompleteReason;
  readonly UnprovenReason: UnprovenReason;
  /** What was found about one order. */
  readonly ReconcileFinding: Worded<ReconcileFinding>;
  readonly ReconcileRow: ReconcileRowJson;
  readonly ReconcileReport: ReconcileJson;
  readonly RecoverReport: RecoverJson;
  readonly ConformRow: ConformRow;
  readonly ConformReport: ConformReport;
  readonly ChainBreak: ChainBreak;
  readonly ChainState: ChainStateJson;
  readonly LedgerStats: LedgerStatsJson;
  readonly PollFailureCause: PollFailureCause;
  readonly ConditionCode: ConditionCode;
  /** Whether deliveries are kept durably, and what else is wrong. */
  readonly Readiness: Readiness & {
    /** Whether deliveries are kept durably. */
    readonly ok: boolean;
  };
  readonly Readable: Readable;
  readonly ServiceStatus: ServiceStatusJson;
  readonly WebhookUser: WebhookUser;
  readonly WebhookOrder: WebhookOrder;
  readonly WebhookRegistration: webhooks.WebhookRegistration;
  readonly WebhookLogin: webhooks.WebhookLogin;
  readonly WebhookLogout: webhooks.WebhookLogout;
  readonly WebhookCardAdded: webhooks.WebhookCardAdded;
  readonly WebhookVerifyStart: webhooks.WebhookVerifyStart;
  readonly WebhookVerifyRetry: webhooks.WebhookVerifyRetry;
  readonly WebhookVerifyFailed: webhooks.WebhookVerifyFailed;
  readonly WebhookVerifySuccess: webhooks.WebhookVerifySuccess;
  readonly WebhookPaymentStarted: webhooks.WebhookPaymentStarted;
  readonly WebhookTransferStarted: webhooks.WebhookTransferStarted;
  readonly WebhookOrderComplete: webhooks.WebhookOrderComplete;
  readonly WebhookOrderFailed: webhooks.WebhookOrderFailed;
  readonly WebhookOrderCancelled: webhooks.WebhookOrderCancelled;
  readonly WebhookOtpStatus: webhooks.WebhookOtpStatus;
  readonly WebhookTest: webhooks.WebhookTest;
  readonly UnrecognisedWebhook: UnrecognisedWebhook;
  readonly Webhook: webhooks.Webhook;
  readonly OrderLook: OrderLook;
  readonly Asset: AssetJson;
  readonly ChainsFile: ChainsFile;
  readonly Verdict: Verdict;
  readonly Replayed: Replayed;
  readonly Sent: Sent;
}
