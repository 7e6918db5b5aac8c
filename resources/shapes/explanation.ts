import * as z from "zod";
import {
  type ActivityLabel,
  type ClaimedStatus,
  EVENT_KINDS,
} from "../../ledger/for_resources.ts";
import type {
  ExplainedEventJson,
  ExplanationJson,
} from "../views/explanation_view.ts";
import {
  coded,
  count,
  flag,
  named,
  oneOf,
  text,
  textOrNull,
  time,
  timeOrNull,
  withFields,
  withoutFields,
  worded,
} from "./_building.ts";
import type { Same } from "./same.ts";
import { anomalyDataSchema } from "./anomaly.ts";
import { decisionSchema, moveKindSchema } from "./machine.ts";
import { orderSchema } from "./order.ts";
import { statusSchema, trustSchema } from "./status.ts";

const status = statusSchema;

/** Kinds of event. */
export const eventKindSchema = named(
  "EventKind",
  "What kind of fact an event is",
  oneOf(EVENT_KINDS),
);

const label = named(
  "EventLabel",
  "What an event is counted as: the type of a webhook, or the kind",
  oneOf<ActivityLabel>({
    registration: true,
    login: true,
    logout: true,
    card_added: true,
    verify_start: true,
    verify_retry: true,
    verify_failed: true,
    verify_success: true,
    otp_status: true,
    test: true,
    payment_started: true,
    transfer_started: true,
    order_complete: true,
    order_failed: true,
    order_cancelled: true,
    unrecognised: true,
    quarantined: true,
    ...EVENT_KINDS,
  }),
);

const content = named(
  "EventContent",
  "What an event says",
  worded({
    webhook: {
      label,
      claimed: oneOf<ClaimedStatus>({
        progress: true,
        pending: true,
        failed: true,
        success: true,
        cancelled: true,
      }).nullable(),
      hasBody: flag,
    },
    reading: {
      status: status.nullable(),
      changedAt: timeOrNull,
      readAt: time,
    },
    absence: { readAt: time },
    contradiction: { claimed: status, upTo: time },
    session: { sessionId: text },
    ...withFields({ unreadable: true, other: true }, { label }),
  }),
);

const unreadableReason = coded({
  ...withoutFields({
    body_erased: true,
    body_not_json: true,
    body_not_object: true,
    unknown_kind: true,
    contradiction_incomplete: true,
    release_incomplete: true,
    session_without_id: true,
    expectation_without_id: true,
  }),
  webhook_unrecognised: { problems: z.array(text) },
}, {});

const why = named(
  "OutcomeReason",
  "Why an event did what it did",
  worded({
    ...withoutFields({
      reading: true,
      absence: true,
      contradiction: true,
      session: true,
      names_order: true,
      claim_counts: true,
      shown_since: true,
      no_claim_to_contradict: true,
      expectation_known: true,
      expectation_not_linked: true,
      expectation_of_other_click_id: true,
      expectation_after_order: true,
      expectation_expired: true,
      click_id_shared_by_many: true,
      order_of_other_expectation: true,
      read_before: true,
      claimed_before: true,
      reading_without_status: true,
      reading_unchanged: true,
      not_of_order: true,
    }),
    already_confirmed: { read: status },
    repeated: { position: count },
    ...withFields({ unreadable: true, names_order_unreadably: true }, {
      reason: unreadableReason,
    }),
    claim_used_up: { claimed: status, read: status },
    claim_contradicted: { claimed: status },
    higher_claim: { claimed: status, higher: status },
    ...withFields({ reading_is_final: true, reading_unrecognised: true }, {
      read: status,
    }),
    ...withFields({ reading_ranks_above: true, reading_ranks_equal: true }, {
      claimed: status,
      read: status,
    }),
    later_state_known: { changedAt: timeOrNull },
  }),
);

const decided = z.object({ status, trust: trustSchema });

const event = named(
  "ExplainedEvent",
  "An event of an order: what it says, what it did, and why",
  z.object({
    position: count,
    eventId: text,
    kind: eventKindSchema,
    label,
    recordedAt: time,
    content,
    outcome: oneOf<ExplainedEventJson["outcome"]>({
      changed: true,
      noted: true,
      unchanged: true,
    }),
    move: z.object({
      from: decided.nullable(),
      to: decided,
      decision: decisionSchema,
      reading: z.object({
        from: status,
        to: status,
        kind: moveKindSchema,
        anomaly: oneOf<"regression" | "final_changed" | "unrecognised_status">({
          regression: true,
          final_changed: true,
          unrecognised_status: true,
        }).nullable(),
      }).nullable(),
      message: text,
    }).nullable(),
    changes: z.array(z.object({
      field: text,
      before: textOrNull,
      after: textOrNull,
    })),
    why,
  }),
);

/** Why the state of an order is what it is. */
export const explanationSchema = named(
  "Explanation",
  "Why the state of an order is what it is, event by event",
  z.object({
    orderId: text,
    state: orderSchema,
    events: z.array(event),
    fields: z.array(z.object({
      field: text,
      value: z.union([text, anomalyDataSchema]),
      source: oneOf<ExplanationJson["fields"][number]["source"]>({
        snapshot: true,
        webhook: true,
        session: true,
      }),
      position: count,
      eventId: text,
    })),
  }),
);

true satisfies Same<z.infer<typeof explanationSchema>, ExplanationJson>;
