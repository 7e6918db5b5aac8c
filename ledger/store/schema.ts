import { chainSchema } from "./tables/chain.ts";
import { checkpointsSchema } from "./tables/checkpoints.ts";
import {
  moversSchema,
  receivedSchema,
  unansweredSchema,
} from "./tables/deliveries.ts";
import { erasedValuesSchema } from "./tables/erasure/erased_values.ts";
import { erasuresSchema } from "./tables/erasure/erasures.ts";
import { eventsSchema } from "./tables/events/events.ts";
import { expectationsSchema } from "./tables/events/expectations.ts";
import { linksSchema } from "./tables/events/links.ts";
import { historicSchema } from "./tables/go_live.ts";
import { importedSchema } from "./tables/imported.ts";
import { leasesSchema } from "./tables/leases.ts";
import { notesSchema } from "./tables/notes.ts";
import { ordersSchema } from "./tables/orders.ts";
import { isolatedIdsSchema } from "./tables/polling/isolated_ids.ts";
import { observationsSchema } from "./tables/polling/observations.ts";
import { observedChangesSchema } from "./tables/polling/observed_changes.ts";
import { requestsSchema } from "./tables/polling/request_queues.ts";
import { sweepsSchema } from "./tables/polling/sweeps.ts";
import { purchasesSchema } from "./tables/purchases.ts";
import { forwardTargetsSchema } from "./tables/subscriptions/forward_targets.ts";
import { queuedTransitionsSchema } from "./tables/subscriptions/queued_transitions.ts";
import { releaseDeliveriesSchema } from "./tables/subscriptions/release_deliveries.ts";
import { subscriptionsSchema } from "./tables/subscriptions/subscriptions.ts";
import { transitionsSchema } from "./tables/transitions.ts";
import { usersSchema } from "./tables/users.ts";

/**
 * Version of the tables below, which every ledger is stamped with. Whoever
 * changes a table raises it: a ledger of another version is refused, and what it
 * holds is exported and imported.
 */
export const SCHEMA_VERSION = 12;

/** The table of the one stamp: it alone says that a database is a ledger. */
export const stampSchema = `CREATE TABLE IF NOT EXISTS rampkit (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  schema_version INTEGER NOT NULL,
  environment TEXT NOT NULL,
  ledger_id TEXT NOT NULL,
  created_at TEXT NOT NULL,
  go_live TEXT,
  go_live_position INTEGER
) STRICT`;

/** What makes every other table of a ledger. */
export const schema: readonly string[] = [
  ...eventsSchema,
  ...receivedSchema,
  ...chainSchema,
  ...checkpointsSchema,
  ...ordersSchema,
  ...usersSchema,
  ...linksSchema,
  ...expectationsSchema,
  ...transitionsSchema,
  ...purchasesSchema,
  ...historicSchema,
  ...requestsSchema,
  ...unansweredSchema,
  ...importedSchema,
  ...subscriptionsSchema,
  ...queuedTransitionsSchema,
  ...releaseDeliveriesSchema,
  ...forwardTargetsSchema,
  ...observationsSchema,
  ...isolatedIdsSchema,
  ...observedChangesSchema,
  ...sweepsSchema,
  ...leasesSchema,
  ...moversSchema,
  ...erasuresSchema,
  ...erasedValuesSchema,
  ...notesSchema,
];
