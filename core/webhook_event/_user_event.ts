import { isRecord } from "../guards.ts";
import { type Draft, identifierText, type Json } from "./_fields.ts";
import type {
  UserEvent,
  UserEventType,
  VerificationOf,
  VerifyFailedEvent,
  WebhookUser,
} from "./webhook_event.ts";

/** Reads an event about a user's profile, cards or verification. */
export function userEvent(type: UserEventType, value: Json): UserEvent {
  const event: Draft<UserEvent> = {
    type,
    click_id: identifierText(value.click_id),
    flavour: null,
  };
  addSessionAndUser(event, value);
  return event;
}

/** Reads a failed verification. */
export function verifyFailedEvent(value: Json): VerifyFailedEvent {
  const event: Draft<VerifyFailedEvent> = {
    type: "verify_failed",
    click_id: identifierText(value.click_id),
    flavour: null,
  };
  const reject = value.reject_type;
  if (typeof reject === "string" && reject !== "") event.reject_type = reject;
  addSessionAndUser(event, value);
  return event;
}

function addSessionAndUser(
  event: Draft<UserEvent> | Draft<VerifyFailedEvent>,
  value: Json,
): void {
  const session = identifierText(value.hpp_session_id);
  const hasSession = session !== "";
  if (hasSession) event.hpp_session_id = session;
  const user = readUser(value.user);
  if (user !== undefined) event.user = user;
  // The earlier form had neither, so it does not tell the flavours apart.
  if (hasSession) event.flavour = "fiatOnramp";
  else if (user !== undefined) event.flavour = "nftCheckout";
}

/** Reads the user object; undefined when it has no id. */
export function readUser(value: unknown): WebhookUser | undefined {
  if (!isRecord(value)) return undefined;
  const userId = identifierText(value.user_id);
  if (userId === "") return undefined;
  const status = value.verification_status;
  if (!isRecord(status)) return { user_id: userId };
  const states: { fkyc?: VerificationOf; lkyc?: VerificationOf } = {};
  const fkyc = readState(status.fkyc);
  if (fkyc !== undefined) states.fkyc = fkyc;
  const lkyc = readState(status.lkyc);
  if (lkyc !== undefined) states.lkyc = lkyc;
  return { user_id: userId, verification_status: states };
}

function readState(value: unknown): VerificationOf | undefined {
  if (!isRecord(value)) return undefined;
  const state = value.state;
  return typeof state === "string" ? { state } : undefined;
}
