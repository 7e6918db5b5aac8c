import type {
  OrderEvent,
  OtpStatusEvent,
  TestEvent,
  UnrecognisedWebhook,
  UserEvent,
  VerifyFailedEvent,
  WebhookEvent,
} from "../../core/webhook_event/webhook_event.ts";
import type { WebhookType } from "../../core/webhook_event/event_types.ts";

/** An event of one type out of those that have its fields. */
type Typed<Event extends WebhookEvent, Type extends Event["type"]> =
  & { readonly type: Type }
  & Omit<Event, "type">;

/** The webhook `registration` as it is read. */
export type WebhookRegistration = Typed<UserEvent, "registration">;

/** The webhook `login` as it is read. */
export type WebhookLogin = Typed<UserEvent, "login">;

/** The webhook `logout` as it is read. */
export type WebhookLogout = Typed<UserEvent, "logout">;

/** The webhook `card_added` as it is read. */
export type WebhookCardAdded = Typed<UserEvent, "card_added">;

/** The webhook `verify_start` as it is read. */
export type WebhookVerifyStart = Typed<UserEvent, "verify_start">;

/** The webhook `verify_retry` as it is read. */
export type WebhookVerifyRetry = Typed<UserEvent, "verify_retry">;

/** The webhook `verify_failed` as it is read. */
export type WebhookVerifyFailed = Typed<VerifyFailedEvent, "verify_failed">;

/** The webhook `verify_success` as it is read. */
export type WebhookVerifySuccess = Typed<UserEvent, "verify_success">;

/** The webhook `payment_started` as it is read. */
export type WebhookPaymentStarted = Typed<OrderEvent, "payment_started">;

/** The webhook `transfer_started` as it is read. */
export type WebhookTransferStarted = Typed<OrderEvent, "transfer_started">;

/** The webhook `order_complete` as it is read. */
export type WebhookOrderComplete = Typed<OrderEvent, "order_complete">;

/** The webhook `order_failed` as it is read. */
export type WebhookOrderFailed = Typed<OrderEvent, "order_failed">;

/** The webhook `order_cancelled` as it is read. */
export type WebhookOrderCancelled = Typed<OrderEvent, "order_cancelled">;

/** The webhook `otp_status` as it is read. */
export type WebhookOtpStatus = Typed<OtpStatusEvent, "otp_status">;

/** The webhook `test` as it is read. */
export type WebhookTest = Typed<TestEvent, "test">;

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
  | UnrecognisedWebhook;

true satisfies [WebhookType] extends [Webhook["type"]] ? true : false;
