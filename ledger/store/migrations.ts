import { leasesSchema } from "./tables/leases.ts";
import { observationsSchema } from "./tables/polling/observations.ts";
import { isolatedIdsSchema } from "./tables/polling/isolated_ids.ts";
import { observedChangesSchema } from "./tables/polling/observed_changes.ts";
import { sweepsSchema } from "./tables/polling/sweeps.ts";
import { checkpointsSchema } from "./tables/checkpoints.ts";
import { importedSchema } from "./tables/imported.ts";
import {
  moversSchema,
  receivedSchema,
  unansweredSchema,
} from "./tables/deliveries.ts";
import { expectationsSchema } from "./tables/events/expectations.ts";
import { linksSchema } from "./tables/events/links.ts";
import {
  capitalsOfLinks,
  linksMadeAnew,
  linksSchema1,
  madeAnew,
  orderCasesSchema,
  placeOfFormer,
  requestsSchema2,
  statesSchema1,
} from "./former_schemas.ts";
import type { Columns } from "./tables/columns.ts";
import { STATE_TEXTS } from "./tables/packed_rows.ts";
import {
  amountOrderSchema,
  attentionSchema,
  listedOrdersSchema,
  orderKeySql,
  ORDERS,
  ordersSchema,
} from "./tables/orders.ts";
import { queuedTransitionsSchema } from "./tables/subscriptions/queued_transitions.ts";
import { releaseDeliveriesSchema } from "./tables/subscriptions/release_deliveries.ts";
import {
  earlierQueuesSchema,
  moveEarlierQueues,
} from "./tables/polling/earlier_queues.ts";
import { requestsSchema } from "./tables/polling/request_queues.ts";
import { firstEventOf } from "./tables/polling/request_places.ts";
import { subscriptionsSchema } from "./tables/subscriptions/subscriptions.ts";
import { historicSchema } from "./tables/go_live.ts";
import { purchasesSchema } from "./tables/purchases.ts";
import { transitionsSchema } from "./tables/transitions.ts";
import { erasedValuesSchema } from "./tables/erasure/erased_values.ts";
import { erasuresSchema } from "./tables/erasure/erasures.ts";
import { forwardTargetsSchema } from "./tables/subscriptions/forward_targets.ts";
import { minutesSchema } from "./tables/minutes.ts";
import { notesSchema } from "./tables/notes.ts";
import { USERS, usersSchema } from "./tables/users.ts";
import type { Migration } from "./migrate.ts";
import { chainSchema } from "./tables/chain.ts";
import { eventsSchema } from "./tables/events/events.ts";

/** What both versions have of an order or user. */
function fieldsOf<Row extends { readonly place: number }>(
  columns: Columns<Row>,
): (keyof Row)[] {
  return (Object.keys(columns.at) as (keyof Row)[]).filter((field) =>
    field !== "place"
  );
}

/** The first event that names what a former row of `requests` does. */
const placeOfRequest = `CASE f.entity WHEN 'order' THEN ${
  firstEventOf("order", "f.entity_id")
} ELSE ${firstEventOf("user", "f.entity_id")} END`;

/**
 * Every step from an empty database to the schema of this version. A published
 * step is never edited: a change of a table is a further step.
 */
export const migrations: readonly Migration[] = [
  {
    version: 1,
    statements: [
      ...eventsSchema,
      ...chainSchema,
      ...checkpointsSchema,
      ...statesSchema1,
      ...linksSchema1,
      ...expectationsSchema,
      ...transitionsSchema,
      ...purchasesSchema,
      ...historicSchema,
      ...earlierQueuesSchema,
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
      ...minutesSchema,
      ...notesSchema,
    ],
  },
  { version: 2, statements: [...requestsSchema2, ...moveEarlierQueues] },
  { version: 3, statements: orderCasesSchema },
  {
    version: 4,
    statements: [
      ...madeAnew("orders", ordersSchema, [
        "generation",
        ...ORDERS.of(fieldsOf(ORDERS)),
        ...STATE_TEXTS,
      ], {
        place: placeOfFormer("order_id"),
        row: orderKeySql("f.generation", placeOfFormer("order_id")),
      }),
      ...madeAnew("users", usersSchema, [
        "generation",
        ...USERS.of(fieldsOf(USERS)),
        ...STATE_TEXTS,
      ], { place: placeOfFormer("user_id") }),
    ],
  },
  { version: 5, statements: linksMadeAnew(linksSchema) },
  {
    version: 6,
    statements: madeAnew("requests", requestsSchema, [
      "seq",
      "queue",
      "entity",
      "urgency",
      "claimed_by",
      "known",
      "ready",
      "wanted_at",
      "due_at",
      "final_at",
    ], {
      place: placeOfRequest,
      entity_id: `iif(${placeOfRequest} IS NULL, f.entity_id, NULL)`,
    }),
  },
  { version: 7, statements: listedOrdersSchema },
  {
    version: 8,
    statements: [
      ...amountOrderSchema,
      ...attentionSchema,
      ...receivedSchema,
      ...capitalsOfLinks,
    ],
  },
];
