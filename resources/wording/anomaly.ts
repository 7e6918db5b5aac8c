import type {
  SessionMismatch,
  UnreadableField,
  WebhookMismatch,
} from "../../ledger/for_resources.ts";
import type { Anomaly } from "../../ledger/mod.ts";
import { listWords } from "./phrases.ts";

/** Describes an anomaly in one sentence. */
export function describeAnomaly(anomaly: Anomaly): string {
  switch (anomaly.kind) {
    case "contested":
      return `The service shows ${anomaly.read}, a webhook claims ${
        listWords(anomaly.claimed)
      }`;
    case "contradictory_webhooks":
      return `Webhooks claim ${listWords(anomaly.claimed)}`;
    case "contradicted":
      return `A webhook claimed ${anomaly.claimed}, and the service ` +
        (anomaly.read === null ? "did not agree" : `shows ${anomaly.read}`);
    case "final_changed":
      return `The service shows ${anomaly.read}, and has shown ${
        listWords(anomaly.before)
      }, which is final`;
    case "regression":
      return `The service showed ${anomaly.from} at ${anomaly.fromAt} and ${anomaly.to} later, at ${anomaly.toAt}`;
    case "absent":
      return anomaly.wasObserved
        ? "The service showed the order once and does not know it any more"
        : "The service was asked for the order and does not know it";
    case "unrecognised_status":
      return `This version does not know the status ${anomaly.read}`;
    case "success_without_transaction":
      return "The service shows success with an empty transaction";
    case "transaction_unreadable":
      return `The service states ${
        anomaly.txId ?? "a transaction that was erased"
      }, which is no transaction of its network`;
    case "transaction_on_unsuccessful":
      return `The order is ${anomaly.status} and ` +
        (anomaly.source === "webhook"
          ? `a webhook states transaction ${anomaly.txId}`
          : `the service shows transaction ${anomaly.txId}`);
    case "amount_mismatch":
    case "asset_mismatch":
    case "user_mismatch":
    case "address_mismatch":
    case "transaction_mismatch":
      return describeMismatch(anomaly);
    case "session_mismatch": {
      const [first, ...others] = anomaly.sessionIds;
      return `A webhook names session ${first}, which was not recorded under the order's click id before the order` +
        (others.length === 0 ? "" : `; ${others.length} more are named so`);
    }
    case "verification_reversed":
      return `The service shows ${anomaly.read}, and has shown ${
        listWords(anomaly.before)
      } before`;
    case "time_in_future":
      return `The service states ${anomaly.stated}, later than the reading that shows it: the time of that reading counts`;
    case "time_before_creation":
      return `The service states ${anomaly.stated}, before the order was created: the time of the reading counts`;
    case "unreadable_field":
      return `The service sent ${
        nouns[anomaly.value]
      } in ${anomaly.field}, which is left out`;
  }
}

function describeMismatch(mismatch: WebhookMismatch | SessionMismatch): string {
  switch (mismatch.source) {
    case "webhook":
      return `A webhook states ${mismatch.stated}, the service shows ${mismatch.read}`;
    case "session":
      return `The session asked for ${mismatch.requested}, the order has ${mismatch.ordered}` +
        (mismatch.customerMayChoose
          ? ", which its flow leaves open to the customer"
          : "");
  }
}

const nouns: Readonly<Record<UnreadableField["value"], string>> = {
  missing: "nothing",
  null: "null",
  empty: "an empty text",
  boolean: "a boolean",
  array: "an array",
  object: "an object",
  text: "a text of another form",
  nul: "a text with the character NUL",
  too_long: "an identifier that is too long",
  too_deep: "a value that is nested too deeply",
};
