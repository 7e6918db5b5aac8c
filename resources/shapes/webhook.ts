import * as z from "zod";
import type { WebhookType } from "../../core/webhook_event/event_types.ts";
import type {
  OtpStatusEvent,
  RejectType,
  UnrecognisedWebhook,
  WebhookEvent,
} from "../../core/webhook_event/webhook_event.ts";
import { count, named, oneOf, open, text, textOrNull } from "./_building.ts";
import type { Same } from "./same.ts";
import { verificationStateSchema } from "./status.ts";

const optional = z.exactOptional(text);
const verification = z.object({ state: verificationStateSchema });

const user = named(
  "WebhookUser",
  "The user object of a webhook",
  z.object({
    user_id: text,
    verification_status: z.exactOptional(z.object({
      fkyc: z.exactOptional(verification),
      lkyc: z.exactOptional(verification),
    })),
  }),
);

const order = named(
  "WebhookOrder",
  "The order object of a webhook; amounts are decimal strings",
  z.object({
    id: text,
    base: optional,
    base_amount: optional,
    quote: optional,
    quote_amount: optional,
    address: optional,
    transaction_id: z.exactOptional(textOrNull),
    external_order_id: optional,
    partner_data: z.exactOptional(z.object({
      sc_address: text,
      sc_input_data: text,
    })),
    error_code: optional,
  }),
);

const base = {
  click_id: text,
  flavour: oneOf<"fiatOnramp" | "nftCheckout">({
    fiatOnramp: true,
    nftCheckout: true,
  }).nullable(),
  hpp_session_id: optional,
};

const ofUser = { ...base, user: z.exactOptional(user) };
const ofOrder = { ...ofUser, order };

const reject = open<RejectTypes>({
  LKYC_FAILED_AGE: true,
  FKYC_FAILED_AGE: true,
  LKYC_FAILED_UNSUPPORTED_COUNTRY: true,
  FKYC_FAILED_UNSUPPORTED_COUNTRY: true,
  LKYC_FAILED_UNSUPPORTED_STATE: true,
  FKYC_FAILED_UNSUPPORTED_STATE: true,
  LKYC_FAILED_DUPLICATE: true,
  FKYC_FAILED_DUPLICATE: true,
  LKYC_FAILED_GENERAL: true,
  FKYC_FAILED_GENERAL: true,
  FKYC_FAILED_SPAM: true,
});

/** Every documented type of webhook, as it is read. */
export const WEBHOOKS = {
  registration: event("registration", ofUser),
  login: event("login", ofUser),
  logout: event("logout", ofUser),
  card_added: event("card_added", ofUser),
  verify_start: event("verify_start", ofUser),
  verify_retry: event("verify_retry", ofUser),
  verify_failed: event("verify_failed", {
    ...ofUser,
    reject_type: z.exactOptional(reject),
  }),
  verify_success: event("verify_success", ofUser),
  payment_started: event("payment_started", ofOrder),
  transfer_started: event("transfer_started", ofOrder),
  order_complete: event("order_complete", ofOrder),
  order_failed: event("order_failed", ofOrder),
  order_cancelled: event("order_cancelled", ofOrder),
  otp_status: event("otp_status", {
    ...base,
    user_id: text,
    status: open<"requested" | "success" | "failed">({
      requested: true,
      success: true,
      failed: true,
    }),
    phone_country_code: optional,
    status_detail: optional,
  }),
  test: event("test", { ...base, order: z.exactOptional(order) }),
} satisfies Record<WebhookType, z.ZodType>;

const unrecognised = named(
  "UnrecognisedWebhook",
  "A body that is none of the documented events, and why",
  z.object({
    type: z.literal("unrecognised"),
    statedType: textOrNull,
    reasons: z.array(text),
  }),
);

/** A webhook as it is read: a documented event, or none. */
export const webhookSchema = named(
  "Webhook",
  "A webhook as it is read: one of the documented events, or none of them",
  z.discriminatedUnion(
    "type",
    [
      WEBHOOKS.registration,
      ...Object.values(WEBHOOKS),
      unrecognised,
    ].slice(1) as [
      (typeof WEBHOOKS)[WebhookType],
      typeof unrecognised,
    ],
  ),
);

/** What `webhook replay` stored. */
export const replayedSchema = named(
  "Replayed",
  "How many bodies were stored, and which lines were refused",
  z.object({
    replayed: count,
    unrecognised: count,
    refusedLines: z.array(count),
    position: count,
  }),
);

/** What the endpoint answered to `webhook send`. */
export const sentSchema = named(
  "Sent",
  "What the endpoint answered",
  z.object({
    to: text,
    status: z.int(),
    tookMs: z.number(),
  }),
);

type RejectTypes = RejectType extends infer One
  ? One extends string ? string extends One ? never : One : never
  : never;

type All = { [Type in WebhookType]: z.infer<(typeof WEBHOOKS)[Type]> };

true satisfies Same<All[WebhookType], WebhookEvent>;
true satisfies Same<All["otp_status"], OtpStatusEvent>;
true satisfies Same<z.infer<typeof unrecognised>, UnrecognisedWebhook>;

function event<Type extends WebhookType, Fields extends z.ZodRawShape>(
  type: Type,
  fields: Fields,
): z.ZodObject<Fields & { type: z.ZodLiteral<Type> }> {
  const words = type.split("_").map((word) =>
    word.charAt(0).toUpperCase() + word.slice(1)
  );
  return named(
    `Webhook${words.join("")}`,
    `The webhook ${type} as it is read`,
    z.object({ type: z.literal(type), ...fields }),
  ) as unknown as z.ZodObject<Fields & { type: z.ZodLiteral<Type> }>;
}
