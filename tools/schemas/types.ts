import type * as sandbox from "../../cli/commands/sandbox.ts";
import type * as trigger from "../../cli/commands/trigger.ts";
import type * as webhookSend from "../../cli/commands/webhook_send.ts";
import type * as runDemo from "../../cli/demo/run_demo.ts";
import type * as activity from "../../cli/listen/activity.ts";
import type * as runListen from "../../cli/listen/run_listen.ts";
import type * as reportError from "../../cli/program/report_error.ts";
import type * as eventTypes from "../../core/webhook_event/event_types.ts";
import type * as webhookEvent from "../../core/webhook_event/webhook_event.ts";
import type * as ledger from "../../ledger/mod.ts";
import type * as ledgerForCli from "../../ledger/for_cli.ts";
import type * as ledgerForResources from "../../ledger/for_resources.ts";
import type * as ledgerTypes from "../../ledger/types.ts";
import type * as witness from "../../witness/mod.ts";
import type * as conditions from "../../resources/health/conditions.ts";
import type * as finding from "../../resources/health/finding.ts";
import type * as deliveries from "../../resources/queries/deliveries.ts";
import type * as serviceStatus from "../../resources/queries/service_status.ts";
import type * as ledgerStats from "../../resources/queries/ledger_stats.ts";
import type * as order from "../../resources/queries/order.ts";
import type * as orderTotals from "../../resources/views/order_totals.ts";
import type * as subscriptions from "../../resources/queries/subscriptions.ts";
import type * as transitions from "../../resources/queries/transitions.ts";
import type * as users from "../../resources/queries/users.ts";
import type * as shapes from "../../resources/schemas/shapes.ts";
import type * as attentionView from "../../resources/views/attention_view.ts";
import type * as assetView from "../../resources/views/asset_view.ts";
import type * as orderExport from "../../resources/views/order_export.ts";
import type * as erasureView from "../../resources/views/erasure_view.ts";
import type * as explanationView from "../../resources/views/explanation_view.ts";
import type * as feedOperations from "../../resources/operations/feed_operations.ts";
import type * as ledgerFiles from "../../resources/operations/ledger_files.ts";
import type * as orderOperations from "../../resources/operations/order_operations.ts";
import type * as ledgerOperations from "../../resources/operations/ledger_operations.ts";
import type * as replayOperation from "../../resources/operations/replay_operation.ts";
import type * as transferOperations from "../../resources/operations/transfer_operations.ts";
import type * as pollOperations from "../../resources/operations/poll_operations.ts";
import type * as find from "../../resources/queries/find.ts";
import type * as findView from "../../resources/views/find_view.ts";
import type * as foundBy from "../../resources/views/found_by.ts";
import type * as machineView from "../../resources/views/machine/machine_view.ts";
import type * as monthView from "../../resources/views/month_view.ts";
import type * as orderView from "../../resources/views/order_view.ts";
import type * as conform from "../../cli/commands/conform.ts";
import type * as conformanceConform from "../../sync/conformance/conform.ts";
import type * as reconcileView from "../../resources/views/reconcile_view.ts";
import type * as sessionView from "../../resources/views/session_view.ts";
import type * as userView from "../../resources/views/user_view.ts";
import type * as verificationView from "../../resources/views/verification_view.ts";
import type * as alarmMessage from "../../server/alarms/alarm_message.ts";
import type * as signedWebhook from "../../server/forwarding/signed_webhook.ts";
import type * as transitionMessage from "../../server/forwarding/transition_message.ts";
import type * as httpApp from "../../server/http/http_app.ts";
import type * as sync from "../../sync/mod.ts";
import type * as longFlood from "../../tests/sim/long_flood.ts";
import type * as mutationTable from "../../tests/sim/mutations/mutation_table.ts";
import type * as tally from "../../tests/sim/tally.ts";
import type * as benchMain from "../bench/main.ts";

/**
 * The types that have a schema, by the name of its component. A component is
 * described by the comment of its type, or else by the one here.
 */
export interface Components {
  readonly OrderStatus: ledger.Status;
  readonly Trust: ledger.Trust;
  readonly VerificationState: webhookEvent.VerificationState;
  /**
   * Something odd that a person may have to look at, distinguished by kind.
   */
  readonly Anomaly: orderView.Worded<ledger.Anomaly>;
  /** Why the status of an order is what it is. */
  readonly OrderReason: orderView.Worded<ledger.OrderReason>;
  readonly Release: ledger.Release;
  readonly OrderState: ledger.OrderState;
  readonly Order: orderView.OrderJson;
  readonly Freshness: sync.Freshness;
  readonly FoundBy: foundBy.FoundBy;
  readonly RecordedRelease: ledger.RecordedRelease;
  readonly OrderRelease: orderOperations.OrderReleaseJson;
  readonly OrderDetail: order.OrderDetailJson;
  readonly OrderTotals: orderTotals.OrderTotalsJson;
  readonly AttentionItem: attentionView.AttentionJson;
  readonly Delivery: ledger.StoredDelivery;
  readonly DeliveryDetail: deliveries.DeliveryDetailJson;
  readonly CommandError: reportError.ErrorJson;
  readonly Transition: ledger.Transition;
  readonly FeedEntry: transitions.FeedEntry;
  readonly Unfired: ledgerTypes.Unfired;
  readonly Subscription: subscriptions.SubscriptionJson;
  readonly Retried: subscriptions.Retried;
  readonly Dropped: subscriptions.Dropped;
  readonly Resumed: subscriptions.Resumed;
  readonly Stopped: subscriptions.Stopped;
  readonly Accepted: pollOperations.Accepted;
  readonly OrderAccepted: pollOperations.OrderAccepted;
  readonly Note: ledgerForResources.Note;
  readonly Fired: subscriptions.Fired;
  readonly FiredHistory: subscriptions.FiredHistoryJson;
  readonly Machine: machineView.MachineJson;
  readonly Machines: machineView.MachinesJson;
  readonly EventKind: ledgerTypes.EventKind;
  readonly EventLabel: ledgerTypes.ActivityLabel;
  /** What an event says. */
  readonly EventContent: orderView.Worded<ledgerTypes.EventContent>;
  /** Why an event did what it did. */
  readonly EffectReason: orderView.Worded<ledgerTypes.EffectReason>;
  readonly ExplainedEvent: explanationView.ExplainedEventJson;
  readonly Explanation: explanationView.ExplanationJson;
  /** The one thing to know of a user first. */
  readonly UserVerdict: orderView.Worded<ledger.UserVerdict>;
  /** Why the trust in the status of a user is what it is. */
  readonly UserReason: orderView.Worded<ledgerTypes.UserReason>;
  readonly UserState: ledger.UserState;
  readonly User: userView.UserJson;
  readonly UserDetail: users.UserDetailJson;
  readonly Erasure: erasureView.ErasureJson;
  readonly ErasedPeople: erasureView.ErasedPeople;
  readonly TransitionMessage: transitionMessage.ForwardedTransition;
  /** The body of a forwarded webhook about a transition. */
  readonly ForwardedTransition: signedWebhook.WebhookBody<
    transitionMessage.ForwardedTransition
  >;
  readonly AlarmMessage: alarmMessage.ForwardedAlarm;
  readonly ForwardedAlarm: alarmMessage.AlarmBody;
  readonly Found: findView.FoundJson;
  readonly FindResult: find.FindJson;
  /** Why a position of the ledger counts as damaged. */
  readonly DamageReason: orderView.Worded<ledgerTypes.DamageReason>;
  readonly Verification: verificationView.VerificationJson;
  readonly StatesVerification: verificationView.StatesVerificationJson;
  readonly Refold: ledger.Refold;
  readonly Pruning: ledgerOperations.PruneJson;
  readonly Imported: ledger.Import;
  readonly Backup: transferOperations.Backup;
  readonly Restored: ledgerFiles.Restored;
  readonly ExportedLine: ledgerForCli.ExportedLine;
  readonly Month: monthView.MonthJson;
  readonly MonthDetail: monthView.MonthDetailJson;
  readonly MonthSummary: ledgerTypes.MonthSummary;
  readonly MonthRecomputation: monthView.MonthRecomputationJson;
  readonly DeliveryHealth: serviceStatus.DeliveryHealthJson;
  readonly PollStatus: sync.PollStatus;
  readonly PollReport: serviceStatus.PollReportJson;
  readonly Session: sessionView.SessionJson;
  readonly Expectation: sessionView.ExpectationJson;
  /** What was checked, what was found, and what to do about it. */
  readonly Checks: {
    /** Whether no check failed. */
    readonly ok: boolean;
    /** Every check, in the order in which it was made. */
    readonly checks: readonly finding.Check[];
  };
  readonly Sandbox: sandbox.SandboxPlaces;
  readonly Listening: runListen.ListenPlaces;
  readonly Activity: activity.Activity;
  readonly Triggered: trigger.Triggered;
  readonly Demo: runDemo.DemoReport;
  /**
   * What seeds of the simulator found; of `--flood`, how soon true orders were
   * confirmed; of `--mutations`, which seed noticed.
   */
  readonly Simulation:
    | (tally.Tally & { readonly tookMs: number })
    | (longFlood.FloodReport & { readonly tookMs: number })
    | readonly mutationTable.Caught[];
  readonly Benchmark: benchMain.BenchmarkJson;
  readonly DailyTotal: orderExport.TotalRow;
  readonly ListedShape: shapes.ListedShape;
  readonly IncompleteReason: ledgerTypes.IncompleteReason;
  readonly UnprovenReason: sync.UnprovenReason;
  /** What was found about one order. */
  readonly ReconcileFinding: orderView.Worded<sync.ReconcileFinding>;
  readonly ReconcileRow: reconcileView.ReconcileRowJson;
  readonly ReconcileReport: reconcileView.ReconcileJson;
  readonly RecoverReport: reconcileView.RecoverJson;
  readonly ConformRow: conformanceConform.ConformRow;
  readonly ConformReport: conform.ConformReport;
  readonly ChainBreak: ledgerTypes.ChainBreak;
  readonly ChainState: ledgerStats.ChainStateJson;
  readonly LedgerStats: ledgerStats.LedgerStatsJson;
  readonly PollFailureCause: sync.PollFailureCause;
  readonly ConditionCode: conditions.ConditionCode;
  /** Whether deliveries are kept durably, and what else is wrong. */
  readonly Readiness: httpApp.Readiness & {
    /** Whether deliveries are kept durably. */
    readonly ok: boolean;
  };
  readonly Readable: feedOperations.Readable;
  readonly ServiceStatus: serviceStatus.ServiceStatusJson;
  readonly WebhookUser: webhookEvent.WebhookUser;
  readonly WebhookOrder: webhookEvent.WebhookOrder;
  readonly WebhookRegistration: WebhookRegistration;
  readonly WebhookLogin: WebhookLogin;
  readonly WebhookLogout: WebhookLogout;
  readonly WebhookCardAdded: WebhookCardAdded;
  readonly WebhookVerifyStart: WebhookVerifyStart;
  readonly WebhookVerifyRetry: WebhookVerifyRetry;
  readonly WebhookVerifyFailed: WebhookVerifyFailed;
  readonly WebhookVerifySuccess: WebhookVerifySuccess;
  readonly WebhookPaymentStarted: WebhookPaymentStarted;
  readonly WebhookTransferStarted: WebhookTransferStarted;
  readonly WebhookOrderComplete: WebhookOrderComplete;
  readonly WebhookOrderFailed: WebhookOrderFailed;
  readonly WebhookOrderCancelled: WebhookOrderCancelled;
  readonly WebhookOtpStatus: WebhookOtpStatus;
  readonly WebhookTest: WebhookTest;
  readonly UnrecognisedWebhook: webhookEvent.UnrecognisedWebhook;
  readonly Webhook: Webhook;
  readonly OrderLook: witness.OrderLook;
  readonly Asset: assetView.AssetJson;
  readonly ChainsFile: witness.ChainsFile;
  readonly Verdict: witness.Verdict;
  readonly Replayed: replayOperation.Replayed;
  readonly Sent: webhookSend.Sent;
}

/** An event of one type out of those that have its fields. */
type Typed<
  Event extends webhookEvent.WebhookEvent,
  Type extends Event["type"],
> =
  & { readonly type: Type }
  & Omit<Event, "type">;

/** The webhook `registration` as it is read. */
export type WebhookRegistration = Typed<webhookEvent.UserEvent, "registration">;

/** The webhook `login` as it is read. */
export type WebhookLogin = Typed<webhookEvent.UserEvent, "login">;

/** The webhook `logout` as it is read. */
export type WebhookLogout = Typed<webhookEvent.UserEvent, "logout">;

/** The webhook `card_added` as it is read. */
export type WebhookCardAdded = Typed<webhookEvent.UserEvent, "card_added">;

/** The webhook `verify_start` as it is read. */
export type WebhookVerifyStart = Typed<webhookEvent.UserEvent, "verify_start">;

/** The webhook `verify_retry` as it is read. */
export type WebhookVerifyRetry = Typed<webhookEvent.UserEvent, "verify_retry">;

/** The webhook `verify_failed` as it is read. */
export type WebhookVerifyFailed = Typed<
  webhookEvent.VerifyFailedEvent,
  "verify_failed"
>;

/** The webhook `verify_success` as it is read. */
export type WebhookVerifySuccess = Typed<
  webhookEvent.UserEvent,
  "verify_success"
>;

/** The webhook `payment_started` as it is read. */
export type WebhookPaymentStarted = Typed<
  webhookEvent.OrderEvent,
  "payment_started"
>;

/** The webhook `transfer_started` as it is read. */
export type WebhookTransferStarted = Typed<
  webhookEvent.OrderEvent,
  "transfer_started"
>;

/** The webhook `order_complete` as it is read. */
export type WebhookOrderComplete = Typed<
  webhookEvent.OrderEvent,
  "order_complete"
>;

/** The webhook `order_failed` as it is read. */
export type WebhookOrderFailed = Typed<webhookEvent.OrderEvent, "order_failed">;

/** The webhook `order_cancelled` as it is read. */
export type WebhookOrderCancelled = Typed<
  webhookEvent.OrderEvent,
  "order_cancelled"
>;

/** The webhook `otp_status` as it is read. */
export type WebhookOtpStatus = Typed<webhookEvent.OtpStatusEvent, "otp_status">;

/** The webhook `test` as it is read. */
export type WebhookTest = Typed<webhookEvent.TestEvent, "test">;

/** A webhook as it is read: one of the documented events, or none of them. */
export type Webhook =
  | WebhookRegistration
  | WebhookLogin
  | WebhookLogout
  | WebhookCardAdded
  | WebhookVerifyStart
  | WebhookVerifyRetry
  | WebhookVerifyFailed
  | WebhookVerifySuccess
  | WebhookPaymentStarted
  | WebhookTransferStarted
  | WebhookOrderComplete
  | WebhookOrderFailed
  | WebhookOrderCancelled
  | WebhookOtpStatus
  | WebhookTest
  | webhookEvent.UnrecognisedWebhook;

true satisfies [eventTypes.WebhookType] extends [Webhook["type"]] ? true
  : false;
