import { emptyRecord } from "../../core/guards.ts";
import { KEPT_OF_WEBHOOK, orderField } from "../../core/wire/order_fields.ts";
import { readOrderRow } from "../../core/wire/read_row.ts";
import { webhookType } from "../../core/webhook_event/event_types.ts";
import { orderMachine } from "../machines/order_machine.ts";
import { readChainFields } from "./chain_reading.ts";
import { effectiveReadAt } from "./time.ts";
import type { RecordedEvent } from "./event.ts";
import { CLAIM_FIELDS, MATCH_FACTS } from "./order_facts.ts";
import type { Fact, FactBase } from "./fact.ts";
import {
  exactObject,
  filledText,
  linking,
  objectOf,
  soundRow,
  upper,
} from "./fact_text.ts";
import { readOrder } from "./order_reading.ts";
import { factBase, unreadable } from "./_fact_base.ts";

/** Decodes what is kept of an erased event as if it were that event. */
export function readRedacted(event: RecordedEvent): Fact {
  if (event.body === null) return unreadable(event, { code: "body_erased" });
  const body = exactObject(event.body);
  const read = soundRow(event.body, readOrderRow);
  if (body === null || read === null) {
    return unreadable(event, { code: "body_not_object" });
  }
  const redacts = objectOf(body.redacts);
  const eventId = filledText(redacts?.event_id);
  const base: FactBase = {
    ...factBase(
      event,
      // Where nothing else stands for the event itself, it is counted as that.
      eventId === null ? labelOf(redacts?.kind) : "order_redacted",
    ),
    orderId: event.orderId,
    clickId: linking(event.clickId),
    ...(eventId === null ? {} : { redacts: eventId }),
  };
  if (redacts?.kind === "webhook") return claimFact(base, body, redacts);
  if (redacts?.kind === "chain_reading") {
    const look = readChainFields(objectOf(body.witness) ?? {}, {
      readAt: effectiveReadAt(event.readAt, event.recordedAt),
      digest: base.digest,
      erased: true,
    });
    return look === null
      ? unreadable(event, { code: "look_incomplete" })
      : { ...base, kind: "chain_reading", look };
  }
  const reading = readOrder(event, read.row, read.odd);
  return {
    ...base,
    kind: "order_snapshot",
    reading: {
      ...reading,
      match: MATCH_FACTS.find((one) => one === body.match) ?? null,
      erasedTx: body.tx_named === true
        ? "named"
        : body.tx_unreadable === true
        ? "unreadable"
        : null,
    },
  };
}

function labelOf(
  kind: unknown,
): "order_redacted" | "order_snapshot" | "chain_reading" {
  return kind === "order_snapshot" || kind === "chain_reading"
    ? kind
    : "order_redacted";
}

const unsaidBody = emptyRecord(CLAIM_FIELDS);

function claimFact(
  base: FactBase,
  body: Readonly<Record<string, unknown>>,
  redacts: Readonly<Record<string, unknown>>,
): Fact {
  const type = webhookType(filledText(redacts.type) ?? "");
  return {
    ...base,
    kind: "webhook",
    claim: type === null ? null : orderMachine.webhooks[type],
    body: {
      ...unsaidBody,
      ...Object.fromEntries(
        KEPT_OF_WEBHOOK.map((name) => {
          const { wire, same } = orderField(name);
          const value = filledText(body[wire]);
          return [name, same === "any_case" ? upper(value) : value];
        }),
      ),
      digest: base.digest,
      userId: filledText(body.user_id),
      clickId: base.clickId,
    },
    lkyc: null,
    fkyc: null,
    rejectType: null,
    otp: null,
  };
}
