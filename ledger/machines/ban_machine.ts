import type { WebhookType } from "../../core/webhook_event/event_types.ts";
import { type Machine, SAME, USER_OBSERVATIONS, USUAL } from "./machine.ts";

/** Whether the service has banned a user. */
export type BanName = "not_banned" | "banned";

/** What a state of the ban means. */
export type BanMeaning = "may_buy" | "may_not_buy" | "unlisted_state";

/** Type of the machine of the ban. */
export interface BanMachine extends Machine<BanName, never, never> {
  /** No webhook speaks of a ban. */
  readonly webhooks: Readonly<Record<WebhookType, null>>;
}

/**
 * The state machine of the ban of a user. Only readings speak of it.
 *
 * Source: service interface, "User (Data API)".
 */
export const banMachine: BanMachine = {
  name: "ban",
  states: {
    not_banned: { meaning: "may_buy", rank: 0, final: false },
    banned: { meaning: "may_not_buy", rank: 1, final: false },
  },
  unlisted: { meaning: "unlisted_state", rank: 2, final: false },
  initial: "unknown",
  webhooks: {
    registration: null,
    login: null,
    logout: null,
    card_added: null,
    verify_start: null,
    verify_retry: null,
    verify_failed: null,
    verify_success: null,
    payment_started: null,
    transfer_started: null,
    order_complete: null,
    order_failed: null,
    order_cancelled: null,
    otp_status: null,
    test: null,
  },
  observations: USER_OBSERVATIONS,
  decisions: {
    none: { none: "initial" },
    not_banned: { none: "reading" },
    banned: { none: "reading" },
    unlisted: { none: "reading" },
  },
  moves: {
    not_banned: { not_banned: SAME, banned: USUAL, unlisted: USUAL },
    banned: { not_banned: USUAL, banned: SAME, unlisted: USUAL },
    unlisted: { not_banned: USUAL, banned: USUAL, unlisted: USUAL },
  },
};
