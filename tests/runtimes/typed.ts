/**
 * Every door of the package, as a partner's compiler sees its types.
 */
import { OnrampClient, webhookEndpoint } from "@rampkit/onramp";
import * as client from "@rampkit/onramp/client";
import * as webhooks from "@rampkit/onramp/webhooks";
import {
  type Ledger,
  type LedgerTypes,
  openLedger,
} from "@rampkit/onramp/ledger";
import * as sync from "@rampkit/onramp/sync";
import * as witness from "@rampkit/onramp/witness";
import * as widget from "@rampkit/onramp/widget";
import * as sandbox from "@rampkit/onramp/sandbox";
import { type Problem, startOnramp } from "@rampkit/onramp/start";
import * as testing from "@rampkit/onramp/testing";
import { main } from "@rampkit/onramp/cli";

export const doors: readonly object[] = [
  ...[client, webhooks, sync, witness, widget, sandbox, testing],
  ...[OnrampClient, startOnramp],
];
export const entity: LedgerTypes.Entity = "order";
export const told: Problem[] = [];
export const ledger: Promise<Ledger> = openLedger({ url: "file:a.db" });
export const endpoint: Promise<webhooks.WebhookEndpoint> = ledger.then((
  { appendDelivery },
) => webhookEndpoint({ append: appendDelivery, secrets: ["the-long-secret"] }));
export const code: Promise<number> = main([], {} as Parameters<typeof main>[1]);
