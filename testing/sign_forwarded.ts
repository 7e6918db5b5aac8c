import {
  type ForwardedTransition,
  readForwardSecrets,
  webhookSigner,
} from "../server/forwarding/transition_message.ts";

/** A forwarded webhook; a test states only the fields that matter to it. */
export interface ForwardedEvent {
  /** For example `order.release.yes`, `order.confirmed.failed`. */
  readonly type: string;
  /** When it happened, UTC ISO 8601. @default {now} */
  readonly timestamp?: string;
  /** What else it says; all that is left out is made up to fit the type. */
  readonly data?: Partial<ForwardedTransition>;
}

/** What a back end is sent. */
export interface SignedForward {
  /** Content type, and the headers of the signature. */
  readonly headers: Readonly<Record<string, string>>;
  /** The exact text that is signed. */
  readonly body: string;
}

/**
 * Makes a webhook as `serve --forward-to` sends it, for the tests of a back end
 * that takes them.
 *
 * @param event What it says.
 * @param secret What it is signed with, `whsec_…`; several by commas.
 * @returns Headers and body, to be sent or passed to your handler.
 * @throws {TypeError} When the secret is not one, or the type none of ours.
 *
 * @example The webhook of a release
 * ```ts
 * import { signForwarded } from "@rampkit/onramp/testing";
 * import { Webhook } from "standardwebhooks";
 * import assert from "node:assert/strict";
 *
 * const secret = `whsec_${btoa("thirty-two-bytes-of-a-test-secret")}`;
 * const { headers, body } = signForwarded({
 *   type: "order.release.yes",
 *   data: { id: "01ORDER", reference: "basket-17" },
 * }, secret);
 * const event = new Webhook(secret).verify(body, headers);
 * assert.partialDeepStrictEqual(event, {
 *   type: "order.release.yes",
 *   data: { reference: "basket-17", release: "yes" },
 * });
 * ```
 */
export function signForwarded(
  { type, timestamp, data: given }: ForwardedEvent,
  secret: string,
): SignedForward {
  const nowMs = Date.now();
  const [entity = "", ...rest] = type.split(".");
  const isRelease = entity === "order" && rest[0] === "release";
  const [machine, trust, status] = isRelease
    ? ["release", "confirmed", "success"]
    : entity === "order"
    ? ["order", ...rest]
    : rest;
  const isKnown = entity === "order" || entity === "user";
  if (!isKnown || !machine || !trust || !status || isRelease && !rest[1]) {
    throw new TypeError(
      `Cannot sign: "${type}" is not a type of a forwarded webhook; write for ` +
        "example order.release.yes or user.lkyc.confirmed.success",
    );
  }
  const isSuccess = machine === "order" && trust === "confirmed" &&
    status === "success";
  const entered = isRelease ? rest[1] : isSuccess ? "yes" : null;
  const release = entered === "restored" ? "yes" : entered;
  const id = given?.id ?? (entity === "user" ? "01USER" : "01ORDER");
  const data: ForwardedTransition = {
    key: `${entity}:${id}:${rest.join(".")}`,
    seq: 1,
    ...{ entity, machine, id, trust, status },
    entry: 1,
    previous: null,
    reverses: [],
    logged: null,
    after: [],
    release: release as ForwardedTransition["release"],
    releaseReason: release === "yes" ? "session_matched" : null,
    reference: null,
    askedFor: null,
    current: true,
    state: null,
    position: 1,
    missed: [],
    late: false,
    ...given,
  };
  return webhookSigner(readForwardSecrets(secret, "secret"))({
    id: data.key,
    type,
    timestamp: timestamp ?? new Date(nowMs).toISOString(),
    data,
  }, nowMs);
}
