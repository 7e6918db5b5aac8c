import { type Draft, identifierText, type Json, nounOf } from "./_fields.ts";
import { isLongText } from "../wire/identifier.ts";
import type { OtpStatusEvent, UnrecognisedWebhook } from "./webhook_event.ts";

/** Reads a step of sending a one-time code. It needs a user and a status. */
export function otpStatusEvent(
  value: Json,
): OtpStatusEvent | UnrecognisedWebhook {
  const userId = value.user_id;
  const status = value.status;
  const reasons: string[] = [];
  if (typeof userId !== "string" || userId === "" || isLongText(userId)) {
    reasons.push(`The user_id of otp_status is ${nounOf(userId)}`);
  }
  if (typeof status !== "string" || status === "") {
    reasons.push(`The status of otp_status is ${nounOf(status)}`);
  }
  if (typeof userId !== "string" || typeof status !== "string" || reasons[0]) {
    return { type: "unrecognised", statedType: "otp_status", reasons };
  }
  const event: Draft<OtpStatusEvent> = {
    type: "otp_status",
    click_id: identifierText(value.click_id),
    flavour: null,
    user_id: userId,
    status,
  };
  const country = value.phone_country_code;
  if (typeof country === "string") event.phone_country_code = country;
  const detail = value.status_detail;
  if (typeof detail === "string") event.status_detail = detail;
  return event;
}
