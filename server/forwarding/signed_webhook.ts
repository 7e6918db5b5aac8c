import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { Webhook } from "standardwebhooks";

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
