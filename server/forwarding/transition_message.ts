import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { Webhook } from "standardwebhooks";
import type {
  OrderState,
  Release,
  ReleaseReason,
  Transition,
  TransitionHandler,
  UserState,
} from "../../ledger/mod.ts";
import { transitionName } from "../../ledger/for_server.ts";

/** The body of a forwarded webhook. */
export interface WebhookBody<Data extends object = object> {
  /** What happened, for example `order.confirmed.success`. */
  readonly type: string;
  /** When it happened, UTC ISO 8601. */
  readonly timestamp: string;
  /** What else there is to say. */
  readonly data: Data;
}

/** What one webhook says. */
export interface WebhookMessage<Data extends object = object>
  extends WebhookBody<Data> {
  /** Names the message; the same in every attempt to send it. */
  readonly id: string;
}

/** Headers and body of one attempt to send a webhook. */
export interface SignedWebhook {
  /** Content type, user agent, and the three headers of the signature. */
  readonly headers: Readonly<Record<string, string>>;
  /** The exact text that is signed. */
  readonly body: string;
}

/** Signs messages. */
export type Signer = (message: WebhookMessage, nowMs: number) => SignedWebhook;

/** Most characters of a message's id. */
const LONGEST_ID = 200;

/**
 * Makes a signer by the Standard Webhooks specification. Each message carries
 * one signature per secret, so that a receiver may know either while a secret
 * is being replaced.
 */
export function webhookSigner(secrets: readonly string[]): Signer {
  const keys = secrets.map((secret) => new Webhook(secret));
  return ({ id, type, timestamp, data }, nowMs) => {
    const content: WebhookBody = { type, timestamp, data };
    const body = JSON.stringify(content);
    const named = webhookId(id);
    const sentAt = new Date(nowMs);
    return {
      headers: {
        "content-type": "application/json",
        "user-agent": "rampkit",
        "webhook-id": named,
        "webhook-timestamp": String(Math.floor(nowMs / 1000)),
        "webhook-signature": keys
          .map((key) => key.sign(named, sentAt, body)).join(" "),
      },
      body,
    };
  };
}

/**
 * The id as a header can carry it: characters that might end a header are
 * percent-encoded, and what is longer than a header should be is a digest.
 * What is signed is id, time and body with a `.` between them, so a part of
 * the id that could pass for the time loses its `.`.
 */
function webhookId(id: string): string {
  const encoded = /^[A-Za-z0-9:._#-]*$/.test(id)
    ? id
    : encodeURIComponent(id.toWellFormed()).replaceAll("%3A", ":")
      .replaceAll("%23", "#");
  const safe = encoded.replace(/\.(?=\d+(?:\.|$))/g, "%2E");
  return safe.length <= LONGEST_ID
    ? safe
    : `sha256:${createHash("sha256").update(id).digest("hex")}`;
}

/**
 * Reads secrets for signing: `whsec_` and base64 of 24 to 64 bytes, several
 * separated by commas.
 *
 * @throws {TypeError} When one is not such a secret. It is not repeated.
 */
export function readForwardSecrets(
  text: string,
  name: string,
): readonly string[] {
  const secrets = text.split(",").map((one) => one.trim()).filter(Boolean);
  for (const [at, secret] of secrets.entries()) {
    const [, base64 = ""] = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(secret) ?? [];
    const bytes = Buffer.from(base64, "base64");
    const whole = bytes.toString("base64") === base64;
    if (!whole || bytes.length < 24 || bytes.length > 64) {
      throw new TypeError(
        `Wrong ${name}: secret ${at + 1} of ${secrets.length} is not ` +
          '"whsec_" and base64 of 24 to 64 bytes; make one: ' +
          'echo "whsec_$(openssl rand -base64 32)"',
      );
    }
  }
  return secrets;
}

/** What a subscription says of a transition besides the transition itself. */
type TransitionContext = Pick<
  Parameters<TransitionHandler>[1],
  | "state"
  | "position"
  | "current"
  | "release"
  | "releaseReason"
  | "reference"
  | "missed"
  | "late"
>;

/** What is forwarded of a transition. */
export interface ForwardedTransition {
  /** Permanent id of the transition. */
  readonly key: string;
  /** Its place in the log: orders what a crash repeated. */
  readonly seq: number;
  /** `order` or `user`. */
  readonly entity: string;
  /** The machine that moved: `order`, `release` or `witness`; `lkyc`, `fkyc` or `ban`. */
  readonly machine: string;
  /** Order or user identifier. */
  readonly id: string;
  /** `claimed` or `confirmed`; of a release that of the order's status. */
  readonly trust: string;
  /** The status entered; of a release the status that the order showed. */
  readonly status: string;
  /** Which entry into this status with this trust it is. */
  readonly entry: number;
  /** What was visible before; null when nothing was. */
  readonly previous: Transition["previous"];
  /**
   * Other final statuses that the service takes back by it; of a release `yes`,
   * where it is taken back.
   */
  readonly reverses: readonly string[];
  /** What a release was logged as; null of other machines. */
  readonly logged: Transition["logged"];
  /** `unchecked`, where a `yes` follows it: do not ship again. */
  readonly after: readonly string[];
  /** Of an order, whether to release the goods by what is known now. */
  readonly release: Release | null;
  /** Why, one code; null of a user. */
  readonly releaseReason: ReleaseReason | null;
  /** Of an order, the reference of yours that it was matched with. */
  readonly reference: string | null;
  /**
   * Of an order, what you asked for: what it was compared with, whether it
   * agrees or not. It names your basket where `reference` is null; null where
   * nothing fits, and of a user.
   */
  readonly askedFor: OrderState["expected"];
  /** Whether `state` still shows the status and trust of the transition. */
  readonly current: boolean;
  /** The order or user as it is when this is sent; amounts are strings. */
  readonly state: OrderState | UserState | null;
  /** Position of the last event that `state` has in it. */
  readonly position: number;
  /** Keys of earlier transitions that could not be sent, and were given up. */
  readonly missed: readonly string[];
  /** Whether later transitions of the same order or user were sent before. */
  readonly late: boolean;
}

/** What was asked for of an order, by its state. */
export function askedForOf(
  state: OrderState | UserState | null,
): OrderState["expected"] {
  return state !== null && "expected" in state ? state.expected : null;
}

/** What a transition is called in the `type` of its webhook. */
export function transitionType(
  transition: Pick<
    Transition,
    "entity" | "machine" | "trust" | "status" | "logged"
  >,
): string {
  const { entity, machine, trust, status } = transitionName(transition);
  return [entity, ...(entity === "order" ? [] : [machine]), trust, status]
    .join(".");
}

/** The webhook of a transition. */
export function transitionMessage(
  transition: Transition,
  {
    state,
    position,
    current,
    release,
    releaseReason,
    reference,
    missed,
    late,
  }: TransitionContext,
): WebhookMessage<ForwardedTransition> {
  const { key, seq, entity, machine, id, trust, status, entry } = transition;
  const { previous, reverses, logged, after } = transition;
  return {
    id: key,
    type: transitionType(transition),
    timestamp: transition.recordedAt,
    data: {
      ...{ key, seq, entity, machine, id, trust, status, entry },
      ...{ previous, reverses, logged, after },
      ...{ release, releaseReason, reference, current, state, position },
      askedFor: askedForOf(state),
      ...{ missed, late },
    },
  };
}
